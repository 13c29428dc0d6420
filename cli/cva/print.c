/* SPDX-License-Identifier: Apache-2.0
 *
 * print.c - the results of `shoal cva`: a table or the JSON object, the profile as .csv; and --compare.
 */
#include "cva.h"

#include <math.h>
#include <string.h>

/* clang-format off */
#define DATE(name, member) CLI_RESULT(name, shoal_cva_date, member)
static const cli_option date_results[] = {
    DATE("time", time), DATE("epe", epe), DATE("epe_stderr", epe_error), DATE("epe_bias", epe_bias),
    DATE("epe_low", epe_low), DATE("epe_high", epe_high), DATE("ene", ene), DATE("ene_stderr", ene_error),
    DATE("ene_bias", ene_bias), DATE("ene_low", ene_low), DATE("ene_high", ene_high), DATE("pfe95", pfe95),
    DATE("pfe95_low", pfe95_low), DATE("pfe95_high", pfe95_high), DATE("pfe99", pfe99), DATE("pfe99_low", pfe99_low),
    DATE("pfe99_high", pfe99_high), DATE("es95", es95), DATE("es99", es99), DATE("epe_default", epe_default), DATE("epe_default_stderr", epe_default_error), DATE("discount", discount), DATE("default_probability", default_probability), DATE("cva", cva),
    DATE("inner", inner),
    { 0 }
};
#define RESULT(name, member) CLI_RESULT(name, cva_result, member)
static const cli_option info_results[] = {
    RESULT("expired", info.expired), RESULT("closed_form", info.closed), RESULT("nested", info.nested),
    RESULT("american", info.american), RESULT("netting_sets", info.sets), RESULT("horizon", info.horizon),
    RESULT("dates", info.dates), RESULT("paths", outer),
    { 0 }
};
static const cli_option chosen_results[] = {
    RESULT("outer", info.outer), RESULT("inner", info.inner), RESULT("level_share", info.level_share),
    { 0 }
};
static const cli_option value_results[] = {
    RESULT("cva", value.cva), RESULT("stderr", value.error), RESULT("bias", value.bias), RESULT("low", value.low),
    RESULT("high", value.high), RESULT("rule_bias", value.rule_bias), RESULT("rule_bias_stderr", value.rule_bias_error),
    RESULT("inner_bias", value.inner_bias), RESULT("inner_bias_stderr", value.inner_bias_error),
    RESULT("correction", value.correction), RESULT("correction_stderr", value.correction_error),
    RESULT("pv", all.pv), RESULT("pv_stderr", all.pv_error), RESULT("dva", all.dva), RESULT("dva_stderr", all.dva_error),
    RESULT("fca", all.fca), RESULT("fba", all.fba), RESULT("fva", all.fva), RESULT("fva_stderr", all.fva_error),
    RESULT("mean_epe", all.epe), RESULT("mean_ene", all.ene), RESULT("eepe", all.eepe), RESULT("peak_pfe95", all.pfe95),
    RESULT("peak_pfe99", all.pfe99), RESULT("peak_es95", all.es95), RESULT("peak_es99", all.es99),
    { 0 }
};
static const cli_option more_results[] = {
    RESULT("cva", more.cva), RESULT("cva_stderr", more.cva_error), RESULT("dva", more.dva), RESULT("dva_stderr", more.dva_error),
    RESULT("fva", more.fva), RESULT("fva_stderr", more.fva_error), RESULT("pv", more.pv),
    { 0 }
};
#define SCORE(name, member) CLI_RESULT(name, shoal_cva_validation, member)
static const cli_option validation_results[] = {
    SCORE("passed", passed), SCORE("worst_z", z), SCORE("limit", limit), SCORE("scores", scores),
    { 0 }
};
#define CHECK(name, member) CLI_RESULT(name, shoal_cva_check, member)
static const cli_option price_results[] = {
    CHECK("price", price), CHECK("price_stderr", price_error), CHECK("price_upper", upper),
    CHECK("price_upper_stderr", upper_error),
    { 0 }
};
static const cli_option outcome_results[] = {
    RESULT("empty", counts.empty), RESULT("warned", counts.warned), RESULT("truncated", counts.truncated),
    RESULT("refined", counts.refined), RESULT("failed", counts.failed),
    { 0 }
};
static const cli_option second_results[] = {
    RESULT("start", start), RESULT("open", open), RESULT("rules", rules),
    RESULT("outer", counts.seconds[0]), RESULT("nested", counts.seconds[1]), RESULT("american", counts.seconds[2]),
    RESULT("results", results),
    { 0 }
};
/* clang-format on */

