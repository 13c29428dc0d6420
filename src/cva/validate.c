/* SPDX-License-Identifier: Apache-2.0
 *
 * validate.c - the martingale test of a run: for every contract and date of exposure t_k
 *
 *     X_k = e^(-r t_k) V_k [not exercised] + discounted cash flows before t_k,   E X_k = price at t = 0.
 *
 * The price is a closed form, that of the grid (line.c), or a mean over PRICE_PATHS paths from today that follow the
 * rule: never of the outer paths. z is the difference of the mean of X_k over outer paths and the price, in standard
 * errors of both.
 *
 * What the rule costs. The price by a rule of several assets is a lower bound. The dual of Andersen and Broadie is an
 * upper one: with C_i what going on is worth at t_i by the rule, over BOUND_INNER inner paths from each of BOUND_PATHS
 * outer paths, V_i the payoff where the rule exercises and else C_i, all discounted,
 *
 *     price <= E max_i (payoff_i - M_i),   M_i = M_(i-1) + V_i - C_(i-1).
 *
 * The rule of one asset has no noise, and its price is taken for both.
 *
 * Where fewer than SEEN paths carry the mean, (sum |X|)^2 / sum X^2, their variance says little. What a contract pays
 * is of the size M of its strike or of its assets, so that the variance is at most M |price|: that is used if it is
 * larger.
 *
 * The limit of |z| is that which one of all z exceeds with a probability of CHANCE if all are right.
 */
#include "cva/values.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PRICE_PATHS = 1 << 16, BOUND_PATHS = 256, BOUND_INNER = 64, SEEN = 100 };
#define CHANCE   1e-3
#define ROUNDING 1e-7 /* of M: differences that count as none */

/* ---- prices ------------------------------------------------------------------------------------- */

/* Adds a contract to the prices of the book, its counterparty and its set: what is known, or the sums of the items to
 * those of the parts. */
static void add_to_parts(const shoal_cva *p, const cva_contract *c, double known,
                         const double *sums, int64_t items, double *parts) {
    const cva_job *j = &p->job;
    const int64_t part[] = { 0, 1 + j->party_of[c->set], 1 + j->parties + c->set };
    for (int i = 0; i < 3 && p->present; i++) {
        p->present[2 * part[i]] += c->quantity * known;
        for (int64_t at = 0; at < items; at++)
            parts[part[i] * items + at] += c->quantity * sums[at * j->places + c->place];
    }
}

/* Mean and standard error of sums over CVA_LANES paths each. */
static void mean_of_items(const double *sums, int64_t stride, int64_t items, double *mean,
                          double *error) {
    double squares = 0, sum = 0;
    for (int64_t at = 0; at < items; at++) sum += sums[at * stride] / (double)(items * CVA_LANES);
    for (int64_t at = 0; at < items; at++) {
        const double off = sums[at * stride] / CVA_LANES - sum;
        squares += off * off;
    }
    *mean = sum, *error = sqrt(squares / (double)items / (double)(items - 1));
}

/* All inner paths of one node today, as items. */
static shoal_status simulate(shoal_cva *p, cva_job *j) {
    enum { ITEMS = PRICE_PATHS / CVA_LANES };
    cva_item *item = malloc(ITEMS * sizeof *item);
    double *sums = calloc((size_t)(ITEMS * j->places) + 1, sizeof *sums);
    char *holds = malloc((size_t)j->places + 1);
    const int64_t count = p->present ? 1 + j->parties + j->sets : 0;
    double *parts = calloc((size_t)(ITEMS * count) + 1, sizeof *parts);
    shoal_status s =
        item && sums && holds && parts ? SHOAL_OK : SHOAL_NO_MEMORY(p->head.ctx, "prices");
    for (int32_t i = 0; i < ITEMS && s == SHOAL_OK; i++)
        item[i] = (cva_item){ .from = i * CVA_LANES, .lanes = CVA_LANES };
    for (int64_t i = 0; i < j->contracts && s == SHOAL_OK; i++)
        if (j->contract[i].kind >= CVA_NESTED)
            holds[j->contract[i].place] = 1;
    j->item = item, j->items = ITEMS, j->sums = sums, j->holds = holds, j->spot = (double *)j->s0;
    if (s == SHOAL_OK && j->kinds[CVA_NESTED]) s = p->host_walker->nest(&p->host, j, 0);
    if (s == SHOAL_OK && j->follows) s = p->host_walker->follow(&p->host, j, 0);
    for (int64_t i = 0; i < j->contracts && s == SHOAL_OK; i++) {
        const cva_contract *c = &j->contract[i];
        double *price = p->price + CVA_PRICE_NUMBERS * i;
        if (c->kind < CVA_NESTED) continue;
        mean_of_items(sums + c->place, j->places, ITEMS, price + CVA_PRICE,
                      price + CVA_PRICE_ERROR);
        if (c->kind == CVA_NESTED || !cva_is_line(c)) add_to_parts(p, c, 0, sums, ITEMS, parts);
    }
    for (int64_t i = 0; i < count && s == SHOAL_OK; i++) {
        double mean;
        mean_of_items(parts + i * ITEMS, 1, ITEMS, &mean, &p->present[2 * i + 1]);
        p->present[2 * i] += mean;
    }
    free(item), free(sums), free(holds), free(parts);
    return s;
}

