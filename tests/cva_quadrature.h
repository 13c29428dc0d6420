/* SPDX-License-Identifier: Apache-2.0
 *
 * cva_quadrature.h - price, exposures and CVA of a book by quadrature: no random numbers, no regression, no code of
 * the library.
 *
 * Each netting set is a problem of its own in d = 1 .. 5 independent Brownian motions Z, with log prices
 *
 *     x_a = log S_a + (r - q_a - sigma_a^2 / 2) t + sigma_a (A Z)_a,   A At = correlation.
 *
 * Smooth functions live on a uniform grid of Z: at date k the value of continuation C of each contract, and the
 * density f of Z for each state, a set of contracts that have been exercised. Along the first axis, a line, values
 * before the decision are C where the contract is held and the payoff where it is exercised. A line is cut at every
 * strike, exercise boundary, zero of the netted value and crossing of the threshold. Between cuts everything is smooth:
 * 8 Gauss-Legendre nodes per panel, C and f by interpolation of order 10. Panels are spread by the density of the step,
 * which makes the line smooth again, also from line to line if the cuts are not parallel to it; along
 * the other axes the trapezoidal rule is then enough. A is chosen for that: along a line all prices rise, or, with a
 * max-call and no basket, the first price rises and the second falls.
 *
 * Backward, C_(k-1) = e^(-r dt) E V_k. Forward, at each date and state: the exposure of the sum of what is left, then
 * exercise moves the density of a panel to the state behind it, then the step. So exposure is measured before the
 * decision, and an exercised contract counts at its date and not later, as docs/cva.md defines it.
 */
#ifndef SHOAL_CVA_QUADRATURE_H
#define SHOAL_CVA_QUADRATURE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUAD_ASSETS = 5, QUAD_CONTRACTS = 8, QUAD_DATES = 64, QUAD_PIECES = 4 };
enum { QUAD_ORDER = 10, QUAD_NODES = 8, QUAD_CUTS = 256 };

typedef enum quad_payoff {
    QUAD_PUT,
    QUAD_CALL,
    QUAD_MAX_CALL,
    QUAD_BASKET_PUT,
    QUAD_BASKET_CALL,
    QUAD_FORWARD
} quad_payoff;

typedef struct quad_contract {
    quad_payoff payoff;
    int american, assets, asset[QUAD_ASSETS], set;
    double weight[QUAD_ASSETS], strike, maturity, quantity;
    int exercises; /* times of exercise before maturity; 0: the dates that the book gives */
    double exercise[QUAD_DATES];
} quad_contract;

typedef struct quad_book {
    int assets, contracts, dates, sets, pieces;
    double rate, horizon, recovery, threshold; /* below 0: no collateral */
    double time[QUAD_DATES]; /* of the dates; the first 0: equal steps up to the horizon */
    double s0[QUAD_ASSETS], sigma[QUAD_ASSETS], dividend[QUAD_ASSETS];
    double correlation[QUAD_ASSETS][QUAD_ASSETS];
    double hazard[QUAD_PIECES], until[QUAD_PIECES]; /* the last for ever */
    quad_contract contract[QUAD_CONTRACTS];
} quad_book;

/* All dates, ascending: those that are given and the maturities, which are dates of exposure, and those of exercise. */
typedef struct quad_calendar {
    int dates, exposures;
    double t[QUAD_DATES + 1];
    int exposure[QUAD_DATES + 1]; /* its number, or -1 */
    int given[QUAD_DATES + 1];
} quad_calendar;

typedef struct quad_result {
    int exposures;
    double price, cva;
    double time[QUAD_DATES], epe[QUAD_DATES], ene[QUAD_DATES]; /* of exposure */
    double cash[QUAD_DATES]; /* the mean of what exercise and maturity pay at date k: at k - 1 */
} quad_result;

typedef struct quad_fineness {
    double points;       /* of a line per deviation of a step   */
    double outer_points; /* of the other axes                   */
    double reach;        /* half the grid, in deviations of Z_t */
} quad_fineness;

