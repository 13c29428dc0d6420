/* SPDX-License-Identifier: Apache-2.0
 *
 * generate.c - test systems of many kinds, made from (kind, seed, system, row) by Philox: the same
 * numbers for any batch, layout, thread count or machine.
 *
 * Every kind leaves NaN in dl[0] and du[n-1], which a solver has to ignore. b is drawn at random,
 * uniform in (-1, 1), unless the kind defines it. All is made in double; float is double,
 * rounded. The kinds of the g-Spike paper, with b = A x for a known x, are in paper/generate.c.
 */
#include "core/progress.h"
#include "rng/normal.h"
#include "tridiag/paper/generate.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Purposes of the generator (philox.h): one for the rows of each kind, one for each kind's systems.
 */
enum { PURPOSE_ROW = 0x80, PURPOSE_SYSTEM = 0xc0, DRAW_OFF_DIAGONALS = 0, DRAW_DIAGONAL, DRAW_RHS };
enum { DRAW_WHOLE = 0xfff }; /* beyond the right-hand sides that kinds with whole numbers draw */

/* Arrays to fill: all in one type; NULL: not needed. */
typedef struct tridiag_arrays {
    void *dl, *d, *du, *b, *x;
    shoal_type type;
} tridiag_arrays;

static void put(void *array, shoal_type type, int64_t at, double value) {
    if (type == SHOAL_F32)
        ((float *)array)[at] = (float)value;
    else
        ((double *)array)[at] = value;
}

static int64_t place_of(const shoal_tridiag_opts *shape, int64_t k, int64_t i) {
    return shape->layout == SHOAL_INTERLEAVED ? i * shape->count + k : k * shape->n + i;
}

typedef struct family { /* what all systems of one call share */
    int kind;
    uint64_t seed;
    int64_t n;
} family;

typedef struct member { /* one system: its number in the family and its own random words */
    const family *of;
    uint64_t system;
    shoal_words draw;
} member;

typedef struct row { /* one row: its random numbers, then its coefficients; b is multiplied by scale
                      */
    int64_t i;
    double u, v, w; /* uniform in (-1, 1), never 0 */
    uint32_t bits;
    double dl, d, du, scale, poison; /* poison is added to the first right-hand side */
    int has_b;                       /* b is the kind's own, `poison` alone */
} row;

static double sign_of(const row *r) { return r->bits & 1 ? -1 : 1; }

/* |d| exceeds |dl| + |du| by 1/4 to 5/4 */
static void dominant(const member *m, row *r) {
    (void)m;
    r->dl = r->u, r->du = r->v;
    r->d = sign_of(r) * (fabs(r->u) + fabs(r->v) + 0.75 + 0.5 * r->w);
}

static void laplace(const member *m, row *r) {
    (void)m;
    r->dl = r->du = -1, r->d = 2;
}

static void uniform(const member *m, row *r) {
    (void)m;
    r->dl = r->u, r->d = r->w, r->du = r->v;
}

/* The determinant is a product of off-diagonals for even n, and d[n-1] times one for odd n. Their
 * sizes are kept within 3/4 to 1, so that x, a running product of their ratios, stays in range for
 * float. */
static void zerodiag(const member *m, row *r) {
    r->dl = copysign(0.75 + 0.25 * fabs(r->u), r->u);
    r->du = copysign(0.75 + 0.25 * fabs(r->v), r->v);
    r->d = r->i == m->of->n - 1 && m->of->n % 2 ? sign_of(r) : 0;
}

/* With d[0] = 0 the determinant is -du[0] dl[1] times that of a dominant matrix: not 0. */
static void zeropivot(const member *m, row *r) {
    dominant(m, r);
    if (r->i == 0 && m->of->n > 1 && m->draw.word[0] % 100 == 0) r->d = 0;
}

static int64_t chosen_row(const member *m) {
    return (int64_t)(m->draw.word[1] % (uint64_t)m->of->n);
}

/* One row, or one column, is zero: so is the last pivot, exactly, in any order of elimination. */
static void singular(const member *m, row *r) {
    dominant(m, r);
    if (m->system % 7 != 6) return;
    int64_t zero = chosen_row(m);
    int column = m->draw.word[2] & 1;
    if (r->i == zero) r->d = 0;
    if (r->i == zero && !column) r->dl = r->du = 0;
    if (r->i == zero - 1 && column) r->du = 0;
    if (r->i == zero + 1 && column) r->dl = 0;
}

