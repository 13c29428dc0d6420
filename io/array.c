/* SPDX-License-Identifier: Apache-2.0
 *
 * array.c - sizes, names and memory of typed arrays.
 */
#include "array.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *io_type_name(io_type type) {
    static const char *const names[] = { "f4", "f8", "i4", "u4", "i8", "u8" };
    return names[type];
}

size_t io_type_size(io_type type) {
    return type == IO_F4 || type == IO_I4 || type == IO_U4 ? 4 : 8;
}

int io_shape_bytes(io_type type, int ndim, const int64_t *shape, int64_t *count, int64_t *bytes) {
    if (ndim < 0 || ndim > IO_MAX_DIM) return IO_E_SIZE;
    bool empty = false;
    for (int k = 0; k < ndim; k++) {
        if (shape[k] < 0) return IO_E_SIZE;
        if (shape[k] == 0) empty = true;
    }
    *count = *bytes = 0;
    if (empty) return IO_OK;

    int64_t limit = INT64_MAX / (int64_t)io_type_size(type), product = 1;
    for (int k = 0; k < ndim; k++) {
        if (shape[k] > limit / product) return IO_E_SIZE;
        product *= shape[k];
    }
    *count = product;
    *bytes = product * (int64_t)io_type_size(type);
    return IO_OK;
}

int io_array_create(io_type type, int ndim, const int64_t *shape, io_array *array, io_error *err) {
    int64_t count, bytes;
    char text[200];
    memset(array, 0, sizeof *array);
    if (io_shape_bytes(type, ndim, shape, &count, &bytes) != IO_OK || (uint64_t)bytes > SIZE_MAX)
        return io_fail(err, IO_E_SIZE, "shape %s of %s is not possible",
                       io_shape_text(ndim, shape, text, sizeof text), io_type_name(type));
    array->type = type;
    array->ndim = ndim;
    for (int k = 0; k < ndim; k++) array->shape[k] = shape[k];
    array->data = calloc(bytes > 0 ? (size_t)bytes : 1, 1);
    if (!array->data)
        return io_fail(err, IO_E_MEMORY, "no memory for %" PRId64 " bytes, shape %s", bytes,
                       io_shape_text(ndim, shape, text, sizeof text));
    return IO_OK;
}

void io_array_free(io_array *array) {
    free(array->data);
    memset(array, 0, sizeof *array);
}

int64_t io_array_count(const io_array *array) {
    int64_t count, bytes;
    return io_shape_bytes(array->type, array->ndim, array->shape, &count, &bytes) == IO_OK ? count
                                                                                           : 0;
}

double io_array_get(const io_array *array, int64_t i) {
    switch (array->type) {
    case IO_F4: return ((const float *)array->data)[i];
    case IO_F8: return ((const double *)array->data)[i];
    case IO_I4: return ((const int32_t *)array->data)[i];
    case IO_U4: return ((const uint32_t *)array->data)[i];
    case IO_I8: return (double)((const int64_t *)array->data)[i];
    case IO_U8: return (double)((const uint64_t *)array->data)[i];
    }
    return 0;
}

char *io_shape_text(int ndim, const int64_t *shape, char *text, size_t size) {
    size_t used = 0;
    if (size == 0) return text;
    for (int k = -1; k <= ndim && k <= IO_MAX_DIM && used < size; k++) {
        int n;
        if (k < 0)
            n = snprintf(text + used, size - used, "(");
        else if (k == ndim)
            n = snprintf(text + used, size - used, ndim == 1 ? ",)" : ")");
        else
            n = snprintf(text + used, size - used, "%s%" PRId64, k ? ", " : "", shape[k]);
        used += n > 0 ? (size_t)n : 0;
    }
    return text;
}
