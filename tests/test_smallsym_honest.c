/* SPDX-License-Identifier: Apache-2.0
 *
 * test_smallsym_honest.c - no false "ok" and no false alarm: random members of every generator kind, over
 * sizes, types, storages, layouts, right-hand sides, scales of A and b and the outcomes that are asked
 * for, by every method; each verdict against an oracle in long double that shares no code with it:
 *
 *   wrong     status 0 (or 3), but the backward error of x as stored is above 10 n units of roundoff
 *   singular  status 0 (or 3), but the condition number is above 30 times the limit
 *   alarm     another status, though the condition number is below a 30th of the limit, the method is
 *             for such matrices, x fits in the range, and x as stored is good, or there is none
 *
 * The condition number is that of S A S, S such that its rows are of size 1, for "eigdc" of A itself; what
 * is no alarm for A itself is none if rows differ by less than 16, as A is left as it is then. All
 * counts must be 0. SHOAL_TEST_SYSTEMS: so many systems, for a longer hunt; SHOAL_TEST_SEED: others.
 *
 *     test_smallsym_honest [--small] [--backend=cpu|cuda] [test name ...]
 */
#include "targets.h"
#include <math.h>

typedef long double wide;

enum { N = 64, METHODS = 5 };

static const struct {
    const char *name;
    int indefinite, scaled; /* is for such matrices; the limit is that of the scaled matrix */
} methods[METHODS] = {
    { "ldlt", 0, 1 }, { "hhpcr", 0, 1 }, { "ldltp", 1, 1 }, { "eigdc", 1, 0 }, { "auto", 1, 1 }
};

/* Kinds of the generator, each with values of its parameter; NAN: the default. */
static const struct {
    const char *kind;
    double parameter[4];
} families[] = {
    { "spd", { NAN } },
    { "indefinite", { NAN } },
    { "wishart", { NAN, 1e-3, 1e-6, 0 } },
    { "regression", { NAN, 20, 5 } },
    { "centred", { NAN, 20, 5 } },
    { "kkt", { NAN } },
    { "hilbert", { NAN } },
    { "clustered", { NAN, 1e9, 1e15 } },
    { "spectrum", { NAN, 1e8, 1e13, 1e17 } },
    { "deficient", { NAN } },
    { "singular", { NAN, 1 } },
    { "nonfinite", { NAN } },
    { "huge", { NAN } },
    { "tiny", { NAN } },
    { "underdetermined", { NAN, 0.5, 0.9 } },
    { "laplacian", { NAN } },
    { "integer", { NAN, 0 } },
    { "graded", { NAN, 3, 14 } },
    { "dominant", { NAN, 1e3, 1e14 } },
};
enum { FAMILIES = sizeof families / sizeof *families };

/* ---- random choices ----------------------------------------------------------------------------- */

static uint64_t state = 20170;

static uint64_t draw(uint64_t below) { /* splitmix64 */
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (z ^ z >> 31) % below;
}

static int64_t count_from(const char *name, int64_t usual) {
    const char *text = getenv(name);
    return text && *text ? strtoll(text, NULL, 10) : usual;
}

/* ---- the oracle --------------------------------------------------------------------------------- */

typedef struct oracle { /* of one system */
    int n, finite, definite;
    wide a[N][N], inverse[N][N];
    wide norm;             /* |A|                                         */
    wide kappa, own_kappa; /* of A scaled by its rows, and of A itself     */
    int even;              /* rows are of one size, to a factor of 16      */
} oracle;

static wide norm_of(int n, wide (*a)[N]) {
    wide most = 0;
    for (int i = 0; i < n; i++) {
        wide sum = 0;
        for (int j = 0; j < n; j++) sum += fabsl(a[i][j]);
        most = fmaxl(most, sum);
    }
    return most;
}