/* ---- a netting set ------------------------------------------------------------------------------ */

typedef struct
    quad_grid { /* of a date: points -half .. half of a line, -outer .. outer of the other axes */
    double t, step; /* step: deviation of the step to it                    */
    int taps;       /* points of a line that this step reaches              */
    double *decay;  /* [tap]: e^(-(tap h)^2 / 2 step^2)                     */
    int half, outer;
    size_t row, lines;
} quad_grid;

typedef struct quad_set {
    const quad_book *book;
    const quad_calendar *calendar;
    char may[QUAD_CONTRACTS][QUAD_DATES + 1]; /* early exercise at that date */
    int assets, asset[QUAD_ASSETS];           /* numbers in the book */
    int contracts, last[QUAD_CONTRACTS];
    const quad_contract *contract[QUAD_CONTRACTS];
    double A[QUAD_ASSETS][QUAD_ASSETS];
    double h, outer_h;                           /* spacings */
    double node[QUAD_NODES], weight[QUAD_NODES]; /* on -1 .. 1 */
    quad_grid grid[QUAD_DATES + 1];
    double *hold[QUAD_CONTRACTS][QUAD_DATES + 1];
} quad_set;

static inline void *quad_new(size_t count, size_t size) {
    void *memory = calloc(count ? count : 1, size);
    if (!memory) abort();
    return memory;
}

static inline void quad_legendre(double *node, double *weight) {
    for (int i = 0; i < QUAD_NODES; i++) {
        double x = cos(acos(-1.0) * (i + 0.75) / (QUAD_NODES + 0.5)), slope = 0;
        for (int newton = 0; newton < 50; newton++) {
            double p = x, before = 1;
            for (int n = 2; n <= QUAD_NODES; n++) {
                const double next = ((2 * n - 1) * x * p - (n - 1) * before) / n;
                before = p, p = next;
            }
            slope = QUAD_NODES * (x * p - before) / (x * x - 1);
            x -= p / slope;
        }
        node[i] = x, weight[i] = 2 / ((1 - x * x) * slope * slope);
    }
}

/* A = L Q with L the Cholesky factor and Q a reflection whose first column makes A's proportional to `along`. */
static inline void quad_axes(quad_set *s, const double *along) {
    const int d = s->assets;
    double L[QUAD_ASSETS][QUAD_ASSETS] = { { 0 } }, q[QUAD_ASSETS], length = 0;
    for (int a = 0; a < d; a++)
        for (int b = 0; b <= a; b++) {
            double sum = s->book->correlation[s->asset[a]][s->asset[b]];
            for (int c = 0; c < b; c++) sum -= L[a][c] * L[b][c];
            L[a][b] = a == b ? sqrt(sum) : sum / L[b][b];
        }
    for (int a = 0; a < d; a++) {
        q[a] = along[a];
        for (int b = 0; b < a; b++) q[a] -= L[a][b] * q[b];
        q[a] /= L[a][a];
    }
    for (int a = 0; a < d; a++) length += q[a] * q[a];
    for (int a = 0; a < d; a++) q[a] /= sqrt(length);
    /* Q = I - 2 w wt / wt w, w = e_1 - q; no reflection if q is e_1 */
    double w[QUAD_ASSETS], ww = 0;
    for (int a = 0; a < d; a++) w[a] = (a == 0) - q[a], ww += w[a] * w[a];
    for (int a = 0; a < d; a++)
        for (int b = 0; b < d; b++) {
            double sum = 0;
            for (int c = 0; c < d; c++)
                sum += L[a][c] * ((b == c) - (ww > 1e-20 ? 2 * w[c] * w[b] / ww : 0));
            s->A[a][b] = sum;
        }
}

