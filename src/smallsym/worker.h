/* SPDX-License-Identifier: Apache-2.0
 *
 * worker.h - what a thread of the CPU's driver works with: a pack, filled from any storage and
 * scaled, and where the outcomes of its lanes go. Shared by batch.c, which solves, and eigen.c,
 * which finds eigenpairs.
 */
#ifndef SHOAL_SMALLSYM_WORKER_H
#define SHOAL_SMALLSYM_WORKER_H

#include "smallsym/pack.h"
#include "smallsym/wide.h"

enum { LINE = 64, TOTALS = 256 }; /* cache line; room for the totals at the head of the workspace */

typedef struct worker { /* a pack, and the driver's data of its lanes */
    pack p;
    int number;                /* among the workers of a call                                   */
    int used;                  /* lanes that hold a system                                      */
    int in_order;              /* whose numbers follow each other                               */
    smallsym_redo task[LANES]; /* which, and from which right-hand side on                 */
    real bad_a[LANES];         /* 0, or NaN where A holds a non-finite number                   */
    real bad_b[LANES];         /* the same for the right-hand side in hand                      */
    int scaled;                /* whether any lane was                                          */
    int e_a[LANES];            /* A of the pack is A 2^-e_a                                     */
    int e_b[LANES];            /* b of the pack is b 2^-e_b                                     */
    real *kept_b, *sum_x;      /* refinement: the right-hand side and the answer so far         */
    real *wide_room;           /* wide_numbers(n) numbers, of one lane at a time                */
    int scales;                /* of the method: SMALLSYM_BY_ROWS, ...                          */
    int looks;                 /* condition numbers are looked at ...                           */
    int proved[LANES];         /* ... but not of these lanes: known to be small                 */
    smallsym_redo queue[2][2 * LANES]; /* systems that the two other methods of "auto" do again */
    int queued[2];
    int stage; /* of "auto": 0 for its first method                                             */
    int what;  /* SMALLSYM_SOLVE, ...                                          */
    const smallsym_gram *gram; /* SMALLSYM_FORM: samples; else NULL                            */
    real *gram_room;           /* gram.c's numbers                                             */
    smallsym_totals totals;
} worker;

static inline int64_t pack_count(const smallsym_job *job) {
    return (job->count + LANES - 1) / LANES;
}

static inline int workers_of(const shoal_smallsym *plan, const smallsym_job *job) {
    const int64_t packs = pack_count(job);
    return packs < plan->head.ctx->threads ? (int)packs : plan->head.ctx->threads;
}

static inline size_t aligned(size_t numbers) {
    return (numbers * LANES * sizeof(real) + LINE - 1) / LINE * LINE + LINE;
}

/* What solving and finding eigenpairs need at most. */
static inline size_t scratch_of(const shoal_smallsym *plan, const smallsym_job *job) {
    const smallsym_cpu_method *all[] = { plan->first.cell, plan->middle.cell, plan->eigen.cell };
    size_t most = 0; /* auto's rescue is what finds eigenpairs */
    for (int i = 0; i < 3; i++) {
        const size_t numbers = all[i] ? all[i]->scratch(job->n) : 0;
        most = numbers > most ? numbers : most;
    }
    return most;
}

enum { VECTORS_OF_PACK = 5 };

/* Numbers per lane that have room for a system of wide.h. */
static inline size_t wide_share(int64_t n) { return ((size_t)wide_numbers(n) + LANES - 1) / LANES; }

static inline size_t worker_bytes(const shoal_smallsym *plan, const smallsym_job *job) {
    const size_t n = (size_t)job->n;
    return aligned(n * (n + 1) / 2) + VECTORS_OF_PACK * aligned(n) +
           aligned(scratch_of(plan, job)) + aligned(wide_share(job->n));
}

static inline void open_worker(worker *w, const shoal_smallsym *plan, const smallsym_job *job,
                               int i) {
    const size_t n = (size_t)job->n;
    char *memory = (char *)job->work + TOTALS + (size_t)i * worker_bytes(plan, job);
    struct {
        real **array;
        size_t numbers;
    } slots[] = { { &w->p.a, n * (n + 1) / 2 },
                  { &w->p.scratch, scratch_of(plan, job) },
                  { &w->p.b, n },
                  { &w->p.x, n },
                  { &w->p.s, n },
                  { &w->kept_b, n },
                  { &w->sum_x, n },
                  { &w->wide_room, wide_share(job->n) } };
    for (int s = 0; s < 3 + VECTORS_OF_PACK; s++) {
        *slots[s].array = (real *)(void *)memory;
        memory += aligned(slots[s].numbers);
    }
    w->p.n = job->n;
    w->p.cond = job->cond;
    w->number = i;
}

