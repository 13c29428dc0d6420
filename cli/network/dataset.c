/* SPDX-License-Identifier: Apache-2.0
 *
 * dataset.c - `shoal dataset expou`: call prices for many combinations of parameters, block after block of rows,
 * each in the file before the next begins.
 */
#include "cli/common/arrays.h"
#include "cli/common/units.h"
#include "dataset.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct arguments {
    shoal_dataset_opts o;
    const char *ranges, *output;
    int64_t shard, shards; /* shards 0: not a part */
    bool restart;
    unit_settings units;
    char *text; /* of the ranges, or NULL */
} arguments;

/* clang-format off */
#define AT(member) CLI_AT(arguments, member)
static const cli_option options[] = {
    { "samples",         OPT_INT,      AT(o.samples),    "N",              1, "rows, up to 2^32", 1, SHOAL_DATASET_MOST, .needed = "the number of rows", .in = IN_BOTH },
    { "output",          OPT_OUTPUT,   AT(output),       "F.{csv,npy,h5}", 1, "where to write the rows; with --shard, the part", .letter = 'o', .needed = "where to write the rows" },
    { "ranges",          OPT_INPUT,    AT(ranges),       "FILE.csv",       2, "ranges of parameters: columns parameter, low, high and optionally scale (linear, log); the others keep their default ranges", .in = IN_PART },
    { "design",          OPT_TEXT,     AT(o.design),     NULL,             2, "scrambled Sobol points, or a Latin hypercube", .words = "sobol|latin", .in = IN_BOTH },
    { "parametrisation", OPT_CHOICE,   AT(o.nu2),        NULL,             2, "the third column: beta, or the stationary variance nu2 of Y, with beta = sqrt(2 alpha nu2); printed: that times 1 - e^m, as in the project sheet", .words = "beta|nu2|printed", .in = IN_BOTH },
    { "target-se",       OPT_POSITIVE, AT(o.target),     "E",              3, "simulate each row until its standard error is at most E", .in = IN_BOTH },
    { "paths",           OPT_INT,      AT(o.most_paths), "N",              3, "at most N paths per row, even if the standard error is still too large; 512 to 2^25", 512, SHOAL_DATASET_PATHS, .usual = "2^21", .in = IN_PART },
    { "refine",          OPT_INT,      AT(o.refine),     "R",              3, "take R times as many steps, to see their effect", 1, 4, .in = IN_PART },
    { "shard",           OPT_SHARD,    AT(shard),        "I/N",            4, "part I of N, from 1; see merge-parts" },
    { "restart",         OPT_FLAG,     AT(restart),      NULL,             4, "start again instead of continuing an earlier run" },
    { 0 }
};

static const char doc[] =
    "Writes a data set: combinations of alpha, m, beta, y0, rho, maturity and strike, each with the price of a call in the "
    "exponential Ornstein-Uhlenbeck model (S0 = 1, no interest) and its standard error. --seed selects the combinations and the "
    "paths: use another one for validation, and another for test.\vRows are collected in F.partial, block after block. If a run is "
    "interrupted, the same command continues it. docs/surrogate.md describes the ranges and the method.\n\n"
    "Example:\n"
    "  shoal dataset expou --samples 20000 --seed 1 -o train.csv\n"
    "  shoal dataset expou --samples 2000 --seed 2 -o validation.csv\n"
    "  shoal dataset expou --samples 2e5 --shard 1/2 -o a.part\n"
    "  shoal merge-parts a.part b.part -o train.npy";
/* clang-format on */

enum { FEWEST_ROWS = 64, MAX_ROWS = 65536 }; /* of a block */

typedef struct maker {
    cli *c;
    const arguments *a;
    shoal_dataset *plan;
    dataset_work work;
    int64_t first, end;          /* rows of the data set, or of the part */
    int64_t found;               /* rows that were there already         */
    double *parameters, *values; /* of a block, on the host           */
    double paths, seconds;       /* of this run                          */
} maker;

int dataset_price(cli *c, shoal_dataset *plan, int64_t first, int64_t count,
                  const double *parameters, double *values) {
    cli_place m[] = {
        { .from = parameters, .bytes = (size_t)count * SHOAL_DATASET_COLUMNS * sizeof(double) },
        { .to = values, .bytes = (size_t)count * SHOAL_DATASET_VALUES * sizeof(double) }
    };
    shoal_status s = cli_places_begin(c, m, 2);
    if (s == SHOAL_OK) s = shoal_dataset_run(plan, first, count, m[0].at, m[1].at);
    if (s == SHOAL_OK) s = cli_places_copy(c, m, 2);
    cli_places_end(c, m, 2);
    return cli_status(c, s);
}

