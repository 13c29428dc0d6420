/* SPDX-License-Identifier: Apache-2.0
 *
 * heston_analytic.c - the semi-closed form of Heston's call and put, its derivatives by all parameters, and the bias of
 * exact steps.
 *
 * With k = log(F/K), F the forward and phi the characteristic function of log(S_T/F), Lewis
 * (2000):
 *
 *     call = discount (F - sqrt(F K) / pi  Int_0^oo Re(e^(iuk) phi(u - i/2)) / (u^2 + 1/4) du),
 *
 * where, with q = u^2 + 1/4, beta = kappa - rho sigma (1/2 + iu), d = sqrt(beta^2 + sigma^2 q),
 * h = q (1 - e^(-dT)) / (2 d) and B = -sigma^2 h / (beta + d),
 *
 *     log phi = kappa theta (-q T / (beta + d) - 2 log(1 + B) / sigma^2) + v0 D,   D = -h / (1 + B).
 *
 * This is the form without branch cuts (Albrecher and others 2007), with their g eliminated by
 * (beta + d)^2 + sigma^2 q = 2 d (beta + d); nothing in it cancels or divides by sigma for a small sigma.
 * d/dS brings a factor (1/2 + iu)/S, d2/dS2 -q/S^2, a parameter of the variance d log phi by it: the integrands are one
 * loop. Their derivatives are those of the formulas above (heston_sums.c): all of them cost one more pass of products per
 * point, which all strikes of a maturity share. Those by rate and dividend follow from price and delta.
 *
 * The integrands are analytic and even. With u = sinh(x) / 2, which takes the poles u = +- i/2 to
 * x = +- i pi/2, trapezoids of step s are off by about e^(-c/s), and halving s squares that: 65 points
 * for the example's price. phi at these points serves every strike of a maturity; what is left for a
 * strike is e^(iuk). Both are computed in vectors (heston_sums.c). Where phi turns often before it dies away (rho near
 * +-1, strikes far off) that would take too many: then panels [0,1], [1,2], [2,4], ... are each halved until the rules of
 * Gauss and Kronrod, 7 and 15 points, agree to 1e-11 of the value's scale, or, if that takes too many points, to 1e-9. The
 * put is the call's by parity.
 *
 * The bias. S_T by exact steps of the variance and the integral I of heston.h has a characteristic
 * function of the same kind. With w = 1/2 + iu, E = w (rho kappa / sigma - 1/2) + w^2 (1 - rho^2) / 2
 * and g = E weight, a step multiplies e^(psi v') by e^(E base + g (v + v')), whose mean given v is
 * e^(E base) (1 - f z)^(-shape) e^(psi' v), z = psi + g, psi' = g + e^(-kappa dt) z / (1 - f z), f the
 * factor of the leg. psi -> psi' is a linear fraction, so n steps are one: with h = 1 - e^(-kappa dt),
 *
 *     S = sqrt(h^2 - 4 f g (2 - h) + 4 f^2 g^2),  L = -4 g / (S + h + 2 f g),  l = log(1 + f L),
 *     r = e^(-n (kappa dt + 2 l)),  y = -z - L,  B = (1 - r) f y / S,
 *     product of all 1 - f z = e^(n l) (1 + B),   psi_n = -L - r y / (1 + B) - g.
 *
 * The difference of both functions, integrated as above, is the bias of a price.
 */
#include "models/heston_sums.h"
#include "models/plan.h"
#include "pricing/black.h"
#include <complex.h>
#include <float.h>
#include <stdlib.h>

SHOAL_DECLARE_CPU(heston_sums, heston_sums)
static const shoal_method sums_of_nodes = { .cpu = SHOAL_CPU_DOUBLE_CELLS(heston_sums) };

#define SIGMA_SLOPE 1e-10 /* least sigma of a gradient: that of sigma = 0 within about 1e-10 */
enum { HALVINGS = 6, MAX_STEPS = 100 };     /* of trapezoids: of their step; of the first sum */
enum { DEPTH = 24, MAX_POINTS = 20000000 }; /* halvings of a panel; points of all    */
enum { DOUBLINGS = 60 };                    /* panels                                */
enum { BIAS_POINTS = 4000 };                /* of a bias                             */
enum { RULE = 15, PANEL_NODES = 16 }; /* points of a panel, and with one that counts nothing */

