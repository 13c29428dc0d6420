/* SPDX-License-Identifier: Apache-2.0
 *
 * result.c - the rows of a session as JSON (bench/results/README.md describes it) and as tables.
 */
#define _GNU_SOURCE
#include "bench/module.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { BENCH_NAME = 128, BENCH_VERDICT = 192 };

static const bench_place *reported_place(const bench_session *s) {
    for (int i = 1; i >= 0; i--)
        if (s->places[i].ctx) return &s->places[i];
    return NULL;
}

static void cpu_name(char *name, size_t size) {
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[256];
    snprintf(name, size, "%s", "unknown");
    while (file && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon) continue;
        line[strcspn(line, "\n")] = 0;
        snprintf(name, size, "%s", colon + 2);
        break;
    }
    if (file) fclose(file);
}

void bench_json_machine(const bench_session *s, io_json *json) {
    const bench_place *place = reported_place(s);
    char date[32] = "", cpu[160];
    time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc)) strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    cpu_name(cpu, sizeof cpu);
    io_json_object(json, "machine");
    io_json_string(json, "device", place ? place->machine.device : NULL);
    if (strcmp(cpu, "unknown") == 0 && s->places[0].ctx)
        io_json_string(json, "cpu", s->places[0].machine.device);
    else
        io_json_string(json, "cpu", cpu);
    io_json_string(json, "isa", place ? place->machine.isa : NULL);
    io_json_int(json, "threads", place ? place->machine.threads : 0);
    io_json_string(json, "gpu", place ? place->machine.gpu : NULL);
    io_json_int(json, "multiprocessors", place ? place->machine.multiprocessors : 0);
    io_json_string(json, "software", place ? place->software : NULL);
    io_json_string(json, "date", date);
    io_json_object_line(json, "copy_bytes_per_second");
    for (int i = 0; i < 2; i++)
        if (s->places[i].ctx && s->places[i].copy_rate > 0)
            io_json_double(json, s->places[i].machine.backend, s->places[i].copy_rate);
    io_json_close(json);
    io_json_close(json);
}

static const bench_module *module_of(const bench_row *row) {
    return bench_module_of(row->problem.module);
}

static void json_time(const bench_row *row, io_json *json) {
    const bench_module *module = module_of(row);
    io_json_double(json, "median_s", row->time.median);
    io_json_double(json, "spread_s", row->time.spread);
    io_json_double(json, "fastest_s", row->time.fastest);
    io_json_int(json, "samples", row->time.samples);
    io_json_int(json, "calls", row->time.calls);
    if (module->json_rates) module->json_rates(row, json);
    if (module->rate)
        io_json_double(json, module->rate, module->work(&row->problem) / row->time.median);
    io_json_double(json, "bytes_per_second", row->bytes / row->time.median);
    io_json_double(json, "share_of_copy", row->share);
    if (row->speedup > 0) io_json_double(json, "speedup", row->speedup);
    if (row->kept > 0) io_json_double(json, "kept_s", row->kept);
}

static void json_row(const bench_row *row, io_json *json) {
    const bench_problem *p = &row->problem;
    char text[BENCH_TEXT];
    io_json_object(json, NULL);
    io_json_string(json, "who", row->who);
    io_json_string(json, "version", row->version);
    io_json_string(json, "method", row->method);
    io_json_string(json, "variant", row->variant);
    io_json_string(json, "problem", bench_problem_text(p, text));
    io_json_string(json, "module", p->module);
    io_json_string(json, "backend", row->backend);
    io_json_string(json, "type", bench_problem_type(p));
    module_of(row)->json_problem(row, json);
    io_json_uint(json, "seed", p->seed);
    io_json_int(json, "threads", row->threads);
    io_json_int(json, "sets", row->sets);
    io_json_uint(json, "workspace_bytes", row->workspace);
    io_json_bool(json, "verified", row->check.passed);
    io_json_double(json, "max_residual", row->check.max_residual);
    io_json_double(json, "tolerance", row->check.tolerance);
    io_json_int(json, module_of(row)->checked_key, row->check.systems);
    io_json_int(json, "failed", row->check.failed);
    io_json_int(json, "warned", row->check.warned);
    io_json_int(json, "wrong", row->check.wrong);
    if (*row->check.why) io_json_string(json, "why", row->check.why);
    io_json_double(json, "bytes", row->bytes);
    if (row->timed) json_time(row, json);
    if (*row->note) io_json_string(json, "note", row->note);
    io_json_close(json);
}

void bench_json(const bench_session *s, io_json *json) {
    bench_json_machine(s, json);
    io_json_array(json, "rows");
    for (int i = 0; i < s->row_count; i++) json_row(&s->rows[i], json);
    io_json_close(json);
}

/* "pcr/permute", "cuSPARSE gtsv2StridedBatch" */
static char *solver_name(const bench_row *row, char name[BENCH_NAME]) {
    bool ours = strcmp(row->who, "Shoal") == 0;
    snprintf(name, BENCH_NAME, "%s%s%s%s%s", ours ? "" : row->who, ours ? "" : " ", row->method,
             *row->variant ? "/" : "", row->variant);
    return name;
}

