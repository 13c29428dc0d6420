/* SPDX-License-Identifier: Apache-2.0
 *
 * sort.c - the public functions of sort.h, their argument checks, and the method table.
 *
 * Keys of 32 bits are the f32 cells, keys of 64 bits the f64 cells (order.h). A result is the same
 * whatever the method: "auto" looks for the fastest one.
 */
#include "core/staged.h"
#include "sort/plan.h"
#include <stdlib.h>

#define DECLARE(name) SHOAL_DECLARE_CPU(sort_method, name) SHOAL_DECLARE_CUDA(sort_method, name)
DECLARE(sort_mergepath)
DECLARE(sort_batchmerge)
DECLARE(sort_batchsort)

/* clang-format off */
#define CELLS(name) .cpu = SHOAL_CPU_CELLS(name), .cuda = SHOAL_CUDA_CELLS(name)

static const shoal_method methods[] = {
    { .name = "mergepath", CELLS(sort_mergepath), .flags = SHOAL_CAN_MERGE,
      .variants = { [MERGEPATH_TILED] = { "tiled", SHOAL_ON_BOTH | SHOAL_CAN_LONG },
                    [MERGEPATH_SMALL] = { "small", SHOAL_ON_BOTH },
                    [MERGEPATH_NAIVE] = { "naive", SHOAL_ON_BOTH | SHOAL_CAN_LONG } } },
    { .name = "batchmerge", CELLS(sort_batchmerge), .flags = SHOAL_CAN_MERGE | SHOAL_CAN_BATCH,
      .variants = { [BATCHMERGE_NETWORK] = { "network", SHOAL_ON_BOTH | SHOAL_CAN_LONG },
                    [BATCHMERGE_NARROW] = { "narrow", SHOAL_ON_BOTH | SHOAL_CAN_LONG },
                    [BATCHMERGE_WIDE] = { "wide", SHOAL_ON_BOTH } } },
    { .name = "batchsort", CELLS(sort_batchsort),
      .flags = SHOAL_CAN_SORT | SHOAL_CAN_BATCH | SHOAL_CAN_LONG,
      .variants = { [BATCHSORT_NETWORK] = { "network", SHOAL_ON_BOTH },
                    [BATCHSORT_MERGE] = { "merge", SHOAL_ON_BOTH } } },
};

static const shoal_method automatic = {
    .name = "auto", .flags = SHOAL_CAN_SORT | SHOAL_CAN_MERGE | SHOAL_CAN_BATCH | SHOAL_CAN_LONG
};

static const struct {
    const char *name;
    size_t bytes;
    int64_t rest, flip; /* order.h */
} keys[] = {
    [SHOAL_KEY_U32] = { "u32", 4, 0, INT32_MIN },
    [SHOAL_KEY_I32] = { "i32", 4, 0, 0 },
    [SHOAL_KEY_U64] = { "u64", 8, 0, INT64_MIN },
    [SHOAL_KEY_I64] = { "i64", 8, 0, 0 },
    [SHOAL_KEY_F32] = { "f32", 4, INT32_MAX, 0 },
    [SHOAL_KEY_F64] = { "f64", 8, INT64_MAX, 0 },
};
/* clang-format on */

const shoal_module shoal_sort_module = { "sort", methods, sizeof methods / sizeof *methods,
                                         &automatic };

static int is_key(shoal_key key) {
    return (int)key >= 0 && (size_t)key < sizeof keys / sizeof *keys;
}

const char *shoal_key_name(shoal_key key) { return is_key(key) ? keys[key].name : NULL; }
size_t shoal_key_bytes(shoal_key key) { return is_key(key) ? keys[key].bytes : 0; }

/* ---- checks --------------------------------------------------------------------------------- */

/* So that no number of bytes overflows. */
static shoal_status check_total(shoal_context *ctx, const char *name, int64_t length,
                                int64_t count) {
    if (length == 0 || count <= ((int64_t)1 << 56) / length) return SHOAL_OK;
    return shoal_fail(ctx, SHOAL_E_ARG, "%s * count = %lld * %lld is too large", name,
                      (long long)length, (long long)count);
}

