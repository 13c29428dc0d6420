/* SPDX-License-Identifier: Apache-2.0
 *
 * simt_test_runtime.cu - the runtime API: launch errors, memory and pointer queries, capture in a
 * graph, and the faults that the environment plants.
 */
#include <simt.h>
#include <vector>
#include "check.h"

__global__ void add(int *x, int value) { x[blockIdx.x * blockDim.x + threadIdx.x] += value; }

__global__ void fill_shared(int *x, int count) {
    SHOAL_SHARED(int, s);
    for (int i = 0; i < count; i++) s[i] = i;
    x[0] = s[count - 1];
}

static int *ints(size_t count) {
    int *x = nullptr;
    CHECK(cudaMalloc(&x, count * sizeof(int)) == cudaSuccess);
    CHECK(cudaMemset(x, 0, count * sizeof(int)) == cudaSuccess);
    return x;
}

static int first(const int *x) {
    int value = -1;
    CHECK(cudaMemcpy(&value, x, sizeof value, cudaMemcpyDeviceToHost) == cudaSuccess);
    return value;
}

static void test_launch_errors() {
    int *x = ints(1024);
    const dim3 bad_blocks[] = { dim3(1025), dim3(0), dim3(32, 33), dim3(1, 1, 65) };
    for (dim3 block : bad_blocks) {
        SHOAL_LAUNCH(add, 1, block, 0, 0, x, 1);
        CHECK(cudaPeekAtLastError() == cudaErrorInvalidConfiguration);
        CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
        CHECK(cudaGetLastError() == cudaSuccess);
    }
    const dim3 bad_grids[] = { dim3(0), dim3(1, 65536), dim3(1, 1, 65536), dim3(0x80000000u) };
    for (dim3 grid : bad_grids) {
        SHOAL_LAUNCH(add, grid, 1, 0, 0, x, 1);
        CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
    }
    CHECK(first(x) == 0);
    const int most = 227 << 10, count = most / (int)sizeof(int);
    SHOAL_LAUNCH(fill_shared, 1, 1, (48 << 10) + 1, 0, x, 1);
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
    CHECK(cudaFuncSetAttribute(fill_shared, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               most + 1) == cudaErrorInvalidValue);
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
    CHECK(cudaFuncSetAttribute(fill_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, most) ==
          cudaSuccess);
    SHOAL_LAUNCH(fill_shared, 1, 1, most, 0, x, count);
    CHECK(cudaGetLastError() == cudaSuccess && first(x) == count - 1);
    int blocks = -1;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 256, 100 << 10);
    CHECK(blocks == 0); /* not without the attribute */
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill_shared, 64, 100 << 10);
    CHECK(blocks == 2);
    void (*none)(int *, int) = nullptr;
    SHOAL_LAUNCH(none, 1, 1, 0, 0, x, 1);
    CHECK(cudaGetLastError() == cudaErrorInvalidDeviceFunction);
    cudaFree(x);
}

static cudaMemoryType type_of(const void *pointer) {
    cudaPointerAttributes attributes;
    CHECK(cudaPointerGetAttributes(&attributes, pointer) == cudaSuccess);
    return attributes.type;
}