/* The pack is to hold system k and those that follow it. */
static inline void take_in_order(worker *w, const smallsym_job *job, int64_t k) {
    w->used = job->count - k < LANES ? (int)(job->count - k) : LANES;
    w->in_order = 1;
    for (int l = 0; l < LANES; l++) w->task[l] = (smallsym_redo){ .system = k + l };
}

/* ---- in -------------------------------------------------------------------------------------- */

/* The power of two that brings `largest` near 1, if it is so far away that a method might leave its
 * range; 0 if not, or if it is zero or not finite. */
static inline int exponent_far_from_1(real largest) {
    const int far = sizeof(real) == 4 ? 30 : 250;
    int e = 0;
    if (largest == 0 || isnan(largest) || isinf(largest)) return 0;
    (void)frexp((double)largest, &e);
    return e < -far || e > far ? e : 0;
}

/* Largest size and non-finite numbers of each lane of an array; v * 0 is 0 or NaN. Four at a time:
 * each maximum waits for the one before it. */
static inline void look_at(const real *array, int64_t numbers, real *largest, real *bad) {
    enum { TOGETHER = 4 };
    vec most[TOGETHER], sum[TOGETHER];
    for (int q = 0; q < TOGETHER; q++) most[q] = sum[q] = vec_all(0);
    int64_t e = 0;
    for (; e + TOGETHER <= numbers; e += TOGETHER)
        for (int q = 0; q < TOGETHER; q++) {
            const vec v = *(const vec *)(array + (e + q) * LANES);
            most[q] = vec_max(vec_abs(v), most[q]);
            sum[q] += v * 0;
        }
    for (; e < numbers; e++) {
        const vec v = *(const vec *)(array + e * LANES);
        most[0] = vec_max(vec_abs(v), most[0]);
        sum[0] += v * 0;
    }
    most[0] = vec_max(vec_max(most[0], most[1]), vec_max(most[2], most[3]));
    sum[0] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    memcpy(largest, most, sizeof *most);
    memcpy(bad, sum, sizeof *sum);
}

/* Whether a lane of p->a, as it is, is wide: by its diagonal, for ldlt, or by its rows. */
static inline int lane_is_wide(const pack *p, int scales, int l, real largest) {
    int wide = 0;
    if (scales == SMALLSYM_AS_IT_IS) return 0;
    for (int64_t i = 0; i < p->n && !wide; i++) {
        real size = scales == SMALLSYM_BY_DIAGONAL ? real_abs(p->a[at_entry(i, i) + l]) : 0;
        for (int64_t j = 0; j < p->n && scales == SMALLSYM_BY_ROWS; j++)
            size = real_max(real_abs(p->a[(j < i ? at_entry(i, j) : at_entry(j, i)) + l]), size);
        wide =
            smallsym_is_wide(size, largest, scales == SMALLSYM_BY_ROWS ? WIDE_ROWS : WIDE_DIAGONAL);
    }
    return wide;
}

/* Scales the lanes that need it, but for those to `leave`; true if one did. */
static inline int scale(real *array, int64_t numbers, const real *largest, const int *leave,
                        int *exponent) {
    int any = 0;
    for (int l = 0; l < LANES; l++) {
        exponent[l] = leave[l] ? 0 : exponent_far_from_1(largest[l]);
        if (!exponent[l]) continue;
        any = 1;
        for (int64_t e = 0; e < numbers; e++)
            array[e * LANES + l] = (real)ldexp((double)array[e * LANES + l], -exponent[l]);
    }
    return any;
}

static inline void begin_outcome(pack *p) {
    for (int l = 0; l < LANES; l++) {
        p->outcome.status[l] = SHOAL_SYSTEM_OK;
        p->outcome.rcond[l] = p->n ? (float)NAN : 1;
        p->outcome.look[l] = (float)INFINITY;
        p->outcome.rank[l] = p->outcome.positive[l] = (int32_t)p->n;
        p->outcome.negative[l] = p->outcome.zero[l] = 0;
    }
}

