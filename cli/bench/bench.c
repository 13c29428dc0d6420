/* SPDX-License-Identifier: Apache-2.0
 *
 * bench.c - `shoal bench`: verifies, then measures, ours and the peers, in one run; `shoal verify`:
 * solves problems and checks the answers without the library's help.
 */
#include "bench.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/against.h"
#include "io/file.h"

typedef struct arguments {
    int count;
    const char **problems; /* from malloc */
    int repeat;
    bool peers;
    const char *save, *name, *against;
} arguments;

/* clang-format off */
#define AT(member) CLI_AT(arguments, member)
static const cli_option bench_options[] = {
    { NULL,     OPT_WORDS, AT(count),  "PROBLEM", 0, "what to measure", .suggest = "@problems" },
    { "peers",  OPT_FLAG,  AT(peers),  NULL,      1, "also measure other libraries on the same data, in the same run" },
    { "repeat", OPT_INT,   AT(repeat), "N",       2, "take N samples", 1, 2000, .usual = "at least 20, and for at least 0.3 s" },
    { "save",   OPT_TEXT,  AT(save),   "DIR",     3, "also write DIR/NAME.json, if there is a result; folders are created" },
    { "name",   OPT_TEXT,  AT(name),   "NAME",    4, "name of that file", .with = "save", .usual = "module and device" },
    { "against", OPT_TEXT, AT(against), "PATH",   5, "compare with kept runs of this device: a file of --save, or a folder of such files",
      .more = "Without a problem, all of theirs are measured. Rows that are at least 5 % slower are listed, and the exit code is 70." },
    { 0 }
};
static const cli_option verify_options[] = {
    { NULL, OPT_WORDS, AT(count), "PROBLEM", 0, "what to solve", .suggest = "@problems",
      .needed = "a problem, such as tridiag:pcr" },
    { 0 }
};
static const char bench_doc[] =
    "Solves each problem, checks the answer, and measures: the median time per solve and half the distance between its quartiles, "
    "rows, systems, operations or random numbers per second, GB/s counted from the fewest bytes a solver must move, and their "
    "share of the machine's copy bandwidth. Without a problem, a set for this machine is run.\vA problem is "
    "module:method:backend:type:key=value,...; only the module is needed (rng, sort, heston, expou and bullet need a method too). "
    "Keys of tridiag: n, count or rows, nrhs, layout, kind, variant, seed. band: n, count or rows, nrhs, form, layout, "
    "kind, seed. smallsym: n, count or bytes (of A), nrhs, layout, "
    "storage, triangle, kind, parameter, variant, team, refine, outcome, seed. recur: n, count or rows, order, form, layout, constant, "
    "direction, kind, variant, threads, groups, phase, seed. symindef: n, kind, storage, triangle, alpha, growth, pairs, variant, seed. "
    "sort: n, count or keys, ratio, values, index, direction, kind, variant, seed. heston: steps, paths, greeks, variant, math, "
    "seed. expou: steps, paths, greeks, seed. bullet: dates, paths, options, nx, steps, greeks, variant, math, seed. rng: count, "
    "n, lambda, alpha, df, variant, layout, seed, math. Lists are joined by +, `all' stands for every value; numbers may be "
    "written as 1e5 or 2^25.\n\n"
    "Example:\n"
    "  shoal bench tridiag:all::f32:n=64+256,count=1e5 --peers\n"
    "  shoal bench smallsym:ldlt::f32:n=8+16+32,bytes=2^29,outcome=all --peers\n"
    "  shoal bench symindef:complete::f64:n=1024+4096,storage=all --peers\n"
    "  shoal bench rng:normal::f32:math=all rng:poisson:::lambda=1+64+1000 --peers";

static const char verify_doc[] =
    "Solves each problem, then checks the answer independently of the library: the residual of every system (a stated sample of "
    "very large batches) in twice double precision, its status, and the residual that the solver reports. Random numbers are "
    "compared bit by bit with those of fills in pieces and of the CPU, and their mean and variance are tested. The exit code is 1 "
    "if a system has no answer, a residual or factorization error is above the limit of its module, a price is too many standard "
    "errors from formula or quadrature, or a random number is wrong. docs/cli.md lists the limits.\vA problem is "
    "module:method:backend:type:key=value,...; see `shoal bench --help'.\n\n"
    "Example:\n"
    "  shoal verify tridiag:all::f32+f64:n=64+255,count=1000\n"
    "  shoal verify rng:all::all";
/* clang-format on */

static const char *const cpu_set[] = { "tridiag:all::f64+f32:n=16+64+256+1024,rows=2^21", NULL };
static const char *const cuda_set[] = {
    "tridiag:auto+thomas+cr+pcr+hybrid+lupp::f64+f32:n=64+256+512+1024,rows=2^25,layout=all", NULL
};

/* Progress: the program's remarks ("shoal: ..."), not with --quiet. */
static void note(void *c, const char *text) { cli_note(c, "%s", text); }

