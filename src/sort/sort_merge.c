/* SPDX-License-Identifier: Apache-2.0
 *
 * sort_merge.c - the functions of sort.h that merge, and their argument checks; sort.c has the
 * method table and what both kinds of plan have in common.
 */
#include "sort/plan.h"

static shoal_status check_merge(shoal_context *ctx, const shoal_merge_opts *o, int64_t *na,
                                int64_t *nb) {
    shoal_status status = shoal_check_count(ctx, "na", o->na, 0, INT64_MAX);
    if (status == SHOAL_OK) status = shoal_check_count(ctx, "nb", o->nb, 0, INT64_MAX);
    if (status == SHOAL_OK) status = shoal_check_count(ctx, "count", o->count, 0, INT64_MAX);
    if (status == SHOAL_OK) status = shoal_sort_check_keys(ctx, o->key, o->value_bytes);
    *na = o->na, *nb = o->nb;
    if (status != SHOAL_OK) return status;
    if (!o->a_offsets != !o->b_offsets)
        return shoal_fail(ctx, SHOAL_E_ARG, "%s is NULL; give both offsets or neither",
                          o->a_offsets ? "b_offsets" : "a_offsets");
    if (!o->a_offsets) {
        status = shoal_sort_check_total(ctx, "na", o->na, o->count);
        return status == SHOAL_OK ? shoal_sort_check_total(ctx, "nb", o->nb, o->count) : status;
    }
    status = shoal_sort_check_offsets(ctx, "a_offsets", o->a_offsets, o->count, "na", na);
    return status == SHOAL_OK
               ? shoal_sort_check_offsets(ctx, "b_offsets", o->b_offsets, o->count, "nb", nb)
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

static shoal_status fill_plan(sort_plan *plan, const shoal_merge_opts *o) {
    int64_t na = 0, nb = 0;
    shoal_status status = check_merge(plan->head.ctx, o, &na, &nb);
    if (status != SHOAL_OK) return status;
    plan->key = o->key;
    measure(plan, o, na, nb);
    plan->job = (sort_job){ .count = o->count,
                            .a = { .length = na, .stride = na },
                            .b = { .length = nb, .stride = nb },
                            .value_bytes = o->value_bytes };
    shoal_sort_set_order(plan, o->descending);
    status = shoal_sort_choose(plan, o->method, o->variant,
                               o->count == 1 ? "mergepath" : "batchmerge", SHOAL_CAN_MERGE);
    if (status == SHOAL_OK && o->a_offsets)
        status = shoal_sort_keep_offsets(plan, o->a_offsets, &plan->job.a);
    if (status == SHOAL_OK && o->a_offsets)
        status = shoal_sort_keep_offsets(plan, o->b_offsets, &plan->job.b);
    return status == SHOAL_OK ? shoal_sort_finish(plan) : status;
}

shoal_status shoal_merge_create(shoal_context *ctx, const shoal_merge_opts *o,
                                shoal_merge **result) {
    shoal_status status = shoal_plan_new(ctx, sizeof **result, o, result);
    if (status == SHOAL_OK) status = fill_plan(&(*result)->plan, o);
    return shoal_plan_made(status, result);
}

void shoal_merge_free(shoal_merge *plan) { shoal_plan_free(plan); }

/* An array without keys is not looked at. */
shoal_status shoal_merge_run(shoal_merge *made, const void *a, const void *b, void *merged,
                             const void *a_values, const void *b_values, void *merged_values) {
    if (!made) return SHOAL_E_ARG;
    sort_plan *plan = &made->plan;
    if (shoal_sort_nothing(plan)) return SHOAL_OK;
    const int with = plan->job.value_bytes != 0;
    const int from_a = plan->job.a.length > 0, from_b = plan->job.b.length > 0;
    shoal_status status = shoal_ready(plan->head.ctx);
    if (status == SHOAL_OK && from_a) status = shoal_sort_check_array(plan, "a", a, 1);
    if (status == SHOAL_OK && from_b) status = shoal_sort_check_array(plan, "b", b, 1);
    if (status == SHOAL_OK) status = shoal_sort_check_array(plan, "merged", merged, 1);
    if (status == SHOAL_OK && (from_a || !with))
        status = shoal_sort_check_array(plan, "a_values", a_values, with);
    if (status == SHOAL_OK && (from_b || !with))
        status = shoal_sort_check_array(plan, "b_values", b_values, with);
    if (status == SHOAL_OK)
        status = shoal_sort_check_array(plan, "merged_values", merged_values, with);
    if (status != SHOAL_OK) return status;
    sort_job job = plan->job;
    job.a_keys = a, job.b_keys = b, job.keys = merged;
    job.a_values = a_values, job.b_values = b_values, job.values = merged_values;
    return shoal_sort_start(plan, &job);
}

shoal_status shoal_merge_last(shoal_merge *plan, shoal_sort_info *info) {
    return plan ? shoal_sort_end(&plan->plan, info) : SHOAL_E_ARG;
}
