/* SPDX-License-Identifier: Apache-2.0
 *
 * test_replay.c - shoal_plan_repeat() on a device that only counts: a call is queued, then recorded, then replayed; calls
 * with other arguments, and those that cannot be recorded, are queued.
 */
#include "core/plan.h"
#include "test.h"
#include <stdlib.h>

static struct { int queued, recorded, replayed, released, opened, closed; } seen;
static int refuses, fails; /* the device cannot record; the call fails while it is recorded */
static char own_stream, users_stream;
static shoal_context ctx;

static shoal_status use(shoal_context *c) { return c->usable ? SHOAL_OK : SHOAL_E_CUDA; }
static shoal_status open_stream(shoal_context *c, void **stream) {
    (void)c;
    seen.opened++;
    *stream = &own_stream;
    return SHOAL_OK;
}
static void close_stream(shoal_context *c, void *stream) {
    (void)c;
    seen.closed += stream == &own_stream;
}
static shoal_status record(shoal_context *c) {
    CHECK(c->stream == &own_stream);
    return refuses ? SHOAL_E_CUDA : SHOAL_OK;
}
static void *recorded(shoal_context *c) {
    CHECK(c->stream == &own_stream);
    seen.recorded++;
    return malloc(1);
}
static shoal_status replay(shoal_context *c, void *graph) {
    CHECK(graph && c->stream == &users_stream);
    seen.replayed++;
    return SHOAL_OK;
}
static void release_graph(shoal_context *c, void *graph) {
    (void)c;
    seen.released++;
    free(graph);
}
static const shoal_device_ops ops = { .use = use,
                                      .open_stream = open_stream,
                                      .close_stream = close_stream,
                                      .record = record,
                                      .recorded = recorded,
                                      .replay = replay,
                                      .release_graph = release_graph };

static shoal_status queue(void *plan, const void *with) {
    CHECK(plan && with);
    seen.queued++;
    return fails && ctx.stream == &own_stream ? SHOAL_E_CUDA : SHOAL_OK;
}
static shoal_status other_queue(void *plan, const void *with) { return queue(plan, with); }

static shoal_plan *begin(void) {
    shoal_plan *plan = calloc(1, sizeof *plan);
    memset(&seen, 0, sizeof seen);
    ctx.ops = &ops, ctx.usable = 1, ctx.stream = &users_stream;
    plan->ctx = &ctx;
    return plan;
}

/* A call with a number: how often it was queued and replayed. */
static void call(shoal_plan *plan, int number, int queued, int replayed) {
    const int before[2] = { seen.queued, seen.replayed };
    CHECK(shoal_plan_repeat(plan, queue, &number, sizeof number) == SHOAL_OK);
    CHECK(ctx.stream == &users_stream);
    CHECK_MSG(seen.queued - before[0] == queued && seen.replayed - before[1] == replayed,
              "call %d: queued %d times, replayed %d times", number, seen.queued - before[0],
              seen.replayed - before[1]);
}

TEST(a_call_that_comes_again_is_replayed) {
    shoal_plan *plan = begin();
    call(plan, 1, 1, 0);
    call(plan, 1, 1, 1); /* queued to be recorded */
    call(plan, 1, 0, 1);
    call(plan, 2, 1, 0);
    call(plan, 1, 0, 1);
    CHECK(seen.opened == 1 && seen.recorded == 1 && seen.released == 0);
    shoal_plan_free(plan);
    CHECK(seen.released == 1 && seen.closed == 1);
}

TEST(other_work_is_queued) {
    shoal_plan *plan = begin();
    const int number = 1;
    char large[1000] = "";
    call(plan, 1, 1, 0);
    CHECK(shoal_plan_repeat(plan, other_queue, &number, sizeof number) == SHOAL_OK);
    CHECK(shoal_plan_repeat(plan, queue, &number, 1) == SHOAL_OK);
    CHECK(seen.queued == 3 && seen.recorded == 0);
    for (int i = 0; i < 3; i++)
        CHECK(shoal_plan_repeat(plan, queue, large, sizeof large) == SHOAL_OK);
    CHECK(seen.queued == 6 && seen.recorded == 0);
    ctx.ops = NULL;
    for (int i = 0; i < 3; i++)
        CHECK(shoal_plan_repeat(plan, queue, &number, sizeof number) == SHOAL_OK);
    CHECK(seen.queued == 9 && seen.recorded == 0);
    ctx.ops = &ops;
    shoal_plan_free(plan);
    CHECK(seen.released == 0 && seen.closed == 0);
}

TEST(few_calls_are_kept) {
    shoal_plan *plan = begin();
    for (int i = 0; i < 8; i++) call(plan, i, 1, 0);
    for (int i = 0; i < 8; i++) call(plan, i, 1, 1);
    call(plan, 8, 1, 0); /* in place of 0, the oldest */
    CHECK(seen.recorded == 8 && seen.released == 1 && seen.opened == 1);
    for (int i = 1; i < 8; i++) call(plan, i, 0, 1);
    call(plan, 0, 1, 0);
    shoal_plan_free(plan);
    CHECK(seen.released == 8 && seen.closed == 1);
}

TEST(what_cannot_be_recorded_is_queued) {
    shoal_plan *plan = begin();
    refuses = 1;
    call(plan, 1, 1, 0);
    for (int i = 0; i < 3; i++) call(plan, 1, 1, 0);
    refuses = 0;
    call(plan, 1, 1, 0); /* not tried again */
    fails = 1;
    call(plan, 2, 1, 0);
    call(plan, 2, 2, 0);
    CHECK(seen.recorded == 1 && seen.released == 1);
    fails = 0;
    shoal_plan_free(plan);
    plan = begin();
    call(plan, 1, 1, 0);
    call(plan, 1, 1, 1);
    ctx.usable = 0; /* a device that does not answer is left alone */
    shoal_plan_free(plan);
    CHECK(seen.released == 0);
}

int main(int argc, char **argv) {
    TEST_BEGIN(argc, argv);
    RUN(a_call_that_comes_again_is_replayed);
    RUN(other_work_is_queued);
    RUN(few_calls_are_kept);
    RUN(what_cannot_be_recorded_is_queued);
    return TEST_END();
}
