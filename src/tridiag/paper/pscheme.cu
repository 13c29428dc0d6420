/* SPDX-License-Identifier: Apache-2.0
 *
 * pscheme.cu - the P-scheme for tridiagonal systems (Wakatani, sections II.B and IV) on the GPU: G
 * blocks of T threads a system, one thread a part of M = ceil(n / P) rows, P = T G.
 *
 * The three recurrences of pscheme.h one after the other, with a launch for each global
 * synchronisation (section V.A): the map of every part for p; one thread a system goes from part to
 * part; every part determines its p and the map for q; one thread; q and the map for x; one thread,
 * upwards; x. Time alpha N/P + beta P + gamma N/P for each, equations (14) to (16). About 16 numbers
 * a row are moved, and 7 for the verdict (batch.cuh). A part whose map is not finite is
 * walked in the propagation.
 *
 * Variant "blocked": thread j walks through rows jM .. jM+M-1 where they lie, so that the threads of a
 * warp read M rows apart. Variant "rearranged": dl, d, du and b are first copied to w'_{iP+j} = w_{jM+i}
 * (recur/turn.cuh), where each phase reads whole lines; the same bits. Variant "printed": blocked, p
 * by equations (9) to (13). Variant "lookback": pscheme_lookback.cuh.
 */
#include "core/parts.h"
#include "tridiag/paper/pscheme_lookback.cuh"

/* Arrays of all solves; number e of the map of part j of solve v is maps[e * all + v P + j]. The rows
 * of part j of system k begin at dl[k * system + j * step], and so on. */
typedef struct scheme {
    int64_t m, parts, all;
    const real *dl, *d, *du, *b;
    int64_t system, step, row;             /* of dl, d, du: from system to system, part, row */
    int64_t rhs_system, rhs_step, rhs_row; /* of b; its right-hand sides lie side by side  */
    real *p, *q;
    int64_t own_solve, own_step, own_row; /* of p and q                             */
    real *maps, *states[RECURRENCES];     /* states: P + 1 a solve, as in pscheme.c */
} scheme;

__device__ static inline part part_of(const tridiag_job &job, const scheme &w, int64_t v,
                                      int64_t j) {
    const int64_t k = v / job.nrhs, begin = j * w.m, left = job.n - begin;
    const int64_t at = k * w.system + j * w.step, own = v * w.own_solve + j * w.own_step;
    part s;
    s.dl = w.dl + at, s.d = w.d + at, s.du = w.du + at;
    s.b = w.b + k * w.rhs_system + v % job.nrhs + j * w.rhs_step;
    s.p = w.p + own, s.q = w.q + own;
    s.row = w.row, s.rhs_row = w.rhs_row, s.own_row = w.own_row;
    s.begin = begin, s.rows = left > w.m ? w.m : left > 0 ? left : 0, s.n = job.n;
    return s;
}

template <int SIZE>
__device__ static inline void keep_map(const scheme &w, int64_t at, const recur_map &m) {
#pragma unroll
    for (int e = 0; e < SIZE; e++) w.maps[e * w.all + at] = m.m[e];
}

template <int SIZE> __device__ static inline recur_map kept_map(const scheme &w, int64_t at) {
    recur_map m = {};
#pragma unroll
    for (int e = 0; e < SIZE; e++) m.m[e] = w.maps[e * w.all + at];
    return m;
}

/* The solves and parts of this thread, one after the other. */
typedef struct place {
    int64_t b; /* block of all blocks of all solves */
    int64_t v, j;
} place;

__device__ static inline bool find_place(const tridiag_job &job, place &at) {
    for (; at.b < solves(job) * job.groups; at.b += gridDim.x) {
        at.v = at.b / job.groups, at.j = at.b % job.groups * job.threads + threadIdx.x;
        if (at.j < job.parts) return true;
    }
    return false;
}

template <bool AS_PRINTED>
__global__ __launch_bounds__(SHOAL_MOST_THREADS) static void precompute_kernel(tridiag_job job,
                                                                               scheme w) {
    for (place at = { blockIdx.x, 0, 0 }; find_place(job, at); at.b += gridDim.x) {
        const part s = part_of(job, w, at.v, at.j);
        keep_map<4>(w, at.v * w.parts + at.j, AS_PRINTED ? printed_map_of_p(&s) : map_of_p(&s));
    }
}

template <int WHAT> __global__ static void propagate_kernel(tridiag_job job, scheme w) {
    const int64_t v = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= solves(job)) return;
    const real *p = w.states[OF_P] + v * (w.parts + 1);
    real *states = w.states[WHAT] + v * (w.parts + 1), value = 0;
    states[WHAT == OF_X ? w.parts : 0] = value;
    for (int64_t i = 0; i + 1 < w.parts; i++) {
        const int64_t j = WHAT == OF_X ? w.parts - 1 - i : i;
        const recur_map m = kept_map < WHAT == OF_P ? 4 : 2 > (w, v * w.parts + j);
        const part s = part_of(job, w, v, j);
        value = pass_part(&s, &m, WHAT, p[j], value);
        states[WHAT == OF_X ? j : j + 1] = value;
    }
}

template <int WHAT>
__global__ __launch_bounds__(SHOAL_MOST_THREADS) static void determine_kernel(tridiag_job job,
                                                                              scheme w) {
    for (place at = { blockIdx.x, 0, 0 }; find_place(job, at); at.b += gridDim.x) {
        const part s = part_of(job, w, at.v, at.j);
        const int64_t state = at.v * (w.parts + 1) + at.j, map = at.v * w.parts + at.j;
        real poison = 0; /* the verdict looks again */
        if (WHAT == OF_P) keep_map<2>(w, map, determine_p(&s, w.states[OF_P][state], &poison));
        if (WHAT == OF_Q)
            keep_map<2>(w, map, determine_q(&s, w.states[OF_P][state], w.states[OF_Q][state]));
        if (WHAT == OF_X) determine_x(&s, w.states[OF_X][state + 1]);
    }
}