/* Scales what was put into the pack's a, `numbers` per lane, and begins its outcome anew. */
static inline void begin_matrix(worker *w, int64_t numbers) {
    real largest[LANES];
    look_at(w->p.a, numbers, largest, w->bad_a);
    const real far =
        power_of_two(sizeof(real) == 4 ? 29 : 249); /* exponent_far_from_1() is 0 within */
    for (int l = 0; l < LANES; l++)
        w->p.wide[l] = !(largest[l] >= 1 / far && largest[l] <= far) && l < w->used &&
                       w->bad_a[l] == 0 && lane_is_wide(&w->p, w->scales, l, largest[l]);
    w->scaled = scale(w->p.a, numbers, largest, w->p.wide, w->e_a);
    for (int l = 0; l < LANES; l++)
        w->p.largest[l] = w->e_a[l] ? (real)ldexp((double)largest[l], -w->e_a[l]) : largest[l];
    begin_outcome(&w->p);
}

/* A row of a full pack whose systems have it in one piece: squares of LANES x LANES numbers are
 * transposed. `room` numbers from the row's begin on may be read, and written: what is past its end
 * is where the next row goes, which follows. */
static inline void load_row(real *to, const real *from, int64_t system, int64_t length,
                            int64_t room) {
    int64_t j = 0;
    for (; j < length && j + LANES <= room; j += LANES) {
        vec square[LANES];
        for (int l = 0; l < LANES; l++) memcpy(&square[l], from + l * system + j, sizeof(vec));
        vec_transpose(square);
        for (int l = 0; l < LANES; l++) *(vec *)(to + (j + l) * LANES) = square[l];
    }
    for (; j < length; j++)
        for (int l = 0; l < LANES; l++) to[j * LANES + l] = from[l * system + j];
}

static inline void load_entries(worker *w, const smallsym_job *job) {
    const int64_t n = job->n;
    const real *all = job->A;
    const int in_rows =
        w->used == LANES && w->in_order && job->a.column == 1 && !(job->a.packed && job->a.upper);
    pack *p = &w->p;
    for (int64_t i = 0; i < n; i++) {
        if (in_rows) {
            const int64_t room = job->a.packed || i == n - 1 ? i + 1 : n;
            load_row(p->a + at_entry(i, 0),
                     all + w->task[0].system * job->a.system + smallsym_at(&job->a, i, 0),
                     job->a.system, i + 1, room);
            continue;
        }
        for (int64_t j = 0; j <= i; j++) {
            const real *entry = all + smallsym_at(&job->a, i, j);
            for (int l = 0; l < LANES; l++)
                p->a[at_entry(i, j) + l] =
                    l < w->used ? entry[w->task[l].system * job->a.system] : (real)(i == j);
        }
    }
}

static inline void load_matrix(worker *w, const smallsym_job *job) {
    load_entries(w, job);
    begin_matrix(w, job->n * (job->n + 1) / 2);
}

/* ---- out ------------------------------------------------------------------------------------- */

/* A row of a full pack to systems that have it in one piece, as load_row() does. */
static inline void store_row(real *to, const real *from, int64_t system, int64_t length) {
    int64_t j = 0;
    for (; j + LANES <= length; j += LANES) {
        vec square[LANES];
        memcpy(square, from + j * LANES, sizeof square);
        vec_transpose(square);
        for (int l = 0; l < LANES; l++) memcpy(to + l * system + j, &square[l], sizeof(vec));
    }
    for (; j < length; j++)
        for (int l = 0; l < LANES; l++) to[l * system + j] = from[j * LANES + l];
}

/* The lower triangles of the pack's a to an array of the job's shape. */
static inline void store_entries(const worker *w, const smallsym_job *job, void *array) {
    const int64_t n = job->n, k = w->task[0].system;
    real *to = n ? (real *)array + k * job->a.system : NULL;
    const int in_rows = w->used == LANES && job->a.column == 1 && !(job->a.packed && job->a.upper);
    for (int64_t i = 0; i < n; i++) {
        if (in_rows) {
            store_row(to + smallsym_at(&job->a, i, 0), w->p.a + at_entry(i, 0), job->a.system,
                      i + 1);
            continue;
        }
        for (int64_t j = 0; j <= i; j++) {
            real *entry = to + smallsym_at(&job->a, i, j);
            for (int l = 0; l < w->used; l++) entry[l * job->a.system] = w->p.a[at_entry(i, j) + l];
        }
    }
}

/* ---- vectors and squares ----------------------------------------------------------------------- */

/* One copy of the two below is enough: they wait for memory, and take long to compile. */
#define ONCE __attribute__((noinline, unused)) static

/* `rows` numbers of each lane, `row` apart, those of the next system `system` apart; `other` in lanes
 * without a system. */
ONCE void gather(const worker *w, real *to, const void *array, int64_t system, int64_t row,
                 int64_t rows, real other) {
    const real *from = (const real *)array + w->task[0].system * system;
    for (int64_t i = 0; i < rows; i++)
        for (int l = 0; l < LANES; l++)
            to[at_row(i) + l] = l < w->used ? from[l * system + i * row] : other;
}

