/* SPDX-License-Identifier: Apache-2.0
 *
 * recur_batch.h - what the tests of recur share: batches of segments held as doubles, one after
 * another and in the order of the recurrence whatever their type, layout and direction; solving
 * one; and the oracle.
 *
 * The oracle substitutes in long double and runs beside it, on the sizes of all numbers,
 *
 *     c_i = sum_k |s_ik| c_{i-k} + |t_i|,   c_{-k} = |w0_k|,   but m where that is below m and not 0,
 *
 * m the smallest normal number, the sum of the sizes of all products that w_i is a sum of: the condition of the recurrence. Every
 * method adds up these same products, in some order: an entry of a joined map is a sum of products
 * of s along paths, whose sizes add up to no more than c has. A product that goes back to row 0
 * meets i + 1 multiplications and at most r (i + 1) additions, of half an eps each, and each join
 * of maps has r + 1 more; there are far fewer joins than rows. So with twice as many allowed as
 * substitution itself needs in the worst case,
 *
 *     |w_i - exact| <= (r + 1) (i + 1) eps c_i.
 *
 * m is for products that underflow: each loses half of the smallest number, eps m, at most, in
 * substitution, and that goes on to later rows as t does. Maps lose no more than a few times that, and
 * what is 0 has lost nothing.
 *
 * In a Moebius recurrence the error of p_{i-1} enters p_i through the derivative of the row's map,
 * which is below 1 for the generated ones, as is |p|: c_i is 1, with 8 roundings per row. Where
 * gamma is 0 it is a linear recurrence, and c_i is as above.
 */
#ifndef SHOAL_RECUR_BATCH_H
#define SHOAL_RECUR_BATCH_H

#include "targets.h"
#include <float.h>
#include <math.h>

enum { CALLS = 12 };

typedef struct call { /* a method and variant; method NULL past the last one */
    const char *method, *variant;
} call;

static call calls[CALLS];

typedef struct batch { /* as shoal_recur_opts has them; rows in the order of the recurrence */
    shoal_recur_opts shape;
    int width;
    double *s, *t, *w0; /* w0 NULL: zeros */
} batch;

typedef struct answer {
    shoal_status code;
    double *w;
    int32_t *status, *method;
    shoal_recur_info info;
} answer;

typedef struct how { /* zero = default */
    int in_place, offset;
    int threads, groups;
} how;

static inline double eps_of(shoal_type type) {
    return type == SHOAL_F32 ? FLT_EPSILON : DBL_EPSILON;
}

static inline int same(double v, double w) { return v == w || (isnan(v) && isnan(w)); }

static inline int same_all(const double *v, const double *w, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        if (!same(v[i], w[i])) return 0;
    return 1;
}

static inline int open_targets_and_calls(int *argc, char **argv) {
    int k = 0;
    calls[k++] = (call){ "auto", NULL };
    for (int i = 0; shoal_methods("recur", i); i++) {
        const char *method = shoal_methods("recur", i);
        if (!shoal_variants("recur", method, 0)) calls[k++] = (call){ method, NULL };
        for (int v = 0; shoal_variants("recur", method, v); v++)
            calls[k++] = (call){ method, shoal_variants("recur", method, v) };
    }
    return open_targets(argc, argv);
}

static inline int order_of(const batch *p) { return p->shape.order ? p->shape.order : 1; }

static inline int serves(const call *c, const batch *p) {
    int simple = order_of(p) == 1 && p->shape.form == SHOAL_RECUR_LINEAR;
    return simple || (shoal_method_flags("recur", c->method, NULL) & SHOAL_CAN_ORDERS) != 0;
}

static inline const char *name_of(const target *t, const call *c, const batch *p) {
    static char name[256];
    snprintf(name, sizeof name, "%s(%s):%s:%s %s n=%lld count=%lld order=%d%s%s%s%s%s", t->backend,
             t->isa ? t->isa : "", c->method, c->variant ? c->variant : "",
             p->shape.type ? "f32" : "f64", (long long)p->shape.n, (long long)p->shape.count,
             order_of(p), p->shape.form ? " moebius" : "", p->shape.reverse ? " reverse" : "",
             p->shape.layout ? " interleaved" : "", p->shape.constant_s ? " constant s" : "",
             p->shape.constant_t ? " constant t" : "");
    return name;
}

static inline int64_t s_rows(const batch *p) {
    return p->shape.constant_s ? p->shape.count : p->shape.n * p->shape.count;
}
static inline int64_t t_rows(const batch *p) {
    return p->shape.constant_t ? p->shape.count : p->shape.n * p->shape.count;
}

static inline batch new_batch(shoal_recur_opts shape) {
    batch p = { .shape = shape };
    p.width = shape.form ? 4 : order_of(&p);
    p.s = new_array((size_t)(s_rows(&p) * p.width), sizeof(double));
    p.t = new_array((size_t)t_rows(&p), sizeof(double));
    p.w0 = new_array((size_t)(shape.count * order_of(&p)), sizeof(double));
    return p;
}

