/* SPDX-License-Identifier: Apache-2.0
 *
 * report_study.c - `shoal report --study`: measures a study and keeps its numbers as JSON, or makes the page
 * of such a file. smallsym: the errors of every method on every family of small symmetric systems;
 * symindef: those of Kruchinina's thesis about symmetric indefinite factorizations.
 *
 * The numbers lie beside the page, under its name with .json at the end. A part of symindef that is
 * measured alone takes the place of its own rows in that file. Exit code 1 if an answer was called ok
 * and is not, or a factorization does not pass its check.
 */
#include "bench.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/performance.h"
#include "bench/study.h"
#include "bench/study_symindef.h"
#include "io/file.h"
#include "io/triangle.h"

enum { SYSTEMS = 4000, PATH = 4096 };

typedef struct measurement {
    bool symindef; /* else small symmetric systems                       */
    bench_study small;
    bench_symindef_study study;
    char page[PATH], path[PATH]; /* of the page and of the numbers                     */
    char scratch[PATH];          /* a file for a while                                 */
    io_array matrix;             /* of --matrix                                        */
    io_json_value *old;          /* numbers of which some stay                         */
} measurement;

static int64_t wrong(const measurement *m) { return m->symindef ? m->study.wrong : m->small.wrong; }

/* The rows, after those of the old file that stay. */
static int write_symindef(bench_session *s, bench_place *place, measurement *m, io_json *json) {
    const io_json_value *rows = io_json_get(m->old, "rows");
    io_json_array(json, "rows");
    for (const io_json_value *row = rows ? rows->first : NULL; row; row = row->next)
        if (!bench_study_symindef_replaces(&m->study, row)) io_json_copy(json, NULL, row);
    const int result = bench_study_symindef(s, place, &m->study, json);
    io_json_close(json);
    return result;
}

/* As the files in bench/results begin and end. */
static int write_study(cli *c, bench_session *s, bench_place *place, measurement *m, FILE *file) {
    io_json json;
    io_error err;
    io_json_begin(&json, file, 1);
    io_json_object(&json, NULL);
    io_json_string(&json, "command", "report");
    io_json_string(&json, "study", m->symindef ? "symindef" : "smallsym");
    io_json_string(&json, "version", shoal_version());
    io_json_string(&json, "backend", c->machine.backend);
    io_json_string(&json, "device", c->machine.device);
    io_json_uint(&json, "seed", c->seed);
    bench_json_machine(s, &json);
    const int result = m->symindef ? write_symindef(s, place, m, &json)
                                   : bench_study_smallsym(s, place, &m->small, &json);
    io_json_double(&json, "seconds", cli_now() - c->start);
    io_json_close(&json);
    if (result == BENCH_ERROR) return cli_bench_code(s, result);
    if (io_json_end(&json, &err) != IO_OK) return cli_io(IO_E_WRITE, &err);
    if (result == BENCH_STOPPED) return CLI_INTERRUPTED;
    return wrong(m) > 0 ? CLI_FAILED : CLI_OK;
}

static bool is_result(int code) {
    return code == CLI_OK || code == CLI_FAILED || code == CLI_INTERRUPTED;
}

static int measure(cli *c, measurement *m) {
    bench_session s;
    cli_bench_watch watch;
    io_out *out = NULL;
    io_error err;
    cli_bench_begin(c, &s);
    bench_place *place = bench_session_place(&s, c->machine.backend);
    int code = place ? CLI_OK : cli_bench_code(&s, BENCH_ERROR);
    if (code == CLI_OK) code = cli_io(bench_make_parents(m->path, &err), &err);
    if (code == CLI_OK) code = cli_io(io_out_open(m->path, &out, &err), &err);
    if (code == CLI_OK) {
        cli_bench_watch_begin(&watch, c, &s, m->symindef ? "measuring" : "solving",
                              m->symindef ? bench_study_symindef_cases(&m->study)
                                          : bench_study_cases());
        code = write_study(c, &s, place, m, io_out_file(out));
        cli_progress_end(&watch.bar);
        const bool kept = cli_report_kept(c, m->path, code);
        if (is_result(code) && !kept && io_out_commit(out, &err) != IO_OK)
            code = cli_io(IO_E_WRITE, &err);
        else if (!is_result(code) || kept)
            io_out_abandon(out);
    }
    bench_session_end(&s);
    return code;
}