/* And back, times 2^exponent; NaN in lanes that failed, or nothing if they are to be `kept`. */
ONCE void scatter(const worker *w, const real *from, void *array, int64_t system, int64_t row,
                  int64_t rows, const int *exponent, const int32_t *status, int kept) {
    for (int l = 0; l < w->used; l++) {
        real *to = (real *)array + (w->task[0].system + l) * system;
        if (status[l] < 0 && kept) continue;
        for (int64_t i = 0; i < rows; i++) {
            const real v = from[at_row(i) + l];
            to[i * row] = status[l] < 0             ? real_nan()
                          : exponent && exponent[l] ? (real)ldexp((double)v, exponent[l])
                                                    : v;
        }
    }
}

/* ---- outcomes ----------------------------------------------------------------------------------- */

static inline unsigned bits_of(float v) {
    unsigned bits;
    memcpy(&bits, &v, sizeof bits);
    return bits & 0x7fffffffu;
}

/* The outcome of lane l, once its system is done; `row` of the table gave the answer. */
static inline void note(worker *w, const smallsym_job *job, int l, int row, int32_t status,
                        float residual) {
    const shoal_outcome *o = &job->where;
    const pack_outcome *outcome = &w->p.outcome;
    const int64_t s = w->task[l].system;
    const int known = status >= 0;
    if (o->status) o->status[s] = status;
    if (o->residual) o->residual[s] = residual;
    if (o->rcond) o->rcond[s] = known ? outcome->rcond[l] : (float)NAN;
    if (o->rank) o->rank[s] = known ? outcome->rank[l] : -1;
    if (o->inertia) {
        o->inertia[3 * s] = known ? outcome->positive[l] : -1;
        o->inertia[3 * s + 1] = known ? outcome->negative[l] : -1;
        o->inertia[3 * s + 2] = known ? outcome->zero[l] : -1;
    }
    if (o->method) o->method[s] = row;
    w->totals.failed += status < 0;
    w->totals.warned += status > 0;
    if (known && bits_of(residual) > w->totals.max_residual)
        w->totals.max_residual = bits_of(residual);
}

/* What is done to a pack, and at a worker's end; `with` is what the caller gave. */
typedef void pack_task(worker *w, const shoal_smallsym *plan, const smallsym_job *job,
                       const void *with);

/* `one` for each pack of a job, OpenMP threads over packs, and `end`, unless it is NULL, for each
 * worker. */
static inline shoal_status over_packs(shoal_smallsym *plan, const smallsym_job *job,
                                      const void *with, pack_task *one, pack_task *end) {
    const int workers = workers_of(plan, job);
    const int64_t packs = pack_count(job);
    smallsym_totals *totals = plan->work;
    unsigned long long failed = 0, warned = 0, redone = 0, rescued = 0;
    unsigned most = totals->max_residual;
#pragma omp parallel for num_threads(workers) schedule(static)                                     \
    reduction(+ : failed, warned, redone, rescued) reduction(max : most)
    for (int i = 0; i < workers; i++) {
        worker w = { 0 };
        open_worker(&w, plan, job, i);
        const int64_t first = packs * i / workers, past = packs * (i + 1) / workers;
        for (int64_t k = first * LANES; k < past * LANES && k < job->count; k += LANES) {
            if (shoal_is_cancelled(plan->head.ctx, k / LANES - first, past - first)) break;
            take_in_order(&w, job, k);
            one(&w, plan, job, with);
        }
        if (end) end(&w, plan, job, with);
        failed += w.totals.failed, warned += w.totals.warned, redone += w.totals.redone;
        rescued += w.totals.rescued;
        if (w.totals.max_residual > most) most = w.totals.max_residual;
    }
    totals->failed += failed, totals->warned += warned, totals->redone += redone;
    totals->rescued += rescued;
    totals->max_residual = most;
    return SHOAL_OK;
}

/* Of gram.c: forms the systems of a pack from samples, puts A into the pack and keeps all of b; puts
 * right-hand side c into the pack; and the bytes of gram_room, whole cache lines. */
void R(gram_matrix)(worker *w, const smallsym_job *job);
void R(gram_rhs)(worker *w, const smallsym_job *job, int64_t c);
size_t R(gram_bytes)(const shoal_smallsym *plan, const smallsym_job *job);

/* Of eigen.c: SMALLSYM_EIGEN. */
shoal_status R(smallsym_eigen)(shoal_smallsym *plan, const smallsym_job *job,
                               const smallsym_parts *to);

#endif
