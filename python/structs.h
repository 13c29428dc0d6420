/* SPDX-License-Identifier: Apache-2.0
 *
 * structs.h - C structs as dicts of Python: rows<T>() are the members by name.
 */
#pragma once

#include "core.h"

#include <deque>

/* What the pointers of a struct point to, as long as C needs it. */
struct Keep {
    std::deque<std::string> words;
    std::deque<std::vector<double>> numbers;
    std::deque<std::vector<int64_t>> integers;
};

struct Row {
    const char *name;
    void (*set)(void *, nb::handle, Keep &);
    nb::object (*get)(const void *);
    std::string (*wanted)();
};
/* structs.cpp has one of each struct. A changed option is one FIELD there. */
template <class T> const std::vector<Row> &rows();

/* A struct from a dict; TypeError for a name or value that it cannot have. And the other way. */
void fill(const std::vector<Row> &rows, nb::dict values, Keep &keep, void *to);
nb::dict dict_from(const std::vector<Row> &rows, const void *from);

template <class T> T filled(nb::dict values, Keep &keep, T result = {}) {
    fill(rows<T>(), values, keep, &result);
    return result;
}
template <class T> std::vector<T> filled_list(nb::list list, Keep &keep) {
    std::vector<T> result;
    for (nb::handle entry : list) result.push_back(filled<T>(nb::cast<nb::dict>(entry), keep));
    return result;
}
template <class T> nb::dict dict_of(const T &value) { return dict_from(rows<T>(), &value); }
template <class T> nb::list list_of(const std::vector<T> &values) {
    nb::list list;
    for (const T &value : values) list.append(dict_of(value));
    return list;
}
template <class T> nb::list names_of() {
    nb::list list;
    for (const Row &row : rows<T>()) list.append(row.name);
    return list;
}
