/* SPDX-License-Identifier: Apache-2.0
 *
 * team.c - everybody who computes the units of one command: the devices of this process, and other processes.
 *
 * To shoal_units_work() of rank 0 another process is a worker like a device: a job whose function sends the number of a
 * unit and waits for the bytes. So units are handed out, handed back and kept in one way. The other processes run the
 * same command from its inputs, up to the plan, and answer from there on. They print nothing but errors.
 */
#include "ranks.h"
#include "units.h"

#include <stdlib.h>
#include <string.h>

enum { MESSAGE = 512 };

/* ---- messages ---------------------------------------------------------------------------------- */

typedef enum order_kind { ORDER_END, ORDER_JOB, ORDER_UNIT, ORDER_DONE } order_kind;

/* What rank 0 sends. A job is followed by the devices and the inputs; a unit is answered. */
typedef struct order {
    order_kind kind;
    int device, device_given, threads;
    int64_t units, unit;
    char backend[16];
} order;

/* What the others send: then the bytes of the unit, or a message. */
typedef struct answer {
    int64_t failed;
    double seconds;
} answer;

static bool is_over;  /* this process has been told to end              */
static char *expects; /* [ranks], of rank 0: it has not answered yet     */

static void send_order(int rank, order o) { ranks_send(rank, &o, sizeof o); }

int units_announce(cli *c, const unit_job *job) {
    const int ranks = ranks_count();
    order o = { .kind = ORDER_JOB,
                .device = c->device,
                .device_given = c->device_given,
                .threads = c->threads,
                .units = job->settings->units };
    unit_inputs in;
    c->is_spread = true;
    if (ranks == 1 || c->parts) return CLI_OK;
    int code = units_inputs(c, job, &in);
    const size_t devices = c->devices ? strlen(c->devices) + 1 : 1;
    char *message = calloc(sizeof o + devices + in.size, 1);
    if (!expects) expects = calloc((size_t)ranks, 1);
    if (code == CLI_OK && (!message || !expects)) code = cli_no_memory();
    snprintf(o.backend, sizeof o.backend, "%s", c->backend);
    if (code == CLI_OK) {
        memcpy(message, &o, sizeof o);
        if (c->devices) memcpy(message + sizeof o, c->devices, devices);
        memcpy(message + sizeof o + devices, in.bytes, in.size);
    }
    for (int rank = 1; rank < ranks && code == CLI_OK; rank++)
        ranks_send(rank, message, sizeof o + devices + in.size);
    free(message);
    free(in.bytes);
    return code;
}

void units_dismiss(void) {
    const int ranks = ranks_count();
    size_t size;
    for (int rank = 1; rank < ranks; rank++) send_order(rank, (order){ .kind = ORDER_END });
    for (int rank = 1; rank < ranks; rank++)
        if (expects && expects[rank]) free(ranks_receive(rank, &size));
    ranks_end();
    free(expects);
}

/* ---- the other processes ----------------------------------------------------------------------- */

/* One unit, or why not, behind an answer with room for both. */
static void answer_unit(cli *c, shoal_units *units, int64_t unit, answer *a) {
    size_t size;
    const double begin = cli_now();
    c->is_serving = true;
    const shoal_status s = shoal_units_run(units, unit, 0, a + 1, &size);
    c->is_serving = false;
    *a = (answer){ .failed = s != SHOAL_OK, .seconds = cli_now() - begin };
    if (s != SHOAL_OK) {
        const char *message = shoal_message(c->ctx);
        size = 1 + (size_t)snprintf((char *)(a + 1), MESSAGE, "%.500s",
                                    *message ? message : shoal_status_text(s));
    }
    ranks_send(0, a, sizeof *a + size);
}

