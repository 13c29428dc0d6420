/* SPDX-License-Identifier: Apache-2.0
 *
 * plans.cpp - contexts and plans, and the functions that create plans: a new module is one PLAN.
 */
#include "plans.h"

[[noreturn]] void raise(shoal_status status, const std::string &message) {
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

extern "C" {
__attribute__((weak)) int Py_IsFinalizing(void);  /* from 3.13 on */
__attribute__((weak)) int _Py_IsFinalizing(void); /* before       */
}
bool is_finalizing() {
    auto *const asked = Py_IsFinalizing ? Py_IsFinalizing : _Py_IsFinalizing;
    return asked && asked();
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

Context::Context(nb::dict options) {
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

void Plan::free() {
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

/* ---- plans by their options ------------------------------------------------------------------------- */

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

void bind_plans(nb::module_ &m) {
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
    PLAN(tridiag), PLAN(band), PLAN(smallsym), PLAN(recur), PLAN(sort), PLAN(merge), PLAN(symindef), PLAN(rng);
}