typedef struct problem {
    shoal_context *ctx; /* NULL: it is not cancelled                                 */
    const heston_sums *method;
    const shoal_heston *m;
    double k, maturity;    /* k = log(F/K)                                       */
    int parts;             /* integrands                                         */
    double tolerance;      /* of a panel; it fails beyond 100 of them            */
    int64_t most;          /* points to evaluate                                 */
    const price_leg *legs; /* NULL: the price; otherwise the bias of these steps */
    int64_t leg_count;
    int64_t points; /* evaluated so far                                          */
    double off;     /* differences of both rules so far                          */
    int failed;     /* a panel did not converge                                  */
    heston_nodes nodes;
    double numbers[HESTON_ARRAYS * PANEL_NODES]; /* of the nodes */
} problem;

static const heston_sums *method_of(const shoal_context *ctx) {
    return sums_of_nodes.cpu[SHOAL_F64][ctx->level];
}

/* Arrays of so many points in one block. */
static heston_nodes nodes_in(double *numbers, int64_t room) {
    heston_nodes n = {
        numbers, numbers + room, numbers + 2 * room, numbers + 3 * room, { 0 }, { 0 }
    };
    for (int i = 0; i < HESTON_SLOPES; i++) {
        n.slope_re[i] = numbers + (4 + 2 * i) * room;
        n.slope_im[i] = n.slope_re[i] + room;
    }
    return n;
}

/* |phi| times the weight of a point. */
static double size_at(const heston_nodes *n, int64_t i) {
    return sqrt(n->re[i] * n->re[i] + n->im[i] * n->im[i]) * (n->u[i] * n->u[i] + 0.25);
}

/* log(1 + z) without loss for a small z. */
static double complex log1p_complex(double complex z) {
    const double x = creal(z), y = cimag(z);
    return 0.5 * log1p(x * (2 + x) + y * y) + I * atan2(y, 1 + x);
}

/* log E[(S_T / F)^w] by exact steps. */
static double complex exponent_of_steps(const problem *p, double complex w) {
    const shoal_heston *m = p->m;
    const double along = m->rho / m->sigma, shape = 2 * m->kappa * m->theta / (m->sigma * m->sigma);
    const double complex each = w * (m->kappa * along - 0.5 + 0.5 * w * (1 - m->rho * m->rho));
    double complex psi = w * along;
    double complex level = -psi * (m->v0 + m->kappa * m->theta * p->maturity);
    for (int64_t k = p->leg_count - 1; k >= 0; k--) {
        const price_leg *leg = &p->legs[k];
        if (leg->steps == 0) continue;
        const double n = leg->steps, reach = m->kappa * leg->dt, h = -expm1(-reach);
        const double complex g = each * leg->weight, fg = leg->factor * g;
        const double complex root = csqrt(h * h - 4 * fg * (2 - h) + 4 * fg * fg);
        const double complex slope = -4 * g / (root + h + 2 * fg);
        const double complex l = log1p_complex(leg->factor * slope);
        const double complex r = cexp(-n * (reach + 2 * l)), y = -(psi + g) - slope;
        const double complex b = (1 - r) * leg->factor * y / root;
        level += n * each * leg->base - shape * (n * l + log1p_complex(b));
        psi = -slope - r * y / (1 + b) - g;
    }
    return level + psi * m->v0;
}

/* ---- trapezoids --------------------------------------------------------------------------------- */

/* Of one maturity, for all strikes. Level 0 begins at x = 0; level l > 0 has the points in the middle of those before
 * it. Each begins at a multiple of HESTON_LANES. */
typedef struct trapezoids {
    const shoal_heston *m;
    double maturity;
    const heston_sums *method;
    int parts;
    double *numbers; /* from malloc: those of the nodes */
    heston_nodes nodes;
    int64_t end[HALVINGS + 1]; /* of each level                       */
    int levels, points;        /* so far; of level 0, -1: too many    */
} trapezoids;

