/* SPDX-License-Identifier: Apache-2.0
 *
 * arrays.h - arrays of Python as C reads them: arguments of any call, and arrays that need no look in Python.
 */
#pragma once

#include "core.h"
#include "exchange.h"

#include <algorithm>

/* An argument that is an array: an address, 0 for none, or an object with the buffer protocol or DLPack. */
struct Array {
    void *data = nullptr;
    nb::ndarray<nb::ro> owner;
};

namespace nanobind::detail {
template <> struct type_caster<Array> {
    NB_TYPE_CASTER(Array, const_name("object"))
    bool from_python(handle src, uint32_t flags, cleanup_list *cleanup) noexcept {
        if (PyLong_Check(src.ptr())) {
            value.data = PyLong_AsVoidPtr(src.ptr());
            if (!value.data && PyErr_Occurred()) PyErr_Clear();
            return true;
        }
        make_caster<nb::ndarray<nb::ro>> array;
        if (!array.from_python(src, flags & ~(uint32_t)cast_flags::convert, cleanup)) return false;
        value.owner = array.value;
        value.data = const_cast<void *>(value.owner.data());
        return true;
    }
};
} // namespace nanobind::detail

/* A type of arrays, and how C reads them: by DLPack's exchange interface, numpy's struct, or describe(array), which
 * returns None or (address, whether its numbers are doubles, device, stream, shape). like(array) is a new one of its
 * shape and type, empty(numbers, "int32", device) one of whole numbers; is_capturing() tells of CUDA graphs. */
struct ArrayType {
    PyTypeObject *type;
    const exchange::Api *api; /* NULL: none */
    nb::object describe, address, like, empty,
        is_capturing; /* the first two and the last may be None */
    bool has_gradients;
};
const ArrayType *type_of_array(nb::handle value);

/* Where the numbers of an array lie, whatever their type; NULL where that is not known. */
void *address_in(const ArrayType &type, nb::handle value);

/* An array in the order of C, of doubles or floats. */
struct View {
    enum { MOST = 8 };
    void *data = nullptr;
    bool is_double = false, is_writeable = true;
    int device = -1;
    uint64_t stream = 0; /* plus 1; 0 on the CPU */
    size_t rank = 0;
    int64_t shape[MOST] = {};

    /* false: not so, look closer. The stream is left to find_stream(). */
    bool take(const ArrayType &type, nb::handle value);
    bool find_stream(const ArrayType &type);
    int64_t numbers() const {
        int64_t n = 1;
        for (size_t i = 0; i < rank; i++) n *= shape[i];
        return n;
    }
    bool is_like(const View &other) const {
        return is_double == other.is_double && device == other.device && stream == other.stream;
    }
    bool has_shape(const std::vector<int64_t> &sizes) const {
        return sizes.size() == rank && std::equal(sizes.begin(), sizes.end(), shape);
    }
    uintptr_t begin() const { return reinterpret_cast<uintptr_t>(data); }
    uintptr_t end() const { return begin() + (size_t)numbers() * (is_double ? 8 : 4); }
    bool overlaps(const View &other) const {
        return begin() < other.end() && other.begin() < end();
    }

  private:
    bool take_struct(const exchange::Numpy &a);
    bool take_tensor(const exchange::Tensor &t);
    bool take_tuple(nb::object found);
};

/* Arrays of one library, type, device and stream. false: look closer. */
const ArrayType *take_all(nb::tuple values, View *views);
