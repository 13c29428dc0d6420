/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_parts.c - libFuzzer target: any bytes as the files of `shoal merge-parts`, parts of prices and of CVA,
 * with lines "---" between them. Parts are given the version of this program and their checksum.
 *
 * The commands that the parts name are not run: what they would be given must be whole. All numbers that
 * a part promises are there, and no word names a file to write.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/common/ranks.h"
#include "cli/common/units.h"
#include "cli/network/dataset.h"
#include "core/crc32.h"
#include "fuzz.h"

enum { PARTS = 4 };

/* ---- what stands for the commands ------------------------------------------------------------- */

/* Words as a part may have them: flags, or options with a value; none that writes, and none cut short, which
 * argp would complete. */
static void check_words(int argc, char **argv) {
    static const char *const flags[] = { "--put",         "--antithetic", "--control",
                                         "--no-control",  "--greeks",     "--raw-basis",
                                         "--probability", "--no-netting", "--not-stopped" };
    if (argc < 1 || argv[argc]) abort();
    for (int i = 1; i < argc; i++) {
        bool flag = false;
        for (size_t k = 0; k < sizeof flags / sizeof *flags; k++)
            flag = flag || strcmp(argv[i], flags[k]) == 0;
        if (strncmp(argv[i], "--", 2) != 0 || strncmp(argv[i], "--o", 3) == 0) {
            if (strcmp(argv[i], "--outer") != 0) abort();
        }
        if (strncmp(argv[i], "--pl", 4) == 0 || strncmp(argv[i], "--rep", 5) == 0) abort();
        if (!flag && ++i == argc) abort();
    }
}

static int use_parts(cli *c, int argc, char **argv) {
    const unit_files *files = c->parts;
    volatile unsigned char used = 0;
    check_words(argc, argv);
    for (int64_t i = 0; i < files->count; i++) {
        const shoal_unit *u = &files->file[i].about;
        const unsigned char *bytes = u->result;
        if (u->unit != i || u->units != files->count) abort();
        if (strlen(u->kind) >= SHOAL_UNITS_KIND || strcmp(u->version, shoal_version()) != 0)
            abort();
        if (u->first < 0 || u->rows < 0 || u->first > u->all - u->rows) abort();
        for (size_t k = 0; k < (size_t)u->rows * u->row_bytes; k++) used ^= bytes[k];
        for (size_t k = 0; k < u->input_bytes; k++) used ^= ((const unsigned char *)u->inputs)[k];
    }
    for (int i = 0; i < UNIT_TEXTS; i++)
        if (files->text[i]) used ^= (unsigned char)strlen(files->text[i]);
    (void)used;
    return CLI_OK;
}

/* Options that parts have, and some that they do not have. */
#define FLAG(word)                                                                                 \
    { word, OPT_FLAG, .in = IN_PART }
#define VALUE(word)                                                                                \
    { word, OPT_TEXT, .in = IN_PART }
#define OTHER(word)                                                                                \
    { word, OPT_OUTPUT, .in = 0 }
static const cli_option price_words[] = { FLAG("put"),        FLAG("antithetic"), FLAG("control"),
                                          FLAG("no-control"), FLAG("greeks"),     FLAG("raw-basis"),
                                          VALUE("method"),    VALUE("type"),      VALUE("paths"),
                                          VALUE("steps"),     VALUE("s0"),        VALUE("strike"),
                                          VALUE("rate"),      VALUE("dividend"),  VALUE("v0"),
                                          VALUE("kappa"),     VALUE("theta"),     VALUE("sigma"),
                                          VALUE("rho"),       VALUE("maturity"),  VALUE("alpha"),
                                          VALUE("m"),         VALUE("beta"),      VALUE("y0"),
                                          VALUE("p1"),        VALUE("p2"),        VALUE("at"),
                                          VALUE("barrier"),   VALUE("dates"),     VALUE("count"),
                                          OTHER("plot"),      OTHER("output"),    { 0 } };
