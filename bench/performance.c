/* SPDX-License-Identifier: Apache-2.0
 *
 * performance.c - docs/performance.md from the JSON files of `shoal bench --save`.
 *
 * Every number on the page is in one of the files. They are read in the order of their names and
 * grouped by machine; a group of rows that can be compared gets a chart and a table.
 */
#include "bench/performance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* Who was compared with: "cuSPARSE 12.6.3", each once. */
static void write_versions(const result_page *p, const result_files *all, const char *device) {
    const char *seen[16];
    int count = 0;
    for (int f = 0; f < all->count; f++) {
        if (strcmp(result_device(all, f), device) != 0) continue;
        const io_json_value *rows = io_json_get(all->roots[f], "rows");
        for (const io_json_value *row = rows->first; row; row = row->next) {
            const char *version = result_text(row, "version");
            int i = 0;
            while (i < count && strcmp(seen[i], version) != 0) i++;
            if (i < count || count == 16 || !*version) continue;
            seen[count++] = version;
            const char *note = result_text(row, "note");
            const bool ours = result_ours(row);
            fprintf(p->file, "- %s%s%s%s\n", ours ? "" : "peer: ", version,
                    *note && !ours ? ": " : "", ours ? "" : note);
        }
    }
}

static void write_machine(const result_page *p, const result_files *all, int file) {
    const io_json_value *m = io_json_get(all->roots[file], "machine");
    const io_json_value *copy = io_json_get(m, "copy_bytes_per_second");
    const char *device = result_text(m, "device"), *cpu = result_text(m, "cpu");
    fprintf(p->file, "\n## %s\n\n", device);
    if (*result_text(m, "software")) fprintf(p->file, "- %s\n", result_text(m, "software"));
    fprintf(p->file, "- CPU: %s, %.0f threads, instruction level %s\n",
            strcmp(cpu, "unknown") == 0 ? device : cpu, result_number(m, "threads"),
            result_text(m, "isa"));
    for (const io_json_value *c = copy ? copy->first : NULL; c; c = c->next)
        fprintf(p->file, "- copy bandwidth on %s: %.4g GB/s, bytes read and written\n", c->key,
                1e-9 * c->number);
    write_versions(p, all, device);
    for (int f = file; f < all->count; f++)
        if (strcmp(result_device(all, f), device) == 0)
            fprintf(p->file, "- `bench/results/%s`, measured %s\n", all->names[f],
                    result_text(io_json_get(all->roots[f], "machine"), "date"));
}

/* Takes the rows comparable with the first one left, until none is left. */
static int write_groups(const result_page *p, const result_files *all, int file, io_error *err) {
    const char *device = result_device(all, file);
    const io_json_value *copy =
        io_json_get(io_json_get(all->roots[file], "machine"), "copy_bytes_per_second");
    int count = 0, status = IO_OK;
    const io_json_value **rows = result_rows(all, device, &count);
    result_group group = { .rows = calloc((size_t)count + 1, sizeof *group.rows),
                           .device = device };
    if (!rows || !group.rows) status = io_fail(err, IO_E_MEMORY, "%s: no memory", p->path);
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
        status = module_of(first)->write(p, &group, err);
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
static void write_introduction(const result_page *p, const result_files *all) {
    for (int i = 0; i < MODULES; i++)
        if (modules[i]->introduction && has_rows(all, modules[i]))
            fprintf(p->file, "\n%s\n", modules[i]->introduction);
}

static int write_page(const result_page *p, const result_files *all, io_error *err) {
    fputs(
        "# Performance\n\n"
        "This page is made by `make docs` from the files in `bench/results`, which are written by "
        "`shoal bench --peers --save bench/results`: no number is typed by hand.\n\n"
        "Every answer is checked before it is timed: ours is not timed if it fails, a peer's is, and "
        "is marked. A time is the median over at least 20 samples "
        "and 0.3 seconds, +- half the distance between the quartiles; the data lie in the memory "
        "of the device, and inputs smaller than its last cache are rotated among several sets. "
        "GB/s counts the fewest bytes a solver must move, three diagonals, the right-hand sides and the "
        "answer, and \"of copy\" is their share of what a plain copy reaches on the same machine. "
        "\"x best peer\" is the time of the fastest peer measured on the same data in the same "
        "run, divided by ours. Peers that overwrite their input get fresh copies outside the timed "
        "region.\n",
        p->file);
    write_introduction(p, all);
    int status = IO_OK;
    for (int f = 0; f < all->count && status == IO_OK; f++) {
        bool seen = false;
        for (int e = 0; e < f; e++)
            seen |= strcmp(result_device(all, e), result_device(all, f)) == 0;
        if (seen) continue;
        write_machine(p, all, f);
        status = write_groups(p, all, f, err);
    }
    return status;
}

int bench_performance(const char *directory, const char *path, io_error *err) {
    return result_write_page(directory, path, write_page, err);
}
