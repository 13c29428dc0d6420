/* SPDX-License-Identifier: Apache-2.0
 *
 * memory.c - the context's memory: host memory on the CPU, the device's on CUDA.
 */
#include "core/context.h"
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 256 };

shoal_status shoal_alloc(shoal_context *ctx, size_t bytes, void **memory) {
    if (!memory) return ctx ? shoal_fail(ctx, SHOAL_E_ARG, "memory is NULL") : SHOAL_E_ARG;
    *memory = NULL;
    shoal_status status = shoal_ready(ctx);
    if (status != SHOAL_OK) return status;
    if (bytes > SIZE_MAX - ALIGNMENT)
        return shoal_fail(ctx, SHOAL_E_NOMEM, "%zu bytes cannot be allocated", bytes);
    const size_t given = bytes ? bytes : 1; /* not rounded up: tools see what is touched behind it */
    if (ctx->ops) return ctx->ops->alloc(ctx, given, memory);
    if (posix_memalign(memory, ALIGNMENT, given) == 0) return SHOAL_OK;
    *memory = NULL;
    return shoal_fail(ctx, SHOAL_E_NOMEM, "%zu bytes of host memory are not to be had", bytes);
}

void shoal_free(shoal_context *ctx, void *memory) {
    if (!memory || shoal_ready(ctx) != SHOAL_OK) return;
    if (ctx->ops)
        ctx->ops->release(ctx, memory);
    else
        free(memory);
}

shoal_status shoal_copy(shoal_context *ctx, void *to, const void *from, size_t bytes) {
    shoal_status status = shoal_ready(ctx);
    if (status != SHOAL_OK || bytes == 0) return status;
    if (!to) return shoal_fail(ctx, SHOAL_E_ARG, "to is NULL");
    if (!from) return shoal_fail(ctx, SHOAL_E_ARG, "from is NULL");
    if (ctx->ops) return ctx->ops->copy(ctx, to, from, bytes);
    memmove(to, from, bytes);
    return SHOAL_OK;
}

shoal_status shoal_set_stream(shoal_context *ctx, void *stream) {
    shoal_status status = shoal_ready(ctx);
    if (status == SHOAL_OK) ctx->stream = stream;
    return status;
}

shoal_status shoal_wait(shoal_context *ctx) {
    shoal_status status = shoal_ready(ctx);
    return status == SHOAL_OK && ctx->ops ? ctx->ops->wait(ctx) : status;
}

shoal_status shoal_check_array(shoal_context *ctx, const void *memory, const char *name) {
    if (!memory) return shoal_fail(ctx, SHOAL_E_ARG, "%s is NULL", name);
    if (!ctx->ops || ctx->unchecked || ctx->ops->reaches(ctx, memory)) return SHOAL_OK;
    return shoal_fail(ctx, SHOAL_E_MEMORY,
                      "%s is memory that GPU %d cannot reach: "
                      "use shoal_alloc and shoal_copy, or pinned or managed memory",
                      name, ctx->device);
}

shoal_status shoal_check_outcome(shoal_context *ctx, const shoal_outcome *where, const char *module,
                                 int filled) {
    const struct {
        const char *name;
        const void *array;
        int filled;
    } fields[] = { { "outcome.status", where->status, 1 },
                   { "outcome.residual", where->residual, filled & SHOAL_FILLS_RESIDUAL },
                   { "outcome.rcond", where->rcond, filled & SHOAL_FILLS_RCOND },
                   { "outcome.rank", where->rank, filled & SHOAL_FILLS_INERTIA },
                   { "outcome.inertia", where->inertia, filled & SHOAL_FILLS_INERTIA },
                   { "outcome.method", where->method, 1 } };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (!fields[i].array) continue;
        if (!fields[i].filled)
            return shoal_fail(ctx, SHOAL_E_ARG, "%s must be NULL: %s does not compute it",
                              fields[i].name, module);
        const shoal_status status = shoal_check_array(ctx, fields[i].array, fields[i].name);
        if (status != SHOAL_OK) return status;
    }
    return SHOAL_OK;
}
