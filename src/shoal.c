/* SPDX-License-Identifier: Apache-2.0
 *
 * shoal.c - the list of modules, and the public functions about their method tables.
 */
#include "core/method.h"
#include <string.h>

extern const shoal_module shoal_american_module;
extern const shoal_module shoal_band_module;
extern const shoal_module shoal_bullet_module;
extern const shoal_module shoal_expou_module;
extern const shoal_module shoal_heston_module;
extern const shoal_module shoal_recur_module;
extern const shoal_module shoal_rng_module;
extern const shoal_module shoal_smallsym_module;
extern const shoal_module shoal_sort_module;
extern const shoal_module shoal_symindef_module;
extern const shoal_module shoal_tridiag_module;

static const shoal_module *const modules[] = {
    &shoal_american_module, &shoal_band_module,     &shoal_bullet_module, &shoal_expou_module,
    &shoal_heston_module,   &shoal_recur_module,    &shoal_rng_module,    &shoal_smallsym_module,
    &shoal_sort_module,     &shoal_symindef_module, &shoal_tridiag_module
};

static const shoal_module *find_module(const char *name) {
    for (size_t i = 0; name && i < sizeof modules / sizeof *modules; i++)
        if (strcmp(modules[i]->name, name) == 0) return modules[i];
    return NULL;
}

const char *shoal_modules(int i) {
    return i >= 0 && (size_t)i < sizeof modules / sizeof *modules ? modules[i]->name : NULL;
}

const char *shoal_methods(const char *module, int i) {
    const shoal_module *m = find_module(module);
    return m && i >= 0 && i < m->count ? m->methods[i].name : NULL;
}

const char *shoal_variants(const char *module, const char *method, int i) {
    const shoal_module *m = find_module(module);
    const shoal_method *row = m && method ? shoal_find_method(m, method) : NULL;
    if (!row || i < 0 || i >= SHOAL_VARIANTS) return NULL;
    for (int k = 0; k < i; k++)
        if (!row->variants[k].name) return NULL;
    return row->variants[i].name;
}

unsigned shoal_method_flags(const char *module, const char *method, const char *variant) {
    const unsigned all = ~(unsigned)SHOAL_ON_BOTH & (SHOAL_CAN_PRIVATE - 1);
    const shoal_module *m = find_module(module);
    const shoal_method *row = m && method ? shoal_find_method(m, method) : NULL;
    return row ? shoal_flags_of(row, variant) & all : 0;
}