static void test_memory() {
    int *device = ints(100), *managed = nullptr, *pinned = nullptr, host[100];
    CHECK(cudaMallocManaged(&managed, 400) == cudaSuccess);
    CHECK(cudaMallocHost(&pinned, 400) == cudaSuccess);
    CHECK(type_of(device) == cudaMemoryTypeDevice && type_of(device + 99) == cudaMemoryTypeDevice);
    CHECK(type_of(managed + 5) == cudaMemoryTypeManaged && type_of(pinned) == cudaMemoryTypeHost);
    CHECK(type_of(host) == cudaMemoryTypeUnregistered);
    CHECK(cudaHostRegister(host, sizeof host, 0) == cudaSuccess);
    CHECK(type_of(host + 99) == cudaMemoryTypeHost);
    CHECK(cudaHostUnregister(host) == cudaSuccess && type_of(host) == cudaMemoryTypeUnregistered);

    CHECK(cudaMemcpy(host, host + 50, 200, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    CHECK(cudaMemcpy(device, managed, 404, cudaMemcpyDefault) == cudaErrorInvalidValue);
    CHECK(cudaMemset(host, 0, 4) == cudaErrorInvalidValue);
    CHECK(cudaFree(host) == cudaErrorInvalidValue && cudaFreeHost(device) == cudaErrorInvalidValue);
    for (int i = 0; i < 100; i++) pinned[i] = i;
    CHECK(cudaMemcpy2D(device, 40, pinned, 80, 20, 5, cudaMemcpyHostToDevice) == cudaSuccess);
    CHECK(cudaMemcpy(host, device, 400, cudaMemcpyDefault) == cudaSuccess);
    CHECK(host[14] == 24 && host[15] == 0 && host[44] == 84);
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);

    size_t before = 0, after = 0, total = 0;
    CHECK(cudaMemGetInfo(&before, &total) == cudaSuccess);
    double *fresh = nullptr;
    CHECK(cudaMalloc(&fresh, 8000) == cudaSuccess && cudaMemGetInfo(&after, &total) == 0);
    CHECK(before - after == 8000 && (uintptr_t)fresh % 256 == 0);
    double unwritten = 0;
    CHECK(cudaMemcpy(&unwritten, fresh + 999, 8, cudaMemcpyDeviceToHost) == 0 && isnan(unwritten));
    cudaFree(fresh);
    cudaFree(device);
    cudaFree(managed);
    cudaFreeHost(pinned);
}

static void test_events() {
    cudaEvent_t start, stop;
    float time = -1;
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    CHECK(cudaEventRecord(start) == cudaSuccess && cudaEventRecord(stop) == cudaSuccess);
    CHECK(cudaEventSynchronize(stop) == cudaSuccess);
    CHECK(cudaEventElapsedTime(&time, start, stop) == cudaSuccess && time >= 0 && time < 1000);
    cudaEventDestroy(start);
    cudaEventDestroy(stop);
}

static void test_graph() {
    int *x = ints(64), *copy = ints(64);
    cudaStream_t stream, side;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    cudaEvent_t fork, join;
    cudaStreamCaptureStatus status;
    cudaStreamCreate(&stream);
    cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
    cudaEventCreate(&fork);
    cudaEventCreate(&join);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
    SHOAL_LAUNCH(add, 2, 32, 0, stream, x, 5);
    CHECK(cudaEventRecord(fork, stream) == 0 && cudaStreamWaitEvent(side, fork, 0) == 0);
    CHECK(cudaMemcpyAsync(copy, x, 256, cudaMemcpyDeviceToDevice, side) == cudaSuccess);
    CHECK(cudaStreamIsCapturing(side, &status) == 0 && status == cudaStreamCaptureStatusActive);
    CHECK(cudaStreamIsCapturing(nullptr, &status) == cudaErrorStreamCaptureImplicit);
    CHECK(cudaEventRecord(join, side) == 0 && cudaStreamWaitEvent(stream, join, 0) == 0);
    CHECK(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
    CHECK(first(x) == 0); /* recorded, not run */
    CHECK(cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess);
    for (int i = 0; i < 3; i++) CHECK(cudaGraphLaunch(executable, stream) == cudaSuccess);
    CHECK(cudaStreamSynchronize(stream) == cudaSuccess && first(x) == 15 && first(copy) == 15);
    size_t nodes = 0;
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes) == cudaSuccess && nodes == 2);
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
    CHECK(cudaEventRecord(fork, stream) == 0 && cudaStreamWaitEvent(side, fork, 0) == 0);
    SHOAL_LAUNCH(add, 2, 32, 0, side, x, 5); /* and never waited for */
    CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureUnjoined && !graph);

    int *more = nullptr;
    for (int forbidden = 0; forbidden < 5; forbidden++) {
        CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
        cudaError_t error = cudaSuccess;
        if (forbidden == 0) error = cudaMalloc(&more, 4);
        if (forbidden == 1) error = cudaStreamSynchronize(stream);
        if (forbidden == 2) error = cudaDeviceSynchronize();
        if (forbidden == 3) error = cudaFree(copy);
        if (forbidden == 4) error = cudaMemset(x, 0, 4); /* in the legacy stream */
        CHECK(error == (forbidden == 4 ? cudaErrorStreamCaptureImplicit
                                       : cudaErrorStreamCaptureUnsupported));
        SHOAL_LAUNCH(add, 2, 32, 0, stream, x, 5);
        CHECK(cudaGetLastError() == cudaErrorStreamCaptureInvalidated);
        CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated && !graph);
        CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
    }
    CHECK(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal) ==
          cudaErrorStreamCaptureUnsupported);
    cudaGetLastError();
    cudaEventDestroy(fork);
    cudaEventDestroy(join);
    cudaStreamDestroy(stream);
    cudaStreamDestroy(side);
    CHECK(cudaStreamSynchronize(stream) == cudaErrorInvalidResourceHandle);
    cudaGetLastError();
    cudaFree(x);
    cudaFree(copy);
}

