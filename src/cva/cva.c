/* SPDX-License-Identifier: Apache-2.0
 *
 * cva.c - outer paths of correlated assets and the values of European contracts along them, on
 * the CPU.
 *
 * An outer path is exact: from date to date each asset's Brownian motion gets sqrt(dt) L Z, and
 *
 *     S_t = S_0 e^((r - q - sigma^2 / 2) t + sigma B_t).
 *
 * With tau years left and F = S e^((r - q) tau) a forward is worth e^(-r tau) (B(F) - K), B the
 * basket, a call or put e^(-r tau) times Black's formula. Other European contracts, or all on
 * demand, are means over inner paths, which go to maturity in one step,
 *
 *     S_T = S_t e^((r - q - sigma^2 / 2) tau + sigma sqrt(tau) L Z),
 *
 * with one Z for all contracts of an outer path and date: what is bought and sold nets exactly.
 *
 * Threads share the outer paths; inner paths are lanes, CVA_LANES at a time. A block of Philox
 * makes two normals (f32: four). An inner path costs half a Philox block and one exponential per
 * asset, and one more exponential per asset for each additional maturity.
 */
#include "american/american.h"
#include "cva/plan.h"
#include "pricing/black.h"
#include "pricing/lanes.h"

static double load(const cva_job *job, int a, int b) { return job->load[a * (a + 1) / 2 + b]; }

static double drift(const cva_job *job, int a) {
    return job->rate - job->dividend[a] - 0.5 * job->sigma[a] * job->sigma[a];
}

/* ---- outer paths ------------------------------------------------------------------------------ */

static void move_path(const cva_job *job, int64_t path, int64_t k) {
    const int d = job->assets, pairs = (d + 1) / 2;
    const double t = cva_time(job, k), step = sqrt(job->dt);
    double *brownian = job->brownian + path * d, *spot = job->spot + path * d;
    double z[SHOAL_CVA_ASSETS + 1];
    shoal_stream s = job->outer_normals;
    for (int pair = 0; pair < pairs; pair++) {
        s.step = (uint32_t)((k - 1) * pairs + pair);
        const shoal_words w = shoal_block(&s, job->first + (uint64_t)path, 0);
        const shoal_normals normals = shoal_normal_pair(&w);
        z[2 * pair] = normals.z[0], z[2 * pair + 1] = normals.z[1];
    }
    for (int a = 0; a < d; a++) {
        double g = 0;
        for (int b = 0; b <= a; b++) g = fma(load(job, a, b), z[b], g);
        brownian[a] = fma(step, g, brownian[a]);
        spot[a] = job->s0[a] * shoal_exp(fma(job->sigma[a], brownian[a], drift(job, a) * t));
    }
}

static void move(const shoal_context *ctx, const cva_job *job, int64_t k) {
    ON_THREADS(ctx->threads, static)
    for (int64_t path = 0; path < job->paths; path++) move_path(job, path, k);
}

/* ---- closed forms ----------------------------------------------------------------------------- */

/* What is paid where `all` is the price, the largest, or the sum, of the contract's assets. */
static inline real pay(int payoff, real strike, real all) {
    const int down = payoff == SHOAL_CVA_PUT || payoff == SHOAL_CVA_BASKET_PUT;
    const real gain = down ? strike - all : all - strike;
    return real_pick(gain > 0 || payoff == SHOAL_CVA_FORWARD, gain, 0);
}

static double closed_value(const cva_job *job, const cva_contract *c, const double *spot,
                           double left) {
    if (left == 0) return cva_pay(c, spot);
    const double discount = shoal_exp(-job->rate * left);
    double forward = 0;
    for (int i = 0; i < c->assets; i++) {
        const int64_t a = c->asset[i];
        const double weight = c->payoff >= SHOAL_CVA_BASKET_PUT ? c->weight[i] : 1;
        forward = fma(weight * spot[a], shoal_exp((job->rate - job->dividend[a]) * left), forward);
    }
    if (c->payoff == SHOAL_CVA_FORWARD) return discount * (forward - c->strike);
    const int put = c->payoff == SHOAL_CVA_PUT || c->payoff == SHOAL_CVA_BASKET_PUT;
    return discount * black_value(forward, c->strike, job->sigma[c->asset[0]] * sqrt(left), put);
}

