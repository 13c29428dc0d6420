/* SPDX-License-Identifier: Apache-2.0
 *
 * smallsym_calls.c - the public functions of smallsym.h that solve, form, factor and find eigenpairs,
 * and their argument checks: one loop over the groups of a plan, by the driver of its backend.
 */
#include "core/staged.h"
#include "smallsym/plan.h"

shoal_outcome shoal_smallsym_outcome_from(const shoal_outcome *all, int64_t first) {
    return (shoal_outcome){
        .status = all->status ? all->status + first : NULL,
        .residual = all->residual ? all->residual + first : NULL,
        .rcond = all->rcond ? all->rcond + first : NULL,
        .rank = all->rank ? all->rank + first : NULL,
        .inertia = all->inertia ? all->inertia + 3 * first : NULL,
        .method = all->method ? all->method + first : NULL,
    };
}

/* ---- every call ------------------------------------------------------------------------------- */

static smallsym_arrays arrays_of(const shoal_smallsym *plan, const smallsym_job *job,
                                 int64_t samples, void *const *at) {
    const int64_t n = job->n, below = n > 0 ? n - 1 : 0;
    const int together = job->b_row == 1 && job->b_system == n; /* the numbers of a system */
    return (smallsym_arrays){ .parts = { .d = at[SMALLSYM_D],
                                         .e = at[SMALLSYM_E],
                                         .w = at[SMALLSYM_W],
                                         .q = at[SMALLSYM_Q],
                                         .e_system = together ? below : 1,
                                         .q_system = together ? n * n : 1 },
                              .gram = { .samples = samples,
                                        .psi = at[SMALLSYM_PSI],
                                        .y = at[SMALLSYM_Y],
                                        .psi_system = together ? samples * n : 1,
                                        .psi_step = together ? 1 : job->count,
                                        .y_system = together ? samples : 1,
                                        .y_step = together ? 1 : job->count,
                                        .work = plan->gram_work } };
}

static shoal_status run_group(shoal_smallsym *plan, smallsym_job job, const smallsym_call *call,
                              int64_t samples, const void *const *arrays) {
    const int64_t row = job.row_offset, b = row * job.nrhs, y = samples * job.nrhs * job.first;
    const int64_t offset[SMALLSYM_ROLES] = {
        job.a_offset, b, b, job.a_offset, row, job.e_offset, row, job.q_offset, samples * row, y
    };
    void *at[SMALLSYM_ROLES] = { NULL };
    for (int i = 0; call->arrays[i].name; i++) {
        const int role = call->arrays[i].role;
        at[role] = smallsym_from(arrays[i], plan->head.type, offset[role]);
    }
    job.where = shoal_smallsym_outcome_from(&plan->where, job.first);
    job.work = plan->totals;
    job.A = at[SMALLSYM_A], job.b = at[SMALLSYM_B];
    job.x = call->what == SMALLSYM_FACTOR ? at[SMALLSYM_L] : at[SMALLSYM_X];
    const smallsym_arrays with = arrays_of(plan, &job, samples, at);
    const int what = call->what == SMALLSYM_FORM && job.n == 0 ? SMALLSYM_SOLVE : call->what;
    plan->solved = what == SMALLSYM_SOLVE || what == SMALLSYM_FORM;
    job.look = plan->solved && !job.by_residue && (job.where.status || job.rescue_row >= 0);
    plan->judged = plan->solved ? smallsym_judged(&job) : call->residual && job.where.residual;
    return (call->run ? call->run : plan->driver->run)(plan, what, &job, &with);
}

/* Nothing to check if all systems have n = 0. */
static shoal_status check_arrays(const shoal_smallsym *plan, const smallsym_call *call,
                                 const void *const *arrays) {
    shoal_array checked[SMALLSYM_ROLES];
    int64_t largest = 0;
    int count = 0;
    for (int64_t g = 0; g < plan->job_count; g++)
        if (plan->jobs[g].count > 0 && plan->jobs[g].n > largest) largest = plan->jobs[g].n;
    for (; call->arrays[count].name; count++) {
        const int role = call->arrays[count].role;
        const int skipped =
            (role == SMALLSYM_E && largest < 2) || (role == SMALLSYM_Q && !arrays[count]);
        checked[count] = (shoal_array){ call->arrays[count].name, arrays[count], skipped };
    }
    return shoal_check_arrays(plan->head.ctx, checked, largest > 0 ? count : 0);
}

