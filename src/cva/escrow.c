/* SPDX-License-Identifier: Apache-2.0
 *
 * escrow.c - cash dividends. The price of an asset is
 *
 *     S_t = X_t + D_t,   D_t = sum over dividends d_i at t_i > t of d_i e^(-(r - q) (t_i - t)),
 *
 * (integrals with curves), X lognormal with the market's volatility and X_0 = S_0 - D_0 (H. Buehler, Volatility and
 * dividends, 2010; with one maturity the escrowed model). S falls by d_i at t_i, forward prices are those of a stock
 * that pays d_i, and no price is below 0. One process serves all maturities: D has all dividends that are given, also
 * those after a contract's maturity.
 *
 * A job sees X alone: its s0 is X_0, and paths, rules and inner paths are those of X. A contract that pays by the sum
 * B of weights and prices at date t sees D_t as another strike,
 *
 *     B - K = sum w_a X_a - (K - sum w_a D_a(t)),
 *
 * so that closed forms stay closed forms, with the strike at maturity, and early exercise has a strike per date. Where
 * the largest of several prices counts, they get D_t when they are compared.
 */
#include "cva/plan.h"
#include <math.h>
#include <stdlib.h>

static const shoal_cva_curve *dividends_of(const shoal_cva_market *m, int64_t a) {
    return m->cash && a < m->assets && m->cash[a].count > 0 ? &m->cash[a] : NULL;
}

shoal_status shoal_cva_check_cash(shoal_context *ctx, const shoal_cva_market *m) {
    shoal_status s = SHOAL_OK;
    for (int64_t a = 0; a < m->assets && m->cash && s == SHOAL_OK; a++)
        s = shoal_fail_at(ctx, shoal_check_cash(ctx, &m->cash[a]), "cash", a, "");
    return s;
}

/* r - q, integrated from 0. */
static double growth_to(const shoal_cva_market *m, int64_t a, double t) {
    static const shoal_cva_curve none;
    return shoal_curve_integral(&m->rates, 0, m->rate, t) -
           shoal_curve_integral(m->dividends ? &m->dividends[a] : &none, 0,
                                m->dividend ? m->dividend[a] : 0, t);
}

double shoal_cva_escrow(const shoal_cva_market *m, int64_t a, double t) {
    const shoal_cva_curve *c = dividends_of(m, a);
    double sum = 0;
    for (int64_t i = 0; c && i < c->count; i++)
        if (c->time[i] > t * (1 + CVA_SAME))
            sum += c->value[i] * exp(growth_to(m, a, t) - growth_to(m, a, c->time[i]));
    return sum;
}

shoal_status shoal_cva_check_escrow(shoal_context *ctx, const shoal_cva_market *m) {
    for (int64_t a = 0; a < m->assets; a++) {
        const double escrow = shoal_cva_escrow(m, a, 0);
        if (!(escrow < m->s0[a]))
            return shoal_fail(ctx, SHOAL_E_ARG,
                              "cash[%lld]: the dividends are worth %g today; that must be less "
                              "than the price, %g",
                              (long long)a, escrow, m->s0[a]);
    }
    return SHOAL_OK;
}

int shoal_cva_pays_cash(const shoal_cva_market *m, const int64_t *asset, int64_t assets) {
    for (int64_t i = 0; i < assets; i++)
        if (dividends_of(m, asset[i])) return 1;
    return 0;
}

/* The escrow of a contract's asset at date k, at its maturity on the last one; table: [date][asset]. */
static double escrow_at(const cva_job *j, const shoal_cva_market *m, const double *table,
                        const cva_contract *c, int64_t k, int i) {
    if (c->kind == CVA_AMERICAN && k < c->last && c->asset[i] < j->prices)
        return table[k * j->prices + c->asset[i]];
    return shoal_cva_escrow(m, c->asset[i], c->maturity);
}

/* Strikes without the dividends that are in the sum; in the largest price each asset has its own. */
static shoal_status make_strikes(shoal_cva *p, const shoal_cva_market *m, const double *table,
                                 cva_contract *c) {
    const cva_job *j = &p->job;
    const int64_t rows = c->kind == CVA_AMERICAN ? c->last + 1 : 1, d = c->assets;
    const int largest = d > 1 && !(c->form & CVA_OF_SUM);
    double *to;
    const shoal_status s = shoal_plan_host(&p->head, largest ? rows * d : rows, sizeof *to, &to);
    for (int64_t k = 0; k < rows && s == SHOAL_OK; k++) {
        double sum = 0;
        for (int i = 0; i < d; i++) {
            const double escrow = escrow_at(j, m, table, c, k, i);
            sum += cva_weight_in(c, i) * escrow;
            if (largest) to[k * d + i] = escrow;
        }
        if (!largest) to[k] = c->strike - sum;
    }
    if (s != SHOAL_OK) return s;
    if (largest)
        c->cash = to;
    else
        c->strikes = c->kind == CVA_AMERICAN ? to : NULL, c->strike = to[rows - 1];
    return SHOAL_OK;
}

shoal_status shoal_cva_make_strikes(shoal_cva *p, const shoal_cva_market *m) {
    const cva_job *j = &p->job;
    if (!m->cash) return SHOAL_OK;
    double *escrow = malloc((size_t)((j->dates + 1) * m->assets) * sizeof *escrow);
    shoal_status s = escrow ? SHOAL_OK : SHOAL_NO_MEMORY(p->head.ctx, "dividends");
    for (int64_t at = 0; at < (j->dates + 1) * m->assets && escrow; at++)
        escrow[at] = shoal_cva_escrow(m, at % m->assets, cva_time(j, at / m->assets));
    for (int64_t i = 0; i < j->contracts && s == SHOAL_OK; i++) {
        cva_contract *c = &p->contracts[i];
        if (c->kind != CVA_EXPIRED && !(c->form & CVA_MEAN) &&
            shoal_cva_pays_cash(m, c->asset, c->assets))
            s = make_strikes(p, m, escrow, c);
    }
    free(escrow);
    return s;
}
