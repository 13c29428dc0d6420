/* SPDX-License-Identifier: Apache-2.0
 *
 * staged.c - pieces of a batch on their way through a GPU.
 *
 * The host's part limits the rate: it reads and writes every byte once more than the GPU's copies do. So all threads copy
 * parts of all arrays of a piece in one loop; the pages of arrays that are written are made ahead; and one copy takes a
 * piece to the GPU, one takes it back, because each costs microseconds. Pinned memory is so small that it stays in the
 * caches, where the GPU reads it; results go past the caches. On an H200's host of 16 cores, with a quarter as many bytes
 * out as in: 45 GB/s in pieces of 32 MiB, 41 to 44 of 64, 39 with both past the caches, 25 without pages made ahead; the
 * bus takes 55.
 */
#define _GNU_SOURCE /* madvise */
#include "core/staged.h"
#include "core/loops.h"
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#endif
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { STAGED_LANES = 3, ALIGNMENT = 256, MAX_ARRAYS = 16 };
enum { CHUNK = 1 << 18 };              /* bytes that one thread copies at a time  */
enum { HUGE_PAGE = 1 << 21 };          /* ... and makes the pages of              */
#define AHEAD       ((size_t)64 << 20) /* bytes whose pages are made at once      */
#define USUAL_PIECE ((size_t)32 << 20) /* bytes, where .staging is 1              */

