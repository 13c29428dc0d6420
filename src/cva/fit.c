/* SPDX-License-Identifier: Apache-2.0
 *
 * fit.c - the paths that an exercise rule is fitted on, backwards by Brownian bridges:
 *
 *     B(t_i) = (t_i / t_(i+1)) B(t_(i+1)) + sqrt(t_i (t_(i+1) - t_i) / t_(i+1)) L Z,
 *
 * (between knots: of B(t) - B(knot), from the knot on) in blocks of CVA_FIT_LANES. Z are scrambled points of Sobol's
 * sequence (rng/sobol.h), as normals: a rule needs conditional means over all paths, and these are sums over the
 * points.
 *
 * At a date: the paths move there, and the moments of the variables are taken; the sums of the regressions out of the
 * money and in the money; the decision by the rule that is made of them. What is regressed is the cash flow of going
 * on, discounted, on the functions of the prices and on the functions of the hedge times the gains over the next step:
 * these have the mean 0, and take most of the noise. Always in f64 and on the CPU: a rule has the same bits on every
 * backend, and on every instruction level that has a fused multiply-add.
 */
#define CVA_WIDTH 256
#include "core/vec.h"
#include "cva/walk.h"

static double folded(double *sum, int lanes) {
    for (int distance = lanes / 2; distance > 0; distance /= 2)
        for (int l = 0; l < distance; l++) sum[l] += sum[l + distance];
    return sum[0];
}

enum { SUM_LANES = 16 };
static double product_sum(const double *u, const double *v) {
    double sum[SUM_LANES] = { 0 };
    for (int first = 0; first < CVA_WIDTH; first += SUM_LANES)
        EACH(l, SUM_LANES) sum[l] = fma(u[first + l], v[first + l], sum[l]);
    return folded(sum, SUM_LANES);
}

/* to += the products of all pairs of rows, each with those up to itself, but the last square. Chains of additions:
 * CHAINS per product, those of TALL x WIDE products side by side. Rows of zeros follow, as many as WIDE + TALL. */
enum { CHAINS = 8, TALL = 3, WIDE = 4 };
static void add_products(const double (*row)[CVA_WIDTH], int rows, int lanes, double *to) {
    const int numbers = rows * (rows + 1) / 2 - 1;
    for (int i = 0; i < rows; i += TALL)
        for (int j = 0; j < i + TALL; j += WIDE) {
            double sum[TALL][WIDE][CHAINS];
            for (int chain = 0; chain < CHAINS; chain += VEC) {
                vec s[TALL][WIDE] = { { { 0 } } };
                for (int l = chain; l < lanes; l += CHAINS)
                    UNROLLED_4 for (int r = 0; r < TALL; r++) {
                        const vec u = vec_load(row[i + r] + l);
                        UNROLLED_4 for (int q = 0; q < WIDE; q++) s[r][q] =
                            vec_fma(u, vec_load(row[j + q] + l), s[r][q]);
                    }
                for (int r = 0; r < TALL; r++)
                    for (int q = 0; q < WIDE; q++) vec_store(sum[r][q] + chain, s[r][q]);
            }
            for (int r = 0; r < TALL; r++)
                for (int q = 0; q < WIDE; q++) {
                    const int at = (i + r) * (i + r + 1) / 2 + j + q;
                    if (j + q <= i + r && at < numbers) to[at] += folded(sum[r][q], CHAINS);
                }
        }
}

/* ---- random numbers ---------------------------------------------------------------------------- */

/* Coordinate `number` of the points of a block, as normals. A point's word is linear in the bits of the Gray code of
 * its index: that of the block's first point, and what the place in the block adds. */
