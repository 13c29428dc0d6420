/* SPDX-License-Identifier: Apache-2.0
 *
 * registers.cuh - G lanes of a warp sort G * E keys that they hold in registers, E each, and the slab
 * in shared memory through which the keys come and go.
 *
 * Key p of the row is register p % E of lane p / E. Each lane sorts its own keys; then sorted runs
 * of L lanes become runs of 2 L by Batcher's bitonic merge. The first round lets key p of the first
 * run meet key p of the second counted from its end, the next ones halves of halves: of log2(2 L)
 * rounds only the lanes' distances L, L/2, .., 1 need shuffles, and what is left is a bitonic
 * sequence in each lane, which it sorts alone. So a row of 32 lanes has 15 rounds of shuffles, E
 * shuffles each, whatever E is. A bitonic sequence of even length splits into two of half the
 * length; E need not be a power of 2, and what is left of it, 3, 5 or 7, is sorted as if it were
 * not bitonic. Every exchange puts the lesser key at the lower place: greatest keys behind the end
 * of a row stay there.
 *
 * An item is a key, or a key with its place, which decides between equal keys: that is stable.
 *
 * The slab holds the keys of a block's rows without gaps, as in global memory, so that copies do not
 * depend on rows: neighbouring threads copy neighbouring keys, 16 bytes per thread if arrays and lengths
 * allow it, directly into shared memory. Thread t then takes E keys from about key t E of a row. These
 * begin at multiples of a bank's cycle if E or the row is a multiple of 32 words. So after every 128
 * bytes 16 are left out, or one word if keys go one by one, and the threads of a quarter of a warp (16
 * bytes each), or of a warp, access different banks.
 */
#ifndef SHOAL_SORT_REGISTERS_CUH
#define SHOAL_SORT_REGISTERS_CUH

#include <type_traits>
#include "core/launch.cuh"
#include "sort/order.h"

namespace {

/* Of the lane that differs from this one in the bits of `lanes`. */
template <class T> __device__ inline T shuffled(T value, int lanes) {
    return __shfl_xor_sync(0xffffffffu, value, lanes);
}

struct plain_item {
    typedef plain_item item;
    word key;
    __device__ static item of(word key, int) { return { key }; }
    __device__ word its_key() const { return key; }
    __device__ int its_place() const { return 0; }
    __device__ item from(int lanes) const { return { shuffled(key, lanes) }; }
    __device__ static item lesser(item u, item v) { return { min(u.key, v.key) }; }
    __device__ static item greater(item u, item v) { return { max(u.key, v.key) }; }
};

#ifdef SHOAL_SINGLE
struct tagged_item { /* both in one number */
    typedef tagged_item item;
    long long both;
    __device__ static item of(word key, int place) {
        return { (long long)((unsigned long long)(unsigned)key << 32 | (unsigned)place) };
    }
    __device__ word its_key() const { return (word)(both >> 32); }
    __device__ int its_place() const { return (int)both; }
    __device__ item from(int lanes) const { return { shuffled(both, lanes) }; }
    __device__ static item lesser(item u, item v) { return { min(u.both, v.both) }; }
    __device__ static item greater(item u, item v) { return { max(u.both, v.both) }; }
};
#else
struct tagged_item {
    typedef tagged_item item;
    word key;
    int place;
    __device__ static item of(word key, int place) { return { key, place }; }
    __device__ word its_key() const { return key; }
    __device__ int its_place() const { return place; }
    __device__ item from(int lanes) const {
        return { shuffled(key, lanes), shuffled(place, lanes) };
    }
    __device__ static bool ordered(item u, item v) {
        return u.key < v.key || (u.key == v.key && u.place < v.place);
    }
    __device__ static item lesser(item u, item v) { return ordered(u, v) ? u : v; }
    __device__ static item greater(item u, item v) { return ordered(u, v) ? v : u; }
};
#endif

template <class item> __device__ inline void exchange(item &low, item &high) {
    const item u = low, v = high;
    low = item::lesser(u, v), high = item::greater(u, v);
}

/* N registers from x on, N odd: networks of 3, 9 and 16 exchanges. */
template <int N, class item> __device__ inline void sort_odd(item *x) {
    static_assert(N == 1 || N == 3 || N == 5 || N == 7, "classes are such that these are left");
    if constexpr (N == 3) {
        exchange(x[0], x[2]), exchange(x[0], x[1]), exchange(x[1], x[2]);
    } else if constexpr (N == 5) {
        exchange(x[0], x[3]), exchange(x[1], x[4]);
        exchange(x[0], x[2]), exchange(x[1], x[3]);
        exchange(x[0], x[1]), exchange(x[2], x[4]);
        exchange(x[1], x[2]), exchange(x[3], x[4]);
        exchange(x[2], x[3]);
    } else if constexpr (N == 7) {
        exchange(x[0], x[6]), exchange(x[2], x[3]), exchange(x[4], x[5]);
        exchange(x[0], x[2]), exchange(x[1], x[4]), exchange(x[3], x[6]);
        exchange(x[0], x[1]), exchange(x[2], x[5]), exchange(x[3], x[4]);
        exchange(x[1], x[2]), exchange(x[4], x[6]);
        exchange(x[2], x[3]), exchange(x[4], x[5]);
        exchange(x[1], x[2]), exchange(x[3], x[4]), exchange(x[5], x[6]);
    }
}

/* Sorts a bitonic sequence. */
template <int N, class item> __device__ inline void sort_bitonic(item *x) {
    if constexpr (N % 2 != 0) {
        sort_odd<N>(x);
    } else {
#pragma unroll
        for (int i = 0; i < N / 2; i++) exchange(x[i], x[i + N / 2]);
        sort_bitonic<N / 2>(x);
        sort_bitonic<N / 2>(x + N / 2);
    }
}

template <int N, class item> __device__ inline void sort_own(item *x) {
    if constexpr (N % 2 != 0) {
        sort_odd<N>(x);
    } else {
        sort_own<N / 2>(x);
        sort_own<N / 2>(x + N / 2);
#pragma unroll
        for (int i = 0; i < N / 2; i++) exchange(x[i], x[N - 1 - i]);
        sort_bitonic<N / 2>(x);
        sort_bitonic<N / 2>(x + N / 2);
    }
}

/* One of the two, for a lane that has the lower or the upper place of an exchange. */
template <class item> __device__ inline item kept_of(bool lower, item own, item other) {
    return lower ? item::lesser(own, other) : item::greater(own, other);
}

/* Sorts a bitonic sequence of a group of lanes whose distances are h, h/2, .., 1. */
template <int E, class item>
__device__ inline void sort_bitonic_group(item (&x)[E], int lane, int h) {
    for (; h > 0; h /= 2) {
        const bool lower = (lane & h) == 0;
#pragma unroll
        for (int r = 0; r < E; r++) x[r] = kept_of(lower, x[r], x[r].from(h));
    }
    sort_bitonic<E>(x);
}

/* All groups of G lanes of the warp, each its row. */
template <int E, class item> __device__ inline void sort_group(item (&x)[E], int lane, int lanes) {
    sort_own<E>(x);
    for (int run = 1; run < lanes; run *= 2) {
        const bool first = (lane & run) == 0;
#pragma unroll
        for (int r = 0; r < (E + 1) / 2; r++) {
            const item u = x[E - 1 - r].from(2 * run - 1), v = x[r].from(2 * run - 1);
            x[r] = kept_of(first, x[r], u);
            if (E - 1 - r != r) x[E - 1 - r] = kept_of(first, x[E - 1 - r], v);
        }
        sort_bitonic_group<E>(x, lane, run / 2);
    }
}

/* Registers go by classes, 4, 8, 12, 16, .. 32, with tags 4, 8, 16, 24, 32: `launch` gets the least one that is
 * enough, as a constant. */
template <bool TAGGED, int N = 4, class launcher>
inline void by_class(int each, const launcher &launch) {
    constexpr int next = N == 4 ? 8 : N + (TAGGED ? 8 : 4);
    if constexpr (N < 32) {
        if (each > N) return by_class<TAGGED, next>(each, launch);
    }
    launch(std::integral_constant<int, N>());
}

/* ---- the slab ------------------------------------------------------------------------------- */

enum { CHUNK = 16 / sizeof(word), LINE = 128 / sizeof(word) };

struct alignas(16) chunk {
    word key[CHUNK];
};

/* Words for so many keys. */
SHOAL_HD constexpr int slab_words(int keys) { return keys + keys / LINE * CHUNK + CHUNK; }

inline bool on_16_bytes(const void *array) { return (uintptr_t)array % 16 == 0; }

struct slab {
    word *near;
    bool chunks; /* lengths, begins and arrays are multiples of 16 bytes */

