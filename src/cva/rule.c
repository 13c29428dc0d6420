/* SPDX-License-Identifier: Apache-2.0
 *
 * rule.c - when outer paths exercise: a rule for each contract with early exercise, by the regressions of
 * Longstaff and Schwartz on many paths from today's prices.
 *
 * Outer paths start from the same prices, so that at every date they have the law of the paths that the rule
 * was fitted on. A decision of inner paths compares the payoff with a mean over them; near the boundary the two
 * differ by less than K (1 - e^(-r dt)), which the noise of a few hundred paths drowns. An exposure is moved by an
 * error of the boundary in the first order, a price only in the second: a rule that is good enough for prices,
 * cubic on 2^16 paths, makes the exposure of a put 1 to 2 % too large. Hence more functions, and 2^18 paths.
 * Paths of f64, a centred basis and `auto` whatever the inner regressions have: comparing those, every run
 * exercises on the same paths.
 *
 * Cost: rule paths x dates of a contract, once. What decides is copied to the host.
 */
#include "cva/plan.h"
#include <stdio.h>
#include <stdlib.h>

enum { RULE_PATHS = 1 << 18, RULE_DEGREE = 7, RULE_FUNCTIONS = 36, PATHS_PER_FUNCTION = 128 };

/* The highest degree that so many functions, and so many paths to a function, allow. */
static int64_t degree_of(const cva_contract *c, int64_t paths) {
    const int64_t room = paths / PATHS_PER_FUNCTION,
                  most = room < RULE_FUNCTIONS ? room : RULE_FUNCTIONS;
    int64_t degree = RULE_DEGREE;
    while (degree > 1 &&
           shoal_american_functions(c->assets, degree, (shoal_payoff)c->payoff) > most)
        degree--;
    return degree;
}

uint64_t shoal_cva_seed(uint64_t seed, int64_t k, const cva_contract *c) {
    shoal_words w = shoal_philox_at(seed, (uint64_t)k, 0, PRICE_PURPOSE, CVA_INNER_DRAW, 1);
    for (int i = 0; i < c->assets; i++)
        w = shoal_philox_at(shoal_half(&w, 0), (uint64_t)c->asset[i], 0, PRICE_PURPOSE,
                            CVA_INNER_DRAW, 2);
    return shoal_half(&w, 0);
}

void shoal_cva_assets(const cva_job *j, const cva_contract *c, double *numbers) {
    const int64_t d = c->assets;
    for (int64_t a = 0; a < d; a++) {
        const int64_t row = c->asset[a];
        numbers[a] = j->sigma[row], numbers[d + a] = j->dividend[row];
        for (int64_t b = 0; b < d; b++)
            numbers[(a + 2) * d + b] = j->correlation[row * j->assets + c->asset[b]];
    }
}

/* Contract, numbers, prices and rule of a plan for one option, copied into one piece of host memory. */
static shoal_status take_rule(shoal_plan *head, const american_job *from, american_job *to) {
    const struct {
        const void *from;
        size_t bytes;
    } piece[] = { { from->contract, sizeof *from->contract },
                  { from->number, (size_t)american_numbers(from->basis.assets) * sizeof(double) },
                  { from->spot, (size_t)from->basis.assets * sizeof(double) },
                  { from->rule, (size_t)american_rules(from) * sizeof(double) } };
    size_t at[5] = { 0 };
    for (int i = 0; i < 4; i++) at[i + 1] = at[i] + piece[i].bytes;
    char *memory;
    shoal_status s = shoal_plan_host(head, (int64_t)at[4], 1, &memory);
    if (s != SHOAL_OK) return s;
    *to = (american_job){ .basis = from->basis, .raw = from->raw, .dates = from->dates };
    to->contract = (american_contract *)memory;
    to->number = (double *)(memory + at[1]), to->spot = (double *)(memory + at[2]);
    to->rule = memory + at[3];
    for (int i = 0; i < 4 && s == SHOAL_OK; i++)
        if (piece[i].bytes)
            s = shoal_copy(head->ctx, memory + at[i], piece[i].from, piece[i].bytes);
    return s;
}

static shoal_status fit_rule(shoal_cva *p, const cva_contract *c, int64_t paths, double *numbers,
                             american_job *to) {
    const cva_job *j = &p->job;
    const int64_t d = c->assets;
    double *spot = numbers + cva_asset_numbers(d);
    shoal_cva_assets(j, c, numbers);
    for (int64_t a = 0; a < d; a++) spot[a] = j->s0[c->asset[a]];
    const shoal_american option = { .payoff = (shoal_payoff)c->payoff,
                                    .strike = c->strike,
                                    .rate = j->rate,
                                    .maturity = (double)c->last * j->dt,
                                    .s0 = spot,
                                    .sigma = numbers,
                                    .dividend = numbers + d,
                                    .weight = c->weight,
                                    .correlation = numbers + 2 * d };
    const shoal_american_opts opts = { .assets = d,
                                       .dates = c->last,
                                       .degree = degree_of(c, paths),
                                       .fit_paths = paths,
                                       .seed = shoal_cva_seed(p->american.seed, 0, c),
                                       .control = p->american.control };
    shoal_price *plan = NULL;
    shoal_status s = shoal_price_american(p->head.ctx, &option, 1, &opts, &plan);
    if (s == SHOAL_OK) s = take_rule(&p->head, &((american_plan *)plan)->job, to);
    shoal_price_free(plan);
    return s;
}

shoal_status shoal_cva_fit_rules(shoal_cva *p, int64_t paths) {
    const cva_job *j = &p->job;
    cva_contract *contract = p->contracts;
    american_job *to;
    shoal_status s = shoal_plan_host(&p->head, j->kinds[CVA_AMERICAN], sizeof *to, &to);
    double *numbers = malloc((size_t)(cva_asset_numbers(j->assets) + j->assets) * sizeof *numbers);
    if (s == SHOAL_OK && !numbers)
        s = shoal_fail(p->head.ctx, SHOAL_E_NOMEM, "no memory for rules of exercise");
    for (int64_t i = 0; i < j->contracts && s == SHOAL_OK; i++) {
        if (contract[i].kind != CVA_AMERICAN) continue;
        s = fit_rule(p, &contract[i], paths ? paths : RULE_PATHS, numbers, to);
        s = shoal_fail_at(p->head.ctx, s, "contracts", i, "");
        contract[i].rule = to++;
    }
    free(numbers);
    return s;
}
