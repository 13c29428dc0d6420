/* SPDX-License-Identifier: Apache-2.0
 *
 * report_study.c - `shoal report --study`: measures the errors of every method on every family of small
 * symmetric systems and keeps them as JSON, or makes the page of such a file.
 *
 * The numbers lie beside the page, under its name with .json at the end. Exit code 1 if a system was
 * called ok and is not.
 */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

#include "bench/report.h"
#include "bench/study.h"
#include "io/file.h"

enum { SYSTEMS = 4000, PATH = 4096 };

static bool ends_with(const char *text, const char *end) {
    const size_t length = strlen(text), tail = strlen(end);
    return length > tail && strcmp(text + length - tail, end) == 0;
}

typedef struct watcher { /* the bar, instead of a remark for every case */
    cli_progress bar;
    int64_t done;
} watcher;

static void step(void *to, const char *text) {
    watcher *w = to;
    (void)text;
    cli_progress_step(&w->bar, ++w->done);
}

/* As the files in bench/results begin and end. */
static int write_study(cli *c, bench_session *s, bench_place *place, bench_study *what,
                       FILE *file) {
    io_json json;
    io_error err;
    io_json_begin(&json, file, 1);
    io_json_object(&json, NULL);
    io_json_string(&json, "command", "report");
    io_json_string(&json, "study", "smallsym");
    io_json_string(&json, "version", shoal_version());
    io_json_string(&json, "backend", c->machine.backend);
    io_json_string(&json, "device", c->machine.device);
    io_json_uint(&json, "seed", what->seed);
    bench_json_machine(s, &json);
    const int result = bench_study_smallsym(s, place, what, &json);
    io_json_double(&json, "seconds", cli_now() - c->start);
    io_json_close(&json);
    if (result == BENCH_ERROR) return cli_bench_code(s, result);
    if (io_json_end(&json, &err) != IO_OK) return cli_io(IO_E_WRITE, &err);
    if (result == BENCH_STOPPED) return CLI_INTERRUPTED;
    return what->wrong > 0 ? CLI_FAILED : CLI_OK;
}

static int measure(cli *c, bench_study *what, const char *path) {
    bench_session s;
    watcher w = { .done = 0 };
    io_out *out = NULL;
    io_error err;
    cli_bench_begin(c, &s);
    bench_place *place = bench_session_place(&s, c->machine.backend);
    int code = place ? CLI_OK : cli_bench_code(&s, BENCH_ERROR);
    if (code == CLI_OK) code = cli_io(bench_make_parents(path, &err), &err);
    if (code == CLI_OK) code = cli_io(io_out_open(path, &out, &err), &err);
    if (code == CLI_OK) {
        cli_progress_begin(&w.bar, c, "solving", bench_study_cases());
        s.note = step;
        s.note_to = &w;
        code = write_study(c, &s, place, what, io_out_file(out));
        cli_progress_end(&w.bar);
        const bool kept = code == CLI_OK || code == CLI_FAILED || code == CLI_INTERRUPTED;
        if (kept && io_out_commit(out, &err) != IO_OK)
            code = cli_io(IO_E_WRITE, &err);
        else if (!kept)
            io_out_abandon(out);
    }
    bench_session_end(&s);
    return code;
}

int cli_report_study(cli *c, const char *who, const char *what, int64_t count, const char *page) {
    char path[PATH];
    bench_study study = { .count = count ? count : SYSTEMS, .seed = c->seed };
    const bool made = ends_with(what, ".json");
    int code = CLI_OK;
    if (!made && strcmp(what, "smallsym") != 0) {
        fprintf(stderr, "%s: --study: '%s' is neither smallsym nor the .json of a study\n", who,
                what);
        return CLI_USAGE;
    }
    snprintf(path, sizeof path, "%.*s.json", (int)strlen(page) - (ends_with(page, ".md") ? 3 : 0),
             page);
    if (made && count) cli_note(c, "--count has no effect: the study is there already");
    if (made) cli_note_no_seed(c);
    if (!made) code = cli_open(c);
    if (!made && code == CLI_OK) code = measure(c, &study, path);
    if (code != CLI_OK && code != CLI_FAILED && code != CLI_INTERRUPTED) return code;
    io_error err;
    const int written = cli_io(bench_study_page(made ? what : path, page, &err), &err);
    if (written != CLI_OK) return written;
    if (c->json) {
        io_json *j = cli_json_begin(c, "report");
        io_json_string(j, "report", page);
        io_json_string(j, "study", made ? what : path);
        if (!made) io_json_int(j, "wrong", study.wrong);
        return cli_json_end(c, code);
    }
    if (code == CLI_FAILED)
        printf("%lld systems were called ok and are not: see the report\n", (long long)study.wrong);
    printf("report: %s\n", page);
    return code;
}
