/* SPDX-License-Identifier: Apache-2.0
 *
 * recur.c - `shoal recur`: linear recurrences from files, or from numbers that stand for arrays.
 *
 * s, t and the values before the first row are each a .npy file or numbers: recur_files.c reads
 * them and makes them fit; this file is the command, the solve and what is printed.
 */
#include "cli/common/cli.h"

#include <stdlib.h>
#include <string.h>

#include "recur_files.h"

typedef struct arguments {
    recur_given in;
    const char *w, *status;
    shoal_recur_opts opts; /* method, variant, threads, groups */
} arguments;

/* clang-format off */
#define AT(member) CLI_AT(arguments, member)
static const cli_option options[] = {
    { "s",        OPT_INPUT,  AT(in.s),         "FILE|X[,X..]", 1, "coefficients", .needed = "the coefficients" },
    { "t",        OPT_INPUT,  AT(in.t),         "FILE|X",       2, "what is added" },
    { "w0",       OPT_INPUT,  AT(in.w0),        "FILE|X[,X..]", 3, "the values before the first row, w[-1] first", .usual = "0" },
    { "output",   OPT_OUTPUT, AT(w),            "FILE",         4, "write w here", .letter = 'o', .key = "w" },
    { "order",    OPT_INT,    AT(in.order),     "R",            5, "s has a last axis of R where R > 1", 1, SHOAL_RECUR_ORDERS },
    { "moebius",  OPT_FLAG,   AT(in.moebius),   NULL,           6, "w[i] = (alpha w[i-1] + beta) / (gamma w[i-1] + delta): s has a last axis of these four, there is no t" },
    { "reverse",  OPT_FLAG,   AT(in.reverse),   NULL,           7, "from the last row to the first" },
    { "n",        OPT_INT,    AT(in.n),         "N",            8, "rows, where neither s nor t is a file" },
    { "count",    OPT_INT,    AT(in.count),     "C",            8, "segments, where neither s nor t is a file", .usual = "one, and w of shape (n)" },
    { "type",     OPT_CHOICE, AT(in.type),      "T",            8, "f32 or f64, where there is no file", .words = CLI_TYPES, .given = offsetof(arguments, in.type_given) },
    { "layout",   OPT_CHOICE, AT(in.layout),    "L",            9, "system: (count,n), or interleaved: (n,count)", .words = CLI_LAYOUTS },
    { "method",   OPT_TEXT,   AT(opts.method),  "M",            10, "auto or a method of `shoal info'", .methods = "recur" },
    { "variant",  OPT_TEXT,   AT(opts.variant), "V",            11, "variant of the method", .usual = "its first" },
    { "groups",   OPT_INT,    AT(opts.groups),  "G",            12, "of pscheme: groups of threads per segment", 1, 1 << 20 },
    { "group-threads", OPT_INT, AT(opts.threads), "T",          12, "of pscheme: threads per group", 1, 1024 },
    { "status",   OPT_OUTPUT, AT(status),       "FILE",         13, "write what became of each segment: int32, 0 ok, < 0 failed" },
    { 0 }
};
/* clang-format on */

static const char doc[] =
    "Computes w[i] = s[i] w[i-1] + t[i] for every segment of a batch; of order R, w[i] = s[i,0] "
    "w[i-1] + .. + s[i,R-1] w[i-R] + t[i].\n\n"
    "Arrays are NumPy .npy files, f4 (computed in f32) or f8 (f64), of shape (n) or (count,n), s "
    "with one more last axis for orders above 1. A number may stand for s, t or w0, R numbers with "
    "commas for s or w0 of order R. w0 as a file has shape (R), (count,R), or without R for order "
    "1. A segment that fails is not finite from the row where it does, and the exit code is 1; the "
    "others are not affected."
    "\vExample:\n"
    "  shoal recur --s s.npy --t t.npy --w0 1 -o w.npy\n"
    "  shoal recur --s 1.8,-0.81 --order 2 --t x.npy -o filtered.npy\n"
    "  shoal recur --s 1.01 --t 100 --w0 0 --n 12 -o savings.npy --json";

typedef struct answer {
    shoal_recur_info info;
    double seconds;
    int64_t first_failed;
} answer;

static void check(void *of, struct argp_state *state) {
    const arguments *a = of;
    const recur_given *in = &a->in;
    if (!in->t && !in->moebius) argp_error(state, "--t is missing: what is added");
    if (in->t && in->moebius) argp_error(state, "--moebius has no --t");
    if (in->moebius && in->order != 1) argp_error(state, "--moebius has order 1");
    if (!a->w) argp_error(state, "-o is missing: where to write w");
}

enum { S, T, W0, W, STATUS, ARRAYS };

