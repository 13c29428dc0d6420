/* SPDX-License-Identifier: Apache-2.0
 *
 * report.h - the page of `shoal report`.
 */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "bench/session.h"

typedef struct bench_story { /* what the report says besides its numbers */
    const char *sizes;       /* how many systems were solved, and why    */
    bool interrupted;
} bench_story;

/* One self-contained page: charts of systems per second against n, tables, the machine. */
int bench_report_html(const bench_session *s, const bench_story *story, const char *path,
                      io_error *err);

/* The same in about ten lines of text: million systems per second, n down, methods across, f64. */
void bench_report_text(const bench_session *s, FILE *file);

/* Makes the directories that a path needs; IO_E_WRITE if that fails. */
int bench_make_parents(const char *path, io_error *err);

#endif
