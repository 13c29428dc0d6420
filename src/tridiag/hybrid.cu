/* SPDX-License-Identifier: Apache-2.0
 *
 * hybrid.cu - elimination in registers, then parallel cyclic reduction: the fast batch method.
 *
 * A system is given to T threads, T a power of two, M = ceil(n / T) <= 8 rows each. Every thread
 * reduces its rows to one (hybrid_chunk.cuh); PCR solves the T reduced rows, by shuffles for T <= 32
 * and through shared memory above; every thread then has its M unknowns. Rows past n are those of an
 * identity, so any n will do.
 *
 * A block takes `each` systems and brings their rows to shared memory first, so that global memory is
 * read in the order it lies in, whatever the layout; chunks are padded to an odd length there, so
 * that threads read their rows without bank conflicts. The answer is judged while the rows are at
 * hand and leaves the same way. Bytes moved: the least possible, 5 numbers a row, for every layout.
 * About 25 operations a row and 25 log2(T) / M more for the reduced system.
 *
 * Systems of more than 4096 rows are reduced by many blocks, hybrid_long.cuh.
 */
#include "tridiag/batch.cuh"
#include "tridiag/hybrid_chunk.cuh"
#include "tridiag/pcr_step.cuh"

enum { CHUNK = 8, BLOCK = 128, LONGEST = 4096, MOST_THREADS = 4096 / sizeof(real) };

typedef struct shape {   /* how a block shares out its work                               */
    int threads, each;   /* T threads a system, `each` systems a block; powers of two     */
    int pitch;           /* numbers from one system to the next in shared memory          */
    bool along;          /* systems follow each other in memory: rows are read in a line  */
    unsigned magic;      /* ceil(2^32 / n): idx / n is the high word of idx * magic       */
} shape;

/* Where row i of a system lies in shared memory: chunks of M rows, padded to an odd length. */
template <int M> __host__ __device__ constexpr int padded() { return M | 1; }
template <int M> __device__ static inline int slot_of(const shape &f, int system, int i) {
    return system * f.pitch + i / M * padded<M>() + i % M;
}

/* Row number k of the M rows that this thread moves between global and shared memory, neighbours in
 * memory by neighbouring threads. False where there is none. */
template <int M>
__device__ static inline bool moved_row(const shape &f, int n, int systems, int k, int *system, int *i) {
    const int me = threadIdx.x, idx = me + k * blockDim.x;
    if (f.along) {
        *system = (int)__umulhi((unsigned)idx, f.magic);
        *i = idx - *system * n;
        return idx < systems * n;
    }
    *system = me & (f.each - 1);
    *i = me / f.each + k * f.threads;
    return *i < n && *system < systems;
}

/* The tile of a block in shared memory. */
typedef struct tile {
    real *a, *b, *c, *d; /* the rows; x takes the place of d             */
    real *exchange;      /* T > 32: two buffers of 3 numbers a thread    */
    int *fate;           /* what becomes of each system's x              */
} tile;

template <int M>
__device__ static inline void load_tile(const tridiag_job &job, const shape &f, const tile &s, int64_t first,
                                        int systems) {
    const int n = (int)job.n, across = threadIdx.x & (f.each - 1);
    const view w = view_of(job, f.along ? first : first + (across < systems ? across : 0));
#pragma unroll
    for (int k = 0; k < M; k++) {
        int system, i;
        if (!moved_row<M>(f, n, systems, k, &system, &i)) continue;
        const int slot = slot_of<M>(f, system, i);
        const int64_t at = f.along ? (int64_t)system * n + i : i * w.row;
        shoal_copy_async(&s.a[slot], &w.a[at]);
        shoal_copy_async(&s.b[slot], &w.b[at]);
        shoal_copy_async(&s.c[slot], &w.c[at]);
        shoal_copy_async(&s.d[slot], &w.d[f.along ? at : i * w.rhs_row]);
    }
    shoal_copies_done();
}

template <int M>
__device__ static inline void store_tile(const tridiag_job &job, const shape &f, const tile &s, int64_t first,
                                         int systems) {
    const int n = (int)job.n, across = threadIdx.x & (f.each - 1);
    const view w = view_of(job, f.along ? first : first + (across < systems ? across : 0));
#pragma unroll
    for (int k = 0; k < M; k++) {
        int system, i;
        if (!moved_row<M>(f, n, systems, k, &system, &i)) continue;
        const int fate = s.fate[system];
        const int64_t at = f.along ? (int64_t)system * n + i : i * w.rhs_row;
        if (fate != X_KEPT) w.x[at] = fate == X_WRITTEN ? s.d[slot_of<M>(f, system, i)] : real_nan();
    }
}

/* The T threads of one system. Numbers pass between neighbours by shuffle, or, WIDE (T > 32), through
 * one of two buffers in turn, with one barrier each time. */
