/* SPDX-License-Identifier: Apache-2.0
 *
 * dataset.h - one price of the exponential Ornstein-Uhlenbeck model by conditioning on Y, for
 * both compilers, with few steps and few paths. With X = Y - E Y, dX = -alpha X dt + beta dV,
 * the integrals of expou.h are
 *
 *     A = int e^(2 E Y) e^(2X) dt,   J = (e^(Y_T) - e^(Y_0) - B) / beta,
 *     B = int e^(E Y) e^X (alpha (m - E Y) + beta^2 / 2 - alpha X) dt.
 *
 * Their deterministic factors, over which trapezoids fail where Y has far to go, are integrated
 * exactly (Gauss, four points per step) against the hat functions of the steps; e^(2X), e^X and X
 * e^X alone are taken as linear between steps, each divided by its mean. So A = sum a_k e^(2
 * X_k), B = sum e^(X_k) (b_k + c_k X_k), A has its true mean, and J, whose mean is 0, gives up
 * the mean that its sum has. The mirror image of a path is -X: e^(-X) is a quotient.
 *
 * A sample, the mean over a path and its mirror image, has eight controls of mean 0: the forward
 * f - 1, a call and forward with f's J replaced by the Gaussian J0 = sum w_k z_k, whose variance
 * is E A; A - E A; J; and of J0 and the linear part L of A the squares and the product, less
 * their means. In the default ranges they cut the variance 170 times beside f - 1 alone 6 times.
 *
 * Cost of a step: half a Philox block, half a Box-Muller, an exponential, a division, ten fma.
 */
#ifndef SHOAL_SURROGATE_DATASET_H
#define SHOAL_SURROGATE_DATASET_H

#include "core/plan.h"
#include "rng/normal.h"
#include <shoal/dataset.h>

enum { DATASET_BLOCK = 256 };   /* samples of a block              */
enum { DATASET_MIN = 16 };      /* blocks before the first look    */
enum { DATASET_STEPS = 2048 };  /* of a path, at most              */
enum { DATASET_ROW_BITS = 24 }; /* path number: row << 24 | sample */

typedef struct dataset_job {
    const double *parameters; /* [count][7]     */
    double *values;           /* [count][3]     */
    int64_t count;
    uint64_t first;
    shoal_stream normals;
    double target;
    int64_t most; /* blocks of a row */
    int nu2, refine;
    int steps; /* of a path, at most: tables have room for these */
} dataset_job;

typedef struct dataset_method {
    shoal_status (*run)(shoal_context *ctx, const dataset_job *job);
} dataset_method;

struct shoal_dataset {
    shoal_plan head;
    const dataset_method *method;
    shoal_dataset_opts opts; /* settled */
    int latin;
    dataset_job job; /* all but the arrays and the rows */
    uint32_t direction[SHOAL_DATASET_COLUMNS * 32];
    uint64_t shift[SHOAL_DATASET_COLUMNS];
};

enum { DATASET_CONTROLS = 8, DATASET_STATISTICS = 1 + DATASET_CONTROLS };
#define DATASET_BETA_MIN 1e-12 /* beta below: Y is taken to follow its drift */

typedef struct dataset_row {
    double alpha, m, beta, y0, rho, maturity, strike;
    int steps;                 /* even; 0: out of bounds                         */
    double dt, decay, noise;   /* X' = decay X + noise G                         */
    double scale;              /* 1 / beta, or 0                                 */
    double rest, log_strike;   /* sqrt(1 - rho^2)                                */
    double begin, end, excess; /* e^(Y_0) / beta, e^(E Y_T) / beta, the sum's E J */
    double area, tilt, cross;  /* E A = Var J0, Var L, Cov(J0, L)                 */
    double middle;             /* the call if A were its mean                     */
} dataset_row;

typedef struct dataset_tables { /* of nodes 0 .. steps (a b c drift), steps 0 .. (w l) */
    double *a, *b, *c, *drift, *w, *l;
} dataset_tables;