static void sobol_normals(const cva_fit *f, int64_t block, int64_t number, double *z) {
    const uint32_t *v = f->directions + number * SHOAL_SOBOL_BITS;
    const uint64_t shift = f->shift[number];
    const uint32_t first = shoal_sobol_word(v, (uint32_t)(block * CVA_WIDTH));
    uint64_t point[CVA_WIDTH];
    int good[CVA_WIDTH];
    for (uint32_t l = 0; l < CVA_WIDTH; l++) {
        const uint32_t gray = l ^ l >> 1;
        uint32_t word = first;
        for (uint32_t j = 0; 1u << j < CVA_WIDTH; j++) word ^= v[j] & (0u - (gray >> j & 1u));
        point[l] = (uint64_t)word << 32 ^ shift;
    }
    EACH(l, CVA_WIDTH) good[l] = shoal_icdf_middle(point[l], &z[l]);
    for (int l = 0; l < CVA_WIDTH; l++)
        if (!good[l]) z[l] = shoal_icdf_of(point[l]);
}

/* at += L Z of a step of the paths. The coordinates of Sobol's points are taken in the order of the steps: the first
 * ones say where a path ends. Once they are used up, Z is random. */
static void add_normals(const cva_fit *f, int64_t block, int64_t step, cva_span span, double keep,
                        double flat, double *at) {
    const int assets = f->job.assets;
    double z[CVA_NORMALS][CVA_WIDTH];
    for (int b = 0; b < assets; b++) {
        const int64_t number = step * assets + b;
        if (number < f->dimensions)
            sobol_normals(f, block, number, z[b % CVA_NORMALS]);
        else if (b % CVA_NORMALS == 0 || number == f->dimensions)
            cva_draw(&f->job.walk_normals, (uint32_t)(step * cva_blocks(&f->job) + b / CVA_NORMALS),
                     (uint64_t)block * CVA_WIDTH, z);
        cva_add_normal(&f->job, assets, b, z[b % CVA_NORMALS], span, keep, flat, at);
    }
}

/* ---- a date ------------------------------------------------------------------------------------ */

/* The last knot up to date i, or 0. */
static int64_t last_knot(const cva_job *job, int64_t i) {
    int64_t at = 0;
    for (int64_t n = 0; n < job->knots && job->knot[n] <= i; n++) at = job->knot[n];
    return at;
}

/* `at` there, from the normals of all segments before it; it changes only from segment to segment. */
static void make_base(const cva_fit *f, int64_t block, int64_t i, double *base) {
    const cva_job *job = &f->job;
    if (i < f->c.last && last_knot(job, i) == last_knot(job, i + 1)) return;
    int64_t from = 0;
    memset(base, 0, (size_t)job->assets * CVA_WIDTH * sizeof *base);
    for (int64_t n = 0; n < job->knots && job->knot[n] <= i; from = job->knot[n++])
        add_normals(f, block, f->c.last + 1 + n, cva_between(job, from, job->knot[n]), 1, 0, base);
}

static void move_block(const cva_fit *f, int64_t block, int64_t i) {
    const cva_job *job = &f->job;
    const int64_t numbers = (int64_t)job->assets * CVA_WIDTH;
    const int begins = i == f->c.last;
    const int64_t knot = last_knot(job, i);
    const double start = cva_time(job, knot), t = cva_time(job, i) - start;
    const double next = begins ? 0 : cva_time(job, i + 1) - start;
    const double keep = begins ? 0 : t / next;
    const double noise = begins ? sqrt(t) : sqrt(t * (next - t) / next);
    const cva_span span = begins ? cva_between(job, knot, i) : cva_between(job, i, i + 1);
    double *at = f->at + block * numbers, *base = f->base + block * numbers;
    if (job->knots) {
        make_base(f, block, i, base);
        EACH(e, numbers) at[e] = begins ? base[e] : fma(keep, at[e] - base[e], base[e]);
    } else
        EACH(e, numbers) at[e] *= keep;
    add_normals(f, block, f->c.last - i, span, begins ? 1 : keep, noise, at);
    cva_make_prices(job, job->assets, job->s0, cva_between(job, 0, i), at,
                    f->prices[i % 2] + block * numbers);
}

