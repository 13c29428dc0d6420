/* SPDX-License-Identifier: Apache-2.0
 *
 * dataset.h - what the files of `shoal dataset` share.
 */
#ifndef CLI_DATASET_H
#define CLI_DATASET_H

#include "cli/common/cli.h"

enum { DATASET_FIELDS = SHOAL_DATASET_COLUMNS + 2, DATASET_LINE = 1024 };

/* Prices of rows first .. first + count - 1, [count][7] parameters, into [count][3] values; an exit code. */
int dataset_price(cli *c, shoal_dataset *plan, int64_t first, int64_t count,
                  const double *parameters, double *values);

/* Reads FILE, or the text that stands for it unless that is NULL: columns parameter, low, high and maybe scale, over the
 * ranges in opts. *kept is the text, from malloc. */
int dataset_read_ranges(const char *path, const char *text, char **kept, shoal_dataset_opts *opts);

/* A file of rows that grows: a line of options, the header, then rows with checksums (dataset_file.c). */
typedef struct dataset_work {
    char *path; /* from malloc */
    FILE *file;
    uint32_t head;     /* checksum of its first line          */
    int64_t rows;      /* in it                               */
    int64_t above;     /* of them with an error above target  */
    int64_t missing;   /* of them without a price             */
    double worst, sum; /* of their errors: largest, sum       */
} dataset_work;

/* Opens the file, or begins it. Rows that are there must be the first ones from `first` on of the plan; a
 * last line that was cut off is dropped. CLI_INPUT with the reason where the file is of other options. */
int dataset_open(dataset_work *w, const shoal_dataset_opts *o, const shoal_dataset *plan,
                 const char *part, int64_t first, int64_t end, bool restart);
/* Appends rows, [count][7] and [count][3], and hands them to the system. */
int dataset_append(dataset_work *w, const shoal_dataset_opts *o, int64_t count,
                   const double *parameters, const double *values);
void dataset_close(dataset_work *w);

/* Writes the rows of complete files, in their order, to FILE.csv, .npy or .h5. */
int dataset_write(const char *output, const char *const *paths, int64_t count, int64_t rows);
/* CLI_USAGE unless the name ends in one of these. */
int dataset_check_output(const char *output);

/* Whether a file begins as one of those, and what `shoal merge-parts` does with them. */
bool dataset_is_part(const char *path);
/* Notes how many rows have no price. */
void dataset_note_missing(const cli *c, int64_t missing);
int dataset_merge(cli *c, const char *const *paths, int count, const char *output);

#endif
