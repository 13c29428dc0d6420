/* SPDX-License-Identifier: Apache-2.0
 *
 * units.cpp - data sets, their surrogates, and one job in units.
 */
#include "arrays.h"
#include "plans.h"

static constexpr auto units_destroy = destroy_plan<shoal_units, shoal_units_free>;

/* The units of a plan, which lives as long as they do. */
template <auto Destroy, class Handle>
static void bind_units_of(nb::module_ &m, const char *name,
                          shoal_status (*make)(Handle *, int64_t, const shoal_units_opts *,
                                               shoal_units **)) {
    m.def(name, [=](nb::object py, nb::object of, int64_t size, int64_t units, nb::bytes inputs) {
        auto *handle = handle_of<Handle>(nb::cast<Plan &>(of), destroy_plan<Handle, Destroy>);
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

void bind_units(nb::module_ &m) {
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
          [](int nu2) { return listed([=](int i) { return shoal_dataset_column(nu2, i); }); });
    m.def("dataset_design", [](Plan &plan, int64_t rows, Array design) {
        auto *handle = handle_of<shoal_dataset>(plan, dataset_destroy);
        plan.run([&] {
            return shoal_dataset_design(handle, 0, rows, static_cast<double *>(design.data));
        });
    });

    bind_units_of<shoal_price_free>(m, "units_price", shoal_units_price);
    bind_units_of<shoal_cva_free>(m, "units_cva", shoal_units_cva);
    bind_units_of<shoal_dataset_free>(m, "units_dataset", shoal_units_dataset);
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
    /* workers: the same job on other devices, first that with the folder; returns which
     * devices failed, and why */
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
            if (!message.empty()) why.append(nb::make_tuple(i, message));
        }
        return why;
    });
    m.def("units_traces",
          [](Plan &plan) { /* of the last units_work(): worker, begin, end */
                           auto *handle = handle_of<shoal_units>(plan, units_destroy);
                           shoal_units_info info = {};
                           plan.run([&] { return shoal_units_describe(handle, &info); });
                           const shoal_units_trace *trace = shoal_units_traces(handle);
                           nb::list all;
                           for (int64_t i = 0; trace && i < info.units; i++)
                               all.append(
                                   nb::make_tuple(trace[i].worker, trace[i].begin, trace[i].end));
                           return all;
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
}
