/* SPDX-License-Identifier: Apache-2.0
 *
 * sort_data.c - makes the keys of a problem of sort and puts them into the context's memory, in as
 * many sets as memory.c says. Values are places, so that a check can follow each key.
 */
#include "bench/sort.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGN = 256 };

/* clang-format off */
const char *bench_sort_types(const void *of, int i) {
    (void)of;
    return shoal_key_name((shoal_key)i);
}
/* clang-format on */

static bool merges(const bench_problem *p) {
    return shoal_method_flags("sort", p->method, NULL) & SHOAL_CAN_MERGE;
}

int64_t bench_sort_na(const bench_problem *p) { return merges(p) ? p->n / (p->ratio + 1) : p->n; }

int bench_sort_value_bytes(const bench_problem *p) {
    static const int bytes[] = { 0, 4, 8 };
    return p->values == 0 && p->index ? 4 : bytes[p->values];
}

bool bench_sortables_same(const bench_problem *p, const bench_problem *q) {
    return strcmp(p->kind, q->kind) == 0 && strcmp(p->backend, q->backend) == 0 &&
           strcmp(bench_problem_type(p), bench_problem_type(q)) == 0 && merges(p) == merges(q) &&
           p->n == q->n && p->count == q->count && p->ratio == q->ratio && p->values == q->values &&
           p->index == q->index && p->direction == q->direction && p->seed == q->seed;
}

static int allocate(bench_session *s, bench_sortables *d) {
    const bench_problem *p = &d->problem;
    const size_t key = bench_number_size(p), value = (size_t)d->value_bytes;
    const int64_t rows[] = { d->na, d->nb, d->na + d->nb };
    size_t bytes = 0;
    for (int i = 0; i < BENCH_SORT_ARRAYS; i++) {
        d->size[i] = (size_t)rows[i % 3] * (size_t)p->count * (i < 3 ? key : value);
        d->step[i] = (d->size[i] + ALIGN - 1) / ALIGN * ALIGN;
        bytes += d->size[i];
    }
    d->sets = bench_sets(d->place, bytes);
    const size_t inside = (size_t)d->sets * bytes;
    if (bench_room(s, d->place, inside, bench_on_cpu(d->place) ? inside + bytes : bytes) !=
        BENCH_OK)
        return BENCH_ERROR;
    for (int i = 0; i < BENCH_SORT_ARRAYS; i++) {
        shoal_status status = shoal_alloc(d->place->ctx, (size_t)d->sets * d->step[i] + ALIGN,
                                          (void **)&d->memory[i]);
        if (status != SHOAL_OK) return bench_error(s, status, "%s", shoal_message(d->place->ctx));
        d->host[i] = malloc(d->size[i] + 1);
        if (!d->host[i]) return bench_error(s, SHOAL_E_NOMEM, "no memory for the problem");
    }
    return BENCH_OK;
}

