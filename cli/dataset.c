/* SPDX-License-Identifier: Apache-2.0
 *
 * dataset.c - `shoal dataset expou`: call prices for many combinations of parameters, block after block of rows,
 * each of which is in the file before the next begins.
 */
#include "dataset.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    KEY_SAMPLES = 0x2000,
    KEY_RANGES,
    KEY_DESIGN,
    KEY_PARAMETRISATION,
    KEY_TARGET,
    KEY_PATHS,
    KEY_REFINE,
    KEY_SHARD,
    KEY_RESTART
};

/* clang-format off */
static const struct argp_option options[] = {
    { "samples",         KEY_SAMPLES,         "N",          0, "rows, at most 2^32", 1 },
    { "output",          'o',                 "F.{csv,npy,h5}", 0, "where to write them; of --shard, the part", 1 },
    { "ranges",          KEY_RANGES,          "FILE.csv",   0, "columns parameter, low, high and maybe scale (linear, log): ranges of parameters, others keep theirs", 2 },
    { "design",          KEY_DESIGN,          "sobol|latin", 0, "scrambled Sobol points, or a Latin hypercube [sobol]", 2 },
    { "parametrisation", KEY_PARAMETRISATION, "beta|nu2",   0, "the third column: beta, or the stationary variance nu2 of Y, beta = sqrt(2 alpha nu2) [beta]", 2 },
    { "target-se",       KEY_TARGET,          "E",          0, "simulate a row until its standard error is at most E [5e-5]", 3 },
    { "paths",           KEY_PATHS,           "N",          0, "or it has so many paths, 512 to 2^25 [2^21]", 3 },
    { "refine",          KEY_REFINE,          "R",          0, "R times the steps, 1 to 4, to see what they change [1]", 3 },
    { "shard",           KEY_SHARD,           "I/N",        0, "part I of N, from 1; see merge-parts", 4 },
    { "restart",         KEY_RESTART,         NULL,         0, "do not go on with what an earlier run left", 4 },
    { 0 }
};

static const char doc[] =
    "Makes a data set: combinations of alpha, m, beta, y0, rho, maturity and strike, and for each the price of a call in the "
    "exponential Ornstein-Uhlenbeck model, S0 = 1, no rate, with its standard error. --seed is that of the design and of the "
    "paths: take another one for validation, and another for test."
    "\vRows are kept in F.partial, block after block, until all are there; a run that was broken off goes on from "
    "there when the same command is given again. docs/surrogate.md has the ranges and the method.\n\nExample:\n"
    "  shoal dataset expou --samples 20000 --seed 1 -o train.csv\n"
    "  shoal dataset expou --samples 2000 --seed 2 -o validation.csv\n"
    "  shoal dataset expou --samples 2e5 --shard 1/2 -o a.part\n"
    "  shoal merge-parts a.part b.part -o train.npy";
/* clang-format on */

typedef struct arguments {
    shoal_dataset_opts o;
    const char *ranges, *output;
    int64_t shard, shards; /* shards 0: not a part */
    bool restart, samples_given;
} arguments;

static bool one_of(struct argp_state *state, const char *option, const char *text, const char *word,
                   const char *other) {
    if (strcmp(text, word) != 0 && strcmp(text, other) != 0)
        argp_error(state, "%s: '%s' is neither %s nor %s", option, text, word, other);
    return strcmp(text, other) == 0;
}

