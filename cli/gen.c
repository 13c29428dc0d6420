/* SPDX-License-Identifier: Apache-2.0
 *
 * gen.c - `shoal gen`: test problems, or random numbers, as .npy files. Reads the command line,
 * lists the kinds, and leaves the rest to the module (gen_tridiag.c, gen_smallsym.c,
 * gen_symindef.c, gen_recur.c, gen_rng.c).
 */
#include "gen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/npy.h"
#include "io/text.h"
#include "words.h"

enum { KEY_FIRST = 0x2000, KEY_LIST = KEY_FIRST + GEN_OPTIONS };

#define KEY(option) (KEY_FIRST + (option))
/* clang-format off */
static const struct argp_option options[] = {
    { "output",  'o',              "STEM", 0, "how the names of the files begin", 1 },
    { "count",   KEY(GEN_COUNT),   "C",    0, "number of systems (without it one, and arrays without that axis), or of random numbers", 2 },
    { "n",       KEY(GEN_N),       "N",    0, "unknowns of a system, or coordinates of a Sobol point", 3 },
    { "type",    KEY(GEN_TYPE),    "T",    0, "f32 or f64 [f64]", 4 },
    { "list",    KEY_LIST,         NULL,   0, "name the kinds and write nothing", 5 },
    { NULL,      0,                NULL,   0, "Of tridiag, which writes STEM-dl.npy, STEM-d.npy, STEM-du.npy and STEM-b.npy:", 6 },
    { "nrhs",    KEY(GEN_NRHS),    "R",    0, "right-hand sides; adds a last axis to b [1, no axis]", 6 },
    { "layout",  KEY(GEN_LAYOUT),  "L",    0, "system: (count,n), or interleaved: (n,count) [system]", 6 },
    { NULL,      0,                NULL,   0, "Of smallsym, which writes STEM-A.npy and STEM-b.npy (--nrhs as above):", 7 },
    { "packed",  KEY(GEN_PACKED),  NULL,   0, "one triangle, row after row: A of shape (count,n(n+1)/2)", 7 },
    { "triangle", KEY(GEN_TRIANGLE), "T",  0, "lower or upper: the one that is filled [lower]", 7 },
    { "parameter", KEY(GEN_PARAMETER), "X", 0, "of the kind, as `--list' says", 7 },
    { NULL,      0,                NULL,   0, "Of symindef, which writes STEM.npy, or STEM if that ends in .npy, .mtx or .h5: --n and --type alone.", 8 },
    { NULL,      0,                NULL,   0, "Of recur, which writes STEM-s.npy, STEM-t.npy and STEM-w0.npy (--layout as above):", 9 },
    { "order",   KEY(GEN_ORDER),   "R",    0, "1 to 4; above 1 s and w0 have a last axis of R [1]", 9 },
    { NULL,      0,                NULL,   0, "Of rng, which writes STEM.npy:", 10 },
    { "variant", KEY(GEN_VARIANT), "V",    0, "variant of the kind [its first]", 10 },
    { "lambda",  KEY(GEN_LAMBDA),  "X",    0, "mean of poisson; non-centrality of ncchisq", 10 },
    { "alpha",   KEY(GEN_ALPHA),   "X",    0, "shape of gamma", 10 },
    { "df",      KEY(GEN_DF),      "X",    0, "degrees of freedom of ncchisq", 10 },
    { "first",   KEY(GEN_FIRST),   "I",    0, "the number of the stream to begin with [0]", 10 },
    { "step",    KEY(GEN_STEP),    "I",    0, "which stream of the seed: 0 to 2^32 - 1 [0]", 10 },
    { "purpose", KEY(GEN_PURPOSE), "I",    0, "the same: 0 to 253 [0]", 10 },
    { "draw",    KEY(GEN_DRAW),    "I",    0, "the same: 0 to 4095 [0]", 10 },
    { 0 }
};
/* clang-format on */

