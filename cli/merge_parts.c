/* SPDX-License-Identifier: Apache-2.0
 *
 * merge_parts.c - `shoal merge-parts`: parts of prices and CVAs are units (common/units.h), those of data sets are tables
 * (network/dataset_file.c).
 */
#include "cli/common/units.h"
#include "cli/network/dataset.h"

#include <stdlib.h>

typedef struct arguments {
    int count;
    const char **path;
    const char *plot, *output;
} arguments;

/* clang-format off */
#define AT(member) CLI_AT(arguments, member)
static const cli_option options[] = {
    { "plot",   OPT_OUTPUT, AT(plot),   "F.svg", 1, "plot what the command would have plotted" },
    { "output", OPT_OUTPUT, AT(output), "FILE",  1, "price bullet: every point as .npy; cva: the profile as .csv; a data set: where to write it", .letter = 'o' },
    { NULL,     OPT_WORDS,  AT(count),  "PART",  0, "the files that --shard wrote", .needed = "the files that --shard wrote" },
    { 0 }
};
static const char doc[] =
    "Adds up all parts of a Monte Carlo command that was run with --shard I/N -o PART, and prints what the command would have "
    "printed in one run, bit-identical.\vThe parts of the example: `shoal price heston --paths 1e9 --shard 1/2 -o a.part', and "
    "`--shard 2/2 -o b.part'.\n\n"
    "Example:\n"
    "  shoal merge-parts a.part b.part";
/* clang-format on */

static int command(cli *c, int argc, char **argv) {
    arguments a = { .path = calloc((size_t)argc + 1, sizeof *a.path) };
    int code = a.path ? cli_parse(c, &merge_parts_command, argc, argv, &a) : cli_no_memory();
    if (code == CLI_OK && dataset_is_part(a.path[0]))
        code = a.plot ? cli_fail(CLI_USAGE, "--plot: there is no plot of a data set")
                      : dataset_merge(c, a.path, a.count, a.output);
    else if (code == CLI_OK)
        code = units_merge(c, a.path, a.count, a.plot, a.output);
    free(a.path);
    return code;
}

const cli_command merge_parts_command = {
    "merge-parts",     "add up the parts of a Monte Carlo command",
    .args = "PART...", .doc = doc,
    .run = command,    .tables = { { options, 0 } }
};
