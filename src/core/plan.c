/* SPDX-License-Identifier: Apache-2.0
 *
 * plan.c - plans and their memory, checks of arguments.
 */
#include "core/plan.h"
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- plans ------------------------------------------------------------------------------------ */

typedef struct shoal_plan_block { /* host memory follows the block */
    struct shoal_plan_block *next;
    void *memory; /* in the context's memory, or NULL */
    size_t bytes;
    size_t is_pinned; /* size_t: alignment of what follows */
} shoal_plan_block;

/* Pointers are read and written by memcpy(): theirs may be any type. */
static void store_pointer(void *to, const void *pointer) { memcpy(to, &pointer, sizeof pointer); }
static void *load_pointer(const void *from) {
    void *pointer;
    memcpy(&pointer, from, sizeof pointer);
    return pointer;
}

static shoal_status no_memory(shoal_context *ctx) { return SHOAL_NO_MEMORY(ctx, "a plan"); }

shoal_status shoal_plan_new(shoal_context *ctx, size_t size, const void *opts, void *result) {
    if (result) store_pointer(result, NULL);
    shoal_status status = shoal_ready(ctx);
    if (status != SHOAL_OK) return status;
    const shoal_array given[] = { { "plan", result, 0 }, { "opts", opts, 0 } };
    status = shoal_check_pointers(ctx, given, 2);
    if (status != SHOAL_OK) return status;
    shoal_plan *plan = calloc(1, size);
    if (!plan) return no_memory(ctx);
    plan->ctx = ctx;
    store_pointer(result, plan);
    return SHOAL_OK;
}

shoal_status shoal_plan_made(shoal_status status, void *result) {
    if (status == SHOAL_OK || !result) return status;
    shoal_plan_free(load_pointer(result));
    store_pointer(result, NULL);
    return status;
}

static void free_block(shoal_plan *head, shoal_plan_block *block) {
    const shoal_device_ops *ops = head->ctx->ops;
    if (!block->is_pinned)
        shoal_free(head->ctx, block->memory);
    else if (block->memory && shoal_ready(head->ctx) == SHOAL_OK)
        ops->release_pinned(head->ctx, block->memory);
    free(block);
}

void shoal_plan_free(void *plan) {
    shoal_plan *head = plan;
    if (head && head->close) head->close(plan);
    if (head && head->staged) head->end_staged(head);
    if (head && head->replay) head->end_replay(head);
    while (head && head->memory) {
        shoal_plan_block *block = head->memory;
        head->memory = block->next;
        free_block(head, block);
    }
    free(head);
}

/* A new block, first in the list, with `bytes` of host memory behind it. */
static shoal_status add_block(shoal_plan *head, size_t bytes, shoal_plan_block **block) {
    *block = bytes < SIZE_MAX - sizeof **block ? calloc(1, sizeof **block + bytes) : NULL;
    if (!*block) return no_memory(head->ctx);
    (*block)->next = head->memory;
    head->memory = *block;
    return SHOAL_OK;
}

shoal_status shoal_plan_alloc(shoal_plan *head, size_t bytes, void *to) {
    shoal_plan_block *block;
    store_pointer(to, NULL);
    shoal_status status = add_block(head, 0, &block);
    if (status == SHOAL_OK) status = shoal_alloc(head->ctx, bytes, &block->memory);
    if (status != SHOAL_OK) return status;
    block->bytes = bytes;
    head->bytes += bytes;
    store_pointer(to, block->memory);
    return SHOAL_OK;
}

shoal_status shoal_plan_pinned(shoal_plan *head, size_t bytes, void *to) {
    const shoal_device_ops *ops = head->ctx->ops;
    shoal_plan_block *block;
    if (!ops) return shoal_plan_alloc(head, bytes, to);
    store_pointer(to, NULL);
    shoal_status status = add_block(head, 0, &block);
    if (status != SHOAL_OK) return status;
    block->is_pinned = 1;
    status = ops->alloc_pinned(head->ctx, bytes, &block->memory);
    store_pointer(to, block->memory);
    return status;
}

