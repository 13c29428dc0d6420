/* SPDX-License-Identifier: Apache-2.0
 *
 * dataset_merge.c - data sets out of complete files of rows (dataset_file.c): as .csv, whose lines are theirs,
 * as .npy or .h5, an array of rows and columns; and `shoal merge-parts` of such files.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dataset.h"
#include "io/file.h"
#include "io/hdf5.h"
#include "io/npy.h"
#include "io/text.h"

int dataset_check_output(const char *output) {
    if (cli_ends_in(output, ".csv") || cli_ends_in(output, ".npy")) return CLI_OK;
    if (!cli_ends_in(output, ".h5"))
        return cli_fail(CLI_USAGE, "-o: '%s' ends in none of .csv, .npy and .h5", output);
    return io_h5_available() ? CLI_OK
                             : cli_fail(CLI_UNAVAILABLE, "-o: this build has no HDF5: take .npy");
}

/* What is done with the lines of a file from its header on. */
typedef int use_line(void *of, const char *path, int64_t line, const char *text);

static int each_line(const char *path, use_line *use, void *of) {
    FILE *file;
    int64_t size;
    io_error err;
    char *text = NULL;
    size_t room = 0;
    int code = cli_io(io_file_open(path, &file, &size, &err), &err);
    if (code != CLI_OK) return code;
    for (int64_t line = 1; code == CLI_OK && getline(&text, &room, file) > 0; line++)
        if (line > 1) code = use(of, path, line, text);
    if (code == CLI_OK && ferror(file)) code = cli_fail(CLI_INPUT, "%s: cannot be read", path);
    free(text);
    fclose(file);
    return code;
}

typedef struct sink {
    FILE *file;   /* of a .csv       */
    double *data; /* of the others   */
    int64_t rows, most;
    bool header; /* has been written  */
} sink;

static int to_text(void *of, const char *path, int64_t line, const char *text) {
    sink *s = of;
    (void)path;
    if (line > 2 || !s->header) fputs(text, s->file);
    s->header = true, s->rows += line > 2;
    return CLI_OK;
}

static int to_numbers(void *of, const char *path, int64_t line, const char *text) {
    sink *s = of;
    if (line == 2) return CLI_OK;
    bool good = s->rows < s->most;
    for (int k = 0; k < DATASET_FIELDS && good; k++) {
        const size_t length = strcspn(text, ",\n");
        good = io_text_double(text, length, &s->data[s->rows * DATASET_FIELDS + k]);
        text += length + (text[length] != 0);
    }
    s->rows += good;
    return good ? CLI_OK
                : cli_fail(CLI_INPUT, "%s:%lld: not a row of a data set", path, (long long)line);
}

static int write_text(const char *output, const char *const *paths, int64_t count) {
    io_error err;
    io_out *out;
    int code = cli_io(io_out_open(output, &out, &err), &err);
    if (code != CLI_OK) return code;
    sink s = { .file = io_out_file(out) };
    for (int64_t i = 0; i < count && code == CLI_OK; i++) code = each_line(paths[i], to_text, &s);
    if (code == CLI_OK) return cli_io(io_out_commit(out, &err), &err);
    io_out_abandon(out);
    return code;
}

int dataset_write(const char *output, const char *const *paths, int64_t count, int64_t rows) {
    if (cli_ends_in(output, ".csv")) return write_text(output, paths, count);
    io_error err;
    io_array array;
    const int64_t shape[2] = { rows, DATASET_FIELDS };
    int code = cli_io(io_array_create(IO_F8, 2, shape, &array, &err), &err);
    sink s = { .data = array.data, .most = rows };
    for (int64_t i = 0; i < count && code == CLI_OK; i++)
        code = each_line(paths[i], to_numbers, &s);
    if (code == CLI_OK && cli_ends_in(output, ".npy"))
        code = cli_io(io_npy_write(output, &array, &err), &err);
    else if (code == CLI_OK) {
        const io_h5_item item = { "data", &array };
        code = cli_io(io_h5_write(output, &item, 1, &err), &err);
    }
    io_array_free(&array);
    return code;
}

/* ---- parts ----------------------------------------------------------------------------------- */

static const char word[] = "shoal_dataset ";

bool dataset_is_part(const char *path) {
    char begin[sizeof word] = "";
    FILE *file = fopen(path, "r");
    if (!file) return false;
    const size_t got = fread(begin, 1, sizeof word - 1, file);
    fclose(file);
    return got == sizeof word - 1 && memcmp(begin, word, got) == 0;
}

void dataset_note_missing(const cli *c, int64_t missing) {
    if (missing > 0)
        cli_note(c, "rows without a price, NaN in the file, which shoal train refuses: %lld",
                 (long long)missing);
}

typedef struct part {
    const char *path;
    char line[DATASET_LINE + 64]; /* its options, without the part */
    dataset_part of;
} part;

static int not_a_part(const char *path, const char *why) {
    return cli_fail(CLI_INPUT, "%s:1: not a part of a data set: %s", path, why);
}

