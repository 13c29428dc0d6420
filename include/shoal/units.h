/* SPDX-License-Identifier: Apache-2.0
 *
 * units.h - one job in units. A unit is a piece of the job's rows. Any process computes it, on any device. One
 * process puts the units together. The result is bit-identical for any number of units and any order of arrival.
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
 *     const double *samples = shoal_units_rows(units); // when all are added
 *     shoal_units_free(units);
 *
 * shoal_units_work() runs all missing units on one or more devices of this process. shoal_units_keep() keeps
 * finished units in a folder, so that a later process continues. docs/design.md describes the format of a unit
 * and what its bits depend on.
 */
#ifndef SHOAL_UNITS_H
#define SHOAL_UNITS_H

#include <shoal/cva.h>
#include <shoal/dataset.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SHOAL_UNITS_MOST       1000000     /* maximum units per job                     */
#define SHOAL_UNITS_COUNTS     (1LL << 32) /* maximum counts per unit               */
#define SHOAL_UNITS_CVA_TOTALS (10 + SHOAL_CVA_METHODS + SHOAL_CVA_DECADES)
#define SHOAL_UNITS_KIND       32 /* room for the name of a kind, with its NUL */
#define SHOAL_UNITS_DIGEST     65 /* room for a digest in hexadecimal          */

typedef struct shoal_units shoal_units; /* contents private */
struct shoal_unit;                      /* below */

typedef struct shoal_units_opts { /* zero = default */
    int64_t
        units; /* their number; units meet only if it is the same   [256, fewer for small jobs] */
    /* Everything else that the rows depend on: settings, seed, the texts of files. The digest covers these bytes.
     * Units with other bytes are refused. */
    const void *inputs;
    size_t input_bytes;
    /* NULL, or receives every unit that is added, in place of shoal_units_rows(): for results that do not fit into
     * memory. Called on the thread that adds the unit, one at a time. If it fails, the call fails with its status. */
    shoal_status (*take)(shoal_context *ctx, void *user, const struct shoal_unit *unit);
    void *user; /* of take */
} shoal_units_opts;

/* A job of the caller: row i of the result depends on i alone. `run` writes rows first .. first + rows - 1 to
 * `result`, in host memory, and adds to the counts. If it fails, the unit fails with its status. */
typedef struct shoal_units_job {
    const char *kind; /* a name: up to 31 characters                    */
    int64_t rows;     /* of the whole job                               */
    size_t row_bytes; /* per row; 0: counts alone                       */
    int64_t counts;   /* whole numbers that are added up over all units */
    int64_t least;    /* minimum rows per unit if opts->units is 0  [1] */
    shoal_status (*run)(shoal_context *ctx, void *user, int64_t first, int64_t rows, void *result,
                        int64_t *counts);
    void (*close)(void *user); /* NULL, or frees `user`, also if create fails */
    void *user;
} shoal_units_job;

/* SHOAL_E_ARG: the message names the invalid argument. Inputs are copied. On error *units is NULL. */
SHOAL_API shoal_status shoal_units_create(shoal_context *ctx, const shoal_units_job *job,
                                          const shoal_units_opts *opts, shoal_units **units);

/* The paths of a plan of any model. A row contains the sums of SHOAL_PRICE_UNIT samples. shoal_price_add() adds the
 * rows in their order. A plan that simulates no paths has no rows. Keep the plan until the units are freed. */
SHOAL_API shoal_status shoal_units_price(shoal_price *plan, int64_t paths,
                                         const shoal_units_opts *opts, shoal_units **units);
/* Outer paths 0 .. outer - 1: rows are those of shoal_cva_run(). With opts.quantile_error of the plan there are no
 * rows: shoal_units_counts() has the sums of shoal_cva_add_sums(), from number SHOAL_UNITS_CVA_TOTALS +
 * shoal_cva_totals() on. */
SHOAL_API shoal_status shoal_units_cva(shoal_cva *plan, int64_t outer, const shoal_units_opts *opts,
                                       shoal_units **units);
/* The counts of shoal_units_cva(), over the units that are added. With opts.by_trade shoal_units_counts() also has the
 * totals, from number SHOAL_UNITS_CVA_TOTALS on. */