/* The numbers of psi, and with them those of y, can be counted. */
static shoal_status check_samples(const shoal_smallsym *plan, int64_t samples) {
    const int64_t most = (int64_t)(PTRDIFF_MAX >> 13) / (int64_t)sizeof(double);
    if (samples < 1)
        return shoal_fail(plan->head.ctx, SHOAL_E_ARG, "M is %lld; there must be a sample",
                          (long long)samples);
    for (int64_t g = 0; g < plan->job_count; g++) {
        const smallsym_job *job = &plan->jobs[g];
        const int64_t count = job->count ? job->count : 1, n = job->n ? job->n : 1;
        if (samples > most / count / n / job->nrhs)
            return shoal_fail(plan->head.ctx, SHOAL_E_ARG, "M is %lld; that is too large",
                              (long long)samples);
    }
    if (!plan->gram && plan->systems)
        return shoal_fail(plan->head.ctx, SHOAL_E_ARG,
                          "gram is 0 in the opts of the plan; it must be 1");
    return SHOAL_OK;
}

/* ---- host arrays -------------------------------------------------------------------------------- */

/* Numbers of a system in an array, and how many of them lie together in either layout. */
static int64_t numbers_of(const shoal_smallsym_opts *o, int role, int64_t samples,
                          int64_t *together) {
    const int64_t n = o->n, ld = o->ld && o->layout == SHOAL_INTERLEAVED ? o->ld : n;
    *together = role == SMALLSYM_B || role == SMALLSYM_X || role == SMALLSYM_Y ? o->nrhs : 1;
    switch (role) {
    case SMALLSYM_A:
    case SMALLSYM_L:
        if (n == 0) return 0;
        return o->storage == SHOAL_PACKED ? n * (n + 1) / 2 : (n - 1) * ld + n;
    case SMALLSYM_Q: return n * n;
    case SMALLSYM_B:
    case SMALLSYM_X: return n * o->nrhs;
    case SMALLSYM_E: return n > 0 ? n - 1 : 0;
    case SMALLSYM_PSI: return samples * n;
    case SMALLSYM_Y: return samples * o->nrhs;
    default: return n;
    }
}

typedef struct staged_call {
    const smallsym_call *call;
    int64_t samples;
    int count;
} staged_call;

static shoal_status call_piece(void *plan, void *const *arrays, const void *with) {
    const staged_call *c = with;
    const shoal_plan *head = plan;
    const void *given[SMALLSYM_ROLES];
    const shoal_outcome where = shoal_staged_where(arrays + c->count);
    for (int i = 0; i < c->count; i++) given[i] = arrays[i];
    const shoal_status status = shoal_smallsym_outcome(plan, &where);
    return status == SHOAL_OK ? shoal_smallsym_call(plan, head->type, c->call, c->samples, given)
                              : status;
}

/* What L does not overwrite stays. */
static shoal_status call_staged(shoal_smallsym *plan, const smallsym_call *call, int64_t samples,
                                const void *const *arrays) {
    const shoal_smallsym_opts *o = shoal_staged_opts(&plan->head);
    const size_t size = shoal_type_bytes(plan->head.type);
    shoal_staged_array staged[SMALLSYM_ROLES + STAGED_OUTCOMES];
    shoal_array checked[SMALLSYM_ROLES];
    staged_call c = { call, samples, 0 };
    for (; call->arrays[c.count].name; c.count++) {
        const int role = call->arrays[c.count].role;
        const void *array = arrays[c.count];
        int64_t together;
        const int64_t all = numbers_of(o, role, samples > 0 ? samples : 0, &together);
        const int is_output =
            role == SMALLSYM_X || role == SMALLSYM_L || role == SMALLSYM_W || role == SMALLSYM_Q;
        checked[c.count] =
            (shoal_array){ call->arrays[c.count].name, array, all == 0 || role == SMALLSYM_Q };
        staged[c.count] =
            (shoal_staged_array){ .name = call->arrays[c.count].name,
                                  .from = is_output && role != SMALLSYM_L ? NULL : array,
                                  .to = is_output ? (void *)(uintptr_t)array : NULL,
                                  .bytes = size * (size_t)all,
                                  .rows = 1 };
        if (o->layout == SHOAL_INTERLEAVED)
            staged[c.count].bytes = size * (size_t)together, staged[c.count].rows = all / together;
        else if ((role == SMALLSYM_A || role == SMALLSYM_L) && (o->ld || o->stride)) {
            const int64_t ld = o->ld ? o->ld : o->n;
            staged[c.count].part = size * (size_t)o->n,
            staged[c.count].part_step = size * (size_t)ld;
            staged[c.count].step = size * (size_t)(o->stride ? o->stride : ld * o->n);
        }
    }
    shoal_staged_outcome(&plan->where, staged + c.count);
    shoal_status status = shoal_staged_refuse(&plan->head, call->run != NULL, call->name);
    if (status == SHOAL_OK) status = shoal_check_pointers(plan->head.ctx, checked, c.count);
    return status == SHOAL_OK
               ? shoal_staged_run(&plan->head, staged, c.count + STAGED_OUTCOMES, call_piece, &c)
               : status;
}

