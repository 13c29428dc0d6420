/* SPDX-License-Identifier: Apache-2.0
 *
 * fiber.cpp - context switches. See fiber.h.
 *
 * A stopped fiber keeps its callee-saved registers on its own stack; its stack pointer is all there
 * is to remember. A fresh stack is laid out as if it had been stopped just before its entry.
 */
#include "fiber.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#if SIMT_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

#if SIMT_TSAN
#include <sanitizer/tsan_interface.h>
#endif

#if defined(__x86_64__)
#define SIMT_ASSEMBLY 1
asm(".text\n"
    ".globl simt_fiber_jump\n"
    ".hidden simt_fiber_jump\n"
    ".type simt_fiber_jump,@function\n"
    "simt_fiber_jump:\n" /* (void **save, void *to) */
    "  pushq %rbp\n"
    "  pushq %rbx\n"
    "  pushq %r12\n"
    "  pushq %r13\n"
    "  pushq %r14\n"
    "  pushq %r15\n"
    "  movq %rsp, (%rdi)\n"
    "  movq %rsi, %rsp\n"
    "  popq %r15\n"
    "  popq %r14\n"
    "  popq %r13\n"
    "  popq %r12\n"
    "  popq %rbx\n"
    "  popq %rbp\n"
    "  ret\n"
    ".size simt_fiber_jump, .-simt_fiber_jump\n");
#elif defined(__aarch64__)
#define SIMT_ASSEMBLY 1
asm(".text\n"
    ".globl simt_fiber_jump\n"
    ".hidden simt_fiber_jump\n"
    ".type simt_fiber_jump,%function\n"
    "simt_fiber_jump:\n" /* (void **save, void *to) */
    "  sub sp, sp, #160\n"
    "  stp x19, x20, [sp, #0]\n"
    "  stp x21, x22, [sp, #16]\n"
    "  stp x23, x24, [sp, #32]\n"
    "  stp x25, x26, [sp, #48]\n"
    "  stp x27, x28, [sp, #64]\n"
    "  stp x29, x30, [sp, #80]\n"
    "  stp d8, d9, [sp, #96]\n"
    "  stp d10, d11, [sp, #112]\n"
    "  stp d12, d13, [sp, #128]\n"
    "  stp d14, d15, [sp, #144]\n"
    "  mov x9, sp\n"
    "  str x9, [x0]\n"
    "  mov sp, x1\n"
    "  ldp x19, x20, [sp, #0]\n"
    "  ldp x21, x22, [sp, #16]\n"
    "  ldp x23, x24, [sp, #32]\n"
    "  ldp x25, x26, [sp, #48]\n"
    "  ldp x27, x28, [sp, #64]\n"
    "  ldp x29, x30, [sp, #80]\n"
    "  ldp d8, d9, [sp, #96]\n"
    "  ldp d10, d11, [sp, #112]\n"
    "  ldp d12, d13, [sp, #128]\n"
    "  ldp d14, d15, [sp, #144]\n"
    "  add sp, sp, #160\n"
    "  ret\n"
    ".size simt_fiber_jump, .-simt_fiber_jump\n"
    /* The first frame: no return address, so that stack walks end here. */
    ".globl simt_fiber_first\n"
    ".hidden simt_fiber_first\n"
    ".type simt_fiber_first,%function\n"
    "simt_fiber_first:\n"
    "  mov x30, xzr\n"
    "  mov x16, x19\n"
    "  br x16\n"
    ".size simt_fiber_first, .-simt_fiber_first\n");
extern "C" void simt_fiber_first();
#else
#define SIMT_ASSEMBLY 0
#endif

#if SIMT_ASSEMBLY
extern "C" void simt_fiber_jump(void **save, void *to);
#endif

