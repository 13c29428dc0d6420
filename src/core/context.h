/* SPDX-License-Identifier: Apache-2.0
 *
 * context.h - what a context holds, and the device functions behind it.
 */
#ifndef SHOAL_CORE_CONTEXT_H
#define SHOAL_CORE_CONTEXT_H

#include <shoal/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The runtime of one kind of device, as seen from C. device.cu fills it for CUDA (and, in the
 * tests, for the emulator); a context on the CPU has none. */
typedef struct shoal_device_ops {
    shoal_status (*open)(shoal_context *ctx); /* fills device_name, gpu_line and the numbers   */
    shoal_status (*use)(shoal_context *ctx);  /* makes it the calling thread's current device  */
    shoal_status (*alloc)(shoal_context *ctx, size_t bytes, void **memory);
    void (*release)(shoal_context *ctx, void *memory);
    shoal_status (*copy)(shoal_context *ctx, void *to, const void *from, size_t bytes);
    shoal_status (*wait)(shoal_context *ctx);
    int (*captures)(shoal_context *ctx); /* is what the stream is given recorded in a CUDA graph? */
    int (*reaches)(shoal_context *ctx, const void *memory); /* can a kernel read it? */
    int (*owns)(shoal_context *ctx,
                const void *memory); /* is it memory that the host cannot read? */
    shoal_status (*open_stream)(shoal_context *ctx, void **stream);
    void (*close_stream)(shoal_context *ctx, void *stream);
    shoal_status (*alloc_pinned)(shoal_context *ctx, size_t bytes, void **memory);
    void (*release_pinned)(shoal_context *ctx, void *memory);
    /* on the context's stream, without waiting; memory of the host is pinned */
    shoal_status (*copy_later)(shoal_context *ctx, void *to, const void *from, size_t bytes);
    /* What the stream is given from record() to recorded() is not run; recorded() is a graph of it, or NULL. */
    shoal_status (*record)(shoal_context *ctx);
    void *(*recorded)(shoal_context *ctx);
    shoal_status (*replay)(shoal_context *ctx, void *graph);
    void (*release_graph)(shoal_context *ctx, void *graph);
} shoal_device_ops;

extern const shoal_device_ops shoal_cuda_ops;

/* What progress.c knows. A copy of a context shares it. */
typedef struct shoal_watch {
    shoal_progress *call; /* NULL: nobody asked */
    void *user;
    const char *stage;       /* the outermost that is running; NULL: none      */
    const void *owner;       /* the thread that began it                       */
    double low, high;        /* the current step, as a part of that stage      */
    double fraction;         /* what was reported: it never falls              */
    double reported, looked; /* when: the caller's function, the clock         */
    int stride, skipped;     /* every so many questions the clock is looked at */
    int has_reported;
    int cancelled; /* read by all threads */
} shoal_watch;

struct shoal_context {
    const shoal_device_ops *ops; /* NULL on the CPU                                       */
    shoal_watch *watch;          /* one per shoal_open()                                  */
    int usable;                  /* 0: opening failed, the context only holds its message */
    int level;                   /* CPU instruction level, index into the list of isa.h   */
    int threads;
    int unchecked;
    size_t staging; /* staged.h */
    int device;
    void *stream;
    void *own_stream; /* that of shoal_use_own_stream(), until the context is closed */
    int multiprocessors;
    size_t memory;
    size_t shared_per_block; /* limit of the dynamic shared memory of a block         */
    char message[512];
    char device_name[256];
    char gpu_line[520]; /* holds a whole message */
};

/* Stores the message and returns the status: return shoal_fail(ctx, SHOAL_E_ARG, "n is %d", n); */
shoal_status shoal_fail(shoal_context *ctx, shoal_status status, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* return SHOAL_NO_MEMORY(ctx, "%d nodes", n); */
#define SHOAL_NO_MEMORY(ctx, ...) shoal_fail(ctx, SHOAL_E_NOMEM, "no memory for " __VA_ARGS__)

/* SHOAL_OK if the context can work; else its own message stands. Makes its device current, clears CUDA's error. */
shoal_status shoal_ready(shoal_context *ctx);

/* Work of a context without a stream goes to one of its own, which does not wait for other contexts of the device:
 * the default stream does. Both functions wait for what the context has queued. */
shoal_status shoal_use_own_stream(shoal_context *ctx);
shoal_status shoal_leave_own_stream(shoal_context *ctx);

/* SHOAL_E_ARG if work of a call that waits would be recorded in a CUDA graph: waiting ends the capture. */
shoal_status shoal_check_waits(shoal_context *ctx);

/* For words of pinned memory that a kernel writes, none as ~0: before it is queued, and until all are there, which the
 * host sees some microseconds before the end of the stream's work. */
void shoal_expect(unsigned *words, size_t count);
shoal_status shoal_wait_for(shoal_context *ctx, const unsigned *words, size_t count);

/* SHOAL_E_ARG for NULL, SHOAL_E_MEMORY if a kernel cannot reach it; names the argument. */
shoal_status shoal_check_array(shoal_context *ctx, const void *memory, const char *name);

/* min <= value <= max; INT64_MAX: any. */
shoal_status shoal_check_count(shoal_context *ctx, const char *name, int64_t value, int64_t min,
                               int64_t max);

typedef struct shoal_count {
    const char *name;
    int64_t value, min, max;
} shoal_count;

shoal_status shoal_check_counts(shoal_context *ctx, const shoal_count *counts, int count);

#ifdef __cplusplus
}
#endif
#endif
