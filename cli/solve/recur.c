/* SPDX-License-Identifier: Apache-2.0
 *
 * recur.c - `shoal recur`: linear recurrences from files, or from numbers that stand for arrays.
 *
 * s, t and the values before the first row are each a .npy file or numbers. What reads as numbers with commas between
 * them is numbers, everything else the name of a file. A file decides n and count; without one, --n and --count do.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/arrays.h"
#include "io/status.h"

typedef struct arguments {
    const char *s, *t, *w0; /* files or numbers; w0 NULL: zeros, t NULL: Moebius */
    const char *w, *status;
    bool type_given;
    shoal_recur_opts opts; /* n, count: -1: not given */
} arguments;

/* clang-format off */
#define AT(member) CLI_AT(arguments, member)
static const cli_option options[] = {
    { "s",        OPT_INPUT,  AT(s),            "FILE|X[,X..]", 1, "coefficients", .needed = "the coefficients",
      .more = "Shape (n) or (count,n); for orders R above 1 with one more axis of R at the end." },
    { "t",        OPT_INPUT,  AT(t),            "FILE|X",       2, "the term that is added", .without = "moebius", .needed = "the term that is added", .unless = "moebius" },
    { "w0",       OPT_INPUT,  AT(w0),           "FILE|X[,X..]", 3, "the values before the first row, w[-1] first", .usual = "0" },
    { "output",   OPT_OUTPUT, AT(w),            "FILE",         4, "write w here, in the shape of t", .letter = 'o', .key = "w", .needed = "where to write w", .ends = CLI_ARRAY_ENDS },
    { "order",    OPT_INT,    AT(opts.order),   "R",            5, "order of the recurrence: for R > 1 s has one more axis of R at the end", 1, SHOAL_RECUR_ORDERS },
    { "moebius",  OPT_FLAG,   AT(opts.form),    NULL,           6, "w[i] = (alpha w[i-1] + beta) / (gamma w[i-1] + delta): the last axis of s has these four; there is no t" },
    { "reverse",  OPT_FLAG,   AT(opts.reverse), NULL,           7, "from the last row to the first" },
    { "n",        OPT_INT,    AT(opts.n),       "N",            8, "rows, if neither s nor t is a file" },
    { "count",    OPT_INT,    AT(opts.count),   "C",            8, "segments, if neither s nor t is a file", .usual = "one, and w of shape (n)" },
    { "type",     OPT_CHOICE, AT(opts.type),    "T",            8, "f32 or f64, if there is no file", .words = CLI_TYPES, .given = offsetof(arguments, type_given) },
    { "layout",   OPT_CHOICE, AT(opts.layout),  "L",            9, "shape of the arrays: system is (count,n), interleaved is (n,count)", .words = CLI_LAYOUTS },
    { "method",   OPT_TEXT,   AT(opts.method),  "M",            10, "auto or a method of `shoal info'", .methods = "recur" },
    { "variant",  OPT_TEXT,   AT(opts.variant), "V",            11, "variant of the method", .usual = "the first" },
    { "groups",   OPT_INT,    AT(opts.groups),  "G",            12, "pscheme: groups of threads per segment", 1, 1 << 20 },
    { "group-threads", OPT_INT, AT(opts.threads), "T",          12, "pscheme: threads per group", 1, 1024 },
    { "status",   OPT_OUTPUT, AT(status),       "FILE",         13, "write the status of each segment: int32, 0 ok, < 0 failed", .ends = CLI_ARRAY_ENDS },
    { 0 }
};
static const char doc[] =
    "Computes w[i] = s[i] w[i-1] + t[i] for every segment of a batch. For order R: w[i] = s[i,0] w[i-1] + .. + s[i,R-1] w[i-R] + "
    "t[i].\n\n"
    "Arrays are NumPy .npy files, f4 (computed in f32) or f8 (f64), of shape (n) or (count,n). For orders above 1 s has one more "
    "axis at the end. A constant s, t or w0 may be a number on the command line, for order R of s and w0 R numbers with commas. A "
    "file w0 has shape (R) or (count,R), for order 1 without R. If a segment overflows, w is not finite from there on and the exit "
    "code is 1; the other segments are not affected.\vExample:\n"
    "  shoal recur --s s.npy --t t.npy --w0 1 -o w.npy\n"
    "  shoal recur --s 1.8,-0.81 --order 2 --t x.npy -o filtered.npy\n"
    "  shoal recur --s 1.01 --t 100 --w0 0 --n 12 -o savings.npy --json";
/* clang-format on */

