/* SPDX-License-Identifier: Apache-2.0
 *
 * test_math.c - core/math.h: accuracy, special values, and hashes for comparison between builds.
 *
 *     test_math              special values, then accuracy at 1e6 arguments per function
 *     test_math N            the same with N arguments
 *     test_math --hash [N]   one line "function hash" per function, over N arguments [1e7]
 *
 * The reference is the C library in long double (113 bits on aarch64, 64 on x86-64) for double and
 * in double for float. Arguments that lose their last bits on the way into a library function are
 * corrected to first order: sin(pi r) has pi in long double, erfc(x / sqrt 2) the error of the
 * quotient. An inverse is judged by where the distribution function puts it: to first order its
 * error is (Phi(x) - p) / density(x), the difference taken where it does not cancel.
 */
#include <float.h>
#include <stdio.h>
#include <stdlib.h>

#include "math_hash.h"

#define PI_L          3.141592653589793238462643383279502884L
#define SQRT_HALF_L   0.707106781186547524400844362104849039L
#define INV_SQRT_PI_L 0.564189583547756286948079451560772586L

static const double ulp_limit = 2.0;
static int failures;

static void fail(const char *function, double x, double got, double wanted) {
    if (++failures <= 40) {
        printf("FAIL %s(%.17g = %a): got %.17g (%a), wanted %.17g\n", function, x, x, got, got,
               wanted);
    }
}

/* ---- reference ---- */

/* sin(pi x), cos(pi x) for finite x: fmod is exact, and so is the rest of the reduction. */
static void reference_sincospi(double x, long double *sine, long double *cosine) {
    double a = fmod(x, 2.0);
    int n = (int)lrint(2.0 * a);
    long double r = PI_L * ((long double)a - 0.5L * n);
    long double s = sinl(r), c = cosl(r);
    switch (n & 3) {
    case 0: *sine = s, *cosine = c; break;
    case 1: *sine = c, *cosine = -s; break;
    case 2: *sine = -s, *cosine = -c; break;
    default: *sine = -c, *cosine = s; break;
    }
}

static long double density(double x) {
    long double square = (long double)x * x;
    long double square_lo = fmal(x, x, -square);
    return INV_SQRT_PI_L * SQRT_HALF_L * expl(-0.5L * square) * (1.0L - 0.5L * square_lo);
}

/* Phi(-a) for a >= 0. x^2/2 - y^2 for y = x / sqrt 2 rounded says how far y is off. */
static long double reference_tail(double a) {
    long double y = a * SQRT_HALF_L;
    long double half_square = 0.5L * a * a, square = y * y;
    long double off =
        (half_square - square) + (fmal(0.5L * a, a, -half_square) - fmal(y, y, -square));
    long double correction = y > 0 ? INV_SQRT_PI_L * expl(-square) * off / y : 0.0L;
    return 0.5L * (erfcl(y) - correction);
}

static long double reference_normcdf(double x) {
    return x < 0.0 ? reference_tail(-x) : 1.0L - reference_tail(x);
}

/* The inverse at p, given x that is nearly it. */
static long double reference_normcdfinv(double p, double x) {
    double a = fabs(x);
    if (a > 40.0) return 0.0L; /* wrong beyond correction */
    long double excess = a < 1.0 ? 0.5L * erfl(a * SQRT_HALF_L) - fabsl((long double)p - 0.5L)
                                 : (p < 0.5 ? p : 1.0L - p) - reference_tail(a);
    long double a_true = a - excess / density(a);
    return p < 0.5 ? -a_true : a_true;
}

/* ---- errors in units of the last place ---- */

/* |got - wanted| in ulps of a format with `digits` bits and the smallest subnormal 2^lowest. */
static double ulps(double got, long double wanted, int digits, int lowest, double largest) {
    int exponent;
    frexpl(wanted, &exponent);
    int last = exponent - digits > lowest ? exponent - digits : lowest;
    long double limit = largest * (1.0L + ldexpl(0.5L, -digits));
    if (fabsl(wanted) >= limit || fabs(got) > largest) {
        /* Overflow is right within an ulp of the limit and wrong elsewhere. */
        long double near = fabsl(wanted) / largest - 1.0L;
        int same_side = (got > 0) == (wanted > 0) && fabs(got) >= largest;
        return same_side && near > -ldexpl(1.0L, 1 - digits) ? 0.0 : HUGE_VAL;
    }
    return (double)ldexpl(fabsl((long double)got - wanted), -last);
}