static inline void free_batch(batch *p) {
    free(p->s), free(p->t), free(p->w0);
    *p = (batch){ 0 };
}

static inline void round_all(double *v, int64_t n, shoal_type type) {
    for (int64_t i = 0; i < n && type == SHOAL_F32; i++) v[i] = (float)v[i];
}

static inline batch generate(const char *kind, shoal_recur_opts shape) {
    batch p = new_batch(shape);
    shoal_recur_opts plain = shape;
    plain.layout = SHOAL_SYSTEM_MAJOR, plain.reverse = 0;
    shoal_status status = shoal_recur_generate(targets[0].ctx, kind, 7, 0, &plain, p.s, p.t, p.w0);
    CHECK_MSG(status == SHOAL_OK, "%s", shoal_message(targets[0].ctx));
    round_all(p.s, s_rows(&p) * p.width, shape.type);
    round_all(p.t, t_rows(&p), shape.type);
    round_all(p.w0, shape.count * order_of(&p), shape.type);
    return p;
}

/* Between doubles in the order of the recurrence and an array of the batch's type, layout and
 * direction; `constant` arrays have one row per segment. */
static inline void convert(const batch *p, int constant, int width, double *plain, void *typed,
                           int to_typed) {
    const shoal_recur_opts *o = &p->shape;
    for (int64_t k = 0; k < o->count; k++)
        for (int64_t i = 0; i < (constant ? 1 : o->n); i++)
            for (int e = 0; e < width; e++) {
                int64_t place = o->reverse ? o->n - 1 - i : i;
                int64_t row =
                    o->layout == SHOAL_INTERLEAVED ? place * o->count + k : k * o->n + place;
                int64_t at = (constant ? k : row) * width + e;
                int64_t from = ((constant ? k : k * o->n + i)) * width + e;
                if (to_typed && o->type == SHOAL_F32)
                    ((float *)typed)[at] = (float)plain[from];
                else if (to_typed)
                    ((double *)typed)[at] = plain[from];
                else
                    plain[from] =
                        o->type == SHOAL_F32 ? (double)((float *)typed)[at] : ((double *)typed)[at];
            }
}

static inline size_t size_of(shoal_type type) {
    return type == SHOAL_F32 ? sizeof(float) : sizeof(double);
}

static inline char *upload(shoal_context *ctx, const batch *p, int constant, int width,
                           double *plain, size_t skipped) {
    int64_t rows = constant ? p->shape.count : p->shape.n * p->shape.count;
    size_t bytes = (size_t)(rows * width) * size_of(p->shape.type);
    void *host = new_array(bytes, 1), *there = NULL;
    convert(p, constant, width, plain, host, 1);
    if (shoal_alloc(ctx, bytes + skipped, &there) != SHOAL_OK ||
        shoal_copy(ctx, (char *)there + skipped, host, bytes) != SHOAL_OK)
        CHECK_MSG(0, "%s", shoal_message(ctx));
    free(host);
    return there;
}

static inline shoal_status solve_typed(shoal_recur *plan, shoal_type type, void *s, void *t,
                                       void *w0, void *w) {
    return type == SHOAL_F32 ? shoal_recur_solvef(plan, s, t, w0, w)
                             : shoal_recur_solve(plan, s, t, w0, w);
}

/* w0 is segment after segment in either layout. */
static inline char *upload_first(shoal_context *ctx, const batch *p) {
    batch flat = { .shape = { .n = 1, .count = p->shape.count, .type = p->shape.type } };
    return p->w0 ? upload(ctx, &flat, 0, order_of(p), p->w0, 0) : NULL;
}