static void nonfinite(const member *m, row *r) {
    dominant(m, r);
    if (m->system % 11 != 10 || r->i != chosen_row(m)) return;
    const double bad[] = { NAN, INFINITY, -INFINITY };
    double *const at[] = { &r->dl, &r->d, &r->du, &r->poison };
    const uint32_t which = m->draw.word[3] % 4; /* dl[0] and du[n-1] do not count: d instead */
    const int absent = (which == 0 && r->i == 0) || (which == 2 && r->i == m->of->n - 1);
    *at[absent ? 1 : which] = bad[m->draw.word[2] % 3];
}

static void graded(const member *m, row *r) {
    dominant(m, r);
    r->scale = ldexp(1, (int)((r->bits >> 1) % 61) - 30);
    r->dl *= r->scale, r->d *= r->scale, r->du *= r->scale;
}

/* One row in 16 and its b are scaled by 2^40, as a penalty or a boundary condition is, and one in
 * 16 has 2^-30 on its diagonal; where these are is the system's choice. All other entries are
 * positive and the other rows dominant, so that eliminating the small rows last leaves sums of
 * terms of one sign: far from singular. But a method that divides by a small diagonal loses 30
 * bits there, and the error is small beside the large rows. */
static void penalty(const member *m, row *r) {
    r->dl = 0.75 + 0.25 * r->u, r->du = 0.75 + 0.25 * r->v;
    r->d = r->dl + r->du + 0.75 + 0.5 * r->w;
    if (((uint64_t)r->i + m->draw.word[0]) % 16 == 0) r->d = 0x1p-30;
    if (((uint64_t)r->i + m->draw.word[1]) % 16 == 0) r->scale = 0x1p40;
    r->dl *= r->scale, r->d *= r->scale, r->du *= r->scale;
}

static shoal_words draw_row(const member *m, int64_t i, uint64_t draw);

/* A whole number from -2 to 2 for row i of the system, 0 outside it. */
static double whole_at(const member *m, int64_t i) {
    if (i < 0 || i >= m->of->n) return 0;
    return (double)(draw_row(m, i, DRAW_WHOLE).word[0] % 5) - 2;
}

/* b = A x for whole numbers x: a singular system that has an answer. */
static void set_consistent(const member *m, row *r) {
    const double left = whole_at(m, r->i - 1), right = whole_at(m, r->i + 1);
    r->has_b = 1;
    r->poison = r->d * whole_at(m, r->i) + (r->i > 0 ? r->dl * left : 0) +
                (r->i + 1 < m->of->n ? r->du * right : 0);
}

/* Whole numbers from -1 to 1, -2 to 2 or -4 to 4, often singular; every second system has an answer. */
static void integers(const member *m, row *r) {
    const double most = ldexp(1, (int)(m->system / 2 % 3)) + 0.5;
    r->dl = trunc(r->u * most), r->d = trunc(r->w * most), r->du = trunc(r->v * most);
    if (m->system % 2) set_consistent(m, r);
}

/* Every row is orthogonal to a vector of 1 and -1, exactly. */
static void nullvector(const member *m, row *r) {
    const double left = whole_at(m, r->i - 1) < 0 ? -1 : 1,
                 right = whole_at(m, r->i + 1) < 0 ? -1 : 1;
    const double here = whole_at(m, r->i) < 0 ? -1 : 1;
    r->dl = ceil(r->u * 16) / 16, r->du = ceil(r->v * 16) / 16;
    r->d = -here * ((r->i > 0 ? r->dl * left : 0) + (r->i + 1 < m->of->n ? r->du * right : 0));
    if (m->system % 2) set_consistent(m, r);
}

