/* SPDX-License-Identifier: Apache-2.0
 *
 * memory.c - how much memory a problem may take, and how many sets of it are worth having.
 *
 * Problems smaller than the last cache get several sets, twice the cache in all, at most MAX_SETS.
 * On a GPU short ones get a few in any case: a sample is one call after another, a set each, so
 * that the clock's grain and the way to the device do not count.
 */
#include "bench/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SETS = 64, FEW_SETS = 4, ALIGN = 256 };
static const size_t ONCE = (size_t)256 << 20; /* bytes above which one set is enough anyway */

bool bench_on_cpu(const bench_place *place) { return strcmp(place->machine.backend, "cpu") == 0; }

int bench_sets(const bench_place *place, size_t bytes) {
    size_t cache = place->device->cache();
    size_t sets = bytes > 0 ? (2 * cache + bytes - 1) / bytes : 1;
    if (sets < FEW_SETS && bytes < ONCE && !bench_on_cpu(place)) sets = FEW_SETS;
    return sets > MAX_SETS ? MAX_SETS : sets < 1 ? 1 : (int)sets;
}

/* Bytes that can be allocated without pushing the machine into swap; SIZE_MAX if unknown. */
static size_t host_memory(void) {
    FILE *file = fopen("/proc/meminfo", "r");
    char line[128];
    size_t bytes = SIZE_MAX;
    unsigned long long kilobytes;
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %llu kB", &kilobytes) == 1) bytes = (size_t)kilobytes << 10;
    if (file) fclose(file);
    return bytes;
}

int bench_room(bench_session *s, const bench_place *place, size_t inside, size_t on_host) {
    size_t there = bench_on_cpu(place) ? SIZE_MAX : place->machine.memory / 10 * 9;
    size_t here = host_memory();
    if (inside <= there && on_host <= here) return BENCH_OK;
    return bench_error(s, SHOAL_E_NOMEM, "the problem needs %.1f GiB of memory, %.1f are there",
                       (double)(inside > there ? inside : on_host) / (1 << 30),
                       (double)(inside > there ? there : here) / (1 << 30));
}

int bench_arrays_allocate(bench_session *s, bench_arrays *data, int count) {
    const bool on_cpu = bench_on_cpu(data->place);
    const size_t last = data->size[count - 1];
    size_t bytes = 0;
    for (int i = 0; i < count; i++) bytes += data->size[i];
    data->sets = bench_sets(data->place, bytes);
    const size_t inside = (size_t)data->sets * bytes;
    if (bench_room(s, data->place, inside, on_cpu ? inside + last : bytes) != BENCH_OK)
        return BENCH_ERROR;
    data->answer = malloc(last ? last : 1);
    bool enough = data->answer;
    for (int i = 0; i < count; i++) {
        data->step[i] = (data->size[i] + ALIGN - 1) / ALIGN * ALIGN;
        const size_t block = (size_t)data->sets * data->step[i];
        const shoal_status status =
            shoal_alloc(data->place->ctx, block ? block : ALIGN, &data->memory[i]);
        if (status != SHOAL_OK)
            return bench_error(s, status, "%s", shoal_message(data->place->ctx));
        if (i == count - 1) break;
        data->host[i] = on_cpu ? data->memory[i] : malloc(data->size[i] ? data->size[i] : 1);
        enough = enough && data->host[i];
    }
    return enough ? BENCH_OK : bench_error(s, SHOAL_E_NOMEM, "no memory for the problem");
}

shoal_status bench_arrays_upload(const bench_arrays *data, int i) {
    shoal_status status = SHOAL_OK;
    const int first = data->host[i] == data->memory[i] ? 1 : 0;
    for (int set = first; set < data->sets && status == SHOAL_OK && data->size[i] > 0; set++)
        status = shoal_copy(data->place->ctx, bench_arrays_at(data, i, set), data->host[i],
                            data->size[i]);
    return status;
}

void bench_arrays_free(void *of) {
    bench_arrays *data = of;
    for (int i = 0; i < BENCH_ARRAYS; i++) {
        if (data->host[i] != data->memory[i]) free(data->host[i]);
        if (data->place) shoal_free(data->place->ctx, data->memory[i]);
    }
    free(data->answer);
    *data = (bench_arrays){ 0 };
}

void *bench_arrays_at(const bench_arrays *data, int i, int set) {
    return (char *)data->memory[i] + (size_t)set * data->step[i];
}
