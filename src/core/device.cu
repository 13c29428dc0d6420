/* SPDX-License-Identifier: Apache-2.0
 *
 * device.cu - the CUDA runtime behind a context. Every error becomes a status and a sentence.
 */
#include "core/context.h"
#include "core/launch.cuh"
#include <stdio.h>

#ifndef SHOAL_CUDA_HOLDS
#define SHOAL_CUDA_HOLDS "90" /* the emulator's */
#endif

static shoal_status cuda_failed(shoal_context *ctx, cudaError_t error, const char *what) {
    cudaGetLastError(); /* clears it, so that the next launch does not report it again */
    return shoal_fail(ctx, error == cudaErrorMemoryAllocation ? SHOAL_E_NOMEM : SHOAL_E_CUDA,
                      "%s: %s (%s)", what, cudaGetErrorString(error), cudaGetErrorName(error));
}

#define TRY(call, what)                                                                            \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess) return cuda_failed(ctx, error_, what);                          \
    } while (0)

__global__ static void probe_kernel(int *memory) { memory[threadIdx.x] = (int)threadIdx.x; }

/* The build has code for other architectures only. */
static shoal_status no_architecture(shoal_context *ctx, const char *name, int major, int minor) {
    cudaGetLastError();
    if (major < 8)
        return shoal_fail(ctx, SHOAL_E_BACKEND,
                          "%s has compute capability %d.%d; the kernels need 8.0 or later", name,
                          major, minor);
    return shoal_fail(ctx, SHOAL_E_BACKEND,
                      "%s has compute capability %d.%d; this build has code for architectures %s "
                      "only. In the sources of Shoal: cmake -S . -B build -DSHOAL_CUDA=ON "
                      "-DSHOAL_CUDA_ARCHITECTURES=%d%d && cmake --build build",
                      name, major, minor, SHOAL_CUDA_HOLDS, major, minor);
}

static shoal_status device_open(shoal_context *ctx) {
    int count = 0; /* without a driver the call returns 35 and leaves count alone */
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess) {
        cuda_failed(ctx, error, "no GPU answers");
        return SHOAL_E_BACKEND;
    }
    if (ctx->device >= count)
        return shoal_fail(ctx, SHOAL_E_BACKEND, "device %d does not exist: %d found", ctx->device,
                          count);
    size_t free_bytes, bytes;
    cudaDeviceProp prop;
    void *probe = NULL;
    TRY(cudaSetDevice(ctx->device), "the GPU does not open");
    TRY(cudaGetDeviceProperties(&prop, ctx->device), "the GPU gives no properties");
    TRY(cudaMemGetInfo(&free_bytes, &bytes), "the GPU's memory does not answer");
    TRY(cudaMalloc(&probe, 256), "the GPU gives no memory"); /* a broken device often fails here, */
    SHOAL_LAUNCH(probe_kernel, dim3(1), dim3(32), 0, nullptr, (int *)probe);
    error = cudaGetLastError(); /* and one that this build has no code for, here */
    if (error == cudaSuccess) error = cudaStreamSynchronize(nullptr);
    cudaFree(probe);
    if (error == cudaErrorNoKernelImageForDevice || error == cudaErrorInvalidDeviceFunction ||
        error == cudaErrorUnsupportedPtxVersion)
        return no_architecture(ctx, prop.name, prop.major, prop.minor);
    TRY(error, "the GPU does not run this build's code");
    ctx->multiprocessors = prop.multiProcessorCount;
    ctx->memory = bytes;
    ctx->shared_per_block = prop.sharedMemPerBlockOptin;
    snprintf(ctx->device_name, sizeof ctx->device_name, "%s", prop.name);
    snprintf(ctx->gpu_line, sizeof ctx->gpu_line,
             "%s, compute capability %d.%d, %d multiprocessors, %.1f GiB", prop.name, prop.major,
             prop.minor, prop.multiProcessorCount, (double)bytes / (1 << 30));
    return SHOAL_OK;
}

/* Every public function begins with it: errors of the caller's own calls before are not ours to report. */
static shoal_status device_use(shoal_context *ctx) {
    cudaGetLastError();
    TRY(cudaSetDevice(ctx->device), "cudaSetDevice");
    return SHOAL_OK;
}

static shoal_status device_alloc(shoal_context *ctx, size_t bytes, void **memory) {
    cudaError_t error = cudaMalloc(memory, bytes);
    if (error == cudaSuccess) return SHOAL_OK;
    *memory = NULL;
    char what[64];
    snprintf(what, sizeof what, "%zu bytes of device memory", bytes);
    return cuda_failed(ctx, error, what);
}

