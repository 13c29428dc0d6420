/* SPDX-License-Identifier: Apache-2.0
 *
 * context.c - contexts: opening and closing them, what they run on, their memory (host memory on the
 * CPU, the device's on CUDA), their messages; the texts of status codes.
 *
 * "auto" tries the GPU and, after any error, continues with the CPU: gpu_line then contains the reason.
 */
#include "core/isa.h"
#include "core/context.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

enum { MAX_THREADS = 1024, ALIGNMENT = 256 };

shoal_status shoal_fail(shoal_context *ctx, shoal_status status, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(ctx->message, sizeof ctx->message, format, list);
    va_end(list);
    return status;
}

/* Linux gives the name in /proc/cpuinfo on x86-64, and on Arm the number of the core's design. */
static void name_cpu(char *name, size_t size) {
    static const struct {
        const char *number, *name;
    } arm[] = {
        { "0xd0c", "Neoverse-N1" }, { "0xd40", "Neoverse-V1" }, { "0xd49", "Neoverse-N2" },
        { "0xd4f", "Neoverse-V2" }, { "0xd8e", "Neoverse-N3" }, { "0xd83", "Neoverse-V3" }
    };
#if defined(__x86_64__)
    snprintf(name, size, "x86-64 CPU");
#elif defined(__aarch64__)
    snprintf(name, size, "aarch64 CPU");
#else
    snprintf(name, size, "CPU");
#endif
    FILE *info = fopen("/proc/cpuinfo", "r");
    if (!info) return;
    char line[256];
    while (fgets(line, sizeof line, info)) {
        const char *colon = strchr(line, ':');
        if (!colon || !colon[1]) continue;
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, "model name", 10) == 0) {
            snprintf(name, size, "%s", colon + 2);
            break;
        }
        if (strncmp(line, "CPU part", 8) != 0) continue;
        for (size_t i = 0; i < sizeof arm / sizeof *arm; i++)
            if (strcmp(colon + 2, arm[i].number) == 0) snprintf(name, size, "%s", arm[i].name);
        break;
    }
    fclose(info);
}

static int default_threads(void) {
#ifdef _OPENMP
    int threads = omp_get_max_threads(); /* OMP_NUM_THREADS can hold anything */
    return threads < MAX_THREADS ? threads : MAX_THREADS;
#else
    return 1;
#endif
}

static shoal_status choose_level(shoal_context *ctx, const char *wanted) {
    int best = shoal_isa_best();
    if (best < 0)
        return shoal_fail(ctx, SHOAL_E_BACKEND, "this CPU lacks the lowest instruction level, %s",
                          shoal_isa_name(0));
    if (!wanted || !*wanted) wanted = getenv("SHOAL_ISA");
    ctx->level = wanted && *wanted ? shoal_isa_find(wanted) : best;
    if (ctx->level < 0)
        return shoal_fail(ctx, SHOAL_E_ARG, "isa: this build has no instruction level '%s'",
                          wanted);
    if (ctx->level > best)
        return shoal_fail(ctx, SHOAL_E_BACKEND,
                          "isa: this CPU cannot run level '%s', only up to '%s'", wanted,
                          shoal_isa_name(best));
    return SHOAL_OK;
}

static shoal_status choose_device(shoal_context *ctx, const char *backend) {
    if (!backend || !*backend) backend = "auto";
    int automatic = strcmp(backend, "auto") == 0, cuda = strcmp(backend, "cuda") == 0;
    if (!automatic && !cuda && strcmp(backend, "cpu") != 0)
        return shoal_fail(ctx, SHOAL_E_ARG, "backend: '%s' is none of auto, cpu, cuda", backend);
    shoal_status status = SHOAL_E_BACKEND;
    if (!automatic && !cuda) {
        shoal_fail(ctx, SHOAL_E_BACKEND, "the backend is cpu");
    } else {
#ifdef SHOAL_CUDA
        ctx->ops = &shoal_cuda_ops;
        status = ctx->ops->open(ctx);
#else
        shoal_fail(ctx, SHOAL_E_BACKEND, "this build has no CUDA");
#endif
    }
    if (status == SHOAL_OK) return SHOAL_OK;
    snprintf(ctx->gpu_line, sizeof ctx->gpu_line, "none: %s", ctx->message);
    if (cuda) return status;
    ctx->ops = NULL;
    ctx->message[0] = 0;
    ctx->multiprocessors = 0;
    ctx->memory = 0;
    name_cpu(ctx->device_name, sizeof ctx->device_name);
    return SHOAL_OK;
}