shoal_status shoal_plan_reserve(shoal_plan *head, size_t bytes, void *to) {
    shoal_plan_block **link = &head->memory;
    const void *old = load_pointer(to);
    while (old && *link && (*link)->memory != old) link = &(*link)->next;
    if (old && *link) {
        shoal_plan_block *block = *link;
        if (block->bytes >= bytes) return SHOAL_OK;
        *link = block->next;
        head->bytes -= block->bytes;
        free_block(head, block);
    }
    return shoal_plan_alloc(head, bytes, to);
}

shoal_status shoal_plan_copy(shoal_plan *head, const void *from, size_t bytes, void *to) {
    const shoal_status status = shoal_plan_reserve(head, bytes, to);
    return status == SHOAL_OK && bytes ? shoal_copy(head->ctx, load_pointer(to), from, bytes)
                                       : status;
}

shoal_status shoal_plan_zero(shoal_plan *head, size_t bytes, void *to) {
    void *zeros = calloc(bytes + 1, 1);
    if (!zeros) return no_memory(head->ctx);
    const shoal_status status = shoal_plan_copy(head, zeros, bytes, to);
    free(zeros);
    return status;
}

shoal_status shoal_plan_host(shoal_plan *head, int64_t count, size_t size, void *to) {
    shoal_plan_block *block;
    const shoal_status status = add_block(head, (size_t)count * size, &block);
    store_pointer(to, status == SHOAL_OK ? block + 1 : NULL);
    return status;
}

shoal_status shoal_plan_choose(const shoal_plan *head, const shoal_module *module,
                               const char *method, const char *variant, const char *best,
                               shoal_choice *choice) {
    if (shoal_is_auto(method) && variant && *variant)
        return shoal_fail(head->ctx, SHOAL_E_METHOD,
                          "variant: '%s' needs a method; auto has no variants", variant);
    return shoal_choose(head->ctx, module, shoal_is_auto(method) ? best : method, variant,
                        head->type, choice);
}

shoal_status shoal_wrong_type(shoal_context *ctx, const char *number, const char *name,
                              const char *suffix) {
    return shoal_fail(ctx, SHOAL_E_TYPE, "the plan is for %s: call %s%s", number, name, suffix);
}

shoal_status shoal_plan_call(void *plan, shoal_type type, const char *name) {
    const shoal_plan *head = plan;
    if (!head) return SHOAL_E_ARG;
    const int single = head->type == SHOAL_F32;
    if (type != head->type)
        return shoal_wrong_type(head->ctx, single ? "float" : "double", name, single ? "f" : "");
    return shoal_ready(head->ctx);
}

shoal_status shoal_plan_called(shoal_plan *head, shoal_status status) {
    head->stream = head->ctx->stream;
    head->called = status == SHOAL_OK;
    return status;
}

shoal_status shoal_plan_asked(const void *plan, const void *info) {
    const shoal_plan *head = plan;
    if (!head) return SHOAL_E_ARG;
    return info ? SHOAL_OK : shoal_fail(head->ctx, SHOAL_E_ARG, "info is NULL");
}

shoal_status shoal_plan_return_to(shoal_plan *head, void **current) {
    *current = head->ctx->stream;
    head->ctx->stream = head->stream;
    return shoal_ready(head->ctx);
}

shoal_status shoal_plan_wait(shoal_plan *head, void **current) {
    shoal_plan_return_to(head, current);
    return shoal_wait(head->ctx);
}

shoal_status shoal_plan_return(shoal_plan *head, void *current, shoal_status status) {
    head->ctx->stream = current;
    return status;
}

