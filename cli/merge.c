/* SPDX-License-Identifier: Apache-2.0
 *
 * merge.c - `shoal merge`: two sorted arrays, or the rows of two arrays, pair by pair.
 */
#include "cli/common/cli.h"

#include <string.h>

#include "cli/solve/sort_files.h"

enum { A, B, A_VALUES, B_VALUES, INPUTS, KEYS = INPUTS, VALUES, ARRAYS };

typedef struct arguments {
    const char *in[INPUTS], *output, *values;
    shoal_merge_opts o; /* but for the shape of the batch */
} arguments;

/* clang-format off */
#define AT(member) CLI_AT(arguments, member)
static const cli_option options[] = {
    { NULL,         OPT_INPUT,  AT(in[A]),        "A.npy", 0, "sorted keys", .key = "a", .needed = "two files of sorted keys are merged" },
    { NULL,         OPT_INPUT,  AT(in[B]),        "B.npy", 0, "sorted keys", .key = "b", .needed = "two files of sorted keys are merged" },
    { "a-values",   OPT_INPUT,  AT(in[A_VALUES]), "FILE", 2, "values that go with the keys of A: the same shape, 4 or 8 bytes each" },
    { "b-values",   OPT_INPUT,  AT(in[B_VALUES]), "FILE", 3, "the same of B" },
    { "output",     OPT_OUTPUT, AT(output),       "FILE", 1, "write the merged keys here", .letter = 'o', .key = "merged", .needed = "where to write the merged keys" },
    { "values",     OPT_OUTPUT, AT(values),       "FILE", 4, "write the values here, in the order of their keys" },
    { "descending", OPT_FLAG,   AT(o.descending), NULL,   5, "A, B and the result have the greatest key first", .in = IN_JSON },
    { "method",     OPT_TEXT,   AT(o.method),     "M",    6, "auto, mergepath or batchmerge", .methods = "sort" },
    { "variant",    OPT_TEXT,   AT(o.variant),    "V",    7, "variant of the method", .usual = "its first" },
    { 0 }
};
/* clang-format on */

static const char doc[] =
    "Merges two sorted arrays: (na) and (nb) into (na + nb), or row by row (count,na) and "
    "(count,nb) into (count,na + nb). Among equal keys those of A come first. Floating point "
    "numbers have IEEE's total order, as by `shoal sort'."
    "\vArrays are NumPy .npy files, both f4, f8, i4, u4, i8 or u8.\n\nExample:\n"
    "  shoal merge a.npy b.npy -o merged.npy\n"
    "  shoal merge a.npy b.npy -o m.npy --a-values i.npy --b-values j.npy --values k.npy";

static void check(void *of, struct argp_state *state) {
    const arguments *a = of;
    if (!a->values != !a->in[A_VALUES] || !a->values != !a->in[B_VALUES])
        argp_error(state, "--a-values, --b-values and --values need each other");
}

typedef struct batch {
    cli_array in[INPUTS];
    io_array keys, values; /* the result */
    shoal_merge_opts o;
} batch;

static int same_type(const cli_array *a, const cli_array *b) {
    if (a->a.type == b->a.type) return CLI_OK;
    return cli_fail(CLI_INPUT, "%s holds %s, but %s holds %s: both must have one type", a->path,
                    io_type_name(a->a.type), b->path, io_type_name(b->a.type));
}

static int fit(batch *b, int values) {
    const cli_array *a = &b->in[A], *other = &b->in[B];
    int64_t count = 0;
    int code = sort_rows(a, &b->o.count, &b->o.na);
    if (code == CLI_OK) code = sort_rows(other, &count, &b->o.nb);
    if (code == CLI_OK && (a->a.ndim > 2 || a->a.ndim != other->a.ndim || count != b->o.count))
        code =
            cli_array_misfit(a, other, "they are (na,) and (nb,), or (count, na) and (count, nb)");
    if (code == CLI_OK) code = same_type(a, other);
    if (code != CLI_OK || !values) return code;
    code = sort_values_fit(&b->in[A_VALUES], a);
    if (code == CLI_OK) code = sort_values_fit(&b->in[B_VALUES], other);
    return code == CLI_OK ? same_type(&b->in[A_VALUES], &b->in[B_VALUES]) : code;
}

static int read_batch(const arguments *a, batch *b) {
    io_error err;
    int code = CLI_OK;
    b->o = a->o;
    for (int i = 0; i < INPUTS && code == CLI_OK; i++)
        if (a->in[i]) code = cli_array_read(&b->in[i], a->in[i]);
    if (code == CLI_OK) code = fit(b, a->values != NULL);
    if (code == CLI_OK) code = sort_check_order(&b->in[A], b->o.count, b->o.na, a->o.descending);
    if (code == CLI_OK) code = sort_check_order(&b->in[B], b->o.count, b->o.nb, a->o.descending);
    if (code != CLI_OK) return code;
    const int ndim = b->in[A].a.ndim;
    const int64_t d = b->o.na + b->o.nb, shape[2] = { ndim == 1 ? d : b->o.count, d };
    b->o.key = sort_key(b->in[A].a.type);
    /* rows mean a batch, even one of them */
    if (ndim == 2 && strcmp(a->o.method, "auto") == 0) b->o.method = "batchmerge";
    code = cli_io(io_array_create(b->in[A].a.type, ndim, shape, &b->keys, &err), &err);
    if (code != CLI_OK || !a->values) return code;
    b->o.value_bytes = (int)io_type_size(b->in[A_VALUES].a.type);
    return cli_io(io_array_create(b->in[A_VALUES].a.type, ndim, shape, &b->values, &err), &err);
}