static inline void quad_grids(quad_set *s, const quad_fineness *fine) {
    const quad_calendar *all = s->calendar;
    double shortest = INFINITY;
    for (int k = 1; k <= all->dates; k++) shortest = fmin(shortest, all->t[k] - all->t[k - 1]);
    s->h = sqrt(shortest) / fine->points, s->outer_h = sqrt(shortest) / fine->outer_points;
    for (int k = 0; k <= all->dates; k++) {
        quad_grid *g = &s->grid[k];
        g->t = all->t[k], g->step = k ? sqrt(g->t - all->t[k - 1]) : 0;
        g->taps = (int)ceil(8.5 * g->step / s->h);
        g->decay = quad_new((size_t)g->taps + 1, sizeof *g->decay);
        for (int i = 0; i <= g->taps && k; i++)
            g->decay[i] = exp(-0.5 * i * i * s->h * s->h / (g->step * g->step));
        g->half = (int)ceil(fine->reach * sqrt(g->t) / s->h);
        g->outer = s->assets > 1 ? (int)ceil(fine->reach * sqrt(g->t) / s->outer_h) : 0;
        g->row = 2 * (size_t)g->half + 1, g->lines = 1;
        for (int a = 1; a < s->assets; a++) g->lines *= 2 * (size_t)g->outer + 1;
    }
}

/* ---- a line, and a point of it ------------------------------------------------------------------ */

typedef struct quad_line {
    const quad_set *set;
    int k;
    size_t at;                                 /* number of the line */
    int far;                                   /* beyond the reach of the grid: nothing is there */
    double x[QUAD_ASSETS], slope[QUAD_ASSETS]; /* log prices where the first axis is 0 */
} quad_line;

static inline quad_line quad_line_at(const quad_set *s, int k, size_t at) {
    const quad_grid *g = &s->grid[k];
    quad_line line = { .set = s, .k = k, .at = at };
    double z[QUAD_ASSETS] = { 0 }, length = 0;
    for (int a = s->assets - 1; a > 0; a--) {
        const size_t width = 2 * (size_t)g->outer + 1;
        z[a] = s->outer_h * ((double)(at % width) - g->outer), at /= width;
        length += z[a] * z[a];
    }
    line.far = sqrt(length) > s->outer_h * g->outer;
    for (int a = 0; a < s->assets; a++) {
        const int n = s->asset[a];
        const double sigma = s->book->sigma[n];
        double sum = 0;
        for (int b = 1; b < s->assets; b++) sum += s->A[a][b] * z[b];
        line.x[a] = log(s->book->s0[n]) + sigma * sum +
                    (s->book->rate - s->book->dividend[n] - 0.5 * sigma * sigma) * g->t;
        line.slope[a] = sigma * s->A[a][0];
    }
    return line;
}

typedef struct quad_point {
    double price[QUAD_ASSETS], factor[QUAD_ORDER];
    size_t from; /* of the line: the first point that interpolation takes */
} quad_point;

static inline quad_point quad_at(const quad_line *line, double u) {
    static const double inverse[QUAD_ORDER] = { /* 1 / prod (i - j) */
                                                -1 / 362880., 1 / 40320., -1 / 10080., 1 / 4320.,
                                                -1 / 2880.,   1 / 2880.,  -1 / 4320.,  1 / 10080.,
                                                -1 / 40320.,  1 / 362880.
    };
    const quad_set *s = line->set;
    const quad_grid *g = &s->grid[line->k];
    quad_point p;
    for (int a = 0; a < s->assets; a++) p.price[a] = exp(line->x[a] + line->slope[a] * u);
    const double place = u / s->h + g->half;
    double from = floor(place) - (QUAD_ORDER / 2 - 1);
    from = fmax(0, fmin(from, (double)g->row - QUAD_ORDER));
    p.from = (size_t)from;
    double below[QUAD_ORDER], above = 1;
    below[0] = 1;
    for (int i = 1; i < QUAD_ORDER; i++) below[i] = below[i - 1] * (place - from - (i - 1));
    for (int i = QUAD_ORDER - 1; i >= 0; i--) {
        p.factor[i] = inverse[i] * below[i] * above;
        above *= place - from - i;
    }
    return p;
}

