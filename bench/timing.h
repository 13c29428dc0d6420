/* SPDX-License-Identifier: Apache-2.0
 *
 * timing.h - how long a call takes, and what the machine could do at best.
 *
 * A sample is the time of `calls` calls in a row, divided by their number; the calls go round the
 * sets of input, so that small problems are not served from the cache. Samples are taken until
 * there are enough of them and enough time has passed; the median and the quartiles are kept.
 */
#ifndef BENCH_TIMING_H
#define BENCH_TIMING_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The clock of a backend. On CUDA, start and stop are events around the calls in the default
 * stream, so that the time is the device's own. */
typedef struct bench_device {
    const char *name;     /* "cpu" or "cuda"                             */
    int (*start)(void);   /* 0, or -1: the device reports an error       */
    double (*stop)(void); /* seconds since start, -1 on error; waits     */
    double (*copy_rate)(int threads,
                        bool (*stop)(void));     /* bytes read + written per second, 0: unknown */
    size_t (*cache)(void);                       /* bytes of the last cache before memory       */
    void (*software)(char *text, size_t length); /* runtime and driver versions; NULL: none     */
} bench_device;

extern const bench_device bench_cpu;
extern const bench_device bench_cuda;
const bench_device *bench_device_of(const char *backend); /* NULL: not in this build */

typedef struct bench_rules {
    int samples;        /* at least, unless `longest` comes first; exactly, if `exact`  */
    double shortest;    /* seconds of measuring at least                                */
    double longest;     /* seconds of measuring at most                                 */
    bool exact;         /* exactly `samples`, however long they take                    */
    bool (*stop)(void); /* whether to stop; may be NULL                                */
} bench_rules;

typedef struct bench_stats { /* seconds per call */
    double median, spread;   /* spread: half the distance between the quartiles */
    double first_quartile, third_quartile, fastest;
    int samples, calls;
} bench_stats;

typedef struct bench_task {
    int (*prepare)(void *self);     /* before each sample, not timed; NULL: nothing; 0 = good */
    int (*call)(void *self, int i); /* call i of a sample; 0 = good                           */
    void *self;
    int calls; /* in a sample, at least 1                                */
} bench_task;

enum { BENCH_OK = 0, BENCH_STOPPED = 1, BENCH_ERROR = 2 };

/* BENCH_STOPPED: the user ended it; stats hold what was measured before (samples may be 0). */
int bench_measure(const bench_device *device, const bench_rules *rules, const bench_task *task,
                  bench_stats *stats);

int bench_by_value(const void *left, const void *right); /* of double, ascending, for qsort() */
/* Median, quartiles and fastest of `samples` values, which are sorted in place. */
void bench_summarise(double *seconds, int samples, int calls, bench_stats *stats);

#ifdef __cplusplus
}
#endif
#endif