typedef struct dual { /* of a path, discounted */
    double martingale, before, largest;
    int begun;
} dual;

/* Date k of the bound, where the contract may be exercised. */
static shoal_status step_bound(shoal_cva *p, cva_job *j, const cva_contract *c, int64_t k,
                               char *now, dual *at) {
    const int last = k == c->last;
    const double discount = exp(-cva_rate(j, cva_between(j, 0, k)));
    shoal_status s = SHOAL_OK;
    shoal_cva_begin_date(p, j, k);
    if (!last) p->judge->decide(&p->host, j, c, &c->rule[0], k, now);
    if (!last) s = p->host_walker->follow(&p->host, j, k);
    for (int64_t path = 0; path < j->paths && s == SHOAL_OK; path++, at++) {
        const double pays = discount * cva_pay(c, j->spot + path * j->assets, k);
        double go_on = 0;
        for (int64_t item = 0; item < BOUND_INNER / CVA_LANES && !last; item++)
            go_on += j->sums[(path * (BOUND_INNER / CVA_LANES) + item) * j->places + c->place];
        go_on *= discount / BOUND_INNER;
        at->martingale += (last || now[path] ? pays : go_on) - at->before;
        at->before = go_on;
        const double gap = pays - at->martingale;
        if (!at->begun || gap > at->largest) at->largest = gap;
        at->begun = 1;
    }
    return s;
}

/* The upper bound of a contract on several assets. */
static shoal_status make_bound(shoal_cva *p, const cva_contract *c, double *price) {
    enum { ITEMS = BOUND_PATHS * BOUND_INNER / CVA_LANES };
    cva_job j = p->job;
    cva_item item[ITEMS];
    dual at[BOUND_PATHS];
    char *now = NULL;
    shoal_plan *scratch; /* owns the memory */
    for (int i = 0; i < ITEMS; i++)
        item[i] = (cva_item){ .path = i * CVA_LANES / BOUND_INNER,
                              .from = i * CVA_LANES % BOUND_INNER,
                              .lanes = CVA_LANES };
    for (int i = 0; i < BOUND_PATHS; i++) at[i] = (dual){ .before = price[CVA_PRICE] };
    shoal_status s = shoal_plan_new(p->head.ctx, sizeof *scratch, p, &scratch);
    if (s != SHOAL_OK) return s;
    j.first = 3 * (uint64_t)SHOAL_CVA_OUTER, j.paths = BOUND_PATHS, j.item = item, j.items = ITEMS;
    s = shoal_plan_host(scratch, 2 * j.paths * j.assets, sizeof(double), &j.brownian);
    if (s == SHOAL_OK) s = shoal_plan_host(scratch, ITEMS * j.places, sizeof(double), &j.sums);
    if (s == SHOAL_OK) s = shoal_plan_host(scratch, (j.places + 1) * j.paths, 1, &j.holds);
    if (s == SHOAL_OK) {
        j.spot = j.brownian + j.paths * j.assets, now = j.holds + j.places * j.paths;
        memset(j.holds + c->place * j.paths, 1, (size_t)j.paths);
    }
    for (int64_t k = 1; k <= c->last && s == SHOAL_OK; k++) {
        s = p->host_cell->move(&p->host, &j, k);
        if (k == c->last || c->may[k - 1]) s = step_bound(p, &j, c, k, now, at);
    }
    shoal_plan_free(scratch);
    price[CVA_UPPER] = shoal_cva_mean(&at->largest, NULL, sizeof *at / sizeof(double), BOUND_PATHS,
                                      &price[CVA_UPPER_ERROR]);
    return s;
}