int cva_write_csv(const char *path, const cva_result *r) {
    return cli_csv_result_list(path, date_results, r->profile, sizeof *r->profile, r->info.dates);
}

static void json_profile(io_json *j, const cva_result *r) {
    for (int i = 0; date_results[i].kind != OPT_END; i++) {
        const char *name = date_results[i].name;
        io_json_array_line(j, strcmp(name, "cva") == 0 ? "cva_by_date" : name);
        for (int64_t k = 0; k < r->info.dates; k++)
            io_json_double(j, NULL, cli_result_number(date_results, i, &r->profile[k]));
        io_json_close(j);
    }
}

/* Systems by outcome, by the method that answered, and by condition number. */
static void json_systems(io_json *j, const cva_result *r) {
    const shoal_cva_counts *n = &r->counts;
    io_json_int(j, "systems", n->systems);
    io_json_object_line(j, "solver_share");
    for (int i = 0; i < SHOAL_CVA_METHODS && shoal_methods("smallsym", i); i++)
        io_json_double(j, shoal_methods("smallsym", i),
                       n->systems ? (double)n->method[i] / (double)n->systems : 0);
    io_json_close(j);
    io_json_object_line(j, "outcomes");
    cli_json_results(j, outcome_results, r);
    io_json_close(j);
    io_json_ints(j, "condition_decades", n->decade, SHOAL_CVA_DECADES);
}

static void json_validation(io_json *j, const cva_book *b, const cva_result *r) {
    const shoal_cva_validation *v = &r->validation;
    io_json_object_line(j, "validation");
    cli_json_results(j, validation_results, v);
    if (v->contract >= 0) {
        io_json_int(j, "line", b->line[v->contract]);
        io_json_double(j, "time", r->profile[v->date].time);
    }
    if (b->id) {
        io_json_array_line(j, "id");
        for (int64_t i = 0; i < b->count; i++) io_json_string(j, NULL, b->id[i]);
        io_json_close(j);
    }
    io_json_array_line(j, "z");
    for (int64_t i = 0; i < b->count; i++) {
        io_json_array(j, NULL);
        for (int64_t k = 0; k < r->info.dates; k++)
            io_json_double(j, NULL, r->check[i * r->info.dates + k].z);
        io_json_close(j);
    }
    io_json_close(j);
    for (int e = 0; price_results[e].kind != OPT_END; e++) {
        io_json_array_line(j, price_results[e].name);
        for (int64_t i = 0; i < b->count; i++)
            io_json_double(j, NULL,
                           cli_result_number(price_results, e, &r->check[i * r->info.dates]));
        io_json_close(j);
    }
    io_json_close(j);
}

static int print_json(cli *c, const cva_options *o, const cva_book *b, const cva_result *r) {
    io_json *j = cli_json_begin(c, "cva");
    cli_json_options(j, c, &cva_command, o);
    io_json_uint(j, "seed", c->seed);
    io_json_doubles(j, "hazard", o->party.hazard, o->party.pieces);
    if (o->party.until) io_json_doubles(j, "hazard_until", o->party.until, o->party.pieces);
    if (o->opts.estimator != SHOAL_CVA_BY_INNER && o->opts.rule_paths)
        io_json_int(j, "rule_paths", o->opts.rule_paths);
    cva_json_collateral(j, b);
    io_json_int(j, "contracts", b->count);
    cli_json_results(j, info_results, r);
    if (o->opts.target > 0) {
        io_json_object_line(j, "chosen");
        cli_json_results(j, chosen_results, r);
        io_json_close(j);
    }
    if (r->outer > 0) {
        cli_json_results(j, value_results, r);
        json_profile(j, r);
        if (r->before) {
            io_json_object_line(j, "incremental");
            cli_json_results(j, more_results, r);
            io_json_double(j, "cva_before", r->before->cva);
            io_json_close(j);
        }
        if (r->trade) cva_json_breakdown(j, b, r);
        if (r->greek) cva_json_greeks(j, r);
    }
    if (r->check) json_validation(j, b, r);
    io_json_bool(j, "correlation_given", b->has_correlation);
    io_json_int(j, "inner_paths", r->counts.inner_paths);
    json_systems(j, r);
    io_json_object_line(j, "stage_seconds");
    cli_json_results(j, second_results, r);
    io_json_close(j);
    io_json_double(j, "estimated_seconds", r->estimate);
    if (o->report && r->outer > 0) io_json_string(j, "report", o->report);
    return cli_json_end(c, CLI_OK);
}

