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
 *
 * The last kinds fill the range of their type, and differ from type to type: a level, log2 of the size of
 * w, is drawn for each row, and coefficients lead from the level of an earlier row to that of this row.
 * Their Moebius rows are (s, t, 0, 1), the linear recurrence.
 */
#include "recur/plan.h"
#include "rng/philox.h"
#include <math.h>

/* Purposes of the generator (philox.h), beside those of the other modules. */
enum { PURPOSE_ROW = 0x60, PURPOSE_SEGMENT = 0x70, DRAW_NUMBERS = 0, DRAW_SHARES, DRAW_LEVEL };

typedef struct row { /* one row's random numbers; the kind makes s of them */
    int64_t i, n;
    double u; /* uniform in (-1, 1), never 0 */
    uint32_t bits;
    uint64_t segment;
    shoal_words segment_draw;
    double s, t;
} row;

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

/* s is a sign; the levels see to its size. */
static void dips(row *r) {
    r->s = r->bits & 1 ? -1 : 1;
    if (r->segment % 3 == 0) r->t = 0;
    if (r->segment % 3 == 1) r->t *= 0x1p-40;
}

static void jumps(row *r) {
    dips(r);
    if (r->bits / 2 % 64 == 0) r->s = 0;
    if (r->bits / 2 % 8) r->t = 0;
}

/* The level of row i, in units of the largest exponent. From 0.8 to -0.8 and back, in 4 rows or more: */
static double dips_level(const family *f, const row *r, int64_t i) {
    (void)f;
    const uint32_t *word = r->segment_draw.word;
    const double rows = (4 + word[1] % 60) * (double)(1 << word[2] % 9);
    const double dip = (double)(i + 1) / rows, part = dip - floor(dip);
    return 0.8 * (1 - 4 * (part < 0.5 ? part : 1 - part));
}

/* Anywhere, but no more than 0.9 from the last: */
static double jumps_level(const family *f, const row *r, int64_t i) {
    const shoal_words now = draw_row(f, r->segment, i, DRAW_LEVEL);
    const shoal_words next = draw_row(f, r->segment, i + 1, DRAW_LEVEL);
    return 0.45 * (draw_symmetric(&now, 0) + draw_symmetric(&next, 0));
}

/* clang-format off */
static const struct {
    const char *name;
    void (*fill)(row *r);
    double (*level)(const family *f, const row *r, int64_t i); /* NULL: 0 */
    const char *text;
} kinds[] = {
    { "decay",     decay,     NULL,        "s uniform in (-1, 1)" },
    { "unit",      unit,      NULL,        "s is 1 or -1: sums of t with signs" },
    { "sum",       sum,       NULL,        "s is 1: the prefix sums of t" },
    { "growth",    growth,    NULL,        "s from 1 to 1 + 1/64: overflows when long" },
    { "waves",     waves,     NULL,        "|s| near 1.96 for 16 rows, near 1/2 for the next 16, random signs" },
    { "cuts",      cuts,      NULL,        "s uniform in (-3/2, 3/2), 1 in 8 is 0" },
    { "nonfinite", nonfinite, NULL,        "decay, but every 11th segment holds one NaN or infinity" },
    { "dips",      dips,      dips_level,  "w from near the largest number to near the smallest and back, in 4 to 16,000 rows" },
    { "jumps",     jumps,     jumps_level, "w of a random size per row, from near the smallest number to near the largest" },
};
/* clang-format on */

enum { KINDS = sizeof kinds / sizeof *kinds };

const char *shoal_recur_kind(int i) { return i >= 0 && i < KINDS ? kinds[i].name : NULL; }
const char *shoal_recur_kind_text(int i) { return i >= 0 && i < KINDS ? kinds[i].text : NULL; }

static void put(const family *f, void *array, int64_t at, double value) {
    if (f->type == SHOAL_F32)
        ((float *)array)[at] = (float)value;
    else
        ((double *)array)[at] = value;
}

/* 2^level for the level of row i of a segment, or 1 if the kind has none: exact, and the same everywhere. */
static double size_at(const family *f, const row *r, int64_t i) {
    if (!kinds[f->kind].level) return 1;
    const int range = f->type == SHOAL_F32 ? 126 : 1022;
    const double level = range * kinds[f->kind].level(f, r, i < -1 ? -1 : i), whole = floor(level);
    return ldexp(1 + (level - whole), (int)whole);
}

/* What leads from one size to another; 0 if that is too far. */
static double ratio(const family *f, double from, double to) {
    const double most = f->type == SHOAL_F32 ? 0x1p126 : 0x1p1022, quotient = to / from;
    return quotient < most && quotient > 1 / most ? quotient : 0;
}

/* The coefficients of a row out of its one number: shares of it, none for order 1. */
static void spread(const family *f, const row *r, double *s) {
    shoal_words words = draw_row(f, r->segment, r->i, DRAW_SHARES);
    if (f->moebius && !kinds[f->kind].level) {
        s[0] = r->s / 8, s[1] = r->t / 8, s[2] = draw_symmetric(&words, 0) / 4, s[3] = 1;
        return;
    }
    double left = 1, size = size_at(f, r, r->i);
    for (int e = 0; e < f->order; e++) {
        double share = e == f->order - 1 ? left : left * (words.word[e] >> 8) * 0x1p-24;
        s[e] = r->s * share * (e && words.word[e] & 1 ? -1 : 1);
        s[e] *= ratio(f, size_at(f, r, r->i - 1 - e), size);
        left -= share;
    }
    if (f->moebius) s[1] = r->t * size, s[2] = 0, s[3] = 1;
}

static void make_segment(const family *f, int64_t first, int64_t k) {
    const shoal_recur_opts *o = f->shape;
    const uint64_t segment = (uint64_t)first + (uint64_t)k;
    shoal_words draw =
        shoal_philox_at(f->seed, segment, 0, PURPOSE_SEGMENT + (uint32_t)f->kind, 0, 0);
    const row before = { .segment = segment, .segment_draw = draw };
    const double size = size_at(f, &before, -1);
    for (int e = 0; f->w0 && e < f->order; e++)
        put(f, f->w0, k * f->order + e, (((draw.word[e] >> 8) + 0.5) * 0x1p-23 - 1) * size);
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
        if (t_wanted && !f->moebius) put(f, f->t, t_at, r.t * size_at(f, &r, i));
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