static inline double quad_field(const quad_line *line, const quad_point *p, const double *field) {
    const double *row = field + line->at * line->set->grid[line->k].row + p->from;
    double sum = 0;
    for (int i = 0; i < QUAD_ORDER; i++) sum += p->factor[i] * row[i];
    return sum;
}

/* What exercise pays; below 0 if nobody would. */
static inline double quad_gain(const quad_set *s, int c, const double *price) {
    const quad_contract *o = s->contract[c];
    double all = 0;
    for (int i = 0; i < o->assets; i++) {
        int a = 0;
        while (s->asset[a] != o->asset[i]) a++;
        if (o->payoff >= QUAD_BASKET_PUT)
            all += o->weight[i] * price[a];
        else
            all = i ? fmax(all, price[a]) : price[a];
    }
    return o->payoff == QUAD_PUT || o->payoff == QUAD_BASKET_PUT ? o->strike - all
                                                                 : all - o->strike;
}

static inline int quad_exercises(const quad_line *line, const quad_point *p, int c) {
    const quad_set *s = line->set;
    if (line->k == s->last[c]) return 1;
    if (!s->may[c][line->k]) return 0;
    const double gain = quad_gain(s, c, p->price);
    return gain > 0 && gain >= quad_field(line, p, s->hold[c][line->k]);
}

static inline double quad_worth(const quad_line *line, const quad_point *p, int c) {
    const quad_set *s = line->set;
    const quad_contract *o = s->contract[c];
    if (line->k < s->last[c] && !s->may[c][line->k])
        return quad_field(line, p, s->hold[c][line->k]);
    const double gain = quad_gain(s, c, p->price);
    if (line->k == s->last[c]) return o->payoff == QUAD_FORWARD ? gain : fmax(gain, 0);
    const double hold = quad_field(line, p, s->hold[c][line->k]);
    return gain > 0 && gain >= hold ? gain : hold;
}

/* Of the contracts that are not in `gone`. */
static inline double quad_netted(const quad_line *line, const quad_point *p, unsigned gone) {
    double sum = 0;
    for (int c = 0; c < line->set->contracts; c++)
        if (!(gone >> c & 1)) sum += line->set->contract[c]->quantity * quad_worth(line, p, c);
    return sum;
}

/* ---- cuts --------------------------------------------------------------------------------------- */

typedef struct quad_cuts {
    int count;
    double at[QUAD_CUTS];
} quad_cuts;

static inline void quad_cut(quad_cuts *cuts, double u) {
    if (cuts->count == QUAD_CUTS) abort();
    int i = cuts->count++;
    for (; i > 0 && cuts->at[i - 1] > u; i--) cuts->at[i] = cuts->at[i - 1];
    cuts->at[i] = u;
}

/* A function of a line that is cut where it is 0. */
typedef struct quad_root {
    const quad_line *line;
    int contract;  /* payoff less continuation, or the payoff on the last day; below 0: */
    unsigned gone; /* the netted value                                                  */
    double level;  /* less this                                                         */
} quad_root;

static inline double quad_root_value(const quad_root *r, double u) {
    const quad_point p = quad_at(r->line, u);
    if (r->contract < 0) return quad_netted(r->line, &p, r->gone) - r->level;
    const quad_set *s = r->line->set;
    const double gain = quad_gain(s, r->contract, p.price);
    if (r->line->k == s->last[r->contract]) return gain;
    return gain - quad_field(r->line, &p, s->hold[r->contract][r->line->k]);
}

