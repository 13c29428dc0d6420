/* SPDX-License-Identifier: Apache-2.0
 *
 * modules.c - the modules that the bench knows.
 */
#include "bench/module.h"

#include <string.h>

static const bench_module *const modules[] = { &bench_tridiag, &bench_rng,      &bench_smallsym,
                                               &bench_recur,   &bench_symindef, &bench_sort,
                                               &bench_heston,  &bench_expou,    &bench_bullet };

const bench_grammar *bench_grammar_at(int i) {
    const int count = (int)(sizeof modules / sizeof *modules);
    return i >= 0 && i < count ? &modules[i]->grammar : NULL;
}

const bench_module *bench_module_of(const char *name) {
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        if (strcmp(modules[i]->grammar.module, name) == 0) return modules[i];
    return NULL;
}