char *cva_date(char text[CLI_NUMBER], const cva_result *r, int64_t k) {
    int64_t i = 0;
    while (i < r->info.dates && cli_is_months(r->profile[i].time)) i++;
    return (i < r->info.dates ? cli_days : cli_years)(text, r->profile[k].time);
}

void cva_verdict(const cva_options *o, const cva_book *b, const cva_result *r, char text[256]) {
    const shoal_cva_validation *v = &r->validation;
    char date[CLI_NUMBER];
    int used = snprintf(text, 256, "%s: ", v->passed ? "passed" : "FAILED");
    if (v->contract < 0)
        snprintf(text + used, (size_t)(256 - used), "no contract is left to be priced");
    else
        snprintf(text + used, (size_t)(256 - used),
                 "worst z %.2f of %lld, limit %.2f: %s%.40s%sline %lld of %.100s at %s", v->z,
                 (long long)v->scores, v->limit, b->id ? "trade " : "",
                 b->id ? b->id[v->contract] : "", b->id ? ", " : "",
                 (long long)b->line[v->contract], o->book, cva_date(date, r, v->date));
}

const char *cva_rounded(char text[32], double value, double error) {
    if (error > 0) return cli_rounded(text, value, error);
    snprintf(text, 32, "%.6g", value);
    return text;
}

/* Prices, and a column per date with the scores. */
static void print_validation(const cva_options *o, const cva_book *b, const cva_result *r) {
    char text[256];
    cva_verdict(o, b, r, text);
    printf("validation    %s\n\n%6s ", text, "line");
    if (b->id) printf("%-12s ", "trade");
    printf("%-12s %11s %9s %11s   z at", "payoff", "price", "stderr", "at most");
    for (int64_t k = 0; k < r->info.dates; k++) printf(" %6.4g", r->profile[k].time);
    putchar('\n');
    for (int64_t i = 0; i < b->count; i++) {
        const shoal_cva_check *row = r->check + i * r->info.dates;
        printf("%6lld ", (long long)b->line[i]);
        if (b->id) printf("%-12s ", b->id[i]);
        char price[32], upper[32];
        printf("%-12s %11s %9s %11s       ", shoal_cva_payoffs((int)b->contract[i].payoff),
               cva_rounded(price, row->price, row->price_error),
               CLI_ROUNDED(row->price_error, row->price_error),
               cva_rounded(upper, row->upper, row->upper_error));
        for (int64_t k = 0; k < r->info.dates; k++)
            printf(" %6.2f", fabs(row[k].z) < 0.005 ? 0 : row[k].z);
        putchar('\n');
    }
}

/* What was not given: the market's correlations, and options. */
static void print_assumptions(const cva_options *o, const cva_book *b) {
    const bool independent = b->assets > 1 && !b->has_correlation;
    if (o->hazard && o->rate_given && o->recovery_given && !independent) return;
    printf("assumed      ");
    if (!o->hazard) printf(" hazard %g", o->party.hazard[0]);
    if (!o->recovery_given) printf(" recovery %g", o->party.recovery);
    if (!o->rate_given) printf(" rate %g", o->rate);
    if (independent) printf(" independent assets");
    putchar('\n');
}