/* The zero between a and b, where the values fa and fb have two signs: the Illinois method. */
static inline double quad_zero(const quad_root *r, double a, double fa, double b, double fb) {
    const double close = 1e-13 * (fabs(a) + fabs(b));
    int side = 0;
    for (int i = 0; i < 100 && fabs(b - a) > close; i++) {
        const double u = (a * fb - b * fa) / (fb - fa), f = quad_root_value(r, u);
        if (f == 0) return u;
        if ((f > 0) == (fb > 0)) {
            b = u, fb = f;
            if (side == 1) fa *= 0.5;
            side = 1;
        } else {
            a = u, fa = f;
            if (side == -1) fb *= 0.5;
            side = -1;
        }
    }
    return 0.5 * (a + b);
}

/* Cuts the panels of `in`, a spacing of the grid at a time, where the function changes its sign. */
static inline void quad_cut_zeros(const quad_root *r, const quad_cuts *in, quad_cuts *out) {
    for (int i = 0; i + 1 < in->count; i++) {
        const double from = in->at[i], width = in->at[i + 1] - from;
        const int pieces = (int)ceil(width / r->line->set->h);
        double a = from + 1e-9 * width, fa = quad_root_value(r, a);
        for (int n = 1; n <= pieces; n++) {
            const double b = from + width * (n < pieces ? (double)n / pieces : 1 - 1e-9);
            const double fb = quad_root_value(r, b);
            if ((fa > 0) != (fb > 0)) quad_cut(out, quad_zero(r, a, fa, b, fb));
            a = b, fa = fb;
        }
    }
}

/* Cuts where the value of a contract has a kink at this date. */
static inline void quad_cut_contract(const quad_line *line, int c, quad_cuts *cuts) {
    const quad_set *s = line->set;
    const quad_contract *o = s->contract[c];
    quad_cuts equal = { 2, { cuts->at[0], cuts->at[cuts->count - 1] } };
    if (line->k < s->last[c] && !s->may[c][line->k]) return;
    if (o->payoff == QUAD_MAX_CALL && s->assets == 2) { /* where both prices are the same */
        const double u = (line->x[1] - line->x[0]) / (line->slope[0] - line->slope[1]);
        if (u > equal.at[0] && u < equal.at[1]) quad_cut(&equal, u), quad_cut(cuts, u);
    }
    if (o->payoff != QUAD_FORWARD)
        quad_cut_zeros(&(quad_root){ .line = line, .contract = c }, &equal, cuts);
}

static inline quad_cuts quad_ends(const quad_line *line) {
    const double end = line->set->h * line->set->grid[line->k].half;
    return (quad_cuts){ 2, { -end, end } };
}

/* ---- steps -------------------------------------------------------------------------------------- */

/* The later of two dates, which has the step between them. */
static inline const quad_grid *quad_step(const quad_grid *a, const quad_grid *b) {
    return a->t > b->t ? a : b;
}

/* Adds to a row of the grid `to` the density of a step from u. */
static inline void quad_drop(const quad_set *s, const quad_grid *from, const quad_grid *to,
                             double u, double amount, double *row) {
    const quad_grid *by = quad_step(from, to);
    const double nearest = round(u / s->h), off = u - nearest * s->h,
                 variance = by->step * by->step;
    const int center = (int)nearest + to->half, last = 2 * to->half;
    if (center < -by->taps || center > last + by->taps) return;
    const double ratio = exp(off * s->h / variance), inverse = 1 / ratio;
    double up = amount * s->h / by->step / sqrt(2 * acos(-1.0)) * exp(-0.5 * off * off / variance);
    double down = up;
    if (center >= 0 && center <= last) row[center] += up;
    for (int i = 1; i <= by->taps; i++) {
        up *= ratio, down *= inverse;
        if (center + i >= 0 && center + i <= last) row[center + i] += up * by->decay[i];
        if (center - i >= 0 && center - i <= last) row[center - i] += down * by->decay[i];
    }
}

