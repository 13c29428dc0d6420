/* SPDX-License-Identifier: Apache-2.0
 *
 * test_promises_recur.c - the promises of recur in docs/promises.md, over random segments of every kind, scale, size,
 * order, type and layout, by every method. The oracle substitutes in wide arithmetic (promises.h).
 *
 * With m the smallest normal number and c_i = sum |s_ik| c_{i-k} + |t_i|, c_{-k} = |w0_k|, raised to m where it is below
 * m but not 0:
 *
 *   status 0     |w_i - exact| <= (r + 1) (i + 1) eps c_i in every row
 *                and no |w_i| is beyond twice the largest number
 *   else         not of a segment whose c_i are all below a quarter of the largest number
 */
#include "recur_batch.h"
#include "promises.h"

typedef struct truth {
    int finite, in_range, overflows;
    wide *w, *bound; /* per row */
} truth;

/* ---- the truth --------------------------------------------------------------------------------- */

typedef struct state {
    wide w[SHOAL_RECUR_ORDERS], c[SHOAL_RECUR_ORDERS];
} state;

static void push(wide *values, int order, wide value) {
    for (int e = order - 1; e > 0; e--) values[e] = values[e - 1];
    values[0] = value;
}

static wide raised(const batch *p, wide c) {
    const wide smallest = p->shape.type == SHOAL_F32 ? FLT_MIN : DBL_MIN;
    return c > 0 && c < smallest ? smallest : c;
}

static void step_linear(const batch *p, int64_t k, int64_t i, state *at) {
    const int64_t row = k * p->shape.n + i;
    const double *s = p->s + (p->shape.constant_s ? k : row) * p->width;
    wide w = p->t[p->shape.constant_t ? k : row], c = wide_abs(w);
    for (int e = 0; e < p->width; e++) w += s[e] * at->w[e], c += wide_abs(s[e]) * at->c[e];
    push(at->w, p->width, w), push(at->c, p->width, raised(p, c));
}

/* Rows (s, t, 0, 1) are linear. The others of the generator have |w| and the derivatives of their maps below 1: c
 * is 1. */
static void step_moebius(const batch *p, int64_t k, int64_t i, state *at) {
    const double *s = p->s + (p->shape.constant_s ? k : k * p->shape.n + i) * p->width;
    const int linear = s[2] == 0 && s[3] == 1;
    at->w[0] = (s[0] * at->w[0] + s[1]) / (s[2] * at->w[0] + s[3]);
    at->c[0] = linear ? raised(p, wide_abs(s[0]) * at->c[0] + wide_abs(s[1])) : 1;
}

static int all_finite(const double *v, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(v[i])) return 0;
    return 1;
}

static truth reference_of(const batch *p, int64_t k) {
    const int64_t n = p->shape.n, order = order_of(p);
    const wide largest = p->shape.type == SHOAL_F32 ? FLT_MAX / 4 : DBL_MAX / 4;
    truth t = { 1, 1, 0, new_array((size_t)n, sizeof(wide)), new_array((size_t)n, sizeof(wide)) };
    state at = { 0 };
    t.finite = all_finite(p->s + (p->shape.constant_s ? k : k * n) * p->width,
                          (p->shape.constant_s ? 1 : n) * p->width) &&
               all_finite(p->t + (p->shape.constant_t ? k : k * n), p->shape.constant_t ? 1 : n) &&
               all_finite(p->w0 + k * order, order);
    for (int e = 0; e < order; e++)
        at.w[e] = p->w0[k * order + e], at.c[e] = raised(p, wide_abs(at.w[e]));
    for (int64_t i = 0; i < n && t.finite && !t.overflows; i++) {
        if (p->shape.form)
            step_moebius(p, k, i, &at);
        else
            step_linear(p, k, i, &at);
        t.w[i] = at.w[0];
        const wide terms = p->shape.form ? 4 : order + 1;
        t.bound[i] = terms * (i + 1) * eps_of(p->shape.type) * at.c[0];
        t.in_range = t.in_range && at.c[0] < largest;
        t.overflows = wide_abs(at.w[0]) > 8 * largest + 2 * t.bound[i];
    }
    return t;
}

/* ---- verdicts ---------------------------------------------------------------------------------- */

/* The first row beyond its bound, or -1. */
static int64_t wrong_row(const batch *p, const truth *t, const double *w) {
    for (int64_t i = 0; i < p->shape.n; i++)
        if (!isfinite(w[i]) || wide_abs(w[i] - t->w[i]) > t->bound[i]) return i;
    return -1;
}

static void judge(const batch *p, const truth *t, const target *on, const call *c, const answer *a,
                  int64_t k, const char *kind) {
    const int64_t n = p->shape.n;
    const int32_t status = a->status[k];
    const int64_t wrong = status == 0 && t->finite ? wrong_row(p, t, a->w + k * n) : -1;
    char name[PROMISE_NAME], what[384];
    snprintf(name, sizeof name, "%s%s%s %s", c->method, c->variant ? " " : "",
             c->variant ? c->variant : "", on->backend);
    snprintf(what, sizeof what, "%s k=%lld row %lld: %.9g, not %.9g within %.3g; %s", kind,
             (long long)k, (long long)wrong, wrong < 0 ? 0 : a->w[k * n + wrong],
             wrong < 0 ? 0 : (double)t->w[wrong], wrong < 0 ? 0 : (double)t->bound[wrong],
             name_of(on, c, p));
    int fault = -1;
    if (!t->finite)
        fault = status == SHOAL_SYSTEM_NONFINITE ? -1 : FALSE_OK;
    else if (wrong >= 0 || (status == 0 && t->overflows))
        fault = FALSE_OK;
    else if (status != 0 && t->in_range)
        fault = FALSE_FAIL;
    promise_count(name, status, fault, what);
}