/* Paths, and the sums of the variables and of their squares, in each region. */
static void add_moments(const cva_fit *f, const cva_lanes *w, double *to) {
    const int v = f->rule.basis.variables;
    double in[CVA_WIDTH], out[CVA_WIDTH];
    EACH(l, CVA_WIDTH) in[l] = shoal_pick(w->gain[l] > 0, 1, 0), out[l] = 1 - in[l];
    const double *member[2] = { out, in };
    for (int region = 0; region < 2; region++) {
        *to++ = product_sum(member[region], member[region]);
        for (int j = 0; j < v; j++) {
            double x[CVA_WIDTH];
            EACH(l, CVA_WIDTH) x[l] = member[region][l] * w->u[j][l];
            *to++ = product_sum(member[region], x);
            *to++ = product_sum(x, x);
        }
    }
}

static void visit(const shoal_context *ctx, const cva_fit *f, int64_t i) {
    const cva_job *job = &f->job;
    const int64_t numbers = (int64_t)job->assets * CVA_WIDTH;
    const int64_t moments = 2 * (1 + 2 * f->rule.basis.variables);
    const double discount = i < f->c.last ? cva_discount_over(job, cva_between(job, i, i + 1)) : 0;
    ON_THREADS(ctx->threads, static)
    for (int64_t block = 0; block < f->blocks; block++) {
        cva_lanes w;
        double *cash = f->cash + block * CVA_WIDTH;
        move_block(f, block, i);
        cva_make_variables(&f->c, &f->rule.basis, i, f->prices[i % 2] + block * numbers, &w);
        if (i < f->c.last) {
            EACH(l, CVA_WIDTH) cash[l] *= discount;
            add_moments(f, &w, f->moments + block * moments);
        } else
            EACH(l, CVA_WIDTH) cash[l] = shoal_pick(w.gain[l] > 0, w.gain[l], 0);
    }
}

/* The gains of the directions over the next step, discounted to date i. */
static void make_gains(const cva_fit *f, int64_t block, int64_t i, const cva_lanes *w,
                       double (*gain)[CVA_WIDTH]) {
    const cva_job *job = &f->job;
    const cva_basis *b = &f->rule.basis;
    const int64_t numbers = (int64_t)job->assets * CVA_WIDTH;
    const double *now = f->prices[i % 2] + block * numbers;
    const double *then = f->prices[(i + 1) % 2] + block * numbers;
    const cva_span step = cva_between(job, i, i + 1);
    for (int j = 0; j < b->directions; j++) EACH(l, CVA_WIDTH) gain[j][l] = 0;
    for (int a = 0; a < job->assets; a++, now += CVA_WIDTH, then += CVA_WIDTH) {
        const double back = shoal_exp(-cva_growth(job, step, a));
        const double weight = b->kind == CVA_BASKET ? f->c.weight[a] : 1;
        for (int j = 0; j < b->directions; j++) EACH(l, CVA_WIDTH) {
                const double moved = weight * fma(back, then[l], -now[l]);
                const int mine = (b->kind == CVA_BASKET) | (w->rank[j][l] == (double)a);
                gain[j][l] += shoal_pick(mine, moved, 0);
            }
    }
}

/* The variables, functions and gains of a block's paths. */
static void look_at_block(const cva_fit *f, int64_t block, int64_t i, cva_lanes *w,
                          double (*gain)[CVA_WIDTH]) {
    const int64_t numbers = (int64_t)f->job.assets * CVA_WIDTH;
    cva_make_variables(&f->c, &f->rule.basis, i, f->prices[i % 2] + block * numbers, w);
    cva_make_psi(&f->rule, i, w);
    make_gains(f, block, i, w, gain);
}

/* What is regressed on: behind the functions those of the hedge times the gains. */
static void make_hedges(const cva_basis *b, const double (*gain)[CVA_WIDTH], int lanes,
                        double (*column)[CVA_WIDTH]) {
    double(*to)[CVA_WIDTH] = column + b->functions;
    for (int j = 0; j < b->directions; j++)
        for (int m = 0; m < b->hedges; m++, to++) {
            const double *psi = column[b->hedge[m]];
            EACH(l, lanes)(*to)[l] = psi[l] * gain[j][l];
        }
}

/* Of rows of numbers those of so many paths, filled with zeros up to `lanes`. */
static void take(const double (*from)[CVA_WIDTH], int rows, const int *path, int paths, int lanes,
                 double (*to)[CVA_WIDTH]) {
    for (int n = 0; n < rows; n++) {
        EACH(l, paths) to[n][l] = from[n][path[l]];
        for (int l = paths; l < lanes; l++) to[n][l] = 0;
    }
}

