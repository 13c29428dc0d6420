/* SPDX-License-Identifier: Apache-2.0
 *
 * simt_types.h - the words of CUDA C++ that are types or qualifiers, for a host compiler: dim3,
 * the small vectors with their make_ functions, and __global__ and its kin.
 *
 * The standard headers come first on purpose: libstdc++ writes __attribute__((__noinline__)) in a
 * few places, which the qualifier of that name would break (nvcc has the same trap).
 */
#ifndef SHOAL_SIMT_TYPES_H
#define SHOAL_SIMT_TYPES_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#define __global__
#define __device__
#define __host__
#define __grid_constant__
#define __launch_bounds__(...)
#define __constant__     static
#define __managed__      static
#define __forceinline__  inline __attribute__((always_inline))
#define __noinline__     __attribute__((noinline))
#define __align__(bytes) __attribute__((aligned(bytes)))

/* A shared variable belongs to a block, and several blocks can be alive at once, so no C++ storage
 * class will do. The expansion is an unknown type whose name is the error message. */
#define __shared__ write_SHOAL_SHARED_ARRAY_or_SHOAL_SHARED_instead_of___shared__

#ifndef __clang__
#define __builtin_assume(condition) ((void)0)
#endif

/* clang-format off */
struct uint3 { unsigned x, y, z; };
struct int3 { int x, y, z; };
struct float3 { float x, y, z; };
struct double3 { double x, y, z; };
struct __align__(2) char2 { signed char x, y; };
struct __align__(4) char4 { signed char x, y, z, w; };
struct __align__(4) uchar4 { unsigned char x, y, z, w; };
struct __align__(4) short2 { short x, y; };
struct __align__(8) short4 { short x, y, z, w; };
struct __align__(8) int2 { int x, y; };
struct __align__(16) int4 { int x, y, z, w; };
struct __align__(8) uint2 { unsigned x, y; };
struct __align__(16) uint4 { unsigned x, y, z, w; };
struct __align__(8) float2 { float x, y; };
struct __align__(16) float4 { float x, y, z, w; };
struct __align__(16) double2 { double x, y; };
struct __align__(16) double4 { double x, y, z, w; };
struct __align__(16) longlong2 { long long x, y; };
struct __align__(16) longlong4 { long long x, y, z, w; };
struct __align__(16) ulonglong2 { unsigned long long x, y; };
struct __align__(16) ulonglong4 { unsigned long long x, y, z, w; };

static inline uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return { x, y, z }; }
static inline int3 make_int3(int x, int y, int z) { return { x, y, z }; }
static inline float3 make_float3(float x, float y, float z) { return { x, y, z }; }
static inline double3 make_double3(double x, double y, double z) { return { x, y, z }; }
static inline char2 make_char2(signed char x, signed char y) { return { x, y }; }
static inline char4 make_char4(signed char x, signed char y, signed char z, signed char w) { return { x, y, z, w }; }
static inline uchar4 make_uchar4(unsigned char x, unsigned char y, unsigned char z, unsigned char w) { return { x, y, z, w }; }
static inline short2 make_short2(short x, short y) { return { x, y }; }
static inline short4 make_short4(short x, short y, short z, short w) { return { x, y, z, w }; }
static inline int2 make_int2(int x, int y) { return { x, y }; }
static inline int4 make_int4(int x, int y, int z, int w) { return { x, y, z, w }; }
static inline uint2 make_uint2(unsigned x, unsigned y) { return { x, y }; }
static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return { x, y, z, w }; }
static inline float2 make_float2(float x, float y) { return { x, y }; }
static inline float4 make_float4(float x, float y, float z, float w) { return { x, y, z, w }; }
static inline double2 make_double2(double x, double y) { return { x, y }; }
static inline double4 make_double4(double x, double y, double z, double w) { return { x, y, z, w }; }
static inline longlong2 make_longlong2(long long x, long long y) { return { x, y }; }
static inline longlong4 make_longlong4(long long x, long long y, long long z, long long w) { return { x, y, z, w }; }
static inline ulonglong2 make_ulonglong2(unsigned long long x, unsigned long long y) { return { x, y }; }
static inline ulonglong4 make_ulonglong4(unsigned long long x, unsigned long long y, unsigned long long z, unsigned long long w) { return { x, y, z, w }; }
/* clang-format on */

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    operator uint3() const { return { x, y, z }; }
};

namespace simt {

/* A place in the source: the default argument of every barrier and warp operation, so that a
 * message can say where the threads of a block stand. */
struct Where {
    const char *file;
    int line;
};

constexpr Where here(const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
    return { file, line };
}

} // namespace simt

#endif