static int solve_batch(cli *c, const arguments *a, const recur_batch *batch, void *w,
                       int32_t *status, answer *out) {
    shoal_recur_opts opts = batch->shape;
    opts.method = a->opts.method, opts.variant = a->opts.variant;
    opts.threads = a->opts.threads, opts.groups = a->opts.groups;
    const size_t item = opts.type == SHOAL_F32 ? sizeof(float) : sizeof(double);
    const size_t bytes[ARRAYS] = { (size_t)batch->s_numbers * item, (size_t)batch->t_numbers * item,
                                   (size_t)batch->w0_numbers * item,
                                   (size_t)(opts.n * opts.count) * item,
                                   (size_t)opts.count * sizeof *status };
    const void *const from[] = { batch->s, batch->t, batch->w0 };
    void *m[ARRAYS] = { NULL }; /* in the context's memory */
    shoal_recur *plan = NULL;
    double begin = 0;
    shoal_status s = shoal_recur_create(c->ctx, &opts, &plan);
    for (int i = 0; i < ARRAYS && s == SHOAL_OK; i++) s = shoal_alloc(c->ctx, bytes[i], &m[i]);
    for (int i = S; i <= W0 && s == SHOAL_OK; i++) s = shoal_copy(c->ctx, m[i], from[i], bytes[i]);
    if (s == SHOAL_OK) {
        const shoal_outcome where = { .status = m[STATUS] };
        s = shoal_recur_outcome(plan, &where);
        begin = cli_now();
    }
    if (s == SHOAL_OK && opts.type == SHOAL_F32)
        s = shoal_recur_solvef(plan, m[S], m[T], m[W0], m[W]);
    else if (s == SHOAL_OK)
        s = shoal_recur_solve(plan, m[S], m[T], m[W0], m[W]);
    if (s == SHOAL_OK) s = shoal_recur_last(plan, &out->info);
    out->seconds = s == SHOAL_OK ? cli_now() - begin : 0;
    if (s == SHOAL_OK) s = shoal_copy(c->ctx, w, m[W], bytes[W]);
    if (s == SHOAL_OK) s = shoal_copy(c->ctx, status, m[STATUS], bytes[STATUS]);
    const int code = cli_status(c, s);
    shoal_recur_free(plan);
    for (int i = 0; i < ARRAYS; i++) shoal_free(c->ctx, m[i]);
    for (int64_t k = 0; k < opts.count && code == CLI_OK && out->first_failed < 0; k++)
        if (status[k] < 0) out->first_failed = k;
    return code;
}

static void print_json(cli *c, const arguments *a, const recur_batch *batch, const answer *out) {
    const shoal_recur_opts *o = &batch->shape;
    io_json *j = cli_json_begin(c, "recur");
    io_json_int(j, "count", o->count);
    io_json_int(j, "n", o->n);
    io_json_int(j, "order", o->order);
    io_json_string(j, "form", o->form == SHOAL_RECUR_MOEBIUS ? "moebius" : "linear");
    io_json_bool(j, "reverse", o->reverse != 0);
    io_json_string(j, "type", cli_type_name(o->type));
    io_json_string(j, "layout", cli_layout_name(o->layout));
    io_json_string(j, "method", out->info.method);
    io_json_string(j, "variant", *out->info.variant ? out->info.variant : NULL);
    if (out->info.groups > 0) {
        io_json_int(j, "groups", out->info.groups);
        io_json_int(j, "group_threads", out->info.threads);
    }
    io_json_int(j, "failed", out->info.failed);
    io_json_double(j, "solve_seconds", out->seconds);
    cli_json_files(j, c, &recur_command, a); /* or the numbers that stand for them */
}

static void print_table(const cli *c, const recur_batch *batch, const answer *out) {
    const shoal_recur_opts *o = &batch->shape;
    printf("segments      %lld of %lld rows, %s%s, %s\n", (long long)o->count, (long long)o->n,
           o->form == SHOAL_RECUR_MOEBIUS ? "Moebius" : "linear", o->reverse ? ", in reverse" : "",
           cli_type_name(o->type));
    printf("order         %d\n", o->order);
    printf("method        %s", out->info.method);
    if (*out->info.variant) printf(" (%s)", out->info.variant);
    printf(" on %s, %s\n", c->machine.backend, c->machine.device);
    if (out->info.groups > 0)
        printf("parts         %d groups of %d threads\n", out->info.groups, out->info.threads);
    printf("failed        %lld\n", (long long)out->info.failed);
    printf("solve time    %.4g s\n", out->seconds);
}

static int run(cli *c, const arguments *a, const recur_batch *batch, io_array *w,
               io_array *status) {
    answer out = { .first_failed = -1 };
    int code = solve_batch(c, a, batch, w->data, status->data, &out);
    if (code == CLI_OK && cli_interrupted()) code = CLI_INTERRUPTED;
    if (code == CLI_OK) code = cli_array_write(a->w, w->type, w->ndim, w->shape, w->data);
    if (code == CLI_OK && a->status)
        code = cli_array_write(a->status, IO_I4, 1, status->shape, status->data);
    if (code != CLI_OK) return code;
    if (out.info.failed > 0) code = CLI_FAILED;
    if (c->json) {
        print_json(c, a, batch, &out);
        code = cli_json_end(c, code);
    } else {
        print_table(c, batch, &out);
    }
    if (out.first_failed < 0) return code;
    fflush(stdout); /* the table first, also where both go to one file */
    cli_note(c, "%lld segment%s failed; the first is number %lld, counted from 0: %s",
             (long long)out.info.failed, out.info.failed == 1 ? "" : "s",
             (long long)out.first_failed,
             shoal_system_text(((const int32_t *)status->data)[out.first_failed]));
    return code;
}

static int command(cli *c, int argc, char **argv) {
    arguments a = { .opts.method = "auto", .in = { .order = 1, .n = -1, .count = -1 } };
    recur_batch batch = { 0 };
    io_array w = { 0 }, status = { 0 };
    io_error err;
    int code = cli_begin(c, &recur_command, argc, argv, &a);
    if (code != CLI_OK) return code;
    code = recur_read(c, &a.in, &batch);
    if (code == CLI_OK)
        code = cli_io(
            io_array_create(cli_io_type(batch.shape.type), batch.ndim, batch.axes, &w, &err), &err);
    if (code == CLI_OK)
        code = cli_io(io_array_create(IO_I4, 1, &batch.shape.count, &status, &err), &err);
    if (code == CLI_OK) code = run(c, &a, &batch, &w, &status);
    io_array_free(&w);
    io_array_free(&status);
    recur_free(&batch);
    return code;
}

const cli_command recur_command = { "recur",
                                    "compute linear recurrences read from files",
                                    .doc = doc,
                                    .run = command,
                                    .tables = { { options, 0 } },
                                    .check = check };
