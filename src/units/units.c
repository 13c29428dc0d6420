/* SPDX-License-Identifier: Apache-2.0
 *
 * units.c - one job in units: what a job is, its digest, and a unit as bytes, little endian:
 *
 *     at   0  "SHOALUNT"
 *          8  u32 version of this format, u32 bytes of this head
 *         16  u64 bytes of the unit, u64 bytes of its inputs
 *         32  SHA-256 of kind, version of Shoal, units, rows, bytes of a row, counts, then of the inputs
 *         64  version of Shoal and kind: 16 and 32 bytes, filled up with 0
 *        112  i64 unit, units, rows of the job, first row, rows, bytes of a row, counts
 *        168  f64 seconds that the unit took
 *        176  16 bytes of 0
 *        192  inputs, filled up with 0 to a multiple of 8; i64 counts; rows
 *             u32 CRC-32 (as in PNG and zip) of all bytes before
 *
 * Rows are copied as they are in memory: machines whose numbers are big endian are refused.
 */
#include "units/units.h"
#include "core/crc32.h"
#include "core/sha256.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { FORMAT = 1, DEFAULT_UNITS = 256, MAX_ROW = 1 << 30 };
static const char magic[8] = { 'S', 'H', 'O', 'A', 'L', 'U', 'N', 'T' };

/* The front of a unit: its layout in memory is that of the file. */
typedef struct unit_head {
    char magic[8];
    uint32_t format, head;
    uint64_t bytes, input_bytes;
    unsigned char digest[UNITS_DIGEST];
    char version[UNITS_VERSION], kind[SHOAL_UNITS_KIND];
    int64_t unit, units, all, first, rows, row_bytes, counts;
    double seconds;
    char zero[16];
} unit_head;
_Static_assert(sizeof(unit_head) == UNITS_HEAD, "no gaps");

static size_t padded(size_t bytes) { return (bytes + 7) / 8 * 8; }

