/* SPDX-License-Identifier: Apache-2.0
 *
 * heston_plan.c - plans for Heston's model: the public function, its argument checks, the method table.
 */
#include "pricing/plan.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

SHOAL_DECLARE_CPU(price_method, heston_paths)
SHOAL_DECLARE_CUDA(price_method, heston_paths)

/* clang-format off */
#define CELLS .cpu = SHOAL_CPU_CELLS(heston_paths), .cuda = SHOAL_CUDA_CELLS(heston_paths)
#define VARIANCE_VARIANTS                                                                          \
    .variants = { [VARIANCE_POISSON] = { "poisson", SHOAL_ON_BOTH },                               \
                  [VARIANCE_NORMAL] = { "normal", SHOAL_ON_BOTH } }

static const shoal_method methods[] = {
    [HESTON_EULER] = { .name = "euler", CELLS,
      .variants = { [EULER_FULL] = { "full", SHOAL_ON_BOTH },
                    [EULER_PLUS] = { "plus", SHOAL_ON_BOTH },
                    [EULER_ABS] = { "abs", SHOAL_ON_BOTH } } },
    [HESTON_EXACT] = { .name = "exact", CELLS, VARIANCE_VARIANTS },
    [HESTON_CONDITIONAL] = { .name = "conditional", CELLS, VARIANCE_VARIANTS },
    [HESTON_ANALYTIC] = { .name = "analytic", CELLS },
};
/* clang-format on */

const shoal_module shoal_heston_module = { "heston", methods, sizeof methods / sizeof *methods,
                                           NULL };

#define SIGMA_LEAST 1e-12 /* below, the variance is taken to follow its drift */
#define VEGA_SHARE  0.02  /* of v0: up and down                               */

enum { MOST_STEPS = 1 << 30, MOST_CONTRACTS = 1 << 20 };

shoal_heston shoal_heston_example(void) {
    return (
        shoal_heston){ .s0 = 1, .v0 = 0.1, .kappa = 0.5, .theta = 0.1, .sigma = 0.3, .rho = -0.7 };
}

/* ---- checks ---------------------------------------------------------------------------------- */

static shoal_status check_model(shoal_context *ctx, const shoal_heston *m) {
    const struct {
        const char *name;
        double value, least, most;
    } all[] = {
        { "s0", m->s0, 0x1p-1022, 1e300 },      { "rate", m->rate, -1e3, 1e3 },
        { "dividend", m->dividend, -1e3, 1e3 }, { "v0", m->v0, 0, 1e6 },
        { "kappa", m->kappa, 0, 1e6 },          { "theta", m->theta, 0, 1e6 },
        { "sigma", m->sigma, 0, 1e6 },          { "rho", m->rho, -1, 1 },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!(all[i].value >= all[i].least && all[i].value <= all[i].most))
            return shoal_fail(ctx, SHOAL_E_ARG, "%s is %g; it must be %s %g and at most %g",
                              all[i].name, all[i].value, i == 0 ? "above" : "at least",
                              i == 0 ? 0 : all[i].least, all[i].most);
    return SHOAL_OK;
}

static shoal_status check_list(shoal_context *ctx, const char *name, const char *count_name,
                               const double *list, int64_t count, int ascends) {
    if (count < 0 || count > MOST_CONTRACTS)
        return shoal_fail(ctx, SHOAL_E_ARG, "%s is %lld; it must be 0 to %d", count_name,
                          (long long)count, MOST_CONTRACTS);
    if (count > 0 && !list) return shoal_fail(ctx, SHOAL_E_ARG, "%s is NULL", name);
    for (int64_t i = 0; i < count; i++) {
        if (!(list[i] >= 0 && list[i] <= 1e300))
            return shoal_fail(ctx, SHOAL_E_ARG, "%s[%lld] is %g; it must be at least 0 and finite",
                              name, (long long)i, list[i]);
        if (ascends && i > 0 && list[i] < list[i - 1])
            return shoal_fail(ctx, SHOAL_E_ARG, "%s[%lld] = %g is less than the one before", name,
                              (long long)i, list[i]);
    }
    return SHOAL_OK;
}

