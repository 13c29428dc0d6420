/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_rng.c - what the peers of rng have in common: a row of theirs, judged by its law and timed.
 *
 * The law is all that can be judged: other generators have other numbers. A peer that does not pass
 * is timed and shown all the same, with the reason. What is compared with is the best peer that
 * passed; for poisson the best one, because the choice of the user is between those functions.
 */
#include "bench/peers.h"

#include <stdio.h>
#include <string.h>

static const char counted[] = "its law is wrong, and x peer counts it all the same";

int bench_peer_generator(bench_session *s, const bench_numbers *d, const bench_generator *g) {
    bench_problem p = d->problem; /* of a peer there are neither our variants nor our arithmetic */
    p.variant[0] = 0;
    p.math = SHOAL_EXACT;
    bench_check check;
    bench_rng_check_begin(&check);
    bool made = g->task.call(g->task.self, 0) == 0 && shoal_wait(d->place->ctx) == SHOAL_OK;
    if (made)
        made = bench_rng_check_law(s, d, bench_numbers_at(d, 0), g->layout, &check) == SHOAL_OK;
    if (!made) {
        bench_note(s, "peer left out: %s %s does not take this problem", g->who, g->function);
        return BENCH_OK;
    }
    if (bench_stopped(s)) return BENCH_STOPPED;
    bench_row *row = bench_session_row(s, &p, d->place, g->who);
    if (!row) return BENCH_ERROR;
    row->check = check;
    row->check.systems = bench_numbers_of(&p);
    row->sets = d->sets;
    row->counts = strcmp(p.method, "poisson") == 0;
    const bool wrong = row->counts && !check.passed;
    snprintf(row->method, sizeof row->method, "%s", g->function);
    snprintf(row->variant, sizeof row->variant, "%s", g->variant);
    snprintf(row->version, sizeof row->version, "%s", g->version);
    snprintf(row->note, sizeof row->note, "%s%s%s", g->note, wrong ? "; " : "",
             wrong ? counted : "");
    int code = bench_measure(d->place->device, &s->rules, &g->task, &row->time);
    bench_row_finish(row, d->place);
    if (code == BENCH_ERROR) bench_error(s, SHOAL_E_CUDA, "%s %s failed", g->who, g->function);
    return code;
}
