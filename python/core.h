/* SPDX-License-Identifier: Apache-2.0
 *
 * core.h - what the files of shoal._core share: each defines what its subject adds to the module.
 */
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>
#include <shoal/shoal.h>

#include <string>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;

void bind_arrays(nb::module_ &m);
void bind_plans(nb::module_ &m);
void bind_calls(nb::module_ &m);
void bind_recent(nb::module_ &m);
void bind_xla(nb::module_ &m);
void bind_prices(nb::module_ &m);
void bind_cva(nb::module_ &m);
void bind_units(nb::module_ &m);

/* name(0), name(1), ... up to NULL */
template <class F> nb::list listed(F name) {
    nb::list list;
    for (int i = 0; const char *word = name(i); i++) list.append(word);
    return list;
}
