/* SPDX-License-Identifier: Apache-2.0
 *
 * test_generated.c - a kind and a seed name the same numbers in every release and on every machine: a weighted sum of
 * what each generator makes stands in a table. Roundoff may differ by the machine's libm; other draws would change
 * every digit.
 */
#include "targets.h"
#include <math.h>

enum { MOST = 4096 };

typedef struct total {
    double sum, size;
} total;

static void add(total *t, const double *v, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        if (!isfinite(v[i])) continue;                              /* entries that do not count */
        const double term = ((double)(i % 13) - 5.5) * asinh(v[i]); /* of any size */
        t->sum += term, t->size += fabs(term);
    }
}

static total tridiag_total(const char *kind) {
    enum { N = 21, COUNT = 2, RHS = 2 };
    static double v[MOST];
    double *d = v + N * COUNT, *du = d + N * COUNT, *b = du + N * COUNT;
    const shoal_tridiag_opts shape = { .n = N, .count = COUNT, .nrhs = RHS };
    total t = { 0, 0 };
    CHECK(shoal_tridiag_generate(targets[0].ctx, kind, 11, 3, &shape, v, d, du, b) == SHOAL_OK);
    for (int k = 0; k < COUNT; k++) {
        add(&t, v + k * N + 1, N - 1);
        add(&t, d + k * N, N);
        add(&t, du + k * N, N - 1);
    }
    add(&t, b, N * COUNT * RHS);
    return t;
}

/* Of all shapes. */
static total band_total(const char *kind) {
    enum { N = 11, COUNT = 2, RHS = 2, ROWS = 2 * N * COUNT };
    total t = { 0, 0 };
    for (int shape = 0; shape < 3; shape++) {
        static double v[5][ROWS], b[ROWS * RHS];
        const int width = shape == 1 ? 1 : 2, parts = shape > 0 ? 2 : 1;
        const shoal_band_opts o = {
            .n = N, .count = COUNT, .nrhs = RHS, .width = width, .is_complex = shape > 0
        };
        CHECK(shoal_band_generate(targets[0].ctx, kind, 11, 3, &o, v[0], v[1], v[2], v[3], v[4],
                                  b) == SHOAL_OK);
        for (int k = 0; k < COUNT; k++)
            for (int e = -width; e <= width; e++)
                add(&t, v[2 + e] + (k * N + (e < 0 ? -e : 0)) * parts, (N - abs(e)) * parts);
        add(&t, b, N * COUNT * RHS * parts);
    }
    return t;
}

/* Of all orders, the last of them with its own form of s. */
static total recur_total(const char *kind) {
    enum { N = 21, COUNT = 2 };
    static double s[MOST], v[MOST], w0[MOST];
    total t = { 0, 0 };
    for (int order = 1; order <= 4; order++) {
        const shoal_recur_opts shape = { .n = N, .count = COUNT, .order = order };
        if (shoal_recur_generate(targets[0].ctx, kind, 11, 3, &shape, s, v, w0) != SHOAL_OK)
            continue;
        add(&t, s, N * COUNT * order);
        add(&t, v, N * COUNT);
        add(&t, w0, COUNT * order);
    }
    return t;
}

static total smallsym_total(const char *kind) {
    enum { N = 7, COUNT = 2, RHS = 2 };
    static double a[MOST], b[MOST];
    const shoal_smallsym_opts shape = { .n = N, .count = COUNT, .nrhs = RHS };
    total t = { 0, 0 };
    CHECK_MSG(shoal_smallsym_generate(targets[0].ctx, kind, NAN, 11, 3, &shape, a, b) == SHOAL_OK,
              "%s", shoal_message(targets[0].ctx));
    add(&t, a, N * N * COUNT);
    add(&t, b, N * COUNT * RHS);
    return t;
}

static total symindef_total(const char *kind) {
    enum { N = 16 };
    static double a[MOST];
    const char *word = strcmp(kind, "inertia") == 0 ? "inertia:8:4:4:1e3" : kind;
    total t = { 0, 0 };
    CHECK_MSG(shoal_symindef_generate(targets[0].ctx, word, 11, N, a) == SHOAL_OK, "%s", kind);
    add(&t, a, N * N);
    return t;
}

