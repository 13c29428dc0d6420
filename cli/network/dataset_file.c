/* SPDX-License-Identifier: Apache-2.0
 *
 * dataset_file.c - the file that a data set grows in: text, so that what a killed program has written is there
 * to the last line, and can be gone on with.
 *
 *     shoal_dataset expou version=0.2.0 samples=20000 seed=1 design=sobol ... shard=1/1
 *     alpha,m,beta,y0,rho,maturity,strike,price,stderr,crc32
 *     0.3,-1.2,...,3.1e-05,89abcdef
 *
 * The first line has all that rows depend on. Rows that are found are compared with the design, and have a checksum:
 * the CRC-32 of the row before its last comma, exclusive or that of the first line. Complete files become a data set,
 * without checksums: a .csv with their lines, a .npy or .h5 with an array of rows and columns.
 */
#include "dataset.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "io/csv.h"
#include "io/file.h"
#include "io/hdf5.h"
#include "io/npy.h"

#define CHECKSUM "crc32" /* the last column */

/* The first line of a file. The options are those of a line that identity() makes again. */
typedef struct dataset_part {
    shoal_dataset_opts opts;
    int64_t shard, shards;
} dataset_part;

/* The first words in which two lines differ; false: in none. */
typedef struct dataset_words {
    const char *one, *other;
    int length, other_length;
} dataset_words;

/* The names of all columns: the parameters, price, stderr. */
typedef struct columns {
    const char *name[DATASET_FIELDS];
} columns;

static columns columns_of(int nu2) {
    columns h;
    for (int i = 0; i < SHOAL_DATASET_COLUMNS; i++) h.name[i] = shoal_dataset_column(nu2, i);
    h.name[SHOAL_DATASET_COLUMNS] = "price";
    h.name[SHOAL_DATASET_COLUMNS + 1] = "stderr";
    return h;
}

/* One line of all that rows depend on, without the part; the part, "shard=I/N", follows it in the file. */
static void identity(const shoal_dataset_opts *o, char line[DATASET_LINE]) {
    int used = snprintf(line, DATASET_LINE,
                        "shoal_dataset expou version=%s samples=%lld seed=%llu design=%s "
                        "target-se=%.17g paths=%lld refine=%d",
                        shoal_version(), (long long)o->samples, (unsigned long long)o->seed,
                        o->design, o->target, (long long)o->most_paths, o->refine);
    for (int i = 0; i < SHOAL_DATASET_COLUMNS; i++)
        used += snprintf(line + used, (size_t)(DATASET_LINE - used), " %s=%.17g:%.17g%s",
                         shoal_dataset_column(o->nu2, i), o->range[i].low, o->range[i].high,
                         o->range[i].log ? ":log" : "");
}

static bool parse_identity(const char *line, dataset_part *part) {
    shoal_dataset_opts *o = &part->opts;
    char version[32], design[8], name[16];
    long long samples, paths, shard, shards;
    unsigned long long seed;
    int used = 0;
    *part = (dataset_part){ .shards = 0 };
    if (sscanf(line,
               "shoal_dataset expou version=%31s samples=%lld seed=%llu design=%7s target-se=%lf "
               "paths=%lld refine=%d%n",
               version, &samples, &seed, design, &o->target, &paths, &o->refine, &used) != 7)
        return false;
    o->samples = samples, o->seed = seed, o->most_paths = paths;
    o->design = strcmp(design, "latin") == 0 ? "latin" : "sobol";
    for (int i = 0; i < SHOAL_DATASET_COLUMNS; i++) {
        shoal_range *r = &o->range[i];
        line += used;
        if (sscanf(line, " %15[^=]=%lf:%lf%n", name, &r->low, &r->high, &used) != 3) return false;
        for (int form = 0; i == 2 && form < 3; form++)
            if (strcmp(name, shoal_dataset_column(form, 2)) == 0) o->nu2 = form;
        r->log = strncmp(line + used, ":log", 4) == 0;
        used += r->log ? 4 : 0;
    }
    if (sscanf(line + used, " shard=%lld/%lld", &shard, &shards) != 2) return false;
    part->shard = shard, part->shards = shards;
    return true;
}

static bool differ(const char *one, const char *other, dataset_words *w) {
    for (;;) {
        w->one = one, w->other = other;
        w->length = (int)strcspn(one, " \n"), w->other_length = (int)strcspn(other, " \n");
        if (w->length != w->other_length || memcmp(one, other, (size_t)w->length) != 0) return true;
        one += w->length, other += w->length;
        if (*one != *other || *one != ' ') return *one != *other;
        one++, other++;
    }
}

