/* SPDX-License-Identifier: Apache-2.0
 *
 * print.c - the results of `shoal cva`: a table or the JSON object, the profile as .csv.
 */
#include "cva.h"

#include <string.h>

/* clang-format off */
#define DATE(name, member) CLI_RESULT(name, shoal_cva_date, member)
static const cli_option date_results[] = {
    DATE("time", time), DATE("epe", epe), DATE("epe_stderr", epe_error), DATE("ene", ene), DATE("pfe95", pfe95),
    DATE("pfe99", pfe99), DATE("discount", discount), DATE("default_probability", default_probability), DATE("cva", cva),
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
static const cli_option value_results[] = {
    RESULT("cva", value.cva), RESULT("stderr", value.error), RESULT("bias", value.bias),
    RESULT("bias_stderr", value.bias_error), RESULT("extrapolated", value.extrapolated),
    RESULT("extrapolated_stderr", value.extrapolated_error),
    { 0 }
};
static const cli_option outcome_results[] = {
    RESULT("empty", counts.empty), RESULT("warned", counts.warned), RESULT("truncated", counts.truncated),
    RESULT("refined", counts.refined), RESULT("failed", counts.failed),
    { 0 }
};
static const cli_option second_results[] = {
    RESULT("rules", rules), RESULT("outer", counts.seconds[0]), RESULT("nested", counts.seconds[1]),
    RESULT("american", counts.seconds[2]),
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

static int print_json(cli *c, const cva_options *o, const cva_book *b, const cva_result *r) {
    io_json *j = cli_json_begin(c, "cva");
    cli_json_options(j, c, &cva_command, o);
    io_json_uint(j, "seed", c->seed);
    io_json_doubles(j, "hazard", o->party.hazard, o->party.pieces);
    if (o->party.until) io_json_doubles(j, "hazard_until", o->party.until, o->party.pieces);
    if (o->opts.stopping == SHOAL_CVA_BY_RULE && o->opts.rule_paths)
        io_json_int(j, "rule_paths", o->opts.rule_paths);
    io_json_int(j, "contracts", b->count);
    cli_json_results(j, info_results, r);
    if (r->outer > 0) {
        cli_json_results(j, value_results, r);
        json_profile(j, r);
    }
    io_json_int(j, "inner_paths", r->counts.inner_paths);
    json_systems(j, r);
    io_json_object_line(j, "stage_seconds");
    cli_json_results(j, second_results, r);
    io_json_close(j);
    if (o->report && r->outer > 0) io_json_string(j, "report", o->report);
    return cli_json_end(c, CLI_OK);
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

int cva_print(cli *c, const cva_options *o, const cva_book *b, const cva_result *r) {
    if (c->json) return print_json(c, o, b, r);
    printf(
        "book          %lld contracts: %lld by closed form, %lld nested, %lld american, %lld expired\n",
        (long long)b->count, (long long)r->info.closed, (long long)r->info.nested,
        (long long)r->info.american, (long long)r->info.expired);
    printf("paths         %lld outer, %lld inner, %lld dates, seed %llu, on %s, %s\n",
           (long long)r->outer, (long long)r->counts.inner_paths, (long long)o->opts.dates,
           (unsigned long long)c->seed, c->machine.backend, c->machine.device);
    printf("seconds       %.4g rules of exercise, %.4g outer, %.4g nested, %.4g american\n",
           r->rules, r->counts.seconds[0], r->counts.seconds[1], r->counts.seconds[2]);
    if (r->counts.systems > 0) print_systems(&r->counts);
    if (r->outer == 0) return cli_interrupted() ? CLI_INTERRUPTED : CLI_OK;
    printf("cva           %.10g +- %.2g\n", r->value.cva, r->value.error);
    if (r->counts.inner_paths > 0)
        printf("inner bias    %.4g +- %.2g; extrapolated %.10g +- %.2g\n", r->value.bias,
               r->value.bias_error, r->value.extrapolated, r->value.extrapolated_error);
    if (o->report) {
        const shoal_cva_date *top = cva_peak(r);
        printf("exposure      at most %.6g +- %.2g in the mean, after %.5g years\n", top->epe,
               top->epe_error, top->time);
        printf("report        %s\n", o->report);
        return cli_interrupted() ? CLI_INTERRUPTED : CLI_OK;
    }
    printf("\n%9s %12s %9s %12s %12s %12s %12s\n", "time", "epe", "stderr", "ene", "pfe95", "pfe99",
           "cva");
    for (int64_t k = 0; k < r->info.dates; k++) {
        const shoal_cva_date *d = &r->profile[k];
        printf("%9.5g %12.7g %9.2g %12.7g %12.7g %12.7g %12.6g\n", d->time, d->epe, d->epe_error,
               d->ene, d->pfe95, d->pfe99, d->cva);
    }
    return cli_interrupted() ? CLI_INTERRUPTED : CLI_OK;
}