static const struct {
    const char *kind;
    double sum;
} known[] = {
    { "tridiag:dominant", -12.2214015121 },
    { "tridiag:laplace", -17.3338895348 },
    { "tridiag:random", -19.6427807713 },
    { "tridiag:zerodiag", -1.80466802788 },
    { "tridiag:zeropivot", 63.8484818497 },
    { "tridiag:singular", 51.2697584659 },
    { "tridiag:nonfinite", -4.92295178503 },
    { "tridiag:graded", 396.493171938 },
    { "tridiag:dirichlet", 305.63119051176068 },
    { "tridiag:scaled", 323.85646171952942 },
    { "tridiag:integers", 31.598203104171009 },
    { "tridiag:nullvector", 1.8567049689885957 },
    { "tridiag:penalty", -1075.87936511 },
    { "tridiag:spike1", -9.84494645804 },
    { "tridiag:spike2", 296.518279307 },
    { "tridiag:spike3", 4.36665870654 },
    { "tridiag:spike4", -13.9696959053 },
    { "tridiag:spike5", 0.462886601756 },
    { "tridiag:spike6", 13.6213592608 },
    { "tridiag:spike7", 21.2820634701 },
    { "tridiag:spike8", -25.0980035014 },
    { "tridiag:spike9", -0.80972999285 },
    { "tridiag:spike10", -8.3471062138 },
    { "tridiag:spike11", -28.0918957806 },
    { "tridiag:spike12", -23.0098981888 },
    { "tridiag:spike13", -21.9696907054 },
    { "tridiag:spike14", 10.4044703235 },
    { "tridiag:spike15", 10.4044705133 },
    { "tridiag:spike16", -37.5875353074 },
    { "tridiag:spike17", 269.964063734 },
    { "tridiag:spike18", 22.8363309054 },
    { "tridiag:spike19", -29.5379202191 },
    { "tridiag:spike20", -0.109406612946 },
    { "tridiag:spike21", 558.914724233 },
    { "tridiag:block18", 22.8363309054 },
    { "tridiag:block1", -9.84494645804 },
    { "tridiag:hidden18", 22.8363309054 },
    { "tridiag:hidden1", -9.84494645804 },
    { "tridiag:inner18", 22.8363309054 },
    { "tridiag:inner1", -9.84494645804 },
    { "tridiag:hidinner18", 22.8363309054 },
    { "tridiag:hidinner1", -9.84494645804 },
    { "tridiag:fig1", -60.639319161 },
    { "tridiag:copy1", -9.8449464580373878 },
    { "band:dominant", -59.664003241385721 },
    { "band:laplace", -130.57351018249778 },
    { "band:random", 22.717448393141151 },
    { "band:zerodiag", -137.64767305883046 },
    { "band:scaled", 488.14946814739386 },
    { "band:singular", -124.39142351897495 },
    { "band:nonfinite", -93.213609956332732 },
    { "recur:decay", -92.1140289474 },
    { "recur:unit", -69.0157010116 },
    { "recur:sum", -30.7477223089 },
    { "recur:growth", 61.484457054 },
    { "recur:waves", 49.2358202957 },
    { "recur:cuts", -107.812166106 },
    { "recur:nonfinite", -40.5904135476 },
    { "recur:dips", 2086.69308403 },
    { "recur:jumps", 42250.3589508 },
    { "smallsym:spd", 21.8109147884 },
    { "smallsym:indefinite", 20.5772369307 },
    { "smallsym:wishart", -12.5162240728 },
    { "smallsym:regression", 12.6943403733 },
    { "smallsym:centred", 4.99327052527 },
    { "smallsym:kkt", 11.553420449 },
    { "smallsym:hilbert", 15.2225574398 },
    { "smallsym:clustered", 19.1919796211 },
    { "smallsym:spectrum", -2.63536358622 },
    { "smallsym:deficient", 5.62010130946 },
    { "smallsym:singular", -6.90132754988 },
    { "smallsym:nonfinite", -4.76823404534 },
    { "smallsym:huge", 931.372966858 },
    { "smallsym:tiny", 8.81487899324e-39 },
    { "smallsym:underdetermined", -11.55733300828962 },
    { "smallsym:laplacian", -15.692675163248836 },
    { "smallsym:integer", 10.141373343416408 },
    { "smallsym:graded", -0.41719584983700969 },
    { "smallsym:dominant", 2.2481738736982528 },
    { "symindef:equidistant", 121.619479019 },
    { "symindef:hadamard", -8.8137358702 },
    { "symindef:clement", 22.2875179199 },
    { "symindef:hilbert", 1.67368623172 },
    { "symindef:kkt", -4.49802833541 },
    { "symindef:random", 7.91139889299 },
    { "symindef:inertia", 0.264995237324 },
    { "symindef:diagonal", -19.8149721481 },
    { "symindef:zerorow", 2.95752280588 },
    { "symindef:zerotail", -0.235032574165 },
    { "symindef:illcond", -1.20962957117 },
    { "symindef:tiny", -6.92522160816e-292 },
    { "symindef:huge", 36179.3245547 },
    { "symindef:zeros", 0 },
    { "symindef:nonfinite", -4.90805783241 },
    { "symindef:subnormal", 9.22914626431e-321 },
};

typedef total total_of(const char *kind);

static void check_kinds(const char *module, const char *(*name)(int), total_of *of) {
    for (int i = 0; name(i); i++) {
        char word[64];
        size_t k = 0;
        snprintf(word, sizeof word, "%s:%s", module, name(i));
        while (k < sizeof known / sizeof *known && strcmp(known[k].kind, word) != 0) k++;
        const total t = of(name(i));
        const double expected = k < sizeof known / sizeof *known ? known[k].sum : NAN;
        CHECK_MSG(fabs(t.sum - expected) <= 1e-9 * t.size, "{ \"%s\", %.17g },", word, t.sum);
    }
}

TEST(tridiagonal_systems) { check_kinds("tridiag", shoal_tridiag_kind, tridiag_total); }
TEST(band_systems) { check_kinds("band", shoal_band_kind, band_total); }
TEST(recurrences) { check_kinds("recur", shoal_recur_kind, recur_total); }
TEST(small_systems) { check_kinds("smallsym", shoal_smallsym_kind, smallsym_total); }
TEST(indefinite_matrices) { check_kinds("symindef", shoal_symindef_kind, symindef_total); }

int main(int argc, char **argv) {
    if (!open_targets(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(tridiagonal_systems);
    RUN(band_systems);
    RUN(recurrences);
    RUN(small_systems);
    RUN(indefinite_matrices);
    close_targets();
    return TEST_END();
}
