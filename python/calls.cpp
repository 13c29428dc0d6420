/* SPDX-License-Identifier: Apache-2.0
 *
 * calls.cpp - the functions of C that touch arrays, with their types read off the C declarations: a new function is one
 * line of bind_calls(), and one of BUFFER_CALLS if JAX or calls like recent ones need it. Shapes, types and devices are
 * checked in Python before an array arrives here.
 */
#include "arrays.h"
#include "calls.h"

#include <type_traits>

shoal_outcome outcome_of(void *block, int64_t count, unsigned fields) {
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

const BufferCall *find_call(std::string_view name) {
    for (const BufferCall &row : BUFFER_CALLS)
        if (name == row.name) return &row;
    return nullptr;
}

void bind_calls(nb::module_ &m) {
    m.def("tridiag_in_place", tridiag_in_place, "plan"_a, "device"_a, "bands"_a, "rhs"_a,
          "values"_a, "out"_a.none());
    CALL(tridiag, solve);
    CALL(band, solve);
    CALL(smallsym, solve), CALL(smallsym, gram), CALL(smallsym, factor), CALL(smallsym, resolve),
        CALL(smallsym, eig);
    CALL(recur, solve);
    CALL_PLAIN(sort, run, run), CALL_PLAIN(merge, run, run);
    CALL_PLAIN(symindef, factor, factorf), CALL_PLAIN(symindef, solve, solvef);
    CALL_PLAIN(symindef, inverse, inversef), CALL_PLAIN(symindef, rcond, rcondf);
    CALL_PLAIN(symindef, order, order), CALL_PLAIN(symindef, eig, eigf);
    CALL_PLAIN(rng, fill, fillf), CALL_PLAIN(rng, fillu, fillu);
    LAST(tridiag, tridiag), LAST(band, band), LAST(smallsym, smallsym), LAST(recur, recur), LAST(sort, sort),
        LAST(merge, merge);
    LAST(symindef, symindef), LAST(rng, rng);
    FAILED(tridiag), FAILED(band), FAILED(smallsym), FAILED(recur), FAILED(rng);
    CALL_PLAIN(surrogate, predict, predict), CALL_PLAIN(surrogate, outside, outside);
}
