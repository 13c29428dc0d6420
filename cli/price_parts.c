/* SPDX-License-Identifier: Apache-2.0
 *
 * price_parts.c - simulations in parts: `--shard I/N -o PART` writes the sums of a range of units, and
 * `shoal merge-parts PART...` adds them in their order, with the bits of one run.
 *
 * What such a part has besides what all have (parts.h): how many samples, and the sums of each unit,
 * in 17 digits.
 */
#include "cva.h"
#include "price.h"

#include <stdlib.h>
#include <string.h>

#include "dataset.h"

/* ---- words ----------------------------------------------------------------------------------- */

static void list_word(part_words *w, const char *option, const price_list *list) {
    char *text = malloc((size_t)list->count * 32 + 1);
    w->lost |= !text;
    if (!text) return;
    size_t used = 0;
    for (int64_t i = 0; i < list->count; i++)
        used += (size_t)snprintf(text + used, 32, "%s%.17g", i ? "," : "", list->values[i]);
    part_word(w, option, text);
    free(text);
}

void price_words_of(part_words *w, const cli *c, const price_options *o) {
    char text[40];
    snprintf(text, sizeof text, "%llu", (unsigned long long)c->seed);
    part_word(w, "--seed", text);
    part_word(w, "--math", c->fast_math ? "fast" : "exact");
    part_word(w, "--method", o->method);
    part_word(w, "--type", cli_type_name(o->type));
    part_number(w, "--paths", (double)o->paths);
    part_number(w, "--steps", (double)o->steps);
    if (o->strike.count) list_word(w, "--strike", &o->strike);
    if (o->maturity.count) list_word(w, "--maturity", &o->maturity);
    if (o->put) part_word(w, "--put", NULL);
    if (o->antithetic) part_word(w, "--antithetic", NULL);
    if (o->control) part_word(w, o->control > 0 ? "--control" : "--no-control", NULL);
    if (o->greeks) part_word(w, "--greeks", NULL);
    if (o->bump > 0) part_number(w, "--bump", o->bump);
    if (o->probability) part_word(w, "--probability", NULL);
}

/* ---- writing --------------------------------------------------------------------------------- */

static void write_sums(io_json *j, const void *what) {
    const price_outcome *out = what;
    io_json_int(j, "samples", out->samples);
    io_json_array(j, "sums");
    for (int64_t u = 0; u < out->units; u++)
        io_json_doubles(j, NULL, out->sums + u * out->width, out->width);
    io_json_close(j);
}