/* The other axes: from [lines of `from`][row of `to`] to the grid `to`. The memory of `field` is taken over. */
static inline double *quad_blur(const quad_set *s, const quad_grid *from, const quad_grid *to,
                                double *field) {
    const size_t n = 2 * (size_t)from->outer + 1, m = 2 * (size_t)to->outer + 1;
    const double points = quad_step(from, to)->step / s->outer_h;
    const int taps = (int)ceil(8.5 * points);
    size_t before = 1, after = to->row;
    for (int a = 2; a < s->assets; a++) after *= n;
    for (int a = 1; a < s->assets; a++) {
        double *result = quad_new(before * m * after, sizeof *result);
        for (size_t b = 0; b < before; b++)
            for (size_t j = 0; j < m; j++)
                for (size_t i = 0; i < n; i++) {
                    const int apart = (int)i - from->outer - ((int)j - to->outer);
                    if (abs(apart) > taps) continue;
                    const double density = exp(-0.5 * apart * apart / (points * points)) / points /
                                           sqrt(2 * acos(-1.0));
                    const double *x = field + (b * n + i) * after;
                    double *y = result + (b * m + j) * after;
                    for (size_t e = 0; e < after; e++) y[e] += density * x[e];
                }
        free(field);
        field = result, before *= m;
        if (a + 1 < s->assets) after /= n;
    }
    return field;
}

/* Panels are at most 4 spacings wide. */
static inline int quad_panels(const quad_set *s, double width) {
    return (int)ceil(width / (4 * s->h));
}

/* The values of a contract before the decision at date k, a step back and discounted: its continuation at k - 1. */
static inline double *quad_back(const quad_set *s, int k, int c) {
    const quad_grid *from = &s->grid[k], *to = &s->grid[k - 1];
    const double discount = exp(-s->book->rate * (from->t - to->t));
    double *field = quad_new(from->lines * to->row, sizeof *field);
    for (size_t at = 0; at < from->lines; at++) {
        const quad_line line = quad_line_at(s, k, at);
        if (line.far) continue;
        quad_cuts cuts = quad_ends(&line);
        quad_cut_contract(&line, c, &cuts);
        for (int i = 0; i + 1 < cuts.count; i++) {
            const double width = cuts.at[i + 1] - cuts.at[i];
            const int panels = quad_panels(s, width);
            for (int n = 0; n < panels * QUAD_NODES; n++) {
                const double place = n / QUAD_NODES + 0.5 * (1 + s->node[n % QUAD_NODES]);
                const double u = cuts.at[i] + width / panels * place;
                const double weight = 0.5 * width / panels * s->weight[n % QUAD_NODES] / s->h;
                const quad_point p = quad_at(&line, u);
                quad_drop(s, from, to, u, weight * discount * quad_worth(&line, &p, c),
                          field + at * to->row);
            }
        }
    }
    return quad_blur(s, from, to, field);
}

static inline double quad_uncovered(const quad_book *b, double value) {
    const double above = fmax(value, 0);
    return b->threshold >= 0 ? fmin(above, b->threshold) : above;
}

