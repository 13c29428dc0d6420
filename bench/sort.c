/* SPDX-License-Identifier: Apache-2.0
 *
 * sort.c - sorting and merging as a module of the bench: the keys of their problem strings, their data, one problem by one
 * of Shoal's methods or by a peer (computed, checked, timed), their columns and their JSON. Values are places, so
 * that a check can follow each key.
 */
#include "bench/sort.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/module.h"
#include "bench/numbers.h"

/* clang-format off */
static const char *const kinds[] = { "random", "equal", "sorted", "reversed", "few", NULL };
static const char *const values[] = { "0", "4", "8", NULL };
static const char *const directions[] = { "ascending", "descending", NULL };

#define FIELD(name) .field = offsetof(bench_problem, name)
static const bench_key keys[] = {
    { "n",         BENCH_KEY_SIZE,    FIELD(n),         .usual = "1024", .list = true },
    { "count",     BENCH_KEY_SIZE,    FIELD(count),     .usual = "10000", .without = 1 },
    { "keys",      BENCH_KEY_AMOUNT,  FIELD(count) },
    { "ratio",     BENCH_KEY_NUMBER,  FIELD(ratio),     .usual = "1", .list = true, .max = 1 << 30 },
    { "values",    BENCH_KEY_CHOICE,  FIELD(values),    .usual = "0", .list = true, .words = values },
    { "index",     BENCH_KEY_CHOICE,  FIELD(index),     .usual = "0", .words = bench_switches },
    { "direction", BENCH_KEY_CHOICE,  FIELD(direction), .usual = "ascending", .words = directions },
    { "kind",      BENCH_KEY_WORD,    FIELD(kind),      .usual = "random", .words = kinds },
    { "variant",   BENCH_KEY_VARIANT, FIELD(variant) },
    { "seed",      BENCH_KEY_SEED,    FIELD(seed) },
    { .name = NULL }
};
/* clang-format on */

static bool takes(const char *method, const char *key) {
    const unsigned flags = shoal_method_flags("sort", method, NULL);
    if (strcmp(key, "count") == 0 || strcmp(key, "keys") == 0) return flags & SHOAL_CAN_BATCH;
    if (strcmp(key, "ratio") == 0) return flags & SHOAL_CAN_MERGE;
    if (strcmp(key, "index") == 0) return !(flags & SHOAL_CAN_MERGE);
    return true;
}

/* ---- data ------------------------------------------------------------------------------------ */

static const char *types(const void *of, int i) {
    (void)of;
    return shoal_key_name((shoal_key)i);
}

static bool merges(const bench_problem *p) {
    return shoal_method_flags("sort", p->method, NULL) & SHOAL_CAN_MERGE;
}

int64_t bench_sort_na(const bench_problem *p) { return merges(p) ? p->n / (p->ratio + 1) : p->n; }

static int value_bytes(const bench_problem *p) {
    return p->values == 0 && p->index ? 4 : 4 * p->values;
}

/* Whether a problem of the same kind has the same data. */
static bool same(const bench_problem *p, const bench_problem *q) {
    return bench_same_data(p, q) && merges(p) == merges(q);
}

static void sizes(bench_arrays *arrays) {
    const bench_sortables *d = (const bench_sortables *)arrays;
    const size_t key = bench_number_size(&arrays->problem), value = (size_t)d->value_bytes;
    const int64_t rows[] = { d->na, d->nb, d->na + d->nb };
    arrays->count = BENCH_SORT_ARRAYS;
    arrays->outputs = 1 << BENCH_SORT_OUT | 1 << BENCH_SORT_OUT_VALUES;
    for (int i = 0; i < BENCH_SORT_ARRAYS; i++)
        arrays->size[i] =
            (size_t)rows[i % 3] * (size_t)arrays->problem.count * (i < 3 ? key : value);
}

