/* SPDX-License-Identifier: Apache-2.0
 *
 * memory.cpp - allocations of the runtime, all of them host memory, and copies between them.
 *
 * A registry knows which addresses are device, managed or pinned memory, so that pointer queries
 * and the direction of copies are answered as on a real device. Fresh memory is filled with 0xff
 * bytes (SIMT_FRESH): what a kernel reads before anything was written is a NaN. Each allocation is a separate
 * malloc. AddressSanitizer guards its ends; without it, a zone of NaNs on either side is checked when
 * the memory is freed, and at the end of the process for what is not.
 */
#include "runtime.h"

#include <map>
#include <unistd.h>

using namespace simt;

namespace {

struct Allocation {
    size_t bytes;
    cudaMemoryType type;
    int device; /* the current one when it was allocated */
    bool owned; /* ours to free; else registered host memory */
};

std::map<uintptr_t, Allocation> allocations; /* by first address */
size_t device_bytes[2];                      /* by device */

const size_t alignment = 256;
#ifdef __has_feature /* clang */
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
const size_t zone = 0;
#else
const size_t zone = alignment; /* bytes before and behind an allocation */
#endif

/* A double that is a NaN, and so are its halves as floats. */
unsigned char zone_byte(size_t i) {
    const uint64_t word = 0x7ff7a5a57fa7a5a5u;
    return (unsigned char)(word >> i % 8 * 8);
}

void fill_zone(unsigned char *at) {
    for (size_t i = 0; i < zone; i++) at[i] = zone_byte(i);
}

void check_zone(const unsigned char *at, const char *where, size_t bytes) {
    for (size_t i = 0; i < zone; i++) {
        if (at[i] == zone_byte(i)) continue;
        fprintf(stderr, "simt: something was written %s an allocation of %zu bytes\n", where,
                bytes);
        abort();
    }
}

void check_zones(uintptr_t address, size_t bytes) {
    const unsigned char *first = (const unsigned char *)address;
    check_zone(first - zone, "before", bytes);
    check_zone(first + bytes, "behind", bytes);
}

std::map<uintptr_t, Allocation>::iterator find(const void *pointer) {
    uintptr_t address = (uintptr_t)pointer;
    auto next = allocations.upper_bound(address);
    if (next == allocations.begin()) return allocations.end();
    auto found = std::prev(next);
    return address - found->first < found->second.bytes ? found : allocations.end();
}

bool on_device(cudaMemoryType type) {
    return type == cudaMemoryTypeDevice || type == cudaMemoryTypeManaged;
}

struct Farewell {
    ~Farewell() {
        size_t left = 0;
        for (const auto &a : allocations)
            if (a.second.owned) check_zones(a.first, a.second.bytes), left += a.second.bytes;
        const char *leaks = getenv("SIMT_LEAKS");
        if (!left || !leaks || strcmp(leaks, "1") != 0) return;
        fprintf(stderr, "simt: %zu bytes were never freed\n", left);
        fflush(nullptr);
        _exit(1);
    }
} farewell;

cudaError_t allocate(void **pointer, size_t bytes, cudaMemoryType type) {
    cudaError_t error = device_state();
    if (!error) error = refuse_while_capturing();
    if (!error && !pointer) error = cudaErrorInvalidValue;
    if (error) return remember(error);
    if (!bytes) {
        *pointer = nullptr;
        return cudaSuccess;
    }
    int device = current_device();
    bool counted = on_device(type);
    const size_t room = device_memory(device);
    if (counted && (bytes > room || device_bytes[device] > room - bytes)) {
        return remember(cudaErrorMemoryAllocation);
    }
    void *memory;
    if (posix_memalign(&memory, alignment, bytes + 2 * zone))
        return remember(cudaErrorMemoryAllocation);
    fill_zone((unsigned char *)memory);
    memory = (char *)memory + zone;
    fill_zone((unsigned char *)memory + bytes);
    memset(memory, fresh_byte(), bytes);
    allocations[(uintptr_t)memory] = { bytes, type, device, true };
    if (counted) device_bytes[device] += bytes;
    *pointer = memory;
    return cudaSuccess;
}

cudaError_t release(void *pointer, bool device) {
    cudaError_t error = device_state();
    if (!error) error = refuse_while_capturing();
    if (error || !pointer) return remember(error);
    auto found = allocations.find((uintptr_t)pointer);
    if (found == allocations.end() || !found->second.owned ||
        on_device(found->second.type) != device) {
        return remember(cudaErrorInvalidValue);
    }
    if (device) device_bytes[found->second.device] -= found->second.bytes;
    check_zones(found->first, found->second.bytes);
    allocations.erase(found);
    free((char *)pointer - zone);
    return cudaSuccess;
}

/* Whether `bytes` from `pointer` can be the device's or the host's end of a copy. */
bool is_device_range(const void *pointer, size_t bytes) {
    auto found = find(pointer);
    return found != allocations.end() && found->second.type != cudaMemoryTypeUnregistered &&
           bytes <= found->second.bytes - ((uintptr_t)pointer - found->first);
}

bool is_host_range(const void *pointer) {
    auto found = find(pointer);
    return found == allocations.end() || found->second.type != cudaMemoryTypeDevice;
}

/* A known allocation must hold the whole range, whatever the direction. */
bool fits(const void *pointer, size_t bytes) {
    return find(pointer) == allocations.end() || is_device_range(pointer, bytes);
}

cudaError_t check_copy(const void *to, size_t to_bytes, const void *from, size_t from_bytes,
                       cudaMemcpyKind kind) {
    bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if ((unsigned)kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
    if (!to || !from || !fits(to, to_bytes) || !fits(from, from_bytes)) {
        return cudaErrorInvalidValue;
    }
    if (kind == cudaMemcpyDefault) return cudaSuccess;
    bool good = (to_device ? is_device_range(to, to_bytes) : is_host_range(to)) &&
                (from_device ? is_device_range(from, from_bytes) : is_host_range(from));
    return good ? cudaSuccess : cudaErrorInvalidValue;
}

} // namespace

cudaError_t cudaMalloc(void **pointer, size_t bytes) {
    Guard guard(runtime_lock);
    return allocate(pointer, bytes, cudaMemoryTypeDevice);
}

cudaError_t cudaMallocHost(void **pointer, size_t bytes, unsigned) {
    Guard guard(runtime_lock);
    return allocate(pointer, bytes, cudaMemoryTypeHost);
}

cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned flags) {
    return cudaMallocHost(pointer, bytes, flags);
}

