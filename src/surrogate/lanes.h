/* SPDX-License-Identifier: Apache-2.0
 *
 * lanes.h - matrix products of a network on the CPU, over blocks of SURROGATE_LANES rows of
 * data, in panels of PANEL: number s of neuron r lies at [panel][r][lane].
 *
 *     apply    out[r][s] = start[r] + sum over k of w(k,r) in[k][s]     TILE neurons x a panel at a time
 *     outer    to[i][o] = sum over s of in[i][s] d[o][s]                 TILE x TILE sums of vectors,
 *                                                                        or added to what was there
 *
 * Weights of `apply` are packed, [tile of neurons][k][TILE], so that a tile reads one piece of
 * memory, as it does of a panel: rows of 512 bytes would share a few sets of the cache. Sums run
 * in one order, k and s ascending, whatever the threads. A tile of `apply` has TILE SPAN fused
 * multiply-adds for SPAN + TILE loads, and never leaves the registers.
 */
#ifndef SHOAL_SURROGATE_LANES_H
#define SHOAL_SURROGATE_LANES_H

#include "core/vec.h"
#include "surrogate/surrogate.h"
#include "surrogate/gate.h"

enum { TILE = 4, SPAN = VEC_REGISTERS >= 32 ? 4 : 2 };
enum { PANEL = SPAN * (int)VEC, PANELS = SURROGATE_LANES / PANEL };

#define INLINE static inline __attribute__((always_inline))

/* w(k,r) = from[k * by_input + r * by_neuron] for `apply`; neurons are a multiple of TILE. */
static inline void pack(const real *from, int64_t by_input, int64_t by_neuron, int64_t inputs,
                        int64_t neurons, real *to) {
    for (int64_t r = 0; r < neurons; r += TILE)
        for (int64_t k = 0; k < inputs; k++)
            for (int i = 0; i < TILE; i++) *to++ = from[k * by_input + (r + i) * by_neuron];
}

INLINE void apply_tile(const real *w, const real *start, const real *in, int64_t inputs,
                       real *out) {
    vec sum[TILE][SPAN];
    for (int r = 0; r < TILE; r++)
        for (int p = 0; p < SPAN; p++) sum[r][p] = vec_all(start ? start[r] : 0);
    for (int64_t k = 0; k < inputs; k++, w += TILE, in += PANEL) {
        vec v[SPAN];
        for (int p = 0; p < SPAN; p++) v[p] = *(const vec *)(in + p * VEC);
        for (int r = 0; r < TILE; r++) {
            const vec factor = vec_all(w[r]);
            for (int p = 0; p < SPAN; p++) sum[r][p] = vec_fma(factor, v[p], sum[r][p]);
        }
    }
    for (int r = 0; r < TILE; r++)
        for (int p = 0; p < SPAN; p++) *(vec *)(out + r * PANEL + p * VEC) = sum[r][p];
}

/* start NULL: zeros. */
INLINE void apply(const real *w, const real *start, const real *in, int64_t inputs, real *out,
                  int64_t neurons) {
    for (int panel = 0; panel < PANELS; panel++, in += inputs * PANEL, out += neurons * PANEL)
        for (int64_t r = 0; r < neurons; r += TILE)
            apply_tile(w + r * inputs, start ? start + r : NULL, in, inputs, out + r * PANEL);
}

/* The sums of the lanes of TILE vectors, next to each other. */
INLINE void store_sums(vec sum[TILE], real *to, int add) {
    if ((int)VEC == (int)TILE) { /* all at once: rows become columns */
        vec turned[VEC];
        for (int i = 0; i < (int)VEC; i++) turned[i] = sum[i % TILE];
        vec_transpose(turned);
        vec all = turned[0];
        for (int i = 1; i < (int)VEC; i++) all += turned[i];
        for (int i = 0; i < (int)VEC; i++) to[i] = add ? to[i] + all[i] : all[i];
    } else {
        for (int o = 0; o < TILE; o++) {
            real all = sum[o][0];
            for (int i = 1; i < (int)VEC; i++) all += sum[o][i];
            to[o] = add ? to[o] + all : all;
        }
    }
}

/* `rows` inputs, at most TILE, and TILE neurons. */
INLINE void outer_tile(int rows, const real *in, int64_t inputs, const real *d, int64_t neurons,
                       real *to, int add) {
    vec sum[TILE][TILE];
    for (int i = 0; i < rows; i++)
        for (int o = 0; o < TILE; o++) sum[i][o] = vec_all(0);
    for (int panel = 0; panel < PANELS; panel++, in += inputs * PANEL, d += neurons * PANEL)
        for (int p = 0; p < SPAN; p++) {
            vec v[TILE];
            for (int o = 0; o < TILE; o++) v[o] = *(const vec *)(d + o * PANEL + p * VEC);
            for (int i = 0; i < rows; i++) {
                const vec u = *(const vec *)(in + i * PANEL + p * VEC);
                for (int o = 0; o < TILE; o++) sum[i][o] = vec_fma(u, v[o], sum[i][o]);
            }
        }
    for (int i = 0; i < rows; i++) store_sums(sum[i], to + i * neurons, add);
}

