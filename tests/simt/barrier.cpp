/* SPDX-License-Identifier: Apache-2.0
 *
 * barrier.cpp - __syncthreads and its voting forms, and the barrier of a cooperative grid.
 *
 * The last thread to arrive opens the barrier and goes on; the others become ready. A thread that
 * has finished never arrives: its block is then stuck, which report.cpp finds at once.
 */
#include "engine.h"

namespace simt {
namespace {

/* Every thread of a block at a barrier must stand at the same one. */
void check_same_place(const Thread *other, Where where) {
    if (other->where.line == where.line &&
        (other->where.file == where.file || !strcmp(other->where.file, where.file)))
        return;
    fail_in_thread(where, "divergent __syncthreads: thread (%u,%u,%u) waits at another one, %s:%d",
                   other->index.x, other->index.y, other->index.z, other->where.file,
                   other->where.line);
}

} // namespace

int block_barrier(Vote vote, bool predicate, Where where) {
    Thread *thread = calling_thread("__syncthreads");
    Block *block = thread->block;
    Barrier *barrier = &block->barrier;
    unsigned parity = barrier->number & 1;
    order_release(&barrier->order[parity]);
    if (barrier->arrived == 0) {
        barrier->votes[parity] = 0;
        barrier->first = thread;
    } else {
        check_same_place(barrier->first, where);
    }
    barrier->votes[parity] += predicate;
    if (++barrier->arrived < block->count) {
        wait_here(State::at_block_barrier, where);
    } else {
        barrier->arrived = 0;
        barrier->number++;
        grid->spins = 0;
        for (unsigned i = 0; i < block->count; i++) {
            if (&block->threads[i] != thread) make_ready(&block->threads[i]);
        }
    }
    order_acquire(&barrier->order[parity]);
    unsigned votes = barrier->votes[parity];
    switch (vote) {
    case Vote::any: return votes != 0;
    case Vote::all: return votes == block->count;
    case Vote::count: return (int)votes;
    default: return 0;
    }
}

bool grid_is_cooperative() {
    calling_thread("this_grid");
    return grid->launch->cooperative;
}

void grid_barrier(Where where) {
    Thread *thread = calling_thread("this_grid().sync()");
    if (!grid_is_cooperative()) {
        fail_in_thread(where, "a grid barrier needs SHOAL_LAUNCH_COOPERATIVE");
    }
    Barrier *barrier = &grid->barrier;
    unsigned parity = barrier->number & 1;
    order_release(&barrier->order[parity]);
    if (++barrier->arrived < grid->blocks * thread->block->count) {
        wait_here(State::at_grid_barrier, where);
    } else {
        barrier->arrived = 0;
        barrier->number++;
        grid->spins = 0;
        release_grid_barrier(thread);
    }
    order_acquire(&barrier->order[parity]);
}

} // namespace simt
