/* SPDX-License-Identifier: Apache-2.0
 *
 * progress.c - calls the caller's function up to twenty times per second, and keeps its answer.
 *
 * Loops over packs of a microsecond ask, too: the clock is read at every 64th question while questions come
 * faster than one per millisecond, at every one otherwise.
 */
#include "core/progress.h"
#include <time.h>

enum { MAX_STRIDE = 64 };
#define INTERVAL 0.05 /* seconds between two calls of the caller's function */
#define OFTEN    1e-3 /* seconds between two looks at the clock: more questions are skipped below */
#define RARELY   1e-2 /* and none above */

static _Thread_local char this_thread; /* its address identifies the thread */

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int is_cancelled(const shoal_watch *w) {
    return __atomic_load_n(&w->cancelled, __ATOMIC_RELAXED);
}

static void report(shoal_watch *w, double fraction) {
    const double now = w->low + (w->high - w->low) * (fraction < 1 ? fraction : 1);
    if (now > w->fraction) w->fraction = now < 1 ? now : 1;
    w->has_reported = 1;
    if (w->call(w->user, w->stage, w->fraction) != 0)
        __atomic_store_n(&w->cancelled, 1, __ATOMIC_RELAXED);
}

static void look(shoal_watch *w, double fraction) {
    const double now = seconds(), since = now - w->looked;
    if (since < OFTEN && w->stride < MAX_STRIDE) w->stride *= 2;
    if (since > RARELY) w->stride = 1;
    w->looked = now, w->skipped = 0;
    if (now - w->reported < INTERVAL) return;
    report(w, fraction);
    w->reported = w->looked = seconds(); /* the function may take its time */
}

int shoal_is_cancelled(const shoal_context *ctx, int64_t done, int64_t all) {
    shoal_watch *w = ctx->watch;
    if (!w->stage) return 0;
    if (w->owner == &this_thread && ++w->skipped >= w->stride && !is_cancelled(w))
        look(w, all > 0 ? (double)done / (double)all : 0);
    return is_cancelled(w);
}

shoal_stage shoal_stage_begin(const shoal_context *ctx, const char *name) {
    shoal_watch *w = ctx->watch;
    if (!w->call || (w->stage && w->owner != &this_thread)) return (shoal_stage){ 0 };
    const shoal_stage stage = { 1, w->stage == NULL, w->low, w->high };
    if (!stage.is_outermost) return stage;
    const double now = seconds();
    *w = (shoal_watch){ .call = w->call,
                        .user = w->user,
                        .stage = name,
                        .owner = &this_thread,
                        .high = 1,
                        .reported = now,
                        .looked = now,
                        .stride = 1 };
    return (shoal_stage){ 1, 1, 0, 1 };
}

shoal_status shoal_stage_step(const shoal_context *ctx, const shoal_stage *stage, double from,
                              double to, double all) {
    shoal_watch *w = ctx->watch;
    if (!stage->is_counted) return w->stage && is_cancelled(w) ? SHOAL_E_CANCELLED : SHOAL_OK;
    const double width = all > 0 ? (stage->high - stage->low) / all : 0;
    w->low = stage->low + width * from, w->high = stage->low + width * to;
    if (!is_cancelled(w)) look(w, 0);
    return is_cancelled(w) ? SHOAL_E_CANCELLED : SHOAL_OK;
}

shoal_status shoal_stage_end(shoal_context *ctx, const shoal_stage *stage, shoal_status status) {
    shoal_watch *w = ctx->watch;
    if (!stage->is_counted) return status;
    w->low = stage->low, w->high = stage->high;
    const int cancelled = is_cancelled(w);
    if (stage->is_outermost) {
        if (!cancelled && w->has_reported && status == SHOAL_OK) report(w, 1);
        w->stage = NULL;
        if (cancelled)
            shoal_fail(ctx, SHOAL_E_CANCELLED, "%s", "the progress function cancelled the call");
    }
    return cancelled ? SHOAL_E_CANCELLED : status;
}

shoal_status shoal_set_progress(shoal_context *ctx, shoal_progress *call, void *user) {
    if (!ctx) return SHOAL_E_ARG;
    if (ctx->watch->stage)
        return shoal_fail(ctx, SHOAL_E_ARG,
                          "the progress function cannot be changed during a call");
    ctx->watch->call = call, ctx->watch->user = user;
    return SHOAL_OK;
}
