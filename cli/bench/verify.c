/* SPDX-License-Identifier: Apache-2.0
 *
 * verify.c - `shoal verify`: solves problems and checks the answers without the library's help.
 */
#include "bench.h"

#include <stdlib.h>

static const char doc[] =
    "Solves each problem, then checks the answer independently of the library: the residual of "
    "every system (a stated sample of very large batches) in twice double precision, its status, "
    "and the residual that the solver itself reports. Random numbers are compared bit by bit with "
    "those of fills in pieces and of the CPU, and judged by mean and variance. Exit 1 if a system "
    "has no answer or a residual above 100 units of roundoff (of smallsym: 10 n units), a factorization "
    "has an error above 10 n units, a price is more than 4.5 standard errors from what formula or quadrature say, or "
    "a number is not what it should be."
    "\vA problem is module:method:backend:type:key=value,...; see `shoal bench --help'.\n\n"
    "Example:\n  shoal verify tridiag:all::f32+f64:n=1+2+3+64+255,count=1000 rng:all::all";

typedef struct arguments {
    int count;
    const char **problems; /* from malloc */
} arguments;

static const cli_option options[] = { { NULL, OPT_WORDS, CLI_AT(arguments, count), "PROBLEM", 0,
                                        "what to solve", .suggest = "@problems",
                                        .needed = "module:method, such as tridiag:pcr" },
                                      { 0 } };

static int run(cli *c, const arguments *a, const char *who) {
    bench_session s;
    bench_problems list = { 0 };
    int code = CLI_OK;
    cli_bench_begin(c, &s);
    s.note = NULL; /* the table has it all */
    for (int i = 0; i < a->count && code == CLI_OK; i++)
        code = cli_bench_problem(c, who, a->problems[i], &list);
    if (code == CLI_OK) {
        cli_bench_note_math(c, &list);
        code = cli_bench_code(&s, bench_run(&s, &list, 0));
        code = cli_bench_print(c, &s, "verify", bench_check_table, code);
    }
    bench_problems_free(&list);
    bench_session_end(&s);
    return code;
}

static int command(cli *c, int argc, char **argv) {
    arguments a = { .problems = calloc((size_t)argc + 1, sizeof *a.problems) };
    if (!a.problems) return cli_no_memory();
    int code = cli_parse(c, &verify_command, argc, argv, &a);
    if (code == CLI_OK) code = cli_open(c);
    if (code == CLI_OK) code = run(c, &a, argv[0]);
    free(a.problems);
    return code;
}

const cli_command verify_command = { "verify",
                                     "solve problems and check the answers independently",
                                     .args = "PROBLEM...",
                                     .doc = doc,
                                     .run = command,
                                     .tables = { { options, 0 } } };
