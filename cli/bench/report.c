/* SPDX-License-Identifier: Apache-2.0
 *
 * report.c - `shoal report`: solves 100,000 systems by each method, checks them, and writes a page with pictures.
 *
 * On the CPU n ends at LARGEST_ON_CPU, so that the whole stays below a minute on two cores and takes little more than
 * 1 GB; the page shows it.
 */
#include "bench.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "bench/session.h"

enum { SYSTEMS = 100000, LARGEST_ON_CPU = 256 };

typedef struct arguments {
    const char *output;
} arguments;

static const cli_option options[] = { { "output", OPT_MADE, CLI_AT(arguments, output), "FILE", 1,
                                        "the page; folders are created", .letter = 'o',
                                        .ends = "html" },
                                      { 0 } };

/* clang-format off */
static const char doc[] =
    "Solves 100,000 tridiagonal systems by each method, for n from 8 to 1024 (on a CPU to 256) in both precisions, checks every "
    "answer and writes an HTML page with the speeds.\vExample:\n"
    "  shoal report -o out/machine.html";
/* clang-format on */

static const int64_t sizes[] = { 8, 16, 32, 64, 128, 256, 512, 1024 };

/* Every method, "auto" first, for each n; `type` is f64 or f32. */
static int add_problems(cli *c, const char *who, bool on_cpu, const char *type,
                        bench_problems *list) {
    char methods[256] = "auto", text[512];
    const char *name;
    int code = CLI_OK;
    for (int i = 0; (name = shoal_methods("tridiag", i)); i++) {
        size_t used = strlen(methods);
        snprintf(methods + used, sizeof methods - used, "+%s", name);
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && code == CLI_OK; i++) {
        if (on_cpu && sizes[i] > LARGEST_ON_CPU) break;
        snprintf(text, sizeof text, "tridiag:%s::%s:n=%" PRId64 ",count=%d", methods, type,
                 sizes[i], SYSTEMS);
        code = cli_bench_problem(c, who, text, list);
    }
    return code;
}

bool cli_report_kept(const cli *c, const char *path, int code) {
    if (code != CLI_INTERRUPTED || access(path, F_OK) != 0) return false;
    cli_note(c, "%s is unchanged: the results are not complete", path);
    return true;
}

static int finish(cli *c, const bench_session *s, const bench_story *story, const char *path,
                  int code) {
    io_error err;
    const bool kept = cli_report_kept(c, path, code);
    int written = kept ? CLI_OK : cli_io(bench_report_html(s, story, path, &err), &err);
    if (written != CLI_OK) return written;
    if (c->json) {
        io_json *j = cli_json_begin(c, "report");
        io_json_uint(j, "seed", c->seed);
        if (!kept) io_json_string(j, "report", path);
        bench_json(s, j);
        return cli_json_end(c, code);
    }
    printf("%s: %s, %s\n", c->machine.backend, c->machine.device,
           CLI_COUNT(c->machine.threads, "thread"));
    bench_report_text(s, stdout);
    printf("%s\n", code == CLI_INTERRUPTED ? "interrupted: these were checked before"
                   : code == CLI_FAILED    ? "NOT every case passed the check: see the report"
                                           : "every answer was checked: residuals as shown");
    if (!kept) printf("report: %s\n", path);
    return code;
}

static int run(cli *c, const char *who, const char *path) {
    const bool on_cpu = strcmp(c->machine.backend, "cpu") == 0;
    bench_session s;
    bench_problems list = { 0 };
    cli_bench_watch watch;
    cli_bench_begin(c, &s);
    s.rules.samples = on_cpu ? 3 : 10;
    s.rules.shortest = on_cpu ? 0.05 : 0.02;
    s.rules.longest = 0.3;
    int code = add_problems(c, who, on_cpu, "f64", &list);
    if (code == CLI_OK) code = add_problems(c, who, on_cpu, "f32", &list);
    if (code == CLI_OK) code = cli_check_made(path);
    if (code == CLI_OK) {
        cli_bench_watch_begin(&watch, c, &s, "solving", list.count);
        int result = bench_run(&s, &list, BENCH_TIME);
        cli_progress_end(&watch.bar);
        code = cli_bench_code(&s, result);
        const bench_story story = {
            .sizes = on_cpu ? "Each method solved 100,000 systems of each size, from 8 to 256 "
                              "unknowns, in double and in single precision."
                            : "Each method solved 100,000 systems of each size, from 8 to 1,024 "
                              "unknowns, in double and in single precision, with the data on the "
                              "GPU.",
            .interrupted = result == BENCH_STOPPED
        };
        if (result != BENCH_ERROR) code = finish(c, &s, &story, path, code);
    }
    bench_problems_free(&list);
    bench_session_end(&s);
    return code;
}

static int command(cli *c, int argc, char **argv) {
    arguments a = { .output = "out/report.html" };
    int code = cli_parse(c, &report_command, argc, argv, &a);
    if (code == CLI_OK) cli_note_no_fast_math(c);
    if (code == CLI_OK) code = cli_open(c);
    if (code == CLI_OK) code = run(c, argv[0], a.output);
    return code;
}

const cli_command report_command = { "report",
                                     "measure every tridiagonal method and write an HTML page",
                                     .doc = doc, .run = command, .tables = { { options, 0 } } };