/* A Helmholtz or a convection equation, h = 1/n, with one value given by a penalty of 1e20. */
static void dirichlet(const member *m, row *r) {
    const double h = 1 / (double)m->of->n, speed = 40 * (double)(m->draw.word[0] % 997) / 997;
    const double drift = m->system % 2 ? speed : 0;
    r->dl = -1 - drift / 2, r->du = -1 + drift / 2;
    r->d = m->system % 2 ? 2 : 2 - speed * speed * h * h * 25;
    if (r->i != chosen_row(m)) return;
    r->d = 1e20, r->scale = 1e20;
}

/* Random rows and their b times 2^-60 to 2^60. */
static void scaled(const member *m, row *r) {
    uniform(m, r);
    r->scale = ldexp(1, (int)((r->bits >> 1) % 121) - 60);
    r->dl *= r->scale, r->d *= r->scale, r->du *= r->scale;
}

/* clang-format off */
static const struct {
    const char *name;
    void (*fill)(const member *m, row *r);
    const char *text;
} kinds[] = {
    { "dominant",  dominant,  "strictly diagonally dominant, |d| > |dl| + |du| + 1/4, random signs" },
    { "laplace",   laplace,   "-1 2 -1" },
    { "random",    uniform,   "all entries uniform in (-1, 1): needs pivoting at times" },
    { "zerodiag",  zerodiag,  "zero diagonal (odd n: except d[n-1]): needs pivoting" },
    { "zeropivot", zeropivot, "dominant, but d[0] is 0 in 1 system of 100: needs pivoting" },
    { "singular",  singular,  "dominant, but every 7th system has a zero row or column" },
    { "nonfinite", nonfinite, "dominant, but every 11th system holds one NaN or infinity" },
    { "graded",    graded,    "dominant, rows and their b scaled by 2^-30 to 2^30" },
    { "penalty",   penalty,   "1 row in 16 scaled by 2^40, 1 diagonal entry in 16 tiny: needs pivoting" },
    { "dirichlet", dirichlet, "Helmholtz or convection, one value given by a penalty of 1e20: needs pivoting" },
    { "scaled",    scaled,    "random, rows and their b scaled by 2^-60 to 2^60: needs pivoting" },
    { "integers",  integers,  "small whole numbers, often singular; half of b are A x" },
    { "nullvector", nullvector, "every row orthogonal to a vector of 1 and -1: singular; half of b are A x" },
};
/* clang-format on */

enum { KINDS = sizeof kinds / sizeof *kinds };

const char *shoal_tridiag_kind(int i) {
    if (i < KINDS) return i >= 0 ? kinds[i].name : NULL;
    for (int k = 0; shoal_tridiag_paper_kinds[k].name; k++)
        if (KINDS + k == i) return shoal_tridiag_paper_kinds[k].name;
    return NULL;
}

const char *shoal_tridiag_kind_text(int i) {
    if (!shoal_tridiag_kind(i)) return NULL;
    return i < KINDS ? kinds[i].text : shoal_tridiag_paper_kinds[i - KINDS].text;
}

/* The step of the generator has 32 bits; what is above goes where no system number reaches. */
static shoal_words draw_row(const member *m, int64_t i, uint64_t draw) {
    uint64_t path = m->system ^ (uint64_t)i >> 32 << 40;
    return shoal_philox_at(m->of->seed, path, (uint32_t)i, PURPOSE_ROW + (uint32_t)m->of->kind,
                           (uint32_t)draw, (uint32_t)(draw >> 12));
}

static row make_row(const member *m, int64_t i) {
    shoal_words off = draw_row(m, i, DRAW_OFF_DIAGONALS), diagonal = draw_row(m, i, DRAW_DIAGONAL);
    row r = { .i = i,
              .u = tridiag_symmetric(&off, 0),
              .v = tridiag_symmetric(&off, 1),
              .w = tridiag_symmetric(&diagonal, 0),
              .bits = diagonal.word[2],
              .scale = 1 };
    kinds[m->of->kind].fill(m, &r);
    if (i == 0) r.dl = NAN;
    if (i == m->of->n - 1) r.du = NAN;
    return r;
}