enum { DATASET_TABLES = 6 };

/* Six arrays of `nodes` numbers. */
SHOAL_HD static inline dataset_tables dataset_tables_at(double *room, int nodes) {
    const dataset_tables t = {
        room, room + nodes, room + 2 * nodes, room + 3 * nodes, room + 4 * nodes, room + 5 * nodes
    };
    return t;
}

/* (1 - e^(-rate t)) / rate. */
SHOAL_HD static inline double dataset_life(double rate, double t) {
    const double x = rate * t;
    if (x > 0.01) return (1.0 - shoal_exp(-x)) / rate;
    const double tail = 1.0 - 0.25 * x * (1.0 - 0.2 * x * (1.0 - x / 6.0));
    return t * (1.0 - 0.5 * x * (1.0 - x * tail / 3.0));
}

/* Steps that leave an error below the standard errors of the default target: docs/surrogate.md. */
SHOAL_HD static inline double dataset_steps(double alpha, double m, double beta, double y0,
                                            double maturity, int refine) {
    const double way = m > y0 ? m - y0 : y0 - m;
    const double half =
        8.0 + 4.0 * (alpha * maturity) * (1.0 + way) + 8.0 * (beta * beta) * maturity;
    return 2.0 * refine * ceil(half);
}

SHOAL_HD static inline int dataset_within(double x, double low, double high) {
    return x >= low && x <= high;
}

/* A row of parameters, its steps counted. */
SHOAL_HD static inline dataset_row dataset_read(const dataset_job *job, const double *p) {
    dataset_row r;
    r.alpha = p[0], r.m = p[1], r.y0 = p[3], r.rho = p[4], r.maturity = p[5], r.strike = p[6];
    r.beta = job->nu2 ? sqrt(2.0 * r.alpha * p[2]) : p[2];
    if (job->nu2 == 2) r.beta *= 1.0 - shoal_exp(r.m);
    const int good = dataset_within(r.alpha, 0.0, 1e6) && dataset_within(r.m, -50.0, 5.0) &&
                     dataset_within(r.beta, 0.0, 1e3) && dataset_within(r.y0, -50.0, 5.0) &&
                     dataset_within(r.rho, -1.0, 0.0) && dataset_within(r.maturity, 1e-12, 1e3) &&
                     dataset_within(r.strike, 0.0, 1e6);
    const double steps =
        good ? dataset_steps(r.alpha, r.m, r.beta, r.y0, r.maturity, job->refine) : 0.0;
    r.steps = steps <= job->steps ? (int)steps : 0;
    const int no_noise = !(r.beta > DATASET_BETA_MIN);
    r.scale = no_noise ? 0.0 : 1.0 / r.beta;
    if (no_noise) r.rho = 0.0; /* nothing of W is known from V */
    r.dt = r.steps > 0 ? r.maturity / r.steps : 0.0;
    r.decay = shoal_exp(-r.alpha * r.dt);
    r.noise = r.beta * sqrt(dataset_life(2.0 * r.alpha, r.dt));
    r.rest = sqrt(1.0 - r.rho * r.rho);
    r.log_strike = shoal_log(r.strike);
    r.begin = r.scale * shoal_exp(r.y0);
    r.end = r.excess = r.area = r.tilt = r.cross = r.middle = 0.0;
    return r;
}

/* E Y and Var Y. */
SHOAL_HD static inline void dataset_law(const dataset_row *r, double t, double *mean,
                                        double *variance) {
    *mean = fma(r->y0 - r->m, shoal_exp(-r->alpha * t), r->m);
    *variance = r->beta * r->beta * dataset_life(2.0 * r->alpha, t);
}

/* Adds to node k's a, b, c what the step from node `step` on gives it, step = k - 1 or k;
 * returns the step's share of E A. */
