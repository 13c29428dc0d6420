/* SPDX-License-Identifier: Apache-2.0
 *
 * batch.cu - what every CUDA method has in common: the workspace and the totals, which the kernels
 * add up. Only reading the totals, in shoal_smallsym_last() or with opts.waits, waits, and nothing allocates: a call can
 * be captured in a CUDA graph.
 *
 * There are three totals. Calls take the first two in turn: the last kernel of "auto" clears those of the next call, which
 * need not begin with a clearing of its own then. A call that is captured, and may run at any time, has the third.
 */
#include "smallsym/device.cuh"

enum { TOTALS = 256, SLOT = 64 }; /* room for the totals at the head of the workspace, and of one */
enum { CAPTURED = 2, TOTAL_WORDS = sizeof(smallsym_totals) / sizeof(unsigned) };
static_assert(sizeof(smallsym_totals) <= SLOT && (CAPTURED + 1) * SLOT <= TOTALS,
              "room for totals");

static smallsym_totals *totals_in(const shoal_smallsym *plan, int slot) {
    return (smallsym_totals *)((char *)plan->work + slot * SLOT);
}

/* The lists behind the totals: two of "auto", and the one for wide.cu. */
static int list_count(const shoal_smallsym *plan) {
    const bool careful = plan->job_count > 0 && smallsym_careful(&plan->jobs[0]);
    return plan->rescue.cell ? 3 : careful ? 1 : 0;
}

/* Bytes of a list of systems to do again, one after the other, to a multiple of TOTALS. */
static size_t list_bytes(const shoal_smallsym *plan) {
    size_t most = 0;
    for (int64_t g = 0; g < plan->job_count; g++) {
        const size_t bytes = (size_t)plan->jobs[g].count * sizeof(smallsym_redo);
        if (bytes > most) most = bytes;
    }
    return (most + TOTALS - 1) / TOTALS * TOTALS;
}

static smallsym_redo *list_at(const shoal_smallsym *plan, int place) {
    return (smallsym_redo *)((char *)plan->work + TOTALS + place * list_bytes(plan));
}

static size_t batch_bytes(const shoal_smallsym *plan) {
    return TOTALS + list_count(plan) * list_bytes(plan);
}

static shoal_status clear(shoal_smallsym *plan, const char *what, void *at, size_t bytes) {
    shoal_context *ctx = plan->head.ctx;
    const cudaError_t error = cudaMemsetAsync(at, 0, bytes, (cudaStream_t)ctx->stream);
    if (error == cudaSuccess) return SHOAL_OK;
    return shoal_fail(ctx, SHOAL_E_CUDA, "clearing %s: %s", what, cudaGetErrorString(error));
}

/* The lengths of all lists. */
static shoal_status clear_lists(shoal_smallsym *plan, smallsym_totals *totals) {
    return clear(plan, "the lists", totals->listed,
                 sizeof totals->listed + sizeof totals->listed_wide);
}

static shoal_status batch_begin(shoal_smallsym *plan) {
    const bool is_captured = plan->head.ctx->ops->captures(plan->head.ctx);
    const bool is_clear = !is_captured && plan->next_is_clear;
    if (!is_captured) plan->turn = !plan->turn, plan->next_is_clear = 0;
    plan->totals = totals_in(plan, is_captured ? CAPTURED : plan->turn);
    plan->is_captured = is_captured;
    plan->lists_are_clear = 1, plan->is_told = 0;
    return is_clear ? SHOAL_OK : clear(plan, "the totals", plan->totals, sizeof *plan->totals);
}

/* The totals to pinned memory; those of the next call are cleared. In one kernel, because copies and memsets wait for other
 * engines of the GPU. */
__global__ static void tell_kernel(const unsigned *totals, unsigned *told, unsigned *next) {
    shoal_grid_dependency_wait();
    if (threadIdx.x >= TOTAL_WORDS) return;
    next[threadIdx.x] = 0;
    __threadfence_system(); /* x is there before the totals, and the next call finds zeros */
    told[threadIdx.x] = totals[threadIdx.x];
}

/* Systems without unknowns. */
__global__ static void empty_kernel(smallsym_job job, float residual) {
    for (int64_t k0 = (int64_t)blockIdx.x * blockDim.x; k0 < job.count;
         k0 += (int64_t)gridDim.x * blockDim.x) {
        const int64_t k = k0 + threadIdx.x;
        outcome o = outcome_of(job);
        o.residual = residual;
        settle(job, k, o, k < job.count);
    }
}

