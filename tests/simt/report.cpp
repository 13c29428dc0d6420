/* SPDX-License-Identifier: Apache-2.0
 *
 * report.cpp - what the emulator says before it stops the process.
 *
 * Every message goes to stderr, begins with "simt:", names the kernel and block, and ends in
 * abort(): a program that reached one of these is wrong on a device too, where it would hang or
 * compute nonsense.
 */
#include "engine.h"

#include <stdarg.h>

namespace simt {
namespace {

const unsigned places_listed = 8;

const char *word_of(State state) {
    switch (state) {
    case State::at_block_barrier: return "__syncthreads";
    case State::at_grid_barrier: return "this_grid().sync()";
    case State::at_warp: return "a warp operation";
    case State::ready: return "running";
    default: return "finished";
    }
}

bool same_place(const Thread *a, const Thread *b) {
    return a->state == b->state && a->where.line == b->where.line && a->mask == b->mask &&
           !strcmp(a->where.file, b->where.file);
}

/* One line for each place where threads of the block wait: how many, and the first of them. */
void list_waiting(const Block *block) {
    unsigned listed = 0;
    for (unsigned i = 0; i < block->count && listed < places_listed; i++) {
        const Thread *thread = &block->threads[i];
        if (thread->state == State::ready || thread->state == State::finished) continue;
        unsigned number = 0;
        bool first = true;
        for (unsigned k = 0; k < block->count; k++) {
            if (!same_place(thread, &block->threads[k])) continue;
            if (k < i) first = false;
            number++;
        }
        if (!first) continue;
        listed++;
        fprintf(stderr, "simt:   %u at %s, %s:%d", number, word_of(thread->state),
                thread->where.file, thread->where.line);
        if (thread->state == State::at_warp) fprintf(stderr, ", mask 0x%08x", thread->mask);
        fprintf(stderr, " (first: thread (%u,%u,%u))\n", thread->index.x, thread->index.y,
                thread->index.z);
    }
}

[[noreturn]] void report_block(const Block *block, const char *what) {
    fprintf(stderr,
            "simt: %s in block (%u,%u,%u) of kernel %s: %u of %u threads waiting, %u finished\n",
            what, block->index.x, block->index.y, block->index.z, kernel_name(), block->waiting,
            block->count, block->count - block->live);
    list_waiting(block);
    abort();
}

unsigned waiting_in(const Block *block, State state) {
    unsigned number = 0;
    for (unsigned i = 0; i < block->count; i++) number += block->threads[i].state == state;
    return number;
}

} // namespace

/* A template kernel is launched in parentheses: (kernel<8>) is shown as kernel<8>. */
const char *kernel_name() {
    static char name[128];
    if (!grid) return "?";
    const char *kernel = grid->launch->site.kernel;
    snprintf(name, sizeof name, "%s", kernel + (*kernel == '('));
    size_t length = strlen(name);
    if (*kernel == '(' && length && name[length - 1] == ')') name[length - 1] = 0;
    return name;
}

void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "simt: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    abort();
}

void fail_in_thread(Where where, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "simt: ");
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    if (current) {
        uint3 b = current->block->index, t = current->index;
        fprintf(stderr, " (block (%u,%u,%u), thread (%u,%u,%u) of kernel %s, at %s:%d)\n", b.x, b.y,
                b.z, t.x, t.y, t.z, kernel_name(), where.file, where.line);
    }
    abort();
}

void check_stuck(Block *block) {
    if (!block->live || block->waiting < block->live) return;
    if (block->waiting_grid == block->count) return;
    if (waiting_in(block, State::at_block_barrier)) report_block(block, "divergent __syncthreads");
    if (waiting_in(block, State::at_warp)) report_block(block, "divergent warp operation");
    report_block(block, "divergent grid barrier");
}

void report_stuck_grid(const std::vector<Block *> &resident) {
    for (uint64_t i = 0; i < grid->blocks && i < resident.size(); i++) {
        if (resident[i]->live) {
            fprintf(stderr, "simt: %llu of %llu blocks finished without the grid barrier\n",
                    (unsigned long long)grid->done, (unsigned long long)grid->blocks);
            report_block(resident[i], "divergent grid barrier");
        }
    }
    fail("nothing can run in kernel %s", kernel_name());
}

void report_endless_spin() {
    fprintf(stderr, "simt: endless wait in kernel %s: no thread finishes and no barrier opens\n",
            kernel_name());
    report_block(current->block, "a thread spins");
}

} // namespace simt
