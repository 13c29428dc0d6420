/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_std.cpp - std::sort and std::merge of the C++ library, row by row, compiled with -O2. The
 * keys of the bench have no NaN among them, so that < is an order.
 */
#include "bench/peers_foreign.h"

#include <algorithm>
#include <functional>

namespace {

template <class T>
void sort_rows(void *keys, int64_t n, int64_t first, int64_t end, int descending) {
    T *from = static_cast<T *>(keys);
    for (int64_t k = first; k < end; k++)
        if (descending)
            std::sort(from + k * n, from + (k + 1) * n, std::greater<T>());
        else
            std::sort(from + k * n, from + (k + 1) * n);
}

template <class T>
void merge_rows(const void *a_keys, int64_t na, const void *b_keys, int64_t nb, void *out,
                int64_t first, int64_t end, int descending) {
    const T *a = static_cast<const T *>(a_keys), *b = static_cast<const T *>(b_keys);
    T *to = static_cast<T *>(out);
    for (int64_t k = first; k < end; k++) {
        const T *u = a + k * na, *v = b + k * nb;
        if (descending)
            std::merge(u, u + na, v, v + nb, to + k * (na + nb), std::greater<T>());
        else
            std::merge(u, u + na, v, v + nb, to + k * (na + nb));
    }
}

} // namespace

/* A function of the type of the keys. */
#define BY_KEY(key, function, ...)                                                                 \
    switch (key) {                                                                                 \
    case SHOAL_KEY_U32: return function<uint32_t>(__VA_ARGS__);                                    \
    case SHOAL_KEY_I32: return function<int32_t>(__VA_ARGS__);                                     \
    case SHOAL_KEY_U64: return function<uint64_t>(__VA_ARGS__);                                    \
    case SHOAL_KEY_I64: return function<int64_t>(__VA_ARGS__);                                     \
    case SHOAL_KEY_F32: return function<float>(__VA_ARGS__);                                       \
    case SHOAL_KEY_F64: return function<double>(__VA_ARGS__);                                      \
    }

extern "C" void bench_std_sort(shoal_key key, void *keys, int64_t n, int64_t first, int64_t end,
                               int descending) {
    BY_KEY(key, sort_rows, keys, n, first, end, descending)
}

extern "C" void bench_std_merge(shoal_key key, const void *a, int64_t na, const void *b, int64_t nb,
                                void *out, int64_t first, int64_t end, int descending) {
    BY_KEY(key, merge_rows, a, na, b, nb, out, first, end, descending)
}