/* Bits that rise with `rank` in the order of the type; NaNs are not among them. */
static uint64_t in_order(const bench_sortables *d, uint64_t rank) {
    const int bits = (int)bench_number_size(&d->arrays.problem) * 8;
    const char kind = bench_problem_type(&d->arrays.problem)[0];
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
    const bench_problem *p = &d->arrays.problem;
    const int bits = (int)bench_number_size(p) * 8;
    const uint64_t all = bits == 64 ? UINT64_MAX : 0xffffffffu;
    const uint64_t random = bench_hash(p->seed + at + 0x9e3779b97f4a7c15u);
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

static int ascending(const void *u, const void *v) {
    const uint64_t x = *(const uint64_t *)u, y = *(const uint64_t *)v;
    return x < y ? -1 : x > y;
}

/* `few` values of a row to be merged must be put in order. */
static void fill_row(const bench_sortables *d, char *row, int64_t k, int64_t n, uint64_t salt,
                     uint64_t *ranks) {
    const size_t key = bench_number_size(&d->arrays.problem);
    for (int64_t i = 0; i < n; i++) ranks[i] = rank_of(d, salt + (uint64_t)(k * n + i), i, n);
    if (d->merges && strcmp(d->arrays.problem.kind, "few") == 0) {
        qsort(ranks, (size_t)n, sizeof *ranks, ascending);
        for (int64_t i = 0; d->arrays.problem.direction && i < n / 2; i++) {
            const uint64_t swap = ranks[i];
            ranks[i] = ranks[n - 1 - i], ranks[n - 1 - i] = swap;
        }
    }
    for (int64_t i = 0; i < n; i++) {
        const uint64_t bits = in_order(d, ranks[i]);
        const uint32_t half = (uint32_t)bits;
        memcpy(row + (size_t)(k * n + i) * key, key == 4 ? (const void *)&half : &bits, key);
    }
}

static void fill_values(const bench_sortables *d, char *out, int64_t n, int64_t first) {
    const size_t size = (size_t)d->value_bytes;
    for (int64_t i = 0; i < n * d->arrays.problem.count; i++) {
        const uint64_t place = (uint64_t)(first + i % (n ? n : 1));
        const uint32_t half = (uint32_t)place;
        memcpy(out + (size_t)i * size, size == 4 ? (const void *)&half : &place, size);
    }
}

static shoal_status fill(const bench_session *s, bench_arrays *arrays) {
    const bench_sortables *d = (const bench_sortables *)arrays;
    const int64_t lengths[] = { d->na, d->nb };
    uint64_t *ranks = malloc(((size_t)d->arrays.problem.n + 1) * sizeof *ranks);
    if (!ranks) return SHOAL_E_NOMEM;
    for (int i = 0; i < 2; i++) {
        for (int64_t k = 0; k < d->arrays.problem.count && !bench_stopped(s); k++)
            fill_row(d, d->arrays.host[i], k, lengths[i], (uint64_t)i << 40, ranks);
        if (d->value_bytes) fill_values(d, d->arrays.host[i + 3], lengths[i], i * d->na);
    }
    free(ranks);
    return SHOAL_OK;
}

int bench_sortables_make(bench_session *s, const bench_problem *p, bench_place *place, void *of) {
    static const bench_filler filler = { sizes, fill };
    bench_sortables *d = of;
    if (d->arrays.place && !same(p, &d->arrays.problem)) bench_arrays_free(&d->arrays);
    d->merges = merges(p);
    d->value_bytes = value_bytes(p);
    d->na = bench_sort_na(p), d->nb = p->n - d->na;
    for (int i = 0; shoal_key_name((shoal_key)i); i++)
        if (strcmp(shoal_key_name((shoal_key)i), bench_problem_type(p)) == 0) d->key = (shoal_key)i;
    return bench_arrays_make(s, p, place, &filler, &d->arrays);
}

/* ---- the check: shares no line with the library ----------------------------------------------
 *
 * Neighbours are compared sign first, then by size. That the keys are those of the input is checked by
 * the sum of a 64-bit hash of each: a row that differs has the same sum with probability 2^-64. With
 * values, which are the places that keys had, each key is compared with the one that was there, the
 * places are summed up the same way, and those of equal keys must rise if the order is stable. */

static uint64_t element_hash(uint64_t x) { return bench_hash(x) + 1; }

static uint64_t bits_at(const void *array, int64_t i, size_t size) {
    return size == 4 ? ((const uint32_t *)array)[i] : ((const uint64_t *)array)[i];
}

/* Whether u stands before v. */
static bool less(const bench_sortables *d, uint64_t u, uint64_t v) {
    const char kind = bench_problem_type(&d->arrays.problem)[0];
    const int top = (int)bench_number_size(&d->arrays.problem) * 8 - 1;
    if (d->arrays.problem.direction) {
        const uint64_t swap = u;
        u = v, v = swap;
    }
    if (kind == 'u' || u >> top == v >> top) return kind == 'f' && u >> top ? v < u : u < v;
    return u >> top;
}

/* Key `place` of row k of the input. */
static uint64_t input_at(const bench_sortables *d, int64_t k, int64_t place) {
    const size_t key = bench_number_size(&d->arrays.problem);
    if (place < d->na) return bits_at(d->arrays.host[BENCH_SORT_A], k * d->na + place, key);
    return bits_at(d->arrays.host[BENCH_SORT_B], k * d->nb + place - d->na, key);
}

static bool row_is_right(const bench_sortables *d, int64_t k, bool stable) {
    const int64_t n = d->arrays.problem.n, begin = k * n;
    const size_t key = bench_number_size(&d->arrays.problem), value = (size_t)d->value_bytes;
    const void *out = d->arrays.host[BENCH_SORT_OUT],
               *places = d->arrays.host[BENCH_SORT_OUT_VALUES];
    uint64_t sum = 0, before = 0, place_before = 0;
    for (int64_t i = 0; i < n; i++) {
        const uint64_t now = bits_at(out, begin + i, key);
        if (i > 0 && less(d, now, before)) return false;
        if (value) {
            const uint64_t place = bits_at(places, begin + i, value);
            if (place >= (uint64_t)n || input_at(d, k, (int64_t)place) != now) return false;
            if (stable && i > 0 && now == before && place <= place_before) return false;
            sum += element_hash(place) - element_hash((uint64_t)i);
            place_before = place;
        } else {
            sum += element_hash(now) - element_hash(input_at(d, k, i));
        }
        before = now;
    }
    return sum == 0;
}

typedef struct answer { /* to be checked */
    const bench_sortables *data;
    bool stable;
} answer;

static bench_finding look_at_row(const void *of, int64_t k) {
    const answer *a = of;
    return (bench_finding){ .fault = row_is_right(a->data, k, a->stable) ? NULL : "not in order" };
}

shoal_status bench_sort_check(const bench_session *s, const bench_sortables *d, bool stable,
                              bench_check *check) {
    const shoal_status copied = bench_arrays_fetch(&d->arrays);
    if (copied != SHOAL_OK) return copied;
    const int64_t first_wrong =
        bench_check_sample(&(bench_sample){ .count = d->arrays.problem.count,
                                            .checked = d->arrays.problem.count,
                                            .stride = 1,
                                            .threads = d->arrays.place->machine.threads,
                                            .stop = s->rules.stop,
                                            .tolerance = 1,
                                            .error_name = "error",
                                            .look = look_at_row,
                                            .of = &(answer){ d, stable } },
                           check);
    if (first_wrong >= 0)
        snprintf(check->why, sizeof check->why, "row %lld is not its keys in order; %lld of %lld",
                 (long long)first_wrong, (long long)check->wrong,
                 (long long)d->arrays.problem.count);
    return SHOAL_OK;
}

/* ---- one method, or a peer ------------------------------------------------------------------- */

typedef struct solver {
    shoal_sort *sort; /* one of the two */
    shoal_merge *merge;
    const bench_sortables *data;
} solver;

static shoal_status run_set(const solver *v, int set) {
    const bench_sortables *d = v->data;
    void *p[BENCH_SORT_ARRAYS];
    for (int i = 0; i < BENCH_SORT_ARRAYS; i++)
        p[i] = i < 3 || d->value_bytes ? bench_arrays_at(&d->arrays, i, set) : NULL;
    if (v->merge)
        return shoal_merge_run(v->merge, p[BENCH_SORT_A], p[BENCH_SORT_B], p[BENCH_SORT_OUT],
                               p[BENCH_SORT_A_VALUES], p[BENCH_SORT_B_VALUES],
                               p[BENCH_SORT_OUT_VALUES]);
    return shoal_sort_run(v->sort, p[BENCH_SORT_A],
                          d->arrays.problem.index ? NULL : p[BENCH_SORT_A_VALUES],
                          p[BENCH_SORT_OUT], p[BENCH_SORT_OUT_VALUES]);
}

static int timed_call(void *self, int i) {
    const solver *v = self;
    return run_set(v, i % v->data->arrays.sets) == SHOAL_OK ? 0 : -1;
}

static shoal_status create(solver *v, const bench_problem *p) {
    const bench_sortables *d = v->data;
    if (!d->merges)
        return shoal_sort_create(d->arrays.place->ctx,
                                 &(shoal_sort_opts){ .n = p->n,
                                                     .count = p->count,
                                                     .key = d->key,
                                                     .value_bytes = d->value_bytes,
                                                     .index = p->index,
                                                     .descending = p->direction,
                                                     .method = p->method,
                                                     .variant = p->variant },
                                 &v->sort);
    return shoal_merge_create(d->arrays.place->ctx,
                              &(shoal_merge_opts){ .na = d->na,
                                                   .nb = d->nb,
                                                   .count = p->count,
                                                   .key = d->key,
                                                   .value_bytes = d->value_bytes,
                                                   .descending = p->direction,
                                                   .method = p->method,
                                                   .variant = p->variant },
                              &v->merge);
}

static int run(bench_session *s, void *of, const bench_problem *p, bool timed) {
    bench_sortables *d = of;
    solver v = { .data = d };
    shoal_status status = create(&v, p);
    if (status != SHOAL_OK) return bench_no_plan(s, p, d->arrays.place, status);
    shoal_sort_info info = { .method = p->method, .variant = p->variant };
    bench_check check = { 0 };
    char found[48];
    status = bench_arrays_paint(&d->arrays);
    if (status == SHOAL_OK) status = run_set(&v, 0);
    if (status == SHOAL_OK)
        status = v.merge ? shoal_merge_last(v.merge, &info) : shoal_sort_last(v.sort, &info);
    if (status == SHOAL_OK) status = bench_sort_check(s, d, true, &check);
    snprintf(found, sizeof found, "%lld rows", (long long)check.systems);
    const bench_solver ours = { .function = info.method,
                                .variant = info.variant,
                                .found = found,
                                .workspace = info.bytes,
                                .task = {
                                    .call = timed_call, .self = &v, .calls = d->arrays.sets } };
    const int code = bench_add_ours(s, p, d->arrays.place, &ours, status, &check,
                                    timed && p->n > 0 && p->count > 0);
    shoal_sort_free(v.sort);
    shoal_merge_free(v.merge);
    return code;
}

shoal_status bench_sort_check_peer(const bench_session *s, const bench_arrays *d,
                                   bench_check *check) {
    return bench_sort_check(s, (const bench_sortables *)d, false, check);
}

static int peers(bench_session *s, void *data) {
    bench_sortables *d = data;
    if (d->arrays.problem.n == 0 || d->arrays.problem.count == 0) return BENCH_OK;
    return bench_on_cpu(d->arrays.place) ? bench_peer_std(s, d) : bench_peer_cub_sort(s, d);
}

/* ---- the module ------------------------------------------------------------------------------ */

static double all_keys(const bench_problem *p) { return (double)p->n * (double)p->count; }

/* Every key is read and written; every value too, but an index is only written. */
static double bytes(const bench_problem *p) {
    const double value = value_bytes(p);
    return all_keys(p) * (2 * (double)bench_number_size(p) + (p->index ? value : 2 * value));
}

static void cells(const bench_row *row, FILE *file) {
    const bench_problem *p = &row->problem;
    fprintf(file, "%4s %-8s %6d %11lld %9lld", bench_problem_type(p), p->kind, value_bytes(p),
            (long long)p->n, (long long)p->count);
}

static void json_problem(const bench_row *row, io_json *json) {
    const bench_problem *p = &row->problem;
    io_json_string(json, "kind", p->kind);
    io_json_int(json, "n", p->n);
    io_json_int(json, "na", bench_sort_na(p));
    io_json_int(json, "count", p->count);
    io_json_int(json, "value_bytes", value_bytes(p));
    io_json_bool(json, "index", p->index != 0);
    io_json_string(json, "direction", directions[p->direction]);
}

const bench_module bench_sort = {
    .grammar = { .module = "sort", .keys = keys, .takes = takes, .types = types },
    .size = sizeof(bench_sortables),
    .make = bench_sortables_make,
    .release = bench_arrays_free,
    .same = same,
    .run = run,
    .peers = peers,
    .bytes = bytes,
    .work = all_keys,
    .unit = "Mkeys/s",
    .rate = "keys_per_second",
    .heading = "type kind     values           n     count",
    .cells = cells,
    .error_name = "wrong",
    .json_problem = json_problem,
    .checked_key = "rows_checked",
};
