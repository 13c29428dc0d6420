/* SPDX-License-Identifier: Apache-2.0
 *
 * plan.h - the front of every module: the head of its plans, their memory, the checks of arguments, and
 * one wording per message.
 *
 * The first member of a plan is `shoal_plan head`. Functions that take a plan as void * take a pointer to
 * such a struct; NULL is SHOAL_E_ARG.
 */
#ifndef SHOAL_CORE_PLAN_H
#define SHOAL_CORE_PLAN_H

#include "core/method.h"
#include "core/outcome.h"
#include "core/progress.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct shoal_staged shoal_staged;
typedef struct shoal_replay shoal_replay;

typedef struct shoal_plan {
    shoal_context *ctx;
    shoal_type type;
    size_t bytes;                    /* in the context's memory                                   */
    struct shoal_plan_block *memory; /* what shoal_plan_free() frees                              */
    void (*close)(void *plan);       /* frees what is not in that list; or NULL                   */
    void *stream;                    /* of the last call                                          */
    shoal_staged *staged;            /* staged.h; NULL: arrays are in the context's memory        */
    shoal_replay *replay;            /* replay.c; NULL: no calls were kept                        */
    void (*end_staged)(struct shoal_plan *head), (*end_replay)(struct shoal_plan *head);
    int called; /* 1: the last call succeeded, there is something to sum up  */
} shoal_plan;

/* ---- plans ------------------------------------------------------------------------------------ */

/* An empty plan of `size` bytes in *result. SHOAL_E_ARG if `result` or `opts` is NULL. */
shoal_status shoal_plan_new(shoal_context *ctx, size_t size, const void *opts, void *result);
/* Frees *result and sets it to NULL, unless `status` is SHOAL_OK. Returns `status`. */
shoal_status shoal_plan_made(shoal_status status, void *result);
/* Frees the plan and its memory. */
void shoal_plan_free(void *plan);

/* Memory that the plan owns; `to` is the address of a pointer. alloc: in the context's memory. reserve: the
 * same, but *to stays if it is a block of the plan with enough bytes. copy: reserve, filled from the host.
 * zero: the same, filled with zeros. pinned: in memory that host and device reach. host: `count` zeroed
 * elements in host memory. */
shoal_status shoal_plan_alloc(shoal_plan *head, size_t bytes, void *to);
shoal_status shoal_plan_reserve(shoal_plan *head, size_t bytes, void *to);
shoal_status shoal_plan_copy(shoal_plan *head, const void *from, size_t bytes, void *to);
shoal_status shoal_plan_zero(shoal_plan *head, size_t bytes, void *to);
shoal_status shoal_plan_pinned(shoal_plan *head, size_t bytes, void *to);
shoal_status shoal_plan_host(shoal_plan *head, int64_t count, size_t size, void *to);

/* Looks a method up. If `method` is "auto" it is `best`, and there are no variants. */
shoal_status shoal_plan_choose(const shoal_plan *head, const shoal_module *module,
                               const char *method, const char *variant, const char *best,
                               shoal_choice *choice);

/* Before a call: SHOAL_E_TYPE if the plan is of another type; `name` is the function for double. */
shoal_status shoal_plan_call(void *plan, shoal_type type, const char *name);
/* That error: the numbers of the plan, and the function for them, `name` and `suffix`. */
shoal_status shoal_wrong_type(shoal_context *ctx, const char *number, const char *name,
                              const char *suffix);
/* After a call: notes its stream, and whether it succeeded. Returns `status`. */
shoal_status shoal_plan_called(shoal_plan *head, shoal_status status);
/* Before a report about the last call: SHOAL_E_ARG if `info` is NULL. */
shoal_status shoal_plan_asked(const void *plan, const void *info);
/* Waits for the last call. Its stream stays the context's until shoal_plan_return(). */
shoal_status shoal_plan_return_to(shoal_plan *head, void **current);
shoal_status shoal_plan_wait(shoal_plan *head, void **current);
shoal_status shoal_plan_return(shoal_plan *head, void *current, shoal_status status);

/* Queues kernels, copies and memsets on the context's stream by no more than what is at `with`. */
typedef shoal_status shoal_plan_queue(void *plan, const void *with);
/* queue(head, with), or the same from a CUDA graph if a recent call had the same `bytes` at `with`; the second of
 * such calls allocates. Not in a capture. */
shoal_status shoal_plan_repeat(shoal_plan *head, shoal_plan_queue *queue, const void *with,
                               size_t bytes);

