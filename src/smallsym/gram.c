/* SPDX-License-Identifier: Apache-2.0
 *
 * gram.c - the systems of a regression, formed from samples straight into a pack and solved there:
 *     A = (1/M) sum psi(m) psi(m)t,   b = (1/M) sum psi(m) y(m),   m = 0 .. M - 1,
 * equation (3) of L. A. Abbas-Turki and S. Graillat (2017). A is never in memory.
 *
 * Lanes are systems, as in every pack. TILE samples at a time are transposed to the lanes of a tile in
 * the first-level cache. A grows by squares of SIDE x SIDE entries, whose sums are in registers while
 * the tile is read. gram.h has the rules for the sums and the range.
 *
 * Cost per system: n (n + 1) / 2 + n nrhs multiply-adds per sample; bytes: psi and y once.
 */
#include "smallsym/gram.h"
#include "smallsym/worker.h"

enum { TILE = 16, SIDE = VEC_REGISTERS == 32 ? 4 : 3 }; /* TILE divides GRAM_BLOCK */

typedef struct room { /* of a worker, LANES numbers for each of these */
    real *psi;        /* TILE rows of n numbers, padded with zeros to whole squares   */
    real *y;          /* TILE rows of nrhs                                            */
    real *sum;        /* of the block: the triangle, then b, right-hand side by side  */
    real *total;      /* of the blocks before; at the end, A and b                    */
    real *rest;       /* what these sums have lost                                    */
} room;

static int64_t padded(int64_t n) { return (n + SIDE - 1) / SIDE * SIDE; }
static int64_t entries_of(const smallsym_job *job) {
    return job->n * (job->n + 1) / 2 + job->n * job->nrhs;
}

size_t R(gram_bytes)(const shoal_smallsym *plan, const smallsym_job *job) {
    const int64_t rows = TILE * (padded(job->n) + job->nrhs) + 3 * entries_of(job);
    (void)plan;
    return ((size_t)at_row(rows) * sizeof(real) + LINE - 1) / LINE * LINE;
}

static room room_of(const worker *w, const smallsym_job *job) {
    room m = { .psi = w->gram_room };
    m.y = m.psi + at_row(TILE * padded(job->n));
    m.sum = m.y + at_row(TILE * job->nrhs);
    m.total = m.sum + at_row(entries_of(job));
    m.rest = m.total + at_row(entries_of(job));
    return m;
}

/* ---- samples ---------------------------------------------------------------------------------- */

/* One row of the tile: `length` numbers of each lane, `step` apart, those of systems `system`
 * apart. */
static void load_lanes(const worker *w, real *to, const real *from, int64_t system, int64_t step,
                       int64_t length) {
    if (w->used == LANES && w->in_order && step == 1 && system >= length) {
        load_row(to, from + w->task[0].system * system, system, length, length);
        return;
    }
    for (int64_t j = 0; j < length; j++)
        for (int l = 0; l < LANES; l++)
            to[at_row(j) + l] = l < w->used ? from[w->task[l].system * system + j * step] : 0;
}

static void scale_lanes(real *row, int64_t length, const int *exponent) {
    for (int64_t j = 0; j < length; j++)
        for (int l = 0; l < LANES; l++)
            if (exponent[l])
                row[at_row(j) + l] = (real)ldexp((double)row[at_row(j) + l], -exponent[l]);
}

/* Samples first .. first + samples - 1 of the systems into the tile; exponent NULL: not scaled. */
static void load_tile(const worker *w, const smallsym_job *job, const room *m, int64_t first,
                      int samples, const int *exponent) {
    const smallsym_gram *g = w->gram;
    const int64_t n = job->n, nrhs = job->nrhs, pitch = at_row(padded(n));
    const real *psi = (const real *)g->psi + first * n * g->psi_step;
    const real *y = (const real *)g->y + first * g->y_step * nrhs;
    for (int s = 0; s < samples; s++) {
        real *row = m->psi + s * pitch, *rhs = m->y + s * at_row(nrhs);
        load_lanes(w, row, psi + s * n * g->psi_step, g->psi_system, g->psi_step, n);
        load_lanes(w, rhs, y + s * g->y_step * nrhs, g->y_system * nrhs, 1, nrhs);
        if (exponent) scale_lanes(row, n, exponent), scale_lanes(rhs, nrhs, exponent);
    }
}

/* ---- sums ------------------------------------------------------------------------------------- */

#define EACH_SIDE(r) UNROLLED_4 for (int r = 0; r < SIDE; r++)

/* Rows i .. i + SIDE - 1, columns j .. j + SIDE - 1 of A. Entries above the diagonal or past the last row
 * are computed and dropped. */
static void add_square(const room *m, int64_t n, int64_t i, int64_t j, int samples) {
    const int64_t pitch = at_row(padded(n));
    vec sum[SIDE][SIDE];
    EACH_SIDE(r) EACH_SIDE(q) {
        const int kept = i + r < n && j + q <= i + r;
        sum[r][q] = kept ? vec_at(m->sum + at_entry(i + r, j + q)) : vec_all(0);
    }
    for (int s = 0; s < samples; s++) {
        const real *u = m->psi + s * pitch + at_row(i), *v = m->psi + s * pitch + at_row(j);
        EACH_SIDE(r) {
            const vec ur = vec_at(u + at_row(r));
            EACH_SIDE(q) sum[r][q] = vec_fma(ur, vec_at(v + at_row(q)), sum[r][q]);
        }
    }
    EACH_SIDE(r) EACH_SIDE(q) {
        if (i + r < n && j + q <= i + r) vec_to(m->sum + at_entry(i + r, j + q), sum[r][q]);
    }
}

