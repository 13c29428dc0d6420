/* SPDX-License-Identifier: Apache-2.0
 *
 * performance_results.c - what the pages of saved results have in common: reading the files, the names
 * of solvers and pictures, a table of timed solvers, a page that appears when it is complete.
 */
#define _GNU_SOURCE
#include "bench/performance.h"

#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/file.h"

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

bool result_ours(const io_json_value *row) { return strcmp(result_text(row, "who"), "Shoal") == 0; }

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

static void release(result_files *r) {
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

/* IO_E_OPEN or IO_E_FORMAT; to be released in either case. *r is zeroed to begin. */
static int read_directory(const char *directory, result_files *r, io_error *err) {
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

void result_cell(FILE *file, const char *format, double value) {
    fputs(" | ", file);
    if (isfinite(value))
        fprintf(file, format, value); /* the formats are those of the modules' tables */
    else
        fputs("-", file);
}

const char *result_remark(const io_json_value *row) {
    const io_json_value *verified = io_json_get(row, "verified");
    return verified && !verified->boolean ? " (fails the check)" : "";
}

static void write_row(FILE *file, const io_json_value *row, const result_columns *t) {
    char name[RESULT_NAME];
    const char *mark = result_ours(row) ? "`" : "";
    fprintf(file, "| %.0f", result_number(row, "n"));
    result_cell(file, "%.0f", result_number(row, "count"));
    fprintf(file, " | %s%s%s", mark, result_solver(row, name), mark);
    result_cell(file, "%.4g", 1e3 * result_number(row, "median_s"));
    result_cell(file, "%.2g", 1e3 * result_number(row, "spread_s"));
    result_cell(file, "%.4g", t->scale * result_number(row, t->rate));
    result_cell(file, "%.4g", 1e-9 * result_number(row, "bytes_per_second"));
    result_cell(file, t->share, 100 * result_number(row, "share_of_copy"));
    result_cell(file, "%.2f", result_number(row, "speedup"));
    if (t->residual) result_cell(file, "%.1e", result_number(row, "max_residual"));
    fprintf(file, "%s |\n", result_remark(row));
}

void result_table(const result_page *p, const result_group *group, const result_columns *t) {
    fprintf(p->file,
            "| n | %s | solver | ms | +- | %s | GB/s | of copy | x best peer |%s\n"
            "|---:|---:|---|---:|---:|---:|---:|---:|---:|%s\n",
            t->things, t->unit, t->residual ? " residual |" : "", t->residual ? "---:|" : "");
    for (int i = 0; i < group->count; i++) write_row(p->file, group->rows[i], t);
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

int result_write_page(const char *directory, const char *path, result_writer *write,
                      io_error *err) {
    result_files files = { 0 };
    io_out *out = NULL;
    int status = read_directory(directory, &files, err);
    if (status == IO_OK && files.count == 0)
        status = io_fail(err, IO_E_OPEN, "%s: no .json file there", directory);
    if (status == IO_OK) status = bench_make_parents(path, err);
    if (status == IO_OK) status = io_out_open(path, &out, err);
    if (status == IO_OK) {
        const result_page p = { .file = io_out_file(out), .path = path };
        status = write(&p, &files, err);
        if (status == IO_OK)
            status = io_out_commit(out, err);
        else
            io_out_abandon(out);
    }
    release(&files);
    return status;
}