namespace simt {
namespace {

/* Instrumented code needs wider frames. Untouched pages cost nothing. */
const size_t stack_bytes = (SIMT_ASAN || SIMT_TSAN) ? 512 << 10 : 256 << 10;

void *new_stack(size_t guard) {
    void *memory = mmap(nullptr, guard + stack_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory, guard, PROT_NONE)) {
        perror("simt: no memory for the stack of a thread");
        abort();
    }
    return (char *)memory + guard;
}

#if SIMT_ASSEMBLY
/* Stacks begin at the same place of a page, whose words a cache keeps in few places: their tops are spread. */
uintptr_t *top_of(void *stack) {
    static size_t created;
    return (uintptr_t *)((char *)stack + stack_bytes - created++ % 64 * 5 * 64 % 4096);
}

void *first_frame(void *stack, void (*entry)()) {
    uintptr_t *top = top_of(stack);
#if defined(__x86_64__)
    *--top = 0;                /* where entry would return to, and the alignment of a call */
    *--top = (uintptr_t)entry; /* popped by ret */
    top -= 6;
#else
    top -= 20;
    top[0] = (uintptr_t)entry;             /* x19 */
    top[11] = (uintptr_t)simt_fiber_first; /* x30 */
#endif
    return top;
}
#endif

#if SIMT_TSAN
/* ThreadSanitizer of gcc before 13 has room for some 460 threads on aarch64 (8 GiB of traces, 18
 * MiB each). Beyond the limit fibers share a thread in its eyes: races between those that share
 * one are missed, nothing false is reported. */
#if defined(__aarch64__) && !defined(__clang__) && __GNUC__ < 13
const size_t tsan_limit = 440;
#else
const size_t tsan_limit = 4096;
#endif

void *tsan_thread() {
    static void *threads[tsan_limit];
    static size_t created;
    void *&thread = threads[created++ % tsan_limit];
    if (!thread) thread = __tsan_create_fiber(0);
    return thread;
}
#endif

/* The fiber that made the latest switch. */
Fiber *departed;

/* On the new stack; the sanitizer tells where the one just left lies, which for a host's own stack
 * is the only way to know. */
void arrived(void *fake_stack) {
#if SIMT_ASAN
    const void *bottom;
    __sanitizer_finish_switch_fiber(fake_stack, &bottom, &departed->stack_bytes);
    departed->stack_bottom = const_cast<void *>(bottom);
#else
    (void)fake_stack;
#endif
}

} // namespace

Fiber *fiber_create(void (*entry)()) {
    Fiber *fiber = new Fiber();
    fiber->stack_bottom = new_stack((size_t)sysconf(_SC_PAGESIZE));
    fiber->stack_bytes = stack_bytes;
#if SIMT_ASSEMBLY
    fiber->stack_pointer = first_frame(fiber->stack_bottom, entry);
#else
    ucontext_t *context = new ucontext_t();
    getcontext(context);
    context->uc_stack.ss_sp = fiber->stack_bottom;
    context->uc_stack.ss_size = stack_bytes;
    makecontext(context, entry, 0);
    fiber->stack_pointer = context;
#endif
#if SIMT_TSAN
    fiber->tsan = tsan_thread();
#endif
    return fiber;
}

void fiber_adopt_caller(Fiber *host) {
    *host = Fiber();
#if !SIMT_ASSEMBLY
    static thread_local ucontext_t context;
    host->stack_pointer = &context;
#endif
#if SIMT_TSAN
    host->tsan = __tsan_get_current_fiber();
#endif
}

void fiber_switch(Fiber *from, Fiber *to) {
    departed = from;
#if SIMT_ASAN
    __sanitizer_start_switch_fiber(&from->fake_stack, to->stack_bottom, to->stack_bytes);
#endif
#if SIMT_TSAN
    __tsan_switch_to_fiber(to->tsan, __tsan_switch_to_fiber_no_sync);
#endif
#if SIMT_ASSEMBLY
    simt_fiber_jump(&from->stack_pointer, to->stack_pointer);
#else
    swapcontext((ucontext_t *)from->stack_pointer, (ucontext_t *)to->stack_pointer);
#endif
    arrived(from->fake_stack);
}

void fiber_entered() { arrived(nullptr); }

#if SIMT_TSAN
void order_release(void *address) { __tsan_release(address); }
void order_acquire(void *address) { __tsan_acquire(address); }
#else
void order_release(void *) {}
void order_acquire(void *) {}
#endif

} // namespace simt
