/* SPDX-License-Identifier: Apache-2.0
 *
 * factor.cu - factors that are kept, on the GPU: the LU factorisation with partial pivoting of lupp.cu, with
 * its multipliers and exchanges, and solves from it (factor.c lists what is kept).
 *
 * One thread per system factors, one thread per right-hand side solves, by the operations of lupp.cu in the
 * same order, and so with its bits. Factors are interleaved whatever the layout of the plan, element i of
 * system k at [i * count + k]: coalesced. 10.2 numbers per row moved to factor, 3 of them for the condition, 8.2 to
 * solve; the caller's
 * arrays are read coalesced in the interleaved layout.
 */
#include "tridiag/condition.h"
#include "tridiag/device.cuh"

enum { BLOCK = 128, MAX_THREADS = 1 << 18, AT_ONCE = 16 / sizeof(real) };

typedef struct lu { /* of all systems */
    real *m, *inverse, *v, *slot;
    uint16_t *step; /* as in factor.c */
    int32_t *status;
} lu;

static size_t lay_out(const tridiag_job *job, char *memory, lu *f) {
    const size_t head = tridiag_aligned((size_t)job->count * sizeof(int32_t));
    const size_t numbers = (size_t)job->n * (size_t)job->count;
    const size_t array = tridiag_aligned(numbers * sizeof(real));
    f->status = (int32_t *)memory;
    f->m = (real *)(memory + head);
    f->inverse = (real *)(memory + head + array);
    f->v = (real *)(memory + head + 2 * array);
    f->slot = (real *)(memory + head + 3 * array);
    f->step = (uint16_t *)(memory + head + 4 * array);
    return head + 4 * array + tridiag_aligned(numbers * sizeof(uint16_t));
}

static size_t factor_bytes(const shoal_tridiag *plan) {
    lu f;
    return lay_out(&plan->job, NULL, &f);
}

__device__ static inline uint16_t step_of(real scale, bool swap) {
    return (uint16_t)(real_to_bits(scale * (2 / ROW_UNIT)) >> REAL_FRACTION << 1 | (swap ? 1 : 0));
}
__device__ static inline real scale_of(uint16_t step) {
    return real_of_bits((real_bits)(step >> 1) << REAL_FRACTION) * (ROW_UNIT / 2);
}

/* The condition from the factors of system k. */
__device__ static inline real condition_from(const lu &f, int64_t n, int64_t step, int64_t k) {
    real next = 0, after = 0, most = 0;
    for (int64_t i = n - 1; i >= 0; i--) {
        const int64_t at = i * step + k;
        const real slot = f.slot[at];
        const real t =
            probe_row(f.inverse[at], f.v[at], slot_entry(slot), slot_growth(slot), next, after);
        after = next, next = t, most = real_max(real_abs(t), most);
    }
    return condition_of(most);
}

