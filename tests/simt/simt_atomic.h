/* SPDX-License-Identifier: Apache-2.0
 *
 * simt_atomic.h - atomics, fences and cached loads and stores.
 *
 * An atomic is a relaxed atomic of the host compiler, which ThreadSanitizer sees as such, between
 * two calls to the emulator: one to give way now and then, so that a loop of atomics cannot starve
 * the thread it waits for, and one to remember the address, so that a later __threadfence orders
 * what the CUDA memory model orders and no more:
 *
 *     writer: data, __threadfence(), atomic on flag      reader: atomic on flag, __threadfence(),
 *                                                                data
 *
 * A fence left out on either side is a race, and ThreadSanitizer reports it (but see README.md).
 * Flags that a loop polls are read by an atomic or by shoal_load_relaxed: a plain volatile read is neither
 * atomic nor a place where others can run.
 */
#ifndef SHOAL_SIMT_ATOMIC_H
#define SHOAL_SIMT_ATOMIC_H

#include "simt_warp.h"

namespace simt {

void before_atomic(const void *address);
void after_atomic(const void *address);
void fence();

template <size_t bytes> struct Word;
template <> struct Word<4> { typedef uint32_t type; };
template <> struct Word<8> { typedef uint64_t type; };

/* old = *p; *p = change(old), as one step, for any 4-byte or 8-byte number */
template <class T, class Change> inline T atomic_change(T *p, Change change) {
    typedef typename Word<sizeof(T)>::type word;
    word *address = reinterpret_cast<word *>(p);
    before_atomic(p);
    word seen = __atomic_load_n(address, __ATOMIC_RELAXED), wanted;
    T old;
    do {
        memcpy(&old, &seen, sizeof old);
        T value = change(old);
        memcpy(&wanted, &value, sizeof wanted);
    } while (!__atomic_compare_exchange_n(address, &seen, wanted, false, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    after_atomic(p);
    return old;
}

/* The second argument of an atomic follows the type of the first: atomicAdd(&float, 1) works. */
template <class T> struct same { typedef T type; };
template <class T> using same_t = typename same<T>::type;

/* Signed overflow wraps on the device, so integers are added as unsigned. */
template <class T, bool integral = std::is_integral<T>::value> struct Sum {
    static T of(T a, T b) {
        typedef typename std::make_unsigned<T>::type bits;
        return (T)((bits)a + (bits)b);
    }
};
template <class T> struct Sum<T, false> {
    static T of(T a, T b) { return a + b; }
};

} // namespace simt

template <class T> inline T atomicAdd(T *p, simt::same_t<T> v) {
    return simt::atomic_change(p, [v](T old) { return simt::Sum<T>::of(old, v); });
}
template <class T> inline T atomicSub(T *p, simt::same_t<T> v) {
    static_assert(std::is_integral<T>::value, "atomicSub takes integers");
    return simt::atomic_change(p, [v](T old) { return simt::Sum<T>::of(old, (T)(0u - v)); });
}
template <class T> inline T atomicMin(T *p, simt::same_t<T> v) {
    static_assert(std::is_integral<T>::value, "atomicMin takes integers");
    return simt::atomic_change(p, [v](T old) { return old < v ? old : v; });
}
template <class T> inline T atomicMax(T *p, simt::same_t<T> v) {
    static_assert(std::is_integral<T>::value, "atomicMax takes integers");
    return simt::atomic_change(p, [v](T old) { return old > v ? old : v; });
}
template <class T> inline T atomicAnd(T *p, simt::same_t<T> v) {
    return simt::atomic_change(p, [v](T old) { return (T)(old & v); });
}
template <class T> inline T atomicOr(T *p, simt::same_t<T> v) {
    return simt::atomic_change(p, [v](T old) { return (T)(old | v); });
}
template <class T> inline T atomicXor(T *p, simt::same_t<T> v) {
    return simt::atomic_change(p, [v](T old) { return (T)(old ^ v); });
}
template <class T> inline T atomicExch(T *p, simt::same_t<T> v) {
    return simt::atomic_change(p, [v](T) { return v; });
}
template <class T> inline T atomicCAS(T *p, simt::same_t<T> expected, simt::same_t<T> v) {
    static_assert(std::is_integral<T>::value, "atomicCAS takes integers");
    return simt::atomic_change(p, [expected, v](T old) { return old == expected ? v : old; });
}
inline unsigned atomicInc(unsigned *p, unsigned limit) {
    return simt::atomic_change(p, [limit](unsigned old) { return old >= limit ? 0 : old + 1; });
}
inline unsigned atomicDec(unsigned *p, unsigned limit) {
    return simt::atomic_change(
        p, [limit](unsigned old) { return old == 0 || old > limit ? limit : old - 1; });
}
template <class T> inline T atomicAdd_block(T *p, simt::same_t<T> v) { return atomicAdd(p, v); }
template <class T> inline T atomicAdd_system(T *p, simt::same_t<T> v) { return atomicAdd(p, v); }

static inline void __threadfence() { simt::fence(); }
static inline void __threadfence_block() { simt::fence(); }
static inline void __threadfence_system() { simt::fence(); }

/* A look at what other threads write, of 4 or 8 bytes; it gives way. */
template <class T> inline T shoal_load_relaxed(const T *p) {
    typedef typename simt::Word<sizeof(T)>::type word;
    simt::before_atomic(nullptr);
    word bits = __atomic_load_n(reinterpret_cast<const word *>(p), __ATOMIC_RELAXED);
    T value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Cache hints mean nothing here. */
template <class T> inline T __ldg(const T *p) { return *p; }
template <class T> inline T __ldcg(const T *p) { return *p; }
template <class T> inline T __ldca(const T *p) { return *p; }
template <class T> inline T __ldcs(const T *p) { return *p; }
template <class T> inline void __stcg(T *p, simt::same_t<T> value) { *p = value; }
template <class T> inline void __stcs(T *p, simt::same_t<T> value) { *p = value; }
template <class T> inline void __stwt(T *p, simt::same_t<T> value) { *p = value; }

#endif
