/* SPDX-License-Identifier: Apache-2.0
 *
 * parts.h - P = T G, the parts into which the P-scheme cuts a recurrence: limits and defaults.
 */
#ifndef SHOAL_CORE_PARTS_H
#define SHOAL_CORE_PARTS_H

#include "core/context.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SHOAL_MAX_THREADS = 1024 }; /* T: what a block can have, if its kernel is compiled for it */

typedef struct shoal_parts {
    int threads, groups; /* T threads in each of G groups             */
    int64_t parts;       /* the parts they work on, at most T G       */
} shoal_parts;

/* SHOAL_E_ARG if `threads` or `groups` is out of range. */
shoal_status shoal_check_parts(shoal_context *ctx, int threads, int groups);

/* Fills in what is zero, for n rows. */
shoal_parts shoal_choose_parts(const shoal_context *ctx, int64_t n, int threads, int groups);

#ifdef __cplusplus
}
#endif
#endif