SHOAL_HD static inline double dataset_side(const dataset_row *r, int step, int k, double *a,
                                           double *b, double *c) {
    const double place[4] = { 0.06943184420297371, 0.33000947820757187, 0.66999052179242813,
                              0.93056815579702629 };
    const double weight[4] = { 0.17392742256872693, 0.32607257743127307, 0.32607257743127307,
                               0.17392742256872693 };
    double area = 0.0;
    for (int i = 0; i < 4; i++) {
        double mean, variance;
        dataset_law(r, (step + place[i]) * r->dt, &mean, &variance);
        const double vol = shoal_exp(fma(0.5, variance, mean));
        const double square = vol * vol * shoal_exp(variance);
        const double part = weight[i] * r->dt;
        const double hat = part * (step == k ? 1.0 - place[i] : place[i]);
        *a = fma(hat, square, *a);
        *b = fma(hat * vol, fma(r->alpha, r->m - mean, 0.5 * r->beta * r->beta), *b);
        *c = fma(-hat * vol, r->alpha, *c);
        area = fma(part, square, area);
    }
    return area;
}

/* Node k of the tables. l is left as what the sums of dataset_close() begin with. */
SHOAL_HD static inline void dataset_node(const dataset_row *r, int k, const dataset_tables *t) {
    double a = 0.0, b = 0.0, c = 0.0, mean, variance;
    if (k > 0) dataset_side(r, k - 1, k, &a, &b, &c);
    if (k < r->steps) t->w[k] = sqrt(dataset_side(r, k, k, &a, &b, &c));
    dataset_law(r, k * r->dt, &mean, &variance);
    const double shrink = shoal_exp(-0.5 * variance), square = shrink * shrink;
    if (k > 0) t->l[k - 1] = 2.0 * a;
    t->drift[k] = r->scale * fma(c, variance, b);
    t->a[k] = a * (square * square);
    t->b[k] = r->scale * b * shrink;
    t->c[k] = r->scale * c * shrink;
}

/* A call on a lognormal of mean f and deviation s is f Phi(d) - strike Phi(d - s): s, and d. */
SHOAL_HD static inline double dataset_deviation(double s) {
    return shoal_pick(s > 1e-12, s, 1e-12);
}

SHOAL_HD static inline double dataset_place(const dataset_row *r, double log_f, double s) {
    return (log_f - r->log_strike) / s + 0.5 * s;
}

/* Once all nodes are there: l, and what sums over nodes make. One thread. */
SHOAL_HD static inline void dataset_close(dataset_row *r, const dataset_tables *t) {
    double tail = 0.0, mean, variance;
    r->excess = -t->drift[r->steps];
    for (int k = r->steps - 1; k >= 0; k--) {
        tail = fma(tail, r->decay, t->l[k]);
        t->l[k] = r->noise * tail;
        r->area = fma(t->w[k], t->w[k], r->area);
        r->tilt = fma(t->l[k], t->l[k], r->tilt);
        r->cross = fma(t->l[k], t->w[k], r->cross);
        r->excess -= t->drift[k];
    }
    dataset_law(r, r->maturity, &mean, &variance);
    r->end = r->scale * shoal_exp(mean);
    r->excess += r->end * shoal_exp(0.5 * variance) - r->begin;
    const double s = dataset_deviation(sqrt(r->area)), d = dataset_place(r, 0.0, s);
    r->middle = fma(-r->strike, shoal_normcdf(d - s), shoal_normcdf(d));
}

/* X, and of a path and its mirror image A and B / beta; J0 and L, of which the mirror image has -J0, -L. */
typedef struct dataset_walk {
    double x;             /* X                                           */
    double a[2], b[2];    /* A and B so far, of the path and of its image */
    double along, across; /* J0 and L so far                              */
} dataset_walk;

SHOAL_HD static inline dataset_walk dataset_begin(const dataset_tables *t) {
    const dataset_walk w = { 0.0, { t->a[0], t->a[0] }, { t->b[0], t->b[0] }, 0.0, 0.0 };
    return w;
}

typedef struct dataset_weights { /* of step k, and of the node at its end */
    double a, b, c, w, l;
} dataset_weights;

