/* SPDX-License-Identifier: Apache-2.0
 *
 * heston_analytic.c - the semi-closed form of Heston's call and put, and the bias of exact steps.
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
 * d/dS brings a factor (1/2 + iu)/S, d2/dS2 -q/S^2, d/dv0 D: the four integrands are one loop.
 *
 * The integrands are analytic and even. With u = sinh(x) / 2, which takes the poles u = +- i/2 to
 * x = +- i pi/2, trapezoids of step s are off by about e^(-c/s), and halving s squares that: 65 points
 * for the example's price. phi at these points serves every strike of a maturity; what is left for a
 * strike is e^(iuk), in vectors (heston_sums.c). Where phi turns often before it dies away (rho near +-1, strikes far off) that
 * would take too many: then panels [0,1], [1,2], [2,4], ... are each halved until the rules of Gauss and
 * Kronrod, 7 and 15 points, agree to 1e-11 of the value's scale, or, if that takes too many points,
 * to 1e-9. The put is the call's by parity.
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
#include <stdlib.h>

SHOAL_DECLARE_CPU(heston_sums, heston_sums)
static const shoal_method sums_of_nodes = { .cpu = SHOAL_CPU_DOUBLE_CELLS(heston_sums) };

enum { PARTS = HESTON_PARTS };
enum { HALVINGS = 6, MOST_STEPS = 100 };     /* of trapezoids: of their step; of the first sum */
enum { DEPTH = 24, MOST_POINTS = 20000000 }; /* halvings of a panel; points of all    */
enum { DOUBLINGS = 60 };                     /* panels                                */
enum { BIAS_POINTS = 4000 };                 /* of a bias                             */

typedef struct problem {
    shoal_context *ctx; /* NULL: it is not cancelled                                 */
    const shoal_heston *m;
    double k, maturity;    /* k = log(F/K)                                       */
    double tolerance;      /* of a panel; it fails beyond 100 of them            */
    int64_t most;          /* points to evaluate                                 */
    const price_leg *legs; /* NULL: the price; otherwise the bias of these steps */
    int64_t leg_count;
    int64_t points; /* evaluated so far                                          */
    double off;     /* differences of both rules so far                          */
    int failed;     /* a panel did not converge                                  */
} problem;

/* A complex number. Products and quotients of C's own look for infinities, and take twice as long. */
typedef struct number {
    double re, im;
} number;

static inline number scaled(double s, number a) { return (number){ s * a.re, s * a.im }; }

static inline number over(number a, number b) {
    const double s = 1 / (b.re * b.re + b.im * b.im);
    return (number){ s * (a.re * b.re + a.im * b.im), s * (a.im * b.re - a.re * b.im) };
}

/* d; its square has a real part above 0. */
static inline number root_of(const shoal_heston *m, number beta, double u) {
    const double own = (1 - m->rho) * (1 + m->rho) * u * u; /* of q - rho^2 u^2 */
    const double x = beta.re * beta.re + m->sigma * m->sigma * (0.25 + own);
    const double y = 2 * beta.re * beta.im, a = sqrt(0.5 * (sqrt(x * x + y * y) + x));
    return (number){ a, 0.5 * y / a };
}

