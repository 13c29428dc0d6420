/* SPDX-License-Identifier: Apache-2.0
 *
 * report.c - `shoal report`: solves 100,000 systems by each method, checks them, and writes a page
 * with pictures; with --performance, the page of measured results instead, with --figures,
 * --recur-figures and --tridiag-figures those that a paper has, with --study (report_study.c) a study
 * of errors.
 *
 * On the CPU n ends at LARGEST_ON_CPU, so that the whole stays below a minute on two cores and
 * takes little more than 1 GB; the page says so.
 */
#include "bench.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "bench/report.h"
#include "bench/study_symindef.h"

enum { SYSTEMS = 100000, LARGEST_ON_CPU = 256 };

typedef struct arguments {
    const char *output, *performance, *figures, *recur_figures, *tridiag_figures;
    cli_study study;
} arguments;

/* clang-format off */
#define AT(member) CLI_AT(arguments, member)
static const cli_option options[] = {
    { "output",      OPT_TEXT, AT(output),        "FILE", 1, "the page", .letter = 'o', .usual = "out/report.html, docs/performance.md, docs/smallsym-figures.md, out/WHAT-study.md" },
    { "performance", OPT_TEXT, AT(performance),   "DIR",  2, "make the page of results kept in DIR by `shoal bench --save'" },
    { "figures",     OPT_TEXT, AT(figures),       "DIR",  3, "make the page of the paper's figures about small symmetric systems, from results kept in DIR" },
    { "recur-figures", OPT_TEXT, AT(recur_figures), "DIR", 3, "the same about recurrences", .usual = "docs/recur-figures.md" },
    { "tridiag-figures", OPT_TEXT, AT(tridiag_figures), "DIR", 3, "the same about one tridiagonal system", .usual = "docs/tridiag-figures.md" },
    { "study",       OPT_TEXT, AT(study.what),    "WHAT", 4, "smallsym: measure the errors of every method on every family; symindef: the studies of Kruchinina's thesis; write a page and its numbers (.json); FILE.json: make the page of those again" },
    { "count",       OPT_INT,  AT(study.count),   "N",    5, "of --study smallsym: systems of each family", 1, 1000000, .usual = "4000" },
    { "part",        OPT_TEXT, AT(study.part),    "P",    6, "of --study symindef: alpha, sizes or read alone; the other parts of the numbers that are there stay", .usual = "all", .words = "alpha|sizes|read" },
    { "n",           OPT_INT,  AT(study.n),       "N",    6, "of --study symindef: the largest order", 10, INT32_MAX, .usual = "1000, on a GPU 10000" },
    { "matrix",      OPT_TEXT, AT(study.matrix),  "FILE", 6, "of --study symindef: part alpha with the matrix of this .npy, .mtx or .h5 file" },
    { 0 }
};
/* clang-format on */

static const char doc[] =
    "Solves 100,000 tridiagonal systems by each method, for n from 8 to 1024 (on a CPU to 256) and "
    "in both precisions, checks every answer and writes a page with the speeds."
    "\vExample:\n  shoal report -o out/machine.html\n"
    "  shoal report --study smallsym --count 1000 -o out/smallsym-study.md\n"
    "  shoal report --study symindef --part sizes --n 2000 -o out/symindef-study.md";

static const int64_t sizes[] = { 8, 16, 32, 64, 128, 256, 512, 1024 };

/* Of a study that is there already none of them has an effect, which is said later. */
static void check_study(const cli_study *s, struct argp_state *state) {
    const char *what = s->what ? s->what : "";
    const bool symindef = s->part || s->n || s->matrix;
    if (s->count && (!s->what || strcmp(what, "symindef") == 0))
        argp_error(state, "--count goes with --study smallsym");
    if (symindef && (!s->what || strcmp(what, "smallsym") == 0))
        argp_error(state, "--part, --n and --matrix go with --study symindef");
    if (s->matrix && s->part && strcmp(s->part, "alpha") != 0)
        argp_error(state, "--matrix goes with --part alpha");
    if (s->matrix && s->n)
        argp_error(state, "--n: the matrix has its order, --matrix %s", s->matrix);
}

