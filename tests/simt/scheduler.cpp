/* SPDX-License-Identifier: Apache-2.0
 *
 * scheduler.cpp - runs the blocks of a grid, a few at a time, each thread a fiber.
 *
 * The scheduler goes in rounds: it runs every thread that is ready, each until it waits, gives way
 * or finishes. SIMT_ORDER sets the order within a round and the order in which blocks are issued:
 * forward, reverse, or shuffled by a seed. SIMT_RESIDENT sets how many blocks of an ordinary grid
 * are resident at once (4 by default, 2 under ThreadSanitizer); a cooperative grid is resident as
 * a whole. Threads at a barrier cost nothing until it opens.
 */
#include "engine.h"

namespace simt {

Grid *grid;
Thread *current;

namespace {

/* A loop of atomics gives way once in so many. */
const unsigned atomics_between_yields = 32;

/* So many yields with no thread finishing and no barrier opening are taken for an endless wait. */
const uint64_t endless = 1u << 24;

/* Kept from launch to launch, and never freed: a leak checker must find them at exit. */
std::vector<Fiber *> &idle_fibers = *new std::vector<Fiber *>();
std::vector<Block *> &places = *new std::vector<Block *>(); /* of resident blocks */
std::vector<Thread *> &ready = *new std::vector<Thread *>();
std::vector<Thread *> &round = *new std::vector<Thread *>(); /* those that run, from `turn` on */
size_t turn;

/* Order of threads and blocks */

enum class Order { forward, reverse, shuffled };
struct Shuffler {
    Order order;
    uint64_t state;

    uint64_t below(uint64_t bound) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return (state >> 33) * bound >> 31; /* a remainder takes longer than a switch of fibers */
    }
    template <class T> void arrange(std::vector<T> &list) {
        if (order == Order::forward) return;
        for (size_t i = list.size(); i > 1; i--) {
            if (order == Order::shuffled)
                std::swap(list[i - 1], list[below(i)]);
            else if (i > list.size() / 2)
                std::swap(list[i - 1], list[list.size() - i]);
        }
    }
};

Shuffler order_from_environment() {
    const char *text = getenv("SIMT_ORDER");
    if (!text || !*text || !strcmp(text, "0") || !strcmp(text, "forward")) {
        return { Order::forward, 0 };
    }
    if (!strcmp(text, "reverse")) return { Order::reverse, 0 };
    char *end;
    uint64_t seed = strtoull(text, &end, 0);
    if (*end) fail("SIMT_ORDER is \"forward\", \"reverse\" or a seed, not \"%s\"", text);
    return { Order::shuffled, seed * 0x9e3779b97f4a7c15u };
}

unsigned resident_limit() {
    const char *text = getenv("SIMT_RESIDENT");
    if (!text) return SIMT_TSAN ? 2 : 4;
    long limit = strtol(text, nullptr, 10);
    if (limit < 1 || limit > 1024) fail("SIMT_RESIDENT is a number from 1 to 1024");
    return (unsigned)limit;
}

/* Leaves a thread that cannot go on: the next of the round runs, after the last of them the scheduler. The stacks of
 * those that follow are cold, and are called for in time. */
void next_turn(Thread *thread) {
    Fiber *to = &grid->host;
    current = nullptr;
    if (turn < round.size()) {
        current = round[turn++];
        to = current->fiber;
        if (turn + 1 < round.size()) __builtin_prefetch(round[turn + 1]->fiber);
        if (turn < round.size()) {
            const char *top = (const char *)round[turn]->fiber->stack_pointer;
            __builtin_prefetch(top);
            __builtin_prefetch(top + 64);
            __builtin_prefetch(top + 128);
        }
    }
    fiber_switch(thread->fiber, to);
}

/* The life of a fiber: one thread after another. */
void fiber_entry() {
    fiber_entered();
    for (;;) {
        Thread *thread = current;
        Block *block = thread->block;
        order_acquire(&grid->start);
        order_acquire(&block->order[block->sequence & 1]);
        grid->launch->body();
        order_release(&block->order[~block->sequence & 1]);
        order_release(&grid->end);
        thread->state = State::finished;
        block->live--;
        grid->spins = 0;
        warp_lane_finished(thread);
        check_stuck(block);
        if (block->live)
            next_turn(thread);
        else
            fiber_switch(thread->fiber, &grid->host);
    }
}

Block *place(size_t i) {
    while (places.size() <= i) places.push_back(new Block());
    return places[i];
}

/* Puts block number `n` of the grid into a place and makes its threads ready. */
void start_block(Block *block, uint64_t n) {
    dim3 dims = grid->launch->grid, shape = grid->launch->block;
    block->grid = grid;
    block->index = { (unsigned)(n % dims.x), (unsigned)(n / dims.x % dims.y),
                     (unsigned)(n / dims.x / dims.y) };
    block->count = block->live = shape.x * shape.y * shape.z;
    block->waiting = block->waiting_grid = 0;
    block->sequence++;
    block->barrier.arrived = 0;
    if (block->threads.size() < block->count) block->threads.resize(block->count);
    for (unsigned i = 0; i < block->count; i++) {
        Thread *thread = &block->threads[i];
        if (!thread->fiber) {
            if (idle_fibers.empty()) idle_fibers.push_back(fiber_create(fiber_entry));
            thread->fiber = idle_fibers.back();
            idle_fibers.pop_back();
        }
        thread->block = block;
        thread->rank = i;
        thread->index = { i % shape.x, i / shape.x % shape.y, i / shape.x / shape.y };
        thread->state = State::ready;
        thread->atomics = thread->touched = 0;
        thread->fenced = false;
        ready.push_back(thread);
    }
    warp_reset(block);
    shared_begin_block(block, grid->launch->shared);
}

void end_block(Block *block) {
    shared_end_block(block);
    grid->done++;
}

/* Places and threads beyond the present launch give their fibers back. */
void release_fibers(size_t blocks, unsigned threads) {
    for (size_t i = 0; i < places.size(); i++) {
        std::vector<Thread> &list = places[i]->threads;
        for (size_t k = i < blocks ? threads : 0; k < list.size(); k++) {
            if (list[k].fiber) idle_fibers.push_back(list[k].fiber);
            list[k].fiber = nullptr;
        }
    }
}

/* Runs the threads of the round. One comes back when its block is done, or when it was the last. */
void run_round(const std::vector<uint64_t> &issue) {
    for (turn = 0; turn < round.size();) {
        Thread *thread = current = round[turn++];
        fiber_switch(&grid->host, thread->fiber);
        thread = current;
        current = nullptr;
        if (!thread) continue;
        end_block(thread->block);
        if (grid->issued < grid->blocks) {
            uint64_t next = grid->issued++;
            start_block(thread->block, issue.empty() ? next : issue[next]);
        }
    }
}

} // namespace

