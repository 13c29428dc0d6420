/* SPDX-License-Identifier: Apache-2.0
 *
 * rng.c - `shoal gen rng`: random numbers as one file. The kinds are the methods of rng.
 *
 * They are made on the backend that was asked for and written in slices of about SLICE numbers, so
 * that a huge count needs little memory; how a stream is cut changes none of its numbers.
 */
#include <stdlib.h>
#include <string.h>

#include "bench/rng.h"
#include "gen.h"

enum { SLICE = 1 << 22 };

/* clang-format off */
static const struct {
    const char *kind, *text;
} texts[] = {
    { "words",       "32 random bits each, u4" },
    { "uniform",     "uniform in the open interval (0, 1)" },
    { "normal",      "normal, mean 0 and variance 1" },
    { "gamma",       "gamma of shape --alpha and scale 1, or its logarithm (variant log)" },
    { "poisson",     "Poisson of mean --lambda, u4" },
    { "ncchisq",     "chi-squared, --df degrees of freedom, non-centrality --lambda" },
    { "sobol",       "Sobol points of --n coordinates in the unit cube, shape (count, n)" },
    { "sobolnormal", "Sobol points of --n normal coordinates, shape (count, n)" },
};

static const struct { /* options that not every kind takes, as the bench names them, too */
    const char *key, *what;
} parameters[] = {
    { "n",      "the coordinates per point" },
    { "lambda", "the mean, or the non-centrality" },
    { "alpha",  "the shape of the law" },
    { "df",     "the degrees of freedom" },
};
/* clang-format on */

typedef struct writer {
    gen_file file;
    const gen_arguments *a;
    shoal_rng *plan;
    void *there, *here; /* a slice: in the context's memory, and on the host */
    int64_t each;       /* numbers per point */
} writer;

const char *gen_rng_kind(int i) { return shoal_methods("rng", i); }

const char *gen_rng_kind_text(int i) {
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
        if (strcmp(texts[k].kind, gen_rng_kind(i)) == 0) return texts[k].text;
    return "";
}

void gen_rng_check(const gen_arguments *a, struct argp_state *state) {
    for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i++) {
        const char *key = parameters[i].key;
        const bool takes = bench_rng_takes(a->kind, key);
        if (takes && !gen_given(a, key))
            argp_error(state, "--%s is missing: %s", key, parameters[i].what);
        if (!takes && gen_given(a, key))
            argp_error(state, "--%s does not apply to kind '%s'", key, a->kind);
    }
    if (bench_rng_fixed_type(a->kind) && a->given.type)
        argp_error(state, "--type does not apply to kind '%s': its numbers are %s", a->kind,
                   bench_rng_fixed_type(a->kind));
    if (!a->given.count) argp_error(state, "--count is missing: how many numbers");
}

static const char *type_name(const gen_arguments *a) {
    const char *fixed = bench_rng_fixed_type(a->kind);
    return fixed ? fixed : cli_type_name(a->type);
}

static shoal_status fill(const writer *w, uint64_t first, int64_t count) {
    if (w->file.type == IO_U4) return shoal_rng_fillu(w->plan, first, count, w->there);
    if (w->file.type == IO_F4) return shoal_rng_fillf(w->plan, first, count, w->there);
    return shoal_rng_fill(w->plan, first, count, w->there);
}

/* The plan, memory for a slice, and the file. A stream that ends too early is found out here. */
static int begin(cli *c, int64_t slice, writer *w) {
    const gen_arguments *a = w->a;
    shoal_rng_opts opts = a->rng;
    opts.method = a->kind, opts.type = a->type, opts.dimensions = a->n;
    opts.math = c->fast_math ? SHOAL_FAST : SHOAL_EXACT, opts.seed = c->seed;
    const size_t bytes = (size_t)(slice * w->each) * io_type_size(w->file.type);
    const uint64_t last = a->first + (uint64_t)a->count - 1;
    shoal_status status = shoal_rng_create(c->ctx, &opts, &w->plan);
    if (status == SHOAL_OK && a->count > 0 && last < a->first)
        return cli_fail(CLI_USAGE,
                        "--first + --count = %llu + %lld is beyond the end of the stream",
                        (unsigned long long)a->first, (long long)a->count);
    if (status == SHOAL_OK) status = shoal_alloc(c->ctx, bytes > 0 ? bytes : 1, &w->there);
    if (status == SHOAL_OK && a->count > 0) status = fill(w, last, 1);
    if (status != SHOAL_OK) return cli_status(c, status);
    w->here = strcmp(c->machine.backend, "cpu") == 0 ? w->there : malloc(bytes > 0 ? bytes : 1);
    if (!w->here) return cli_fail(CLI_UNAVAILABLE, "not enough memory for %zu bytes", bytes);
    return gen_file_open(&w->file, a->stem, "");
}

