/* SPDX-License-Identifier: Apache-2.0
 *
 * totals.c - a batch in slices, and what became of it.
 */
#include "totals.h"

#include <math.h>
#include <string.h>

enum { SLICE = 1 << 22 }; /* numbers of a slice, about */

void cli_totals_add(cli_totals *t, const cli_totals *slice) {
    t->method = slice->method;
    t->variant = slice->variant;
    t->done += slice->done;
    t->failed += slice->failed;
    t->warned += slice->warned;
    t->redone += slice->redone;
    if (!(slice->max_residual <= t->max_residual) && !isnan(t->max_residual))
        t->max_residual = slice->max_residual;
    t->seconds += slice->seconds;
}

int cli_slices(cli *c, int64_t count, bool empty, int64_t numbers, cli_slice *work, void *of,
               cli_totals *t) {
    const int64_t all = empty ? 0 : count;
    const int64_t slice = numbers == 0 ? count : numbers < SLICE ? SLICE / numbers : 1;
    int64_t first = 0;
    int code = CLI_OK;
    cli_progress bar;
    cli_progress_begin(&bar, c, t->verb, all);
    do {
        const int64_t some = all - first < slice ? all - first : slice;
        bar.next = some;
        code = work(c, of, first, some, t);
        first += some;
        cli_progress_step(&bar, first);
        if (code == CLI_OK && cli_interrupted()) code = CLI_INTERRUPTED;
    } while (code == CLI_OK && first < all);
    cli_progress_end(&bar);
    if (code == CLI_OK) t->done = count;
    t->solved = t->done - t->failed;
    if (all == 0) t->max_residual = 0;
    if (all > 0 && t->solved == 0) t->max_residual = -1; /* nothing was answered */
    return code;
}

/* ---- what is said ------------------------------------------------------------------------------ */

#define RESULT(name, member) CLI_RESULT(name, cli_totals, member)
static const cli_option counts[] = {
    RESULT("solved", solved), RESULT("failed", failed), RESULT("warned", warned), { 0 }
};
static const cli_option residual[] = { RESULT("max_residual", max_residual), { 0 } };

static bool has_variant(const cli_totals *t) { return t->variant && *t->variant; }

void cli_totals_json_method(io_json *j, const cli_totals *t, const char *asked) {
    io_json_string(j, "method", t->method ? t->method : asked);
    cli_json_word(j, "variant", t->variant);
}

void cli_totals_json(io_json *j, const cli_totals *t) {
    char seconds[32];
    snprintf(seconds, sizeof seconds, "%s_seconds", t->verb);
    cli_json_results(j, counts, t);
    if (t->redoes) io_json_int(j, "redone", t->redone);
    cli_json_results(j, residual, t->max_residual >= 0 ? t : NULL);
    io_json_double(j, seconds, t->seconds);
}

void cli_totals_print_method(const cli *c, const cli_totals *t) {
    printf("method        %s", t->method);
    if (has_variant(t)) printf(" (%s)", t->variant);
    printf(" on %s, %s\n", c->machine.backend, c->machine.device);
}

void cli_totals_print(const cli_totals *t) {
    printf("failed        %lld\n", (long long)t->failed);
    printf("warned        %lld\n", (long long)t->warned);
    if (t->redoes) printf("redone        %lld\n", (long long)t->redone);
    if (t->max_residual >= 0)
        printf("max residual  %.3g\n", (double)t->max_residual);
    else
        printf("max residual  not known\n");
    printf("%s time%*s%s\n", t->verb, (int)(9 - strlen(t->verb)), "", CLI_TIME(t->seconds));
}

int cli_totals_show(cli *c, int code, const cli_totals *t, const int32_t *status, cli_shown *json,
                    cli_shown *table, const void *of) {
    if (code != CLI_OK && code != CLI_INTERRUPTED) return code;
    if (code == CLI_OK && t->failed > 0) code = CLI_FAILED;
    if (c->json) {
        json(c, of, t);
        code = cli_json_end(c, code);
    } else if (code != CLI_INTERRUPTED) {
        table(c, of, t);
    }
    if (t->failed + t->warned > 0) cli_note_systems(c, t->noun, status, t->done);
    return code;
}

/* ---- what is kept of each system ---------------------------------------------------------------- */

int cli_outcomes_create(const cli_outcome *kinds, int outcomes, const char *const *paths,
                        const bool *wanted, int64_t count, bool empty, io_array *arrays) {
    int code = CLI_OK;
    for (int i = 0; i < outcomes && code == CLI_OK; i++) {
        const bool none = !paths[i] && (empty || !wanted[i]);
        const int64_t shape[] = { none ? 0 : count, kinds[i].entries };
        code = cli_array_create(kinds[i].type, kinds[i].entries > 1 ? 2 : 1, shape, &arrays[i]);
    }
    return code;
}

int cli_outcomes_write(int outcomes, const char *const *paths, const io_array *arrays) {
    int code = CLI_OK;
    for (int i = 0; i < outcomes && code == CLI_OK; i++)
        code = cli_array_write(paths[i], &arrays[i]);
    return code;
}