static void check(void *of, struct argp_state *state) {
    const arguments *a = of;
    if (a->opts.form == SHOAL_RECUR_MOEBIUS && a->opts.order != 1)
        argp_error(state, "--moebius has order 1");
}

enum { S, T, W0, INPUTS, W = INPUTS, STATUS, ARRAYS, MAX_NUMBERS = 4 };

typedef struct batch {
    shoal_recur_opts shape;
    int ndim; /* of w, with its axes */
    int64_t axes[2];
    cli_array file[INPUTS]; /* s, t, w0, read or made of numbers, as shoal_recur_solve takes them */
    io_array w, status;
    shoal_recur_info info;
    double seconds;
} batch;

typedef struct input {
    const char *option, *text; /* "--s"; NULL: not given */
    double numbers[MAX_NUMBERS];
    int count; /* of numbers; 0: it is a file */
    int each;  /* numbers per row             */
    cli_array *file;
} input;

/* 0 where the text is not a list of at most MOST numbers. */
static int read_numbers(const char *text, double *numbers) {
    int count = 0;
    for (const char *at = text;; count++) {
        const size_t size = strcspn(at, ",");
        if (count == MAX_NUMBERS || !io_text_double(at, size, &numbers[count])) return 0;
        if (at[size] == 0) return count + 1;
        at += size + 1;
    }
}

static int open_input(input *in) {
    if (!in->text) return CLI_OK;
    in->count = read_numbers(in->text, in->numbers);
    if (in->count == 0 && strchr(in->text, ',') && access(in->text, F_OK) != 0)
        return cli_fail(CLI_USAGE, "%s: '%s' is neither a file nor up to %d numbers with commas",
                        in->option, in->text, MAX_NUMBERS);
    if (in->count == 0) return cli_array_read(in->file, in->text);
    if (in->count == in->each) return CLI_OK;
    return cli_fail(CLI_USAGE, "%s has %s, expected %d", in->option, CLI_COUNT(in->count, "number"),
                    in->each);
}

static bool is_file(const input *in) { return in->text && in->count == 0; }

/* The axes of a file without its last one, where rows have several numbers. */
static int row_axes(const input *in, int *ndim) {
    const io_array *a = &in->file->a;
    char text[96];
    *ndim = a->ndim - (in->each > 1);
    const bool last = in->each == 1 || (a->ndim > 0 && a->shape[a->ndim - 1] == in->each);
    if ((*ndim == 1 || *ndim == 2) && last) return CLI_OK;
    if (in->each > 1)
        return cli_fail(CLI_INPUT, "%s has shape %s; expected (n, %d) or (count, n, %d)", in->text,
                        io_shape_text(a->ndim, a->shape, text, sizeof text), in->each, in->each);
    return cli_fail(CLI_INPUT, "%s has shape %s; expected (n,) or (count, n)", in->text,
                    io_shape_text(a->ndim, a->shape, text, sizeof text));
}

/* n and count from s and t, or from the options. */
static int find_shape(const shoal_recur_opts *in, const input *inputs, batch *out) {
    const input *first = is_file(&inputs[S]) ? &inputs[S] : is_file(&inputs[T]) ? &inputs[T] : NULL;
    const bool interleaved = in->layout == SHOAL_INTERLEAVED;
    if (!first) {
        if (in->n < 0) return cli_fail(CLI_USAGE, "--n is missing: neither --s nor --t is a file");
        out->ndim = in->count >= 0 ? 2 : 1;
        const int64_t count = in->count >= 0 ? in->count : 1;
        out->shape.n = in->n, out->shape.count = count;
        out->axes[0] = out->ndim == 1 || interleaved ? in->n : count;
        out->axes[1] = interleaved ? count : in->n;
        return CLI_OK;
    }
    if (in->n >= 0 || in->count >= 0)
        return cli_fail(CLI_USAGE, "--n and --count are for constants; the size is that of %s",
                        first->text);
    for (int i = S; i <= T; i++) {
        int ndim;
        if (!is_file(&inputs[i])) continue;
        int code = row_axes(&inputs[i], &ndim);
        if (code != CLI_OK) return code;
        const io_array *a = &inputs[i].file->a;
        bool same = ndim == out->ndim || &inputs[i] == first;
        for (int k = 0; k < ndim && same && &inputs[i] != first; k++)
            same = a->shape[k] == out->axes[k];
        if (!same)
            return cli_array_misfit(inputs[i].file, first->file,
                                    "s and t have the same rows; for orders above 1 and Moebius s "
                                    "has one more axis at the end");
        out->ndim = ndim;
        for (int k = 0; k < ndim; k++) out->axes[k] = a->shape[k];
    }
    const bool several = out->ndim == 2;
    out->shape.n = out->axes[several && !interleaved];
    out->shape.count = several ? out->axes[interleaved] : 1;
    return CLI_OK;
}

