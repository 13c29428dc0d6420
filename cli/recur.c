/* SPDX-License-Identifier: Apache-2.0
 *
 * recur.c - `shoal recur`: linear recurrences from files, or from numbers that stand for arrays.
 *
 * s, t and the values before the first row are each a .npy file or numbers: recur_files.c reads
 * them and makes them fit; this file is the command, the solve and what is printed.
 */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

#include "recur_files.h"

enum {
    KEY_S = 0x2000,
    KEY_T,
    KEY_W0,
    KEY_ORDER,
    KEY_MOEBIUS,
    KEY_REVERSE,
    KEY_N,
    KEY_COUNT,
    KEY_TYPE,
    KEY_LAYOUT,
    KEY_METHOD,
    KEY_VARIANT,
    KEY_GROUPS,
    KEY_GROUP_THREADS,
    KEY_STATUS
};

/* clang-format off */
static const struct argp_option options[] = {
    { "s",        KEY_S,       "FILE|X[,X..]", 0, "coefficients", 1 },
    { "t",        KEY_T,       "FILE|X",       0, "what is added", 2 },
    { "w0",       KEY_W0,      "FILE|X[,X..]", 0, "the values before the first row, w[-1] first [0]", 3 },
    { "output",   'o',         "FILE",         0, "write w here", 4 },
    { "order",    KEY_ORDER,   "R",            0, "1 to 4: s has a last axis of R where R > 1 [1]", 5 },
    { "moebius",  KEY_MOEBIUS, NULL,           0, "w[i] = (alpha w[i-1] + beta) / (gamma w[i-1] + delta): "
                                                  "s has a last axis of these four, there is no t", 6 },
    { "reverse",  KEY_REVERSE, NULL,           0, "from the last row to the first", 7 },
    { "n",        KEY_N,       "N",            0, "rows, where neither s nor t is a file", 8 },
    { "count",    KEY_COUNT,   "C",            0, "segments, where neither s nor t is a file [one, and w of shape (n)]", 8 },
    { "type",     KEY_TYPE,    "T",            0, "f32 or f64, where there is no file [f64]", 8 },
    { "layout",   KEY_LAYOUT,  "L",            0, "system: (count,n), or interleaved: (n,count) [system]", 9 },
    { "method",   KEY_METHOD,  "M",            0, "auto or a method of `shoal info' [auto]", 10 },
    { "variant",  KEY_VARIANT, "V",            0, "variant of the method [its first]", 11 },
    { "groups",   KEY_GROUPS,  "G",            0, "of pscheme: groups of threads a segment", 12 },
    { "group-threads", KEY_GROUP_THREADS, "T", 0, "of pscheme: threads of a group", 12 },
    { "status",   KEY_STATUS,  "FILE",         0, "write what became of each segment: int32, 0 ok, < 0 failed", 13 },
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

typedef struct arguments {
    recur_given in;
    const char *w, *status, *method, *variant;
    int groups, group_threads;
} arguments;

typedef struct answer {
    shoal_recur_info info;
    double seconds;
    int64_t first_failed;
} answer;

static void check_arguments(const arguments *a, struct argp_state *state) {
    const recur_given *in = &a->in;
    if (!in->s) argp_error(state, "--s is missing: the coefficients");
    if (!in->t && !in->moebius) argp_error(state, "--t is missing: what is added");
    if (in->t && in->moebius) argp_error(state, "--moebius has no --t");
    if (in->moebius && in->order != 1) argp_error(state, "--moebius has order 1");
    if (!a->w) argp_error(state, "-o is missing: where to write w");
    cli_check_outputs(state, (const char *[CLI_OUTPUTS]){ a->w, a->status }, NULL);
}

static error_t parse(int key, char *arg, struct argp_state *state) {
    arguments *a = state->input;
    recur_given *in = &a->in;
    /* clang-format off */
    switch (key) {
    case KEY_S:       in->s = arg; return 0;
    case KEY_T:       in->t = arg; return 0;
    case KEY_W0:      in->w0 = arg; return 0;
    case 'o':         a->w = arg; return 0;
    case KEY_ORDER:   in->order = (int)cli_arg_int(state, "--order", arg, 1, SHOAL_RECUR_ORDERS); return 0;
    case KEY_MOEBIUS: in->moebius = true; return 0;
    case KEY_REVERSE: in->reverse = true; return 0;
    case KEY_N:       in->n = cli_arg_int(state, "--n", arg, 0, INT64_MAX); return 0;
    case KEY_COUNT:   in->count = cli_arg_int(state, "--count", arg, 0, INT64_MAX); return 0;
    case KEY_TYPE:    in->type = cli_arg_type(state, arg); in->type_given = true; return 0;
    case KEY_LAYOUT:  in->layout = cli_arg_layout(state, arg); return 0;
    case KEY_METHOD:  a->method = arg; return 0;
    case KEY_VARIANT: a->variant = arg; return 0;
    case KEY_GROUPS:  a->groups = (int)cli_arg_int(state, "--groups", arg, 1, 1 << 20); return 0;
    case KEY_GROUP_THREADS:
        a->group_threads = (int)cli_arg_int(state, "--group-threads", arg, 1, 1024); return 0;
    case KEY_STATUS:  a->status = arg; return 0;
    case ARGP_KEY_ARG: argp_error(state, "unexpected argument '%s': files are given by options", arg);
                       return 0;
    case ARGP_KEY_END: check_arguments(a, state); return 0;
    default:           return ARGP_ERR_UNKNOWN;
    }
    /* clang-format on */
}

enum { S, T, W0, W, STATUS, ARRAYS };

static int solve_batch(cli *c, const arguments *a, const recur_batch *batch, void *w,
                       int32_t *status, answer *out) {
    shoal_recur_opts opts = batch->shape;
    opts.method = a->method, opts.variant = a->variant;
    opts.threads = a->group_threads, opts.groups = a->groups;
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
    const struct {
        const char *key, *text;
    } given[] = { { "s", a->in.s },
                  { "t", a->in.t },
                  { "w0", a->in.w0 },
                  { "w", a->w },
                  { "status", a->status } };
    io_json_object(j, "files"); /* or the numbers that stand for them */
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        if (given[i].text) io_json_string(j, given[i].key, given[i].text);
    io_json_close(j);
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

int cmd_recur(cli *c, int argc, char **argv) {
    static const struct argp argp = { .options = options, .parser = parse, .doc = doc };
    arguments a = { .method = "auto", .in = { .order = 1, .n = -1, .count = -1 } };
    recur_batch batch = { 0 };
    io_array w = { 0 }, status = { 0 };
    io_error err;
    int code = cli_parse_argp(c, &argp, argc, argv, &a);
    if (code == CLI_OK) code = cli_check_method(argv[0], "recur", a.method, a.variant);
    if (code == CLI_OK) code = cli_open(c);
    if (code != CLI_OK) return code;
    cli_note_no_seed(c);
    cli_note_no_fast_math(c);
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
