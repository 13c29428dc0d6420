/* SPDX-License-Identifier: Apache-2.0
 *
 * report.h - pages made from measurements: the HTML report of `shoal report`, and
 * docs/performance.md from the JSON files in bench/results.
 */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "bench/session.h"
#include "io/svg.h"

typedef struct bench_story { /* what the report says besides its numbers */
    const char *sizes;       /* how many systems were solved, and why    */
    bool interrupted;
} bench_story;

/* One self-contained page: charts of systems/s against n, tables, the machine. */
int bench_report_html(const bench_session *s, const bench_story *story, const char *path,
                      io_error *err);

/* The same in about ten lines of text: million systems a second, n down, methods across, f64. */
void bench_report_text(const bench_session *s, FILE *file);

/* Reads every .json of a directory (in the order of their names) and writes a Markdown page, with
 * charts in img/ beside it. IO_E_OPEN or IO_E_FORMAT for the results, IO_E_WRITE for the pages. */
int bench_performance(const char *directory, const char *path, io_error *err);

/* The page of the figures of the paper about small symmetric systems, from the results of a directory
 * in the same way; those whose rows are missing are left out, and named. */
int bench_figures(const char *directory, const char *path, io_error *err);

/* The same of the paper about recurrences. */
int bench_recur_figures(const char *directory, const char *path, io_error *err);

/* The same of the paper about one tridiagonal system. */
int bench_tridiag_figures(const char *directory, const char *path, io_error *err);

/* A chart with n along its logarithmic x axis; the series are still to be set. */
io_chart bench_chart_over_n(const char *title, const char *subtitle, const char *y_label);

/* Makes the directories that a path needs; IO_E_WRITE if that fails. */
int bench_make_parents(const char *path, io_error *err);

#endif
