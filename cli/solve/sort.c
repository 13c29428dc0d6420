/* SPDX-License-Identifier: Apache-2.0
 *
 * sort.c - `shoal sort`: the rows of an array, with values or the places the keys had; `shoal merge`: two sorted
 * arrays, or the rows of two arrays, pair by pair.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/common/arrays.h"
#include "io/svg.h"

/* ---- keys and rows ---------------------------------------------------------------------------- */

static shoal_key key_of(io_type type) { /* every type that a file can have is one of a key */
    static const shoal_key keys[] = {
        [IO_F4] = SHOAL_KEY_F32, [IO_F8] = SHOAL_KEY_F64, [IO_I4] = SHOAL_KEY_I32,
        [IO_U4] = SHOAL_KEY_U32, [IO_I8] = SHOAL_KEY_I64, [IO_U8] = SHOAL_KEY_U64
    };
    return keys[type];
}

/* Rows of the last axis: *n keys each, *count of them. CLI_INPUT for a single number. */
static int rows_of(const cli_array *array, int64_t *count, int64_t *n) {
    const io_array *a = &array->a;
    if (a->ndim == 0)
        return cli_fail(CLI_INPUT, "%s has shape (); it needs at least one axis", array->path);
    *n = a->shape[a->ndim - 1];
    *count = 1;
    for (int k = 0; k + 1 < a->ndim; k++) *count *= a->shape[k];
    return CLI_OK;
}

static int check_values(const cli_array *values, const cli_array *keys) {
    const io_array *v = &values->a, *k = &keys->a;
    int same = v->ndim == k->ndim;
    for (int i = 0; same && i < v->ndim; i++) same = v->shape[i] == k->shape[i];
    return same ? CLI_OK : cli_array_misfit(values, keys, "each key has one value");
}

/* The bits as a number in the order of the type: the sign first, then the size, backwards below
 * zero where the bits are a floating point number's. */
static int64_t rank_of(const io_array *a, int64_t i) {
    int64_t bits = 0;
    switch (a->type) {
    case IO_U4: return ((const uint32_t *)a->data)[i];
    case IO_I4: return ((const int32_t *)a->data)[i];
    case IO_F4: bits = ((const int32_t *)a->data)[i]; return bits < 0 ? bits ^ INT32_MAX : bits;
    case IO_U8: return (int64_t)(((const uint64_t *)a->data)[i] ^ (uint64_t)INT64_MIN);
    case IO_I8: return ((const int64_t *)a->data)[i];
    default: bits = ((const int64_t *)a->data)[i]; return bits < 0 ? bits ^ INT64_MAX : bits;
    }
}

/* CLI_INPUT, with row and place, unless every row is in order. */
static int check_order(const cli_array *array, int64_t count, int64_t n, int descending) {
    for (int64_t k = 0; k < count; k++)
        for (int64_t i = k * n + 1; i < (k + 1) * n; i++) {
            const int64_t before = rank_of(&array->a, i - 1), at = rank_of(&array->a, i);
            if (descending ? before >= at : before <= at) continue;
            return cli_fail(CLI_INPUT,
                            "%s is not sorted: in row %lld key %lld is %s the one before, both "
                            "counted from 0",
                            array->path, (long long)k, (long long)(i - k * n),
                            descending ? "greater than" : "less than");
        }
    return CLI_OK;
}

/* ---- what is printed -------------------------------------------------------------------------- */

typedef struct result {
    int64_t count, n, na, nb;
    const char *key;
    shoal_sort_info info;
    double seconds;
} result;

#define RESULT(name, member) CLI_RESULT(name, result, member)
static const cli_option sort_shape[] = {
    RESULT("count", count), RESULT("n", n), RESULT("key", key), { 0 }
};
static const cli_option merge_shape[] = {
    RESULT("count", count), RESULT("na", na), RESULT("nb", nb), RESULT("key", key), { 0 }
};
static const cli_option method_results[] = { RESULT("method", info.method),
                                             RESULT("variant", info.variant),
                                             { 0 } };

static int print_result(cli *c, const cli_command *k, const void *arguments,
                        const cli_option *shape, const result *r) {
    char seconds[32];
    snprintf(seconds, sizeof seconds, "%s_seconds", k->name);
    if (c->json) {
        io_json *j = cli_json_begin(c, k->name);
        cli_json_results(j, shape, r);
        cli_json_options(j, c, k, arguments);
        cli_json_results(j, method_results, r);
        io_json_double(j, seconds, r->seconds);
        cli_json_files(j, c, k, arguments);
        return cli_json_end(c, CLI_OK);
    }
    printf("method        %s (%s) on %s, %s\n", r->info.method, r->info.variant, c->machine.backend,
           c->machine.device);
    printf("%s time%*s%s\n", k->name, (int)(9 - strlen(k->name)), "", CLI_TIME(r->seconds));
    return CLI_OK;
}

