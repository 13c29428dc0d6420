/* SPDX-License-Identifier: Apache-2.0
 *
 * test_symindef_generate.c - the generator of symmetric indefinite matrices: every kind has the
 * spectrum and the structure it promises, judged by LAPACK's eigenvalues, is symmetric to the last bit
 * and the same for any number of threads; words that make no sense are refused.
 */
#define _POSIX_C_SOURCE 200809L
#include "lapack.h"
#include "sanitizer.h"
#include "targets.h"
#include <math.h>

typedef void syevd(const char *job, const char *uplo, const int *n, double *a, const int *lda,
                   double *w, double *work, const int *lwork, int *iwork, const int *liwork,
                   int *info);

static syevd *dsyevd;

/* A word that every kind accepts for this n, e.g. with an inertia that adds up. NULL: none. */
static const char *word_for(const char *kind, int64_t n) {
    static char word[96];
    if (strcmp(kind, "hadamard") == 0 && (n & (n - 1)) != 0) return NULL;
    if (strcmp(kind, "inertia") != 0) return kind;
    snprintf(word, sizeof word, "inertia:%lld:%lld:%lld:1e3", (long long)(n / 2),
             (long long)(n / 4), (long long)(n - n / 2 - n / 4));
    return word;
}

static double *generate(const char *kind, uint64_t seed, int64_t n) {
    double *a = new_array((size_t)(n * n), sizeof *a);
    CHECK_MSG(shoal_symindef_generate(targets[0].ctx, kind, seed, n, a) == SHOAL_OK, "%s",
              shoal_message(targets[0].ctx));
    return a;
}

/* Ascending eigenvalues of the lower triangle of a, which stays as it is. */
static double *eigenvalues(const double *a, int n) {
    const size_t numbers = (size_t)n * (size_t)n;
    double *copy = new_array(numbers, sizeof *copy), *w = new_array((size_t)n, sizeof *w);
    int lwork = 1 + 6 * n + 2 * n * n, liwork = 3 + 5 * n, info = 0;
    double *work = new_array((size_t)lwork, sizeof *work);
    int *iwork = new_array((size_t)liwork, sizeof *iwork);
    memcpy(copy, a, numbers * sizeof *copy);
    dsyevd("N", "U", &n, copy, &n, w, work, &lwork, iwork, &liwork, &info);
    CHECK_MSG(info == 0, "dsyevd: %d", info);
    free(copy), free(work), free(iwork);
    return w;
}

static int ascending(const void *u, const void *v) {
    const double a = *(const double *)u, b = *(const double *)v;
    return (a > b) - (a < b);
}

/* The eigenvalues of the kind are `stated`, up to n roundoffs of the largest (LAPACK's own error). */
static void check_spectrum(const char *kind, int n, double *stated) {
    double *a = generate(kind, 5, n), *w = eigenvalues(a, n);
    qsort(stated, (size_t)n, sizeof *stated, ascending);
    const double most = fmax(fabs(stated[0]), fabs(stated[n - 1]));
    for (int i = 0; i < n; i++)
        CHECK_MSG(fabs(w[i] - stated[i]) <= (n + 8) * 0x1p-52 * most, "%s n=%d: %.17g, not %.17g",
                  kind, n, w[i], stated[i]);
    free(a), free(w);
}

static const int orders[] = { 1, 2, 3, 4, 5, 7, 8, 17, 33, 64, 100, 129, 257 };
enum { ORDERS = sizeof orders / sizeof *orders };

/* ---- what the kinds promise ------------------------------------------------------------------- */

TEST(equidistant_matrices_have_the_spectrum_of_the_thesis) {
    if (!dsyevd) MISSING("LAPACK");
    double w[257];
    for (int k = 0; k < ORDERS; k++) {
        const int n = orders[k];
        for (int i = 0; i < n; i++) w[i] = n > 1 ? -n + i * (2.0 * n - 1) / (n - 1) : -1;
        check_spectrum("equidistant", n, w);
    }
}