INLINE void outer(const real *in, int64_t inputs, const real *d, int64_t neurons, real *to,
                  int add) {
    for (int64_t o = 0; o < neurons; o += TILE) {
        const real *from = d + o * PANEL;
        int64_t i = 0;
        for (; i + TILE <= inputs; i += TILE)
            outer_tile(TILE, in + i * PANEL, inputs, from, neurons, to + i * neurons + o, add);
        for (; i < inputs; i++)
            outer_tile(1, in + i * PANEL, inputs, from, neurons, to + i * neurons + o, add);
    }
}

#ifdef SHOAL_SINGLE
typedef uint32_t vec_bits __attribute__((vector_size(VEC_BYTES)));
#else
typedef uint64_t vec_bits __attribute__((vector_size(VEC_BYTES)));
#endif
static const real gate_series[GATE_DEGREE + 1] = GATE_SERIES;

/* v, or the nearer end of -most .. most; of NaN any of them. NEON does in two instructions what
 * a choice takes four for. */
INLINE vec vec_cut(vec v, real most) {
#if defined(__aarch64__) && defined(SHOAL_SINGLE)
    return (vec)vminnmq_f32(vmaxnmq_f32((float32x4_t)v, vdupq_n_f32(-most)), vdupq_n_f32(most));
#elif defined(__aarch64__)
    return (vec)vminnmq_f64(vmaxnmq_f64((float64x2_t)v, vdupq_n_f64(-most)), vdupq_n_f64(most));
#else
    return vec_min(vec_max(v, vec_all(-most)), vec_all(most));
#endif
}

/* 1 / (1 + e^-z) by gate.h. */
INLINE vec vec_gate(vec z) {
    vec t = z * vec_all((real)-0x1.71547652b82fep+0);
    t = vec_cut(t, GATE_MAX);
    const vec whole = t + vec_all(GATE_MAGIC), f = t - (whole - vec_all(GATE_MAGIC));
    vec power = vec_all(gate_series[0]);
    for (int i = 1; i <= GATE_DEGREE; i++) power = vec_fma(power, f, vec_all(gate_series[i]));
    power = (vec)((vec_bits)power + ((vec_bits)whole << GATE_SHIFT));
    return vec_all(1) / (vec_all(1) + power);
}

/* a_l, and, where wanted, f'(z_l), out of z_l in place. */
INLINE void activate(real *act, real *slope, int64_t count) {
    for (int64_t i = 0; i < count; i += PANEL) { /* a panel's vectors hide each other's delays */
        vec z[SPAN], g[SPAN];
        for (int p = 0; p < SPAN; p++) z[p] = *(const vec *)(act + i + p * VEC);
        for (int p = 0; p < SPAN; p++) g[p] = vec_gate(z[p]);
        for (int p = 0; p < SPAN; p++) {
            const vec value = z[p] * g[p];
            *(vec *)(act + i + p * VEC) = value;
            if (slope) *(vec *)(slope + i + p * VEC) = g[p] * (vec_all(1) + z[p] - value);
        }
    }
}

/* out[s] = start + sum over k of w[k] in[k][s], lanes in a row: a layer of one neuron. */
INLINE void combine(const real *w, real start, const real *in, int64_t inputs, real *out) {
    for (int panel = 0; panel < PANELS; panel++) {
        vec sum[SPAN];
        for (int p = 0; p < SPAN; p++) sum[p] = vec_all(start);
        for (int64_t k = 0; k < inputs; k++, in += PANEL) {
            const vec factor = vec_all(w[k]);
            for (int p = 0; p < SPAN; p++)
                sum[p] = vec_fma(factor, *(const vec *)(in + p * VEC), sum[p]);
        }
        for (int p = 0; p < SPAN; p++) *(vec *)(out + panel * PANEL + p * VEC) = sum[p];
    }
}

/* to[k] = sum over s of in[k][s] d[s], lanes of d in a row, or added to it; d NULL: of in[k][s]. */
INLINE void project(const real *in, int64_t inputs, const real *d, real *to, int add) {
    for (int64_t k = 0; k < inputs; k++) {
        vec sum = vec_all(0);
        for (int panel = 0; panel < PANELS; panel++)
            for (int p = 0; p < SPAN; p++) {
                const vec v = *(const vec *)(in + (panel * inputs + k) * PANEL + p * VEC);
                const real *at = d ? d + panel * PANEL + p * VEC : NULL;
                sum = vec_fma(v, at ? *(const vec *)at : vec_all(1), sum);
            }
        real all = sum[0];
        for (int i = 1; i < (int)VEC; i++) all += sum[i];
        to[k] = add ? to[k] + all : all;
    }
}

#endif
