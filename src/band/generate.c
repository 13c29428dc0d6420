/* SPDX-License-Identifier: Apache-2.0
 *
 * generate.c - test systems of some kinds, made from (kind, seed, system, row) by Philox: the same numbers for any batch,
 * layout, thread count or machine.
 *
 * Entries outside the matrix are NaN, which a solver has to ignore. b is uniform in (-1, 1), times what its row was
 * scaled by. Complex numbers have two such parts. All is made in double; float is double, rounded.
 */
#include "band/plan.h"
#include "rng/philox.h"
#include <math.h>
#include <string.h>

/* Purposes of the generator (philox.h), beside those of the other modules. */
enum { PURPOSE_ROW = 0xe0, PURPOSE_SYSTEM = 0xf0, DRAW_RHS = BAND_COLUMNS, DRAWS = 4000 };

typedef struct row { /* entries of a row, complex */
    uint64_t system;
    int64_t i, n;
    shoal_words draw; /* of the system */
    int width, parts;
    double a[BAND_COLUMNS][BAND_PARTS], scale, poison;
    uint32_t bits;
} row;

/* The sum of |re| + |im| beside the diagonal. */
static double sum_beside(const row *r) {
    double sum = 0;
    for (int e = 0; e <= 2 * r->width; e++)
        for (int c = 0; c < r->parts; c++) sum += e == r->width ? 0 : fabs(r->a[e][c]);
    return sum;
}

static void multiply(row *r, double by) {
    for (int e = 0; e <= 2 * r->width; e++)
        for (int c = 0; c < r->parts; c++) r->a[e][c] *= by;
}

static void set_toeplitz(row *r,
                         const double *entries) { /* of 5, or the inner 3; i times the last */
    for (int e = 0; e <= 2 * r->width; e++)
        r->a[e][0] = entries[e + BAND_WIDTH - r->width], r->a[e][1] = 0;
}

/* |d| exceeds the others' sum by 1/4 to 5/4 */
static void dominant(row *r) {
    double *d = r->a[r->width];
    d[0] = (r->bits & 1 ? -1 : 1) * (sum_beside(r) + 0.75 + 0.5 * d[0]);
    d[1] *= 0.5;
}

/* The square of the Laplacian -1 2 -1; tridiagonal: that, with an absorbing i/10. */
static void laplace(row *r) {
    static const double square[BAND_COLUMNS] = { 1, -4, 6, -4, 1 };
    static const double plain[BAND_COLUMNS] = { 0, -1, 2, -1, 0 };
    set_toeplitz(r, r->width == 2 ? square : plain);
    if (r->parts > 1) r->a[r->width][1] = 0.1;
}

static void uniform(row *r) { (void)r; }

static void zerodiag(row *r) {
    r->a[r->width][0] = r->a[r->width][1] = 0;
    if (r->i == r->n - 1 && r->n % 2) r->a[r->width][0] = 1;
}

static void scaled(row *r) {
    r->scale = ldexp(1, (int)((r->bits >> 1) % 121) - 60);
    multiply(r, r->scale);
}

static void singular(row *r) {
    dominant(r);
    if (r->system % 7 == 6 && r->i == (int64_t)(r->draw.word[1] % (uint64_t)r->n)) multiply(r, 0);
}

static void nonfinite(row *r) {
    static const double bad[] = { NAN, INFINITY, -INFINITY };
    dominant(r);
    if (r->system % 11 != 10 || r->i != (int64_t)(r->draw.word[1] % (uint64_t)r->n)) return;
    double *at =
        r->draw.word[3] % 2 ? &r->a[r->width][r->draw.word[0] % (unsigned)r->parts] : &r->poison;
    *at = bad[r->draw.word[2] % 3];
}

/* clang-format off */
static const struct {
    const char *name;
    void (*fill)(row *r);
    const char *text;
} kinds[] = {
    { "dominant",  dominant,  "strictly diagonally dominant, by 1/4 or more" },
    { "laplace",   laplace,   "1 -4 6 -4 1, or -1 2 -1; complex: i/10 is added to the diagonal" },
    { "random",    uniform,   "all entries uniform in (-1, 1): needs pivoting" },
    { "zerodiag",  zerodiag,  "random with a zero diagonal (odd n: except d[n-1]): needs pivoting" },
    { "scaled",    scaled,    "random; rows times 2^-60 to 2^60" },
    { "singular",  singular,  "dominant, but every 7th system has a zero row" },
    { "nonfinite", nonfinite, "dominant, but every 11th system holds one NaN or infinity" },
};
/* clang-format on */

enum { KINDS = sizeof kinds / sizeof *kinds };

const char *shoal_band_kind(int i) { return i >= 0 && i < KINDS ? kinds[i].name : NULL; }
const char *shoal_band_kind_text(int i) { return i >= 0 && i < KINDS ? kinds[i].text : NULL; }

typedef struct family { /* what all systems of one call share */
    int kind;
    uint64_t seed;
    const shoal_band_opts *shape;
    void *a[BAND_COLUMNS], *b; /* the diagonals of the shape's width */
} family;

static void put(const family *f, void *array, int64_t at, double value) {
    if (f->shape->type == SHOAL_F32)
        ((float *)array)[at] = (float)value;
    else
        ((double *)array)[at] = value;
}