static shoal_status run_empty(shoal_smallsym *plan, const smallsym_job *job, float residual) {
    SHOAL_LAUNCH(empty_kernel, dim3(shoal_blocks(job->count, 256)), dim3(256), 0,
                 plan->head.ctx->stream, *job, residual);
    return shoal_launched(plan->head.ctx, "empty");
}

/* Each method of "auto" redoes what the one before it listed; the lists' lengths stay on the device, unless the call
 * waits. */
typedef struct stages {
    smallsym_job job; /* its totals: job.work */
    void *next;       /* the totals of the next call, which are cleared; NULL: none */
    int clears;       /* the lists are not empty yet */
} stages;

static shoal_status queue_stage(shoal_smallsym *plan, const stages *s, int stage) {
    const shoal_choice *by[] = { &plan->first, &plan->middle, &plan->rescue };
    smallsym_job part = s->job;
    part.stage = stage, part.first_row = by[stage]->row;
    part.tasks = stage > 0 ? list_at(plan, stage - 1) : NULL;
    part.list = stage < 2 ? list_at(plan, smallsym_next_stage(&part) - 1) : NULL;
    part.wide = list_at(plan, 2);
    if (stage > 0) part.refine = 0;
    if (stage == 2) part.rescue_row = -1, part.next = s->next;
    return ((const smallsym_cuda_method *)by[stage]->cell)->run(plan, by[stage]->variant, &part);
}

static shoal_status queue_later(shoal_smallsym *plan, const stages *s) {
    const shoal_status status = s->job.by_residue ? SHOAL_OK : queue_stage(plan, s, 1);
    return status == SHOAL_OK ? queue_stage(plan, s, 2) : status;
}

/* All stages, or the first one and the totals. */
static shoal_status queue_stages(void *of, const void *with) {
    shoal_smallsym *plan = (shoal_smallsym *)of;
    const stages *s = (const stages *)with;
    smallsym_totals *totals = (smallsym_totals *)s->job.work;
    shoal_status status = s->clears ? clear_lists(plan, totals) : SHOAL_OK;
    if (status == SHOAL_OK) status = queue_stage(plan, s, 0);
    if (status != SHOAL_OK) return status;
    if (!plan->waits) return queue_later(plan, s);
    SHOAL_LAUNCH_EARLY(tell_kernel, dim3(1), dim3(WARP), 0, plan->head.ctx->stream,
                       (const unsigned *)totals, (unsigned *)plan->told, (unsigned *)s->next);
    return shoal_launched(plan->head.ctx, "totals");
}

static shoal_status run_stages(shoal_smallsym *plan, const smallsym_job *job) {
    stages s;
    memset(&s, 0, sizeof s); /* its bytes are compared */
    s.job = *job, s.clears = !plan->lists_are_clear;
    s.next = plan->is_captured ? NULL : totals_in(plan, !plan->turn);
    plan->lists_are_clear = plan->is_told = 0;
    if (plan->waits) shoal_expect((unsigned *)plan->told, TOTAL_WORDS);
    shoal_status status = plan->replays && !plan->is_captured
                              ? shoal_plan_repeat(&plan->head, queue_stages, &s, sizeof s)
                              : queue_stages(plan, &s);
    if (status == SHOAL_OK && plan->waits) {
        status = shoal_wait_for(plan->head.ctx, (const unsigned *)plan->told, TOTAL_WORDS);
        plan->is_told = status == SHOAL_OK && plan->told->listed[s.job.by_residue] == 0;
        if (status == SHOAL_OK && !plan->is_told) status = queue_later(plan, &s);
    }
    if (status == SHOAL_OK && !plan->is_captured) plan->next_is_clear = 1;
    return status;
}

/* Gives a job that may reach careful.cu the list for wide.cu. */
static shoal_status list_wide_ones(shoal_smallsym *plan, smallsym_job *job) {
    if (!smallsym_careful(job)) return SHOAL_OK;
    const bool is_clear = plan->lists_are_clear;
    plan->lists_are_clear = 0;
    job->wide = list_at(plan, list_count(plan) - 1);
    return is_clear ? SHOAL_OK : clear_lists(plan, (smallsym_totals *)job->work);
}

static shoal_status solve(shoal_smallsym *plan, const smallsym_job *job) {
    const smallsym_cuda_method *first = (const smallsym_cuda_method *)plan->first.cell;
    if (plan->rescue.cell) return run_stages(plan, job);
    smallsym_job own = *job;
    const shoal_status status = list_wide_ones(plan, &own);
    return status == SHOAL_OK ? first->run(plan, plan->first.variant, &own) : status;
}

/* ---- systems formed from samples --------------------------------------------------------------- */