static shoal_status check_offsets(shoal_context *ctx, const char *name, const int64_t *offsets,
                                  int64_t count, const char *length_name, int64_t *length) {
    const shoal_status status = shoal_check_offsets(ctx, name, offsets, count, length_name, length);
    return status == SHOAL_OK ? check_total(ctx, name, 1, offsets[count]) : status;
}

static shoal_status check_keys(shoal_context *ctx, shoal_key key, int value_bytes) {
    if (!is_key(key))
        return shoal_fail(ctx, SHOAL_E_ARG, "key is %d; it must be a shoal_key, 0 to %d", (int)key,
                          SHOAL_KEY_F64);
    if (value_bytes != 0 && value_bytes != 4 && value_bytes != 8)
        return shoal_fail(ctx, SHOAL_E_ARG, "value_bytes is %d; it must be 0, 4 or 8", value_bytes);
    return SHOAL_OK;
}

/* ---- plans ---------------------------------------------------------------------------------- */

/* `best` is what "auto" stands for, `can` SHOAL_CAN_SORT or SHOAL_CAN_MERGE. */
static shoal_status choose(sort_plan *plan, int descending, const char *method, const char *variant,
                           const char *best, unsigned can) {
    plan->job.rest = keys[plan->key].rest;
    plan->job.flip = keys[plan->key].flip ^ (descending ? -1 : 0);
    plan->head.type = keys[plan->key].bytes == 4 ? SHOAL_F32 : SHOAL_F64;
    const shoal_status status =
        shoal_plan_choose(&plan->head, &shoal_sort_module, method, variant, best, &plan->chosen);
    if (status == SHOAL_OK && !(plan->chosen.flags & can))
        return shoal_cannot(plan->head.ctx, &shoal_sort_module, plan->chosen.name,
                            can == SHOAL_CAN_SORT ? "sort" : "merge", can);
    return status;
}

static shoal_status check_sizes(const sort_plan *plan) {
    const shoal_choice *c = &plan->chosen;
    if (!(c->flags & SHOAL_CAN_BATCH) && plan->job.count > 1)
        return shoal_cannot(plan->head.ctx, &shoal_sort_module, c->name, "take more than one pair",
                            SHOAL_CAN_BATCH | SHOAL_CAN_MERGE);
    if (!(c->flags & SHOAL_CAN_LONG) && plan->longest > SHOAL_MERGE_SMALL)
        return shoal_fail(plan->head.ctx, SHOAL_E_METHOD,
                          "variant: %s takes pairs of at most %d keys, not %lld", c->variant_name,
                          SHOAL_MERGE_SMALL, (long long)plan->longest);
    return SHOAL_OK;
}

typedef struct listed {
    int64_t length, row;
} listed;

static int longest_first(const void *p, const void *q) {
    const listed *u = p, *v = q;
    if (u->length != v->length) return u->length > v->length ? -1 : 1;
    return u->row < v->row ? -1 : u->row > v->row;
}

/* The rows in the order of their lengths, so that those that go together are alike. */
static shoal_status make_list(sort_plan *plan, const int64_t *offsets) {
    const int64_t count = plan->job.count;
    shoal_status status =
        shoal_plan_host(&plan->head, count, sizeof *plan->lengths, &plan->lengths);
    if (status != SHOAL_OK) return status;
    listed *list = malloc(((size_t)count + 1) * sizeof *list);
    if (!list) return SHOAL_NO_MEMORY(plan->head.ctx, "a list of %lld rows", (long long)count);
    for (int64_t k = 0; k < count; k++) list[k] = (listed){ offsets[k + 1] - offsets[k], k };
    qsort(list, (size_t)count, sizeof *list, longest_first);
    int64_t *rows = (int64_t *)list; /* in place: row i is read before its place is written */
    for (int64_t i = 0; i < count; i++) {
        plan->lengths[i] = list[i].length;
        rows[i] = list[i].row;
    }
    status = shoal_plan_copy(&plan->head, rows, (size_t)count * sizeof *rows, &plan->job.list);
    free(list);
    return status;
}