/* What a module fills of an outcome beside status and method. */
enum { SHOAL_FILLS_RESIDUAL = 1, SHOAL_FILLS_RCOND = 2, SHOAL_FILLS_INERTIA = 4 }; /* and rank */

/* Checks the arrays of an outcome, NULL: none, and copies it to *to. SHOAL_E_ARG for an array that the
 * module does not fill. */
shoal_status shoal_plan_outcome(const shoal_plan *head, const shoal_outcome *where,
                                const char *module, int filled, shoal_outcome *to);

/* ---- checks ----------------------------------------------------------------------------------- */

/* Whether a word means "auto": it, "" or NULL. */
int shoal_is_auto(const char *method);

typedef struct shoal_array {
    const char *name;
    const void *array;
    int skipped; /* 1: not looked at */
} shoal_array;

/* shoal_check_array() of each. */
shoal_status shoal_check_arrays(shoal_context *ctx, const shoal_array *arrays, int count);
/* Host pointers: SHOAL_E_ARG if one is NULL. */
shoal_status shoal_check_pointers(shoal_context *ctx, const shoal_array *arrays, int count);

typedef struct shoal_flag { /* an option that is 0 or 1 */
    const char *name;
    int value;
    const char *words;
} shoal_flag;

#define SHOAL_FLAG(name, value)                                                                    \
    { name, value, "0 or 1" }
#define SHOAL_TYPE_FLAG(o)                                                                         \
    { "type", (int)(o)->type, "SHOAL_F64 or SHOAL_F32" }
#define SHOAL_MATH_FLAG(o)                                                                         \
    { "math", (int)(o)->math, "SHOAL_EXACT or SHOAL_FAST" }
#define SHOAL_STORAGE_FLAG(o)                                                                      \
    { "storage", (int)(o)->storage, "SHOAL_FULL or SHOAL_PACKED" }
#define SHOAL_TRIANGLE_FLAG(o)                                                                     \
    { "triangle", (int)(o)->triangle, "SHOAL_LOWER or SHOAL_UPPER" }
#define SHOAL_LAYOUT_FLAG(o)                                                                       \
    { "layout", (int)(o)->layout, "SHOAL_SYSTEM_MAJOR or SHOAL_INTERLEAVED" }

shoal_status shoal_check_flags(shoal_context *ctx, const shoal_flag *flags, int count);
shoal_status shoal_check_type(shoal_context *ctx, shoal_type type);

typedef struct shoal_size {
    const char *name;
    int64_t value;
} shoal_size;

/* No size is negative, and their product times `each` bytes is small enough that no workspace overflows;
 * 0 counts as 1. `of` goes before the names. */
shoal_status shoal_check_sizes(shoal_context *ctx, const char *of, size_t each,
                               const shoal_size *sizes, int count);
/* A place in a family of test problems: first >= 0, and first + count does not overflow. */
shoal_status shoal_check_first(shoal_context *ctx, int64_t first, int64_t count);
/* 0 = offsets[0] <= offsets[1] <= ...; *length, 0 or the largest difference, becomes that difference. */
shoal_status shoal_check_offsets(shoal_context *ctx, const char *name, const int64_t *offsets,
                                 int64_t count, const char *length_name, int64_t *length);

typedef struct shoal_bound {
    const char *name;
    double value, min, max; /* min DBL_MIN: above 0 */
} shoal_bound;

shoal_status shoal_check_bounds(shoal_context *ctx, const shoal_bound *bounds, int count);
/* The same of one number; index >= 0: of an array. */
shoal_status shoal_check_number(shoal_context *ctx, const char *name, int64_t index, double value,
                                double min, double max);
/* Puts "list[i]: ", or "list: " if i is below 0, and `where` before the context's message, unless `status` is SHOAL_OK. Returns `status`. */
shoal_status shoal_fail_at(shoal_context *ctx, shoal_status status, const char *list, int64_t i,
                           const char *where);

/* The number of a kind of test problem, of the names kinds(0), kinds(1), ...; the name in `word` ends
 * before any of the characters `ends`. */
shoal_status shoal_find_kind(shoal_context *ctx, const char *module, const char *(*kinds)(int),
                             const char *word, const char *ends, int *found);

/* ---- types ------------------------------------------------------------------------------------ */

size_t shoal_type_bytes(shoal_type type);
double shoal_epsilon(shoal_type type);

#ifdef __cplusplus
}
#endif
#endif
