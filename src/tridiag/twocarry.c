/* SPDX-License-Identifier: Apache-2.0
 *
 * twocarry.c - one long system on the CPU by the two-carry reduction of twocarry.h, in two passes.
 *
 * Blocks of ROWS rows are reduced to relations, a pack of LANES blocks at a time, one in each number of
 * TOGETHER vectors, whose roots do not wait for each other; OpenMP threads over packs. The relations
 * merge in a tree, GROUP of them in one thread. Down the tree go the pairs; the second pass reduces
 * each block again, by the same operations, keeps its pivot rows in cache and substitutes back. The
 * tree is one for all numbers of threads, and so are the bits.
 *
 * Bytes: dl, d, du, b twice, x once; 22 numbers per block are kept. About 100 operations per row, and four
 * reciprocal roots, in vectors.
 */
#define TWOCARRY_VECTORS
#include "tridiag/plan.h"
#include "tridiag/residual.h"
#include "tridiag/twocarry.h"
#include <stdlib.h>

enum { ROWS = 128, TOGETHER = 2, LANES = VEC * TOGETHER, GROUP = 64 };
enum { SET = 32 }; /* rows whose signs of z are turned together */

typedef vec pack_array[ROWS][TOGETHER]; /* row i of lane l: [i][l / VEC][l % VEC] */

/* One right-hand side of one system. */
typedef struct whole {
    int64_t n, blocks;
    int64_t row, rhs_row; /* strides */
    int periodic, ends;   /* opts.periodic; ENDS_... */
    int raised;           /* whether pivots may be low */
    const real *dl, *d, *du, *b;
    real *x;
    relation *relations; /* of the blocks, then of each level of the tree */
    middle *middles;     /* of boundary j of a level, where a merge made one */
    pair *pairs;         /* at the boundaries of a level, one more than it has relations */
} whole;

static int64_t at_most(int64_t v, int64_t most) { return v < most ? v : most; }

static int64_t blocks_of(int64_t n) { return (n + ROWS - 1) / ROWS; }

/* Relations of all levels of the tree, and the levels. */
static int64_t tree_size(int64_t blocks, int *levels) {
    int64_t size = blocks;
    *levels = 1;
    for (int64_t level = blocks; level > 1; size += level, ++*levels)
        level = (level + GROUP - 1) / GROUP;
    return size;
}

static size_t twocarry_bytes(const shoal_tridiag *plan) {
    int levels;
    const int64_t size = tree_size(blocks_of(plan->job.n), &levels);
    return (size_t)size * (sizeof(relation) + sizeof(middle)) +
           (size_t)(size + levels) * sizeof(pair);
}

/* ---- in and out -------------------------------------------------------------------------------- */

typedef struct pack_rows {
    pack_array dl, d, du, b;
    int tiny;         /* whether a row must be raised */
    int closer, rows; /* the lane in which a ring closes, and after how many rows; -1: in none */
} pack_rows;

/* Rows of LANES blocks from row `begin` on, one array of them; past the end: `filler`. */
static void load_array(pack_array to, const real *from, int64_t begin, int64_t n, int64_t stride,
                       real filler) {
    if (stride == 1 && begin + (int64_t)LANES * ROWS <= n) {
        for (int u = 0; u < TOGETHER; u++)
            for (int i = 0; i < ROWS; i += VEC) {
                vec square[VEC];
                for (int l = 0; l < VEC; l++)
                    memcpy(&square[l], from + begin + (u * VEC + l) * ROWS + i, sizeof(vec));
                vec_transpose(square);
                for (int l = 0; l < VEC; l++) to[i + l][u] = square[l];
            }
        return;
    }
    for (int i = 0; i < ROWS; i++)
        for (int u = 0; u < TOGETHER; u++) to[i][u] = vec_all(filler);
    for (int lane = 0; lane < LANES; lane++) {
        const int64_t first = begin + (int64_t)lane * ROWS, rows = at_most(n - first, ROWS);
        for (int64_t i = 0; i < rows; i++)
            to[i][lane / VEC][lane % VEC] = from[(first + i) * stride];
    }
}