/* ---- the launch ------------------------------------------------------------------------------- */

/* Lays the arrays out from `memory` on; *bytes is how much they take, without the verdict's. */
static scheme lay_out(const shoal_tridiag *plan, const tridiag_job *job, char *memory,
                      size_t *bytes) {
    const int64_t todo = job->count * job->nrhs, parts = job->parts;
    const bool turned = plan->first.variant == SCHEME_REARRANGED;
    scheme w = {};
    w.parts = parts, w.m = parts ? (job->n + parts - 1) / parts : 0, w.all = parts * todo;
    const int64_t rows = turned ? w.m * parts : job->n;
    size_t at = 0;
    w.p = (real *)carve(memory, &at, (size_t)(todo * rows) * sizeof(real));
    w.q = (real *)carve(memory, &at, (size_t)(todo * rows) * sizeof(real));
    w.maps = (real *)carve(memory, &at, (size_t)w.all * 4 * sizeof(real));
    for (int s = 0; s < RECURRENCES; s++)
        w.states[s] = (real *)carve(memory, &at, (size_t)(todo * (parts + 1)) * sizeof(real));
    w.dl = (const real *)job->dl, w.d = (const real *)job->d, w.du = (const real *)job->du;
    w.b = (const real *)job->b;
    w.system = job->system, w.step = w.m * job->row, w.row = job->row;
    w.own_solve = rows, w.own_step = w.m, w.own_row = 1;
    if (turned) {
        w.dl = (real *)carve(memory, &at, (size_t)(job->count * rows) * sizeof(real));
        w.d = (real *)carve(memory, &at, (size_t)(job->count * rows) * sizeof(real));
        w.du = (real *)carve(memory, &at, (size_t)(job->count * rows) * sizeof(real));
        w.b = (real *)carve(memory, &at, (size_t)(todo * rows) * sizeof(real));
        w.system = rows, w.step = 1, w.row = parts;
        w.own_step = 1, w.own_row = parts;
    }
    w.rhs_system = w.system * job->nrhs, w.rhs_step = w.step * job->nrhs;
    w.rhs_row = w.row * job->nrhs;
    *bytes = at;
    return w;
}

static size_t pscheme_bytes(const shoal_tridiag *plan) {
    size_t bytes;
    if (plan->first.variant == SCHEME_LOOKBACK)
        lay_out_chains(&plan->job, NULL, &bytes);
    else
        lay_out(plan, &plan->job, NULL, &bytes);
    return bytes + R(tridiag_verdict_bytes)(plan);
}

static void run_phases(shoal_tridiag *plan, const tridiag_job *job, const scheme &w) {
    const int64_t todo = job->count * job->nrhs;
    const dim3 grid(shoal_blocks(todo * job->groups, 1)), block((unsigned)job->threads);
    const dim3 alone((unsigned)((todo + 31) / 32)), warp(32);
    void *stream = plan->head.ctx->stream;
    if (plan->first.variant == SCHEME_PRINTED)
        SHOAL_LAUNCH((precompute_kernel<true>), grid, block, 0, stream, *job, w);
    else
        SHOAL_LAUNCH((precompute_kernel<false>), grid, block, 0, stream, *job, w);
    SHOAL_LAUNCH((propagate_kernel<OF_P>), alone, warp, 0, stream, *job, w);
    SHOAL_LAUNCH((determine_kernel<OF_P>), grid, block, 0, stream, *job, w);
    SHOAL_LAUNCH((propagate_kernel<OF_Q>), alone, warp, 0, stream, *job, w);
    SHOAL_LAUNCH((determine_kernel<OF_Q>), grid, block, 0, stream, *job, w);
    SHOAL_LAUNCH((propagate_kernel<OF_X>), alone, warp, 0, stream, *job, w);
    SHOAL_LAUNCH((determine_kernel<OF_X>), grid, block, 0, stream, *job, w);
}

static shoal_status pscheme_run(shoal_tridiag *plan, const tridiag_job *job) {
    size_t used;
    char *memory = (char *)job->work;
    if (plan->first.variant == SCHEME_LOOKBACK) {
        const chains w = lay_out_chains(job, memory, &used);
        const shoal_status status = run_lookback(plan, job, w);
        if (status != SHOAL_OK) return status;
        return R(tridiag_verdict)(plan, job, w.q, memory + used, SHOAL_SYSTEM_PIVOT);
    }
    const scheme w = lay_out(plan, job, memory, &used);
    const bool turned = plan->first.variant == SCHEME_REARRANGED;
    const int64_t todo = job->count * job->nrhs;
    void *stream = plan->head.ctx->stream;
    real *answer = turned ? w.p : w.q; /* p is not needed any more */
    turning t = { job->n, w.m, w.parts, job->count, job->row, job->system, 0, 1 };
    if (turned) {
        turn(stream, t, (real *)job->dl, (real *)w.dl, false);
        turn(stream, t, (real *)job->d, (real *)w.d, false);
        turn(stream, t, (real *)job->du, (real *)w.du, false);
        t.width = (int)job->nrhs;
        turn(stream, t, (real *)job->b, (real *)w.b, false);
    }
    run_phases(plan, job, w);
    if (turned) {
        const turning back = { job->n, w.m, w.parts, todo, 1, job->n, 0, 1 };
        turn(stream, back, answer, w.q, true);
    }
    return R(tridiag_verdict)(plan, job, answer, memory + used, SHOAL_SYSTEM_PIVOT);
}

extern "C" const tridiag_cuda_method R(tridiag_pscheme) = { pscheme_bytes, pscheme_run };
