/* SPDX-License-Identifier: Apache-2.0
 *
 * predict_check.c - `shoal predict --check`: errors against Monte Carlo, by maturity and strike, and a
 * search for static arbitrage.
 *
 * With no rates a call falls with its strike, by no more than 1, is convex in it, and rises with its
 * maturity. Looked at are surfaces of STRIKES x MATURITIES points over the ranges of the training set, one
 * for each of the first SETS rows: dP/dK from -1 to 0, dP/dT >= 0, and dP/dK rising from strike to strike, all by
 * back-propagation in f64. Numbers below TINY are rounding, NaN fails. A network that was trained on one strike
 * has not learnt what another one costs: nothing is asked about strikes then, and the same holds for maturities.
 */
#include "dataset.h"
#include "surrogate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SETS = 1000, STRIKES = 33, MATURITIES = 17 };
enum { QUARTERS = 4, MONEYNESS = 5 };
#define TINY 1e-9

/* ---- Monte Carlo ----------------------------------------------------------------------------------- */

enum { MAX_ROWS = 1 << 16 }; /* between two looks at Ctrl-C */

static int without(const char *name) {
    return cli_fail(CLI_INPUT, "--check: the model has no input %s, which the simulation needs",
                    name);
}

/* Rows as a data set has them: alpha, m, beta, y0, rho, maturity, strike. */
static int rows_of(const surrogate_table *t, double *rows) {
    const int alpha = surrogate_input(t, "alpha"), m = surrogate_input(t, "m");
    const int printed = surrogate_input(t, shoal_dataset_column(2, 2));
    const int nu2 = printed >= 0 && m >= 0 ? printed : surrogate_input(t, "nu2");
    for (int i = 0; i < SHOAL_DATASET_COLUMNS; i++) {
        const char *name = shoal_dataset_column(0, i);
        const bool out_of_nu2 = i == 2 && surrogate_input(t, name) < 0 && nu2 >= 0 && alpha >= 0;
        const int at = out_of_nu2 ? nu2 : surrogate_input(t, name);
        if (at < 0) return without(name);
        const shoal_range may = shoal_dataset_bounds(0, i);
        for (int64_t row = 0; row < t->rows; row++) {
            const double *x = t->x + row * t->inputs;
            const double share = nu2 == printed && nu2 >= 0 ? -expm1(x[m]) : 1;
            const double value = out_of_nu2 ? sqrt(2 * x[alpha] * x[nu2]) * share : x[at];
            if (!(value >= may.low && value <= may.high)) {
                char made[48] = "", reason[160];
                if (out_of_nu2) snprintf(made, sizeof made, "makes beta %.6g, which ", value);
                snprintf(reason, sizeof reason,
                         "%sis not from %g to %g, the limits of %s in a simulation", made, may.low,
                         may.high, name);
                return surrogate_wrong(t, row, t->names[at], x[at], reason);
            }
            rows[row * SHOAL_DATASET_COLUMNS + i] = value;
        }
    }
    return CLI_OK;
}

/* Rows are the caller's, not of a design. These ranges are of one point, whose paths have all the steps that a
 * plan allows. */
static void all_steps(shoal_dataset_opts *o) {
    shoal_dataset_ranges(o);
    o->range[0] = o->range[1] = o->range[3] = (shoal_range){ 0, 0, 0 };
    o->range[2] = (shoal_range){ 1, 1, 0 };
    o->range[5] = (shoal_range){ 127, 127, 0 };
}

typedef struct simulation {
    shoal_dataset *plan;
    double *rows, *values;
} simulation;

