/* SPDX-License-Identifier: Apache-2.0
 *
 * study_symindef_page.h - the rows of a study of symmetric indefinite factorizations as its page and its
 * pictures see them.
 */
#ifndef BENCH_STUDY_SYMINDEF_PAGE_H
#define BENCH_STUDY_SYMINDEF_PAGE_H

#include "bench/performance.h"
#include "bench/study_symindef.h"

enum {
    SYMINDEF_ALPHAS = 9,   /* of Table 3.1                     */
    SYMINDEF_MATRICES = 4, /* with which alpha is studied      */
    SYMINDEF_ORDERS = 32,
    SYMINDEF_SEEDS = 8, /* matrices of one order            */
    SYMINDEF_LINES = 9,
    SYMINDEF_POINTS = 256
};

typedef struct symindef_page {
    FILE *file;
    const char *path, *device, *cpu; /* files are read on the CPU */
    const io_json_value *rows;
} symindef_page;

typedef struct symindef_line {
    double x[SYMINDEF_POINTS], y[SYMINDEF_POINTS];
    int count;
} symindef_line;

typedef struct symindef_matrix { /* the rows of alpha with one matrix */
    const io_json_value *rows[SYMINDEF_ALPHAS];
    int count;
    char label[96];       /* "equidistant, n = 3000"               */
    char beside[48];      /* "thesis, n = 3000"                    */
    const double *thesis; /* the errors of the thesis, or NULL     */
} symindef_matrix;

typedef struct symindef_matrices {
    symindef_matrix matrix[SYMINDEF_MATRICES];
    int count;
} symindef_matrices;

typedef struct symindef_orders { /* the rows of sizes by n, ascending */
    double n[SYMINDEF_ORDERS];
    const io_json_value *rows[SYMINDEF_ORDERS][SYMINDEF_SEEDS];
    int matrices[SYMINDEF_ORDERS], count;
} symindef_orders;

bool symindef_is_part(const io_json_value *row, const char *part);

/* The median over the matrices of order i; NaN if there is none. */
double symindef_middle(const symindef_orders *o, int i, const char *key);

int symindef_draw_alpha_errors(const symindef_page *p, const symindef_matrices *m, io_error *err);
int symindef_draw_multipliers(const symindef_page *p, const symindef_matrices *m, io_error *err);
int symindef_draw_times(const symindef_page *p, const symindef_orders *o, io_error *err);
int symindef_draw_errors(const symindef_page *p, const symindef_orders *o, io_error *err);
int symindef_draw_gjgt(const symindef_page *p, const symindef_orders *o, io_error *err);
int symindef_draw_read(const symindef_page *p, io_error *err);

#endif
