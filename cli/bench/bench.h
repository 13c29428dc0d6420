/* SPDX-License-Identifier: Apache-2.0
 *
 * bench.h - what `verify`, `bench`, `study` and `report` share.
 */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include "bench/session.h"
#include "cli/common/cli.h"

/* A session with the program's options, remarks on stderr, and Ctrl-C obeyed. */
void cli_bench_begin(cli *c, bench_session *s);

/* A bar, instead of a remark for each of so many cases; until cli_progress_end(&watch->bar). */
typedef struct cli_bench_watch {
    cli_progress bar;
    int64_t done;
} cli_bench_watch;

void cli_bench_watch_begin(cli_bench_watch *watch, const cli *c, bench_session *s,
                           const char *label, int64_t cases);

/* Adds the problems of a string; CLI_OK, or CLI_USAGE with the reason on stderr. */
int cli_bench_problem(cli *c, const char *who, const char *text, bench_problems *list);

/* Exit code for what bench_run returned; the reason of an error goes to stderr. */
int cli_bench_code(const bench_session *s, int result);

/* Whether there are results: success, a numerical failure, Ctrl-C. */
bool cli_bench_is_result(int code);

/* Whether the page or the numbers of an interrupted command are not written, because an older file is there; a note
 * says so. */
bool cli_report_kept(const cli *c, const char *path, int code);

#endif