static double now(void) {
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- jobs ------------------------------------------------------------------------------------- */

static unit_head head_of(const shoal_units *u) {
    unit_head h = { .format = FORMAT,
                    .head = UNITS_HEAD,
                    .units = u->units,
                    .all = u->job.rows,
                    .row_bytes = (int64_t)u->job.row_bytes,
                    .counts = u->job.counts };
    memcpy(h.magic, magic, sizeof magic);
    memcpy(h.digest, u->digest, UNITS_DIGEST);
    snprintf(h.version, sizeof h.version, "%s", shoal_version());
    snprintf(h.kind, sizeof h.kind, "%s", u->kind);
    return h;
}

static void make_digest(shoal_units *u) {
    const unit_head h = head_of(u);
    shoal_sha256 s = shoal_sha256_begin();
    shoal_sha256_add(&s, h.kind, sizeof h.kind);
    shoal_sha256_add(&s, h.version, sizeof h.version);
    shoal_sha256_add(&s, &h.units, sizeof h.units);
    shoal_sha256_add(&s, &h.all, sizeof h.all);
    shoal_sha256_add(&s, &h.row_bytes, sizeof h.row_bytes);
    shoal_sha256_add(&s, &h.counts, sizeof h.counts);
    shoal_sha256_add(&s, u->inputs, u->input_bytes);
    shoal_sha256_end(&s, u->digest);
}

static void write_digest(const unsigned char *digest, char text[SHOAL_UNITS_DIGEST]) {
    for (int i = 0; i < UNITS_DIGEST; i++) snprintf(text + 2 * i, 3, "%02x", digest[i]);
}

static shoal_status check_job(shoal_context *ctx, const shoal_units_job *job,
                              const shoal_units_opts *o) {
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    if (first != 1) return shoal_fail(ctx, SHOAL_E_BACKEND, "units need a little-endian machine");
    const shoal_array given[] = { { "kind", job->kind, 0 },
                                  { "inputs", o->inputs, o->input_bytes == 0 } };
    shoal_status s = shoal_check_pointers(ctx, given, 2);
    if (s == SHOAL_OK && !job->run) s = shoal_fail(ctx, SHOAL_E_ARG, "run is NULL");
    if (s == SHOAL_OK && (!*job->kind || strlen(job->kind) >= SHOAL_UNITS_KIND))
        s = shoal_fail(ctx, SHOAL_E_ARG, "kind is '%s'; it must have 1 to %d characters", job->kind,
                       SHOAL_UNITS_KIND - 1);
    const shoal_count counts[] = { { "rows", job->rows, 0, INT64_MAX },
                                   { "row_bytes", (int64_t)job->row_bytes, 0, MAX_ROW },
                                   { "counts", job->counts, 0, SHOAL_UNITS_COUNTS },
                                   { "least", job->least, 0, INT64_MAX },
                                   { "units", o->units, 0, SHOAL_UNITS_MOST } };
    if (s == SHOAL_OK) s = shoal_check_counts(ctx, counts, 5);
    if (s == SHOAL_OK && job->rows > INT64_MAX / 4 / (int64_t)(job->row_bytes + 1))
        s = SHOAL_NO_MEMORY(ctx, "%lld rows of %zu bytes", (long long)job->rows, job->row_bytes);
    return s;
}

static void close_units(void *plan) {
    shoal_units *u = plan;
    shoal_units_close(u);
    if (u->job.close) u->job.close(u->job.user);
    free(u->rows);
    free(u->trace);
}

shoal_status shoal_units_create(shoal_context *ctx, const shoal_units_job *job,
                                const shoal_units_opts *opts, shoal_units **units) {
    static const shoal_units_opts defaults;
    const shoal_units_opts *o = opts ? opts : &defaults;
    const shoal_array given[] = { { "job", job, 0 } };
    shoal_status s = shoal_plan_new(ctx, sizeof **units, o, units);
    if (s == SHOAL_OK) s = shoal_plan_made(shoal_check_pointers(ctx, given, 1), units);
    if (s != SHOAL_OK) {
        if (job && job->close) job->close(job->user);
        return s;
    }
    shoal_units *u = *units;
    u->job = *job, u->head.close = close_units, u->lock = -1;
    u->take = o->take, u->user = o->user;
    s = check_job(ctx, job, o);
    if (s != SHOAL_OK) return shoal_plan_made(s, units);
    const int64_t fit = job->rows / (job->least ? job->least : 1);
    u->units = o->units ? o->units : fit < 1 ? 1 : fit < DEFAULT_UNITS ? fit : DEFAULT_UNITS;
    snprintf(u->kind, sizeof u->kind, "%s", job->kind);
    u->input_bytes = o->input_bytes;
    s = shoal_plan_host(&u->head, (int64_t)o->input_bytes, 1, &u->inputs);
    if (s == SHOAL_OK) s = shoal_plan_host(&u->head, u->units, 1, &u->there);
    if (s == SHOAL_OK) s = shoal_plan_host(&u->head, job->counts, sizeof *u->count, &u->count);
    if (s == SHOAL_OK && o->input_bytes > 0) memcpy(u->inputs, o->inputs, o->input_bytes);
    if (s == SHOAL_OK) make_digest(u);
    return shoal_plan_made(s, units);
}

void shoal_units_free(shoal_units *units) { shoal_plan_free(units); }

size_t shoal_units_size(const shoal_units *u, int64_t unit) {
    const int64_t rows = units_first(u, unit + 1) - units_first(u, unit);
    return UNITS_HEAD + 8 * (size_t)u->job.counts + (size_t)rows * u->job.row_bytes + UNITS_TAIL;
}

shoal_status shoal_units_describe(const shoal_units *units, shoal_units_info *info) {
    const shoal_status s = shoal_plan_asked(units, info);
    if (s != SHOAL_OK) return s;
    *info = (shoal_units_info){ .kind = units->kind,
                                .units = units->units,
                                .done = units->done,
                                .rows = units->job.rows,
                                .counts = units->job.counts,
                                .row_bytes = units->job.row_bytes,
                                .seconds = units->seconds };
    for (int64_t i = 0; i < units->units; i++) {
        const size_t bytes = shoal_units_size(units, i);
        if (bytes > info->bytes) info->bytes = bytes;
    }
    info->bytes += padded(units->input_bytes);
    write_digest(units->digest, info->digest);
    return SHOAL_OK;
}

int64_t shoal_units_missing(const shoal_units *units, int64_t unit) {
    int64_t i = unit < 0 ? 0 : unit;
    if (!units) return 0;
    while (i < units->units && units->there[i]) i++;
    return i < units->units ? i : units->units;
}

/* ---- units ------------------------------------------------------------------------------------ */

shoal_status shoal_units_make(shoal_units *units, int64_t unit, int with_inputs, int with_sum,
                              void *bytes, size_t *size) {
    if (!units) return SHOAL_E_ARG;
    shoal_context *ctx = units->head.ctx;
    shoal_status s = shoal_ready(ctx);
    if (s == SHOAL_OK) s = shoal_check_count(ctx, "unit", unit, 0, units->units - 1);
    const shoal_array given[] = { { "bytes", bytes, 0 }, { "size", size, 0 } };
    if (s == SHOAL_OK) s = shoal_check_pointers(ctx, given, 2);
    if (s != SHOAL_OK) return s;
    unit_head h = head_of(units);
    const size_t inputs = with_inputs ? units->input_bytes : 0;
    unsigned char *at = (unsigned char *)bytes + UNITS_HEAD + padded(inputs);
    h.unit = unit, h.first = units_first(units, unit);
    h.rows = units_first(units, unit + 1) - h.first;
    h.input_bytes = inputs, h.bytes = shoal_units_size(units, unit) + padded(inputs);
    const double start = now();
    int64_t *counts = (int64_t *)(void *)at;
    memset(counts, 0, 8 * (size_t)h.counts);
    const shoal_stage stage = shoal_stage_begin(ctx, "units");
    if (h.rows > 0)
        s = units->job.run(ctx, units->job.user, h.first, h.rows, at + 8 * h.counts, counts);
    s = shoal_stage_end(ctx, &stage, s);
    if (s != SHOAL_OK) return s;
    h.seconds = now() - start;
    memcpy(bytes, &h, sizeof h);
    memset((char *)bytes + UNITS_HEAD, 0, padded(inputs));
    if (inputs > 0) memcpy((char *)bytes + UNITS_HEAD, units->inputs, inputs);
    const uint32_t crc = with_sum ? shoal_crc32(0, bytes, h.bytes - UNITS_TAIL) : 0;
    memcpy((char *)bytes + h.bytes - UNITS_TAIL, &crc, sizeof crc);
    *size = h.bytes;
    return SHOAL_OK;
}

shoal_status shoal_units_run(shoal_units *units, int64_t unit, int with_inputs, void *bytes,
                             size_t *size) {
    return shoal_units_make(units, unit, with_inputs, 1, bytes, size);
}

static int is_text(const char *text, size_t room) {
    const size_t length = strnlen(text, room);
    return length > 0 && length < room;
}

/* Whether the numbers of a head agree with each other and with the size. */
static int is_whole(const unit_head *h, size_t size) {
    if (h->head != UNITS_HEAD || h->bytes != size || h->input_bytes > size) return 0;
    if (h->counts < 0 || h->counts > SHOAL_UNITS_COUNTS || h->row_bytes < 0) return 0;
    if (h->units < 1 || h->unit < 0 || h->unit >= h->units || h->all < 0) return 0;
    if (h->first < 0 || h->rows < 0 || h->first > h->all || h->rows > h->all - h->first) return 0;
    const size_t around = UNITS_HEAD + UNITS_TAIL + 8 * (size_t)h->counts;
    const size_t front = padded(h->input_bytes) + around;
    if (front > size) return 0;
    if (h->row_bytes > 0 && (uint64_t)h->rows > (size - front) / (uint64_t)h->row_bytes) return 0;
    return front + (size_t)h->rows * (size_t)h->row_bytes == size &&
           is_text(h->version, sizeof h->version) && is_text(h->kind, sizeof h->kind);
}

static int is_damaged(const void *bytes, size_t size) {
    uint32_t crc;
    memcpy(&crc, (const char *)bytes + size - UNITS_TAIL, sizeof crc);
    return crc != shoal_crc32(0, bytes, size - UNITS_TAIL);
}

static shoal_status read_unit(shoal_context *ctx, const void *bytes, size_t size, int with_sum,
                              shoal_unit *unit) {
    unit_head h;
    if (!ctx) return SHOAL_E_ARG;
    const shoal_array given[] = { { "bytes", bytes, 0 }, { "unit", unit, 0 } };
    const shoal_status s = shoal_check_pointers(ctx, given, 2);
    if (s != SHOAL_OK) return s;
    if ((uintptr_t)bytes % sizeof(int64_t))
        return shoal_fail(ctx, SHOAL_E_ARG, "bytes is not aligned to 8 bytes");
    if (size < sizeof magic || memcmp(bytes, magic, sizeof magic) != 0)
        return shoal_fail(ctx, SHOAL_E_ARG, "not a unit");
    if (size < UNITS_HEAD + UNITS_TAIL)
        return shoal_fail(ctx, SHOAL_E_ARG, "cut off: %zu bytes", size);
    memcpy(&h, bytes, sizeof h);
    if (h.format != FORMAT)
        return shoal_fail(ctx, SHOAL_E_ARG, "format %u; this program reads format %d", h.format,
                          FORMAT);
    if (h.bytes != size)
        return shoal_fail(ctx, SHOAL_E_ARG, "%s: %zu bytes of %llu",
                          size < h.bytes ? "cut off" : "too long", size,
                          (unsigned long long)h.bytes);
    if (with_sum && is_damaged(bytes, size))
        return shoal_fail(ctx, SHOAL_E_ARG, "damaged: the checksum does not match");
    if (!is_whole(&h, size)) return shoal_fail(ctx, SHOAL_E_ARG, "its sizes do not fit together");
    *unit = (shoal_unit){ .kind = (const char *)bytes + offsetof(unit_head, kind),
                          .version = (const char *)bytes + offsetof(unit_head, version),
                          .unit = h.unit,
                          .units = h.units,
                          .all = h.all,
                          .first = h.first,
                          .rows = h.rows,
                          .row_bytes = (size_t)h.row_bytes,
                          .inputs = (const char *)bytes + UNITS_HEAD,
                          .input_bytes = h.input_bytes,
                          .seconds = h.seconds };
    unit->counts = (const void *)((const char *)unit->inputs + padded(h.input_bytes));
    unit->result = unit->counts + h.counts;
    write_digest(h.digest, unit->digest);
    return SHOAL_OK;
}

shoal_status shoal_units_read(shoal_context *ctx, const void *bytes, size_t size,
                              shoal_unit *unit) {
    return read_unit(ctx, bytes, size, 1, unit);
}

shoal_status shoal_units_check(const shoal_units *u, const void *bytes, size_t size, int with_sum,
                               shoal_unit *unit) {
    shoal_context *ctx = u->head.ctx;
    const shoal_status s = read_unit(ctx, bytes, size, with_sum, unit);
    if (s != SHOAL_OK) return s;
    if (strcmp(unit->version, shoal_version()) != 0)
        return shoal_fail(ctx, SHOAL_E_ARG, "written by version %s of Shoal; this is %s",
                          unit->version, shoal_version());
    if (strcmp(unit->kind, u->kind) != 0)
        return shoal_fail(ctx, SHOAL_E_ARG, "a unit of '%s'; this job is '%s'", unit->kind,
                          u->kind);
    if (unit->all != u->job.rows || unit->units != u->units)
        return shoal_fail(ctx, SHOAL_E_ARG,
                          "of a job of %lld rows in %lld units; this one has %lld in %lld",
                          (long long)unit->all, (long long)unit->units, (long long)u->job.rows,
                          (long long)u->units);
    unit_head h;
    memcpy(&h, bytes, sizeof h);
    if (memcmp(h.digest, u->digest, UNITS_DIGEST) != 0)
        return shoal_fail(ctx, SHOAL_E_ARG, "of a job with other inputs");
    if (unit->row_bytes != u->job.row_bytes || h.counts != u->job.counts ||
        unit->first != units_first(u, unit->unit) ||
        unit->rows != units_first(u, unit->unit + 1) - unit->first)
        return shoal_fail(ctx, SHOAL_E_ARG, "its sizes do not fit together");
    return SHOAL_OK;
}

shoal_status shoal_units_insert(shoal_units *u, const shoal_unit *unit) {
    if (u->there[unit->unit]) return SHOAL_OK;
    if (u->take) {
        const shoal_status s = u->take(u->head.ctx, u->user, unit);
        if (s != SHOAL_OK) return s;
    }
    if (!u->take && !u->rows && u->job.rows > 0 && u->job.row_bytes > 0) {
        u->rows = malloc((size_t)u->job.rows * u->job.row_bytes);
        if (!u->rows)
            return SHOAL_NO_MEMORY(u->head.ctx, "%lld rows of %zu bytes", (long long)u->job.rows,
                                   u->job.row_bytes);
    }
    for (int64_t i = 0; i < u->job.counts; i++) /* those of a caller may be any */
        u->count[i] = (int64_t)((uint64_t)u->count[i] + (uint64_t)unit->counts[i]);
    if (u->rows && unit->rows > 0)
        memcpy(u->rows + (size_t)unit->first * u->job.row_bytes, unit->result,
               (size_t)unit->rows * u->job.row_bytes);
    u->there[unit->unit] = 1, u->done++;
    u->seconds += unit->seconds;
    return SHOAL_OK;
}

shoal_status shoal_units_add(shoal_units *units, const void *bytes, size_t size) {
    shoal_unit unit;
    if (!units) return SHOAL_E_ARG;
    shoal_status s = shoal_units_check(units, bytes, size, 1, &unit);
    if (s == SHOAL_OK && !units->there[unit.unit])
        s = shoal_units_write(units, units->head.ctx, unit.unit, bytes, size);
    return s == SHOAL_OK ? shoal_units_insert(units, &unit) : s;
}

const void *shoal_units_rows(const shoal_units *units) {
    return units && units->done == units->units ? units->rows : NULL;
}

const int64_t *shoal_units_counts(const shoal_units *units) { return units ? units->count : NULL; }

const shoal_units_trace *shoal_units_traces(const shoal_units *units) {
    return units ? units->trace : NULL;
}
