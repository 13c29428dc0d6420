/* SPDX-License-Identifier: Apache-2.0
 *
 * context.c - opening and closing contexts, their messages, and what they run on.
 *
 * "auto" tries the GPU and, on any error whatever, goes on with the CPU: gpu_line then says why.
 */
#include "core/context.h"
#include "core/isa.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

enum { MOST_THREADS = 1024 };

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
    return threads < MOST_THREADS ? threads : MOST_THREADS;
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
        shoal_fail(ctx, SHOAL_E_BACKEND, "not looked for, since the CPU was asked for");
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
    shoal_context *ctx = *result = calloc(1, sizeof *ctx);
    if (!ctx) return SHOAL_E_NOMEM;
    static const shoal_options defaults;
    if (!opts) opts = &defaults;
    if (opts->threads < 0)
        return shoal_fail(ctx, SHOAL_E_ARG, "threads is %d; it must be at least 0", opts->threads);
    if (opts->threads >
        MOST_THREADS) /* the OpenMP runtime ends the process where it cannot make one */
        return shoal_fail(ctx, SHOAL_E_ARG, "threads is %d; at most %d are allowed", opts->threads,
                          MOST_THREADS);
    if (opts->device < 0)
        return shoal_fail(ctx, SHOAL_E_ARG, "device is %d; it must be at least 0", opts->device);
    ctx->threads = opts->threads ? opts->threads : default_threads();
    ctx->unchecked = opts->unchecked;
    ctx->device = opts->device;
    shoal_status status = choose_level(ctx, opts->isa);
    if (status == SHOAL_OK) status = choose_device(ctx, opts->backend);
    ctx->usable = status == SHOAL_OK;
    return status;
}

void shoal_close(shoal_context *ctx) { free(ctx); }

const char *shoal_message(const shoal_context *ctx) { return ctx ? ctx->message : ""; }

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
