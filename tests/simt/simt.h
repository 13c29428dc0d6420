/* SPDX-License-Identifier: Apache-2.0
 *
 * simt.h - a CUDA kernel as host C++: every CUDA thread is a fiber.
 *
 * src/core/launch.cuh includes this file when the compiler is not nvcc. It gives the four words of
 * launch.cuh their emulated meaning (same arguments, same error reporting), SHOAL_SPIN_WAIT for
 * loops that wait for another thread, and through cuda_runtime.h everything a kernel may say.
 *
 *     SHOAL_LAUNCH(kernel, grid, block, shared_bytes, stream, arguments...)
 *     SHOAL_LAUNCH_COOPERATIVE(the same)
 *     SHOAL_SHARED(type, name)
 *     SHOAL_SHARED_ARRAY(type, name, count)
 *     SHOAL_SPIN_WAIT()
 *
 * Launches are synchronous, except that a launch into a capturing stream is recorded in its graph.
 * The run order of fibers is set by the environment (README.md). Cost: about 0.03 microseconds for
 * each thread that waits at a barrier.
 */
#ifndef SHOAL_SIMT_H
#define SHOAL_SIMT_H

#include "cuda_runtime.h"

#ifdef __has_feature /* clang */
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SIMT_WATCHED true
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SIMT_WATCHED true
#endif
#ifndef SIMT_WATCHED
#define SIMT_WATCHED false
#endif

#define SHOAL_LAUNCH(kernel, grid, block, shared, ...)                                             \
    simt::launch(false, { #kernel, __FILE__, SIMT_WATCHED }, kernel, (grid), (block), (shared),    \
                 __VA_ARGS__)

#define SHOAL_LAUNCH_COOPERATIVE(kernel, grid, block, shared, ...)                                 \
    simt::launch(true, { #kernel, __FILE__, SIMT_WATCHED }, kernel, (grid), (block), (shared),     \
                 __VA_ARGS__)

#define SHOAL_SHARED(type, name) type *name = static_cast<type *>(simt::dynamic_shared())

/* The tag's address says which declaration it is; a template instance has its own. */
#define SHOAL_SHARED_ARRAY(type, name, count)                                                      \
    static const char name##_simt_tag = 0;                                                         \
    type(&name)[count] = simt::shared_array<type, (count)>(&name##_simt_tag, #name, simt::here())

#define SHOAL_SPIN_WAIT() simt::spin_yield()

namespace simt {

struct Site {           /* of a launch: */
    const char *kernel; /* as written there, for messages       */
    const char *file;
    bool watched; /* compiled with a sanitizer            */
};

struct Launch {
    bool cooperative;
    Site site;
    const void *function; /* key of its attributes */
    dim3 grid, block;
    size_t shared;
    std::function<void()> body; /* one thread of the kernel, arguments included */
};

cudaError_t submit(const Launch &launch, cudaStream_t stream);
void *dynamic_shared();
void *static_shared(const void *tag, const char *name, size_t bytes, size_t align, Where where);

template <class T, size_t count>
inline T (&shared_array(const void *tag, const char *name, Where where))[count] {
    static_assert(std::is_trivially_destructible<T>::value, "simt: shared arrays hold plain data");
    return *static_cast<T(*)[count]>(
        static_shared(tag, name, count * sizeof(T), alignof(T), where));
}

template <class... P, class... A>
inline cudaError_t launch(bool cooperative, Site site, void (*kernel)(P...), dim3 grid, dim3 block,
                          size_t shared, const void *stream, A &&...arguments) {
    static_assert(sizeof...(P) == sizeof...(A), "simt: a kernel takes as many arguments as it has "
                                                "parameters");
    std::tuple<std::decay_t<P>...> values(std::forward<A>(arguments)...);
    std::function<void()> body;
    if (kernel) body = [kernel, values] { std::apply(kernel, values); };
    return submit(
        { cooperative, site, reinterpret_cast<const void *>(kernel), grid, block, shared, body },
        static_cast<cudaStream_t>(const_cast<void *>(stream)));
}

/* A stream may be written as a plain 0. */
template <class... P, class... A>
inline cudaError_t launch(bool cooperative, Site site, void (*kernel)(P...), dim3 grid, dim3 block,
                          size_t shared, int, A &&...arguments) {
    return launch(cooperative, site, kernel, grid, block, shared, (const void *)nullptr,
                  std::forward<A>(arguments)...);
}

} // namespace simt

#endif