/* ---- sort ------------------------------------------------------------------------------------- */

typedef struct sort_arguments {
    const char *keys, *output, *index, *values, *sorted_values, *offsets;
    shoal_sort_opts o; /* without the shape of the batch */
} sort_arguments;

/* clang-format off */
#define AT(member) CLI_AT(sort_arguments, member)
static const cli_option sort_options[] = {
    { NULL,            OPT_INPUT,  AT(keys),          "KEYS.npy", 0, "the keys", .key = "keys", .needed = "the keys" },
    { "output",        OPT_OUTPUT, AT(output),        "FILE", 1, "write the sorted keys here", .letter = 'o', .key = "sorted", .needed = "where to write the sorted keys", .ends = CLI_ARRAY_ENDS },
    { "index",         OPT_OUTPUT, AT(index),         "FILE", 2, "write the position that each key had in its row: int64, from 0", .without = "values", .ends = CLI_ARRAY_ENDS },
    { "values",        OPT_INPUT,  AT(values),        "FILE", 3, "values that belong to the keys: the same shape, 4 or 8 bytes each", .with = "sorted-values" },
    { "sorted-values", OPT_OUTPUT, AT(sorted_values), "FILE", 4, "write the values here, in the order of their keys", .with = "values", .ends = CLI_ARRAY_ENDS },
    { "offsets",       OPT_INPUT,  AT(offsets),       "FILE", 5, "rows of different lengths: row k is o[k] .. o[k+1] - 1 of keys with one axis; int64, (count + 1)" },
    { "descending",    OPT_FLAG,   AT(o.descending),  NULL,   6, "the largest key first", .in = IN_JSON },
    { "method",        OPT_TEXT,   AT(o.method),      "M",    7, "auto or batchsort", .methods = "sort", .words = "auto|batchsort" },
    { "variant",       OPT_TEXT,   AT(o.variant),     "V",    8, "variant of the method", .usual = "the first" },
    { 0 }
};
static const char sort_doc[] =
    "Sorts each row of an array along its last axis. The sort is stable. Floating-point numbers have IEEE's total order: -NaN, "
    "-infinity, .., -0, +0, .., +infinity, +NaN.\vThe array is a NumPy .npy file, f4, f8, i4, u4, i8 or u8.\n\n"
    "Example:\n"
    "  shoal sort x.npy -o sorted.npy --index places.npy\n"
    "  shoal sort x.npy -o s.npy --values id.npy --sorted-values i.npy --descending";
/* clang-format on */

typedef struct sort_batch { /* as the files have it; the results take the inputs' places */
    cli_array keys, values, offsets;
    io_array places;
    shoal_sort_opts o;
    int64_t longest; /* keys of a row */
} sort_batch;

static int read_sort(const sort_arguments *a, sort_batch *b) {
    b->o = a->o;
    int code = cli_array_read(&b->keys, a->keys);
    if (code == CLI_OK) code = rows_of(&b->keys, &b->o.count, &b->o.n);
    if (code == CLI_OK && a->values) code = cli_array_read(&b->values, a->values);
    if (code == CLI_OK && a->values) code = check_values(&b->values, &b->keys);
    if (code != CLI_OK) return code;
    b->longest = b->o.n;
    b->o.key = key_of(b->keys.a.type);
    if (a->values) b->o.value_bytes = (int)io_type_size(b->values.a.type);
    if (a->offsets) {
        if (b->keys.a.ndim != 1)
            return cli_fail(CLI_INPUT, "%s: with --offsets the keys have one axis", a->keys);
        code = cli_array_read_offsets(&b->offsets, a->offsets, &b->keys, "keys", &b->longest);
        if (code != CLI_OK) return code;
        b->o.offsets = b->offsets.a.data, b->o.count = b->offsets.a.shape[0] - 1;
        b->o.n = 0;
    }
    if (!a->index) return CLI_OK;
    b->o.index = 1, b->o.value_bytes = 8;
    return cli_array_create(IO_I8, b->keys.a.ndim, b->keys.a.shape, &b->places);
}

