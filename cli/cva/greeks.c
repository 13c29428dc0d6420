/* SPDX-License-Identifier: Apache-2.0
 *
 * greeks.c - sensitivities of `shoal cva --greeks` and `--gammas`: rows with names, on stdout, in the JSON object, as
 * a file of --tables.
 */
#include "cva.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/session.h"

/* clang-format off */
#define GREEK(name, member) CLI_RESULT(name, cva_greek, member)
static const cli_option greek_results[] = {
    GREEK("parameter", parameter), GREEK("of", of), GREEK("with", with), GREEK("time", s.time), GREEK("value", s.at),
    GREEK("derivative", s.value), GREEK("stderr", s.error), GREEK("move", s.move), GREEK("change", change),
    GREEK("change_stderr", change_error),
    { 0 }
};
/* clang-format on */

int cva_take_greeks(cli *c, const shoal_cva *plan, const cva_book *b, cva_result *r) {
    const int64_t count = shoal_cva_parameters(plan);
    shoal_cva_sensitivity *list = calloc((size_t)count + 1, sizeof *list);
    r->greek = calloc((size_t)count + 1, sizeof *r->greek);
    int code = list && r->greek ? CLI_OK : cli_no_memory();
    if (code == CLI_OK)
        code = cli_status(c, shoal_cva_sensitivities(plan, r->samples, r->outer, list));
    for (int64_t i = 0; i < count && code == CLI_OK; i++) {
        const shoal_cva_sensitivity *s = &list[i];
        cva_greek *to = &r->greek[i];
        const bool credit = s->parameter == SHOAL_CVA_HAZARD || s->parameter == SHOAL_CVA_RECOVERY;
        *to = (cva_greek){ .s = *s,
                           .parameter = s->name,
                           .of = s->index < 0 ? ""
                                 : credit     ? cva_party_name(b, s->index)
                                              : b->asset[s->index],
                           .with = s->other < 0 ? "" : b->asset[s->other],
                           .change = s->move * s->value,
                           .change_error = s->move * s->error };
    }
    if (code == CLI_OK) r->greeks = count;
    free(list);
    return code;
}

const char *cva_greek_place(const cva_greek *g, char text[CLI_NUMBER]) {
    if (*g->with || (g->s.point < 0)) return g->with;
    return isfinite(g->s.time) ? cli_years(text, g->s.time) : "later";
}

void cva_print_greeks(const cva_result *r) {
    char text[CLI_NUMBER];
    printf("\n%-12s %-16s %-16s %10s %12s %9s %8s %12s\n", "parameter", "of", "with", "value",
           "derivative", "stderr", "move", "change");
    for (int64_t i = 0; i < r->greeks; i++) {
        const cva_greek *g = &r->greek[i];
        printf("%-12s %-16.16s %-16.16s %10.5g %12s %9.2g %8.3g %12s\n", g->parameter, g->of,
               cva_greek_place(g, text), g->s.at, CVA_ROUNDED(g->s.value, g->s.error), g->s.error,
               g->s.move, CVA_ROUNDED(g->change, g->change_error));
    }
}

void cva_json_greeks(io_json *j, const cva_result *r) {
    cli_json_result_list(j, "sensitivities", greek_results, r->greek, sizeof *r->greek, r->greeks);
}

int cva_write_greeks(const char *folder, const cva_result *r) {
    const size_t length = strlen(folder) + 32;
    char *path = malloc(length);
    io_error err;
    if (!path) return cli_no_memory();
    snprintf(path, length, "%s/sensitivities.csv", folder);
    int code = cli_io(bench_make_parents(path, &err), &err);
    if (code == CLI_OK)
        code = cli_csv_result_list(path, greek_results, r->greek, sizeof *r->greek, r->greeks);
    free(path);
    return code;
}
