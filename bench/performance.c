/* SPDX-License-Identifier: Apache-2.0
 *
 * performance.c - docs/performance.md from the JSON files of `shoal bench --save`.
 *
 * Every number on the page is in one of the files. They are read in the order of their names and
 * grouped by machine; a group of rows that can be compared gets a chart and a table.
 */
#define _GNU_SOURCE
#include "bench/performance.h"

#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/file.h"

typedef struct page {
    result_page out;
    const result_files *all;
} page;

const char *result_text(const io_json_value *row, const char *key) {
    const io_json_value *value = io_json_get(row, key);
    return value && value->kind == IO_JSON_STRING ? value->string : "";
}

double result_number(const io_json_value *row, const char *key) {
    const io_json_value *value = io_json_get(row, key);
    bool number = value && (value->kind == IO_JSON_INT || value->kind == IO_JSON_UINT ||
                            value->kind == IO_JSON_DOUBLE);
    return number ? value->number : NAN;
}

char *result_solver(const io_json_value *row, char name[RESULT_NAME]) {
    const char *who = result_text(row, "who"), *variant = result_text(row, "variant");
    const bool ours = strcmp(who, "Shoal") == 0;
    snprintf(name, RESULT_NAME, "%.31s%s%.47s%s%.31s", ours ? "" : who, ours ? "" : " ",
             result_text(row, "method"), *variant ? "/" : "", variant);
    static const char *const options[] = { "team", "refine", "estimate", "outcome" };
    for (size_t i = 0; i < sizeof options / sizeof *options && ours; i++) {
        const double value = result_number(row, options[i]);
        const size_t used = strlen(name);
        if (value > 0) snprintf(name + used, RESULT_NAME - used, " %s=%.0f", options[i], value);
    }
    const char *phase = result_text(row, "phase");
    const size_t used = strlen(name);
    if (*phase && strcmp(phase, "none") != 0)
        snprintf(name + used, RESULT_NAME - used, " up to %.31s", phase);
    return name;
}

char *result_slug(const char *text, char slug[BENCH_SLUG]) {
    int used = 0;
    for (; *text && used + 1 < BENCH_SLUG; text++) {
        if (isalnum((unsigned char)*text))
            slug[used++] = (char)tolower((unsigned char)*text);
        else if (used > 0 && slug[used - 1] != '-')
            slug[used++] = '-';
    }
    while (used > 0 && slug[used - 1] == '-') used--;
    slug[used] = 0;
    return slug;
}

void result_release(result_files *r) {
    for (int i = 0; i < r->count; i++) {
        io_json_free(r->roots[i]);
        free(r->names[i]);
    }
    free(r->roots);
    free(r->names);
}

static int is_json(const struct dirent *entry) {
    size_t length = strlen(entry->d_name);
    return length > 5 && strcmp(entry->d_name + length - 5, ".json") == 0;
}

int result_read(const char *directory, result_files *r, io_error *err) {
    struct dirent **list = NULL;
    int found = scandir(directory, &list, is_json, alphasort), status = IO_OK;
    if (found < 0) return io_fail(err, IO_E_OPEN, "%s: cannot read the directory", directory);
    r->roots = calloc((size_t)found + 1, sizeof *r->roots);
    r->names = calloc((size_t)found + 1, sizeof *r->names);
    if (!r->roots || !r->names) status = io_fail(err, IO_E_MEMORY, "%s: no memory", directory);
    for (int i = 0; i < found; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", directory, list[i]->d_name);
        if (status == IO_OK) status = io_json_read(path, &r->roots[r->count], err);
        if (status == IO_OK) {
            r->names[r->count] = strdup(list[i]->d_name);
            const io_json_value *rows = io_json_get(r->roots[r->count++], "rows");
            if (!rows || rows->kind != IO_JSON_ARRAY)
                status = io_fail(err, IO_E_FORMAT, "%s: has no array \"rows\"", path);
        }
        free(list[i]);
    }
    free(list);
    return status;
}

const char *result_device(const result_files *r, int i) {
    return result_text(io_json_get(r->roots[i], "machine"), "device");
}

static const result_module *const modules[] = { &result_tridiag, &result_rng,      &result_smallsym,
                                                &result_recur,   &result_symindef, &result_sort,
                                                &result_heston,  &result_expou,    &result_bullet };