/* What the pilot run has chosen for --target-se. */
static void print_choice(const cva_result *r) {
    printf("chosen        %.0f outer paths", r->info.outer);
    if (r->counts.inner_paths > 0) printf(", %lld inner paths", (long long)r->info.inner);
    if (r->info.level_share > 0)
        printf(", more levels at %.2g %% of the nodes", 100 * r->info.level_share);
    printf("; by a pilot run\n");
}

static void print_systems(const shoal_cva_counts *n) {
    printf(
        "systems       %lld: %lld empty, %lld warned, %lld truncated, %lld refined, %lld failed\n",
        (long long)n->systems, (long long)n->empty, (long long)n->warned, (long long)n->truncated,
        (long long)n->refined, (long long)n->failed);
    printf("solved by    ");
    for (int i = 0; i < SHOAL_CVA_METHODS && shoal_methods("smallsym", i); i++)
        if (n->method[i])
            printf(" %s: %.3g %%", shoal_methods("smallsym", i),
                   100.0 * (double)n->method[i] / (double)n->systems);
    printf("\nconditions   ");
    for (int i = 0; i < SHOAL_CVA_DECADES; i++)
        if (n->decade[i])
            printf(" 1e%d: %.3g %%", i, 100.0 * (double)n->decade[i] / (double)n->systems);
    putchar('\n');
}

void cva_show(const shoal_cva_date *d, char text[CVA_SHOWN][32]) {
    const double of_95 = (d->pfe95_high - d->pfe95_low) / 3.92;
    const double of_99 = (d->pfe99_high - d->pfe99_low) / 3.92;
    cli_rounded(text[0], d->epe, d->epe_error);
    cli_rounded(text[1], d->ene, d->ene_error);
    cli_rounded(text[2], d->pfe95, of_95);
    cli_rounded(text[3], d->pfe99, of_99);
    cli_rounded(text[4], d->cva, d->epe > 0 ? d->cva / d->epe * d->epe_error : 0);
}