shoal_status shoal_cva_make_prices(shoal_cva *p) {
    cva_job j = p->job;
    shoal_status s =
        shoal_plan_host(&p->head, CVA_PRICE_NUMBERS * j.contracts, sizeof *p->price, &p->price);
    const int64_t parts = p->by_set ? 2 * (1 + j.parties + j.sets) : 0;
    if (s == SHOAL_OK && parts > 0)
        s = shoal_plan_host(&p->head, parts, sizeof *p->present, &p->present);
    shoal_cva_begin_date(p, &j, 0);
    j.paths = 1;
    if (s == SHOAL_OK && j.places > 0) s = simulate(p, &j);
    for (int64_t i = 0; i < j.contracts && s == SHOAL_OK; i++) {
        const cva_contract *c = &j.contract[i];
        const int american = c->kind == CVA_AMERICAN, line = american && cva_is_line(c);
        double *price = p->price + CVA_PRICE_NUMBERS * i;
        if (c->kind == CVA_CLOSED) price[CVA_PRICE] = cva_closed_value(&j, c, j.s0, 0);
        if (line) {
            price[CVA_PRICE] = cva_line_value(&j, c, j.s0[c->asset[0]], 0) + c->rule[0].today;
            price[CVA_PRICE_ERROR] = 0;
        }
        if (line || c->kind == CVA_CLOSED) add_to_parts(p, c, price[CVA_PRICE], NULL, 0, NULL);
        price[CVA_UPPER] = price[CVA_PRICE], price[CVA_UPPER_ERROR] = price[CVA_PRICE_ERROR];
        if (american && !line && p->validates) s = make_bound(p, c, price);
    }
    return s;
}

/* ---- scores ------------------------------------------------------------------------------------- */

/* Of the column x of rows. */
static shoal_cva_check check_of(const double *x, int64_t width, int64_t paths, const double *price,
                                double size) {
    shoal_cva_check check = { .price = price[CVA_PRICE],
                              .price_error = price[CVA_PRICE_ERROR],
                              .upper = price[CVA_UPPER],
                              .upper_error = price[CVA_UPPER_ERROR] };
    double sum = 0, squares = 0;
    check.mean = shoal_cva_mean(x, NULL, width, paths, &check.error);
    for (int64_t i = 0; i < paths; i++)
        sum += fabs(x[i * width]), squares += x[i * width] * x[i * width];
    double variance = check.error * check.error;
    if (!(sum * sum >= SEEN * squares) || !(squares > 0))
        variance = fmax(variance, size * fabs(price[0]) / (double)paths);
    const double off = check.mean - price[0];
    const double error = sqrt(variance + price[1] * price[1]);
    check.z = fabs(off) <= ROUNDING * size ? 0 : error > 0 ? off / error : copysign(INFINITY, off);
    return check;
}

shoal_status shoal_cva_validate(const shoal_cva *plan, const double *samples, int64_t paths,
                                shoal_cva_validation *result, shoal_cva_check *checks) {
    if (!plan) return SHOAL_E_ARG;
    shoal_context *ctx = plan->head.ctx;
    const cva_job *j = &plan->job;
    const shoal_array given[] = { { "samples", samples, 0 }, { "result", result, 0 } };
    shoal_status s = shoal_check_pointers(ctx, given, 2);
    if (s == SHOAL_OK) s = shoal_check_count(ctx, "paths", paths, 2, SHOAL_CVA_OUTER);
    if (s == SHOAL_OK && !plan->validates)
        s = shoal_fail(ctx, SHOAL_E_ARG, "the plan was created without opts.validate");
    if (s != SHOAL_OK) return s;
    const int64_t width = shoal_cva_width(plan), dates = j->exposures;
    const double *column = samples + CVA_ROW_HEAD + cva_lists(j) * dates;
    *result = (shoal_cva_validation){ .contract = -1, .date = -1 };
    for (int64_t i = 0; i < j->contracts; i++)
        for (int64_t k = 0; k < dates; k++, column++) {
            shoal_cva_check check = { 0 };
            if (j->contract[i].kind != CVA_EXPIRED) {
                check = check_of(column, width, paths, plan->price + CVA_PRICE_NUMBERS * i,
                                 cva_size(j, &j->contract[i]));
                result->scores++;
            }
            if (checks) checks[i * dates + k] = check;
            if (j->contract[i].kind == CVA_EXPIRED || fabs(check.z) < fabs(result->z)) continue;
            result->z = check.z, result->contract = i, result->date = k;
        }
    if (result->scores) result->limit = -shoal_normcdfinv(0.5 * CHANCE / (double)result->scores);
    result->passed = fabs(result->z) <= result->limit;
    return SHOAL_OK;
}