typedef struct lane {
    void *plan, *stream, *pinned, *device;
    void *busy; /* the plan whose piece is on its way; NULL: none */
    int64_t first, count;
    size_t at[MAX_ARRAYS];       /* where the piece of each array begins */
    size_t read, write, written; /* bytes [0, read) go to the device, [write, written) come back */
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

static void free_lanes(shoal_plan *head) {
    shoal_staged *s = head->staged;
    const shoal_device_ops *ops = head->ctx->ops;
    for (lane *l = s->lanes; l < s->lanes + STAGED_LANES; l++) {
        shoal_plan_free(l->plan);
        if (l->pinned) ops->release_pinned(head->ctx, l->pinned);
        shoal_free(head->ctx, l->device);
        if (l->stream) ops->close_stream(head->ctx, l->stream);
        *l = (lane){ 0 };
    }
    shoal_plan_free(s->tail);
    s->tail = NULL, s->piece = 0, s->room = 0;
}

static void end_staged(shoal_plan *head) {
    free_lanes(head);
    shoal_plan_free(head->staged->probe);
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
    head->staged = s, head->end_staged = end_staged;
    status = make_plan(head, count < 1 ? count : 1, &s->probe);
    return status == SHOAL_OK ? kind->add(s->probe, s->info) : status;
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

typedef struct job { /* one call */
    const shoal_staged_array *arrays;
    size_t paged[MAX_ARRAYS]; /* bytes of an array that is written whose pages are there */
    int count;
    int is_long; /* several pieces: what is copied will not be used soon */
    shoal_staged_call *call;
    const void *with;
} job;

/* An array that is only written may be one that is read before it: x that is b. The number of that one, or -1. */
static int place_of(const job *j, int i) {
    const shoal_staged_array *a = &j->arrays[i];
    for (int k = 0; k < i && !a->from && a->to; k++)
        if (j->arrays[k].from == a->to) return k;
    return -1;
}

static int is_written(const job *j, int i) {
    int found = j->arrays[i].to != NULL;
    for (int k = i + 1; k < j->count; k++) found |= place_of(j, k) == i;
    return found;
}

/* Places for a piece of so many systems: what is only read, what is also written, what is only written. So one copy
 * takes a piece to the device, and one takes it back. Returns the bytes of a lane. */
static size_t place(lane *l, const job *j, int64_t systems) {
    size_t end = 0;
    for (int round = 0; round < 3; round++) {
        if (round == 1) l->write = end;
        for (int i = 0; i < j->count; i++) {
            const shoal_staged_array *a = &j->arrays[i];
            const int is_mine = round == 2 ? !a->from : a->from && is_written(j, i) == round;
            if (!is_mine) continue;
            const int same = place_of(j, i);
            l->at[i] = same >= 0 ? l->at[same] : end;
            if (same < 0) end += (bytes_of(a, systems) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        }
        if (round == 1) l->read = end;
    }
    l->written = end;
    return end;
}

/* Bytes past the caches, if there are many: they are not read soon, and what they replace is not read first. */
static void move(char *to, const char *from, size_t bytes, int past_caches) {
#ifdef __SSE2__
    const size_t lead = (size_t)(-(uintptr_t)to % 64);
    if (past_caches && bytes >= 4096) {
        memcpy(to, from, lead);
        size_t i = lead;
        for (; i + 64 <= bytes; i += 64)
            for (size_t k = 0; k < 64; k += 16)
                _mm_stream_si128((__m128i *)(void *)(to + i + k),
                                 _mm_loadu_si128((const __m128i *)(const void *)(from + i + k)));
        memcpy(to + i, from + i, bytes - i);
        _mm_sfence();
        return;
    }
#endif
    (void)past_caches;
    memcpy(to, from, bytes);
}

/* How a lane's part of an array is cut into tasks: bytes of a row, or whole rows, or systems. */
typedef struct share {
    enum { NOTHING, BYTES, ROWS, SYSTEMS } of;
    int64_t all, each; /* of them, in a row if they are bytes, and in a task */
    int64_t row, tasks;
} share;

static share share_of(const shoal_staged_array *a, int64_t systems) {
    share s = { .of = BYTES, .row = (int64_t)a->bytes * systems, .each = CHUNK };
    if (s.row == 0) return (share){ .of = NOTHING };
    s.all = s.row;
    if (a->step)
        s.of = SYSTEMS, s.all = systems, s.each = CHUNK / (int64_t)a->bytes + 1;
    else if (s.row < CHUNK)
        s.of = ROWS, s.all = a->rows, s.each = CHUNK / s.row;
    s.tasks = (s.all + s.each - 1) / s.each * (s.of == BYTES ? a->rows : 1);
    return s;
}

/* From the host to a lane (in = 1), or back. */
static void carry_task(const shoal_plan *head, const lane *l, const job *j, int i, const share *s,
                       int64_t task, int in) {
    const shoal_staged_array *a = &j->arrays[i];
    const int64_t tasks = (s->all + s->each - 1) / s->each, from = task % tasks * s->each;
    const int64_t to = from + s->each < s->all ? from + s->each : s->all;
    char *const host = in ? (char *)(uintptr_t)a->from : (char *)a->to;
    char *const pinned = (char *)l->pinned + l->at[i];
    if (s->of == SYSTEMS) { /* their parts are apart on the host, together in the lane */
        for (int64_t k = from; k < to; k++)
            for (size_t p = 0; p * a->part < a->bytes; p++) {
                char *apart = host + (size_t)(l->first + k) * a->step + p * a->part_step;
                char *together = pinned + (size_t)k * a->bytes + p * a->part;
                memcpy(in ? together : apart, in ? apart : together, a->part);
            }
        return;
    }
    const int64_t row = s->of == BYTES ? task / tasks : from, rows = s->of == BYTES ? 1 : to - from;
    const int64_t begin = s->of == BYTES ? from : 0, bytes = s->of == BYTES ? to - from : s->row;
    for (int64_t r = row; r < row + rows; r++) {
        char *here = pinned + r * s->row + begin;
        char *there = host + a->bytes * (size_t)(r * head->staged->count + l->first) + begin;
        move(in ? here : there, in ? there : here, (size_t)bytes, !in && j->is_long);
    }
}

/* A lane's part of all arrays, by all threads. */
static void carry(const shoal_plan *head, const lane *l, const job *j, int in) {
    share shares[MAX_ARRAYS];
    int64_t first[MAX_ARRAYS + 1] = { 0 };
    for (int i = 0; i < j->count; i++) {
        const shoal_staged_array *a = &j->arrays[i];
        const int is_moved = in ? a->from != NULL : a->to != NULL;
        shares[i] = is_moved ? share_of(a, l->count) : (share){ .of = NOTHING };
        first[i + 1] = first[i] + shares[i].tasks;
    }
    ON_THREADS(head->ctx->threads, dynamic)
    for (int64_t task = 0; task < first[j->count]; task++) {
        int i = 0;
        while (task >= first[i + 1]) i++;
        carry_task(head, l, j, i, &shares[i], task - first[i], in);
    }
}

/* The first write to memory that is new to the process waits for the kernel to clear a page, and threads that meet in one
 * page wait for each other. So pages are made ahead, by all threads, each its own. */
static void make_pages(const shoal_plan *head, job *j, const lane *l) {
#ifdef __linux__
    enum {
        POPULATE_WRITE = 23
    }; /* MADV_POPULATE_WRITE: of Linux 5.14; older ones refuse it, and no harm is done */
    for (int i = 0; i < j->count && j->is_long; i++) {
        const shoal_staged_array *a = &j->arrays[i];
        if (!a->to || a->from || a->rows != 1 || a->step || place_of(j, i) >= 0) continue;
        const size_t whole = a->bytes * (size_t)head->staged->count;
        const size_t wanted = a->bytes * (size_t)(l->first + l->count);
        if (j->paged[i] >= wanted) continue;
        const size_t more = wanted + AHEAD < whole ? wanted + AHEAD : whole;
        const uintptr_t begin = (uintptr_t)a->to + j->paged[i], end = (uintptr_t)a->to + more;
        const int64_t first = (int64_t)(begin / HUGE_PAGE),
                      last = (int64_t)((end + HUGE_PAGE - 1) / HUGE_PAGE);
        ON_THREADS(head->ctx->threads, dynamic)
        for (int64_t page = first; page < last; page++) {
            uintptr_t from = (uintptr_t)page * HUGE_PAGE, to = from + HUGE_PAGE;
            if (from < begin) from = begin / 4096 * 4096;
            if (to > end) to = end;
            (void)madvise((void *)from, to - from, POPULATE_WRITE);
        }
        j->paged[i] = more;
    }
#else
    (void)head, (void)j, (void)l;
#endif
}

static shoal_status begin_piece(shoal_plan *head, lane *l, const job *j) {
    shoal_context *ctx = head->ctx;
    char *pinned = l->pinned, *device = l->device;
    void *pointers[MAX_ARRAYS] = { NULL };
    shoal_status status = SHOAL_OK;
    ctx->stream = l->stream;
    l->busy = l->count < head->staged->piece ? head->staged->tail : l->plan;
    place(l, j, l->count);
    for (int i = 0; i < j->count; i++)
        if (is_used(&j->arrays[i])) pointers[i] = device + l->at[i];
    carry(head, l, j, 1);
    if (l->read) status = ctx->ops->copy_later(ctx, device, pinned, l->read);
    if (status == SHOAL_OK) status = j->call(l->busy, pointers, j->with);
    if (status == SHOAL_OK && l->written > l->write)
        status =
            ctx->ops->copy_later(ctx, pinned + l->write, device + l->write, l->written - l->write);
    return status;
}

/* Waits for a lane; its results go to the host if all is well so far. */
static shoal_status end_piece(shoal_plan *head, lane *l, job *j, shoal_status status) {
    shoal_context *ctx = head->ctx;
    void *plan = l->busy;
    char message[sizeof ctx->message];
    if (!plan) return status;
    l->busy = NULL;
    ctx->stream = l->stream;
    memcpy(message, ctx->message, sizeof message);
    if (status == SHOAL_OK) make_pages(head, j, l);
    const shoal_status waited = ctx->ops->wait(ctx);
    if (status != SHOAL_OK) memcpy(ctx->message, message, sizeof message); /* the first one stays */
    if (status == SHOAL_OK) status = waited;
    if (status == SHOAL_OK) carry(head, l, j, 0);
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
    lane whole;
    j->is_long = piece < s->count;
    shoal_status status = check(ctx, j->arrays, j->count);
    if (status == SHOAL_OK) status = make_lanes(head, piece, place(&whole, j, piece));
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
