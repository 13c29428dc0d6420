/* SPDX-License-Identifier: Apache-2.0
 *
 * simt_warp.h - where a thread is, barriers, and the operations of a warp.
 *
 * A warp operation is a meeting of the lanes named by its mask: each brings 64 bits and a result
 * is worked out when all are there (barrier.cpp, warp.cpp). Lanes that do not exist (the last warp
 * of an odd block) or have finished are not waited for. The templates here only turn types into 64
 * bits and back, and lane arithmetic into a source lane.
 */
#ifndef SHOAL_SIMT_WARP_H
#define SHOAL_SIMT_WARP_H

#include "simt_types.h"

namespace simt {

uint3 thread_index();
uint3 block_index();
dim3 block_dim();
dim3 grid_dim();
unsigned lane();
unsigned block_rank_of_thread(); /* threadIdx, linearised */

enum class Vote { none, any, all, count };
int block_barrier(Vote vote, bool predicate, Where where);
void grid_barrier(Where where);
bool grid_is_cooperative();
void warp_barrier(unsigned mask, Where where);
void spin_yield();

enum class Reduction { add, minimum, maximum, minimum_signed, maximum_signed, and_, or_, xor_ };
uint64_t warp_shuffle(unsigned mask, uint64_t bits, unsigned source, Where where);
unsigned warp_ballot(unsigned mask, bool predicate, Where where);
unsigned warp_match(unsigned mask, uint64_t bits, Where where);
uint32_t warp_reduce(unsigned mask, uint32_t bits, Reduction reduction, Where where);
unsigned warp_members(unsigned mask); /* the lanes of mask that exist and have not finished */

/* What the lane reads from, by the rules of the four shuffles; `width` splits the warp. */
enum class Shuffle { index, up, down, exclusive_or };
unsigned shuffle_source(Shuffle shuffle, int operand, int width, Where where);

template <class T> inline uint64_t to_bits(T value) {
    static_assert(std::is_arithmetic<T>::value && (sizeof(T) == 4 || sizeof(T) == 8),
                  "simt: warp operations take 4-byte and 8-byte numbers");
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    return bits;
}

template <class T> inline T from_bits(uint64_t bits) {
    T value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

template <class T>
inline T shuffle(Shuffle kind, unsigned mask, T value, int operand, int width, Where where) {
    unsigned source = shuffle_source(kind, operand, width, where);
    return from_bits<T>(warp_shuffle(mask, to_bits(value), source, where));
}

} // namespace simt

#define threadIdx (simt::thread_index())
#define blockIdx  (simt::block_index())
#define blockDim  (simt::block_dim())
#define gridDim   (simt::grid_dim())
constexpr int warpSize = 32;

/* Barriers */

static inline void __syncthreads(simt::Where where = simt::here()) {
    simt::block_barrier(simt::Vote::none, false, where);
}
static inline int __syncthreads_or(int predicate, simt::Where where = simt::here()) {
    return simt::block_barrier(simt::Vote::any, predicate != 0, where);
}
static inline int __syncthreads_and(int predicate, simt::Where where = simt::here()) {
    return simt::block_barrier(simt::Vote::all, predicate != 0, where);
}
static inline int __syncthreads_count(int predicate, simt::Where where = simt::here()) {
    return simt::block_barrier(simt::Vote::count, predicate != 0, where);
}
static inline void __syncwarp(unsigned mask = 0xffffffffu, simt::Where where = simt::here()) {
    simt::warp_barrier(mask, where);
}

/* Shuffles */

template <class T>
inline T __shfl_sync(unsigned mask, T value, int source, int width = warpSize,
                     simt::Where where = simt::here()) {
    return simt::shuffle(simt::Shuffle::index, mask, value, source, width, where);
}
template <class T>
inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = warpSize,
                        simt::Where where = simt::here()) {
    return simt::shuffle(simt::Shuffle::up, mask, value, (int)delta, width, where);
}
template <class T>
inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = warpSize,
                          simt::Where where = simt::here()) {
    return simt::shuffle(simt::Shuffle::down, mask, value, (int)delta, width, where);
}
template <class T>
inline T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = warpSize,
                         simt::Where where = simt::here()) {
    return simt::shuffle(simt::Shuffle::exclusive_or, mask, value, lane_mask, width, where);
}

