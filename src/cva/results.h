/* SPDX-License-Identifier: Apache-2.0
 *
 * results.h - the numbers of a path that results are made of, and where their means and ranks come from: the rows of
 * all paths, or sums over paths (sums.c).
 */
#ifndef SHOAL_CVA_RESULTS_H
#define SHOAL_CVA_RESULTS_H

#include "cva/values.h"

/* What results are of: the book, by its own lists, or some netting sets. */
typedef struct cva_source {
    const shoal_cva *p;
    const double *samples; /* rows of `width` numbers; NULL: `sums` are given */
    const int64_t *sums;   /* of all sources                                  */
    int64_t number;        /* of the source among these                       */
    int64_t paths, width;
    const int64_t *set; /* NULL: the book */
    int64_t sets;
} cva_source;

/* Numbers of a path: these; of the book also the correction by levels, and by the rule less by the other. */
enum { CVA_OF_CVA, CVA_OF_DVA, CVA_OF_FCA, CVA_OF_FBA, CVA_OF_FVA, CVA_ADJUSTED };
enum { CVA_OF_LEVELS = CVA_ADJUSTED, CVA_OF_RULE, CVA_OF_PATH };
/* And per date. The rule: by it less by the other; with regressions at nodes by half of the inner paths less by all. */
enum { CVA_AT_OURS, CVA_AT_THEIRS, CVA_AT_RULE, CVA_AT_RULE_THEIRS, CVA_AT_LOSS, CVA_AT_MEANS };
/* Per date in order: our exposure by all inner paths, and of the book by half of them. */
enum { CVA_AT_WHOLE = CVA_AT_MEANS, CVA_AT_HALF };

/* rows.c: all of a row, CVA_OF_PATH; one at date of exposure k; that of all paths at some dates, [date][path]. */
void shoal_cva_of_path(const cva_source *s, const double *row, double *x);
double shoal_cva_at_date(const cva_source *s, const double *row, int64_t k, int what);
void shoal_cva_take(const cva_source *s, int64_t k, int64_t dates, int what, double *to);

/* sums.c: numbers of a date in order: `bin` of the sums. */
typedef struct cva_bins {
    const int64_t *bin;
    int64_t count;
    double lowest, log_width, error; /* bin i > 0 begins at lowest e^((i - 1) log_width) */
} cva_bins;
cva_bins shoal_cva_bins(const cva_source *s, int64_t k, int what);
double shoal_cva_bin_value(const cva_bins *b, int64_t i);
/* The mean and its error, of a number of the path, and of one at a date. */
double shoal_cva_sum_of_path(const cva_source *s, int what, double *error);
double shoal_cva_sum_at_date(const cva_source *s, int64_t k, int what, double *error);
/* The sizes of all sources, when the plan is created. SHOAL_E_ARG unless it was with sums. */
shoal_status shoal_cva_make_sums(shoal_cva *p, const shoal_cva_opts *o);
shoal_status shoal_cva_has_sums(const shoal_cva *p);

#endif