namespace { /* the f32 and f64 objects each have their own */
template <bool WIDE> struct team {
    int threads, me;
    real *exchange;
    int turn;

    __device__ real *buffer() { return exchange + (turn++ & 1) * 3 * blockDim.x + threadIdx.x; }

    /* v of the neighbour `step` threads up (step = +1) or down (-1); its own value at the ends. */
    __device__ real neighbour(real v, int step) {
        if constexpr (WIDE) {
            real *s = buffer();
            *s = v;
            __syncthreads();
            return s[me + step >= 0 && me + step < threads ? step : 0];
        } else {
            return step > 0 ? __shfl_down_sync(0xffffffffu, v, 1, threads)
                            : __shfl_up_sync(0xffffffffu, v, 1, threads);
        }
    }

    /* PCR: the thread's own unknown of the reduced system. */
    __device__ real solve(const equation &e) {
        const real inverse = 1 / e.b;
        real a[1] = { e.a * inverse }, c[1] = { e.c * inverse }, d[1] = { e.d * inverse };
        for (int h = 1; h < threads; h *= 2) {
            if constexpr (WIDE) {
                const int all = blockDim.x;
                real *s = buffer();
                s[0] = a[0], s[all] = c[0], s[2 * all] = d[0];
                __syncthreads();
                const real *below = s - (me >= h ? h : 0), *above = s + (me + h < threads ? h : 0);
                const pcr_row r = pcr_combine(a[0], c[0], d[0], below[0], below[all], below[2 * all], above[0],
                                              above[all], above[2 * all]);
                a[0] = r.a, c[0] = r.c, d[0] = r.d;
            } else {
                warp_step(a, c, d, h, threads);
            }
        }
        return d[0];
    }

    /* Norms and poisons over the whole team; every thread gets them. */
    __device__ void gather(norms *m, real *input_poison, real *x_poison, bool with_norms) {
        const int width = WIDE ? 32 : threads;
        if (with_norms) norms_over_lanes(m, width);
        for (int bit = width / 2; bit > 0; bit /= 2) {
            *input_poison += __shfl_xor_sync(0xffffffffu, *input_poison, bit);
            *x_poison += __shfl_xor_sync(0xffffffffu, *x_poison, bit);
        }
        if constexpr (WIDE) {
            real *parts = exchange + (turn++ & 1) * 3 * blockDim.x + threadIdx.x / 32 * 7;
            if (threadIdx.x % 32 == 0) {
                parts[0] = m->r, parts[1] = m->a, parts[2] = m->x, parts[3] = m->d, parts[4] = m->poison;
                parts[5] = *input_poison, parts[6] = *x_poison;
            }
            __syncthreads();
            parts -= me / 32 * 7;
            for (int k = 0; k < threads / 32; k++, parts += 7) {
                m->r = real_max(m->r, parts[0]), m->a = real_max(m->a, parts[1]);
                m->x = real_max(m->x, parts[2]), m->d = real_max(m->d, parts[3]);
                m->poison += parts[4], *input_poison += parts[5], *x_poison += parts[6];
            }
        }
    }
};
} // namespace