/* b of the job is its d, and nrhs 1: there is no right-hand side to read. */
__global__ static void factor_kernel(tridiag_job job, lu f) {
    const int64_t step = job.count;
    SHOAL_GRID_STRIDE(k, job.count) {
        const view s = view_of(job, k);
        const int64_t n = s.n;
        f.status[k] = SHOAL_SYSTEM_OK;
        if (is_empty(job, s, k)) continue;
        const equation top = equation_at(s, n, 0);
        real scale = row_scale(row_power(top.dl, top.d, top.du)); /* of the row in hand */
        real poison = poison_of(top), p = top.d * scale, q = top.du * scale; /* (p, q, 0) */
        real u_poison = 0, growth = PROBE;
        bool singular = false;
        for (int64_t i = 0; i + 1 < n; i += AT_ONCE) {
            equation next_rows[AT_ONCE];
            equations_at(next_rows, s, n, i + 1);
#pragma unroll
            for (int e = 0; e < AT_ONCE; e++) {
                const equation given = next_rows[e];
                const int64_t at = (i + e) * step + k;
                if (i + e + 1 >= n) break;
                poison += poison_of(given);
                const real above = scale;
                scale = row_scale(row_power(given.dl, given.d, given.du));
                const equation r = { given.dl * scale, given.d * scale, given.du * scale, 0 };
                const bool swap = real_abs(r.dl) > real_abs(p);
                const real inverse = 1 / (swap ? r.dl : p), m = (swap ? p : r.dl) * inverse;
                const real v1 = swap ? r.d : q, v2 = swap ? q : r.d;
                singular |= real_abs(inverse) > REAL_MAX;
                u_poison = poisoned(u_poison, inverse);
                f.m[at] = m, f.inverse[at] = inverse, f.v[at] = v1; /* row i of U */
                f.slot[at] = swap ? r.du : growth, f.step[at] = step_of(above, swap);
                p = real_fma(-m, v1, v2); /* other row - m * pivot row */
                q = swap ? -m * r.du : r.du;
                growth = real_fma(real_abs(m), swap ? PROBE : growth, swap ? growth : PROBE);
            }
        }
        const int64_t last = (n - 1) * step + k;
        f.inverse[last] = 1 / p, f.v[last] = 0, f.slot[last] = growth;
        f.step[last] = step_of(scale, false);
        u_poison = poisoned(u_poison, f.inverse[last]);
        singular |= real_abs(f.inverse[last]) > REAL_MAX;
        const int32_t status = poison != 0     ? SHOAL_SYSTEM_NONFINITE
                               : singular      ? SHOAL_SYSTEM_SINGULAR
                               : u_poison != 0 ? SHOAL_SYSTEM_OVERFLOW
                               : is_ill(condition_from(f, n, step, k), job.cond) ? SHOAL_SYSTEM_ILL
                                                                                 : SHOAL_SYSTEM_OK;
        f.status[k] = status;
        note_outcome(job, k, status, 0);
    }
}

/* z = L^-1 b goes through the workspace, so that a b that x is stays where the solve fails. */
__global__ static void resolve_kernel(tridiag_job job, lu f, real *scratch, int64_t threads) {
    const int64_t me = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t step = job.count;
    if (me >= threads) return;
    for (int64_t solve = me; solve < solves(job); solve += threads) {
        const int64_t k = solve / job.nrhs;
        const view s = view_of(job, solve);
        const int64_t n = s.n;
        if (is_empty(job, s, solve)) continue;
        const int32_t kept = f.status[k];
        const sink x = sink_of(job, s, scratch + me, threads);
        real y = s.b[0], poison = poisoned(0, y), x_poison = 0;
        y *= scale_of(f.step[k]);
        for (int64_t i = 0; i + 1 < n; i += AT_ONCE) {
            real b[AT_ONCE], m[AT_ONCE], scale[AT_ONCE];
            bool swap[AT_ONCE];
#pragma unroll
            for (int e = 0; e < AT_ONCE; e++) {
                const int64_t row = i + e + 1 < n ? i + e : n - 2; /* past the end: unused */
                b[e] = s.b[(row + 1) * s.rhs_row];
                m[e] = f.m[row * step + k], swap[e] = (f.step[row * step + k] & 1) != 0;
                scale[e] = scale_of(f.step[(row + 1) * step + k]);
            }
#pragma unroll
            for (int e = 0; e < AT_ONCE; e++) {
                if (i + e + 1 >= n) break;
                poison = poisoned(poison, b[e]);
                b[e] *= scale[e];
                const real z = swap[e] ? b[e] : y;
                x.at[(i + e) * x.step] = z;
                y = real_fma(-m[e], z, swap[e] ? y : b[e]);
            }
        }
        real next = y * f.inverse[(n - 1) * step + k], after = 0; /* x_{i+1}, x_{i+2} */
        x.at[(n - 1) * x.step] = next;
        x_poison = poisoned(x_poison, next);
        for (int64_t i = n - 2; i >= 0; i -= AT_ONCE) {
            real inverse[AT_ONCE], v[AT_ONCE], w[AT_ONCE], z[AT_ONCE];
#pragma unroll
            for (int e = 0; e < AT_ONCE; e++) {
                const int64_t row = i >= e ? i - e : 0,
                              at = row * step + k; /* past the top: row 0 */
                inverse[e] = f.inverse[at], v[e] = f.v[at], w[e] = slot_entry(f.slot[at]);
                z[e] = x.at[row * x.step];
            }
#pragma unroll
            for (int e = 0; e < AT_ONCE; e++) {
                if (i < e) break;
                const real rest = real_fma(-w[e], after, real_fma(-v[e], next, z[e]));
                const real xi = rest * inverse[e];
                after = next;
                next = x.at[(i - e) * x.step] = xi;
                x_poison = poisoned(x_poison, xi);
            }
        }
        finish_thread(job, solve, s, x, kept == SHOAL_SYSTEM_NONFINITE || poison != 0,
                      kept < 0 || x_poison != 0, kept == SHOAL_SYSTEM_ILL,
                      kept < 0 ? kept : SHOAL_SYSTEM_OVERFLOW);
    }
}

