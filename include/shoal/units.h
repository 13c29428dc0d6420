/* SPDX-License-Identifier: Apache-2.0
 *
 * units.h - one job in units: pieces of its rows that any process computes on any device, and that one process puts
 * together. The result has the same bits for any number of units and any order of arrival.
 *
 *     shoal_units *units;
 *     shoal_units_cva(plan, 100000, &(shoal_units_opts){ .units = 64 }, &units);
 *     shoal_units_info info;
 *     shoal_units_describe(units, &info);
 *     void *bytes = malloc(info.bytes);
 *     size_t size;
 *     shoal_units_run(units, 5, 0, bytes, &size);  // in any process: unit 5 as bytes
 *     shoal_units_add(units, bytes, size);         // where the units meet
 *     ...
 *     const double *samples = shoal_units_rows(units); // once all are there
 *     shoal_units_free(units);
 *
 * shoal_units_work() runs all units that are missing on one or more devices of this process.
 * shoal_units_keep() keeps finished units in a folder, so that the next process continues. docs/design.md
 * has the format of a unit, and what its bits depend on.
 */
#ifndef SHOAL_UNITS_H
#define SHOAL_UNITS_H

#include <shoal/cva.h>
#include <shoal/dataset.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SHOAL_UNITS_MOST   1000000 /* maximum units per job                     */
#define SHOAL_UNITS_COUNTS 64      /* maximum counts per unit                   */
#define SHOAL_UNITS_KIND   32      /* room for the name of a kind, with its NUL */
#define SHOAL_UNITS_DIGEST 65      /* room for a digest in hexadecimal          */

typedef struct shoal_units shoal_units; /* contents private */
typedef struct shoal_unit shoal_unit;   /* below */

typedef struct shoal_units_opts { /* zero = default */
    int64_t
        units; /* how many; units of one job have the same number     [256, or fewer if they were small] */
    /* What the rows depend on beside kind, version and sizes: settings, seed, the texts of files. The digest covers
     * these bytes. Units with other bytes are refused. */
    const void *inputs;
    size_t input_bytes;
    /* NULL, or receives every unit that is added, on the thread that adds it, one at a time; then there is no
     * shoal_units_rows(): for results that do not fit into memory. Its failure is that of the call. */
    shoal_status (*take)(shoal_context *ctx, void *user, const shoal_unit *unit);
    void *user; /* of take */
} shoal_units_opts;

/* Any job: row i of the result depends on i alone. `run` writes rows first .. first + rows - 1 to `result`, on the
 * host, and adds to the counts. Its failure is the failure of the unit. All numbers of a row have the same size. */
typedef struct shoal_units_job {
    const char *kind; /* a name: up to 31 characters             */
    int64_t rows;     /* of the whole job                        */
    size_t row_bytes; /* result of a row: at least 1             */
    int64_t counts;   /* whole numbers that are added up over all units */
    int64_t least;    /* rows per unit, at least, if the number of units is not given [1] */
    shoal_status (*run)(shoal_context *ctx, void *user, int64_t first, int64_t rows, void *result,
                        int64_t *counts);
    void (*close)(void *user); /* NULL, or frees `user`, also if create fails */
    void *user;
} shoal_units_job;

/* SHOAL_E_ARG names what is not allowed. Inputs are copied. On error *units is NULL. */
SHOAL_API shoal_status shoal_units_create(shoal_context *ctx, const shoal_units_job *job,
                                          const shoal_units_opts *opts, shoal_units **units);

/* The paths of a plan of any model: a row is a block of SHOAL_PRICE_UNIT samples, and its sums. Added in their
 * order by shoal_price_add() they give the result. A plan without paths has no rows. The plan outlives the units. */
SHOAL_API shoal_status shoal_units_price(shoal_price *plan, int64_t paths,
                                         const shoal_units_opts *opts, shoal_units **units);
/* Outer paths 0 .. outer - 1: rows are those of shoal_cva_run(). */
SHOAL_API shoal_status shoal_units_cva(shoal_cva *plan, int64_t outer, const shoal_units_opts *opts,
                                       shoal_units **units);
