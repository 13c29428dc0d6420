/* SPDX-License-Identifier: Apache-2.0
 *
 * units.c - Monte Carlo commands in units: their inputs, the files of --shard, and merge-parts.
 */
#include "units.h"

#include <stdlib.h>
#include <string.h>

#include "io/file.h"
#include "ranks.h"

/* clang-format off */
#define AT(member) CLI_AT(unit_settings, member)
#define UNLESS     "compare shard"
const cli_option unit_options[] = {
    { .kind = OPT_HEADING, .group = 90, .help = "Long runs (docs/scale.md):" },
    { "checkpoint", OPT_TEXT,   AT(checkpoint), "DIR",    90, "keep finished units in DIR; the same command continues", .without = UNLESS,
      .more = "DIR is created if needed. It belongs to one command, number of units, version of Shoal and state of the input files; other units are refused. Delete it after the run." },
    { "units",      OPT_INT,    AT(units),      "N",      90, "units of work that --checkpoint, --devices and mpirun hand out", 1, SHOAL_UNITS_MOST, .usual = "256, or fewer if 256 would be too small; of a CVA on several GPUs 8,192 outer paths each, 8 to 256 units", .without = UNLESS },
    { "scale",      OPT_OUTPUT, AT(scale),      "F.json", 90, "report which worker did which unit when: idle share, bytes, critical path", .without = UNLESS, .ends = "json" },
    { "scale-plot", OPT_OUTPUT, AT(plot),       "F.svg",  90, "the same as a picture", .without = UNLESS, .ends = "svg" },
    { 0 }
};
/* clang-format on */

/* ---- inputs ----------------------------------------------------------------------------------- */

typedef struct words_out {
    FILE *to;
    int words;
} words_out;

static void add_word(words_out *out, const char *word) {
    fwrite(word, 1, strlen(word) + 1, out->to);
    out->words++;
}

/* The command and its options in one form. False: no memory. */
static bool add_words(words_out *in, const cli *c, const unit_job *job) {
    bool lost = false;
    cli_row row;
    add_word(in, job->command->name);
    for (int i = 0; (row = cli_row_at(job->command, c, job->arguments, i)).option; i++) {
        if (!(row.option->in & IN_PART)) continue;
        const bool flag = row.option->kind == OPT_FLAG, set = cli_option_set(&row);
        char name[CLI_NAME], *value = cli_option_text(&row);
        snprintf(name, sizeof name, "--%s", row.option->name);
        if (value || (flag && set)) add_word(in, name);
        if (value) add_word(in, value);
        lost |= !flag && set && !value;
        free(value);
    }
    return !lost;
}

int units_inputs(const cli *c, const unit_job *job, unit_inputs *in) {
    char *words = NULL;
    size_t size = 0;
    words_out out = { .to = open_memstream(&words, &size) };
    *in = (unit_inputs){ NULL, 0 };
    if (!out.to) return cli_no_memory();
    bool good = add_words(&out, c, job);
    good = fclose(out.to) == 0 && good;
    out.to = open_memstream(&in->bytes, &in->size);
    if (out.to) {
        fprintf(out.to, "%d%c", out.words, 0);
        fwrite(words, 1, size, out.to);
        for (int i = 0; i < UNIT_TEXTS && job->text[i]; i++) add_word(&out, job->text[i]);
        good = fclose(out.to) == 0 && good;
    }
    free(words);
    return good && in->bytes ? CLI_OK : cli_no_memory();
}

/* ---- runs ------------------------------------------------------------------------------------- */

bool units_wanted(const cli *c, const unit_settings *s) {
    return c->parts || c->devices || s->checkpoint || s->scale || s->plot || s->units > 0 ||
           ranks_count() > 1;
}

int units_make(cli *c, const unit_job *job, void *plan, int64_t n, shoal_units **units) {
    unit_inputs in;
    int code = units_inputs(c, job, &in);
    const shoal_units_opts o = { .units = n, .inputs = in.bytes, .input_bytes = in.size };
    if (code == CLI_OK) code = cli_status(c, job->units(job->of, plan, &o, units));
    free(in.bytes);
    return code;
}

int units_write(cli *c, const unit_job *job, void *plan, int64_t shard, int64_t shards,
                const char *path, unit_file *out) {
    shoal_units *units = NULL;
    shoal_units_info info;
    io_error err;
    io_out *file;
    *out = (unit_file){ .path = path };
    int code = units_make(c, job, plan, shards, &units);
    if (code == CLI_OK) code = cli_status(c, shoal_units_describe(units, &info));
    if (code == CLI_OK && !(out->bytes = malloc(info.bytes)))
        code = cli_fail(CLI_UNAVAILABLE, "not enough memory: the part has %zu bytes", info.bytes);
    cli_catch_interrupt();
    if (code == CLI_OK)
        code = cli_status(c, shoal_units_run(units, shard - 1, 1, out->bytes, &out->size));
    shoal_units_free(units);
    if (code == CLI_OK)
        code = cli_status(c, shoal_units_read(c->ctx, out->bytes, out->size, &out->about));
    if (code != CLI_OK) return code;
    int status = io_out_open(path, &file, &err);
    if (status == IO_OK) {
        status = io_write(io_out_file(file), out->bytes, out->size, &err);
        status = io_out_end(file, status, &err);
    }
    return cli_io(status, &err);
}

