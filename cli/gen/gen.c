/* SPDX-License-Identifier: Apache-2.0
 *
 * gen.c - `shoal gen`: test problems, or random numbers, as .npy files. Reads the command line,
 * lists the kinds, and leaves the rest to the module (batch.c, symindef.c, rng.c).
 */
#include "gen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/npy.h"

/* clang-format off */
#define AT(member) CLI_AT(gen_arguments, member)
#define GIVEN(member) .given = offsetof(gen_arguments, given.member)
static const cli_option options[] = {
    { NULL,      OPT_TEXT,   AT(module),   "MODULE", 0, "what the problems are for", .suggest = "@modules" },
    { NULL,      OPT_TEXT,   AT(kind),     "KIND", 0, "kind of problem", .suggest = "@kinds" },
    { NULL,      OPT_INPUT,  AT(input),    "FILE", 0, "symindef triplets: the file to convert" },
    { "output",  OPT_TEXT,   AT(stem),     "STEM", 1, "the beginning of the files' names; - for symindef and rng: standard output", .letter = 'o' },
    { "count",   OPT_INT,    AT(count),    "C",    2, "number of systems (default: one, in arrays without that axis), or of random numbers", GIVEN(count), .usual = "", .of = "tridiag band smallsym recur rng" },
    { "from",    OPT_INT,    AT(from),     "K",    2, "number of the first system: to write a batch of tridiag, band, smallsym or recur in parts", .of = "tridiag band smallsym recur" },
    { "n",       OPT_INT,    AT(n),        "N",    3, "unknowns per system, or coordinates per Sobol point", GIVEN(n), .usual = "" },
    { "type",    OPT_CHOICE, AT(type),     "T",    4, "f32 or f64", GIVEN(type), .words = CLI_TYPES },
    { "list",    OPT_FLAG,   AT(list),     NULL,   5, "list the kinds and write nothing" },
    { .kind = OPT_HEADING, .group = 6, .help = "tridiag, which writes STEM-dl.npy, STEM-d.npy, STEM-du.npy and STEM-b.npy:" },
    { "nrhs",    OPT_INT,    AT(nrhs),     "R",    6, "right-hand sides; adds an axis at the end of b", 1, GIVEN(nrhs), .usual = "1, no axis", .of = "tridiag band smallsym" },
    { "layout",  OPT_CHOICE, AT(layout),   "L",    6, "shape of the arrays: system is (count,n), interleaved is (n,count)", .words = CLI_LAYOUTS, .of = "tridiag band recur" },
    { "form",    OPT_CHOICE, AT(form),     "F",    6, "band, which also writes STEM-dl2.npy and STEM-du2.npy: penta is real and pentadiagonal, cpenta complex, ctridiag complex and tridiagonal", .words = GEN_FORMS, .of = "band" },
    { .kind = OPT_HEADING, .group = 7, .help = "smallsym, which writes STEM-A.npy and STEM-b.npy (--nrhs as above):" },
    { "packed",  OPT_FLAG,   AT(storage),  NULL,   7, "one triangle, row after row: A of shape (count,n(n+1)/2)", .value = SHOAL_PACKED, .of = "smallsym" },
    { "triangle", OPT_CHOICE, AT(triangle), "T",   7, "the triangle that is filled: lower or upper", .words = CLI_TRIANGLES, .of = "smallsym" },
    { "parameter", OPT_REAL, AT(parameter), "X",   7, "parameter of the kind: see `--list'", .of = "smallsym" },
    { .kind = OPT_HEADING, .group = 8, .help = "symindef, which writes STEM.npy, or STEM if that ends in .npy, .mtx or .h5: only --n and --type." },
    { .kind = OPT_HEADING, .group = 9, .help = "recur, which writes STEM-s.npy, STEM-t.npy and STEM-w0.npy (--layout as above):" },
    { "order",   OPT_INT,    AT(order),    "R",    9, "order of the recurrence: for R > 1 s and w0 have a last axis of R", 1, SHOAL_RECUR_ORDERS, .of = "recur" },
    { .kind = OPT_HEADING, .group = 10, .help = "rng, which writes STEM.npy, or STEM if that ends in .npy:" },
    { "variant", OPT_TEXT,   AT(rng.variant), "V", 10, "variant of the kind", .usual = "the first", .of = "rng" },
    { "lambda",  OPT_ANY_REAL, AT(rng.lambda), "X", 10, "mean of poisson; non-centrality of ncchisq", GIVEN(lambda), .usual = "", .of = "rng" },
    { "alpha",   OPT_ANY_REAL, AT(rng.alpha), "X", 10, "shape of gamma", GIVEN(alpha), .usual = "", .of = "rng" },
    { "df",      OPT_ANY_REAL, AT(rng.df), "X",    10, "degrees of freedom of ncchisq", GIVEN(df), .usual = "", .of = "rng" },
    { "first",   OPT_SEED,   AT(first),    "I",    10, "index of the first number in its stream", .of = "rng" },
    { "step",    OPT_INT,    AT(rng.step), "I",    10, "stream of the seed: its step, 0 to 2^32 - 1", 0, UINT32_MAX, .of = "rng" },
    { "purpose", OPT_INT,    AT(rng.purpose), "I", 10, "stream of the seed: its purpose, 0 to 127", 0, UINT32_MAX, .of = "rng" },
    { "draw",    OPT_INT,    AT(rng.draw), "I",    10, "stream of the seed: its draw, 0 to 255", 0, UINT32_MAX, .of = "rng" },
    { 0 }
};
static const char doc[] =
    "Writes test problems of a module (the matrices of the papers, and difficult ones), or random numbers. `--list' lists the "
    "kinds. --seed selects the random numbers; the same seed writes the same files on every machine.\vExample:\n"
    "  shoal gen tridiag dominant --n 255 --count 1e5 --type f32 -o t\n"
    "  shoal gen smallsym spd --n 32 --count 1000 -o s\n"
    "  shoal gen symindef equidistant --n 1000 -o A\n"
    "  shoal gen rng poisson --count 1e6 --lambda 64 --seed 7 -o p\n"
    "  shoal gen --list";
