/* SPDX-License-Identifier: Apache-2.0
 *
 * xla.cpp - calls from XLA, the compiler of JAX.
 *
 * XLA calls one handler per kind of device, without Python. A call has buffers and five attributes: "call", the name of a
 * BufferCall; "settings", of which Python makes a plan; "system", the numbers per system in the first buffer, which tell
 * how many systems there are; "fields", of the outcomes in the last buffer; "waits", 1 for a call that waits and counts
 * the systems that fail, so that Python need not copy the outcomes from a GPU.
 */
#include "calls.h"
#include "xla.h"

#include <map>
#include <stdexcept>

static thread_local int64_t failed_systems =
    -1; /* of the last call of this thread that waited; -1: none */

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
    int64_t system = 1, fields = 0, waits = 0;
    for (int64_t i = 0; i < frame.attributes.count; i++) {
        const xla::Span &span = *frame.attributes.names[i];
        const std::string_view name(span.data, span.size);
        void *value = frame.attributes.values[i];
        if (name == "call" || name == "settings") {
            const auto &text = *static_cast<xla::Span *>(value);
            (name == "call" ? word : settings) = { text.data, text.size };
        } else if (name == "system" || name == "fields" || name == "waits") {
            (name == "system"   ? system
             : name == "fields" ? fields
                                : waits) =
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
        int64_t failed = 0;
        shoal_status done =
            call->run(*entry.plan, buffers.data(), buffers.size(), (unsigned)fields);
        if (done == SHOAL_OK && waits) done = call->failed(*entry.plan, &failed);
        if (waits) failed_systems = failed + (failed_systems > 0 ? failed_systems : 0);
        return done;
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

void bind_xla(nb::module_ &m) {
    m.def(
        "xla_start",
        [](nb::object make) {
            xla_plans->clear();
            xla_plans->make = make;
        },
        nb::arg().none());
    m.def("xla_failed", [] { return std::exchange(failed_systems, -1); });
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
}
