/* SPDX-License-Identifier: Apache-2.0
 *
 * study.c - `shoal study`: measures a study and keeps its numbers as JSON; tools/pages.py writes its page. A part of
 * symindef takes the place of its own rows in the file that is there; the others stay.
 */
#include "bench.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/session.h"
#include "bench/study.h"
#include "cli/common/arrays.h"
#include "io/file.h"

enum { SYSTEMS = 4000, PATH = 4096 };

typedef struct arguments {
    const char *what, *output, *part, *matrix;
    int64_t count, n;
} arguments;

/* clang-format off */
#define AT(member) CLI_AT(arguments, member)
static const cli_option options[] = {
    { NULL,     OPT_TEXT,   AT(what),   "WHAT", 0, "which study", .words = "smallsym|symindef", .needed = "smallsym or symindef" },
    { "output", OPT_MADE,   AT(output), "FILE", 1, "the results, FILE.json; folders are created", .letter = 'o', .usual = "out/WHAT-study.json", .ends = "json" },
    { "count",  OPT_INT,    AT(count),  "N",    2, "smallsym: systems per family", 1, 1000000, .usual = "4000", .of = "smallsym" },
    { "part",   OPT_TEXT,   AT(part),   "P",    3, "symindef: only alpha, sizes or read; the other parts of an existing file stay", .usual = "all", .words = "alpha|sizes|read", .of = "symindef",
      .more = "The others must have been measured on the same device (exit 66)." },
    { "n",      OPT_INT,    AT(n),      "N",    3, "symindef: the largest order", 10, INT32_MAX, .usual = "1000, on a GPU 10000", .of = "symindef", .without = "matrix",
      .more = "alpha has up to 3000 rows, sizes takes N/10, 2N/10 .. N, read N/8, N/4, N/2, N [read 8000]." },
    { "matrix", OPT_INPUT,  AT(matrix), "FILE", 3, "symindef: part alpha with the matrix of this .npy, .mtx or .h5 file; its rows are added to the others", .of = "symindef" },
    { 0 }
};
static const char doc[] =
    "Measures a study and writes its results. smallsym: the errors of every method on every family of small symmetric systems. "
    "symindef: the studies of Kruchinina's thesis on symmetric indefinite factorizations.\vExample:\n"
    "  shoal study smallsym --count 1000 -o out/smallsym-study.json\n"
    "  shoal study symindef --part sizes --n 2000";
/* clang-format on */

typedef struct measurement {
    bool symindef;
    bench_study small;
    bench_symindef_study study;
    io_array matrix;
    io_json_value *old; /* the numbers of an earlier run */
    char path[PATH], scratch[PATH];
} measurement;

static void check(void *of, struct argp_state *state) {
    const arguments *a = of;
    cli_check_belongs(state, "study", a->what);
    if (a->matrix && a->part && strcmp(a->part, "alpha") != 0)
        argp_error(state, "--matrix needs --part alpha");
}

static int write_rows(bench_session *s, bench_place *place, measurement *m, io_json *json) {
    if (!m->symindef) return bench_study_smallsym(s, place, &m->small, json);
    const io_json_value *rows = io_json_get(m->old, "rows");
    io_json_array(json, "rows");
    for (const io_json_value *row = rows ? rows->first : NULL; row; row = row->next)
        if (!bench_study_symindef_replaces(&m->study, row)) io_json_copy(json, NULL, row);
    const int result = bench_study_symindef(s, place, &m->study, json);
    io_json_close(json);
    return result;
}

static int64_t wrong(const measurement *m) { return m->symindef ? m->study.wrong : m->small.wrong; }

/* As the files in bench/results begin and end. */
static int write_study(cli *c, bench_session *s, bench_place *place, measurement *m, FILE *file) {
    io_json json;
    io_error err;
    io_json_begin(&json, file, 1);
    io_json_object(&json, NULL);
    io_json_string(&json, "command", "study");
    io_json_string(&json, "study", m->symindef ? "symindef" : "smallsym");
    io_json_string(&json, "version", shoal_version());
    io_json_string(&json, "backend", c->machine.backend);
    io_json_string(&json, "device", c->machine.device);
    io_json_uint(&json, "seed", c->seed);
    bench_json_machine(s, &json);
    const int result = write_rows(s, place, m, &json);
    io_json_double(&json, "seconds", cli_now() - c->start);
    io_json_close(&json);
    if (result == BENCH_ERROR) return cli_bench_code(s, result);
    if (io_json_end(&json, &err) != IO_OK) return cli_io(IO_E_WRITE, &err);
    if (result == BENCH_STOPPED) return CLI_INTERRUPTED;
    return wrong(m) > 0 ? CLI_FAILED : CLI_OK;
}

