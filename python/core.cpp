/* SPDX-License-Identifier: Apache-2.0
 *
 * core.cpp - shoal._core: the C functions of include/shoal as Python sees them.
 *
 * Three tables and no arithmetic. rows<T>(): the members of a C struct by name, to fill one from a dict or to turn
 * one into a dict. PLANS: the functions that create plans. CALLS: the functions that touch arrays, with their types
 * read off the C declarations. A changed option is one FIELD; a new function is one line. Shapes, types and devices are
 * checked in Python before an array arrives here.
 */
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>
#include <shoal/shoal.h>

#include "exchange.h"
#include "xla.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <cxxabi.h>
#include <unistd.h>

namespace nb = nanobind;
using namespace nb::literals;

/* ---- arrays -------------------------------------------------------------------------------------- */

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

/* ---- arrays that C can use as they are -------------------------------------------------------------- */

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
static auto &array_types = *new std::deque<ArrayType>; /* outlives Python */

static const ArrayType *type_of_array(nb::handle value) {
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

/* Where the numbers of an array lie, whatever their type; NULL where that is not known. */
static void *address_in(const ArrayType &type, nb::handle value) {
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
    bool take(const ArrayType &type, nb::handle value) {
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
    bool find_stream(const ArrayType &type) {
        void *found = nullptr;
        if (!type.api || device < 0) return true;
        if (type.api->stream(nb::device::cuda::value, device, &found) != 0)
            return PyErr_Clear(), false;
        stream = reinterpret_cast<uint64_t>(found) + 1;
        return true;
    }
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
    bool take_struct(const exchange::Numpy &a) {
        using flags = exchange::Numpy;
        constexpr int wanted = flags::CONTIGUOUS | flags::ALIGNED | flags::NATIVE;
        if (a.kind != 'f' || (a.bytes != 8 && a.bytes != 4) || a.rank > MOST) return false;
        if ((a.flags & wanted) != wanted) return false;
        data = a.data, is_double = a.bytes == 8, rank = (size_t)a.rank;
        is_writeable = a.flags & flags::WRITEABLE;
        for (size_t i = 0; i < rank; i++) shape[i] = a.shape[i];
        return true;
    }
    bool take_tensor(const exchange::Tensor &t) {
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
    bool take_tuple(nb::object found) {
        if (found.is_none()) return false;
        const auto all = nb::cast<nb::tuple>(found), sizes = nb::cast<nb::tuple>(all[4]);
        if (sizes.size() > MOST) return false;
        data = reinterpret_cast<void *>(nb::cast<uintptr_t>(all[0])),
        is_double = nb::cast<bool>(all[1]);
        device = nb::cast<int>(all[2]), stream = nb::cast<uint64_t>(all[3]), rank = sizes.size();
        for (size_t i = 0; i < rank; i++) shape[i] = nb::cast<int64_t>(sizes[i]);
        return true;
    }
};

/* Arrays of one library, type, device and stream. false: look closer. */
static const ArrayType *take_all(nb::tuple values, View *views) {
    const ArrayType *const type = values.size() ? type_of_array(values[0]) : nullptr;
    for (size_t i = 0; type && i < values.size(); i++) {
        if (type_of_array(values[i]) != type || !views[i].take(*type, values[i])) return nullptr;
        if (i == 0 && !views[0].find_stream(*type)) return nullptr;
        if (type->api) views[i].stream = views[0].stream;
        if (!views[i].is_like(views[0])) return nullptr;
    }
    return type;
}

/* ---- errors -------------------------------------------------------------------------------------- */

[[noreturn]] static void raise(shoal_status status, const std::string &message) {
    PyObject *type = status == SHOAL_E_NOMEM                               ? PyExc_MemoryError
                     : status == SHOAL_E_TYPE                              ? PyExc_TypeError
                     : status == SHOAL_E_FILE                              ? PyExc_OSError
                     : status == SHOAL_E_BACKEND || status == SHOAL_E_CUDA ? PyExc_RuntimeError
                                                                           : PyExc_ValueError;
    std::string text = message.empty() ? shoal_status_text(status) : message;
    if (status == SHOAL_E_NOMEM) text += "; make the batch smaller, or solve it in parts";
    PyErr_SetString(type, text.c_str());
    nb::raise_python_error();
}

/* ---- structs by name: rows<T>() ------------------------------------------------------------------ */

/* What the pointers of a struct point to, as long as C needs it. */
struct Keep {
    std::deque<std::string> words;
    std::deque<std::vector<double>> numbers;
    std::deque<std::vector<int64_t>> integers;
};

template <class T> static void assign(T &member, nb::handle value, Keep &keep) {
    if constexpr (std::is_same_v<T, const char *>) {
        member = keep.words.emplace_back(nb::cast<std::string>(value)).c_str();
    } else if constexpr (std::is_same_v<T, const double *>) {
        member = keep.numbers.emplace_back(nb::cast<std::vector<double>>(value)).data();
    } else if constexpr (std::is_same_v<T, const int64_t *>) {
        member = keep.integers.emplace_back(nb::cast<std::vector<int64_t>>(value)).data();
    } else if constexpr (std::is_same_v<T, char>) {
        member = nb::cast<std::string>(value)[0];
    } else if constexpr (std::is_enum_v<T> || std::is_same_v<T, int>) {
        member = static_cast<T>(nb::cast<int>(value));
    } else {
        member = nb::cast<T>(value);
    }
}

/* What a value must be. */
template <class T> static std::string wanted() {
    if constexpr (std::is_same_v<T, const char *> || std::is_same_v<T, char>) return "a word";
    if constexpr (std::is_floating_point_v<T>) return "a number";
    if constexpr (std::is_integral_v<T>)
        return "a whole number from " + std::to_string(std::numeric_limits<T>::min()) + " to " +
               std::to_string(std::numeric_limits<T>::max());
    return "a list of numbers";
}

template <class T> static nb::object value_of(const T &member) {
    if constexpr (std::is_array_v<T>) {
        nb::list list;
        for (const auto &entry : member) list.append(value_of(entry));
        return std::move(list);
    } else if constexpr (std::is_same_v<T, const char *>) {
        return nb::str(member ? member : "");
    } else if constexpr (std::is_pointer_v<T>) {
        return nb::none();
    } else if constexpr (std::is_enum_v<T>) {
        return nb::int_(static_cast<int64_t>(member));
    } else {
        return nb::cast(member);
    }
}

struct Row {
    const char *name;
    void (*set)(void *, nb::handle, Keep &);
    nb::object (*get)(const void *);
    std::string (*wanted)();
};
#define FIELD(member)                                                                              \
    Row {                                                                                          \
#member,                                                                                   \
            [](void *s, nb::handle v, Keep &k) {                                                   \
                if constexpr (!std::is_array_v<decltype(S::member)>)                               \
                    assign(static_cast<S *>(s)->member, v, k);                                     \
            },                                                                                     \
            [](const void *s) { return value_of(static_cast<const S *>(s)->member); },       \
            wanted<decltype(S::member)>       \
    }
template <class T> const std::vector<Row> &rows();
#define ROWS(type, ...)                                                                            \
    template <> const std::vector<Row> &rows<type>() {                                             \
        using S = type;                                                                            \
        static const std::vector<Row> table = { __VA_ARGS__ };                                     \
        return table;                                                                              \
    }

ROWS(shoal_options, FIELD(backend), FIELD(isa), FIELD(device), FIELD(threads), FIELD(unchecked),
     FIELD(staging))
ROWS(shoal_machine, FIELD(backend), FIELD(device), FIELD(isa), FIELD(gpu), FIELD(threads),
     FIELD(multiprocessors), FIELD(memory))
ROWS(shoal_tridiag_opts, FIELD(n), FIELD(count), FIELD(nrhs), FIELD(type), FIELD(layout),
     FIELD(method), FIELD(variant), FIELD(tol), FIELD(periodic), FIELD(transposed), FIELD(cond),
     FIELD(delta), FIELD(no_split), FIELD(waits))
ROWS(shoal_tridiag_info, FIELD(method), FIELD(variant), FIELD(failed), FIELD(warned), FIELD(redone),
     FIELD(max_residual), FIELD(tol), FIELD(delta), FIELD(cond), FIELD(bytes))
ROWS(shoal_smallsym_opts, FIELD(n), FIELD(count), FIELD(nrhs), FIELD(type), FIELD(layout),
     FIELD(storage), FIELD(triangle), FIELD(method), FIELD(variant), FIELD(refine), FIELD(estimate),
     FIELD(tol), FIELD(cond), FIELD(gram), FIELD(waits))
ROWS(shoal_smallsym_info, FIELD(method), FIELD(variant), FIELD(failed), FIELD(warned),
     FIELD(redone), FIELD(max_residual), FIELD(tol), FIELD(cond), FIELD(bytes))
ROWS(shoal_recur_opts, FIELD(n), FIELD(count), FIELD(order), FIELD(form), FIELD(reverse),
     FIELD(constant_s), FIELD(constant_t), FIELD(type), FIELD(layout), FIELD(method),
     FIELD(variant))
ROWS(shoal_recur_info, FIELD(method), FIELD(variant), FIELD(failed), FIELD(bytes))
ROWS(shoal_sort_opts, FIELD(n), FIELD(count), FIELD(key), FIELD(value_bytes), FIELD(index),
     FIELD(descending), FIELD(method), FIELD(variant))
ROWS(shoal_merge_opts, FIELD(na), FIELD(nb), FIELD(count), FIELD(key), FIELD(value_bytes),
     FIELD(descending), FIELD(method), FIELD(variant))
ROWS(shoal_sort_info, FIELD(method), FIELD(variant), FIELD(bytes))
ROWS(shoal_symindef_opts, FIELD(n), FIELD(type), FIELD(triangle), FIELD(method), FIELD(variant),
     FIELD(alpha), FIELD(tol), FIELD(growth))
ROWS(shoal_symindef_info, FIELD(method), FIELD(variant), FIELD(status), FIELD(alpha),
     FIELD(epsilon), FIELD(eliminated), FIELD(rank), FIELD(inertia), FIELD(pivots_1x1),
     FIELD(pivots_2x2), FIELD(swaps_1x1), FIELD(swaps_2x2), FIELD(largest), FIELD(tol),
     FIELD(rounding), FIELD(growth), FIELD(max_multiplier), FIELD(log_abs_det), FIELD(sign_det),
     FIELD(bytes))
ROWS(shoal_rng_opts, FIELD(method), FIELD(variant), FIELD(type), FIELD(math), FIELD(seed),
     FIELD(step), FIELD(purpose), FIELD(draw), FIELD(alpha), FIELD(lambda), FIELD(df),
     FIELD(dimensions), FIELD(layout))
ROWS(shoal_rng_info, FIELD(method), FIELD(variant), FIELD(failed), FIELD(bytes))
ROWS(shoal_heston, FIELD(s0), FIELD(rate), FIELD(dividend), FIELD(v0), FIELD(kappa), FIELD(theta),
     FIELD(sigma), FIELD(rho))
ROWS(shoal_fit_opts, FIELD(starts), FIELD(iterations), FIELD(price_errors), FIELD(tol),
     FIELD(solver))
ROWS(shoal_heston_fit, FIELD(objective), FIELD(rms), FIELD(largest), FIELD(condition),
     FIELD(feller), FIELD(converged), FIELD(at_bound), FIELD(iterations), FIELD(evaluations),
     FIELD(agree))
ROWS(shoal_expou, FIELD(s0), FIELD(rate), FIELD(alpha), FIELD(m), FIELD(beta), FIELD(y0),
     FIELD(rho))
ROWS(shoal_bullet, FIELD(s0), FIELD(strike), FIELD(rate), FIELD(maturity), FIELD(sigma),
     FIELD(barrier), FIELD(dates), FIELD(p1), FIELD(p2), FIELD(count))
ROWS(shoal_bullet_point, FIELD(k), FIELD(j), FIELD(x))
ROWS(shoal_american, FIELD(payoff), FIELD(strike), FIELD(rate), FIELD(maturity), FIELD(s0),
     FIELD(sigma), FIELD(dividend), FIELD(weight), FIELD(correlation))
ROWS(shoal_american_opts, FIELD(assets), FIELD(dates), FIELD(degree), FIELD(raw), FIELD(fit_paths),
     FIELD(solver), FIELD(cond), FIELD(type), FIELD(seed), FIELD(control), FIELD(inner))
ROWS(shoal_vanilla_opts, FIELD(nodes), FIELD(european))
ROWS(shoal_american_fit, FIELD(price), FIELD(error), FIELD(systems), FIELD(empty), FIELD(warned),
     FIELD(truncated), FIELD(refined), FIELD(failed))
ROWS(shoal_price_opts, FIELD(method), FIELD(variant), FIELD(type), FIELD(math), FIELD(seed),
     FIELD(steps), FIELD(put), FIELD(antithetic), FIELD(control), FIELD(greeks), FIELD(bump),
     FIELD(probability), FIELD(nx), FIELD(steps_per_date), FIELD(strikes), FIELD(maturities),
     FIELD(strike), FIELD(maturity))
ROWS(shoal_price_info, FIELD(method), FIELD(variant), FIELD(deterministic), FIELD(control),
     FIELD(parity), FIELD(contracts), FIELD(steps), FIELD(paths_each), FIELD(walks), FIELD(bytes))
ROWS(shoal_price_value, FIELD(price), FIELD(error), FIELD(implied_vol), FIELD(delta),
     FIELD(delta_error), FIELD(gamma), FIELD(gamma_error), FIELD(vega), FIELD(vega_error),
     FIELD(bias), FIELD(bound))
ROWS(shoal_price_goal, FIELD(paths), FIELD(target))
ROWS(shoal_price_progress, FIELD(first), FIELD(samples), FIELD(expected), FIELD(unpaid),
     FIELD(seconds))
ROWS(shoal_cva_market, FIELD(assets), FIELD(rate), FIELD(s0), FIELD(sigma), FIELD(dividend),
     FIELD(correlation))
ROWS(shoal_cva_contract, FIELD(payoff), FIELD(american), FIELD(strike), FIELD(maturity),
     FIELD(exercises), FIELD(exercise), FIELD(quantity), FIELD(assets), FIELD(asset), FIELD(weight),
     FIELD(set), FIELD(barrier), FIELD(fixings), FIELD(fixing))
ROWS(shoal_cva_counterparty, FIELD(pieces), FIELD(hazard), FIELD(until), FIELD(recovery),
     FIELD(collateral), FIELD(threshold), FIELD(volatility), FIELD(reversion), FIELD(correlation),
     FIELD(jump))
ROWS(shoal_cva_csa, FIELD(collateral), FIELD(threshold), FIELD(transfer), FIELD(independent),
     FIELD(period), FIELD(one_way))
ROWS(shoal_cva_opts, FIELD(dates), FIELD(time), FIELD(horizon), FIELD(outer), FIELD(inner_count),
     FIELD(inner), FIELD(nested), FIELD(kept), FIELD(estimator), FIELD(rule_paths), FIELD(degree),
     FIELD(raw), FIELD(solver), FIELD(cond), FIELD(type), FIELD(seed), FIELD(control),
     FIELD(validate), FIELD(by_set), FIELD(by_trade), FIELD(greeks), FIELD(gammas),
     FIELD(quantile_error), FIELD(party), FIELD(target))
ROWS(shoal_cva_info, FIELD(horizon), FIELD(dates), FIELD(sets), FIELD(parties), FIELD(expired),
     FIELD(closed), FIELD(nested), FIELD(american), FIELD(outer), FIELD(inner), FIELD(level_share))
ROWS(shoal_cva_counts, FIELD(inner_paths), FIELD(seconds), FIELD(systems), FIELD(empty),
     FIELD(warned), FIELD(truncated), FIELD(refined), FIELD(failed), FIELD(method), FIELD(decade))
ROWS(shoal_cva_value, FIELD(cva), FIELD(error), FIELD(rule_bias), FIELD(rule_bias_error),
     FIELD(inner_bias), FIELD(inner_bias_error), FIELD(bias), FIELD(low), FIELD(high),
     FIELD(correction), FIELD(correction_error))
ROWS(shoal_cva_date, FIELD(time), FIELD(epe), FIELD(epe_error), FIELD(epe_bias), FIELD(epe_low),
     FIELD(epe_high), FIELD(ene), FIELD(ene_error), FIELD(ene_bias), FIELD(ene_low),
     FIELD(ene_high), FIELD(pfe95), FIELD(pfe95_low), FIELD(pfe95_high), FIELD(pfe99),
     FIELD(pfe99_low), FIELD(pfe99_high), FIELD(es95), FIELD(es99), FIELD(epe_default),
     FIELD(epe_default_error), FIELD(discount), FIELD(default_probability), FIELD(cva),
     FIELD(inner))
ROWS(shoal_cva_curve, FIELD(count), FIELD(time), FIELD(value))
ROWS(shoal_cva_adjustments, FIELD(pv), FIELD(pv_error), FIELD(cva), FIELD(cva_error), FIELD(dva),
     FIELD(dva_error), FIELD(fca), FIELD(fca_error), FIELD(fba), FIELD(fba_error), FIELD(fva),
     FIELD(fva_error), FIELD(epe), FIELD(ene), FIELD(eepe), FIELD(pfe95), FIELD(pfe99), FIELD(es95),
     FIELD(es99))
ROWS(shoal_cva_trade, FIELD(pv), FIELD(pv_error), FIELD(cva), FIELD(cva_error), FIELD(dva),
     FIELD(fca), FIELD(fba), FIELD(fva), FIELD(epe), FIELD(ene), FIELD(eepe))
ROWS(shoal_cva_sensitivity, FIELD(parameter), FIELD(name), FIELD(index), FIELD(other), FIELD(point),
     FIELD(time), FIELD(at), FIELD(move), FIELD(value), FIELD(error))
ROWS(shoal_cva_check, FIELD(price), FIELD(price_error), FIELD(upper), FIELD(upper_error),
     FIELD(mean), FIELD(error), FIELD(z))
ROWS(shoal_cva_validation, FIELD(passed), FIELD(z), FIELD(limit), FIELD(contract), FIELD(date),
     FIELD(scores))
ROWS(shoal_dataset_opts, FIELD(design), FIELD(samples), FIELD(seed), FIELD(nu2), FIELD(target),
     FIELD(most_paths), FIELD(refine))
ROWS(shoal_range, FIELD(low), FIELD(high), FIELD(log))
ROWS(shoal_units_info, FIELD(kind), FIELD(units), FIELD(done), FIELD(rows), FIELD(bytes),
     FIELD(seconds))
ROWS(shoal_surrogate_info, FIELD(inputs), FIELD(layers), FIELD(width), FIELD(target), FIELD(names),
     FIELD(map), FIELD(least), FIELD(most), FIELD(weights), FIELD(rows), FIELD(seed), FIELD(epochs),
     FIELD(validation))

template <class T> static T filled(nb::dict values, Keep &keep, T result = {}) {
    for (auto [key, value] : values) {
        const std::string name = nb::cast<std::string>(key);
        const Row *found = nullptr;
        for (const Row &row : rows<T>())
            if (name == row.name) found = &row;
        if (!found) throw nb::type_error(("unknown option '" + name + "'").c_str());
        if (value.is_none()) continue;
        try {
            found->set(&result, value, keep);
        } catch (const nb::cast_error &) {
            throw nb::type_error((name + " is " + nb::cast<std::string>(nb::repr(value)) +
                                  "; it must be " + found->wanted())
                                     .c_str());
        }
    }
    return result;
}
template <class T> static std::vector<T> filled_list(nb::list list, Keep &keep) {
    std::vector<T> result;
    for (nb::handle entry : list) result.push_back(filled<T>(nb::cast<nb::dict>(entry), keep));
    return result;
}
template <class T> static nb::dict dict_of(const T &value) {
    nb::dict result;
    for (const Row &row : rows<T>()) result[row.name] = row.get(&value);
    return result;
}
template <class T> static nb::list names_of() {
    nb::list list;
    for (const Row &row : rows<T>()) list.append(row.name);
    return list;
}

/* ---- the GIL ------------------------------------------------------------------------------------- */

/* Before 3.14 CPython ends a daemon thread that asks for the GIL after the main thread has ended, and unwinds its stack
 * through functions that must not throw, which aborts the process. Such a thread waits here for the end, as in 3.14. */
template <class F> static auto hang_at_exit(F take) {
    try {
        return take();
    } catch (abi::__forced_unwind &) {
        for (;;) pause();
    }
}
struct Released {
    PyThreadState *const state = PyEval_SaveThread();
    Released() = default;
    Released(const Released &) = delete;
    ~Released() {
        hang_at_exit([&] { PyEval_RestoreThread(state); });
    }
};
struct Acquired {
    const PyGILState_STATE state = hang_at_exit([] { return PyGILState_Ensure(); });
    Acquired() = default;
    Acquired(const Acquired &) = delete;
    ~Acquired() { PyGILState_Release(state); }
};

extern "C" {
__attribute__((weak)) int Py_IsFinalizing(void);  /* from 3.13 on */
__attribute__((weak)) int _Py_IsFinalizing(void); /* before       */
}
static bool is_finalizing() {
    auto *const asked = Py_IsFinalizing ? Py_IsFinalizing : _Py_IsFinalizing;
    return asked && asked();
}

/* ---- contexts and plans -------------------------------------------------------------------------- */

struct Context {
    shoal_context *handle = nullptr;
    std::recursive_mutex
        lock; /* a context belongs to one thread at a time; its callbacks may free plans */
    nb::object progress; /* called with a stage and a fraction, or None */
    uint64_t stream = 0; /* of the last call, as Python passes it          */

    explicit Context(nb::dict options) {
        Keep keep;
        const shoal_options opts = filled<shoal_options>(options, keep);
        shoal_status status;
        {
            nb::gil_scoped_release released;
            status = shoal_open(&opts, &handle);
        }
        if (status != SHOAL_OK) {
            const std::string message = handle ? shoal_message(handle) : "";
            shoal_close(handle);
            raise(status, message);
        }
        shoal_set_progress(handle, on_progress, this);
    }
    /* Called by long calls, without the GIL. Ctrl-C, and an exception of the function, end the call. */
    static int on_progress(void *user, const char *stage, double fraction) {
        if (is_finalizing()) return 1;
        const Acquired acquired;
        const nb::object call = static_cast<Context *>(user)->progress;
        try {
            if (PyErr_CheckSignals() != 0) nb::raise_python_error();
            if (call.is_valid() && !call.is_none()) call(stage, fraction);
        } catch (nb::python_error &e) {
            e.restore();
            return 1;
        }
        return 0;
    }
    Context(const Context &) = delete;
    ~Context() { shoal_close(handle); }

    /* Runs f(), which returns a shoal_status, and takes the message if that is an error. Without the GIL. */
    template <class F> shoal_status attempt(std::string &message, F f) {
        std::lock_guard<std::recursive_mutex> guard(lock);
        const shoal_status status = f();
        if (status != SHOAL_OK) message = shoal_message(handle);
        return status;
    }
    /* The same, with the GIL; raises what it reports. */
    template <class F> void run(F f) {
        shoal_status status;
        std::string message;
        {
            const Released released;
            status = attempt(message, f);
        }
        if (PyErr_Occurred()) nb::raise_python_error(); /* a callback's */
        if (status != SHOAL_OK) raise(status, message);
    }
};

static constexpr char CLOSED[] = "the plan was closed: make a new one";

struct Plan {
    nb::object
        keeper; /* Python's object of the context: no shared_ptr, which needs a symbol of glibc 2.32 */
    Context *context = nullptr;
    std::atomic<void *> handle{ nullptr };
    void (*destroy)(void *) = nullptr; /* also tells which module it belongs to */
    bool is_double = true;
    int64_t count = 0;

    Plan() = default;
    Plan(const Plan &) = delete;
    ~Plan() { free(); }
    /* Calls of other threads that have begun end first; those that wait find no handle. */
    void free() {
        void *const was = handle.exchange(nullptr);
        if (!was) return;
        const Released released; /* who has the lock may wait for the GIL */
        std::unique_lock<std::recursive_mutex> guard(context->lock, std::defer_lock);
        if (!is_finalizing())
            guard.lock();
        else if (!guard.try_lock())
            return; /* a daemon thread has it for ever */
        destroy(was);
    }
    /* Context::run(), unless another thread closes the plan first. */
    template <class F> void run(F f) {
        bool closed = false;
        context->run([&]() -> shoal_status {
            closed = !handle;
            return closed ? SHOAL_OK : f();
        });
        if (closed) raise(SHOAL_E_ARG, CLOSED);
    }
};
template <class Handle, void (*Destroy)(Handle *)> static void destroy_plan(void *handle) {
    Destroy(static_cast<Handle *>(handle));
}
template <class Handle, void (*Destroy)(Handle *), class Create>
static std::unique_ptr<Plan> new_plan(nb::object keeper, Create create) {
    auto plan = std::make_unique<Plan>();
    plan->context = nb::cast<Context *>(keeper);
    plan->keeper = keeper;
    plan->destroy = destroy_plan<Handle, Destroy>;
    Handle *handle = nullptr;
    plan->context->run([&] { return create(plan->context->handle, &handle); });
    plan->handle = handle;
    return plan;
}
template <class Handle> static Handle *handle_of(const Plan &plan, void (*destroy)(void *)) {
    void *const handle = plan.handle;
    if (!handle) raise(SHOAL_E_ARG, CLOSED);
    if (plan.destroy != destroy) throw nb::type_error("a plan of another kind");
    return static_cast<Handle *>(handle);
}

/* PLANS: name, options, handle, create, free. */
template <class T, class = void> struct type_of {
    static bool is_double(const T &) { return true; }
};
template <class T> struct type_of<T, std::void_t<decltype(T::type)>> {
    static bool is_double(const T &o) { return o.type == SHOAL_F64; }
};
template <class T, class = void> struct count_of {
    static int64_t count(const T &) { return 0; }
};
template <class T> struct count_of<T, std::void_t<decltype(T::count)>> {
    static int64_t count(const T &o) { return o.count; }
};
template <class Opts, class Handle,
          shoal_status (*Create)(shoal_context *, const Opts *, Handle **),
          void (*Destroy)(Handle *)>
static void bind_plan(nb::module_ &m, const char *name) {
    m.def(name, [](nb::object py, nb::dict options) {
        Keep keep;
        const Opts opts = filled<Opts>(options, keep);
        auto plan = new_plan<Handle, Destroy>(
            py, [&](shoal_context *ctx, Handle **handle) { return Create(ctx, &opts, handle); });
        plan->is_double = type_of<Opts>::is_double(opts);
        plan->count = count_of<Opts>::count(opts);
        return plan;
    });
}
#define PLAN(module)                                                                               \
    bind_plan<shoal_##module##_opts, shoal_##module, shoal_##module##_create,                      \
              shoal_##module##_free>(m, #module)

/* ---- calls --------------------------------------------------------------------------------------- */

/* The outcome of each system goes into one block of 32-bit numbers: for each bit of `fields` a row of `count`. The
 * order of the bits is that of shoal_outcome. */
static shoal_outcome outcome_of(void *block, int64_t count, unsigned fields) {
    shoal_outcome where = {};
    auto *at = static_cast<int32_t *>(block);
    auto take = [&](unsigned bit, int64_t width) {
        int32_t *here = fields >> bit & 1 ? at : nullptr;
        if (here) at += width * count;
        return here;
    };
    where.status = take(0, 1);
    where.residual = reinterpret_cast<float *>(take(1, 1));
    where.rcond = reinterpret_cast<float *>(take(2, 1));
    where.rank = take(3, 1);
    where.inertia = take(4, 3);
    where.method = take(5, 1);
    return where;
}

template <class T> struct argument { /* as Python passes it */
    using type = std::conditional_t<std::is_pointer_v<T>, Array,
                                    std::conditional_t<std::is_enum_v<T>, int, T>>;
    static T get(const type &value) {
        if constexpr (std::is_pointer_v<T>)
            return static_cast<T>(value.data);
        else
            return static_cast<T>(value);
    }
};

/* Before a call, with the context's lock. */
static void use_stream(Context &context, uint64_t stream) {
    if (!stream || stream == context.stream) return;
    shoal_set_stream(context.handle, reinterpret_cast<void *>(stream - 1));
    context.stream = stream;
}

/* A function for double and its twin for float; the same function twice if there is one. */
template <class Handle, class H, class... A, class... B>
static void bind_call(nb::module_ &m, const char *name, void (*destroy)(void *),
                      shoal_status (*outcome)(Handle *, const shoal_outcome *),
                      shoal_status (*in_double)(H *, A...), shoal_status (*in_single)(H *, B...)) {
    m.def(name, [=](Plan &plan, uint64_t stream, Array block, unsigned fields,
                    typename argument<A>::type... given) {
        auto *handle = handle_of<Handle>(plan, destroy);
        Context &context = *plan.context;
        plan.run([&] {
            use_stream(context, stream);
            if (outcome) {
                const shoal_outcome where = outcome_of(block.data, plan.count, fields);
                const shoal_status status = outcome(handle, fields ? &where : nullptr);
                if (status != SHOAL_OK) return status;
            }
            return plan.is_double ? in_double(handle, argument<A>::get(given)...)
                                  : in_single(handle, (B)argument<A>::get(given)...);
        });
    });
}
#define CALL(module, function)                                                                     \
    bind_call<shoal_##module>(                                                                     \
        m, #module "_" #function, destroy_plan<shoal_##module, shoal_##module##_free>,             \
        shoal_##module##_outcome, shoal_##module##_##function, shoal_##module##_##function##f)
#define CALL_PLAIN(module, function, single)                                                       \
    bind_call<shoal_##module>(m, #module "_" #function,                                            \
                              destroy_plan<shoal_##module, shoal_##module##_free>,                 \
                              (shoal_status(*)(shoal_##module *, const shoal_outcome *)) nullptr,  \
                              shoal_##module##_##function, shoal_##module##_##single)

/* Waits and sums up: a dict; ..._failed: the number of systems that failed. */
template <class Handle, class Info>
static void bind_last(nb::module_ &m, const char *name, void (*destroy)(void *),
                      shoal_status (*last)(Handle *, Info *)) {
    m.def(name, [=](Plan &plan) {
        auto *handle = handle_of<Handle>(plan, destroy);
        Info info = {};
        plan.run([&] { return last(handle, &info); });
        return dict_of(info);
    });
}
#define LAST(module, destroyed)                                                                    \
    bind_last(m, #module "_last", destroy_plan<shoal_##module, shoal_##destroyed##_free>,          \
              shoal_##module##_last)
template <class Handle, class Info>
static void bind_failed(nb::module_ &m, const char *name, void (*destroy)(void *),
                        shoal_status (*last)(Handle *, Info *)) {
    m.def(name, [=](Plan &plan) {
        auto *handle = handle_of<Handle>(plan, destroy);
        Info info = {};
        plan.run([&] { return last(handle, &info); });
        return info.failed;
    });
}
#define FAILED(module)                                                                             \
    bind_failed(m, #module "_failed", destroy_plan<shoal_##module, shoal_##module##_free>,         \
                shoal_##module##_last)

static std::vector<int64_t> sizes_of(nb::tuple shape) {
    std::vector<int64_t> sizes;
    for (nb::handle size : shape) sizes.push_back(nb::cast<int64_t>(size));
    return sizes;
}

/* Solves the systems of a plan in arrays that need no look in Python: on the plan's device, of its type, the bands of
 * shape `bands`, b and `out` of shape `rhs`; out, which may be b, overlaps no other. out None: a new array. Returns out,
 * or None if the arrays are not so. */
static nb::object tridiag_in_place(Plan &plan, int device, nb::tuple bands, nb::tuple rhs,
                                   nb::tuple values, nb::object out) {
    auto *handle = handle_of<shoal_tridiag>(plan, destroy_plan<shoal_tridiag, shoal_tridiag_free>);
    View a[4], x;
    const ArrayType *const type = values.size() == 4 ? take_all(values, a) : nullptr;
    if (!type || a[0].device != device || a[0].is_double != plan.is_double) return nb::none();
    const std::vector<int64_t> shape = sizes_of(bands), rhs_shape = sizes_of(rhs);
    for (size_t i = 0; i < 4; i++)
        if (!a[i].has_shape(i < 3 ? shape : rhs_shape)) return nb::none();
    if (out.is_none()) out = type->like(values[3]);
    if (type_of_array(out) != type || !x.take(*type, out)) return nb::none();
    if (type->api) x.stream = a[0].stream;
    if (!x.is_like(a[0]) || !x.has_shape(rhs_shape) || !x.is_writeable) return nb::none();
    for (size_t i = 0; i < 4; i++)
        if (x.overlaps(a[i]) && (i < 3 || x.data != a[i].data)) return nb::none();
    plan.run([&] {
        use_stream(*plan.context, x.stream);
        shoal_tridiag_outcome(handle, nullptr);
        const auto solve = [&](auto function, auto zero) {
            const auto at = [&](const View &array) {
                return static_cast<decltype(zero) *>(array.data);
            };
            return function(handle, at(a[0]), at(a[1]), at(a[2]), at(a[3]), at(x));
        };
        return plan.is_double ? solve(shoal_tridiag_solve, 0.0) : solve(shoal_tridiag_solvef, 0.0f);
    });
    return out;
}

/* ---- calls on addresses --------------------------------------------------------------------------- */

/* Functions whose arguments are a plan, arrays that are read, and arrays that are written, the last of them for the
 * outcomes if there are any. */
struct BufferCall {
    const char *name;
    void (*destroy)(void *);
    shoal_status (*run)(Plan &plan, void *const *buffers, size_t count, unsigned fields);
    shoal_status (*failed)(Plan &plan, int64_t *systems); /* waits; NULL: not known */
};

template <class Handle, class... A, size_t... I>
static shoal_status pass(shoal_status (*function)(Handle *, A...), void *handle,
                         void *const *buffers, std::index_sequence<I...>) {
    return function(static_cast<Handle *>(handle), static_cast<A>(buffers[I])...);
}
template <auto Outcome, auto InDouble, auto InSingle, class Handle, class... A>
static shoal_status run_on_buffers(Plan &plan, void *const *buffers, size_t count, unsigned fields,
                                   shoal_status (*)(Handle *, A...)) {
    constexpr auto order = std::index_sequence_for<A...>();
    if (count != order.size() + (fields != 0)) return SHOAL_E_ARG;
    if constexpr (Outcome != nullptr) {
        auto *handle = static_cast<Handle *>(plan.handle.load());
        const auto where = outcome_of(fields ? buffers[order.size()] : nullptr, plan.count, fields);
        const shoal_status status = Outcome(handle, fields ? &where : nullptr);
        if (status != SHOAL_OK) return status;
    }
    return plan.is_double ? pass(InDouble, plan.handle, buffers, order)
                          : pass(InSingle, plan.handle, buffers, order);
}
template <class Handle, class Info>
static shoal_status count_failed(Plan &plan, int64_t *systems,
                                 shoal_status (*last)(Handle *, Info *)) {
    Info info = {};
    const shoal_status status = last(static_cast<Handle *>(plan.handle.load()), &info);
    *systems = info.failed;
    return status;
}
static shoal_status sort_index(shoal_sort *plan, const void *keys, void *sorted, void *index) {
    return shoal_sort_run(plan, keys, nullptr, sorted, index);
}
#define BUFFER_ROW(module, name, outcome, in_double, in_single, failed)                            \
    BufferCall {                                                                                   \
        name, destroy_plan<shoal_##module, shoal_##module##_free>,                                 \
            [](Plan &plan, void *const *buffers, size_t count, unsigned fields) {                  \
                return run_on_buffers<outcome, in_double, in_single>(plan, buffers, count, fields, \
                                                                     in_double);                   \
            },                                                                                     \
            failed                                                                                 \
    }
#define BUFFERS(module, function)                                                                  \
    BUFFER_ROW(module, #module "_" #function, shoal_##module##_outcome,                            \
               shoal_##module##_##function, shoal_##module##_##function##f,                        \
               [](Plan &plan, int64_t *systems) {                                                  \
                   return count_failed(plan, systems, shoal_##module##_last);                      \
               })
static const BufferCall BUFFER_CALLS[] = {
    BUFFERS(tridiag, solve), BUFFERS(smallsym, solve), BUFFERS(smallsym, eig),
    BUFFERS(recur, solve), BUFFER_ROW(sort, "sort_index", nullptr, sort_index, sort_index, nullptr)
};

static const BufferCall *find_call(std::string_view name) {
    for (const BufferCall &row : BUFFER_CALLS)
        if (name == row.name) return &row;
    return nullptr;
}

/* ---- calls like recent ones ------------------------------------------------------------------------ */

static std::atomic<int64_t> calls_epoch; /* calls of earlier ones are forgotten */

/* What a thread keeps of its calls. One whose arrays have the library, type, shapes, device and stream of a recent one,
 * and whose options are equal, needs no look in Python. */
struct Calls {
    enum { MOST_ARRAYS = 4, MANY = 64, MOST_ROOM = 1 << 14 };
    struct Kept {
        const ArrayType *type;
        std::vector<View> views;
        nb::tuple options;
        nb::object owner; /* of the plan */
        Plan *plan;
        const BufferCall *call;
        unsigned fields;
        nb::object about; /* what again() returns beside the answer */
        size_t numbers;   /* of the outcomes */
        /* Outcomes of several calls lie in one array, because new arrays take long: the next ones are here. */
        nb::object room;
        size_t next, end;
        int32_t *at; /* where the room begins */
    };
    std::deque<Kept> kept; /* push_back() leaves references alone */
    int64_t epoch = 0;
    int busy = 0; /* answers under way: other code may run in them */
    bool is_stale = false;

    static bool are_equal(nb::tuple a, nb::tuple b) {
        if (a.size() != b.size()) return false;
        for (size_t i = 0; i < a.size(); i++) {
            if (a[i].ptr() == b[i].ptr()) continue;
            const int same = PyObject_RichCompareBool(a[i].ptr(), b[i].ptr(), Py_EQ);
            if (same < 0) PyErr_Clear();
            if (same != 1) return false;
        }
        return true;
    }
    static bool are_alike(const View *a, const std::vector<View> &b) {
        for (size_t i = 0; i < b.size(); i++)
            if (!a[i].is_like(b[i]) || a[i].rank != b[i].rank ||
                !std::equal(a[i].shape, a[i].shape + a[i].rank, b[i].shape))
                return false;
        return true;
    }

    /* Answers a call of which keep() was told: (x, outcomes, where they begin, about, number of failed systems or 0), x
     * like the last array. waits: for the number. None: not such a call. */
    nb::object again(nb::tuple values, nb::tuple options, bool waits) {
        View views[MOST_ARRAYS];
        if (const int64_t now = calls_epoch; epoch != now) forget(), epoch = now;
        if (kept.empty() || values.size() > MOST_ARRAYS) return nb::none();
        const ArrayType *const type = take_all(values, views);
        if (!type) return nb::none();
        for (auto found = kept.rbegin(); found != kept.rend(); ++found)
            if (found->type == type && found->views.size() == values.size() &&
                are_alike(views, found->views) && are_equal(options, found->options)) {
                const Busy mark(*this);
                return answer(*found, views, values[values.size() - 1], waits);
            }
        return nb::none();
    }
    /* Room for outcomes. A CUDA graph writes there whenever it runs: its room is in its own memory. */
    static void find_room(Kept &k, bool on_gpu) {
        const ArrayType &type = *k.type;
        const bool is_shared =
            !on_gpu || (!type.is_capturing.is_none() && !nb::cast<bool>(type.is_capturing()));
        if (is_shared && k.next + k.numbers <= k.end) return;
        const size_t calls =
            is_shared && k.numbers ? std::max<size_t>(MOST_ROOM / k.numbers, 1) : 1;
        nb::object room = type.empty(calls * k.numbers, "int32", k.views[0].device);
        k.at = static_cast<int32_t *>(address_in(type, room));
        k.room = room, k.next = 0, k.end = is_shared ? calls * k.numbers : k.numbers;
    }
    static nb::object answer(Kept &k, const View *views, nb::handle b, bool waits) {
        const size_t inputs = k.views.size();
        const nb::object x = k.type->like(b);
        find_room(k, views[0].device >= 0);
        const nb::object room = k.room;
        const size_t first = k.next;
        void *buffers[MOST_ARRAYS + 2];
        for (size_t i = 0; i < inputs; i++) buffers[i] = views[i].data;
        buffers[inputs] = address_in(*k.type, x), buffers[inputs + 1] = k.at + first;
        k.next += k.numbers;
        int64_t failed = 0;
        k.plan->run([&] {
            use_stream(*k.plan->context, views[0].stream);
            const shoal_status status = k.call->run(*k.plan, buffers, inputs + 2, k.fields);
            return status == SHOAL_OK && waits ? k.call->failed(*k.plan, &failed) : status;
        });
        return nb::make_tuple(x, room, first, k.about, failed);
    }
    void keep(nb::tuple values, nb::tuple options, const std::string &name, nb::object plan,
              unsigned fields, size_t numbers, nb::object about) {
        View views[MOST_ARRAYS];
        const ArrayType *const type =
            values.size() <= MOST_ARRAYS ? take_all(values, views) : nullptr;
        if (!type) return;
        if (kept.size() >= MANY && !busy) kept.pop_front();
        kept.push_back({ type, std::vector<View>(views, views + values.size()), options, plan,
                         nb::cast<Plan *>(plan), find_call(name), fields, about, numbers,
                         nb::none(), 0, 0, nullptr });
    }
    void forget() {
        std::deque<Kept> unused; /* freeing plans may run other code */
        is_stale = busy;
        if (!busy) unused.swap(kept);
    }
    struct Busy {
        Calls &of;
        explicit Busy(Calls &calls) : of(calls) { of.busy++; }
        Busy(const Busy &) = delete;
        ~Busy() {
            if (--of.busy == 0 && of.is_stale) of.forget();
        }
    };
};

/* ---- calls from XLA ------------------------------------------------------------------------------ */

/* XLA, the compiler of JAX, calls one handler per kind of device, without Python. A call has buffers and four
 * attributes: "call", the name of a BufferCall; "settings", of which Python makes a plan; "system", the numbers per
 * system in the first buffer, which tell how many systems there are; "fields", of the outcomes in the last buffer. */

/* The plans of all threads of XLA: by settings, number of systems, device and stream. */
struct XlaPlans {
    static constexpr size_t MANY = 64;
    struct Entry {
        nb::object owner; /* of the plan */
        Plan *plan = nullptr;
        int users = 0;
    };
    std::mutex lock; /* never held while a thread waits for the GIL */
    std::map<std::string, Entry> kept;
    int64_t epoch = 0; /* plans of earlier ones are not used any more */
    nb::object make;   /* make(settings, count, device) */

    /* With the GIL. */
    void clear() {
        std::vector<nb::object> unused; /* freed after the lock */
        std::lock_guard<std::mutex> guard(lock);
        epoch++;
        for (auto at = kept.begin(); at != kept.end();) {
            const auto here = at++;
            if (here->second.users) continue;
            unused.push_back(std::move(here->second.owner));
            kept.erase(here);
        }
    }
    Entry &take(const std::string &settings, int64_t count, int device, uint64_t stream) {
        std::string key = settings;
        for (const int64_t part : { count, (int64_t)device, (int64_t)stream })
            key += ' ' + std::to_string(part);
        {
            std::lock_guard<std::mutex> guard(lock);
            const auto found = kept.find(key + ' ' + std::to_string(epoch));
            if (found != kept.end()) return found->second.users++, found->second;
        }
        nb::gil_scoped_acquire acquired;
        if (kept.size() >= MANY) clear();
        nb::object owner = make(settings, count, device);
        std::lock_guard<std::mutex> guard(lock);
        Entry &entry = kept[key + ' ' + std::to_string(epoch)];
        if (!entry.plan) entry.plan = nb::cast<Plan *>(owner), entry.owner = std::move(owner);
        return entry.users++, entry;
    }
    void give(Entry &entry) {
        std::lock_guard<std::mutex> guard(lock);
        entry.users--;
    }
};
static XlaPlans *xla_plans = new XlaPlans; /* outlives Python, which clears it */

static void xla_serve(xla::Frame &frame, bool on_gpu) {
    std::string_view word, settings;
    int64_t system = 1, fields = 0;
    for (int64_t i = 0; i < frame.attributes.count; i++) {
        const xla::Span &span = *frame.attributes.names[i];
        const std::string_view name(span.data, span.size);
        void *value = frame.attributes.values[i];
        if (name == "call" || name == "settings") {
            const auto &text = *static_cast<xla::Span *>(value);
            (name == "call" ? word : settings) = { text.data, text.size };
        } else if (name == "system" || name == "fields") {
            (name == "system" ? system : fields) =
                *static_cast<int64_t *>(static_cast<xla::Scalar *>(value)->value);
        }
    }
    const BufferCall *const call = find_call(word);
    if (!call || frame.arguments.count < 1) throw std::runtime_error("a call that is unknown");

    std::vector<void *> buffers;
    for (const xla::Buffers *list : { &frame.arguments, &frame.results })
        for (int64_t i = 0; i < list->count; i++) buffers.push_back(list->buffers[i]->data);
    const xla::Buffer &first = *frame.arguments.buffers[0];
    int64_t count = 1;
    for (int64_t i = 0; i < first.rank; i++) count *= first.dims[i];
    count /= system;

    int device = -1;
    void *stream = nullptr;
    if (on_gpu) {
        xla::StreamArguments of_stream = { { sizeof of_stream, nullptr },
                                           frame.execution,
                                           nullptr };
        xla::DeviceArguments of_device = { { sizeof of_device, nullptr }, frame.execution, 0 };
        if (frame.api->head.size < sizeof(xla::Api))
            throw std::runtime_error("this JAX does not name the device: update it");
        if (frame.api->stream(&of_stream) || frame.api->device(&of_device))
            throw std::runtime_error("XLA names no stream or device of this call");
        stream = of_stream.stream, device = of_device.device;
    }
    XlaPlans::Entry &entry =
        xla_plans->take(std::string(settings), count, device, reinterpret_cast<uint64_t>(stream));
    std::string message;
    const shoal_status status = entry.plan->context->attempt(message, [&] {
        if (entry.plan->destroy != call->destroy) return SHOAL_E_ARG;
        if (on_gpu) shoal_set_stream(entry.plan->context->handle, stream);
        return call->run(*entry.plan, buffers.data(), buffers.size(), (unsigned)fields);
    });
    xla_plans->give(entry);
    if (status == SHOAL_OK) return;
    nb::gil_scoped_acquire acquired;
    if (PyErr_Occurred()) nb::raise_python_error(); /* Ctrl-C */
    throw std::runtime_error(message.empty() ? shoal_status_text(status) : message);
}

/* The handler: answers which version of the interface it was made for, or runs a call. No exception leaves it. */
template <bool OnGpu> static xla::Error *xla_handler(xla::Frame *frame) {
    for (auto *e = frame->head.extensions; e; e = e->next)
        if (e->kind == 1) {
            xla::Version &version =
                reinterpret_cast<xla::MetadataExtension *>(e)->metadata->version;
            version.major = xla::MAJOR, version.minor = xla::MINOR;
            return nullptr;
        }
    std::string message;
    try {
        xla_serve(*frame, OnGpu);
        return nullptr;
    } catch (nb::python_error &e) {
        nb::gil_scoped_acquire acquired;
        message = std::string(PyExceptionClass_Name(e.type().ptr())) + ": " +
                  nb::cast<std::string>(nb::str(e.value()));
    } catch (const std::exception &e) { message = e.what(); }
    xla::ErrorArguments error = { { sizeof error, nullptr }, message.c_str(), xla::INTERNAL };
    return frame->api->create_error(&error);
}

/* ---- prices -------------------------------------------------------------------------------------- */

static constexpr auto price_destroy = destroy_plan<shoal_price, shoal_price_free>;

static std::unique_ptr<Plan> price_plan(nb::object py, const std::string &model,
                                        nb::dict parameters, nb::dict options, nb::list points) {
    Keep keep;
    auto make = [&](auto create) { return new_plan<shoal_price, shoal_price_free>(py, create); };
    const auto opts = filled<shoal_price_opts>(options, keep);
    if (model == "heston") {
        const auto m = filled(parameters, keep, shoal_heston_example());
        return make(
            [&](shoal_context *c, shoal_price **p) { return shoal_price_heston(c, &m, &opts, p); });
    }
    if (model == "expou") {
        const auto m = filled(parameters, keep, shoal_expou_example());
        return make(
            [&](shoal_context *c, shoal_price **p) { return shoal_price_expou(c, &m, &opts, p); });
    }
    const auto m = filled(parameters, keep, shoal_bullet_example());
    const auto at = filled_list<shoal_bullet_point>(points, keep);
    return make([&](shoal_context *c, shoal_price **p) {
        return shoal_price_bullet(c, &m, &opts, at.empty() ? nullptr : at.data(),
                                  at.empty() ? 1 : (int64_t)at.size(), p);
    });
}

static std::unique_ptr<Plan> american_plan(nb::object py, nb::list options, nb::dict settings) {
    Keep keep;
    const auto all = filled_list<shoal_american>(options, keep);
    const auto opts = filled<shoal_american_opts>(settings, keep);
    return new_plan<shoal_price, shoal_price_free>(py, [&](shoal_context *c, shoal_price **p) {
        return shoal_price_american(c, all.data(), (int64_t)all.size(), &opts, p);
    });
}

static nb::dict price_simulate(Plan &plan, nb::dict goal, Array values) {
    auto *handle = handle_of<shoal_price>(plan, price_destroy);
    Keep keep;
    const auto wanted = filled<shoal_price_goal>(goal, keep);
    shoal_price_progress done = {};
    plan.run([&] {
        return shoal_price_simulate(handle, &wanted, static_cast<shoal_price_value *>(values.data),
                                    &done);
    });
    return dict_of(done);
}

/* The values of `samples` samples from the sums of their blocks, as shoal_price_simulate() has them. */
static void price_values(Plan &plan, Array sums, int64_t samples, Array values) {
    auto *handle = handle_of<shoal_price>(plan, price_destroy);
    std::vector<double> total(2 * (size_t)shoal_price_width(handle));
    plan.run([&] {
        const shoal_status status =
            shoal_price_add(handle, static_cast<double *>(sums.data), samples, total.data());
        return status == SHOAL_OK
                   ? shoal_price_result(handle, total.data(), samples,
                                        static_cast<shoal_price_value *>(values.data))
                   : status;
    });
}

/* ---- one job in units ---------------------------------------------------------------------------- */

static constexpr auto units_destroy = destroy_plan<shoal_units, shoal_units_free>;

/* The units of a plan, which lives as long as they do. */
template <class Handle>
static void bind_units(nb::module_ &m, const char *name, void (*destroy)(void *),
                       shoal_status (*make)(Handle *, int64_t, const shoal_units_opts *,
                                            shoal_units **)) {
    m.def(name, [=](nb::object py, nb::object of, int64_t size, int64_t units, nb::bytes inputs) {
        auto *handle = handle_of<Handle>(nb::cast<Plan &>(of), destroy);
        shoal_units_opts opts = {};
        opts.units = units, opts.inputs = inputs.c_str(), opts.input_bytes = inputs.size();
        auto result = new_plan<shoal_units, shoal_units_free>(
            py, [&](shoal_context *, shoal_units **u) { return make(handle, size, &opts, u); });
        result->keeper = nb::make_tuple(py, of);
        return result;
    });
}

/* A job of Python: run(first, rows, address) writes rows, take(first, rows, address) receives them. */
struct PythonJob {
    nb::object run, take;

    template <class... A> static shoal_status call(const nb::object &function, A... arguments) {
        const Acquired acquired;
        try {
            function(arguments...);
            return SHOAL_OK;
        } catch (nb::python_error &e) {
            e.restore(); /* Context::run() raises it */
            return SHOAL_E_CANCELLED;
        }
    }
    static void close(void *job) {
        nb::gil_scoped_acquire acquired;
        delete static_cast<PythonJob *>(job);
    }
};

static std::unique_ptr<Plan> units_of_python(nb::object py, const std::string &kind, int64_t rows,
                                             int64_t row_bytes, int64_t units, nb::bytes inputs,
                                             nb::object run, nb::object take) {
    auto *own = new PythonJob{ run, take };
    shoal_units_job job = {};
    job.kind = kind.c_str(), job.rows = rows, job.row_bytes = (size_t)row_bytes;
    job.user = own, job.close = PythonJob::close;
    job.run = [](shoal_context *, void *user, int64_t first, int64_t count, void *to, int64_t *) {
        return PythonJob::call(static_cast<PythonJob *>(user)->run, first, count,
                               reinterpret_cast<uintptr_t>(to));
    };
    shoal_units_opts opts = {};
    opts.units = units, opts.inputs = inputs.c_str(), opts.input_bytes = inputs.size();
    opts.user = own;
    opts.take = [](shoal_context *, void *user, const shoal_unit *unit) {
        return PythonJob::call(static_cast<PythonJob *>(user)->take, unit->first, unit->rows,
                               reinterpret_cast<uintptr_t>(unit->result));
    };
    return new_plan<shoal_units, shoal_units_free>(py, [&](shoal_context *c, shoal_units **u) {
        return shoal_units_create(c, &job, &opts, u);
    });
}

static nb::bytes units_run(Plan &plan, int64_t unit) {
    auto *handle = handle_of<shoal_units>(plan, units_destroy);
    shoal_units_info info = {};
    size_t size = 0;
    std::vector<int64_t> bytes;
    plan.run([&] {
        const shoal_status status = shoal_units_describe(handle, &info);
        if (status != SHOAL_OK) return status;
        bytes.resize(info.bytes / sizeof(int64_t) + 1);
        return shoal_units_run(handle, unit, 0, bytes.data(), &size);
    });
    return nb::bytes(bytes.data(), size);
}

/* ---- the program --------------------------------------------------------------------------------- */

extern "C" int shoal_main(int argc, char **argv);

static int program(std::vector<std::string> words) {
    std::vector<char *> argv;
    for (std::string &word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    return shoal_main((int)words.size(), argv.data());
}

/* ---- the module ---------------------------------------------------------------------------------- */

template <class F> static nb::list listed(F name) {
    nb::list list;
    for (int i = 0; const char *word = name(i); i++) list.append(word);
    return list;
}

NB_MODULE(_core, m) {
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0)
        throw nb::import_error("shoal runs in the main interpreter of a process alone");
    nb::set_leak_warnings(false); /* of daemon threads that the exit ends */
    nb::class_<Context>(m, "Context")
        .def(nb::init<nb::dict>())
        .def("describe",
             [](Context &self) {
                 shoal_machine machine = {};
                 shoal_describe(self.handle, &machine);
                 return dict_of(machine);
             })
        .def_rw("progress", &Context::progress, nb::for_setter(nb::arg().none()))
        .def("wait", [](Context &self) { self.run([&] { return shoal_wait(self.handle); }); });
    nb::class_<Plan>(m, "Plan").def("close", &Plan::free);

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
    nb::class_<Calls>(m, "Calls")
        .def(nb::init<>())
        .def("again", &Calls::again)
        .def("keep", &Calls::keep)
        .def("forget", &Calls::forget);
    m.def("forget_calls", [] { calls_epoch++; });
    m.def("tridiag_in_place", tridiag_in_place, "plan"_a, "device"_a, "bands"_a, "rhs"_a,
          "values"_a, "out"_a.none());
    PLAN(tridiag), PLAN(smallsym), PLAN(recur), PLAN(sort), PLAN(merge), PLAN(symindef), PLAN(rng);
    CALL(tridiag, solve);
    CALL(smallsym, solve), CALL(smallsym, gram), CALL(smallsym, factor), CALL(smallsym, resolve),
        CALL(smallsym, eig);
    CALL(recur, solve);
    CALL_PLAIN(sort, run, run), CALL_PLAIN(merge, run, run);
    CALL_PLAIN(symindef, factor, factorf), CALL_PLAIN(symindef, solve, solvef);
    CALL_PLAIN(symindef, inverse, inversef), CALL_PLAIN(symindef, rcond, rcondf);
    CALL_PLAIN(symindef, order, order);
    CALL_PLAIN(rng, fill, fillf), CALL_PLAIN(rng, fillu, fillu);
    LAST(tridiag, tridiag), LAST(smallsym, smallsym), LAST(recur, recur), LAST(sort, sort),
        LAST(merge, merge);
    LAST(symindef, symindef), LAST(rng, rng);
    FAILED(tridiag), FAILED(smallsym), FAILED(recur), FAILED(rng);

    m.def("price", price_plan);
    m.def("american", american_plan);
    m.def("price_simulate", price_simulate);
    m.def("price_describe", [](Plan &plan) {
        shoal_price_info info = {};
        auto *handle = handle_of<shoal_price>(plan, price_destroy);
        plan.run([&] { return shoal_price_describe(handle, &info); });
        return dict_of(info);
    });
    m.def("american_fits", [](Plan &plan, int64_t count) {
        std::vector<shoal_american_fit> fits((size_t)count);
        auto *handle = handle_of<shoal_price>(plan, price_destroy);
        plan.run([&] { return shoal_american_fits(handle, fits.data()); });
        nb::list list;
        for (const auto &fit : fits) list.append(dict_of(fit));
        return list;
    });
    /* arrays of doubles, one number per option; call and status: int32 */
    m.def("vanilla", [](Context &context, nb::dict settings, int64_t count, Array s0, Array strike,
                        Array rate, Array sigma, Array maturity, Array dividend, Array call,
                        Array prices, nb::list results, Array status) {
        Keep keep;
        auto doubles = [](const Array &array) { return static_cast<double *>(array.data); };
        const auto opts = filled<shoal_vanilla_opts>(settings, keep);
        const shoal_vanilla options = { doubles(s0),
                                        doubles(strike),
                                        doubles(rate),
                                        doubles(sigma),
                                        doubles(maturity),
                                        doubles(dividend),
                                        static_cast<int32_t *>(call.data) };
        double *to[7] = {};
        for (size_t i = 0; i < results.size(); i++) to[i] = doubles(nb::cast<Array>(results[i]));
        const shoal_vanilla_values values = { to[0], to[1], to[2], to[3], to[4], to[5], to[6] };
        auto *const flags = static_cast<int32_t *>(status.data);
        context.run([&] {
            return prices.data ? shoal_vanilla_implied(context.handle, &options, count, &opts,
                                                       doubles(prices), to[0], flags)
                               : shoal_vanilla_value(context.handle, &options, count, &opts,
                                                     &values, flags);
        });
    });
    /* arrays of doubles, one number per option, puts int32; a gradient has the members of the model in their order */
    m.def("heston_prices", [](Context &context, nb::dict model, int64_t count, Array strike,
                              Array maturity, Array put, Array price, Array gradient) {
        Keep keep;
        const auto at = filled<shoal_heston>(model, keep);
        const shoal_heston_options options = { static_cast<double *>(strike.data),
                                               static_cast<double *>(maturity.data), nullptr,
                                               nullptr, static_cast<int32_t *>(put.data) };
        context.run([&] {
            return shoal_heston_prices(context.handle, &at, &options, count,
                                       static_cast<double *>(price.data),
                                       static_cast<shoal_heston *>(gradient.data));
        });
    });
    m.attr("heston_parameters") = names_of<shoal_heston>();
    /* The model, its standard errors, and the rest of a fit; start, low and high as dicts of the model. */
    m.def("heston_calibrate", [](Context &context, nb::dict model, int64_t count, Array strike,
                                 Array maturity, Array rate, Array dividend, Array put, Array price,
                                 Array weight, nb::dict settings, nb::list limits, Array fitted) {
        Keep keep;
        auto doubles = [](const Array &array) { return static_cast<double *>(array.data); };
        const auto at = filled<shoal_heston>(model, keep);
        const auto given = filled_list<shoal_heston>(limits, keep);
        auto opts = filled<shoal_fit_opts>(settings, keep);
        opts.start = &given.at(0), opts.low = &given.at(1), opts.high = &given.at(2);
        const shoal_heston_options quotes = { doubles(strike), doubles(maturity), doubles(rate),
                                              doubles(dividend), static_cast<int32_t *>(put.data) };
        shoal_heston_fit fit = {};
        context.run([&] {
            return shoal_heston_calibrate(context.handle, &at, &quotes, count, doubles(price),
                                          doubles(weight), &opts, &fit, doubles(fitted));
        });
        return nb::make_tuple(dict_of(fit.model), dict_of(fit.error), dict_of(fit));
    });
    m.attr("price_columns") = names_of<shoal_price_value>();

    m.def("price_values", price_values);

    static constexpr auto cva_destroy = destroy_plan<shoal_cva, shoal_cva_free>;
    m.def("cva", [](nb::object py, nb::dict market, nb::list contracts, nb::list counterparties,
                    nb::list agreements, nb::dict funding, nb::dict options) {
        Keep keep;
        auto assets = filled<shoal_cva_market>(market, keep);
        const auto cash = filled_list<shoal_cva_curve>(funding["cash"], keep); /* per asset */
        const auto book = filled_list<shoal_cva_contract>(contracts, keep);
        const auto others = filled_list<shoal_cva_counterparty>(counterparties, keep);
        const auto own = filled_list<shoal_cva_counterparty>(funding["own"], keep);
        const auto csa = filled_list<shoal_cva_csa>(agreements, keep);
        auto opts = filled<shoal_cva_opts>(options, keep);
        opts.csas = (int64_t)csa.size(), opts.csa = csa.data();
        opts.parties = (int64_t)others.size(), opts.own = own.empty() ? nullptr : own.data();
        assets.cash = cash.empty() ? nullptr : cash.data();
        opts.borrowing = filled<shoal_cva_curve>(funding["borrowing"], keep);
        opts.lending = filled<shoal_cva_curve>(funding["lending"], keep);
        return new_plan<shoal_cva, shoal_cva_free>(py, [&](shoal_context *c, shoal_cva **p) {
            return shoal_cva_create(c, &assets, book.data(), (int64_t)book.size(), others.data(),
                                    &opts, p);
        });
    });
    m.def("cva_describe", [](Plan &plan) {
        auto *handle = handle_of<shoal_cva>(plan, cva_destroy);
        shoal_cva_info info = {};
        plan.run([&] { return shoal_cva_describe(handle, &info); });
        return dict_of(info);
    });
    m.def("cva_width",
          [](Plan &plan) { return shoal_cva_width(handle_of<shoal_cva>(plan, cva_destroy)); });
    /* totals: for cva_trades(), cva_totals() whole numbers that are 0 at first; or 0 */
    m.def("cva_run", [](Plan &plan, int64_t first, int64_t paths, Array samples, Array totals) {
        auto *handle = handle_of<shoal_cva>(plan, cva_destroy);
        auto *const rows = static_cast<double *>(samples.data);
        auto *const sums = static_cast<int64_t *>(totals.data);
        shoal_cva_counts counts = {};
        plan.run([&] {
            return sums ? shoal_cva_run_trades(handle, first, paths, rows, &counts, sums, nullptr)
                        : shoal_cva_run(handle, first, paths, rows, &counts);
        });
        return dict_of(counts);
    });
    m.def("cva_totals",
          [](Plan &plan) { return shoal_cva_totals(handle_of<shoal_cva>(plan, cva_destroy)); });
    /* from: samples; with sums, those of shoal_cva_add_sums() */
    m.def("cva_adjust",
          [](Plan &plan, Array from, bool sums, int64_t paths, int part, int64_t index) {
              auto *handle = handle_of<shoal_cva>(plan, cva_destroy);
              const auto of = static_cast<shoal_cva_part>(part);
              shoal_cva_adjustments result = {};
              plan.run([&] {
                  return sums ? shoal_cva_adjust_of_sums(handle, static_cast<int64_t *>(from.data),
                                                         paths, of, index, &result, nullptr)
                              : shoal_cva_adjust(handle, static_cast<double *>(from.data), paths,
                                                 of, index, &result, nullptr);
              });
              return dict_of(result);
          });
    m.def("cva_trades", [](Plan &plan, Array totals, int64_t paths, int64_t count) {
        auto *handle = handle_of<shoal_cva>(plan, cva_destroy);
        std::vector<shoal_cva_trade> trades((size_t)count);
        plan.run([&] {
            return shoal_cva_trades(handle, static_cast<int64_t *>(totals.data), paths,
                                    trades.data(), nullptr);
        });
        nb::list list;
        for (const auto &trade : trades) list.append(dict_of(trade));
        return list;
    });
    m.def("cva_sensitivities", [](Plan &plan, Array samples, int64_t paths) {
        auto *handle = handle_of<shoal_cva>(plan, cva_destroy);
        std::vector<shoal_cva_sensitivity> found((size_t)shoal_cva_parameters(handle));
        plan.run([&] {
            return shoal_cva_sensitivities(handle, static_cast<double *>(samples.data), paths,
                                           found.data());
        });
        nb::list list;
        for (const auto &sensitivity : found) list.append(dict_of(sensitivity));
        return list;
    });
    m.def("cva_result", [](Plan &plan, Array from, bool sums, int64_t paths, int64_t dates) {
        auto *handle = handle_of<shoal_cva>(plan, cva_destroy);
        shoal_cva_value value = {};
        std::vector<shoal_cva_date> profile((size_t)dates);
        plan.run([&] {
            return sums ? shoal_cva_result_of_sums(handle, static_cast<int64_t *>(from.data), paths,
                                                   &value, profile.data())
                        : shoal_cva_result(handle, static_cast<double *>(from.data), paths, &value,
                                           profile.data());
        });
        nb::list list;
        for (const auto &date : profile) list.append(dict_of(date));
        return nb::make_tuple(dict_of(value), list);
    });
    m.def("cva_validate", [](Plan &plan, Array samples, int64_t paths, Array checks) {
        auto *handle = handle_of<shoal_cva>(plan, cva_destroy);
        shoal_cva_validation result = {};
        plan.run([&] {
            return shoal_cva_validate(handle, static_cast<double *>(samples.data), paths, &result,
                                      static_cast<shoal_cva_check *>(checks.data));
        });
        return dict_of(result);
    });
    m.attr("cva_check_columns") = names_of<shoal_cva_check>();
    m.attr("cva_dates") = SHOAL_CVA_DATES;
    m.attr("cva_credit") = std::vector<int>{ SHOAL_CVA_HAZARD, SHOAL_CVA_RECOVERY };

    static constexpr auto dataset_destroy = destroy_plan<shoal_dataset, shoal_dataset_free>;
    m.def("dataset", [](nb::object py, nb::dict options, nb::list ranges) {
        Keep keep;
        auto opts = filled<shoal_dataset_opts>(options, keep);
        shoal_dataset_ranges(&opts);
        for (size_t i = 0; i < ranges.size() && i < SHOAL_DATASET_COLUMNS; i++)
            opts.range[i] = filled(nb::cast<nb::dict>(ranges[i]), keep, opts.range[i]);
        return new_plan<shoal_dataset, shoal_dataset_free>(
            py,
            [&](shoal_context *c, shoal_dataset **p) { return shoal_dataset_create(c, &opts, p); });
    });
    m.def("dataset_columns",
          [](bool nu2) { return listed([=](int i) { return shoal_dataset_column(nu2, i); }); });
    m.def("dataset_design", [](Plan &plan, int64_t rows, Array design) {
        auto *handle = handle_of<shoal_dataset>(plan, dataset_destroy);
        plan.run([&] {
            return shoal_dataset_design(handle, 0, rows, static_cast<double *>(design.data));
        });
    });

    bind_units(m, "units_price", price_destroy, shoal_units_price);
    bind_units(m, "units_cva", cva_destroy, shoal_units_cva);
    bind_units(m, "units_dataset", dataset_destroy, shoal_units_dataset);
    m.attr("units_most") = SHOAL_UNITS_MOST;
    m.def("units_of_python", units_of_python, "context"_a, "kind"_a, "rows"_a, "row_bytes"_a,
          "units"_a, "inputs"_a, "run"_a.none(), "take"_a.none());
    m.def("units_run", units_run);
    m.def("units_describe", [](Plan &plan) {
        auto *handle = handle_of<shoal_units>(plan, units_destroy);
        shoal_units_info info = {};
        plan.run([&] { return shoal_units_describe(handle, &info); });
        return dict_of(info);
    });
    m.def("units_missing", [](Plan &plan, int64_t unit) {
        return shoal_units_missing(handle_of<shoal_units>(plan, units_destroy), unit);
    });
    m.def("units_add", [](Plan &plan, nb::bytes bytes) {
        auto *handle = handle_of<shoal_units>(plan, units_destroy);
        plan.run([&] { return shoal_units_add(handle, bytes.c_str(), bytes.size()); });
    });
    m.def("units_keep", [](Plan &plan, const std::string &folder) {
        auto *handle = handle_of<shoal_units>(plan, units_destroy);
        plan.run([&] { return shoal_units_keep(handle, folder.c_str()); });
    });
    /* workers: the same job on other devices, first that with the folder; returns why devices failed */
    m.def("units_work", [](nb::list workers) {
        std::vector<shoal_units *> handles;
        std::vector<Plan *> plans;
        for (nb::handle worker : workers) {
            plans.push_back(&nb::cast<Plan &>(worker));
            handles.push_back(handle_of<shoal_units>(*plans.back(), units_destroy));
        }
        int lost = 0;
        plans.at(0)->run(
            [&] { return shoal_units_work(handles.data(), (int)handles.size(), &lost); });
        nb::list why;
        for (size_t i = 0; lost > 0 && i < plans.size(); i++) {
            const std::string message = shoal_message(plans[i]->context->handle);
            if (!message.empty()) why.append(message);
        }
        return why;
    });
    m.def("units_rows", [](Plan &plan) { /* an address, 0 for none */
                                         return reinterpret_cast<uintptr_t>(shoal_units_rows(
                                             handle_of<shoal_units>(plan, units_destroy)));
    });
    m.def("units_cva_totals",
          [](Plan &plan) { /* an address */
                           return reinterpret_cast<uintptr_t>(
                               shoal_units_counts(handle_of<shoal_units>(plan, units_destroy)) +
                               SHOAL_UNITS_CVA_TOTALS);
          });
    m.def("units_cva_counts", [](Plan &plan) {
        auto *handle = handle_of<shoal_units>(plan, units_destroy);
        shoal_cva_counts counts = {};
        plan.run([&] { return shoal_units_cva_counts(handle, &counts); });
        return dict_of(counts);
    });

    static constexpr auto net_destroy = destroy_plan<shoal_surrogate, shoal_surrogate_free>;
    m.def("surrogate", [](nb::object py, nb::bytes file) {
        return new_plan<shoal_surrogate, shoal_surrogate_free>(
            py, [&](shoal_context *c, shoal_surrogate **net) {
                return shoal_surrogate_load(c, file.c_str(), file.size(), net);
            });
    });
    m.def("surrogate_describe", [](Plan &plan) {
        shoal_surrogate_info info = {};
        auto *handle = handle_of<shoal_surrogate>(plan, net_destroy);
        plan.run([&] { return shoal_surrogate_describe(handle, &info); });
        return dict_of(info);
    });
    auto no_outcome = (shoal_status(*)(shoal_surrogate *, const shoal_outcome *)) nullptr;
    bind_call<shoal_surrogate>(m, "surrogate_predict", net_destroy, no_outcome,
                               shoal_surrogate_predict, shoal_surrogate_predict);
    bind_call<shoal_surrogate>(m, "surrogate_outside", net_destroy, no_outcome,
                               shoal_surrogate_outside, shoal_surrogate_outside);

    m.def(
        "xla_start",
        [](nb::object make) {
            xla_plans->clear();
            xla_plans->make = make;
        },
        nb::arg().none());
    m.def("xla_clear", [] { xla_plans->clear(); });
    m.def("xla_forget", [] { /* in a forked child: the plans belong to threads that are gone */
                             auto *fresh = new XlaPlans;
                             fresh->make = xla_plans->make;
                             xla_plans = fresh;
    });
    m.def("xla_handler", [](bool on_gpu) {
        auto *handler = on_gpu ? xla_handler<true> : xla_handler<false>;
        return nb::capsule(reinterpret_cast<void *>(handler));
    });

    m.def("program", program);
    m.def("cva_payoffs", [] { return listed(shoal_cva_payoffs); });
    m.def("modules", [] { return listed(shoal_modules); });
    m.def("methods", [](const std::string &module) {
        return listed([&](int i) { return shoal_methods(module.c_str(), i); });
    });
    m.def("variants", [](const std::string &module, const std::string &method) {
        return listed([&](int i) { return shoal_variants(module.c_str(), method.c_str(), i); });
    });
    m.def("method_flags", [](const std::string &module, const std::string &method) {
        return shoal_method_flags(module.c_str(), method.c_str(), nullptr);
    });
    m.def("isa", [] { return listed(shoal_isa); });
    m.def("system_text", [](int32_t status) { return shoal_system_text(status); });
    m.def("version", [] { return shoal_version(); });
}
