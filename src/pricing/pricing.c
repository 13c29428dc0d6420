/* SPDX-License-Identifier: Apache-2.0
 *
 * pricing.c - the public functions of pricing.h that all plans share: memory, runs, descriptions. The rooms
 * above, models and american, create plans; result.c turns sums into prices.
 */
#include "pricing/plan.h"

enum { MOST_NUMBERS = 1 << 25 }; /* in partial, unless one block has more */

shoal_status shoal_price_new(shoal_context *ctx, const shoal_module *module, size_t size,
                             const void *model, const void *opts, shoal_price **plan) {
    const shoal_array given[] = { { "model", model, 0 } };
    shoal_status s = shoal_plan_new(ctx, size, opts, plan);
    if (s == SHOAL_OK) s = shoal_check_pointers(ctx, given, 1);
    if (s == SHOAL_OK) (*plan)->module = module;
    return shoal_plan_made(s, plan);
}

shoal_status shoal_price_choose(shoal_price *p, const shoal_price_opts *o, const char *best) {
    return shoal_choose(p->head.ctx, p->module, shoal_is_auto(o->method) ? best : o->method,
                        o->variant, o->type, &p->choice);
}

shoal_status shoal_price_room(shoal_price *p) {
    price_frame *f = p->frame;
    f->width = p->groups * (PRICE_CONTROL + p->strike_count * p->outputs * PRICE_STATISTICS);
    f->room = ((const price_method *)p->choice.cell)->blocks;
    if (f->width > 0 && f->room > MOST_NUMBERS / f->width) f->room = MOST_NUMBERS / f->width;
    if (f->room < 1) f->room = 1;
    return shoal_plan_alloc(&p->head, (size_t)(f->room * f->width) * sizeof *f->partial,
                            &f->partial);
}

void shoal_price_free(shoal_price *plan) { shoal_plan_free(plan); }

/* Whether paths simulate a put where the contract is a call. */
static int has_parity(const shoal_price *p) {
    for (int64_t k = 0; p->legs && !p->formula && k < p->groups; k++)
        if (p->legs[k].put != p->put) return 1;
    return 0;
}

shoal_status shoal_price_describe(const shoal_price *plan, shoal_price_info *info) {
    const shoal_status s = shoal_plan_asked(plan, info);
    if (s != SHOAL_OK) return s;
    *info = (shoal_price_info){ .method = plan->choice.name,
                                .variant = plan->choice.variant_name,
                                .deterministic = plan->formula != NULL,
                                .control = plan->control,
                                .parity = has_parity(plan),
                                .contracts = plan->groups * plan->strike_count,
                                .steps = plan->steps,
                                .paths_each = plan->signs,
                                .walks = plan->walks,
                                .bytes = plan->head.bytes };
    return SHOAL_OK;
}

/* ---- runs ------------------------------------------------------------------------------------ */

int64_t shoal_price_width(const shoal_price *plan) { return plan ? plan->frame->width : 0; }

int64_t shoal_price_sums(const shoal_price *plan, int64_t samples) {
    const int64_t units = samples / SHOAL_PRICE_UNIT + (samples % SHOAL_PRICE_UNIT > 0);
    return samples > 0 ? units * shoal_price_width(plan) : 0;
}

shoal_status shoal_price_run(shoal_price *plan, int64_t first, int64_t samples, double *sums) {
    if (!plan) return SHOAL_E_ARG;
    shoal_context *ctx = plan->head.ctx;
    shoal_status s = shoal_ready(ctx);
    if (s != SHOAL_OK) return s;
    if (first < 0 || first % SHOAL_PRICE_UNIT)
        return shoal_fail(ctx, SHOAL_E_ARG, "first is %lld; it must be a multiple of %d",
                          (long long)first, SHOAL_PRICE_UNIT);
    if (samples < 0 || first > SHOAL_PRICE_MOST - samples)
        return shoal_fail(ctx, SHOAL_E_ARG,
                          "samples is %lld; it must be at least 0, and end at %lld",
                          (long long)samples, (long long)SHOAL_PRICE_MOST);
    if (shoal_price_sums(plan, samples) == 0) return SHOAL_OK;
    s = shoal_check_array(ctx, sums, "sums");
    if (s != SHOAL_OK) return s;
    plan->frame->first = (uint64_t)first, plan->frame->samples = samples, plan->frame->sums = sums;
    return ((const price_method *)plan->choice.cell)->run(ctx, plan->frame);
}