/* Pieces of about a second, whatever a row takes; a row's price does not depend on them. */
static int simulate_all(cli *c, const surrogate_table *t, simulation *s) {
    cli_progress bar;
    int64_t count = 1;
    int code = CLI_OK;
    cli_catch_interrupt();
    cli_progress_begin(&bar, c, "Monte Carlo", t->rows);
    for (int64_t row = 0; row < t->rows && code == CLI_OK;) {
        const int64_t here = t->rows - row < count ? t->rows - row : count;
        const double start = cli_now();
        code = dataset_price(c, s->plan, row, here, s->rows + row * SHOAL_DATASET_COLUMNS,
                             s->values + row * SHOAL_DATASET_VALUES);
        const double took = cli_now() - start;
        if (cli_interrupted()) code = CLI_INTERRUPTED;
        if (took < 0.5 && count < MAX_ROWS) count *= 2;
        if (took > 2 && count > 1) count /= 2;
        row += here;
        cli_progress_step(&bar, row);
    }
    cli_progress_end(&bar);
    return code;
}

static int take_values(const surrogate_table *t, const simulation *s, double *price, double *error,
                       surrogate_reference *reference) {
    const int maturity = surrogate_input(t, "maturity");
    for (int64_t row = 0; row < t->rows; row++) {
        const double *v = s->values + row * SHOAL_DATASET_VALUES;
        if (v[0] != v[0])
            return surrogate_wrong(t, row, "maturity", t->x[row * t->inputs + maturity],
                                   "needs, with this alpha, m, beta and y0, more than 2048 steps "
                                   "per path, or overflows");
        price[row] = v[0], error[row] = v[1], reference->paths += (int64_t)v[2];
    }
    reference->price = price, reference->error = error;
    return CLI_OK;
}

/* By the estimator of data sets, with the steps that a row needs. */
int surrogate_simulate(cli *c, const surrogate_table *t, int64_t paths, double target,
                       double *price, double *error, surrogate_reference *reference) {
    shoal_dataset_opts o = { .seed = c->seed, .target = target, .most_paths = paths };
    const size_t given = SHOAL_DATASET_COLUMNS * sizeof(double),
                 made = SHOAL_DATASET_VALUES * sizeof(double);
    simulation s = { .rows = malloc((size_t)(t->rows + 1) * given),
                     .values = malloc((size_t)(t->rows + 1) * made) };
    *reference = (surrogate_reference){ .paths = 0 };
    all_steps(&o);
    int code = s.rows && s.values ? rows_of(t, s.rows) : cli_no_memory();
    if (code == CLI_OK) code = cli_status(c, shoal_dataset_create(c->ctx, &o, &s.plan));
    const double start = cli_now();
    if (code == CLI_OK) code = simulate_all(c, t, &s);
    reference->seconds = cli_now() - start;
    if (code == CLI_OK) code = take_values(t, &s, price, error, reference);
    shoal_dataset_free(s.plan);
    free(s.rows);
    free(s.values);
    return code;
}

/* ---- errors ---------------------------------------------------------------------------------------- */

static int ascending(const void *left, const void *right) {
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Statistics of the rows whose input lies from..to; the last bin has its end too. */
static void measure(const surrogate_table *t, const double *price,
                    const surrogate_reference *reference, int input, bool last, double *room,
                    surrogate_bin *b) {
    double squares = 0, noise = 0;
    b->rows = 0;
    for (int64_t row = 0; row < t->rows; row++) {
        const double x = input < 0 ? 0 : t->x[row * t->inputs + input];
        if (input >= 0 && !(x >= b->from && (x < b->to || (last && x == b->to)))) continue;
        const double off = price[row] - reference->price[row];
        room[b->rows++] = fabs(off);
        squares += off * off, noise += reference->error[row] * reference->error[row];
    }
    if (b->rows == 0) return;
    qsort(room, (size_t)b->rows, sizeof *room, ascending);
    const double n = (double)b->rows;
    b->rmse = sqrt(squares / n), b->noise = sqrt(noise / n);
    b->q99 = room[(int64_t)ceil(0.99 * n) - 1], b->worst = room[b->rows - 1];
}

int surrogate_compare(const surrogate_table *t, const double *price,
                      const surrogate_reference *reference, surrogate_errors *e) {
    static const double edges[MONEYNESS + 1] = { 0, 0.8, 0.95, 1.05, 1.25, INFINITY };
    double *room = malloc((size_t)(t->rows + 1) * sizeof *room);
    if (!room) return cli_no_memory();
    const int strike = surrogate_input(t, "strike"), maturity = surrogate_input(t, "maturity");
    *e = (surrogate_errors){ .bins = 0 };
    measure(t, price, reference, -1, true, room, &e->all);
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
            measure(t, price, reference, maturity, q == QUARTERS - 1, room, b);
            e->bins += b->rows > 0;
        }
    }
    for (int q = 0; strike >= 0 && t->rows > 1 && q < MONEYNESS; q++) {
        surrogate_bin *b = &e->bin[e->bins];
        b->input = "strike", b->from = edges[q], b->to = edges[q + 1];
        measure(t, price, reference, strike, false, room, b);
        e->bins += b->rows > 0;
    }
    free(room);
    return CLI_OK;
}

