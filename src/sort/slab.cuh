/* SPDX-License-Identifier: Apache-2.0
 *
 * slab.cuh - the keys of a block's rows in shared memory, between global memory and the registers.
 *
 * Row after row, without gaps, as they lie in global memory, so that copies do not know of rows:
 * neighbouring threads copy neighbouring keys, 16 bytes a thread where arrays and lengths allow it,
 * straight into shared memory. Thread t then takes the E keys from key t E or so of a row. These begin
 * at multiples of a bank's cycle where E or the row is a multiple of 32 words; so after every 128
 * bytes 16 are left out, or one word where keys go one by one, and the threads of a quarter of a warp
 * (16 bytes each), or of a warp, look into different banks.
 */
#ifndef SHOAL_SORT_SLAB_CUH
#define SHOAL_SORT_SLAB_CUH

#include "core/launch.cuh"
#include "sort/order.h"

namespace {

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

    /* Keys `begin` on of the slab are asked for; shoal_copy_async_wait_all() and a barrier before they are
     * looked at. */
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

    /* Keys at .. at + E - 1, of which there are `length`; the others are the greatest. */
    template <int E> __device__ void take(int at, int length, word (&key)[E]) const {
        if constexpr (E % CHUNK == 0) {
            if (chunks) {
#pragma unroll
                for (int r = 0; r < E; r += CHUNK) {
                    chunk c = {};
                    if (r < length) c = chunk_at(at + r);
#pragma unroll
                    for (int j = 0; j < CHUNK; j++) key[r + j] = r < length ? c.key[j] : WORD_MOST;
                }
                return;
            }
        }
#pragma unroll
        for (int r = 0; r < E; r++) key[r] = r < length ? near[slot(at + r)] : WORD_MOST;
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