static int run_sort(cli *c, const sort_batch *b, result *r) {
    const size_t total = (size_t)io_array_count(&b->keys.a);
    const size_t value_bytes = total * (size_t)b->o.value_bytes;
    cli_place keys = { .from = b->keys.a.data,
                       .to = b->keys.a.data,
                       .bytes = total * shoal_key_bytes(b->o.key) };
    cli_place values = { .from = b->values.a.data,
                         .to = b->o.index ? b->places.data : b->values.a.data,
                         .bytes = value_bytes };
    cli_place m[] = { keys, values };
    shoal_sort *plan = NULL;
    double begin = 0;
    shoal_status s = shoal_sort_create(c->ctx, &b->o, &plan);
    if (s == SHOAL_OK) s = cli_places_begin(c, m, 2);
    if (s == SHOAL_OK) {
        begin = cli_now();
        s = shoal_sort_run(plan, m[0].at, b->o.index ? NULL : m[1].at, m[0].at, m[1].at);
    }
    if (s == SHOAL_OK) s = shoal_sort_last(plan, &r->info);
    r->seconds = s == SHOAL_OK ? cli_now() - begin : 0;
    if (s == SHOAL_OK) s = cli_places_copy(c, m, 2);
    const int code = cli_status(c, s);
    shoal_sort_free(plan);
    cli_places_end(c, m, 2);
    return code;
}

static int finish_sort(cli *c, const sort_arguments *a, const sort_batch *b) {
    result r = { .count = b->o.count, .n = b->longest, .key = shoal_key_name(b->o.key) };
    int code = run_sort(c, b, &r);
    if (code == CLI_OK && cli_interrupted()) code = CLI_INTERRUPTED;
    if (code == CLI_OK) code = cli_array_write(a->output, &b->keys.a);
    if (code == CLI_OK) code = cli_array_write(a->index, &b->places);
    if (code == CLI_OK) code = cli_array_write(a->sorted_values, &b->values.a);
    if (code != CLI_OK) return code;
    if (!c->json)
        printf("rows          %lld with %s%s, %s%s\n", (long long)r.count,
               b->o.offsets ? "up to " : "", CLI_COUNT(r.n, "key"), r.key,
               a->o.descending ? ", descending" : "");
    return print_result(c, &sort_command, a, sort_shape, &r);
}

static int command_sort(cli *c, int argc, char **argv) {
    sort_arguments a = { .o.method = "auto" };
    sort_batch b = { .o = { 0 } };
    int code = cli_begin(c, &sort_command, argc, argv, &a);
    if (code != CLI_OK) return code;
    code = read_sort(&a, &b);
    if (code == CLI_OK) code = finish_sort(c, &a, &b);
    io_array_free(&b.keys.a);
    io_array_free(&b.values.a);
    io_array_free(&b.offsets.a);
    io_array_free(&b.places);
    return code;
}

const cli_command sort_command = {
    "sort",          "sort the rows of an array", .args = "KEYS.npy",
    .doc = sort_doc, .run = command_sort,         .tables = { { sort_options, 0 } },
    .task = "Sort"
};

/* ---- merge ------------------------------------------------------------------------------------ */

enum { A, B, A_VALUES, B_VALUES, INPUTS, KEYS = INPUTS, VALUES, ARRAYS };

typedef struct merge_arguments {
    const char *in[INPUTS], *output, *values, *path;
    shoal_merge_opts o; /* without the shape of the batch */
} merge_arguments;