/* Of one part alone: the file that is there, unless it is another machine's. */
static int read_old(const cli *c, measurement *m) {
    io_error err;
    if (m->study.parts == STUDY_ALL || access(m->path, F_OK) != 0) return CLI_OK;
    const int code = cli_io(io_json_read(m->path, &m->old, &err), &err);
    if (code != CLI_OK) return code;
    if (strcmp(result_text(m->old, "study"), "symindef") == 0 &&
        strcmp(result_text(m->old, "device"), c->machine.device) == 0)
        return CLI_OK;
    return cli_fail(CLI_INPUT, "%s: no study of symindef on %s, which a part could be added to",
                    m->path, c->machine.device);
}

static int read_matrix(const char *path, measurement *m) {
    const io_triangle lower = { .packed = true };
    const char *slash = strrchr(path, '/');
    io_error err;
    m->study.name = slash ? slash + 1 : path;
    m->study.lower = &m->matrix;
    return cli_io(io_triangle_read(path, &lower, io_memory_bytes(), &m->study.n, &m->matrix, &err),
                  &err);
}

static int prepare(cli *c, const cli_study *asked, measurement *m) {
    m->symindef = strcmp(asked->what, "symindef") == 0;
    m->small = (bench_study){ .count = asked->count ? asked->count : SYSTEMS, .seed = c->seed };
    if (!m->symindef) return CLI_OK;
    const int part = asked->matrix ? STUDY_ALPHA
                     : asked->part ? bench_symindef_part(asked->part)
                                   : STUDY_ALL;
    snprintf(m->scratch, sizeof m->scratch, "%.*s.%ld.h5", PATH - 32, m->path, (long)getpid());
    m->study = (bench_symindef_study){
        .parts = part, .most = asked->n, .seed = c->seed, .scratch = m->scratch
    };
    const int code = read_old(c, m);
    return code == CLI_OK && asked->matrix ? read_matrix(asked->matrix, m) : code;
}

static int run(cli *c, const cli_study *asked, bool made, measurement *m) {
    io_error err;
    int code = CLI_OK;
    if (!made) code = cli_open(c);
    if (!made && code == CLI_OK) code = prepare(c, asked, m);
    if (!made && code == CLI_OK) code = measure(c, m);
    if (!is_result(code)) return code;
    const char *numbers = made ? asked->what : m->path;
    const bool kept = !made && cli_report_kept(c, m->page, code);
    const int written = kept ? CLI_OK : cli_io(bench_study_page(numbers, m->page, &err), &err);
    if (written != CLI_OK) return written;
    if (c->json) {
        io_json *j = cli_json_begin(c, "report");
        if (!kept) io_json_string(j, "report", m->page);
        io_json_string(j, "study", numbers);
        if (!made) io_json_int(j, "wrong", wrong(m));
        return cli_json_end(c, code);
    }
    if (code == CLI_FAILED)
        printf("%lld %s: see the report\n", (long long)wrong(m),
               m->symindef ? "factorizations do not pass the check"
                           : "systems were called ok and are not");
    if (!kept) printf("report: %s\n", m->page);
    return code;
}

int cli_report_study(cli *c, const char *who, const cli_study *asked, const char *page) {
    const bool made = cli_ends_in(asked->what, ".json");
    if (!made && strcmp(asked->what, "smallsym") != 0 && strcmp(asked->what, "symindef") != 0) {
        fprintf(stderr,
                "%s: --study: '%s' is neither smallsym nor symindef nor the .json of a study\n",
                who, asked->what);
        return CLI_USAGE;
    }
    if (made && asked->count) cli_note(c, "--count has no effect: the study is there already");
    if (made && (asked->part || asked->n || asked->matrix))
        cli_note(c, "--part, --n and --matrix have no effect: the study is there already");
    if (made) cli_note_no_seed(c);
    measurement *m = calloc(1, sizeof *m);
    if (!m) return cli_no_memory();
    if (page)
        snprintf(m->page, sizeof m->page, "%s", page);
    else
        snprintf(m->page, sizeof m->page, "out/%s-study.md", made ? "smallsym" : asked->what);
    const bool md = cli_ends_in(m->page, ".md");
    snprintf(m->path, sizeof m->path, "%.*s.json", (int)strlen(m->page) - (md ? 3 : 0), m->page);
    const int code = run(c, asked, made, m);
    io_array_free(&m->matrix);
    io_json_free(m->old);
    free(m);
    return code;
}
