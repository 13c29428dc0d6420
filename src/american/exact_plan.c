/* SPDX-License-Identifier: Apache-2.0
 *
 * exact_plan.c - exact prices of American and European options on one asset: the public functions, their checks, the
 * rule's points, packs of options on the CPU, arrays on the GPU. exact.h has the formulas.
 */
#include "american/exact_point.h"
#include "core/loops.h"
#include "core/plan.h"
#include <math.h>
#include <shoal/american.h>
#include <stdlib.h>
#include <string.h>

extern const shoal_module shoal_american_module;

enum { NODES = 12, MAX_NODES = 32, PIECE = 1 << 20 };
/* Newton's method for the boundary has settled: for errors of few nodes; as far as f64 shows. */
#define ROUGH 3e-2
#define TIGHT 1e-6

/* ---- the rule ----------------------------------------------------------------------------------- */

/* sin, cos of Gauss's points on 0 .. pi/2, and the weights of the integral by the sine. */
static void gauss(int n, double *sine, double *cosine, double *weight) {
    for (int i = 0; i < n; i++) {
        double x = cos(M_PI * (i + 0.75) / (n + 0.5)), slope = 1;
        for (int pass = 0; pass < 100; pass++) {
            double p = 1, before = 0;
            for (int k = 1; k <= n; k++) {
                const double next = ((2 * k - 1) * x * p - (k - 1) * before) / k;
                before = p, p = next;
            }
            slope = n * (x * p - before) / (x * x - 1);
            x -= p / slope;
            if (fabs(p / slope) < 1e-15) break;
        }
        sine[i] = sin(M_PI_4 * (1 + x)), cosine[i] = cos(M_PI_4 * (1 + x));
        weight[i] = M_PI_2 / ((1 - x * x) * slope * slope) * cosine[i];
    }
}

/* The parts of H(x_1) .. H(x_n) in H(at), H(0) = 0. */
static void interpolate(int n, const double *x, double at, double *parts, int stride) {
    double sum = 0;
    for (int j = 0; j <= n; j++) {
        const double weight = (j % 2 ? -1 : 1) * (j == 0 || j == n ? 0.5 : 1);
        const double share = weight / (at - (j ? x[j - 1] : 0));
        sum += share;
        if (j) parts[(j - 1) * stride] = share;
    }
    for (int j = 0; j < n; j++) parts[j * stride] /= sum;
}

/* Numbers of a rule in one block. */
static size_t rule_numbers(int n, int l, int p) {
    return (size_t)(n + 4 * l + 3 * p) + (size_t)n * (size_t)(l * n + p);
}

/* The same rule with its numbers elsewhere. */
static exact_rule rule_at(const exact_rule *rule, const double *numbers) {
    const double *const from = rule->x;
    exact_rule to = *rule;
    const double **const list[] = { &to.x,      &to.z,       &to.w,       &to.one_over_z,
                                    &to.matrix, &to.price_z, &to.price_w, &to.price_matrix };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) *list[i] = numbers + (*list[i] - from);
    return to;
}

/* Free rule.x; NULL: no memory. across: threads of the GPU have neighbouring rows of the matrix. */
static exact_rule make_rule(int n, int across) {
    const int l = (4 * n + 2) / 3, p = 3 * l;
    double *x = malloc(rule_numbers(n, l, p) * sizeof *x);
    exact_rule rule = { .n = n, .l = l, .p = p, .settled = n < 8 ? ROUGH : TIGHT, .x = x };
    if (!x) return rule;
    double *z = x + n, *w = z + l, *cosine = w + l, *inverse = cosine + l, *m = inverse + l;
    double *price_z = m + n * l * n, *price_w = price_z + p, *price_cosine = price_w + p;
    double *price_m = price_cosine + p;
    rule.z = z, rule.w = w, rule.one_over_z = inverse, rule.matrix = m;
    rule.price_z = price_z, rule.price_w = price_w, rule.price_matrix = price_m;
    rule.of_row = across ? 1 : l * n, rule.of_point = across ? n * n : n;
    rule.of_node = across ? n : 1;
    for (int i = 0; i < n; i++) x[i] = 0.5 * (1 - cos(M_PI * (i + 1) / n));
    gauss(l, z, cosine, w);
    for (int k = 0; k < l; k++) inverse[k] = 1 / z[k];
    gauss(p, price_z, price_cosine, price_w);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < l; k++)
            interpolate(n, x, x[i] * cosine[k], m + i * rule.of_row + k * rule.of_point,
                        rule.of_node);
    for (int g = 0; g < p; g++) interpolate(n, x, price_cosine[g], price_m + g * n, 1);
    return rule;
}

