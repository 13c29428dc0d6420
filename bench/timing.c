/* SPDX-License-Identifier: Apache-2.0
 *
 * timing.c - the measuring loop, and the CPU's clock, cache and copy bandwidth.
 *
 * The copy is what a streaming program can hope for: as many threads as the solver has, each copies
 * its own stretch of an array that no cache holds, the memory touched first by the thread that uses
 * it. Bytes read and bytes written are both counted.
 */
#define _GNU_SOURCE
#include "bench/timing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MAX_SAMPLES = 2000, COPY_SAMPLES = 5 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int bench_by_value(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Value at a share of the sorted samples, interpolated. */
static double quantile(const double *sorted, int count, double share) {
    double place = share * (count - 1);
    int below = (int)place;
    int above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
}

void bench_summarise(double *seconds, int samples, int calls, bench_stats *stats) {
    *stats = (bench_stats){ .samples = samples, .calls = calls };
    if (samples == 0) return;
    qsort(seconds, (size_t)samples, sizeof *seconds, bench_by_value);
    stats->median = quantile(seconds, samples, 0.5);
    stats->first_quartile = quantile(seconds, samples, 0.25);
    stats->third_quartile = quantile(seconds, samples, 0.75);
    stats->fastest = seconds[0];
    stats->spread = (stats->third_quartile - stats->first_quartile) / 2;
}

/* One sample; negative if the task or the device failed. */
static double sample(const bench_device *device, const bench_task *task) {
    if (task->prepare && task->prepare(task->self)) return -1;
    if (device->start()) return -1;
    for (int i = 0; i < task->calls; i++)
        if (task->call(task->self, i)) return -1;
    double seconds = device->stop();
    return seconds < 0 ? -1 : seconds / task->calls;
}

int bench_measure(const bench_device *device, const bench_rules *rules, const bench_task *task,
                  bench_stats *stats) {
    double *seconds = malloc(MAX_SAMPLES * sizeof *seconds);
    *stats = (bench_stats){ 0 };
    if (!seconds) return BENCH_ERROR;
    int samples = 0, code = BENCH_OK;
    const int wanted = rules->samples < MAX_SAMPLES ? rules->samples : MAX_SAMPLES;
    if (sample(device, task) < 0) code = BENCH_ERROR; /* warm-up: not counted */
    const double begin = now();
    while (code == BENCH_OK && samples < MAX_SAMPLES) {
        double passed = now() - begin;
        bool enough = samples >= wanted && (rules->exact || passed >= rules->shortest);
        bool too_long = !rules->exact && samples >= 3 && passed >= rules->longest;
        if (enough || too_long) break;
        if (rules->stop && rules->stop()) {
            code = BENCH_STOPPED;
            break;
        }
        double one = sample(device, task);
        if (one < 0)
            code = BENCH_ERROR;
        else
            seconds[samples++] = one;
    }
    bench_summarise(seconds, samples, task->calls, stats);
    free(seconds);
    return code;
}

/* --- the CPU --- */

static double cpu_begin; /* of the sample in hand: the program measures one thing at a time */

static int cpu_start(void) {
    cpu_begin = now();
    return 0;
}

static double cpu_stop(void) { return now() - cpu_begin; }

/* "36608K" or "32M" in a file of /sys; 0 if there is no such file. */
static size_t size_in_file(const char *path) {
    FILE *file = fopen(path, "r");
    if (!file) return 0;
    char line[32] = "", unit = ' ';
    unsigned long value = 0;
    const bool is_read = fgets(line, sizeof line, file) && sscanf(line, "%lu%c", &value, &unit) > 0;
    fclose(file);
    if (!is_read) return 0;
    return (size_t)value << (unit == 'K' ? 10 : unit == 'M' ? 20 : 0);
}

static size_t cpu_cache(void) {
    long known = sysconf(_SC_LEVEL3_CACHE_SIZE);
    size_t largest = known > 0 ? (size_t)known : 0;
    for (int i = 0; i < 8; i++) {
        char path[96];
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", i);
        size_t bytes = size_in_file(path);
        if (bytes > largest) largest = bytes;
    }
    return largest ? largest : (size_t)32 << 20;
}

/* In pieces, which end early once the user ends the run. The first touch of a page takes long: small pieces. */
static void copy_part(char *to, char *from, size_t bytes, int fill, bool (*stop)(void)) {
    const size_t piece = (size_t)(fill < 0 ? 16 : 1) << 20;
    for (size_t at = 0; at < bytes && !(stop && stop()); at += piece) {
        const size_t length = bytes - at < piece ? bytes - at : piece;
        if (fill >= 0) memset(from + at, fill, length);
        memcpy(to + at, from + at, length);
    }
}

static double cpu_copy_rate(int threads, bool (*stop)(void)) {
    if (threads < 1) threads = 1;
    size_t bytes = cpu_cache(); /* of each array: after both, nothing is found in the cache */
    if (bytes < (size_t)128 << 20) bytes = (size_t)128 << 20;
    if (bytes > (size_t)1 << 30) bytes = (size_t)1 << 30;
    const size_t part = bytes / (size_t)threads / 4096 * 4096;
    char *from = malloc(bytes), *to = malloc(bytes);
    double seconds[COPY_SAMPLES];
    bench_stats stats = { 0 };
    if (from && to && part > 0) {
        for (int s = -1; s < COPY_SAMPLES && !(stop && stop()); s++) {
            double begin = now();
#pragma omp parallel for num_threads(threads) schedule(static, 1)
            for (int t = 0; t < threads; t++) {
                const size_t at = (size_t)t * part;
                const int fill = s < 0 ? t & 127 : -1; /* first touch, and warm-up */
                copy_part(to + at, from + at, part, fill, stop);
            }
            if (s >= 0) seconds[s] = now() - begin;
        }
        if (!(stop && stop())) bench_summarise(seconds, COPY_SAMPLES, 1, &stats);
    }
    free(from);
    free(to);
    return stats.median > 0 ? 2.0 * (double)(part * (size_t)threads) / stats.median : 0;
}

const bench_device bench_cpu = { "cpu", cpu_start, cpu_stop, cpu_copy_rate, cpu_cache, NULL };

const bench_device *bench_device_of(const char *backend) {
    if (strcmp(backend, "cpu") == 0) return &bench_cpu;
#ifdef SHOAL_CUDA
    if (strcmp(backend, "cuda") == 0) return &bench_cuda;
#endif
    return NULL;
}