static void add_tile(const smallsym_job *job, const room *m, int samples) {
    const int64_t n = job->n, nrhs = job->nrhs, pitch = at_row(padded(n));
    for (int64_t i = 0; i < n; i += SIDE)
        for (int64_t j = 0; j <= i; j += SIDE) add_square(m, n, i, j, samples);
    real *b = m->sum + at_entry(n, 0);
    for (int64_t c = 0; c < nrhs; c++)
        for (int64_t i = 0; i < n; i++) {
            vec sum = vec_at(b + at_row(c * n + i));
            for (int s = 0; s < samples; s++)
                sum = vec_fma(vec_at(m->psi + s * pitch + at_row(i)),
                              vec_at(m->y + at_row(s * nrhs + c)), sum);
            *(vec *)(b + at_row(c * n + i)) = sum;
        }
}

/* The block's sums join those before, and begin anew. */
static void fold(const room *m, int64_t entries) {
    for (int64_t e = 0; e < entries; e++) {
        vec *sum = (vec *)(m->sum + at_row(e)), *total = (vec *)(m->total + at_row(e));
        vec *rest = (vec *)(m->rest + at_row(e));
        const vec t = *total, v = *sum, s = t + v, added = s - t;
        *rest += (t - (s - added)) + (v - added);
        *total = s;
        *sum = vec_all(0);
    }
}

/* total := A and b of the systems. */
static void form(const worker *w, const smallsym_job *job, const room *m, const int *exponent) {
    const int64_t entries = entries_of(job), samples = w->gram->samples;
    const vec inverse = vec_all(1 / (real)samples);
    memset(m->psi, 0, (size_t)at_row(TILE * padded(job->n)) * sizeof(real));
    memset(m->sum, 0, 3 * (size_t)at_row(entries) * sizeof(real));
    for (int64_t first = 0; first < samples; first += TILE) {
        const int now = samples - first < TILE ? (int)(samples - first) : TILE;
        load_tile(w, job, m, first, now, exponent);
        add_tile(job, m, now);
        if ((first + TILE) % GRAM_BLOCK == 0) fold(m, entries);
    }
    fold(m, entries);
    for (int64_t e = 0; e < entries; e++) {
        vec *total = (vec *)(m->total + at_row(e));
        *total = (*total + vec_at(m->rest + at_row(e))) * inverse;
    }
}

/* ---- range ------------------------------------------------------------------------------------ */

/* Raises `largest` of each lane to that of finite numbers, `rows` per lane. */
static void raise_to_largest(const real *from, int64_t rows, real *largest) {
    for (int64_t e = 0; e < rows; e++)
        for (int l = 0; l < LANES; l++) {
            const real v = real_abs(from[at_row(e) + l]);
            if (v > largest[l] && v - v == 0) largest[l] = v;
        }
}

/* The exponents of the lanes that need one; 0 if none does. */
static int find_exponents(const worker *w, const smallsym_job *job, const room *m, int *exponent) {
    const int64_t n = job->n, triangle = n * (n + 1) / 2;
    real a[LANES], b[LANES], bad_a[LANES], bad_b[LANES];
    int any = 0, off_a[LANES] = { 0 }, off_b[LANES] = { 0 };
    look_at(m->total, triangle, a, bad_a);
    look_at(m->total + at_row(triangle), n * job->nrhs, b, bad_b);
    for (int l = 0; l < w->used; l++) {
        off_a[l] = bad_a[l] != 0 || gram_out_of_range(a[l]);
        off_b[l] = bad_b[l] != 0 || gram_out_of_range(b[l]);
        any |= off_a[l] | off_b[l];
    }
    if (!any) return 0;
    real psi[LANES] = { 0 }, y[LANES] = { 0 };
    for (int64_t s = 0; s < w->gram->samples; s++) {
        load_tile(w, job, m, s, 1, NULL);
        raise_to_largest(m->psi, n, psi);
        raise_to_largest(m->y, job->nrhs, y);
    }
    any = 0;
    for (int l = 0; l < LANES; l++) { /* y of zeros has a b of zeros: nothing was lost */
        exponent[l] = off_a[l] || (off_b[l] && y[l] > 0) ? gram_exponent(psi[l], y[l]) : 0;
        any |= exponent[l] != 0;
    }
    return any;
}

/* ---- for batch.c ------------------------------------------------------------------------------ */

void R(gram_matrix)(worker *w, const smallsym_job *job) {
    const int64_t n = job->n, triangle = n * (n + 1) / 2;
    const room m = room_of(w, job);
    int exponent[LANES];
    form(w, job, &m, NULL);
    if (find_exponents(w, job, &m, exponent)) form(w, job, &m, exponent);
    memcpy(w->p.a, m.total, (size_t)at_row(triangle) * sizeof(real));
    for (int64_t i = 0; i < n; i++)
        for (int l = w->used; l < LANES; l++) w->p.a[at_entry(i, i) + l] = 1;
    begin_matrix(w, triangle);
}

void R(gram_rhs)(worker *w, const smallsym_job *job, int64_t c) {
    const int64_t n = job->n;
    const room m = room_of(w, job);
    memcpy(w->p.b, m.total + at_row(n * (n + 1) / 2 + c * n), (size_t)at_row(n) * sizeof(real));
}
