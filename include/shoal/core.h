/* SPDX-License-Identifier: Apache-2.0
 *
 * core.h - contexts, memory, status codes, per-system outcomes.
 *
 *     shoal_context *ctx;
 *     shoal_open(&(shoal_options){ .backend = "auto" }, &ctx);   // CUDA if a GPU answers
 *     double *a;
 *     shoal_alloc(ctx, bytes, (void **)&a);                        // the context's memory
 *     shoal_copy(ctx, a, host, bytes);                             // either direction
 *     ...
 *     shoal_free(ctx, a);
 *     shoal_close(ctx);
 *
 * The library never prints, exits or aborts. Every function that can fail returns a shoal_status;
 * shoal_message(ctx) is one sentence that names the invalid argument. A context belongs to one
 * thread at a time; different contexts may be used by different threads at once. A call on a CUDA
 * context leaves its device the thread's current one.
 */
#ifndef SHOAL_CORE_H
#define SHOAL_CORE_H

#include <stddef.h>
#include <stdint.h>

#define SHOAL_VERSION_MAJOR 0
#define SHOAL_VERSION_MINOR 2
#define SHOAL_VERSION_PATCH 0

#if defined(__GNUC__)
#define SHOAL_API __attribute__((visibility("default")))
#else
#define SHOAL_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off */

/* What a call returns: X(name, value, text). The texts are those of shoal_status_text(). */
#define SHOAL_STATUS_LIST(X)                                                                       \
    X(SHOAL_OK,         0, "success")                                                              \
    X(SHOAL_E_ARG,      1, "an argument has a value that is not allowed")                          \
    X(SHOAL_E_METHOD,   2, "no such method or variant on this backend")                            \
    X(SHOAL_E_TYPE,     3, "the plan was made for the other precision")                            \
    X(SHOAL_E_MEMORY,   4, "a pointer does not lie in the context's memory")                       \
    X(SHOAL_E_NOMEM,    5, "not enough memory")                                                    \
    X(SHOAL_E_BACKEND,  6, "the backend is not available")                                         \
    X(SHOAL_E_CUDA,     7, "the CUDA runtime reported an error")                                   \
    X(SHOAL_E_CANCELLED, 8, "the progress function cancelled the call")                            \
    X(SHOAL_E_FILE,     9, "a file cannot be read or written")

/* What happened to one system of a batch. Above 0: answered, with a warning. Below 0: no answer. */
#define SHOAL_SYSTEM_LIST(X)                                                                       \
    X(SHOAL_SYSTEM_OK,             0, "ok")                                                        \
    X(SHOAL_SYSTEM_ILL,            1, "ill-conditioned or inaccurate")                             \
    X(SHOAL_SYSTEM_TRUNCATED,      2, "truncated to a lower rank")                                 \
    X(SHOAL_SYSTEM_REFINED,        3, "refined")                                                   \
    X(SHOAL_SYSTEM_NONFINITE,     -1, "non-finite input")                                          \
    X(SHOAL_SYSTEM_PIVOT,         -2, "zero or wrong-signed pivot")                                \
    X(SHOAL_SYSTEM_SINGULAR,      -3, "singular")                                                  \
    X(SHOAL_SYSTEM_NOT_CONVERGED, -4, "not converged")                                             \
    X(SHOAL_SYSTEM_OVERFLOW,      -5, "overflow: the answer, or a step towards it, is too large")

/* clang-format on */

#define SHOAL_ENUM_ENTRY(name, value, text) name = value,
typedef enum shoal_status { SHOAL_STATUS_LIST(SHOAL_ENUM_ENTRY) } shoal_status;
typedef enum shoal_system_status { SHOAL_SYSTEM_LIST(SHOAL_ENUM_ENTRY) } shoal_system_status;
#undef SHOAL_ENUM_ENTRY

typedef enum shoal_type { SHOAL_F64 = 0, SHOAL_F32 = 1 } shoal_type;

/* Which elementary functions. SHOAL_EXACT: Shoal's own (docs/rng.md), bit-identical on every device.
 * SHOAL_FAST: the device's fast functions where they pay; results differ by a few ulps. */
typedef enum shoal_math { SHOAL_EXACT = 0, SHOAL_FAST = 1 } shoal_math;

/* Where element i of system k lies: n elements per system, count systems. */
typedef enum shoal_layout {
    SHOAL_SYSTEM_MAJOR = 0, /* k * n + i: one system after another          */
    SHOAL_INTERLEAVED = 1   /* i * count + k: element i of all systems, ... */
} shoal_layout;

/* How a symmetric matrix is stored, and which of its triangles is. */
typedef enum shoal_storage {
    SHOAL_FULL = 0,  /* A(i,j) at i * ld + j: rows; one triangle is read                    */
    SHOAL_PACKED = 1 /* the rows of that triangle alone: A00 A10 A11 A20 ..., or, for the
                        upper one, A00 A01 .. A0n A11 ...: n (n + 1) / 2 numbers per system */
} shoal_storage;