static int read_part(cli *c, const char *path, unit_file *f);

/* The parts of merge-parts. The first one stays: its inputs are in use. */
static int add_files(cli *c, const unit_files *files, shoal_units *units) {
    int code = CLI_OK;
    for (int i = 0; i < files->count && code == CLI_OK; i++) {
        unit_file *f = &files->file[i];
        if (!f->bytes) code = read_part(c, f->path, f);
        if (code != CLI_OK) break;
        const shoal_status s = shoal_units_add(units, f->bytes, f->size);
        code = s == SHOAL_E_ARG
                   ? cli_fail(CLI_INPUT, "%s: not a part: %s", f->path, shoal_message(c->ctx))
                   : cli_status(c, s);
        if (i > 0) free(f->bytes), f->bytes = NULL;
    }
    return code;
}

int units_run(cli *c, const unit_job *job, void *plan, shoal_units **units) {
    const unit_files *files = c->parts;
    const int64_t n = !files         ? job->settings->units
                      : files->count ? files->file[0].about.units
                                     : files->units;
    *units = NULL;
    const int code = units_make(c, job, plan, n, units);
    if (code != CLI_OK) return code;
    if (!files) return units_work(c, job, *units);
    return files->count ? add_files(c, files, *units) : units_answer(c, *units);
}

double units_seconds(const shoal_units *units) {
    const shoal_units_trace *t = shoal_units_traces(units);
    shoal_units_info info = { 0 };
    double wall = 0;
    if (shoal_units_describe(units, &info) != SHOAL_OK) return 0;
    for (int64_t i = 0; t && i < info.units; i++) {
        if (t[i].worker < 0) return info.seconds;
        if (t[i].end > wall) wall = t[i].end;
    }
    return t ? wall : 0;
}

/* ---- merge-parts ------------------------------------------------------------------------------ */

static int bad_part(const char *path, const char *what) {
    return cli_fail(CLI_INPUT, "%s: not a part: %s", path, what);
}

static int read_part(cli *c, const char *path, unit_file *f) {
    io_error err;
    char *bytes = NULL;
    f->path = path;
    const int status = io_file_read(path, INT64_MAX, &bytes, &f->size, &err);
    if (status != IO_OK) return cli_io(status, &err);
    f->bytes = bytes;
    const shoal_status s = shoal_units_read(c->ctx, f->bytes, f->size, &f->about);
    if (s == SHOAL_E_ARG)
        return cli_fail(CLI_INPUT, "%s: %s; parts are written by --shard I/N -o PART", path,
                        shoal_message(c->ctx));
    if (s != SHOAL_OK) return cli_status(c, s);
    if (f->about.input_bytes == 0)
        return bad_part(path, "a unit of --checkpoint; its command merges them when it runs again");
    return strcmp(f->about.version, shoal_version()) == 0
               ? CLI_OK
               : bad_part(f->path, "it was written by another version of shoal");
}

static int by_unit(const void *a, const void *b) {
    const shoal_unit *x = &((const unit_file *)a)->about, *y = &((const unit_file *)b)->about;
    return (x->unit > y->unit) - (x->unit < y->unit);
}

/* All of one run, each once. */
static int check_parts(unit_file *file, int count) {
    const unit_file *one = file;
    for (int i = 1; i < count; i++)
        if (strcmp(one->about.digest, file[i].about.digest) != 0)
            return cli_fail(CLI_INPUT, "%s and %s are parts of different runs", one->path,
                            file[i].path);
    qsort(file, (size_t)count, sizeof *file, by_unit);
    for (int i = 0; i < count; i++) {
        const shoal_unit *u = &file[i].about;
        if (i > 0 && u->unit == file[i - 1].about.unit)
            return cli_fail(CLI_INPUT, "%s and %s are the same part, %lld of %lld",
                            file[i - 1].path, file[i].path, (long long)u->unit + 1,
                            (long long)u->units);
        if (u->unit != i) break;
        if (i + 1 == u->units) return CLI_OK;
    }
    int missing = 0;
    while (missing < count && file[missing].about.unit == missing) missing++;
    return cli_fail(CLI_INPUT, "part %d of %lld is missing", missing + 1,
                    (long long)one->about.units);
}