int units_answer(cli *c, shoal_units *units) {
    shoal_units_info info = { 0 };
    int code = cli_status(c, shoal_units_describe(units, &info));
    answer *a = code == CLI_OK ? malloc(sizeof *a + info.bytes + MESSAGE) : NULL;
    if (code == CLI_OK && !a) code = cli_no_memory();
    while (code == CLI_OK) {
        size_t size;
        order *o = ranks_receive(0, &size);
        is_over = o->kind == ORDER_END;
        if (o->kind == ORDER_UNIT)
            answer_unit(c, units, o->unit, a);
        else
            code = CLI_ELSEWHERE;
        free(o);
    }
    free(a);
    return code;
}

/* The command of rank 0, from its plan to its last unit. */
static void run_job(const cli *defaults, const order *o, size_t size) {
    const char *const devices = (const char *)(o + 1);
    const size_t used = sizeof *o + strlen(devices) + 1;
    unit_files files = { .units = o->units };
    const char *const more[] = { NULL };
    cli c = *defaults;
    c.backend = o->backend, c.devices = *devices ? devices : NULL, c.quiet = true;
    c.device = o->device, c.device_given = o->device_given, c.threads = o->threads;
    cli_watch_files(&c);
    units_replay(&c, "rank 0", devices + strlen(devices) + 1, size - used, &files, more);
    shoal_close(c.ctx);
}

int units_serve(const cli *c) {
    static const struct {
        answer a;
        char message[32];
    } no = { { .failed = 1 }, "it could not begin" };
    while (!is_over) {
        size_t size;
        order *o = ranks_receive(0, &size);
        is_over = o->kind == ORDER_END;
        if (o->kind == ORDER_JOB) run_job(c, o, size);
        if (o->kind == ORDER_UNIT) ranks_send(0, &no, sizeof no);
        free(o);
    }
    ranks_end();
    return CLI_OK;
}

/* ---- rank 0 ------------------------------------------------------------------------------------ */

/* Another device of this process, or another process. */
typedef struct helper {
    cli c;
    void *plan; /* of a device */
    shoal_units *units;
    int rank;                    /* 0: a device          */
    int64_t count, rows, counts; /* of the job: units, rows, counts */
    char digest[SHOAL_UNITS_DIGEST];
    double seconds;        /* that a process has computed */
    char message[MESSAGE]; /* why it has failed           */
} helper;

typedef struct team {
    const unit_job *job;
    shoal_units **units; /* [count]: the first are this process's own */
    helper **helper;     /* [count - 1] */
    int count, room;
} team;

/* The function of a job whose units another process computes. What fails there is no failure of the job: somebody else
 * does the unit. */
static shoal_status run_elsewhere(shoal_context *ctx, void *user, int64_t first, int64_t rows,
                                  void *result, int64_t *counts) {
    helper *h = user;
    shoal_unit about = { 0 };
    size_t size;
    if (rows == 0) return SHOAL_OK;
    /* the last unit whose first row is not behind this one */
    const int64_t unit = ((first + 1) * h->count - 1) / h->rows;
    send_order(h->rank, (order){ .kind = ORDER_UNIT, .unit = unit });
    expects[h->rank] = 1;
    while (!ranks_heard(h->rank)) {
        if (cli_interrupted()) return SHOAL_E_CANCELLED;
        ranks_rest();
    }
    answer *a = ranks_receive(h->rank, &size);
    expects[h->rank] = 0;
    h->seconds += a->seconds;
    if (a->failed)
        snprintf(h->message, MESSAGE, "%s", (const char *)(a + 1));
    else if (shoal_units_read(ctx, a + 1, size - sizeof *a, &about) != SHOAL_OK)
        snprintf(h->message, MESSAGE, "%s", shoal_message(ctx));
    else if (strcmp(about.digest, h->digest) != 0 || about.unit != unit || about.rows != rows)
        snprintf(h->message, MESSAGE, "its units are of another job, or another shoal");
    if (!*h->message) {
        memcpy(result, about.result, (size_t)rows * about.row_bytes);
        for (int64_t i = 0; i < h->counts; i++) counts[i] = about.counts[i];
    }
    free(a);
    return *h->message ? SHOAL_E_BACKEND : SHOAL_OK;
}