/* 1 - e^(-z) without loss for a small z. */
static inline number one_less_exp(number z) {
    const double fall = expm1(-z.re), s = sin(0.5 * z.im), c = cos(0.5 * z.im);
    return (number){ 2 * (1 + fall) * s * s - fall, 2 * (1 + fall) * s * c };
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

/* e^(iuk) phi(u - i/2), its absolute value, and D. */
static number phi_of(const shoal_heston *m, double maturity, double u, double k, double *size,
                     number *slope) {
    const double q = u * u + 0.25, square = m->sigma * m->sigma;
    const number beta = { m->kappa - 0.5 * m->rho * m->sigma, -m->rho * m->sigma * u };
    const number d = root_of(m, beta, u), sum = { beta.re + d.re, beta.im + d.im };
    const number h = over(scaled(0.5 * q, one_less_exp(scaled(maturity, d))), d);
    const number bend = scaled(-square, over(h, sum)), base = { 1 + bend.re, bend.im }; /* B */
    const number start = over((number){ -q, 0 }, sum);
    /* log(1 + B) without loss for a small B */
    const number log_base = { 0.5 * log1p(bend.re * (2 + bend.re) + bend.im * bend.im),
                              atan2(bend.im, base.re) };
    const double pull = m->kappa * m->theta, twice = 2 * pull / square;
    *slope = over(scaled(-1, h), base);
    const double level = pull * maturity * start.re - twice * log_base.re + m->v0 * slope->re;
    const double angle = pull * maturity * start.im - twice * log_base.im + m->v0 * slope->im;
    const double turn = angle + u * k;
    *size = exp(level);
    return (number){ *size * cos(turn), *size * sin(turn) };
}

/* The integrands at u: value, delta, gamma, vega, without their factors, or that of the bias; returns |phi|, or
 * the size of both functions. */
static double integrand(problem *p, double u, double out[PARTS]) {
    const double q = u * u + 0.25;
    double size;
    number slope;
    const number f = phi_of(p->m, p->maturity, u, p->k, &size, &slope);
    p->points++;
    if (p->legs) {
        const double complex steps = cexp(exponent_of_steps(p, 0.5 + I * u) + I * u * p->k);
        out[0] = (creal(steps) - f.re) / q;
        out[1] = cabs(steps) + size; /* for the difference of both rules */
        out[2] = out[3] = 0;
        return out[1];
    }
    out[0] = f.re / q;
    out[1] = (0.5 * f.re - u * f.im) / q;
    out[2] = f.re;
    out[3] = (f.re * slope.re - f.im * slope.im) / q;
    return size;
}

/* ---- trapezoids --------------------------------------------------------------------------------- */

/* Of one maturity, for all strikes. Level 0 begins at x = 0; level l > 0 has the points in the middle of those before
 * it. Each begins at a multiple of HESTON_LANES. */
typedef struct trapezoids {
    const shoal_heston *m;
    double maturity;
    const heston_sums *method;
    double *numbers; /* from malloc: those of the nodes */
    heston_nodes nodes;
    int64_t end[HALVINGS + 1]; /* of each level                       */
    int levels, points;        /* so far; of level 0, -1: too many    */
} trapezoids;

/* phi at u = sinh(x) / 2, times du/dx; returns its absolute value. */
static double add_node(trapezoids *t, double x) {
    const double e = exp(x), weight = 0.25 * (e + 1 / e), u = 0.25 * (e - 1 / e);
    const heston_nodes *n = &t->nodes;
    const int64_t i = t->end[t->levels]++;
    double size;
    number slope;
    const number f = phi_of(t->m, t->maturity, u, 0, &size, &slope);
    const double each = weight / (u * u + 0.25);
    n->u[i] = u, n->re[i] = each * f.re, n->im[i] = each * f.im;
    n->slope_re[i] = slope.re, n->slope_im[i] = slope.im;
    return weight * size;
}

static void add_level(trapezoids *t) {
    const int level = t->levels;
    const double step = ldexp(0.4, -level);
    t->end[level] = level ? t->end[level - 1] : 0;
    if (level == 0) {
        add_node(t, 0);
        t->nodes.re[0] *= 0.5, t->nodes.im[0] *= 0.5;
        for (t->points = 1; !(add_node(t, t->points * step) < 1e-16);)
            if (++t->points > MOST_STEPS) {
                t->points = -1;
                break;
            }
    } else
        for (int64_t i = 0; i < (int64_t)t->points << (level - 1); i++)
            add_node(t, 2 * (i + 0.5) * step);
    const heston_nodes *n = &t->nodes;
    for (; t->end[level] % HESTON_LANES; t->end[level]++) {
        const int64_t i = t->end[level];
        n->u[i] = n->re[i] = n->im[i] = n->slope_re[i] = n->slope_im[i] = 0;
    }
    t->levels++;
}

static shoal_status trapezoids_begin(shoal_context *ctx, trapezoids *t) {
    const int64_t room = (MOST_STEPS + HESTON_LANES) << HALVINGS;
    t->numbers = malloc(5 * (size_t)room * sizeof *t->numbers);
    if (!t->numbers) return shoal_fail(ctx, SHOAL_E_NOMEM, "no memory for the analytic prices");
    t->nodes = (heston_nodes){ t->numbers, t->numbers + room, t->numbers + 2 * room,
                               t->numbers + 3 * room, t->numbers + 4 * room };
    t->method = sums_of_nodes.cpu[SHOAL_F64][ctx->level];
    return SHOAL_OK;
}

/* By how much the sums, times their step, differ from the integrals before, which they replace; in parts of
 * the value's scale. */
static double update(double step, const double sums[PARTS], double total[PARTS]) {
    double change = 0;
    for (int k = 0; k < PARTS; k++) {
        const double now = step * sums[k], off = fabs(now - total[k]);
        if (!(off <= change)) change = off;
        total[k] = now;
    }
    return change / (1 + fabs(total[0]) + fabs(total[2]));
}

/* 1 if the integrals converge within HALVINGS. Of three sums in a row, the last is off by about
 * change (change / last)^2; change (change / last) bounds that with a wide margin. */
static int by_trapezoids(trapezoids *t, double k, double total[PARTS]) {
    double sums[PARTS] = { 0 }, last = INFINITY;
    for (int i = 0; i < PARTS; i++) total[i] = 0;
    for (int level = 0; level <= HALVINGS; level++) {
        if (level == t->levels) add_level(t);
        if (t->points < 0) return 0;
        t->method->add(&t->nodes, level ? t->end[level - 1] : 0, t->end[level], k, sums);
        const double change = update(ldexp(0.4, -level), sums, total);
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

/* The integrals over [a, b] by both rules. */
static void rules(problem *p, double a, double b, double fine[PARTS], double *difference) {
    const double middle = 0.5 * (a + b), half = 0.5 * (b - a);
    double coarse[PARTS] = { 0 };
    for (int k = 0; k < PARTS; k++) fine[k] = 0;
    for (int i = 0; i < 8; i++)
        for (int side = i == 7 ? 1 : -1; side <= 1; side += 2) {
            double f[PARTS];
            integrand(p, middle + side * half * nodes[i], f);
            for (int k = 0; k < PARTS; k++) {
                fine[k] += half * kronrod[i] * f[k];
                if (i % 2) coarse[k] += half * gauss[i / 2] * f[k];
            }
        }
    *difference = 0;
    for (int k = 0; k < PARTS; k++) {
        const double off = fabs(fine[k] - coarse[k]);
        if (!(off <= *difference)) *difference = off;
    }
}

/* Adds the integral over [a, b], halved until it is good. */
static void panel(problem *p, double a, double b, int depth, double total[PARTS]) {
    double here[PARTS], off;
    if (p->ctx && shoal_is_cancelled(p->ctx, 0, 1)) p->failed = 1;
    if (p->failed) return;
    rules(p, a, b, here, &off);
    /* the finer rule is better by far than the difference of both */
    const double scale = 1 + fabs(here[0]) + fabs(here[2]);
    if (off > p->tolerance * scale && depth < DEPTH && p->points < p->most) {
        panel(p, a, 0.5 * (a + b), depth + 1, total);
        panel(p, 0.5 * (a + b), b, depth + 1, total);
        return;
    }
    if (!(off <= 100 * p->tolerance * scale)) p->failed = 1;
    p->off += off;
    for (int k = 0; k < PARTS; k++) total[k] += here[k];
}

/* Gamma's integrand, Re phi, is the last to die away. */
static int by_panels(problem *p, double total[PARTS]) {
    double a = 0, b = 1, f[PARTS];
    for (int k = 0; k < PARTS; k++) total[k] = 0;
    for (int i = 0; i < DOUBLINGS && !p->failed; i++) {
        panel(p, a, b, 0, total);
        if (integrand(p, b, f) * b < 1e-16) return !p->failed;
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

static shoal_status price(shoal_context *ctx, trapezoids *t, double strike, int put,
                          shoal_price_value *value) {
    const shoal_heston *m = t->m;
    const double maturity = t->maturity, discount = exp(-m->rate * maturity);
    const double forward = m->s0 * exp((m->rate - m->dividend) * maturity);
    *value = (shoal_price_value){ 0 };
    const double mean = m->v0 * maturity + m->kappa * m->theta * maturity * maturity;
    if (m->sigma < 1e-12 || !(strike > 0) || !(maturity > 0) || !(mean > 0)) {
        without_noise(m, strike, forward, discount, maturity, put, value);
        return SHOAL_OK;
    }
    problem p = { .ctx = ctx,
                  .m = m,
                  .k = log(forward / strike),
                  .maturity = maturity,
                  .tolerance = 1e-11,
                  .most = MOST_POINTS };
    double total[PARTS];
    if (!by_trapezoids(t, p.k, total) && !by_panels(&p, total))
        return shoal_fail(
            ctx, SHOAL_E_ARG,
            "the integral of the analytic price does not converge: strike %g, maturity "
            "%g, v0 %g, sigma %g, rho %g",
            strike, maturity, m->v0, m->sigma, m->rho);
    const double root = discount * sqrt(forward * strike) / 3.14159265358979323846;
    const double growth = discount * forward / m->s0;
    const double call = discount * forward - root * total[0];
    value->price = put ? call - discount * (forward - strike) : call;
    if (value->price < 0) value->price = 0; /* far out of the money it may round below */
    value->delta = growth - root / m->s0 * total[1] - (put ? growth : 0);
    value->gamma = root / (m->s0 * m->s0) * total[2];
    value->vega = -root * total[3] * 2 * sqrt(m->v0);
    return SHOAL_OK;
}

shoal_status shoal_heston_analytic(const shoal_price *plan, const shoal_heston *model,
                                   shoal_price_value *values) {
    const int64_t strikes = plan->strike_count, contracts = plan->groups * strikes;
    shoal_context *ctx = plan->head.ctx;
    trapezoids t = { .m = model };
    shoal_status s = trapezoids_begin(ctx, &t);
    for (int64_t i = 0; i < contracts && s == SHOAL_OK; i++) {
        if (i % strikes == 0) t.maturity = plan->legs[i / strikes].maturity, t.levels = 0;
        if (!shoal_is_cancelled(ctx, i, contracts))
            s = price(ctx, &t, plan->strikes[i % strikes], plan->put, &values[i]);
    }
    free(t.numbers);
    return s;
}

/* ---- the bias of exact steps ------------------------------------------------------------------- */

#define BIAS_TOLERANCE 1e-9 /* of sqrt(F K), of a panel; 10 of them of what is left */

price_bias shoal_heston_bias(const shoal_heston *m, const price_leg *legs, int64_t count,
                             double strike) {
    const price_leg *last = &legs[count - 1];
    problem p = { .m = m,
                  .k = log(last->forward / strike),
                  .maturity = last->maturity,
                  .tolerance = BIAS_TOLERANCE,
                  .most = BIAS_POINTS,
                  .legs = legs,
                  .leg_count = count };
    const double mean =
        m->v0 * last->maturity + m->kappa * m->theta * last->maturity * last->maturity;
    price_bias bias = { 0 };
    if (m->sigma < 1e-12 || !(strike > 0) || !(mean > 0)) return bias; /* the steps are exact */
    double sum = 0, off = 0, left = 2, a = 0, b = 1; /* left: of the integral behind a */
    while (left > 10 * BIAS_TOLERANCE) {
        double here[PARTS] = { 0 }, end[PARTS];
        panel(&p, a, b, 0, here);
        if (p.failed) break;
        sum += here[0], off = p.off;
        left = integrand(&p, b, end) / b; /* both functions fall, and the integral of 1/q is 1/b */
        a = b, b *= 1.5;                  /* wider panels may miss a wave by both rules */
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
