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

static bool is_output(const bench_arrays *data, int i) { return data->outputs >> i & 1; }

static int allocate(bench_session *s, bench_arrays *data) {
    const bool on_cpu = bench_on_cpu(data->place);
    size_t bytes = 0, answers = 0;
    for (int i = 0; i < data->count; i++) {
        bytes += data->size[i];
        if (is_output(data, i)) answers += data->size[i];
    }
    if (data->sets == 0) data->sets = bench_sets(data->place, bytes);
    const size_t inside = (size_t)data->sets * bytes;
    if (bench_room(s, data->place, inside, on_cpu ? inside + answers : bytes) != BENCH_OK)
        return BENCH_ERROR;
    bool enough = true;
    for (int i = 0; i < data->count; i++) {
        data->step[i] = (data->size[i] + ALIGN - 1) / ALIGN * ALIGN;
        const size_t block = (size_t)data->sets * data->step[i];
        const shoal_status status =
            shoal_alloc(data->place->ctx, block ? block : ALIGN, &data->memory[i]);
        if (status != SHOAL_OK)
            return bench_error(s, status, "%s", shoal_message(data->place->ctx));
        const bool shared = on_cpu && !is_output(data, i);
        data->host[i] = shared ? data->memory[i] : malloc(data->size[i] ? data->size[i] : 1);
        enough = enough && data->host[i];
    }
    return enough ? BENCH_OK : bench_error(s, SHOAL_E_NOMEM, "no memory for the problem");
}

int bench_arrays_make(bench_session *s, const bench_problem *p, bench_place *place,
                      const bench_filler *filler, bench_arrays *data) {
    if (data->place == place && bench_same_data(p, &data->problem)) return BENCH_OK;
    bench_arrays_free(data);
    data->problem = *p;
    data->place = place;
    filler->sizes(data);
    int code = allocate(s, data);
    shoal_status status = code == BENCH_OK ? filler->fill(s, data) : SHOAL_OK;
    for (int i = 0; i < data->count && code == BENCH_OK && status == SHOAL_OK; i++)
        if (!is_output(data, i)) status = bench_arrays_upload(data, i);
    if (status != SHOAL_OK) code = bench_error(s, status, "%s", bench_message(place, status));
    if (code == BENCH_OK && bench_stopped(s)) code = BENCH_STOPPED; /* not all may be filled */
    if (code != BENCH_OK) bench_arrays_free(data);
    return code;
}

shoal_status bench_arrays_paint(const bench_arrays *data) {
    shoal_status status = SHOAL_OK;
    for (int i = 0; i < data->count && status == SHOAL_OK; i++) {
        if (!is_output(data, i) || data->size[i] == 0) continue;
        memset(data->host[i], 0x42, data->size[i]);
        status = shoal_copy(data->place->ctx, data->memory[i], data->host[i], data->size[i]);
    }
    return status;
}

shoal_status bench_arrays_fetch(const bench_arrays *data) {
    shoal_status status = SHOAL_OK;
    for (int i = 0; i < data->count && status == SHOAL_OK; i++)
        if (is_output(data, i) && data->size[i] > 0)
            status = shoal_copy(data->place->ctx, data->host[i], data->memory[i], data->size[i]);
    return status;
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
    *data = (bench_arrays){ 0 };
}

void *bench_arrays_at(const bench_arrays *data, int i, int set) {
    return (char *)data->memory[i] + (size_t)set * data->step[i];
}

shoal_status bench_outcome_make(shoal_context *ctx, int64_t count, int members, bench_outcome *o) {
    const size_t bytes = (size_t)(count > 0 ? count : 1) * 4;
    *o = (bench_outcome){ .count = count, .status = calloc(1, bytes) };
    if (members & BENCH_RESIDUAL) o->residual = calloc(1, bytes);
    if (members & BENCH_RCOND) o->rcond = calloc(1, bytes);
    shoal_status status = o->status ? SHOAL_OK : SHOAL_E_NOMEM;
    if (status == SHOAL_OK) status = shoal_alloc(ctx, bytes, (void **)&o->there.status);
    if (status == SHOAL_OK && members & BENCH_RESIDUAL)
        status = o->residual ? shoal_alloc(ctx, bytes, (void **)&o->there.residual) : SHOAL_E_NOMEM;
    if (status == SHOAL_OK && members & BENCH_RCOND)
        status = o->rcond ? shoal_alloc(ctx, bytes, (void **)&o->there.rcond) : SHOAL_E_NOMEM;
    return status;
}

shoal_status bench_outcome_fetch(shoal_context *ctx, bench_outcome *o) {
    const size_t bytes = 4 * (size_t)o->count;
    if (bytes == 0) return SHOAL_OK;
    shoal_status status = shoal_copy(ctx, o->status, o->there.status, bytes);
    if (status == SHOAL_OK && o->residual)
        status = shoal_copy(ctx, o->residual, o->there.residual, bytes);
    if (status == SHOAL_OK && o->rcond) status = shoal_copy(ctx, o->rcond, o->there.rcond, bytes);
    return status;
}

void bench_outcome_free(shoal_context *ctx, bench_outcome *o) {
    shoal_free(ctx, o->there.status);
    shoal_free(ctx, o->there.residual);
    shoal_free(ctx, o->there.rcond);
    free(o->status);
    free(o->residual);
    free(o->rcond);
}