SHOAL_HD static inline dataset_weights dataset_weights_at(const dataset_tables *t, int k) {
    const dataset_weights at = { t->a[k + 1], t->b[k + 1], t->c[k + 1], t->w[k], t->l[k] };
    return at;
}

SHOAL_HD static inline dataset_walk dataset_step(const dataset_row *r, dataset_weights at, double z,
                                                 dataset_walk w) {
    w.x = fma(r->decay, w.x, r->noise * z);
    const double up = shoal_exp(w.x), down = 1.0 / up;
    w.a[0] = fma(at.a, up * up, w.a[0]);
    w.a[1] = fma(at.a, down * down, w.a[1]);
    w.b[0] = fma(up, fma(at.c, w.x, at.b), w.b[0]);
    w.b[1] = fma(down, fma(-at.c, w.x, at.b), w.b[1]);
    w.along = fma(at.w, z, w.along);
    w.across = fma(at.l, z, w.across);
    return w;
}

/* Four calls of a sample: on f of the path and of its mirror image, on g, that of J0, of the
 * same two. The work is cut where exponentials and normal laws are taken, so that the CPU can
 * take them over all lanes. */
enum { DATASET_CALLS = 4 };

typedef struct dataset_ends {
    double log_mean[DATASET_CALLS], deviation[DATASET_CALLS];
    double j[2]; /* J of the path and of its image */
} dataset_ends;

/* up = e^X at maturity. */
SHOAL_HD static inline dataset_ends dataset_end(const dataset_row *r, const dataset_walk *w,
                                                double up) {
    const double bend = -0.5 * r->rho * r->rho, fixed = bend * r->area;
    dataset_ends e;
    e.j[0] = ((r->end * up - r->begin) - w->b[0]) - r->excess;
    e.j[1] = ((r->end / up - r->begin) - w->b[1]) - r->excess;
    e.log_mean[0] = fma(bend, w->a[0], r->rho * e.j[0]);
    e.log_mean[1] = fma(bend, w->a[1], r->rho * e.j[1]);
    e.log_mean[2] = fma(r->rho, w->along, fixed);
    e.log_mean[3] = fma(-r->rho, w->along, fixed);
    e.deviation[0] = dataset_deviation(r->rest * sqrt(w->a[0]));
    e.deviation[1] = dataset_deviation(r->rest * sqrt(w->a[1]));
    e.deviation[2] = e.deviation[3] = dataset_deviation(r->rest * sqrt(r->area));
    return e;
}

SHOAL_HD static inline double dataset_call(const dataset_row *r, double mean, double above,
                                           double below) {
    return fma(mean, above, -(r->strike * below));
}

/* What a sample says: the mean of the calls less its middle, and the controls. */
SHOAL_HD static inline void dataset_sample(const dataset_row *r, const dataset_walk *w,
                                           const double j[2], const double mean[DATASET_CALLS],
                                           const double call[DATASET_CALLS],
                                           double v[DATASET_STATISTICS]) {
    const double tilt = shoal_pick(r->tilt > 0.0, r->tilt, 1.0);
    v[0] = fma(0.5, call[0] + call[1], -r->middle);
    v[1] = fma(0.5, mean[0] + mean[1], -1.0);
    v[2] = fma(0.5, call[2] + call[3], -r->middle);
    v[3] = fma(0.5, mean[2] + mean[3], -1.0);
    v[4] = fma(0.5, w->a[0] + w->a[1], -r->area);
    v[5] = 0.5 * (j[0] + j[1]);
    v[6] = fma(w->along, w->along, -r->area);
    v[7] = fma(w->across, w->across, -r->tilt) / tilt;
    v[8] = fma(w->along, w->across, -r->cross);
}

#ifndef __cplusplus
/* dataset_plan.c: a row and its tables. Apart from dataset.c, whose loops inline what stands there once. */
void shoal_dataset_prepare(const dataset_job *job, const double *parameters, dataset_row *row,
                           const dataset_tables *tables);
#endif

#endif
