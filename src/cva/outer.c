/* SPDX-License-Identifier: Apache-2.0
 *
 * outer.c - the stages of outer.h and exposure.h on the CPU: threads share blocks of CVA_WIDTH outer paths, or nodes.
 */
#define CVA_WIDTH   32
#define CVA_LANE(l) (l)
#include "pricing/lanes.h"

#include "cva/exposure.h"
#include <stdlib.h>

static shoal_status begin(shoal_context *ctx, const cva_job *job, int64_t k) {
    (void)k;
    ON_THREADS(ctx->threads, static)
    for (int64_t path = 0; path < job->paths; path++) {
        cva_begin_path(job, path);
        cva_clear_path(job, path, 0);
    }
    return SHOAL_OK;
}

static shoal_status move(shoal_context *ctx, const cva_job *job, int64_t k) {
    ON_THREADS(ctx->threads, static)
    for (int64_t from = 0; from < job->paths; from += CVA_WIDTH) {
        cva_move_paths(job, from, k);
        for (int64_t path = from; path < from + CVA_WIDTH && path < job->paths && job->value;
             path++)
            cva_clear_path(job, path, k);
    }
    return SHOAL_OK;
}

/* The prices of a block, [asset][lane]; the last block repeats its last path. */
static void take_prices(const cva_job *job, int64_t from, double *s) {
    for (int l = 0; l < CVA_WIDTH; l++) {
        const int64_t path = from + l < job->paths ? from + l : job->paths - 1;
        for (int a = 0; a < job->assets; a++)
            s[a * CVA_WIDTH + l] = job->spot[path * job->assets + a];
    }
}

static shoal_status value(shoal_context *ctx, const cva_job *job, int64_t k) {
    cva_terms *terms = malloc((size_t)(job->europeans + 1) * sizeof *terms);
    if (!terms) return SHOAL_NO_MEMORY(ctx, "closed forms");
    for (int64_t i = 0; i < job->europeans; i++) {
        const cva_contract *c = &job->contract[job->european[i]];
        cva_span left = cva_rest(job, c, k);
        left.years = fmax(left.years, 0);
        terms[i] = cva_terms_of(job, c, left);
    }
    ON_THREADS(ctx->threads, static)
    for (int64_t from = 0; from < job->paths; from += CVA_WIDTH) {
        double s[SHOAL_CVA_ASSETS * CVA_WIDTH], worth[CVA_WIDTH];
        take_prices(job, from, s);
        for (int64_t i = 0; i < job->europeans; i++) {
            if (shoal_is_cancelled(ctx, from, job->paths / ctx->threads + 1)) break;
            const cva_contract *c = &job->contract[job->european[i]];
            const double left = cva_left(job, c, k);
            if (!cva_is_known(c, left)) continue;
            cva_known_values(job, c, &terms[i], from, s, worth);
            for (int l = 0; l < CVA_WIDTH && from + l < job->paths; l++) {
                cva_note(job, c, k, from + l, worth[l], left == 0);
                cva_add_value(job, c, from + l, c->quantity * worth[l]);
                if (job->flow && left == 0)
                    cva_add_flow(job, c, from + l, c->quantity * worth[l], c->quantity * worth[l]);
            }
        }
    }
    free(terms);
    return SHOAL_OK;
}

static shoal_status settle(shoal_context *ctx, const cva_job *job, int64_t k) {
    ON_THREADS(ctx->threads, static)
    for (int64_t from = 0; from < job->paths; from += CVA_WIDTH) {
        double s[SHOAL_CVA_ASSETS * CVA_WIDTH];
        cva_settled now[CVA_WIDTH];
        take_prices(job, from, s);
        for (int64_t i = 0; i < job->americans; i++) {
            if (shoal_is_cancelled(ctx, from, job->paths / ctx->threads + 1)) break;
            const cva_contract *c = &job->contract[job->american[i]];
            cva_settle(job, c, from, k, s, now);
            for (int l = 0; l < CVA_WIDTH && from + l < job->paths; l++) {
                cva_add_value(job, c, from + l, now[l].adds);
                job->differ[(from + l) * job->sets + c->set] += now[l].differs;
                if (job->flow) cva_add_flow(job, c, from + l, now[l].paid[0], now[l].paid[1]);
            }
        }
    }
    return SHOAL_OK;
}