/* The regressions of each region, on its paths alone. */
static void sum_block(const cva_fit *f, int64_t block, int64_t i, double *to) {
    const cva_basis *b = &f->rule.basis;
    const int columns = cva_columns(b);
    const double(*cash)[CVA_WIDTH] = (const double(*)[CVA_WIDTH])f->cash + block;
    double column[CVA_COLUMNS + 1 + TALL + WIDE][CVA_WIDTH];
    double gain[CVA_DIRECTIONS][CVA_WIDTH], mine[CVA_DIRECTIONS][CVA_WIDTH];
    cva_lanes w;
    look_at_block(f, block, i, &w, gain);
    memset(column + columns + 1, 0, (TALL + WIDE) * sizeof *column);
    for (int region = 0; region < 2; region++, to += cva_gram_numbers(columns)) {
        int path[CVA_WIDTH], paths = 0;
        for (int l = 0; l < CVA_WIDTH; l++) path[paths] = l, paths += (w.gain[l] > 0) == region;
        const int lanes = (paths + CHAINS - 1) / CHAINS * CHAINS;
        take((const double(*)[CVA_WIDTH])w.psi, b->functions, path, paths, lanes, column);
        take((const double(*)[CVA_WIDTH])gain, b->directions, path, paths, lanes, mine);
        take(cash, 1, path, paths, lanes, column + columns);
        make_hedges(b, (const double(*)[CVA_WIDTH])mine, lanes, column);
        add_products((const double(*)[CVA_WIDTH])column, columns + 1, lanes, to);
    }
}

static void sum(const shoal_context *ctx, const cva_fit *f, int64_t i) {
    const int64_t numbers = 2 * cva_gram_numbers(cva_columns(&f->rule.basis));
    const int64_t tasks = (f->blocks + CVA_FIT_TASK - 1) / CVA_FIT_TASK;
    ON_THREADS(ctx->threads, static)
    for (int64_t task = 0; task < tasks; task++) {
        const int64_t end = (task + 1) * CVA_FIT_TASK;
        memset(f->gram + task * numbers, 0, (size_t)numbers * sizeof *f->gram);
        for (int64_t block = task * CVA_FIT_TASK; block < end && block < f->blocks; block++)
            if (!shoal_is_cancelled(ctx, task, tasks / ctx->threads + 1))
                sum_block(f, block, i, f->gram + task * numbers);
    }
}

static void settle_block(const cva_fit *f, int64_t block, int64_t i) {
    const cva_basis *b = &f->rule.basis;
    double *cash = f->cash + block * CVA_WIDTH;
    cva_lanes w;
    double column[CVA_COLUMNS][CVA_WIDTH], gain[CVA_DIRECTIONS][CVA_WIDTH];
    look_at_block(f, block, i, &w, gain);
    memcpy(column, w.psi, (size_t)b->functions * sizeof *column);
    make_hedges(b, (const double(*)[CVA_WIDTH])gain, CVA_WIDTH, column);
    cva_make_hold(&f->rule, i, &w);
    const double *out = cva_numbers_of(&f->rule, i, 0) + 2 * b->variables;
    const double *in = cva_numbers_of(&f->rule, i, 1) + 2 * b->variables;
    for (int n = b->functions; n < cva_columns(b); n++) EACH(l, CVA_WIDTH)
    cash[l] = fma(-shoal_pick(w.gain[l] > 0, in[n], out[n]), column[n][l], cash[l]);
    if (f->c.may[i - 1]) EACH(l, CVA_WIDTH)
    cash[l] = shoal_pick((w.gain[l] > 0) & (w.gain[l] >= w.hold[l]), w.gain[l], cash[l]);
}

static void settle(const shoal_context *ctx, const cva_fit *f, int64_t i) {
    ON_THREADS(ctx->threads, static)
    for (int64_t block = 0; block < f->blocks; block++) settle_block(f, block, i);
}

const cva_fitter R(cva_fitter) = { .visit = visit, .sum = sum, .settle = settle };
