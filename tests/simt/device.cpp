/* SPDX-License-Identifier: Apache-2.0
 *
 * device.cpp - errors, the devices and their faults, and the attributes of kernels.
 *
 * SIMT_DEVICES=2 means two devices, =0 none, =nodriver no driver (the count is then left untouched,
 * as the real runtime does), =broken a device that is counted but fails every later call, =nocode one
 * that launches no kernel, for want of code for it. Each thread has a current device, 0 at first.
 */
#include "faults.h"
#include "runtime.h"

#include <limits.h>
#include <map>

namespace simt {

std::recursive_mutex runtime_lock;

namespace {

struct ErrorText {
    cudaError_t error;
    const char *name, *text;
};

/* clang-format off */
#define SIMT_ERROR_TEXT(name, number, text) { name, #name, text },
const ErrorText error_texts[] = { SIMT_ERROR_LIST(SIMT_ERROR_TEXT) };
#undef SIMT_ERROR_TEXT
/* clang-format on */

const ErrorText *text_of(cudaError_t error) {
    for (const ErrorText &entry : error_texts) {
        if (entry.error == error) return &entry;
    }
    return nullptr;
}

thread_local cudaError_t last_error = cudaSuccess;
thread_local int selected_device = 0;
std::map<const void *, size_t> dynamic_limit; /* by function, if set */
long launches, refused_launch; /* since simt_refuse_launch(); the one that fails, 0: none */

const int max_grid_x = INT_MAX, max_grid_yz = 65535, max_block_z = 64;

size_t dynamic_limit_of(const void *function) {
    auto found = dynamic_limit.find(function);
    return found == dynamic_limit.end() ? shared_default : found->second;
}

bool within(dim3 d, unsigned x, unsigned y, unsigned z) {
    return d.x && d.y && d.z && d.x <= x && d.y <= y && d.z <= z;
}

int device_count() {
    const char *text = getenv("SIMT_DEVICES");
    return text && !strcmp(text, "2") ? 2 : 1;
}

cudaError_t with_device(int device) {
    cudaError_t error = device_state();
    if (error) return error;
    return device < 0 || device >= device_count() ? cudaErrorInvalidDevice : cudaSuccess;
}

} // namespace

cudaError_t remember(cudaError_t error) {
    if (error) last_error = error;
    return error;
}

cudaError_t device_state() {
    const char *text = getenv("SIMT_DEVICES");
    if (!text || !*text || !strcmp(text, "1") || !strcmp(text, "2") || !strcmp(text, "nocode"))
        return cudaSuccess;
    if (!strcmp(text, "0")) return cudaErrorNoDevice;
    if (!strcmp(text, "nodriver")) return cudaErrorInsufficientDriver;
    if (!strcmp(text, "broken")) return cudaErrorUnknown;
    fail("SIMT_DEVICES is 0, 1, 2, nodriver, broken or nocode, not \"%s\"", text);
}

size_t shared_optin() {
    static const size_t kib = [] {
        const char *text = getenv("SIMT_SHARED");
        const size_t value = text && *text ? strtoul(text, nullptr, 10) : 227;
        if (value < 48 || value > 1024) fail("SIMT_SHARED is 48 to 1024 KiB, not \"%s\"", text);
        return value;
    }();
    return kib << 10;
}

unsigned char fresh_byte() {
    static const unsigned char byte = [] {
        const char *text = getenv("SIMT_FRESH");
        const unsigned long value = text && *text ? strtoul(text, nullptr, 10) : 255;
        if (value > 255) fail("SIMT_FRESH is 0 to 255, not \"%s\"", text);
        return (unsigned char)value;
    }();
    return byte;
}

int current_device() { return selected_device; }

size_t device_memory(int device) {
    const char *text = getenv("SIMT_MEMORY"), *second = text ? strchr(text, ',') : nullptr;
    if (device == 1 && second) text = second + 1;
    return text && *text ? (size_t)strtoull(text, nullptr, 0) : (size_t)8 << 30;
}

cudaError_t check_launch(const Launch &launch) {
    if (!launch.body) return cudaErrorInvalidDeviceFunction;
    if (++launches == refused_launch) return cudaErrorLaunchOutOfResources;
    const char *devices = getenv("SIMT_DEVICES");
    if (devices && !strcmp(devices, "nocode")) return cudaErrorNoKernelImageForDevice;
    if (!within(launch.grid, max_grid_x, max_grid_yz, max_grid_yz) ||
        !within(launch.block, max_threads, max_threads, max_block_z)) {
        return cudaErrorInvalidConfiguration;
    }
    uint64_t threads = (uint64_t)launch.block.x * launch.block.y * launch.block.z;
    if (threads > max_threads) return cudaErrorInvalidConfiguration;
    if (launch.shared > dynamic_limit_of(launch.function)) return cudaErrorInvalidValue;
    if (launch.cooperative) {
        uint64_t blocks = (uint64_t)launch.grid.x * launch.grid.y * launch.grid.z;
        int fit = multiprocessors * blocks_that_fit((unsigned)threads, launch.shared);
        if (blocks > (uint64_t)fit) return cudaErrorCooperativeLaunchTooLarge;
    }
    return cudaSuccess;
}

} // namespace simt

using namespace simt;

long simt_refuse_launch(long number) {
    Guard guard(runtime_lock);
    const long before = launches;
    launches = 0, refused_launch = number;
    return before;
}

void simt_leave_error(void) { last_error = cudaErrorInvalidValue; }

