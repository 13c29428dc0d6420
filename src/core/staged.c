/* SPDX-License-Identifier: Apache-2.0
 *
 * staged.c - pieces of a batch on their way through a GPU.
 */
#include "core/staged.h"
#include "core/loops.h"
#include <stdlib.h>
#include <string.h>

enum { STAGED_LANES = 3, ALIGNMENT = 256, MOST_ARRAYS = 16 };
enum { CHUNK = 1 << 20 };              /* bytes that one thread copies at a time  */
#define USUAL_PIECE ((size_t)64 << 20) /* bytes, where .staging is 1 */

typedef struct lane {
    void *plan, *stream, *pinned, *device;
    void *busy; /* the plan whose piece is on its way; NULL: none */
    int64_t first, count;
} lane;

struct shoal_staged {
    const shoal_staged_kind *kind;
    void *opts, *info, *probe; /* probe: a plan for one system */
    int64_t count, piece;      /* systems of the batch, and of a piece: 0 before the first call */
    size_t room;               /* bytes of a lane                                              */
    void *tail;                /* the plan for the last piece, if that is smaller              */
    lane lanes[STAGED_LANES];
};

static int is_used(const shoal_staged_array *a) { return a->from || a->to; }

static size_t bytes_of(const shoal_staged_array *a, int64_t systems) {
    return is_used(a) ? a->bytes * (size_t)a->rows * (size_t)systems : 0;
}

/* ---- plans -------------------------------------------------------------------------------------- */

/* A plan of the module whose arrays are on the device. */
static shoal_status make_plan(shoal_plan *head, int64_t count, void **plan) {
    const size_t staging = head->ctx->staging;
    head->ctx->staging = 0;
    const shoal_status s = head->staged->kind->create(head->ctx, head->staged->opts, count, plan);
    head->ctx->staging = staging;
    return s;
}

shoal_status shoal_staged_word(shoal_plan *head, const char **word) {
    char *copy;
    if (!*word) return SHOAL_OK;
    const shoal_status s = shoal_plan_host(head, (int64_t)strlen(*word) + 1, 1, &copy);
    if (s == SHOAL_OK) *word = strcpy(copy, *word);
    return s;
}

shoal_status shoal_staged_refuse(shoal_plan *head, int given, const char *option) {
    return given ? shoal_fail(head->ctx, SHOAL_E_ARG,
                              "%s: not with .staging, which sends a batch in pieces of equal "
                              "systems; make a plan per size, or a context without .staging",
                              option)
                 : SHOAL_OK;
}

shoal_status shoal_staged_create(shoal_plan *head, const shoal_staged_kind *kind, const void *opts,
                                 int64_t count) {
    shoal_staged *s;
    shoal_status status = shoal_plan_host(head, 1, sizeof *s, &s);
    if (status != SHOAL_OK) return status;
    s->kind = kind, s->count = count;
    status = shoal_plan_host(head, 1, kind->opts, &s->opts);
    if (status == SHOAL_OK) status = shoal_plan_host(head, 1, kind->info, &s->info);
    if (status != SHOAL_OK) return status;
    memcpy(s->opts, opts, kind->opts);
    head->staged = s;
    status = make_plan(head, count < 1 ? count : 1, &s->probe);
    return status == SHOAL_OK ? kind->add(s->probe, s->info) : status;
}

static void free_lanes(shoal_plan *head) {
    shoal_staged *s = head->staged;
    const shoal_device_ops *ops = head->ctx->ops;
    for (lane *l = s->lanes; l < s->lanes + STAGED_LANES; l++) {
        s->kind->free(l->plan);
        if (l->pinned) ops->release_pinned(head->ctx, l->pinned);
        shoal_free(head->ctx, l->device);
        if (l->stream) ops->close_stream(head->ctx, l->stream);
        *l = (lane){ 0 };
    }
    s->kind->free(s->tail);
    s->tail = NULL, s->piece = 0, s->room = 0;
}

void shoal_staged_free(shoal_plan *head) {
    free_lanes(head);
    head->staged->kind->free(head->staged->probe);
}

const void *shoal_staged_opts(const shoal_plan *head) { return head->staged->opts; }
const void *shoal_staged_info(const shoal_plan *head) { return head->staged->info; }

