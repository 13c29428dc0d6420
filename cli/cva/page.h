/* SPDX-License-Identifier: Apache-2.0
 *
 * page.h - what the page of `shoal cva --report` is made of: pictures, and tables that sort themselves.
 */
#ifndef CVA_PAGE_H
#define CVA_PAGE_H

#include "cva.h"

/* ---- pictures (pictures.c): narrow, so that their letters can be read where a phone makes them smaller ---- */

/* The profile: into the page, for a screen or a phone, or, without a page, a file of its own. */
int cva_draw_profile(FILE *page, bool wide, const char *path, const cva_options *o,
                     const cva_result *r, io_error *err);
int cva_draw_bars(FILE *file, const char *title, const char *subtitle, const char *label, int count,
                  const char *const *names, const double *values, io_error *err);
int cva_draw_convergence(FILE *file, const cva_result *r, io_error *err);
int cva_draw_stages(FILE *file, const cva_result *r, io_error *err);
/* Of the regressions. */
int cva_draw_conditions(FILE *file, const cva_result *r, io_error *err);
int cva_draw_solvers(FILE *file, const cva_result *r, io_error *err);
int cva_draw_outcomes(FILE *file, const cva_result *r, io_error *err);

/* ---- tables (sheet.c) ---- */

enum { CVA_CELL = 96 };
typedef struct cva_sheet {
    const char *const *names;
    int columns, left; /* the first `left` columns are text */
    int64_t rows;
    char (*text)[CVA_CELL]; /* [row][column] */
    double *key;
} cva_sheet;

int cva_make_sheet(cva_sheet *t, const char *const *names, int columns, int left, int64_t rows,
                   io_error *err);
void cva_set_text(cva_sheet *t, int64_t row, int column, const char *text);
/* A number, rounded to its error. */
void cva_set_number(cva_sheet *t, int64_t row, int column, double value, double error);
/* Frees the sheet. `id` is a letter; `first`: the column that it is sorted by. */
int cva_show_sheet(FILE *file, cva_sheet *t, char id, int first, io_error *err);

#endif