/* -------------------------------------------------------------------------------------------------- */

shoal_status shoal_smallsym_call(shoal_smallsym *plan, shoal_type type, const smallsym_call *call,
                                 int64_t samples, const void *const *arrays) {
    shoal_status status = shoal_plan_call(plan, type, call->name);
    if (status != SHOAL_OK) return status;
    if (plan->head.staged) return call_staged(plan, call, samples, arrays);
    const unsigned eigen = plan->eigen.cell ? SHOAL_CAN_EIGEN : 0;
    const unsigned can = plan->rescue.cell ? eigen : plan->first.flags | eigen;
    if (call->can & ~can)
        return shoal_cannot(plan->head.ctx, &shoal_smallsym_module, plan->method_name, call->does,
                            call->can);
    if (call->what == SMALLSYM_FORM) status = check_samples(plan, samples);
    if (status != SHOAL_OK || !plan->systems) return status;
    status = check_arrays(plan, call, arrays);
    if (status == SHOAL_OK && plan->waits) status = shoal_check_waits(plan->head.ctx);
    if (status != SHOAL_OK) return status;
    const shoal_stage stage = shoal_stage_begin(plan->head.ctx, "systems");
    status = plan->driver->begin(plan);
    for (int64_t g = 0; g < plan->job_count && status == SHOAL_OK; g++) {
        const smallsym_job *job = &plan->jobs[g];
        status = shoal_stage_step(plan->head.ctx, &stage, (double)job->first,
                                  (double)(job->first + job->count), (double)plan->systems);
        if (status == SHOAL_OK && job->count > 0)
            status = run_group(plan, *job, call, samples, arrays);
    }
    if (status == SHOAL_OK && plan->waits && !plan->is_told) status = shoal_wait(plan->head.ctx);
    return shoal_plan_called(&plan->head, shoal_stage_end(plan->head.ctx, &stage, status));
}

/* ---- the calls -------------------------------------------------------------------------------- */

/* clang-format off */
#define CAN_FACTOR .can = SHOAL_CAN_FACTOR, .does = "keep factors"
#define CAN_EIGEN  .can = SHOAL_CAN_EIGEN, .does = "find eigenpairs", .residual = 1

static const smallsym_call
    solve = { "shoal_smallsym_solve", SMALLSYM_SOLVE,
              .arrays = { { SMALLSYM_A, "A" }, { SMALLSYM_B, "b" }, { SMALLSYM_X, "x" } } },
    gram = { "shoal_smallsym_gram", SMALLSYM_FORM,
             .arrays = { { SMALLSYM_PSI, "psi" }, { SMALLSYM_Y, "y" }, { SMALLSYM_X, "x" } } },
    factor = { "shoal_smallsym_factor", SMALLSYM_FACTOR, CAN_FACTOR,
               .arrays = { { SMALLSYM_A, "A" }, { SMALLSYM_L, "L" } } },
    resolve = { "shoal_smallsym_resolve", SMALLSYM_RESOLVE, CAN_FACTOR,
                .arrays = { { SMALLSYM_A, "L" }, { SMALLSYM_B, "b" }, { SMALLSYM_X, "x" } } },
    eig = { "shoal_smallsym_eig", SMALLSYM_EIGEN, CAN_EIGEN,
            .arrays = { { SMALLSYM_A, "A" }, { SMALLSYM_W, "w" }, { SMALLSYM_Q, "V" } } },
    eigtridiag = { "shoal_smallsym_eigtridiag", SMALLSYM_EIGEN, CAN_EIGEN,
                   .arrays = { { SMALLSYM_D, "d" }, { SMALLSYM_E, "e" }, { SMALLSYM_W, "w" },
                               { SMALLSYM_Q, "V" } } };
