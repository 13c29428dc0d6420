/* SPDX-License-Identifier: Apache-2.0
 *
 * factor.c - factors that are kept, on the CPU: the LU factorisation with partial pivoting of lupp.c, with
 * its multipliers and exchanges (LAPACK's gttrf), and solves from it (gttrs).
 *
 * Of each row 4 numbers and 2 bytes are kept: the multiplier m of its step, row (u, v, w) of U as 1 / u, v and
 * the slot of w (condition.h), and in the bytes by what power of two the row was scaled and whether the step
 * exchanged two rows. They lie pack by pack as the arithmetic uses them, row i of lane
 * l at [i * lanes + l], behind the status of each system. A solve takes the operations of lupp.c on the
 * right-hand side in the same order, and so its bits.
 *
 * OpenMP threads over packs. 7.2 numbers per row to factor; to solve 4.2, once for all right-hand sides,
 * and 2 for each. About 8 operations per row and solve.
 */
#include "tridiag/condition.h"
#include "tridiag/pack.h"

enum { LINE = 64 };

typedef struct lu { /* of one pack */
    real *m, *inverse, *v, *slot;
    uint16_t *step; /* exponent of 16 scale, which is normal, twice, and 1 for an exchange */
} lu;

extern const pack_io R(tridiag_pack_io);

static size_t lines(size_t bytes) { return (bytes + LINE - 1) / LINE * LINE; }

static size_t pack_bytes(int64_t n, int lanes) {
    return lines((size_t)n * (size_t)lanes * (4 * sizeof(real) + sizeof(uint16_t)));
}

static size_t factor_bytes(const shoal_tridiag *plan) {
    const int lanes = R(tridiag_pack_io).lanes(&plan->job);
    const size_t packs = (size_t)((plan->job.count + lanes - 1) / lanes);
    return lines((size_t)plan->job.count * sizeof(int32_t)) +
           packs * pack_bytes(plan->job.n, lanes);
}

static uint16_t step_of(real scale, int swap) {
    return (uint16_t)(real_to_bits(scale * (2 / ROW_UNIT)) >> REAL_FRACTION << 1 | swap);
}

/* The factors of the pack that begins with system k. */
static lu lu_of(const tridiag_job *job, int64_t k, int lanes) {
    const size_t numbers = (size_t)job->n * (size_t)lanes;
    char *memory = (char *)job->factors + lines((size_t)job->count * sizeof(int32_t)) +
                   (size_t)(k / lanes) * pack_bytes(job->n, lanes);
    lu f = { .m = (real *)(void *)memory };
    f.inverse = f.m + numbers, f.v = f.inverse + numbers, f.slot = f.v + numbers;
    f.step = (uint16_t *)(f.slot + numbers);
    return f;
}

PACK_INLINE void factor_lanes(const pack *s, const lu *f, const int lanes) {
    static const real zero_row[LANES];
    real p[LANES], q[LANES], r[LANES], swap[LANES]; /* the row in hand: (p, q, r) */
    real u[LANES], w[LANES], growth[LANES], probe[LANES], above[LANES], below[LANES];
    if (s->n == 0) return;
    EACH_LANE(l, lanes) p[l] = s->d[l], q[l] = s->du[l], growth[l] = probe[l] = PROBE;
    for (int64_t i = 0; i + 1 < s->n; i++) {
        const int64_t at = i * lanes, next = at + lanes;
        const real *dl = s->dl + next, *d = s->d + next, *du = s->du + next;
        real *v = f->v + at, *m = f->m + at;
        EACH_LANE(l, lanes) swap[l] = real_abs(dl[l]) - real_abs(p[l]);
        select_lanes(u, swap, dl, p, lanes),
            select_lanes(p, swap, p, dl, lanes); /* row i of U; the other row */
        select_lanes(v, swap, d, q, lanes), select_lanes(q, swap, q, d, lanes);
        select_lanes(w, swap, du, zero_row, lanes), select_lanes(r, swap, zero_row, du, lanes);
        select_lanes(f->slot + at, swap, du, growth, lanes);
        select_lanes(above, swap, probe, growth, lanes); /* G of row i of U, of the other row */
        select_lanes(below, swap, growth, probe, lanes);
        EACH_LANE(l, lanes) { /* other row - m * row i of U, one column on */
            const real by = 1 / u[l];
            f->inverse[at + l] = by;
            m[l] = p[l] * by;
            p[l] = q[l] - m[l] * v[l];
            q[l] = r[l] - m[l] * w[l];
            growth[l] = below[l] + real_abs(m[l]) * above[l];
        }
        for (int l = 0; l < lanes; l++) f->step[at + l] = step_of(s->scale[at + l], swap[l] > 0);
    }
    const int64_t last = (s->n - 1) * lanes;
    EACH_LANE(l, lanes) f->inverse[last + l] = 1 / p[l], f->v[last + l] = 0;
    EACH_LANE(l, lanes) f->slot[last + l] = growth[l];
    for (int l = 0; l < lanes; l++) f->step[last + l] = step_of(s->scale[last + l], 0);
}

/* The condition of each lane, as back_substitute() of upper.h finds it. */
PACK_INLINE void probe_lanes(const pack *s, const lu *f, const int lanes) {
    real next[LANES], after[LANES], most[LANES];
    EACH_LANE(l, lanes) next[l] = after[l] = most[l] = 0;
    for (int64_t i = s->n - 1; i >= 0; i--) EACH_LANE(l, lanes) {
            const int64_t at = i * lanes + l;
            const real w = slot_entry(f->slot[at]), growth = slot_growth(f->slot[at]);
            const real t = probe_row(f->inverse[at], f->v[at], w, growth, next[l], after[l]);
            after[l] = next[l], next[l] = t;
            most[l] = real_max(real_abs(t), most[l]);
        }
    EACH_LANE(l, lanes) s->condition[l] = condition_of(most[l]);
}