int price_part_write(const char *path, const char *command, const part_words *words,
                     const price_options *o, const price_outcome *out) {
    const part p = { .path = path,
                     .command = command,
                     .shard = o->shard,
                     .shards = o->shards,
                     .first = out->first,
                     .count = out->units };
    return part_write(&p, "units", words, write_sums, out);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The words that price_words_of() and the commands write, and no others: a part cannot ask for files. */
static const part_form form = {
    .flags = (const char *const[]){ "--put", "--antithetic", "--control", "--no-control",
                                    "--greeks", "--raw-basis", "--probability", NULL },
    .options =
        (const char *const[]){ "--seed",     "--math",   "--method", "--variant", "--type",
                               "--paths",    "--steps",  "--s0",     "--strike",  "--rate",
                               "--v0",       "--kappa",  "--theta",  "--sigma",   "--rho",
                               "--maturity", "--alpha",  "--m",      "--beta",    "--y0",
                               "--dividend", "--p1",     "--p2",     "--at",      "--barrier",
                               "--dates",    "--count",  "--outer",  "--assets",  "--correlation",
                               "--weights",  "--payoff", "--basis",  "--solver",  "--fit-paths",
                               "--bump",     NULL },
    .unit = "units"
};

static int read_sums(price_part *p) {
    const char *path = p->part.path;
    const io_json_value *sums = io_json_get(p->part.root, "sums");
    const io_json_value *samples = io_json_get(p->part.root, "samples");
    const int64_t units = p->part.count;
    if (!samples || samples->kind != IO_JSON_INT || samples->integer < 0)
        return part_bad(path, "a number is missing");
    p->samples = samples->integer;
    if (!sums || sums->kind != IO_JSON_ARRAY || sums->count != units ||
        units != p->samples / SHOAL_PRICE_UNIT + (p->samples % SHOAL_PRICE_UNIT > 0))
        return part_bad(path, "the sums do not fit");
    p->width = sums->first ? sums->first->count : 0;
    p->sums = calloc((size_t)(units * p->width) + 1, sizeof *p->sums);
    if (!p->sums) return cli_fail(CLI_UNAVAILABLE, "not enough memory");
    double *to = p->sums;
    for (const io_json_value *row = sums->first; row; row = row->next) {
        if (row->kind != IO_JSON_ARRAY || row->count != p->width)
            return part_bad(path, "the sums do not fit");
        for (const io_json_value *x = row->first; x; x = x->next) {
            if (!part_is_number(x)) return part_bad(path, "a sum is no number");
            *to++ = x->number;
        }
    }
    return CLI_OK;
}

static int check_widths(const price_part *parts, int count) {
    for (int i = 1; i < count; i++)
        if (parts[i].part.count && parts[0].part.count && parts[i].width != parts[0].width)
            return part_bad(parts[i].part.path, "it does not follow the one before");
    return CLI_OK;
}

typedef struct arguments {
    int count;
    char **path;
    const char *plot, *output;
} arguments;

/* Runs the command that the parts name, on them. */
static int merge(cli *c, const arguments *a, const price_part *parts) {
    static const struct {
        const char *name;
        int (*run)(cli *c, int argc, char **argv, const price_part *parts, int64_t count);
    } commands[] = { { "price heston", price_heston },
                     { "price expou", price_expou },
                     { "price bullet", price_bullet },
                     { "price american", price_american } };
    enum { COMMANDS = sizeof commands / sizeof *commands };
    const part *p = &parts[0].part;
    int k = 0;
    while (k < COMMANDS && strcmp(p->command, commands[k].name) != 0) k++;
    if (k == COMMANDS) return part_bad(p->path, "this program has no such command");
    part_words w = { 0 };
    part_command(p, a->plot, a->output, &w);
    snprintf(c->command, sizeof c->command, "%s", p->command);
    const int code = w.lost ? cli_fail(CLI_UNAVAILABLE, "not enough memory")
                            : commands[k].run(c, w.count, w.word, parts, a->count);
    part_words_free(&w);
    return code;
}

static int merge_prices(cli *c, const arguments *a) {
    price_part *parts = calloc((size_t)a->count, sizeof *parts);
    int64_t units;
    int code = parts ? CLI_OK : cli_fail(CLI_UNAVAILABLE, "not enough memory");
    for (int i = 0; i < a->count && code == CLI_OK; i++) {
        code = part_read(a->path[i], &form, &parts[i].part);
        if (code == CLI_OK) code = read_sums(&parts[i]);
    }
    if (code == CLI_OK) code = part_check(parts, sizeof *parts, a->count, &units);
    if (code == CLI_OK) code = check_widths(parts, a->count);
    if (code == CLI_OK) code = merge(c, a, parts);
    for (int i = 0; parts && i < a->count; i++) {
        io_json_free(parts[i].part.root);
        free(parts[i].sums);
    }
    free(parts);
    return code;
}

enum { KEY_PLOT = 0x2000 };

/* clang-format off */
static const struct argp_option options[] = {
    { "plot",   KEY_PLOT, "F.svg", 0, "draw what the command would have drawn", 1 },
    { "output", 'o',      "FILE",  0, "of price bullet: keep every point as .npy; of cva: the profile as .csv; of a data set: where to write it", 1 },
    { 0 }
};
/* clang-format on */

static error_t parse(int key, char *arg, struct argp_state *state) {
    arguments *a = state->input;
    switch (key) {
    case KEY_PLOT: a->plot = arg; return 0;
    case 'o': a->output = arg; return 0;
    case ARGP_KEY_ARG: a->path[a->count++] = arg; return 0;
    case ARGP_KEY_END:
        if (a->count == 0) argp_error(state, "a part is missing");
        cli_check_outputs(state, (const char *[CLI_OUTPUTS]){ a->output, a->plot }, NULL);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const char doc[] =
    "Adds up the parts of a Monte Carlo command that was run with --shard I/N -o PART, all of them, "
    "and prints what the command would have printed in one run: the same bits."
    "\vExample:\n  shoal price heston --paths 1e9 --shard 1/2 -o a.part\n"
    "  shoal price heston --paths 1e9 --shard 2/2 -o b.part\n  shoal merge-parts a.part b.part";

int cmd_merge_parts(cli *c, int argc, char **argv) {
    static const struct argp argp = {
        .options = options, .parser = parse, .args_doc = "PART...", .doc = doc
    };
    arguments a = { .path = calloc((size_t)argc + 1, sizeof *a.path) };
    int code = a.path ? cli_parse(c, &argp, argc, argv, &a)
                      : cli_fail(CLI_UNAVAILABLE, "not enough memory");
    if (code == CLI_OK && dataset_is_part(a.path[0]))
        code = a.plot ? cli_fail(CLI_USAGE, "--plot: a data set has no picture")
                      : dataset_merge(c, (const char *const *)a.path, a.count, a.output);
    else if (code == CLI_OK && part_is(a.path[0], "cva"))
        code = cva_merge_parts(c, a.path, a.count, a.plot, a.output);
    else if (code == CLI_OK)
        code = merge_prices(c, &a);
    free(a.path);
    return code;
}