static void make_system(const member *m, const shoal_tridiag_opts *shape, int64_t k,
                        const tridiag_arrays *to) {
    const int64_t n = shape->n, nrhs = shape->nrhs;
    for (int64_t i = 0; i < n; i++) {
        const int64_t at = place_of(shape, k, i);
        row r = make_row(m, i);
        put(to->dl, to->type, at, r.dl);
        put(to->d, to->type, at, r.d);
        put(to->du, to->type, at, r.du);
        shoal_words w = { { 0 } };
        for (int64_t j = 0; j < nrhs; j++) {
            if (j % 2 == 0) w = draw_row(m, i, DRAW_RHS + (uint64_t)j / 2);
            double b = r.has_b ? r.poison : r.scale * tridiag_symmetric(&w, j % 2);
            put(to->b, to->type, at * nrhs + j, j == 0 && !r.has_b ? b + r.poison : b);
        }
    }
}

/* ---- the paper's systems --------------------------------------------------------------------- */

/* Pieces of TRIDIAG_PIECE rows by a team of threads, x at random, b = A x. b is formed in twice the
 * precision (products by fma, sums by Knuth's two-sum: Ogita, Rump and Oishi's dot product, 2005) and
 * rounded once, so that x solves the system as well as any b in double allows. */
typedef struct paper_job { /* what all pieces share */
    const tridiag_paper_kind *kind;
    const tridiag_source *source;
    const shoal_tridiag_opts *shape;
    const tridiag_arrays *to;
    int64_t first;
} paper_job;

enum { SCRATCH = 4 * TRIDIAG_PIECE + 2 + TRIDIAG_WORK };

static double x_at(const tridiag_source *s, int64_t i, int64_t column) {
    if (i < 0 || i >= s->n) return 0;
    const shoal_words w = tridiag_words(s, TRIDIAG_OF_ROWS, i, TRIDIAG_DRAW_X + column / 2);
    return shoal_normal_pair(&w).z[column % 2];
}

/* *sum + rest = u v + *sum, exactly except for the rounding of rest. */
static void add_product(double u, double v, double *sum, double *rest) {
    const double product = u * v, total = *sum + product, part = total - *sum;
    *rest += fma(u, v, -product) + ((*sum - (total - part)) + (product - part));
    *sum = total;
}

static void put_matrix(const paper_job *of, const tridiag_rows *r, int64_t k) {
    const tridiag_arrays *to = of->to;
    for (int64_t t = 0; t < r->count; t++) {
        const int64_t i = r->first + t, at = place_of(of->shape, k, i);
        put(to->dl, to->type, at, i == 0 ? NAN : r->dl[t]);
        put(to->d, to->type, at, r->d[t]);
        put(to->du, to->type, at, i == of->shape->n - 1 ? NAN : r->du[t]);
    }
}

/* b or x of one right-hand side; x[0] is that of the row before the piece. */
static void put_column(const paper_job *of, const tridiag_rows *r, const double *x, int64_t k,
                       int64_t column) {
    const tridiag_arrays *to = of->to;
    for (int64_t t = 0; t < r->count; t++) {
        const int64_t i = r->first + t, at = place_of(of->shape, k, i) * of->shape->nrhs + column;
        if (to->x) put(to->x, to->type, at, x[t + 1]);
        if (!to->b) continue;
        double sum = r->d[t] * x[t + 1], rest = fma(r->d[t], x[t + 1], -sum);
        if (i > 0) add_product(r->dl[t], x[t], &sum, &rest);
        if (i < of->shape->n - 1) add_product(r->du[t], x[t + 2], &sum, &rest);
        put(to->b, to->type, at, sum + rest);
    }
}

static void make_piece(const paper_job *of, int64_t k, int64_t first, double *scratch) {
    const int64_t n = of->shape->n, left = n - first;
    tridiag_source s = *of->source;
    tridiag_rows r = { .first = first, .count = left < TRIDIAG_PIECE ? left : TRIDIAG_PIECE };
    r.dl = scratch, r.d = r.dl + TRIDIAG_PIECE, r.du = r.d + TRIDIAG_PIECE;
    double *x = r.du + TRIDIAG_PIECE;
    r.work = x + TRIDIAG_PIECE + 2;
    s.system = (uint64_t)of->first + (uint64_t)k;
    if (of->to->dl) {
        shoal_tridiag_paper_rows(of->kind, &s, &r);
        put_matrix(of, &r, k);
    }
    for (int64_t j = 0; j < of->shape->nrhs; j++) {
        for (int64_t t = 0; t < r.count + 2; t++) x[t] = x_at(&s, first + t - 1, j);
        put_column(of, &r, x, k, j);
    }
}

