/* SPDX-License-Identifier: Apache-2.0
 *
 * sort_files.c - keys out of files: their types, their rows, whether they are in order.
 */
#include "sort_files.h"

#include <string.h>

shoal_key sort_key(io_type type) {
    static const shoal_key keys[] = {
        [IO_F4] = SHOAL_KEY_F32, [IO_F8] = SHOAL_KEY_F64, [IO_I4] = SHOAL_KEY_I32,
        [IO_U4] = SHOAL_KEY_U32, [IO_I8] = SHOAL_KEY_I64, [IO_U8] = SHOAL_KEY_U64
    };
    return keys[type];
}

int sort_rows(const cli_array *array, int64_t *count, int64_t *n) {
    const io_array *a = &array->a;
    if (a->ndim == 0)
        return cli_fail(CLI_INPUT, "%s has shape (); it needs at least one axis", array->path);
    *n = a->shape[a->ndim - 1];
    *count = 1;
    for (int k = 0; k + 1 < a->ndim; k++) *count *= a->shape[k];
    return CLI_OK;
}

int sort_values_fit(const cli_array *values, const cli_array *keys) {
    const io_array *v = &values->a, *k = &keys->a;
    int same = v->ndim == k->ndim;
    for (int i = 0; same && i < v->ndim; i++) same = v->shape[i] == k->shape[i];
    return same ? CLI_OK : cli_array_misfit(values, keys, "each key has one value");
}

/* The bits as a number in the order of the type: the sign first, then the size, backwards below
 * zero where the bits are a floating point number's. */
static int64_t rank_of(const io_array *a, int64_t i) {
    int64_t bits = 0;
    switch (a->type) {
    case IO_U4: return ((const uint32_t *)a->data)[i];
    case IO_I4: return ((const int32_t *)a->data)[i];
    case IO_F4: bits = ((const int32_t *)a->data)[i]; return bits < 0 ? bits ^ INT32_MAX : bits;
    case IO_U8: return (int64_t)(((const uint64_t *)a->data)[i] ^ (uint64_t)INT64_MIN);
    case IO_I8: return ((const int64_t *)a->data)[i];
    default: bits = ((const int64_t *)a->data)[i]; return bits < 0 ? bits ^ INT64_MAX : bits;
    }
}

int sort_check_order(const cli_array *array, int64_t count, int64_t n, int descending) {
    for (int64_t k = 0; k < count; k++)
        for (int64_t i = k * n + 1; i < (k + 1) * n; i++) {
            const int64_t before = rank_of(&array->a, i - 1), at = rank_of(&array->a, i);
            if (descending ? before >= at : before <= at) continue;
            return cli_fail(CLI_INPUT,
                            "%s is not sorted: in row %lld key %lld is %s the one before, both "
                            "counted from 0",
                            array->path, (long long)k, (long long)(i - k * n),
                            descending ? "greater than" : "less than");
        }
    return CLI_OK;
}

shoal_status sort_place(cli *c, const void *from, int64_t bytes, void **memory) {
    shoal_status s = shoal_alloc(c->ctx, (size_t)bytes, memory);
    return s == SHOAL_OK && from ? shoal_copy(c->ctx, *memory, from, (size_t)bytes) : s;
}