enum { MODULES = sizeof modules / sizeof *modules };

static const result_module *module_of(const io_json_value *row) {
    const char *name = result_text(row, "module");
    for (int i = 0; i < MODULES; i++)
        if (strcmp(modules[i]->name, name) == 0) return modules[i];
    return NULL;
}

/* True if two rows stand in one chart and one table. */
static bool comparable(const io_json_value *p, const io_json_value *q) {
    static const char *const keys[] = { "module", "backend", "type" };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(result_text(p, keys[i]), result_text(q, keys[i])) != 0) return false;
    return !module_of(p)->comparable || module_of(p)->comparable(p, q);
}

void result_cell(FILE *file, const char *format, double value) {
    fputs(" | ", file);
    if (isfinite(value))
        fprintf(file, format, value); /* the formats are those of the modules' tables */
    else
        fputs("-", file);
}

int result_image_path(const char *beside, const char *name, char path[RESULT_PATH], io_error *err) {
    const char *slash = strrchr(beside, '/');
    snprintf(path, RESULT_PATH, "%.*s%simg/%s", slash ? (int)(slash - beside) : 0, beside,
             slash ? "/" : "", name);
    return bench_make_parents(path, err);
}

int result_image(const result_page *p, const result_group *group, const char *extra,
                 char name[RESULT_FILE], char path[RESULT_PATH], io_error *err) {
    const io_json_value *first = group->rows[0];
    char device[BENCH_SLUG];
    snprintf(name, RESULT_FILE, "%.16s-%s-%.8s-%.4s%.96s.svg", result_text(first, "module"),
             result_slug(group->device, device), result_text(first, "backend"),
             result_text(first, "type"), extra);
    return result_image_path(p->path, name, path, err);
}

/* Who was compared with: "cuSPARSE 12.6.3", each once. */
static void write_versions(page *p, const char *device) {
    const char *seen[16];
    int count = 0;
    for (int f = 0; f < p->all->count; f++) {
        if (strcmp(result_device(p->all, f), device) != 0) continue;
        const io_json_value *rows = io_json_get(p->all->roots[f], "rows");
        for (const io_json_value *row = rows->first; row; row = row->next) {
            const char *version = result_text(row, "version");
            int i = 0;
            while (i < count && strcmp(seen[i], version) != 0) i++;
            if (i < count || count == 16 || !*version) continue;
            seen[count++] = version;
            const char *note = result_text(row, "note");
            const bool ours = strcmp(result_text(row, "who"), "Shoal") == 0;
            fprintf(p->out.file, "- %s%s%s%s\n", ours ? "" : "peer: ", version,
                    *note && !ours ? ": " : "", ours ? "" : note);
        }
    }
}

static void write_machine(page *p, int file) {
    const io_json_value *m = io_json_get(p->all->roots[file], "machine");
    const io_json_value *copy = io_json_get(m, "copy_bytes_per_second");
    const char *device = result_text(m, "device"), *cpu = result_text(m, "cpu");
    fprintf(p->out.file, "\n## %s\n\n", device);
    if (*result_text(m, "software")) fprintf(p->out.file, "- %s\n", result_text(m, "software"));
    fprintf(p->out.file, "- CPU: %s, %.0f threads, instruction level %s\n",
            strcmp(cpu, "unknown") == 0 ? device : cpu, result_number(m, "threads"),
            result_text(m, "isa"));
    for (const io_json_value *c = copy ? copy->first : NULL; c; c = c->next)
        fprintf(p->out.file, "- copy bandwidth on %s: %.4g GB/s, bytes read and written\n", c->key,
                1e-9 * c->number);
    write_versions(p, device);
    for (int f = file; f < p->all->count; f++)
        if (strcmp(result_device(p->all, f), device) == 0)
            fprintf(p->out.file, "- `bench/results/%s`, measured %s\n", p->all->names[f],
                    result_text(io_json_get(p->all->roots[f], "machine"), "date"));
}