/* A and b are formed for CHUNK bytes of systems at a time, and solved in the same stream: they are
 * still in the cache, an H200's has 60 MB. Memory sees psi once and little else. */
static const size_t CHUNK = (size_t)32 << 20;

static int64_t chunk_of(const smallsym_job *job) {
    const size_t one = (size_t)(job->n * (job->n + 1) / 2 + job->n * job->nrhs) * sizeof(real);
    const int64_t most = one < CHUNK ? (int64_t)(CHUNK / one) : 1;
    return job->count < most ? job->count : most;
}

static bool interleaved(const smallsym_job *job) { return job->b_row != 1; }

static size_t triangles(const smallsym_job *job) { /* bytes, to a multiple of 256 */
    const size_t bytes = (size_t)(chunk_of(job) * job->n * (job->n + 1) / 2) * sizeof(real);
    return (bytes + 255) / 256 * 256;
}

/* b of a chunk, or, since b has the strides of x, of all systems that are interleaved. */
static size_t form_bytes(const shoal_smallsym *plan) {
    size_t most = 0;
    for (int64_t g = 0; g < plan->job_count; g++) {
        const smallsym_job *job = &plan->jobs[g];
        if (job->n == 0 || job->count == 0 || R(smallsym_form_solves)(plan, job)) continue;
        const int64_t systems = interleaved(job) ? job->count : chunk_of(job);
        const size_t bytes = triangles(job) + (size_t)(systems * job->n * job->nrhs) * sizeof(real);
        if (bytes > most) most = bytes;
    }
    return most;
}

static shoal_status form_and_solve(shoal_smallsym *plan, const smallsym_job *job,
                                   const smallsym_gram *gram) {
    if (R(smallsym_form_solves)(plan, job)) return R(smallsym_form)(plan, job, gram, true);
    const int64_t n = job->n, chunk = chunk_of(job), triangle = n * (n + 1) / 2;
    real *b = (real *)((char *)gram->work + triangles(job));
    shoal_status status = SHOAL_OK;
    for (int64_t first = 0; first < job->count && status == SHOAL_OK; first += chunk) {
        smallsym_job part = *job;
        smallsym_gram g = *gram;
        const int64_t rhs = first * job->b_system * job->nrhs;
        part.count = job->count - first < chunk ? job->count - first : chunk;
        part.a = smallsym_shape{ n, triangle, 0, 1, 1, 0 };
        part.A = gram->work;
        part.b = interleaved(job) ? b + rhs : b;
        part.x = (real *)job->x + rhs;
        part.where = shoal_smallsym_outcome_from(&job->where, first);
        g.psi = (const real *)gram->psi + first * gram->psi_system;
        g.y = (const real *)gram->y + first * gram->y_system * job->nrhs;
        status = R(smallsym_form)(plan, &part, &g, false);
        if (status == SHOAL_OK) status = solve(plan, &part);
    }
    return status;
}

/* ---- the driver -------------------------------------------------------------------------------- */

static shoal_status find_pairs(shoal_smallsym *plan, smallsym_job job, const smallsym_parts *to) {
    const smallsym_cuda_method *eigen = (const smallsym_cuda_method *)plan->eigen.cell;
    job.first_row = plan->eigen.row, job.rescue_row = -1; /* none is done again */
    return job.n > 0 ? eigen->eigen(plan, plan->eigen.variant, &job, to) : run_empty(plan, &job, 0);
}

static shoal_status batch_run(shoal_smallsym *plan, int what, const smallsym_job *job,
                              const smallsym_arrays *with) {
    if (what == SMALLSYM_EIGEN) return find_pairs(plan, *job, &with->parts);
    if (job->n == 0) plan->is_told = 0; /* the totals of an earlier group do not tell of this one */
    if (job->n == 0) return run_empty(plan, job, what == SMALLSYM_SOLVE ? 0 : NAN);
    if (what == SMALLSYM_SOLVE) return solve(plan, job);
    if (what == SMALLSYM_FORM) return form_and_solve(plan, job, &with->gram);
    smallsym_job own = *job;
    const shoal_status status = list_wide_ones(plan, &own);
    if (status != SHOAL_OK) return status;
    return R(smallsym_ldlt_factor)(plan, &own, what == SMALLSYM_RESOLVE);
}

static shoal_status batch_total(shoal_smallsym *plan, smallsym_totals *totals) {
    if (!plan->is_told) return shoal_copy(plan->head.ctx, totals, plan->totals, sizeof *totals);
    *totals = *plan->told;
    return SHOAL_OK;
}

extern "C" const smallsym_driver R(smallsym_batch) = { batch_bytes, form_bytes, batch_begin,
                                                       batch_run, batch_total };