static shoal_status check_opts(shoal_context *ctx, const shoal_price_opts *o) {
    if (o->steps < 1 || o->steps > MOST_STEPS)
        return shoal_fail(ctx, SHOAL_E_ARG, "steps is %lld; it must be 1 to %d",
                          (long long)o->steps, MOST_STEPS);
    if (o->type != SHOAL_F64 && o->type != SHOAL_F32)
        return shoal_fail(ctx, SHOAL_E_ARG, "type is %d; it must be SHOAL_F64 or SHOAL_F32",
                          (int)o->type);
    if (o->control < -1 || o->control > 1)
        return shoal_fail(ctx, SHOAL_E_ARG, "control is %d; it must be -1, 0 or 1", o->control);
    shoal_status s = check_list(ctx, "strike", "strikes", o->strike, o->strikes, 0);
    if (s == SHOAL_OK) s = check_list(ctx, "maturity", "maturities", o->maturity, o->maturities, 1);
    if (s == SHOAL_OK && o->strikes * o->maturities > MOST_CONTRACTS)
        s = shoal_fail(ctx, SHOAL_E_ARG, "strikes * maturities is %lld; it must be at most %d",
                       (long long)(o->strikes * o->maturities), MOST_CONTRACTS);
    return s;
}

/* ---- plans ----------------------------------------------------------------------------------- */

/* Equal steps from each maturity to the next, at least one, as even as the whole allows. */
static shoal_status make_legs(shoal_price *p, const shoal_price_opts *o) {
    const shoal_heston *m = &p->heston;
    const double sigma = p->job.heston.sigma;
    const double end = o->maturities ? o->maturity[o->maturities - 1] : 0;
    uint64_t address = 0;
    for (int64_t k = 0; k < o->maturities; k++) {
        price_leg *leg = &p->legs[k];
        const double before = k ? o->maturity[k - 1] : 0, length = o->maturity[k] - before;
        const double share = length > 0 ? round((double)o->steps * (length / end)) : 0;
        leg->steps = length > 0 ? (int32_t)(share > 1 ? share : 1) : 0;
        leg->first = (uint32_t)address;
        leg->maturity = o->maturity[k];
        leg->dt = leg->steps ? length / leg->steps : 0;
        leg->discount = exp(-m->rate * leg->maturity);
        leg->forward = m->s0 * exp((m->rate - m->dividend) * leg->maturity);
        if (!(leg->discount > 0 && leg->discount < 1e300 && leg->forward > 0 &&
              leg->forward < 1e300))
            return shoal_fail(p->ctx, SHOAL_E_ARG,
                              "rate %g or dividend %g is too large for maturity %g", m->rate,
                              m->dividend, leg->maturity);
        const double reach = m->kappa * leg->dt;
        leg->factor = 0.5 * sigma * sigma * (reach > 0 ? -expm1(-reach) / m->kappa : leg->dt);
        leg->per = leg->factor > 0 ? exp(-reach) / leg->factor : 0;
        leg->weight = reach > 0 ? tanh(0.5 * reach) / m->kappa : 0.5 * leg->dt;
        leg->base = m->theta * (leg->dt - 2 * leg->weight);
        address += ((uint64_t)leg->steps + 1) / 2 * 2;
        p->steps += leg->steps;
    }
    if (address > UINT32_MAX)
        return shoal_fail(p->ctx, SHOAL_E_ARG, "steps is %lld: too many", (long long)o->steps);
    return SHOAL_OK;
}