static const char doc[] =
    "Writes test problems of a module (the matrices of the papers and awkward ones), or random "
    "numbers. `--list' names the kinds. --seed chooses the random numbers; the same seed gives the "
    "same files everywhere."
    "\vExample:\n  shoal gen --list\n"
    "  shoal gen tridiag dominant --n 255 --count 1e5 --type f32 -o t\n"
    "  shoal gen smallsym spd --n 32 --count 1000 -o s\n"
    "  shoal gen symindef equidistant --n 1000 -o A\n"
    "  shoal gen rng poisson --count 1e6 --lambda 64 --seed 7 -o p";

bool gen_given(const gen_arguments *a, int option) { return (a->given >> option & 1) != 0; }

const char *gen_option(int option) {
    const struct argp_option *o = options;
    while (o->key != KEY(option)) o++;
    return o->name;
}

void gen_allow(const gen_arguments *a, struct argp_state *state, unsigned allowed) {
    for (int i = 0; i < GEN_OPTIONS; i++)
        if (gen_given(a, i) && !(allowed >> i & 1))
            argp_error(state, "--%s is no option of module '%s'", gen_option(i), a->module);
}

static void check_complete(const gen_arguments *a, struct argp_state *state) {
    const cli_module *module = a->module ? cli_module_find(a->module) : NULL;
    if (a->list) return;
    if (!a->module || (!a->kind && module))
        argp_error(state, "a %s missing; `shoal gen --list' names them",
                   a->module ? "kind is" : "module and a kind are");
    if (a->input && !(module && module->converts))
        argp_error(state, "unexpected argument '%s'", a->input);
    if (module) module->check(a, state); /* else there is more to say: cmd_gen */
    if (!a->stem && module) argp_error(state, "-o is missing: how the names of the files begin");
}

/* Any number, also NaN: it is the library that knows what a law allows, and says so. */
static double read_real(struct argp_state *state, const char *option, const char *text) {
    double value = 0;
    if (!io_text_double(text, strlen(text), &value))
        argp_error(state, "%s: '%s' is not a number", option, text);
    return value;
}

static uint32_t read_word(struct argp_state *state, const char *option, const char *text) {
    return (uint32_t)cli_arg_int(state, option, text, 0, UINT32_MAX);
}

static void parse_option(gen_arguments *a, int option, char *arg, struct argp_state *state) {
    a->given |= 1u << option;
    /* clang-format off */
    switch (option) {
    case GEN_N:       a->n = cli_arg_int(state, "--n", arg, 0, INT64_MAX); break;
    case GEN_COUNT:   a->count = cli_arg_int(state, "--count", arg, 0, INT64_MAX); break;
    case GEN_NRHS:    a->nrhs = cli_arg_int(state, "--nrhs", arg, 1, INT64_MAX); break;
    case GEN_TYPE:    a->type = cli_arg_type(state, arg); break;
    case GEN_LAYOUT:  a->layout = cli_arg_layout(state, arg); break;
    case GEN_PACKED:  break;
    case GEN_TRIANGLE:  a->triangle = cli_arg_triangle(state, arg); break;
    case GEN_PARAMETER: a->parameter = cli_arg_double(state, "--parameter", arg); break;
    case GEN_VARIANT: a->variant = arg; break;
    case GEN_LAMBDA:  a->lambda = read_real(state, "--lambda", arg); break;
    case GEN_ALPHA:   a->alpha = read_real(state, "--alpha", arg); break;
    case GEN_DF:      a->df = read_real(state, "--df", arg); break;
    case GEN_FIRST:   a->first = cli_arg_seed(state, "--first", arg); break;
    case GEN_STEP:    a->step = read_word(state, "--step", arg); break;
    case GEN_PURPOSE: a->purpose = read_word(state, "--purpose", arg); break;
    case GEN_DRAW:    a->draw = read_word(state, "--draw", arg); break;
    case GEN_ORDER:   a->order = cli_arg_int(state, "--order", arg, 1, SHOAL_RECUR_ORDERS); break;
    default:          break;
    }
    /* clang-format on */
}

