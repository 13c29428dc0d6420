/* SPDX-License-Identifier: Apache-2.0
 *
 * ldlt.cu - A = L D Lt and the solve, fused, on the GPU: A in, x out (ldlt.c states the equations).
 *
 * Variant "team", the default: a matrix lives in the registers of T threads (team.cuh), 32 / T
 * systems per warp. This is the paper's hybrid version, n* = T threads per system, moved from shared
 * memory to registers: a column is shown to the team through shared memory, everything else stays
 * where it is. For small n one thread has a system alone (ldlt_thread.cu).
 *
 * A goes through a stage in shared memory (stage.cuh), which the panel of columns then takes over
 * unless the residual is computed; that needs A once more. Instructions per system, n = 32, T = 8: about
 * 750, of which 240 multiply-adds; bytes: the triangle once (in sectors), b and x.
 *
 * Variants "simd", "coop" and "hybrid" are the paper's own (section 3.2): paper/ldlt.cu.
 */
#include "smallsym/look.cuh"

enum { OTHER_REGISTERS = 64 }; /* that a thread needs beside those of the matrix, in numbers */

/* JUDGED: residuals are computed if the job asks for them. Without it the kernel is leaner. */
template <int T, int M, bool JUDGED>
__global__ static void __launch_bounds__(WARPS *WARP, blocks_of(T *M *(M + 1) / 2, OTHER_REGISTERS))
    team_kernel(smallsym_job job, int width) {
    typedef stage<T, M> stage;
    SHOAL_SHARED(real, shared);
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, t = lane % T, n = (int)job.n;
    const int64_t first = warp_of_grid(warp) * stage::SYSTEMS, k = first + lane / T;
    const bool mine = k < job.count;
    if (first >= job.count) return;
    const bool judged = JUDGED && smallsym_judged(&job);
    real *stages = shared + warp * (JUDGED ? stage::WARP_KEPT : stage::WARP_OVER);
    real *staged = stages + lane / T * (JUDGED ? stage::NUMBERS : stage::EITHER);
    real *panel =
        JUDGED ? stages + stage::SYSTEMS * stage::NUMBERS + lane / T * stage::PANEL : staged;
    stage_system<T, M>(job, staged, k, t, width);
    shoal_copy_async_wait_all();
    __syncwarp();

    const real *from = (const real *)job.b;
    real a[M][T * M], z[M], inverse[M], low, high;
    team_load<T, M>(a, staged, t);
    const real of_a = stage_largest<T, M>(staged, t, n);
    const int e_a = exponent_far_from_1(of_a);
    real norm = 0, growth = 0, *own = staged + stage::B + t; /* r T: a number to keep of each row */
    UNROLLED(r, M) z[r] = mine ? own[r * T] : 0;
    int e_b = exponent_far_from_1(team_largest<T, M>(z));
    __syncwarp();
    outcome o = outcome_of(job);
    if (__any_sync(ALL_LANES, e_a != 0)) {
        const bool wide = e_a && stage_is_wide<T, M>(staged, of_a, t, n);
        if (team_any<T>(wide, lane)) o.look = 0; /* it loses something: flagged (wide.h) */
        team_scale<T, M>(a, staged, t, n, e_a);
    }
    int32_t factored = SHOAL_SYSTEM_OK;
    float residual = 0;
    diagonal_scale<T, M> s = { staged, panel + T * M, t, n, false };

    /* the condition number is looked at once, between the first answer and what is said of it */
    enum { ANSWER, GROW, AGAIN } pass = ANSWER;
    bool again = false, proved = false;
    for (int64_t c = 0; c < job.nrhs;) {
        const bool answers = !JUDGED || pass == ANSWER;
        if (c > 0) {
            real largest = 0; /* at once: all loads first would take more registers */
            UNROLLED(r, M) {
                z[r] = mine && r * T + t < n ? from[rhs_at(job, k, r * T + t, c)] : 0;
                largest = real_max(real_abs(z[r]), largest);
            }
            e_b = exponent_far_from_1(team_max<T>(largest));
        }
        if (answers) {
            if (__any_sync(ALL_LANES, e_b != 0)) {
                UNROLLED(r, M) z[r] = times_power_of_2(z[r], -e_b);
            }
            if (judged) { UNROLLED(r, M) own[r * T] = z[r]; }
        }
        if (answers && c == 0) { /* within the loop: before it, the compiler would spill A */
            ldlt_factor<T, M>(a, z, inverse, low, high, panel, t, n);
            look_at_pivots(o, low, high, n);
            factored = o.status;
        } else {
            ldlt_forward<T, M>(a, z, t, n, JUDGED && pass == GROW, [&](int r) { return s.one(r); });
        }
        ldlt_backward<T, M>(a, inverse, z, t);
        if (answers && judged) {
            real b[M];
            if (__any_sync(ALL_LANES, e_b != e_a)) {
                UNROLLED(r, M) z[r] = as_stored(z[r], e_b - e_a);
            }
            __syncwarp();
            UNROLLED(r, M) b[r] = own[r * T];
            residual = team_residual<T, M>(staged, z, b, panel, t, n, norm);
        }
        if (JUDGED && answers && judged && job.look && c == 0) {
            proved = s.proved(inverse, job.cond) || factored < 0 || !mine;
            if (__any_sync(ALL_LANES, job.where.rcond || !proved)) {
                s.look();
                norm = s.norm(norm);
                UNROLLED(r, M) own[r * T] = z[r], z[r] = 0;
                pass = GROW;
                continue;
            }
        }
        if (!answers) {
            const real size = s.size(z);
            if (pass == GROW || (again && !(size <= growth))) growth = size;
            if (pass == GROW) {
                again = !proved && smallsym_look_again(norm, growth, job.cond);
                pass = __any_sync(ALL_LANES, again) ? AGAIN : ANSWER;
            } else {
                pass = ANSWER;
            }
            if (pass == AGAIN) {
                s.turn(z, size);
                continue;
            }
            add_look(job, o, norm, growth, proved);
            UNROLLED(r, M) z[r] = own[r * T];
        }
        team_answer<T, M, JUDGED>(job, k, c, z, e_b - e_a, factored, residual, mine, lane, o);
        c++;
    }
    settle<JUDGED>(job, k, o, mine && t == 0);
}

