/* SPDX-License-Identifier: Apache-2.0
 *
 * plans.h - contexts, plans and their errors; C works without the GIL.
 */
#pragma once

#include "structs.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

#include <cxxabi.h>
#include <unistd.h>

/* The exception of a status. */
[[noreturn]] void raise(shoal_status status, const std::string &message);

/* Before 3.14 CPython ends a daemon thread that asks for the GIL after the main thread has ended, and unwinds its stack
 * through functions that must not throw, which aborts the process. Such a thread waits here for the end, as in 3.14. */
template <class F> auto hang_at_exit(F take) {
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

bool is_finalizing();

struct Context {
    shoal_context *handle = nullptr;
    std::recursive_mutex
        lock; /* a context belongs to one thread at a time; its callbacks may free plans */
    nb::object progress; /* called with a stage and a fraction, or None */
    uint64_t stream = 0; /* of the last call, as Python passes it          */

    explicit Context(nb::dict options);
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

inline constexpr char CLOSED[] = "the plan was closed: make a new one";

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
    void free();
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
template <class Handle, void (*Destroy)(Handle *)> void destroy_plan(void *handle) {
    Destroy(static_cast<Handle *>(handle));
}
template <class Handle, void (*Destroy)(Handle *), class Create>
std::unique_ptr<Plan> new_plan(nb::object keeper, Create create) {
    auto plan = std::make_unique<Plan>();
    plan->context = nb::cast<Context *>(keeper);
    plan->keeper = keeper;
    plan->destroy = destroy_plan<Handle, Destroy>;
    Handle *handle = nullptr;
    plan->context->run([&] { return create(plan->context->handle, &handle); });
    plan->handle = handle;
    return plan;
}
template <class Handle> Handle *handle_of(const Plan &plan, void (*destroy)(void *)) {
    void *const handle = plan.handle;
    if (!handle) raise(SHOAL_E_ARG, CLOSED);
    if (plan.destroy != destroy) throw nb::type_error("a plan of another kind");
    return static_cast<Handle *>(handle);
}

/* Before a call, with the context's lock. */
inline void use_stream(Context &context, uint64_t stream) {
    if (!stream || stream == context.stream) return;
    shoal_set_stream(context.handle, reinterpret_cast<void *>(stream - 1));
    context.stream = stream;
}