static inline answer solve_with(shoal_context *ctx, const batch *p, const call *m, how h) {
    answer r = { 0 };
    shoal_recur_opts o = p->shape;
    o.method = m->method, o.variant = m->variant;
    o.threads = h.threads, o.groups = h.groups;
    shoal_recur *plan = NULL;
    r.code = shoal_recur_create(ctx, &o, &plan);
    CHECK_MSG(r.code == SHOAL_OK, "%s: %s", m->method, shoal_message(ctx));
    if (r.code != SHOAL_OK) return r;
    size_t segments = (size_t)o.count, size = (size_t)(o.n * o.count);
    size_t bytes = size * size_of(o.type), skip = (size_t)h.offset * size_of(o.type);
    int in_place = h.in_place && !o.constant_t && !o.form;
    char *s = upload(ctx, p, o.constant_s, p->width, p->s, skip);
    char *t = upload(ctx, p, o.constant_t, 1, p->t, skip);
    char *w0 = upload_first(ctx, p), *w = t;
    if (!in_place) shoal_alloc(ctx, bytes + skip, (void **)&w);
    void *host = new_array(bytes, 1);
    memset(host, 0xee, bytes);
    if (!in_place) CHECK(shoal_copy(ctx, w + skip, host, bytes) == SHOAL_OK);
    shoal_outcome to = { 0 };
    shoal_alloc(ctx, segments * sizeof(int32_t), (void **)&to.status);
    shoal_alloc(ctx, segments * sizeof(int32_t), (void **)&to.method);
    CHECK(shoal_recur_outcome(plan, &to) == SHOAL_OK);
    r.code = solve_typed(plan, o.type, s + skip, o.form ? NULL : t + skip, w0, w + skip);
    if (r.code == SHOAL_OK) r.code = shoal_recur_last(plan, &r.info);
    CHECK_MSG(r.code == SHOAL_OK, "%s: %s", m->method, shoal_message(ctx));
    r.w = new_array(size, sizeof(double));
    r.status = new_array(segments, sizeof(int32_t));
    r.method = new_array(segments, sizeof(int32_t));
    CHECK(shoal_copy(ctx, host, w + skip, bytes) == SHOAL_OK);
    convert(p, 0, 1, r.w, host, 0);
    CHECK(shoal_copy(ctx, r.status, to.status, segments * sizeof(int32_t)) == SHOAL_OK);
    CHECK(shoal_copy(ctx, r.method, to.method, segments * sizeof(int32_t)) == SHOAL_OK);
    if (!in_place) shoal_free(ctx, w);
    shoal_free(ctx, s), shoal_free(ctx, t), shoal_free(ctx, w0);
    shoal_free(ctx, to.status), shoal_free(ctx, to.method);
    shoal_recur_free(plan);
    free(host);
    return r;
}

static inline void free_answer(answer *r) {
    free(r->w), free(r->status), free(r->method);
    *r = (answer){ 0 };
}

/* ---- the oracle ----------------------------------------------------------------------------- */

typedef struct oracle { /* one segment's state: the last values, the last sizes */
    long double w[4], c[4];
} oracle;

static inline oracle oracle_start(const batch *p, int64_t k) {
    oracle o = { { 0 }, { 0 } };
    for (int e = 0; p->w0 && e < order_of(p); e++) {
        o.w[e] = p->w0[k * order_of(p) + e];
        o.c[e] = fabsl(o.w[e]);
    }
    return o;
}

static inline void oracle_step(const batch *p, int64_t k, int64_t i, oracle *o) {
    const int64_t at = k * p->shape.n + i;
    const double *s = p->s + (p->shape.constant_s ? k : at) * p->width;
    const long double smallest = p->shape.type == SHOAL_F32 ? FLT_MIN : DBL_MIN;
    if (p->shape.form == SHOAL_RECUR_MOEBIUS) {
        o->w[0] = (s[0] * o->w[0] + s[1]) / (s[2] * o->w[0] + s[3]);
        const long double line = (fabsl(s[0] * o->c[0]) + fabsl(s[1])) / fabsl(s[3]);
        o->c[0] = s[2] != 0                     ? 1
                  : line > 0 && line < smallest ? smallest
                                                : line; /* the size of the generated ones */
        return;
    }
    long double w = p->t[p->shape.constant_t ? k : at], c = fabsl(w);
    for (int e = 0; e < order_of(p); e++) w += s[e] * o->w[e], c += fabsl(s[e] * o->c[e]);
    for (int e = order_of(p) - 1; e > 0; e--) o->w[e] = o->w[e - 1], o->c[e] = o->c[e - 1];
    o->w[0] = w, o->c[0] = c > 0 && c < smallest ? smallest : c;
}

/* Every row of every segment within the bound; the largest part of it that was used. */
static inline double check_accuracy(const batch *p, const answer *r, const char *who) {
    const double eps = eps_of(p->shape.type);
    double used = 0;
    for (int64_t k = 0; k < p->shape.count; k++) {
        oracle o = oracle_start(p, k);
        int bad = 0;
        CHECK_MSG(r->status[k] == 0, "%s k=%lld: status %d", who, (long long)k, r->status[k]);
        for (int64_t i = 0; i < p->shape.n && !bad; i++) {
            oracle_step(p, k, i, &o);
            double bound = (double)((p->shape.form ? 4 : order_of(p) + 1) * (i + 1) * o.c[0]) * eps;
            double error = (double)fabsl(r->w[k * p->shape.n + i] - o.w[0]);
            bad = !(error <= bound);
            CHECK_MSG(!bad, "%s k=%lld i=%lld: %.17g not %.17Lg, error %.3g above %.3g", who,
                      (long long)k, (long long)i, r->w[k * p->shape.n + i], o.w[0], error, bound);
            if (bound > 0 && error / bound > used) used = error / bound;
        }
    }
    return used;
}

#endif