/* Q is no diagonal matrix with a little beside it: off-diagonal entries have the size they have for
 * Q uniform over all orthogonal matrices, |lambda| / n in the mean, and tails like normal ones. */
TEST(equidistant_matrices_are_dense) {
    const int sizes[] = { 2, 3, 5, 9, 33, 100, 300 };
    for (int k = 0; k < 7; k++) {
        const int n = sizes[k];
        double *a = generate("equidistant", 3, n), two = 0, four = 0, norm = 0;
        for (int i = 0; i < n; i++) {
            const double w = -n + i * (2.0 * n - 1) / (n - 1);
            norm += w * w;
            for (int j = 0; j < i; j++) {
                const double square = a[i * n + j] * a[i * n + j];
                CHECK_MSG(square > 0, "n=%d: (%d, %d) is zero", n, i, j);
                two += square, four += square * square;
            }
        }
        const double entries = n * (n - 1) / 2.0, mean = two / entries;
        const double share = mean * n * n / norm, kurtosis = four / entries / mean / mean;
        if (n >= 100) CHECK_MSG(fabs(share - 1) < 0.1, "n=%d: %g", n, share);
        if (n >= 100) CHECK_MSG(kurtosis < 4, "n=%d: kurtosis %g", n, kurtosis);
        free(a);
    }
}

TEST(clement_matrices_have_whole_eigenvalues) {
    if (!dsyevd) MISSING("LAPACK");
    double w[257];
    for (int k = 0; k < ORDERS; k++) {
        const int n = orders[k];
        for (int i = 0; i < n; i++) w[i] = 2 * i - n + 1;
        check_spectrum("clement", n, w);
    }
    double *a = generate("clement", 1, 6);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
            const int low = i < j ? i + 1 : j + 1;
            CHECK(a[i * 6 + j] == (abs(i - j) == 1 ? sqrt(low * (6.0 - low)) : 0));
        }
    free(a);
}

TEST(an_inertia_and_a_condition_are_kept) {
    if (!dsyevd) MISSING("LAPACK");
    for (int k = 0; k < ORDERS; k++) {
        const int n = orders[k], rank = n / 2 + n / 4;
        const char *word = word_for("inertia", n);
        double *a = generate(word, 5, n), *w = eigenvalues(a, n), size[257];
        int positive = 0, negative = 0;
        for (int i = 0; i < n; i++) {
            positive += w[i] > 1e-4, negative += w[i] < -1e-4;
            CHECK_MSG(fabs(w[i]) > 1e-4 || fabs(w[i]) < n * 0x1p-51, "%s: %g", word, w[i]);
            size[i] = fabs(w[i]);
        }
        CHECK_MSG(positive == n / 2 && negative == n / 4, "%s: %d, %d", word, positive, negative);
        qsort(size, (size_t)n, sizeof *size, ascending);
        for (int i = 0; i < rank; i++) {
            const double wanted = rank > 1 ? pow(1e3, (double)i / (rank - 1) - 1) : 1;
            CHECK_MSG(fabs(size[n - rank + i] - wanted) < (n + 8) * 0x1p-52, "%s: %g", word,
                      size[n - rank + i]);
        }
        free(a), free(w);
    }
}