/* The exposures of a state on a line, and its density behind the decision, by state. */
static inline void quad_forward_line(const quad_line *line, unsigned gone, unsigned matured,
                                     const double *density, double **next, quad_result *result) {
    const quad_set *s = line->set;
    const quad_book *b = s->book;
    const quad_grid *from = &s->grid[line->k], *to = from + 1;
    const double *row = density + line->at * from->row;
    double most = 0;
    for (size_t i = 0; i < from->row; i++) most = fmax(most, row[i]);
    if (line->far || most < 1e-18) return; /* of a density times the spacings */
    quad_cuts cuts = quad_ends(line), all;
    for (int c = 0; c < s->contracts; c++)
        if (!(gone >> c & 1)) quad_cut_contract(line, c, &cuts);
    const double levels[] = { 0, b->threshold, -b->threshold };
    all = cuts;
    for (int i = 0; i < (b->threshold > 0 ? 3 : 1); i++) {
        const quad_root root = { .line = line, .contract = -1, .gone = gone, .level = levels[i] };
        quad_cut_zeros(&root, &cuts, &all);
    }
    for (int i = 0; i + 1 < all.count; i++) {
        const double width = all.at[i + 1] - all.at[i];
        const quad_point middle = quad_at(line, all.at[i] + 0.5 * width);
        unsigned behind = gone | matured;
        for (int c = 0; c < s->contracts; c++)
            if (!(behind >> c & 1) && quad_exercises(line, &middle, c)) behind |= 1U << c;
        const int panels = quad_panels(s, width);
        for (int n = 0; n < panels * QUAD_NODES; n++) {
            const double place = n / QUAD_NODES + 0.5 * (1 + s->node[n % QUAD_NODES]);
            const double u = all.at[i] + width / panels * place;
            const quad_point p = quad_at(line, u);
            const double value = quad_netted(line, &p, gone);
            const double mass = 0.5 * width / panels * s->weight[n % QUAD_NODES] / s->h *
                                quad_field(line, &p, density);
            const int date = s->calendar->exposure[line->k];
            if (date >= 0) result->epe[date] += mass * quad_uncovered(b, value);
            if (date >= 0) result->ene[date] += mass * quad_uncovered(b, -value);
            result->cash[line->k - 1] += mass * (value - quad_netted(line, &p, behind));
            if (next[behind]) quad_drop(s, from, to, u, mass, next[behind] + line->at * to->row);
        }
    }
}

/* Fields of all states of date k; those that nothing is left of are NULL. */
static inline void quad_forward(const quad_set *s, quad_result *result) {
    const unsigned states = 1U << s->contracts, nothing = states - 1;
    double **now = quad_new(2 * (size_t)states, sizeof *now), **next = now + states;
    now[0] = quad_new(1, sizeof **now);
    now[0][0] = 1; /* all of it is at 0 */
    for (int k = 1; k <= s->calendar->dates; k++) {
        unsigned matured = 0;
        const quad_grid *from = &s->grid[k - 1], *to = &s->grid[k];
        if (k == 1) { /* the first step has no lines behind it */
            double *row = quad_new(to->row, sizeof *row);
            quad_drop(s, from, to, 0, 1, row);
            free(now[0]);
            now[0] = row;
        }
        for (unsigned state = 0; state < states; state++)
            if (now[state]) now[state] = quad_blur(s, from, to, now[state]);
        for (int c = 0; c < s->contracts; c++)
            if (s->last[c] == k) matured |= 1U << c;
        for (unsigned state = 0; state < nothing && k < s->calendar->dates; state++)
            next[state] = quad_new(to->lines * s->grid[k + 1].row, sizeof *next[state]);
        for (unsigned state = 0; state < states; state++)
            for (size_t at = 0; at < to->lines && now[state]; at++) {
                const quad_line line = quad_line_at(s, k, at);
                quad_forward_line(&line, state, matured, now[state], next, result);
            }
        for (unsigned state = 0; state < states; state++) {
            free(now[state]);
            now[state] = next[state], next[state] = NULL;
        }
    }
    free(now);
}

/* ---- dates -------------------------------------------------------------------------------------- */

/* The place of a time, which is added if it is new. */
static inline int quad_place(quad_calendar *c, double t) {
    int at = 1;
    while (at <= c->dates && c->t[at] < t * (1 - 1e-9)) at++;
    if (at <= c->dates && c->t[at] <= t * (1 + 1e-9)) return at;
    if (c->dates == QUAD_DATES) abort();
    for (int k = c->dates++; k >= at; k--)
        c->t[k + 1] = c->t[k], c->exposure[k + 1] = c->exposure[k], c->given[k + 1] = c->given[k];
    c->t[at] = t, c->exposure[at] = -1, c->given[at] = 0;
    return at;
}

