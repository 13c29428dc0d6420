/* SPDX-License-Identifier: Apache-2.0
 *
 * gen.h - what the modules of `shoal gen` share: the options, and files written in slices.
 *
 * gen.c reads the command line and looks the module up in cli_modules (words.c), whose functions
 * say whether the options make sense and write the files.
 */
#ifndef CLI_GEN_H
#define CLI_GEN_H

#include <shoal/rng.h>

#include "cli/common/arrays.h"
#include "io/file.h"

#define GEN_FORMS "penta|ctridiag|cpenta"

typedef struct gen_arguments {
    const char *module, *kind, *stem;
    const char *input; /* the file that is converted; only kinds of symindef take one */
    bool list;
    int64_t n, count, from, nrhs;
    shoal_type type;
    shoal_layout layout;
    shoal_triangle triangle;
    shoal_storage storage;
    double parameter; /* NaN: the kind's default */
    int64_t order;
    int form; /* of band: the place among GEN_FORMS */
    shoal_rng_opts rng; /* of rng: variant, parameters of the law, stream */
    uint64_t first;
    struct { /* options without which a file has another shape, or there is none */
        bool n, count, nrhs, type, lambda, alpha, df;
    } given;
} gen_arguments;

/* Whether an option was given. */
bool gen_given(const gen_arguments *a, const char *option);

/* A .npy file that appears when all is written. */
enum { GEN_PATH = 4096 };
typedef struct gen_file {
    char path[GEN_PATH];
    io_type type;
    int ndim;
    int64_t shape[3];
    io_out *file;
} gen_file;

/* The path STEM + suffix + ".npy", or STEM if it is whole without. CLI_OUTPUT: it is too long. */
int gen_name_file(char path[GEN_PATH], const char *stem, const char *suffix);
/* Opens that file and writes the header that type and shape ask for. */
int gen_file_open(gen_file *f, const char *stem, const char *suffix);
/* False on a write error, which closing tells. */
bool gen_file_write(gen_file *f, const void *data, size_t bytes);
/* Makes the file visible if `code` is CLI_OK, else removes it. Returns `code`, or CLI_OUTPUT. */
int gen_file_close(gen_file *f, int code);
/* One line per file: name, type, shape. */
void gen_print_files(const gen_file *files, int count);

/* The module's functions (cli_modules). `check` sees the options before anything is opened and ends
 * the program with CLI_USAGE if they make no sense. */
void gen_batch_check(const gen_arguments *a, struct argp_state *state);
int gen_tridiag(cli *c, const gen_arguments *a);
int gen_band(cli *c, const gen_arguments *a);
int gen_smallsym(cli *c, const gen_arguments *a);
void gen_symindef_check(const gen_arguments *a, struct argp_state *state);
int gen_symindef(cli *c, const gen_arguments *a);
const char *gen_symindef_kind(int i);
const char *gen_symindef_kind_text(int i);
int gen_recur(cli *c, const gen_arguments *a);
void gen_rng_check(const gen_arguments *a, struct argp_state *state);
int gen_rng(cli *c, const gen_arguments *a);
const char *gen_rng_kind(int i);
const char *gen_rng_kind_text(int i);

/* ---- the modules (words.c) --- */

typedef struct cli_module {
    const char *name;
    const char *(*kind)(int i);      /* what `shoal gen` makes of it, NULL past the last */
    const char *(*kind_text)(int i); /* and its descriptions                             */
    void (*check)(const gen_arguments *a, struct argp_state *state); /* gen.h            */
    int (*write)(cli *c, const gen_arguments *a);
    bool on_host;  /* whatever the backend: "auto" is the CPU then                        */
    bool values;   /* a kind may be followed by ":" and values, which the library judges  */
    bool converts; /* a kind may take a file                                             */
} cli_module;

extern const cli_module cli_modules[]; /* ends with a NULL name */

const char *cli_module_name(const void *unused, int i); /* an io_names */
const char *cli_kind_name(const void *module, int i);   /* of a cli_module, too */
const cli_module *cli_module_find(const char *name);    /* NULL: no such module */

#endif
