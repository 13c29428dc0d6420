/* SPDX-License-Identifier: Apache-2.0
 *
 * dataset_file.c - the file that a data set grows in: text, so that what a killed program has written is there
 * to the last line, and can be gone on with.
 *
 *     shoal_dataset expou 0.1.0 samples=20000 seed=1 design=sobol ... shard=1/1
 *     alpha,m,beta,y0,rho,maturity,strike,price,stderr
 *     0.3,-1.2,...
 *
 * The first line has all that rows depend on. Rows that are found are compared with the design.
 */
#include "dataset.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "io/csv.h"
#include "io/text.h"

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

void dataset_identity(const shoal_dataset_opts *o, char line[DATASET_LINE]) {
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

bool dataset_parse(const char *line, dataset_part *part) {
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
        if (i == 2) o->nu2 = strcmp(name, "nu2") == 0;
        r->log = strncmp(line + used, ":log", 4) == 0;
        used += r->log ? 4 : 0;
    }
    if (sscanf(line + used, " shard=%lld/%lld", &shard, &shards) != 2) return false;
    part->shard = shard, part->shards = shards;
    return true;
}

bool dataset_differ(const char *one, const char *other, dataset_words *w) {
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
    if (!dataset_differ(found, wanted, &w) || /* or the words end otherwise, by a NUL */
        (w.length == w.other_length && memcmp(w.one, w.other, (size_t)w.length) == 0))
        return cli_fail(CLI_INPUT, "%s:1: its options are not these", path);
    return cli_fail(CLI_INPUT,
                    "%s:1: it has '%.*s' where these options make '%.*s'; remove it, give it "
                    "another name, or say --restart",
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
    if (k < SHOAL_DATASET_COLUMNS)
        return value[k] == row[k] ? NULL : "not what the design has there";
    if (k == SHOAL_DATASET_COLUMNS)
        return price != price || (price >= 0 && price <= 1) ? NULL : "not from 0 to 1";
    if (price != price) return value[k] != value[k] ? NULL : "a number, where there is no price";
    return value[k] >= 0 && value[k] - value[k] == 0 ? NULL : "not a standard error";
}

/* Row `number` of the file as it should be: the design's parameters, a price and an error. */
static int check_row(dataset_work *w, const shoal_dataset_opts *o, const shoal_dataset *plan,
                     int64_t number, int64_t line, const char *text) {
    const columns h = columns_of(o->nu2);
    double value[DATASET_FIELDS], row[SHOAL_DATASET_COLUMNS];
    if (shoal_dataset_design(plan, number, 1, row) != SHOAL_OK)
        return cli_fail(CLI_INPUT, "%s:%lld: there are more rows than the part has", w->path,
                        (long long)line);
    for (int k = 0; k < DATASET_FIELDS; k++) {
        const size_t length = strcspn(text, ",\n");
        const char *reason = "not a number";
        if (io_text_double(text, length, &value[k])) reason = fault_of(value, row, k);
        if (!reason && text[length] != (k == DATASET_FIELDS - 1 ? '\n' : ','))
            reason = "the line has not as many fields as columns";
        if (reason)
            return cli_fail(CLI_INPUT, "%s:%lld: column %s: %s", w->path, (long long)line,
                            h.name[k], reason);
        text += length + 1;
    }
    count_row(w, o, value[SHOAL_DATASET_COLUMNS], value[DATASET_FIELDS - 1]);
    return CLI_OK;
}

/* Counts and checks the rows of a file that was begun; *end is where the last whole line ends. */
static int read_back(dataset_work *w, const shoal_dataset_opts *o, const shoal_dataset *plan,
                     const char *first_line, int64_t first, int64_t end_row, off_t *end) {
    const columns h = columns_of(o->nu2);
    char header[256] = "", *text = NULL;
    size_t room = 0;
    ssize_t length;
    int code = CLI_OK;
    for (int k = 0; k < DATASET_FIELDS; k++) {
        strcat(header, h.name[k]);
        strcat(header, k == DATASET_FIELDS - 1 ? "\n" : ",");
    }
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
            if (strcmp(text, header) != 0)
                code = cli_fail(CLI_INPUT, "%s:2: its header is not %.*s", w->path,
                                (int)strlen(header) - 1, header);
        } else if (first + w->rows >= end_row) {
            code = cli_fail(CLI_INPUT, "%s:%lld: there are more rows than the part has", w->path,
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

int dataset_verify(const char *path, const dataset_part *part, const shoal_dataset *plan,
                   dataset_work *w) {
    const shoal_dataset_opts *o = &part->opts;
    const int64_t first = o->samples * (part->shard - 1) / part->shards,
                  end = o->samples * part->shard / part->shards;
    char line[DATASET_LINE + 64];
    off_t good = 0;
    dataset_identity(o, line);
    snprintf(line + strlen(line), 64, " shard=%lld/%lld\n", (long long)part->shard,
             (long long)part->shards);
    w->path = strdup(path), w->file = fopen(path, "r");
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
               : cli_fail(CLI_INPUT,
                          "%s:%lld: it ends after %lld of its %lld rows; run the part again", path,
                          (long long)last, (long long)w->rows, (long long)(end - first));
}

int dataset_open(dataset_work *w, const shoal_dataset_opts *o, const shoal_dataset *plan,
                 const char *part, int64_t first, int64_t end, bool restart) {
    char line[DATASET_LINE + 64];
    off_t good = 0;
    dataset_identity(o, line);
    snprintf(line + strlen(line), 64, " shard=%s\n", part);
    const int descriptor = open(w->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor < 0) return fail(w);
    w->file = fdopen(descriptor, "r+");
    if (!w->file) {
        close(descriptor);
        return fail(w);
    }
    if (flock(descriptor, LOCK_EX | LOCK_NB) != 0)
        return cli_fail(CLI_OUTPUT, "%s: another program is at work on it", w->path);
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
        io_csv_header(w->file, h.name, DATASET_FIELDS);
    }
    return fflush(w->file) == 0 ? CLI_OK : fail(w);
}

int dataset_append(dataset_work *w, const shoal_dataset_opts *o, int64_t count,
                   const double *parameters, const double *values) {
    for (int64_t i = 0; i < count; i++) {
        double row[DATASET_FIELDS];
        memcpy(row, parameters + i * SHOAL_DATASET_COLUMNS, SHOAL_DATASET_COLUMNS * sizeof *row);
        row[SHOAL_DATASET_COLUMNS] = values[i * SHOAL_DATASET_VALUES];
        row[SHOAL_DATASET_COLUMNS + 1] = values[i * SHOAL_DATASET_VALUES + 1];
        count_row(w, o, row[SHOAL_DATASET_COLUMNS], row[SHOAL_DATASET_COLUMNS + 1]);
        io_csv_row(w->file, row, DATASET_FIELDS, 17);
    }
    w->rows += count;
    return fflush(w->file) == 0 && !ferror(w->file) ? CLI_OK : fail(w);
}

void dataset_close(dataset_work *w) {
    if (w->file) fclose(w->file);
    free(w->path);
    *w = (dataset_work){ 0 };
}
