/* SPDX-License-Identifier: Apache-2.0
 *
 * runtime.h - what the files of the runtime API share: the lock, the last error, the state of the
 * device, capture, and the attributes of functions.
 */
#ifndef SHOAL_SIMT_RUNTIME_H
#define SHOAL_SIMT_RUNTIME_H

#include <mutex>

#include "engine.h"

namespace simt {

/* Held by every call of the API, and so by a kernel from start to end. */
extern std::recursive_mutex runtime_lock;
typedef std::lock_guard<std::recursive_mutex> Guard;

/* Remembers an error for cudaGetLastError and returns it. */
cudaError_t remember(cudaError_t error);

/* cudaSuccess, or why the device of SIMT_DEVICES cannot serve. */
cudaError_t device_state();

/* The device that this thread has selected. */
int current_device();

/* The memory of a device in bytes, by SIMT_MEMORY. */
size_t device_memory(int device);

/* Checks a launch as the device would. */
cudaError_t check_launch(const Launch &launch);

/* An operation that no capture may contain: an error, which spoils them, if one is active. */
cudaError_t refuse_while_capturing();

/* Runs the operation now, or records it in the graph that the stream is capturing. */
cudaError_t in_stream(cudaStream_t stream, const std::function<void()> &operation);

/* The same for calls without a stream, which use the legacy one. */
cudaError_t in_legacy_stream(const std::function<void()> &operation);

} // namespace simt

#endif