static double symmetric(const shoal_words *w, int half) { return 2 * shoal_uniform(w, half) - 1; }

static void make_row(const family *f, row *r) {
    for (int e = 0; e <= 2 * r->width; e++) {
        const shoal_words w = shoal_philox_at(f->seed, r->system, (uint32_t)r->i,
                                              PURPOSE_ROW + (uint32_t)f->kind, (uint32_t)e, 0);
        for (int c = 0; c < BAND_PARTS; c++) r->a[e][c] = c < r->parts ? symmetric(&w, c) : 0;
        if (e == 0) r->bits = w.word[3];
    }
    r->scale = 1, r->poison = 0;
    kinds[f->kind].fill(r);
}

static void make_system(const family *f, int64_t first, int64_t k) {
    const shoal_band_opts *o = f->shape;
    row r = { .system = (uint64_t)first + (uint64_t)k, .n = o->n, .width = o->width };
    r.parts = o->is_complex ? 2 : 1;
    r.draw = shoal_philox_at(f->seed, r.system, 0, PURPOSE_SYSTEM + (uint32_t)f->kind, 0, 0);
    for (r.i = 0; r.i < o->n; r.i++) {
        const int64_t at = o->layout == SHOAL_INTERLEAVED ? r.i * o->count + k : k * o->n + r.i;
        make_row(f, &r);
        for (int e = 0; e <= 2 * r.width; e++) {
            const int64_t column = r.i + e - r.width;
            for (int c = 0; c < r.parts; c++)
                put(f, f->a[e], at * r.parts + c, column < 0 || column >= o->n ? NAN : r.a[e][c]);
        }
        for (int64_t j = 0; j < o->nrhs; j++) {
            const shoal_words w =
                shoal_philox_at(f->seed, r.system, (uint32_t)r.i, PURPOSE_ROW + (uint32_t)f->kind,
                                DRAW_RHS + (uint32_t)(j % DRAWS), (uint32_t)(j / DRAWS));
            for (int c = 0; c < r.parts; c++)
                put(f, f->b, (at * o->nrhs + j) * r.parts + c,
                    r.scale * symmetric(&w, c) + (j == 0 ? r.poison : 0));
        }
    }
}

static shoal_status generate(shoal_context *ctx, shoal_type type, const char *kind, uint64_t seed,
                             int64_t first, const shoal_band_opts *shape, void *dl2, void *dl,
                             void *d, void *du, void *du2, void *b) {
    family f = { .seed = seed, .b = b };
    shoal_status status = shoal_ready(ctx);
    if (status != SHOAL_OK) return status;
    if (!shape) return shoal_fail(ctx, SHOAL_E_ARG, "shape is NULL");
    status = shoal_find_kind(ctx, "band", shoal_band_kind, kind, "", &f.kind);
    shoal_band_opts o = *shape;
    if (status == SHOAL_OK) status = shoal_band_check_shape(ctx, &o);
    if (status == SHOAL_OK) status = shoal_check_first(ctx, first, o.count);
    if (status == SHOAL_OK && o.n > UINT32_MAX)
        status = shoal_check_count(ctx, "n", o.n, 0, UINT32_MAX);
    if (status == SHOAL_OK && o.type != type)
        status = shoal_fail(ctx, SHOAL_E_TYPE, "shape->type is that of the other function");
    if (status != SHOAL_OK || o.n == 0 || o.count == 0) return status;
    void *const wide[] = { dl2, dl, d, du, du2 }, *const narrow[] = { dl, d, du };
    f.shape = &o;
    memcpy(f.a, o.width == 1 ? narrow : wide, o.width == 1 ? sizeof narrow : sizeof wide);
    static const char *const names[] = { "dl2", "dl", "d", "du", "du2" };
    shoal_array arrays[BAND_COLUMNS + 1] = { { "b", b, 0 } };
    for (int e = 0; e <= 2 * o.width; e++)
        arrays[e + 1] = (shoal_array){ names[e + BAND_WIDTH - o.width], f.a[e], 0 };
    status = shoal_check_pointers(ctx, arrays, 2 * o.width + 2);
    if (status != SHOAL_OK) return status;
    const shoal_stage stage = shoal_stage_begin(ctx, "systems");
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t k = 0; k < o.count; k++)
        if (!shoal_is_cancelled(ctx, k, o.count)) make_system(&f, first, k);
    return shoal_stage_end(ctx, &stage, SHOAL_OK);
}

shoal_status shoal_band_generate(shoal_context *ctx, const char *kind, uint64_t seed, int64_t first,
                                 const shoal_band_opts *shape, double *dl2, double *dl, double *d,
                                 double *du, double *du2, double *b) {
    return generate(ctx, SHOAL_F64, kind, seed, first, shape, dl2, dl, d, du, du2, b);
}

shoal_status shoal_band_generatef(shoal_context *ctx, const char *kind, uint64_t seed,
                                  int64_t first, const shoal_band_opts *shape, float *dl2,
                                  float *dl, float *d, float *du, float *du2, float *b) {
    return generate(ctx, SHOAL_F32, kind, seed, first, shape, dl2, dl, d, du, du2, b);
}
