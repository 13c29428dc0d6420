/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_study.c - libFuzzer target: any bytes as the JSON of `shoal report --study`, of which a page with pictures
 * is made. It is made, or there is a message of one line.
 *
 * Page and pictures go to a folder of their own, which is there until the program ends.
 */
#define _XOPEN_SOURCE 700

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/study.h"
#include "fuzz.h"

static char folder[] = "/tmp/fuzz_study_XXXXXX";

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *at) {
    (void)about, (void)kind, (void)at;
    return remove(path);
}

static void remove_folder(void) { nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS); }

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static char page[sizeof folder + 16];
    io_error err = { .text = "" };
    if (!page[0]) {
        if (!mkdtemp(folder)) abort();
        atexit(remove_folder);
        snprintf(page, sizeof page, "%s/page.md", folder);
    }
    fuzz_file file = fuzz_file_of(bytes, size);
    if (file.fd >= 0 && bench_study_page(file.path, page, &err) != IO_OK &&
        (!err.text[0] || strchr(err.text, '\n')))
        abort();
    fuzz_file_close(&file);
    return 0;
}