    __device__ int slot(int i) const {
        return i + (int)((unsigned)i / LINE) * (chunks ? (int)CHUNK : 1);
    }
    __device__ chunk &chunk_at(int i) const { return *(chunk *)(near + slot(i)); }

    /* Starts copies to keys `begin` on; shoal_copy_async_wait_all() and a barrier make them visible. */
    __device__ void fetch(int begin, const word *from, int keys) const {
        const int step = chunks ? (int)CHUNK : 1;
        for (int i = threadIdx.x * step; i < keys; i += blockDim.x * step)
            if (chunks)
                shoal_copy_async(&chunk_at(begin + i), (const chunk *)(from + i));
            else
                shoal_copy_async(near + slot(begin + i), from + i);
    }

    __device__ void store(word *to, int keys) const {
        const int step = chunks ? (int)CHUNK : 1;
#pragma unroll 4
        for (int i = threadIdx.x * step; i < keys; i += blockDim.x * step)
            if (chunks)
                *(chunk *)(to + i) = chunk_at(i);
            else
                to[i] = near[slot(i)];
    }

    /* Keys at .. at + E - 1; only `length` exist, the others are the greatest. */
    template <int E> __device__ void take(int at, int length, word (&key)[E]) const {
        if constexpr (E % CHUNK == 0) {
            if (chunks) {
#pragma unroll
                for (int r = 0; r < E; r += CHUNK) {
                    chunk c = {};
                    if (r < length) c = chunk_at(at + r);
#pragma unroll
                    for (int j = 0; j < CHUNK; j++) key[r + j] = r < length ? c.key[j] : WORD_MAX;
                }
                return;
            }
        }
#pragma unroll
        for (int r = 0; r < E; r++) key[r] = r < length ? near[slot(at + r)] : WORD_MAX;
    }

    template <int E> __device__ void put(int at, int length, const word (&key)[E]) const {
        if constexpr (E % CHUNK == 0) {
            if (chunks) {
#pragma unroll
                for (int r = 0; r < E; r += CHUNK) {
                    chunk c;
#pragma unroll
                    for (int j = 0; j < CHUNK; j++) c.key[j] = key[r + j];
                    if (r < length) chunk_at(at + r) = c;
                }
                return;
            }
        }
#pragma unroll
        for (int r = 0; r < E; r++)
            if (r < length) near[slot(at + r)] = key[r];
    }
};

} // namespace

#endif
