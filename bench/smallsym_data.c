/* SPDX-License-Identifier: Apache-2.0
 *
 * smallsym_data.c - makes the data of a problem of small symmetric systems and puts it into the
 * context's memory, in as many sets as memory.c chooses.
 *
 * A large batch repeats DISTINCT systems: the generators of hard families factor matrices, and
 * would take longer than all that is measured. DISTINCT is a prime, so that the copies of a system
 * fall on every lane of a pack, every thread of a warp and every place in a block.
 *
 * pairs=tridiag has the same families: the matrices are brought to their tridiagonal form U = Qt A Q
 * by reflections, in double, and d and e are U rounded to the problem's type. So do stages of hhpcr.
 *
 * Regressions, gram=M, have samples: psi is a constant and numbers between -1 and 1, y numbers between -1 and
 * 2, hashes of seed, system and place, so that a system is the same in every layout and batch.
 */
#include "bench/smallsym.h"

#include <stdlib.h>
#include <string.h>

#include "bench/numbers.h"

enum { ALIGN = 256, DISTINCT = 4093 };

static bool tridiagonal(const bench_problem *p) { return p->pairs == BENCH_PAIRS_TRIDIAG; }

int64_t bench_systems_distinct(const bench_problem *p) {
    return p->count < DISTINCT ? p->count : DISTINCT;
}

double bench_systems_entries(const bench_problem *p) {
    const double n = (double)p->n;
    if (p->gram) return (double)p->gram * n;
    if (tridiagonal(p)) return n > 0 ? 2 * n - 1 : 0;
    if (p->stage == BENCH_STAGE_PCR) return n > 0 ? 2 * n - 1 + n * n : 0;
    return p->storage == SHOAL_PACKED ? n * (n + 1) / 2 : n * n;
}

static size_t aligned(size_t bytes) { return (bytes + ALIGN - 1) / ALIGN * ALIGN; }

static size_t rows_of(const bench_problem *p) { /* bytes of d, of w */
    return (size_t)p->n * (size_t)p->count * bench_number_size(p);
}

static size_t below_of(const bench_problem *p) { /* bytes of e */
    return p->n > 0 ? rows_of(p) - (size_t)p->count * bench_number_size(p) : 0;
}

size_t bench_systems_second(const bench_problem *p) {
    return p->pairs || p->stage ? aligned(rows_of(p)) : 0;
}

size_t bench_systems_third(const bench_problem *p) {
    return bench_systems_second(p) + aligned(below_of(p));
}

static void sizes(bench_arrays *data) {
    const bench_problem *p = &data->problem;
    const size_t number = bench_number_size(p), count = (size_t)p->count;
    const size_t square = (size_t)p->n * rows_of(p);
    data->size[0] = (size_t)bench_systems_entries(p) * count * number;
    data->size[1] = data->size[2] = rows_of(p) * (size_t)p->nrhs;
    if (p->gram) data->size[1] = (size_t)p->gram * (size_t)p->nrhs * count * number;
    if (tridiagonal(p)) data->size[0] = bench_systems_second(p) + below_of(p);
    if (p->pairs) data->size[2] = bench_systems_second(p) + square;
    if (p->stage) data->size[p->stage == BENCH_STAGE_PCR ? 0 : 2] = bench_systems_third(p) + square;
    data->count = 3;
    data->outputs = 1 << 2;
}

/* Between 0 and 1. */
static double uniform(uint64_t seed, uint64_t system, uint64_t place) {
    return (double)(bench_hash(seed + 0x9e3779b97f4a7c15u * (system + 1) +
                               0xd1342543de82ef95u * (place + 1)) >>
                    11) *
           0x1p-53;
}

static void generate_samples(const bench_problem *p, int64_t count, void *psi, void *y) {
    const bool apart = p->layout == SHOAL_INTERLEAVED;
    const int64_t n = p->n, M = p->gram, nrhs = p->nrhs, numbers = M * n;
    for (int64_t k = 0; k < count; k++) {
        for (int64_t e = 0; e < numbers; e++) {
            const double u = uniform(p->seed, (uint64_t)k, (uint64_t)e);
            bench_put_number(p->type, psi, apart ? e * count + k : k * numbers + e,
                             e % n == 0 ? 1 : 2 * u - 1);
        }
        for (int64_t e = 0; e < M * nrhs; e++) {
            const double u = uniform(~p->seed, (uint64_t)k, (uint64_t)e);
            const int64_t m = e / nrhs, row = apart ? m * count + k : k * M + m;
            bench_put_number(p->type, y, row * nrhs + e % nrhs, 3 * u - 1);
        }
    }
}

static shoal_status generate(shoal_context *ctx, const bench_problem *p, int64_t count, void *A,
                             void *b) {
    if (p->gram) {
        generate_samples(p, count, A, b);
        return SHOAL_OK;
    }
    const shoal_smallsym_opts shape = { .n = p->n,
                                        .count = count,
                                        .nrhs = p->nrhs,
                                        .type = p->type,
                                        .layout = p->layout,
                                        .storage = p->storage,
                                        .triangle = p->triangle };
    return BENCH_BY_TYPE(p->type, shoal_smallsym_generate, ctx, p->kind, p->parameter, p->seed, 0,
                         &shape, A, b);
}

