/* SPDX-License-Identifier: Apache-2.0
 *
 * warp.cpp - meetings of the lanes of a warp: barrier, shuffle, vote, match, reduction.
 *
 * Meetings are keyed by mask, so that several groups of one warp can meet at the same time. A
 * meeting needs the lanes of its mask that exist and have not finished; one that finishes while
 * others wait may thereby complete theirs, as on the device. Of all of them the barrier alone orders
 * memory, as CUDA has it.
 */
#include "engine.h"

namespace simt {
namespace {

/* Masks that come and go (match results, say) must not pile up. A lane is in one meeting at a
 * time, so that 32 groups can be in use and a 33rd is free. */
const size_t many_groups = 64;

WarpGroup *group_of(Warp *warp, unsigned mask) {
    if (warp->latest && warp->latest->mask == mask) return warp->latest;
    WarpGroup *unused = nullptr;
    for (std::unique_ptr<WarpGroup> &group : warp->groups) {
        if (group->mask == mask) return warp->latest = group.get();
        if (group->arrived == 0 && group->leaving == 0) unused = group.get();
    }
    if (warp->groups.size() < many_groups) {
        warp->groups.emplace_back(new WarpGroup());
        unused = warp->groups.back().get();
    }
    unused->mask = mask;
    return warp->latest = unused;
}

unsigned members_of(const Warp *warp, unsigned mask) {
    return mask & warp->lanes & ~warp->finished;
}

Warp *warp_of(Thread *thread) { return &thread->block->warps[thread->rank / warp_width]; }

/* All are here: wakes the waiting lanes. */
void complete(Block *block, unsigned first_rank, WarpGroup *group, unsigned members) {
    group->members[group->number & 1] = members;
    group->number++;
    group->arrived = 0;
    group->leaving += (unsigned)__builtin_popcount(members);
    for (unsigned lane = 0; lane < warp_width; lane++) {
        if (!(members >> lane & 1)) continue;
        Thread *thread = &block->threads[first_rank + lane];
        if (thread->state == State::at_warp) make_ready(thread);
    }
}

const char *word_of(Meeting meeting) {
    switch (meeting) {
    case Meeting::barrier: return "__syncwarp";
    case Meeting::shuffle: return "a shuffle";
    case Meeting::vote: return "a vote";
    case Meeting::match: return "__match_any_sync";
    case Meeting::reduce: return "a __reduce operation";
    default: return "nothing";
    }
}

struct Met {
    const uint64_t *bits; /* of each lane; valid until the caller's next warp operation */
    unsigned members;
};

/* Brings `bits` to the meeting of `mask`, returns what all brought. */
Met meet(Meeting meeting, unsigned mask, uint64_t bits, Where where) {
    Thread *thread = calling_thread(word_of(meeting));
    Warp *warp = warp_of(thread);
    unsigned lane = thread->rank % warp_width;
    if (!(mask >> lane & 1)) {
        fail_in_thread(where, "%s: lane %u is not in its own mask 0x%08x", word_of(meeting), lane,
                       mask);
    }
    WarpGroup *group = group_of(warp, mask);
    unsigned parity = group->number & 1;
    if (group->arrived == 0) {
        group->meeting = meeting;
        group->where = where;
    } else if (group->meeting != meeting) {
        fail_in_thread(where,
                       "divergent warp: lane %u is at %s, other lanes of mask 0x%08x at %s, "
                       "%s:%d",
                       lane, word_of(meeting), mask, word_of(group->meeting), group->where.file,
                       group->where.line);
    }
    if (meeting == Meeting::barrier) order_release(&group->order[parity]);
    group->bits[parity][lane] = bits;
    group->arrived |= 1u << lane;
    unsigned members = members_of(warp, mask);
    if (group->arrived == members) {
        complete(thread->block, thread->rank - lane, group, members);
    } else {
        thread->mask = mask;
        wait_here(State::at_warp, where);
    }
    if (meeting == Meeting::barrier) order_acquire(&group->order[parity]);
    group->leaving--;
    return { group->bits[parity], group->members[parity] };
}

uint32_t combine(uint32_t a, uint32_t b, Reduction reduction) {
    switch (reduction) {
    case Reduction::add: return a + b;
    case Reduction::minimum: return a < b ? a : b;
    case Reduction::maximum: return a > b ? a : b;
    case Reduction::minimum_signed: return (int32_t)a < (int32_t)b ? a : b;
    case Reduction::maximum_signed: return (int32_t)a > (int32_t)b ? a : b;
    case Reduction::and_: return a & b;
    case Reduction::or_: return a | b;
    default: return a ^ b;
    }
}

} // namespace

void warp_reset(Block *block) {
    unsigned count = (block->count + warp_width - 1) / warp_width;
    if (block->warps.size() < count) block->warps.resize(count);
    for (unsigned w = 0; w < count; w++) {
        unsigned left = block->count - w * warp_width;
        block->warps[w].lanes = left >= warp_width ? ~0u : (1u << left) - 1;
        block->warps[w].finished = 0;
        block->warps[w].groups.reserve(many_groups);
    }
}

void warp_lane_finished(Thread *thread) {
    Warp *warp = warp_of(thread);
    unsigned lane = thread->rank % warp_width;
    warp->finished |= 1u << lane;
    for (std::unique_ptr<WarpGroup> &group : warp->groups) {
        if (!group->arrived || !(group->mask >> lane & 1)) continue;
        unsigned members = members_of(warp, group->mask);
        if (group->arrived == members) {
            complete(thread->block, thread->rank - lane, group.get(), members);
        }
    }
}

unsigned warp_members(unsigned mask) {
    return members_of(warp_of(calling_thread("a warp operation")), mask);
}

void warp_barrier(unsigned mask, Where where) { meet(Meeting::barrier, mask, 0, where); }

unsigned shuffle_source(Shuffle shuffle, int operand, int width, Where where) {
    unsigned lane = calling_thread("a shuffle")->rank % warp_width;
    if (width < 1 || width > (int)warp_width || (width & (width - 1))) {
        fail_in_thread(where, "the width of a shuffle is a power of two up to 32, not %d", width);
    }
    unsigned first = lane & ~((unsigned)width - 1), last = first + (unsigned)width - 1, source;
    switch (shuffle) {
    case Shuffle::index: return first + ((unsigned)operand & ((unsigned)width - 1));
    case Shuffle::up: return (unsigned)operand > lane - first ? lane : lane - (unsigned)operand;
    case Shuffle::down: return (unsigned)operand > last - lane ? lane : lane + (unsigned)operand;
    default:
        source = lane ^ ((unsigned)operand & (warp_width - 1));
        return source > last ? lane : source;
    }
}

uint64_t warp_shuffle(unsigned mask, uint64_t bits, unsigned source, Where where) {
    if (!(mask >> source & 1)) {
        fail_in_thread(where, "a shuffle reads lane %u, which is not in its mask 0x%08x", source,
                       mask);
    }
    Met met = meet(Meeting::shuffle, mask, bits, where);
    return met.members >> source & 1 ? met.bits[source] : bits;
}

unsigned warp_ballot(unsigned mask, bool predicate, Where where) {
    Met met = meet(Meeting::vote, mask, predicate, where);
    unsigned ballot = 0;
    for (unsigned lane = 0; lane < warp_width; lane++) {
        if (met.members >> lane & 1) ballot |= (unsigned)met.bits[lane] << lane;
    }
    return ballot;
}

unsigned warp_match(unsigned mask, uint64_t bits, Where where) {
    Met met = meet(Meeting::match, mask, bits, where);
    unsigned equal = 0;
    for (unsigned lane = 0; lane < warp_width; lane++) {
        if (met.members >> lane & 1 && met.bits[lane] == bits) equal |= 1u << lane;
    }
    return equal;
}

uint32_t warp_reduce(unsigned mask, uint32_t bits, Reduction reduction, Where where) {
    Met met = meet(Meeting::reduce, mask, bits, where);
    bool first = true;
    uint32_t result = 0;
    for (unsigned lane = 0; lane < warp_width; lane++) {
        if (!(met.members >> lane & 1)) continue;
        uint32_t value = (uint32_t)met.bits[lane];
        result = first ? value : combine(result, value, reduction);
        first = false;
    }
    return result;
}

} // namespace simt
