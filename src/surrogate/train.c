/* SPDX-License-Identifier: Apache-2.0
 *
 * train.c - training of a network of prices: checks, scales of inputs and output, the first
 * weights. The passes are in pass.c.
 *
 * Minimised is the mean of w (P - price)^2, w = 1 / (error^2 + floor^2): with `volatility` as
 * the target P is a formula of the network's number, so that no price is inverted, and a row of
 * small vega, whose implied volatility is mostly noise, weighs what its price is known to.
 * Random numbers, of the first weights and of the order of rows in each pass, are Philox words
 * by address. Logarithms are those of core/math.h: what a network starts from has the same bits
 * on every machine.
 */
#include "pricing/black.h"
#include "surrogate/surrogate.h"
#include "rng/normal.h"
#include "rng/philox.h"
#include <float.h>
#include <math.h>
#include <shoal/pricing.h>
#include <stdlib.h>
#include <string.h>

enum { EPOCHS = 300, BATCH = 256, LAYERS = 3, WIDTH = 64 };
#define RATE  4e-3
#define FLOOR 1e-4
#define LARGE 1e100 /* beyond it squares, and sums of them, could overflow */

/* ---- checks ------------------------------------------------------------------------------------- */

static shoal_status check_opts(shoal_context *ctx, shoal_surrogate_opts *o) {
    if (!o->target) o->target = "volatility";
    if (!o->layers) o->layers = LAYERS;
    if (!o->width) o->width = WIDTH;
    if (!o->epochs) o->epochs = EPOCHS;
    if (!o->batch) o->batch = BATCH;
    if (!o->patience) o->patience = (o->epochs + 3) / 4;
    if (o->rate == 0) o->rate = RATE;
    if (o->floor == 0) o->floor = FLOOR;
    const shoal_count counts[] = { { "layers", o->layers, 1, SHOAL_SURROGATE_LAYERS },
                                   { "width", o->width, 8, SHOAL_SURROGATE_WIDTH },
                                   { "epochs", o->epochs, 1, 1000000 },
                                   { "batch", o->batch, 1, 1 << 20 },
                                   { "patience", o->patience, 1, 1000000 } };
    const shoal_bound bounds[] = { { "rate", o->rate, DBL_MIN, 1e6 },
                                   { "floor", o->floor, 1e-12, 1e6 } };
    shoal_status s = shoal_check_counts(ctx, counts, 5);
    if (s == SHOAL_OK && o->width % 8 != 0)
        return shoal_fail(ctx, SHOAL_E_ARG, "width is %d; it must be a multiple of 8", o->width);
    if (s == SHOAL_OK) s = shoal_check_bounds(ctx, bounds, 2);
    return s == SHOAL_OK ? shoal_check_type(ctx, o->type) : s;
}

static shoal_status check_names(shoal_context *ctx, const shoal_surrogate_data *d,
                                const char *what) {
    for (int i = 0; i < d->inputs; i++) {
        if (!d->names[i] || !*d->names[i] || strlen(d->names[i]) >= SHOAL_SURROGATE_NAME)
            return shoal_fail(ctx, SHOAL_E_ARG, "%s: names[%d] is NULL, empty or longer than %d",
                              what, i, SHOAL_SURROGATE_NAME - 1);
        for (int j = 0; j < i; j++)
            if (strcmp(d->names[i], d->names[j]) == 0)
                return shoal_fail(ctx, SHOAL_E_ARG, "%s: two inputs are named %s", what,
                                  d->names[i]);
    }
    return SHOAL_OK;
}

static shoal_status bad_number(shoal_context *ctx, const char *what, int64_t row, const char *name,
                               double value, const char *must) {
    return shoal_fail(ctx, SHOAL_E_ARG, "%s, row %lld: %s is %g; it must be %s", what,
                      (long long)row, name, value, must);
}