TEST(other_spectra_are_what_they_say) {
    if (!dsyevd) MISSING("LAPACK");
    const struct {
        const char *kind;
        double least, most;
    } cases[] = { { "diagonal", 0.5, 1 },
                  { "illcond:2", 0.5, 1 },
                  { "illcond:1e5", 1e-5, 1 },
                  { "tiny", 0x1p-972, 0x1p-971 },
                  { "huge", 0x1p970, 0x1p971 } };
    const int n = 60;
    for (int k = 0; k < 5; k++) {
        double *a = generate(cases[k].kind, 5, n), *w = eigenvalues(a, n), least = INFINITY;
        int negative = 0;
        for (int i = 0; i < n; i++) {
            if (fabs(w[i]) < least) least = fabs(w[i]);
            negative += w[i] < 0;
        }
        const double most = fmax(-w[0], w[n - 1]), bound = n * 0x1p-52 * cases[k].most;
        CHECK_MSG(fabs(least - cases[k].least) < bound, "%s: %g", cases[k].kind, least);
        CHECK_MSG(fabs(most - cases[k].most) < bound, "%s: %g", cases[k].kind, most);
        CHECK_MSG(negative > n / 4 && negative < 3 * n / 4, "%s: %d", cases[k].kind, negative);
        free(a), free(w);
    }
    double *a = generate("illcond", 5, n), *w = eigenvalues(a, n);
    CHECK_MSG(fabs(fmax(-w[0], w[n - 1]) - 1) < n * 0x1p-52, "%g %g", w[0], w[n - 1]);
    free(a), free(w);
    for (int m = 1; m < 100;
         m += 7) { /* kkt: H definite, a block of zeros, the inertia they make */
        const int upper = (2 * m + 2) / 3;
        a = generate("kkt", 5, m), w = eigenvalues(a, m);
        for (int i = 0; i < m; i++)
            CHECK_MSG(i < m - upper ? w[i] < -1e-3 : w[i] > 1e-3, "kkt n=%d: %g", m, w[i]);
        for (int i = upper; i < m; i++)
            for (int j = upper; j < m; j++) CHECK(a[i * m + j] == 0);
        free(a), free(w);
    }
}

TEST(hadamard_matrices_are_orthogonal) {
    for (int n = 1; n <= 64; n *= 2) {
        double *a = generate("hadamard", 1, n);
        CHECK(a[0] == 1);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                double sum = 0;
                for (int k = 0; k < n; k++) sum += a[i * n + k] * a[k * n + j];
                CHECK_MSG(sum == (i == j ? n : 0) && fabs(a[i * n + j]) == 1, "n=%d", n);
            }
        if (n > 1) CHECK(a[1] == 1 && a[n + 1] == -1);
        free(a);
    }
}

TEST(entries_are_where_they_should_be) {
    enum { N = 30 };
    double *h = generate("hilbert", 1, N), *z = generate("zeros", 1, N);
    double *s = generate("subnormal", 1, N), *odd = generate("subnormal", 1, 3);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            const double entry = s[i * N + j];
            CHECK(h[i * N + j] == 1.0 / (i + j + 1) && z[i * N + j] == 0);
            CHECK(i / 2 == j / 2 && i != j ? fpclassify(entry) == FP_SUBNORMAL : entry == 0);
        }
    CHECK(odd[1] > 0 && odd[2] == 0 && odd[5] == 0 && odd[8] == 0);
    free(h), free(z), free(s), free(odd);
    const char *const words[] = { "zerorow",  "zerorow:0",  "zerorow:29",
                                  "zerotail", "zerotail:0", "zerotail:30" };
    const int first[] = { 15, 0, 29, 15, 30, 0 }, last[] = { 15, 0, 29, 29, 29, 29 };
    for (int k = 0; k < 6; k++) {
        double *a = generate(words[k], 4, N);
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                const int zero = (i >= first[k] && i <= last[k]) || (j >= first[k] && j <= last[k]);
                CHECK_MSG((a[i * N + j] == 0) == zero, "%s (%d, %d)", words[k], i, j);
            }
        free(a);
    }
    int places = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        double *a = generate("nonfinite", seed, N);
        int bad = 0;
        for (int i = 0; i < N; i++)
            for (int j = 0; j <= i; j++) {
                bad += isnan(a[i * N + j]);
                if (isnan(a[i * N + j])) places |= 1 << i;
                CHECK(isnan(a[i * N + j]) == isnan(a[j * N + i]) && !isinf(a[i * N + j]));
            }
        CHECK_MSG(bad == 1, "%d numbers are not finite", bad);
        free(a);
    }
    CHECK_MSG((places & (places - 1)) != 0, "NaN is always in one row");
    double *r = generate("random", 4, 200), sum = 0, squares = 0;
    for (int i = 0; i < 40000; i++) sum += r[i], squares += r[i] * r[i];
    CHECK_MSG(fabs(sum / 40000) < 0.05 && fabs(squares / 40000 - 1) < 0.05, "%g %g", sum, squares);
    free(r);
}