static int64_t in_lanes(int64_t points) {
    return (points + HESTON_LANES - 1) / HESTON_LANES * HESTON_LANES;
}

/* phi at x = (first + i) step, i = 0 .. points - 1. */
static void add_nodes(trapezoids *t, int64_t points, double first, double step) {
    const heston_nodes *n = &t->nodes;
    const int64_t from = t->end[t->levels], to = from + in_lanes(points);
    t->method->place(n, from, to, first, step);
    for (int64_t i = from + points; i < to; i++) n->u[i] = n->weight[i] = 0;
    t->method->phi(t->m, t->maturity, n, from, to, t->parts);
    t->end[t->levels] = to;
}

/* Points until phi is small; those after the first small one count nothing. */
static void add_first_level(trapezoids *t, double step) {
    const heston_nodes *n = &t->nodes;
    int64_t i = 0;
    for (t->points = 0; !t->points && i <= MAX_STEPS;) {
        add_nodes(t, HESTON_LANES, (double)i, step);
        for (; i < t->end[0] && !t->points; i++)
            if (i > 0 && size_at(n, i) < 1e-16) t->points = (int)i;
    }
    for (; i < t->end[0]; i++) n->re[i] = n->im[i] = 0;
    if (!t->points) t->points = -1;
    n->re[0] *= 0.5, n->im[0] *= 0.5;
}

static void add_level(trapezoids *t) {
    const int level = t->levels;
    const double step = ldexp(0.4, -level);
    t->end[level] = level ? t->end[level - 1] : 0;
    if (level)
        add_nodes(t, (int64_t)t->points << (level - 1), 0.5, 2 * step);
    else
        add_first_level(t, step);
    t->levels++;
}

static shoal_status trapezoids_begin(shoal_context *ctx, trapezoids *t) {
    const int64_t room = (MAX_STEPS + 2 * HESTON_LANES) << HALVINGS;
    t->numbers = malloc(HESTON_ARRAYS * (size_t)room * sizeof *t->numbers);
    if (!t->numbers) return SHOAL_NO_MEMORY(ctx, "the analytic prices");
    t->nodes = nodes_in(t->numbers, room);
    t->method = method_of(ctx);
    return SHOAL_OK;
}

/* The scale of part i of the integrals: derivatives by parameters have their own. */
static double scale_of(const double *total, int i) {
    const double common = 1 + fabs(total[HESTON_VALUE]) + fabs(total[HESTON_GAMMA]);
    return i > HESTON_V0 ? common + fabs(total[i]) : common;
}

/* By how much the sums, times their step, differ from the integrals before, which they replace; in parts of
 * the scale. */
static double update(double step, const double *sums, int parts, double *total) {
    double before[HESTON_ALL], change = 0;
    for (int k = 0; k < parts; k++) before[k] = total[k], total[k] = step * sums[k];
    for (int k = 0; k < parts; k++) {
        const double off = fabs(total[k] - before[k]) / scale_of(total, k);
        if (!(off <= change)) change = off;
    }
    return change;
}

/* 1 if the integrals converge within HALVINGS. Of three sums in a row, the last is off by about
 * change (change / last)^2; change (change / last) bounds that with a wide margin. */
static int by_trapezoids(trapezoids *t, double k, double *total) {
    double sums[HESTON_ALL] = { 0 }, last = INFINITY;
    for (int i = 0; i < HESTON_ALL; i++) total[i] = 0;
    for (int level = 0; level <= HALVINGS; level++) {
        if (level == t->levels) add_level(t);
        if (t->points < 0) return 0;
        t->method->add(&t->nodes, level ? t->end[level - 1] : 0, t->end[level], k, t->parts, sums);
        const double change = update(ldexp(0.4, -level), sums, t->parts, total);
        if (level >= 2 && change * fmin(1, change / last) < 1e-14) return 1;
        last = change;
    }
    return 0;
}

/* ---- panels ------------------------------------------------------------------------------------- */

