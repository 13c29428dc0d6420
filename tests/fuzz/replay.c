/* SPDX-License-Identifier: Apache-2.0
 *
 * replay.c - runs a fuzzer over files, without libFuzzer: replay_NAME FILE_OR_FOLDER... A folder is all
 * the files in it. What would have been a finding ends the program. No file at all is an error.
 */
#define _POSIX_C_SOURCE 200809L

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"
#include "io/file.h"

enum { LARGEST = 1 << 20 };

/* Whether it could be read; the bytes are copied, so that a sanitizer sees their end. */
static int replay_file(const char *path) {
    char *text;
    size_t size;
    io_error err;
    if (io_file_read(path, LARGEST, &text, &size, &err) != IO_OK) {
        fprintf(stderr, "%s\n", err.text);
        return 0;
    }
    uint8_t *exact = malloc(size ? size : 1);
    for (size_t i = 0; exact && i < size; i++) exact[i] = (uint8_t)text[i];
    free(text);
    if (exact) LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    return exact != NULL;
}

/* How many files were run; -1 if one could not be read. */
static int replay(const char *path) {
    DIR *folder = opendir(path);
    if (!folder) return replay_file(path) ? 1 : -1;
    int count = 0;
    for (struct dirent *entry; count >= 0 && (entry = readdir(folder));) {
        char name[4096];
        if (entry->d_name[0] == '.') continue;
        if (snprintf(name, sizeof name, "%s/%s", path, entry->d_name) >= (int)sizeof name ||
            !replay_file(name))
            count = -2;
        count++;
    }
    closedir(folder);
    return count;
}

int main(int argc, char **argv) {
    int files = 0;
    for (int i = 1; i < argc; i++) {
        const int more = replay(argv[i]);
        if (more < 0) return 1;
        files += more;
    }
    printf("%d files read, as the reader promises\n", files);
    return files > 0 ? 0 : 1;
}