static void test_two_devices() {
    int count = 0, device = -1, *x = nullptr, *y = nullptr;
    size_t available = 0, total = 0;
    cudaPointerAttributes at;
    cudaStream_t stream;
    CHECK(cudaSetDevice(1) == cudaErrorInvalidDevice);
    setenv("SIMT_DEVICES", "2", 1);
    CHECK(cudaGetDeviceCount(&count) == cudaSuccess && count == 2);
    CHECK(cudaMalloc(&x, 4) == cudaSuccess);
    CHECK(cudaSetDevice(2) == cudaErrorInvalidDevice &&
          cudaSetDevice(-1) == cudaErrorInvalidDevice);
    CHECK(cudaGetDevice(&device) == cudaSuccess && device == 0);
    CHECK(cudaSetDevice(1) == cudaSuccess && cudaGetDevice(&device) == cudaSuccess && device == 1);
    CHECK(cudaMemGetInfo(&available, &total) == cudaSuccess && available == total);
    CHECK(cudaMalloc(&y, 4) == cudaSuccess && cudaStreamCreate(&stream) == cudaSuccess);
    CHECK(cudaPointerGetAttributes(&at, x) == cudaSuccess && at.device == 0);
    CHECK(cudaPointerGetAttributes(&at, y) == cudaSuccess && at.device == 1);
    CHECK(cudaMemGetInfo(&available, &total) == cudaSuccess && available == total - 4);
    CHECK(cudaMemset(y, 0, 4) == cudaSuccess);
    cudaGetLastError();
    SHOAL_LAUNCH(add, 1, 1, 0, stream, y, 1);
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(cudaSetDevice(0) == cudaSuccess);
    SHOAL_LAUNCH(add, 1, 1, 0, stream, y, 1);
    CHECK(cudaGetLastError() == cudaErrorInvalidResourceHandle);
    CHECK(cudaFree(x) == cudaSuccess && cudaFree(y) == cudaSuccess);
    CHECK(cudaStreamDestroy(stream) == cudaSuccess);
    unsetenv("SIMT_DEVICES");
    cudaGetLastError();
}

static void test_faults() {
    int count = -7, *x = nullptr;
    setenv("SIMT_DEVICES", "0", 1);
    CHECK(cudaGetDeviceCount(&count) == cudaErrorNoDevice && count == 0);
    CHECK(cudaMalloc(&x, 4) == cudaErrorNoDevice);
    count = -7;
    setenv("SIMT_DEVICES", "nodriver", 1);
    CHECK(cudaGetDeviceCount(&count) == cudaErrorInsufficientDriver && count == -7);
    setenv("SIMT_DEVICES", "broken", 1);
    CHECK(cudaGetDeviceCount(&count) == cudaSuccess && count == 1);
    CHECK(cudaSetDevice(0) == cudaErrorUnknown && cudaMalloc(&x, 4) == cudaErrorUnknown);
    CHECK(cudaDeviceSynchronize() == cudaErrorUnknown);
    cudaGetLastError();
    SHOAL_LAUNCH(add, 1, 1, 0, 0, x, 1);
    CHECK(cudaGetLastError() == cudaErrorUnknown);
    unsetenv("SIMT_DEVICES");
    setenv("SIMT_MEMORY", "1000", 1);
    CHECK(cudaMalloc(&x, 1001) == cudaErrorMemoryAllocation);
    CHECK(cudaMalloc(&x, 600) == cudaSuccess);
    int *y = nullptr;
    CHECK(cudaMalloc(&y, 600) == cudaErrorMemoryAllocation && cudaMalloc(&y, 400) == cudaSuccess);
    cudaFree(x);
    cudaFree(y);
    unsetenv("SIMT_MEMORY");
    cudaGetLastError();
    CHECK((int)cudaErrorInsufficientDriver == 35 && (int)cudaErrorUnknown == 999);
    CHECK(!strcmp(cudaGetErrorName(cudaErrorNoDevice), "cudaErrorNoDevice"));
}

int main() {
    RUN(test_launch_errors);
    RUN(test_memory);
    RUN(test_events);
    RUN(test_graph);
    RUN(test_two_devices);
    RUN(test_faults);
    return check_failures != 0;
}
