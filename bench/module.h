/* SPDX-License-Identifier: Apache-2.0
 *
 * module.h - a module of the library on the bench: a table of functions, one per module.
 * Problem strings, `shoal verify`, `shoal bench` and the JSON they write go through it; a new module
 * is a struct of its own and a line in run.c.
 */
#ifndef BENCH_MODULE_H
#define BENCH_MODULE_H

#include "bench/session.h"

typedef struct bench_module {
    bench_grammar grammar;

    /* What problems share: input, or room for output, in a struct of that size that is zeroed to
     * begin. What is there is kept if it fits the problem. BENCH_OK, BENCH_STOPPED or BENCH_ERROR. */
    size_t size;
    int (*make)(bench_session *s, const bench_problem *p, bench_place *place, void *data);
    bench_filler filler;         /* where make is NULL: the struct is a bench_arrays */
    void (*release)(void *data); /* frees what the struct points to; NULL: nothing */
    /* True if two problems, of the same module, share it and the peers' measurement. NULL: if all keys are the same
     * that are not inner ones. */
    bool (*same)(const bench_problem *p, const bench_problem *q);
    /* One problem by one of our methods: verified, and timed if `timed`; adds one row, or none if
     * the backend lacks what "all" asked for. */
    int (*run)(bench_session *s, void *data, const bench_problem *p, bool timed);
    /* A row for each peer that fits the data; NULL: there are none. */
    int (*peers)(bench_session *s, void *data);

    double (*bytes)(const bench_problem *p); /* the fewest that must be moved; NULL: none    */
    double (*work)(const bench_problem *p);  /* rows, numbers: what is counted per second        */
    const char *unit;                        /* "Mrows/s": heading of that column, in millions */
    const char *rate;                        /* "rows_per_second": its name in JSON, or NULL   */

    /* Tables: what stands between backend and the numbers, with its heading. */
    const char *heading, *check_heading; /* check_heading and check_cells NULL: the same     */
    void (*cells)(const bench_row *row, FILE *file);
    void (*check_cells)(const bench_row *row, FILE *file);
    const char *error_name; /* "max residual"                                              */
    const char *fault;      /* "residual": beside a peer that is timed though it fails the check;
                               NULL: the reason                                            */

    /* JSON: the parts of the problem after its type, and what a second brings. */
    void (*json_problem)(const bench_row *row, io_json *json);
    void (*json_rates)(const bench_row *row, io_json *json); /* before `rate`; NULL: none      */
    const char *checked_key; /* "systems_checked"                                  */
} bench_module;

extern const bench_module bench_tridiag, bench_band, bench_rng, bench_smallsym, bench_recur,
    bench_symindef, bench_sort, bench_heston, bench_expou, bench_bullet;

const bench_module *bench_module_of(const char *name); /* NULL: no such module */

#endif