/* The counts of shoal_units_cva(), of the units that are there. */
SHOAL_API shoal_status shoal_units_cva_counts(const shoal_units *units, shoal_cva_counts *counts);
/* Rows 0 .. samples - 1 of the design: rows have SHOAL_DATASET_VALUES numbers. */
SHOAL_API shoal_status shoal_units_dataset(shoal_dataset *plan, int64_t samples,
                                           const shoal_units_opts *opts, shoal_units **units);
/* Closes the folder, too. */
SHOAL_API void shoal_units_free(shoal_units *units);

typedef struct shoal_units_info {
    const char *kind;
    char digest[SHOAL_UNITS_DIGEST]; /* SHA-256 of kind, version, sizes and inputs */
    int64_t units, done;             /* of them, those that are there              */
    int64_t rows, counts;
    size_t row_bytes;
    size_t bytes;   /* of the largest unit, inputs included                                */
    double seconds; /* that the units which are there took, added up                       */
} shoal_units_info;

SHOAL_API shoal_status shoal_units_describe(const shoal_units *units, shoal_units_info *info);
/* The first unit from `unit` on that is not there; the number of units if all are. */
SHOAL_API int64_t shoal_units_missing(const shoal_units *units, int64_t unit);

/* Computes a unit. with_inputs 1: it contains the inputs of the job. bytes has room for shoal_units_info.bytes;
 * *size receives how many were written. Does not add it. */
SHOAL_API shoal_status shoal_units_run(shoal_units *units, int64_t unit, int with_inputs,
                                       void *bytes, size_t *size);
/* Adds a unit to the result, and writes it to the folder if there is one. A unit that is there already is not added
 * again. SHOAL_E_ARG says why a unit is refused: damaged, or of another job, version or input. */
SHOAL_API shoal_status shoal_units_add(shoal_units *units, const void *bytes, size_t size);
/* [rows][row_bytes], on the host; NULL until all units are there, if there are no rows, or with `take`. */
SHOAL_API const void *shoal_units_rows(const shoal_units *units);
/* The sums of the counts of the units that are there. */
SHOAL_API const int64_t *shoal_units_counts(const shoal_units *units);

/* What a unit says of itself. Pointers are into its bytes. */
struct shoal_unit {
    const char *kind, *version;
    char digest[SHOAL_UNITS_DIGEST];
    int64_t unit, units;      /* unit from 0                       */
    int64_t all, first, rows; /* rows of the job; those of the unit */
    size_t row_bytes;
    const void *inputs; /* input_bytes 0: it has none        */
    size_t input_bytes;
    double seconds;     /* that it took                      */
    const void *result; /* rows x row_bytes              */
    const int64_t *counts;
};

/* Reads and checks the bytes of any unit, which are aligned as those of malloc(). The message of SHOAL_E_ARG says what is wrong with them. */
SHOAL_API shoal_status shoal_units_read(shoal_context *ctx, const void *bytes, size_t size,
                                        shoal_unit *unit);

/* Keeps finished units in a folder, which is made if it is not there. Units that it contains are added; every unit
 * that is added later is written first: under a temporary name, synced and renamed. SHOAL_E_FILE if another process
 * uses the folder, or if it cannot be read or written, or contains a unit that is refused: the message names the
 * file. No finished unit is ever removed. */
SHOAL_API shoal_status shoal_units_keep(shoal_units *units, const char *folder);

/* Runs all missing units, on `count` devices at once: workers[0] is where they are added, and has the folder. The others
 * are the same job made with plans of other contexts, one per device. A device that fails hands its unit back, and the
 * others continue; *lost, or NULL, receives how many have failed, and their messages are those of their contexts. The
 * call fails if none is left, if it is cancelled, or if a unit cannot be written. Units that are finished stay. */
SHOAL_API shoal_status shoal_units_work(shoal_units *const *workers, int count, int *lost);

#ifdef __cplusplus
}
#endif
#endif