/* The numbers of the set called `what`. strike and maturity enter by a logarithm and a root. */
static shoal_status check_data(shoal_context *ctx, const shoal_surrogate_data *d,
                               const surrogate_net *n, const char *what) {
    for (int64_t row = 0; row < d->rows; row++) {
        for (int i = 0; i < d->inputs; i++) {
            const double x = d->x[row * d->inputs + i];
            if (!(fabs(x) <= LARGE) || (n->map[i] != SURROGATE_PLAIN && !(x > 0)))
                return bad_number(ctx, what, row, d->names[i], x,
                                  n->map[i] == SURROGATE_PLAIN ? "-1e100 to 1e100"
                                                               : "above 0, up to 1e100");
        }
        if (!(fabs(d->price[row]) <= LARGE))
            return bad_number(ctx, what, row, "price", d->price[row], "-1e100 to 1e100");
        if (d->error && !(d->error[row] >= 0 && d->error[row] <= LARGE))
            return bad_number(ctx, what, row, "error", d->error[row], "0 to 1e100");
    }
    return SHOAL_OK;
}

static shoal_status check_shape(shoal_context *ctx, const shoal_surrogate_data *d,
                                const char *what) {
    if (!d) return shoal_fail(ctx, SHOAL_E_ARG, "%s is NULL", what);
    if (d->rows < 2)
        return shoal_fail(ctx, SHOAL_E_ARG, "%s has %lld rows; it needs at least 2", what,
                          (long long)d->rows);
    if (d->inputs < 1 || d->inputs > SHOAL_SURROGATE_INPUTS)
        return shoal_fail(ctx, SHOAL_E_ARG, "%s has %d inputs; it must have 1 to %d", what,
                          d->inputs, SHOAL_SURROGATE_INPUTS);
    const char *const missing = !d->names ? "names" : !d->x ? "x" : !d->price ? "price" : NULL;
    if (missing) return shoal_fail(ctx, SHOAL_E_ARG, "%s: %s is NULL", what, missing);
    return check_names(ctx, d, what);
}

/* ---- the network before its first step ----------------------------------------------------------- */

/* `end` of the values of a range, rounded outward (way -1: down, 1: up) to the fewest decimals within
 * `gap` of it, both as the network takes them. A design of `rows` points has one within 2 / rows of each
 * end of its ranges, and those are round numbers: maturities to 2 have been met, if 1.999997 was. */
static double round_outward(int map, double end, int way, double gap) {
    double tens = 1;
    for (int decimals = 0; decimals < 15; decimals++, tens *= 10) {
        const double all = end * tens, to = (way < 0 ? floor(all) : ceil(all)) / tens;
        const int taken = map == SURROGATE_PLAIN || to > 0;
        if (taken && fabs(surrogate_mapped(map, to) - surrogate_mapped(map, end)) <= gap)
            return way * (to - end) > 0 ? to : end;
    }
    return end;
}

static void round_range(shoal_surrogate *m, int i, int64_t rows) {
    const int map = m->net.map[i];
    double *low = &m->range.least[i], *high = &m->range.most[i];
    const double width = surrogate_mapped(map, *high) - surrogate_mapped(map, *low);
    const double gap = fmin(2 / (double)rows, 1e-3) * width;
    *low = round_outward(map, *low, -1, gap), *high = round_outward(map, *high, 1, gap);
}

static void standardise(shoal_surrogate *m, const shoal_surrogate_data *d) {
    surrogate_net *n = &m->net;
    for (int i = 0; i < n->inputs; i++) {
        double sum = 0, squares = 0;
        m->range.least[i] = INFINITY, m->range.most[i] = -INFINITY;
        for (int pass = 0; pass < 2; pass++)
            for (int64_t row = 0; row < d->rows; row++) {
                const double x = d->x[row * n->inputs + i], y = surrogate_mapped(n->map[i], x);
                if (pass == 0) {
                    sum += y;
                    m->range.least[i] = fmin(m->range.least[i], x),
                    m->range.most[i] = fmax(m->range.most[i], x);
                } else {
                    squares += (y - n->shift[i]) * (y - n->shift[i]);
                }
                if (row == d->rows - 1 && pass == 0) n->shift[i] = sum / (double)d->rows;
            }
        n->scale[i] = sqrt(squares / (double)d->rows);
        if (!(n->scale[i] >
              1e-12 * fabs(n->shift[i]))) /* one value: rounding is not to be scaled up */
            n->scale[i] = fmax(1, fabs(n->shift[i]));
        round_range(m, i, d->rows);
    }
}

