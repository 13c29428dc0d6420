/* SPDX-License-Identifier: Apache-2.0
 *
 * sums.c - sums over outer paths in place of their rows: whole numbers, so that any pieces in any order add up to the
 * same bits. Their count does not depend on the number of paths.
 *
 * A mean has the sum of x and of x^2. x is in units of the size of its source, a power of two, and has LIMBS limbs of
 * LIMB_BITS bits: limb i counts 2^(LIMB_BITS (1 - i)) units. So sums are exact down to 2^-120 of the size, and up to
 * SHOAL_CVA_OUTER numbers below 2^LARGEST. A limb of a unit is below 2^LIMB_BITS: 2^20 units can be added.
 *
 * Quantiles have counts of bins, as in DDSketch (Masson, Rim, Lee: PVLDB 12, 2019). With g = (1 + e) / (1 - e) bin
 * i > 0 is from g^(i - 1) to g^i times 2^LOWEST of the size. Its value (1 + e) g^(i - 1) is within e of all numbers in
 * it, relatively. Bin 0 has smaller numbers, as 0. The last bin is from 2^HIGHEST on, and has no value.
 */
#include "core/loops.h"
#include "cva/results.h"
#include <stdlib.h>
#include <string.h>

enum { LIMBS = 5, LIMB_BITS = 40, LARGEST = 35, MOMENT = 2 * LIMBS };
enum { LOWEST = -30, HIGHEST = 20 };
enum { BATCH = 1 << 20 }; /* paths between carries */
#define MIN_ERROR 1e-5
#define MAX_ERROR 0.5
#define LIMB      0x1p40

/* ---- layout: of each source its moments, then its bins ------------------------------------------- */

static int64_t sources(const shoal_cva *p) {
    return p->job.list_by_set ? 1 + p->job.parties + p->job.sets : 1;
}

static double log_width(const shoal_cva *p) {
    return shoal_log((1 + p->quantile_error) / (1 - p->quantile_error));
}

static int64_t bin_count(const shoal_cva *p) {
    return 2 + (int64_t)ceil((HIGHEST - LOWEST) * shoal_log(2.0) / log_width(p));
}

static int64_t moments(const shoal_cva *p) { return CVA_OF_PATH + CVA_AT_MEANS * p->job.exposures; }

/* Lists of bins of a date: sets have no exposure by half of the inner paths. */
static int orders(int64_t number) { return number == 0 ? 2 : 1; }

static int64_t numbers_of(const shoal_cva *p, int64_t number) {
    return MOMENT * moments(p) + orders(number) * p->job.exposures * bin_count(p);
}

static int64_t begin_of(const shoal_cva *p, int64_t number) {
    return number == 0 ? 0 : numbers_of(p, 0) + (number - 1) * numbers_of(p, 1);
}

static int64_t date_moment(int64_t k, int what) { return CVA_OF_PATH + CVA_AT_MEANS * k + what; }

static int64_t bins_begin(const cva_source *s, int64_t k, int what) {
    const int64_t list = orders(s->number) * k + (what == CVA_AT_HALF && s->number == 0);
    return begin_of(s->p, s->number) + MOMENT * moments(s->p) + list * bin_count(s->p);
}

int64_t shoal_cva_sums(const shoal_cva *plan) {
    return plan && plan->quantile_error > 0 ? begin_of(plan, sources(plan)) : 0;
}

shoal_status shoal_cva_make_sums(shoal_cva *p, const shoal_cva_opts *o) {
    const cva_job *j = &p->job;
    if (o->quantile_error == 0) return SHOAL_OK;
    shoal_status s = shoal_check_number(p->head.ctx, "quantile_error", -1, o->quantile_error,
                                        MIN_ERROR, MAX_ERROR);
    if (s == SHOAL_OK && (o->validate || o->greeks || o->gammas))
        s = shoal_fail(p->head.ctx, SHOAL_E_ARG,
                       "quantile_error is %g; it must be 0 with %s, which needs rows",
                       o->quantile_error,
                       o->validate ? "validate"
                       : o->greeks ? "greeks"
                                   : "gammas");
    p->quantile_error = o->quantile_error;
    if (s == SHOAL_OK) s = shoal_plan_host(&p->head, sources(p), sizeof *p->unit, &p->unit);
    for (int64_t i = 0; i < j->contracts && s == SHOAL_OK; i++) {
        const cva_contract *c = &j->contract[i];
        const int64_t of[] = { 0, 1 + j->party_of[c->set], 1 + j->parties + c->set };
        for (int n = 0; n < (j->list_by_set ? 3 : 1); n++)
            p->unit[of[n]] += fabs(c->quantity) * cva_size(j, c);
    }
    for (int64_t i = 0; s == SHOAL_OK && i < sources(p); i++)
        p->unit[i] = p->unit[i] > 0 ? exp2(-ceil(log2(p->unit[i]))) : 1;
    return s;
}