/* The error of `function` at x, infinite where a NaN is wrongly present or absent. */
static double error_at(int function, double x) {
    double y = 0.0, y2 = 0.0;
    long double wanted = 0.0L, wanted2 = 0.0L;
    switch (function) {
    case MATH_LOG: y = shoal_log(x), wanted = logl(x); break;
    case MATH_EXP: y = shoal_exp(x), wanted = expl(x); break;
    case MATH_SINCOSPI:
        shoal_sincospi(x, &y, &y2);
        reference_sincospi(x, &wanted, &wanted2);
        break;
    case MATH_NORMCDF: y = shoal_normcdf(x), wanted = reference_normcdf(x); break;
    default: y = shoal_normcdfinv(x), wanted = reference_normcdfinv(x, y); break;
    }
    if (y != y || y2 != y2) return HUGE_VAL;
    double error = ulps(y, wanted, DBL_MANT_DIG, -1074, DBL_MAX);
    double error2 = ulps(y2, wanted2, DBL_MANT_DIG, -1074, DBL_MAX);
    return error > error2 ? error : error2;
}

static double error_atf(int function, float x) {
    float y = 0.0f, y2 = 0.0f;
    double wanted = 0.0, wanted2 = 0.0;
    switch (function) {
    case MATH_LOGF: y = shoal_logf(x), wanted = log(x); break;
    case MATH_EXPF: y = shoal_expf(x), wanted = exp(x); break;
    case MATH_SINCOSPIF: {
        double a = fmod(x, 2.0);
        shoal_sincospif(x, &y, &y2);
        int n = (int)lrint(2.0 * a);
        double r = (double)PI_L * (a - 0.5 * n);
        wanted = n & 1 ? cos(r) : sin(r), wanted2 = n & 1 ? -sin(r) : cos(r);
        if (n & 2) wanted = -wanted, wanted2 = -wanted2;
        break;
    }
    case MATH_NORMCDFF: y = shoal_normcdff(x), wanted = 0.5 * erfc(-x * (double)SQRT_HALF_L); break;
    default: {
        y = shoal_normcdfinvf(x);
        double a = fabs((double)y), p = x;
        double tail = 0.5 * erfc(a * (double)SQRT_HALF_L);
        double excess = a < 1.0 ? 0.5 * erf(a * (double)SQRT_HALF_L) - fabs(p - 0.5)
                                : (p < 0.5 ? p : 1.0 - p) - tail;
        double a_true = a - excess / ((double)(INV_SQRT_PI_L * SQRT_HALF_L) * exp(-0.5 * a * a));
        wanted = p < 0.5 ? -a_true : a_true;
    }
    }
    if (y != y || y2 != y2) return HUGE_VAL;
    double error = ulps(y, wanted, FLT_MANT_DIG, -149, FLT_MAX);
    double error2 = ulps(y2, wanted2, FLT_MANT_DIG, -149, FLT_MAX);
    return error > error2 ? error : error2;
}

/* Arguments with a finite answer; the others are the business of check_specials. */
static int has_answer(int function, double x) {
    switch (function) {
    case MATH_LOG:
    case MATH_LOGF: return x > 0.0 && x < HUGE_VAL;
    case MATH_NORMCDFINV:
    case MATH_NORMCDFINVF: return x > 0.0 && x < 1.0;
    default: return fabs(x) < HUGE_VAL;
    }
}

