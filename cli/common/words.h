/* SPDX-License-Identifier: Apache-2.0
 *
 * words.h - the modules of the library, for the program.
 */
#ifndef CLI_WORDS_H
#define CLI_WORDS_H

#include "cli/gen/gen.h"

typedef struct cli_module {
    const char *name;
    const char *(*kind)(int i);      /* what `shoal gen` makes of it, NULL past the last */
    const char *(*kind_text)(int i); /* and its descriptions                             */
    const char *options;             /* of `shoal gen`, that it takes                    */
    void (*check)(const gen_arguments *a, struct argp_state *state); /* gen.h            */
    int (*write)(cli *c, const gen_arguments *a);
    bool on_host;  /* whatever the backend: "auto" is the CPU then                        */
    bool values;   /* a kind may be followed by ":" and values, which the library judges  */
    bool converts; /* a kind may take a file                                             */
} cli_module;

extern const cli_module cli_modules[]; /* ends with a NULL name */

const char *cli_module_name(const void *unused, int i); /* a cli_names */
const cli_module *cli_module_find(const char *name);    /* NULL: no such module */

#endif
