/* SPDX-License-Identifier: Apache-2.0
 *
 * upper.cuh - one thread per solve reduces its system to upper triangular form and substitutes back: the
 * kernel of lupp.cu and qr.cu, which differ in how a row takes part in the reduction.
 *
 * Rows are scaled as they are read (residual.h), and the condition is estimated on the way back (condition.h).
 * The rows of U and the right-hand side, 4 numbers per row, lie in the plan's workspace interleaved by
 * thread, so that a warp reads and writes them coalesced; a grid of fixed size works the solves (or the
 * list of those to be redone) off. About 13 numbers per row moved. The caller's arrays are read coalesced
 * in the interleaved layout.
 */
#ifndef SHOAL_TRIDIAG_UPPER_CUH
#define SHOAL_TRIDIAG_UPPER_CUH

#include "tridiag/condition.h"
#include "tridiag/device.cuh"

enum { UPPER_BLOCK = 128, UPPER_THREADS = 1 << 16, UPPER_ROWS = 16 / sizeof(real) };
enum { UPPER_SCRATCH_RESCUE = 1 << 23, UPPER_SCRATCH = 1 << 25 }; /* bounds of threads * n */

static int64_t upper_threads(const shoal_tridiag *plan) {
    return scratch_threads<UPPER_THREADS>(plan->job,
                                          plan->rescue.cell ? UPPER_SCRATCH_RESCUE : UPPER_SCRATCH);
}

typedef struct
    upper_row { /* of U, (u, v, w | z) on columns i, i+1, i+2: 1 / u, and the slot of w */
    real inverse, v, slot, z;
} upper_row;

/* `input` is the upper half of the largest number seen. */
__device__ static inline equation scaled_equation(const equation &e, int32_t &input) {
    const int32_t power = row_high(e);
    const real scale = row_scale(from_high(power));
    const equation s = { e.dl * scale, e.d * scale, e.du * scale, e.b * scale };
    input = max(input, max(power, high_abs(e.b)));
    return s;
}

/* STEP::reduce(e, p, q, y, growth): the row in hand (p, q, 0 | y) and row i+1 become row i of U, which it returns,
 * and the row in hand for column i+1, whose row of |L^-1| adds up to growth. */
template <class STEP> __global__ static void upper_kernel(tridiag_job job, int64_t threads) {
    const int64_t me = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t most = job.n * threads; /* scratch numbers per array */
    const int64_t todo = job.todo ? (int64_t)*job.redone : solves(job);
    if (job.todo && job.next && me == 0) *job.next = 0;
    if (me >= threads) return;
    real *u = (real *)job.work + me, *v = u + most, *w = v + most, *z = w + most;
    for (int64_t task = me; task < todo; task += threads) {
        const int64_t solve = job.todo ? job.todo[task] : task;
        const view s = view_of(job, solve);
        const int64_t n = s.n;
        if (is_empty(job, s, solve)) continue;
        int32_t input = 0, inverses = 0, found = 0, probed = 0; /* upper halves of the largest */
        const equation top = scaled_equation(equation_at(s, n, 0), input);
        real p = top.d, q = top.du, y = top.b, growth = PROBE; /* the row in hand: (p, q, 0 | y) */
        for (int64_t i = 0; i + 1 < n; i += UPPER_ROWS) {
            equation next_rows[UPPER_ROWS];
            equations_at(next_rows, s, n, i + 1);
#pragma unroll
            for (int k = 0; k < UPPER_ROWS; k++) {
                const int64_t at = (i + k) * threads;
                if (i + k + 1 >= n) break;
                const equation e = scaled_equation(next_rows[k], input);
                const upper_row row = STEP::reduce(e, p, q, y, growth);
                inverses = max(inverses, high_abs(row.inverse));
                u[at] = row.inverse, v[at] = row.v, w[at] = row.slot, z[at] = row.z;
            }
        }
        const sink x = sink_of(job, s, z, threads);
        const real last = 1 / p;
        real next = y * last, after = 0; /* x_{i+1}, x_{i+2} */
        real t_next = probe_row(last, 0, 0, growth, 0, 0), t_after = 0;
        inverses = max(inverses, high_abs(last)), found = high_abs(next), probed = high_abs(t_next);
        x.at[(n - 1) * x.step] = next;
        for (int64_t i = n - 2; i >= 0; i -= UPPER_ROWS) {
            real ru[UPPER_ROWS], rv[UPPER_ROWS], rw[UPPER_ROWS], rz[UPPER_ROWS];
#pragma unroll
            for (int k = 0; k < UPPER_ROWS; k++) {
                const int64_t at = (i >= k ? i - k : 0) * threads; /* past the top: row 0, unused */
                ru[k] = u[at], rv[k] = v[at], rw[k] = w[at], rz[k] = z[at];
            }
#pragma unroll
            for (int k = 0; k < UPPER_ROWS; k++) {
                if (i < k) break;
                const real entry = slot_entry(rw[k]);
                const real rest = real_fma(-entry, after, real_fma(-rv[k], next, rz[k]));
                const real xi = rest * ru[k];
                const real t = probe_row(ru[k], rv[k], entry, slot_growth(rw[k]), t_next, t_after);
                t_after = t_next, t_next = t, probed = max(probed, high_abs(t));
                after = next;
                next = x.at[(i - k) * x.step] = xi;
                found = max(found, high_abs(xi));
            }
        }
        finish_thread(job, solve, s, x, input >= HIGH_END, found >= HIGH_END,
                      is_ill(condition_of(from_high(probed)), job.cond),
                      inverses >= HIGH_END ? SHOAL_SYSTEM_SINGULAR : SHOAL_SYSTEM_OVERFLOW);
    }
}

static size_t upper_bytes(const shoal_tridiag *plan) {
    return (size_t)upper_threads(plan) * (size_t)plan->job.n * 4 * sizeof(real);
}

template <class STEP>
static shoal_status upper_run(shoal_tridiag *plan, const tridiag_job *job, const char *name) {
    int64_t threads = upper_threads(plan);
    SHOAL_LAUNCH(upper_kernel<STEP>, dim3((unsigned)((threads + UPPER_BLOCK - 1) / UPPER_BLOCK)),
                 dim3(UPPER_BLOCK), 0, plan->head.ctx->stream, *job, threads);
    return shoal_launched(plan->head.ctx, name);
}

#endif