typedef enum shoal_triangle { SHOAL_LOWER = 0, SHOAL_UPPER = 1 } shoal_triangle;

typedef struct shoal_context shoal_context; /* contents private */

typedef struct shoal_options { /* zero = default */
    const char *backend;       /* "auto", "cpu" or "cuda"                              [auto] */
    const char *isa;           /* CPU instruction level, see shoal_isa()      [best the CPU has] */
    int device;                /* CUDA device number                                      [0] */
    int threads;               /* CPU threads, at most 1024   [OMP_NUM_THREADS, else all cores] */
    int unchecked;             /* 1: skip the pointer checks before a solve               [0] */
    /* CUDA, above 0: plans of tridiag, band, smallsym, recur, sort take arrays on the host, outcomes
     * included. A call sends the batch through the GPU in pieces of this many bytes (1: 64 MiB), copies
     * and solves overlapped, and returns when all is done: a batch may be larger than the GPU's memory.
     * Systems of different sizes, and tridiag's kept factors, are refused. [0] */
    size_t staging;
} shoal_options;

/* Opens a context. *ctx is set even on failure (NULL only if memory ran out), so that
 * shoal_message(*ctx) gives the reason; such a context only holds its message, and is closed like any
 * other. "auto" does not fail without a GPU: if it cannot use one, `gpu` of shoal_describe() gives the
 * reason. */
SHOAL_API shoal_status shoal_open(const shoal_options *opts, shoal_context **ctx);
SHOAL_API void shoal_close(shoal_context *ctx);

/* The message of the last error of this context; "" if there was none. */
SHOAL_API const char *shoal_message(const shoal_context *ctx);

/* The argument that it begins with: "contracts[3]: maturity is -1; it must be ..." has the name
 * "contracts", index 3 and the reason "maturity is -1; it must be ...". */
typedef struct shoal_argument {
    char name[48];      /* "": no argument                                               */
    int64_t index;      /* -1: not an element of a list, or one of a matrix              */
    const char *reason; /* what follows the argument and ": ", " is given; " or " "      */
} shoal_argument;
SHOAL_API shoal_argument shoal_message_argument(const shoal_context *ctx);

SHOAL_API const char *shoal_status_text(shoal_status status);
SHOAL_API const char *shoal_system_text(int32_t system_status);

typedef struct shoal_machine { /* what a context runs on; strings live as long as the context */
    const char *backend;       /* "cpu" or "cuda"                                              */
    const char *device;        /* name of the GPU, or of the CPU                               */
    const char *isa;           /* CPU instruction level in use                                 */
    const char *gpu;           /* one line: the GPU found, or why there is none                */
    int threads;               /* CPU threads                                                  */
    int multiprocessors;       /* 0 on the CPU                                                 */
    size_t memory;             /* bytes of device memory, 0 on the CPU                         */
} shoal_machine;

SHOAL_API shoal_status shoal_describe(const shoal_context *ctx, shoal_machine *machine);

/* Memory of the context: host memory for "cpu", device memory for "cuda". All blocks are aligned to
 * 256 bytes. shoal_copy takes host and device pointers in either place and waits for the copy.
 * Free them before the context is closed; NULL is allowed in shoal_free. */
SHOAL_API shoal_status shoal_alloc(shoal_context *ctx, size_t bytes, void **memory);
SHOAL_API void shoal_free(shoal_context *ctx, void *memory);
SHOAL_API shoal_status shoal_copy(shoal_context *ctx, void *to, const void *from, size_t bytes);

/* The cudaStream_t for all later work (NULL: the default stream). Earlier work on another stream is not
 * waited for: order the two by an event. No effect on "cpu". */
SHOAL_API shoal_status shoal_set_stream(shoal_context *ctx, void *stream);
/* Waits until the work on the current stream is done. Reports execution errors of earlier calls. */
SHOAL_API shoal_status shoal_wait(shoal_context *ctx);

/* Progress and cancellation of long calls: simulations, exercise rules, CVA, networks, data sets,
 * factorizations, test matrices, large batches on the CPU. `call` runs up to 20 times per second, on the
 * thread that called the library. `stage` names what is done ("exercise rules"). `fraction` is how much of
 * it is done, from 0 to 1, and never falls. If `call` returns anything but 0, the library call ends
 * within 0.3 s and returns SHOAL_E_CANCELLED. Its results are undefined unless its header defines them. `call`
 * must not use this context. NULL: no progress. Work that a GPU has begun is finished first. */
typedef int shoal_progress(void *user, const char *stage, double fraction);
SHOAL_API shoal_status shoal_set_progress(shoal_context *ctx, shoal_progress *call, void *user);