/* Votes. The active mask is the calling lane alone: CUDA promises no more than that, and it is the
 * only answer that stays right whichever lanes run together. */

static inline unsigned __activemask() { return 1u << simt::lane(); }
static inline unsigned __ballot_sync(unsigned mask, int predicate,
                                     simt::Where where = simt::here()) {
    return simt::warp_ballot(mask, predicate != 0, where);
}
static inline int __any_sync(unsigned mask, int predicate, simt::Where where = simt::here()) {
    return simt::warp_ballot(mask, predicate != 0, where) != 0;
}
static inline int __all_sync(unsigned mask, int predicate, simt::Where where = simt::here()) {
    return simt::warp_ballot(mask, predicate == 0, where) == 0;
}
template <class T>
inline unsigned __match_any_sync(unsigned mask, T value, simt::Where where = simt::here()) {
    return simt::warp_match(mask, simt::to_bits(value), where);
}
template <class T>
inline unsigned __match_all_sync(unsigned mask, T value, int *same,
                                 simt::Where where = simt::here()) {
    unsigned equal = simt::warp_match(mask, simt::to_bits(value), where);
    *same = equal == simt::warp_members(mask);
    return *same ? mask : 0;
}

/* Reductions over the lanes of a mask: 32-bit integers, as on the device */

static inline unsigned __reduce_add_sync(unsigned mask, unsigned value,
                                         simt::Where where = simt::here()) {
    return (unsigned)simt::warp_reduce(mask, (uint32_t)value, simt::Reduction::add, where);
}
static inline int __reduce_add_sync(unsigned mask, int value, simt::Where where = simt::here()) {
    return (int)simt::warp_reduce(mask, (uint32_t)value, simt::Reduction::add, where);
}
static inline unsigned __reduce_min_sync(unsigned mask, unsigned value,
                                         simt::Where where = simt::here()) {
    return (unsigned)simt::warp_reduce(mask, (uint32_t)value, simt::Reduction::minimum, where);
}
static inline int __reduce_min_sync(unsigned mask, int value, simt::Where where = simt::here()) {
    return (int)simt::warp_reduce(mask, (uint32_t)value, simt::Reduction::minimum_signed, where);
}
static inline unsigned __reduce_max_sync(unsigned mask, unsigned value,
                                         simt::Where where = simt::here()) {
    return (unsigned)simt::warp_reduce(mask, (uint32_t)value, simt::Reduction::maximum, where);
}
static inline int __reduce_max_sync(unsigned mask, int value, simt::Where where = simt::here()) {
    return (int)simt::warp_reduce(mask, (uint32_t)value, simt::Reduction::maximum_signed, where);
}
static inline unsigned __reduce_and_sync(unsigned mask, unsigned value,
                                         simt::Where where = simt::here()) {
    return (unsigned)simt::warp_reduce(mask, (uint32_t)value, simt::Reduction::and_, where);
}
static inline unsigned __reduce_or_sync(unsigned mask, unsigned value,
                                        simt::Where where = simt::here()) {
    return (unsigned)simt::warp_reduce(mask, (uint32_t)value, simt::Reduction::or_, where);
}
static inline unsigned __reduce_xor_sync(unsigned mask, unsigned value,
                                         simt::Where where = simt::here()) {
    return (unsigned)simt::warp_reduce(mask, (uint32_t)value, simt::Reduction::xor_, where);
}

/* Waiting: a thread that spins must let the others run. */

static inline void __nanosleep(unsigned) { simt::spin_yield(); }

#endif
