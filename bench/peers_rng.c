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

int bench_peer_generator(bench_session *s, const bench_numbers *d, bench_solver peer,
                         shoal_layout layout) {
    bench_problem p = d->problem; /* of a peer there are neither our variants nor our arithmetic */
    p.variant[0] = 0;
    p.math = SHOAL_EXACT;
    bench_check check;
    char note[200];
    bench_rng_check_begin(&check);
    bool made = peer.task.call(peer.task.self, 0) == 0 && shoal_wait(d->place->ctx) == SHOAL_OK;
    if (made) made = bench_rng_check_law(s, d, bench_numbers_at(d, 0), layout, &check) == SHOAL_OK;
    if (!made) return bench_peer_left_out(s, &peer);
    if (bench_stopped(s)) return BENCH_STOPPED;
    check.systems = bench_numbers_of(&p);
    peer.counts = strcmp(p.method, "poisson") == 0;
    const bool wrong = peer.counts && !check.passed;
    snprintf(note, sizeof note, "%s%s%s", peer.note, wrong ? "; " : "", wrong ? counted : "");
    peer.note = note;
    return bench_add_row(s, &p, d->place, &peer, &check, true);
}
