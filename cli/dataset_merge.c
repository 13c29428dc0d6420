/* SPDX-License-Identifier: Apache-2.0
 *
 * dataset_merge.c - data sets out of complete files of rows (dataset_file.c): as .csv, whose lines are theirs,
 * as .npy or .h5, an array of rows and columns; and `shoal merge-parts` of such files.
 */
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

typedef struct part {
    const char *path;
    char line[DATASET_LINE + 64]; /* its options, without the part */
    int64_t shard, shards, samples, rows;
} part;

static int count_row(void *of, const char *path, int64_t line, const char *text) {
    part *p = of;
    if (!strchr(text, '\n'))
        return cli_fail(CLI_INPUT, "%s:%lld: the line is cut off; run the part again", path,
                        (long long)line);
    p->rows += line > 2;
    return CLI_OK;
}

static int not_a_part(const char *path, const char *why) {
    return cli_fail(CLI_INPUT, "%s: not a part of a data set: %s", path, why);
}

static int read_part(const char *path, part *p) {
    p->path = path;
    FILE *file = fopen(path, "r");
    const bool got = file && fgets(p->line, sizeof p->line, file);
    if (file) fclose(file);
    if (!got || strncmp(p->line, word, sizeof word - 1) != 0)
        return not_a_part(path, "its first line is no line of options");
    char *shard = strstr(p->line, " shard="), *samples = strstr(p->line, " samples=");
    long long i = 0, n = 0, rows = -1;
    if (!shard || sscanf(shard, " shard=%lld/%lld", &i, &n) != 2 || i < 1 || i > n || !samples ||
        sscanf(samples, " samples=%lld", &rows) != 1 || rows < 0 || rows > SHOAL_DATASET_MOST ||
        n > 1000000)
        return not_a_part(path, "its first line does not say which part it is");
    *shard = 0;
    p->shard = i, p->shards = n, p->samples = rows;
    const int code = each_line(path, count_row, p);
    if (code != CLI_OK) return code;
    const int64_t whole = rows * i / n - rows * (i - 1) / n;
    return p->rows == whole
               ? CLI_OK
               : cli_fail(CLI_INPUT, "%s: it has %lld of its %lld rows; run the part again", path,
                          (long long)p->rows, (long long)whole);
}

static int by_shard(const void *a, const void *b) {
    const int64_t x = ((const part *)a)->shard, y = ((const part *)b)->shard;
    return (x > y) - (x < y);
}

static int check_parts(const part *p, int count) {
    for (int i = 0; i < count; i++) {
        if (strcmp(p[i].line, p[0].line) != 0 || p[i].shards != p[0].shards)
            return cli_fail(CLI_INPUT, "%s and %s: parts of two data sets", p[0].path, p[i].path);
        if (i > 0 && p[i].shard == p[i - 1].shard)
            return cli_fail(CLI_INPUT, "%s and %s: part %lld twice", p[i - 1].path, p[i].path,
                            (long long)p[i].shard);
        if (p[i].shard != i + 1)
            return cli_fail(CLI_INPUT, "part %d of %lld is missing", i + 1, (long long)p[0].shards);
    }
    return count == p[0].shards ? CLI_OK
                                : cli_fail(CLI_INPUT, "part %d of %lld is missing", count + 1,
                                           (long long)p[0].shards);
}

int dataset_merge(cli *c, const char *const *paths, int count, const char *output) {
    if (!output) return cli_fail(CLI_USAGE, "parts of a data set need -o: where to write it");
    int code = dataset_check_output(output);
    part *p = calloc((size_t)count, sizeof *p);
    const char **sorted = calloc((size_t)count, sizeof *sorted);
    if (code == CLI_OK && (!p || !sorted)) code = cli_fail(CLI_UNAVAILABLE, "not enough memory");
    for (int i = 0; i < count && code == CLI_OK; i++) code = read_part(paths[i], &p[i]);
    if (code == CLI_OK) {
        qsort(p, (size_t)count, sizeof *p, by_shard);
        code = check_parts(p, count);
    }
    for (int i = 0; i < count && code == CLI_OK; i++) sorted[i] = p[i].path;
    if (code == CLI_OK) code = dataset_write(output, sorted, count, p[0].samples);
    if (code == CLI_OK && c->json) {
        io_json *j = cli_json_begin(c, "merge-parts");
        io_json_int(j, "samples", p[0].samples);
        io_json_int(j, "parts", count);
        io_json_string(j, "output", output);
        code = cli_json_end(c, CLI_OK);
    } else if (code == CLI_OK) {
        printf("%s: %lld rows out of %d parts\n", output, (long long)p[0].samples, count);
    }
    free(p);
    free(sorted);
    return code;
}
