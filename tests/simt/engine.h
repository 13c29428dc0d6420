/* SPDX-License-Identifier: Apache-2.0
 *
 * engine.h - the emulator's inside: one running grid, its resident blocks, warps and threads.
 *
 * scheduler.cpp runs the grid; barrier.cpp and warp.cpp are where threads meet; shared.cpp lays
 * out the shared memory of a block; report.cpp writes the messages. One OS thread does everything,
 * so no word here is locked; launches from several host threads queue at submit() (stream.cpp).
 *
 * For ThreadSanitizer each barrier is a release by every thread that comes and an acquire by every
 * thread that leaves, on a slot that alternates with its number: a fast thread already on its way to
 * the next must not lend its newer writes to a slow one leaving this. The
 * emulator's own files are compiled without ThreadSanitizer; it still sees malloc and memmove, so
 * lists that threads add to are reserved beforehand.
 */
#ifndef SHOAL_SIMT_ENGINE_H
#define SHOAL_SIMT_ENGINE_H

#include "fiber.h"
#include "simt.h"

namespace simt {

const unsigned warp_width = 32;
const unsigned max_threads = 1024;

/* The device: occupancy and the size of a cooperative grid follow from these. ThreadSanitizer
 * bounds the number of fibers a process may have, so a multiprocessor is smaller there. */
const int multiprocessors = 4;
const int blocks_per_multiprocessor = 32;
const int threads_per_multiprocessor = SIMT_TSAN ? 1024 : 2048;
const size_t shared_default = 48 << 10; /* without cudaFuncSetAttribute */
const size_t shared_reserved = 1 << 10; /* per block, for the system */
size_t shared_optin();                  /* with it: SIMT_SHARED KiB, 227 */
unsigned char fresh_byte();             /* in memory nobody has written: SIMT_FRESH, 255 */
inline size_t shared_multiprocessor() { return shared_optin() + shared_reserved; }

enum class State { ready, at_block_barrier, at_grid_barrier, at_warp, finished };
enum class Meeting { none, barrier, shuffle, vote, match, reduce }; /* what a warp meets for */

struct Block;
struct Grid;

struct Thread {
    Fiber *fiber;
    Block *block;
    uint3 index;
    unsigned rank; /* in the block */
    State state;
    Where where;         /* of the meeting it waits at */
    unsigned mask;       /* of the warp meeting it waits at */
    unsigned atomics;    /* since it last gave way */
    bool fenced;         /* a __threadfence orders its later atomics */
    unsigned touched;    /* atomics since the last fence */
    void *touched_at[8]; /* the latest of their addresses */
};

/* Lanes that meet under one mask. Values alternate with the meeting's number, as order slots do:
 * a slow lane still reads this meeting's while a fast one writes the next. */
struct WarpGroup {
    unsigned mask;
    unsigned arrived;
    unsigned leaving; /* lanes that have yet to read the results */
    uint64_t number;
    Meeting meeting;
    Where where; /* of the first to arrive */
    unsigned members[2];
    uint64_t bits[2][warp_width];
    char order[2];
};

struct Warp {
    unsigned lanes; /* that exist */
    unsigned finished;
    WarpGroup *latest;                              /* that a lane came to, or null */
    std::vector<std::unique_ptr<WarpGroup>> groups; /* one for each mask seen */
};

struct Barrier {
    unsigned arrived;
    const Thread *first; /* to arrive */
    uint64_t number;
    unsigned votes[2];
    char order[2];
};

struct SharedArray {
    const void *tag;
    const char *name;
    size_t offset, bytes;
};

struct Block {
    Grid *grid;
    uint3 index;
    unsigned count;   /* threads */
    unsigned live;    /* not finished */
    unsigned waiting; /* at any meeting */
    unsigned waiting_grid;
    uint64_t sequence; /* how many blocks this place has held */
    char order[2];     /* end of one block, start of the next in this place */
    Barrier barrier;
    std::vector<Thread> threads;
    std::vector<Warp> warps;
    unsigned char *memory; /* shared */
    size_t dynamic_bytes, used_bytes, static_bytes;
    std::vector<SharedArray> arrays;
};

struct Grid {
    const Launch *launch;
    Fiber host;
    uint64_t blocks, issued, done;
    uint64_t spins; /* yields since a thread last finished or a barrier opened */
    Barrier barrier;
    char start, end; /* order slots */
};

extern Grid *grid;      /* the running one, or null */
extern Thread *current; /* the running thread, or null on the host */

/* scheduler.cpp */
void run_grid(const Launch &launch);
int blocks_that_fit(unsigned threads, size_t shared); /* on one multiprocessor */
void make_ready(Thread *thread);
void release_grid_barrier(Thread *last);  /* makes every thread of the grid but the last ready */
void wait_here(State state, Where where); /* returns when made ready */
Thread *calling_thread(const char *word); /* reports a call from outside a kernel */

/* warp.cpp */
void warp_lane_finished(Thread *thread);
void warp_reset(Block *block);

/* shared.cpp */
void shared_begin_block(Block *block, size_t dynamic_bytes);
void shared_end_block(Block *block);

/* report.cpp */
[[noreturn]] void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
[[noreturn]] void fail_in_thread(Where where, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void check_stuck(Block *block); /* reports a block none of whose threads can go on */
[[noreturn]] void report_stuck_grid(const std::vector<Block *> &resident);
[[noreturn]] void report_endless_spin();
const char *kernel_name();

} // namespace simt

#endif
