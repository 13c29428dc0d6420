/* SPDX-License-Identifier: Apache-2.0
 *
 * pde.c - bullet options by Crank and Nicolson's scheme on the CPU: threads share the pairs of
 * an option and a count, whose grid line of nx numbers stays in the first cache for all time
 * steps from one date back to the one before. A system costs 4 operations per node for the
 * right-hand side, and 4 (thomas, n dependent steps each way) or 2 per level and 1 (pcr,
 * vectorised).
 */
#include "core/loops.h"
#include "models/pde.h"
#include <string.h>

enum { MAX_NX = 8192 };

#ifdef __clang__
#define EACH_NODE(i, from, to) for (int64_t i = (from); i < (to); i++)
#else
#define EACH_NODE(i, from, to) INDEPENDENT for (int64_t i = (from); i < (to); i++)
#endif

/* now_1 .. now_n += the solution for d_1 .. d_n; index 0 and n + 1 are not touched. */
static void thomas(const real *table, int64_t n, real *d, real *now) {
    const real *l = table, *c = table + n, *r = table + 2 * n;
    real y = 0;
    for (int64_t i = 0; i < n; i++) {
        y = real_fma(l[i], y, r[i] * d[i + 1]);
        d[i + 1] = y;
    }
    real z = 0;
    for (int64_t i = n - 1; i >= 0; i--) {
        z = real_fma(c[i], z, d[i + 1]);
        now[i + 1] += z;
    }
}

/* The same by cyclic reduction; `other` is room for as many. */
static void pcr(const real *table, int levels, int64_t n, real *d, real *other, real *now) {
    for (int level = 0; level < levels; level++) {
        const real *l = table + 2 * level * n, *c = l + n, *from = d + 1;
        const int64_t h = (int64_t)1 << level;
        const int64_t low = h < n ? h : n, high = n - h > low ? n - h : low;
        real *to = other + 1;
        EACH_NODE(i, 0, low) to[i] = i + h < n ? real_fma(c[i], from[i + h], from[i]) : from[i];
        EACH_NODE(i, low, high)
        to[i] = real_fma(l[i], from[i - h], real_fma(c[i], from[i + h], from[i]));
        EACH_NODE(i, high, n) to[i] = i >= h ? real_fma(l[i], from[i - h], from[i]) : from[i];
        real *done = other;
        other = d;
        d = done;
    }
    const real *r = table + 2 * levels * n;
    EACH_NODE(i, 0, n) now[i + 1] = real_fma(r[i], d[i + 1], now[i + 1]);
}

static void run_line(const shoal_context *ctx, const pde_job *job, int64_t line) {
    const int64_t option = line / job->counts, j = line % job->counts;
    const pde_option *o = &job->option[option];
    const int64_t nx = job->nx, n = nx - 2;
    const real *u = (const real *)job->from + line * nx;
    const real *above = j + 1 < job->counts ? u + nx : NULL;
    const real *shares = (const real *)job->shares + o->shares;
    const real *table = (const real *)job->table + o->table;
    const double *growth = job->growth + o->growth, later = pde_later(o, job->after);
    real now[MAX_NX], right[MAX_NX], other[MAX_NX];
    if (job->counted)
        EACH_NODE(i, 0, nx) now[i] = pde_jump(shares[i], u, above, i);
    else
        memcpy(now, u, (size_t)nx * sizeof(real));
    now[nx - 1] = (real)pde_upper(o, j, job->left, later);
    for (int64_t k = 1; k <= job->solves; k++) {
        if (shoal_is_cancelled(ctx, line, job->options * job->counts)) return;
        const double times = pde_times(job, k);
        const real up = (real)(times * o->n.up), down = (real)(times * o->n.down);
        const real upper = (real)pde_upper(o, j, job->left, later * growth[k]);
        EACH_NODE(i, 1, nx - 1) right[i] = pde_right(up, down, now, i);
        right[n] = real_fma((real)o->n.up, upper - now[nx - 1], right[n]);
        if (job->solver == PDE_THOMAS)
            thomas(table, n, right, now);
        else
            pcr(table, o->levels, n, right, other, now);
        now[nx - 1] = upper;
    }
    memcpy((real *)job->into + line * nx, now, (size_t)nx * sizeof(real));
    if (job->surface)
        memcpy((real *)job->surface + option * job->surface_stride +
                   (job->to * job->counts + j) * nx,
               now, (size_t)nx * sizeof(real));
}

static shoal_status interval(shoal_context *ctx, const pde_job *job) {
    const int64_t lines = job->options * job->counts;
    ON_THREADS(ctx->threads, dynamic)
    for (int64_t line = 0; line < lines; line++) run_line(ctx, job, line);
    return SHOAL_OK;
}

static shoal_status begin(shoal_context *ctx, const pde_job *job) {
    (void)ctx;
    for (int64_t line = 0; line < job->options * job->counts; line++) {
        const int64_t option = line / job->counts, j = line % job->counts;
        const pde_option *o = &job->option[option];
        real *into = (real *)job->into + line * job->nx;
        for (int64_t i = 0; i < job->nx; i++) into[i] = (real)pde_payoff(o, j, i);
        if (job->surface)
            memcpy((real *)job->surface + option * job->surface_stride +
                       (job->to * job->counts + j) * job->nx,
                   into, (size_t)job->nx * sizeof(real));
    }
    return SHOAL_OK;
}

const pde_method R(pde_grid) = { .begin = begin, .interval = interval };