static int make_block(maker *m, int64_t row, int64_t count) {
    int code = cli_status(m->c, shoal_dataset_design(m->plan, row, count, m->parameters));
    if (code == CLI_OK) code = dataset_price(m->c, m->plan, row, count, m->parameters, m->values);
    if (code != CLI_OK) return code;
    for (int64_t i = 0; i < count; i++) m->paths += m->values[i * SHOAL_DATASET_VALUES + 2];
    return dataset_append(&m->work, &m->a->o, count, m->parameters, m->values);
}

/* Blocks grow until one takes a second: what a kill can lose. */
static int make_rows(maker *m) {
    cli_progress bar;
    int64_t rows = FEWEST_ROWS;
    const size_t most = (size_t)(m->end - m->first < MAX_ROWS ? m->end - m->first : MAX_ROWS) + 1;
    m->parameters = malloc(most * SHOAL_DATASET_COLUMNS * sizeof(double));
    m->values = malloc(most * SHOAL_DATASET_VALUES * sizeof(double));
    int code = m->parameters && m->values ? CLI_OK : cli_no_memory();
    cli_progress_begin(&bar, m->c, "rows", m->end - m->first);
    while (code == CLI_OK && m->first + m->work.rows < m->end && !cli_interrupted()) {
        const int64_t row = m->first + m->work.rows, left = m->end - row;
        const double start = cli_now();
        code = make_block(m, row, left < rows ? left : rows);
        const double took = cli_now() - start;
        m->seconds += took;
        if (took < 0.5 && 2 * rows <= MAX_ROWS) rows *= 2;
        if (took > 2 && rows > FEWEST_ROWS) rows /= 2;
        cli_progress_step(&bar, m->work.rows);
    }
    cli_progress_end(&bar);
    return code == CLI_INTERRUPTED ? CLI_OK : code; /* what is in the file stays */
}

/* ---- in units ----------------------------------------------------------------------------------- */

static int make_plan(cli *c, const void *of, void **plan) {
    const arguments *a = of;
    shoal_dataset *made = NULL;
    const int code = cli_status(c, shoal_dataset_create(c->ctx, &a->o, &made));
    *plan = made;
    return code;
}

static shoal_status make_units(const void *of, void *plan, const shoal_units_opts *opts,
                               shoal_units **units) {
    return shoal_units_dataset(plan, ((const arguments *)of)->o.samples, opts, units);
}

static void free_plan(void *plan) { shoal_dataset_free(plan); }

static unit_job units_of(const arguments *a) {
    return (unit_job){ .command = &dataset_expou_command,
                       .arguments = a,
                       .settings = &a->units,
                       .of = a,
                       .text = { a->text },
                       .make = make_plan,
                       .units = make_units,
                       .free = free_plan };
}

/* All rows on many devices: they are in the file when all are there. */
static int make_units_rows(maker *m) {
    const unit_job job = units_of(m->a);
    shoal_units *units = NULL;
    int code = units_run(m->c, &job, m->plan, &units);
    const double *values = shoal_units_rows(units);
    m->seconds = units_seconds(units);
    m->parameters = malloc((size_t)MAX_ROWS * SHOAL_DATASET_COLUMNS * sizeof(double));
    if (code == CLI_OK && !m->parameters) code = cli_no_memory();
    while (code == CLI_OK && m->work.rows < m->end) {
        const int64_t row = m->work.rows, left = m->end - row;
        const int64_t here = left < MAX_ROWS ? left : MAX_ROWS;
        const double *at = values + row * SHOAL_DATASET_VALUES;
        for (int64_t i = 0; i < here; i++) m->paths += at[i * SHOAL_DATASET_VALUES + 2];
        code = cli_status(m->c, shoal_dataset_design(m->plan, row, here, m->parameters));
        if (code == CLI_OK) code = dataset_append(&m->work, &m->a->o, here, m->parameters, at);
    }
    shoal_units_free(units);
    return code;
}

#define RESULT(name, member) CLI_RESULT(name, maker, member)
static const cli_option end_results[] = {
    RESULT("stderr_max", work.worst),      RESULT("above_target", work.above),
    RESULT("without_price", work.missing), RESULT("paths", paths),
    RESULT("made_seconds", seconds),       { 0 }
};

