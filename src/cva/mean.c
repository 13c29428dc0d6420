/* SPDX-License-Identifier: Apache-2.0
 *
 * mean.c - numbers of contracts on a mean of prices, per date, for mean.h: of every later fixing j
 *
 *     a_j = E X_j / X,   c_j = cov(log X_j, sum_i log X_i) / sd(sum_i log X_i).
 *
 * X is the price without dividends (escrow.c). Memory: (last date + 1) (2 n + 2) numbers for n fixings.
 */
#include "cva/mean.h"
#include "cva/span.h"
#include <math.h>

#define MAX_NUMBERS (1 << 24)

static double variance(const cva_job *j, int64_t k, int64_t to, int64_t a) {
    const double deviation = cva_deviation(j, cva_between(j, k, to), a);
    return deviation * deviation;
}

static void fill_date(const cva_job *j, const shoal_cva_market *m, const cva_contract *c, int64_t k,
                      double *to) {
    const int64_t a = c->asset[0];
    double *at = to + CVA_MEAN_HEAD, all = 0, later = 0;
    int64_t count = 0;
    to[CVA_MEAN_HERE] = shoal_cva_escrow(m, a, cva_time(j, k));
    for (int64_t i = k + 1; i <= c->last; i++) {
        if (!c->fixes[i - 1]) continue;
        at[2 * count] = exp(cva_growth(j, cva_between(j, k, i), a));
        at[2 * count + 1] = variance(j, k, i, a);
        later += shoal_cva_escrow(m, a, cva_time(j, i)), count++;
    }
    to[CVA_MEAN_LATER] = later;
    /* the covariance of two is the variance of the earlier: sums from the front and from the back */
    double before = 0;
    for (int64_t i = 0; i < count; i++) {
        const double v = at[2 * i + 1], with = before + (double)(count - i) * v;
        before += v, all += with, at[2 * i + 1] = with;
    }
    for (int64_t i = 0; i < count; i++) at[2 * i + 1] = all > 0 ? at[2 * i + 1] / sqrt(all) : 0;
}

shoal_status shoal_cva_make_means(shoal_cva *p, const shoal_cva_market *m) {
    cva_job *j = &p->job;
    int64_t *list;
    shoal_status s = shoal_plan_host(&p->head, j->contracts, sizeof *list, &list);
    j->averaged = list;
    for (int64_t i = 0; i < j->contracts && s == SHOAL_OK; i++) {
        cva_contract *c = &p->contracts[i];
        if (!(c->form & CVA_MEAN) || c->kind == CVA_EXPIRED) continue;
        for (int64_t k = 0; k < c->last; k++) c->fixings += c->fixes[k] != 0;
        const int64_t each = cva_mean_numbers(c->fixings);
        double *numbers;
        if ((double)(c->last + 1) * (double)each > MAX_NUMBERS)
            return shoal_fail(p->head.ctx, SHOAL_E_ARG,
                              "contracts[%lld]: %lld fixings on %lld dates are too many",
                              (long long)i, (long long)c->fixings, (long long)c->last);
        s = shoal_plan_host(&p->head, (c->last + 1) * each, sizeof *numbers, &numbers);
        for (int64_t k = 0; k <= c->last && s == SHOAL_OK; k++)
            fill_date(j, m, c, k, numbers + k * each);
        c->mean = numbers, c->sum = j->sums_fixed, list[j->sums_fixed++] = i;
    }
    return s;
}