int64_t shoal_sort_longer(const sort_plan *plan, int64_t length) {
    int64_t low = 0, high = plan->job.count;
    if (!plan->lengths) return plan->longest > length ? high : 0;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (plan->lengths[middle] > length)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int is_empty(const sort_plan *plan) { return plan->job.count == 0 || plan->longest == 0; }

static shoal_status keep_offsets(sort_plan *plan, const int64_t *offsets, sort_rows *rows) {
    const size_t bytes = ((size_t)plan->job.count + 1) * sizeof *offsets;
    return shoal_plan_copy(&plan->head, offsets, bytes, &rows->offsets);
}

static shoal_status allocate_work(sort_plan *plan) {
    const sort_method *method = plan->chosen.cell;
    const shoal_status status = check_sizes(plan);
    if (status != SHOAL_OK || is_empty(plan)) return status;
    const size_t bytes = method->bytes ? method->bytes(plan) : 0;
    return bytes ? shoal_plan_alloc(&plan->head, bytes, &plan->job.work) : SHOAL_OK;
}

static shoal_status run_method(sort_plan *plan, const sort_job *job) {
    const sort_method *method = plan->chosen.cell;
    const shoal_stage stage = shoal_stage_begin(plan->head.ctx, "keys");
    return shoal_plan_called(&plan->head,
                             shoal_stage_end(plan->head.ctx, &stage, method->run(plan, job)));
}

static shoal_status fill_info(sort_plan *plan, shoal_sort_info *info) {
    shoal_status status = shoal_plan_asked(plan, info);
    if (status != SHOAL_OK) return status;
    if (plan->head.staged) {
        *info = *(const shoal_sort_info *)shoal_staged_info(&plan->head);
        return SHOAL_OK;
    }
    *info = (shoal_sort_info){ plan->chosen.name, plan->chosen.variant_name, plan->head.bytes };
    if (!plan->head.called) return SHOAL_OK;
    void *current;
    status = shoal_plan_wait(&plan->head, &current);
    return shoal_plan_return(&plan->head, current, status);
}

typedef struct run_array {
    const char *name;
    const void *array;
    int used;    /* 0: must be NULL, or its values would be lost */
    int skipped; /* 1: not looked at                             */
} run_array;

static shoal_status check_run(const sort_plan *plan, const run_array *arrays, int count) {
    shoal_status status = shoal_ready(plan->head.ctx);
    for (const run_array *r = arrays; r < arrays + count && status == SHOAL_OK; r++) {
        if (r->skipped) continue;
        if (r->used)
            status = plan->head.staged
                         ? shoal_check_pointers(plan->head.ctx,
                                                &(shoal_array){ r->name, r->array, 0 }, 1)
                         : shoal_check_array(plan->head.ctx, r->array, r->name);
        else if (r->array)
            status =
                shoal_fail(plan->head.ctx, SHOAL_E_ARG, "%s must be NULL: the plan %s", r->name,
                           plan->job.index ? "makes the values itself" : "has value_bytes 0");
    }
    return status;
}

/* ---- sorting -------------------------------------------------------------------------------- */

static shoal_status check_sort(shoal_context *ctx, const shoal_sort_opts *o, int64_t *n) {
    const shoal_count counts[] = { { "n", o->n, 0, INT64_MAX },
                                   { "count", o->count, 0, INT64_MAX },
                                   { "stride", o->stride, 0, INT64_MAX } };
    shoal_status status = shoal_check_counts(ctx, counts, 3);
    if (status == SHOAL_OK) status = check_keys(ctx, o->key, o->value_bytes);
    *n = o->n;
    if (status != SHOAL_OK) return status;
    if (o->offsets && o->stride)
        return shoal_fail(ctx, SHOAL_E_ARG, "stride is %lld; with offsets it must be 0",
                          (long long)o->stride);
    if (o->stride && o->stride < o->n)
        return shoal_fail(ctx, SHOAL_E_ARG, "stride is %lld; it must not be below n = %lld",
                          (long long)o->stride, (long long)o->n);
    status = o->offsets ? check_offsets(ctx, "offsets", o->offsets, o->count, "n", n)
                        : check_total(ctx, o->stride ? "stride" : "n", o->stride ? o->stride : o->n,
                                      o->count);
    if (status != SHOAL_OK) return status;
    if (o->index && o->value_bytes == 0)
        return shoal_fail(ctx, SHOAL_E_ARG, "value_bytes is 0; with index it must be 4 or 8");
    if (o->index && o->value_bytes == 4 && *n > (int64_t)1 << 32)
        return shoal_fail(ctx, SHOAL_E_ARG,
                          "value_bytes is 4; indices into rows of %lld keys need 8", (long long)*n);
    return SHOAL_OK;
}

static shoal_status fill_sort(sort_plan *plan, const shoal_sort_opts *o) {
    int64_t n = 0;
    shoal_status status = check_sort(plan->head.ctx, o, &n);
    if (status != SHOAL_OK) return status;
    const int64_t stride = o->stride ? o->stride : n;
    plan->key = o->key, plan->longest = n;
    plan->total = o->offsets ? o->offsets[o->count] : o->count ? stride * (o->count - 1) + n : 0;
    plan->job = (sort_job){ .count = o->count,
                            .a = { .length = n, .stride = stride },
                            .value_bytes = o->value_bytes,
                            .index = o->index != 0 };
    status = choose(plan, o->descending, o->method, o->variant, "batchsort", SHOAL_CAN_SORT);
    if (status == SHOAL_OK && o->offsets) status = keep_offsets(plan, o->offsets, &plan->job.a);
    if (status == SHOAL_OK && o->offsets) status = make_list(plan, o->offsets);
    return status == SHOAL_OK ? allocate_work(plan) : status;
}

static shoal_status create_sort(shoal_context *ctx, const void *opts, int64_t count, void **plan) {
    shoal_sort_opts o = *(const shoal_sort_opts *)opts;
    shoal_sort *made;
    o.count = count, o.stride = 0; /* the pieces are without gaps */
    const shoal_status status = shoal_sort_create(ctx, &o, &made);
    *plan = made;
    return status;
}

static shoal_status add_sort(void *plan, void *info) { return shoal_sort_last(plan, info); }

static const shoal_staged_kind sorts = { sizeof(shoal_sort_opts), sizeof(shoal_sort_info),
                                         create_sort, add_sort };

static shoal_status stage_sort(sort_plan *plan, const shoal_sort_opts *o) {
    shoal_sort_opts kept = *o;
    int64_t n = 0;
    shoal_status status = check_sort(plan->head.ctx, o, &n);
    if (status == SHOAL_OK)
        status = shoal_staged_refuse(&plan->head, o->offsets != NULL, "offsets");
    plan->longest = n;
    plan->job =
        (sort_job){ .count = o->count, .value_bytes = o->value_bytes, .index = o->index != 0 };
    if (status == SHOAL_OK) status = shoal_staged_word(&plan->head, &kept.method);
    if (status == SHOAL_OK) status = shoal_staged_word(&plan->head, &kept.variant);
    return status == SHOAL_OK ? shoal_staged_create(&plan->head, &sorts, &kept, o->count) : status;
}

static shoal_status sort_piece(void *plan, void *const *a, const void *with) {
    (void)with;
    return shoal_sort_run(plan, a[0], a[1], a[2], a[3]);
}

shoal_status shoal_sort_create(shoal_context *ctx, const shoal_sort_opts *o, shoal_sort **result) {
    shoal_status status = shoal_plan_new(ctx, sizeof **result, o, result);
    if (status == SHOAL_OK)
        status = shoal_is_staging(ctx) ? stage_sort(&(*result)->plan, o)
                                       : fill_sort(&(*result)->plan, o);
    return shoal_plan_made(status, result);
}

void shoal_sort_free(shoal_sort *plan) { shoal_plan_free(plan); }

shoal_status shoal_sort_run(shoal_sort *handle, const void *a, const void *values, void *sorted,
                            void *sorted_values) {
    if (!handle) return SHOAL_E_ARG;
    sort_plan *plan = &handle->plan;
    if (is_empty(plan)) return SHOAL_OK;
    const int has_values = plan->job.value_bytes != 0;
    const run_array arrays[] = { { "keys", a, 1, 0 },
                                 { "values", values, has_values && !plan->job.index, 0 },
                                 { "sorted", sorted, 1, 0 },
                                 { "sorted_values", sorted_values, has_values, 0 } };
    const shoal_status status = check_run(plan, arrays, 4);
    if (status != SHOAL_OK) return status;
    if (plan->head.staged) {
        const shoal_sort_opts *o = shoal_staged_opts(&plan->head);
        const size_t keys_bytes = (size_t)o->n * shoal_key_bytes(o->key);
        const size_t values_bytes = (size_t)o->n * (size_t)o->value_bytes;
        shoal_staged_array staged[] = {
            { .name = "keys", .from = a, .bytes = keys_bytes },
            { .name = "values", .from = values, .bytes = values_bytes },
            { .name = "sorted", .to = sorted, .bytes = keys_bytes },
            { .name = "sorted_values", .to = sorted_values, .bytes = values_bytes },
        };
        for (shoal_staged_array *s = staged; s < staged + 4; s++) {
            s->rows = 1, s->part = s->part_step = s->bytes;
            if (o->stride) s->step = s->bytes / (size_t)o->n * (size_t)o->stride;
        }
        return shoal_staged_run(&plan->head, staged, 4, sort_piece, NULL);
    }
    sort_job job = plan->job;
    job.a_keys = a, job.a_values = values, job.keys = sorted, job.values = sorted_values;
    return run_method(plan, &job);
}

shoal_status shoal_sort_last(shoal_sort *plan, shoal_sort_info *info) {
    return plan ? fill_info(&plan->plan, info) : SHOAL_E_ARG;
}

/* ---- merging -------------------------------------------------------------------------------- */

static shoal_status check_merge(shoal_context *ctx, const shoal_merge_opts *o, int64_t *na,
                                int64_t *nb) {
    const shoal_count counts[] = { { "na", o->na, 0, INT64_MAX },
                                   { "nb", o->nb, 0, INT64_MAX },
                                   { "count", o->count, 0, INT64_MAX } };
    shoal_status status = shoal_check_counts(ctx, counts, 3);
    if (status == SHOAL_OK) status = check_keys(ctx, o->key, o->value_bytes);
    *na = o->na, *nb = o->nb;
    if (status != SHOAL_OK) return status;
    if (!o->a_offsets != !o->b_offsets)
        return shoal_fail(ctx, SHOAL_E_ARG, "%s is NULL; give both offsets or neither",
                          o->a_offsets ? "b_offsets" : "a_offsets");
    if (!o->a_offsets) {
        status = check_total(ctx, "na", o->na, o->count);
        return status == SHOAL_OK ? check_total(ctx, "nb", o->nb, o->count) : status;
    }
    status = check_offsets(ctx, "a_offsets", o->a_offsets, o->count, "na", na);
    return status == SHOAL_OK ? check_offsets(ctx, "b_offsets", o->b_offsets, o->count, "nb", nb)
                              : status;
}

/* The longest pair, and keys of the result in all. */
static void measure(sort_plan *plan, const shoal_merge_opts *o, int64_t na, int64_t nb) {
    plan->longest = na + nb;
    plan->total = (na + nb) * o->count;
    if (!o->a_offsets) return;
    plan->longest = 0;
    plan->total = o->a_offsets[o->count] + o->b_offsets[o->count];
    for (int64_t k = 0; k < o->count; k++) {
        const int64_t length =
            o->a_offsets[k + 1] - o->a_offsets[k] + o->b_offsets[k + 1] - o->b_offsets[k];
        if (length > plan->longest) plan->longest = length;
    }
}

static shoal_status fill_merge(sort_plan *plan, const shoal_merge_opts *o) {
    int64_t na = 0, nb = 0;
    shoal_status status = check_merge(plan->head.ctx, o, &na, &nb);
    if (status != SHOAL_OK) return status;
    plan->key = o->key;
    measure(plan, o, na, nb);
    plan->job = (sort_job){ .count = o->count,
                            .a = { .length = na, .stride = na },
                            .b = { .length = nb, .stride = nb },
                            .value_bytes = o->value_bytes };
    status = choose(plan, o->descending, o->method, o->variant,
                    o->count == 1 ? "mergepath" : "batchmerge", SHOAL_CAN_MERGE);
    if (status == SHOAL_OK && o->a_offsets) status = keep_offsets(plan, o->a_offsets, &plan->job.a);
    if (status == SHOAL_OK && o->a_offsets) status = keep_offsets(plan, o->b_offsets, &plan->job.b);
    return status == SHOAL_OK ? allocate_work(plan) : status;
}

static shoal_status create_merge(shoal_context *ctx, const void *opts, int64_t count, void **plan) {
    shoal_merge_opts o = *(const shoal_merge_opts *)opts;
    shoal_merge *made;
    o.count = count;
    const shoal_status status = shoal_merge_create(ctx, &o, &made);
    *plan = made;
    return status;
}

static shoal_status add_merge(void *plan, void *info) { return shoal_merge_last(plan, info); }

static const shoal_staged_kind merges = { sizeof(shoal_merge_opts), sizeof(shoal_sort_info),
                                          create_merge, add_merge };

static shoal_status stage_merge(sort_plan *plan, const shoal_merge_opts *o) {
    shoal_merge_opts kept = *o;
    int64_t na = 0, nb = 0;
    shoal_status status = check_merge(plan->head.ctx, o, &na, &nb);
    if (status == SHOAL_OK)
        status = shoal_staged_refuse(&plan->head, o->a_offsets != NULL, "a_offsets");
    plan->longest = na + nb;
    plan->job = (sort_job){ .count = o->count,
                            .a = { .length = na },
                            .b = { .length = nb },
                            .value_bytes = o->value_bytes };
    if (status == SHOAL_OK) status = shoal_staged_word(&plan->head, &kept.method);
    if (status == SHOAL_OK) status = shoal_staged_word(&plan->head, &kept.variant);
    return status == SHOAL_OK ? shoal_staged_create(&plan->head, &merges, &kept, o->count) : status;
}

static shoal_status merge_piece(void *plan, void *const *a, const void *with) {
    (void)with;
    return shoal_merge_run(plan, a[0], a[1], a[4], a[2], a[3], a[5]);
}

shoal_status shoal_merge_create(shoal_context *ctx, const shoal_merge_opts *o,
                                shoal_merge **result) {
    shoal_status status = shoal_plan_new(ctx, sizeof **result, o, result);
    if (status == SHOAL_OK)
        status = shoal_is_staging(ctx) ? stage_merge(&(*result)->plan, o)
                                       : fill_merge(&(*result)->plan, o);
    return shoal_plan_made(status, result);
}

void shoal_merge_free(shoal_merge *plan) { shoal_plan_free(plan); }

/* An array without keys is not looked at. */
shoal_status shoal_merge_run(shoal_merge *handle, const void *a, const void *b, void *merged,
                             const void *a_values, const void *b_values, void *merged_values) {
    if (!handle) return SHOAL_E_ARG;
    sort_plan *plan = &handle->plan;
    if (is_empty(plan)) return SHOAL_OK;
    const int has_values = plan->job.value_bytes != 0;
    const int no_a = plan->job.a.length == 0, no_b = plan->job.b.length == 0;
    const run_array arrays[] = { { "a", a, 1, no_a },
                                 { "b", b, 1, no_b },
                                 { "merged", merged, 1, 0 },
                                 { "a_values", a_values, has_values, has_values && no_a },
                                 { "b_values", b_values, has_values, has_values && no_b },
                                 { "merged_values", merged_values, has_values, 0 } };
    const shoal_status status = check_run(plan, arrays, 6);
    if (status != SHOAL_OK) return status;
    if (plan->head.staged) {
        const shoal_merge_opts *o = shoal_staged_opts(&plan->head);
        const size_t key = shoal_key_bytes(o->key), value = (size_t)o->value_bytes;
        const size_t na = (size_t)o->na, nb = (size_t)o->nb;
        const shoal_staged_array staged[] = {
            shoal_staged_in("a", a, na * key, 1),
            shoal_staged_in("b", b, nb * key, 1),
            shoal_staged_in("a_values", a_values, na * value, 1),
            shoal_staged_in("b_values", b_values, nb * value, 1),
            shoal_staged_out("merged", merged, (na + nb) * key, 1),
            shoal_staged_out("merged_values", merged_values, (na + nb) * value, 1),
        };
        return shoal_staged_run(&plan->head, staged, 6, merge_piece, NULL);
    }
    sort_job job = plan->job;
    job.a_keys = a, job.b_keys = b, job.keys = merged;
    job.a_values = a_values, job.b_values = b_values, job.values = merged_values;
    return run_method(plan, &job);
}

shoal_status shoal_merge_last(shoal_merge *plan, shoal_sort_info *info) {
    return plan ? fill_info(&plan->plan, info) : SHOAL_E_ARG;
}