/* ---- on the CPU --------------------------------------------------------------------------------- */

/* Up to EXACT_LANES options; vega at least with greeks. */
static void solve(const exact_method *exact, const exact_rule *rule, exact_point *o, int count,
                  int european, int greeks, double *work) {
    exact_pack pack;
    int lane[EXACT_LANES], lanes = 0;
    for (int i = 0; i < count; i++)
        if (exact_has_boundary(&o[i], european)) lane[lanes++] = i;
    if (lanes == 0) return;
    for (int l = 0; l < EXACT_LANES; l++) { /* lanes without an option repeat the first */
        const exact_point *from = &o[lane[l < lanes ? l : 0]];
        pack.s[l] = from->s, pack.k[l] = from->k, pack.r[l] = from->r, pack.q[l] = from->q;
        pack.v[l] = from->v, pack.maturity[l] = exact_enough_time(from), pack.of_q[l] = from->call;
    }
    exact->run(rule, &pack, greeks, work);
    for (int l = 0; l < lanes; l++) {
        exact_point *to = &o[lane[l]];
        to->price = pack.price[l], to->boundary = pack.boundary[l];
        if (greeks) {
            to->delta = pack.delta[l], to->gamma = pack.gamma[l];
            to->vega = pack.vega[l], to->rho = pack.rho[l];
        }
        if (pack.failed[l] || !isfinite(to->price)) to->status = SHOAL_VANILLA_UNSETTLED;
    }
}

static void imply(const exact_method *exact, const exact_rule *rule, exact_point *o, int count,
                  const double *price, int european, double *work) {
    exact_search at[EXACT_LANES];
    for (int i = 0; i < count; i++) exact_search_begin(&at[i], &o[i], price[i], european);
    for (int round = 0, left = 1; left && round < EXACT_ROUNDS; round++) {
        exact_point now[EXACT_LANES];
        int lane[EXACT_LANES];
        left = 0;
        for (int i = 0; i < count; i++)
            if (!o[i].status && !at[i].done) now[left] = o[i], lane[left++] = i;
        solve(exact, rule, now, left, european, 1, work);
        for (int i = 0; i < left; i++) {
            o[lane[i]] = now[i];
            if (!now[i].status) exact_search_narrow(&at[lane[i]], &o[lane[i]]);
        }
    }
    for (int i = 0; i < count; i++)
        if (!o[i].status && !at[i].done) o[i].status = SHOAL_VANILLA_UNSETTLED;
}

static void run_pack(const exact_job *j, const exact_method *exact, int64_t first, double *work) {
    const int64_t left = j->count - first;
    const int count = left < EXACT_LANES ? (int)left : EXACT_LANES;
    exact_point o[EXACT_LANES];
    for (int i = 0; i < count; i++) o[i] = exact_point_of(j, first + i);
    if (j->price)
        imply(exact, &j->rule, o, count, j->price + first, j->european, work);
    else
        solve(exact, &j->rule, o, count, j->european, j->greeks, work);
    for (int i = 0; i < count; i++) exact_store(j, first + i, &o[i]);
}