shoal_status shoal_plan_outcome(const shoal_plan *head, const shoal_outcome *where,
                                const char *module, int filled, shoal_outcome *to) {
    const shoal_outcome o = where ? *where : (shoal_outcome){ 0 };
    const struct {
        const char *name;
        const void *array;
        int filled;
    } fields[] = { { "outcome.status", o.status, 1 },
                   { "outcome.residual", o.residual, filled & SHOAL_FILLS_RESIDUAL },
                   { "outcome.rcond", o.rcond, filled & SHOAL_FILLS_RCOND },
                   { "outcome.rank", o.rank, filled & SHOAL_FILLS_INERTIA },
                   { "outcome.inertia", o.inertia, filled & SHOAL_FILLS_INERTIA },
                   { "outcome.method", o.method, 1 } };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (!fields[i].array) continue;
        if (!fields[i].filled)
            return shoal_fail(head->ctx, SHOAL_E_ARG, "%s must be NULL: %s does not compute it",
                              fields[i].name, module);
        if (head->staged) continue;
        const shoal_status status = shoal_check_array(head->ctx, fields[i].array, fields[i].name);
        if (status != SHOAL_OK) return status;
    }
    *to = o;
    return SHOAL_OK;
}

/* ---- checks ----------------------------------------------------------------------------------- */

int shoal_is_auto(const char *method) { return !method || !*method || strcmp(method, "auto") == 0; }

shoal_status shoal_check_arrays(shoal_context *ctx, const shoal_array *arrays, int count) {
    shoal_status status = SHOAL_OK;
    for (int i = 0; i < count && status == SHOAL_OK; i++)
        if (!arrays[i].skipped) status = shoal_check_array(ctx, arrays[i].array, arrays[i].name);
    return status;
}

shoal_status shoal_check_pointers(shoal_context *ctx, const shoal_array *arrays, int count) {
    for (int i = 0; i < count; i++)
        if (!arrays[i].skipped && !arrays[i].array)
            return shoal_fail(ctx, SHOAL_E_ARG, "%s is NULL", arrays[i].name);
    return SHOAL_OK;
}

shoal_status shoal_check_flags(shoal_context *ctx, const shoal_flag *flags, int count) {
    for (int i = 0; i < count; i++)
        if (flags[i].value != 0 && flags[i].value != 1)
            return shoal_fail(ctx, SHOAL_E_ARG, "%s is %d; it must be %s", flags[i].name,
                              flags[i].value, flags[i].words);
    return SHOAL_OK;
}

shoal_status shoal_check_type(shoal_context *ctx, shoal_type type) {
    const struct { shoal_type type; } o = { type };
    return shoal_check_flags(ctx, &(shoal_flag)SHOAL_TYPE_FLAG(&o), 1);
}

static shoal_status too_large(shoal_context *ctx, const char *of, const shoal_size *sizes,
                              int count) {
    char names[64] = "", values[96] = "";
    int zero = 0;
    for (int i = 0; i < count; i++) {
        const size_t name = strlen(names), value = strlen(values);
        const char *times = i ? " * " : "";
        snprintf(names + name, sizeof names - name, "%s%s", times, sizes[i].name);
        snprintf(values + value, sizeof values - value, "%s%lld", times, (long long)sizes[i].value);
        zero |= sizes[i].value == 0;
    }
    return shoal_fail(ctx, SHOAL_E_ARG, "%s%s = %s is too large%s", of, names, values,
                      zero ? " (0 counts as 1)" : "");
}

shoal_status shoal_check_sizes(shoal_context *ctx, const char *of, size_t each,
                               const shoal_size *sizes, int count) {
    const size_t limit = (size_t)PTRDIFF_MAX >> 13;
    for (int i = 0; i < count; i++) {
        const size_t factor = sizes[i].value > 0 ? (size_t)sizes[i].value : 1;
        if (sizes[i].value < 0)
            return shoal_fail(ctx, SHOAL_E_ARG, "%s%s is %lld; it must be at least 0", of,
                              sizes[i].name, (long long)sizes[i].value);
        if (each > limit / factor) return too_large(ctx, of, sizes, count);
        each *= factor;
    }
    return SHOAL_OK;
}