/* Returns 0, or NaN where a number is not finite. */
static real load_rows(pack_rows *p, const whole *w, int64_t begin) {
    const int open = w->ends == ENDS_OPEN;
    load_array(p->dl, w->dl, begin, w->n, w->row, open ? 0 : 1);
    load_array(p->d, w->d, begin, w->n, w->row, open ? 1 : 0);
    load_array(p->du, w->du, begin, w->n, w->row, open ? 0 : -1);
    load_array(p->b, w->b, begin, w->n, w->rhs_row, 0);
    if (w->n == 1 && w->periodic) {
        real d = p->d[0][0][0], b = p->b[0][0][0];
        fold_row(p->dl[0][0][0], &d, p->du[0][0][0], &b);
        p->d[0][0][0] = d, p->b[0][0][0] = b;
    }
    if (begin == 0 && open) p->dl[0][0][0] = 0; /* dl[0] and du[n-1] do not exist */
    const int64_t last = w->n - 1 - begin;
    const int ends_here = last < (int64_t)LANES * ROWS;
    if (ends_here && open) p->du[last % ROWS][last / ROWS / VEC][last / ROWS % VEC] = 0;
    p->closer = ends_here && !open ? (int)(last / ROWS) : -1;
    p->rows = last % ROWS ? (int)(last % ROWS) + 1 : 2;
    vec sum = vec_all(0), least = vec_all(1);
    for (int i = 0; i < ROWS; i++)
        for (int u = 0; u < TOGETHER; u++) {
            const tri_row r = { p->dl[i][u], p->d[i][u], p->du[i][u], p->b[i][u] };
            sum += (r.dl * 0 + r.d * 0) + (r.du * 0 + r.b * 0);
            least = vec_min(row_size(r), least);
        }
    real poison = 0;
    p->tiny = 0;
    for (int l = 0; l < VEC; l++) poison += sum[l], p->tiny |= least[l] < tiny_row()[l];
    return poison;
}

static inline tri_row row_of(const pack_rows *p, int i, int u) {
    const tri_row r = { p->dl[i][u], p->d[i][u], p->du[i][u], p->b[i][u] };
    return scaled_row(p->tiny ? raised_row(r) : r);
}

/* Returns 0, or NaN where x is not finite; *largest takes the largest |x| up. */
static real store_rows(pack_array x, const whole *w, int64_t begin, real *largest) {
    vec sum = vec_all(0), most = vec_all(*largest);
    for (int i = 0; i < ROWS; i++)
        for (int u = 0; u < TOGETHER; u++)
            sum += x[i][u] * 0, most = vec_max(vec_abs(x[i][u]), most);
    if (w->rhs_row == 1 && begin + (int64_t)LANES * ROWS <= w->n) {
        for (int u = 0; u < TOGETHER; u++)
            for (int i = 0; i < ROWS; i += VEC) {
                vec square[VEC];
                for (int l = 0; l < VEC; l++) square[l] = x[i + l][u];
                vec_transpose(square);
                for (int l = 0; l < VEC; l++)
                    memcpy(w->x + begin + (u * VEC + l) * ROWS + i, &square[l], sizeof(vec));
            }
    } else {
        for (int u = 0; u < TOGETHER; u++)
            for (int l = 0; l < VEC; l++)
                for (int i = 0; i < ROWS; i++) {
                    const int64_t at = begin + (u * VEC + l) * ROWS + i;
                    if (at < w->n) w->x[at * w->rhs_row] = x[i][u][l];
                }
    }
    real poison = 0;
    for (int l = 0; l < VEC; l++) poison += sum[l], *largest = real_max(most[l], *largest);
    return poison;
}

/* ---- blocks ------------------------------------------------------------------------------------ */

/* A ring closes with its last row: what that block's carries are then is its relation, over x(n-1) and
 * x(0) on the right. The rows past the end, x(i+1) = x(i-1), only bring the two to the end of the block
 * when x is found. (To take them up as well would round at each of up to 126 turns: a ring of two rows
 * lost 18 units so, of four 17.) A block of one row takes up one of them, as a block has two; x(n-1)
 * comes after x(0) then. */
