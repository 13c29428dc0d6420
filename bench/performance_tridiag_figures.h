/* SPDX-License-Identifier: Apache-2.0
 *
 * performance_tridiag_figures.h - rows of one long tridiagonal system as the files that draw the
 * figures of the g-Spike paper see them.
 */
#ifndef BENCH_PERFORMANCE_TRIDIAG_FIGURES_H
#define BENCH_PERFORMANCE_TRIDIAG_FIGURES_H

#include "bench/performance.h"

enum { SPIKE_KINDS = 21, SPIKE_SOLVERS = 8 };

/* The number of the matrix in Table A.1, 1 to 21, that a row solves as one system in double with one
 * right-hand side; 0: it is no such row. */
int spike_number(const io_json_value *row);

/* The solvers of rows, in the order in which they come; each is told by its name and machine. */
typedef struct spike_solvers {
    char name[SPIKE_SOLVERS][RESULT_NAME];
    const char *device[SPIKE_SOLVERS];
    bool ours[SPIKE_SOLVERS];
    int count;
} spike_solvers;

/* Its place, a new one if need be; -1: there is no room. */
int spike_solver(spike_solvers *all, const io_json_value *row, const char *device);

/* Whether the answer of a row passed the check. */
bool spike_passed(const io_json_value *row);

/* " | " and the backward error of a row (NULL: a dash), in bold if it fails. Of x that is not finite the
 * file has no error, and says that it failed. */
void write_spike_error(FILE *file, const io_json_value *row);

/* The table of backward errors at n = 4096, and who fails where. */
void write_spike_errors(const result_page *p, const result_files *files);

#endif
