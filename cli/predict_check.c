/* SPDX-License-Identifier: Apache-2.0
 *
 * predict_check.c - `shoal predict --check`: errors against Monte Carlo, by maturity and strike, and a
 * search for static arbitrage.
 *
 * With no rates a call falls with its strike, by no more than 1, is convex in it, and rises with its
 * maturity. Looked at are surfaces of STRIKES x MATURITIES points over the ranges of the training set, one
 * for each of the first SETS rows: dP/dK from -1 to 0, dP/dT >= 0, and dP/dK rising from strike to strike, all by
 * back-propagation in f64. Numbers below TINY are rounding.
 */
#include "surrogate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SETS = 1000, STRIKES = 33, MATURITIES = 17 };
enum { QUARTERS = 4, MONEYNESS = 5 };
#define TINY 1e-9

static int input_of(const surrogate_table *t, const char *name) {
    for (int i = 0; i < t->inputs; i++)
        if (strcmp(t->names[i], name) == 0) return i;
    return -1;
}

/* ---- Monte Carlo ----------------------------------------------------------------------------------- */

static int model_of(const surrogate_table *t, int64_t row, shoal_expou *m, double *strike,
                    double *maturity) {
    const struct {
        const char *name;
        double *to;
    } all[] = { { "alpha", &m->alpha }, { "m", &m->m },           { "y0", &m->y0 },
                { "rho", &m->rho },     { "maturity", maturity }, { "strike", strike } };
    const double *x = t->x + row * t->inputs;
    *m = (shoal_expou){ .s0 = 1 };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const int at = input_of(t, all[i].name);
        if (at < 0)
            return cli_fail(CLI_INPUT, "--check: the model has no input %s to simulate with",
                            all[i].name);
        *all[i].to = x[at];
    }
    const int beta = input_of(t, "beta"), nu2 = input_of(t, "nu2");
    if (beta < 0 && nu2 < 0)
        return cli_fail(CLI_INPUT, "--check: the model has no input beta to simulate with");
    m->beta = beta >= 0 ? x[beta] : shoal_expou_beta(m->alpha, m->m, x[nu2], 0);
    return CLI_OK;
}

/* One row by the conditional estimator. */
static int simulate_row(cli *c, const surrogate_table *t, int64_t row, int64_t paths, int64_t steps,
                        double *sums, double *price, double *error) {
    shoal_expou m;
    double strike, maturity;
    int code = model_of(t, row, &m, &strike, &maturity);
    if (code != CLI_OK) return code;
    const shoal_price_opts o = { .method = "conditional",
                                 .seed = c->seed + (uint64_t)row,
                                 .steps = steps,
                                 .antithetic = 1,
                                 .strikes = 1,
                                 .strike = &strike,
                                 .maturities = 1,
                                 .maturity = &maturity };
    shoal_price *plan;
    code = cli_status(c, shoal_price_expou(c->ctx, &m, &o, &plan));
    if (code != CLI_OK) return code;
    double total[64] = { 0 };
    shoal_price_value value = { 0 };
    for (int64_t first = 0; first < paths && code == CLI_OK; first += SHOAL_PRICE_UNIT) {
        const int64_t here = paths - first < SHOAL_PRICE_UNIT ? paths - first : SHOAL_PRICE_UNIT;
        code = cli_status(c, shoal_price_run(plan, first, here, sums));
        if (code == CLI_OK) code = cli_status(c, shoal_price_add(plan, sums, here, total));
    }
    if (code == CLI_OK) code = cli_status(c, shoal_price_result(plan, total, paths, &value));
    *price = value.price, *error = value.error;
    shoal_price_free(plan);
    return code;
}

int surrogate_simulate(cli *c, const surrogate_table *t, int64_t paths, int64_t steps,
                       double *price, double *error, double *seconds) {
    double sums[64];
    cli_progress bar;
    int code = CLI_OK;
    cli_catch_interrupt();
    cli_progress_begin(&bar, c, "Monte Carlo", t->rows);
    const double start = cli_now();
    for (int64_t row = 0; row < t->rows && code == CLI_OK; row++) {
        code = simulate_row(c, t, row, paths, steps, sums, &price[row], &error[row]);
        if (cli_interrupted()) code = CLI_INTERRUPTED;
        cli_progress_step(&bar, row + 1);
    }
    *seconds = cli_now() - start;
    cli_progress_end(&bar);
    if (code == CLI_INTERRUPTED) cli_say_interrupted(c);
    return code;
}

/* ---- errors ---------------------------------------------------------------------------------------- */

