/* SPDX-License-Identifier: Apache-2.0
 *
 * file.c - atomic output files and whole-file input.
 *
 * The temporary name is built from the process id and a counter and created with O_EXCL and mode
 * 0666, so that the umask applies as it does for any other new file (mkstemp would leave 0600).
 */
#define _XOPEN_SOURCE 700 /* realpath, fdopen, fsync, fchmod, strdup */

#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/crc32.h"

struct io_out {
    FILE *file;
    char *path;      /* as given, for messages                              */
    char *target;    /* with symbolic links resolved; what rename goes to   */
    char *temporary; /* NULL when the target is written directly            */
};

static void release(io_out *out) {
    free(out->path);
    free(out->target);
    free(out->temporary);
    free(out);
}

/* Creates a new file beside out->target. Sets out->temporary; returns a descriptor or -1, with
 * errno saying why. */
static int create_beside(io_out *out) {
    const char *slash = strrchr(out->target, '/');
    int folder = slash ? (int)(slash - out->target + 1) : 0;
    size_t size = (size_t)folder + 64;
    out->temporary = malloc(size);
    if (!out->temporary) {
        errno = ENOMEM;
        return -1;
    }
    for (int attempt = 0; attempt < 1000; attempt++) {
        snprintf(out->temporary, size, "%.*s.shoal-%ld-%d.tmp", folder, out->target, (long)getpid(),
                 attempt);
        int fd = open(out->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    return -1;
}

/* Opens the descriptor that `out` writes to; -1 with errno on failure. */
static int open_target(io_out *out) {
    struct stat info;
    if (!*out->path) {
        errno = ENOENT;
        return -1;
    }
    if (strcmp(out->path, "/dev/stdout") == 0) return dup(STDOUT_FILENO);
    if (stat(out->path, &info) != 0) {
        out->target = strdup(out->path);
        if (!out->target) {
            errno = ENOMEM;
            return -1;
        }
        return create_beside(out);
    }
    if (!S_ISREG(info.st_mode)) /* a directory fails here with EISDIR */
        return open(out->path, O_WRONLY | O_CLOEXEC);

    if (access(out->path, W_OK) != 0) return -1; /* rename would not ask */
    out->target = realpath(out->path, NULL);
    if (!out->target) return -1;
    int fd = create_beside(out);
    if (fd >= 0 && fchmod(fd, info.st_mode & 0777) != 0) {
        int reason = errno;
        close(fd);
        unlink(out->temporary);
        errno = reason;
        return -1;
    }
    return fd;
}

int io_out_open(const char *path, io_out **result, io_error *err) {
    *result = NULL;
    io_out *out = calloc(1, sizeof *out);
    if (out) out->path = strdup(path);
    if (!out || !out->path) {
        free(out);
        return io_fail(err, IO_E_MEMORY, "%s: out of memory", path);
    }
    int fd = open_target(out);
    if (fd >= 0) {
        out->file = fdopen(fd, "w");
        if (!out->file) {
            close(fd);
            if (out->temporary) unlink(out->temporary);
        }
    }
    if (!out->file) {
        int reason = errno;
        release(out);
        return io_fail(err, IO_E_WRITE, "%s: cannot write: %s", path, strerror(reason));
    }
    *result = out;
    return IO_OK;
}

FILE *io_out_file(io_out *out) { return out->file; }

const char *io_out_path(const io_out *out) { return out->path; }

const char *io_out_temporary(const io_out *out) { return out->temporary; }

int io_out_commit(io_out *out, io_error *err) {
    int reason = 0;
    if (fflush(out->file) != 0)
        reason = errno;
    else if (ferror(out->file)) /* of an earlier write: what stopped it may stop a byte more */
        reason = out->temporary && write(fileno(out->file), "", 1) < 0 ? errno : EIO;
    /* Some file systems have no fsync and say EINVAL: then there is nothing to wait for. */
    if (!reason && out->temporary && fsync(fileno(out->file)) != 0 && errno != EINVAL)
        reason = errno;
    if (fclose(out->file) != 0 && !reason) reason = errno;
    if (!reason && out->temporary && rename(out->temporary, out->target) != 0) reason = errno;
    if (reason && out->temporary) unlink(out->temporary);

    int status = IO_OK;
    if (reason)
        status = io_fail(err, IO_E_WRITE, "%s: cannot write: %s", out->path, strerror(reason));
    release(out);
    return status;
}

void io_out_abandon(io_out *out) {
    if (!out) return;
    fclose(out->file);
    if (out->temporary) unlink(out->temporary);
    release(out);
}

int io_out_end(io_out *out, int status, io_error *err) {
    if (status == IO_OK) return io_out_commit(out, err);
    io_out_abandon(out);
    return status;
}

int io_file_open(const char *path, FILE **file, int64_t *size, io_error *err) {
    struct stat info;
    *file = NULL;
    const bool standard = strcmp(path, "/dev/stdin") == 0; /* not opened: it may be a socket */
    int fd = standard ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return io_fail(err, IO_E_OPEN, "%s: cannot open: %s", path, strerror(errno));

    if (fstat(fd, &info) == 0) {
        *size = S_ISREG(info.st_mode) ? (int64_t)info.st_size : -1;
        if (S_ISDIR(info.st_mode))
            errno = EISDIR;
        else
            *file = fdopen(fd, "r");
    }
    if (*file) return IO_OK;
    int reason = errno;
    close(fd);
    return io_fail(err, IO_E_OPEN, "%s: cannot read: %s", path, strerror(reason));
}

int io_read(FILE *file, void *data, size_t size, size_t *done, io_error *err) {
    for (*done = 0; *done < size;) {
        const size_t piece = size - *done < IO_PIECE ? size - *done : IO_PIECE;
        const size_t got = fread((char *)data + *done, 1, piece, file);
        *done += got;
        if (got < piece) break;
        const int status = io_step(err, "read", (int64_t)*done, (int64_t)size);
        if (status != IO_OK) return status;
    }
    return IO_OK;
}

int io_write(FILE *file, const void *data, size_t size, io_error *err) {
    for (size_t done = 0; done < size;) {
        const size_t piece = size - done < IO_PIECE ? size - done : IO_PIECE;
        if (fwrite((const char *)data + done, 1, piece, file) < piece) break;
        done += piece;
        const int status = io_step(err, "write", (int64_t)done, (int64_t)size);
        if (status != IO_OK) return status;
    }
    return IO_OK;
}

/* Reads to the end of the file; the buffer starts at the expected size and doubles when a pipe, or
 * a file that grows while it is read, holds more. */
int io_file_slurp(FILE *file, const char *path, int64_t expected, int64_t limit, char **data,
                  size_t *size, io_error *err) {
    size_t capacity = expected > 0 ? (size_t)expected + 2 : 65536, used = 0;
    char *buffer = malloc(capacity);
    *data = NULL;
    *size = 0;
    while (buffer) {
        size_t got;
        const int status = io_read(file, buffer + used, capacity - 1 - used, &got, err);
        if (status != IO_OK) {
            free(buffer);
            return status;
        }
        used += got;
        if ((int64_t)used > limit) {
            free(buffer);
            return io_fail(err, IO_E_SIZE, "%s: larger than the limit of %lld bytes", path,
                           (long long)limit);
        }
        if (ferror(file)) {
            int reason = errno;
            free(buffer);
            return io_fail(err, IO_E_OPEN, "%s: cannot read: %s", path, strerror(reason));
        }
        if (used < capacity - 1) {
            buffer[used] = '\0';
            *data = buffer;
            *size = used;
            return IO_OK;
        }
        char *larger = capacity <= SIZE_MAX / 2 ? realloc(buffer, capacity * 2) : NULL;
        if (!larger) free(buffer);
        buffer = larger;
        capacity *= 2;
    }
    return io_fail(err, IO_E_MEMORY, "%s: no memory for %zu bytes", path, capacity);
}

int io_file_read(const char *path, int64_t limit, char **data, size_t *size, io_error *err) {
    FILE *file;
    int64_t expected = -1;
    *data = NULL;
    *size = 0;
    int status = io_file_open(path, &file, &expected, err);
    if (status != IO_OK) return status;
    if (expected > limit)
        status = io_fail(err, IO_E_SIZE, "%s: %lld bytes, larger than the limit of %lld", path,
                         (long long)expected, (long long)limit);
    else
        status = io_file_slurp(file, path, expected, limit, data, size, err);
    fclose(file);
    return status;
}

uint32_t io_checksum(const void *bytes, size_t size) { return shoal_crc32(0, bytes, size); }