/* clang-format on */

static const char standard[] = "/dev/stdout"; /* what "-" becomes */

bool gen_given(const gen_arguments *a, const char *option) {
    char name[CLI_NAME];
    return cli_given_among(&gen_command, a, option, name) != NULL;
}

static void check(void *of, struct argp_state *state) {
    gen_arguments *a = of;
    const cli_module *module = a->module ? cli_module_find(a->module) : NULL;
    if (a->list) return;
    if (!a->module || (!a->kind && module))
        argp_error(state, "%s missing: `shoal gen --list' lists them",
                   a->module ? "KIND is" : "MODULE and KIND are");
    if (a->input && !(module && module->converts))
        argp_error(state, "unexpected argument '%s'", a->input);
    if (!module) return; /* there is more to say: command */
    cli_check_belongs(state, "module", a->module);
    if (cli_check_kind(state->name, a->module, a->kind) != CLI_OK) exit(CLI_USAGE);
    module->check(a, state);
    if (!a->stem) argp_error(state, "-o is missing: the beginning of the files' names");
    if (cli_ends_in(a->stem, ".csv"))
        argp_error(state, "-o: '%s' ends in .csv, but gen writes .npy files", a->stem);
    if (strcmp(a->stem, "-") == 0) a->stem = standard;
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

int gen_name_file(char path[GEN_PATH], const char *stem, const char *suffix) {
    const bool whole = !*suffix && (cli_ends_in(stem, ".npy") || strcmp(stem, standard) == 0);
    return snprintf(path, GEN_PATH, "%s%s%s", stem, suffix, whole ? "" : ".npy") < GEN_PATH
               ? CLI_OK
               : cli_fail(CLI_OUTPUT, "%.40s...: the file name is too long", stem);
}

int gen_file_open(gen_file *f, const char *stem, const char *suffix) {
    io_error err;
    const int code = gen_name_file(f->path, stem, suffix);
    if (code != CLI_OK) return code;
    int status = io_out_open(f->path, &f->file, &err);
    if (status == IO_OK)
        status = io_npy_header(io_out_file(f->file), f->path, f->type, f->ndim, f->shape, &err);
    return status == IO_OK ? CLI_OK : cli_io(IO_E_WRITE, &err);
}

bool gen_file_write(gen_file *f, const void *data, size_t bytes) {
    FILE *file = io_out_file(f->file);
    return io_write(file, data, bytes, NULL) == IO_OK && !ferror(file);
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
    static const char *const names[] = {
        [IO_F4] = "f32", [IO_F8] = "f64", [IO_U4] = "u32", [IO_C8] = "c64", [IO_C16] = "c128"
    };
    char shape[96];
    for (int i = 0; i < count; i++)
        printf("%-*s  %s %s\n", (int)strlen(files[0].path), files[i].path, names[files[i].type],
               io_shape_text(files[i].ndim, files[i].shape, shape, sizeof shape));
}

static int command(cli *c, int argc, char **argv) {
    gen_arguments a = { .count = 1, .nrhs = 1, .parameter = NAN, .order = 1 };
    int code = cli_parse(c, &gen_command, argc, argv, &a);
    const cli_module *module = code == CLI_OK && a.module ? cli_module_find(a.module) : NULL;
    if (code == CLI_OK && a.module && !module)
        code = cli_unknown(argv[0], "module", a.module, cli_module_name, NULL);
    if (code == CLI_OK && !a.list && a.rng.variant)
        code = cli_check_method(argv[0], a.module, a.kind, a.rng.variant);
    if (code != CLI_OK) return code;
    if (a.stem == standard && c->json)
        return cli_fail(CLI_USAGE, "-o -: --json prints to standard output");
    if (a.stem == standard) stdout = stderr; /* as in cli/common/options.c */
    if ((a.list || module->on_host) && strcmp(c->backend, "auto") == 0) c->backend = "cpu";
    code = cli_open(c);
    if (code != CLI_OK) return code;
    if (!a.list) return module->write(c, &a);
    cli_note_no_fast_math(c);
    cli_note_no_seed(c);
    return list_kinds(c, a.module);
}

const cli_command gen_command = { "gen",
                                  "write test problems, or random numbers, to .npy files",
                                  .args = "MODULE KIND\nsymindef triplets FILE\n--list",
                                  .doc = doc,
                                  .run = command,
                                  .tables = { { options, 0 } },
                                  .check = check,
                                  .task = "Test and measure" };