static int print(const maker *m) {
    const arguments *a = m->a;
    const int64_t rows = m->work.rows, made = rows - m->found;
    const int64_t priced = rows - m->work.missing;
    const double mean = priced > 0 ? m->work.sum / (double)priced : 0;
    dataset_note_missing(m->c, m->work.missing);
    if (m->work.above > 0)
        cli_note(m->c, "%s reached --paths before --target-se", CLI_COUNT(m->work.above, "row"));
    const char *kept = cli_interrupted() ? m->work.path : a->output;
    if (!m->c->json) {
        printf("%s: %s, %lld of them in this run in %s (each %s, %.3g paths)\n", kept,
               CLI_COUNT(rows, "row"), (long long)made, CLI_TIME(m->seconds),
               CLI_TIME(made > 0 ? m->seconds / (double)made : 0),
               made > 0 ? m->paths / (double)made : 0);
        printf("standard error: mean %.3g, largest %.3g\n", mean, m->work.worst);
        return cli_interrupted() ? CLI_INTERRUPTED : CLI_OK;
    }
    io_json *j = cli_json_begin(m->c, "dataset expou");
    io_json_string(j, "output", kept);
    cli_json_options(j, m->c, &dataset_expou_command, a);
    io_json_int(j, "rows", rows);
    io_json_int(j, "first", m->first);
    io_json_int(j, "made", made);
    io_json_uint(j, "seed", a->o.seed);
    io_json_double(j, "stderr_mean", mean);
    cli_json_results(j, end_results, m);
    return cli_json_end(m->c, CLI_OK);
}

static int run(maker *m) {
    const arguments *a = m->a;
    char part[48];
    const size_t length = strlen(a->output) + sizeof ".partial";
    const int64_t shards = a->shards ? a->shards : 1, shard = a->shards ? a->shard : 1;
    m->first = a->o.samples * (shard - 1) / shards, m->end = a->o.samples * shard / shards;
    m->work.path = malloc(length);
    if (!m->work.path) return cli_no_memory();
    snprintf(m->work.path, length, "%s%s", a->output, a->shards ? "" : ".partial");
    snprintf(part, sizeof part, "%lld/%lld", (long long)shard, (long long)shards);
    int code = dataset_open(&m->work, &a->o, m->plan, part, m->first, m->end, a->restart);
    if (code != CLI_OK) return code;
    m->found = m->work.rows;
    if (m->found > 0)
        cli_note(m->c, "%s: continuing after %s", m->work.path, CLI_COUNT(m->found, "row"));
    cli_catch_interrupt();
    code = m->c->is_spread ? make_units_rows(m) : make_rows(m);
    const bool whole = m->first + m->work.rows == m->end;
    if (code == CLI_OK && !whole)
        cli_note(m->c, "interrupted; the same command continues from here");
    if (code == CLI_OK && whole && !a->shards) {
        const char *const path = m->work.path;
        code = dataset_write(a->output, &path, 1, m->work.rows);
        if (code == CLI_OK) unlink(m->work.path);
    }
    return code == CLI_OK ? print(m) : code;
}

/* Rows for rank 0 of mpirun. */
static int serve(maker *m) {
    const unit_job job = units_of(m->a);
    shoal_units *units = NULL;
    const int code = units_run(m->c, &job, m->plan, &units);
    shoal_units_free(units);
    return code;
}

static int command(cli *c, int argc, char **argv) {
    arguments a = { .o = shoal_dataset_defaults() }; /* the file contains them */
    int code = cli_parse(c, &dataset_expou_command, argc, argv, &a);
    if (code != CLI_OK) return code;
    a.o.seed = c->seed;
    shoal_dataset_ranges(&a.o);
    const unit_files *files = c->parts;
    if (!a.shards && !files) code = dataset_check_output(a.output);
    if (code == CLI_OK && a.ranges)
        code = dataset_read_ranges(a.ranges, files ? files->text[0] : NULL, &a.text, &a.o);
    if (code == CLI_OK) cli_note_no_fast_math(c);
    if (code == CLI_OK) code = cli_open(c);
    maker m = { .c = c, .a = &a };
    const unit_job job = units_of(&a);
    if (code == CLI_OK && !a.shards && units_wanted(c, &a.units)) code = units_announce(c, &job);
    if (code == CLI_OK) code = cli_status(c, shoal_dataset_create(c->ctx, &a.o, &m.plan));
    if (code == CLI_USAGE && a.ranges) code = CLI_INPUT;
    if (code == CLI_OK) code = files ? serve(&m) : run(&m);
    dataset_close(&m.work);
    shoal_dataset_free(m.plan);
    free(m.parameters);
    free(m.values);
    free(a.text);
    return code;
}

const cli_command dataset_expou_command = {
    "dataset expou", "calls in the exponential Ornstein-Uhlenbeck model of volatility", .doc = doc,
    .run = command, .tables = { { options, 0 }, { unit_options, offsetof(arguments, units) } }
};