/* By Gauss and Jordan with complete pivoting; 0 for a singular matrix. */
static int invert(int n, wide (*from)[N], wide (*to)[N]) {
    static wide w[N][N];
    int row_of[N], column_of[N], done[N] = { 0 };
    for (int i = 0; i < n; i++) memcpy(w[i], from[i], (size_t)n * sizeof(wide));
    for (int k = 0; k < n; k++) {
        int r = -1, c = -1;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n && !done[i]; j++) {
                int used = 0;
                for (int m = 0; m < k; m++) used |= column_of[m] == j;
                if (!used && (r < 0 || fabsl(w[i][j]) > fabsl(w[r][c]))) r = i, c = j;
            }
        if (w[r][c] == 0) return 0;
        done[r] = 1, row_of[k] = r, column_of[k] = c;
        const wide pivot = 1 / w[r][c];
        w[r][c] = 1;
        for (int j = 0; j < n; j++) w[r][j] *= pivot;
        for (int i = 0; i < n; i++) {
            if (i == r) continue;
            const wide f = w[i][c];
            w[i][c] = 0;
            for (int j = 0; j < n; j++) w[i][j] -= f * w[r][j];
        }
    }
    for (int p = 0; p < n; p++)
        for (int q = 0; q < n; q++) to[column_of[p]][row_of[q]] = w[row_of[p]][column_of[q]];
    return 1;
}

/* s(i) is divided by the root of the largest size in row i of S A S, until all are 1. */
static void scale_by_rows(int n, wide (*a)[N], wide *s) {
    wide root[N];
    for (int i = 0; i < n; i++) s[i] = 1;
    for (int step = 0; step < 60; step++) {
        for (int i = 0; i < n; i++) {
            wide most = 0;
            for (int j = 0; j < n; j++) most = fmaxl(most, fabsl(a[i][j]) * s[i] * s[j]);
            root[i] = most > 0 ? sqrtl(most) : 1;
        }
        for (int i = 0; i < n; i++) s[i] /= root[i];
    }
}

static int is_definite(int n, wide (*from)[N]) {
    static wide w[N][N];
    for (int i = 0; i < n; i++) memcpy(w[i], from[i], (size_t)n * sizeof(wide));
    for (int k = 0; k < n; k++) {
        if (w[k][k] == 0 || (w[k][k] > 0) != (w[0][0] > 0)) return 0;
        for (int i = k + 1; i < n; i++)
            for (int j = k + 1; j < n; j++) w[i][j] -= w[i][k] / w[k][k] * w[k][j];
    }
    return 1;
}

static void consult(oracle *o) {
    static wide scaled[N][N], inverse[N][N];
    wide s[N];
    o->norm = norm_of(o->n, o->a);
    o->own_kappa = o->kappa = INFINITY, o->definite = o->even = 0;
    if (!o->finite) return;
    scale_by_rows(o->n, o->a, s);
    wide least = INFINITY, most = 0;
    for (int i = 0; i < o->n; i++) {
        wide size = 0;
        for (int j = 0; j < o->n; j++) size = fmaxl(size, fabsl(o->a[i][j]));
        least = size > 0 ? fminl(least, size) : least, most = fmaxl(most, size);
    }
    o->even = most < 16 * least;
    for (int i = 0; i < o->n; i++)
        for (int j = 0; j < o->n; j++) scaled[i][j] = o->a[i][j] * s[i] * s[j];
    if (!invert(o->n, scaled, inverse)) return;
    o->kappa = norm_of(o->n, scaled) * norm_of(o->n, inverse);
    o->definite = is_definite(o->n, scaled);
    for (int i = 0; i < o->n; i++)
        for (int j = 0; j < o->n; j++) o->inverse[i][j] = inverse[i][j] * s[i] * s[j];
    o->own_kappa = o->norm * norm_of(o->n, o->inverse);
}

/* ---- batches ------------------------------------------------------------------------------------ */

typedef struct batch {
    shoal_smallsym_opts shape;
    const char *kind;
    double parameter;
    int asked; /* outcomes beside the status */
    void *A, *b, *x;
    int32_t status[256];
    float residual[256], rcond[256];
} batch;

