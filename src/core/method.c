/* SPDX-License-Identifier: Apache-2.0
 *
 * method.c - from words to cells of a method table.
 */
#include "core/method.h"
#include <stdio.h>
#include <string.h>

const shoal_method shoal_auto_alone = { .name = "auto" };

static const char *backend_name(const shoal_context *ctx) { return ctx->ops ? "cuda" : "cpu"; }

/* Appends ", word" to a list that is being built for a message; what does not fit is left out. */
static void append_word(char *list, size_t size, const char *word) {
    size_t used = strlen(list);
    if (used < size) snprintf(list + used, size - used, ", %s", word);
}

static shoal_status no_such_method(shoal_context *ctx, const shoal_module *module,
                                   const char *method) {
    char list[256] = "";
    if (module->automatic) append_word(list, sizeof list, "auto");
    for (int i = 0; i < module->count; i++) append_word(list, sizeof list, module->methods[i].name);
    return shoal_fail(ctx, SHOAL_E_METHOD, "method: %s has no method '%s' (%s)", module->name,
                      method, list + 2);
}

static shoal_status no_such_variant(shoal_context *ctx, const shoal_method *m, const char *variant,
                                    unsigned here) {
    char list[256] = "";
    const char *why = "";
    for (const shoal_variant *v = m->variants; v->name; v++)
        if (v->flags & here)
            append_word(list, sizeof list, v->name);
        else if (ctx->ops && SHOAL_ON_PAPER == 0 && strcmp(v->name, variant) == 0)
            why = "; a build with -DSHOAL_PAPER_KERNELS=ON has it";
    return shoal_fail(ctx, SHOAL_E_METHOD,
                      "variant: %s has no variant '%s' on the %s backend (%s)%s", m->name, variant,
                      backend_name(ctx), list[0] ? list + 2 : "it has none", why);
}

const shoal_method *shoal_find_method(const shoal_module *module, const char *method) {
    if (module->automatic && strcmp(method, "auto") == 0) return module->automatic;
    for (int row = 0; row < module->count; row++)
        if (strcmp(module->methods[row].name, method) == 0) return &module->methods[row];
    return NULL;
}

unsigned shoal_flags_of(const shoal_method *row, const char *variant) {
    const shoal_variant *v = row->variants;
    while (variant && *variant && v->name && strcmp(v->name, variant) != 0) v++;
    return row->flags | v->flags;
}

shoal_status shoal_cannot(shoal_context *ctx, const shoal_module *module, const char *method,
                          const char *what, unsigned flags) {
    char list[256] = "";
    if (module->automatic && (module->automatic->flags & flags) == flags)
        append_word(list, sizeof list, "auto");
    for (int i = 0; i < module->count; i++)
        if ((shoal_flags_of(&module->methods[i], NULL) & flags) == flags)
            append_word(list, sizeof list, module->methods[i].name);
    return shoal_fail(ctx, SHOAL_E_METHOD, "method: '%s' does not %s; these do: %s", method, what,
                      list + 2);
}

const void *shoal_cell(const shoal_context *ctx, const shoal_method *row, shoal_type type) {
    return ctx->ops ? row->cuda[type] : row->cpu[type][ctx->level];
}

shoal_status shoal_choose(shoal_context *ctx, const shoal_module *module, const char *method,
                          const char *variant, shoal_type type, shoal_choice *choice) {
    const unsigned here = ctx->ops ? SHOAL_ON_CUDA : SHOAL_ON_CPU;
    int row = 0, v = 0;
    while (row < module->count && strcmp(module->methods[row].name, method) != 0) row++;
    if (row == module->count) return no_such_method(ctx, module, method);
    const shoal_method *m = &module->methods[row];
    const void *cell = shoal_cell(ctx, m, type);
    if (!cell)
        return shoal_fail(ctx, SHOAL_E_METHOD, "method: '%s' of %s is not on the %s backend",
                          method, module->name, backend_name(ctx));
    if (variant && *variant) {
        while (m->variants[v].name && strcmp(m->variants[v].name, variant) != 0) v++;
        if (!m->variants[v].name || !(m->variants[v].flags & here))
            return no_such_variant(ctx, m, variant, here);
    }
    const char *variant_name = m->variants[v].name ? m->variants[v].name : "";
    *choice = (shoal_choice){ .row = row,
                              .variant = v,
                              .name = m->name,
                              .variant_name = variant_name,
                              .cell = cell,
                              .flags = m->flags | m->variants[v].flags,
                              .max_n = ctx->ops ? m->max_n_cuda : 0 };
    return SHOAL_OK;
}