/* Neither is computed here: NaN. */
static void set_unknown(const tridiag_job *job, cudaStream_t stream) {
    const size_t bytes = (size_t)job->count * sizeof(float);
    if (job->residual) cudaMemsetAsync(job->residual, 0xff, bytes, stream);
    if (job->rcond) cudaMemsetAsync(job->rcond, 0xff, bytes, stream);
}

static shoal_status factor(shoal_tridiag *plan, const tridiag_job *given) {
    tridiag_job job = *given;
    lu f;
    lay_out(&job, (char *)job.factors, &f);
    job.rcond = NULL; /* not estimated: A^T is not made for it */
    R(tridiag_transpose)(plan, &job);
    job.rcond = given->rcond;
    job.nrhs = 1;
    job.b = job.d, job.x = f.m; /* x is not b, and is not written */
    shoal_status status = R(tridiag_begin)(plan, &job);
    if (status != SHOAL_OK) return status;
    set_unknown(&job, (cudaStream_t)plan->head.ctx->stream);
    job.residual = NULL;
    if (job.n > 0)
        SHOAL_LAUNCH(factor_kernel, dim3(shoal_blocks(job.count, BLOCK)), dim3(BLOCK), 0,
                     plan->head.ctx->stream, job, f);
    return shoal_launched(plan->head.ctx, "factor");
}

static shoal_status resolve(shoal_tridiag *plan, const tridiag_job *given) {
    tridiag_job job = *given;
    lu f;
    lay_out(&job, (char *)job.factors, &f);
    shoal_status status = R(tridiag_begin)(plan, &job);
    if (status != SHOAL_OK) return status;
    set_unknown(&job, (cudaStream_t)plan->head.ctx->stream);
    job.residual = NULL;
    if (job.n == 0) return shoal_launched(plan->head.ctx, "resolve");
    const int64_t solves = job.count * job.nrhs; /* the plan's workspace is that of lupp */
    int64_t threads =
        (int64_t)((plan->driver->bytes(plan) - TRIDIAG_ALIGNMENT) / sizeof(real)) / job.n;
    if (threads > MAX_THREADS) threads = MAX_THREADS;
    if (threads > solves) threads = solves;
    SHOAL_LAUNCH(resolve_kernel, dim3((unsigned)((threads + BLOCK - 1) / BLOCK)), dim3(BLOCK), 0,
                 plan->head.ctx->stream, job, f, (real *)((char *)job.work + TRIDIAG_ALIGNMENT),
                 threads);
    return shoal_launched(plan->head.ctx, "resolve");
}

extern "C" const tridiag_keeper R(tridiag_factor) = { factor_bytes, factor, resolve };