/* x from b: z = L^-1 b in the place of x, then U x = z. */
PACK_INLINE void resolve_lanes(const pack *s, const lu *f, const int lanes) {
    real y[LANES], swap[LANES], next[LANES], after[LANES]; /* x_{i+1}, x_{i+2} */
    real *x = s->x;
    const int64_t n = s->n, last = (n - 1) * lanes;
    if (n == 0) return;
    EACH_LANE(l, lanes) y[l] = s->b[l];
    for (int64_t i = 0; i + 1 < n; i++) {
        const int64_t at = i * lanes;
        const real *b = s->b + at + lanes, *m = f->m + at;
        EACH_LANE(l, lanes) swap[l] = f->step[at + l] & 1;
        select_lanes(x + at, swap, b, y, lanes), select_lanes(y, swap, y, b, lanes);
        EACH_LANE(l, lanes) y[l] = y[l] - m[l] * x[at + l];
    }
    EACH_LANE(l, lanes) x[last + l] = y[l], next[l] = after[l] = 0;
    for (int64_t i = n - 1; i >= 0; i--) EACH_LANE(l, lanes) {
            const int64_t at = i * lanes + l;
            const real w = slot_entry(f->slot[at]);
            const real xi = (x[at] - f->v[at] * next[l] - w * after[l]) * f->inverse[at];
            after[l] = next[l];
            next[l] = x[at] = xi;
        }
}

/* What the factors of lane l are good for. */
static int32_t status_of(const pack *p, const tridiag_job *job, const lu *f, const lane_verdict *v,
                         int l) {
    int finite = 1;
    if (v->input[l] != 0) return SHOAL_SYSTEM_NONFINITE;
    for (int64_t i = 0; i < p->n; i++) {
        const real inverse = real_abs(f->inverse[i * p->lanes + l]);
        if (inverse > REAL_MAX) return SHOAL_SYSTEM_SINGULAR;
        finite &= inverse == inverse;
    }
    if (!finite) return SHOAL_SYSTEM_OVERFLOW;
    return is_ill(v->condition[l], job->cond) ? SHOAL_SYSTEM_ILL : SHOAL_SYSTEM_OK;
}

static void factor_pack(pack *p, const shoal_tridiag *plan, const tridiag_job *job, int64_t k,
                        int used, lane_verdict *v) {
    const lu f = lu_of(job, k, p->lanes);
    (void)plan;
    R(tridiag_pack_io).load_matrix(p, job, k, used, v);
    PACK_CALL(p, factor_lanes, p, &f);
    PACK_CALL(p, probe_lanes, p, &f);
    for (int l = 0; l < used; l++) {
        const int32_t status = status_of(p, job, &f, v, l);
        ((int32_t *)job->factors)[k + l] = status;
        R(tridiag_pack_io).note_outcome(job, k + l, 0, status, (float)NAN);
    }
}

static void resolve_pack(pack *p, const shoal_tridiag *plan, const tridiag_job *job, int64_t k,
                         int used, lane_verdict *v) {
    const lu f = lu_of(job, k, p->lanes);
    const int32_t *kept = (const int32_t *)job->factors + k;
    (void)plan;
    R(tridiag_pack_io).set_rows(p, job, k, used);
    for (int64_t i = 0; i < p->n * p->lanes; i++)
        p->scale[i] = real_of_bits((real_bits)(f.step[i] >> 1) << REAL_FRACTION) * (ROW_UNIT / 2);
    for (int64_t j = 0; j < job->nrhs; j++) {
        real poison[LANES], most[LANES];
        R(tridiag_pack_io).load_rhs(p, job, k, used, j, v);
        PACK_CALL(p, resolve_lanes, p, &f);
        R(tridiag_pack_io).largest(p, most, poison);
        for (int l = 0; l < used; l++) {
            v->status[l] = kept[l];
            if (v->rhs[l] != 0)
                v->status[l] = SHOAL_SYSTEM_NONFINITE;
            else if (kept[l] >= 0 && poison[l] != 0)
                v->status[l] = SHOAL_SYSTEM_OVERFLOW;
            R(tridiag_pack_io).note_outcome(job, k + l, j, v->status[l], (float)NAN);
        }
        R(tridiag_pack_io).store(p, job, k, used, j, v);
    }
}

static shoal_status each_pack(const shoal_tridiag *plan, const tridiag_job *job, pack_task *task) {
    R(tridiag_pack_io).each(plan, job, task);
    for (int64_t k = 0; k < job->count && job->rcond; k++) job->rcond[k] = (float)NAN;
    return SHOAL_OK;
}

static shoal_status factor(shoal_tridiag *plan, const tridiag_job *given) {
    tridiag_job job = *given;
    job.rcond = NULL; /* not estimated: needs no A^T */
    R(tridiag_pack_io).transpose(plan, &job);
    job.rcond = given->rcond;
    return each_pack(plan, &job, factor_pack);
}

static shoal_status resolve(shoal_tridiag *plan, const tridiag_job *job) {
    return each_pack(plan, job, resolve_pack);
}

const tridiag_keeper R(tridiag_factor) = { .bytes = factor_bytes,
                                           .factor = factor,
                                           .resolve = resolve };
