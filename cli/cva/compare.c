/* SPDX-License-Identifier: Apache-2.0
 *
 * compare.c - `shoal cva --compare`: the same CVA on the same paths by every solver, in a centred and in
 * the raw basis, in f64 and f32. Every run is compared with the first: the mean over outer paths of what
 * it differs by, with the standard error of that difference, which is far below that of either CVA because
 * both have the same random numbers.
 */
#include "cva.h"

static const char *const solvers[] = { "auto", "ldlt", "ldltp", "hhpcr", "eigdc" };
static const shoal_type types[] = { SHOAL_F64, SHOAL_F32 };
enum { SOLVERS = sizeof solvers / sizeof *solvers, RUNS = 4 * SOLVERS };

typedef struct row {
    const char *solver, *basis;
    shoal_type type;
    shoal_cva_value value;
    double difference, difference_error;
    double off; /* difference in standard errors of it; 0 where both are 0 */
    double truncated, failed, seconds;
} row;

/* clang-format off */
#define ROW(name, member) CLI_RESULT(name, row, member)
static const cli_option row_results[] = {
    ROW("solver", solver), ROW("basis", basis), { "type", OPT_CHOICE, CLI_AT(row, type), .words = CLI_TYPES },
    ROW("cva", value.cva), ROW("stderr", value.error), ROW("bias", value.bias), ROW("difference", difference),
    ROW("difference_stderr", difference_error), ROW("difference_errors", off), ROW("truncated", truncated),
    ROW("failed", failed), ROW("seconds", seconds),
    { 0 }
};
/* clang-format on */

static row row_of(const cva_options *o, const cva_result *first, const cva_result *r) {
    const double systems = r->counts.systems > 0 ? (double)r->counts.systems : 1;
    row result = { .solver = o->opts.solver,
                   .basis = o->opts.raw ? "raw" : "centred",
                   .type = o->opts.type,
                   .value = r->value,
                   .truncated = (double)r->counts.truncated / systems,
                   .failed = (double)r->counts.failed / systems,
                   .seconds = r->seconds - r->rules };
    result.difference = cva_mean(r, first, r->outer, &result.difference_error);
    if (result.difference != 0) result.off = result.difference / result.difference_error;
    return result;
}

static int print_json(cli *c, const cva_options *o, const row *rows, int count) {
    io_json *j = cli_json_begin(c, "cva");
    io_json_string(j, "book", o->book);
    io_json_string(j, "market", o->market);
    io_json_uint(j, "seed", c->seed);
    io_json_int(j, "dates", o->opts.dates);
    io_json_int(j, "paths", o->opts.outer);
    cli_json_result_list(j, "compare", row_results, rows, sizeof *rows, count);
    return cli_json_end(c, CLI_OK);
}

static int print(cli *c, const cva_options *o, const row *rows, int count) {
    if (c->json) return print_json(c, o, rows, count);
    printf("paths         %lld outer, %lld dates, seed %llu, on %s, %s\n\n",
           (long long)o->opts.outer, (long long)o->opts.dates, (unsigned long long)c->seed,
           c->machine.backend, c->machine.device);
    printf("%-6s %-8s %-4s %12s %9s %11s %9s %8s %11s %9s %9s\n", "solver", "basis", "type", "cva",
           "stderr", "difference", "stderr", "errors", "truncated", "failed", "seconds");
    for (int i = 0; i < count; i++) {
        const row *r = &rows[i];
        printf("%-6s %-8s %-4s %12.8g %9.2g %11.3e %9.1e %8.2f %9.3g %% %7.3g %% %9.4g\n",
               r->solver, r->basis, cli_type_name(r->type), r->value.cva, r->value.error,
               r->difference, r->difference_error, r->off, 100 * r->truncated, 100 * r->failed,
               r->seconds);
    }
    return cli_interrupted() ? CLI_INTERRUPTED : CLI_OK;
}

int cva_compare(cli *c, const cva_options *options, const cva_book *book) {
    row rows[RUNS];
    cva_result first = { 0 };
    int code = CLI_OK, count = 0;
    cli_progress bar;
    cli_catch_interrupt();
    cli_progress_begin(&bar, c, "comparing", RUNS);
    for (int i = 0; i < RUNS && code == CLI_OK && !cli_interrupted(); i++) {
        cva_options o = *options;
        cva_result r;
        o.opts.type = types[i / (2 * SOLVERS)];
        o.opts.raw = i / SOLVERS % 2 == 1;
        o.opts.solver = solvers[i % SOLVERS];
        code = cva_compute(c, &o, book, NULL, NULL, &r);
        /* one that Ctrl-C has cut short is not comparable */
        if (code == CLI_OK && r.outer == o.opts.outer)
            rows[count++] = row_of(&o, i > 0 ? &first : &r, &r);
        if (i == 0)
            first = r;
        else
            cva_result_free(&r);
        cli_progress_step(&bar, i + 1);
    }
    cli_progress_end(&bar);
    cva_result_free(&first);
    if (code == CLI_OK && options->output && count > 0)
        code = cli_csv_result_list(options->output, row_results, rows, sizeof *rows, count);
    return code == CLI_OK ? print(c, options, rows, count) : code;
}