shoal_status shoal_cva_has_sums(const shoal_cva *p) {
    return p->quantile_error > 0 ? SHOAL_OK
                                 : shoal_fail(p->head.ctx, SHOAL_E_ARG,
                                              "the plan was created without opts.quantile_error");
}

/* ---- adding --------------------------------------------------------------------------------------- */

static void add_limbs(int64_t limb[LIMBS], double x) {
    x *= 1 / LIMB;
    for (int i = 0; i < LIMBS && x != 0; i++) {
        const int64_t whole = (int64_t)x; /* towards 0: what is left is exact */
        limb[i] += whole;
        x = (x - (double)whole) * LIMB;
    }
}

/* Returns whether x is too large. */
static int add_moment(int64_t *sum, double x) {
    const double square = x * x;
    if (!(fabs(x) < (double)(1LL << LARGEST))) return 1;
    add_limbs(sum, x);
    add_limbs(sum + LIMBS, square);
    add_limbs(sum + LIMBS, fma(x, x, -square));
    return 0;
}

static void carry(int64_t limb[LIMBS]) {
    for (int i = LIMBS - 1; i > 0; i--) {
        const int64_t more = limb[i] >> LIMB_BITS; /* rounds down */
        limb[i] -= more * (1LL << LIMB_BITS), limb[i - 1] += more;
    }
}

static void add_bin(const cva_bins *b, int64_t *bin, double x) {
    const double above = x > b->lowest ? 1 + shoal_log(x / b->lowest) / b->log_width : 0;
    bin[above < (double)(b->count - 1) ? (int64_t)above : b->count - 1]++;
}

/* Of a source, the numbers of the path, k = -1, or those at date of exposure k. */
static int add_rows(const cva_source *s, int64_t k, int64_t *sums) {
    const double unit = s->p->unit[s->number];
    const int64_t begin = begin_of(s->p, s->number);
    const int64_t count = k < 0 ? CVA_OF_PATH : CVA_AT_MEANS;
    int64_t *to = sums + begin + MOMENT * (k < 0 ? 0 : date_moment(k, 0));
    int too_large = 0;
    for (int64_t i = 0; i < s->paths; i++) {
        const double *row = s->samples + i * s->width;
        double x[CVA_OF_PATH];
        if (k < 0) shoal_cva_of_path(s, row, x);
        for (int n = 0; n < count; n++)
            too_large |= add_moment(to + MOMENT * n,
                                    unit * (k < 0 ? x[n] : shoal_cva_at_date(s, row, k, n)));
    }
    for (int64_t n = 0; n < count * MOMENT / LIMBS; n++) carry(to + LIMBS * n);
    for (int n = 0; k >= 0 && n < orders(s->number); n++) {
        const cva_bins b = shoal_cva_bins(s, k, CVA_AT_WHOLE + n);
        int64_t *bin = sums + bins_begin(s, k, CVA_AT_WHOLE + n);
        for (int64_t i = 0; i < s->paths; i++)
            add_bin(&b, bin, shoal_cva_at_date(s, s->samples + i * s->width, k, CVA_AT_WHOLE + n));
    }
    return too_large;
}

/* Source number `number`; its sets are put into `set`. */
static cva_source source_of(const shoal_cva *p, const double *samples, int64_t paths,
                            int64_t number, int64_t *set) {
    const cva_job *j = &p->job;
    cva_source s = { .p = p, .samples = samples, .paths = paths, .width = shoal_cva_width(p) };
    s.number = number, s.set = number > 0 ? set : NULL;
    for (int64_t i = 0; number > 0 && i < j->sets; i++)
        if (number == 1 + j->party_of[i] || number == 1 + j->parties + i) set[s.sets++] = i;
    return s;
}