static double number(const batch *p, const void *array, int64_t i) {
    return p->shape.type == SHOAL_F32 ? (double)((const float *)array)[i]
                                      : ((const double *)array)[i];
}

static void set(const batch *p, void *array, int64_t i, double v) {
    if (p->shape.type == SHOAL_F32)
        ((float *)array)[i] = (float)v;
    else
        ((double *)array)[i] = v;
}

static int interleaved(const batch *p) { return p->shape.layout == SHOAL_INTERLEAVED; }

/* A(i,j), i >= j, of system k. */
static double entry(const batch *p, int64_t k, int64_t i, int64_t j) {
    const int64_t n = p->shape.n, count = p->shape.count;
    const int packed = p->shape.storage == SHOAL_PACKED, upper = p->shape.triangle == SHOAL_UPPER;
    const int64_t e = packed ? (upper ? j * n - j * (j - 1) / 2 + i - j : i * (i + 1) / 2 + j)
                             : (upper ? j * n + i : i * n + j);
    const int64_t all = packed ? n * (n + 1) / 2 : n * n;
    return number(p, p->A, interleaved(p) ? e * count + k : k * all + e);
}

static int64_t rhs_at(const batch *p, int64_t k, int64_t i, int64_t c) {
    return (interleaved(p) ? i * p->shape.count + k : k * p->shape.n + i) * p->shape.nrhs + c;
}

static int64_t numbers_of(const batch *p) { return p->shape.n * p->shape.n * p->shape.count; }

static void scale_array(const batch *p, void *array, int64_t numbers, double by) {
    for (int64_t i = 0; i < numbers; i++) set(p, array, i, number(p, array, i) * by);
}

/* A batch that is drawn; sizes of A and b are scaled by powers of ten, or of two. */
static batch draw_batch(shoal_context *ctx, int64_t systems) {
    const int f = (int)draw(FAMILIES);
    batch p = { .kind = families[f].kind, .asked = (int)draw(4) };
    int parameters = 1;
    while (parameters < 4 && families[f].parameter[parameters] != 0) parameters++;
    if (strcmp(p.kind, "wishart") == 0) parameters = 4;
    if (strcmp(p.kind, "integer") == 0) parameters = 2;
    p.parameter = families[f].parameter[draw((uint64_t)parameters)];
    const int64_t most = draw(4) ? 20 : N;
    p.shape = (shoal_smallsym_opts){ .n = 1 + (int64_t)draw((uint64_t)most),
                                     .count = systems,
                                     .nrhs = draw(3) ? 1 : 3,
                                     .type = draw(2) ? SHOAL_F32 : SHOAL_F64,
                                     .layout = draw(4) ? SHOAL_SYSTEM_MAJOR : SHOAL_INTERLEAVED,
                                     .storage = draw(4) ? SHOAL_FULL : SHOAL_PACKED,
                                     .triangle = draw(4) ? SHOAL_LOWER : SHOAL_UPPER };
    const size_t numbers = (size_t)(numbers_of(&p) + 1);
    const size_t vectors = (size_t)(p.shape.n * p.shape.count * p.shape.nrhs);
    shoal_status status = SHOAL_OK;
    p.A = new_array(numbers, sizeof(double));
    p.b = new_array(vectors, sizeof(double));
    p.x = new_array(vectors, sizeof(double));
    const uint64_t seed = draw(1u << 30);
    if (p.shape.type == SHOAL_F32)
        status = shoal_smallsym_generatef(ctx, p.kind, p.parameter, seed, 0, &p.shape, p.A, p.b);
    else
        status = shoal_smallsym_generate(ctx, p.kind, p.parameter, seed, 0, &p.shape, p.A, p.b);
    CHECK_MSG(status == SHOAL_OK, "%s: %s", p.kind, shoal_message(ctx));
    const int decades = p.shape.type == SHOAL_F32 ? 15 : 30, how = (int)draw(3);
    const int own = strcmp(p.kind, "huge") == 0 || strcmp(p.kind, "tiny") == 0;
    if (how == 0 || own) return p;
    const double of_a = pow(how == 1 ? 10 : 2, (double)draw(2 * (uint64_t)decades) - decades);
    const double of_b = pow(how == 1 ? 10 : 2, (double)draw(2 * (uint64_t)decades) - decades);
    scale_array(&p, p.A, numbers_of(&p), of_a);
    scale_array(&p, p.b, (int64_t)vectors, of_b);
    return p;
}