/* The logarithm of a row's implied volatility; NaN where the price does not say much about it. */
static double log_volatility(const surrogate_net *n, const shoal_surrogate_data *d, int64_t row) {
    const double *x = d->x + row * n->inputs, strike = x[n->strike];
    const double s = shoal_black_deviation(1, strike, d->price[row], 0);
    const double noise = d->error ? d->error[row] : 0;
    if (!(s > 0) || d->price[row] - black_payoff(1, strike, 0) < 5 * noise + 1e-4) return NAN;
    return shoal_log(s / sqrt(x[n->maturity]));
}

/* Constants of the output: mean and deviation of what the network is to learn. */
static void scale_output(surrogate_net *n, const shoal_surrogate_data *d) {
    double mean = 0, squares = 0, used = 0;
    for (int64_t row = 0; row < d->rows; row++) {
        const double y = n->target == SURROGATE_PRICE ? d->price[row] : log_volatility(n, d, row);
        if (isnan(y)) continue;
        const double off = y - mean;
        mean += off / ++used;
        squares += off * (y - mean);
    }
    const double deviation = used > 1 ? sqrt(squares / used) : 0;
    n->out_shift = used > 0 ? mean : shoal_log(0.2);
    n->out_scale = deviation > 1e-6 ? deviation : 1;
}

/* Normal weights of variance 1 / inputs, twice that behind an activation; biases 0. */
static void first_weights(shoal_surrogate *m) {
    const surrogate_net *n = &m->net;
    const shoal_stream s = shoal_stream_of(m->seed, 0, SURROGATE_PURPOSE, SURROGATE_WEIGHTS);
    for (int l = 0; l <= n->layers; l++) {
        const int64_t at = surrogate_offset(n, l), inputs = surrogate_fan_in(n, l);
        const double deviation = sqrt((l > 0 && l < n->layers ? 2. : 1.) / (double)inputs);
        for (int64_t i = 0; i < inputs * surrogate_neurons(n, l); i++) {
            const shoal_words w = shoal_block(&s, (uint64_t)(at + i), 0);
            m->weights[at + i] = deviation * shoal_normal_pair(&w).z[0];
        }
    }
}

static int is_positive(const shoal_surrogate_data *d, int input) {
    for (int64_t row = 0; row < d->rows; row++)
        if (!(d->x[row * d->inputs + input] > 0)) return 0;
    return 1;
}

static shoal_status make_model(shoal_context *ctx, const shoal_surrogate_data *d,
                               const shoal_surrogate_opts *o, shoal_surrogate **model) {
    surrogate_net n = { .inputs = d->inputs,
                        .layers = o->layers,
                        .width = o->width,
                        .target = -1,
                        .strike = -1,
                        .maturity = -1 };
    for (int i = 0; i < SURROGATE_TARGETS; i++)
        if (strcmp(o->target, shoal_surrogate_targets[i]) == 0) n.target = i;
    if (n.target < 0)
        return shoal_fail(ctx, SHOAL_E_METHOD, "target is '%s'; it must be volatility or price",
                          o->target);
    for (int i = 0; i < d->inputs; i++) {
        if (strcmp(d->names[i], "alpha") == 0 && is_positive(d, i)) n.map[i] = SURROGATE_LOG;
        if (strcmp(d->names[i], "strike") == 0) n.strike = i, n.map[i] = SURROGATE_LOG;
        if (strcmp(d->names[i], "maturity") == 0) n.maturity = i, n.map[i] = SURROGATE_ROOT;
    }
    if (n.target == SURROGATE_VOLATILITY && (n.strike < 0 || n.maturity < 0))
        return shoal_fail(ctx, SHOAL_E_ARG, "train: the target volatility needs an input %s",
                          n.strike < 0 ? "strike" : "maturity");
    shoal_status s = check_data(ctx, d, &n, "train");
    if (s == SHOAL_OK) s = shoal_surrogate_make(ctx, &n, model);
    if (s != SHOAL_OK) return s;
    shoal_surrogate *m = *model;
    m->seed = o->seed, m->rows = d->rows;
    for (int i = 0; i < d->inputs; i++) strcpy(m->name[i], d->names[i]);
    standardise(m, d);
    scale_output(&m->net, d);
    first_weights(m);
    return SHOAL_OK;
}