static shoal_status run_cpu(shoal_context *ctx, const exact_job *j, const exact_method *exact) {
    const int64_t packs = (j->count + EXACT_LANES - 1) / EXACT_LANES;
    const int64_t workers = packs < ctx->threads ? packs : ctx->threads;
    const size_t each = (size_t)EXACT_LANES * (size_t)exact_numbers(j->rule.n, j->rule.l);
    double *work = aligned_alloc(64, (size_t)workers * each * sizeof *work);
    if (!work) return SHOAL_NO_MEMORY(ctx, "%d nodes", j->rule.n);
    ON_THREADS((int)workers, static)
    for (int64_t w = 0; w < workers; w++)
        for (int64_t i = w; i < packs && !shoal_is_cancelled(ctx, i, packs); i += workers)
            run_pack(j, exact, i * EXACT_LANES, work + (size_t)w * each);
    free(work);
    return SHOAL_OK;
}

/* ---- on the GPU --------------------------------------------------------------------------------- */

/* An array of the caller: an input, or an output, or neither if it is absent; where the job has its address. */
typedef struct column {
    const void *from;
    void *to, *place;
    size_t width;
} column;

static shoal_status run_cuda(shoal_context *ctx, const exact_job *given,
                             const exact_cuda_method *exact) {
    exact_job job = *given;
    shoal_vanilla *a = &job.options;
    shoal_vanilla_values *v = &job.values;
#define INPUT(pointer)                                                                             \
    { (pointer), NULL, &(pointer), sizeof *(pointer) }
#define OUTPUT(pointer)                                                                            \
    { NULL, (pointer), &(pointer), sizeof *(pointer) }
    const column columns[] = { INPUT(a->s0),      INPUT(a->strike),   INPUT(a->rate),
                               INPUT(a->sigma),   INPUT(a->maturity), INPUT(a->dividend),
                               INPUT(a->call),    INPUT(job.price),   OUTPUT(v->price),
                               OUTPUT(v->delta),  OUTPUT(v->gamma),   OUTPUT(v->vega),
                               OUTPUT(v->theta),  OUTPUT(v->rho),     OUTPUT(v->boundary),
                               OUTPUT(job.sigma), OUTPUT(job.status) };
#undef INPUT
#undef OUTPUT
    enum { COLUMNS = sizeof columns / sizeof *columns };
    const int64_t piece = given->count < PIECE ? given->count : PIECE;
    const size_t each = (size_t)piece * sizeof(double);
    const size_t rule = rule_numbers(job.rule.n, job.rule.l, job.rule.p) * sizeof(double);
    void *memory = NULL;
    shoal_status s = shoal_alloc(ctx, rule + COLUMNS * each, &memory);
    if (s == SHOAL_OK) s = shoal_copy(ctx, memory, job.rule.x, rule);
    job.rule = rule_at(&job.rule, memory);
    char *device[COLUMNS];
    for (int c = 0; c < COLUMNS; c++) {
        device[c] = (char *)memory + rule + (size_t)c * each;
        if (columns[c].from || columns[c].to) memcpy(columns[c].place, &device[c], sizeof(void *));
    }
    for (int64_t first = 0; first < given->count && s == SHOAL_OK; first += piece) {
        const int64_t left = given->count - first;
        if (shoal_is_cancelled(ctx, first, given->count)) break;
        job.count = left < piece ? left : piece;
        for (int c = 0; c < COLUMNS && s == SHOAL_OK; c++) {
            const size_t width = columns[c].width, before = (size_t)first * width;
            if (columns[c].from)
                s = shoal_copy(ctx, device[c], (const char *)columns[c].from + before,
                               (size_t)job.count * width);
        }
        if (s == SHOAL_OK) s = exact->run(ctx, &job);
        for (int c = 0; c < COLUMNS && s == SHOAL_OK; c++) {
            const size_t width = columns[c].width, before = (size_t)first * width;
            if (columns[c].to)
                s = shoal_copy(ctx, (char *)columns[c].to + before, device[c],
                               (size_t)job.count * width);
        }
    }
    shoal_free(ctx, memory);
    return s;
}

/* ---- the public functions ----------------------------------------------------------------------- */

