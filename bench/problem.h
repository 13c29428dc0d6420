/* SPDX-License-Identifier: Apache-2.0
 *
 * problem.h - problem strings: one line for what is to be computed, verified or timed.
 *
 *     module:method:backend:type:key=value,key=value,...
 *     tridiag:pcr:cuda:f32:n=255,count=1e5,variant=permute
 *     tridiag:all::f32+f64:n=64+256+1024,rows=2^25          twelve problems and more
 *     rng:poisson+gamma:::lambda=1+64+1000,alpha=2.5        three, and one
 *     smallsym:ldlt::f32:n=8+16+32,bytes=2^29               three
 *
 * Every part but the module may be empty or missing (the method too, where the module has "auto").
 * Lists are joined by '+'; "all" stands for every method (type, layout, variant) there is. Whole
 * numbers may be written 100000, 1e5 or 2^25. A key or a word of a list given twice is a mistake,
 * and so is a string that leaves nothing to do.
 *
 * What a module's strings may contain is its grammar: a table beside the module's functions
 * (bench/module.h).
 */
#ifndef BENCH_PROBLEM_H
#define BENCH_PROBLEM_H

#include <shoal/shoal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/status.h"
#include "io/words.h"

#define BENCH_WORD         32   /* longest name of a method, variant or kind, with its zero */
#define BENCH_MAX_PROBLEMS 4096 /* one string may stand for                                 */
#define BENCH_MAX_KEYS     20   /* of a module                                              */

typedef struct bench_problem {
    char module[BENCH_WORD];  /* "tridiag", "rng", "smallsym", "recur", "symindef", "sort", ... */
    char method[BENCH_WORD];  /* "auto" or a method of the module                       */
    char variant[BENCH_WORD]; /* "" : the method's first                                */
    char kind[BENCH_WORD];    /* of test matrix                                         */
    char backend[8];          /* "auto", "cpu" or "cuda"                                */
    const char *fixed_type;   /* one of the module's own types, or "u32" where the method has
                                 that type alone; else NULL                             */
    shoal_type type;          /* where it is NULL                                       */
    shoal_layout layout;
    shoal_math math;
    shoal_storage storage;
    shoal_triangle triangle;
    int outcome;  /* 1: with status, residual and condition bound of each system */
    int pairs;    /* 0: systems are solved; else eigenpairs: a bench_pairs_wanted        */
    int stage;    /* 0: all of the method; else one of its stages: a bench_stage         */
    int estimate; /* 1: rcond is the 1-norm estimate                                    */
    int growth;   /* 1: the growth of each stage is kept                                */
    int64_t n, count, nrhs, team, refine;
    int64_t gram;  /* 0, or the samples of a regression, from which a system is formed    */
    int64_t block; /* rows of a block of "gspike", 0: the default                               */
    int form;      /* of a recurrence: its place among linear and Moebius; of band: band.h */
    int64_t order, threads, groups; /* of a recurrence; T and G of its P-scheme, 0: the default */
    int constant;                   /* bit 0: s is, bit 1: t is                                 */
    int phase;                      /* 0: all of pscheme; else a shoal_recur_phase to stop after */
    int direction;                  /* 1: in reverse                                            */
    int64_t ratio;     /* of a merge: |B| / |A|                                                */
    int values, index; /* of sort: 0, 1, 2 for 0, 4, 8 bytes per value; 1: they are places       */
    double lambda, alpha, df;
    double parameter; /* of the kind; NaN: its default */
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
    const char *math; /* NULL, or what the key "math" is if it is not given */
} bench_defaults;

typedef enum bench_key_kind {
    BENCH_KEY_SIZE,    /* int64_t: a whole number; the product of sizes is bounded      */
    BENCH_KEY_NUMBER,  /* int64_t: one that does not change the problem's size          */
    BENCH_KEY_REAL,    /* double, finite                                                */
    BENCH_KEY_CHOICE,  /* an enum: the place of a word among `words`                    */
    BENCH_KEY_WORD,    /* char[BENCH_WORD]: one of `words` or `names`                   */
    BENCH_KEY_SEED,    /* uint64_t                                                      */
    BENCH_KEY_VARIANT, /* of the method                                                 */
    BENCH_KEY_AMOUNT   /* instead of count: systems that have that much of it together  */
} bench_key_kind;

typedef struct bench_key {
    const char *name;
    bench_key_kind kind;
    int min;           /* of a number                                                      */
    int max;           /* of a whole number; 0: 2^48                                       */
    size_t field;      /* offsetof(bench_problem, ...)                                     */
    const char *usual; /* its value if it is not given; NULL: the field stays as it is      */
    /* Of BENCH_KEY_CHOICE and BENCH_KEY_WORD: the words, NULL at the end, or where they come from. */
    const char *const *words;
    const char *(*names)(int i);
    int without; /* its number for a method that does not take it                    */
    bool list;   /* several values joined by '+'                                     */
    bool values; /* of one word: ":" and values may follow, which the library judges */
    bool inner;  /* varies faster than the method: such problems share their data    */
    double (*each)(const bench_problem *p); /* of an amount: how much a system has; NULL: n */
} bench_key;

typedef struct bench_grammar {
    const char *module;
    bool has_auto;         /* "auto" is a method, and the one meant if there is none           */
    bool square;           /* a system has n^2 numbers                                         */
    const bench_key *keys; /* at most BENCH_MAX_KEYS, the last one's name is NULL; of several
                              lists the first varies fastest                                   */
    io_names *types;       /* NULL: f64 and f32; else the types there are, the usual one first   */
    /* NULL, or the type of a method that has one type only. */
    const char *(*fixed_type)(const char *method);
    /* NULL, or whether a method takes that key. */
    bool (*takes)(const char *method, const char *key);
    /* NULL, or which key a problem must not have beside which other: NULL if all is well. */
    const char *(*excluded)(const bench_problem *p, const char **other);
} bench_grammar;

const bench_grammar *bench_grammar_at(int i); /* module i, NULL past the last */

/* Appends the problems of one string. IO_E_FORMAT with "problem: ..." naming the part, IO_E_MEMORY;
 * on error the list is as it was. */
int bench_problem_parse(const char *text, const bench_defaults *defaults, bench_problems *list,
                        io_error *err);
void bench_problems_free(bench_problems *list);

/* True if two problems have the same data: all keys that are not inner ones are the same. */
bool bench_same_data(const bench_problem *p, const bench_problem *q);

/* The problem as a string that reads back as the same one. Returns `text`. */
#define BENCH_TEXT 320
char *bench_problem_text(const bench_problem *p, char text[BENCH_TEXT]);

/* Digits that read back as the number, in a list too. Returns `text`. */
#define BENCH_REAL 32
char *bench_real_text(double value, char text[BENCH_REAL]);

const char *bench_type_name(shoal_type type);           /* "f64", "f32"            */
const char *bench_problem_type(const bench_problem *p); /* and "u32", ...          */
bool bench_can(const bench_problem *p, unsigned flag);  /* SHOAL_CAN_... of its method */
size_t bench_number_size(const bench_problem *p);       /* its bytes               */
extern const char *const bench_layouts[], *const bench_maths[];
extern const char *const bench_storages[], *const bench_triangles[];
extern const char *const bench_switches[]; /* "0", "1" */

#endif