/* *kept: an older file stays. */
static int measure(cli *c, measurement *m, bool *kept) {
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
        *kept = cli_report_kept(c, m->path, code);
        if (!cli_bench_is_result(code) || *kept)
            io_out_abandon(out);
        else if (io_out_commit(out, &err) != IO_OK)
            code = cli_io(IO_E_WRITE, &err);
    }
    bench_session_end(&s);
    return code;
}

static bool has_text(const io_json_value *root, const char *key, const char *text) {
    const io_json_value *value = io_json_get(root, key);
    return value && value->kind == IO_JSON_STRING && strcmp(value->string, text) == 0;
}

/* For one part: the file that is there, unless it is another machine's. */
static int read_old(const cli *c, measurement *m) {
    io_error err;
    if (m->study.parts == STUDY_ALL || access(m->path, F_OK) != 0) return CLI_OK;
    const int code = cli_io(io_json_read(m->path, &m->old, &err), &err);
    if (code != CLI_OK) return code;
    if (has_text(m->old, "study", "symindef") && has_text(m->old, "device", c->machine.device))
        return CLI_OK;
    return cli_fail(CLI_INPUT, "%s: not a study of symindef on %s, so no part can be added to it",
                    m->path, c->machine.device);
}

static int read_matrix(const cli *c, const char *path, measurement *m) {
    const io_triangle lower = { .packed = true };
    const char *slash = strrchr(path, '/');
    m->study.name = slash ? slash + 1 : path;
    m->study.lower = &m->matrix;
    return cli_triangle_read(c, path, &lower, false, &m->study.n, &m->matrix);
}

static int prepare(cli *c, const arguments *a, measurement *m) {
    m->symindef = strcmp(a->what, "symindef") == 0;
    m->small = (bench_study){ .count = a->count ? a->count : SYSTEMS, .seed = c->seed };
    if (a->output)
        snprintf(m->path, sizeof m->path, "%s", a->output);
    else
        snprintf(m->path, sizeof m->path, "out/%s-study.json", a->what);
    if (!m->symindef) return CLI_OK;
    snprintf(m->scratch, sizeof m->scratch, "%.*s.%ld.h5", PATH - 32, m->path, (long)getpid());
    m->study = (bench_symindef_study){ .parts = a->matrix ? STUDY_ALPHA
                                                : a->part ? bench_symindef_part(a->part)
                                                          : STUDY_ALL,
                                       .max_n = a->n,
                                       .seed = c->seed,
                                       .scratch = m->scratch };
    const int code = read_old(c, m);
    return code == CLI_OK && a->matrix ? read_matrix(c, a->matrix, m) : code;
}

static int run(cli *c, const arguments *a, measurement *m) {
    bool kept = false;
    int code = prepare(c, a, m);
    if (code == CLI_OK) code = measure(c, m, &kept);
    if (!cli_bench_is_result(code)) return code;
    if (c->json) {
        io_json *j = cli_json_begin(c, "study");
        if (!kept) io_json_string(j, "study", m->path);
        io_json_int(j, "wrong", wrong(m));
        return cli_json_end(c, code);
    }
    if (code == CLI_FAILED)
        printf("%s: %lld\n",
               m->symindef ? "factorizations that fail the check"
                           : "systems with status ok but a wrong answer",
               (long long)wrong(m));
    if (!kept) printf("study: %s\n", m->path);
    return code;
}

static int command(cli *c, int argc, char **argv) {
    arguments a = { 0 };
    measurement *m = calloc(1, sizeof *m);
    if (!m) return cli_no_memory();
    int code = cli_parse(c, &study_command, argc, argv, &a);
    if (code == CLI_OK) cli_note_no_fast_math(c);
    if (code == CLI_OK) code = cli_open(c);
    if (code == CLI_OK) code = run(c, &a, m);
    io_array_free(&m->matrix);
    io_json_free(m->old);
    free(m);
    return code;
}

const cli_command study_command = { "study",
                                    "measure the errors of every method",
                                    .args = "smallsym|symindef",
                                    .doc = doc,
                                    .run = command,
                                    .tables = { { options, 0 } },
                                    .check = check };