static uint64_t random_bits(uint64_t x) { /* splitmix64 */
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Bits that rise with `rank` in the order of the type; NaNs are not among them. */
static uint64_t in_order(const bench_sortables *d, uint64_t rank) {
    const int bits = (int)bench_number_size(&d->problem) * 8;
    const char kind = bench_problem_type(&d->problem)[0];
    if (kind == 'u') return rank;
    const uint64_t sign = 1ull << (bits - 1), all = sign | (sign - 1);
    if (kind == 'f') { /* the middle of all ranks: finite numbers */
        const uint64_t finite = bits == 64 ? 0x7ff0000000000000u : 0x7f800000u, span = 2 * finite;
        rank = sign - finite + (bits == 64 ? (rank >> 11) * (span >> 53) : rank * span >> 32);
    }
    const uint64_t flipped = (rank ^ sign) & all;
    if (kind == 'i' || !(flipped & sign)) return flipped;
    return flipped ^ (sign - 1);
}

/* The number of a key among all there can be: `place` of n in its row. */
static uint64_t rank_of(const bench_sortables *d, uint64_t at, int64_t place, int64_t n) {
    const bench_problem *p = &d->problem;
    const int bits = (int)bench_number_size(p) * 8;
    const uint64_t all = bits == 64 ? UINT64_MAX : 0xffffffffu, random = random_bits(p->seed + at);
    const uint64_t step = all / (uint64_t)(n + 1);
    const int falls = (strcmp(p->kind, "reversed") == 0) != (p->direction != 0);
    if (strcmp(p->kind, "equal") == 0) return all / 3;
    if (strcmp(p->kind, "few") == 0) return all / 16 * (random % 7 + 1);
    if (d->merges || strcmp(p->kind, "random") != 0) /* rises, by random steps */
        return step * (uint64_t)((falls && !d->merges) || (d->merges && p->direction) ? n - place
                                                                                      : place) +
               random % (step ? step : 1);
    return bits == 64 ? random : random >> 32;
}

static int compare(const void *u, const void *v) {
    const uint64_t x = *(const uint64_t *)u, y = *(const uint64_t *)v;
    return x < y ? -1 : x > y;
}

/* `few` values of a row to be merged must be put in order. */
static void fill_row(const bench_sortables *d, char *keys, int64_t k, int64_t n, uint64_t salt,
                     uint64_t *ranks) {
    const size_t key = bench_number_size(&d->problem);
    for (int64_t i = 0; i < n; i++) ranks[i] = rank_of(d, salt + (uint64_t)(k * n + i), i, n);
    if (d->merges && strcmp(d->problem.kind, "few") == 0) {
        qsort(ranks, (size_t)n, sizeof *ranks, compare);
        for (int64_t i = 0; d->problem.direction && i < n / 2; i++) {
            const uint64_t swap = ranks[i];
            ranks[i] = ranks[n - 1 - i], ranks[n - 1 - i] = swap;
        }
    }
    for (int64_t i = 0; i < n; i++) {
        const uint64_t bits = in_order(d, ranks[i]);
        const uint32_t half = (uint32_t)bits;
        memcpy(keys + (size_t)(k * n + i) * key, key == 4 ? (const void *)&half : &bits, key);
    }
}

static void fill_values(const bench_sortables *d, char *values, int64_t n, int64_t first) {
    const size_t size = (size_t)d->value_bytes;
    for (int64_t i = 0; i < n * d->problem.count; i++) {
        const uint64_t place = (uint64_t)(first + i % (n ? n : 1));
        const uint32_t half = (uint32_t)place;
        memcpy(values + (size_t)i * size, size == 4 ? (const void *)&half : &place, size);
    }
}

static int generate(bench_session *s, bench_sortables *d) {
    const int64_t lengths[] = { d->na, d->nb };
    uint64_t *ranks = malloc(((size_t)d->problem.n + 1) * sizeof *ranks);
    if (!ranks) return bench_error(s, SHOAL_E_NOMEM, "no memory for the problem");
    for (int i = 0; i < 2; i++) {
        for (int64_t k = 0; k < d->problem.count; k++)
            fill_row(d, d->host[i], k, lengths[i], (uint64_t)i << 40, ranks);
        if (d->value_bytes) fill_values(d, d->host[i + 3], lengths[i], i * d->na);
    }
    free(ranks);
    for (int i = 0; i < BENCH_SORT_ARRAYS; i++)
        for (int set = 0; set < d->sets && i % 3 != 2 && d->size[i] > 0; set++) {
            const shoal_status status =
                shoal_copy(d->place->ctx, bench_sortables_at(d, i, set), d->host[i], d->size[i]);
            if (status != SHOAL_OK)
                return bench_error(s, status, "%s", shoal_message(d->place->ctx));
        }
    return bench_stopped(s) ? BENCH_STOPPED : BENCH_OK;
}

int bench_sortables_make(bench_session *s, const bench_problem *p, bench_place *place, void *of) {
    bench_sortables *d = of;
    if (d->place == place && bench_sortables_same(p, &d->problem)) return BENCH_OK;
    bench_sortables_free(d);
    d->problem = *p;
    d->place = place;
    d->merges = merges(p);
    d->value_bytes = bench_sort_value_bytes(p);
    d->na = bench_sort_na(p), d->nb = p->n - d->na;
    for (int i = 0; shoal_key_name((shoal_key)i); i++)
        if (strcmp(shoal_key_name((shoal_key)i), bench_problem_type(p)) == 0) d->key = (shoal_key)i;
    int code = allocate(s, d);
    if (code == BENCH_OK) code = generate(s, d);
    if (code != BENCH_OK) bench_sortables_free(d);
    return code;
}

void bench_sortables_free(void *of) {
    bench_sortables *d = of;
    for (int i = 0; i < BENCH_SORT_ARRAYS; i++) {
        free(d->host[i]);
        if (d->place) shoal_free(d->place->ctx, d->memory[i]);
    }
    *d = (bench_sortables){ 0 };
}

void *bench_sortables_at(const bench_sortables *d, int i, int set) {
    return d->memory[i] + (size_t)set * d->step[i];
}