static int mismatch(const char *path, const char *found, const char *wanted) {
    dataset_words w;
    if (!differ(found, wanted, &w) || /* or the words end otherwise, by a NUL */
        (w.length == w.other_length && memcmp(w.one, w.other, (size_t)w.length) == 0))
        return cli_fail(CLI_INPUT, "%s:1: it was written with other options", path);
    return cli_fail(
        CLI_INPUT,
        "%s:1: it has '%.*s', this command '%.*s'; remove the file, choose another name, "
        "or use --restart",
        path, w.length, w.one, w.other_length, w.other);
}

/* A price and its error, both of them NaN where there is none, as statistics. */
static void count_row(dataset_work *w, const shoal_dataset_opts *o, double price, double error) {
    if (price != price) {
        w->missing++;
        return;
    }
    w->worst = error > w->worst ? error : w->worst;
    w->sum += error, w->above += error > o->target;
}

static const char *fault_of(const double *value, const double *row, int k) {
    const double price = value[SHOAL_DATASET_COLUMNS];
    if (k < SHOAL_DATASET_COLUMNS) return value[k] == row[k] ? NULL : "not the value of the design";
    if (k == SHOAL_DATASET_COLUMNS)
        return price != price || (price >= 0 && price <= 1) ? NULL : "not from 0 to 1";
    if (price != price) return value[k] != value[k] ? NULL : "a number, but the price is missing";
    return value[k] >= 0 && value[k] - value[k] == 0 ? NULL : "not a standard error";
}

/* What ends a row of `length` bytes, after their last comma. */
typedef struct checksum {
    char text[10]; /* eight digits and a newline */
} checksum;

static checksum checksum_of(const dataset_work *w, const char *row, size_t length) {
    checksum c;
    snprintf(c.text, sizeof c.text, "%08" PRIx32 "\n", w->head ^ io_checksum(row, length));
    return c;
}

/* Fuzzers cannot guess a checksum: by libFuzzer's name for builds of theirs, any eight bytes will do. */
static bool checksum_matches(const dataset_work *w, const char *row, size_t length) {
    const char *const found = row + length + 1;
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    (void)w;
    return strlen(found) == 9;
#else
    return strcmp(found, checksum_of(w, row, length).text) == 0;
#endif
}

/* Row `number` of the file as it should be: the design's parameters, a price, an error, a checksum. */
static int check_row(dataset_work *w, const shoal_dataset_opts *o, const shoal_dataset *plan,
                     int64_t number, int64_t line, const char *text) {
    const columns h = columns_of(o->nu2);
    const char *const begin = text;
    double value[DATASET_FIELDS], row[SHOAL_DATASET_COLUMNS];
    if (shoal_dataset_design(plan, number, 1, row) != SHOAL_OK)
        return cli_fail(CLI_INPUT, "%s:%lld: more rows than the part has", w->path,
                        (long long)line);
    for (int k = 0; k < DATASET_FIELDS; k++) {
        const size_t length = strcspn(text, ",\n");
        const char *reason = "not a number";
        if (io_text_double(text, length, &value[k])) reason = fault_of(value, row, k);
        if (!reason && text[length] != ',')
            reason = "the line has fewer fields than there are columns";
        if (reason)
            return cli_fail(CLI_INPUT, "%s:%lld: column %s: %s", w->path, (long long)line,
                            h.name[k], reason);
        text += length + 1;
    }
    if (!checksum_matches(w, begin, (size_t)(text - begin) - 1))
        return cli_fail(CLI_INPUT, "%s:%lld: damaged: the checksum does not match", w->path,
                        (long long)line);
    count_row(w, o, value[SHOAL_DATASET_COLUMNS], value[DATASET_FIELDS - 1]);
    return CLI_OK;
}

/* The header of programs that wrote no checksums ends before the column of these. */
static int wrong_header(const dataset_work *w, const char *found, const char *header) {
    const size_t old = strlen(header) - strlen("," CHECKSUM "\n");
    if (strncmp(found, header, old) == 0 && strcmp(found + old, "\n") == 0)
        return cli_fail(CLI_INPUT,
                        "%s:2: no column " CHECKSUM ": an older version of shoal wrote it; run the "
                        "part again, or use --restart",
                        w->path);
    return cli_fail(CLI_INPUT, "%s:2: the header is not %.*s", w->path, (int)strlen(header) - 1,
                    header);
}