shoal_status shoal_check_first(shoal_context *ctx, int64_t first, int64_t count) {
    const shoal_status status = shoal_check_count(ctx, "first", first, 0, INT64_MAX);
    if (status == SHOAL_OK && first > INT64_MAX - count)
        return shoal_fail(ctx, SHOAL_E_ARG, "first + count = %lld + %lld is too large",
                          (long long)first, (long long)count);
    return status;
}

shoal_status shoal_check_offsets(shoal_context *ctx, const char *name, const int64_t *offsets,
                                 int64_t count, const char *length_name, int64_t *length) {
    int64_t longest = 0;
    if (offsets[0] != 0)
        return shoal_fail(ctx, SHOAL_E_ARG, "%s[0] is %lld; it must be 0", name,
                          (long long)offsets[0]);
    for (int64_t k = 0; k < count; k++) {
        if (offsets[k + 1] < offsets[k])
            return shoal_fail(ctx, SHOAL_E_ARG, "%s[%lld] = %lld is below the one before, %lld",
                              name, (long long)k + 1, (long long)offsets[k + 1],
                              (long long)offsets[k]);
        const int64_t rows = offsets[k + 1] - offsets[k];
        longest = rows > longest ? rows : longest;
    }
    if (*length != 0 && *length != longest)
        return shoal_fail(ctx, SHOAL_E_ARG,
                          "%s is %lld; with %s it must be 0 or the largest size, %lld", length_name,
                          (long long)*length, name, (long long)longest);
    *length = longest;
    return SHOAL_OK;
}

shoal_status shoal_check_number(shoal_context *ctx, const char *name, int64_t index, double value,
                                double min, double max) {
    char place[32] = "";
    const int above = min == DBL_MIN;
    if (value >= min && value <= max) return SHOAL_OK;
    if (index >= 0) snprintf(place, sizeof place, "[%lld]", (long long)index);
    return shoal_fail(ctx, SHOAL_E_ARG, "%s%s is %g; it must be %s %g and at most %g", name, place,
                      value, above ? "above" : "at least", above ? 0 : min, max);
}

shoal_status shoal_check_bounds(shoal_context *ctx, const shoal_bound *bounds, int count) {
    shoal_status status = SHOAL_OK;
    for (const shoal_bound *b = bounds; b < bounds + count && status == SHOAL_OK; b++)
        status = shoal_check_number(ctx, b->name, -1, b->value, b->min, b->max);
    return status;
}

shoal_status shoal_fail_at(shoal_context *ctx, shoal_status status, const char *list, int64_t i,
                           const char *where) {
    char message[400];
    if (status == SHOAL_OK) return status;
    snprintf(message, sizeof message, "%s", shoal_message(ctx));
    if (i < 0) return shoal_fail(ctx, status, "%s: %s%s", list, where, message);
    return shoal_fail(ctx, status, "%s[%lld]: %s%s", list, (long long)i, where, message);
}

shoal_status shoal_find_kind(shoal_context *ctx, const char *module, const char *(*kinds)(int),
                             const char *word, const char *ends, int *found) {
    if (!word) return shoal_fail(ctx, SHOAL_E_ARG, "kind is NULL");
    const size_t length = strcspn(word, ends);
    char list[400] = "";
    const char *name;
    for (*found = 0; (name = kinds(*found)); ++*found) {
        if (strlen(name) == length && strncmp(word, name, length) == 0) return SHOAL_OK;
        strncat(list, *found ? " " : "", sizeof list - strlen(list) - 1);
        strncat(list, name, sizeof list - strlen(list) - 1);
    }
    return shoal_fail(ctx, SHOAL_E_ARG, "kind: %s has no kind '%s' (%s)", module, word, list);
}

/* ---- types ------------------------------------------------------------------------------------ */

size_t shoal_type_bytes(shoal_type type) {
    return type == SHOAL_F32 ? sizeof(float) : sizeof(double);
}

double shoal_epsilon(shoal_type type) { return type == SHOAL_F32 ? FLT_EPSILON : DBL_EPSILON; }