static shoal_status run(shoal_context *ctx, exact_job *j, int64_t nodes) {
    const shoal_method *method = shoal_find_method(&shoal_american_module, "exact");
    const void *cell = shoal_cell(ctx, method, SHOAL_F64);
    const shoal_vanilla_values *v = &j->values;
    const shoal_stage stage = shoal_stage_begin(ctx, "options");
    shoal_status s = SHOAL_OK;
    j->rule = make_rule((int)nodes, ctx->ops != NULL);
    const double *numbers = j->rule.x;
    j->greeks = v->delta || v->gamma || v->vega || v->theta || v->rho;
    if (j->price) j->rule.settled = TIGHT; /* the price must not jump where a pass more is taken */
    if (!numbers)
        s = SHOAL_NO_MEMORY(ctx, "%d nodes", (int)nodes);
    else
        s = ctx->ops ? run_cuda(ctx, j, cell) : run_cpu(ctx, j, cell);
    free((void *)(uintptr_t)numbers);
    return shoal_stage_end(ctx, &stage, s);
}

static shoal_status check(shoal_context *ctx, const shoal_vanilla *a, const double *sigma,
                          int64_t count, const shoal_vanilla_opts *opts, exact_job *j,
                          int64_t *nodes) {
    const int none = count == 0;
    const shoal_vanilla_opts o = opts ? *opts : (shoal_vanilla_opts){ 0 };
    *nodes = o.nodes ? o.nodes : NODES;
    const shoal_flag flag = SHOAL_FLAG("european", o.european);
    shoal_status s = shoal_ready(ctx);
    if (s == SHOAL_OK) s = shoal_check_count(ctx, "count", count, 0, INT64_MAX / 4096);
    if (s == SHOAL_OK) s = shoal_check_count(ctx, "nodes", *nodes, 4, MAX_NODES);
    if (s == SHOAL_OK) s = shoal_check_flags(ctx, &flag, 1);
    if (s == SHOAL_OK && !a) s = shoal_fail(ctx, SHOAL_E_ARG, "options is NULL");
    if (s != SHOAL_OK) return s;
    j->options = *a, j->count = count, j->european = o.european;
    const shoal_array given[] = { { "s0", a->s0, none },
                                  { "strike", a->strike, none },
                                  { "rate", a->rate, none },
                                  { "maturity", a->maturity, none },
                                  { "sigma", sigma, none } };
    return shoal_check_pointers(ctx, given, sizeof given / sizeof *given);
}

shoal_status shoal_vanilla_value(shoal_context *ctx, const shoal_vanilla *options, int64_t count,
                                 const shoal_vanilla_opts *opts, const shoal_vanilla_values *values,
                                 int32_t *status) {
    exact_job j = { .status = status };
    const shoal_array given = { "values", values, 0 };
    int64_t nodes;
    if (!ctx) return SHOAL_E_ARG;
    shoal_status s = check(ctx, options, options ? options->sigma : NULL, count, opts, &j, &nodes);
    if (s == SHOAL_OK) s = shoal_check_pointers(ctx, &given, 1);
    if (s != SHOAL_OK || count == 0) return s;
    j.values = *values;
    return run(ctx, &j, nodes);
}

shoal_status shoal_vanilla_implied(shoal_context *ctx, const shoal_vanilla *options, int64_t count,
                                   const shoal_vanilla_opts *opts, const double *price,
                                   double *sigma, int32_t *status) {
    exact_job j = { .status = status, .sigma = sigma, .price = price };
    const shoal_array given = { "price", price, count == 0 };
    int64_t nodes;
    shoal_status s = ctx ? shoal_check_pointers(ctx, &given, 1) : SHOAL_E_ARG;
    if (s == SHOAL_OK) s = check(ctx, options, sigma, count, opts, &j, &nodes);
    if (s != SHOAL_OK || count == 0) return s;
    j.options.sigma = NULL;
    return run(ctx, &j, nodes);
}