/* ---- memory --------------------------------------------------------------------------------------- */

/* In proportion to 1 / (error^2 + floor^2); their mean depends on neither, so that the constants of Adam suit. */
static double *weights_of(const shoal_surrogate_data *d, double floor) {
    double *w = malloc((size_t)d->rows * sizeof *w), mean = 0;
    for (int64_t row = 0; w && row < d->rows; row++) {
        const double ratio = (d->error ? d->error[row] : 0) / floor;
        w[row] = 1 / (1 + ratio * ratio), mean += w[row] / (double)d->rows;
    }
    for (int64_t row = 0; w && row < d->rows; row++) w[row] /= mean * FLOOR * FLOOR;
    return w;
}

shoal_status shoal_surrogate_train(shoal_context *ctx, const shoal_surrogate_data *train,
                                   const shoal_surrogate_data *validation,
                                   const shoal_surrogate_opts *opts,
                                   shoal_surrogate_observer *observer, void *user,
                                   shoal_surrogate **net, shoal_surrogate_result *result) {
    shoal_surrogate_result found = { .train_row = -1, .validation_row = -1, .input = -1 };
    if (net) *net = NULL;
    if (result) *result = found;
    shoal_status s = shoal_ready(ctx);
    if (s != SHOAL_OK) return s;
    if (!net) return shoal_fail(ctx, SHOAL_E_ARG, "net is NULL");
    surrogate_fit f = {
        .ctx = ctx, .train.data = train, .held.data = validation, .observer = observer
    };
    if (opts) f.o = *opts;
    f.user = user;
    s = check_opts(ctx, &f.o);
    if (s == SHOAL_OK) s = check_shape(ctx, train, "train");
    if (s == SHOAL_OK) s = check_shape(ctx, validation, "validation");
    for (int i = 0; s == SHOAL_OK && i < train->inputs; i++)
        if (train->inputs != validation->inputs || strcmp(train->names[i], validation->names[i]))
            s = shoal_fail(ctx, SHOAL_E_ARG, "validation: its inputs differ from those of train");
    if (s == SHOAL_OK) s = make_model(ctx, train, &f.o, &f.model);
    if (s == SHOAL_OK) s = check_data(ctx, validation, &f.model->net, "validation");
    double *weights = s == SHOAL_OK ? weights_of(train, f.o.floor) : NULL;
    double *held_weights = s == SHOAL_OK ? weights_of(validation, f.o.floor) : NULL;
    f.train.weights = weights, f.held.weights = held_weights;
    if (s == SHOAL_OK && (!weights || !held_weights))
        s = shoal_fail(ctx, SHOAL_E_NOMEM, "no memory to train with");
    if (s == SHOAL_OK) s = shoal_surrogate_passes(&f, &found);
    free(weights);
    free(held_weights);
    if (s == SHOAL_OK || (s == SHOAL_E_CANCELLED && found.best_epoch > 0))
        *net = f.model;
    else
        shoal_surrogate_free(f.model);
    if (result) *result = found;
    return s;
}