static int ring_ends(int periodic, int64_t n) {
    return !periodic || n < 2 ? ENDS_OPEN : n % ROWS == 1 ? ENDS_MEET_CROSSED : ENDS_MEET;
}

/* Relations of the pack's blocks. Returns the largest |z|. */
static real reduce_pack(const whole *w, const pack_rows *p, int64_t block) {
    carries c[TOGETHER];
    for (int u = 0; u < TOGETHER; u++) c[u] = begin_carries(row_of(p, 0, u), row_of(p, 1, u));
    carries closed = c[0];
    for (int i = 2; i < ROWS; i++) {
        if (i == p->rows && p->closer >= 0) closed = c[p->closer / VEC];
        for (int u = 0; u < TOGETHER; u++) {
            if (i % SET == 0) join_sets(&c[u]);
            carries_eliminate(&c[u], row_of(p, i, u), w->raised, 1);
        }
    }
    join_sets(&closed);
    for (int u = 0; u < TOGETHER; u++) join_sets(&c[u]);
    real most = 0;
    for (int l = 0; l < LANES && block + l < w->blocks; l++) {
        const carries *k = l == p->closer && p->rows < ROWS ? &closed : &c[l / VEC];
        const int e = l % VEC;
        w->relations[block + l] =
            (relation){ { k->l1[e], k->f1[e], k->h1[e], k->r1[e], k->l2[e], k->f2[e], k->h2[e],
                          k->n2[e], k->r2[e], k->past_left[e], k->past_first[e], k->past_here[e],
                          k->past_next[e] } };
        most = real_max(k->most[e], most);
    }
    return most;
}

/* The pair at a boundary; blocks past the last are of a unit matrix. */
static inline pair pair_at(const whole *w, int64_t boundary) {
    return boundary <= w->blocks ? w->pairs[boundary] : (pair){ 0, 0 };
}

/* x of the pack's blocks from the pairs at their ends: the same reduction, and back. */
static void solve_pack(const whole *w, const pack_rows *p, int64_t block, pack_array x) {
    vec first[TOGETHER] = { { 0 } }, last[TOGETHER] = { { 0 } }, right[TOGETHER] = { { 0 } };
    pack_array next, after, rhs; /* of the pivot rows */
    front c[TOGETHER];
    for (int u = 0; u < TOGETHER; u++) {
        vec before = { 0 };
        for (int l = 0; l < VEC; l++) {
            const pair begin = pair_at(w, block + u * VEC + l);
            const pair end = pair_at(w, block + u * VEC + l + 1);
            before[l] = begin.last, first[u][l] = begin.first;
            last[u][l] = end.last, right[u][l] = end.first;
        }
        const tri_row top = row_of(p, 0, u), second = row_of(p, 1, u);
        c[u] = begin_front(top, second, before, first[u]);
    }
    for (int i = 1; i < ROWS - 1; i++)
        for (int u = 0; u < TOGETHER; u++) {
            const pivot_row v = front_eliminate(&c[u], row_of(p, i + 1, u), w->raised);
            next[i][u] = v.next, after[i][u] = v.after, rhs[i][u] = v.rhs;
        }
    if (p->closer >= 0) {
        const int u = p->closer / VEC, l = p->closer % VEC;
        for (int i = p->rows - 1; i < ROWS - 1; i++)
            next[i][u][l] = 0, after[i][u][l] = -1, rhs[i][u][l] = 0;
        const real x2 = right[u][l], x1 = last[u][l];
        if ((ROWS - p->rows) % 2) right[u][l] = x1, last[u][l] = x2;
    }
    for (int u = 0; u < TOGETHER; u++) {
        vec x2 = right[u], x1 = last[u];
        x[ROWS - 1][u] = x1, x[0][u] = first[u];
        for (int i = ROWS - 2; i > 0; i--) {
            x[i][u] = vec_fma(-next[i][u], x1, vec_fma(-after[i][u], x2, rhs[i][u]));
            x2 = x1, x1 = x[i][u];
        }
    }
}