/* The next word of inputs, or NULL. */
static const char *next_word(const char **at, const char *end) {
    const char *word = *at, *zero = word < end ? memchr(word, 0, (size_t)(end - word)) : NULL;
    *at = zero ? zero + 1 : end;
    return zero ? word : NULL;
}

/* The option of a command that a word of a part names; NULL: parts have no such option. */
static const cli_option *option_of(const cli_command *command, const char *word) {
    cli_row row;
    for (int i = 0; (row = cli_row_at(command, NULL, NULL, i)).option; i++)
        if (row.option->in & IN_PART && strncmp(word, "--", 2) == 0 &&
            strcmp(word + 2, row.option->name) == 0)
            return row.option;
    return NULL;
}

enum { MAX_WORDS = 4096 };

/* The command of that name, among those that run in units. */
static const cli_command *command_of(const cli_command *k, const char *name) {
    const cli_command *found = NULL;
    for (const cli_command *const *below = k->below; below && *below && !found; below++)
        found = command_of(*below, name);
    for (const cli_table *t = k->tables; t->rows && !found; t++)
        if (t->rows == unit_options && strcmp(k->name, name) == 0) found = k;
    return found;
}

/* A command line as it is run. */
typedef struct words {
    char *argv[MAX_WORDS + 6], name[CLI_NAME + 16];
    int argc;
} words;

static int read_words(const cli *c, const char *path, const char *at, const char *end, words *w,
                      const cli_command **command, const char *text[UNIT_TEXTS]) {
    const char *first = next_word(&at, end), *name = next_word(&at, end);
    const int count = first ? atoi(first) : 0;
    if (!name || count < 1 || count > MAX_WORDS) return bad_part(path, "it names no command");
    *command = command_of(c->root, name);
    if (!*command) return bad_part(path, "this program has no such command");
    snprintf(w->name, sizeof w->name, "shoal %.*s", CLI_NAME, name);
    w->argv[w->argc++] = w->name;
    for (int i = 1; i < count; i++) {
        const char *word = next_word(&at, end);
        const cli_option *o = word ? option_of(*command, word) : NULL;
        if (!o) return bad_part(path, "it has an unknown argument");
        w->argv[w->argc++] = (char *)(uintptr_t)word;
        if (o->kind == OPT_FLAG) continue;
        word = ++i < count ? next_word(&at, end) : NULL;
        if (!word) return bad_part(path, "it has an unknown argument");
        w->argv[w->argc++] = (char *)(uintptr_t)word;
    }
    for (int i = 0; i < UNIT_TEXTS; i++) text[i] = next_word(&at, end);
    return at == end ? CLI_OK : bad_part(path, "its inputs do not end where they should");
}

int units_replay(cli *c, const char *path, const char *inputs, size_t size, unit_files *files,
                 const char *const *more) {
    const cli_command *command = NULL;
    words *w = calloc(1, sizeof *w);
    int code =
        w ? read_words(c, path, inputs, inputs + size, w, &command, files->text) : cli_no_memory();
    for (; code == CLI_OK && *more; more++) w->argv[w->argc++] = (char *)(uintptr_t)*more;
    if (code == CLI_OK) {
        snprintf(c->command, sizeof c->command, "%s", command->name);
        c->parts = files;
        code = command->run(c, w->argc, w->argv);
    }
    free(w);
    return code;
}

enum { KEPT = 1 << 26 }; /* bytes of parts that stay in memory between check and sum */

int units_merge(cli *c, const char *const *path, int count, const char *plot, const char *output) {
    unit_files files = { calloc((size_t)count, sizeof *files.file), count, 0, { NULL } };
    const char *more[5] = { NULL };
    int code = files.file ? cli_open(c) : cli_no_memory(), used = 0;
    size_t kept = 0;
    for (int i = 0; i < count && code == CLI_OK; i++) {
        unit_file *f = &files.file[i];
        code = read_part(c, path[i], f);
        if (code != CLI_OK || f->size <= KEPT - kept)
            kept += f->size;
        else
            free(f->bytes), f->bytes = NULL; /* to be read again */
    }
    if (code == CLI_OK) code = check_parts(files.file, count);
    if (code == CLI_OK && !files.file[0].bytes)
        code = read_part(c, files.file[0].path, &files.file[0]);
    if (plot) more[used++] = "--plot", more[used++] = plot;
    if (output) more[used++] = "--output", more[used++] = output;
    if (code == CLI_OK) {
        const shoal_unit *u = &files.file[0].about;
        code = units_replay(c, files.file[0].path, u->inputs, u->input_bytes, &files, more);
    }
    for (int i = 0; i < count && files.file; i++) free(files.file[i].bytes);
    free(files.file);
    return code;
}