static void check_accuracy(int function, uint64_t count) {
    double worst = 0.0, worst_at = 0.0;
    uint64_t tried = 0;
    int single = function >= MATH_LOGF;
    /* Besides the generator: floats of every exponent at even distances, some 2^32 / stride. */
    uint32_t stride = count < 0x100000000u ? (uint32_t)(0x100000000u / count) | 1u : 1u;
    uint64_t sweep = single ? 0x100000000u / stride : 0;
    for (uint64_t i = 0; tried < count || i < sweep; i++) {
        double x = !single     ? math_argument(function, i)
                   : i < sweep ? shoal_from_bitsf((uint32_t)i * stride)
                               : math_argumentf(function, i - sweep);
        if (!has_answer(function, x)) continue;
        double error = single ? error_atf(function, (float)x) : error_at(function, x);
        tried++;
        if (!(error <= worst)) worst = error, worst_at = x;
    }
    printf("%-12s max %.3f ulp at %.17g, %llu arguments\n", math_name(function), worst, worst_at,
           (unsigned long long)tried);
    if (!(worst <= ulp_limit)) {
        failures++;
        printf("FAIL %s: %.3f ulp at %a\n", math_name(function), worst, worst_at);
    }
}

/* ---- special values ---- */

typedef struct {
    int function;
    double x, y, y2; /* y2: the cosine */
} special;

#define NOT_A_NUMBER NAN
#define INF          HUGE_VAL

/* clang-format off */
static const special specials[] = {
    { MATH_LOG, 0.0, -INF, 0 }, { MATH_LOG, -0.0, -INF, 0 }, { MATH_LOG, INF, INF, 0 },
    { MATH_LOG, -1.0, NOT_A_NUMBER, 0 }, { MATH_LOG, -INF, NOT_A_NUMBER, 0 },
    { MATH_LOG, NOT_A_NUMBER, NOT_A_NUMBER, 0 }, { MATH_LOG, 1.0, 0.0, 0 },
    { MATH_EXP, 0.0, 1.0, 0 }, { MATH_EXP, -0.0, 1.0, 0 }, { MATH_EXP, INF, INF, 0 },
    { MATH_EXP, -INF, 0.0, 0 }, { MATH_EXP, NOT_A_NUMBER, NOT_A_NUMBER, 0 },
    { MATH_EXP, 1000.0, INF, 0 }, { MATH_EXP, -1000.0, 0.0, 0 },
    { MATH_SINCOSPI, 0.0, 0.0, 1.0 }, { MATH_SINCOSPI, -0.0, -0.0, 1.0 },
    { MATH_SINCOSPI, 1.0, 0.0, -1.0 }, { MATH_SINCOSPI, -1.0, -0.0, -1.0 },
    { MATH_SINCOSPI, 2.0, 0.0, 1.0 }, { MATH_SINCOSPI, -2.0, -0.0, 1.0 },
    { MATH_SINCOSPI, 0.5, 1.0, 0.0 }, { MATH_SINCOSPI, -0.5, -1.0, 0.0 },
    { MATH_SINCOSPI, 1.5, -1.0, 0.0 }, { MATH_SINCOSPI, -1.5, 1.0, 0.0 },
    { MATH_SINCOSPI, 0x1p22, 0.0, 1.0 }, { MATH_SINCOSPI, 0x1.000002p23, 0.0, -1.0 },
    { MATH_SINCOSPI, 0x1.fffffep22, -1.0, 0.0 }, { MATH_SINCOSPI, -0x1.fffffep23, -0.0, -1.0 },
    { MATH_SINCOSPI, 0x1.fffffep24, 0.0, 1.0 }, { MATH_SINCOSPI, -0x1p100, -0.0, 1.0 },
    { MATH_SINCOSPI, INF, NOT_A_NUMBER, NOT_A_NUMBER },
    { MATH_SINCOSPI, -INF, NOT_A_NUMBER, NOT_A_NUMBER },
    { MATH_SINCOSPI, NOT_A_NUMBER, NOT_A_NUMBER, NOT_A_NUMBER },
    { MATH_NORMCDF, 0.0, 0.5, 0 }, { MATH_NORMCDF, -0.0, 0.5, 0 },
    { MATH_NORMCDF, INF, 1.0, 0 }, { MATH_NORMCDF, -INF, 0.0, 0 },
    { MATH_NORMCDF, 50.0, 1.0, 0 }, { MATH_NORMCDF, -50.0, 0.0, 0 },
    { MATH_NORMCDF, NOT_A_NUMBER, NOT_A_NUMBER, 0 },
    { MATH_NORMCDFINV, 0.0, -INF, 0 }, { MATH_NORMCDFINV, -0.0, -INF, 0 },
    { MATH_NORMCDFINV, 1.0, INF, 0 }, { MATH_NORMCDFINV, 0.5, 0.0, 0 },
    { MATH_NORMCDFINV, -0x1p-149, NOT_A_NUMBER, 0 }, { MATH_NORMCDFINV, 1.5, NOT_A_NUMBER, 0 },
    { MATH_NORMCDFINV, INF, NOT_A_NUMBER, 0 }, { MATH_NORMCDFINV, -INF, NOT_A_NUMBER, 0 },
    { MATH_NORMCDFINV, NOT_A_NUMBER, NOT_A_NUMBER, 0 },
};
/* Beyond float: the last half-integer, the last odd integer and the first even-only one. */
static const special specials_double[] = {
    { MATH_SINCOSPI, 0x1.fffffffffffffp51, -1.0, 0.0 },
    { MATH_SINCOSPI, 0x1.fffffffffffffp52, 0.0, -1.0 },
    { MATH_SINCOSPI, -0x1.0000000000001p52, -0.0, -1.0 },
    { MATH_SINCOSPI, 0x1.fffffffffffffp53, 0.0, 1.0 },
    { MATH_SINCOSPI, -DBL_MAX, -0.0, 1.0 },
    { MATH_EXP, 0x1.62e42fefa39f0p9, INF, 0 }, { MATH_EXP, -746.0, 0.0, 0 },
    { MATH_NORMCDF, -38.6, 0.0, 0 },
};
/* clang-format on */

