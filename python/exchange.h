/* SPDX-License-Identifier: Apache-2.0
 *
 * exchange.h - arrays of other libraries as C reads them: what a type shows as `__dlpack_c_exchange_api__` (DLPack 1.3; its
 * functions run without a Python call), and what numpy shows as `__array_struct__`.
 */
#pragma once

#include <nanobind/ndarray.h>

#include <cstdint>

namespace exchange {

using Tensor = nanobind::dlpack::dltensor;

constexpr uint32_t MAJOR = 1; /* the version of these structs */

struct Api {
    uint32_t major, minor;
    const void *previous;
    void *allocate, *from_object, *to_object;
    int (*look)(void *object,
                Tensor *view); /* -1: an exception is set; the object keeps what the view shows */
    int (*stream)(int32_t device_type, int32_t device, void **stream);
};

struct Numpy {
    enum { CONTIGUOUS = 0x1, ALIGNED = 0x100, NATIVE = 0x200, WRITEABLE = 0x400 };
    int two, rank;
    char kind; /* 'f': floating point */
    int bytes; /* of a number         */
    int flags;
    intptr_t *shape, *strides;
    void *data;
};

} // namespace exchange