/* Nodes and weights of Gauss and Kronrod, 7 and 15 points; the even ones are Gauss's. */
static const double nodes[8] = {
    0.991455371120812639206854697526329, 0.949107912342758524526189684047851,
    0.864864423359769072789712788640926, 0.741531185599394439863864773280788,
    0.586087235467691130294144045693341, 0.405845151377397166906606412076961,
    0.207784955007898467600689403773245, 0.0
};
static const double kronrod[8] = {
    0.022935322010529224963732008058970, 0.063092092629978553290700663189204,
    0.104790010322250183839876322541518, 0.140653259715525918745189590510238,
    0.169004726639267902826583426598550, 0.190350578064785409913256402421014,
    0.204432940075298892414161999234649, 0.209482141084727828012999174891714
};
static const double gauss[4] = { 0.129484966168869693270611432679082,
                                 0.279705391489276667901467771423780,
                                 0.381830050505118944950369775488975,
                                 0.417959183673469387755102040816327 };

/* phi / q at these points, times their weights. */
static void evaluate(problem *p, int count, const double *u, const double *weight) {
    for (int i = 0; i < PANEL_NODES; i++) {
        p->nodes.u[i] = i < count ? u[i] : 0;
        p->nodes.weight[i] = i < count ? weight[i] : 0;
    }
    p->method->phi(p->m, p->maturity, &p->nodes, 0, in_lanes(count), p->parts);
    p->points += count;
}

/* The integrand of the bias at a node, times its weight; *size: |phi| of both. */
static double bias_at(const problem *p, int i, double *size) {
    const heston_nodes *n = &p->nodes;
    const double u = n->u[i], share = n->weight[i] / (u * u + 0.25);
    const double complex turn = cexp(I * u * p->k);
    const double complex steps = cexp(exponent_of_steps(p, 0.5 + I * u)) * turn;
    *size = cabs(steps) * n->weight[i] + size_at(n, i);
    return creal(steps) * share - creal((n->re[i] + I * n->im[i]) * turn);
}

/* Adds the integrals over the nodes as they are weighted. */
static void add_nodes_of(const problem *p, double *sums) {
    if (!p->legs) {
        p->method->add(&p->nodes, 0, PANEL_NODES, p->k, p->parts, sums);
        return;
    }
    for (int i = 0; i < RULE; i++) {
        double size;
        sums[HESTON_VALUE] += bias_at(p, i, &size);
        sums[HESTON_DELTA] += size; /* for the difference of both rules */
    }
}

/* The integrals over [a, b] by both rules. */
static void rules(problem *p, double a, double b, double *fine, double *difference) {
    const double middle = 0.5 * (a + b), half = 0.5 * (b - a);
    double u[RULE], weight[RULE], coarse[HESTON_ALL] = { 0 };
    heston_nodes *n = &p->nodes;
    for (int i = 0; i < RULE; i++) {
        const int at = i < 8 ? i : RULE - 1 - i;
        u[i] = middle + (i < 8 ? -half : half) * nodes[at], weight[i] = half * kronrod[at];
    }
    evaluate(p, RULE, u, weight);
    for (int k = 0; k < HESTON_ALL; k++) fine[k] = 0;
    add_nodes_of(p, fine);
    for (int i = 0; i < RULE; i++) {
        const int at = i < 8 ? i : RULE - 1 - i;
        const double share = at % 2 ? gauss[at / 2] / kronrod[at] : 0;
        n->re[i] *= share, n->im[i] *= share, n->weight[i] *= share;
    }
    add_nodes_of(p, coarse);
    *difference = 0;
    for (int k = 0; k < HESTON_ALL; k++) {
        const double common = scale_of(fine, HESTON_VALUE) / scale_of(fine, k);
        const double off = fabs(fine[k] - coarse[k]) * common;
        if (!(off <= *difference)) *difference = off;
    }
}

