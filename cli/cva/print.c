/* SPDX-License-Identifier: Apache-2.0
 *
 * print.c - the results of `shoal cva`: a table or the JSON object, the profile as .csv.
 */
#include "cva.h"

#include "io/csv.h"
#include "io/file.h"

static const char *const columns[] = { "time",  "epe",      "epe_stderr",          "ene", "pfe95",
                                       "pfe99", "discount", "default_probability", "cva", "inner" };
enum { COLUMNS = sizeof columns / sizeof *columns };

static double column(const shoal_cva_date *d, int i) {
    const double all[COLUMNS] = { d->time,  d->epe,          d->epe_error, d->ene,
                                  d->pfe95, d->pfe99,        d->discount,  d->default_probability,
                                  d->cva,   (double)d->inner };
    return all[i];
}

int cva_write_csv(const char *path, const cva_result *r) {
    io_out *file;
    io_error err;
    const int status = io_out_open(path, &file, &err);
    if (status != IO_OK) return cli_io(status, &err);
    io_csv_header(io_out_file(file), columns, COLUMNS);
    for (int64_t k = 0; k < r->info.dates; k++) {
        double row[COLUMNS];
        for (int i = 0; i < COLUMNS; i++) row[i] = column(&r->profile[k], i);
        io_csv_row(io_out_file(file), row, COLUMNS, 17);
    }
    return cli_io(io_out_commit(file, &err), &err);
}

static void json_profile(io_json *j, const cva_result *r) {
    for (int i = 0; i < COLUMNS; i++) {
        io_json_array_line(j, i == 8 ? "cva_by_date" : columns[i]);
        for (int64_t k = 0; k < r->info.dates; k++)
            io_json_double(j, NULL, column(&r->profile[k], i));
        io_json_close(j);
    }
}

/* Systems by what became of them and by who answered, and how they were conditioned. */
static void json_systems(io_json *j, const shoal_cva_counts *n) {
    io_json_int(j, "systems", n->systems);
    io_json_object_line(j, "solver_share");
    for (int i = 0; i < SHOAL_CVA_METHODS && shoal_methods("smallsym", i); i++)
        io_json_double(j, shoal_methods("smallsym", i),
                       n->systems ? (double)n->method[i] / (double)n->systems : 0);
    io_json_close(j);
    io_json_object_line(j, "outcomes");
    io_json_int(j, "empty", n->empty);
    io_json_int(j, "warned", n->warned);
    io_json_int(j, "truncated", n->truncated);
    io_json_int(j, "refined", n->refined);
    io_json_int(j, "failed", n->failed);
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
    io_json_int(j, "expired", r->info.expired);
    io_json_int(j, "closed_form", r->info.closed);
    io_json_int(j, "nested", r->info.nested);
    io_json_int(j, "american", r->info.american);
    io_json_int(j, "netting_sets", r->info.sets);
    io_json_double(j, "horizon", r->info.horizon);
    io_json_int(j, "dates", o->opts.dates);
    io_json_int(j, "paths", r->outer);
    if (r->outer > 0) {
        io_json_double(j, "cva", r->value.cva);
        io_json_double(j, "stderr", r->value.error);
        io_json_double(j, "bias", r->value.bias);
        io_json_double(j, "bias_stderr", r->value.bias_error);
        io_json_double(j, "extrapolated", r->value.extrapolated);
        io_json_double(j, "extrapolated_stderr", r->value.extrapolated_error);
        json_profile(j, r);
    }
    io_json_int(j, "inner_paths", r->counts.inner_paths);
    json_systems(j, &r->counts);
    io_json_object_line(j, "stage_seconds");
    io_json_double(j, "rules", r->rules);
    io_json_double(j, "outer", r->counts.seconds[0]);
    io_json_double(j, "nested", r->counts.seconds[1]);
    io_json_double(j, "american", r->counts.seconds[2]);
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
        const shoal_cva_date *top = r->profile;
        for (int64_t k = 1; k < r->info.dates; k++)
            if (r->profile[k].epe > top->epe) top = &r->profile[k];
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
