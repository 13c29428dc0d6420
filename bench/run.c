/* SPDX-License-Identifier: Apache-2.0
 *
 * run.c - runs a list of problems. Neighbours with the same data share it, and the peers are
 * measured once for each set of data, right after our methods.
 */
#include "bench/peers.h"

#include <string.h>

/* Ours against the best peer that passed the check, among the rows from `first` on. */
static void compare(bench_session *s, int first) {
    double best = 0;
    for (int i = first; i < s->row_count; i++) {
        const bench_row *row = &s->rows[i];
        if (strcmp(row->who, "Shoal") == 0 || !row->timed || !row->check.passed) continue;
        if (best == 0 || row->time.median < best) best = row->time.median;
    }
    for (int i = first; i < s->row_count && best > 0; i++) {
        bench_row *row = &s->rows[i];
        if (strcmp(row->who, "Shoal") == 0 && row->timed) row->speedup = best / row->time.median;
    }
}

static int run_peers(bench_session *s, bench_data *data) {
    if (bench_data_clear_outside(s, data) != BENCH_OK) return BENCH_ERROR;
    if (strcmp(data->place->machine.backend, "cuda") == 0) return bench_peer_cusparse(s, data);
    return bench_peer_lapack(s, data);
}

int bench_run(bench_session *s, const bench_problems *list, int flags) {
    bench_data data = { 0 };
    int code = BENCH_OK, first = s->row_count;
    for (int i = 0; i < list->count && code == BENCH_OK; i++) {
        const bench_problem *p = &list->items[i];
        if (s->rules.stop && s->rules.stop()) {
            code = BENCH_STOPPED;
            break;
        }
        bench_place *place = bench_session_place(s, p->backend);
        if (!place) code = BENCH_ERROR;
        if (code == BENCH_OK) code = bench_data_make(s, p, place, &data);
        if (code == BENCH_OK) code = bench_tridiag_run(s, &data, p, flags & BENCH_TIME);
        bool last = i + 1 == list->count || !bench_data_same(p, &list->items[i + 1]);
        if (code != BENCH_OK || !last) continue;
        if (flags & BENCH_PEERS) code = run_peers(s, &data);
        compare(s, first);
        first = s->row_count;
    }
    if (code == BENCH_STOPPED) compare(s, first);
    bench_data_free(&data);
    return code;
}