SHOAL_API shoal_status shoal_units_cva_counts(const shoal_units *units, shoal_cva_counts *counts);
/* Rows 0 .. samples - 1 of the design: rows have SHOAL_DATASET_VALUES numbers. */
SHOAL_API shoal_status shoal_units_dataset(shoal_dataset *plan, int64_t samples,
                                           const shoal_units_opts *opts, shoal_units **units);
/* Also closes the folder. */
SHOAL_API void shoal_units_free(shoal_units *units);

typedef struct shoal_units_info {
    const char *kind;
    char digest[SHOAL_UNITS_DIGEST]; /* SHA-256 of kind, version, sizes and inputs */
    int64_t units, done;             /* all of them; those that are added          */
    int64_t rows, counts;
    size_t row_bytes;
    size_t bytes;   /* of the largest unit, with inputs              */
    double seconds; /* sum of the times of the units that are added  */
} shoal_units_info;

SHOAL_API shoal_status shoal_units_describe(const shoal_units *units, shoal_units_info *info);
/* The first missing unit from `unit` on; the number of units if none is missing. */
SHOAL_API int64_t shoal_units_missing(const shoal_units *units, int64_t unit);

/* Computes a unit and does not add it. with_inputs 1: it contains the inputs of the job. `bytes` must have room for
 * shoal_units_info.bytes; *size receives the number of bytes written. */
SHOAL_API shoal_status shoal_units_run(shoal_units *units, int64_t unit, int with_inputs,
                                       void *bytes, size_t *size);
/* Adds a unit to the result, and writes it to the folder if there is one. Adding a unit a second time has no effect.
 * SHOAL_E_ARG: the message gives the reason for refusing it: damaged, or of another job, version or input. */
SHOAL_API shoal_status shoal_units_add(shoal_units *units, const void *bytes, size_t size);
/* [rows][row_bytes], in host memory; NULL while units are missing, if there are no rows or row_bytes is 0, or with
 * `take`. */
SHOAL_API const void *shoal_units_rows(const shoal_units *units);
/* The sums of the counts of the units that are added. */
SHOAL_API const int64_t *shoal_units_counts(const shoal_units *units);

/* The contents of a unit. Pointers are into its bytes. */
typedef struct shoal_unit {
    const char *kind, *version;
    char digest[SHOAL_UNITS_DIGEST];
    int64_t unit, units;      /* number of the unit from 0; of all units        */
    int64_t all, first, rows; /* rows of the job; first and number of the unit's */
    size_t row_bytes;
    const void *inputs; /* if input_bytes is above 0     */
    size_t input_bytes;
    double seconds;     /* its computation took          */
    const void *result; /* [rows][row_bytes]             */
    const int64_t *counts;
} shoal_unit;

/* Reads and checks the bytes of any unit. They must be aligned as by malloc(). SHOAL_E_ARG: the message gives the
 * reason. */
SHOAL_API shoal_status shoal_units_read(shoal_context *ctx, const void *bytes, size_t size,
                                        shoal_unit *unit);

/* Keeps finished units in a folder, which is created if it does not exist. Adds the units that it contains. From then
 * on shoal_units_add() first writes each unit: under a temporary name, synced and renamed. Finished units are never
 * removed. SHOAL_E_FILE: another process uses the folder, it cannot be read or written, or it contains a unit that
 * is refused; the message names the file. */
SHOAL_API shoal_status shoal_units_keep(shoal_units *units, const char *folder);

/* Runs all missing units on `count` devices at the same time. The units are added to workers[0], which has the
 * folder. The other workers are the same job with plans of other contexts, one per device. If a device fails, another
 * one repeats its unit; *lost (or NULL) receives the number of failed devices, and shoal_message() of their contexts
 * the reasons. The call fails if no device is left, if it is cancelled, or if a unit cannot be written. Finished
 * units stay. */
SHOAL_API shoal_status shoal_units_work(shoal_units *const *workers, int count, int *lost);

/* Which worker did a unit in shoal_units_work(), and when. */
typedef struct shoal_units_trace {
    int worker;        /* its number, from 0; -1: none did, or it was there before */
    double begin, end; /* seconds since the call began                             */
} shoal_units_trace;

/* [units], of the last call whose first worker this was; NULL: there was none. */
SHOAL_API const shoal_units_trace *shoal_units_traces(const shoal_units *units);

#ifdef __cplusplus
}
#endif
#endif
