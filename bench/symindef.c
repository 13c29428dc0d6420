/* SPDX-License-Identifier: Apache-2.0
 *
 * symindef.c - one dense symmetric matrix by one of Shoal's methods: factored, checked, timed.
 */
#include "bench/symindef.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONG_SHARE = 4 }; /* calls longer than this part of the longest time are not repeated */

typedef struct solver {
    shoal_symindef *plan;
    const bench_matrix *data;
} solver;

static int fresh_copy(void *self) { return bench_matrix_renew(((const solver *)self)->data); }

static int factor(void *self, int i) {
    const solver *v = self;
    const bench_matrix *d = v->data;
    (void)i; /* a sample is one call */
    const shoal_status status = d->problem.type == SHOAL_F32
                                    ? shoal_symindef_factorf(v->plan, (float *)d->work)
                                    : shoal_symindef_factor(v->plan, (double *)d->work);
    return status == SHOAL_OK ? 0 : -1;
}

static bool stopped(const bench_session *s) { return s->rules.stop && s->rules.stop(); }

bench_pivoting bench_pivoting_of(const bench_problem *p) {
    if (strcmp(p->method, "partial") == 0) return BENCH_PARTIAL;
    return strcmp(p->method, "rook") == 0 ? BENCH_ROOK : BENCH_COMPLETE;
}

double bench_symindef_bound(const bench_problem *p) {
    const double alpha = p->alpha > 0 ? p->alpha : (1 + sqrt(17.0)) / 8;
    if (bench_pivoting_of(p) == BENCH_PARTIAL) return INFINITY;
    return fmax(1 / alpha, 1 / (1 - alpha));
}

int bench_symindef_measure(bench_session *s, bench_place *place, const bench_task *task,
                           double first, bench_stats *stats) {
    const bench_rules *rules = &s->rules;
    if (rules->exact || first < rules->longest / LONG_SHARE)
        return bench_measure(place->device, rules, task, stats);
    bench_summarise(&first, 1, 1, stats);
    return BENCH_OK;
}

/* One call on a fresh copy, whose time is taken; the factors are judged. */
static shoal_status verify(const bench_session *s, solver *v, shoal_symindef_info *info,
                           double *seconds, bench_check *check) {
    const bench_matrix *d = v->data;
    const bench_device *device = d->place->device;
    const size_t n = (size_t)d->problem.n;
    int32_t *interchanges = calloc(n + 1, sizeof *interchanges),
            *permutation = calloc(n + 1, sizeof *permutation);
    shoal_status status = interchanges && permutation ? SHOAL_OK : SHOAL_E_NOMEM;
    if (status == SHOAL_OK && (fresh_copy(v) || device->start() || factor(v, 0)))
        status = SHOAL_E_CUDA;
    if (status == SHOAL_OK && (*seconds = device->stop()) < 0) status = SHOAL_E_CUDA;
    if (status == SHOAL_OK) status = shoal_symindef_last(v->plan, info);
    if (status == SHOAL_OK) status = shoal_symindef_order(v->plan, interchanges, permutation, NULL);
    if (status == SHOAL_OK && d->bytes > 0)
        status = shoal_copy(d->place->ctx, d->answer, d->work, d->bytes);
    const bench_factors factors = { .type = d->problem.type,
                                    .n = d->problem.n,
                                    .whole = d->whole,
                                    .triangle = bench_triangle_of(&d->problem),
                                    .numbers = d->answer,
                                    .interchanges = interchanges,
                                    .permutation = permutation,
                                    .most = bench_symindef_bound(&d->problem),
                                    .info = info,
                                    .threads = d->place->machine.threads,
                                    .stop = s->rules.stop };
    if (status == SHOAL_OK && !stopped(s)) status = bench_symindef_check(&factors, check);
    free(interchanges);
    free(permutation);
    return status;
}

static void describe(bench_row *row, const shoal_symindef_info *info) {
    snprintf(row->method, sizeof row->method, "%s", info->method);
    snprintf(row->variant, sizeof row->variant, "%s", info->variant ? info->variant : "");
    snprintf(row->version, sizeof row->version, "Shoal %s", shoal_version());
    row->workspace = info->bytes;
    char growth[32] = "";
    if (info->growth > 0) snprintf(growth, sizeof growth, ", growth %.3g", info->growth);
    snprintf(row->note, sizeof row->note, "rank %lld, %lld + %lld pivots%s, max |M| %.4g",
             (long long)info->rank, (long long)info->pivots_1x1, (long long)info->pivots_2x2,
             growth, info->max_multiplier);
}

static int add_row(bench_session *s, solver *v, const bench_problem *p, bool timed,
                   const shoal_symindef_info *info, double first, const bench_check *check) {
    bench_place *place = v->data->place;
    char text[BENCH_TEXT];
    bench_row *row = bench_session_row(s, p, place, "Shoal");
    if (!row) return BENCH_ERROR;
    int code = BENCH_OK;
    describe(row, info);
    row->check = *check;
    bench_note(s, "%s: %s: error %.2g by %lld vectors%s%s", bench_problem_text(p, text),
               check->passed ? "verified" : bench_verdict(check), check->max_residual,
               (long long)check->systems, check->passed ? "" : ": ", check->why);
    if (timed && check->passed && p->n > 0) {
        const bench_task task = { .prepare = fresh_copy, .call = factor, .self = v, .calls = 1 };
        code = bench_symindef_measure(s, place, &task, first, &row->time);
        if (code == BENCH_ERROR)
            bench_error(s, SHOAL_E_CUDA, "%s: %s", text, shoal_message(place->ctx));
    }
    bench_row_finish(row, place);
    return code;
}

int bench_symindef_run(bench_session *s, bench_matrix *d, const bench_problem *p, bool timed) {
    shoal_context *ctx = d->place->ctx;
    solver v = { .data = d };
    const shoal_symindef_opts opts = { .n = p->n,
                                       .type = p->type,
                                       .storage = p->storage,
                                       .triangle = p->triangle,
                                       .method = p->method,
                                       .variant = p->variant,
                                       .alpha = p->alpha,
                                       .growth = p->growth };
    char text[BENCH_TEXT];
    shoal_status status = shoal_symindef_create(ctx, &opts, &v.plan);
    if (status == SHOAL_E_METHOD && p->from_all) {
        bench_note(s, "left out: %s", shoal_message(ctx));
        return BENCH_OK;
    }
    if (status != SHOAL_OK)
        return bench_error(s, status, "%s: %s", bench_problem_text(p, text), shoal_message(ctx));
    shoal_symindef_info info = { .method = p->method, .variant = p->variant };
    bench_check check = { 0 };
    double first = 0;
    status = verify(s, &v, &info, &first, &check);
    if (status != SHOAL_OK) { /* one method that breaks down does not end the run */
        const char *message = shoal_message(ctx);
        check = (bench_check){ .max_residual = NAN, .tolerance = NAN };
        info = (shoal_symindef_info){ .method = p->method, .variant = p->variant };
        snprintf(check.why, sizeof check.why, "%.150s",
                 *message ? message : shoal_status_text(status));
    }
    const bool ended = status == SHOAL_OK && stopped(s);
    const int code = ended ? BENCH_STOPPED : add_row(s, &v, p, timed, &info, first, &check);
    shoal_symindef_free(v.plan);
    return code;
}