static void make_job(shoal_price *p, const shoal_price_opts *o) {
    const shoal_heston *m = &p->heston;
    price_job *j = &p->job.heston;
    j->row = p->choice.row, j->variant = p->choice.variant;
    j->fast = o->math == SHOAL_FAST;
    j->signs = o->antithetic && j->row != HESTON_CONDITIONAL ? 2 : 1;
    j->bumps = o->greeks ? PRICE_BUMPS : 1;
    j->legs = (int)o->maturities, j->strikes = (int)o->strikes;
    j->kappa = m->kappa, j->theta = m->theta, j->rho = m->rho;
    j->sigma = m->sigma < SIGMA_LEAST ? 0 : m->sigma;
    j->shape = j->sigma > 0 ? 2 * m->kappa * m->theta / (j->sigma * j->sigma) : 0;
    j->v0[0] = m->v0, j->v0[1] = m->v0 * (1 + VEGA_SHARE), j->v0[2] = m->v0 * (1 - VEGA_SHARE);
    j->terms = (price_terms){
        .put = o->put != 0,
        .outputs = o->greeks ? PRICE_OUTPUTS : 1,
        .s0 = m->s0,
        .bump = j->row == HESTON_CONDITIONAL ? 1e-3 : 1e-2,
        .vega = m->v0 > 0 ? 1 / (VEGA_SHARE * sqrt(m->v0)) : 0 /* 2 sqrt(v0) / (2 share v0) */
    };
    j->normals = shoal_stream_of(o->seed, 0, PRICE_PURPOSE, PRICE_NORMALS);
    j->variance = shoal_stream_of(o->seed, 0, PRICE_PURPOSE, PRICE_VARIANCE);
    j->last = shoal_stream_of(o->seed, 0, PRICE_PURPOSE, PRICE_LAST);
    p->control = o->control > 0 || (o->control == 0 && j->row == HESTON_CONDITIONAL);
    p->deterministic = j->row == HESTON_ANALYTIC;
    p->put = j->terms.put;
    p->signs = j->signs, p->bumps = j->bumps, p->outputs = j->terms.outputs;
    p->groups = o->maturities, p->strike_count = o->strikes;
}

static shoal_status fill_plan(shoal_price *p, const shoal_price_opts *o) {
    const char *word = o->method && strcmp(o->method, "auto") != 0 ? o->method : "conditional";
    shoal_status s =
        shoal_choose(p->ctx, &shoal_heston_module, word, o->variant, o->type, &p->choice);
    if (s != SHOAL_OK) return s;
    make_job(p, o);
    p->legs = calloc((size_t)o->maturities + 1, sizeof *p->legs);
    p->strikes = calloc((size_t)o->strikes + 1, sizeof *p->strikes);
    if (!p->legs || !p->strikes)
        return shoal_fail(p->ctx, SHOAL_E_NOMEM, "no memory for %lld contracts",
                          (long long)(o->strikes * o->maturities));
    if (o->strikes) memcpy(p->strikes, o->strike, (size_t)o->strikes * sizeof *p->strikes);
    s = make_legs(p, o);
    if (s != SHOAL_OK || p->deterministic) return s;
    s = shoal_price_keep(p, 0, p->legs, (size_t)o->maturities * sizeof *p->legs);
    if (s == SHOAL_OK)
        s = shoal_price_keep(p, 1, p->strikes, (size_t)o->strikes * sizeof *p->strikes);
    p->job.heston.leg = p->kept[0], p->job.heston.strike = p->kept[1];
    return s == SHOAL_OK ? shoal_price_room(p) : s;
}

shoal_status shoal_price_heston(shoal_context *ctx, const shoal_heston *model,
                                const shoal_price_opts *opts, shoal_price **plan) {
    if (plan) *plan = NULL;
    shoal_status s = shoal_ready(ctx);
    if (s != SHOAL_OK) return s;
    if (!plan) return shoal_fail(ctx, SHOAL_E_ARG, "plan is NULL");
    if (!model) return shoal_fail(ctx, SHOAL_E_ARG, "model is NULL");
    if (!opts) return shoal_fail(ctx, SHOAL_E_ARG, "opts is NULL");
    s = check_model(ctx, model);
    if (s == SHOAL_OK) s = check_opts(ctx, opts);
    if (s != SHOAL_OK) return s;
    shoal_price *p = calloc(1, sizeof *p);
    if (!p) return shoal_fail(ctx, SHOAL_E_NOMEM, "no memory for a plan");
    p->ctx = ctx, p->model = PRICE_HESTON, p->heston = *model;
    s = fill_plan(p, opts);
    if (s == SHOAL_OK)
        *plan = p;
    else
        shoal_price_free(p);
    return s;
}