/* One more; NULL: no memory. */
static helper *add_helper(team *t, const cli *c) {
    if (t->count == t->room) {
        const size_t room = 2 * (size_t)t->room;
        shoal_units **units = realloc(t->units, room * sizeof *units);
        if (units) t->units = units;
        helper **all = units ? realloc(t->helper, room * sizeof *all) : NULL;
        if (!all) return NULL;
        t->helper = all, t->room = (int)room;
    }
    helper *h = calloc(1, sizeof *h);
    if (!h) return NULL;
    h->c = *c, h->c.ctx = NULL, h->c.quiet = true;
    t->units[t->count] = NULL, t->helper[t->count++ - 1] = h;
    return h;
}

/* A process: its units, in a context of this process that has its messages. */
static int add_rank(team *t, const cli *c, const shoal_units_info *info, const unit_inputs *in,
                    int rank) {
    helper *h = add_helper(t, c);
    if (!h) return cli_no_memory();
    const shoal_options alone = { .backend = "cpu", .threads = 1 };
    const shoal_units_job job = { .kind = info->kind,
                                  .rows = info->rows,
                                  .row_bytes = info->row_bytes,
                                  .counts = info->counts,
                                  .run = run_elsewhere,
                                  .user = h };
    const shoal_units_opts o = { .units = info->units,
                                 .inputs = in->bytes,
                                 .input_bytes = in->size };
    h->rank = rank, h->count = info->units, h->rows = info->rows, h->counts = info->counts;
    memcpy(h->digest, info->digest, sizeof h->digest);
    int code = cli_status(&h->c, shoal_open(&alone, &h->c.ctx));
    if (code == CLI_OK) code = cli_status(&h->c, shoal_units_create(h->c.ctx, &job, &o, &h->units));
    t->units[t->count - 1] = h->units;
    return code;
}

static void free_helper(const team *t, helper *h) {
    shoal_units_free(h->units);
    if (h->plan) t->job->free(h->plan);
    shoal_close(h->c.ctx);
    free(h);
}

static void drop_last(team *t) { free_helper(t, t->helper[--t->count - 1]); }

/* A device, with a plan of its own. *is_last: there is no such device, and all were asked for. A device that cannot make
 * the plan takes no units, and of all devices one that does not open. */
static int add_device(team *t, const cli *c, int64_t units, int device, bool *is_last) {
    helper *h = add_helper(t, c);
    if (!h) return cli_no_memory();
    const shoal_options o = { .backend = "cuda", .device = device, .threads = c->threads };
    h->c.device = device;
    const shoal_status s = shoal_open(&o, &h->c.ctx);
    const char *why = shoal_message(h->c.ctx);
    *is_last = s == SHOAL_E_BACKEND && cli_all_devices(c);
    if (s != SHOAL_OK && !cli_all_devices(c))
        return cli_fail(CLI_UNAVAILABLE, "--devices: %d: %s", device, why);
    if (s != SHOAL_OK) {
        if (!*is_last) cli_note(c, "GPU %d takes no units: %s", device, why);
        drop_last(t);
        return CLI_OK;
    }
    int code = cli_status(&h->c, shoal_describe(h->c.ctx, &h->c.machine));
    if (code == CLI_OK) code = t->job->make(&h->c, t->job->of, &h->plan);
    if (code == CLI_OK) code = units_make(&h->c, t->job, h->plan, units, &h->units);
    t->units[t->count - 1] = h->units;
    if (code != CLI_UNAVAILABLE) return code;
    cli_note(c, "GPU %d takes no units: it could not begin", device);
    drop_last(t);
    return CLI_OK;
}

static int add_devices(team *t, cli *c, int64_t units) {
    int code = CLI_OK;
    bool is_last = !c->devices || ranks_count() > 1; /* a process of several has one */
    if (c->devices && strcmp(c->machine.backend, "cuda") != 0) {
        cli_note(c, "--devices has no effect: this runs on the CPU");
        is_last = true;
    }
    for (int i = 1, device; !is_last && code == CLI_OK; i++) {
        device = cli_device_at(c, i);
        if (device < 0) break;
        code = add_device(t, c, units, device, &is_last);
    }
    return code;
}