int cva_print(cli *c, const cva_options *o, const cva_book *b, const cva_result *r) {
    if (c->json) return print_json(c, o, b, r);
    printf("book          %s: %lld by closed form, %lld nested, %lld american, %lld expired\n",
           CLI_COUNT(b->count, "contract"), (long long)r->info.closed, (long long)r->info.nested,
           (long long)r->info.american, (long long)r->info.expired);
    printf("paths         %lld outer, %lld inner, %s, seed %llu, on %s, %s\n", (long long)r->outer,
           (long long)r->counts.inner_paths, CLI_COUNT(r->info.dates, "date"),
           (unsigned long long)c->seed, c->machine.backend, c->machine.device);
    if (o->opts.target > 0) print_choice(r);
    print_assumptions(o, b);
    cva_print_collateral(b);
    cva_print_wrong_way(o, b);
    printf("time          %s rules and pilot run, %s outer paths, %s nested, %s american\n",
           CLI_TIME(r->rules), CLI_TIME(r->counts.seconds[0]), CLI_TIME(r->counts.seconds[1]),
           CLI_TIME(r->counts.seconds[2]));
    if (r->counts.systems > 0) print_systems(&r->counts);
    if (r->outer == 0) return cli_interrupted() ? CLI_INTERRUPTED : CLI_OK;
    const shoal_cva_value *v = &r->value;
    printf("cva           %s\n", CLI_MEASURED(v->cva, v->error));
    printf("interval      %s to %s (95 %%), standard error and bias\n",
           CLI_ROUNDED(v->low, v->error), CLI_ROUNDED(v->high, v->error));
    if (v->rule_bias_error > 0)
        printf("rule          another exercise rule changes the CVA by %s\n",
               CLI_MEASURED(-v->rule_bias, v->rule_bias_error));
    if (v->inner_bias_error > 0)
        printf("inner bias    %s\n", CLI_MEASURED(v->inner_bias, v->inner_bias_error));
    if (v->correction_error > 1e-12 * v->cva)
        printf("levels        %s of the CVA are corrections of positive parts\n",
               CLI_MEASURED(v->correction, v->correction_error));
    if (o->own.pieces) printf("dva           %s\n", CLI_MEASURED(r->all.dva, r->all.dva_error));
    if (o->opts.borrowing.count || o->opts.lending.count)
        printf(
            "fva           %s: cost %s, benefit %s\n", CLI_MEASURED(r->all.fva, r->all.fva_error),
            CLI_ROUNDED(r->all.fca, r->all.fca_error), CLI_ROUNDED(r->all.fba, r->all.fba_error));
    if (r->before)
        printf("incremental   %s of the CVA is that of %s in %s; without: %s\n",
               CLI_MEASURED(r->more.cva, r->more.cva_error),
               CLI_COUNT(b->count - b->own, "contract"), o->add,
               CLI_MEASURED(r->before->cva, r->before->cva_error));
    if (r->before && o->own.pieces)
        printf("              of the DVA    %s\n", CLI_MEASURED(r->more.dva, r->more.dva_error));
    if (r->before && (o->opts.borrowing.count || o->opts.lending.count))
        printf("              of the FVA    %s\n", CLI_MEASURED(r->more.fva, r->more.fva_error));
    if (r->check) print_validation(o, b, r);
    if (o->report) {
        const shoal_cva_date *top = cva_peak(r);
        char date[CLI_NUMBER];
        printf("peak EPE      %s at %s\n", CLI_MEASURED(top->epe, top->epe_error),
               cva_date(date, r, top - r->profile));
        printf("report        %s\n", o->report);
        return cli_interrupted() ? CLI_INTERRUPTED : CLI_OK;
    }
    printf("\n%-10s %10s %8s %8s %10s %8s %10s %10s %11s\n", "time", "epe", "stderr", "bias", "ene",
           "stderr", "pfe95", "pfe99", "cva");
    for (int64_t k = 0; k < r->info.dates; k++) {
        const shoal_cva_date *d = &r->profile[k];
        char text[CVA_SHOWN][32], date[CLI_NUMBER];
        cva_show(d, text);
        printf("%-10s %10s %8s %8.1g %10s %8s %10s %10s %11s\n", cva_date(date, r, k), text[0],
               CLI_ROUNDED(d->epe_error, d->epe_error), d->epe_bias, text[1],
               CLI_ROUNDED(d->ene_error, d->ene_error), text[2], text[3], text[4]);
    }
    if (o->breakdown && r->trade) cva_print_breakdown(b, r);
    if (r->greek) cva_print_greeks(r);
    return cli_interrupted() ? CLI_INTERRUPTED : CLI_OK;
}

/* ---- --compare --------------------------------------------------------------------------------
 *
 * The same CVA on the same outer paths by every estimator, in f64 and f32, and `inner` by every solver, in a
 * centred and in the raw basis. Every run is compared with the first: the mean over outer paths of what it
 * differs by, with the standard error of that difference, which is far below that of either CVA because
 * both have the same outer paths. */

static const char *const solvers[] = { "auto", "ldlt", "ldltp", "hhpcr", "eigdc" };
static const shoal_type types[] = { SHOAL_F64, SHOAL_F32 };
enum { SOLVERS = sizeof solvers / sizeof *solvers, EACH_TYPE = SHOAL_CVA_BY_INNER + 2 * SOLVERS };
enum { RUNS = 2 * EACH_TYPE };

typedef struct row {
    shoal_cva_estimator estimator;
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
    { "estimator", OPT_CHOICE, CLI_AT(row, estimator), .words = CVA_ESTIMATORS }, ROW("solver", solver), ROW("basis", basis), { "type", OPT_CHOICE, CLI_AT(row, type), .words = CLI_TYPES },
    ROW("cva", value.cva), ROW("stderr", value.error), ROW("bias", value.bias), ROW("low", value.low), ROW("high", value.high), ROW("difference", difference),
    ROW("difference_stderr", difference_error), ROW("difference_errors", off), ROW("truncated", truncated),
    ROW("failed", failed), ROW("seconds", seconds),
    { 0 }
};
/* clang-format on */

