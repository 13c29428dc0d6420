/* SPDX-License-Identifier: Apache-2.0
 *
 * staged.h - host arrays on a GPU (shoal_options.staging): a batch goes through the device in pieces.
 *
 * A staged plan has no workspace of its own. A call cuts its systems into pieces of about ctx->staging bytes, each of
 * which takes the next of STAGED_LANES lanes: a stream, pinned memory, device memory, and a plan of the module for that
 * many systems. The host copies a piece to the lane's pinned memory and queues copy in, solve and copy out on the lane's
 * stream; meanwhile the other lanes copy and solve. A call returns when all of x is there. What one system's answer is
 * depends on that system alone, so pieces change no bit.
 */
#ifndef SHOAL_CORE_STAGED_H
#define SHOAL_CORE_STAGED_H

#include "core/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct shoal_staged_array {
    const char *name;
    /* On the host: copied to the device, copied from it; NULL: not. Without either the device's pointer is NULL. */
    const void *from;
    void *to;
    size_t bytes; /* of one system in one row */
    int64_t rows; /* 1: a system's numbers lie together; else row after row of all systems */
    /* On the host, if step > 0 (rows is 1 then): a system is parts of so many bytes, whose beginnings are part_step
     * apart; those of two systems are step apart. On the device all is together. */
    size_t part, part_step, step;
} shoal_staged_array;

/* Without gaps. */
static inline shoal_staged_array shoal_staged_in(const char *name, const void *from, size_t bytes,
                                                 int64_t rows) {
    return (shoal_staged_array){ .name = name, .from = from, .bytes = bytes, .rows = rows };
}
static inline shoal_staged_array shoal_staged_out(const char *name, void *to, size_t bytes,
                                                  int64_t rows) {
    return (shoal_staged_array){ .name = name, .to = to, .bytes = bytes, .rows = rows };
}

enum { STAGED_OUTCOMES = 6 };

/* A module, as functions on its plans. */
typedef struct shoal_staged_kind {
    size_t opts, info; /* bytes of its structs     */
    shoal_status (*create)(shoal_context *ctx, const void *opts, int64_t count, void **plan);
    shoal_status (*add)(void *plan, void *info); /* adds the plan's last call to info */
} shoal_staged_kind;

/* A call on the arrays of a piece, in the device's memory. */
typedef shoal_status shoal_staged_call(void *plan, void *const *arrays, const void *with);

static inline int shoal_is_staging(const shoal_context *ctx) { return ctx->ops && ctx->staging; }

/* Makes a new plan a staged one, for `count` systems. opts is copied; its words are copies by shoal_staged_word(). A plan
 * for one system shows whether the options are allowed. */
shoal_status shoal_staged_create(shoal_plan *head, const shoal_staged_kind *kind, const void *opts,
                                 int64_t count);
/* Replaces a word by a copy that the plan owns. */
shoal_status shoal_staged_word(shoal_plan *head, const char **word);
/* SHOAL_E_ARG with this option's name, unless `given` is 0. */
shoal_status shoal_staged_refuse(shoal_plan *head, int given, const char *option);

/* Calls `call` on all pieces, and waits. An array that is only written, and whose place an array before it is read from,
 * shares that one's memory on the device: x that is b. */
shoal_status shoal_staged_run(shoal_plan *head, const shoal_staged_array *arrays, int count,
                              shoal_staged_call *call, const void *with);
/* The options that were copied; what the last run came to. */
const void *shoal_staged_opts(const shoal_plan *head);
const void *shoal_staged_info(const shoal_plan *head);

/* The arrays of an outcome, STAGED_OUTCOMES of them; and the outcome in the device's memory. */
void shoal_staged_outcome(const shoal_outcome *where, shoal_staged_array *arrays);
shoal_outcome shoal_staged_where(void *const *arrays);

#ifdef __cplusplus
}
#endif
#endif