/* Lanes for pieces of `piece` systems in `room` bytes. Those of the last call stay if they fit. */
static shoal_status make_lanes(shoal_plan *head, int64_t piece, size_t room) {
    shoal_staged *s = head->staged;
    shoal_context *ctx = head->ctx;
    if (s->piece == piece && s->room >= room) return SHOAL_OK;
    free_lanes(head);
    const int64_t left = s->count % piece, pieces = s->count / piece;
    shoal_status status = left ? make_plan(head, left, &s->tail) : SHOAL_OK;
    for (int i = 0; i < STAGED_LANES && i < pieces + (left > 0) && status == SHOAL_OK; i++) {
        lane *l = &s->lanes[i];
        status = ctx->ops->open_stream(ctx, &l->stream);
        if (status == SHOAL_OK) status = ctx->ops->alloc_pinned(ctx, room, &l->pinned);
        if (status == SHOAL_OK) status = shoal_alloc(ctx, room, &l->device);
        if (status == SHOAL_OK && i < pieces) status = make_plan(head, piece, &l->plan);
    }
    s->piece = piece, s->room = room;
    if (status != SHOAL_OK) free_lanes(head);
    return status;
}

/* ---- pieces ------------------------------------------------------------------------------------- */

/* `rows` rows of `bytes` bytes, by all threads. */
static void copy_rows(const shoal_context *ctx, char *to, size_t to_row, const char *from,
                      size_t from_row, size_t bytes, int64_t rows) {
    const int64_t chunks = (int64_t)((bytes + CHUNK - 1) / CHUNK);
    ON_THREADS(ctx->threads, static)
    for (int64_t task = 0; task < rows * chunks; task++) {
        const int64_t row = task / chunks;
        const size_t at = (size_t)(task % chunks) * CHUNK;
        memcpy(to + (size_t)row * to_row + at, from + (size_t)row * from_row + at,
               bytes - at < CHUNK ? bytes - at : CHUNK);
    }
}

/* The parts of `systems` systems, by all threads: the host's are apart, the others together. */
static void copy_parts(const shoal_context *ctx, const shoal_staged_array *a, char *host,
                       char *pinned, int64_t systems, int in) {
    ON_THREADS(ctx->threads, static)
    for (int64_t k = 0; k < systems; k++)
        for (size_t part = 0; part * a->part < a->bytes; part++) {
            char *apart = host + (size_t)k * a->step + part * a->part_step;
            char *together = pinned + (size_t)k * a->bytes + part * a->part;
            memcpy(in ? together : apart, in ? apart : together, a->part);
        }
}

typedef struct job { /* one call */
    const shoal_staged_array *arrays;
    size_t at[MOST_ARRAYS]; /* where each begins in a lane; an x that is b begins where b does */
    int count;
    shoal_staged_call *call;
    const void *with;
} job;