static void device_release(shoal_context *, void *memory) { cudaFree(memory); }

static shoal_status device_copy(shoal_context *ctx, void *to, const void *from, size_t bytes) {
    cudaStream_t stream = (cudaStream_t)ctx->stream;
    TRY(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "shoal_copy");
    TRY(cudaStreamSynchronize(stream), "shoal_copy");
    return SHOAL_OK;
}

static shoal_status device_wait(shoal_context *ctx) {
    TRY(cudaStreamSynchronize((cudaStream_t)ctx->stream), "the GPU reported an error");
    return SHOAL_OK;
}

/* An error means that the default stream waits for a stream that is captured. */
static int device_captures(shoal_context *ctx) {
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    const cudaError_t error = cudaStreamIsCapturing((cudaStream_t)ctx->stream, &capture);
    cudaGetLastError();
    return error != cudaSuccess || capture != cudaStreamCaptureStatusNone;
}

/* Memory of this device, or pinned or managed memory. */
static int device_reaches(shoal_context *ctx, const void *memory) {
    cudaPointerAttributes attributes;
    if (cudaPointerGetAttributes(&attributes, memory) != cudaSuccess) {
        cudaGetLastError();
        return 0;
    }
    if (attributes.type == cudaMemoryTypeDevice) return attributes.device == ctx->device;
    return attributes.type != cudaMemoryTypeUnregistered;
}

static int device_owns(shoal_context *, const void *memory) {
    cudaPointerAttributes attributes;
    if (cudaPointerGetAttributes(&attributes, memory) != cudaSuccess) {
        cudaGetLastError();
        return 0;
    }
    return attributes.type == cudaMemoryTypeDevice;
}

/* ---- host arrays in pieces (staged.c) ------------------------------------------------------------ */

static shoal_status device_open_stream(shoal_context *ctx, void **stream) {
    cudaStream_t made;
    TRY(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking), "the GPU gives no stream");
    *stream = made;
    return SHOAL_OK;
}

static void device_close_stream(shoal_context *, void *stream) {
    cudaStreamDestroy((cudaStream_t)stream);
}

static shoal_status device_alloc_pinned(shoal_context *ctx, size_t bytes, void **memory) {
    const cudaError_t error = cudaMallocHost(memory, bytes);
    if (error == cudaSuccess) return SHOAL_OK;
    *memory = NULL;
    char what[64];
    snprintf(what, sizeof what, "%zu bytes of pinned memory", bytes);
    return cuda_failed(ctx, error, what);
}

static void device_release_pinned(shoal_context *, void *memory) { cudaFreeHost(memory); }

static shoal_status device_copy_later(shoal_context *ctx, void *to, const void *from,
                                      size_t bytes) {
    TRY(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, (cudaStream_t)ctx->stream),
        "copying a piece");
    return SHOAL_OK;
}

/* ---- graphs (replay.c) --------------------------------------------------------------------------- */

static shoal_status device_record(shoal_context *ctx) {
    TRY(cudaStreamBeginCapture((cudaStream_t)ctx->stream, cudaStreamCaptureModeRelaxed),
        "recording a call");
    return SHOAL_OK;
}

static void *device_recorded(shoal_context *ctx) {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t made = nullptr;
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed; /* another thread may capture */
    cudaThreadExchangeStreamCaptureMode(&mode);
    if (cudaStreamEndCapture((cudaStream_t)ctx->stream, &graph) == cudaSuccess)
        if (cudaGraphInstantiate(&made, graph, 0) != cudaSuccess) made = nullptr;
    if (graph) cudaGraphDestroy(graph);
    cudaThreadExchangeStreamCaptureMode(&mode);
    cudaGetLastError();
    return made;
}

static shoal_status device_replay(shoal_context *ctx, void *graph) {
    TRY(cudaGraphLaunch((cudaGraphExec_t)graph, (cudaStream_t)ctx->stream), "launching a graph");
    return SHOAL_OK;
}

static void device_release_graph(shoal_context *, void *graph) {
    cudaGraphExecDestroy((cudaGraphExec_t)graph);
}

extern "C" const shoal_device_ops shoal_cuda_ops = {
    device_open,           device_use,           device_alloc,        device_release,
    device_copy,           device_wait,          device_captures,     device_reaches,
    device_owns,           device_open_stream,   device_close_stream, device_alloc_pinned,
    device_release_pinned, device_copy_later,    device_record,       device_recorded,
    device_replay,         device_release_graph,
};
