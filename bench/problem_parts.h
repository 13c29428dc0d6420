/* SPDX-License-Identifier: Apache-2.0
 *
 * problem_parts.h - a problem string taken apart, as problem.c and problem_keys.c share it.
 */
#ifndef BENCH_PROBLEM_PARTS_H
#define BENCH_PROBLEM_PARTS_H

#include "bench/problem.h"

enum { BENCH_MAX_LIST = 256 };
#define BENCH_MAX_NUMBERS ((int64_t)1 << 48) /* product of the sizes of a problem */

typedef struct view { /* a piece of the string */
    const char *at;
    size_t size;
} view;

typedef struct words { /* the words of one list */
    char word[BENCH_MAX_LIST][BENCH_WORD];
    int count;
    bool all;
} words;

typedef union value { /* of a key */
    int64_t size;
    double real;
    int choice;
    uint64_t seed;
    char word[BENCH_WORD];
} value;

typedef struct values {
    value list[BENCH_MAX_LIST];
    int count, at; /* at: the one in use, while the lists are multiplied out */
    bool given;
} values;

typedef struct draft { /* a string taken apart, before it is multiplied out */
    const bench_grammar *grammar;
    words methods, types, variants;
    values keys[BENCH_MAX_KEYS]; /* in the order of the grammar; not of BENCH_KEY_VARIANT */
    char backend[8];
    io_error *err;
} draft;

/* Cuts the text before the first `mark`; the rest, without the mark, stays in *text. */
view problem_cut(view *text, char mark);
int problem_find(bench_names *names, const void *of,
                 view word); /* its place, -1 if it is not there */

/* "problem: method 'foo' is not one of auto, thomas, ..." */
int problem_unknown(draft *d, const char *part, view word, bench_names *names, const void *of);
int problem_twice(draft *d, const char *part, view word);

/* A list of words, or "all" of them; nothing leaves the list empty. */
int problem_words(draft *d, const char *part, view text, bench_names *names, const void *of,
                  words *list);

/* Reads the value, or the list of them, of key k. */
int problem_read_key(draft *d, int k, view text);
/* The first value of each key that was not given. */
int problem_usual_keys(draft *d, const bench_defaults *defaults);

/* Puts value i of key k into the problem, or what holds for a method without it. */
void problem_set_key(const draft *d, int k, int i, bench_problem *p);
void problem_set_without(const bench_key *key, bench_problem *p);

bool problem_same_key(const bench_key *key, const bench_problem *p, const bench_problem *q);

/* "n=255", the key as it stands in the problem; "" if it has no value. Returns `text`. */
enum { BENCH_PAIR = 2 * BENCH_WORD };
char *problem_key_text(const bench_key *key, const bench_problem *p, char text[BENCH_PAIR]);

#endif
