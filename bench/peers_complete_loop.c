/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_complete_loop.c - the plain loop of peers_complete.c as a peer of complete pivoting.
 */
#include <stdlib.h>

#include "bench/peers_complete.h"
#include "bench/peers_symindef.h"

typedef struct job {
    int64_t n;
    bool single;
    void *room;
    int32_t *interchanges;
} job;

static int factor(void *self, void *a) {
    const job *j = self;
    if (j->single)
        shoal_complete_loop_f32_plain(j->n, a, j->room, j->interchanges);
    else
        shoal_complete_loop_f64_plain(j->n, a, j->room, j->interchanges);
    return 0;
}

static int pivots(void *self, int32_t *to) {
    const job *j = self;
    for (int64_t i = 0; i < j->n; i++) to[i] = j->interchanges[i];
    return 0;
}

int bench_peer_complete_loop(bench_session *s, bench_matrix *d) {
    const size_t n = (size_t)d->problem.n, number = bench_number_size(&d->problem);
    job j = { .n = d->problem.n,
              .single = d->problem.type == SHOAL_F32,
              .room = malloc(2 * n * number),
              .interchanges = malloc(n * sizeof *j.interchanges) };
    const bench_factorer r = { .who = "C",
                               .function = "loop",
                               .version = "the compiler of this build, -O2",
                               .note = "search, then update at once; packed, one thread",
                               .packed = true,
                               .form = BENCH_FORM_OURS,
                               .factor = factor,
                               .pivots = pivots,
                               .self = &j,
                               .workspace = 2 * n * number,
                               .threads = 1 };
    int code = BENCH_OK;
    if (j.room && j.interchanges)
        code = bench_peer_factorer(s, d, &r);
    else
        bench_note(s, "peer left out: no memory for the loop in C");
    free(j.room);
    free(j.interchanges);
    return code;
}