/* The first line: options that this program writes as they stand there, and which part it is. */
static int read_head(const char *path, part *p) {
    char again[DATASET_LINE];
    dataset_words w;
    p->path = path;
    errno = 0;
    FILE *file = fopen(path, "r");
    const bool got = file && fgets(p->line, sizeof p->line, file);
    const int reason = got ? 0 : errno;
    if (file) fclose(file);
    if (reason) return cli_fail(CLI_INPUT, "%s: cannot read: %s", path, strerror(reason));
    if (!got || strncmp(p->line, word, sizeof word - 1) != 0)
        return not_a_part(path, "its first line is no line of options");
    if (!dataset_parse(p->line, &p->of)) return not_a_part(path, "its first line lacks an option");
    if (p->of.shards < 1 || p->of.shards > 1000000 || p->of.shard < 1 || p->of.shard > p->of.shards)
        return not_a_part(path, "its first line does not say which part it is");
    char *shard = strstr(p->line, " shard="); /* a tab before it has been read like a blank */
    if (!shard) return not_a_part(path, "its first line has no blank before shard=");
    *shard = 0;
    dataset_identity(&p->of.opts, again);
    if (dataset_differ(p->line, again, &w))
        return cli_fail(CLI_INPUT, "%s:1: it has '%.*s' where this program writes '%.*s'", path,
                        w.length, w.one, w.other_length, w.other);
    return CLI_OK;
}

static int by_shard(const void *a, const void *b) {
    const int64_t x = ((const part *)a)->of.shard, y = ((const part *)b)->of.shard;
    return (x > y) - (x < y);
}

static int check_parts(const part *p, int count) {
    const int64_t shards = p[0].of.shards;
    for (int i = 0; i < count; i++) {
        dataset_words w;
        if (dataset_differ(p[i].line, p[0].line, &w))
            return cli_fail(CLI_INPUT,
                            "%s:1: it has '%.*s' where %s has '%.*s': parts of two data sets",
                            p[i].path, w.length, w.one, p[0].path, w.other_length, w.other);
        if (p[i].of.shards != shards)
            return cli_fail(CLI_INPUT, "%s:1: a part of %lld, but %s is one of %lld", p[i].path,
                            (long long)p[i].of.shards, p[0].path, (long long)shards);
        if (i > 0 && p[i].of.shard == p[i - 1].of.shard)
            return cli_fail(CLI_INPUT, "%s and %s: part %lld twice", p[i - 1].path, p[i].path,
                            (long long)p[i].of.shard);
        if (p[i].of.shard != i + 1)
            return cli_fail(CLI_INPUT, "part %d of %lld is missing", i + 1, (long long)shards);
    }
    return count == shards
               ? CLI_OK
               : cli_fail(CLI_INPUT, "part %d of %lld is missing", count + 1, (long long)shards);
}

/* Every row of every part, beside the design that the first line promises. */
static int verify_parts(cli *c, const part *p, int count, int64_t *missing) {
    shoal_dataset *plan = NULL;
    c->backend = "cpu";
    int code = cli_open(c);
    if (code == CLI_OK && shoal_dataset_create(c->ctx, &p[0].of.opts, &plan) != SHOAL_OK)
        code = cli_fail(CLI_INPUT, "%s:1: %s", p[0].path, shoal_message(c->ctx));
    for (int i = 0; i < count && code == CLI_OK; i++) {
        dataset_work w = { .rows = 0 };
        code = dataset_verify(p[i].path, &p[i].of, plan, &w);
        *missing += w.missing;
        dataset_close(&w);
    }
    shoal_dataset_free(plan);
    return code;
}

static int print_merged(cli *c, const part *p, int count, const char *output, int64_t missing) {
    const int64_t samples = p[0].of.opts.samples;
    dataset_note_missing(c, missing);
    if (!c->json) {
        printf("%s: %lld rows out of %d parts\n", output, (long long)samples, count);
        return CLI_OK;
    }
    io_json *j = cli_json_begin(c, "merge-parts");
    io_json_int(j, "samples", samples);
    io_json_int(j, "parts", count);
    io_json_int(j, "without_price", missing);
    io_json_string(j, "output", output);
    return cli_json_end(c, CLI_OK);
}

int dataset_merge(cli *c, const char *const *paths, int count, const char *output) {
    if (!output) return cli_fail(CLI_USAGE, "parts of a data set need -o: where to write it");
    int64_t missing = 0;
    int code = dataset_check_output(output);
    part *p = calloc((size_t)count, sizeof *p);
    const char **sorted = calloc((size_t)count, sizeof *sorted);
    if (code == CLI_OK && (!p || !sorted)) code = cli_no_memory();
    for (int i = 0; i < count && code == CLI_OK; i++) {
        if (cli_same_file(output, paths[i]))
            code = cli_fail(CLI_USAGE, "-o: '%s' is an input: it would be overwritten", output);
        if (code == CLI_OK) code = read_head(paths[i], &p[i]);
    }
    if (code == CLI_OK) {
        qsort(p, (size_t)count, sizeof *p, by_shard);
        code = check_parts(p, count);
    }
    if (code == CLI_OK) code = verify_parts(c, p, count, &missing);
    for (int i = 0; i < count && code == CLI_OK; i++) sorted[i] = p[i].path;
    if (code == CLI_OK) code = dataset_write(output, sorted, count, p[0].of.opts.samples);
    if (code == CLI_OK) code = print_merged(c, p, count, output, missing);
    free(p);
    free(sorted);
    return code;
}
