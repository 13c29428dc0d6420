/* SPDX-License-Identifier: Apache-2.0
 *
 * parts.c - parts of Monte Carlo commands: written with a checksum, read back, put in order.
 */
#include "parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "io/file.h"

#define CHECKED_FROM "{\n \"crc32\": \"" /* eight digits and what ends the line follow */
enum { MAX_BYTES = 64 << 20, MAX_NUMBERS = 2500000 }; /* a number has up to 26 bytes */
enum { HEAD = sizeof CHECKED_FROM - 1, DIGITS = 8, ENDS = 3 };

/* Fuzzers cannot guess a checksum: by libFuzzer's name for builds of theirs, any will do. */
static bool checksum_matches(const char *text, size_t size) {
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    (void)text, (void)size;
    return true;
#else
    char digits[DIGITS + 1] = "", *end;
    const size_t begin = HEAD + DIGITS + ENDS;
    if (size < begin || memcmp(text, CHECKED_FROM, HEAD) != 0) return false;
    memcpy(digits, text + HEAD, DIGITS);
    return strtoul(digits, &end, 16) == io_checksum(text + begin, size - begin) && !*end;
#endif
}

/* ---- words ------------------------------------------------------------------------------------ */

static void add_word(part_words *w, const char *text) {
    if (w->count + 2 > w->room) {
        const int room = w->room ? 2 * w->room : 64;
        char **more = realloc(w->word, (size_t)room * sizeof *more);
        w->lost |= !more;
        if (!more) return;
        w->word = more, w->room = room;
    }
    w->word[w->count] = strdup(text);
    w->lost |= !w->word[w->count];
    if (w->word[w->count]) w->word[++w->count] = NULL;
}

void part_words_of(part_words *w, const cli *c, const cli_command *command, const void *arguments) {
    cli_row row;
    for (int i = 0; (row = cli_row_at(command, c, arguments, i)).option; i++) {
        if (!(row.option->in & IN_PART)) continue;
        const bool flag = row.option->kind == OPT_FLAG, set = cli_option_set(&row);
        char name[CLI_NAME], *value = cli_option_text(&row);
        snprintf(name, sizeof name, "--%s", row.option->name);
        if (value || (flag && set)) add_word(w, name);
        if (value) add_word(w, value);
        w->lost |= !flag && set && !value;
        free(value);
    }
}

void part_words_free(part_words *w) {
    for (int i = 0; i < w->count; i++) free(w->word[i]);
    free(w->word);
}

/* ---- writing ---------------------------------------------------------------------------------- */

int part_check_size(int64_t rows, int64_t width) {
    if (width < 1 || rows <= MAX_NUMBERS / width) return CLI_OK;
    return cli_fail(CLI_USAGE, "--shard: a part of %lld rows of %lld numbers is too large; %s",
                    (long long)rows, (long long)width,
                    rows > 1 ? "make more parts"
                             : "and cannot be divided: a row is one unit of paths");
}

static void write_head(io_json *j, const part *p, const char *unit, const part_words *words) {
    io_json_string(j, "shoal_part", p->command);
    io_json_string(j, "version", shoal_version());
    io_json_array_line(j, "arguments");
    for (int i = 0; i < words->count; i++) io_json_string(j, NULL, words->word[i]);
    io_json_close(j);
    io_json_int(j, "shard", p->shard);
    io_json_int(j, "shards", p->shards);
    io_json_int(j, "first", p->first);
    io_json_int(j, unit, p->count);
}

/* "{\n", then the text that has a checksum. */
static int write_checked(const part *p, const char *text, size_t size, io_error *err) {
    io_out *out;
    const int status = io_out_open(p->path, &out, err);
    if (status != IO_OK) return status;
    fprintf(io_out_file(out), CHECKED_FROM "%08" PRIx32 "\",\n", io_checksum(text + 2, size - 2));
    fwrite(text + 2, 1, size - 2, io_out_file(out));
    return io_out_commit(out, err);
}

int part_write(const part *p, const char *unit, const part_words *words,
               void (*write)(io_json *j, const void *what), const void *what) {
    char *text = NULL;
    size_t size = 0;
    io_error err;
    io_json j;
    if (cli_interrupted()) return CLI_INTERRUPTED;
    FILE *memory = words->lost ? NULL : open_memstream(&text, &size);
    if (!memory) return cli_no_memory();
    io_json_begin(&j, memory, 1);
    io_json_object(&j, NULL);
    write_head(&j, p, unit, words);
    write(&j, what);
    io_json_close(&j);
    int status = io_json_end(&j, &err);
    if (fclose(memory) != 0) status = io_fail(&err, IO_E_MEMORY, "not enough memory");
    if (status == IO_OK) status = write_checked(p, text, size, &err);
    free(text);
    return cli_io(status, &err);
}

/* ---- reading ---------------------------------------------------------------------------------- */

bool part_is(const char *path, const char *command) {
    char head[256] = "", member[80];
    FILE *file = fopen(path, "r");
    if (!file) return false;
    const size_t size = fread(head, 1, sizeof head - 1, file);
    fclose(file);
    snprintf(member, sizeof member, "\"shoal_part\": \"%s\"", command);
    return strlen(head) == size && strstr(head, member);
}

int part_bad(const char *path, const char *what) {
    return cli_fail(CLI_INPUT, "%s: not a part: %s", path, what);
}

bool part_is_number(const io_json_value *v) {
    return v->kind == IO_JSON_DOUBLE || v->kind == IO_JSON_INT || v->kind == IO_JSON_UINT;
}

