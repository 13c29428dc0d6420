/* SPDX-License-Identifier: Apache-2.0
 *
 * pde_runs.h - prices of bullet options by PDE and by quadrature, and beside each other up to the upper end of the
 * grid.
 */
#ifndef SHOAL_PDE_RUNS_H
#define SHOAL_PDE_RUNS_H

#include "targets.h"
#include <math.h>

static inline shoal_price_opts pde_opts(const char *variant, int64_t nx, int64_t steps,
                                        int as_printed) {
    return (shoal_price_opts){ .method = "pde",
                               .variant = variant,
                               .nx = nx,
                               .steps_per_date = steps,
                               .as_printed = as_printed,
                               .greeks = 1 };
}

static inline shoal_status price(shoal_context *ctx, const shoal_bullet *m,
                                 const shoal_price_opts *o, const shoal_bullet_point *at,
                                 int64_t count, shoal_price_value *values) {
    shoal_price *plan = NULL;
    shoal_status s = shoal_price_bullet(ctx, m, o, at, count, &plan);
    if (s == SHOAL_OK) s = shoal_price_result(plan, NULL, 0, values);
    shoal_price_free(plan);
    return s;
}

static const shoal_price_opts quad = { .method = "quad", .greeks = 1 };

/* Figure 2: ten dates, counts 3 to 8. */
static inline shoal_bullet figure_2(char count) {
    shoal_bullet m = shoal_bullet_example();
    m.dates = 10, m.p1 = 3, m.p2 = 8, m.count = count;
    return m;
}

/* Options whose grid ends near the barrier, or far below or above it, next to its upper end too: what that is
 * worth depends on the dates that are still to come, by every convention. Few steps per date are half steps, of
 * first order. */
static inline void check_upper_ends(void) {
    static const struct {
        double barrier, sigma, rate, high; /* the highest price */
        int64_t p1, p2, steps;
        double off;
    } cases[] = {
        { 3000, 0.2, 0.1, 299.9, 10, 10, 0, 1e-3 }, { 3000, 0.2, 0.1, 299.9, 9, 9, 0, 1e-3 },
        { 290, 0.2, 0.1, 230, 8, 10, 0, 2e-3 },     { 310, 0.2, 0.1, 230, 8, 10, 0, 2e-3 },
        { 120, 0.6, 0.1, 500, 3, 8, 0, 1e-3 },      { 120, 0.2, -0.1, 230, 3, 8, 0, 1e-3 },
        { 120, 0.2, 0.1, 230, 3, 8, 1, 0.4 },       { 120, 0.2, 0.1, 230, 3, 8, 2, 0.2 },
        { 120, 0.2, 0.1, 230, 3, 8, 3, 0.04 },
    };
    enum { MANY = 12 };
    shoal_context *ctx = targets[target_count - 1].ctx;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (char count = 'A'; count <= 'F'; count++) {
            shoal_bullet m = figure_2(count);
            m.barrier = cases[c].barrier, m.sigma = cases[c].sigma, m.rate = cases[c].rate;
            m.p1 = cases[c].p1, m.p2 = cases[c].p2;
            const shoal_price_opts o = pde_opts("pcr", 0, cases[c].steps, 0);
            const int64_t last = m.dates + (count >= 'E'); /* that of maturity */
            shoal_bullet_point at[MANY];
            shoal_price_value truth[MANY], v[MANY];
            for (int i = 0; i < MANY; i++) {
                const int64_t k = i % 4 < 3 ? i % 4 * 4 : last;
                at[i].k = k, at[i].j = k == last ? m.p2 : m.p1 > 8 ? k : k / 2;
                at[i].x = i < 4 ? 100 : i < 8 ? 180 : cases[c].high;
            }
            CHECK(price(ctx, &m, &quad, at, MANY, truth) == SHOAL_OK);
            CHECK(price(ctx, &m, &o, at, MANY, v) == SHOAL_OK);
            for (int i = 0; i < MANY; i++)
                CHECK_MSG(fabs(v[i].price - truth[i].price) < cases[c].off + 1e-5 * truth[i].price,
                          "case %d, %c, k %d, x %g, j %d: %g, not %g", (int)c, count, (int)at[i].k,
                          at[i].x, (int)at[i].j, v[i].price, truth[i].price);
        }
}

#endif