static void check_one(const special *row, int single) {
    double y = 0.0, y2 = 0.0;
    float f = 0.0f, f2 = 0.0f, x = (float)row->x;
    switch (row->function) {
    case MATH_LOG: y = shoal_log(row->x), f = shoal_logf(x); break;
    case MATH_EXP: y = shoal_exp(row->x), f = shoal_expf(x); break;
    case MATH_SINCOSPI: shoal_sincospi(row->x, &y, &y2), shoal_sincospif(x, &f, &f2); break;
    case MATH_NORMCDF: y = shoal_normcdf(row->x), f = shoal_normcdff(x); break;
    default: y = shoal_normcdfinv(row->x), f = shoal_normcdfinvf(x); break;
    }
    const double got[2] = { y, y2 }, wanted[2] = { row->y, row->y2 };
    const float gotf[2] = { f, f2 };
    for (int i = 0; i < 2; i++) { /* to the bit: signs of zeros, one NaN */
        int nan = wanted[i] != wanted[i];
        uint64_t bits = nan ? 0x7ff8000000000000u : shoal_bits(wanted[i]);
        uint32_t bitsf = nan ? 0x7fc00000u : shoal_bitsf((float)wanted[i]);
        if (shoal_bits(got[i]) != bits) fail(math_name(row->function), row->x, got[i], wanted[i]);
        if (single && shoal_bitsf(gotf[i]) != bitsf) {
            fail(math_name(row->function + MATH_LOGF), x, gotf[i], wanted[i]);
        }
    }
}

static void check_specials(void) {
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++) check_one(&specials[i], 1);
    for (size_t i = 0; i < sizeof specials_double / sizeof *specials_double; i++) {
        check_one(&specials_double[i], 0);
    }
}

static void print_hashes(uint64_t count) {
    for (int function = 0; function < MATH_FUNCTIONS; function++) {
        uint64_t hash = 0;
        for (uint64_t i = 0; i < count; i++) hash += math_hash_term(function, i);
        printf("%-12s %016llx\n", math_name(function), (unsigned long long)hash);
    }
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "--hash") == 0) {
        print_hashes(argc > 2 ? (uint64_t)strtod(argv[2], NULL) : 10000000u);
        return 0;
    }
    if (argc > 1 && argv[1][0] == '-') {
        fprintf(stderr, "usage: %s [N] or %s --hash [N]\n", argv[0], argv[0]);
        return 2;
    }
    uint64_t count = argc > 1 ? (uint64_t)strtod(argv[1], NULL) : 1000000u;
    check_specials();
    for (int function = 0; function < MATH_FUNCTIONS; function++) check_accuracy(function, count);
    if (failures) printf("%d failures\n", failures);
    return failures != 0;
}