static void value(const shoal_context *ctx, const cva_job *job, int64_t k) {
    ON_THREADS(ctx->threads, static)
    for (int64_t path = 0; path < job->paths; path++) {
        const double *spot = job->spot + path * job->assets;
        double *to = job->value + path * CVA_LEVELS * job->sets;
        memset(to, 0, (size_t)job->sets * CVA_LEVELS * sizeof *to);
        for (int64_t i = 0; i < job->contracts; i++) {
            const cva_contract *c = &job->contract[i];
            const double left = cva_left(job, c, k);
            if (c->kind != CVA_CLOSED || left < 0) continue;
            const double worth = c->quantity * closed_value(job, c, spot, left);
            to[c->set] += worth, to[job->sets + c->set] += worth;
        }
    }
}

/* ---- rules of exercise ------------------------------------------------------------------------ */

/* As walk() of american/lanes.h decides: at least as much as going on is worth by the rule. */
static int exercises(const american_job *rule, const real *factors, const american_range *range,
                     const cva_contract *c, const double *spot) {
    const american_basis *basis = &rule->basis;
    const double gain = cva_pay(c, spot);
    real psi[SHOAL_AMERICAN_BASIS], hold = factors[0];
    if (!(gain > 0)) return 0;
    psi[0] = 1;
    for (int a = 0; a < basis->assets; a++)
        psi[1 + a] = (real)((spot[c->asset[a]] - range[a].center) * range[a].inverse);
    for (int n = 1 + basis->assets; n < basis->monomials; n++)
        psi[n] = psi[basis->from[n]] * psi[1 + basis->asset[n]];
    if (basis->functions > basis->monomials)
        psi[basis->functions - 1] = american_payoff_factor(rule, 0) * (real)gain;
    for (int n = 1; n < basis->functions; n++) hold = real_fma(factors[n], psi[n], hold);
    return (real)gain >= hold;
}

static void decide(const shoal_context *ctx, const cva_job *job, const cva_contract *c, int64_t k,
                   char *now) {
    const american_job *rule = c->rule;
    const real *factors = (const real *)rule->rule + american_rule_at(rule, 0, (int)k);
    american_range range[SHOAL_AMERICAN_ASSETS];
    for (int a = 0; a < rule->basis.assets; a++) range[a] = american_range_of(rule, 0, a, (int)k);
    ON_THREADS(ctx->threads, static)
    for (int64_t path = 0; path < job->paths; path++)
        now[path] = (char)exercises(rule, factors, range, c, job->spot + path * job->assets);
}

/* ---- inner paths ------------------------------------------------------------------------------ */

typedef struct lanes {
    uint32_t w[4 * CVA_LANES];
    real z[SHOAL_CVA_ASSETS + BLOCK_NORMALS - 1][CVA_LANES]; /* independent, then L z            */
    real s[SHOAL_CVA_ASSETS][CVA_LANES];                     /* prices at one maturity           */
    char made[SHOAL_CVA_ASSETS];                             /* which of them                    */
    real all[CVA_LANES];
} lanes;

static void make_normals(const cva_job *job, int64_t k, uint64_t first, lanes *b) {
    const int blocks = (job->assets + BLOCK_NORMALS - 1) / BLOCK_NORMALS;
    for (int n = 0; n < blocks; n++) {
        real(*z)[CVA_LANES] = b->z + n * BLOCK_NORMALS;
        lanes_words(&job->inner_normals, (uint32_t)((k - 1) * blocks + n), first, CVA_LANES, b->w);
        for (int e = 0; e < BLOCK_NORMALS; e += 2)
            lanes_normals(b->w, e / 2, CVA_LANES, z[e], z[e + 1]);
    }
    for (int a = job->assets - 1; a >= 0; a--) { /* the rows above are still independent */
        const real own = (real)load(job, a, a);
        EACH(i, CVA_LANES) b->z[a][i] *= own;
        for (int from = 0; from < a; from++) {
            const real factor = (real)load(job, a, from);
            EACH(i, CVA_LANES) b->z[a][i] = real_fma(factor, b->z[from][i], b->z[a][i]);
        }
    }
}