static row row_of(const cva_options *o, const cva_result *first, const cva_result *r) {
    const double systems = r->counts.systems > 0 ? (double)r->counts.systems : 1;
    row result = { .estimator = o->opts.estimator,
                   .solver = o->opts.solver,
                   .basis = o->opts.raw ? "raw" : "centred",
                   .type = o->opts.type,
                   .value = r->value,
                   .truncated = (double)r->counts.truncated / systems,
                   .failed = (double)r->counts.failed / systems,
                   .seconds = r->seconds };
    result.difference = cva_mean(r, first, r->outer, &result.difference_error);
    if (result.difference != 0) result.off = result.difference / result.difference_error;
    return result;
}

static int print_rows_json(cli *c, const cva_options *o, const row *rows, int count) {
    io_json *j = cli_json_begin(c, "cva");
    io_json_string(j, "book", o->book);
    io_json_string(j, "market", o->market);
    io_json_uint(j, "seed", c->seed);
    io_json_int(j, "dates", o->opts.dates);
    io_json_int(j, "paths", o->opts.outer);
    cli_json_result_list(j, "compare", row_results, rows, sizeof *rows, count);
    return cli_json_end(c, CLI_OK);
}

static int print_rows(cli *c, const cva_options *o, const row *rows, int count) {
    if (c->json) return print_rows_json(c, o, rows, count);
    printf("paths         %lld outer, %s, seed %llu, on %s, %s\n\n", (long long)o->opts.outer,
           CLI_COUNT(o->opts.dates, "date"), (unsigned long long)c->seed, c->machine.backend,
           c->machine.device);
    static const char *const names[] = { "rule", "amc", "inner" };
    printf("%-9s %-6s %-8s %-4s %12s %9s %9s %11s %9s %8s %11s %9s %9s\n", "estimator", "solver",
           "basis", "type", "cva", "stderr", "bias", "difference", "stderr", "errors", "truncated",
           "failed", "seconds");
    for (int i = 0; i < count; i++) {
        const row *r = &rows[i];
        printf("%-9s %-6s %-8s %-4s %12s %9s %9.2g %11s %9.1e %8.2f %9.3g %% %7.3g %% %9.4g\n",
               names[r->estimator], r->solver, r->basis, cli_type_name(r->type),
               CLI_ROUNDED(r->value.cva, r->value.error),
               CLI_ROUNDED(r->value.error, r->value.error), r->value.bias,
               CLI_ROUNDED(r->difference, r->difference_error), r->difference_error, r->off,
               100 * r->truncated, 100 * r->failed, r->seconds);
    }
    return cli_interrupted() ? CLI_INTERRUPTED : CLI_OK;
}

int cva_compare(cli *c, const cva_options *options, const cva_book *book) {
    row rows[RUNS];
    cva_result first = { 0 };
    int code = CLI_OK, count = 0;
    const char *lacks = cva_inner_lacks(options, book);
    bool unsuited = lacks != NULL;
    if (lacks) cli_note(c, "--estimator inner is left out: it has no %s", lacks);
    cli_progress bar;
    cli_catch_interrupt();
    cli_progress_begin(&bar, c, "comparing", RUNS);
    for (int i = 0; i < RUNS && code == CLI_OK && !cli_interrupted(); i++) {
        cva_options o = *options;
        cva_result r;
        const int way = i % EACH_TYPE, solver = way - SHOAL_CVA_BY_INNER;
        o.opts.type = types[i / EACH_TYPE];
        o.opts.estimator = (shoal_cva_estimator)(solver < 0 ? way : SHOAL_CVA_BY_INNER);
        o.opts.raw = solver >= SOLVERS;
        o.opts.solver = solvers[solver < 0 ? 0 : solver % SOLVERS];
        if (way >= SHOAL_CVA_BY_INNER && unsuited) continue;
        code = cva_compute(c, &o, book, NULL, &r);
        if (code == CLI_INPUT && way >= SHOAL_CVA_BY_INNER) { /* too many assets for inner */
            unsuited = true, code = CLI_OK;
            cva_result_free(&r);
            continue;
        }
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
    if (code == CLI_OK) cva_note_book(c, options, book, &first);
    cva_result_free(&first);
    if (code == CLI_OK && options->output && count > 0)
        code = cli_csv_result_list(options->output, row_results, rows, sizeof *rows, count);
    return code == CLI_OK ? print_rows(c, options, rows, count) : code;
}
