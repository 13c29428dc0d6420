/* SPDX-License-Identifier: Apache-2.0
 *
 * sort.c - `shoal sort`: the rows of an array, with values or the places the keys had.
 */
#include "cli/common/cli.h"

#include "sort_files.h"

typedef struct arguments {
    const char *keys, *output, *index, *values, *sorted_values, *offsets;
    shoal_sort_opts o; /* but for the shape of the batch */
} arguments;

/* clang-format off */
#define AT(member) CLI_AT(arguments, member)
static const cli_option options[] = {
    { NULL,            OPT_INPUT,  AT(keys),          "KEYS.npy", 0, "the keys", .key = "keys", .needed = "the keys" },
    { "output",        OPT_OUTPUT, AT(output),        "FILE", 1, "write the sorted keys here", .letter = 'o', .key = "sorted", .needed = "where to write the sorted keys" },
    { "index",         OPT_OUTPUT, AT(index),         "FILE", 2, "write the places that the keys had in their rows: int64, from 0" },
    { "values",        OPT_INPUT,  AT(values),        "FILE", 3, "values that go with the keys: the same shape, 4 or 8 bytes each" },
    { "sorted-values", OPT_OUTPUT, AT(sorted_values), "FILE", 4, "write the values here, in the order of their keys" },
    { "offsets",       OPT_INPUT,  AT(offsets),       "FILE", 5, "rows of different lengths: row k is o[k] .. o[k+1] - 1 of a keys' array with one axis; int64, (count + 1)" },
    { "descending",    OPT_FLAG,   AT(o.descending),  NULL,   6, "the greatest key first", .in = IN_JSON },
    { "method",        OPT_TEXT,   AT(o.method),      "M",    7, "auto or batchsort", .methods = "sort" },
    { "variant",       OPT_TEXT,   AT(o.variant),     "V",    8, "variant of the method", .usual = "its first" },
    { 0 }
};
/* clang-format on */

static const char doc[] =
    "Sorts each row, the last axis, of an array. The order is stable. Floating point numbers have "
    "IEEE's total order: -NaN, -infinity, .., -0, +0, .., +infinity, +NaN."
    "\vThe array is a NumPy .npy file, f4, f8, i4, u4, i8 or u8.\n\nExample:\n"
    "  shoal sort x.npy -o sorted.npy --index places.npy\n"
    "  shoal sort price.npy -o p.npy --values id.npy --sorted-values i.npy --descending";

static void check(void *of, struct argp_state *state) {
    const arguments *a = of;
    if (a->index && a->values) argp_error(state, "--index and --values exclude each other");
    if (!a->values != !a->sorted_values)
        argp_error(state, "--values and --sorted-values need each other");
}

typedef struct batch { /* as the files have it; the results take the inputs' places */
    cli_array keys, values, offsets;
    io_array places;
    shoal_sort_opts o;
} batch;

static int read_batch(const arguments *a, batch *b) {
    io_error err;
    b->o = a->o;
    int code = cli_array_read(&b->keys, a->keys);
    if (code == CLI_OK) code = sort_rows(&b->keys, &b->o.count, &b->o.n);
    if (code == CLI_OK && a->values) code = cli_array_read(&b->values, a->values);
    if (code == CLI_OK && a->values) code = sort_values_fit(&b->values, &b->keys);
    if (code == CLI_OK && a->offsets) code = cli_array_read(&b->offsets, a->offsets);
    if (code != CLI_OK) return code;
    b->o.key = sort_key(b->keys.a.type);
    if (a->values) b->o.value_bytes = (int)io_type_size(b->values.a.type);
    if (a->offsets) {
        const io_array *o = &b->offsets.a;
        if (b->keys.a.ndim != 1)
            return cli_fail(CLI_INPUT, "%s: with --offsets the keys have one axis", a->keys);
        if (o->type != IO_I8 || o->ndim != 1 || o->shape[0] < 1)
            return cli_fail(CLI_INPUT, "%s: offsets are int64 of shape (count + 1,)", a->offsets);
        b->o.offsets = o->data, b->o.count = o->shape[0] - 1;
        for (int64_t k = 0; k <= b->o.count; k++)
            if (k == 0 ? b->o.offsets[0] != 0 : b->o.offsets[k] < b->o.offsets[k - 1])
                return cli_fail(CLI_INPUT,
                                "%s: offset %lld is %lld; they begin with 0 and do not decrease",
                                a->offsets, (long long)k, (long long)b->o.offsets[k]);
        if (b->o.offsets[b->o.count] != b->o.n)
            return cli_fail(CLI_INPUT, "%s ends with %lld, but %s has %lld keys", a->offsets,
                            (long long)b->o.offsets[b->o.count], a->keys, (long long)b->o.n);
        b->o.n = 0;
    }
    if (!a->index) return CLI_OK;
    b->o.index = 1, b->o.value_bytes = 8;
    return cli_io(io_array_create(IO_I8, b->keys.a.ndim, b->keys.a.shape, &b->places, &err), &err);
}

