/* SPDX-License-Identifier: Apache-2.0
 *
 * session.c - contexts and rows of one run of the bench, and the loop of all checks of answers: over a sample of the
 * systems, by threads.
 */
#include "bench/module.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void bench_session_begin(bench_session *s, const shoal_options *options) {
    *s = (bench_session){ .options = *options };
    s->rules = (bench_rules){ .samples = 20, .shortest = 0.3, .longest = 10 };
    s->places[0].copy_rate = s->places[1].copy_rate = -1;
}

void bench_session_end(bench_session *s) {
    for (int i = 0; i < 2; i++) shoal_close(s->places[i].ctx);
    free(s->rows);
    s->rows = NULL;
    s->row_count = 0;
}

int bench_error(bench_session *s, shoal_status why, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(s->message, sizeof s->message, format, list);
    va_end(list);
    s->why = why;
    return why == SHOAL_E_CANCELLED ? BENCH_STOPPED : BENCH_ERROR;
}

void bench_note(bench_session *s, const char *format, ...) {
    char text[512];
    if (!s->note) return;
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    s->note(s->note_to, text);
}

/* Ends a call of the library once the user ends the run. */
static int stop_call(void *session, const char *stage, double fraction) {
    (void)stage, (void)fraction;
    return bench_stopped(session);
}

/* Opens a backend; "auto" may be either place. */
static bench_place *open_place(bench_session *s, const char *backend) {
    shoal_options options = s->options;
    shoal_context *ctx = NULL;
    shoal_machine machine;
    options.backend = backend;
    shoal_status status = shoal_open(&options, &ctx);
    if (status == SHOAL_OK) status = shoal_set_progress(ctx, stop_call, s);
    if (status == SHOAL_OK) status = shoal_describe(ctx, &machine);
    if (status != SHOAL_OK) {
        bench_error(s, status, "backend %s: %s", backend, ctx ? shoal_message(ctx) : "no memory");
        shoal_close(ctx);
        return NULL;
    }
    bench_place *place = &s->places[strcmp(machine.backend, "cuda") == 0];
    if (place->ctx) { /* "auto" named a backend that is open already */
        shoal_close(ctx);
        return place;
    }
    place->ctx = ctx;
    place->machine = machine;
    place->device = bench_device_of(machine.backend);
    if (place->device && place->device->software)
        place->device->software(place->software, sizeof place->software);
    return place;
}

bench_place *bench_session_place(bench_session *s, const char *backend) {
    for (int i = 0; i < 2; i++)
        if (s->places[i].ctx && strcmp(backend, s->places[i].machine.backend) == 0)
            return &s->places[i];
    bench_place *place = open_place(s, backend);
    if (place && !place->device) {
        bench_error(s, SHOAL_E_BACKEND, "backend %s: this program was built without its clock",
                    backend);
        return NULL;
    }
    return place;
}

/* Bytes per second of its copy, measured at the first call. */
static double copy_rate(const bench_session *s, bench_place *place) {
    if (place->copy_rate < 0)
        place->copy_rate = place->device->copy_rate(place->machine.threads, s->rules.stop);
    return place->copy_rate;
}

enum { LONG_SHARE = 4 }; /* calls longer than this part of the longest time are not repeated */

static bench_row *new_row(bench_session *s, const bench_problem *p, const bench_place *place) {
    bench_row *rows = realloc(s->rows, (size_t)(s->row_count + 1) * sizeof *rows);
    if (!rows) {
        bench_error(s, SHOAL_E_NOMEM, "no memory for the results");
        return NULL;
    }
    s->rows = rows;
    bench_row *row = &rows[s->row_count++];
    *row = (bench_row){ .problem = *p, .backend = place->machine.backend };
    return row;
}

static const char *text_of(const char *text) { return text ? text : ""; }

static void describe(bench_row *row, const bench_place *place, const bench_solver *v) {
    const int threads = v->threads ? v->threads : place->machine.threads;
    row->threads = bench_on_cpu(place) ? threads : 0;
    row->sets = v->task.calls;
    row->workspace = v->workspace;
    row->error = v->error;
    row->counts = v->counts;
    snprintf(row->who, sizeof row->who, "%s", v->who ? v->who : "Shoal");
    snprintf(row->method, sizeof row->method, "%s", v->function);
    snprintf(row->variant, sizeof row->variant, "%s", text_of(v->variant));
    snprintf(row->note, sizeof row->note, "%s", text_of(v->note));
    if (v->who)
        snprintf(row->version, sizeof row->version, "%s", text_of(v->version));
    else
        snprintf(row->version, sizeof row->version, "Shoal %s", shoal_version());
}