static inline quad_calendar quad_calendar_of(const quad_book *b) {
    quad_calendar c = { 0 };
    for (int k = 1; k <= b->dates; k++) {
        const int at = quad_place(&c, b->time[0] > 0 ? b->time[k - 1] : k * b->horizon / b->dates);
        c.given[at] = 1, c.exposure[at] = 0;
    }
    for (int i = 0; i < b->contracts; i++) {
        const quad_contract *o = &b->contract[i];
        c.exposure[quad_place(&c, o->maturity)] = 0;
        for (int e = 0; e < o->exercises; e++) quad_place(&c, o->exercise[e]);
    }
    for (int k = 1; k <= c.dates; k++)
        if (c.exposure[k] == 0) c.exposure[k] = c.exposures++;
    return c;
}

static inline void quad_exercise(quad_set *s, int c, quad_calendar *all) {
    const quad_contract *o = s->contract[c];
    s->last[c] = quad_place(all, o->maturity);
    for (int k = 1; k < s->last[c] && o->american; k++)
        s->may[c][k] = (char)(!o->exercises && all->given[k]);
    for (int e = 0; e < o->exercises; e++) s->may[c][quad_place(all, o->exercise[e])] = 1;
}

/* The contracts of one set. */
static inline void quad_solve_set(const quad_book *b, int set, quad_calendar *calendar,
                                  const quad_fineness *fine, quad_result *result) {
    quad_set *s = quad_new(1, sizeof *s);
    int has_max = 0, has_basket = 0;
    s->book = b, s->calendar = calendar;
    for (int i = 0; i < b->contracts; i++) {
        const quad_contract *o = &b->contract[i];
        if (o->set != set) continue;
        for (int n = 0; n < o->assets; n++) {
            int a = 0;
            while (a < s->assets && s->asset[a] != o->asset[n]) a++;
            if (a == s->assets) s->asset[s->assets++] = o->asset[n];
        }
        has_max |= o->payoff == QUAD_MAX_CALL && o->assets > 1;
        has_basket |= o->payoff >= QUAD_BASKET_PUT && o->assets > 1;
        if (has_max && s->assets > 2) {
            fprintf(stderr, "contract %d: not for this quadrature\n", i + 1);
            abort();
        }
        s->contract[s->contracts] = o;
        quad_exercise(s, s->contracts++, calendar);
    }
    const double second = !has_max ? 1 : has_basket ? 1.0 / 3 : -1;
    quad_axes(s, (const double[QUAD_ASSETS]){ 1, second, 1, 1, 1 });
    quad_legendre(s->node, s->weight);
    quad_grids(s, fine);
    for (int c = 0; c < s->contracts; c++) {
        for (int k = s->last[c]; k > 0; k--) s->hold[c][k - 1] = quad_back(s, k, c);
        result->price += s->contract[c]->quantity * s->hold[c][0][0];
    }
    quad_forward(s, result);
    for (int c = 0; c < s->contracts; c++)
        for (int k = 0; k <= calendar->dates; k++) free(s->hold[c][k]);
    for (int k = 0; k <= calendar->dates; k++) free(s->grid[k].decay);
    free(s);
}

static inline double quad_survival(const quad_book *b, double t) {
    double sum = 0, from = 0;
    for (int i = 0; i < b->pieces && from < t; i++) {
        const double to = i + 1 < b->pieces ? fmin(b->until[i], t) : t;
        sum += b->hazard[i] * (to - from), from = to;
    }
    return exp(-sum);
}

static inline quad_result quad_solve(const quad_book *b, const quad_fineness *fine) {
    quad_calendar calendar = quad_calendar_of(b);
    quad_result result = { .exposures = calendar.exposures };
    double before = 0;
    for (int set = 0; set < b->sets; set++) quad_solve_set(b, set, &calendar, fine, &result);
    for (int k = 1; k <= calendar.dates; k++) {
        const double t = calendar.t[k];
        const int date = calendar.exposure[k];
        if (date < 0) continue;
        result.time[date] = t;
        result.cva += (1 - b->recovery) * exp(-b->rate * t) * result.epe[date] *
                      (quad_survival(b, before) - quad_survival(b, t));
        before = t;
    }
    return result;
}

#endif