/* Adds the integral over [a, b], halved until it is good. */
static void panel(problem *p, double a, double b, int depth, double *total) {
    double here[HESTON_ALL], off;
    if (p->ctx && shoal_is_cancelled(p->ctx, 0, 1)) p->failed = 1;
    if (p->failed) return;
    rules(p, a, b, here, &off);
    /* the finer rule is better by far than the difference of both */
    const double scale = scale_of(here, HESTON_VALUE);
    if (off > p->tolerance * scale && depth < DEPTH && p->points < p->most) {
        panel(p, a, 0.5 * (a + b), depth + 1, total);
        panel(p, 0.5 * (a + b), b, depth + 1, total);
        return;
    }
    if (!(off <= 100 * p->tolerance * scale)) p->failed = 1;
    p->off += off;
    for (int k = 0; k < HESTON_ALL; k++) total[k] += here[k];
}

/* |phi| at u, or of both functions. */
static double size_of(problem *p, double u) {
    const double one = 1;
    double size;
    evaluate(p, 1, &u, &one);
    if (!p->legs) return size_at(&p->nodes, 0);
    (void)bias_at(p, 0, &size);
    return size;
}

/* Gamma's integrand, Re phi, is the last to die away. */
static int by_panels(problem *p, double *total) {
    double a = 0, b = 1;
    p->nodes = nodes_in(p->numbers, PANEL_NODES);
    for (int k = 0; k < HESTON_ALL; k++) total[k] = 0;
    for (int i = 0; i < DOUBLINGS && !p->failed; i++) {
        panel(p, a, b, 0, total);
        if (size_of(p, b) * b < 1e-16) return !p->failed;
        a = b, b *= 2;
    }
    return 0;
}

/* ---- prices ------------------------------------------------------------------------------------- */

/* sigma = 0: the variance is a function of time, and the price is Black's. */
static void without_noise(const shoal_heston *m, double strike, double forward, double discount,
                          double maturity, int put, shoal_price_value *value) {
    const double reach = m->kappa * maturity;
    const double part = reach > 0 ? -expm1(-reach) / m->kappa : maturity; /* dI/dv0 */
    const double variance = m->theta * (maturity - part) + m->v0 * part;
    const double s = variance > 0 ? sqrt(variance) : 0;
    const double growth = forward / m->s0;
    value->price = discount * black_value(forward, strike, s, put);
    if (!(s > 0) || !(strike > 0)) {
        const double inside = put ? strike > forward : strike < forward;
        value->delta = discount * growth * (put ? -inside : inside);
        return;
    }
    const double d = log(forward / strike) / s + 0.5 * s;
    const double density = exp(-0.5 * d * d) * 0.3989422804014327;
    value->delta = discount * growth * (shoal_normcdf(d) - (put ? 1 : 0));
    value->gamma = discount * growth * density / (m->s0 * s);
    /* dP/d sqrt(v0) = F n(d) ds/dv0 2 sqrt(v0), ds/dv0 = part / (2 s) */
    value->vega = discount * forward * density * part / s * sqrt(m->v0);
}

/* An option, and what follows from it. */
typedef struct contract {
    double strike, maturity, discount, forward;
    int put;
} contract;

static contract contract_of(const shoal_heston *m, double strike, double maturity, int put) {
    return (contract){ strike, maturity, exp(-m->rate * maturity),
                       m->s0 * exp((m->rate - m->dividend) * maturity), put };
}

static double total_of(const shoal_heston *m, double maturity) {
    return m->v0 * maturity + m->kappa * m->theta * maturity * maturity;
}

/* Without noise, strike, time or variance there is no integral. */
static int is_random(const shoal_heston *m, const contract *c) {
    return m->sigma >= SIGMA_MIN && c->strike > 0 && c->maturity > 0 &&
           total_of(m, c->maturity) > 0;
}

static shoal_status integrate(shoal_context *ctx, trapezoids *t, const contract *c, double *total) {
    const shoal_heston *m = t->m;
    problem p = { .ctx = ctx,
                  .method = t->method,
                  .m = m,
                  .k = log(c->forward / c->strike),
                  .maturity = c->maturity,
                  .parts = t->parts,
                  .tolerance = 1e-11,
                  .most = MAX_POINTS };
    if (by_trapezoids(t, p.k, total) || by_panels(&p, total)) return SHOAL_OK;
    return shoal_fail(ctx, SHOAL_E_ARG,
                      "the integral of the analytic price does not converge: strike %g, maturity "
                      "%g, v0 %g, sigma %g, rho %g",
                      c->strike, c->maturity, m->v0, m->sigma, m->rho);
}

