/* SPDX-License-Identifier: Apache-2.0
 *
 * margin.c - collateral of netting sets, and when it is called.
 *
 * The last margin call before a close-out at an exposure date t is at t - delta, or today if that is later: a date of
 * the plan, at which outer paths are kept in a slot until the exposure. Slots are used again.
 */
#include "cva/plan.h"
#include <math.h>
#include <stdlib.h>

static shoal_status check_csa(shoal_context *ctx, const shoal_cva_csa *a) {
    const shoal_flag flags[] = { SHOAL_FLAG("collateral", a->collateral) };
    const shoal_count counts[] = { { "one_way", (int64_t)a->one_way, SHOAL_CVA_BOTH_POST,
                                     SHOAL_CVA_WE_POST } };
    const shoal_bound bounds[] = { { "threshold", a->threshold, 0, INFINITY },
                                   { "transfer", a->transfer, 0, 1e300 },
                                   { "independent", a->independent, -1e300, 1e300 },
                                   { "period", a->period, 0, 1e3 } };
    shoal_status s = shoal_check_flags(ctx, flags, 1);
    if (s == SHOAL_OK) s = shoal_check_counts(ctx, counts, 1);
    return s == SHOAL_OK ? shoal_check_bounds(ctx, bounds, 4) : s;
}

/* The number of a margin period, from 1; 0: there are too many. */
static int number_of(shoal_cva *p, double period) {
    int i = 0;
    while (i < p->job.periods && fabs(p->period[i] - period) > CVA_SAME * period) i++;
    if (i == CVA_PERIODS) return 0;
    if (i == p->job.periods) p->period[p->job.periods++] = period;
    return i + 1;
}

static shoal_status make_csa(shoal_cva *p, const shoal_cva_csa *a, cva_csa *to) {
    const double most = a->threshold + a->transfer;
    *to = (cva_csa){ .is_none = !a->collateral && a->independent == 0,
                     .theirs = a->collateral && a->one_way != SHOAL_CVA_WE_POST ? most : INFINITY,
                     .ours = a->collateral && a->one_way != SHOAL_CVA_THEY_POST ? most : INFINITY,
                     .held = fmax(a->independent, 0),
                     .posted = fmax(-a->independent, 0) };
    if (!a->collateral || !(a->period > 0)) return SHOAL_OK;
    to->period = number_of(p, a->period);
    return to->period
               ? SHOAL_OK
               : shoal_fail(p->head.ctx, SHOAL_E_ARG,
                            "period is %g; there can be %d different ones", a->period, CVA_PERIODS);
}

shoal_status shoal_cva_make_csas(shoal_cva *p, const shoal_cva_counterparty *c,
                                 const shoal_cva_opts *o) {
    cva_job *j = &p->job;
    cva_csa *csa;
    int any = 0;
    shoal_status s = shoal_plan_host(&p->head, j->sets, sizeof *csa, &csa);
    for (int64_t set = 0; set < j->sets && s == SHOAL_OK; set++) {
        const shoal_cva_counterparty *party = &c[j->party_of[set]];
        const shoal_cva_csa usual = { .collateral = party->collateral != 0,
                                      .threshold = party->threshold };
        const int64_t at = o->csas == 1 ? 0 : set;
        s = shoal_fail_at(p->head.ctx, make_csa(p, at < o->csas ? &o->csa[at] : &usual, &csa[set]),
                          "csa", at, "");
        any |= !csa[set].is_none;
    }
    if (any) j->csa = csa;
    return s;
}

shoal_status shoal_cva_check_csas(shoal_context *ctx, const shoal_cva_opts *o) {
    const shoal_array given[] = { { "csa", o->csa, o->csas == 0 } };
    shoal_status s = shoal_check_count(ctx, "csas", o->csas, 0, INT32_MAX);
    if (s == SHOAL_OK) s = shoal_check_pointers(ctx, given, 1);
    for (int64_t i = 0; i < o->csas && s == SHOAL_OK; i++)
        s = shoal_fail_at(ctx, check_csa(ctx, &o->csa[i]), "csa", i, "");
    return s;
}

/* ---- slots --------------------------------------------------------------------------------------- */

/* slot_at[date] := the last exposure date that sees a call there, or -1. */
static void find_uses(shoal_cva *p) {
    const cva_job *j = &p->job;
    for (int64_t k = 0; k <= j->dates; k++) p->slot_at[k] = -1;
    for (int i = 0; i < j->periods; i++)
        for (int64_t e = 0; e < j->exposures; e++) {
            const double t = shoal_cva_call_time(j->time[j->exposed[e]], p->period[i]);
            const int64_t date = t > 0 ? shoal_cva_date_of(j, t) : 0;
            p->call_date[i * j->exposures + e] = date;
            p->slot_at[date] = j->exposed[e] > p->slot_at[date] ? j->exposed[e] : p->slot_at[date];
        }
}

shoal_status shoal_cva_make_slots(shoal_cva *p) {
    const cva_job *j = &p->job;
    if (!j->periods) return SHOAL_OK;
    const int64_t calls = j->periods * j->exposures;
    int64_t *end = malloc((size_t)(j->dates + 1) * sizeof *end); /* of a slot: its last use */
    shoal_status s = end ? SHOAL_OK : SHOAL_NO_MEMORY(p->head.ctx, "margin calls");
    if (s == SHOAL_OK) s = shoal_plan_host(&p->head, calls, sizeof *end, &p->call_date);
    if (s == SHOAL_OK) s = shoal_plan_host(&p->head, calls, sizeof *end, &p->call_slot);
    if (s == SHOAL_OK) s = shoal_plan_host(&p->head, j->dates + 1, sizeof *end, &p->slot_at);
    if (s == SHOAL_OK) find_uses(p);
    for (int64_t k = 0; k <= j->dates && s == SHOAL_OK; k++) {
        int64_t slot = 0;
        if (p->slot_at[k] < 0) continue;
        while (slot < p->slots && end[slot] >= k) slot++;
        if (slot == p->slots) p->slots++;
        end[slot] = p->slot_at[k], p->slot_at[k] = slot;
    }
    for (int64_t i = 0; i < calls && s == SHOAL_OK; i++)
        p->call_slot[i] = p->slot_at[p->call_date[i]];
    free(end);
    return s;
}

int64_t shoal_cva_slot_numbers(const cva_job *j) {
    return j->paths * (j->assets + (CVA_LEVELS + 1 + CVA_RULES) * j->sets);
}

cva_view shoal_cva_slot(const cva_job *j, int64_t slot) {
    cva_view v = { .spot = j->slots + slot * shoal_cva_slot_numbers(j) };
    v.value = v.spot + j->paths * j->assets;
    v.differ = v.value + j->paths * CVA_LEVELS * j->sets;
    v.flow = v.differ + j->paths * j->sets;
    v.holds = j->slot_holds + slot * j->paths * j->places;
    return v;
}