cudaError_t cudaMallocManaged(void **pointer, size_t bytes, unsigned) {
    Guard guard(runtime_lock);
    return allocate(pointer, bytes, cudaMemoryTypeManaged);
}

cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t) {
    return cudaMalloc(pointer, bytes);
}

cudaError_t cudaFree(void *pointer) {
    Guard guard(runtime_lock);
    return release(pointer, true);
}

cudaError_t cudaFreeAsync(void *pointer, cudaStream_t) { return cudaFree(pointer); }

cudaError_t cudaFreeHost(void *pointer) {
    Guard guard(runtime_lock);
    return release(pointer, false);
}

cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned) {
    Guard guard(runtime_lock);
    cudaError_t error = device_state();
    if (error) return remember(error);
    if (!pointer || !bytes) return remember(cudaErrorInvalidValue);
    if (find(pointer) != allocations.end()) return remember(cudaErrorHostMemoryAlreadyRegistered);
    allocations[(uintptr_t)pointer] = { bytes, cudaMemoryTypeHost, current_device(), false };
    return cudaSuccess;
}

cudaError_t cudaHostUnregister(void *pointer) {
    Guard guard(runtime_lock);
    cudaError_t error = device_state();
    if (error) return remember(error);
    auto found = allocations.find((uintptr_t)pointer);
    if (found == allocations.end() || found->second.owned) {
        return remember(cudaErrorHostMemoryNotRegistered);
    }
    allocations.erase(found);
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *available, size_t *total) {
    Guard guard(runtime_lock);
    cudaError_t error = device_state();
    if (error) return remember(error);
    *total = device_memory(current_device());
    size_t used = device_bytes[current_device()];
    *available = *total > used ? *total - used : 0;
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *pointer) {
    Guard guard(runtime_lock);
    cudaError_t error = device_state();
    if (error) return remember(error);
    if (!attributes) return remember(cudaErrorInvalidValue);
    auto found = find(pointer);
    void *address = const_cast<void *>(pointer);
    if (found == allocations.end()) {
        *attributes = { cudaMemoryTypeUnregistered, -2, nullptr, address };
    } else {
        cudaMemoryType type = found->second.type;
        *attributes = { type, found->second.device, address,
                        type == cudaMemoryTypeDevice ? nullptr : address };
    }
    return cudaSuccess;
}

namespace {

typedef cudaError_t (*Enter)(cudaStream_t, const std::function<void()> &);

cudaError_t legacy(cudaStream_t, const std::function<void()> &operation) {
    return in_legacy_stream(operation);
}

cudaError_t copy(Enter enter, cudaStream_t stream, void *to, size_t to_pitch, const void *from,
                 size_t from_pitch, size_t width, size_t height, cudaMemcpyKind kind) {
    Guard guard(runtime_lock);
    cudaError_t error = device_state();
    if (error) return remember(error);
    if (to_pitch < width || from_pitch < width) return remember(cudaErrorInvalidPitchValue);
    if (!width || !height) return cudaSuccess;
    error = check_copy(to, (height - 1) * to_pitch + width, from, (height - 1) * from_pitch + width,
                       kind);
    if (error) return remember(error);
    return remember(enter(stream, [=] {
        for (size_t row = 0; row < height; row++) {
            memmove((char *)to + row * to_pitch, (const char *)from + row * from_pitch, width);
        }
    }));
}

cudaError_t set(Enter enter, cudaStream_t stream, void *to, int value, size_t bytes) {
    Guard guard(runtime_lock);
    cudaError_t error = device_state();
    if (error) return remember(error);
    if (!bytes) return cudaSuccess;
    if (!is_device_range(to, bytes)) return remember(cudaErrorInvalidValue);
    return remember(enter(stream, [=] { memset(to, value, bytes); }));
}

} // namespace

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
    return copy(legacy, nullptr, to, bytes, from, bytes, bytes, 1, kind);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
    return copy(in_stream, stream, to, bytes, from, bytes, bytes, 1, kind);
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind) {
    return copy(legacy, nullptr, to, to_pitch, from, from_pitch, width, height, kind);
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
    return copy(in_stream, stream, to, to_pitch, from, from_pitch, width, height, kind);
}

cudaError_t cudaMemset(void *to, int value, size_t bytes) {
    return set(legacy, nullptr, to, value, bytes);
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream) {
    return set(in_stream, stream, to, value, bytes);
}

cudaError_t simt::copy_to_symbol(void *symbol, const void *from, size_t bytes) {
    Guard guard(runtime_lock);
    cudaError_t error = device_state();
    if (!error && (!symbol || !from)) error = cudaErrorInvalidValue;
    if (error) return remember(error);
    return remember(in_legacy_stream([=] { memcpy(symbol, from, bytes); }));
}
