/* SPDX-License-Identifier: Apache-2.0
 *
 * batch.h - test problems that come in batches, several files each: what `shoal gen tridiag`,
 * `smallsym` and `recur` share.
 *
 * The files are written slice by slice, so memory stays small whatever the count; an interleaved
 * batch is one slice. The numbers are made on the host and depend on kind, seed, n and system alone.
 */
#ifndef CLI_GEN_BATCH_H
#define CLI_GEN_BATCH_H

#include "gen.h"

enum { GEN_BATCH_FILES = 5 };

typedef struct gen_batch {
    int files;
    const char *suffixes[GEN_BATCH_FILES]; /* "-d": of STEM-d.npy, "d" in JSON */
    /* appends to the shape of file i; the type is set already */
    void (*shape)(const gen_arguments *a, int i, gen_file *f);
    /* systems first .. first + systems - 1 into memory[i] of each file i */
    shoal_status (*make)(cli *c, const gen_arguments *a, int64_t first, int64_t systems,
                         void *const *memory);
    void (*details)(io_json *j, const gen_arguments *a); /* JSON between count and seed */
} gen_batch;

/* Writes the files and tells which. Returns an exit code. */
int gen_batch_run(cli *c, const gen_arguments *a, const gen_batch *batch);

#endif