/* Repeats the `few` systems of `from` until array i is full. A batch is one block of whole systems,
 * or, interleaved, a block for each entry or row. */
static void repeat(const bench_session *s, const bench_arrays *data, int i, const char *from,
                   int64_t few) {
    const bench_problem *p = &data->problem;
    const size_t system = data->size[i] / (size_t)p->count, number = bench_number_size(p);
    const size_t piece = p->layout != SHOAL_INTERLEAVED ? system
                         : i == 0                       ? number
                                                        : number * (size_t)p->nrhs;
    char *to = data->host[i];
    for (size_t block = 0; block < system / piece; block++, from += (size_t)few * piece)
        for (int64_t k = 0; k < p->count && !bench_stopped(s); k += few) {
            const int64_t left = p->count - k < few ? p->count - k : few;
            memcpy(to, from, (size_t)left * piece);
            to += (size_t)left * piece;
        }
}

/* Householder's reduction. With v = x - alpha e0 and H = I - 2 v vt / vt v: H A H = A - v wt - w vt,
 * and Q is the product of the H. */
void bench_reduce(double *a, int64_t n, double *d, double *e, double *q, double *v, double *w) {
    for (int64_t i = 0; i < n * n && q; i++) q[i] = i % (n + 1) == 0;
    for (int64_t c = 0; c + 1 < n; c++) {
        double squares = 0, product = 0, norm = 0;
        for (int64_t i = c + 1; i < n; i++) norm += a[i * n + c] * a[i * n + c];
        norm = copysign(sqrt(norm), -a[(c + 1) * n + c]); /* alpha */
        e[c] = c + 2 < n ? norm : a[(c + 1) * n + c];
        if (c + 2 == n || norm == 0) continue;
        for (int64_t i = c + 1; i < n; i++) {
            v[i] = a[i * n + c] - (i == c + 1 ? norm : 0);
            squares += v[i] * v[i];
        }
        for (int64_t i = c + 1; i < n; i++) {
            w[i] = 0;
            for (int64_t j = c + 1; j < n; j++)
                w[i] += (j > i ? a[j * n + i] : a[i * n + j]) * v[j];
            w[i] *= 2 / squares; /* p = 2 A v / vt v */
            product += v[i] * w[i];
        }
        for (int64_t i = c + 1; i < n; i++) w[i] -= product / squares * v[i];
        for (int64_t i = c + 1; i < n; i++)
            for (int64_t j = c + 1; j <= i; j++) a[i * n + j] -= v[i] * w[j] + w[i] * v[j];
        for (int64_t i = 0; i < n && q; i++) {
            double sum = 0;
            for (int64_t j = c + 1; j < n; j++) sum += q[i * n + j] * v[j];
            for (int64_t j = c + 1; j < n; j++) q[i * n + j] -= 2 * sum / squares * v[j];
        }
    }
    for (int64_t i = 0; i < n; i++) d[i] = a[i * n + i];
}

bench_parts bench_parts_of(const bench_arrays *data, const void *array) {
    const bench_problem *p = &data->problem;
    const bool apart = p->layout == SHOAL_INTERLEAVED;
    return (bench_parts){ .d = array,
                          .e = (const char *)array + bench_systems_second(&data->problem),
                          .q = (const char *)array + bench_systems_third(&data->problem),
                          .next = apart ? p->count : 1,
                          .d_system = apart ? 1 : p->n,
                          .e_system = apart ? 1 : p->n - 1,
                          .q_system = apart ? 1 : p->n * p->n };
}

/* Numbers of `from` to every copy of system k: `numbers` of them, those of the next system `system`
 * further on. */
static void put_copies(const bench_arrays *data, void *array, int64_t k, int64_t system,
                       int64_t numbers, const double *from) {
    const bench_problem *p = &data->problem;
    const int64_t next = p->layout == SHOAL_INTERLEAVED ? p->count : 1;
    for (; k < p->count; k += bench_systems_distinct(p))
        for (int64_t i = 0; i < numbers; i++)
            bench_put_number(p->type, array, k * system + i * next, from[i]);
}

/* d, e and, of a stage, Q of A on the host; and of a stage b. */
static void fill_systems(bench_arrays *data, const void *A, const void *rhs, double *room) {
    const bench_problem *p = &data->problem;
    const int64_t n = p->n, nrhs = p->nrhs;
    const bool apart = p->layout == SHOAL_INTERLEAVED;
    const bench_parts at = bench_parts_of(data, data->host[0]);
    double *a = room, *q = a + n * n, *d = q + n * n, *e = d + n, *v = e + n, *w = v + n;
    for (int64_t k = 0; k < bench_systems_distinct(p); k++) {
        for (int64_t i = 0; i < n * n; i++) a[i] = bench_number(p->type, A, k * n * n + i);
        bench_reduce(a, n, d, e, p->stage ? q : NULL, v, w);
        put_copies(data, (void *)at.d, k, at.d_system, n, d);
        put_copies(data, (void *)at.e, k, at.e_system, n - 1, e);
        if (p->stage) put_copies(data, (void *)at.q, k, at.q_system, n * n, q);
    }
    for (int64_t k = 0; k < p->count && p->stage; k++)
        for (int64_t i = 0; i < n; i++)
            for (int64_t c = 0; c < nrhs; c++) {
                const int64_t from = (k % bench_systems_distinct(p) * n + i) * nrhs + c;
                bench_put_number(p->type, data->host[1],
                                 (apart ? i * p->count + k : k * n + i) * nrhs + c,
                                 bench_number(p->type, rhs, from));
            }
}