static error_t parse(int key, char *arg, struct argp_state *state) {
    gen_arguments *a = state->input;
    if (key >= KEY_FIRST && key < KEY_LIST) {
        parse_option(a, key - KEY_FIRST, arg, state);
        return 0;
    }
    switch (key) {
    case KEY_LIST: a->list = true; return 0;
    case 'o': a->stem = arg; return 0;
    case ARGP_KEY_ARG:
        if (a->input) argp_error(state, "unexpected argument '%s'", arg);
        if (a->kind)
            a->input = arg;
        else if (a->module)
            a->kind = arg;
        else
            a->module = arg;
        return 0;
    case ARGP_KEY_END: check_complete(a, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static int list_kinds(cli *c, const char *only) {
    io_json *j = c->json ? cli_json_begin(c, "gen") : NULL;
    if (j) io_json_array(j, "kinds");
    for (const cli_module *m = cli_modules; m->name; m++) {
        if (only && strcmp(only, m->name) != 0) continue;
        const char *kind;
        for (int i = 0; (kind = m->kind(i)); i++) {
            if (!j) {
                printf("%-8s %-12s %s\n", m->name, kind, m->kind_text(i));
                continue;
            }
            io_json_object_line(j, NULL);
            io_json_string(j, "module", m->name);
            io_json_string(j, "kind", kind);
            io_json_string(j, "text", m->kind_text(i));
            io_json_close(j);
        }
    }
    if (!j) return CLI_OK;
    io_json_close(j);
    return cli_json_end(c, CLI_OK);
}

int gen_file_open(gen_file *f, const char *stem, const char *suffix) {
    io_error err;
    if (snprintf(f->path, GEN_PATH, "%s%s.npy", stem, suffix) >= GEN_PATH)
        return cli_fail(CLI_OUTPUT, "the file name %.40s... is too long", stem);
    int status = io_out_open(f->path, &f->file, &err);
    if (status == IO_OK)
        status = io_npy_header(io_out_file(f->file), f->path, f->type, f->ndim, f->shape, &err);
    return status == IO_OK ? CLI_OK : cli_io(IO_E_WRITE, &err);
}

bool gen_file_write(gen_file *f, const void *data, size_t bytes) {
    return fwrite(data, 1, bytes, io_out_file(f->file)) == bytes;
}

int gen_file_close(gen_file *f, int code) {
    io_error err;
    if (code == CLI_OK)
        code = cli_io(io_out_commit(f->file, &err), &err);
    else
        io_out_abandon(f->file);
    f->file = NULL;
    return code;
}

void gen_print_files(const gen_file *files, int count) {
    static const char *const names[] = { [IO_F4] = "f32", [IO_F8] = "f64", [IO_U4] = "u32" };
    char shape[96];
    for (int i = 0; i < count; i++)
        printf("%-*s  %s %s\n", (int)strlen(files[0].path), files[i].path, names[files[i].type],
               io_shape_text(files[i].ndim, files[i].shape, shape, sizeof shape));
}

int cmd_gen(cli *c, int argc, char **argv) {
    static const struct argp argp = { .options = options,
                                      .parser = parse,
                                      .args_doc = "MODULE KIND\nsymindef triplets FILE\n--list",
                                      .doc = doc };
    gen_arguments a = { .count = 1, .nrhs = 1, .parameter = NAN, .order = 1 };
    int code = cli_parse_argp(c, &argp, argc, argv, &a);
    const cli_module *module = code == CLI_OK && a.module ? cli_module_find(a.module) : NULL;
    if (code == CLI_OK && a.module && !module)
        code = cli_unknown(argv[0], "module", a.module, cli_module_name, NULL);
    if (code == CLI_OK && !a.list) code = cli_check_kind(argv[0], a.module, a.kind);
    if (code == CLI_OK && !a.list && a.variant)
        code = cli_check_method(argv[0], a.module, a.kind, a.variant);
    if (code != CLI_OK) return code;
    if ((a.list || module->on_host) && strcmp(c->backend, "auto") == 0) c->backend = "cpu";
    code = cli_open(c);
    if (code != CLI_OK) return code;
    if (!a.list) return module->write(c, &a);
    cli_note_no_fast_math(c);
    cli_note_no_seed(c);
    return list_kinds(c, a.module);
}