shoal_status shoal_open(const shoal_options *opts, shoal_context **result) {
    if (!result) return SHOAL_E_ARG;
    struct {
        shoal_context context;
        shoal_watch watch;
    } *both = calloc(1, sizeof *both);
    shoal_context *ctx = *result = both ? &both->context : NULL;
    if (!ctx) return SHOAL_E_NOMEM;
    ctx->watch = &both->watch;
    static const shoal_options defaults;
    if (!opts) opts = &defaults;
    const shoal_count counts[] = {
        { "threads", opts->threads, 0,
          MAX_THREADS }, /* OpenMP ends the process if it has too many */
        { "device", opts->device, 0, INT64_MAX },
    };
    shoal_status status = shoal_check_counts(ctx, counts, 2);
    if (status != SHOAL_OK) return status;
    ctx->threads = opts->threads ? opts->threads : default_threads();
    ctx->unchecked = opts->unchecked;
    ctx->staging = opts->staging;
    ctx->device = opts->device;
    status = choose_level(ctx, opts->isa);
    if (status == SHOAL_OK) status = choose_device(ctx, opts->backend);
    ctx->usable = status == SHOAL_OK;
    return status;
}

void shoal_close(shoal_context *ctx) {
    if (ctx && ctx->own_stream && shoal_ready(ctx) == SHOAL_OK)
        ctx->ops->close_stream(ctx, ctx->own_stream);
    free(ctx);
}

const char *shoal_message(const shoal_context *ctx) { return ctx ? ctx->message : ""; }

shoal_argument shoal_message_argument(const shoal_context *ctx) {
    static const char *const separators[] = { ": ", " is given; ", " " };
    const char *const message = shoal_message(ctx), *end = message;
    const size_t length = strspn(message, "abcdefghijklmnopqrstuvwxyz_.0123456789");
    shoal_argument a = { .index = -1, .reason = message };
    if (length == 0 || length >= sizeof a.name) return a;
    for (end += length; *end == '['; end++) { /* an entry of a matrix has two numbers */
        a.index = end == message + length ? atoll(end + 1) : -1;
        end += strcspn(end, "]");
        if (!*end) return a;
    }
    memcpy(a.name, message, length);
    for (int i = 2; i >= 0; i--)
        if (strncmp(end, separators[i], strlen(separators[i])) == 0)
            a.reason = end + strlen(separators[i]);
    return a;
}

shoal_status shoal_ready(shoal_context *ctx) {
    if (!ctx) return SHOAL_E_ARG;
    if (!ctx->usable) return SHOAL_E_BACKEND;
    return ctx->ops ? ctx->ops->use(ctx) : SHOAL_OK;
}

shoal_status shoal_describe(const shoal_context *ctx, shoal_machine *machine) {
    if (!ctx) return SHOAL_E_ARG;
    if (!machine) /* the message is the one thing that changes; no context is a constant */
        return shoal_fail((shoal_context *)ctx, SHOAL_E_ARG, "machine is NULL");
    *machine = (shoal_machine){
        .backend = ctx->ops ? "cuda" : "cpu",
        .device = ctx->device_name,
        .isa = shoal_isa_name(ctx->level > 0 ? ctx->level : 0),
        .gpu = ctx->gpu_line,
        .threads = ctx->threads,
        .multiprocessors = ctx->multiprocessors,
        .memory = ctx->memory,
    };
    return ctx->usable ? SHOAL_OK : SHOAL_E_BACKEND;
}

/* ---- memory ----------------------------------------------------------------------------------- */

shoal_status shoal_alloc(shoal_context *ctx, size_t bytes, void **memory) {
    if (!memory) return ctx ? shoal_fail(ctx, SHOAL_E_ARG, "memory is NULL") : SHOAL_E_ARG;
    *memory = NULL;
    shoal_status status = shoal_ready(ctx);
    if (status != SHOAL_OK) return status;
    if (bytes > SIZE_MAX - ALIGNMENT)
        return shoal_fail(ctx, SHOAL_E_NOMEM, "%zu bytes cannot be allocated", bytes);
    const size_t given =
        bytes ? bytes : 1; /* not rounded up: tools see what is touched behind it */
    if (ctx->ops) return ctx->ops->alloc(ctx, given, memory);
    if (posix_memalign(memory, ALIGNMENT, given) == 0) return SHOAL_OK;
    *memory = NULL;
    return shoal_fail(ctx, SHOAL_E_NOMEM, "%zu bytes of host memory cannot be allocated", bytes);
}

void shoal_free(shoal_context *ctx, void *memory) {
    if (!memory || shoal_ready(ctx) != SHOAL_OK) return;
    if (ctx->ops)
        ctx->ops->release(ctx, memory);
    else
        free(memory);
}

