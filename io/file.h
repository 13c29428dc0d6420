/* SPDX-License-Identifier: Apache-2.0
 *
 * file.h - output files that appear complete or not at all, and reading whole files.
 *
 *     io_out *out;
 *     if (io_out_open("result.json", &out, &err) != IO_OK) ...
 *     fprintf(io_out_file(out), ...);
 *     if (io_out_commit(out, &err) != IO_OK) ...        // or io_out_abandon(out)
 *
 * The stream writes to a temporary name in the directory of the target; commit flushes, syncs and
 * renames it, so that a reader sees the old file or the new one and an interrupted program leaves
 * the old one. A symbolic link is followed and stays a link, unless it leads nowhere; an existing
 * file must be writable and keeps its mode. A target that exists and is not a regular file (a pipe,
 * /dev/stdout, /dev/null) is written directly: there is nothing to rename.
 */
#ifndef SHOAL_IO_FILE_H
#define SHOAL_IO_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "status.h"

typedef struct io_out io_out;

/* On error *out is NULL. IO_E_WRITE or IO_E_MEMORY. */
int io_out_open(const char *path, io_out **out, io_error *err);

/* The stream to write to. Write errors need no check: commit reports them. */
FILE *io_out_file(io_out *out);

/* The path as given to io_out_open, for messages. */
const char *io_out_path(const io_out *out);

/* The temporary name, for a library that opens files itself; NULL where the target is written
 * directly. Commit syncs and renames what is there. */
const char *io_out_temporary(const io_out *out);

/* Makes the file visible and releases the handle, in any case: on error the temporary file is
 * removed and the target untouched. IO_E_WRITE. */
int io_out_commit(io_out *out, io_error *err);

/* io_out_commit() if `status` is IO_OK; otherwise io_out_abandon() and `status`. */
int io_out_end(io_out *out, int status, io_error *err);

/* Removes the temporary file and releases the handle; NULL is allowed. */
void io_out_abandon(io_out *out);

/* Opens a file for reading. *size is its size in bytes, or -1 when that is unknown (a pipe or a
 * device). Directories are IO_E_OPEN. The caller closes the stream; on error *file is NULL. */
int io_file_open(const char *path, FILE **file, int64_t *size, io_error *err);

/* Reads a whole file, pipe or device. *data comes from malloc and has a zero byte after its *size
 * bytes. IO_E_SIZE if the file is larger than `limit` bytes; never allocates much more than the
 * file holds. On error *data is NULL. */
int io_file_read(const char *path, int64_t limit, char **data, size_t *size, io_error *err);

/* fread and fwrite of large arrays, in pieces, with io_step(). *done: the bytes that were read. Write errors are left
 * to io_out_commit(). IO_OK or IO_E_STOPPED. */
int io_read(FILE *file, void *data, size_t size, size_t *done, io_error *err);
int io_write(FILE *file, const void *data, size_t size, io_error *err);

/* CRC-32, as zip has it. */
uint32_t io_checksum(const void *bytes, size_t size);

/* The rest of an open stream, in the same way; does not close it. `expected` bytes, if positive. */
int io_file_slurp(FILE *file, const char *path, int64_t expected, int64_t limit, char **data,
                  size_t *size, io_error *err);

#endif