/* Everybody who computes units of this process's plan. */
static int gather(team *t, cli *c, const unit_job *job, shoal_units *own) {
    shoal_units_info info;
    unit_inputs in = { NULL, 0 };
    *t = (team){ .job = job, .count = 1, .room = 8 };
    t->units = malloc((size_t)t->room * sizeof *t->units);
    t->helper = malloc((size_t)t->room * sizeof *t->helper);
    if (!t->units || !t->helper) return cli_no_memory();
    t->units[0] = own;
    int code = cli_status(c, shoal_units_describe(own, &info));
    if (code == CLI_OK) code = units_inputs(c, job, &in);
    for (int rank = 1; rank < ranks_count() && code == CLI_OK; rank++)
        code = add_rank(t, c, &info, &in, rank);
    free(in.bytes);
    return code == CLI_OK ? add_devices(t, c, info.units) : code;
}

static void part(team *t) {
    for (int i = 0; i + 1 < t->count && t->helper; i++) {
        helper *h = t->helper[i];
        if (h->rank) send_order(h->rank, (order){ .kind = ORDER_DONE });
        free_helper(t, h);
    }
    free(t->helper);
    free(t->units);
}

/* Notes on those that were lost, and the report. */
static int report(cli *c, const team *t, int64_t before, int lost, bool is_done) {
    const unit_settings *s = t->job->settings;
    unit_worker *w = calloc((size_t)t->count, sizeof *w);
    if (!w) return cli_no_memory();
    for (int i = t->count - 1; i >= 0; i--) {
        const helper *h = i ? t->helper[i - 1] : NULL;
        const char *why = !h        ? shoal_message(c->ctx)
                          : h->rank ? h->message
                                    : shoal_message(h->c.ctx);
        const bool is_gpu = strcmp(c->machine.backend, "cuda") == 0;
        snprintf(w[i].name, sizeof w[i].name, "%s", is_gpu ? "GPU" : "CPU");
        if (is_gpu) snprintf(w[i].name, sizeof w[i].name, "GPU %d", h ? h->c.device : c->device);
        if (ranks_count() > 1) snprintf(w[i].name, sizeof w[i].name, "rank %d", i);
        w[i].is_remote = h && h->rank, w[i].computed = h ? h->seconds : 0;
        w[i].is_lost = lost > 0 && *why;
        if (!w[i].is_lost) continue;
        cli_note(c, "%s takes no more units: %s", w[i].name, why);
        lost--;
    }
    const int code = is_done && (s->scale || s->plot)
                         ? units_report(c, t->job, t->units[0], before, w, t->count)
                         : CLI_OK;
    free(w);
    return code;
}

/* A folder that cannot be used. */
static int file_status(cli *c, shoal_status s) {
    if (s != SHOAL_E_FILE) return cli_status(c, s);
    return cli_fail(CLI_OUTPUT, "--checkpoint: %s", shoal_message(c->ctx));
}

int units_work(cli *c, const unit_job *job, shoal_units *units) {
    const char *folder = job->settings->checkpoint;
    shoal_units_info info = { 0 };
    int lost = 0, code = folder ? file_status(c, shoal_units_keep(units, folder)) : CLI_OK;
    if (code == CLI_OK) code = cli_status(c, shoal_units_describe(units, &info));
    if (code == CLI_OK && info.done > 0)
        cli_note(c, "%s: continuing after %lld of %s", folder, (long long)info.done,
                 CLI_COUNT(info.units, "unit"));
    cli_catch_interrupt();
    if (code != CLI_OK) return code;
    team t;
    code = gather(&t, c, job, units);
    c->planned = cli_now();
    if (code == CLI_OK) {
        code = file_status(c, shoal_units_work(t.units, t.count, &lost));
        const int reported = report(c, &t, info.done, lost, code == CLI_OK);
        if (code == CLI_OK) code = reported;
    }
    part(&t);
    if (code == CLI_INTERRUPTED && folder)
        cli_note(c, "interrupted; the same command continues from %s", folder);
    return code;
}