const io_json_value **result_rows(const result_files *all, const char *device, int *count) {
    int64_t total = 0;
    for (int f = 0; f < all->count; f++) total += io_json_get(all->roots[f], "rows")->count;
    const io_json_value **rows = calloc((size_t)total + 1, sizeof *rows);
    *count = 0;
    for (int f = 0; rows && f < all->count; f++) {
        if (strcmp(result_device(all, f), device) != 0) continue;
        const io_json_value *row = io_json_get(all->roots[f], "rows")->first;
        for (; row; row = row->next) rows[(*count)++] = row;
    }
    return rows;
}

/* Takes the rows comparable with the first one left, until none is left. */
static int write_groups(page *p, int file, io_error *err) {
    const char *device = result_device(p->all, file);
    const io_json_value *copy =
        io_json_get(io_json_get(p->all->roots[file], "machine"), "copy_bytes_per_second");
    int count = 0, status = IO_OK;
    const io_json_value **rows = result_rows(p->all, device, &count);
    result_group group = { .rows = calloc((size_t)count + 1, sizeof *group.rows),
                           .device = device };
    if (!rows || !group.rows) status = io_fail(err, IO_E_MEMORY, "%s: no memory", p->out.path);
    for (int i = 0; i < count; i++)
        if (!module_of(rows[i])) rows[i] = NULL; /* of a newer program */
    for (int i = 0; i < count && status == IO_OK; i++) {
        if (!rows[i]) continue;
        const io_json_value *first = rows[i];
        double rate = result_number(copy, result_text(first, "backend"));
        group.count = 0;
        group.copy_rate = isfinite(rate) ? rate : 0;
        for (int k = i; k < count; k++)
            if (rows[k] && comparable(rows[k], first)) {
                group.rows[group.count++] = rows[k];
                rows[k] = NULL;
            }
        status = module_of(first)->write(&p->out, &group, err);
    }
    free(rows);
    free(group.rows);
    return status;
}

static bool has_rows(const result_files *all, const result_module *module) {
    for (int f = 0; f < all->count; f++) {
        const io_json_value *row = io_json_get(all->roots[f], "rows")->first;
        for (; row; row = row->next)
            if (module_of(row) == module) return true;
    }
    return false;
}

/* What is said about modules beside the first, where they have rows. */
static void write_introduction(page *p) {
    for (int i = 0; i < MODULES; i++)
        if (modules[i]->introduction && has_rows(p->all, modules[i]))
            fprintf(p->out.file, "\n%s\n", modules[i]->introduction);
}

static int write_page(page *p, io_error *err) {
    fputs(
        "# Performance\n\n"
        "This page is made by `make docs` from the files in `bench/results`, which are written by "
        "`shoal bench --peers --save bench/results`: no number is typed by hand.\n\n"
        "Every answer is checked before it is timed. A time is the median over at least 20 samples "
        "and 0.3 seconds, +- half the distance between the quartiles; the data lie in the memory "
        "of the device, and inputs smaller than its last cache are rotated among several sets. "
        "GB/s counts the fewest bytes a solver must move, three diagonals, the right-hand sides and the "
        "answer, and \"of copy\" is their share of what a plain copy reaches on the same machine. "
        "\"x best peer\" is the time of the fastest peer measured on the same data in the same "
        "run, divided by ours. Peers that overwrite their input get fresh copies outside the timed "
        "region.\n",
        p->out.file);
    write_introduction(p);
    int status = IO_OK;
    for (int f = 0; f < p->all->count && status == IO_OK; f++) {
        bool seen = false;
        for (int e = 0; e < f; e++)
            seen |= strcmp(result_device(p->all, e), result_device(p->all, f)) == 0;
        if (seen) continue;
        write_machine(p, f);
        status = write_groups(p, f, err);
    }
    return status;
}

int bench_performance(const char *directory, const char *path, io_error *err) {
    result_files all = { 0 };
    io_out *out = NULL;
    int status = result_read(directory, &all, err);
    if (status == IO_OK && all.count == 0)
        status = io_fail(err, IO_E_OPEN, "%s: no .json file there", directory);
    if (status == IO_OK) status = bench_make_parents(path, err);
    if (status == IO_OK) status = io_out_open(path, &out, err);
    if (status == IO_OK) {
        page p = { .out = { .file = io_out_file(out), .path = path }, .all = &all };
        status = write_page(&p, err);
        if (status == IO_OK)
            status = io_out_commit(out, err);
        else
            io_out_abandon(out);
    }
    result_release(&all);
    return status;
}