static shoal_status add_batch(const shoal_cva *p, const double *samples, int64_t paths,
                              int64_t *set, int64_t *sums) {
    int too_large = 0;
    for (int64_t number = 0; number < sources(p); number++) {
        const cva_source s = source_of(p, samples, paths, number, set);
        int found = 0;
#pragma omp parallel for num_threads(p->head.ctx->threads) schedule(static, 1) reduction(| : found)
        for (int64_t k = -1; k < p->job.exposures; k++) found |= add_rows(&s, k, sums);
        too_large |= found;
    }
    return too_large ? shoal_fail(p->head.ctx, SHOAL_E_ARG,
                                  "an exposure is more than 2^%d times the size of the contracts: "
                                  "too large for sums; set quantile_error to 0",
                                  LARGEST)
                     : SHOAL_OK;
}

shoal_status shoal_cva_add_sums(const shoal_cva *plan, const double *samples, int64_t paths,
                                int64_t *sums) {
    if (!plan) return SHOAL_E_ARG;
    shoal_context *ctx = plan->head.ctx;
    const shoal_array given[] = { { "samples", samples, paths == 0 }, { "sums", sums, 0 } };
    shoal_status s = shoal_check_count(ctx, "paths", paths, 0, SHOAL_CVA_OUTER);
    if (s == SHOAL_OK) s = shoal_check_pointers(ctx, given, 2);
    if (s == SHOAL_OK) s = shoal_cva_has_sums(plan);
    if (s != SHOAL_OK) return s;
    int64_t *set = malloc((size_t)(plan->job.sets + 1) * sizeof *set);
    if (!set) return SHOAL_NO_MEMORY(ctx, "sums");
    for (int64_t at = 0; at < paths && s == SHOAL_OK; at += BATCH)
        s = add_batch(plan, samples + at * shoal_cva_width(plan),
                      paths - at < BATCH ? paths - at : BATCH, set, sums);
    free(set);
    return s;
}

/* ---- reading -------------------------------------------------------------------------------------- */

/* A sum in units, as an unevaluated sum of two numbers. */
static shoal_pair sum_of(const int64_t *from) {
    int64_t limb[LIMBS];
    shoal_pair sum = { 0, 0 };
    double weight = LIMB;
    memcpy(limb, from, sizeof limb);
    carry(limb);
    const int sign = limb[0] < 0 ? -1 : 1;
    for (int i = 0; i < LIMBS; i++) limb[i] *= sign;
    carry(limb);
    for (int i = 0; i < LIMBS; i++, weight *= 1 / LIMB) {
        const shoal_pair next = shoal_two_sum(sum.hi, (double)limb[i] * weight);
        sum.hi = next.hi, sum.lo += next.lo;
    }
    sum = shoal_two_sum(sum.hi, sum.lo);
    sum.hi *= sign, sum.lo *= sign;
    return sum;
}

/* x y */
static shoal_pair product(shoal_pair x, shoal_pair y) {
    const double high = x.hi * y.hi;
    return shoal_two_sum(high, fma(x.hi, y.hi, -high) + (x.hi * y.lo + x.lo * y.hi));
}

static double read_moment(const cva_source *s, int64_t i, double *error) {
    const int64_t *at = s->sums + begin_of(s->p, s->number) + MOMENT * i;
    const double unit = s->p->unit[s->number], n = (double)s->paths;
    const shoal_pair sum = sum_of(at), count = { n, 0 };
    /* n (n - 1) times the variance is n sum x^2 - (sum x)^2 */
    const shoal_pair squares = product(count, sum_of(at + LIMBS)), square = product(sum, sum);
    const shoal_pair high = shoal_two_sum(squares.hi, -square.hi);
    const double off = high.hi + (high.lo + (squares.lo - square.lo));
    *error = s->paths > 1 ? sqrt(fmax(off, 0) / (n - 1)) / n / unit : NAN;
    return sum.hi / n / unit;
}

double shoal_cva_sum_of_path(const cva_source *s, int what, double *error) {
    return read_moment(s, what, error);
}

double shoal_cva_sum_at_date(const cva_source *s, int64_t k, int what, double *error) {
    return read_moment(s, date_moment(k, what), error);
}

cva_bins shoal_cva_bins(const cva_source *s, int64_t k, int what) {
    return (cva_bins){ .bin = s->sums ? s->sums + bins_begin(s, k, what) : NULL,
                       .count = bin_count(s->p),
                       .lowest = ldexp(1 / s->p->unit[s->number], LOWEST),
                       .log_width = log_width(s->p),
                       .error = s->p->quantile_error };
}

double shoal_cva_bin_value(const cva_bins *b, int64_t i) {
    if (i == 0) return 0;
    if (i == b->count - 1) return NAN;
    return b->lowest * shoal_exp((double)(i - 1) * b->log_width) * (1 + b->error);
}
