/* SPDX-License-Identifier: Apache-2.0
 *
 * core.cpp - shoal._core: the C functions of include/shoal as Python sees them, without arithmetic. Its subjects are
 * the files that define the bind_...() of core.h.
 */
#include "core.h"

extern "C" int shoal_main(int argc, char **argv);

static int program(std::vector<std::string> words) {
    std::vector<char *> argv;
    for (std::string &word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    return shoal_main((int)words.size(), argv.data());
}

NB_MODULE(_core, m) {
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0)
        throw nb::import_error("shoal runs in the main interpreter of a process alone");
    nb::set_leak_warnings(false); /* of daemon threads that the exit ends */
    bind_arrays(m), bind_plans(m), bind_calls(m), bind_recent(m), bind_xla(m);
    bind_prices(m), bind_cva(m), bind_units(m);
    m.def("program", program);
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
