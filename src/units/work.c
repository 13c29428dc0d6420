/* SPDX-License-Identifier: Apache-2.0
 *
 * work.c - the missing units of a job on several devices at once. One thread per device takes the next unit that is
 * neither there nor under way. The first device's is the caller's thread, which is the only one that calls the
 * caller's progress function. A device that fails hands its unit back and takes no more. Several contexts work on
 * streams of their own: on the default stream each would wait for the kernels of the others of its device.
 */
#include "units/units.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct pool {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    shoal_units *to; /* the first worker */
    char *taken;     /* [units]: under way */
    int64_t from;    /* none before it is to be done */
    double begun;
    int count;
    int working; /* devices that have not failed */
    int lost;
    int over; /* the call has failed: nobody takes a unit any more; read without the lock */
    shoal_status status; /* of the call: its message is that of the first worker's context */
} pool;

typedef struct worker {
    pool *pool;
    int number;
    shoal_units *units;
    void *bytes;
    shoal_stage stage;    /* of the caller's thread */
    shoal_progress *call; /* what the context had   */
    void *user;
    pthread_t thread;
    int is_started;
} worker;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The first unit that is to be done, or -1. */
static int64_t next_unit(pool *c) {
    const int64_t units = c->to->units;
    while (c->from < units && (c->to->there[c->from] || c->taken[c->from])) c->from++;
    return c->from < units ? c->from : -1;
}

static void end_all(pool *c, shoal_status status) {
    if (c->status == SHOAL_OK) c->status = status;
    __atomic_store_n(&c->over, 1, __ATOMIC_RELAXED);
}

/* The progress function of all contexts but the first one. */
static int ask_crew(void *user, const char *stage, double fraction) {
    (void)stage, (void)fraction;
    return __atomic_load_n(&((pool *)user)->over, __ATOMIC_RELAXED);
}

/* Of the device, not of the caller's arguments: another device may do the unit. */
static int is_loss(shoal_status s) {
    return s == SHOAL_E_CUDA || s == SHOAL_E_BACKEND || s == SHOAL_E_NOMEM;
}

static void copy_message(shoal_context *to, const shoal_context *from) {
    if (to != from) memcpy(to->message, from->message, sizeof to->message);
}

/* The caller is told how far all are. Without the lock. */
static shoal_status tell(const worker *w, int64_t done, int64_t to) {
    const pool *c = w->pool;
    if (w->units != c->to) return SHOAL_OK;
    return shoal_stage_step(c->to->head.ctx, &w->stage, (double)done, (double)to,
                            (double)c->to->units);
}

/* Waits for units that others hand back; the caller's thread asks the caller now and then. Holds the lock. */
static void wait_for_others(worker *w) {
    pool *c = w->pool;
    struct timespec until;
    timespec_get(&until, TIME_UTC);
    until.tv_nsec += 50000000;
    if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
    pthread_cond_timedwait(&c->changed, &c->lock, &until);
    const int64_t done = c->to->done;
    pthread_mutex_unlock(&c->lock);
    const shoal_status s = tell(w, done, done);
    pthread_mutex_lock(&c->lock);
    if (s != SHOAL_OK) end_all(c, s);
}

/* One unit, without the lock: run and written. */
static shoal_status do_unit(worker *w, int64_t unit, int64_t done, shoal_unit *about) {
    size_t size = 0;
    shoal_status s = tell(w, done, done + 1);
    const int with_sum = w->pool->to->folder != NULL; /* otherwise they stay in memory */
    if (s == SHOAL_OK) s = shoal_units_make(w->units, unit, 0, with_sum, w->bytes, &size);
    if (s == SHOAL_OK) s = shoal_units_check(w->units, w->bytes, size, with_sum, about);
    if (s == SHOAL_OK) s = shoal_units_write(w->pool->to, w->units->head.ctx, unit, w->bytes, size);
    return s;
}

/* Takes units until there are none. Returns whether the device was lost. Holds the lock but while it works. */
static int take_units(worker *w) {
    pool *c = w->pool;
    while (!c->over && c->to->done < c->to->units) {
        const int64_t unit = next_unit(c);
        shoal_unit about;
        if (unit < 0) {
            wait_for_others(w);
            continue;
        }
        const int64_t done = c->to->done;
        const double begin = now() - c->begun;
        c->taken[unit] = 1;
        pthread_mutex_unlock(&c->lock);
        shoal_status s = do_unit(w, unit, done, &about);
        pthread_mutex_lock(&c->lock);
        c->taken[unit] = 0;
        if (s != SHOAL_OK && unit < c->from) c->from = unit; /* handed back */
        pthread_cond_broadcast(&c->changed);
        if (c->over) break;
        if (is_loss(s) && c->working > 1) return 1;
        if (s != SHOAL_OK)
            copy_message(c->to->head.ctx, w->units->head.ctx);
        else
            s = shoal_units_insert(c->to, &about);
        if (s == SHOAL_OK)
            c->to->trace[unit] = (shoal_units_trace){ w->number, begin, now() - c->begun };
        else
            end_all(c, s);
    }
    return 0;
}