static int write_slice(cli *c, writer *w, int64_t at, int64_t count, bool *written) {
    const size_t bytes = (size_t)(count * w->each) * io_type_size(w->file.type);
    shoal_status status = fill(w, w->a->first + (uint64_t)at, count);
    if (status == SHOAL_OK) status = shoal_wait(c->ctx);
    if (status == SHOAL_OK && w->here != w->there)
        status = shoal_copy(c->ctx, w->here, w->there, bytes);
    if (status == SHOAL_OK) *written = gen_file_write(&w->file, w->here, bytes);
    return cli_status(c, status);
}

static int write_all(cli *c, writer *w) {
    const gen_arguments *a = w->a;
    const int64_t each = w->each > 0 ? w->each : 1; /* the library has the message */
    int64_t slice = SLICE / each > 0 ? SLICE / each : 1, numbers, bytes;
    if (slice > a->count) slice = a->count;
    if (io_shape_bytes(w->file.type, w->file.ndim, w->file.shape, &numbers, &bytes) != IO_OK)
        return cli_fail(CLI_USAGE, "count * n = %lld * %lld is too large", (long long)a->count,
                        (long long)w->each);
    int code = begin(c, slice, w);
    bool written = true;
    cli_progress bar;
    cli_progress_begin(&bar, c, "generate", a->count);
    for (int64_t at = 0; at < a->count && code == CLI_OK && written; at += slice) {
        const int64_t count = a->count - at < slice ? a->count - at : slice;
        code = write_slice(c, w, at, count, &written);
        if (code == CLI_OK && cli_interrupted()) code = CLI_INTERRUPTED;
        cli_progress_step(&bar, at + count);
    }
    cli_progress_end(&bar);
    code = gen_file_close(&w->file, code);
    if (w->here != w->there) free(w->here);
    shoal_free(c->ctx, w->there);
    shoal_rng_free(w->plan);
    return code;
}

static int print_result(cli *c, const writer *w, int code) {
    const gen_arguments *a = w->a;
    if (!c->json) {
        if (code == CLI_OK) gen_print_files(&w->file, 1);
        return code;
    }
    const double values[] = { (double)a->n, a->rng.lambda, a->rng.alpha,
                              a->rng.df }; /* as in `parameters` */
    io_json *j = cli_json_begin(c, "gen");
    io_json_string(j, "module", a->module);
    io_json_string(j, "kind", a->kind);
    io_json_string(j, "variant",
                   a->rng.variant ? a->rng.variant : shoal_variants("rng", a->kind, 0));
    io_json_int(j, "count", a->count);
    for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i++)
        if (bench_rng_takes(a->kind, parameters[i].key))
            io_json_double(j, parameters[i].key, values[i]);
    io_json_string(j, "type", type_name(a));
    if (bench_rng_takes(a->kind, "math"))
        io_json_string(j, "math", c->fast_math ? "fast" : "exact");
    io_json_uint(j, "seed", c->seed);
    io_json_uint(j, "first", a->first);
    io_json_uint(j, "step", a->rng.step);
    io_json_uint(j, "purpose", a->rng.purpose);
    io_json_uint(j, "draw", a->rng.draw);
    io_json_object(j, "files");
    if (code == CLI_OK) io_json_string(j, "numbers", w->file.path);
    io_json_close(j);
    return cli_json_end(c, code);
}

int gen_rng(cli *c, const gen_arguments *a) {
    writer *w = calloc(1, sizeof *w);
    if (!w) return cli_no_memory();
    w->a = a;
    w->each = bench_rng_takes(a->kind, "n") ? a->n : 1;
    w->file.type = bench_rng_fixed_type(a->kind) ? IO_U4 : cli_io_type(a->type);
    w->file.shape[w->file.ndim++] = a->count;
    if (bench_rng_takes(a->kind, "n")) w->file.shape[w->file.ndim++] = a->n;
    if (!bench_rng_takes(a->kind, "math")) cli_note_no_fast_math(c);
    int code = write_all(c, w);
    if (code == CLI_OK || code == CLI_INTERRUPTED) code = print_result(c, w, code);
    free(w);
    return code;
}
