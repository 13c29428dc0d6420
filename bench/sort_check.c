/* SPDX-License-Identifier: Apache-2.0
 *
 * sort_check.c - is a row sorted, and of the same keys? Shares no line with the library.
 *
 * Neighbours are compared sign first, then by size. That the keys are those of the input is checked by
 * the sum of a 64-bit hash of each: a row that differs has the same sum with probability 2^-64. With
 * values, which are the places that keys had, each key is compared with the one that was there, the
 * places are summed up the same way, and those of equal keys must rise if the order is stable.
 */
#include "bench/sort.h"

#include <stdio.h>

#include "bench/numbers.h"

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
    const void *keys = d->arrays.host[BENCH_SORT_OUT],
               *values = d->arrays.host[BENCH_SORT_OUT_VALUES];
    uint64_t sum = 0, before = 0, place_before = 0;
    for (int64_t i = 0; i < n; i++) {
        const uint64_t now = bits_at(keys, begin + i, key);
        if (i > 0 && less(d, now, before)) return false;
        if (value) {
            const uint64_t place = bits_at(values, begin + i, value);
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