static error_t parse(int key, char *arg, struct argp_state *state) {
    arguments *a = state->input;
    /* clang-format off */
    switch (key) {
    case KEY_SAMPLES: a->o.samples = cli_arg_int(state, "--samples", arg, 1, SHOAL_DATASET_MOST), a->samples_given = true; return 0;
    case 'o':         a->output = arg; return 0;
    case KEY_RANGES:  a->ranges = arg; return 0;
    case KEY_DESIGN:  a->o.design = one_of(state, "--design", arg, "sobol", "latin") ? "latin" : "sobol"; return 0;
    case KEY_PARAMETRISATION: a->o.nu2 = one_of(state, "--parametrisation", arg, "beta", "nu2"); return 0;
    case KEY_TARGET:  a->o.target = cli_arg_positive(state, "--target-se", arg); return 0;
    case KEY_PATHS:   a->o.most_paths = cli_arg_int(state, "--paths", arg, 512, SHOAL_DATASET_PATHS); return 0;
    case KEY_REFINE:  a->o.refine = (int)cli_arg_int(state, "--refine", arg, 1, 4); return 0;
    case KEY_SHARD:   cli_arg_shard(state, arg, &a->shard, &a->shards); return 0;
    case KEY_RESTART: a->restart = true; return 0;
    case ARGP_KEY_ARG: argp_error(state, "unexpected argument '%s'", arg); return 0;
    case ARGP_KEY_END:
        if (!a->samples_given) argp_error(state, "--samples is missing");
        if (!a->output) argp_error(state, "-o is missing: where to write the rows");
        if (cli_same_file(a->output, a->ranges))
            argp_error(state, "-o: '%s' is an input: it would be overwritten", a->output);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
    /* clang-format on */
}

enum { FEWEST_ROWS = 64, MOST_ROWS = 65536 }; /* of a block */

typedef struct maker {
    cli *c;
    const arguments *a;
    shoal_dataset *plan;
    dataset_work work;
    int64_t first, end;          /* rows of the data set, or of the part */
    int64_t found;               /* rows that were there already         */
    double *parameters, *values; /* of a block, on the host           */
    void *device[2];             /* the same, in the context's memory    */
    double paths, seconds;       /* of this run                          */
} maker;

static int open_block(maker *m) {
    const int64_t most = m->end - m->first < MOST_ROWS ? m->end - m->first : MOST_ROWS;
    const size_t given = (size_t)most * SHOAL_DATASET_COLUMNS * sizeof(double) + sizeof(double),
                 made = (size_t)most * SHOAL_DATASET_VALUES * sizeof(double) + sizeof(double);
    m->parameters = malloc(given), m->values = malloc(made);
    if (!m->parameters || !m->values) return cli_fail(CLI_UNAVAILABLE, "not enough memory");
    shoal_status s = shoal_alloc(m->c->ctx, given, &m->device[0]);
    if (s == SHOAL_OK) s = shoal_alloc(m->c->ctx, made, &m->device[1]);
    return cli_status(m->c, s);
}

static int make_block(maker *m, int64_t row, int64_t count) {
    shoal_context *ctx = m->c->ctx;
    shoal_status s = shoal_dataset_design(m->plan, row, count, m->parameters);
    if (s == SHOAL_OK)
        s = shoal_copy(ctx, m->device[0], m->parameters,
                       (size_t)count * SHOAL_DATASET_COLUMNS * sizeof(double));
    if (s == SHOAL_OK) s = shoal_dataset_run(m->plan, row, count, m->device[0], m->device[1]);
    if (s == SHOAL_OK)
        s = shoal_copy(ctx, m->values, m->device[1],
                       (size_t)count * SHOAL_DATASET_VALUES * sizeof(double));
    if (s != SHOAL_OK) return cli_status(m->c, s);
    for (int64_t i = 0; i < count; i++) m->paths += m->values[i * SHOAL_DATASET_VALUES + 2];
    return dataset_append(&m->work, &m->a->o, count, m->parameters, m->values);
}

/* Blocks grow until one takes a second: what a kill can lose. */
static int make_rows(maker *m) {
    cli_progress bar;
    int64_t rows = FEWEST_ROWS;
    int code = open_block(m);
    cli_progress_begin(&bar, m->c, "rows", m->end - m->first);
    while (code == CLI_OK && m->first + m->work.rows < m->end && !cli_interrupted()) {
        const int64_t row = m->first + m->work.rows, left = m->end - row;
        const double start = cli_now();
        code = make_block(m, row, left < rows ? left : rows);
        const double took = cli_now() - start;
        m->seconds += took;
        if (took < 0.5 && 2 * rows <= MOST_ROWS) rows *= 2;
        if (took > 2 && rows > FEWEST_ROWS) rows /= 2;
        cli_progress_step(&bar, m->work.rows);
    }
    cli_progress_end(&bar);
    return code;
}

static int print(const maker *m) {
    const arguments *a = m->a;
    const int64_t rows = m->work.rows, made = rows - m->found;
    const int64_t priced = rows - m->work.missing;
    const double mean = priced > 0 ? m->work.sum / (double)priced : 0;
    dataset_note_missing(m->c, m->work.missing);
    if (m->work.above > 0)
        cli_note(m->c, "rows that reached --paths before --target-se: %lld",
                 (long long)m->work.above);
    const char *kept = cli_interrupted() ? m->work.path : a->output;
    if (!m->c->json) {
        printf("%s: %lld rows, of which %lld made now in %.3g s (%.3g ms each, %.4g paths)\n", kept,
               (long long)rows, (long long)made, m->seconds,
               made > 0 ? 1e3 * m->seconds / (double)made : 0,
               made > 0 ? m->paths / (double)made : 0);
        printf("standard error: mean %.3g, largest %.3g\n", mean, m->work.worst);
        return cli_interrupted() ? CLI_INTERRUPTED : CLI_OK;
    }
    io_json *j = cli_json_begin(m->c, "dataset expou");
    io_json_string(j, "output", kept);
    io_json_int(j, "samples", a->o.samples);
    io_json_int(j, "rows", rows);
    io_json_int(j, "first", m->first);
    io_json_int(j, "made", made);
    io_json_string(j, "design", a->o.design);
    io_json_string(j, "parametrisation", shoal_dataset_column(a->o.nu2, 2));
    io_json_uint(j, "seed", a->o.seed);
    io_json_double(j, "target_se", a->o.target);
    io_json_double(j, "stderr_mean", mean);
    io_json_double(j, "stderr_max", m->work.worst);
    io_json_int(j, "above_target", m->work.above);
    io_json_int(j, "without_price", m->work.missing);
    io_json_double(j, "paths", m->paths);
    io_json_double(j, "made_seconds", m->seconds);
    return cli_json_end(m->c, CLI_OK);
}

static int run(maker *m) {
    const arguments *a = m->a;
    char part[48];
    const size_t length = strlen(a->output) + sizeof ".partial";
    const int64_t shards = a->shards ? a->shards : 1, shard = a->shards ? a->shard : 1;
    m->first = a->o.samples * (shard - 1) / shards, m->end = a->o.samples * shard / shards;
    m->work.path = malloc(length);
    if (!m->work.path) return cli_fail(CLI_UNAVAILABLE, "not enough memory");
    snprintf(m->work.path, length, "%s%s", a->output, a->shards ? "" : ".partial");
    snprintf(part, sizeof part, "%lld/%lld", (long long)shard, (long long)shards);
    int code = dataset_open(&m->work, &a->o, m->plan, part, m->first, m->end, a->restart);
    if (code != CLI_OK) return code;
    m->found = m->work.rows;
    if (m->found > 0) cli_note(m->c, "%s has %lld rows already", m->work.path, (long long)m->found);
    cli_catch_interrupt();
    code = make_rows(m);
    const bool whole = m->first + m->work.rows == m->end;
    if (code == CLI_OK && !whole) cli_note(m->c, "interrupted; the same command goes on from here");
    if (code == CLI_OK && whole && !a->shards) {
        const char *const path = m->work.path;
        code = dataset_write(a->output, &path, 1, m->work.rows);
        if (code == CLI_OK) unlink(m->work.path);
    }
    return code == CLI_OK ? print(m) : code;
}

/* What the library takes for granted has to stand in the file. */
static void settle(cli *c, shoal_dataset_opts *o) {
    o->seed = c->seed;
    if (!o->design) o->design = "sobol";
    if (o->target == 0) o->target = 5e-5;
    if (o->most_paths == 0) o->most_paths = 1 << 21;
    if (o->refine == 0) o->refine = 1;
}

int cmd_dataset_expou(cli *c, int argc, char **argv) {
    static const struct argp argp = { .options = options, .parser = parse, .doc = doc };
    arguments a = { 0 };
    int code = cli_parse_argp(c, &argp, argc, argv, &a);
    if (code != CLI_OK) return code;
    settle(c, &a.o);
    shoal_dataset_ranges(&a.o);
    if (!a.shards) code = dataset_check_output(a.output);
    if (code == CLI_OK && a.ranges) code = dataset_read_ranges(a.ranges, &a.o);
    if (code == CLI_OK) cli_note_no_fast_math(c);
    if (code == CLI_OK) code = cli_open(c);
    maker m = { .c = c, .a = &a };
    if (code == CLI_OK) code = cli_status(c, shoal_dataset_create(c->ctx, &a.o, &m.plan));
    if (code == CLI_USAGE && a.ranges) code = CLI_INPUT;
    if (code == CLI_OK) code = run(&m);
    dataset_close(&m.work);
    shoal_dataset_free(m.plan);
    shoal_free(c->ctx, m.device[0]);
    shoal_free(c->ctx, m.device[1]);
    free(m.parameters);
    free(m.values);
    return code;
}
