/* SPDX-License-Identifier: Apache-2.0
 *
 * generate.c - test recurrences of many kinds, made from (kind, seed, segment, row) by Philox: the
 * same numbers for any batch, layout, thread count or machine.
 *
 * Rows are counted as the recurrence goes, so that a reversed batch holds the same recurrences back
 * to front; a constant s or t is that of row 0. t and w0 are uniform in (-1, 1). In a recurrence of
 * order r the kind draws one number, which is spread over the r coefficients so that the sum of
 * their sizes is that number's: decay stays decay. A Moebius row is (alpha, beta, gamma, delta) =
 * (s/8, t/8, u/4, 1) with uniform u, whose values stay in (-1, 1) for |s| <= 2. All is made in
 * double; float is double, rounded.
 */
#include "recur/plan.h"
#include "rng/philox.h"
#include <math.h>

/* Purposes of the generator (philox.h), beside those of the other modules. */
enum { PURPOSE_ROW = 0x60, PURPOSE_SEGMENT = 0x70, DRAW_NUMBERS = 0, DRAW_SHARES };

typedef struct row { /* one row's random numbers; the kind makes s of them */
    int64_t i, n;
    double u; /* uniform in (-1, 1), never 0 */
    uint32_t bits;
    uint64_t segment;
    shoal_words segment_draw;
    double s, t;
} row;

static void decay(row *r) { r->s = r->u; }
static void unit(row *r) { r->s = r->bits & 1 ? -1 : 1; }
static void sum(row *r) { r->s = 1; }
static void growth(row *r) { r->s = 1 + r->u * r->u * 0x1p-6; }

/* On average |s| is e^-0.01 or so: runs grow and shrink by turns. */
static void waves(row *r) {
    r->s = (r->i / 16 % 2 ? 0.5 : 1.96) * (1 + r->u / 64) * (r->bits & 1 ? -1 : 1);
}

static void cuts(row *r) { r->s = r->bits % 8 == 0 ? 0 : 1.5 * r->u; }

static void nonfinite(row *r) {
    decay(r);
    if (r->segment % 11 != 10) return;
    if (r->i != (int64_t)(r->segment_draw.word[1] % (uint64_t)r->n)) return;
    const double bad[] = { NAN, INFINITY, -INFINITY };
    double *at = r->segment_draw.word[3] % 2 ? &r->s : &r->t;
    *at = bad[r->segment_draw.word[2] % 3];
}

/* clang-format off */
static const struct {
    const char *name;
    void (*fill)(row *r);
    const char *text;
} kinds[] = {
    { "decay",     decay,     "s uniform in (-1, 1)" },
    { "unit",      unit,      "s is 1 or -1: sums of t with signs" },
    { "sum",       sum,       "s is 1: the prefix sums of t" },
    { "growth",    growth,    "s from 1 to 1 + 1/64: overflows when long" },
    { "waves",     waves,     "|s| near 1.96 for 16 rows, near 1/2 for the next 16, random signs" },
    { "cuts",      cuts,      "s uniform in (-3/2, 3/2), 1 in 8 is 0" },
    { "nonfinite", nonfinite, "decay, but every 11th segment holds one NaN or infinity" },
};
/* clang-format on */

enum { KINDS = sizeof kinds / sizeof *kinds };

const char *shoal_recur_kind(int i) { return i >= 0 && i < KINDS ? kinds[i].name : NULL; }
const char *shoal_recur_kind_text(int i) { return i >= 0 && i < KINDS ? kinds[i].text : NULL; }

typedef struct family { /* what all segments of one call share */
    int kind, order, width, moebius;
    uint64_t seed;
    const shoal_recur_opts *shape;
    shoal_type type;
    void *s, *t, *w0;
} family;

/* The step of the generator has 32 bits; what is above goes where no segment number reaches. */
static shoal_words draw_row(const family *f, uint64_t segment, int64_t i, uint32_t draw) {
    uint64_t path = segment ^ (uint64_t)i >> 32 << 40;
    return shoal_philox_at(f->seed, path, (uint32_t)i, PURPOSE_ROW + (uint32_t)f->kind, draw, 0);
}

static double draw_symmetric(const shoal_words *w, int half) {
    return 2 * shoal_uniform(w, half) - 1;
}

static void put(const family *f, void *array, int64_t at, double value) {
    if (f->type == SHOAL_F32)
        ((float *)array)[at] = (float)value;
    else
        ((double *)array)[at] = value;
}