static int longest_name(const bench_session *s) {
    char name[BENCH_NAME];
    int width = 6;
    for (int i = 0; i < s->row_count; i++) {
        int length = (int)strlen(solver_name(&s->rows[i], name));
        if (length > width) width = length;
    }
    return width;
}

/* "ok", "9 failed", "WRONG: system 3: ..." */
static char *verdict_text(const bench_check *check, char text[BENCH_VERDICT]) {
    const char *word = bench_verdict(check);
    const bool alone = check->passed || strcmp(word, "failed") == 0; /* the reason is enough */
    snprintf(text, BENCH_VERDICT, "%s%s%s", check->passed || !alone ? word : "", alone ? "" : ": ",
             check->why);
    return text;
}

/* A value of four digits without an exponent, as long as it fits into a column. */
static void print_value(FILE *file, int width, double value) {
    fprintf(file, value >= 1000 ? "%*.0f " : "%*.4g ", width, value);
}

/* Whether row i begins a table: the first one, or the first of another module. */
static bool begins_table(const bench_session *s, int i) {
    return i == 0 || module_of(&s->rows[i]) != module_of(&s->rows[i - 1]);
}

static void print_row(const bench_row *r, int width, FILE *file) {
    char name[BENCH_NAME], text[BENCH_VERDICT];
    const bench_module *module = module_of(r);
    fprintf(file, "%-*s  %-7s ", width, solver_name(r, name), r->backend);
    module->cells(r, file);
    if (!r->timed) {
        fprintf(file, " %s\n", r->check.passed ? "not timed" : verdict_text(&r->check, text));
        return;
    }
    fputc(' ', file);
    print_value(file, 10, 1e3 * r->time.median);
    fprintf(file, "%9.2g ", 1e3 * r->time.spread);
    const double scale = module->unit[0] == 'G' ? 1e-9 : 1e-6;
    print_value(file, 9, scale * module->work(&r->problem) / r->time.median);
    print_value(file, 8, 1e-9 * r->bytes / r->time.median);
    fprintf(file, "%6.1f ", 100 * r->share);
    if (r->speedup > 0)
        fprintf(file, "%8.2f", r->speedup);
    else
        fprintf(file, "%8s", "-");
    if (!r->check.passed) {
        if (module->fault)
            fprintf(file, "  fails the check: %s %.1e", module->fault, r->check.max_residual);
        else
            fprintf(file, "  fails the check: %s", r->check.why);
    }
    fputc('\n', file);
}

/* Whether an earlier row has the same version and note. */
static bool is_repeated(const bench_session *s, int row) {
    const bench_row *r = &s->rows[row];
    for (int i = 0; i < row; i++)
        if (strcmp(s->rows[i].version, r->version) == 0 && strcmp(s->rows[i].note, r->note) == 0)
            return true;
    return false;
}

void bench_table(const bench_session *s, FILE *file) {
    const int width = longest_name(s);
    for (int i = 0; i < s->row_count; i++) {
        const bench_module *module = module_of(&s->rows[i]);
        if (begins_table(s, i))
            fprintf(file, "%s%-*s  %-7s %s %10s %9s %9s %8s %6s %8s\n", i > 0 ? "\n" : "", width,
                    "method", "backend", module->heading, "ms", "+-", module->unit, "GB/s",
                    "% copy", "x peer");
        print_row(&s->rows[i], width, file);
    }
    for (int i = 0; i < 2 && s->row_count > 0; i++)
        if (s->places[i].copy_rate > 0)
            fprintf(file, "copy on %s: %.4g GB/s (%s)\n", s->places[i].machine.backend,
                    1e-9 * s->places[i].copy_rate, s->places[i].machine.device);
    for (int i = 0; i < s->row_count; i++) {
        const bench_row *r = &s->rows[i];
        if (strcmp(r->who, "Shoal") == 0 || is_repeated(s, i)) continue;
        fprintf(file, "peer %s: %s%s%s\n", r->who, r->version, *r->note ? "; " : "", r->note);
    }
}

void bench_check_table(const bench_session *s, FILE *file) {
    const int width = longest_name(s);
    for (int i = 0; i < s->row_count; i++) {
        const bench_row *r = &s->rows[i];
        const bench_module *module = module_of(r);
        char name[BENCH_NAME], text[BENCH_VERDICT];
        if (begins_table(s, i))
            fprintf(file, "%s%-*s  %-7s %s %9s %8s %8s %13s  %s\n", i > 0 ? "\n" : "", width,
                    "method", "backend",
                    module->check_heading ? module->check_heading : module->heading, "checked",
                    "failed", "warned", module->error_name, "verdict");
        fprintf(file, "%-*s  %-7s ", width, solver_name(r, name), r->backend);
        (module->check_cells ? module->check_cells : module->cells)(r, file);
        fprintf(file, " %9lld %8lld %8lld %13.2e  %s\n", (long long)r->check.systems,
                (long long)r->check.failed, (long long)r->check.warned, r->check.max_residual,
                verdict_text(&r->check, text));
    }
}