shoal_status shoal_copy(shoal_context *ctx, void *to, const void *from, size_t bytes) {
    shoal_status status = shoal_ready(ctx);
    if (status != SHOAL_OK || bytes == 0) return status;
    if (!to) return shoal_fail(ctx, SHOAL_E_ARG, "to is NULL");
    if (!from) return shoal_fail(ctx, SHOAL_E_ARG, "from is NULL");
    if (ctx->ops) return ctx->ops->copy(ctx, to, from, bytes);
    memmove(to, from, bytes);
    return SHOAL_OK;
}

shoal_status shoal_set_stream(shoal_context *ctx, void *stream) {
    shoal_status status = shoal_ready(ctx);
    if (status == SHOAL_OK) ctx->stream = stream;
    return status;
}

shoal_status shoal_wait(shoal_context *ctx) {
    shoal_status status = shoal_ready(ctx);
    return status == SHOAL_OK && ctx->ops ? ctx->ops->wait(ctx) : status;
}

void shoal_expect(unsigned *words, size_t count) { memset(words, 0xff, count * sizeof *words); }

/* After a while the driver waits: it reports the error of a kernel that ends without writing. */
shoal_status shoal_wait_for(shoal_context *ctx, const unsigned *words, size_t count) {
    for (int looks = 0; count > 0; looks++) {
        if (__atomic_load_n(words + count - 1, __ATOMIC_ACQUIRE) != ~0u)
            count--;
        else if (looks >= 1 << 15)
            return shoal_wait(ctx);
    }
    return SHOAL_OK;
}

shoal_status shoal_check_waits(shoal_context *ctx) {
    if (!ctx->ops || !ctx->ops->captures(ctx)) return SHOAL_OK;
    return shoal_fail(ctx, SHOAL_E_ARG,
                      "a plan with .waits cannot be captured in a CUDA graph: "
                      "make a plan without it before the capture begins");
}

shoal_status shoal_use_own_stream(shoal_context *ctx) {
    shoal_status status = shoal_wait(ctx);
    if (status != SHOAL_OK || !ctx->ops || ctx->stream) return status;
    if (!ctx->own_stream) status = ctx->ops->open_stream(ctx, &ctx->own_stream);
    ctx->stream = ctx->own_stream;
    return status;
}

shoal_status shoal_leave_own_stream(shoal_context *ctx) {
    if (!ctx->stream || ctx->stream != ctx->own_stream) return SHOAL_OK;
    const shoal_status status = shoal_wait(ctx);
    ctx->stream = NULL;
    return status;
}

shoal_status shoal_check_array(shoal_context *ctx, const void *memory, const char *name) {
    if (!memory) return shoal_fail(ctx, SHOAL_E_ARG, "%s is NULL", name);
    if (!ctx->ops || ctx->unchecked || ctx->ops->reaches(ctx, memory)) return SHOAL_OK;
    return shoal_fail(ctx, SHOAL_E_MEMORY,
                      "%s is memory that GPU %d cannot reach: "
                      "use shoal_alloc and shoal_copy, or pinned or managed memory",
                      name, ctx->device);
}

/* ---- texts ------------------------------------------------------------------------------------ */

#define CASE(name, value, text)                                                                    \
    case name: return text;

shoal_status shoal_check_count(shoal_context *ctx, const char *name, int64_t value, int64_t min,
                               int64_t max) {
    if (value >= min && value <= max) return SHOAL_OK;
    if (max == INT64_MAX)
        return shoal_fail(ctx, SHOAL_E_ARG, "%s is %lld; it must be at least %lld", name,
                          (long long)value, (long long)min);
    return shoal_fail(ctx, SHOAL_E_ARG, "%s is %lld; it must be %lld to %lld", name,
                      (long long)value, (long long)min, (long long)max);
}

shoal_status shoal_check_counts(shoal_context *ctx, const shoal_count *counts, int count) {
    shoal_status status = SHOAL_OK;
    for (const shoal_count *c = counts; c < counts + count && status == SHOAL_OK; c++)
        status = shoal_check_count(ctx, c->name, c->value, c->min, c->max);
    return status;
}

const char *shoal_status_text(shoal_status status) {
    switch (status) { SHOAL_STATUS_LIST(CASE) }
    return "unknown status";
}

const char *shoal_system_text(int32_t system_status) {
    switch ((shoal_system_status)system_status) { SHOAL_SYSTEM_LIST(CASE) }
    return "unknown status";
}

#define TEXT_(n) #n
#define TEXT(n)  TEXT_(n)

const char *shoal_version(void) {
    return TEXT(SHOAL_VERSION_MAJOR) "." TEXT(SHOAL_VERSION_MINOR) "." TEXT(SHOAL_VERSION_PATCH);
}