template <int M, bool WIDE>
__global__ static void __launch_bounds__(MOST_THREADS) hybrid_kernel(tridiag_job job, shape f) {
    SHOAL_SHARED(real, shared);
    const int n = (int)job.n, rows = f.each * f.pitch, mine = threadIdx.x / f.threads;
    tile s = { shared, shared + rows, shared + 2 * rows, shared + 3 * rows, shared + 4 * rows, NULL };
    s.fate = (int *)(s.exchange + (WIDE ? 6 * blockDim.x : 0));
    const int64_t step = (int64_t)gridDim.x * f.each;
    for (int64_t first = (int64_t)blockIdx.x * f.each; first < solves(job); first += step) {
        const int systems = solves(job) - first < f.each ? (int)(solves(job) - first) : f.each;
        team<WIDE> us = { f.threads, (int)threadIdx.x & (f.threads - 1), s.exchange, 0 };
        const int begin = us.me * M, base = mine * f.pitch + us.me * padded<M>();
        auto row = [&](int r) {
            equation e = { 0, 1, 0, 0 };
            if (begin + r < n && mine < systems) {
                e.a = begin + r > 0 ? s.a[base + r] : 0;
                e.b = s.b[base + r];
                e.c = begin + r + 1 < n ? s.c[base + r] : 0;
                e.d = s.d[base + r];
            }
            return e;
        };
        load_tile<M>(job, f, s, first, systems);
        __syncthreads();

        real input_poison = 0, x_poison = 0;
        chunk<M> k;
        eliminate<M>(k, [&](int r) {
            const equation e = row(r);
            input_poison += poison_of(e);
            return e;
        });
        real p = 0, q = 0, t = 1; /* first row of the next chunk; M = 1: its unknown itself */
        if (M > 1) p = us.neighbour(k.p[0], 1), q = us.neighbour(k.q[0], 1), t = us.neighbour(k.s[0], 1);
        const real y = us.solve(reduced_row(k, p, q, t)), z = us.neighbour(y, -1);
        real x[M];
#pragma unroll
        for (int r = 0; r < M; r++) {
            x[r] = unknown(k, r, z, y);
            x_poison += x[r] - x[r];
        }

        norms m = { 0, 0, 0, 0, 0 };
        if (job.residual) {
            const real after = us.neighbour(x[0], 1);
#pragma unroll
            for (int r = 0; r < M; r++) {
                const equation e = row(r);
                norms_row(&m, e.a, e.b, e.c, e.d, r > 0 ? x[r > 0 ? r - 1 : 0] : z, x[r],
                          r + 1 < M ? x[r + 1 < M ? r + 1 : 0] : after);
            }
        }
        us.gather(&m, &input_poison, &x_poison, job.residual != NULL);
        if (us.me == 0 && mine < systems) {
            const float residual = job.residual ? norms_residual(&m) : 0;
            const int32_t status = decide(job, input_poison != 0, x_poison != 0, residual, SHOAL_SYSTEM_PIVOT);
            s.fate[mine] = settle(job, first + mine, status, residual);
        }
#pragma unroll
        for (int r = 0; r < M; r++)
            if (begin + r < n && mine < systems) s.d[base + r] = x[r];
        __syncthreads();
        store_tile<M>(job, f, s, first, systems);
        __syncthreads();
    }
}

/* ---- launching ------------------------------------------------------------------------------- */

typedef void (*kernel)(tridiag_job, shape);

template <bool WIDE> static kernel kernel_for(int m) {
    static const kernel all[] = { hybrid_kernel<1, WIDE>, hybrid_kernel<2, WIDE>, hybrid_kernel<3, WIDE>,
                                  hybrid_kernel<4, WIDE>, hybrid_kernel<5, WIDE>, hybrid_kernel<6, WIDE>,
                                  hybrid_kernel<7, WIDE>, hybrid_kernel<8, WIDE> };
    return all[m - 1];
}

/* Whole sectors of 32 bytes, better two, where neighbouring systems lie side by side. */
static int systems_per_block(int threads, bool along) {
    int each = BLOCK / threads > 1 ? BLOCK / threads : 1;
    if (!along)
        while (each * (int)sizeof(real) < 64 && each * threads * 2 <= MOST_THREADS) each *= 2;
    return each;
}

static shoal_status launch(shoal_context *ctx, const tridiag_job *job) {
    const int n = (int)job->n;
    shape f;
    f.threads = 1;
    while (f.threads * CHUNK < n) f.threads *= 2;
    const int m = (n + f.threads - 1) / f.threads, bank_row = 128 / (int)sizeof(real);
    f.along = job->row == 1 && job->nrhs == 1;
    f.each = systems_per_block(f.threads, f.along);
    f.pitch = f.threads * (m | 1);
    if (!f.along) /* systems start in different banks */
        f.pitch = (f.pitch + bank_row - 1) / bank_row * bank_row + (f.each < bank_row ? bank_row / f.each : 1);
    f.magic = (unsigned)(((1ull << 32) + (unsigned)n - 1) / (unsigned)n);
    const bool wide = f.threads > 32;
    const int threads = f.threads * f.each;
    const size_t shared = (4 * (size_t)f.each * f.pitch + (wide ? 6 * (size_t)threads : 0)) * sizeof(real) +
                          (size_t)f.each * sizeof(int);
    const int64_t blocks = (job->count * job->nrhs + f.each - 1) / f.each;
    const kernel run = wide ? kernel_for<true>(m) : kernel_for<false>(m);
    shoal_allow_shared(run, shared);
    SHOAL_LAUNCH(run, dim3((unsigned)(blocks < 1 << 30 ? blocks : 1 << 30)), dim3(threads), shared, ctx->stream,
                 *job, f);
    return shoal_launched(ctx, "hybrid");
}

#include "tridiag/hybrid_long.cuh"

static size_t hybrid_bytes(const shoal_tridiag *plan) {
    return plan->job.n <= LONGEST ? 0 : long_bytes(plan);
}

static shoal_status hybrid_run(shoal_tridiag *plan, const tridiag_job *job) {
    return job->n <= LONGEST ? launch(plan->ctx, job) : long_run(plan, job);
}

extern "C" const tridiag_cell R(tridiag_hybrid) = { 0, NULL, hybrid_bytes, hybrid_run, NULL };