void cli_bench_begin(cli *c, bench_session *s) {
    bench_session_begin(
        s, &(shoal_options){ .backend = c->backend, .device = c->device, .threads = c->threads });
    s->rules.stop = cli_interrupted;
    s->note = note;
    s->note_to = c;
}

static void step(void *to, const char *text) {
    cli_bench_watch *watch = to;
    (void)text;
    cli_progress_step(&watch->bar, ++watch->done);
}

void cli_bench_watch_begin(cli_bench_watch *watch, const cli *c, bench_session *s,
                           const char *label, int64_t cases) {
    watch->done = 0;
    cli_progress_begin(&watch->bar, c, label, cases);
    s->note = step;
    s->note_to = watch;
}

int cli_bench_problem(cli *c, const char *who, const char *text, bench_problems *list) {
    io_error err;
    bench_defaults defaults = { .backend = c->backend,
                                .seed = c->seed,
                                .math = c->fast_math ? "fast" : "exact" };
    int status = bench_problem_parse(text, &defaults, list, &err);
    if (status == IO_OK) return CLI_OK;
    fprintf(stderr, "%s: %s\n", who, err.text);
    return status == IO_E_MEMORY ? CLI_UNAVAILABLE : CLI_USAGE;
}

/* A note if --math fast was given and concerns none of the problems. */
static void note_math(const cli *c, const bench_problems *list) {
    for (int i = 0; i < list->count; i++)
        if (list->items[i].math == SHOAL_FAST) return;
    cli_note_no_fast_math(c);
}

int cli_bench_code(const bench_session *s, int result) {
    if (result == BENCH_STOPPED) return CLI_INTERRUPTED;
    if (result == BENCH_OK) return bench_all_passed(s) ? CLI_OK : CLI_FAILED;
    bool usage = s->why == SHOAL_E_ARG || s->why == SHOAL_E_METHOD;
    return cli_fail(usage ? CLI_USAGE : CLI_UNAVAILABLE, "%s", s->message);
}

bool cli_bench_is_result(int code) {
    return code == CLI_OK || code == CLI_FAILED || code == CLI_INVALID || code == CLI_INTERRUPTED;
}

/* What the JSON of verify, of bench and of a saved run have in common. */
static void json_members(io_json *j, const cli *c, const bench_session *s, int code) {
    int64_t failed = 0, warned = 0, wrong = 0;
    double largest = s->row_count > 0 ? 0 : NAN;
    for (int i = 0; i < s->row_count; i++) {
        const bench_check *check = &s->rows[i].check;
        if (strcmp(s->rows[i].who, "Shoal") != 0) continue;
        failed += check->failed, warned += check->warned, wrong += check->wrong;
        if (!(check->max_residual <= largest) && !isnan(largest)) /* NaN, unknown, stays */
            largest = check->max_residual;
    }
    io_json_uint(j, "seed", c->seed);
    if (!cli_bench_is_result(code)) io_json_string(j, "error", s->message);
    io_json_bool(j, "verified",
                 cli_bench_is_result(code) && s->row_count > 0 && bench_all_passed(s));
    io_json_int(j, "failed", failed);
    io_json_int(j, "warned", warned);
    io_json_int(j, "wrong", wrong);
    io_json_double(j, "max_residual", largest);
    bench_json(s, j);
}

/* Prints the session, as JSON or as that table, if `code` is one that has a result (success, a
 * numerical failure, Ctrl-C) or an error came after the first rows. Returns the exit code. */
static int print(cli *c, const bench_session *s, const char *command,
                 void (*table)(const bench_session *s, FILE *file), int code) {
    if (!cli_bench_is_result(code) && s->row_count == 0) return code;
    if (!c->json) {
        table(s, stdout);
        return code;
    }
    json_members(cli_json_begin(c, command), c, s, code);
    return cli_json_end(c, code);
}

/* "tridiag-nvidia-h200": a file name without surprises. */
static void file_name(const arguments *a, const cli *c, const bench_session *s, char *path,
                      size_t size) {
    char device[64] = "";
    size_t used = 0;
    for (const char *at = c->machine.device; *at && used + 1 < sizeof device; at++)
        if (isalnum((unsigned char)*at))
            device[used++] = (char)tolower((unsigned char)*at);
        else if (used > 0 && device[used - 1] != '-')
            device[used++] = '-';
    while (used > 0 && device[used - 1] == '-') device[--used] = 0;
    if (a->name)
        snprintf(path, size, "%s/%s.json", a->save, a->name);
    else
        snprintf(path, size, "%s/%s-%s.json", a->save, s->rows[0].problem.module, device);
}