static double root_of(const contract *c) {
    return c->discount * sqrt(c->forward * c->strike) / 3.14159265358979323846;
}

static double price_from(const contract *c, const double *total) {
    const double call = c->discount * c->forward - root_of(c) * total[HESTON_VALUE];
    const double price = c->put ? call - c->discount * (c->forward - c->strike) : call;
    return price > 0 ? price : 0; /* far out of the money it may round below */
}

static double delta_from(const shoal_heston *m, const contract *c, const double *total) {
    const double growth = c->discount * c->forward / m->s0;
    return growth - root_of(c) / m->s0 * total[HESTON_DELTA] - (c->put ? growth : 0);
}

static shoal_status price(shoal_context *ctx, trapezoids *t, double strike, int put,
                          shoal_price_value *value) {
    const shoal_heston *m = t->m;
    const contract c = contract_of(m, strike, t->maturity, put);
    double total[HESTON_ALL];
    *value = (shoal_price_value){ 0 };
    if (!is_random(m, &c)) {
        without_noise(m, strike, c.forward, c.discount, c.maturity, put, value);
        return SHOAL_OK;
    }
    const shoal_status s = integrate(ctx, t, &c, total);
    if (s != SHOAL_OK) return s;
    value->price = price_from(&c, total);
    value->delta = delta_from(m, &c, total);
    value->gamma = root_of(&c) / (m->s0 * m->s0) * total[HESTON_GAMMA];
    value->vega = -root_of(&c) * total[HESTON_V0] * 2 * sqrt(m->v0);
    return SHOAL_OK;
}

shoal_status shoal_heston_analytic(const shoal_price *plan, const shoal_heston *model,
                                   shoal_price_value *values) {
    const int64_t strikes = plan->strike_count, contracts = plan->groups * strikes;
    shoal_context *ctx = plan->head.ctx;
    trapezoids t = { .m = model, .parts = HESTON_PARTS };
    shoal_status s = trapezoids_begin(ctx, &t);
    for (int64_t i = 0; i < contracts && s == SHOAL_OK; i++) {
        if (i % strikes == 0) t.maturity = plan->legs[i / strikes].maturity, t.levels = 0;
        if (!shoal_is_cancelled(ctx, i, contracts))
            s = price(ctx, &t, plan->strikes[i % strikes], plan->put, &values[i]);
    }
    free(t.numbers);
    return s;
}

/* ---- checks ---------------------------------------------------------------------------------- */

shoal_status shoal_heston_check_model(shoal_context *ctx, const shoal_heston *m) {
    const shoal_bound all[] = {
        { "s0", m->s0, DBL_MIN, 1e300 },        { "rate", m->rate, -1e3, 1e3 },
        { "dividend", m->dividend, -1e3, 1e3 }, { "v0", m->v0, 0, 1e6 },
        { "kappa", m->kappa, 0, 1e6 },          { "theta", m->theta, 0, 1e6 },
        { "sigma", m->sigma, 0, 1e6 },          { "rho", m->rho, -1, 1 },
    };
    return shoal_check_bounds(ctx, all, sizeof all / sizeof *all);
}

