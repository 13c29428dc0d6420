/* SPDX-License-Identifier: Apache-2.0
 *
 * launch.cuh - the few words that a kernel file writes differently from plain CUDA, so that the
 * same .cu is built by nvcc and, as host C++, against the emulator in tests/simt.
 *
 *     SHOAL_LAUNCH(kernel, grid, block, shared_bytes, stream, arguments...)
 *     SHOAL_LAUNCH_COOPERATIVE(the same)     all blocks resident, grid barriers allowed
 *     SHOAL_LAUNCH_EARLY(the same)           may start while the kernel before it still runs: both
 *                                            begin with shoal_grid_dependency_wait()
 *     SHOAL_SHARED(type, name)               name points at the block's dynamic shared memory
 *     SHOAL_SHARED_ARRAY(type, name, count)  name is a static shared array
 *     SHOAL_SPIN_WAIT()                      in a loop that waits for another thread
 *
 * A template kernel is launched through a function pointer or in parentheses:
 * SHOAL_LAUNCH((hybrid_kernel<8>), ...). A launch reports its error through cudaGetLastError().
 */
#ifndef SHOAL_CORE_LAUNCH_CUH
#define SHOAL_CORE_LAUNCH_CUH

#include <cuda_runtime.h>
#include "core/context.h"

#ifdef __CUDACC__

#define SHOAL_LAUNCH(kernel, grid, block, shared, stream, ...)                                     \
    kernel<<<(grid), (block), (shared), (cudaStream_t)(stream)>>>(__VA_ARGS__)

#define SHOAL_SHARED(type, name)                                                                   \
    extern __shared__ __align__(16) unsigned char shoal_shared_bytes[];                            \
    type *name = (type *)shoal_shared_bytes

#define SHOAL_SHARED_ARRAY(type, name, count) __shared__ type name[count]

/* The argument list is taken by address, one void * each, as the runtime takes it. */
template <class... P, class... A>
static inline cudaError_t shoal_launch_cooperative(void (*kernel)(P...), dim3 grid, dim3 block,
                                                   size_t shared, cudaStream_t stream, A... a) {
    return [&](P... p) {
        void *list[] = { (void *)&p..., nullptr };
        return cudaLaunchCooperativeKernel((const void *)kernel, grid, block, list, shared, stream);
    }(a...);
}
#define SHOAL_LAUNCH_COOPERATIVE(kernel, grid, block, shared, stream, ...)                         \
    shoal_launch_cooperative(kernel, (grid), (block), (shared), (cudaStream_t)(stream), __VA_ARGS__)

/* A chain of short kernels loses the time between the end of one and the start of the next. Launched
 * early, the blocks of the next take their places while the last ones of the one before still run, and
 * wait until its writes are visible. Before that they may read only what was written before the chain. */
template <class... P, class... A>
static inline cudaError_t shoal_launch_early(void (*kernel)(P...), dim3 grid, dim3 block,
                                             size_t shared, cudaStream_t stream, A... a) {
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = grid, config.blockDim = block;
    config.dynamicSmemBytes = shared, config.stream = stream;
    config.attrs = &early, config.numAttrs = 1;
    return cudaLaunchKernelEx(&config, kernel, P(a)...);
}
#define SHOAL_LAUNCH_EARLY(kernel, grid, block, shared, stream, ...)                               \
    shoal_launch_early(kernel, (grid), (block), (shared), (cudaStream_t)(stream), __VA_ARGS__)
