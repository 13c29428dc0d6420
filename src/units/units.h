/* SPDX-License-Identifier: Apache-2.0
 *
 * units.h - the inside of a job in units.
 */
#ifndef SHOAL_UNITS_UNITS_H
#define SHOAL_UNITS_UNITS_H

#include "core/plan.h"
#include <shoal/units.h>

/* What units.c puts at the front of a unit; then inputs, counts, rows, and a CRC-32 of all before it. */
enum { UNITS_HEAD = 192, UNITS_TAIL = 4, UNITS_DIGEST = 32, UNITS_VERSION = 16 };

struct shoal_units {
    shoal_plan head;
    shoal_units_job job;
    char kind[SHOAL_UNITS_KIND];
    int64_t units, done;
    void *inputs;
    size_t input_bytes;
    unsigned char digest[UNITS_DIGEST];
    int64_t *count; /* [counts]: of the units that are there */
    double seconds;
    char *there; /* [units]: 1: it has been added     */
    char *rows;  /* NULL before the first one is added, and with take */
    shoal_status (*take)(shoal_context *ctx, void *user, const shoal_unit *unit);
    void *user; /* of take */
    char *folder;
    int lock;                 /* an open file, with the folder      */
    shoal_units_trace *trace; /* [units], of work.c; or NULL */
};

/* The first row of a unit; that of unit `units` is the number of rows. */
static inline int64_t units_first(const shoal_units *u, int64_t unit) {
    return u->job.rows / u->units * unit + u->job.rows % u->units * unit / u->units;
}

/* units.c: the bytes of a unit, without inputs. */
size_t shoal_units_size(const shoal_units *u, int64_t unit);
/* units.c: shoal_units_run(); without a sum, for bytes that stay in this process, the checksum is 0. */
shoal_status shoal_units_make(shoal_units *units, int64_t unit, int with_inputs, int with_sum,
                              void *bytes, size_t *size);
/* units.c: SHOAL_E_ARG, with the reason, unless these are the bytes of a unit of this job. */
shoal_status shoal_units_check(const shoal_units *u, const void *bytes, size_t size, int with_sum,
                               shoal_unit *unit);
/* units.c: adds a unit that was checked, unless it is there. */
shoal_status shoal_units_insert(shoal_units *u, const shoal_unit *unit);
/* keep.c: writes the bytes of a unit to the folder, if there is one. For any thread: ctx gets the message. */
shoal_status shoal_units_write(const shoal_units *u, shoal_context *ctx, int64_t unit,
                               const void *bytes, size_t size);
/* keep.c: closes the folder. */
void shoal_units_close(shoal_units *u);

#endif