/* Counts and checks the rows of a file that was begun; *end is where the last whole line ends. */
static int read_back(dataset_work *w, const shoal_dataset_opts *o, const shoal_dataset *plan,
                     const char *first_line, int64_t first, int64_t end_row, off_t *end) {
    const columns h = columns_of(o->nu2);
    char header[256] = "", *text = NULL;
    size_t room = 0;
    ssize_t length;
    int code = CLI_OK;
    for (int k = 0; k < DATASET_FIELDS; k++) strcat(strcat(header, h.name[k]), ",");
    strcat(header, CHECKSUM "\n");
    *end = 0;
    for (int64_t line = 1; code == CLI_OK && (length = getline(&text, &room, w->file)) > 0;
         line++) {
        if (text[length - 1] != '\n') { /* it was cut off */
            if (line == 1 && strncmp(text, first_line, (size_t)length) != 0)
                code = mismatch(w->path, text, first_line);
            break;
        }
        if (line == 1) {
            if (strcmp(text, first_line) != 0) code = mismatch(w->path, text, first_line);
        } else if (line == 2) {
            if (strcmp(text, header) != 0) code = wrong_header(w, text, header);
        } else if (first + w->rows >= end_row) {
            code = cli_fail(CLI_INPUT, "%s:%lld: more rows than the part has", w->path,
                            (long long)line);
        } else {
            code = check_row(w, o, plan, first + w->rows, line, text);
            w->rows++;
        }
        *end += length;
    }
    if (code == CLI_OK && ferror(w->file))
        code = cli_fail(CLI_INPUT, "%s: %s", w->path, strerror(errno));
    free(text);
    return code;
}

static int fail(const dataset_work *w) {
    return cli_fail(CLI_OUTPUT, "%s: %s", w->path, strerror(errno));
}

/* Checks a part to its last row: the header, the parameters of the design, prices, errors, their number. */
static int verify(const char *path, const dataset_part *part, const shoal_dataset *plan,
                  dataset_work *w) {
    const shoal_dataset_opts *o = &part->opts;
    const int64_t first = o->samples * (part->shard - 1) / part->shards,
                  end = o->samples * part->shard / part->shards;
    char line[DATASET_LINE + 64];
    off_t good = 0;
    identity(o, line);
    snprintf(line + strlen(line), 64, " shard=%lld/%lld\n", (long long)part->shard,
             (long long)part->shards);
    w->path = strdup(path), w->file = fopen(path, "r");
    w->head = io_checksum(line, strlen(line));
    if (!w->path) return cli_no_memory();
    if (!w->file) return cli_fail(CLI_INPUT, "%s: %s", path, strerror(errno));
    const int code = read_back(w, o, plan, line, first, end, &good);
    if (code != CLI_OK) return code;
    const int64_t last = w->rows + 2;
    if (fseeko(w->file, 0, SEEK_END) != 0 || ftello(w->file) != good)
        return cli_fail(CLI_INPUT, "%s:%lld: the line is cut off; run the part again", path,
                        (long long)last + 1);
    return w->rows == end - first
               ? CLI_OK
               : cli_fail(CLI_INPUT, "%s:%lld: only %lld of %lld rows; run the part again", path,
                          (long long)last, (long long)w->rows, (long long)(end - first));
}

int dataset_open(dataset_work *w, const shoal_dataset_opts *o, const shoal_dataset *plan,
                 const char *part, int64_t first, int64_t end, bool restart) {
    char line[DATASET_LINE + 64];
    off_t good = 0;
    identity(o, line);
    snprintf(line + strlen(line), 64, " shard=%s\n", part);
    w->head = io_checksum(line, strlen(line));
    const int descriptor = open(w->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor < 0) return fail(w);
    w->file = fdopen(descriptor, "r+");
    if (!w->file) {
        close(descriptor);
        return fail(w);
    }
    if (flock(descriptor, LOCK_EX | LOCK_NB) != 0)
        return cli_fail(CLI_OUTPUT, "%s: another program is writing to it", w->path);
    if (!restart) {
        const int code = read_back(w, o, plan, line, first, end, &good);
        if (code != CLI_OK) return code;
    }
    const bool begun = good > (off_t)strlen(line); /* the header is there */
    if (fflush(w->file) != 0 || ftruncate(descriptor, begun ? good : 0) != 0 ||
        fseeko(w->file, 0, SEEK_END) != 0)
        return fail(w);
    if (!begun) {
        const columns h = columns_of(o->nu2);
        fputs(line, w->file);
        for (int k = 0; k < DATASET_FIELDS; k++) fprintf(w->file, "%s,", h.name[k]);
        fputs(CHECKSUM "\n", w->file);
    }
    return fflush(w->file) == 0 ? CLI_OK : fail(w);
}

