/* SPDX-License-Identifier: Apache-2.0
 *
 * cooperative_groups.h - the emulator's stand-in for the CUDA header of this name: the grid, the
 * block, and tiles of 1 to 32 threads of a block. Clusters, coalesced groups and the algorithms
 * (reduce, scan, memcpy_async) are not offered.
 */
#ifndef SHOAL_SIMT_COOPERATIVE_GROUPS_H
#define SHOAL_SIMT_COOPERATIVE_GROUPS_H

#include "cuda_runtime.h"

namespace cooperative_groups {

class grid_group {
  public:
    void sync(simt::Where where = simt::here()) const { simt::grid_barrier(where); }
    bool is_valid() const { return simt::grid_is_cooperative(); }
    unsigned long long num_blocks() const {
        dim3 g = gridDim;
        return (unsigned long long)g.x * g.y * g.z;
    }
    unsigned long long block_rank() const {
        dim3 g = gridDim;
        uint3 b = blockIdx;
        return ((unsigned long long)b.z * g.y + b.y) * g.x + b.x;
    }
    unsigned long long num_threads() const { return num_blocks() * block_threads(); }
    unsigned long long size() const { return num_threads(); }
    unsigned long long thread_rank() const {
        return block_rank() * block_threads() + simt::block_rank_of_thread();
    }
    dim3 group_dim() const { return gridDim; }

  private:
    static unsigned block_threads() {
        dim3 b = blockDim;
        return b.x * b.y * b.z;
    }
};

class thread_block {
  public:
    void sync(simt::Where where = simt::here()) const { __syncthreads(where); }
    unsigned thread_rank() const { return simt::block_rank_of_thread(); }
    unsigned num_threads() const {
        dim3 b = blockDim;
        return b.x * b.y * b.z;
    }
    unsigned size() const { return num_threads(); }
    dim3 group_index() const { return blockIdx; }
    dim3 thread_index() const { return threadIdx; }
    dim3 group_dim() const { return blockDim; }
};

template <unsigned Size> class thread_block_tile {
    static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0,
                  "simt: a tile has 1, 2, 4, 8, 16 or 32 threads");

  public:
    unsigned thread_rank() const { return simt::lane() % Size; }
    static constexpr unsigned size() { return Size; }
    static constexpr unsigned num_threads() { return Size; }
    unsigned meta_group_rank() const { return simt::block_rank_of_thread() / Size; }
    unsigned meta_group_size() const { return (thread_block().size() + Size - 1) / Size; }

    void sync(simt::Where where = simt::here()) const { __syncwarp(mask(), where); }
    template <class T> T shfl(T value, int source, simt::Where where = simt::here()) const {
        return __shfl_sync(mask(), value, source, (int)Size, where);
    }
    template <class T> T shfl_up(T value, unsigned delta, simt::Where where = simt::here()) const {
        return __shfl_up_sync(mask(), value, delta, (int)Size, where);
    }
    template <class T>
    T shfl_down(T value, unsigned delta, simt::Where where = simt::here()) const {
        return __shfl_down_sync(mask(), value, delta, (int)Size, where);
    }
    template <class T> T shfl_xor(T value, int lane_mask, simt::Where where = simt::here()) const {
        return __shfl_xor_sync(mask(), value, lane_mask, (int)Size, where);
    }
    unsigned ballot(int predicate, simt::Where where = simt::here()) const {
        return __ballot_sync(mask(), predicate, where) >> first_lane();
    }
    int any(int predicate, simt::Where where = simt::here()) const {
        return __any_sync(mask(), predicate, where);
    }
    int all(int predicate, simt::Where where = simt::here()) const {
        return __all_sync(mask(), predicate, where);
    }

  private:
    static unsigned first_lane() { return simt::lane() / Size * Size; }
    static unsigned mask() { return (Size == 32 ? ~0u : (1u << Size % 32) - 1) << first_lane(); }
};

static inline grid_group this_grid() { return grid_group(); }
static inline thread_block this_thread_block() { return thread_block(); }
template <unsigned Size> inline thread_block_tile<Size> tiled_partition(const thread_block &) {
    return thread_block_tile<Size>();
}
static inline void sync(const grid_group &group, simt::Where where = simt::here()) {
    group.sync(where);
}
static inline void sync(const thread_block &group, simt::Where where = simt::here()) {
    group.sync(where);
}

} // namespace cooperative_groups

#endif
