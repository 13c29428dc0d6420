/* SPDX-License-Identifier: Apache-2.0
 *
 * scale.c - the report of --scale: who computed which unit when, as JSON and as a picture. tools/scale.py reads the JSON.
 *
 * idle_share is the share of the workers' time, from the first unit to the last, in which they computed nothing. The
 * critical path is the time that no number of workers can save: the plan, and the longest unit.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/file.h"
#include "io/svg.h"
#include "units.h"

typedef struct scale {
    shoal_units_info info;
    const shoal_units_trace *trace;
    const unit_worker *worker;
    int workers;
    int64_t before, done;                /* units that were in the folder; units of this run */
    double plan, wall, busy, idle, path; /* seconds, idle: a share */
    double mean, median, p95, longest;   /* seconds of a unit */
    int64_t bytes, sent, written;
} scale;

/* clang-format off */
#define RESULT(name, member) CLI_RESULT(name, scale, member)
static const cli_option results[] = {
    RESULT("units", info.units), RESULT("units_before", before), RESULT("rows", info.rows), RESULT("bytes", bytes),
    RESULT("bytes_sent", sent), RESULT("bytes_written", written), RESULT("plan_seconds", plan), RESULT("seconds", wall),
    RESULT("busy_seconds", busy), RESULT("idle_share", idle), RESULT("critical_path_seconds", path),
    { 0 }
};
static const cli_option unit_results[] = {
    RESULT("mean", mean), RESULT("median", median), RESULT("p95", p95), RESULT("longest", longest),
    { 0 }
};
/* clang-format on */

static double length_of(const shoal_units_trace *t) {
    return t->worker < 0 ? 0 : t->end - t->begin;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of a unit's results: rows are shared out as evenly as whole numbers allow. */
static int64_t bytes_of(const shoal_units_info *info, int64_t unit) {
    const int64_t all = info->rows / info->units, rest = info->rows % info->units;
    const int64_t rows = all + rest * (unit + 1) / info->units - rest * unit / info->units;
    return rows * (int64_t)info->row_bytes + (int64_t)sizeof(int64_t) * info->counts;
}

/* Sums over the units, and their times in order. */
static bool measure(scale *s, bool is_kept) {
    double *time = calloc((size_t)s->info.units + 1, sizeof *time);
    if (!time) return false;
    for (int64_t i = 0; i < s->info.units; i++) {
        const shoal_units_trace *t = &s->trace[i];
        if (t->worker < 0) continue;
        time[s->done++] = length_of(t);
        s->busy += length_of(t);
        s->wall = fmax(s->wall, t->end);
        s->bytes += bytes_of(&s->info, i);
        if (s->worker[t->worker].is_remote) s->sent += bytes_of(&s->info, i);
    }
    if (is_kept) s->written = s->bytes;
    qsort(time, (size_t)s->done, sizeof *time, ascending);
    if (s->done > 0) {
        s->mean = s->busy / (double)s->done, s->median = time[s->done / 2];
        s->p95 = time[(s->done - 1) * 95 / 100], s->longest = time[s->done - 1];
        s->idle = 1 - s->busy / (s->wall * s->workers);
    }
    s->path = s->plan + s->longest;
    free(time);
    return true;
}

static void write_workers(io_json *j, const scale *s) {
    io_json_array(j, "workers");
    for (int k = 0; k < s->workers; k++) {
        int64_t units = 0;
        double busy = 0;
        for (int64_t i = 0; i < s->info.units; i++)
            if (s->trace[i].worker == k) units++, busy += length_of(&s->trace[i]);
        io_json_object_line(j, NULL);
        io_json_string(j, "name", s->worker[k].name);
        io_json_int(j, "units", units);
        io_json_double(j, "busy_seconds", busy);
        if (s->worker[k].is_remote) io_json_double(j, "computed_seconds", s->worker[k].computed);
        io_json_double(j, "idle_share", s->wall > 0 ? 1 - busy / s->wall : 0);
        io_json_bool(j, "lost", s->worker[k].is_lost);
        io_json_close(j);
    }
    io_json_close(j);
}

/* A line per unit: number, worker, begin, end. */
static void write_trace(io_json *j, const scale *s) {
    io_json_array(j, "trace");
    for (int64_t i = 0; i < s->info.units; i++) {
        const shoal_units_trace *t = &s->trace[i];
        if (t->worker < 0) continue;
        io_json_array_line(j, NULL);
        io_json_int(j, NULL, i);
        io_json_int(j, NULL, t->worker);
        io_json_double(j, NULL, t->begin);
        io_json_double(j, NULL, t->end);
        io_json_close(j);
    }
    io_json_close(j);
}

static int write_json(const cli *c, const char *path, const scale *s) {
    io_error err;
    io_out *out;
    io_json j;
    int status = io_out_open(path, &out, &err);
    if (status != IO_OK) return cli_io(status, &err);
    io_json_begin(&j, io_out_file(out), 2);
    io_json_object(&j, NULL);
    cli_json_head(&j, c, c->command);
    cli_json_results(&j, results, s);
    io_json_object_line(&j, "unit_seconds");
    cli_json_results(&j, unit_results, s);
    io_json_close(&j);
    write_workers(&j, s);
    write_trace(&j, s);
    io_json_close(&j);
    status = io_json_end(&j, &err);
    return cli_io(io_out_end(out, status, &err), &err);
}

/* A line per unit at the height of its worker; neighbours in time have two colours. */
static int draw(const char *path, const scale *s) {
    enum { COLOURS = 2 };
    char title[256];
    io_error err;
    const size_t count = 3 * (size_t)s->info.units;
    double *room = malloc(2 * COLOURS * (count + 1) * sizeof *room);
    if (!room) return cli_no_memory();
    io_series series[COLOURS] = { { .name = "even units" }, { .name = "odd units" } };
    for (int k = 0; k < COLOURS; k++) {
        double *x = room + 2 * (size_t)k * count, *y = x + count;
        series[k].x = x, series[k].y = y, series[k].no_markers = true;
        for (int64_t i = k; i < s->info.units; i += COLOURS) {
            const shoal_units_trace *t = &s->trace[i];
            if (t->worker < 0) continue;
            const double at[] = { t->begin, t->end, NAN };
            for (int p = 0; p < 3; p++, series[k].count++)
                x[series[k].count] = at[p], y[series[k].count] = t->worker;
        }
    }
    snprintf(title, sizeof title, "%s, %s, idle %.0f %%", CLI_COUNT(s->workers, "worker"),
             CLI_COUNT(s->info.units, "unit"), 100 * s->idle);
    const io_chart chart = { .title = title,
                             .subtitle = "a line is a unit, a gap is idle time",
                             .x_label = "seconds",
                             .y_label = "worker",
                             .y_from_zero = true,
                             .series_count = COLOURS,
                             .series = series };
    const int code = cli_io(io_svg_write_lines(path, &chart, &err), &err);
    free(room);
    return code;
}

int units_report(cli *c, const unit_job *job, const shoal_units *units, int64_t before,
                 const unit_worker *workers, int count) {
    const unit_settings *o = job->settings;
    scale s = { .trace = shoal_units_traces(units),
                .worker = workers,
                .workers = count,
                .before = before,
                .plan = c->planned - c->start };
    int code = cli_status(c, shoal_units_describe(units, &s.info));
    if (code == CLI_OK && !measure(&s, o->checkpoint != NULL)) code = cli_no_memory();
    if (code == CLI_OK && o->scale) code = write_json(c, o->scale, &s);
    if (code == CLI_OK && o->plot) code = draw(o->plot, &s);
    return code;
}