/* ---- of all kinds ----------------------------------------------------------------------------- */

static int same(const double *a, const double *b, int64_t count) {
    return memcmp(a, b, (size_t)count * sizeof *a) == 0;
}

TEST(matrices_are_symmetric_and_depend_on_kind_seed_and_n_alone) {
    shoal_context *one;
    CHECK(shoal_open(&(shoal_options){ .backend = "cpu", .threads = 1 }, &one) == SHOAL_OK);
    const char *kind;
    for (int k = 0; (kind = shoal_symindef_kind(k)); k++)
        for (int64_t n = 1; n <= 128; n = n < 4 ? n + 1 : 2 * n) {
            const char *word = word_for(kind, n);
            if (!word) continue;
            double *a = generate(word, 7, n), *b = generate(word, 8, n);
            double *c = new_array((size_t)(n * n), sizeof *c);
            CHECK(shoal_symindef_generate(one, word, 7, n, c) == SHOAL_OK);
            CHECK_MSG(same(a, c, n * n), "%s: one thread and two", word);
            for (int64_t i = 0; i < n; i++)
                for (int64_t j = 0; j < i; j++)
                    CHECK_MSG(same(&a[i * n + j], &a[j * n + i], 1), "%s n=%lld: (%lld, %lld)",
                              word, (long long)n, (long long)i, (long long)j);
            const int fixed = strstr("hadamard clement hilbert zeros", kind) != NULL;
            if (n >= 16) CHECK_MSG(same(a, b, n * n) == fixed, "%s: seeds", word);
            free(a), free(b), free(c);
        }
    shoal_close(one);
}

TEST(float_is_double_rounded) {
    const char *kind;
    const int64_t n = 64;
    for (int k = 0; (kind = shoal_symindef_kind(k)); k++) {
        if (strstr("illcond tiny huge subnormal", kind)) continue; /* these know the type */
        const char *word = word_for(kind, n);
        double *a = generate(word, 7, n);
        float *b = new_array((size_t)(n * n), sizeof *b);
        CHECK(shoal_symindef_generatef(targets[0].ctx, word, 7, n, b) == SHOAL_OK);
        for (int64_t i = 0; i < n * n; i++)
            CHECK_MSG((float)a[i] == b[i] || (isnan(a[i]) && isnan(b[i])), "%s", word);
        free(a), free(b);
    }
    float b[64 * 64];
    for (int sign = -1; sign <= 1; sign += 2) {
        double norm = 0;
        CHECK(shoal_symindef_generatef(targets[0].ctx, sign < 0 ? "tiny" : "huge", 7, n, b) == 0);
        for (int64_t i = 0; i < n * n; i++)
            norm += ldexp(b[i], -104 * sign) * ldexp(b[i], -104 * sign);
        CHECK_MSG(norm > n / 4.0 && norm < n, "2^%d: %g", 104 * sign, norm);
    }
    CHECK(shoal_symindef_generatef(targets[0].ctx, "subnormal", 7, n, b) == 0);
    for (int64_t i = 0; i < n; i += 2)
        CHECK(fpclassify(b[i * n + i + 1]) == FP_SUBNORMAL && b[i * n + i] == 0);
}

/* ---- arguments -------------------------------------------------------------------------------- */

static void refused(const char *kind, int64_t n, double *a, const char *word) {
    shoal_context *ctx = targets[0].ctx;
    CHECK_MSG(shoal_symindef_generate(ctx, kind, 1, n, a) == SHOAL_E_ARG, "%s", kind);
    CHECK_MSG(strstr(shoal_message(ctx), word), "'%s' does not say '%s'", shoal_message(ctx), word);
    CHECK(shoal_symindef_generatef(ctx, kind, 1, n, (float *)a) == SHOAL_E_ARG);
}