static shoal_status fill_parts(bench_arrays *data) {
    const bench_problem *p = &data->problem;
    const size_t n = (size_t)p->n, few = (size_t)bench_systems_distinct(p);
    const size_t number = bench_number_size(p);
    for (int i = 0; i < 2; i++) memset(data->host[i], 0, data->size[i]);
    if (n == 0 || few == 0) return SHOAL_OK;
    bench_problem plain = *p;
    plain.layout = SHOAL_SYSTEM_MAJOR, plain.storage = SHOAL_FULL, plain.triangle = SHOAL_LOWER;
    void *A = malloc(few * n * n * number), *b = malloc(few * n * (size_t)p->nrhs * number);
    double *room = malloc((2 * n * n + 4 * n) * sizeof *room);
    shoal_status status = A && b && room ? SHOAL_OK : SHOAL_E_NOMEM;
    if (status == SHOAL_OK) status = generate(data->place->ctx, &plain, (int64_t)few, A, b);
    if (status == SHOAL_OK) fill_systems(data, A, b, room);
    if (p->stage)
        data->host[BENCH_SMALLSYM_MATRIX] = A; /* the check reads it */
    else
        free(A);
    free(b);
    free(room);
    return status;
}

static shoal_status fill(const bench_session *s, bench_arrays *data) {
    const bench_problem *p = &data->problem;
    const int64_t few = bench_systems_distinct(p);
    if (tridiagonal(p) || p->stage == BENCH_STAGE_PCR) return fill_parts(data);
    if (few == p->count || p->n == 0)
        return generate(data->place->ctx, p, p->count, data->host[0], data->host[1]);
    void *made[2];
    for (int i = 0; i < 2; i++) made[i] = malloc(data->size[i] / (size_t)p->count * (size_t)few);
    shoal_status status =
        made[0] && made[1] ? generate(data->place->ctx, p, few, made[0], made[1]) : SHOAL_E_NOMEM;
    for (int i = 0; i < 2; i++) {
        if (status == SHOAL_OK) repeat(s, data, i, made[i], few);
        free(made[i]);
    }
    return status;
}

int bench_systems_make(bench_session *s, const bench_problem *p, bench_place *place, void *of) {
    static const bench_filler filler = { sizes, fill };
    bench_arrays *data = of;
    const int code = bench_arrays_make(s, p, place, &filler, data);
    if (code == BENCH_OK) data->problem = *p; /* another method on the same data */
    return code;
}

bench_symmetric bench_symmetric_of(const bench_arrays *data, const void *x) {
    const bench_problem *p = &data->problem;
    const bool apart = p->layout == SHOAL_INTERLEAVED;
    bench_symmetric v = { .type = p->type, .n = p->n, .count = p->count, .nrhs = p->nrhs };
    v.packed = p->storage == SHOAL_PACKED;
    v.upper = p->triangle == SHOAL_UPPER;
    v.entry = apart ? p->count : 1;
    v.system = apart ? 1 : (int64_t)bench_systems_entries(p);
    v.b_row = (apart ? p->count : 1) * p->nrhs;
    v.b_system = (apart ? 1 : p->n) * p->nrhs;
    v.b_rhs = 1;
    v.A = data->host[0], v.b = data->host[1], v.x = x;
    if (p->gram) {
        v.samples = p->gram;
        v.y_row = (apart ? p->count : 1) * p->nrhs;
        v.y_system = (apart ? 1 : p->gram) * p->nrhs;
    }
    if (p->stage == BENCH_STAGE_PCR) {
        v.A = data->host[BENCH_SMALLSYM_MATRIX], v.packed = v.upper = false;
        v.entry = 1, v.system = p->n * p->n, v.distinct = bench_systems_distinct(p);
    }
    if (tridiagonal(p)) {
        v.below = (const char *)data->host[0] + bench_systems_second(&data->problem);
        v.system = apart ? 1 : p->n;
        v.below_system = apart ? 1 : p->n - 1;
    }
    return v;
}

bench_pairs bench_pairs_of(const bench_arrays *data, const void *answer, const void *alone) {
    const bench_problem *p = &data->problem;
    const bool apart = p->layout == SHOAL_INTERLEAVED;
    const int64_t next = apart ? p->count : 1;
    return (bench_pairs){ .w = answer,
                          .V = (const char *)answer + bench_systems_second(&data->problem),
                          .alone = alone,
                          .w_row = next,
                          .w_system = apart ? 1 : p->n,
                          .v_component = p->n * next,
                          .v_vector = next,
                          .v_system = apart ? 1 : p->n * p->n };
}