/* The outcome of each system: arrays in the context's memory, one entry per system; NULL = not
 * computed. The same struct serves every module; a module's header lists the fields it fills. It refuses
 * the others with SHOAL_E_ARG. Every later solve writes them. */
typedef struct shoal_outcome {
    int32_t *status;  /* shoal_system_status                                                   */
    float *residual;  /* max over right-hand sides of |b - A x| / (|A| |x| + |b|), max norms   */
    float *rcond;     /* reciprocal condition; the kind depends on the module                  */
    int32_t *rank;    /* numerical rank                                                        */
    int32_t *inertia; /* 3 entries per system: positive, negative, zero eigenvalues            */
    int32_t *method;  /* i of shoal_methods(module, i): the method that gave the answer        */
} shoal_outcome;

/* Name of module i, NULL past the last one. */
SHOAL_API const char *shoal_modules(int i);
/* Name of method i of a module ("tridiag", ...), NULL past the last one or for no such module. */
SHOAL_API const char *shoal_methods(const char *module, int i);
/* Name of variant i of a method, the default first; NULL past the last one. */
SHOAL_API const char *shoal_variants(const char *module, const char *method, int i);
/* What methods can do. A flag that is missing is refused with SHOAL_E_METHOD. */
enum {
    SHOAL_CAN_BOUND = 1 << 3,     /* symindef: the entries of M are bounded                     */
    SHOAL_CAN_PERIODIC = 1 << 4,  /* tridiag: .periodic                                         */
    SHOAL_CAN_OFFSETS = 1 << 5,   /* tridiag: .offsets, systems of different sizes              */
    SHOAL_CAN_DELTA = 1 << 6,     /* tridiag: .delta, .cond and .no_split                       */
    SHOAL_CAN_PARTS = 1 << 7,     /* tridiag, recur: .threads and .groups                       */
    SHOAL_CAN_ORDERS = 1 << 8,    /* recur: .order above 1, and the Moebius form                */
    SHOAL_CAN_PIVOT = 1 << 9,     /* tridiag, smallsym: matrices that need pivoting             */
    SHOAL_CAN_TRUNCATE = 1 << 10, /* smallsym: singular matrices, by the truncated inverse      */
    SHOAL_CAN_FACTOR = 1 << 11,   /* tridiag, smallsym: ..._factor() and ..._resolve()          */
    SHOAL_CAN_REFINE = 1 << 12,   /* smallsym on CUDA: .refine, .estimate; the CPU always can   */
    SHOAL_CAN_EIGEN = 1 << 13,    /* smallsym: eigenpairs                                       */
    SHOAL_CAN_STAGES = 1 << 14,   /* smallsym: ..._reduce() and ..._pcr()                       */
    SHOAL_CAN_TEAM = 1 << 15,     /* smallsym: .team                                            */
    SHOAL_CAN_SORT = 1 << 16,     /* sort: rows are sorted                                      */
    SHOAL_CAN_MERGE = 1 << 17,    /* sort: pairs are merged                                     */
    SHOAL_CAN_BATCH = 1 << 18,    /* sort: .count above 1                                       */
    SHOAL_CAN_LONG = 1 << 19,     /* sort: pairs of more than SHOAL_MERGE_SMALL keys            */
    SHOAL_CAN_COUNT = 1 << 20,    /* rng: whole numbers, by shoal_rng_fillu()                   */
    SHOAL_CAN_POINTS = 1 << 21,   /* rng: points of .dimensions; bullet: several points         */
    SHOAL_CAN_VARY = 1 << 22,     /* rng: shoal_rng_parameters()                                */
    SHOAL_CAN_WALK = 1 << 23,     /* prices: Monte Carlo paths; else no standard error          */
    SHOAL_CAN_GROWTH = 1 << 24,   /* symindef: info.growth without opts.growth                  */
    SHOAL_CAN_EULER = 1 << 25,    /* heston, expou: Euler's steps in .type; else exact, in f64  */
    SHOAL_CAN_MIRROR = 1 << 26,   /* prices: .antithetic                                        */
    SHOAL_CAN_NEST = 1 << 27,     /* bullet, american: nested simulation                        */
    SHOAL_CAN_SURFACE = 1 << 28,  /* bullet: .nx, .steps_per_date, .as_printed, by shoal_pde    */
};
/* The flags of a method, with those of a variant, NULL: the default one; 0 for names that do not exist. */
SHOAL_API unsigned shoal_method_flags(const char *module, const char *method, const char *variant);
/* Name of CPU instruction level i that this build contains and this CPU can run, lowest first. */
SHOAL_API const char *shoal_isa(int i);
SHOAL_API const char *shoal_version(void); /* "0.2.0" */

#ifdef __cplusplus
}
#endif
#endif