const char *part_string(const io_json_value *root, const char *key) {
    const io_json_value *v = io_json_get(root, key);
    return v && v->kind == IO_JSON_STRING ? v->string : NULL;
}

static bool read_whole(const io_json_value *root, const char *key, int64_t min, int64_t *value) {
    const io_json_value *v = io_json_get(root, key);
    *value = v && v->kind == IO_JSON_INT ? v->integer : -1;
    return *value >= min;
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

static bool known_words(const io_json_value *word, const cli_command *command) {
    for (; word; word = word->next) {
        const cli_option *o =
            word->kind == IO_JSON_STRING ? option_of(command, word->string) : NULL;
        if (!o) return false;
        if (o->kind == OPT_FLAG) continue;
        word = word->next; /* its value */
        if (!word || word->kind != IO_JSON_STRING) return false;
    }
    return true;
}

/* The tree, and whether the checksum is that of the text. */
static int read_text(const char *path, io_json_value **root, bool *sound) {
    char *text;
    size_t size;
    io_error err;
    int status = io_file_read(path, MAX_BYTES, &text, &size, &err);
    if (status != IO_OK) return cli_io(status, &err);
    *sound = checksum_matches(text, size);
    status = io_json_parse(path, text, size, root, &err);
    free(text);
    return status != IO_E_FORMAT
               ? cli_io(status, &err)
               : cli_fail(CLI_INPUT, "%s; parts are written by --shard I/N -o PART", err.text);
}

int part_read(const char *path, const cli_command *const *commands, const char *unit, part *p) {
    bool sound;
    p->path = path;
    const int code = read_text(path, &p->root, &sound);
    if (code != CLI_OK) return code;
    const io_json_value *words = io_json_get(p->root, "arguments");
    const char *version = part_string(p->root, "version");
    p->command = part_string(p->root, "shoal_part");
    if (!p->command) return part_bad(path, "it names no command");
    if (!version || strcmp(version, shoal_version()) != 0)
        return part_bad(path, "it was written by another version of shoal");
    if (!sound) return cli_fail(CLI_INPUT, "%s: damaged: the checksum does not match", path);
    while (*commands && strcmp(p->command, (*commands)->name) != 0) commands++;
    p->runs = *commands;
    if (!words || words->kind != IO_JSON_ARRAY) return part_bad(path, "it has no arguments");
    for (const io_json_value *w = words->first; w && !p->runs; w = w->next)
        if (w->kind != IO_JSON_STRING) return part_bad(path, "it has no arguments");
    if (p->runs && !known_words(words->first, p->runs))
        return part_bad(path, "it has an unknown argument");
    if (!read_whole(p->root, "shard", 1, &p->shard) ||
        !read_whole(p->root, "shards", 1, &p->shards) ||
        !read_whole(p->root, "first", 0, &p->first) || !read_whole(p->root, unit, 0, &p->count) ||
        p->shard > p->shards)
        return part_bad(path, "a number is missing");
    return CLI_OK;
}

/* ---- all of them ------------------------------------------------------------------------------ */

static bool same_text(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

static bool same_run(const part *a, const part *b) {
    const io_json_value *x = io_json_get(a->root, "arguments")->first;
    const io_json_value *y = io_json_get(b->root, "arguments")->first;
    for (; x && y && strcmp(x->string, y->string) == 0; x = x->next, y = y->next) {}
    return !x && !y && a->shards == b->shards && same_text(a->command, b->command) &&
           same_text(part_string(a->root, "book"), part_string(b->root, "book")) &&
           same_text(part_string(a->root, "market"), part_string(b->root, "market"));
}

static int by_shard(const void *a, const void *b) {
    const int64_t x = ((const part *)a)->shard, y = ((const part *)b)->shard;
    return (x > y) - (x < y);
}

int part_check(void *parts, size_t size, int count, int64_t *total) {
    const part *one = parts, *before = NULL;
    *total = 0;
    qsort(parts, (size_t)count, size, by_shard);
    for (int i = 0; i < count; i++) {
        const part *p = (const part *)(const void *)((const char *)parts + (size_t)i * size);
        if (!same_run(one, p))
            return cli_fail(CLI_INPUT, "%s and %s are parts of different runs", one->path, p->path);
        if (before && p->shard == before->shard)
            return cli_fail(CLI_INPUT, "%s and %s are the same part, %lld of %lld", before->path,
                            p->path, (long long)p->shard, (long long)p->shards);
        if (p->shard != i + 1)
            return cli_fail(CLI_INPUT, "part %d of %lld is missing", i + 1, (long long)p->shards);
        if (p->first != *total || p->count > INT64_MAX - *total)
            return part_bad(p->path, "it does not continue the part before it");
        *total += p->count;
        before = p;
    }
    if (count < one->shards)
        return cli_fail(CLI_INPUT, "part %d of %lld is missing", count + 1, (long long)one->shards);
    return CLI_OK;
}

int part_run(cli *c, const part *p, const char *plot, const char *output, const void *parts) {
    char name[80];
    part_words w = { 0 };
    if (!p->runs) return part_bad(p->path, "this program has no such command");
    snprintf(name, sizeof name, "shoal %s", p->command);
    add_word(&w, name);
    for (const io_json_value *x = io_json_get(p->root, "arguments")->first; x; x = x->next)
        add_word(&w, x->string);
    if (plot) add_word(&w, "--plot"), add_word(&w, plot);
    if (output) add_word(&w, "--output"), add_word(&w, output);
    snprintf(c->command, sizeof c->command, "%s", p->command);
    c->parts = parts;
    const int code = w.lost ? cli_no_memory() : p->runs->run(c, w.count, w.word);
    part_words_free(&w);
    return code;
}
