/* SPDX-License-Identifier: Apache-2.0
 *
 * method.h - the method table: one row per method, one word per row. "pcr" is the file name, the
 * option string, the command-line flag, the test id, the bench row and the heading in the docs;
 * the row maps it to its functions for each backend, type and instruction level. Each module has
 * one table, in its module.c; tests, bench and the command line loop over the tables.
 */
#ifndef SHOAL_CORE_METHOD_H
#define SHOAL_CORE_METHOD_H

#include "core/context.h"
#include "core/isa.h"

enum { SHOAL_TYPES = 2, SHOAL_VARIANTS = 6 };
enum { SHOAL_ON_CPU = 1, SHOAL_ON_CUDA = 2, SHOAL_ON_BOTH = 3 };
#ifdef SHOAL_PAPER_KERNELS /* the build has the papers' own kernels, to compare with */
enum { SHOAL_ON_PAPER = SHOAL_ON_CUDA };
#else
enum { SHOAL_ON_PAPER = 0 };
#endif

typedef struct shoal_variant {
    const char *name;
    unsigned flags; /* SHOAL_ON_..., and SHOAL_CAN_... beyond those of the method */
} shoal_variant;

/* A cell points at what the module's algorithm files export for that type and level: a struct of
 * functions, whose shape is the module's own business. */
typedef struct shoal_method {
    const char *name;
    unsigned flags;                         /* SHOAL_CAN_..., of core.h or the module's plan.h */
    int64_t max_n_cuda;                     /* the largest n on CUDA; 0: any                   */
    shoal_variant variants[SHOAL_VARIANTS]; /* the first is the default; ends with a NULL name */
    const void *cpu[SHOAL_TYPES][SHOAL_LEVEL_COUNT];
    const void *cuda[SHOAL_TYPES];
} shoal_method;

typedef struct shoal_module {
    const char *name;
    const shoal_method *methods;
    int count;
    const shoal_method *automatic; /* the row of "auto", without cells; NULL: there is none */
} shoal_module;

extern const shoal_method shoal_auto_alone; /* an "auto" without variants and flags */

enum { SHOAL_CAN_PRIVATE = 1 << 29 }; /* flags from here on are the module's own */

typedef struct shoal_choice { /* one method, ready to run on one context */
    int row, variant;
    const char *name, *variant_name; /* "" if a method has no variants */
    const void *cell;
    unsigned flags; /* of the method and the variant   */
    int64_t max_n;  /* the largest n here; 0: any      */
} shoal_choice;

/* Looks words up in a module's table; SHOAL_E_METHOD and a message that lists the existing words. */
shoal_status shoal_choose(shoal_context *ctx, const shoal_module *module, const char *method,
                          const char *variant, shoal_type type, shoal_choice *choice);

/* SHOAL_E_METHOD and a sentence that lists the methods with all the flags: `method` does not `what`. */
shoal_status shoal_cannot(shoal_context *ctx, const shoal_module *module, const char *method,
                          const char *what, unsigned flags);

/* The row of a name, also of "auto"; NULL: there is none. And its flags with those of a variant. */
const shoal_method *shoal_find_method(const shoal_module *module, const char *method);
unsigned shoal_flags_of(const shoal_method *row, const char *variant);

/* The cell of a row for a context and a type; NULL: there is none. */
const void *shoal_cell(const shoal_context *ctx, const shoal_method *row, shoal_type type);

/* How a table is written: SHOAL_DECLARE_CPU(type, name) and SHOAL_DECLARE_CUDA(type, name)
 * declare the structs of that type which the algorithm files export as R(name); the two
 * ..._CELLS(name) fill a row with their addresses, ..._DOUBLE_CELLS(name) those of an algorithm that is
 * compiled for double alone. */
#define SHOAL_DECLARE_LEVEL(level, type, name)                                                     \
    extern const type shoal_##name##_f64_##level, shoal_##name##_f32_##level;
#define SHOAL_DECLARE_CPU(type, name) SHOAL_LEVEL_LIST(SHOAL_DECLARE_LEVEL, type, name)
#define SHOAL_F64_CELL(level, name)   &shoal_##name##_f64_##level,
#define SHOAL_F32_CELL(level, name)   &shoal_##name##_f32_##level,
#define SHOAL_CPU_CELLS(name)                                                                      \
    {                                                                                              \
        { SHOAL_LEVEL_LIST(SHOAL_F64_CELL, name) }, { SHOAL_LEVEL_LIST(SHOAL_F32_CELL, name) }     \
    }
#define SHOAL_CPU_DOUBLE_CELLS(name)                                                               \
    {                                                                                              \
        { SHOAL_LEVEL_LIST(SHOAL_F64_CELL, name) }                                                 \
    }

#ifdef SHOAL_CUDA
#define SHOAL_DECLARE_CUDA(type, name)                                                             \
    extern const type shoal_##name##_f64_cuda, shoal_##name##_f32_cuda;
#define SHOAL_CUDA_CELLS(name)                                                                     \
    { &shoal_##name##_f64_cuda, &shoal_##name##_f32_cuda }
#define SHOAL_CUDA_DOUBLE_CELLS(name)                                                              \
    { &shoal_##name##_f64_cuda }
#else
#define SHOAL_DECLARE_CUDA(type, name)
#define SHOAL_CUDA_CELLS(name)                                                                     \
    { NULL, NULL }
#define SHOAL_CUDA_DOUBLE_CELLS(name)                                                              \
    { NULL }
#endif

#endif