/* clang-format on */

shoal_status shoal_smallsym_solve(shoal_smallsym *plan, const double *A, const double *b,
                                  double *x) {
    return shoal_smallsym_call(plan, SHOAL_F64, &solve, 0, SMALLSYM_ARRAYS(A, b, x));
}

shoal_status shoal_smallsym_solvef(shoal_smallsym *plan, const float *A, const float *b, float *x) {
    return shoal_smallsym_call(plan, SHOAL_F32, &solve, 0, SMALLSYM_ARRAYS(A, b, x));
}

shoal_status shoal_smallsym_solve_first(shoal_smallsym *plan, int64_t count, const void *A,
                                        const void *b, void *x) {
    plan->jobs[0].count = plan->systems = count;
    return shoal_smallsym_call(plan, plan->head.type, &solve, 0, SMALLSYM_ARRAYS(A, b, x));
}

shoal_status shoal_smallsym_gram(shoal_smallsym *plan, int64_t M, const double *psi,
                                 const double *y, double *x) {
    return shoal_smallsym_call(plan, SHOAL_F64, &gram, M, SMALLSYM_ARRAYS(psi, y, x));
}

shoal_status shoal_smallsym_gramf(shoal_smallsym *plan, int64_t M, const float *psi, const float *y,
                                  float *x) {
    return shoal_smallsym_call(plan, SHOAL_F32, &gram, M, SMALLSYM_ARRAYS(psi, y, x));
}

shoal_status shoal_smallsym_factor(shoal_smallsym *plan, const double *A, double *L) {
    return shoal_smallsym_call(plan, SHOAL_F64, &factor, 0, SMALLSYM_ARRAYS(A, L));
}

shoal_status shoal_smallsym_factorf(shoal_smallsym *plan, const float *A, float *L) {
    return shoal_smallsym_call(plan, SHOAL_F32, &factor, 0, SMALLSYM_ARRAYS(A, L));
}

shoal_status shoal_smallsym_resolve(shoal_smallsym *plan, const double *L, const double *b,
                                    double *x) {
    return shoal_smallsym_call(plan, SHOAL_F64, &resolve, 0, SMALLSYM_ARRAYS(L, b, x));
}

shoal_status shoal_smallsym_resolvef(shoal_smallsym *plan, const float *L, const float *b,
                                     float *x) {
    return shoal_smallsym_call(plan, SHOAL_F32, &resolve, 0, SMALLSYM_ARRAYS(L, b, x));
}

shoal_status shoal_smallsym_eig(shoal_smallsym *plan, const double *A, double *w, double *V) {
    return shoal_smallsym_call(plan, SHOAL_F64, &eig, 0, SMALLSYM_ARRAYS(A, w, V));
}

shoal_status shoal_smallsym_eigf(shoal_smallsym *plan, const float *A, float *w, float *V) {
    return shoal_smallsym_call(plan, SHOAL_F32, &eig, 0, SMALLSYM_ARRAYS(A, w, V));
}

shoal_status shoal_smallsym_eigtridiag(shoal_smallsym *plan, const double *d, const double *e,
                                       double *w, double *V) {
    return shoal_smallsym_call(plan, SHOAL_F64, &eigtridiag, 0, SMALLSYM_ARRAYS(d, e, w, V));
}

shoal_status shoal_smallsym_eigtridiagf(shoal_smallsym *plan, const float *d, const float *e,
                                        float *w, float *V) {
    return shoal_smallsym_call(plan, SHOAL_F32, &eigtridiag, 0, SMALLSYM_ARRAYS(d, e, w, V));
}