/* clang-format off */
#undef AT
#define AT(member) CLI_AT(merge_arguments, member)
static const cli_option merge_options[] = {
    { NULL,         OPT_INPUT,  AT(in[A]),        "A.npy", 0, "sorted keys", .key = "a", .needed = "the first file of sorted keys" },
    { NULL,         OPT_INPUT,  AT(in[B]),        "B.npy", 0, "sorted keys", .key = "b", .needed = "the second file of sorted keys" },
    { "a-values",   OPT_INPUT,  AT(in[A_VALUES]), "FILE", 2, "values that belong to the keys of A: the same shape, 4 or 8 bytes each", .with = "b-values values" },
    { "b-values",   OPT_INPUT,  AT(in[B_VALUES]), "FILE", 3, "values that belong to the keys of B", .with = "a-values values" },
    { "output",     OPT_OUTPUT, AT(output),       "FILE", 1, "write the merged keys here", .letter = 'o', .key = "merged", .needed = "where to write the merged keys", .ends = CLI_ARRAY_ENDS },
    { "values",     OPT_OUTPUT, AT(values),       "FILE", 4, "write the values here, in the order of their keys", .with = "a-values b-values", .ends = CLI_ARRAY_ENDS },
    { "path",       OPT_OUTPUT, AT(path),         "F.svg", 4, "draw the merge path: keys taken from B to the right, from A upwards; of rows the first", .ends = "svg" },
    { "descending", OPT_FLAG,   AT(o.descending), NULL,   5, "A, B and the result have the largest key first", .in = IN_JSON },
    { "method",     OPT_TEXT,   AT(o.method),     "M",    6, "auto, mergepath or batchmerge", .methods = "sort", .words = "auto|mergepath|batchmerge" },
    { "variant",    OPT_TEXT,   AT(o.variant),    "V",    7, "variant of the method", .usual = "the first" },
    { 0 }
};
static const char merge_doc[] =
    "Merges two sorted arrays: (na) and (nb) into (na + nb), or row by row (count,na) and (count,nb) into (count,na + nb). Of "
    "equal keys those of A come first. Floating-point numbers have IEEE's total order, as in `shoal sort'.\vArrays are NumPy .npy "
    "files, both f4, f8, i4, u4, i8 or u8.\n\n"
    "Example:\n"
    "  shoal merge a.npy b.npy -o merged.npy\n"
    "  shoal merge a.npy b.npy -o m.npy --a-values i.npy --b-values j.npy \\\n"
    "        --values k.npy";
/* clang-format on */

typedef struct merge_batch {
    cli_array in[INPUTS];
    io_array keys, values; /* the result */
    shoal_merge_opts o;
} merge_batch;

static int same_type(const cli_array *a, const cli_array *b) {
    if (a->a.type == b->a.type) return CLI_OK;
    return cli_fail(CLI_INPUT, "%s contains %s, but %s contains %s: both must have the same type",
                    a->path, io_type_name(a->a.type), b->path, io_type_name(b->a.type));
}

static int check_shapes(merge_batch *b, int values) {
    const cli_array *a = &b->in[A], *other = &b->in[B];
    int64_t count = 0;
    int code = rows_of(a, &b->o.count, &b->o.na);
    if (code == CLI_OK) code = rows_of(other, &count, &b->o.nb);
    if (code == CLI_OK && (a->a.ndim > 2 || a->a.ndim != other->a.ndim || count != b->o.count))
        code =
            cli_array_misfit(a, other, "expected (na,) and (nb,), or (count, na) and (count, nb)");
    if (code == CLI_OK) code = same_type(a, other);
    if (code != CLI_OK || !values) return code;
    code = check_values(&b->in[A_VALUES], a);
    if (code == CLI_OK) code = check_values(&b->in[B_VALUES], other);
    return code == CLI_OK ? same_type(&b->in[A_VALUES], &b->in[B_VALUES]) : code;
}

static int read_merge(const merge_arguments *a, merge_batch *b) {
    int code = CLI_OK;
    b->o = a->o;
    for (int i = 0; i < INPUTS && code == CLI_OK; i++)
        if (a->in[i]) code = cli_array_read(&b->in[i], a->in[i]);
    if (code == CLI_OK) code = check_shapes(b, a->values != NULL);
    if (code == CLI_OK) code = check_order(&b->in[A], b->o.count, b->o.na, a->o.descending);
    if (code == CLI_OK) code = check_order(&b->in[B], b->o.count, b->o.nb, a->o.descending);
    if (code != CLI_OK) return code;
    const int ndim = b->in[A].a.ndim;
    const int64_t d = b->o.na + b->o.nb, shape[2] = { ndim == 1 ? d : b->o.count, d };
    b->o.key = key_of(b->in[A].a.type);
    /* rows mean a batch, even one of them */
    if (ndim == 2 && strcmp(a->o.method, "auto") == 0)
        b->o.method = cli_method_with("sort", SHOAL_CAN_MERGE | SHOAL_CAN_BATCH);
    code = cli_array_create(b->in[A].a.type, ndim, shape, &b->keys);
    if (code != CLI_OK || !a->values) return code;
    b->o.value_bytes = (int)io_type_size(b->in[A_VALUES].a.type);
    return cli_array_create(b->in[A_VALUES].a.type, ndim, shape, &b->values);
}