int blocks_that_fit(unsigned threads, size_t shared) {
    if (!threads || threads > max_threads || shared > shared_optin()) return 0;
    int warps = (int)((threads + warp_width - 1) / warp_width);
    int by_threads = threads_per_multiprocessor / (warps * (int)warp_width);
    int by_shared = (int)(shared_multiprocessor() / (shared + shared_reserved));
    int fit = by_threads < by_shared ? by_threads : by_shared;
    return fit < blocks_per_multiprocessor ? fit : blocks_per_multiprocessor;
}

void run_grid(const Launch &launch) {
    static Grid running;
    if (grid) fail("a kernel cannot launch a kernel here (in %s)", kernel_name());
    Shuffler shuffler = order_from_environment();
    running.launch = &launch;
    running.blocks = (uint64_t)launch.grid.x * launch.grid.y * launch.grid.z;
    running.issued = running.done = running.spins = 0;
    running.barrier.arrived = 0;
    fiber_adopt_caller(&running.host);
    grid = &running;

    uint64_t limit = launch.cooperative ? grid->blocks : resident_limit();
    size_t resident = (size_t)(grid->blocks < limit ? grid->blocks : limit);
    release_fibers(resident, launch.block.x * launch.block.y * launch.block.z);
    ready.reserve(resident * launch.block.x * launch.block.y * launch.block.z);
    round.reserve(ready.capacity());
    std::vector<uint64_t> issue;
    if (shuffler.order != Order::forward) {
        issue.resize(grid->blocks);
        for (uint64_t i = 0; i < grid->blocks; i++) issue[i] = i;
        shuffler.arrange(issue);
    }
    for (size_t i = 0; i < resident; i++, grid->issued++) {
        start_block(place(i), issue.empty() ? i : issue[i]);
    }
    order_release(&grid->start);
    while (grid->done < grid->blocks) {
        if (ready.empty()) report_stuck_grid(places);
        round.swap(ready);
        ready.clear();
        shuffler.arrange(round);
        run_round(issue);
    }
    order_acquire(&grid->end);
    grid = nullptr;
}

void make_ready(Thread *thread) {
    Block *block = thread->block;
    block->waiting--;
    if (thread->state == State::at_grid_barrier) block->waiting_grid--;
    thread->state = State::ready;
    ready.push_back(thread);
}

void release_grid_barrier(Thread *last) {
    for (uint64_t b = 0; b < grid->blocks; b++) {
        for (unsigned i = 0; i < places[b]->count; i++) {
            if (&places[b]->threads[i] != last) make_ready(&places[b]->threads[i]);
        }
    }
}

void wait_here(State state, Where where) {
    Thread *thread = current;
    Block *block = thread->block;
    thread->state = state;
    thread->where = where;
    block->waiting++;
    if (state == State::at_grid_barrier) block->waiting_grid++;
    check_stuck(block);
    next_turn(thread);
}

void spin_yield() {
    Thread *thread = calling_thread("__nanosleep");
    thread->atomics = 0;
    if (++grid->spins > endless) report_endless_spin();
    ready.push_back(thread);
    next_turn(thread);
}

Thread *calling_thread(const char *word) {
    if (!current) fail("%s outside a kernel", word);
    return current;
}

uint3 thread_index() { return calling_thread("threadIdx")->index; }
uint3 block_index() { return calling_thread("blockIdx")->block->index; }
dim3 block_dim() { return calling_thread("blockDim")->block->grid->launch->block; }
dim3 grid_dim() { return calling_thread("gridDim")->block->grid->launch->grid; }
unsigned lane() { return calling_thread("the lane number")->rank % warp_width; }
unsigned block_rank_of_thread() { return calling_thread("the thread number")->rank; }

/* Atomics and fences (simt_atomic.h) */

void before_atomic(const void *address) {
    Thread *thread = current;
    if (!thread) return; /* a helper shared with the host */
    if (++thread->atomics >= atomics_between_yields) spin_yield();
    if (address && thread->fenced) order_release(const_cast<void *>(address));
}

void after_atomic(const void *address) {
    Thread *thread = current;
    if (!thread) return;
    thread->touched_at[thread->touched++ % 8] = const_cast<void *>(address);
}

void fence() {
    Thread *thread = calling_thread("__threadfence");
    unsigned known = thread->touched < 8 ? thread->touched : 8;
    for (unsigned i = 0; i < known; i++) order_acquire(thread->touched_at[i]);
    thread->touched = 0;
    thread->fenced = true;
}

} // namespace simt