/* Systems first .. first + shape->count - 1 of the family: dl, d, du and b if there is a dl, x if there is
 * an x. */
static shoal_status make_paper(shoal_context *ctx, const tridiag_paper_kind *kind,
                               const tridiag_source *source, int64_t first,
                               const shoal_tridiag_opts *shape, const tridiag_arrays *to) {
    const paper_job of = { kind, source, shape, to, first };
    const int64_t pieces = (shape->n - 1) / TRIDIAG_PIECE + 1;
    int complete = 1;
    const shoal_stage stage = shoal_stage_begin(ctx, "systems");
#pragma omp parallel num_threads(ctx->threads) reduction(&& : complete)
    {
        double *scratch = calloc(SCRATCH, sizeof *scratch);
        complete = scratch != NULL;
#pragma omp for schedule(static)
        for (int64_t q = 0; q < shape->count * pieces; q++)
            if (complete && !shoal_is_cancelled(ctx, q, shape->count * pieces))
                make_piece(&of, q / pieces, q % pieces * TRIDIAG_PIECE, scratch);
        free(scratch);
    }
    const shoal_status status = shoal_stage_end(ctx, &stage, SHOAL_OK);
    if (complete) return status;
    return shoal_fail(ctx, SHOAL_E_NOMEM, "no memory to make systems of n = %lld",
                      (long long)shape->n);
}

/* ---- arguments -------------------------------------------------------------------------------- */

/* Digits alone, no more than most; false for anything else. */
static int read_whole(const char *text, size_t length, int64_t most, int64_t *value) {
    *value = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9' || *value > most) return 0;
        *value = 10 * *value + (text[i] - '0');
    }
    return length > 0 && *value <= most;
}

/* The values behind the name: implants, size, offset. */
static shoal_status read_values(shoal_context *ctx, const char *kind, int found,
                                tridiag_source *paper) {
    paper->implants = 1, paper->size = 32, paper->offset = 0;
    const char *text = strchr(kind, ':');
    if (!text) return SHOAL_OK;
    if (found < KINDS || !shoal_tridiag_paper_kinds[found - KINDS].implant)
        return shoal_fail(ctx, SHOAL_E_ARG, "kind '%s': %s takes no value", kind,
                          shoal_tridiag_kind(found));
    const struct {
        const char *what;
        int64_t *to, least, most;
    } values[] = { { "singular blocks", &paper->implants, 0, INT32_MAX },
                   { "rows of a block", &paper->size, 4, TRIDIAG_IMPLANT_MAX },
                   { "rows before the first block", &paper->offset, 0, TRIDIAG_IMPLANT_MAX } };
    int i = 0;
    for (; text && i < 3; i++) {
        const size_t length = strcspn(++text, ":");
        if (!read_whole(text, length, values[i].most, values[i].to) ||
            *values[i].to < values[i].least)
            return shoal_fail(ctx, SHOAL_E_ARG,
                              "kind '%s': value %d, %s, must be a whole number from %lld to %lld",
                              kind, i + 1, values[i].what, (long long)values[i].least,
                              (long long)values[i].most);
        text = text[length] ? text + length : NULL;
    }
    if (!text) return SHOAL_OK;
    return shoal_fail(ctx, SHOAL_E_ARG, "kind '%s': more than three values", kind);
}

static shoal_status check_shape(shoal_context *ctx, int64_t first,
                                const shoal_tridiag_opts *shape) {
    if (!shape) return shoal_fail(ctx, SHOAL_E_ARG, "shape is NULL");
    const shoal_status status = shoal_tridiag_check_sizes(ctx, shape);
    if (status != SHOAL_OK) return status;
    if (shape->offsets)
        return shoal_fail(ctx, SHOAL_E_ARG, "offsets must be NULL: test systems are of one size");
    return shoal_check_first(ctx, first, shape->count);
}