/* Rows as text, each with its checksum. */
static void add_checked(dataset_work *w, const char *text) {
    for (size_t length; *text; text += length + 1) {
        length = strcspn(text, "\n");
        fwrite(text, 1, length, w->file);
        fprintf(w->file, ",%s", checksum_of(w, text, length).text);
    }
}

int dataset_append(dataset_work *w, const shoal_dataset_opts *o, int64_t count,
                   const double *parameters, const double *values) {
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (!memory) return cli_no_memory();
    for (int64_t i = 0; i < count; i++) {
        double row[DATASET_FIELDS];
        memcpy(row, parameters + i * SHOAL_DATASET_COLUMNS, SHOAL_DATASET_COLUMNS * sizeof *row);
        row[SHOAL_DATASET_COLUMNS] = values[i * SHOAL_DATASET_VALUES];
        row[SHOAL_DATASET_COLUMNS + 1] = values[i * SHOAL_DATASET_VALUES + 1];
        count_row(w, o, row[SHOAL_DATASET_COLUMNS], row[SHOAL_DATASET_COLUMNS + 1]);
        io_csv_row(memory, row, DATASET_FIELDS);
    }
    const bool complete = !ferror(memory);
    if (fclose(memory) != 0 || !complete) {
        free(text);
        return cli_no_memory();
    }
    add_checked(w, text);
    free(text);
    w->rows += count;
    return fflush(w->file) == 0 && !ferror(w->file) ? CLI_OK : fail(w);
}

void dataset_close(dataset_work *w) {
    if (w->file) fclose(w->file);
    free(w->path);
    *w = (dataset_work){ 0 };
}

/* ---- complete files --------------------------------------------------------------------------- */

int dataset_check_output(const char *output) {
    if (cli_ends_in(output, ".csv") || cli_ends_in(output, ".npy")) return CLI_OK;
    if (!cli_ends_in(output, ".h5"))
        return cli_fail(CLI_USAGE, "-o: '%s' does not end in .csv, .npy or .h5", output);
    return io_h5_available() ? CLI_OK
                             : cli_fail(CLI_UNAVAILABLE, "-o: this build has no HDF5; use .npy");
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
    const char *const last = strrchr(text, ',');
    if (line > 2 || !s->header)
        fprintf(s->file, "%.*s\n", last ? (int)(last - text) : 0, text); /* without its checksum */
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
        cli_note(c, "%s without a price: NaN in the file, which shoal train refuses",
                 CLI_COUNT(missing, "row"));
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
        return not_a_part(path, "its first line is not a line of options");
    if (!parse_identity(p->line, &p->of)) return not_a_part(path, "its first line lacks an option");
    if (p->of.shards < 1 || p->of.shards > 1000000 || p->of.shard < 1 || p->of.shard > p->of.shards)
        return not_a_part(path, "its first line does not contain the number of the part");
    char *shard = strstr(p->line, " shard="); /* a tab before it has been read like a blank */
    if (!shard) return not_a_part(path, "its first line has no blank before shard=");
    *shard = 0;
    identity(&p->of.opts, again);
    if (differ(p->line, again, &w))
        return cli_fail(CLI_INPUT, "%s:1: it has '%.*s', this version of shoal writes '%.*s'", path,
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
        if (differ(p[i].line, p[0].line, &w))
            return cli_fail(CLI_INPUT,
                            "%s:1: it has '%.*s', but %s has '%.*s': parts of two data sets",
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
        code = verify(p[i].path, &p[i].of, plan, &w);
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
        printf("%s: %s from %s\n", output, CLI_COUNT(samples, "row"), CLI_COUNT(count, "part"));
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
    if (!output) return cli_fail(CLI_USAGE, "-o is missing: where to write the data set");
    int64_t missing = 0;
    int code = dataset_check_output(output);
    part *p = calloc((size_t)count, sizeof *p);
    const char **sorted = calloc((size_t)count, sizeof *sorted);
    if (code == CLI_OK && (!p || !sorted)) code = cli_no_memory();
    for (int i = 0; i < count && code == CLI_OK; i++) {
        if (!c->force && cli_same_file(output, paths[i]))
            code = cli_fail(CLI_USAGE, "'%s' is an input; --force overwrites it", output);
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