static void free_batch(batch *p) {
    free(p->A);
    free(p->b);
    free(p->x);
}

static void put(shoal_context *ctx, void **to, const void *from, size_t bytes) {
    CHECK(shoal_alloc(ctx, bytes + 8, to) == SHOAL_OK);
    CHECK(shoal_copy(ctx, *to, from, bytes) == SHOAL_OK);
}

/* Solves by a method, in the context's memory. The limit in force, or 0. */
static double solve_batch(shoal_context *ctx, batch *p, const char *method) {
    shoal_smallsym_opts opts = p->shape;
    shoal_smallsym *plan = NULL;
    shoal_smallsym_info info = { 0 };
    void *A, *b, *x, *status, *residual = NULL, *rcond = NULL;
    const size_t one = opts.type == SHOAL_F32 ? 4 : 8, count = (size_t)opts.count;
    const size_t vectors = (size_t)(opts.n * opts.count * opts.nrhs) * one;
    opts.method = method;
    if (shoal_smallsym_create(ctx, &opts, &plan) != SHOAL_OK) return 0;
    put(ctx, &A, p->A, (size_t)numbers_of(p) * one);
    put(ctx, &b, p->b, vectors);
    put(ctx, &x, p->x, vectors);
    put(ctx, &status, p->status, count * 4);
    if (p->asked & 1) put(ctx, &residual, p->residual, count * 4);
    if (p->asked & 2) put(ctx, &rcond, p->rcond, count * 4);
    const shoal_outcome where = { .status = status, .residual = residual, .rcond = rcond };
    shoal_status done = shoal_smallsym_outcome(plan, &where);
    if (done == SHOAL_OK)
        done = opts.type == SHOAL_F32 ? shoal_smallsym_solvef(plan, A, b, x)
                                      : shoal_smallsym_solve(plan, A, b, x);
    if (done == SHOAL_OK) done = shoal_smallsym_last(plan, &info);
    CHECK_MSG(done == SHOAL_OK, "%s: %s", method, shoal_message(ctx));
    CHECK(shoal_copy(ctx, p->x, x, vectors) == SHOAL_OK);
    CHECK(shoal_copy(ctx, p->status, status, count * 4) == SHOAL_OK);
    if (residual) CHECK(shoal_copy(ctx, p->residual, residual, count * 4) == SHOAL_OK);
    shoal_free(ctx, A), shoal_free(ctx, b), shoal_free(ctx, x), shoal_free(ctx, status);
    shoal_free(ctx, residual), shoal_free(ctx, rcond);
    shoal_smallsym_free(plan);
    return info.cond;
}

/* ---- verdicts ----------------------------------------------------------------------------------- */

typedef struct counts {
    int64_t systems, ok, warned, failed, wrong, singular, alarms;
} counts;

static void load_oracle(const batch *p, int64_t k, oracle *o) {
    o->n = (int)p->shape.n, o->finite = 1;
    for (int i = 0; i < o->n; i++)
        for (int j = 0; j <= i; j++) {
            o->a[i][j] = o->a[j][i] = (wide)entry(p, k, i, j);
            o->finite &= isfinite((double)o->a[i][j]) != 0;
        }
    consult(o);
}