static int run_merge(cli *c, const merge_batch *b, result *r) {
    cli_place m[ARRAYS] = { { 0 } };
    shoal_merge *plan = NULL;
    double begin = 0;
    for (int i = 0; i < INPUTS; i++) m[i] = cli_place_from(&b->in[i].a, 1, 0, 1);
    m[KEYS] = cli_place_to(&b->keys, 1, 0, 1);
    m[VALUES] = cli_place_to(&b->values, 1, 0, 1);
    shoal_status s = shoal_merge_create(c->ctx, &b->o, &plan);
    if (s == SHOAL_OK) s = cli_places_begin(c, m, ARRAYS);
    if (s == SHOAL_OK) {
        begin = cli_now();
        s = shoal_merge_run(plan, m[A].at, m[B].at, m[KEYS].at, m[A_VALUES].at, m[B_VALUES].at,
                            m[VALUES].at);
    }
    if (s == SHOAL_OK) s = shoal_merge_last(plan, &r->info);
    r->seconds = s == SHOAL_OK ? cli_now() - begin : 0;
    if (s == SHOAL_OK) s = cli_places_copy(c, m, ARRAYS);
    const int code = cli_status(c, s);
    shoal_merge_free(plan);
    cli_places_end(c, m, ARRAYS);
    return code;
}

/* ---- the merge path ---- */

enum { PATH_CORNERS = 2000 }; /* a longer path is drawn through so many of its points */

/* The path of the first row: from (0, 0) one step per key, along the axis of the array that the key is from. Of equal keys
 * those of A come first. */
static int draw_path(const char *file, const merge_batch *b) {
    const size_t size = io_type_size(b->keys.type);
    const char *from = b->in[A].a.data, *merged = b->keys.data;
    const int64_t d = b->o.na + b->o.nb, every = d / PATH_CORNERS + 1;
    double *x = malloc(2 * (size_t)(d / every + 2) * sizeof *x), *y = x + d / every + 2;
    int64_t i = 0, count = 0;
    char text[96];
    io_error err;
    if (!x) return cli_no_memory();
    for (int64_t k = 0; k <= d; k++) {
        if (k % every == 0 || k == d) x[count] = (double)(k - i), y[count++] = (double)i;
        if (k < d && i < b->o.na &&
            memcmp(from + (size_t)i * size, merged + (size_t)k * size, size) == 0)
            i++;
    }
    snprintf(text, sizeof text, "%lld keys of A and %lld of B", (long long)b->o.na,
             (long long)b->o.nb);
    const io_series path = { "", (int)count, x, .y = y };
    const io_chart chart = { "Merge path",        text,
                             "keys taken from B", "keys taken from A",
                             .y_from_zero = true, .series_count = 1,
                             .series = &path };
    const int code = cli_io(io_svg_write_lines(file, &chart, &err), &err);
    free(x);
    return code;
}

static int finish_merge(cli *c, const merge_arguments *a, const merge_batch *b) {
    result r = {
        .count = b->o.count, .na = b->o.na, .nb = b->o.nb, .key = shoal_key_name(b->o.key)
    };
    int code = run_merge(c, b, &r);
    if (code == CLI_OK && cli_interrupted()) code = CLI_INTERRUPTED;
    if (code == CLI_OK) code = cli_array_write(a->output, &b->keys);
    if (code == CLI_OK) code = cli_array_write(a->values, &b->values);
    if (code == CLI_OK && a->path && b->o.count > 0 && b->o.na + b->o.nb > 0)
        code = draw_path(a->path, b);
    else if (code == CLI_OK && a->path)
        cli_note(c, "--path: there are no keys to draw");
    if (code != CLI_OK) return code;
    if (!c->json)
        printf("pairs         %lld with %lld and %lld keys, %s%s\n", (long long)r.count,
               (long long)r.na, (long long)r.nb, r.key, a->o.descending ? ", descending" : "");
    return print_result(c, &merge_command, a, merge_shape, &r);
}

static int command_merge(cli *c, int argc, char **argv) {
    merge_arguments a = { .o.method = "auto" };
    merge_batch b = { .o = { 0 } };
    int code = cli_begin(c, &merge_command, argc, argv, &a);
    if (code != CLI_OK) return code;
    code = read_merge(&a, &b);
    if (code == CLI_OK) code = finish_merge(c, &a, &b);
    for (int i = 0; i < INPUTS; i++) io_array_free(&b.in[i].a);
    io_array_free(&b.keys);
    io_array_free(&b.values);
    return code;
}

const cli_command merge_command = { "merge",
                                    "merge two sorted arrays, or their rows",
                                    .args = "A.npy B.npy",
                                    .doc = merge_doc,
                                    .run = command_merge,
                                    .tables = { { merge_options, 0 } } };
