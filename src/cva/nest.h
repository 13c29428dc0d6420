/* SPDX-License-Identifier: Apache-2.0
 *
 * nest.h - inner paths of European contracts without a closed form, for both compilers: CVA_WIDTH of them side by side,
 * which go to maturity in one step,
 *
 *     S_T = S_t e^((r - q - sigma^2 / 2) tau + sigma sqrt(tau) L Z),
 *
 * with one Z for all contracts of an outer path and date: what is bought and sold nets exactly.
 */
#ifndef SHOAL_CVA_NEST_H
#define SHOAL_CVA_NEST_H

#include "cva/walk.h"

typedef struct cva_nest {
    real z[SHOAL_CVA_ASSETS + CVA_NORMALS - 1][CVA_WIDTH]; /* independent, then L z */
    real s[SHOAL_CVA_ASSETS + CVA_NORMALS - 1][CVA_WIDTH]; /* prices at one maturity */
    char made[SHOAL_CVA_ASSETS];                           /* which of them          */
    cva_span left;                                         /* until then             */
    uint64_t first;
    real all[CVA_WIDTH];
} cva_nest;

/* z := L Z of a segment of time. */
CVA_CALL void cva_nest_draw(const cva_job *job, int64_t segment, uint64_t first,
                            real (*z)[CVA_WIDTH]) {
    const int blocks = (int)cva_blocks(job);
    for (int n = 0; n < blocks; n++)
        cva_draw(&job->inner_normals, (uint32_t)(segment * blocks + n), first, z + n * CVA_NORMALS);
    for (int a = job->assets - 1; a >= 0; a--) { /* the rows above are still independent */
        const real own = (real)job->load[a * (a + 1) / 2 + a];
        CVA_EACH(l) z[a][l] *= own;
        for (int from = 0; from < a; from++) {
            const real factor = (real)job->load[a * (a + 1) / 2 + from];
            CVA_EACH(l) z[a][l] = real_fma(factor, z[from][l], z[a][l]);
        }
    }
}

CVA_CALL void cva_begin_nest(const cva_job *job, int64_t k, uint64_t first, cva_nest *b) {
    b->left.years = -1, b->first = first;
    if (!job->knots) cva_nest_draw(job, k - 1, first, b->z);
}

/* Between knots volatilities are constant: z := the sum of what each segment moves, over the deviation of all. */
CVA_CALL void cva_nest_segments(const cva_job *job, cva_nest *b) {
    int64_t from = b->left.from;
    for (int a = 0; a < job->assets; a++) CVA_EACH(l) b->z[a][l] = 0;
    for (int64_t i = 0; i <= job->knots && from < b->left.to; i++) {
        const int64_t to = i < job->knots && job->knot[i] < b->left.to ? job->knot[i] : b->left.to;
        if (to <= from) continue;
        const cva_span span = cva_between(job, from, to);
        cva_nest_draw(job, (b->left.from - 1) * (job->knots + 1) + i, b->first, b->s);
        for (int a = 0; a < job->assets; a++) {
            const double all = cva_deviation(job, b->left, a);
            const real share = all > 0 ? (real)(cva_deviation(job, span, a) / all) : 0;
            CVA_EACH(l) b->z[a][l] = real_fma(share, b->s[a][l], b->z[a][l]);
        }
        from = to;
    }
}

/* The prices of an asset. */
CVA_CALL const real *cva_nest_price(const cva_job *job, const double *spot, int64_t a,
                                    cva_nest *b) {
    if (!b->made[a]) {
        const real start = (real)spot[a], shift = (real)cva_drift(job, b->left, a);
        const real noise = (real)cva_deviation(job, b->left, a);
        CVA_EACH(l) b->s[a][l] = start * real_exp(real_fma(noise, b->z[a][l], shift));
        b->made[a] = 1;
    }
    return b->s[a];
}

/* b->all := what the contract pays after a span. */
CVA_CALL void cva_nest_pay(const cva_job *job, const cva_contract *c, const double *spot,
                           cva_span left, cva_nest *b) {
    const int form = c->form, sum = form & CVA_OF_SUM;
    const real strike = (real)c->strike;
    if (left.years != b->left.years) {
        for (int a = 0; a < job->assets; a++) b->made[a] = 0;
        b->left = left;
        if (job->knots) cva_nest_segments(job, b);
    }
    for (int n = 0; n < c->assets; n++) {
        const real *s = cva_nest_price(job, spot, c->asset[n], b);
        const real weight = (real)cva_weight_in(c, n), more = (real)cva_cash_in(c, 0, n);
        if (n == 0)
            CVA_EACH(l) b->all[l] = real_fma(weight, s[l], more);
        else if (sum)
            CVA_EACH(l) b->all[l] = real_fma(weight, s[l], b->all[l]);
        else
            CVA_EACH(l) b->all[l] = real_pick(s[l] + more > b->all[l], s[l] + more, b->all[l]);
    }
    CVA_EACH(l) b->all[l] = cva_pays(form, strike, b->all[l]);
}

#endif
