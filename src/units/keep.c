/* SPDX-License-Identifier: Apache-2.0
 *
 * keep.c - finished units in a folder: one file per unit, "unit-000005-of-000064". A file is written under a temporary
 * name, synced and renamed, and then the folder is synced: after a kill, a crash or on a full disk it is there as a
 * whole or not at all. The file "lock" is locked as long as a process uses the folder; the system opens the lock when
 * the process ends.
 */
#include "units/units.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define BEGINS    "unit-"
#define TEMPORARY ".tmp"
enum { NAME = 4096 };

/* The name of a unit's file, or that of the folder for "". */
static int name_file(char path[NAME], const char *folder, const char *name) {
    const int length = snprintf(path, NAME, *name ? "%s/%s" : "%s%s", folder, name);
    return length > 0 && length < NAME;
}

static shoal_status fail_file(shoal_context *ctx, const char *folder, const char *name,
                              const char *what) {
    return shoal_fail(ctx, SHOAL_E_FILE, "%s%s%s: %s", folder, *name ? "/" : "", name, what);
}

void shoal_units_close(shoal_units *u) {
    if (u->lock >= 0) close(u->lock);
    free(u->folder);
    u->lock = -1, u->folder = NULL;
}

/* ---- writing ---------------------------------------------------------------------------------- */

/* 0, or -1 and errno. */
static int write_all(int file, const char *bytes, size_t size) {
    enum { AT_ONCE = 1 << 24 };
    while (size > 0) {
        const ssize_t done = write(file, bytes, size < AT_ONCE ? size : AT_ONCE);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return -1;
        bytes += done, size -= (size_t)done;
    }
    return 0;
}

static int sync_folder(const char *folder) {
    const int file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0) return -1;
    const int failed = fsync(file);
    const int why = errno;
    close(file);
    errno = why;
    return failed && why != EINVAL ? -1 : 0; /* some file systems cannot */
}

shoal_status shoal_units_write(const shoal_units *u, shoal_context *ctx, int64_t unit,
                               const void *bytes, size_t size) {
    char name[64], path[NAME], temporary[NAME];
    if (!u->folder) return SHOAL_OK;
    snprintf(name, sizeof name, BEGINS "%06lld-of-%06lld" TEMPORARY, (long long)unit,
             (long long)u->units);
    int fits = name_file(temporary, u->folder, name);
    name[strlen(name) - strlen(TEMPORARY)] = 0;
    fits = fits && name_file(path, u->folder, name);
    if (!fits) return fail_file(ctx, u->folder, name, "the name is too long");
    const int file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    int failed = file < 0 || write_all(file, bytes, size) != 0 || fsync(file) != 0;
    int why = errno;
    if (file >= 0 && close(file) != 0 && !failed) failed = 1, why = errno;
    if (!failed && (rename(temporary, path) != 0 || sync_folder(u->folder) != 0))
        failed = 1, why = errno;
    if (!failed) return SHOAL_OK;
    if (file >= 0) unlink(temporary);
    return shoal_fail(ctx, SHOAL_E_FILE,
                      "%s: cannot be written: %s; the units that the folder contains are kept",
                      path, strerror(why));
}

/* ---- reading ---------------------------------------------------------------------------------- */

static shoal_status read_file(shoal_units *u, const char *name, const char *path, char **bytes,
                              size_t *size) {
    shoal_context *ctx = u->head.ctx;
    struct stat about;
    *bytes = NULL;
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe would wait */
    if (file < 0 || fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) {
        const char *why = file < 0 ? strerror(errno) : "not a file";
        if (file >= 0) close(file);
        return fail_file(ctx, u->folder, name, why);
    }
    *size = (size_t)about.st_size, *bytes = malloc(*size + 1);
    size_t done = 0;
    ssize_t here = *bytes ? 1 : -1;
    while (here > 0 && done < *size) {
        here = read(file, *bytes + done, *size - done);
        done += here > 0 ? (size_t)here : 0;
    }
    const char *why = here < 0 ? strerror(*bytes ? errno : ENOMEM) : "cut off while it was read";
    close(file);
    return done == *size ? SHOAL_OK : fail_file(ctx, u->folder, name, why);
}

