/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_cub.c - CUB as a peer. Of recur: DeviceScan for one long segment of order 1, forward, s and t arrays. Of
 * sort: DeviceMerge for one pair, DeviceSegmentedSort for rows; u32 keys, ascending, alone or with
 * 4-byte values. CUB has no batched merge.
 */
#include "bench/recur.h"
#include "bench/sort.h"

#ifdef BENCH_HAS_CUB
#include <stdlib.h>

#include "bench/peers_foreign.h"

typedef struct scan_job {
    const bench_arrays *data;
    void *scratch;
    size_t bytes;
} scan_job;

static int call_scan(void *self, int i) {
    const scan_job *j = self;
    const bench_arrays *d = j->data;
    const int set = i % d->sets;
    return bench_cub_scan(
        d->problem.type == SHOAL_F32, d->problem.n, bench_arrays_at(d, BENCH_RECUR_S, set),
        bench_arrays_at(d, BENCH_RECUR_T, set), bench_arrays_at(d, BENCH_RECUR_W0, set),
        bench_arrays_at(d, BENCH_RECUR_W, set), j->scratch, j->bytes);
}

int bench_peer_cub(bench_session *s, bench_arrays *d) {
    const bench_problem *p = &d->problem;
    if (p->order != 1 || p->constant || p->direction || p->count != 1) return BENCH_OK;
    scan_job j = { .data = d, .bytes = bench_cub_bytes(p->type == SHOAL_F32, p->n) };
    if (j.bytes == 0 || shoal_alloc(d->place->ctx, j.bytes, &j.scratch) != SHOAL_OK) {
        bench_note(s, "peer left out: CUB does not take this problem");
        return BENCH_OK;
    }
    const bench_solver peer = { .who = "CUB",
                                .function = "DeviceScan::InclusiveScan",
                                .version = bench_cub_version(),
                                .note = "affine pairs formed on reading, one number written",
                                .workspace = j.bytes,
                                .task = { .call = call_scan, .self = &j, .calls = d->sets } };
    int code = bench_add_peer(s, d, &peer, bench_recur_check_peer);
    shoal_free(d->place->ctx, j.scratch);
    return code;
}
typedef struct sort_job {
    const bench_sortables *data;
    bench_cub_job cub;
} sort_job;

static int call_sort(void *self, int i) {
    sort_job *j = self;
    const bench_sortables *d = j->data;
    void *m[BENCH_SORT_ARRAYS];
    for (int k = 0; k < BENCH_SORT_ARRAYS; k++)
        m[k] = bench_arrays_at(&d->arrays, k, i % d->arrays.sets);
    j->cub.a = m[BENCH_SORT_A], j->cub.b = m[BENCH_SORT_B], j->cub.out = m[BENCH_SORT_OUT];
    if (d->value_bytes) {
        j->cub.a_values = m[BENCH_SORT_A_VALUES], j->cub.b_values = m[BENCH_SORT_B_VALUES];
        j->cub.out_values = m[BENCH_SORT_OUT_VALUES];
    }
    return d->merges ? bench_cub_merge(&j->cub) : bench_cub_sort(&j->cub);
}

/* Where each row begins, in the context's memory. */
static shoal_status make_offsets(const bench_sortables *d, int64_t **offsets) {
    const int64_t count = d->arrays.problem.count;
    const size_t bytes = ((size_t)count + 1) * sizeof **offsets;
    int64_t *host = malloc(bytes);
    shoal_status status = host ? SHOAL_OK : SHOAL_E_NOMEM;
    for (int64_t k = 0; host && k <= count; k++) host[k] = k * d->arrays.problem.n;
    if (status == SHOAL_OK) status = shoal_alloc(d->arrays.place->ctx, bytes, (void **)offsets);
    if (status == SHOAL_OK) status = shoal_copy(d->arrays.place->ctx, *offsets, host, bytes);
    free(host);
    return status;
}

int bench_peer_cub_sort(bench_session *s, bench_sortables *d) {
    const bench_problem *p = &d->arrays.problem;
    if (d->key != SHOAL_KEY_U32 || d->value_bytes == 8 || p->direction) return BENCH_OK;
    if (d->merges && p->count != 1) return BENCH_OK;
    shoal_context *ctx = d->arrays.place->ctx;
    sort_job j = { .data = d };
    j.cub = (bench_cub_job){ .na = d->na, .nb = d->nb, .count = p->count };
    if (d->value_bytes) j.cub.a_values = (const uint32_t *)d->arrays.memory[BENCH_SORT_A_VALUES];
    shoal_status status = d->merges ? SHOAL_OK : make_offsets(d, &j.cub.offsets);
    j.cub.bytes = d->merges ? bench_cub_merge_bytes(&j.cub) : bench_cub_sort_bytes(&j.cub);
    if (status == SHOAL_OK) status = shoal_alloc(ctx, j.cub.bytes + 1, &j.cub.scratch);
    int code = BENCH_OK;
    if (status != SHOAL_OK || j.cub.bytes == 0) {
        bench_note(s, "peer left out: CUB does not take this problem");
    } else {
        const bench_solver peer = {
            .who = "CUB",
            .function = d->merges        ? "DeviceMerge"
                        : d->value_bytes ? "DeviceSegmentedSort::StableSortPairs"
                                         : "DeviceSegmentedSort::SortKeys",
            .version = bench_cub_version(),
            .note = d->merges ? "" : "positions are passed as values",
            .workspace = j.cub.bytes,
            .task = { .call = call_sort, .self = &j, .calls = d->arrays.sets }
        };
        code = bench_add_peer(s, &d->arrays, &peer, bench_sort_check_peer);
    }
    shoal_free(ctx, j.cub.offsets);
    shoal_free(ctx, j.cub.scratch);
    return code;
}
#endif
