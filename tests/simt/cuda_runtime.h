/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_runtime.h - the emulator's stand-in for the CUDA header of this name: the device words that
 * nvcc knows by itself, and the part of the runtime API that Shoal uses, on host memory.
 *
 * Everything is synchronous. Names and numbers are those of CUDA; what is missing here is not
 * supported, and using it is a compile error. Device: "SIMT emulator", 4 multiprocessors, compute
 * capability 9.0. The environment can take it away or break it (README.md).
 */
#ifndef SHOAL_SIMT_CUDA_RUNTIME_H
#define SHOAL_SIMT_CUDA_RUNTIME_H

#include "simt_types.h"
#include "simt_warp.h"
#include "simt_atomic.h"
#include "simt_math.h"
#include "simt_errors.h"

#define CUDART_VERSION 13000

enum cudaMemcpyKind {
    cudaMemcpyHostToHost = 0,
    cudaMemcpyHostToDevice = 1,
    cudaMemcpyDeviceToHost = 2,
    cudaMemcpyDeviceToDevice = 3,
    cudaMemcpyDefault = 4
};

enum cudaMemoryType {
    cudaMemoryTypeUnregistered = 0,
    cudaMemoryTypeHost = 1,
    cudaMemoryTypeDevice = 2,
    cudaMemoryTypeManaged = 3
};

struct cudaPointerAttributes {
    cudaMemoryType type;
    int device;
    void *devicePointer;
    void *hostPointer;
};

struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem;
    size_t sharedMemPerBlock;
    size_t sharedMemPerBlockOptin;
    size_t sharedMemPerMultiprocessor;
    size_t reservedSharedMemPerBlock;
    size_t totalConstMem;
    int regsPerBlock;
    int warpSize;
    int maxThreadsPerBlock;
    int maxThreadsDim[3];
    int maxGridSize[3];
    int major, minor;
    int multiProcessorCount;
    int maxThreadsPerMultiProcessor;
    int maxBlocksPerMultiProcessor;
    int l2CacheSize;
    int memoryBusWidth;
    int ECCEnabled;
    int integrated;
    int unifiedAddressing;
    int managedMemory;
    int concurrentKernels;
    int cooperativeLaunch;
    int asyncEngineCount;
    int pciBusID, pciDeviceID, pciDomainID;
};

enum cudaDeviceAttr {
    cudaDevAttrMaxThreadsPerBlock = 1,
    cudaDevAttrMaxSharedMemoryPerBlock = 8,
    cudaDevAttrWarpSize = 10,
    cudaDevAttrClockRate = 13,
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrMemoryClockRate = 36,
    cudaDevAttrGlobalMemoryBusWidth = 37,
    cudaDevAttrL2CacheSize = 38,
    cudaDevAttrMaxThreadsPerMultiProcessor = 39,
    cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76,
    cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
    cudaDevAttrManagedMemory = 83,
    cudaDevAttrCooperativeLaunch = 95,
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97
};

enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout = 9
};

struct cudaFuncAttributes {
    size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
    int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion;
    int maxDynamicSharedSizeBytes;
};

enum cudaStreamCaptureMode {
    cudaStreamCaptureModeGlobal = 0,
    cudaStreamCaptureModeThreadLocal = 1,
    cudaStreamCaptureModeRelaxed = 2
};

enum cudaStreamCaptureStatus {
    cudaStreamCaptureStatusNone = 0,
    cudaStreamCaptureStatusActive = 1,
    cudaStreamCaptureStatusInvalidated = 2
};

typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
typedef struct CUgraph_st *cudaGraph_t;
typedef struct CUgraphExec_st *cudaGraphExec_t;

const unsigned cudaStreamDefault = 0, cudaStreamNonBlocking = 1;
const unsigned cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2;
const unsigned cudaHostAllocDefault = 0, cudaHostAllocPortable = 1, cudaHostAllocMapped = 2;
const unsigned cudaHostRegisterDefault = 0, cudaHostRegisterPortable = 1;
const unsigned cudaMemAttachGlobal = 1, cudaMemAttachHost = 2;
#define cudaStreamLegacy    (reinterpret_cast<cudaStream_t>(1))
#define cudaStreamPerThread (reinterpret_cast<cudaStream_t>(2))

/* device.cpp: errors, devices, functions */
const char *cudaGetErrorName(cudaError_t error);
const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
cudaError_t cudaRuntimeGetVersion(int *version);
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device);
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaDeviceReset();
cudaError_t cudaFuncSetAttribute(const void *function, cudaFuncAttribute attribute, int value);
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *function);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function,
                                                          int threads, size_t shared);

template <class T>
inline cudaError_t cudaFuncSetAttribute(T *function, cudaFuncAttribute attribute, int value) {
    return cudaFuncSetAttribute(reinterpret_cast<const void *>(function), attribute, value);
}
template <class T>
inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, T *function) {
    return cudaFuncGetAttributes(attributes, reinterpret_cast<const void *>(function));
}
template <class T>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, T *function,
                                                                 int threads, size_t shared) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks, reinterpret_cast<const void *>(function), threads, shared);
}

/* memory.cpp */
cudaError_t cudaMalloc(void **pointer, size_t bytes);
cudaError_t cudaMallocHost(void **pointer, size_t bytes, unsigned flags = 0);
cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned flags);
cudaError_t cudaMallocManaged(void **pointer, size_t bytes, unsigned flags = cudaMemAttachGlobal);
cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream);
cudaError_t cudaFree(void *pointer);
cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream);
cudaError_t cudaFreeHost(void *pointer);
cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned flags);
cudaError_t cudaHostUnregister(void *pointer);
cudaError_t cudaMemGetInfo(size_t *available, size_t *total);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *pointer);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream = nullptr);
cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream = nullptr);
cudaError_t cudaMemset(void *to, int value, size_t bytes);
cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream = nullptr);

template <class T> inline cudaError_t cudaMalloc(T **pointer, size_t bytes) {
    return cudaMalloc(reinterpret_cast<void **>(pointer), bytes);
}
template <class T>
inline cudaError_t cudaMallocHost(T **pointer, size_t bytes, unsigned flags = 0) {
    return cudaMallocHost(reinterpret_cast<void **>(pointer), bytes, flags);
}
template <class T>
inline cudaError_t cudaMallocManaged(T **pointer, size_t bytes,
                                     unsigned flags = cudaMemAttachGlobal) {
    return cudaMallocManaged(reinterpret_cast<void **>(pointer), bytes, flags);
}

/* A symbol is a host variable here. */
namespace simt {
cudaError_t copy_to_symbol(void *symbol, const void *from, size_t bytes);
}
template <class T>
inline cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *from, size_t bytes,
                                      size_t offset = 0, cudaMemcpyKind = cudaMemcpyHostToDevice) {
    void *address = const_cast<void *>(static_cast<const void *>(&symbol));
    if (offset > sizeof symbol || bytes > sizeof symbol - offset) address = nullptr;
    return simt::copy_to_symbol(address ? (char *)address + offset : nullptr, from, bytes);
}

/* stream.cpp */
cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t stop);
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph);
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status);
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *mode);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *executable, cudaGraph_t graph,
                                 unsigned long long flags = 0);
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, void *nodes, size_t *count);
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);

/* The runtime's own launch calls take untyped arguments, which a host call cannot be made from:
 * use SHOAL_LAUNCH and SHOAL_LAUNCH_COOPERATIVE. */
cudaError_t cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, cudaStream_t) = delete;
cudaError_t cudaLaunchCooperativeKernel(const void *, dim3, dim3, void **, size_t,
                                        cudaStream_t) = delete;

#endif