/* The kind's number, and the values after its name in `paper`. */
static shoal_status find_kind(shoal_context *ctx, const char *name, int *kind,
                              tridiag_source *paper) {
    shoal_status status = shoal_ready(ctx);
    if (status != SHOAL_OK) return status;
    status = shoal_find_kind(ctx, "tridiag", shoal_tridiag_kind, name, ":", kind);
    return status == SHOAL_OK ? read_values(ctx, name, *kind, paper) : status;
}

static shoal_status generate(shoal_context *ctx, const char *kind, uint64_t seed, int64_t first,
                             const shoal_tridiag_opts *shape, const tridiag_arrays *to) {
    family f = { .seed = seed };
    tridiag_source paper = { .seed = seed };
    shoal_status status = find_kind(ctx, kind, &f.kind, &paper);
    if (status == SHOAL_OK) status = check_shape(ctx, first, shape);
    if (status != SHOAL_OK || shape->n == 0 || shape->count == 0) return status;
    const shoal_array arrays[] = {
        { "dl", to->dl, 0 }, { "d", to->d, 0 }, { "du", to->du, 0 }, { "b", to->b, 0 }
    };
    status = shoal_check_pointers(ctx, arrays, 4);
    if (status != SHOAL_OK) return status;
    f.n = paper.n = shape->n;
    if (f.kind >= KINDS)
        return make_paper(ctx, &shoal_tridiag_paper_kinds[f.kind - KINDS], &paper, first, shape,
                          to);
    const shoal_stage stage = shoal_stage_begin(ctx, "systems");
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t k = 0; k < shape->count; k++) {
        if (shoal_is_cancelled(ctx, k, shape->count / ctx->threads + 1)) continue;
        member m = { .of = &f, .system = (uint64_t)first + (uint64_t)k };
        m.draw = shoal_philox_at(seed, m.system, 0, PURPOSE_SYSTEM + (uint32_t)f.kind, 0, 0);
        make_system(&m, shape, k, to);
    }
    return shoal_stage_end(ctx, &stage, SHOAL_OK);
}

static shoal_status exact(shoal_context *ctx, const char *kind, uint64_t seed, int64_t first,
                          const shoal_tridiag_opts *shape, const tridiag_arrays *to) {
    int found = 0;
    tridiag_source paper = { .seed = seed };
    shoal_status status = find_kind(ctx, kind, &found, &paper);
    if (status != SHOAL_OK) return status;
    if (found < KINDS)
        return shoal_fail(ctx, SHOAL_E_ARG,
                          "kind '%s': b is drawn at random, so that x is not known", kind);
    status = check_shape(ctx, first, shape);
    if (status != SHOAL_OK || shape->n == 0 || shape->count == 0) return status;
    if (!to->x) return shoal_fail(ctx, SHOAL_E_ARG, "x is NULL");
    paper.n = shape->n;
    return make_paper(ctx, &shoal_tridiag_paper_kinds[found - KINDS], &paper, first, shape, to);
}

shoal_status shoal_tridiag_generate(shoal_context *ctx, const char *kind, uint64_t seed,
                                    int64_t first, const shoal_tridiag_opts *shape, double *dl,
                                    double *d, double *du, double *b) {
    return generate(ctx, kind, seed, first, shape,
                    &(tridiag_arrays){ dl, d, du, b, NULL, SHOAL_F64 });
}

shoal_status shoal_tridiag_generatef(shoal_context *ctx, const char *kind, uint64_t seed,
                                     int64_t first, const shoal_tridiag_opts *shape, float *dl,
                                     float *d, float *du, float *b) {
    return generate(ctx, kind, seed, first, shape,
                    &(tridiag_arrays){ dl, d, du, b, NULL, SHOAL_F32 });
}

shoal_status shoal_tridiag_exact(shoal_context *ctx, const char *kind, uint64_t seed, int64_t first,
                                 const shoal_tridiag_opts *shape, double *x) {
    return exact(ctx, kind, seed, first, shape, &(tridiag_arrays){ .x = x, .type = SHOAL_F64 });
}

shoal_status shoal_tridiag_exactf(shoal_context *ctx, const char *kind, uint64_t seed,
                                  int64_t first, const shoal_tridiag_opts *shape, float *x) {
    return exact(ctx, kind, seed, first, shape, &(tridiag_arrays){ .x = x, .type = SHOAL_F32 });
}