static int save(const arguments *a, cli *c, const bench_session *s, int code) {
    char path[4096];
    io_out *out;
    io_error err;
    io_json json;
    file_name(a, c, s, path, sizeof path);
    int status = bench_make_parents(path, &err);
    if (status == IO_OK) status = io_out_open(path, &out, &err);
    if (status != IO_OK) return cli_io(IO_E_WRITE, &err);
    io_json_begin(&json, io_out_file(out), 1);
    io_json_object(&json, NULL);
    cli_json_head(&json, c, "bench");
    json_members(&json, c, s, code);
    io_json_double(&json, "seconds", cli_now() - c->start);
    io_json_close(&json);
    status = io_json_end(&json, &err);
    if (status == IO_OK)
        status = io_out_commit(out, &err);
    else
        io_out_abandon(out);
    if (status == IO_OK) cli_note(c, "wrote %s", path);
    return status == IO_OK ? CLI_OK : cli_io(IO_E_WRITE, &err);
}

/* Compares with kept runs, if that was asked for. */
static int against(cli *c, const bench_kept *kept, bench_session *s, int code) {
    int slower;
    if (bench_against(s, kept, &slower) == 0) cli_note(c, "no row of this run has a kept one");
    return code == CLI_OK && slower > 0 ? CLI_INVALID : code;
}

/* Before anything is measured: --save can be made, or takes a file. */
static int check_save(const arguments *a) {
    char path[4096];
    if (!a->save) return CLI_OK;
    snprintf(path, sizeof path, "%s/%s.json", a->save, a->name ? a->name : "shoal");
    return cli_check_made(path);
}

/* What verify has no option for is 0. */
static int run(cli *c, const arguments *a, const char *who, bool measured) {
    const char *const *texts = strcmp(c->machine.backend, "cuda") == 0 ? cuda_set : cpu_set;
    const int parts = measured ? BENCH_TIME | (a->peers ? BENCH_PEERS : 0) : 0;
    bench_session s;
    bench_problems list = { 0 };
    bench_kept kept = { 0 };
    io_error err;
    int code = CLI_OK;
    cli_bench_begin(c, &s);
    if (a->against) {
        const bench_place *cpu = bench_session_place(&s, "cpu");
        const char *const devices[] = { c->machine.device, cpu ? cpu->machine.device : "" };
        code = cli_io(bench_kept_read(a->against, devices, &kept, &err), &err);
    }
    if (code == CLI_OK && a->against && kept.count == 0)
        code =
            cli_fail(CLI_INPUT, "%s: no timed rows of %s; `shoal bench --save` writes such files",
                     a->against, c->machine.device);
    if (a->repeat) s.rules.samples = a->repeat, s.rules.exact = true;
    for (int i = 0; i < a->count && code == CLI_OK; i++)
        code = cli_bench_problem(c, who, a->problems[i], &list);
    for (int i = 0; a->count == 0 && i < kept.count && code == CLI_OK; i++)
        code = cli_bench_problem(c, who, kept.rows[i].problem, &list);
    for (int i = 0; a->count == 0 && !a->against && texts[i] && code == CLI_OK; i++)
        code = cli_bench_problem(c, who, texts[i], &list);
    if (code == CLI_OK) code = check_save(a);
    if (code == CLI_OK) {
        note_math(c, &list);
        cli_bench_watch watch = { .done = 0 };
        if (!measured)
            cli_bench_watch_begin(&watch, c, &s, "checking",
                                  list.count); /* the table has the rest */
        code = cli_bench_code(&s, bench_run(&s, &list, parts));
        cli_progress_end(&watch.bar);
        if (a->against) code = against(c, &kept, &s, code);
        if (a->save && s.row_count > 0) {
            int saved = save(a, c, &s, code);
            if (saved != CLI_OK) code = saved;
        }
        code = measured ? print(c, &s, "bench", bench_table, code)
                        : print(c, &s, "verify", bench_check_table, code);
        if (a->against && !c->json) bench_against_table(&s, stdout);
    }
    bench_kept_free(&kept);
    bench_problems_free(&list);
    bench_session_end(&s);
    return code;
}

static int parse_and_run(cli *c, const cli_command *command, int argc, char **argv) {
    arguments a = { .problems = calloc((size_t)argc + 1, sizeof *a.problems) };
    if (!a.problems) return cli_no_memory();
    int code = cli_parse(c, command, argc, argv, &a);
    if (code == CLI_OK) code = cli_open(c);
    if (code == CLI_OK) code = run(c, &a, argv[0], command == &bench_command);
    free(a.problems);
    return code;
}

static int bench(cli *c, int argc, char **argv) {
    return parse_and_run(c, &bench_command, argc, argv);
}

static int verify(cli *c, int argc, char **argv) {
    return parse_and_run(c, &verify_command, argc, argv);
}

const cli_command bench_command = {
    "bench",
    "check answers, then measure the speed, also of other libraries",
    .args = "[PROBLEM...]",
    .doc = bench_doc,
    .run = bench,
    .tables = { { bench_options, 0 } }
};
const cli_command verify_command = { "verify",
                                     "solve problems and check the answers independently",
                                     .args = "PROBLEM...",
                                     .doc = verify_doc,
                                     .run = verify,
                                     .tables = { { verify_options, 0 } } };