/* ---- draws ------------------------------------------------------------------------------------- */

/* Of the linear ones: t and w0 by powers of two, and stretches in which s is smaller or larger. */
static void scale(batch *p, stream *s) {
    const int range = p->shape.type == SHOAL_F32 ? 100 : 900;
    const int first = draw_chance(s, 40) ? (int)draw(s, -range, range) : 0;
    const int t = draw_chance(s, 40) ? (int)draw(s, -range, first > 0 ? range : 0) : 0;
    const double of_t = draw_chance(s, 20) ? 0 : ldexp(1, t);
    const int64_t n = p->shape.n, order = order_of(p), stretches = draw_chance(s, 40) ? 4 : 0;
    for (int64_t i = 0; i < p->shape.count * order; i++) p->w0[i] = ldexp(p->w0[i], first);
    for (int64_t i = 0; i < t_rows(p); i++) p->t[i] *= of_t;
    for (int64_t k = 0; k < p->shape.count && !p->shape.constant_s && n; k++)
        for (int64_t j = 0; j < stretches; j++) {
            const int64_t begin = draw(s, 0, n - 1), rows = draw(s, 1, n / 4 + 1);
            const double factor = ldexp(0.5 + (double)draw(s, 0, 100) / 100, (int)draw(s, -3, 2));
            for (int64_t i = begin; i < begin + rows && i < n; i++)
                for (int e = 0; e < p->width; e++) p->s[(k * n + i) * p->width + e] *= factor;
        }
    round_all(p->s, s_rows(p) * p->width, p->shape.type);
    round_all(p->t, t_rows(p), p->shape.type);
    round_all(p->w0, p->shape.count * order, p->shape.type);
}

static int64_t draw_size(stream *s) {
    const int64_t percent = draw(s, 0, 99);
    return percent < 70   ? draw(s, 1, 300)
           : percent < 95 ? draw(s, 301, 3000)
                          : draw(s, 3001, 20000);
}

static void one_batch(stream *s, int kinds) {
    const char *kind = shoal_recur_kind((int)draw(s, 0, kinds - 1));
    const target *on = &targets[draw(s, 0, target_count - 1)];
    shoal_recur_opts shape = { .n = draw_size(s),
                               .count = draw(s, 1, on_cpu(on) ? 12 : 60),
                               .order = draw_chance(s, 60) ? 1 : (int)draw(s, 2, 4),
                               .reverse = draw_chance(s, 20),
                               .constant_s = draw_chance(s, 10),
                               .constant_t = draw_chance(s, 10),
                               .type = draw_chance(s, 50) ? SHOAL_F32 : SHOAL_F64,
                               .layout =
                                   draw_chance(s, 30) ? SHOAL_INTERLEAVED : SHOAL_SYSTEM_MAJOR };
    if (draw_chance(s, 10)) shape.form = SHOAL_RECUR_MOEBIUS, shape.order = 1;
    batch p = new_batch(shape);
    shoal_recur_opts plain = shape;
    plain.layout = SHOAL_SYSTEM_MAJOR, plain.reverse = 0;
    const int64_t first = draw(s, 0, 1 << 30);
    const uint64_t seed = draw_bits(s);
    CHECK_MSG(!shoal_recur_generate(on->ctx, kind, seed, first, &plain, p.s, p.t, p.w0), "%s",
              shoal_message(on->ctx));
    if (!shape.form) scale(&p, s);
    round_all(p.s, s_rows(&p) * p.width, shape.type);
    round_all(p.w0, shape.count, shape.type);
    truth *t = new_array((size_t)shape.count, sizeof *t);
    IN_PARALLEL
    for (int64_t k = 0; k < shape.count; k++) t[k] = reference_of(&p, k);
    for (const call *c = calls; c->method; c++) {
        if (!serves(c, &p)) continue;
        answer a = solve_with(on->ctx, &p, c, (how){ .in_place = draw_chance(s, 20) });
        for (int64_t k = 0; k < shape.count && a.code == SHOAL_OK; k++)
            judge(&p, &t[k], on, c, &a, k, kind);
        free_answer(&a);
    }
    for (int64_t k = 0; k < shape.count; k++) free(t[k].w), free(t[k].bound);
    free(t);
    free_batch(&p);
    promise_systems += shape.count;
}

TEST(no_false_verdict) { draw_promises("recur", shoal_recur_kind, 200, 200000, one_batch); }

int main(int argc, char **argv) {
    take_promise_options(&argc, argv);
    if (!open_targets_and_calls(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(no_false_verdict);
    close_targets();
    return TEST_END();
}