/* ---- static arbitrage -------------------------------------------------------------------------------- */

typedef struct surface { /* [maturity][strike], of as many as are looked at */
    double x[STRIKES * MATURITIES * SHOAL_SURROGATE_INPUTS];
    double price[STRIKES * MATURITIES], by_strike[STRIKES * MATURITIES];
    double by_maturity[STRIKES * MATURITIES];
} surface;

/* What is NaN is no price, and fails. */
static void note(double excess, int64_t *count, double *worst) {
    if (excess <= TINY) return;
    ++*count;
    *worst = fmax(*worst, isnan(excess) ? INFINITY : excess);
}

static void judge(const surface *s, double width, surrogate_arbitrage *f) {
    for (int at = 0; at < f->strikes * f->maturities; at++) {
        if (f->strikes > 1)
            note(fmax(s->by_strike[at], -1 - s->by_strike[at]), &f->strike, &f->worst_strike);
        if (f->maturities > 1) note(-s->by_maturity[at], &f->maturity, &f->worst_maturity);
        if (at % f->strikes + 1 < f->strikes)
            note((s->by_strike[at] - s->by_strike[at + 1]) / width, &f->convexity,
                 &f->worst_convexity);
    }
    f->points += f->strikes * f->maturities;
}

int surrogate_static(cli *c, const shoal_surrogate *net, const surrogate_table *t,
                     surrogate_arbitrage *found) {
    *found = (surrogate_arbitrage){ .points = 0 };
    const int strike = surrogate_input(t, "strike"), maturity = surrogate_input(t, "maturity");
    shoal_surrogate_info n;
    int code = cli_status(c, shoal_surrogate_describe(net, &n));
    if (code != CLI_OK || strike < 0 || maturity < 0) return code;
    const double width = (n.most[strike] - n.least[strike]) / (STRIKES - 1);
    const double step = (n.most[maturity] - n.least[maturity]) / (MATURITIES - 1);
    found->strikes = width > 0 ? STRIKES : 1, found->maturities = step > 0 ? MATURITIES : 1;
    const int points = found->strikes * found->maturities;
    if (points == 1) return CLI_OK;
    surface *s = malloc(sizeof *s);
    if (!s) return cli_no_memory();
    for (int64_t row = 0; row < t->rows && row < SETS && code == CLI_OK; row++) {
        for (int at = 0; at < points; at++) {
            const int column = at % found->strikes, line = at / found->strikes;
            double *x = s->x + at * t->inputs;
            memcpy(x, t->x + row * t->inputs, (size_t)t->inputs * sizeof *x);
            x[strike] = n.least[strike] + column * width;
            x[maturity] = n.least[maturity] + line * step;
        }
        code = cli_status(c, shoal_surrogate_predict(net, points, s->x, SHOAL_F64, s->price,
                                                     s->by_strike, s->by_maturity));
        if (code == CLI_OK) judge(s, width, found), found->sets++;
        if (cli_interrupted()) code = CLI_INTERRUPTED;
    }
    free(s);
    return code;
}
