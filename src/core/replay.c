/* SPDX-License-Identifier: Apache-2.0
 *
 * replay.c - work that a plan queues again with the same arguments, as one CUDA graph.
 *
 * A launch of a kernel takes a host 3.4 us, that of a graph 1.7 us, however many kernels it has (H200). So a plan keeps
 * the arguments of its last calls; a call with arguments that it has seen is recorded in a stream of its own, and from
 * then on launched. To record takes as long as some hundred launches: calls with new arrays each time are not recorded.
 */
#include "core/plan.h"
#include <stdlib.h>
#include <string.h>

enum { KEPT = 8, MAX_BYTES = 512 };

typedef struct call {
    shoal_plan_queue *queue; /* NULL: none yet */
    size_t bytes;
    char with[MAX_BYTES];
    void *graph; /* NULL: not recorded */
    int refused; /* cannot be recorded */
} call;

struct shoal_replay {
    void *stream; /* where calls are recorded */
    int oldest;
    call calls[KEPT];
};

static void forget(shoal_plan *head, call *c) {
    if (c->graph) head->ctx->ops->release_graph(head->ctx, c->graph);
    c->queue = NULL, c->graph = NULL, c->refused = 0;
}

/* Records a call; the stream of the context stays. */
static void record(shoal_plan *head, call *c) {
    shoal_context *ctx = head->ctx;
    void *const current = ctx->stream;
    c->refused = 1;
    if (!head->replay->stream && ctx->ops->open_stream(ctx, &head->replay->stream) != SHOAL_OK)
        return;
    ctx->stream = head->replay->stream;
    if (ctx->ops->record(ctx) == SHOAL_OK) {
        const shoal_status status = c->queue(head, c->with);
        c->graph = ctx->ops->recorded(ctx);
        if (status != SHOAL_OK)
            forget(head, c);
        else
            c->refused = !c->graph;
    }
    ctx->stream = current;
}

static void end_replay(shoal_plan *head) {
    if (shoal_ready(head->ctx) == SHOAL_OK) {
        for (int i = 0; i < KEPT; i++) forget(head, &head->replay->calls[i]);
        if (head->replay->stream) head->ctx->ops->close_stream(head->ctx, head->replay->stream);
    }
    free(head->replay);
}

shoal_status shoal_plan_repeat(shoal_plan *head, shoal_plan_queue *queue, const void *with,
                               size_t bytes) {
    if (bytes > MAX_BYTES || !head->ctx->ops) return queue(head, with);
    if (!head->replay) head->replay = calloc(1, sizeof *head->replay);
    if (!head->replay) return queue(head, with);
    head->end_replay = end_replay;
    for (call *c = head->replay->calls; c < head->replay->calls + KEPT; c++) {
        if (c->queue != queue || c->bytes != bytes || memcmp(c->with, with, bytes) != 0) continue;
        if (!c->graph && !c->refused) record(head, c);
        return c->graph ? head->ctx->ops->replay(head->ctx, c->graph) : queue(head, with);
    }
    call *c = &head->replay->calls[head->replay->oldest++ % KEPT];
    forget(head, c);
    c->queue = queue, c->bytes = bytes;
    memcpy(c->with, with, bytes);
    return queue(head, with);
}