/* Rows past the end have no residual. */
static void clear_filler(pack_rows *p, int64_t left) {
    for (int64_t at = left; at < (int64_t)LANES * ROWS; at++) {
        const int64_t i = at % ROWS, u = at / ROWS / VEC, l = at / ROWS % VEC;
        p->dl[i][u][l] = p->d[i][u][l] = p->du[i][u][l] = 0;
    }
}

/* Largest residual of a scaled row, taken into that of the system; *largest_b takes the largest |b| up, which is 0 only
 * if all of b is. */
static void judge_pack(const whole *w, const pack_rows *p, int64_t block, pack_array x, norms *all,
                       real *largest_b) {
    const vec tiny = vec_all(REAL_TINY);
    vec r = vec_all(0), poison = r, b = r;
    for (int u = 0; u < TOGETHER; u++) {
        vec before = vec_all(0), beyond = before;
        for (int l = 0; l < VEC; l++) {
            before[l] = pair_at(w, block + u * VEC + l).last;
            beyond[l] = pair_at(w, block + u * VEC + l + 1).first;
        }
        for (int i = 0; i < ROWS; i++) {
            const vec under = i ? x[i - 1][u] : before, over = i < ROWS - 1 ? x[i + 1][u] : beyond;
            const tri_row row = row_of(p, i, u);
            vec rest = vec_fma(-row.dl, under, row.b);
            rest = vec_fma(-row.du, over, vec_fma(-row.d, x[i][u], rest));
            r = vec_max(vec_abs(rest), r), poison += rest * 0;
            b = vec_max(vec_select(p->b[i][u] == 0, row.b, vec_max(vec_abs(row.b), tiny)), b);
        }
    }
    for (int l = 0; l < VEC; l++)
        all->r = real_max(r[l] * ROW_UNIT, all->r), all->poison += poison[l],
        *largest_b = real_max(b[l], *largest_b);
}

/* ---- the tree ---------------------------------------------------------------------------------- */

/* Relations 0 .. count-1 become one, in the place of the first; boundary j gets its middle. */
static void merge_up(relation *r, middle *m, int64_t count, real *most) {
    for (int64_t step = 1; step < count; step *= 2)
        for (int64_t i = 0; i + step < count; i += 2 * step)
            r[i] = merge(&r[i], &r[i + step], &m[i + step], most);
}

/* Pairs at the boundaries between, from those at 0 and count. */
static void pairs_down(pair *x, const middle *m, int64_t count) {
    int64_t step = 1;
    while (step < count) step *= 2;
    for (step /= 2; step > 0; step /= 2)
        for (int64_t i = 0; i + step < count; i += 2 * step)
            x[i + step] =
                middle_pair(&m[i + step], x[i], x[i + 2 * step < count ? i + 2 * step : count]);
}

/* From the relations of a level to the pairs at its boundaries; returns the largest |z|. */
static real solve_tree(relation *r, middle *m, pair *x, int64_t count, int ends, int threads) {
    real most = 0;
    if (count == 1) {
        root_pairs(r, ends, &x[0], &x[1], &most);
        return most;
    }
    const int64_t groups = (count + GROUP - 1) / GROUP;
    relation *next = r + count;
    pair *above = x + count + 1;
    real below = 0;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(max : below)
    for (int64_t g = 0; g < groups; g++) {
        const int64_t begin = g * GROUP, size = at_most(count - begin, GROUP);
        merge_up(r + begin, m + begin, size, &below);
        next[g] = r[begin];
    }
    most = real_max(below, solve_tree(next, m + count, above, groups, ends, threads));
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t g = 0; g < groups; g++) {
        const int64_t begin = g * GROUP, size = at_most(count - begin, GROUP);
        pair local[GROUP + 1];
        local[0] = above[g], local[size] = above[g + 1];
        pairs_down(local, m + begin, size);
        memcpy(x + begin, local, (size_t)size * sizeof *local);
    }
    x[count] = above[groups];
    return most;
}

/* ---- a solve ----------------------------------------------------------------------------------- */

/* The first pass: relations of all blocks. Returns the largest |z|; *poison becomes NaN where a number is not
 * finite. */