static shoal_status plan(shoal_context *ctx, const cva_job *job, int64_t k) {
    const int64_t end = job->from + job->count;
    int64_t sum = 0;
    ON_THREADS(ctx->threads, static)
    for (int64_t path = job->from; path < end; path++)
        job->node[path].first = cva_plan_node(job, k, path);
    for (int64_t path = job->from; path < end; path++) {
        const int64_t groups = job->node[path].first;
        job->node[path].first = sum;
        sum += groups;
    }
    *job->groups = sum;
    return SHOAL_OK;
}

static shoal_status fill(shoal_context *ctx, const cva_job *job, int64_t k) {
    (void)k;
    ON_THREADS(ctx->threads, static)
    for (int64_t path = job->from; path < job->from + job->count; path++) cva_fill_node(job, path);
    return SHOAL_OK;
}

static shoal_status keep(shoal_context *ctx, const cva_job *job, int64_t k) {
    (void)k;
    ON_THREADS(ctx->threads, static)
    for (int64_t path = 0; path < job->paths; path++) cva_keep_path(job, path);
    return SHOAL_OK;
}

static shoal_status jump(shoal_context *ctx, const cva_job *job, int64_t k) {
    (void)k;
    ON_THREADS(ctx->threads, static)
    for (int64_t path = 0; path < job->paths; path++) cva_jump_path(job, path);
    return SHOAL_OK;
}

static shoal_status add(shoal_context *ctx, const cva_job *job, int64_t k) {
    (void)k;
    ON_THREADS(ctx->threads, static)
    for (int64_t item = 0; item < job->items; item++) cva_add_item(job, item);
    return SHOAL_OK;
}

static shoal_status expose(shoal_context *ctx, const cva_job *job, int64_t k) {
    ON_THREADS(ctx->threads, dynamic, CVA_TASK)
    for (int64_t path = job->from; path < job->from + job->count; path++) {
        if (shoal_is_cancelled(ctx, 0, 1)) continue;
        cva_expose_node(job, path);
        if (job->worth) cva_note_node(job, k, path);
    }
    return SHOAL_OK;
}

static shoal_status allot(shoal_context *ctx, const cva_job *job, int64_t k) {
    const int ends = job->date == job->exposures - 1;
    (void)k;
    ON_THREADS(ctx->threads, dynamic, 1)
    for (int64_t i = 0; i < job->contracts; i++) {
        const cva_contract *c = &job->contract[i];
        int64_t *to = job->total + i * cva_total_numbers(job);
        int64_t *at = to + CVA_LIMBS * CVA_TOTAL_LISTS * job->date;
        int64_t *tail = to + CVA_LIMBS * CVA_TOTAL_LISTS * job->exposures;
        for (int64_t path = job->from; path < job->from + job->count; path++) {
            cva_allot(job, c, path, at);
            if (ends) cva_allot_end(job, c, path, tail);
        }
    }
    return SHOAL_OK;
}

const cva_method R(cva_outer) = { .begin = begin,
                                  .move = move,
                                  .value = value,
                                  .settle = settle,
                                  .plan = plan,
                                  .fill = fill,
                                  .keep = keep,
                                  .jump = jump,
                                  .add = add,
                                  .expose = expose,
                                  .allot = allot };

/* ---- of a validation ----------------------------------------------------------------------------- */

static void decide(const shoal_context *ctx, const cva_job *job, const cva_contract *c,
                   const cva_rule *rule, int64_t k, char *now) {
    ON_THREADS(ctx->threads, static)
    for (int64_t from = 0; from < job->paths; from += CVA_WIDTH) {
        double s[SHOAL_CVA_ASSETS * CVA_WIDTH];
        char here[CVA_WIDTH];
        take_prices(job, from, s);
        cva_decide(job, c, rule, k, s, here, NULL);
        for (int l = 0; l < CVA_WIDTH && from + l < job->paths; l++) now[from + l] = here[l];
    }
}

const cva_judge R(cva_judge) = { .decide = decide };
