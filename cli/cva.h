/* SPDX-License-Identifier: Apache-2.0
 *
 * cva.h - what the files of `shoal cva` share: the book and the market, options, results.
 */
#ifndef CLI_CVA_H
#define CLI_CVA_H

#include "cli.h"

typedef struct cva_book {
    int64_t assets; /* of the market */
    char **asset;   /* their names   */
    double *s0, *sigma, *dividend, *correlation;
    int64_t count;
    shoal_cva_contract *contract;
    int64_t *line;  /* of the file, a contract      */
    int64_t *index; /* what contracts point at     */
    double *weight;
    int64_t sets;
    char **set; /* names of netting sets            */
} cva_book;

/* Both leave it to cva_book_free() to clear up. Messages name file, line and column. */
int cva_read_market(const char *path, cva_book *book);
int cva_read_book(const char *path, cva_book *book);
void cva_book_free(cva_book *book);

typedef struct cva_options {
    const char *book, *market, *output, *plot;
    double rate, recovery, threshold, horizon, cond;
    bool collateral, no_netting, nested, kept, raw;
    int64_t pieces;
    double *hazard, *until;
    int64_t dates, outer, degree;
    int64_t inner_count, *inner;
    const char *solver;
    shoal_type type;
} cva_options;

typedef struct cva_result {
    shoal_cva_info info;
    shoal_cva_value value;
    shoal_cva_counts counts;
    shoal_cva_date *profile;
    int64_t outer; /* paths that were run */
    double seconds;
} cva_result;

int cva_write_csv(const char *path, const cva_result *r);
int cva_plot(const char *path, const cva_result *r);
int cva_print(cli *c, const cva_options *o, const cva_book *book, const cva_result *r);

#endif
