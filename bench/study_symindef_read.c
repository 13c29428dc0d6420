/* SPDX-License-Identifier: Apache-2.0
 *
 * study_symindef_read.c - one triangle of an HDF5 file by hyperslabs, a row each, against all of it by one
 * call, and against all of it and then packed (Kruchinina's thesis, section 3.2).
 *
 * The file is contiguous and has just been written: it lies in the cache of the operating system, and
 * what is measured is the way from there into fresh memory of the process. Each order is twice the
 * one before. On the host, whatever the backend.
 */
#include <stdio.h>
#include <string.h>

#include "bench/study_symindef.h"
#include "io/hdf5.h"

enum { MOST = 8000 }; /* 512 MB */

typedef struct reader {
    const char *path;
    int way;
    io_error err;
} reader;

const char *const bench_read_ways[BENCH_READ_WAYS] = { "triangle", "whole", "whole, packed" };

/* The lower triangle of a whole matrix. */
static int pack(const io_array *whole, int64_t n, io_array *packed, io_error *err) {
    const io_triangle t = { .packed = true };
    const int status = io_triangle_create(&t, IO_F8, n, "packed", INT64_MAX, packed, err);
    const double *from = whole->data;
    double *to = packed->data;
    for (int64_t i = 0; i < n && status == IO_OK; to += ++i, from += n)
        memcpy(to, from, (size_t)(i + 1) * sizeof *to);
    return status;
}

static int read_once(void *self, int i) {
    reader *r = self;
    const io_triangle t = { .packed = true };
    io_array a = { .data = NULL }, packed = { .data = NULL };
    int64_t n = 0;
    (void)i; /* a sample is one call */
    int status = io_h5_read_triangle(r->path, r->way == 0 ? &t : NULL, INT64_MAX, &n, &a, &r->err);
    if (status == IO_OK && r->way == 2) status = pack(&a, n, &packed, &r->err);
    io_array_free(&a);
    io_array_free(&packed);
    return status == IO_OK ? 0 : -1;
}

static void json_row(io_json *json, int64_t n, int way, const bench_stats *time) {
    io_json_object_line(json, NULL);
    io_json_string(json, "part", "read");
    io_json_string(json, "matrix", "random");
    io_json_int(json, "n", n);
    io_json_string(json, "way", bench_read_ways[way]);
    bench_study_json_time(json, time);
    io_json_close(json);
}

static int write_file(bench_session *s, bench_place *place, const bench_symindef_study *what,
                      int64_t n) {
    io_array a;
    io_error err;
    int status = io_array_create(IO_F8, 2, (const int64_t[]){ n, n }, &a, &err);
    if (status == IO_OK &&
        shoal_symindef_generate(place->ctx, "random", what->seed, n, a.data) != SHOAL_OK)
        status = io_fail(&err, IO_E_MEMORY, "%s", shoal_message(place->ctx));
    const io_h5_item item = { "A", &a };
    if (status == IO_OK) status = io_h5_write(what->scratch, &item, 1, &err);
    io_array_free(&a);
    return status == IO_OK ? BENCH_OK : bench_error(s, SHOAL_OK, "%s", err.text);
}

int bench_study_read(bench_session *s, bench_place *place, const bench_symindef_study *what,
                     io_json *json) {
    int code = BENCH_OK;
    if (!io_h5_available()) {
        bench_note(s, "read: left out, there is no HDF5 here");
        return BENCH_OK;
    }
    for (int k = BENCH_READ_ORDERS - 1; k >= 0 && code == BENCH_OK; k--) {
        const int64_t n = (what->most > 0 ? what->most : MOST) >> k;
        code = write_file(s, place, what, n);
        for (int way = 0; way < BENCH_READ_WAYS && code == BENCH_OK; way++) {
            reader r = { .path = what->scratch, .way = way };
            const bench_task task = { .call = read_once, .self = &r, .calls = 1 };
            bench_stats time;
            code = bench_measure(&bench_cpu, &s->rules, &task, &time);
            if (code == BENCH_ERROR) bench_error(s, SHOAL_OK, "%s", r.err.text);
            if (code == BENCH_OK) json_row(json, n, way, &time);
        }
        bench_note(s, "read: n = %lld", (long long)n);
    }
    remove(what->scratch);
    return code;
}