static real reduce_all(const whole *w, int threads, real *poison) {
    const int64_t packs = (w->blocks + LANES - 1) / LANES;
    real most = 0, sum = 0;
    (void)threads; /* without OpenMP */
#pragma omp parallel for num_threads(threads) schedule(static) reduction(max : most)               \
    reduction(+ : sum)
    for (int64_t p = 0; p < packs; p++) {
        pack_rows rows;
        sum += load_rows(&rows, w, p * LANES * ROWS);
        most = real_max(reduce_pack(w, &rows, p * LANES), most);
    }
    *poison += sum;
    return most;
}

/* Right-hand side j of system k, in workspace from `memory` on. */
static whole whole_of(const tridiag_job *job, int64_t k, int64_t j, void *memory) {
    const int64_t at = k * job->system, rhs = at * job->nrhs + j, blocks = blocks_of(job->n);
    int levels;
    const int64_t size = tree_size(blocks, &levels);
    whole w = { job->n,
                blocks,
                job->row,
                job->row * job->nrhs,
                job->periodic,
                ring_ends(job->periodic, job->n),
                0,
                (const real *)job->dl + at,
                (const real *)job->d + at,
                (const real *)job->du + at,
                (const real *)job->b + rhs,
                (real *)job->x + rhs,
                memory,
                NULL,
                NULL };
    w.middles = (middle *)(w.relations + size);
    w.pairs = (pair *)(w.middles + size);
    return w;
}

/* From the matrix to the pairs between its blocks; the status by the largest |z|. */
static int32_t reduce_to_pairs(whole *w, double cond, int threads) {
    real poison = 0, most = reduce_all(w, threads, &poison);
    if (has_low_pivots(most)) {
        w->raised = 1;
        most = reduce_all(w, threads, &poison);
    }
    if (poison != 0) return SHOAL_SYSTEM_NONFINITE;
    const real above = solve_tree(w->relations, w->middles, w->pairs, w->blocks, w->ends, threads);
    return status_of_most(real_max(above, most), cond);
}

static int32_t condition_of_system(const shoal_tridiag *plan, const tridiag_job *job, int64_t k,
                                   void *memory) {
    whole w = whole_of(job, k, 0, memory);
    return reduce_to_pairs(&w, job->cond, plan->head.ctx->threads);
}

/* Right-hand side j of system k: its status, and its residual where there is one to compute. */
static int32_t twocarry_whole(const shoal_tridiag *plan, const tridiag_job *job, int64_t k,
                              int64_t j, float *residual) {
    const int threads = plan->head.ctx->threads;
    whole w = whole_of(job, k, j, job->work);
    const int64_t packs = (w.blocks + LANES - 1) / LANES;
    const int32_t status = reduce_to_pairs(&w, job->cond, threads);
    *residual = (float)NAN;
    if (status < 0) return status;
    real poison = 0;
    real r = 0, unknown = 0, found = 0, rhs = 0;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : poison, unknown)     \
    reduction(max : r, found, rhs)
    for (int64_t p = 0; p < packs; p++) {
        pack_rows rows;
        pack_array x;
        (void)load_rows(&rows, &w, p * LANES * ROWS);
        solve_pack(&w, &rows, p * LANES, x);
        if (job->residual) {
            norms m = { .r = r };
            clear_filler(&rows, w.n - p * LANES * ROWS);
            judge_pack(&w, &rows, p * LANES, x, &m, &rhs);
            r = m.r, unknown += m.poison;
        }
        poison += store_rows(x, &w, p * LANES * ROWS, &found);
    }
    const norms m = { r, found, unknown };
    if (poison != 0) return SHOAL_SYSTEM_OVERFLOW;
    if (job->residual) *residual = rhs > 0 && found == 0 ? INFINITY : norms_residual(&m);
    if (job->residual && !(*residual <= job->tol && !is_ill_by_answer(found, rhs, job->cond)))
        return SHOAL_SYSTEM_ILL;
    return status;
}

const tridiag_cpu_method R(tridiag_twocarry) = { .bytes = twocarry_bytes, .whole = twocarry_whole };
const tridiag_condition R(tridiag_condition) = { .bytes = twocarry_bytes,
                                                 .of_system = condition_of_system };
