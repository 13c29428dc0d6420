/* SPDX-License-Identifier: Apache-2.0
 *
 * fiber.h - a stack of its own and a way to jump to it.
 *
 * Switching costs some twenty instructions on x86-64 and aarch64 and a system call elsewhere
 * (ucontext). Fibers are never freed: the emulator reuses them for every block of every launch.
 * AddressSanitizer is told which stack is in use, ThreadSanitizer which thread of execution.
 */
#ifndef SHOAL_SIMT_FIBER_H
#define SHOAL_SIMT_FIBER_H

#include <stddef.h>

/* The build says which sanitizer the kernels are compiled with: the emulator itself is left out
 * of ThreadSanitizer's sight. */
#ifndef SIMT_ASAN
#define SIMT_ASAN 0
#endif
#ifndef SIMT_TSAN
#define SIMT_TSAN 0
#endif

namespace simt {

struct Fiber {
    void *stack_pointer; /* where it stopped; a ucontext_t without the assembly */
    void *stack_bottom;
    size_t stack_bytes;
    void *fake_stack; /* AddressSanitizer's */
    void *tsan;       /* ThreadSanitizer's */
};

/* A new fiber; the first switch to it calls entry, which must never return. */
Fiber *fiber_create(void (*entry)());

/* The stack this function is called on, as a fiber to come back to. */
void fiber_adopt_caller(Fiber *host);

/* Leaves `from`, goes on in `to`. */
void fiber_switch(Fiber *from, Fiber *to);

/* To be called first in an entry function. */
void fiber_entered();

/* What happened before a release is visible after an acquire of the same address. */
void order_release(void *address);
void order_acquire(void *address);

} // namespace simt

#endif