shoal_status shoal_heston_check(shoal_context *ctx, const shoal_heston *model,
                                const shoal_heston_options *options, int64_t count) {
    if (!ctx) return SHOAL_E_ARG;
    const int none = count == 0;
    const shoal_array given[] = { { "model", model, 0 }, { "options", options, 0 } };
    shoal_status s = shoal_ready(ctx);
    if (s == SHOAL_OK) s = shoal_check_pointers(ctx, given, 2);
    if (s == SHOAL_OK) s = shoal_heston_check_model(ctx, model);
    if (s == SHOAL_OK) s = shoal_check_count(ctx, "count", count, 0, INT64_MAX / 4096);
    if (s != SHOAL_OK) return s;
    const shoal_array arrays[] = { { "strike", options->strike, none },
                                   { "maturity", options->maturity, none } };
    s = shoal_check_pointers(ctx, arrays, 2);
    for (int64_t i = 0; i < count && s == SHOAL_OK; i++) {
        const double rate = options->rate ? options->rate[i] : model->rate;
        const double dividend = options->dividend ? options->dividend[i] : model->dividend;
        const double growth = (fabs(rate) + fabs(dividend)) * options->maturity[i];
        if (!(options->strike[i] >= 0 && options->strike[i] <= 1e300))
            s = shoal_fail(ctx, SHOAL_E_ARG, "strike[%lld] is %g; it must be at least 0 and finite",
                           (long long)i, options->strike[i]);
        else if (!(options->maturity[i] >= 0 && options->maturity[i] <= 1e300))
            s = shoal_fail(ctx, SHOAL_E_ARG,
                           "maturity[%lld] is %g; it must be at least 0 and finite", (long long)i,
                           options->maturity[i]);
        else if (!(growth < 600))
            s = shoal_fail(ctx, SHOAL_E_ARG,
                           "rate %g or dividend %g of option %lld is too large for maturity %g",
                           rate, dividend, (long long)i, options->maturity[i]);
    }
    return s;
}

/* ---- prices and gradients of many options ----------------------------------------------------------- */

/* The integrals of an option; with `without`, their value alone: there is no integral. */
static void store(const shoal_heston *m, const contract *c, const double *total,
                  const shoal_price_value *without, double *price, shoal_heston *gradient) {
    const double value = without ? without->price : price_from(c, total);
    *price = value;
    if (!gradient) return;
    const double delta = without ? without->delta : delta_from(m, c, total);
    const double part = c->maturity * m->s0 * delta;
    /* without time or strike nothing of the variance counts; without variance one-sided derivatives may be infinite */
    const double none = c->maturity > 0 && c->strike > 0 ? NAN : 0;
    const double root = total ? -root_of(c) : none;
    const double *by = total ? total + HESTON_V0 : (const double[HESTON_SLOPES]){ 1, 1, 1, 1, 1 };
    *gradient = (shoal_heston){ .s0 = delta,
                                .rate = part - c->maturity * value,
                                .dividend = -part,
                                .v0 = root * by[0],
                                .kappa = root * by[1],
                                .theta = root * by[2],
                                .sigma = root * by[3],
                                .rho = root * by[4] };
}

typedef struct place { /* of an option, sorted by maturity */
    double maturity;
    int64_t i;
} place;

static int by_maturity(const void *a, const void *b) {
    const place *x = a, *y = b;
    if (x->maturity != y->maturity) return x->maturity < y->maturity ? -1 : 1;
    return x->i < y->i ? -1 : x->i > y->i;
}

int64_t *shoal_heston_order(const double *maturity, int64_t count) {
    int64_t *order = malloc((size_t)count * sizeof *order), sorted = 1;
    for (int64_t i = 0; order && i < count; i++) {
        order[i] = i;
        sorted &= i == 0 || maturity[i - 1] <= maturity[i];
    }
    if (!order || sorted) return order;
    place *places = malloc((size_t)count * sizeof *places);
    for (int64_t i = 0; places && i < count; i++) places[i] = (place){ maturity[i], i };
    if (places) qsort(places, (size_t)count, sizeof *places, by_maturity);
    for (int64_t i = 0; places && i < count; i++) order[i] = places[i].i;
    if (!places) free(order), order = NULL;
    free(places);
    return order;
}

static contract contract_at(const shoal_heston *m, const shoal_heston_options *o, int64_t i) {
    shoal_heston own = *m;
    if (o->rate) own.rate = o->rate[i];
    if (o->dividend) own.dividend = o->dividend[i];
    return contract_of(&own, o->strike[i], o->maturity[i], o->put && o->put[i]);
}

