/* SPDX-License-Identifier: Apache-2.0
 *
 * recent.cpp - calls like recent ones, which need no look in Python.
 */
#include "arrays.h"
#include "calls.h"

#include <deque>

static std::atomic<int64_t> calls_epoch; /* calls of earlier ones are forgotten */

/* A place for the outcomes of one call, in an array that several calls share, because new arrays take long. A place whose
 * result is gone serves the next call, unless the array was handed out: then its views may live on. */
struct Room {
    nb::object array;
    int32_t *at;
    size_t first;
    bool is_lent = false;
    nb::object numbers() { return is_lent = true, array; }
};

/* What a thread keeps of its calls. One whose arrays have the library, type, shapes, device and stream of a recent one,
 * and whose options are equal, needs no look in Python. */
struct Calls {
    enum { MOST_ARRAYS = 4, MANY = 64, MOST_ROOM = 1 << 14, ROOMS = 4 };
    struct Kept {
        const ArrayType *type;
        std::vector<View> views;
        nb::tuple options;
        nb::object owner; /* of the plan */
        Plan *plan;
        const BufferCall *call;
        unsigned fields;
        nb::object about;              /* what again() returns beside the answer */
        size_t numbers;                /* of the outcomes */
        std::vector<nb::object> rooms; /* of the last calls */
        size_t oldest = 0, next = 0,
               end = 0; /* of the rooms; the array's numbers that are unused */
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

    /* Answers a call of which keep() was told: (x, room of the outcomes, where they begin, about, number of failed systems or 0), x
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
    static nb::object new_room(const Kept &k, size_t calls) {
        Room room = { k.type->empty(calls * k.numbers, "int32", k.views[0].device), nullptr, 0 };
        room.at = static_cast<int32_t *>(address_in(*k.type, room.array));
        return nb::cast(std::move(room));
    }
    /* Room for outcomes. A CUDA graph writes there whenever it runs: its room is in its own memory. A call that waits is
     * not in a graph. */
    static nb::object find_room(Kept &k, bool waits) {
        const ArrayType &type = *k.type;
        if (k.views[0].device >= 0 && !waits &&
            (type.is_capturing.is_none() || nb::cast<bool>(type.is_capturing())))
            return new_room(k, 1);
        for (const nb::object &room : k.rooms)
            if (Py_REFCNT(room.ptr()) == 1 && !nb::cast<Room &>(room).is_lent) return room;
        nb::object room;
        if (k.next + k.numbers <= k.end && !k.rooms.empty()) {
            const Room &last =
                nb::cast<Room &>(k.rooms[(k.oldest + k.rooms.size() - 1) % k.rooms.size()]);
            room = nb::cast(Room{ last.array, last.at + k.numbers, last.first + k.numbers });
        } else {
            const size_t calls = k.numbers ? std::max<size_t>(MOST_ROOM / k.numbers, 1) : 1;
            room = new_room(k, calls);
            k.next = 0, k.end = calls * k.numbers;
        }
        k.next += k.numbers;
        if (k.rooms.size() < ROOMS)
            k.rooms.push_back(room);
        else
            k.rooms[k.oldest++ % ROOMS] = room;
        return room;
    }
    static nb::object answer(Kept &k, const View *views, nb::handle b, bool waits) {
        const size_t inputs = k.views.size();
        const nb::object x = k.type->like(b);
        const nb::object found = find_room(k, waits);
        const Room &room = nb::cast<Room &>(found);
        void *buffers[MOST_ARRAYS + 2];
        for (size_t i = 0; i < inputs; i++) buffers[i] = views[i].data;
        buffers[inputs] = address_in(*k.type, x), buffers[inputs + 1] = room.at;
        int64_t failed = 0;
        k.plan->run([&] {
            use_stream(*k.plan->context, views[0].stream);
            const shoal_status status = k.call->run(*k.plan, buffers, inputs + 2, k.fields);
            return status == SHOAL_OK && waits ? k.call->failed(*k.plan, &failed) : status;
        });
        return nb::make_tuple(x, found, room.first, k.about, failed);
    }
    void keep(nb::tuple values, nb::tuple options, const std::string &name, nb::object plan,
              unsigned fields, size_t numbers, nb::object about) {
        View views[MOST_ARRAYS];
        const ArrayType *const type =
            values.size() <= MOST_ARRAYS ? take_all(values, views) : nullptr;
        if (!type) return;
        if (kept.size() >= MANY && !busy) kept.pop_front();
        kept.push_back({ type,
                         std::vector<View>(views, views + values.size()),
                         options,
                         plan,
                         nb::cast<Plan *>(plan),
                         find_call(name),
                         fields,
                         about,
                         numbers,
                         {} });
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
    nb::class_<Room>(m, "Room").def("numbers", &Room::numbers);
    nb::class_<Calls>(m, "Calls")
        .def(nb::init<>())
        .def("again", &Calls::again)
        .def("keep", &Calls::keep)
        .def("forget", &Calls::forget);
    m.def("forget_calls", [] { calls_epoch++; });
}
