/* SPDX-License-Identifier: Apache-2.0
 *
 * outputs.c - whether the files that a command line names can be written, before any work.
 */
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool cli_same_file(const char *a, const char *b) {
    struct stat x, y;
    return a && b && stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

/* The folder of a file that need not exist, without links, with a place for the file's name: from malloc. NULL: it
 * is not there. */
static char *folder_of(const char *path, const char **name) {
    const char *slash = strrchr(path, '/');
    char *copy = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    char *folder = copy ? realpath(copy, NULL) : NULL;
    const int reason = errno;
    *name = slash ? slash + 1 : path;
    free(copy);
    errno = reason;
    return folder;
}

/* Whether two outputs would be one file: under two spellings, or by a link. Devices and pipes may be given twice. */
static bool one_output(const char *a, const char *b) {
    struct stat file;
    if (stat(a, &file) == 0) return S_ISREG(file.st_mode) && cli_same_file(a, b);
    if (strcmp(a, b) == 0) return true;
    const char *name, *other;
    char *folder = folder_of(a, &name), *another = folder_of(b, &other);
    const bool same = folder && another && strcmp(folder, another) == 0 && strcmp(name, other) == 0;
    free(folder);
    free(another);
    return same;
}

/* 0, or the errno that writing this file would end with. A new file is made beside the old one and renamed. */
static int refusal(const char *path) {
    struct stat file;
    const bool there = stat(path, &file) == 0;
    if (!*path) return ENOENT;
    if (there && S_ISDIR(file.st_mode)) return EISDIR;
    if (there && !S_ISREG(file.st_mode)) return 0; /* a device, a pipe: opening it fails */
    if (there && access(path, W_OK) != 0) return errno;
    const char *name;
    char *target = there ? realpath(path, NULL) : NULL;
    char *folder = folder_of(target ? target : path, &name);
    int reason = folder && access(folder, W_OK | X_OK) == 0 ? 0 : errno;
    free(folder);
    free(target);
    return reason;
}

int cli_check_writable(const char *path) {
    const int reason = path ? refusal(path) : 0;
    return reason ? cli_fail(CLI_OUTPUT, "%s: cannot write: %s", path, strerror(reason)) : CLI_OK;
}

int cli_check_made(const char *path) {
    char *folder = path ? strdup(path) : NULL, *slash = folder ? strrchr(folder, '/') : NULL;
    bool made = false;
    while (slash && slash != folder) {
        *slash = '\0';
        if (access(folder, F_OK) == 0 || errno != ENOENT) break;
        made = true;
        slash = strrchr(folder, '/');
    }
    const char *parent = !slash ? "." : slash == folder ? "/" : folder;
    const int reason = made && access(parent, W_OK | X_OK) != 0 ? errno : 0;
    free(folder);
    if (!made) return cli_check_writable(path);
    return reason ? cli_fail(CLI_OUTPUT, "%s: cannot write: %s", path, strerror(reason)) : CLI_OK;
}

void cli_check_distinct(struct argp_state *state, const char *const *outputs,
                        const char *const *inputs) {
    for (int i = 0; i < CLI_OUTPUTS; i++) {
        for (int j = 0; j < i; j++) {
            if (!outputs[i] || !outputs[j] || !one_output(outputs[i], outputs[j])) continue;
            if (strcmp(outputs[i], outputs[j]) == 0)
                argp_error(state, "two outputs are called '%s'", outputs[i]);
            argp_error(state, "two outputs are one file: '%s' and '%s'", outputs[j], outputs[i]);
        }
        for (int j = 0; j < CLI_INPUTS && inputs; j++)
            if (cli_same_file(outputs[i], inputs[j]))
                argp_error(state, "'%s' is an input; --force overwrites it", outputs[i]);
    }
}

void cli_check_outputs(struct argp_state *state, const char *const *outputs,
                       const char *const *inputs) {
    cli_check_distinct(state, outputs, inputs);
    for (int i = 0; i < CLI_OUTPUTS; i++) {
        const int code = cli_check_writable(outputs[i]);
        if (code != CLI_OK) exit(code); /* as argp_error does */
    }
}
