/* SPDX-License-Identifier: Apache-2.0
 *
 * study_page.c - the page of a study: every number on it is in the study's JSON, whose member "study" says
 * what it is of. Here is that of small symmetric systems; study_symindef_page.c has the other.
 *
 * Pictures are drawn of the middle one of the sizes; the tables have all of them.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "bench/performance.h"
#include "bench/study.h"
#include "bench/study_symindef.h"
#include "io/file.h"

enum { MOST_SIZES = 16 };

typedef struct page {
    FILE *file;
    const char *path;
    const io_json_value *root, *rows;
    double sizes[MOST_SIZES];
    int size_count;
} page;

static const char *const types[] = { "f32", "f64" };
static const char *const errors[] = { "backward", "forward" };

static bool has_type(const page *p, const char *type) {
    for (const io_json_value *row = p->rows->first; row; row = row->next)
        if (strcmp(result_text(row, "type"), type) == 0) return true;
    return false;
}

static void find_sizes(page *p) {
    for (const io_json_value *row = p->rows->first; row; row = row->next) {
        const double n = result_number(row, "n");
        int i = 0;
        while (i < p->size_count && p->sizes[i] != n) i++;
        if (i == p->size_count && i < MOST_SIZES) p->sizes[p->size_count++] = n;
    }
}

/* " | 12.5 %", or nothing for none. */
static void write_share(const page *p, const io_json_value *row, const char *key) {
    const double share = result_number(row, key) / result_number(row, "count");
    fputs(" | ", p->file);
    if (share > 0) fprintf(p->file, "%.4g %%", 100 * share);
}

static void write_errors(const page *p, const io_json_value *row, const char *error) {
    static const char *const keys[] = { "median", "p99", "worst" };
    const io_json_value *of = io_json_get(row, error);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        result_cell(p->file, "%.1e", result_number(of, keys[i]));
}

static void write_row(const page *p, const io_json_value *row) {
    fprintf(p->file, "| %s | `%s`", result_text(row, "kind"), result_text(row, "method"));
    write_share(p, row, "ok");
    if (result_number(row, "wrong") > 0)
        fprintf(p->file, " (%.0f of them WRONG)", result_number(row, "wrong"));
    write_share(p, row, "ill");
    write_share(p, row, "truncated");
    write_share(p, row, "failed");
    write_share(p, row, "redone");
    write_errors(p, row, "backward");
    write_share(p, row, "referenced");
    write_errors(p, row, "forward");
    fputs(" |\n", p->file);
}

static void write_table(const page *p, const char *type, double n) {
    fprintf(
        p->file,
        "\n### %s, n = %.0f\n\n"
        "| family | method | ok | warned | truncated | failed | redone | backward, median | 99 %% "
        "| worst | with x* | forward, median | 99 %% | worst |\n"
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
        type, n);
    for (const io_json_value *row = p->rows->first; row; row = row->next)
        if (strcmp(result_text(row, "type"), type) == 0 && result_number(row, "n") == n)
            write_row(p, row);
}

static int write_type(const page *p, const char *type, io_error *err) {
    const double n = p->sizes[p->size_count / 2];
    int status = IO_OK;
    fprintf(p->file, "\n## %s\n",
            strcmp(type, "f32") == 0 ? "Single precision, f32" : "Double precision, f64");
    for (int e = 0; e < 2 && status == IO_OK; e++) {
        char name[RESULT_FILE], image[RESULT_PATH];
        snprintf(name, sizeof name, "smallsym-study-%s-%s.svg", type, errors[e]);
        fprintf(p->file, "\n![distributions of the %s error](img/%s)\n", errors[e], name);
        status = result_image_path(p->path, name, image, err);
        if (status == IO_OK) status = bench_study_picture(p->rows, type, errors[e], n, image, err);
    }
    for (int i = 0; i < p->size_count && status == IO_OK; i++) write_table(p, type, p->sizes[i]);
    return status;
}

static void write_introduction(const page *p, const char *study) {
    const io_json_value *machine = io_json_get(p->root, "machine");
    const char *base = strrchr(study, '/');
    fprintf(
        p->file,
        "# Accuracy of small symmetric systems\n\n"
        "The study that the paper of [smallsym.md](smallsym.md) leaves for later (its section 6): "
        "how large the errors of each method are on each family of test systems. This page is made "
        "by `shoal report --study` from `%s`: %s, %s, seed %.0f. No number is typed by "
        "hand.\n\n",
        base ? base + 1 : study, result_text(machine, "device"), result_text(machine, "date"),
        result_number(p->root, "seed"));
    fputs(
        "- backward error: |b - A x| / (|A| |x| + |b|) in the maximum norm, computed in twice double "
        "precision, of every system that has an answer. A solver promises 10 n units of roundoff "
        "for a system reported ok (f32: 1.2e-6 n, f64: 2.2e-15 n); more would be called WRONG here.\n"
        "- forward error: |x - x*| / |x*| in the maximum norm. x* solves the system as it is given: "
        "elimination with row exchanges in double, refined with residuals in twice double precision "
        "until the corrections are below a thousandth of a unit of roundoff. \"With x*\" is the "
        "share of the systems for which that converges; the others are singular, or too nearly so "
        "for double. An answer that was truncated solves another system, and has no forward "
        "error.\n"
        "- warned: answered, but called ill-conditioned, or the residual is above the tolerance. Redone: "
        "`auto` took its second method.\n"
        "- The pictures show the share of the systems whose error is no larger than what the axis "
        "says.\n",
        p->file);
}

static int write_page(FILE *file, const char *path, const char *study, const io_json_value *root,
                      io_error *err) {
    page p = { .file = file, .path = path, .root = root, .rows = io_json_get(root, "rows") };
    int status = IO_OK;
    find_sizes(&p);
    write_introduction(&p, study);
    for (size_t t = 0; t < sizeof types / sizeof *types && status == IO_OK; t++)
        if (has_type(&p, types[t])) status = write_type(&p, types[t], err);
    return status;
}

int bench_study_page(const char *study, const char *path, io_error *err) {
    io_json_value *root = NULL;
    io_out *out = NULL;
    int status = io_json_read(study, &root, err);
    const io_json_value *rows = status == IO_OK ? io_json_get(root, "rows") : NULL;
    if (status == IO_OK && (!rows || rows->kind != IO_JSON_ARRAY))
        status = io_fail(err, IO_E_FORMAT, "%s: has no array \"rows\"", study);
    if (status == IO_OK) status = bench_make_parents(path, err);
    if (status == IO_OK) status = io_out_open(path, &out, err);
    if (status == IO_OK) {
        const bool symindef = strcmp(result_text(root, "study"), "symindef") == 0;
        status = (symindef ? bench_study_symindef_page : write_page)(io_out_file(out), path, study,
                                                                     root, err);
        if (status == IO_OK)
            status = io_out_commit(out, err);
        else
            io_out_abandon(out);
    }
    io_json_free(root);
    return status;
}