static int sort_batch(cli *c, batch *b, shoal_sort_info *info, double *seconds) {
    const int64_t total = io_array_count(&b->keys.a);
    const int64_t key_bytes = total * (int64_t)shoal_key_bytes(b->o.key);
    const int64_t value_bytes = total * b->o.value_bytes;
    void *out = b->o.index ? b->places.data : b->values.a.data, *keys = NULL, *values = NULL;
    shoal_sort *plan = NULL;
    double begin = 0;
    shoal_status s = shoal_sort_create(c->ctx, &b->o, &plan);
    if (s == SHOAL_OK) s = sort_place(c, b->keys.a.data, key_bytes, &keys);
    if (s == SHOAL_OK && value_bytes) s = sort_place(c, b->values.a.data, value_bytes, &values);
    if (s == SHOAL_OK) {
        begin = cli_now();
        s = shoal_sort_run(plan, keys, b->o.index ? NULL : values, keys, values);
    }
    if (s == SHOAL_OK) s = shoal_sort_last(plan, info);
    *seconds = s == SHOAL_OK ? cli_now() - begin : 0;
    if (s == SHOAL_OK) s = shoal_copy(c->ctx, b->keys.a.data, keys, (size_t)key_bytes);
    if (s == SHOAL_OK && value_bytes) s = shoal_copy(c->ctx, out, values, (size_t)value_bytes);
    const int code = cli_status(c, s);
    shoal_sort_free(plan);
    shoal_free(c->ctx, keys);
    shoal_free(c->ctx, values);
    return code;
}

static void print_json(cli *c, const arguments *a, const batch *b, const shoal_sort_info *info,
                       int64_t n, double seconds) {
    io_json *j = cli_json_begin(c, "sort");
    io_json_int(j, "count", b->o.count);
    io_json_int(j, "n", n);
    io_json_string(j, "key", shoal_key_name(b->o.key));
    cli_json_options(j, c, &sort_command, a);
    io_json_string(j, "method", info->method);
    io_json_string(j, "variant", info->variant);
    io_json_double(j, "sort_seconds", seconds);
    cli_json_files(j, c, &sort_command, a);
}

static int run(cli *c, const arguments *a, batch *b) {
    shoal_sort_info info = { 0 };
    double seconds = 0;
    int64_t n = b->o.n;
    int code = sort_batch(c, b, &info, &seconds);
    for (int64_t k = 0; b->o.offsets && k < b->o.count && code == CLI_OK; k++)
        if (b->o.offsets[k + 1] - b->o.offsets[k] > n) n = b->o.offsets[k + 1] - b->o.offsets[k];
    if (code == CLI_OK && cli_interrupted()) code = CLI_INTERRUPTED;
    const io_array *keys = &b->keys.a, *values = &b->values.a;
    if (code == CLI_OK)
        code = cli_array_write(a->output, keys->type, keys->ndim, keys->shape, keys->data);
    if (code == CLI_OK && a->index)
        code = cli_array_write(a->index, IO_I8, keys->ndim, keys->shape, b->places.data);
    if (code == CLI_OK && a->values)
        code = cli_array_write(a->sorted_values, values->type, values->ndim, values->shape,
                               values->data);
    if (code != CLI_OK) return code;
    if (c->json) {
        print_json(c, a, b, &info, n, seconds);
        return cli_json_end(c, code);
    }
    printf("rows          %lld of %s%lld keys, %s%s\n", (long long)b->o.count,
           b->o.offsets ? "at most " : "", (long long)n, shoal_key_name(b->o.key),
           a->o.descending ? ", descending" : "");
    printf("method        %s (%s) on %s, %s\n", info.method, info.variant, c->machine.backend,
           c->machine.device);
    printf("sort time     %.4g s\n", seconds);
    return code;
}

static int command(cli *c, int argc, char **argv) {
    arguments a = { .o.method = "auto" };
    batch b = { .o = { 0 } };
    int code = cli_begin(c, &sort_command, argc, argv, &a);
    if (code != CLI_OK) return code;
    code = read_batch(&a, &b);
    if (code == CLI_OK) code = run(c, &a, &b);
    io_array_free(&b.keys.a);
    io_array_free(&b.values.a);
    io_array_free(&b.offsets.a);
    io_array_free(&b.places);
    return code;
}

const cli_command sort_command = { "sort",
                                   "sort the rows of an array read from a file",
                                   .args = "KEYS.npy",
                                   .doc = doc,
                                   .run = command,
                                   .tables = { { options, 0 } },
                                   .check = check };