static void *work(void *user) {
    worker *w = user;
    pool *c = w->pool;
    shoal_context *ctx = w->units->head.ctx;
    if (c->count > 1) shoal_use_own_stream(ctx); /* otherwise on the stream that it has */
    pthread_mutex_lock(&c->lock);
    if (take_units(w)) {
        c->working--, c->lost++;
        pthread_cond_broadcast(&c->changed);
        /* the caller's thread stays to answer for all */
        while (w->units == c->to && !c->over && c->to->done < c->to->units) wait_for_others(w);
    }
    pthread_mutex_unlock(&c->lock);
    shoal_leave_own_stream(ctx); /* all results have been copied */
    return NULL;
}

/* Whether all workers are of the same job. */
static shoal_status check_workers(shoal_units *const *workers, int count) {
    shoal_context *ctx = workers[0]->head.ctx;
    for (int i = 1; i < count; i++) {
        if (!workers[i]) return shoal_fail(ctx, SHOAL_E_ARG, "workers[%d] is NULL", i);
        if (memcmp(workers[i]->digest, workers[0]->digest, UNITS_DIGEST) != 0)
            return shoal_fail(ctx, SHOAL_E_ARG, "workers[%d] is another job", i);
        for (int k = 0; k < i; k++)
            if (workers[k]->head.ctx == workers[i]->head.ctx)
                return shoal_fail(ctx, SHOAL_E_ARG,
                                  "workers[%d] has the context of workers[%d]; each needs its own",
                                  i, k);
    }
    return SHOAL_OK;
}

static shoal_status begin(pool *c, worker *w, shoal_units *const *units, int count) {
    shoal_units_info info;
    shoal_status s = shoal_units_describe(units[0], &info);
    for (int i = 0; i < count && s == SHOAL_OK; i++) {
        const shoal_watch *watch = units[i]->head.ctx->watch;
        w[i] = (worker){ .pool = c, .units = units[i], .call = watch->call, .user = watch->user };
        w[i].number = i;
        w[i].bytes = malloc(info.bytes);
        if (!w[i].bytes) s = SHOAL_NO_MEMORY(units[0]->head.ctx, "a unit of %zu bytes", info.bytes);
    }
    return s;
}

shoal_status shoal_units_work(shoal_units *const *workers, int count, int *lost) {
    if (!workers || count < 1 || !workers[0]) return SHOAL_E_ARG;
    shoal_context *ctx = workers[0]->head.ctx;
    pool c = { .to = workers[0], .count = count, .working = count, .begun = now() };
    worker *w = calloc((size_t)count, sizeof *w);
    c.taken = calloc((size_t)workers[0]->units, 1);
    shoal_units_trace **trace = &workers[0]->trace;
    if (!*trace) *trace = malloc((size_t)workers[0]->units * sizeof **trace);
    for (int64_t i = 0; *trace && i < workers[0]->units; i++)
        (*trace)[i] = (shoal_units_trace){ .worker = -1 };
    shoal_status s = w && c.taken && *trace ? SHOAL_OK : SHOAL_NO_MEMORY(ctx, "units");
    if (s == SHOAL_OK) s = check_workers(workers, count);
    if (s == SHOAL_OK) s = begin(&c, w, workers, count);
    pthread_mutex_init(&c.lock, NULL);
    pthread_cond_init(&c.changed, NULL);
    for (int i = 1; i < count && s == SHOAL_OK; i++) {
        shoal_set_progress(workers[i]->head.ctx, ask_crew, &c);
        w[i].is_started = pthread_create(&w[i].thread, NULL, work, &w[i]) == 0;
        if (w[i].is_started) continue;
        pthread_mutex_lock(&c.lock);
        c.working--, c.lost++; /* the others do its share */
        pthread_mutex_unlock(&c.lock);
    }
    if (s == SHOAL_OK) {
        w[0].stage = shoal_stage_begin(ctx, "units");
        work(&w[0]);
        c.status = shoal_stage_end(ctx, &w[0].stage, c.status);
    }
    for (int i = 1; i < count && w; i++) {
        if (w[i].is_started) pthread_join(w[i].thread, NULL);
        if (w[i].units) shoal_set_progress(workers[i]->head.ctx, w[i].call, w[i].user);
    }
    for (int i = 0; i < count && w; i++) free(w[i].bytes);
    pthread_cond_destroy(&c.changed);
    pthread_mutex_destroy(&c.lock);
    free(c.taken);
    free(w);
    if (lost) *lost = c.lost;
    return s == SHOAL_OK ? c.status : s;
}