template <bool JUDGED, int T, int M>
static shoal_status launch(team_size<T, M>, shoal_smallsym *plan, const smallsym_job *job) {
    typedef stage<T, M> stage;
    const size_t bytes = (JUDGED ? (int)stage::WARP_KEPT : (int)stage::WARP_OVER) * sizeof(real);
    const warp_grid g = warp_grid_of(plan, job, team_kernel<T, M, JUDGED>, stage::SYSTEMS, bytes);
    SHOAL_LAUNCH((team_kernel<T, M, JUDGED>), g.blocks, g.threads, g.bytes, plan->head.ctx->stream,
                 *job, stage_width(job));
    return shoal_launched(plan->head.ctx, "ldlt");
}

static shoal_status ldlt_run(shoal_smallsym *plan, int variant, const smallsym_job *job) {
    if (smallsym_careful(job)) return R(smallsym_ldlt_careful)(plan, job);
#ifdef SHOAL_PAPER_KERNELS
    if (variant != LDLT_TEAM) return R(smallsym_ldlt_paper)(plan, variant, job);
#endif
    (void)variant;
    if (job->n <= THREAD_MAX) return R(smallsym_ldlt_thread)(plan, job);
    /* as measured on an H200 (docs/smallsym.md) */
    return by_fine_size<THREAD_MAX>(job->n, [&](auto size) {
        return smallsym_judged(job) ? launch<true>(size, plan, job)
                                    : launch<false>(size, plan, job);
    });
}

extern "C" const smallsym_cuda_method R(smallsym_ldlt) = { ldlt_run, NULL };