/* The largest backward error of the system's right-hand sides, as stored; infinite if x is not there. */
static wide backward_error(const batch *p, int64_t k, const oracle *o) {
    wide worst = 0;
    for (int64_t c = 0; c < p->shape.nrhs; c++) {
        wide r_most = 0, x_most = 0, b_most = 0;
        for (int i = 0; i < o->n; i++) {
            const wide b = (wide)number(p, p->b, rhs_at(p, k, i, c));
            wide r = b;
            for (int j = 0; j < o->n; j++)
                r -= o->a[i][j] * (wide)number(p, p->x, rhs_at(p, k, j, c));
            if (isnan((double)r)) return INFINITY;
            r_most = fmaxl(r_most, fabsl(r)), b_most = fmaxl(b_most, fabsl(b));
            x_most = fmaxl(x_most, fabsl((wide)number(p, p->x, rhs_at(p, k, i, c))));
        }
        if (r_most > 0) worst = fmaxl(worst, r_most / (o->norm * x_most + b_most));
    }
    return worst;
}

/* Whether every x fits in the type's range with room to spare, and loses nothing at its lower end. */
static int fits(const batch *p, int64_t k, const oracle *o) {
    const wide high = p->shape.type == SHOAL_F32 ? 0x1p126L : 0x1p1020L;
    for (int64_t c = 0; c < p->shape.nrhs; c++)
        for (int i = 0; i < o->n; i++) {
            wide x = 0;
            for (int j = 0; j < o->n; j++)
                x += o->inverse[i][j] * (wide)number(p, p->b, rhs_at(p, k, j, c));
            if (!(fabsl(x) < high)) return 0;
        }
    return 1;
}

static int rhs_finite(const batch *p, int64_t k) {
    for (int64_t c = 0; c < p->shape.nrhs; c++)
        for (int64_t i = 0; i < p->shape.n; i++)
            if (!isfinite(number(p, p->b, rhs_at(p, k, i, c)))) return 0;
    return 1;
}

static void judge(const target *t, const batch *p, int64_t k, const oracle *o, int m, double cond,
                  counts *all) {
    const int32_t status = p->status[k];
    const int ok = status == SHOAL_SYSTEM_OK || status == SHOAL_SYSTEM_REFINED;
    const wide kappa = methods[m].scaled ? o->kappa : o->own_kappa;
    const wide error = backward_error(p, k, o);
    const double eps = p->shape.type == SHOAL_F32 ? 0x1p-23 : 0x1p-52;
    const int input = o->finite && rhs_finite(p, k);
    /* in the 2-norm, which counts for "eigdc", a condition number may be n times smaller */
    const wide slack = methods[m].scaled ? 30 : 30 * (wide)o->n;
    const int wrong = ok && !(error <= 10 * (wide)o->n * (wide)eps);
    const int singular = ok && kappa > slack * (wide)cond;
    const wide larger = o->even ? fmaxl(kappa, o->own_kappa) : kappa; /* A is left as it is */
    const int usable = input && (methods[m].indefinite || o->definite) && larger < (wide)cond / 30;
    const int good = error <= 8 * (wide)o->n * (wide)eps;
    const int alarm = usable && !ok && (good || status < 0) && fits(p, k, o);
    all->systems++, all->ok += ok, all->warned += status > 0, all->failed += status < 0;
    all->wrong += wrong, all->singular += singular, all->alarms += alarm;
    const char *what = wrong                                         ? "wrong"
                       : singular                                    ? "singular"
                       : alarm                                       ? "alarm"
                       : input == (status == SHOAL_SYSTEM_NONFINITE) ? "input"
                                                                     : NULL;
    CHECK_MSG(!what,
              "%s: %s %s %s %s(%g) n=%d asked=%d system %lld of %lld: status %d, condition %.2Lg, "
              "error %.2Lg",
              what, t->backend, methods[m].name, eps > 1e-10 ? "f32" : "f64", p->kind, p->parameter,
              o->n, p->asked, (long long)k, (long long)p->shape.count, status, kappa, error);
}

static void print_counts(const target *t, const counts *all) {
    printf("%-6s %-6s %9s %9s %9s %9s %6s %8s %6s\n", "", "method", "systems", "ok", "warned",
           "failed", "wrong", "singular", "alarms");
    for (int m = 0; m < METHODS; m++)
        printf("%-6s %-6s %9lld %9lld %9lld %9lld %6lld %8lld %6lld\n", t->backend, methods[m].name,
               (long long)all[m].systems, (long long)all[m].ok, (long long)all[m].warned,
               (long long)all[m].failed, (long long)all[m].wrong, (long long)all[m].singular,
               (long long)all[m].alarms);
}

