/* SPDX-License-Identifier: Apache-2.0
 *
 * test_tridiag_status.c - what status 0 promises, over all kinds of systems, methods and types, against sums and
 * inverses in twice the precision of double. False ok: status 0, and the residual of the x that was returned is above
 * the limit, or (methods that pivot) the condition number of the matrix with scaled rows is more than 30 times the limit.
 * False fail: another status, and the condition number is below a 30th of the limit. There must be none of either.
 *
 *     test_tridiag_status [--small] [--count=N] [--print] [--backend=cpu|cuda] [test name ...]
 */
#include "tridiag_batch.h"

#if LDBL_MANT_DIG < 100 && defined(__SIZEOF_FLOAT128__)
__extension__ typedef __float128 wide;
#else
typedef long double wide;
#endif

enum { MOST_ROWS = 96, AROUND = 30 };

static int64_t each_kind = 40; /* systems of each kind, n and type */
static int print;

static wide wide_abs(wide v) { return v < 0 ? -v : v; }
static wide wide_max(wide v, wide w) { return v > w || v != v ? v : w; }

typedef struct exact { /* one system with scaled rows */
    int n;
    wide dl[MOST_ROWS], d[MOST_ROWS], du[MOST_ROWS];
    double scale[MOST_ROWS]; /* 2^-e as two factors: e may be -1074 */
    double rest[MOST_ROWS];
} exact;

/* System k of p, or its transposed. Rows are brought to a largest entry between 1 and 2. */
static exact exact_of(const batch *p, int64_t k, int transposed) {
    exact e = { .n = (int)p->n };
    for (int i = 0; i < e.n; i++) {
        const int64_t at = k * p->n + i;
        const double dl = i == 0 ? 0 : transposed ? p->du[at - 1] : p->dl[at];
        const double du = i + 1 == e.n ? 0 : transposed ? p->dl[at + 1] : p->du[at];
        const double most = fmax(fmax(fabs(dl), fabs(du)), fabs(p->d[at]));
        const int by = most > 0 ? -ilogb(most) : 0;
        e.scale[i] = ldexp(1, by / 2), e.rest[i] = ldexp(1, by - by / 2);
        e.dl[i] = (wide)dl * e.scale[i] * e.rest[i], e.du[i] = (wide)du * e.scale[i] * e.rest[i];
        e.d[i] = (wide)p->d[at] * e.scale[i] * e.rest[i];
    }
    return e;
}

/* Solves with right-hand side j of a unit matrix; false: singular. */
static int column_of_inverse(const exact *e, int j, wide *x) {
    wide u[MOST_ROWS][4], p = e->d[0], q = e->du[0], y = j == 0;
    for (int i = 0; i + 1 < e->n; i++) {
        const wide rows[2][4] = { { p, q, 0, y },
                                  { e->dl[i + 1], e->d[i + 1], e->du[i + 1], j == i + 1 } };
        const int s = wide_abs(rows[1][0]) > wide_abs(rows[0][0]);
        const wide m = rows[!s][0] / rows[s][0];
        if (rows[s][0] == 0) return 0;
        memcpy(u[i], rows[s], sizeof u[i]);
        p = rows[!s][1] - m * rows[s][1], q = rows[!s][2] - m * rows[s][2];
        y = rows[!s][3] - m * rows[s][3];
    }
    if (p == 0) return 0;
    x[e->n - 1] = y / p;
    for (int i = e->n - 2; i >= 0; i--)
        x[i] = (u[i][3] - u[i][1] * x[i + 1] - (i + 2 < e->n ? u[i][2] * x[i + 2] : 0)) / u[i][0];
    return 1;
}

/* |A| |A^-1| in the maximum norm. */
static double condition_of(const exact *e) {
    wide sums[MOST_ROWS] = { 0 }, x[MOST_ROWS], most = 0, size = 0;
    for (int j = 0; j < e->n; j++) {
        if (!column_of_inverse(e, j, x)) return INFINITY;
        for (int i = 0; i < e->n; i++) sums[i] += wide_abs(x[i]);
        size = wide_max(wide_abs(e->dl[j]) + wide_abs(e->d[j]) + wide_abs(e->du[j]), size);
    }
    for (int i = 0; i < e->n; i++) most = wide_max(sums[i], most);
    return (double)(most * size);
}

/* The residual of the x that was returned, and the largest |x|. */
static double residual_of(const exact *e, const batch *p, int64_t k, const double *x,
                          double *size) {
    wide r = 0, most = 0;
    x += k * p->n;
    for (int i = 0; i < e->n; i++) {
        wide rest = (wide)p->b[k * p->n + i] * e->scale[i] * e->rest[i] - e->d[i] * x[i];
        if (i > 0) rest -= e->dl[i] * x[i - 1];
        if (i + 1 < e->n) rest -= e->du[i] * x[i + 1];
        r = wide_max(wide_abs(rest), r), most = wide_max(wide_abs(x[i]), most);
    }
    *size = (double)most;
    return r == 0 ? 0 : (double)(r / most);
}

typedef struct counts {
    int64_t systems, ok, wrong, singular, refused;
} counts;

static counts totals[2][CALLS];