/* The prices of an asset after `left` years. */
static const real *price_of(const cva_job *job, const double *spot, double left, int64_t a,
                            lanes *b) {
    if (!b->made[a]) {
        const real start = (real)spot[a], shift = (real)(drift(job, (int)a) * left);
        const real noise = (real)(job->sigma[a] * sqrt(left));
        EACH(i, CVA_LANES)
        b->s[a][i] = start * real_exp(real_fma(noise, b->z[a][i], shift));
        b->made[a] = 1;
    }
    return b->s[a];
}

static void gather(const cva_job *job, const cva_contract *c, const double *spot, double left,
                   lanes *b) {
    const int sum = c->payoff >= SHOAL_CVA_BASKET_PUT;
    for (int n = 0; n < c->assets; n++) {
        const real *s = price_of(job, spot, left, c->asset[n], b);
        const real weight = sum ? (real)c->weight[n] : 1;
        if (n == 0)
            EACH(i, CVA_LANES) b->all[i] = weight * s[i];
        else if (sum)
            EACH(i, CVA_LANES) b->all[i] = real_fma(weight, s[i], b->all[i]);
        else
            EACH(i, CVA_LANES) b->all[i] = real_pick(s[i] > b->all[i], s[i], b->all[i]);
    }
    const real strike = (real)c->strike;
    EACH(i, CVA_LANES) b->all[i] = pay(c->payoff, strike, b->all[i]);
}

/* Adds a block of inner paths, from number `from` on, to the sums [contract][level]. */
static void add_lanes(const cva_job *job, int64_t k, int64_t path, int64_t from, lanes *b,
                      double *sums) {
    const double *spot = job->spot + path * job->assets;
    const int64_t ends[CVA_LEVELS] = { job->inner[k - 1], job->inner[k - 1] / 2 };
    double made_for = -1;
    make_normals(job, k, ((job->first + (uint64_t)path) << CVA_INNER_BITS) + (uint64_t)from, b);
    for (int64_t i = 0; i < job->contracts; i++) {
        const cva_contract *c = &job->contract[i];
        const double left = cva_left(job, c, k);
        if (c->kind != CVA_NESTED || !(left > 0)) continue;
        if (left != made_for) memset(b->made, 0, sizeof b->made);
        made_for = left;
        gather(job, c, spot, left, b);
        for (int level = 0; level < CVA_LEVELS; level++) {
            const int64_t here = ends[level] - from < CVA_LANES ? ends[level] - from : CVA_LANES;
            double sum = 0;
            for (int64_t lane = 0; lane < here; lane++) sum += (double)b->all[lane];
            sums[i * CVA_LEVELS + level] += sum;
        }
    }
}

static void nest_path(const cva_job *job, int64_t k, int64_t path, lanes *b, double *sums) {
    const double *spot = job->spot + path * job->assets;
    double *to = job->value + path * CVA_LEVELS * job->sets;
    const int64_t inner = job->inner[k - 1];
    memset(sums, 0, (size_t)job->contracts * CVA_LEVELS * sizeof *sums);
    for (int64_t from = 0; from < inner; from += CVA_LANES) add_lanes(job, k, path, from, b, sums);
    for (int64_t i = 0; i < job->contracts; i++) {
        const cva_contract *c = &job->contract[i];
        const double left = cva_left(job, c, k);
        if (c->kind != CVA_NESTED || left < 0) continue;
        const double discount = shoal_exp(-job->rate * left);
        for (int level = 0; level < CVA_LEVELS; level++) {
            const double paths = (double)(level == CVA_ALL ? inner : inner / 2);
            const double worth =
                left > 0 ? discount * (sums[i * CVA_LEVELS + level] / paths) : cva_pay(c, spot);
            to[level * job->sets + c->set] += c->quantity * worth;
        }
    }
}

static void nest(const shoal_context *ctx, const cva_job *job, int64_t k) {
    ON_THREADS(ctx->threads, dynamic)
    for (int64_t task = 0; task < (job->paths + CVA_TASK - 1) / CVA_TASK; task++) {
        lanes b;
        const int64_t end = (task + 1) * CVA_TASK < job->paths ? (task + 1) * CVA_TASK : job->paths;
        for (int64_t path = task * CVA_TASK; path < end; path++)
            nest_path(job, k, path, &b, job->sums + task * job->contracts * CVA_LEVELS);
    }
}

const cva_method R(cva_paths) = { .move = move, .value = value, .nest = nest, .decide = decide };
