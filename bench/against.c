/* SPDX-License-Identifier: Apache-2.0
 *
 * against.c - kept runs of `shoal bench`, to compare this run with.
 */
#define _GNU_SOURCE
#include "bench/against.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *text_of(const io_json_value *object, const char *key) {
    const io_json_value *value = io_json_get(object, key);
    return value && value->kind == IO_JSON_STRING ? value->string : "";
}

/* Adds a row, or takes the place of one of an earlier run. */
static bool add(bench_kept *kept, const bench_kept_row *row) {
    for (int i = 0; i < kept->count; i++) {
        bench_kept_row *old = &kept->rows[i];
        if (strcmp(old->problem, row->problem) != 0) continue;
        if (strcmp(row->date, old->date) >= 0) *old = *row;
        return true;
    }
    bench_kept_row *rows = realloc(kept->rows, ((size_t)kept->count + 1) * sizeof *rows);
    if (!rows) return false;
    kept->rows = rows;
    rows[kept->count++] = *row;
    return true;
}

/* Older runs lack keys: the string is parsed, and written as it is today. A problem that this program does not know
 * any more is left out. */
static bool add_row(bench_kept *kept, const io_json_value *value, bench_kept_row *row) {
    const io_json_value *median = io_json_get(value, "median_s");
    const bench_defaults defaults = { .backend = "auto" };
    bench_problems list = { 0 };
    io_error err;
    bool ok = true;
    if (strcmp(text_of(value, "who"), "Shoal") != 0 || !median || !(median->number > 0))
        return true;
    if (bench_problem_parse(text_of(value, "problem"), &defaults, &list, &err) == IO_OK &&
        list.count == 1) {
        bench_problem_text(&list.items[0], row->problem);
        row->median = median->number;
        ok = add(kept, row);
    }
    bench_problems_free(&list);
    return ok;
}

static int read_file(const char *path, const char *const devices[2], bench_kept *kept,
                     io_error *err) {
    io_json_value *root;
    const int status = io_json_read(path, &root, err);
    if (status != IO_OK) return status;
    const io_json_value *machine = io_json_get(root, "machine"), *rows = io_json_get(root, "rows");
    const char *name = strrchr(path, '/'), *device = text_of(machine, "device");
    bench_kept_row row = { .median = 0 };
    bool ok = true;
    snprintf(row.date, sizeof row.date, "%s", text_of(machine, "date"));
    snprintf(row.file, sizeof row.file, "%s", name ? name + 1 : path);
    const bool ours = strcmp(device, devices[0]) == 0 || strcmp(device, devices[1]) == 0;
    if (ours && rows && rows->kind == IO_JSON_ARRAY)
        for (const io_json_value *v = rows->first; v && ok; v = v->next)
            ok = add_row(kept, v, &row);
    io_json_free(root);
    return ok ? IO_OK : io_fail(err, IO_E_MEMORY, "%s: no memory for its rows", path);
}

static int is_json(const struct dirent *entry) {
    const size_t length = strlen(entry->d_name);
    return length > 5 && strcmp(entry->d_name + length - 5, ".json") == 0;
}

int bench_kept_read(const char *path, const char *const devices[2], bench_kept *kept,
                    io_error *err) {
    struct stat info;
    struct dirent **entries;
    *kept = (bench_kept){ 0 };
    if (stat(path, &info) != 0)
        return io_fail(err, IO_E_OPEN, "%s: cannot open: %s", path, strerror(errno));
    if (!S_ISDIR(info.st_mode)) return read_file(path, devices, kept, err);
    const int count = scandir(path, &entries, is_json, alphasort);
    if (count < 0) return io_fail(err, IO_E_OPEN, "%s: cannot be read: %s", path, strerror(errno));
    int status = IO_OK;
    for (int i = 0; i < count; i++) {
        char file[4096];
        snprintf(file, sizeof file, "%s/%s", path, entries[i]->d_name);
        free(entries[i]);
        if (status == IO_OK) status = read_file(file, devices, kept, err);
    }
    free(entries);
    return status;
}

void bench_kept_free(bench_kept *kept) { free(kept->rows); }

static bool is_slower(const bench_row *row) {
    return row->kept > 0 && row->time.median >= BENCH_SLOWER * row->kept;
}

int bench_against(bench_session *s, const bench_kept *kept, int *slower) {
    char text[BENCH_TEXT];
    int compared = 0;
    *slower = 0;
    for (int i = 0; i < s->row_count; i++) {
        bench_row *row = &s->rows[i];
        if (strcmp(row->who, "Shoal") != 0 || !row->timed) continue;
        bench_problem_text(&row->problem, text);
        for (int k = 0; k < kept->count && row->kept == 0; k++)
            if (strcmp(kept->rows[k].problem, text) == 0) row->kept = kept->rows[k].median;
        compared += row->kept > 0;
        *slower += is_slower(row);
    }
    return compared;
}

void bench_against_table(const bench_session *s, FILE *file) {
    char text[BENCH_TEXT];
    int compared = 0, slower = 0;
    for (int i = 0; i < s->row_count; i++) {
        const bench_row *row = &s->rows[i];
        compared += row->kept > 0;
        if (!is_slower(row)) continue;
        slower++;
        fprintf(file, "slower: %.4g ms, kept %.4g ms, ratio %.3f: %s\n", 1e3 * row->time.median,
                1e3 * row->kept, row->time.median / row->kept,
                bench_problem_text(&row->problem, text));
    }
    fprintf(file, "%d of %d rows beside kept ones are more than %.0f %% slower\n", slower, compared,
            100 * (BENCH_SLOWER - 1));
}
