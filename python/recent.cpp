/* SPDX-License-Identifier: Apache-2.0
 *
 * recent.cpp - calls like recent ones, which need no look in Python.
 */
#include "arrays.h"
#include "calls.h"

#include <deque>

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
        const bool is_read = !waits || failed > 0; /* else the same place does for the next call */
        if (!is_read && room.is(k.room) && k.next == first + k.numbers) k.next = first;
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

void bind_recent(nb::module_ &m) {
    nb::class_<Calls>(m, "Calls")
        .def(nb::init<>())
        .def("again", &Calls::again)
        .def("keep", &Calls::keep)
        .def("forget", &Calls::forget);
    m.def("forget_calls", [] { calls_epoch++; });
}