/* Rows of which no product leaves the range of a method that scales no rows. */
static int in_range(const batch *p, int64_t k, double size) {
    const double least = p->type == SHOAL_F32 ? 1e-30 : 1e-290;
    for (int64_t i = k * p->n; i < (k + 1) * p->n; i++) {
        const double most = fmax(fabs(p->d[i]), fmax(i > k * p->n ? fabs(p->dl[i]) : 0,
                                                     i + 1 < (k + 1) * p->n ? fabs(p->du[i]) : 0));
        if (most > 0 && most < least) return 0;
    }
    return size == 0 || size > least;
}

static void judge(const target *t, const call *c, const batch *p, how h, const char *kind) {
    const double eps = eps_of(p->type), limit = 1 / (32 * eps);
    const int promises = c->pivoted && strcmp(c->method, "gspike") != 0;
    counts *all = &totals[t != &targets[0]][c - calls];
    answer r = solve_with(t->ctx, p, c, h);
    for (int64_t k = 0; k < p->count && r.code == SHOAL_OK; k++) {
        const exact e = exact_of(p, k, h.transposed);
        const double kappa = condition_of(&e);
        double size = 0;
        const double error = r.status[k] < 0 ? 0 : residual_of(&e, p, k, r.x, &size);
        const int ok = r.status[k] == 0, wrong = ok && !(error <= 108 * eps);
        const int singular = ok && c->pivoted && !(kappa <= AROUND * limit);
        const int refused =
            !ok && promises && kappa < limit / AROUND && (r.status[k] < 0 || in_range(p, k, size));
        all->systems++, all->ok += ok;
        all->wrong += wrong, all->singular += singular, all->refused += refused;
        CHECK_MSG(
            !wrong && !singular && !refused,
            "%s %s %s%s n=%lld k=%lld: status %d, residual %.3g eps (told %.3g), condition %.3g",
            name_of(t, c), p->type ? "f32" : "f64", kind, h.transposed ? "^T" : "", (long long)p->n,
            (long long)k, r.status[k], error / eps, r.residual[k] / eps, kappa);
    }
    free_answer(&r);
}

/* Rows times powers of two up to 10^140 (float: 10^18) and down to their reciprocals. */
static void stretch(batch *p) {
    const int most = p->type == SHOAL_F32 ? 59 : 465;
    uint64_t state = 12345;
    for (int64_t i = 0; i < p->n * p->count; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const int by = (int)((state >> 33) % (uint64_t)(2 * most + 1)) - most;
        p->dl[i] = ldexp(p->dl[i], by), p->d[i] = ldexp(p->d[i], by);
        p->du[i] = ldexp(p->du[i], by), p->b[i] = ldexp(p->b[i], by);
    }
    round_batch(p);
}

static void every_method(const batch *p, how h, const char *kind) {
    for (int t = 0; t < target_count; t++)
        for (const call *c = calls; c->method; c++) judge(&targets[t], c, p, h, kind);
}

static const int64_t rows[] = { 1, 2, 3, 4, 5, 8, 13, 24, 33, 50, 96, -1 };

TEST(no_false_verdict_on_any_kind) {
    for (int i = 0; shoal_tridiag_kind(i); i++)
        for (const int64_t *n = rows; *n >= 0; n++)
            for (int type = 0; type < 2; type++) {
                const char *kind = shoal_tridiag_kind(i);
                if ((small && (*n + i + type) % 3) || strcmp(kind, "nonfinite") == 0) continue;
                batch p = generate(kind, *n, *n > 40 ? each_kind / 4 + 1 : each_kind, 1, type);
                every_method(&p, (how){ .no_residual = *n % 2 }, kind);
                every_method(&p, (how){ .transposed = 1 }, kind);
                free_batch(&p);
            }
}

TEST(rows_of_any_scale) {
    const char *const of[] = {
        "dominant", "random", "laplace", "zerodiag", "dirichlet", "integers"
    };
    for (int i = 0; i < 6; i++)
        for (const int64_t *n = rows; *n >= 0; n++)
            for (int type = 0; type < 2; type++) {
                if (small && (*n + i + type) % 3) continue;
                batch p = generate(of[i], *n, *n > 40 ? each_kind / 4 + 1 : each_kind, 1, type);
                stretch(&p);
                every_method(&p, (how){ .no_residual = 1 }, of[i]);
                free_batch(&p);
            }
}

static void print_totals(void) {
    for (int t = 0; t < target_count; t++)
        for (const call *c = calls; c->method; c++) {
            const counts *a = &totals[t != 0][c - calls];
            printf(
                "%-28s %9lld systems, %9lld ok; false ok: %lld wrong, %lld singular; false fail: %lld\n",
                name_of(&targets[t], c), (long long)a->systems, (long long)a->ok,
                (long long)a->wrong, (long long)a->singular, (long long)a->refused);
        }
}

int main(int argc, char **argv) {
    int kept = 1;
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--count=", 8) == 0)
            each_kind = atoll(argv[i] + 8);
        else if (strcmp(argv[i], "--print") == 0)
            print = 1;
        else
            argv[kept++] = argv[i];
    }
    argc = kept;
    if (!open_targets_and_calls(&argc, argv)) return 77;
    if (small) each_kind = each_kind < 3 ? each_kind : 3;
    TEST_BEGIN(argc, argv);
    RUN(no_false_verdict_on_any_kind);
    RUN(rows_of_any_scale);
    if (print) print_totals();
    close_targets();
    return TEST_END();
}