static int check_first_values(const input *w0, const batch *out) {
    char text[96];
    if (!is_file(w0)) return CLI_OK;
    const io_array *a = &w0->file->a;
    const int64_t numbers = out->shape.count * w0->each;
    const bool last = w0->each == 1 || (a->ndim > 0 && a->shape[a->ndim - 1] == w0->each);
    if (io_array_count(a) == numbers && last) return CLI_OK;
    return cli_fail(CLI_INPUT, "%s has shape %s; expected %s per segment, for %s", w0->text,
                    io_shape_text(a->ndim, a->shape, text, sizeof text),
                    CLI_COUNT(w0->each, "number"), CLI_COUNT(out->shape.count, "segment"));
}

/* One type: that of the files, or the one asked for. */
static int find_type(const cli *c, bool given, const input *inputs, batch *out) {
    cli_array *files[INPUTS];
    int count = 0;
    for (int i = 0; i < INPUTS; i++)
        if (is_file(&inputs[i])) files[count++] = inputs[i].file;
    const shoal_type asked = out->shape.type;
    if (count == 0) return CLI_OK;
    int code = cli_array_unify(c, files, count, &out->shape.type);
    if (code == CLI_OK && given && out->shape.type != asked)
        code = cli_fail(CLI_USAGE, "--type is for constants; %s contains %s", files[0]->path,
                        cli_type_name(out->shape.type));
    return code;
}

/* The numbers of an input that is no file, once per segment. */
static int fill(const input *in, const batch *out) {
    const int64_t numbers = out->shape.count * in->each;
    if (is_file(in)) return CLI_OK;
    const int code = cli_array_create(cli_io_type(out->shape.type), 1, &numbers, &in->file->a);
    void *array = in->file->a.data;
    for (int64_t i = 0; i < numbers && in->text && code == CLI_OK; i++)
        cli_put_number(out->shape.type, array, i, in->numbers[i % in->each]);
    return code;
}

static int read_batch(const cli *c, const arguments *a, batch *out) {
    const bool moebius = a->opts.form == SHOAL_RECUR_MOEBIUS;
    const int order = a->opts.order;
    input inputs[INPUTS] = {
        { .option = "--s", .text = a->s, .each = moebius ? 4 : order, .file = &out->file[S] },
        { .option = "--t", .text = a->t, .each = 1, .file = &out->file[T] },
        { .option = "--w0", .text = a->w0, .each = order, .file = &out->file[W0] }
    };
    int code = CLI_OK;
    out->shape = a->opts;
    for (int i = 0; i < INPUTS && code == CLI_OK; i++) code = open_input(&inputs[i]);
    if (code == CLI_OK) code = find_shape(&a->opts, inputs, out);
    if (code == CLI_OK) code = check_first_values(&inputs[W0], out);
    if (code == CLI_OK) code = find_type(c, a->type_given, inputs, out);
    if (code != CLI_OK) return code;
    out->shape.constant_s = !is_file(&inputs[S]);
    out->shape.constant_t = !is_file(&inputs[T]) && !moebius;
    for (int i = 0; i < INPUTS && code == CLI_OK; i++) code = fill(&inputs[i], out);
    if (code == CLI_OK && cli_interrupted()) code = CLI_INTERRUPTED;
    return code;
}

/* ---- the solve -------------------------------------------------------------------------------- */

static int solve_batch(cli *c, batch *b) {
    cli_place m[ARRAYS] = {
        [W] = cli_place_to(&b->w, 1, 0, 1), [STATUS] = cli_place_to(&b->status, 1, 0, 1)
    };
    shoal_recur *plan = NULL;
    double begin = 0;
    for (int i = 0; i < INPUTS; i++) m[i] = cli_place_from(&b->file[i].a, 1, 0, 1);
    shoal_status s = shoal_recur_create(c->ctx, &b->shape, &plan);
    if (s == SHOAL_OK) s = cli_places_begin(c, m, ARRAYS);
    if (s == SHOAL_OK) {
        const shoal_outcome where = { .status = m[STATUS].at };
        s = shoal_recur_outcome(plan, &where);
        begin = cli_now();
    }
    if (s == SHOAL_OK)
        s = CLI_BY_TYPE(b->shape.type, shoal_recur_solve, plan, m[S].at, m[T].at, m[W0].at,
                        m[W].at);
    if (s == SHOAL_OK) s = shoal_recur_last(plan, &b->info);
    b->seconds = s == SHOAL_OK ? cli_now() - begin : 0;
    if (s == SHOAL_OK) s = cli_places_copy(c, m, ARRAYS);
    const int code = cli_status(c, s);
    shoal_recur_free(plan);
    cli_places_end(c, m, ARRAYS);
    return code;
}