static const cli_option cva_words[] = { FLAG("no-netting"), FLAG("not-stopped"), FLAG("raw-basis"),
                                        VALUE("book"),      VALUE("market"),     VALUE("rate"),
                                        VALUE("hazard"),    VALUE("recovery"),   VALUE("threshold"),
                                        VALUE("dates"),     VALUE("horizon"),    VALUE("outer"),
                                        VALUE("inner"),     VALUE("exposure"),   VALUE("estimator"),
                                        VALUE("degree"),    VALUE("solver"),     VALUE("type"),
                                        OTHER("report"),    OTHER("output"),     { 0 } };
#define COMMAND(name, words)                                                                       \
    &(const cli_command) {                                                                         \
        name, .run = use_parts, .tables = { { words, 0 }, { unit_options, 0 } }                    \
    }
static const cli_command root = {
    .below =
        (const cli_command *const[]){
            COMMAND("price heston", price_words), COMMAND("price expou", price_words),
            COMMAND("price bullet", price_words), COMMAND("price american", price_words),
            COMMAND("dataset expou", price_words), COMMAND("cva", cva_words), NULL }
};

/* No option of merge-parts names a method, and no context is opened. */
int cli_check_method_of(const char *who, const char *what, const char *module, const char *method,
                        const char *variant) {
    (void)who, (void)what, (void)module, (void)method, (void)variant;
    abort();
}
int cli_open(cli *c) {
    static shoal_context *ctx;
    if (!ctx && shoal_open(&(shoal_options){ .backend = "cpu", .threads = 1 }, &ctx) != SHOAL_OK)
        abort();
    c->ctx = ctx;
    return CLI_OK;
}
int cli_status(cli *c, shoal_status status) {
    return status == SHOAL_OK ? CLI_OK : cli_fail(CLI_INPUT, "%s", shoal_message(c->ctx));
}
void cli_catch_interrupt(void) {}
void cli_note_no_seed(const cli *c) { (void)c; }
void cli_note_no_fast_math(const cli *c) { (void)c; }

/* One process, which merges and does not compute. */
int ranks_count(void) { return 1; }
int units_work(cli *c, const unit_job *job, shoal_units *units) {
    (void)c, (void)job, (void)units;
    abort();
}
int units_answer(cli *c, shoal_units *units) {
    (void)c, (void)units;
    abort();
}

/* Parts of data sets have readers of their own. */
bool dataset_is_part(const char *path) {
    (void)path;
    return false;
}
int dataset_merge(cli *c, const char *const *path, int count, const char *output) {
    (void)c, (void)path, (void)count, (void)output;
    abort();
}

/* ---- the files --------------------------------------------------------------------------------- */

enum { AT_VERSION = 64, VERSION = 16, CHECKSUM = 4 };

/* What fuzzers cannot guess. */
static void seal(const fuzz_file *file) {
    struct stat about;
    unsigned char *bytes;
    if (fstat(file->fd, &about) != 0 || about.st_size < AT_VERSION + VERSION + CHECKSUM) return;
    const size_t size = (size_t)about.st_size;
    if (!(bytes = malloc(size)) || pread(file->fd, bytes, size, 0) != about.st_size) abort();
    memset(bytes + AT_VERSION, 0, VERSION);
    memcpy(bytes + AT_VERSION, shoal_version(), strlen(shoal_version()));
    const uint32_t crc = shoal_crc32(0, bytes, size - CHECKSUM);
    memcpy(bytes + size - CHECKSUM, &crc, CHECKSUM);
    if (pwrite(file->fd, bytes, size, 0) != about.st_size) abort();
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static char name[] = "shoal merge-parts";
    fuzz_file file[PARTS];
    char *argv[PARTS + 2] = { name };
    const int count = fuzz_files_of(bytes, size, file, PARTS);
    for (int i = 0; i < count; i++) {
        argv[i + 1] = file[i].path;
        seal(&file[i]);
    }
    cli c = { .root = &root, .backend = "cpu", .seed = CLI_SEED };
    if (count > 0) merge_parts_command.run(&c, count + 1, argv);
    for (int i = 0; i < count; i++) fuzz_file_close(&file[i]);
    return 0;
}