/* In the order of maturities, so that those of one maturity share their points. */
static shoal_status price_all(shoal_context *ctx, const shoal_heston *m,
                              const shoal_heston_options *o, const int64_t *order, int64_t count,
                              double *price, shoal_heston *gradient) {
    shoal_heston noisy = *m;
    trapezoids t = { .m = &noisy, .parts = gradient ? HESTON_ALL : HESTON_PARTS };
    shoal_status s = trapezoids_begin(ctx, &t);
    if (gradient) noisy.sigma = fmax(m->sigma, SIGMA_SLOPE);
    for (int64_t k = 0; k < count && s == SHOAL_OK; k++) {
        const int64_t i = order[k];
        if (shoal_is_cancelled(ctx, k, count)) break;
        const contract c = contract_at(m, o, i);
        if (k == 0 || c.maturity != t.maturity) t.maturity = c.maturity, t.levels = 0;
        shoal_price_value without = { 0 };
        double total[HESTON_ALL];
        const int exact = !is_random(m, &c), random = is_random(&noisy, &c);
        if (exact) without_noise(m, c.strike, c.forward, c.discount, c.maturity, c.put, &without);
        if (random) s = integrate(ctx, &t, &c, total);
        if (s == SHOAL_OK)
            store(m, &c, random ? total : NULL, exact ? &without : NULL, &price[i],
                  gradient ? &gradient[i] : NULL);
    }
    free(t.numbers);
    return s;
}

shoal_status shoal_heston_prices(shoal_context *ctx, const shoal_heston *model,
                                 const shoal_heston_options *options, int64_t count, double *price,
                                 shoal_heston *gradient) {
    shoal_status s = shoal_heston_check(ctx, model, options, count);
    const shoal_array given = { "price", price, count == 0 };
    if (s == SHOAL_OK) s = shoal_check_pointers(ctx, &given, 1);
    if (s != SHOAL_OK || count == 0) return s;
    int64_t *order = shoal_heston_order(options->maturity, count);
    if (!order) return SHOAL_NO_MEMORY(ctx, "%lld options", (long long)count);
    const shoal_stage stage = shoal_stage_begin(ctx, "prices");
    s = price_all(ctx, model, options, order, count, price, gradient);
    free(order);
    return shoal_stage_end(ctx, &stage, s);
}

/* ---- the bias of exact steps ------------------------------------------------------------------- */

#define BIAS_TOLERANCE 1e-9 /* of sqrt(F K), of a panel; 10 of them of what is left */

price_bias shoal_heston_bias(const shoal_context *ctx, const shoal_heston *m, const price_leg *legs,
                             int64_t count, double strike) {
    const price_leg *last = &legs[count - 1];
    problem p = { .method = method_of(ctx),
                  .m = m,
                  .parts = HESTON_PARTS,
                  .k = log(last->forward / strike),
                  .maturity = last->maturity,
                  .tolerance = BIAS_TOLERANCE,
                  .most = BIAS_POINTS,
                  .legs = legs,
                  .leg_count = count };
    price_bias bias = { 0 };
    p.nodes = nodes_in(p.numbers, PANEL_NODES);
    if (m->sigma < SIGMA_MIN || !(strike > 0) || !(total_of(m, last->maturity) > 0))
        return bias;                                 /* the steps are exact */
    double sum = 0, off = 0, left = 2, a = 0, b = 1; /* left: of the integral behind a */
    while (left > 10 * BIAS_TOLERANCE) {
        double here[HESTON_ALL] = { 0 };
        panel(&p, a, b, 0, here);
        if (p.failed) break;
        sum += here[0], off = p.off;
        left = size_of(&p, b) / b; /* both functions fall, and the integral of 1/q is 1/b */
        a = b, b *= 1.5;           /* wider panels may miss a wave by both rules */
    }
    const double root = last->discount * sqrt(last->forward * strike) / 3.14159265358979323846;
    bias.control = m->rho == 0 ? 0 : expm1(creal(exponent_of_steps(&p, 1)));
    bias.value = -root * sum;
    if (!last->put) bias.value += last->discount * last->forward * bias.control;
    /* the differences of large numbers in the exponent: about 1 / sigma */
    const double large = fabs(m->rho) / m->sigma * (m->v0 + m->kappa * m->theta * last->maturity);
    bias.slack = root * (left + off + 4e-16 * large);
    if (isfinite(bias.value + bias.control)) return bias;
    return (price_bias){ .slack = last->discount * (last->put ? strike : last->forward) };
}