/* clang-format off */
#define BATCH(name, member) CLI_RESULT(name, batch, member)
static const cli_option shape_results[] = {
    BATCH("count", shape.count), BATCH("n", shape.n), BATCH("order", shape.order),
    { "form", OPT_CHOICE, CLI_AT(batch, shape.form), .words = "linear|moebius" },
    { "reverse", OPT_FLAG, CLI_AT(batch, shape.reverse) },
    { "type", OPT_CHOICE, CLI_AT(batch, shape.type), .words = CLI_TYPES },
    { "layout", OPT_CHOICE, CLI_AT(batch, shape.layout), .words = CLI_LAYOUTS },
    BATCH("method", info.method), BATCH("variant", info.variant),
    { 0 }
};
static const cli_option group_results[] = { BATCH("groups", info.groups), BATCH("group_threads", info.threads), { 0 } };
static const cli_option end_results[] = { BATCH("failed", info.failed), BATCH("solve_seconds", seconds), { 0 } };
/* clang-format on */

static void print_json(cli *c, const arguments *a, const batch *b) {
    io_json *j = cli_json_begin(c, "recur");
    cli_json_results(j, shape_results, b);
    if (b->info.groups > 0) cli_json_results(j, group_results, b);
    cli_json_results(j, end_results, b);
    cli_json_files(j, c, &recur_command, a); /* or the numbers that stand for them */
}

static void print_table(const cli *c, const batch *b) {
    const shoal_recur_opts *o = &b->shape;
    printf("segments      %lld with %s, %s%s, %s\n", (long long)o->count, CLI_COUNT(o->n, "row"),
           o->form == SHOAL_RECUR_MOEBIUS ? "Moebius" : "linear", o->reverse ? ", in reverse" : "",
           cli_type_name(o->type));
    printf("order         %d\n", o->order);
    printf("method        %s", b->info.method);
    if (*b->info.variant) printf(" (%s)", b->info.variant);
    printf(" on %s, %s\n", c->machine.backend, c->machine.device);
    if (b->info.groups > 0)
        printf("parts         %s of %s\n", CLI_COUNT(b->info.groups, "group"),
               CLI_COUNT(b->info.threads, "thread"));
    printf("failed        %lld\n", (long long)b->info.failed);
    printf("solve time    %s\n", CLI_TIME(b->seconds));
}

static int run(cli *c, const arguments *a, batch *b) {
    int code = cli_array_create(cli_io_type(b->shape.type), b->ndim, b->axes, &b->w);
    if (code == CLI_OK) code = cli_array_create(IO_I4, 1, &b->shape.count, &b->status);
    if (code == CLI_OK) code = solve_batch(c, b);
    if (code == CLI_OK && cli_interrupted()) code = CLI_INTERRUPTED;
    if (code == CLI_OK) code = cli_array_write(a->w, &b->w);
    if (code == CLI_OK) code = cli_array_write(a->status, &b->status);
    if (code != CLI_OK) return code;
    if (b->info.failed > 0) code = CLI_FAILED;
    if (c->json) {
        print_json(c, a, b);
        code = cli_json_end(c, code);
    } else {
        print_table(c, b);
    }
    if (b->info.failed > 0) cli_note_systems(c, "segment", b->status.data, b->shape.count);
    return code;
}

static int command(cli *c, int argc, char **argv) {
    arguments a = { .opts = { .method = "auto", .order = 1, .n = -1, .count = -1 } };
    batch b = { .ndim = 0 };
    int code = cli_begin(c, &recur_command, argc, argv, &a);
    if (code != CLI_OK) return code;
    code = read_batch(c, &a, &b);
    if (code == CLI_OK) code = run(c, &a, &b);
    for (int i = 0; i < INPUTS; i++) io_array_free(&b.file[i].a);
    io_array_free(&b.w);
    io_array_free(&b.status);
    return code;
}

const cli_command recur_command = { "recur",
                                    "compute linear recurrences read from files",
                                    .doc = doc,
                                    .run = command,
                                    .tables = { { options, 0 } },
                                    .check = check };