static int ascending(const void *left, const void *right) {
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Statistics of the rows whose input lies from..to; the last bin has its end too. */
static void measure(const surrogate_table *t, const double *price, const surrogate_truth *truth,
                    int input, bool last, double *room, surrogate_bin *b) {
    double squares = 0, noise = 0;
    b->rows = 0;
    for (int64_t row = 0; row < t->rows; row++) {
        const double x = input < 0 ? 0 : t->x[row * t->inputs + input];
        if (input >= 0 && !(x >= b->from && (x < b->to || (last && x == b->to)))) continue;
        const double off = price[row] - truth->price[row];
        room[b->rows++] = fabs(off);
        squares += off * off, noise += truth->error[row] * truth->error[row];
    }
    if (b->rows == 0) return;
    qsort(room, (size_t)b->rows, sizeof *room, ascending);
    const double n = (double)b->rows;
    b->rmse = sqrt(squares / n), b->noise = sqrt(noise / n);
    b->q99 = room[(int64_t)ceil(0.99 * n) - 1], b->worst = room[b->rows - 1];
}

int surrogate_compare(const surrogate_table *t, const double *price, const surrogate_truth *truth,
                      surrogate_errors *e) {
    static const double edges[MONEYNESS + 1] = { 0, 0.8, 0.95, 1.05, 1.25, INFINITY };
    double *room = malloc((size_t)(t->rows + 1) * sizeof *room);
    if (!room) return cli_fail(CLI_UNAVAILABLE, "not enough memory");
    const int strike = input_of(t, "strike"), maturity = input_of(t, "maturity");
    *e = (surrogate_errors){ .bins = 0 };
    measure(t, price, truth, -1, true, room, &e->all);
    if (maturity >= 0 && t->rows > 1) {
        double least = INFINITY, most = 0;
        for (int64_t row = 0; row < t->rows; row++) {
            least = fmin(least, t->x[row * t->inputs + maturity]);
            most = fmax(most, t->x[row * t->inputs + maturity]);
        }
        for (int q = 0; q < QUARTERS; q++) {
            surrogate_bin *b = &e->bin[e->bins];
            b->input = "maturity", b->from = least + q * (most - least) / QUARTERS;
            b->to = q == QUARTERS - 1 ? most : least + (q + 1) * (most - least) / QUARTERS;
            measure(t, price, truth, maturity, q == QUARTERS - 1, room, b);
            e->bins += b->rows > 0;
        }
    }
    for (int q = 0; strike >= 0 && t->rows > 1 && q < MONEYNESS; q++) {
        surrogate_bin *b = &e->bin[e->bins];
        b->input = "strike", b->from = edges[q], b->to = edges[q + 1];
        measure(t, price, truth, strike, false, room, b);
        e->bins += b->rows > 0;
    }
    free(room);
    return CLI_OK;
}

/* ---- static arbitrage -------------------------------------------------------------------------------- */

typedef struct surface { /* [maturity][strike] */
    double x[STRIKES * MATURITIES * SHOAL_SURROGATE_INPUTS];
    double price[STRIKES * MATURITIES], by_strike[STRIKES * MATURITIES];
    double by_maturity[STRIKES * MATURITIES];
} surface;

static void note(double excess, int64_t *count, double *worst) {
    if (!(excess > TINY)) return;
    ++*count;
    *worst = fmax(*worst, excess);
}

static void judge(const surface *s, double width, surrogate_arbitrage *f) {
    for (int i = 0; i < MATURITIES; i++)
        for (int k = 0; k < STRIKES; k++) {
            const int at = i * STRIKES + k;
            note(fmax(s->by_strike[at], -1 - s->by_strike[at]), &f->strike, &f->worst_strike);
            note(-s->by_maturity[at], &f->maturity, &f->worst_maturity);
            if (k + 1 < STRIKES)
                note((s->by_strike[at] - s->by_strike[at + 1]) / width, &f->convexity,
                     &f->worst_convexity);
        }
    f->points += STRIKES * MATURITIES;
}

int surrogate_static(cli *c, const shoal_surrogate *net, const surrogate_table *t,
                     surrogate_arbitrage *found) {
    *found = (surrogate_arbitrage){ .points = 0 };
    const int strike = input_of(t, "strike"), maturity = input_of(t, "maturity");
    shoal_surrogate_info n;
    int code = cli_status(c, shoal_surrogate_describe(net, &n));
    if (code != CLI_OK || strike < 0 || maturity < 0) return code;
    surface *s = malloc(sizeof *s);
    if (!s) return cli_fail(CLI_UNAVAILABLE, "not enough memory");
    const double width = (n.most[strike] - n.least[strike]) / (STRIKES - 1);
    const double step = (n.most[maturity] - n.least[maturity]) / (MATURITIES - 1);
    for (int64_t row = 0; row < t->rows && row < SETS && code == CLI_OK; row++) {
        for (int at = 0; at < STRIKES * MATURITIES; at++) {
            double *x = s->x + at * t->inputs;
            memcpy(x, t->x + row * t->inputs, (size_t)t->inputs * sizeof *x);
            const int column = at % STRIKES, line = at / STRIKES;
            x[strike] = n.least[strike] + column * width;
            x[maturity] = n.least[maturity] + line * step;
        }
        code = cli_status(c, shoal_surrogate_predict(net, STRIKES * MATURITIES, s->x, SHOAL_F64,
                                                     s->price, s->by_strike, s->by_maturity));
        if (code == CLI_OK) judge(s, width, found), found->sets++;
    }
    free(s);
    return code;
}
