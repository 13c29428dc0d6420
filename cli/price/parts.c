/* SPDX-License-Identifier: Apache-2.0
 *
 * parts.c - simulations in parts: `--shard I/N -o PART` writes the sums of a range of units, and
 * `shoal merge-parts PART...` adds them in their order, with the bits of one run.
 *
 * What such a part has besides what all have (parts.h): how many samples, and the sums of each unit,
 * in 17 digits.
 */
#include "cli/cva/cva.h"
#include "price.h"

#include <stdlib.h>
#include <string.h>

#include "cli/network/dataset.h"

/* ---- writing --------------------------------------------------------------------------------- */

static void write_sums(io_json *j, const void *what) {
    const price_outcome *out = what;
    io_json_int(j, "samples", out->samples);
    io_json_array(j, "sums");
    for (int64_t u = 0; u < out->units; u++)
        io_json_doubles(j, NULL, out->sums + u * out->width, out->width);
    io_json_close(j);
}

int price_part_write(const cli *c, const cli_command *command, const void *arguments,
                     const price_options *o, const price_outcome *out) {
    const part p = { .path = o->output,
                     .command = command->name,
                     .shard = o->shard,
                     .shards = o->shards,
                     .first = out->first,
                     .count = out->units };
    part_words w = { 0 };
    part_words_of(&w, c, command, arguments);
    const int code = part_write(&p, "units", &w, write_sums, out);
    part_words_free(&w);
    return code;
}

/* ---- reading --------------------------------------------------------------------------------- */

static int read_sums(price_part *p) {
    const char *path = p->part.path;
    const io_json_value *sums = io_json_get(p->part.root, "sums");
    const io_json_value *samples = io_json_get(p->part.root, "samples");
    const int64_t units = p->part.count;
    if (!samples || samples->kind != IO_JSON_INT || samples->integer < 0)
        return part_bad(path, "samples is not a number");
    p->samples = samples->integer;
    if (!sums || sums->kind != IO_JSON_ARRAY || sums->count != units ||
        units != p->samples / SHOAL_PRICE_UNIT + (p->samples % SHOAL_PRICE_UNIT > 0))
        return part_bad(path, "its sums do not match the number of samples");
    p->width = sums->first ? sums->first->count : 0;
    p->sums = calloc((size_t)(units * p->width) + 1, sizeof *p->sums);
    if (!p->sums) return cli_no_memory();
    double *to = p->sums;
    for (const io_json_value *row = sums->first; row; row = row->next) {
        if (row->kind != IO_JSON_ARRAY || row->count != p->width)
            return part_bad(path, "its sums do not match the number of samples");
        for (const io_json_value *x = row->first; x; x = x->next) {
            if (!part_is_number(x)) return part_bad(path, "a sum is not a number");
            *to++ = x->number;
        }
    }
    return CLI_OK;
}

static int check_widths(const price_part *parts, int count) {
    for (int i = 1; i < count; i++)
        if (parts[i].part.count && parts[0].part.count && parts[i].width != parts[0].width)
            return part_bad(parts[i].part.path, "it does not continue the part before it");
    return CLI_OK;
}

typedef struct arguments {
    int count;
    const char **path;
    const char *plot, *output;
} arguments;

static int merge_prices(cli *c, const arguments *a) {
    static const cli_command *const commands[] = { &price_heston_command, &price_expou_command,
                                                   &price_bullet_command, &price_american_command,
                                                   NULL };
    price_part *parts = calloc((size_t)a->count, sizeof *parts);
    int64_t units;
    int code = parts ? CLI_OK : cli_no_memory();
    for (int i = 0; i < a->count && code == CLI_OK; i++) {
        code = part_read(a->path[i], commands, "units", &parts[i].part);
        if (code == CLI_OK) code = read_sums(&parts[i]);
    }
    if (code == CLI_OK) code = part_check(parts, sizeof *parts, a->count, &units);
    if (code == CLI_OK) code = check_widths(parts, a->count);
    if (code == CLI_OK)
        code = part_run(c, &parts[0].part, a->plot, a->output, &(price_parts){ parts, a->count });
    for (int i = 0; parts && i < a->count; i++) {
        io_json_free(parts[i].part.root);
        free(parts[i].sums);
    }
    free(parts);
    return code;
}

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
    else if (code == CLI_OK && part_is(a.path[0], "cva"))
        code = cva_merge_parts(c, a.path, a.count, a.plot, a.output);
    else if (code == CLI_OK)
        code = merge_prices(c, &a);
    free(a.path);
    return code;
}

const cli_command merge_parts_command = {
    "merge-parts",     "add up the parts of a Monte Carlo command",
    .args = "PART...", .doc = doc,
    .run = command,    .tables = { { options, 0 } }
};