static int merge_batch(cli *c, batch *b, shoal_sort_info *info, double *seconds) {
    const int64_t key = (int64_t)shoal_key_bytes(b->o.key) * b->o.count;
    const int64_t value = (int64_t)b->o.value_bytes * b->o.count, d = b->o.na + b->o.nb;
    const int64_t bytes[ARRAYS] = { key * b->o.na,   key * b->o.nb, value * b->o.na,
                                    value * b->o.nb, key * d,       value * d };
    void *m[ARRAYS] = { NULL };
    shoal_merge *plan = NULL;
    double begin = 0;
    shoal_status s = shoal_merge_create(c->ctx, &b->o, &plan);
    for (int i = 0; i < ARRAYS && s == SHOAL_OK; i++)
        if (b->o.value_bytes || i == A || i == B || i == KEYS)
            s = sort_place(c, i < INPUTS ? b->in[i].a.data : NULL, bytes[i], &m[i]);
    if (s == SHOAL_OK) {
        begin = cli_now();
        s = shoal_merge_run(plan, m[A], m[B], m[KEYS], m[A_VALUES], m[B_VALUES], m[VALUES]);
    }
    if (s == SHOAL_OK) s = shoal_merge_last(plan, info);
    *seconds = s == SHOAL_OK ? cli_now() - begin : 0;
    if (s == SHOAL_OK) s = shoal_copy(c->ctx, b->keys.data, m[KEYS], (size_t)bytes[KEYS]);
    if (s == SHOAL_OK && b->o.value_bytes)
        s = shoal_copy(c->ctx, b->values.data, m[VALUES], (size_t)bytes[VALUES]);
    const int code = cli_status(c, s);
    shoal_merge_free(plan);
    for (int i = 0; i < ARRAYS; i++) shoal_free(c->ctx, m[i]);
    return code;
}

static void print_json(cli *c, const arguments *a, const batch *b, const shoal_sort_info *info,
                       double seconds) {
    io_json *j = cli_json_begin(c, "merge");
    io_json_int(j, "count", b->o.count);
    io_json_int(j, "na", b->o.na);
    io_json_int(j, "nb", b->o.nb);
    io_json_string(j, "key", shoal_key_name(b->o.key));
    cli_json_options(j, c, &merge_command, a);
    io_json_string(j, "method", info->method);
    io_json_string(j, "variant", info->variant);
    io_json_double(j, "merge_seconds", seconds);
    cli_json_files(j, c, &merge_command, a);
}

static int run(cli *c, const arguments *a, batch *b) {
    shoal_sort_info info = { 0 };
    double seconds = 0;
    int code = merge_batch(c, b, &info, &seconds);
    if (code == CLI_OK && cli_interrupted()) code = CLI_INTERRUPTED;
    if (code == CLI_OK)
        code = cli_array_write(a->output, b->keys.type, b->keys.ndim, b->keys.shape, b->keys.data);
    if (code == CLI_OK && a->values)
        code = cli_array_write(a->values, b->values.type, b->values.ndim, b->values.shape,
                               b->values.data);
    if (code != CLI_OK) return code;
    if (c->json) {
        print_json(c, a, b, &info, seconds);
        return cli_json_end(c, code);
    }
    printf("pairs         %lld of %lld and %lld keys, %s%s\n", (long long)b->o.count,
           (long long)b->o.na, (long long)b->o.nb, shoal_key_name(b->o.key),
           a->o.descending ? ", descending" : "");
    printf("method        %s (%s) on %s, %s\n", info.method, info.variant, c->machine.backend,
           c->machine.device);
    printf("merge time    %.4g s\n", seconds);
    return code;
}

static int command(cli *c, int argc, char **argv) {
    arguments a = { .o.method = "auto" };
    batch b = { .o = { 0 } };
    int code = cli_begin(c, &merge_command, argc, argv, &a);
    if (code != CLI_OK) return code;
    code = read_batch(&a, &b);
    if (code == CLI_OK) code = run(c, &a, &b);
    for (int i = 0; i < INPUTS; i++) io_array_free(&b.in[i].a);
    io_array_free(&b.keys);
    io_array_free(&b.values);
    return code;
}

const cli_command merge_command = { "merge",
                                    "merge two sorted arrays read from files, or their rows",
                                    .args = "A.npy B.npy",
                                    .doc = doc,
                                    .run = command,
                                    .tables = { { options, 0 } },
                                    .check = check };