TEST(no_verdict_is_false) {
    enum { EACH = 32 };
    oracle *o = new_array(EACH, sizeof *o);
    const int64_t systems = count_from("SHOAL_TEST_SYSTEMS", small ? 2000 : 20000);
    const int64_t each = small ? 8 : EACH;
    for (int t = 0; t < target_count; t++) {
        counts all[METHODS] = { { 0 } };
        state = (uint64_t)count_from("SHOAL_TEST_SEED", 20170);
        for (int64_t done = 0; done < systems; done += each * METHODS) {
            batch p = draw_batch(targets[t].ctx, each);
            for (int64_t k = 0; k < each; k++) load_oracle(&p, k, &o[k]);
            for (int m = 0; m < METHODS; m++) {
                const double cond = solve_batch(targets[t].ctx, &p, methods[m].name);
                CHECK(cond > 0);
                for (int64_t k = 0; k < each; k++)
                    judge(&targets[t], &p, k, &o[k], m, cond, &all[m]);
            }
            free_batch(&p);
        }
        print_counts(&targets[t], all);
    }
    free(o);
}

/* One system, by all methods; expected(m, status): it is what it should be. */
static void known_case(const target *t, int64_t n, shoal_type type, const double *A,
                       const double *b, int (*expected)(int m, int32_t status)) {
    batch p = { .shape = { .n = n, .count = 1, .nrhs = 1, .type = type }, .kind = "known" };
    p.A = new_array((size_t)(n * n), sizeof(double));
    p.b = new_array((size_t)n, sizeof(double));
    p.x = new_array((size_t)n, sizeof(double));
    for (int64_t i = 0; i < n * n; i++) set(&p, p.A, i, A[i]);
    for (int64_t i = 0; i < n; i++) set(&p, p.b, i, b[i]);
    for (int m = 0; m < METHODS; m++) {
        oracle *o = new_array(1, sizeof *o);
        counts all = { 0 };
        const double cond = solve_batch(t->ctx, &p, methods[m].name);
        load_oracle(&p, 0, o);
        judge(t, &p, 0, o, m, cond, &all);
        CHECK_MSG(expected(m, p.status[0]), "%s %s n=%lld: status %d", t->backend, methods[m].name,
                  (long long)n, p.status[0]);
        free(o);
    }
    free_batch(&p);
}

static int is_ill(int m, int32_t status) {
    (void)m;
    return status == SHOAL_SYSTEM_ILL;
}
static int is_ok(int m, int32_t status) { /* to eigdc, it is ill-conditioned */
    return status == (strcmp(methods[m].name, "eigdc") == 0 ? SHOAL_SYSTEM_TRUNCATED : 0);
}
/* Indefinite, with zeros among the pivots of those methods that do not look for others. */
static int is_honest(int m, int32_t status) { return methods[m].indefinite ? status == 0 : status; }

TEST(systems_that_show_it) {
    for (int t = 0; t < target_count; t++) {
        known_case(&targets[t], 1, SHOAL_F32, (double[]){ 1e25 }, (double[]){ 1e-21 }, is_ill);
        known_case(&targets[t], 2, SHOAL_F32, (double[]){ 1, 0, 0, 1e-30 }, (double[]){ 1, 1 },
                   is_ok);
        known_case(&targets[t], 4, SHOAL_F64,
                   (double[]){ -1, -1, 0, -1, -1, -1, 1, 1, 0, 1, 1, 0, -1, 1, 0, 1 },
                   (double[]){ -1, -1, -1, 1 }, is_honest);
    }
}

int main(int argc, char **argv) {
    if (!open_targets(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(systems_that_show_it);
    RUN(no_verdict_is_false);
    close_targets();
    return TEST_END();
}
