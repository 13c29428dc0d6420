/* SPDX-License-Identifier: Apache-2.0
 *
 * arrays.cpp - types of arrays and how C reads them, without Python where a library has an interface for that.
 */
#include "arrays.h"

#include <deque>

static auto &array_types = *new std::deque<ArrayType>; /* outlives Python */

const ArrayType *type_of_array(nb::handle value) {
    for (const ArrayType &known : array_types)
        if (known.type == Py_TYPE(value.ptr())) return &known;
    return nullptr;
}

/* numpy's struct of an array, which lives as long as `keeper`; or NULL. */
static const exchange::Numpy *numpy_struct(nb::handle value, nb::object &keeper) {
    static PyObject *const name = PyUnicode_InternFromString("__array_struct__");
    keeper = nb::steal(PyObject_GetAttr(value.ptr(), name));
    void *found = keeper.is_valid() ? PyCapsule_GetPointer(keeper.ptr(), nullptr) : nullptr;
    if (!found) PyErr_Clear();
    return static_cast<const exchange::Numpy *>(found);
}

void *address_in(const ArrayType &type, nb::handle value) {
    nb::object keeper;
    if (type.api) {
        exchange::Tensor t;
        if (type.api->look(value.ptr(), &t) == 0)
            return static_cast<char *>(t.data) + t.byte_offset;
        return PyErr_Clear(), nullptr;
    }
    if (!type.address.is_none())
        return reinterpret_cast<void *>(nb::cast<uintptr_t>(type.address(value)));
    const exchange::Numpy *const a = numpy_struct(value, keeper);
    return a ? a->data : nullptr;
}

bool View::take(const ArrayType &type, nb::handle value) {
    static PyObject *const gradient = PyUnicode_InternFromString("requires_grad");
    if (type.has_gradients) {
        const nb::object wanted = nb::steal(PyObject_GetAttr(value.ptr(), gradient));
        if (wanted.ptr() != Py_False) return PyErr_Clear(), false;
    }
    if (type.api) {
        exchange::Tensor t;
        if (type.api->look(value.ptr(), &t) != 0) return PyErr_Clear(), false;
        return take_tensor(t);
    }
    if (!type.describe.is_none()) return take_tuple(type.describe(value));
    nb::object keeper;
    const exchange::Numpy *const a = numpy_struct(value, keeper);
    return a && take_struct(*a);
}

bool View::find_stream(const ArrayType &type) {
    void *found = nullptr;
    if (!type.api || device < 0) return true;
    if (type.api->stream(nb::device::cuda::value, device, &found) != 0) return PyErr_Clear(), false;
    stream = reinterpret_cast<uint64_t>(found) + 1;
    return true;
}

bool View::take_struct(const exchange::Numpy &a) {
    using flags = exchange::Numpy;
    constexpr int wanted = flags::CONTIGUOUS | flags::ALIGNED | flags::NATIVE;
    if (a.kind != 'f' || (a.bytes != 8 && a.bytes != 4) || a.rank > MOST) return false;
    if ((a.flags & wanted) != wanted) return false;
    data = a.data, is_double = a.bytes == 8, rank = (size_t)a.rank;
    is_writeable = a.flags & flags::WRITEABLE;
    for (size_t i = 0; i < rank; i++) shape[i] = a.shape[i];
    return true;
}

bool View::take_tensor(const exchange::Tensor &t) {
    const bool on_gpu = t.device.device_type == nb::device::cuda::value;
    is_double = t.dtype == nb::dtype<double>();
    if ((!is_double && t.dtype != nb::dtype<float>()) || t.ndim > MOST ||
        (!on_gpu && t.device.device_type != nb::device::cpu::value))
        return false;
    data = static_cast<char *>(t.data) + t.byte_offset;
    device = on_gpu ? t.device.device_id : -1, rank = (size_t)t.ndim;
    int64_t step = 1;
    for (size_t i = 0; i < rank; i++) shape[i] = t.shape[i];
    const bool is_empty = numbers() == 0;
    for (size_t i = rank; i-- > 0 && t.strides && !is_empty; step *= shape[i])
        if (t.strides[i] != step && shape[i] > 1) return false;
    return begin() % (is_double ? 8 : 4) == 0;
}

bool View::take_tuple(nb::object found) {
    if (found.is_none()) return false;
    const auto all = nb::cast<nb::tuple>(found), sizes = nb::cast<nb::tuple>(all[4]);
    if (sizes.size() > MOST) return false;
    data = reinterpret_cast<void *>(nb::cast<uintptr_t>(all[0])),
    is_double = nb::cast<bool>(all[1]);
    device = nb::cast<int>(all[2]), stream = nb::cast<uint64_t>(all[3]), rank = sizes.size();
    for (size_t i = 0; i < rank; i++) shape[i] = nb::cast<int64_t>(sizes[i]);
    return true;
}

const ArrayType *take_all(nb::tuple values, View *views) {
    const ArrayType *const type = values.size() ? type_of_array(values[0]) : nullptr;
    for (size_t i = 0; type && i < values.size(); i++) {
        if (type_of_array(values[i]) != type || !views[i].take(*type, values[i])) return nullptr;
        if (i == 0 && !views[0].find_stream(*type)) return nullptr;
        if (type->api) views[i].stream = views[0].stream;
        if (!views[i].is_like(views[0])) return nullptr;
    }
    return type;
}

void bind_arrays(nb::module_ &m) {
    /* exchange: a capsule with DLPack's interface, or None */
    m.def(
        "read_arrays",
        [](nb::handle type, nb::object exchange, nb::object describe, nb::object address,
           nb::object like, nb::object empty, nb::object is_capturing) {
            const auto *api = exchange.is_none()
                                  ? nullptr
                                  : static_cast<const exchange::Api *>(PyCapsule_GetPointer(
                                        exchange.ptr(), "dlpack_exchange_api"));
            if (!api) PyErr_Clear();
            if (api && (api->major != exchange::MAJOR || !api->look)) api = nullptr;
            array_types.push_back({ reinterpret_cast<PyTypeObject *>(type.inc_ref().ptr()), api,
                                    describe, address, like, empty, is_capturing,
                                    nb::hasattr(type, "requires_grad") });
        },
        "type"_a, "exchange"_a.none(), "describe"_a.none(), "address"_a.none(), "like"_a, "empty"_a,
        "is_capturing"_a.none());
}