static void check(void *of, struct argp_state *state) {
    const arguments *a = of;
    if ((a->performance != NULL) + (a->figures != NULL) + (a->recur_figures != NULL) +
            (a->tridiag_figures != NULL) + (a->study.what != NULL) >
        1)
        argp_error(state,
                   "--performance, --figures, --recur-figures, --tridiag-figures and --study "
                   "exclude each other");
    check_study(&a->study, state);
}

/* Every method, "auto" first, for each n; `types` is f64 or f32. */
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

static const char *story_of(bool on_cpu) {
    if (!on_cpu)
        return "Each method solved 100,000 systems of each size, from 8 to 1,024 unknowns, in "
               "double and in single precision, with the data on the GPU.";
    return "Each method solved 100,000 systems of each size, from 8 to 256 unknowns, in double and "
           "in single precision.";
}

bool cli_report_kept(const cli *c, const char *path, int code) {
    if (code != CLI_INTERRUPTED || access(path, F_OK) != 0) return false;
    cli_note(c, "%s stays as it was: not all of the results are there", path);
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
    printf("%s: %s, %d %s\n", c->machine.backend, c->machine.device, c->machine.threads,
           c->machine.threads == 1 ? "thread" : "threads");
    bench_report_text(s, stdout);
    printf("%s\n", code == CLI_INTERRUPTED ? "interrupted: these were checked until then"
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
        bench_story story = { .sizes = story_of(on_cpu), .interrupted = result == BENCH_STOPPED };
        if (result != BENCH_ERROR) code = finish(c, &s, &story, path, code);
    }
    bench_problems_free(&list);
    bench_session_end(&s);
    return code;
}

/* A page made of results that are kept in a directory. */
static int make_page(cli *c, const char *directory, const char *path,
                     int (*make)(const char *directory, const char *path, io_error *err)) {
    io_error err;
    int code = cli_io(make(directory, path, &err), &err);
    if (code != CLI_OK) return code;
    if (c->json) {
        io_json *j = cli_json_begin(c, "report");
        io_json_string(j, "report", path);
        return cli_json_end(c, code);
    }
    printf("report: %s\n", path);
    return code;
}

static int command(cli *c, int argc, char **argv) {
    arguments a = { 0 };
    int code = cli_parse(c, &report_command, argc, argv, &a);
    if (code == CLI_OK) cli_note_no_fast_math(c);
    if (code == CLI_OK && a.study.what) return cli_report_study(c, argv[0], &a.study, a.output);
    if (code == CLI_OK && a.recur_figures) {
        cli_note_no_seed(c);
        return make_page(c, a.recur_figures, a.output ? a.output : "docs/recur-figures.md",
                         bench_recur_figures);
    }
    if (code == CLI_OK && a.tridiag_figures) {
        cli_note_no_seed(c);
        return make_page(c, a.tridiag_figures, a.output ? a.output : "docs/tridiag-figures.md",
                         bench_tridiag_figures);
    }
    if (code == CLI_OK && (a.performance || a.figures)) {
        cli_note_no_seed(c);
        return a.figures ? make_page(c, a.figures, a.output ? a.output : "docs/smallsym-figures.md",
                                     bench_figures)
                         : make_page(c, a.performance, a.output ? a.output : "docs/performance.md",
                                     bench_performance);
    }
    if (code == CLI_OK) code = cli_open(c);
    if (code == CLI_OK) code = run(c, argv[0], a.output ? a.output : "out/report.html");
    return code;
}

const cli_command report_command = { "report",
                                     "solve by every method and write a report with pictures",
                                     .doc = doc,
                                     .run = command,
                                     .tables = { { options, 0 } },
                                     .check = check };
