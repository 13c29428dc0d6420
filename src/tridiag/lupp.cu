/* SPDX-License-Identifier: Apache-2.0
 *
 * lupp.cu - LU factorisation with partial pivoting on the GPU: the safe batch method.
 *
 * The algorithm of lupp.c, one thread a solve. The rows of U and the right-hand side, 4 numbers a
 * row, lie in the plan's workspace interleaved by thread, so that a warp reads and writes them
 * coalesced; a grid of fixed size works the solves (or the list of those to be redone) off.
 * About 13 numbers a row moved. The caller's arrays are read coalesced in the interleaved layout.
 */
#include "tridiag/device.cuh"

enum { BLOCK = 128, MOST_THREADS = 1 << 16, LEAST_THREADS = 1 << 10 };
enum { SCRATCH_ROWS_LISTED = 1 << 20, SCRATCH_ROWS_ALL = 1 << 25 }; /* bounds of threads * n */

/* Threads in flight: all of the solves, or as many as the scratch rows allow. */
static int64_t threads_of(const shoal_tridiag *plan) {
    const tridiag_job &job = plan->job;
    int64_t rows = plan->rescue.cell ? SCRATCH_ROWS_LISTED : SCRATCH_ROWS_ALL;
    int64_t wanted = job.count * job.nrhs, most = rows / (job.n > 0 ? job.n : 1);
    if (most < LEAST_THREADS) most = LEAST_THREADS;
    if (most > MOST_THREADS) most = MOST_THREADS;
    if (wanted > most) wanted = most;
    return (wanted + BLOCK - 1) / BLOCK * BLOCK;
}

__global__ static void lupp_kernel(tridiag_job job, int64_t threads) {
    const int64_t me = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, n = job.n;
    const int64_t todo = job.todo ? (int64_t)*job.redone : solves(job);
    real *u = (real *)job.work + me, *v = u + n * threads, *w = v + n * threads, *z = w + n * threads;
    for (int64_t turn = me; turn < todo; turn += threads) {
        const int64_t solve = job.todo ? job.todo[turn] : turn;
        const view s = view_of(job, solve);
        equation e = equation_at(s, n, 0);
        real poison = poison_of(e), p = e.b, q = e.c, y = e.d; /* the row in hand: (p, q, 0 | y) */
        for (int64_t i = 0; i + 1 < n; i++) {
            e = equation_at(s, n, i + 1);
            poison += poison_of(e);
            const bool swap = real_abs(e.a) > real_abs(p);
            const real pivot = swap ? e.a : p, m = (swap ? p : e.a) / pivot;
            const real v1 = swap ? e.b : q, w1 = swap ? e.c : 0, z1 = swap ? e.d : y;
            const real v2 = swap ? q : e.b, w2 = swap ? 0 : e.c, z2 = swap ? y : e.d;
            u[i * threads] = pivot, v[i * threads] = v1; /* row i of U                */
            w[i * threads] = w1, z[i * threads] = z1;
            p = real_fma(-m, v1, v2); /* other row - m * pivot row */
            q = real_fma(-m, w1, w2);
            y = real_fma(-m, z1, z2);
        }
        const sink x = sink_of(job, s, z, threads);
        real next = y / p, after = 0, x_poison = poisoned(0, next); /* x_{i+1}, x_{i+2} */
        x.at[(n - 1) * x.step] = next;
        for (int64_t i = n - 2; i >= 0; i--) {
            real xi = real_fma(-v[i * threads], next, z[i * threads]);
            xi = real_fma(-w[i * threads], after, xi) / u[i * threads];
            after = next;
            next = x.at[i * x.step] = xi;
            x_poison = poisoned(x_poison, xi);
        }
        finish_alone(job, solve, s, x, poison, x_poison, SHOAL_SYSTEM_SINGULAR);
    }
}

static size_t lupp_bytes(const shoal_tridiag *plan) {
    return (size_t)threads_of(plan) * (size_t)plan->job.n * 4 * sizeof(real);
}

static shoal_status lupp_run(shoal_tridiag *plan, const tridiag_job *job) {
    int64_t threads = threads_of(plan);
    SHOAL_LAUNCH(lupp_kernel, dim3((unsigned)(threads / BLOCK)), dim3(BLOCK), 0, plan->ctx->stream, *job,
                 threads);
    return shoal_launched(plan->ctx, "lupp");
}

extern "C" const tridiag_cell R(tridiag_lupp) = { 0, NULL, lupp_bytes, lupp_run, NULL };