int bench_measure_long(bench_session *s, const bench_place *place, const bench_task *task,
                       double first, bench_stats *stats) {
    if (s->rules.exact || first < s->rules.longest / LONG_SHARE)
        return bench_measure(place->device, &s->rules, task, stats);
    bench_summarise(&first, 1, 1, stats);
    return BENCH_OK;
}

/* Bytes, share and the rest that follows from the time. */
static void finish(const bench_session *s, bench_row *row, bench_place *place) {
    const bench_module *module = bench_module_of(row->problem.module);
    row->bytes = module->bytes ? module->bytes(&row->problem) : 0;
    row->timed = row->time.samples > 0 && row->time.median > 0;
    if (!row->timed) return;
    double rate = copy_rate(s, place);
    row->share = rate > 0 ? row->bytes / row->time.median / rate : 0;
}

/* Inaccurate answers that their status warns of are timed, as a failing peer's are: the row says that it is not verified. */
static bool is_honest(const bench_check *check) {
    return check->passed || (check->wrong == 0 && check->failed == 0 && check->tolerance > 0);
}

int bench_add_row(bench_session *s, const bench_problem *p, bench_place *place,
                  const bench_solver *v, const bench_check *check, bool timed) {
    char text[BENCH_TEXT];
    bench_row *row = new_row(s, p, place);
    if (!row) return BENCH_ERROR;
    int code = BENCH_OK;
    describe(row, place, v);
    row->check = *check;
    if (v->found)
        bench_note(s, "%s: %s: %s%s%s", bench_problem_text(p, text),
                   check->passed ? "verified" : bench_verdict(check), v->found,
                   check->passed ? "" : ": ", check->why);
    if (timed && (v->who || is_honest(check)))
        code = bench_measure_long(s, place, &v->task, v->first, &row->time);
    if (code == BENCH_ERROR && v->optional) {
        row->time = (bench_stats){ 0 };
        bench_note(s, "peer: %s %s failed while it was timed", v->who, v->function);
        code = BENCH_OK;
    }
    finish(s, row, place);
    if (code == BENCH_ERROR && v->who)
        bench_error(s, SHOAL_E_CUDA, "%s %s failed", v->who, v->function);
    if (code == BENCH_ERROR && !v->who)
        bench_error(s, SHOAL_E_CUDA, "%s: %s", bench_problem_text(p, text),
                    shoal_message(place->ctx));
    return code;
}

int bench_add_ours(bench_session *s, const bench_problem *p, bench_place *place,
                   const bench_solver *v, shoal_status status, bench_check *check, bool timed) {
    char found[96];
    bench_solver ours = *v;
    if (bench_stopped(s)) return BENCH_STOPPED;
    if (status != SHOAL_OK) *check = bench_broken(place, status);
    if (v->measure) {
        snprintf(found, sizeof found, "%s %.2g over %lld %s", v->measure, check->max_residual,
                 (long long)check->systems, v->of_checked);
        ours.found = found;
    }
    return bench_add_row(s, p, place, &ours, check, timed);
}

int bench_peer_left_out(bench_session *s, const bench_solver *peer) {
    bench_note(s, "peer left out: %s %s does not take this problem", peer->who, peer->function);
    return BENCH_OK;
}

/* On painted outputs of set 0. */
static shoal_status first_call(const bench_arrays *data, const bench_solver *peer) {
    const bench_task *task = &peer->task;
    const shoal_status status = bench_arrays_paint(data);
    if (status != SHOAL_OK) return status;
    if (task->prepare && task->prepare(task->self) != 0) return SHOAL_E_CUDA;
    return task->call(task->self, 0) == 0 ? shoal_wait(data->place->ctx) : SHOAL_E_CUDA;
}