const char *cudaGetErrorName(cudaError_t error) {
    const ErrorText *found = text_of(error);
    return found ? found->name : "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error) {
    const ErrorText *found = text_of(error);
    return found ? found->text : "unrecognized error code";
}

cudaError_t cudaGetLastError() {
    cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError() { return last_error; }

cudaError_t cudaRuntimeGetVersion(int *version) {
    if (!version) return remember(cudaErrorInvalidValue);
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version) {
    if (!version) return remember(cudaErrorInvalidValue);
    *version = device_state() == cudaErrorInsufficientDriver ? 0 : CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *count) {
    cudaError_t error = device_state();
    if (error == cudaErrorInsufficientDriver) return remember(error);
    if (!count) return remember(cudaErrorInvalidValue);
    *count = error == cudaErrorNoDevice ? 0 : device_count();
    return remember(error == cudaErrorNoDevice ? error : cudaSuccess);
}

cudaError_t cudaSetDevice(int device) {
    cudaError_t error = with_device(device);
    if (!error) selected_device = device;
    return remember(error);
}

cudaError_t cudaGetDevice(int *device) {
    cudaError_t error = device_state();
    if (!error) *device = selected_device;
    return remember(error);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device) {
    cudaError_t error = with_device(device);
    if (error) return remember(error);
    cudaDeviceProp p = {};
    snprintf(p.name, sizeof p.name, "SIMT emulator");
    p.totalGlobalMem = device_memory(device);
    p.sharedMemPerBlock = shared_default;
    p.sharedMemPerBlockOptin = shared_optin();
    p.sharedMemPerMultiprocessor = shared_multiprocessor();
    p.reservedSharedMemPerBlock = shared_reserved;
    p.totalConstMem = 64 << 10;
    p.regsPerBlock = 65536;
    p.warpSize = (int)warp_width;
    p.maxThreadsPerBlock = p.maxThreadsDim[0] = p.maxThreadsDim[1] = (int)max_threads;
    p.maxThreadsDim[2] = max_block_z;
    p.maxGridSize[0] = max_grid_x;
    p.maxGridSize[1] = p.maxGridSize[2] = max_grid_yz;
    const char *capability = getenv("SIMT_CAPABILITY");
    if (!capability || sscanf(capability, "%d.%d", &p.major, &p.minor) != 2) p.major = 9;
    p.multiProcessorCount = multiprocessors;
    p.maxThreadsPerMultiProcessor = threads_per_multiprocessor;
    p.maxBlocksPerMultiProcessor = blocks_per_multiprocessor;
    p.l2CacheSize = 1 << 20;
    p.memoryBusWidth = 64;
    p.integrated = p.unifiedAddressing = p.managedMemory = p.cooperativeLaunch = 1;
    *properties = p;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device) {
    cudaDeviceProp p;
    cudaError_t error = cudaGetDeviceProperties(&p, device);
    if (error) return error;
    switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: *value = p.maxThreadsPerBlock; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = (int)p.sharedMemPerBlock; break;
    case cudaDevAttrWarpSize: *value = p.warpSize; break;
    case cudaDevAttrMultiProcessorCount: *value = p.multiProcessorCount; break;
    case cudaDevAttrClockRate:
    case cudaDevAttrMemoryClockRate: *value = 1000000; break;
    case cudaDevAttrGlobalMemoryBusWidth: *value = p.memoryBusWidth; break;
    case cudaDevAttrL2CacheSize: *value = p.l2CacheSize; break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = p.maxThreadsPerMultiProcessor; break;
    case cudaDevAttrComputeCapabilityMajor: *value = p.major; break;
    case cudaDevAttrComputeCapabilityMinor: *value = p.minor; break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
        *value = (int)p.sharedMemPerMultiprocessor;
        break;
    case cudaDevAttrManagedMemory: *value = p.managedMemory; break;
    case cudaDevAttrCooperativeLaunch: *value = p.cooperativeLaunch; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = (int)p.sharedMemPerBlockOptin; break;
    default: return remember(cudaErrorInvalidValue);
    }
    return cudaSuccess;
}

cudaError_t cudaDeviceReset() { return remember(device_state()); }

cudaError_t cudaFuncSetAttribute(const void *function, cudaFuncAttribute attribute, int value) {
    Guard guard(runtime_lock);
    cudaError_t error = device_state();
    if (error) return remember(error);
    if (!function) return remember(cudaErrorInvalidDeviceFunction);
    if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) return cudaSuccess;
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0 ||
        (size_t)value > shared_optin()) {
        return remember(cudaErrorInvalidValue);
    }
    dynamic_limit[function] = (size_t)value;
    return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *function) {
    Guard guard(runtime_lock);
    cudaError_t error = device_state();
    if (!error && !function) error = cudaErrorInvalidDeviceFunction;
    if (error) return remember(error);
    *attributes = cudaFuncAttributes();
    attributes->maxThreadsPerBlock = (int)max_threads;
    attributes->ptxVersion = attributes->binaryVersion = 90;
    attributes->maxDynamicSharedSizeBytes = (int)dynamic_limit_of(function);
    return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function,
                                                          int threads, size_t shared) {
    Guard guard(runtime_lock);
    cudaError_t error = device_state();
    if (!error && !function) error = cudaErrorInvalidDeviceFunction;
    if (!error && threads <= 0) error = cudaErrorInvalidValue;
    if (error) return remember(error);
    *blocks = shared > dynamic_limit_of(function) ? 0 : blocks_that_fit((unsigned)threads, shared);
    return cudaSuccess;
}