/* One file of the folder, added to the result. */
static shoal_status read_unit(shoal_units *u, const char *name) {
    shoal_context *ctx = u->head.ctx;
    char path[NAME], why[sizeof ctx->message], *bytes = NULL;
    size_t size = 0;
    shoal_unit unit;
    if (!name_file(path, u->folder, name))
        return fail_file(ctx, u->folder, name, "the name is too long");
    shoal_status s = read_file(u, name, path, &bytes, &size);
    if (s == SHOAL_OK) {
        s = shoal_units_check(u, bytes, size, 1, &unit);
        if (s == SHOAL_OK) s = shoal_units_insert(u, &unit);
        if (s == SHOAL_E_ARG) {
            snprintf(why, sizeof why, "%s", ctx->message);
            s = shoal_fail(ctx, SHOAL_E_FILE,
                           "%.200s: %.180s; choose another folder, or remove the file to compute "
                           "the unit again",
                           path, why);
        }
    }
    free(bytes);
    return s;
}

static int ends_in(const char *name, const char *end) {
    const size_t length = strlen(name), wanted = strlen(end);
    return length >= wanted && strcmp(name + length - wanted, end) == 0;
}

/* All units of the folder; what a killed process has left half written is removed. */
static shoal_status read_folder(shoal_units *u) {
    shoal_context *ctx = u->head.ctx;
    shoal_status s = SHOAL_OK;
    DIR *folder = opendir(u->folder);
    if (!folder) return fail_file(ctx, u->folder, "", strerror(errno));
    for (struct dirent *entry; s == SHOAL_OK && (errno = 0, entry = readdir(folder));) {
        char path[NAME];
        if (strncmp(entry->d_name, BEGINS, strlen(BEGINS)) != 0) continue;
        if (!ends_in(entry->d_name, TEMPORARY))
            s = read_unit(u, entry->d_name);
        else if (name_file(path, u->folder, entry->d_name))
            unlink(path);
    }
    if (s == SHOAL_OK && errno != 0) s = fail_file(ctx, u->folder, "", strerror(errno));
    closedir(folder);
    return s;
}

static shoal_status lock_folder(shoal_units *u) {
    shoal_context *ctx = u->head.ctx;
    char path[NAME];
    if (!name_file(path, u->folder, "lock"))
        return fail_file(ctx, "the folder", "", "the name is too long");
    if (mkdir(u->folder, 0777) != 0 && errno != EEXIST)
        return fail_file(ctx, u->folder, "", strerror(errno));
    u->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (u->lock < 0) return fail_file(ctx, u->folder, "lock", strerror(errno));
    if (flock(u->lock, LOCK_EX | LOCK_NB) == 0) return SHOAL_OK;
    return fail_file(ctx, u->folder, "",
                     errno == EWOULDBLOCK ? "another process uses this folder" : strerror(errno));
}

shoal_status shoal_units_keep(shoal_units *units, const char *folder) {
    if (!units) return SHOAL_E_ARG;
    shoal_context *ctx = units->head.ctx;
    const shoal_array given[] = { { "folder", folder, 0 } };
    shoal_status s = shoal_check_pointers(ctx, given, 1);
    if (s == SHOAL_OK && (units->folder || units->done > 0))
        s = shoal_fail(ctx, SHOAL_E_ARG, "choose one folder, before any unit is added");
    if (s != SHOAL_OK) return s;
    units->folder = strdup(folder);
    if (!units->folder) return SHOAL_NO_MEMORY(ctx, "units");
    s = lock_folder(units);
    if (s == SHOAL_OK) s = read_folder(units);
    if (s != SHOAL_OK) shoal_units_close(units);
    return s;
}