__device__ static inline void shoal_launch_dependents() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}
__device__ static inline void shoal_grid_dependency_wait() {
    shoal_launch_dependents();
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* 4, 8 or 16 bytes from global to shared memory without passing through a register; they are there
 * for this thread after shoal_copy_async_wait_all(), for the others after a barrier too. */
template <class T> __device__ static inline void shoal_copy_async(T *shared, const T *global) {
    const unsigned to = (unsigned)__cvta_generic_to_shared(shared);
    if constexpr (sizeof(T) == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(global) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(global),
                     "n"(sizeof(T))
                     : "memory");
}
__device__ static inline void shoal_copy_async_wait_all() {
    asm volatile("cp.async.wait_all;" ::: "memory");
}
/* Groups: a commit ends a group of copies; wait_group waits for all groups except the last `LATER`. */
__device__ static inline void shoal_copy_async_commit_group() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int LATER> __device__ static inline void shoal_copy_async_wait_group() {
    asm volatile("cp.async.wait_group %0;" ::"n"(LATER) : "memory");
}

/* For data that is written once and not read again soon: the cache evicts it in order, which gives up
 * to a quarter more throughput than plain stores. */
template <class T> __device__ static inline void shoal_store_streaming(T *to, T value) {
    __stcs(to, value);
}

#define SHOAL_SPIN_WAIT() __nanosleep(20)
/* A recent value: before an atomic operation, or to poll. No fence: other writes of the same thread may
 * not be visible yet. */
template <class T> __device__ static inline T shoal_load_relaxed(const T *from) {
    return *(const volatile T *)from;
}

#else
#include <simt.h> /* the emulator's: the same words */

#define SHOAL_LAUNCH_EARLY SHOAL_LAUNCH
static inline void shoal_launch_dependents() {}
static inline void shoal_grid_dependency_wait() {}
template <class T> static inline void shoal_copy_async(T *shared, const T *global) {
    *shared = *global;
}
static inline void shoal_copy_async_wait_all() {}
static inline void shoal_copy_async_commit_group() {}
template <int LATER> static inline void shoal_copy_async_wait_group() {}
template <class T> static inline void shoal_store_streaming(T *to, T value) { *to = value; }
#endif

/* Blocks for a kernel that walks through `items` in strides of the whole grid. The emulator gets few
 * blocks, so that small tests run more than one turn of that walk and the barriers between turns. */
#ifdef SHOAL_EMULATED
static const int64_t shoal_max_blocks = 3, shoal_max_grid = 3;
#else
static const int64_t shoal_max_blocks = 1 << 16, shoal_max_grid = 1 << 30;
#endif
static inline unsigned shoal_blocks(int64_t items, int block) {
    const int64_t blocks = (items + block - 1) / block;
    return (unsigned)(blocks < shoal_max_blocks ? blocks : shoal_max_blocks);
}

/* That walk. */
#define SHOAL_GRID_STRIDE(i, items)                                                                \
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < (items);                  \
         i += (int64_t)gridDim.x * blockDim.x)

/* One block per item, up to the maximum grid: the kernel continues by gridDim.x. */
static inline unsigned shoal_grid(int64_t items) {
    return (unsigned)(items < shoal_max_grid ? items : shoal_max_grid);
}

/* The error of the launches since the last call. */
static inline shoal_status shoal_launched(shoal_context *ctx, const char *kernel) {
    cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess) return SHOAL_OK;
    return shoal_fail(ctx, SHOAL_E_CUDA, "%s: launch failed: %s", kernel,
                      cudaGetErrorString(error));
}

enum { SHOAL_STATIC_SHARED = 2048 }; /* maximum bytes of SHOAL_SHARED_ARRAY in a kernel */
enum { SHOAL_USUAL_SHARED = (48 << 10) - SHOAL_STATIC_SHARED }; /* what every kernel may have */

/* The maximum dynamic shared memory of a block after shoal_allow_shared(). A kernel has one limit for all
 * threads of the process, so it is always raised to the maximum: contexts do not disturb each other. A launch
 * with few bytes does not need it. */
static inline size_t shoal_max_shared(const shoal_context *ctx) {
    return ctx->shared_per_block - SHOAL_STATIC_SHARED;
}
/* SHOAL_E_NOMEM if this GPU has less than a block needs. */
static inline shoal_status shoal_check_shared(shoal_context *ctx, const char *kernel,
                                              size_t bytes) {
    if (bytes <= shoal_max_shared(ctx)) return SHOAL_OK;
    return shoal_fail(
        ctx, SHOAL_E_NOMEM,
        "%s: this problem needs %zu bytes of shared memory per block, this GPU has %zu; "
        "the CPU backend has no such limit",
        kernel, bytes, shoal_max_shared(ctx));
}
template <class K>
static inline void shoal_allow_shared(const shoal_context *ctx, K kernel, size_t bytes = SIZE_MAX) {
    if (bytes <= SHOAL_USUAL_SHARED) return;
    cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                         (int)shoal_max_shared(ctx));
}

#endif
