/* SPDX-License-Identifier: Apache-2.0
 *
 * performance_recur_figures.h - rows of the P-scheme as the files that draw its paper's figures see
 * them.
 */
#ifndef BENCH_PERFORMANCE_RECUR_FIGURES_H
#define BENCH_PERFORMANCE_RECUR_FIGURES_H

#include "bench/performance.h"

enum { MOST_T = 16, MOST_G = 8 };

typedef struct scheme { /* one variant for one N: seconds by T and G, NaN where not measured */
    double n, threads[MOST_T], groups[MOST_G], seconds[MOST_T][MOST_G];
    int t_count, g_count;
} scheme;

/* Whether a row is ours with constant scale and offset, timed, and up to the end of `phase`: "none" is
 * the whole. */
bool figure_row(const io_json_value *row, const char *method, const char *phase);

/* Those of N with T and G given. */
scheme scheme_of(const io_json_value *const *rows, int count, double n, const char *variant,
                 const char *phase);

/* Figure 1 of one machine: substitution and the P-scheme on one core. */
int write_one_core(const result_page *p, const result_group *group, io_error *err);

/* Figures 3 and 5 for one N: the times of the three phases against T. */
int write_phases(const result_page *p, const result_group *group, double n, io_error *err);

#endif
