/* SPDX-License-Identifier: Apache-2.0
 *
 * progress.h - progress and cancellation of long calls, the library's side of shoal_set_progress().
 *
 *     shoal_stage stage = shoal_stage_begin(ctx, "exercise rules");
 *     for (int64_t i = 0; i < n && status == SHOAL_OK; i++) {
 *         status = shoal_stage_step(ctx, &stage, i, i + 1, n); // stages that begin now are part of this step
 *         ...
 *     }
 *     return shoal_stage_end(ctx, &stage, status);
 *
 * Stages nest: the caller sees the name of the outermost one and one fraction. Only the thread that began the
 * outermost stage calls the caller's function. In a loop of several threads each one asks shoal_is_cancelled() and
 * then leaves its work undone; the end of the stage makes SHOAL_E_CANCELLED of that.
 */
#ifndef SHOAL_CORE_PROGRESS_H
#define SHOAL_CORE_PROGRESS_H

#include "core/context.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct shoal_stage {
    int is_counted; /* 0: nobody asked for progress, or a thread beside the one that did */
    int is_outermost;
    double low, high; /* the part of the outermost stage that the enclosing step stands for */
} shoal_stage;

shoal_stage shoal_stage_begin(const shoal_context *ctx, const char *name);
/* Work from `from` to `to` of `all` begins. SHOAL_E_CANCELLED if the caller wants no more. */
shoal_status shoal_stage_step(const shoal_context *ctx, const shoal_stage *stage, double from,
                              double to, double all);
/* Returns `status`, or SHOAL_E_CANCELLED. Every stage that began ends. */
shoal_status shoal_stage_end(shoal_context *ctx, const shoal_stage *stage, shoal_status status);

/* For any thread: 1 if the caller wants no more. done of all: how far the thread that began the stage is in the
 * current step; numbers of other threads are not read. */
int shoal_is_cancelled(const shoal_context *ctx, int64_t done, int64_t all);

#ifdef __cplusplus
}
#endif
#endif