TEST(words_that_make_no_sense_are_refused) {
    double a[16] = { 0 };
    refused(NULL, 2, a, "kind is NULL");
    refused("equidist", 2, a, "kind: symindef has no kind 'equidist'");
    refused("", 2, a, "no kind ''");
    refused("random:3", 2, a, "random takes no value");
    refused("zerorow:", 2, a, "value 1, the row,");
    refused("zerorow:x", 2, a, "value 1, the row,");
    refused("zerorow:1.5", 2, a, "whole number");
    refused("zerorow:-1", 2, a, "value 1, the row,");
    refused("zerorow:0x1", 2, a, "value 1, the row,");
    refused("zerorow:2", 2, a, "n is 2");
    refused("zerorow:1:1", 2, a, "no more than 1");
    refused("zerotail:3", 2, a, "n is 2");
    refused("illcond:0.5", 2, a, "value 1, the condition,");
    refused("illcond:nan", 2, a, "value 1, the condition,");
    refused("illcond:inf", 2, a, "value 1, the condition,");
    refused("inertia", 2, a, "positive eigenvalues, is missing");
    refused("inertia:1:1:0", 2, a, "value 4, the condition, is missing");
    refused("inertia:1:1:1:10", 2, a, "n is 2");
    refused("inertia:1:1:0:10:1", 2, a, "no more than 4");
    for (int64_t n = 3; n <= 100; n = 2 * n + 1) refused("hadamard", n, a, "power of two");
    refused("random", -1, a, "n is -1");
    refused("random", INT64_MAX, a, "n is");
    refused("random", 2, NULL, "A is NULL");
    for (int i = 0; i < 16; i++) CHECK(a[i] == 0);
    const char *kind;
    for (int k = 0; (kind = shoal_symindef_kind(k)); k++) {
        double one[3] = { 1, 1, 1 };
        CHECK_MSG(shoal_symindef_generate(targets[0].ctx, word_for(kind, 0), 1, 0, NULL) == 0, "%s",
                  shoal_message(targets[0].ctx));
        CHECK(shoal_symindef_generate(targets[0].ctx, word_for(kind, 1), 1, 1, one + 1) == 0);
        CHECK_MSG(one[0] == 1 && one[2] == 1, "%s writes beside its one number", kind);
        CHECK(shoal_symindef_kind_text(k) != NULL);
    }
    CHECK(!shoal_symindef_kind_text(1000) && !shoal_symindef_kind(-1));
}

/* A float matrix is made of one of doubles, for the most rows of 2^51 bytes, which nobody has. */
TEST(memory_that_is_not_there_is_named) {
    float one = 7;
    CHECK(shoal_symindef_generatef(targets[0].ctx, "random", 1, 1 << 24, &one) == SHOAL_E_NOMEM);
    CHECK_MSG(strstr(shoal_message(targets[0].ctx), "n = 16777216") && one == 7, "%s",
              shoal_message(targets[0].ctx));
}

int main(int argc, char **argv) {
    if (!open_targets(&argc, argv)) return 77;
    *(void **)&dsyevd = lapack("dsyevd_");
    TEST_BEGIN(argc, argv);
    RUN(equidistant_matrices_have_the_spectrum_of_the_thesis);
    RUN(equidistant_matrices_are_dense);
    RUN(clement_matrices_have_whole_eigenvalues);
    RUN(an_inertia_and_a_condition_are_kept);
    RUN(other_spectra_are_what_they_say);
    RUN(hadamard_matrices_are_orthogonal);
    RUN(entries_are_where_they_should_be);
    RUN(matrices_are_symmetric_and_depend_on_kind_seed_and_n_alone);
    RUN(float_is_double_rounded);
    RUN(words_that_make_no_sense_are_refused);
    RUN(memory_that_is_not_there_is_named);
    close_targets();
    return TEST_END();
}