/* Places for pieces of so many systems; returns the bytes of a lane. */
static size_t place(job *j, int64_t piece) {
    size_t end = 0;
    for (int i = 0; i < j->count; i++) {
        const shoal_staged_array *a = &j->arrays[i];
        j->at[i] = end;
        end += (bytes_of(a, piece) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        for (int k = 0; k < i && !a->from && a->to; k++)
            if (j->arrays[k].from == a->to) end = j->at[i], j->at[i] = j->at[k];
    }
    return end;
}

/* A lane's part of an array, from the host (in = 1) or to it. */
static void carry(const shoal_plan *head, const lane *l, const shoal_staged_array *a, char *pinned,
                  int in) {
    const size_t whole = a->bytes * (size_t)head->staged->count, part = a->bytes * (size_t)l->count;
    const size_t at = (a->step ? a->step : a->bytes) * (size_t)l->first;
    if (a->step)
        copy_parts(head->ctx, a, (char *)(uintptr_t)(in ? a->from : a->to) + at, pinned, l->count,
                   in);
    else if (in)
        copy_rows(head->ctx, pinned, part, (const char *)a->from + at, whole, part, a->rows);
    else
        copy_rows(head->ctx, (char *)a->to + at, whole, pinned, part, part, a->rows);
}

static shoal_status begin_piece(shoal_plan *head, lane *l, const job *j) {
    shoal_context *ctx = head->ctx;
    char *pinned = l->pinned, *device = l->device;
    void *pointers[MOST_ARRAYS] = { NULL };
    shoal_status status = SHOAL_OK;
    ctx->stream = l->stream;
    l->busy = l->count < head->staged->piece ? head->staged->tail : l->plan;
    for (int i = 0; i < j->count && status == SHOAL_OK; i++) {
        if (is_used(&j->arrays[i])) pointers[i] = device + j->at[i];
        if (!j->arrays[i].from) continue;
        carry(head, l, &j->arrays[i], pinned + j->at[i], 1);
        status = ctx->ops->copy_later(ctx, pointers[i], pinned + j->at[i],
                                      bytes_of(&j->arrays[i], l->count));
    }
    if (status == SHOAL_OK) status = j->call(l->busy, pointers, j->with);
    for (int i = 0; i < j->count && status == SHOAL_OK; i++)
        if (j->arrays[i].to)
            status = ctx->ops->copy_later(ctx, pinned + j->at[i], pointers[i],
                                          bytes_of(&j->arrays[i], l->count));
    return status;
}

/* Waits for a lane; its results go to the host if all is well so far. */
static shoal_status end_piece(shoal_plan *head, lane *l, const job *j, shoal_status status) {
    shoal_context *ctx = head->ctx;
    void *plan = l->busy;
    char message[sizeof ctx->message];
    if (!plan) return status;
    l->busy = NULL;
    ctx->stream = l->stream;
    memcpy(message, ctx->message, sizeof message);
    const shoal_status waited = ctx->ops->wait(ctx);
    if (status != SHOAL_OK) memcpy(ctx->message, message, sizeof message); /* the first one stays */
    if (status == SHOAL_OK) status = waited;
    for (int i = 0; i < j->count && status == SHOAL_OK; i++)
        if (j->arrays[i].to) carry(head, l, &j->arrays[i], (char *)l->pinned + j->at[i], 0);
    return status == SHOAL_OK ? head->staged->kind->add(plan, head->staged->info) : status;
}

static shoal_status check(shoal_context *ctx, const shoal_staged_array *arrays, int count) {
    for (const shoal_staged_array *a = arrays; a < arrays + count; a++) {
        const void *memory = a->from ? a->from : a->to;
        if (memory && ctx->ops->owns(ctx, memory))
            return shoal_fail(ctx, SHOAL_E_MEMORY,
                              "%s is memory of GPU %d; a context with .staging takes host memory",
                              a->name, ctx->device);
    }
    return SHOAL_OK;
}

static shoal_status run(shoal_plan *head, job *j) {
    shoal_staged *s = head->staged;
    shoal_context *ctx = head->ctx;
    size_t each = 0;
    for (int i = 0; i < j->count; i++) each += bytes_of(&j->arrays[i], 1);
    const size_t wanted = ctx->staging > 1 ? ctx->staging : USUAL_PIECE;
    int64_t next = 0, piece = s->count;
    if (each && wanted / each < (size_t)piece) piece = (int64_t)(wanted / each);
    if (piece < 1) piece = 1;
    shoal_status status = check(ctx, j->arrays, j->count);
    if (status == SHOAL_OK) status = make_lanes(head, piece, place(j, piece));
    const shoal_stage stage = shoal_stage_begin(ctx, "systems");
    memset(s->info, 0, s->kind->info);
    for (int64_t first = 0; first < s->count && status == SHOAL_OK; first += piece) {
        lane *l = &s->lanes[next++ % STAGED_LANES];
        status =
            shoal_stage_step(ctx, &stage, (double)first, (double)(first + piece), (double)s->count);
        status = end_piece(head, l, j, status);
        l->first = first, l->count = s->count - first < piece ? s->count - first : piece;
        if (status == SHOAL_OK) status = begin_piece(head, l, j);
    }
    for (int i = 0; i < STAGED_LANES; i++) /* in the order of their pieces */
        status = end_piece(head, &s->lanes[(next + i) % STAGED_LANES], j, status);
    return shoal_stage_end(ctx, &stage, status);
}

shoal_status shoal_staged_run(shoal_plan *head, const shoal_staged_array *arrays, int count,
                              shoal_staged_call *call, const void *with) {
    job j = { .arrays = arrays, .count = count, .call = call, .with = with };
    if (head->staged->count == 0) return SHOAL_OK;
    void *stream = head->ctx->stream;
    const shoal_status status = run(head, &j);
    head->ctx->stream = stream;
    return status;
}

/* ---- outcomes ----------------------------------------------------------------------------------- */

void shoal_staged_outcome(const shoal_outcome *where, shoal_staged_array *arrays) {
    const shoal_staged_array all[STAGED_OUTCOMES] = {
        shoal_staged_out("outcome.status", where->status, sizeof(int32_t), 1),
        shoal_staged_out("outcome.residual", where->residual, sizeof(float), 1),
        shoal_staged_out("outcome.rcond", where->rcond, sizeof(float), 1),
        shoal_staged_out("outcome.rank", where->rank, sizeof(int32_t), 1),
        shoal_staged_out("outcome.inertia", where->inertia, 3 * sizeof(int32_t), 1),
        shoal_staged_out("outcome.method", where->method, sizeof(int32_t), 1),
    };
    memcpy(arrays, all, sizeof all);
}

shoal_outcome shoal_staged_where(void *const *arrays) {
    return (shoal_outcome){ .status = arrays[0],
                            .residual = arrays[1],
                            .rcond = arrays[2],
                            .rank = arrays[3],
                            .inertia = arrays[4],
                            .method = arrays[5] };
}
