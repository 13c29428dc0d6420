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

extern "C" void bench_std_sort(shoal_key key, void *keys, int64_t n, int64_t first, int64_t end,
                               int descending) {
    switch (key) {
    case SHOAL_KEY_U32: return sort_rows<uint32_t>(keys, n, first, end, descending);
    case SHOAL_KEY_I32: return sort_rows<int32_t>(keys, n, first, end, descending);
    case SHOAL_KEY_U64: return sort_rows<uint64_t>(keys, n, first, end, descending);
    case SHOAL_KEY_I64: return sort_rows<int64_t>(keys, n, first, end, descending);
    case SHOAL_KEY_F32: return sort_rows<float>(keys, n, first, end, descending);
    case SHOAL_KEY_F64: return sort_rows<double>(keys, n, first, end, descending);
    }
}

extern "C" void bench_std_merge(shoal_key key, const void *a, int64_t na, const void *b, int64_t nb,
                                void *out, int64_t first, int64_t end, int descending) {
    switch (key) {
    case SHOAL_KEY_U32: return merge_rows<uint32_t>(a, na, b, nb, out, first, end, descending);
    case SHOAL_KEY_I32: return merge_rows<int32_t>(a, na, b, nb, out, first, end, descending);
    case SHOAL_KEY_U64: return merge_rows<uint64_t>(a, na, b, nb, out, first, end, descending);
    case SHOAL_KEY_I64: return merge_rows<int64_t>(a, na, b, nb, out, first, end, descending);
    case SHOAL_KEY_F32: return merge_rows<float>(a, na, b, nb, out, first, end, descending);
    case SHOAL_KEY_F64: return merge_rows<double>(a, na, b, nb, out, first, end, descending);
    }
}