int bench_add_peer(bench_session *s, bench_arrays *data, const bench_solver *peer,
                   shoal_status (*check)(const bench_session *s, const bench_arrays *data,
                                         bench_check *check)) {
    bench_problem p = data->problem; /* a peer has none of our variants */
    bench_check found = { 0 };
    p.variant[0] = 0;
    shoal_status status = first_call(data, peer);
    if (status == SHOAL_OK) status = check(s, data, &found);
    if (status != SHOAL_OK) return bench_peer_left_out(s, peer);
    if (bench_stopped(s)) return BENCH_STOPPED;
    return bench_add_row(s, &p, data->place, peer, &found, true);
}

const char *bench_message(const bench_place *place, shoal_status status) {
    const char *message = shoal_message(place->ctx);
    return *message ? message : shoal_status_text(status);
}

int bench_no_plan(bench_session *s, const bench_problem *p, const bench_place *place,
                  shoal_status status) {
    char text[BENCH_TEXT];
    const char *message = bench_message(place, status);
    if (status != SHOAL_E_METHOD || !p->from_all)
        return bench_error(s, status, "%s: %s", bench_problem_text(p, text), message);
    bench_note(s, "left out: %s", message);
    return BENCH_OK;
}

bench_check bench_broken(const bench_place *place, shoal_status status) {
    bench_check check = { .max_residual = NAN, .tolerance = NAN };
    snprintf(check.why, sizeof check.why, "%.150s", bench_message(place, status));
    return check;
}

bool bench_all_passed(const bench_session *s) {
    for (int i = 0; i < s->row_count; i++)
        if (strcmp(s->rows[i].who, "Shoal") == 0 && !s->rows[i].check.passed) return false;
    return true;
}

/* ---- checks ---------------------------------------------------------------------------------- */

const char *bench_verdict(const bench_check *check) {
    if (check->passed) return "ok";
    if (check->wrong > 0) return "WRONG";
    return check->tolerance > 0 ? "failed" : "error";
}

int64_t bench_check_sample(const bench_sample *s, bench_check *check) {
    int64_t wrong = 0, inaccurate = 0, first_wrong = INT64_MAX;
    double largest = 0;
#pragma omp parallel for num_threads(s->threads > 0 ? s->threads : 1) schedule(static)             \
    reduction(+ : wrong, inaccurate) reduction(max : largest) reduction(min : first_wrong)
    for (int64_t i = 0; i < s->checked; i++) {
        const int64_t k = i + 1 < s->checked ? i * s->stride : s->count - 1;
        if (s->stop && s->stop()) continue;
        const bench_finding f = s->look(s->of, k);
        if (f.error > largest && !f.truncated) largest = f.error;
        inaccurate += f.error > s->tolerance && !f.truncated;
        if (!f.fault) continue;
        wrong++;
        if (k < first_wrong) first_wrong = k;
    }
    *check = (bench_check){ .systems = s->checked, .wrong = wrong };
    for (int64_t k = 0; s->status && k < s->count; k++) {
        check->failed += s->status[k] < 0;
        check->warned += s->status[k] > 0;
    }
    check->max_residual = largest;
    check->tolerance = s->tolerance;
    check->passed = wrong == 0 && check->failed == 0 && inaccurate == 0;
    if (wrong > 0) {
        const bench_finding f = s->look(s->of, first_wrong);
        snprintf(check->why, sizeof check->why, "system %lld: %s (%s %.2g); %lld of %lld wrong",
                 (long long)first_wrong, f.fault, s->error_name, f.error, (long long)wrong,
                 (long long)s->checked);
        return first_wrong;
    }
    if (check->failed > 0)
        snprintf(check->why, sizeof check->why, "%lld failed", (long long)check->failed);
    else if (inaccurate > 0)
        snprintf(check->why, sizeof check->why, "%lld inaccurate, with a warning",
                 (long long)inaccurate);
    return -1;
}

void bench_check_join(bench_check *check, const bench_check *plain) {
    if (plain->max_residual > check->max_residual) check->max_residual = plain->max_residual;
    if (plain->wrong > check->wrong || (check->passed && !plain->passed)) {
        check->passed = false;
        check->wrong = plain->wrong;
        snprintf(check->why, sizeof check->why, "without outcome: %.140s", plain->why);
    }
}