/* The coefficients of a row out of its one number: shares of it, none for order 1. */
static void spread(const family *f, const row *r, double *s) {
    shoal_words words = draw_row(f, r->segment, r->i, DRAW_SHARES);
    if (f->moebius) {
        s[0] = r->s / 8, s[1] = r->t / 8, s[2] = draw_symmetric(&words, 0) / 4, s[3] = 1;
        return;
    }
    double left = 1;
    for (int e = 0; e < f->order; e++) {
        double share = e == f->order - 1 ? left : left * (words.word[e] >> 8) * 0x1p-24;
        s[e] = r->s * share * (e && words.word[e] & 1 ? -1 : 1);
        left -= share;
    }
}

static void make_segment(const family *f, int64_t first, int64_t k) {
    const shoal_recur_opts *o = f->shape;
    const uint64_t segment = (uint64_t)first + (uint64_t)k;
    shoal_words draw =
        shoal_philox_at(f->seed, segment, 0, PURPOSE_SEGMENT + (uint32_t)f->kind, 0, 0);
    for (int e = 0; f->w0 && e < f->order; e++)
        put(f, f->w0, k * f->order + e, ((draw.word[e] >> 8) + 0.5) * 0x1p-23 - 1);
    for (int64_t i = 0; i < o->n; i++) {
        const int s_wanted = !o->constant_s || i == 0, t_wanted = !o->constant_t || i == 0;
        if (!s_wanted && !t_wanted) break;
        const int64_t place = o->reverse ? o->n - 1 - i : i;
        const int64_t at = o->layout == SHOAL_INTERLEAVED ? place * o->count + k : k * o->n + place;
        const int64_t s_at = o->constant_s ? k : at, t_at = o->constant_t ? k : at;
        shoal_words words = draw_row(f, segment, i, DRAW_NUMBERS);
        row r = { .i = i,
                  .n = o->n,
                  .u = draw_symmetric(&words, 0),
                  .bits = words.word[0] >> 3,
                  .segment = segment,
                  .segment_draw = draw,
                  .t = draw_symmetric(&words, 1) };
        double s[4];
        kinds[f->kind].fill(&r);
        spread(f, &r, s);
        for (int e = 0; e < f->width && s_wanted; e++) put(f, f->s, s_at * f->width + e, s[e]);
        if (t_wanted && !f->moebius) put(f, f->t, t_at, r.t);
    }
}

static shoal_status generate(shoal_context *ctx, const char *kind, int64_t first, family *f) {
    const shoal_recur_opts *o = f->shape;
    shoal_status status = shoal_ready(ctx);
    if (status == SHOAL_OK)
        status = shoal_find_kind(ctx, "recur", shoal_recur_kind, kind, "", &f->kind);
    if (status != SHOAL_OK) return status;
    if (!o) return shoal_fail(ctx, SHOAL_E_ARG, "shape is NULL");
    status = shoal_recur_check_shape(ctx, o);
    if (status == SHOAL_OK) status = shoal_check_first(ctx, first, o->count);
    if (status != SHOAL_OK) return status;
    f->moebius = o->form == SHOAL_RECUR_MOEBIUS;
    f->order = o->order ? o->order : 1;
    f->width = f->moebius ? 4 : f->order;
    if (o->n == 0 || o->count == 0) return SHOAL_OK;
    if (!f->s) return shoal_fail(ctx, SHOAL_E_ARG, "s is NULL");
    if (!f->t && !f->moebius) return shoal_fail(ctx, SHOAL_E_ARG, "t is NULL");
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t k = 0; k < o->count; k++) make_segment(f, first, k);
    return SHOAL_OK;
}

shoal_status shoal_recur_generate(shoal_context *ctx, const char *kind, uint64_t seed,
                                  int64_t first, const shoal_recur_opts *shape, double *s,
                                  double *t, double *w0) {
    family f = { .seed = seed, .shape = shape, .type = SHOAL_F64, .s = s, .t = t, .w0 = w0 };
    return generate(ctx, kind, first, &f);
}

shoal_status shoal_recur_generatef(shoal_context *ctx, const char *kind, uint64_t seed,
                                   int64_t first, const shoal_recur_opts *shape, float *s, float *t,
                                   float *w0) {
    family f = { .seed = seed, .shape = shape, .type = SHOAL_F32, .s = s, .t = t, .w0 = w0 };
    return generate(ctx, kind, first, &f);
}
