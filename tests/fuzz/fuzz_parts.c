/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_parts.c - libFuzzer target: any bytes as the files of `shoal merge-parts`, parts of prices and of CVA,
 * with lines "---" between them.
 *
 * The commands that the parts name are not run: what they would be given must be whole. All numbers that
 * a part promises are there, and no word names a file to write.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/cva.h"
#include "cli/dataset.h"
#include "cli/price.h"
#include "fuzz.h"

enum { PARTS = 4 };

/* One that does not change, so that files of the corpus stay parts. */
const char *shoal_version(void) { return "0.0.0"; }

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

static int use_parts(int argc, char **argv, const price_part *parts, int64_t count) {
    int64_t next = 0;
    volatile double used = 0;
    check_words(argc, argv);
    for (int64_t i = 0; i < count; i++) {
        const part *p = &parts[i].part;
        if (p->first != next || p->shard != i + 1 || p->shards != count) abort();
        next += p->count;
        for (int64_t k = 0; k < p->count * parts[i].width; k++) used += parts[i].sums[k];
    }
    (void)used;
    return CLI_OK;
}

int price_heston(cli *c, int argc, char **argv, const price_part *parts, int64_t count) {
    (void)c;
    return use_parts(argc, argv, parts, count);
}
int price_expou(cli *c, int argc, char **argv, const price_part *parts, int64_t count) {
    (void)c;
    return use_parts(argc, argv, parts, count);
}
int price_bullet(cli *c, int argc, char **argv, const price_part *parts, int64_t count) {
    (void)c;
    return use_parts(argc, argv, parts, count);
}
int price_american(cli *c, int argc, char **argv, const price_part *parts, int64_t count) {
    (void)c;
    return use_parts(argc, argv, parts, count);
}

int cva_command(cli *c, int argc, char **argv, const cva_joined *joined) {
    volatile double used = 0;
    (void)c;
    check_words(argc, argv);
    if (!joined->book || !joined->market) abort();
    for (int64_t k = 0; k < joined->paths * joined->width; k++) used += joined->rows[k];
    (void)used;
    return CLI_OK;
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

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static char name[] = "shoal merge-parts";
    fuzz_file file[PARTS];
    char *argv[PARTS + 2] = { name };
    const int count = fuzz_files_of(bytes, size, file, PARTS);
    for (int i = 0; i < count; i++) argv[i + 1] = file[i].path;
    cli c = { .backend = "cpu", .seed = CLI_SEED };
    if (count > 0) cmd_merge_parts(&c, count + 1, argv);
    for (int i = 0; i < count; i++) fuzz_file_close(&file[i]);
    return 0;
}
