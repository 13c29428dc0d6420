/* SPDX-License-Identifier: Apache-2.0
 *
 * problem.h - problem strings: one line says what is to be solved, verified or timed.
 *
 *     module:method:backend:type:key=value,key=value,...
 *     tridiag:pcr:cuda:f32:n=255,count=1e5,variant=permute
 *     tridiag:all::f32+f64:n=64+256+1024,rows=2^25          twelve problems and more
 *
 * Every part but the module may be empty or missing. Lists are joined by '+'; "all" stands for
 * every method (type, layout, variant) there is. Whole numbers may be written 100000, 1e5 or 2^25.
 * A key or a word of a list given twice is a mistake, and so is a string that leaves nothing to do.
 */
#ifndef BENCH_PROBLEM_H
#define BENCH_PROBLEM_H

#include <shoal/shoal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/status.h"

#define BENCH_WORD         32   /* longest name of a method, variant or kind, with its zero */
#define BENCH_MAX_PROBLEMS 4096 /* one string may stand for                                 */

typedef struct bench_problem {
    char module[BENCH_WORD];  /* "tridiag"                                              */
    char method[BENCH_WORD];  /* "auto" or a method of the module                       */
    char variant[BENCH_WORD]; /* "" : the method's first                                */
    char kind[BENCH_WORD];    /* of test matrix                                         */
    char backend[8];          /* "auto", "cpu" or "cuda"                                */
    shoal_type type;
    shoal_layout layout;
    int64_t n, count, nrhs;
    uint64_t seed;
    bool from_all; /* "all" made it: not having it on this backend is no error          */
} bench_problem;

typedef struct bench_problems {
    bench_problem *items; /* from malloc */
    int count;
} bench_problems;

/* What missing parts mean. */
typedef struct bench_defaults {
    const char *backend; /* "auto", "cpu" or "cuda" */
    uint64_t seed;
} bench_defaults;

/* Appends the problems of one string. IO_E_FORMAT with "problem: ..." naming the part, IO_E_MEMORY;
 * on error the list is as it was. */
int bench_problem_parse(const char *text, const bench_defaults *defaults, bench_problems *list,
                        io_error *err);
void bench_problems_free(bench_problems *list);

/* The problem as a string that reads back as the same one. Returns `text`. */
#define BENCH_TEXT 256
char *bench_problem_text(const bench_problem *p, char text[BENCH_TEXT]);

/* The whole numbers of a string: digits alone, and sizes (100000, 1e5, 2.5e4, 2^25) of at most
 * `most`, where the message names the key. */
bool bench_read_digits(const char *text, size_t size, uint64_t *value);
int bench_read_size(const char *key, const char *text, size_t size, int64_t most, int64_t *value,
                    io_error *err);

const char *bench_type_name(shoal_type type);       /* "f64", "f32"            */
const char *bench_layout_name(shoal_layout layout); /* "system", "interleaved" */

#endif
