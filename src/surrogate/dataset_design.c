/* SPDX-License-Identifier: Apache-2.0
 *
 * dataset_design.c - where a data set looks: points of the unit cube of seven dimensions, mapped to ranges.
 *
 * sobol: point i of a scrambled Sobol sequence (rng/sobol.h). latin: coordinate d of row i is
 * (p_d(i) + u) / n, p_d a permutation of 0 .. n - 1 and u uniform, so that each of the n equal strata of each
 * coordinate has one row (McKay, Beckman and Conover, Technometrics 21 (1979) 239-245). p_d needs no memory and
 * can be asked for any i: a Feistel network of six rounds, keyed by Philox, permutes 0 .. 4^h - 1 with 4^h >= n,
 * and is applied until the number is below n, fewer than four times on average.
 */
#include "surrogate/dataset_plan.h"
#include "pricing/plan.h"
#include "rng/sobol.h"

enum { ROUNDS = 6 };

/* A permutation of the numbers of 2 h bits. */
static uint64_t feistel(uint64_t seed, uint32_t column, int h, uint64_t number) {
    const uint64_t mask = ((uint64_t)1 << h) - 1;
    uint64_t left = number >> h, right = number & mask;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        const shoal_words w =
            shoal_philox_at(seed, right, column * ROUNDS + round, PRICE_PURPOSE, PRICE_LATIN, 0);
        const uint64_t next = left ^ (w.word[0] & mask);
        left = right, right = next;
    }
    return left << h | right;
}

static double latin(const shoal_dataset_opts *o, uint32_t column, uint64_t row) {
    const uint64_t rows = (uint64_t)o->samples;
    int h = 1;
    while ((uint64_t)1 << 2 * h < rows) h++;
    uint64_t stratum = row;
    do stratum = feistel(o->seed, column, h, stratum);
    while (stratum >= rows);
    const shoal_words w = shoal_philox_at(o->seed, row, column, PRICE_PURPOSE, PRICE_LATIN, 1);
    return ((double)stratum + shoal_uniform(&w, 0)) / (double)rows;
}

static double mapped(const shoal_range *range, double u) {
    if (range->low == range->high) return range->low;
    if (!range->log) return fma(u, range->high - range->low, range->low);
    const double low = shoal_log(range->low);
    return shoal_exp(fma(u, shoal_log(range->high) - low, low));
}

shoal_status shoal_dataset_design(const shoal_dataset *plan, int64_t first, int64_t count,
                                  double *rows) {
    if (!plan) return SHOAL_E_ARG;
    const shoal_dataset_opts *o = &plan->opts;
    if (first < 0 || count < 0 || first > o->samples - count)
        return shoal_fail(plan->head.ctx, SHOAL_E_ARG,
                          "%lld rows from %lld on are not among the %lld", (long long)count,
                          (long long)first, (long long)o->samples);
    if (count > 0 && !rows) return shoal_fail(plan->head.ctx, SHOAL_E_ARG, "rows is NULL");
    for (int64_t i = 0; i < count; i++)
        for (int d = 0; d < SHOAL_DATASET_COLUMNS; d++) {
            const uint64_t row = (uint64_t)(first + i);
            const double u =
                plan->latin
                    ? latin(o, (uint32_t)d, row)
                    : shoal_sobol_point(
                          shoal_sobol_word(plan->direction + d * SHOAL_SOBOL_BITS, (uint32_t)row),
                          plan->shift[d]);
            rows[i * SHOAL_DATASET_COLUMNS + d] = mapped(&o->range[d], u);
        }
    return SHOAL_OK;
}
