/* SPDX-License-Identifier: Apache-2.0
 *
 * chain.cuh - the look-back: how a tile gets the state before it from the tiles before it, and what it
 * publishes for the tiles after it.
 *
 * A tile publishes its map as soon as it has it. 32 tiles are a group, which publishes its map too,
 * and its value, the state after it, once that is known: its last tile does. The state before tile p
 * of group g is
 *
 *     x = (maps of the group's tiles 0 .. p-1, joined by the tree of scan_lanes)(V_g),
 *     V_{g+1} = (map of group g)(V_g),   V_0 = w0,
 *
 * and a tile that waits for V_g takes the nearest group whose value is there and applies the maps
 * of the groups in between, oldest first: the same operations on the same numbers as those that
 * made the values in between. So the bits do not depend on where it found what, or when. One look
 * of a warp reaches 32 groups back, 1024 tiles, more than are in flight.
 *
 * A tile whose map is not finite is hard: it publishes no map, and its value once that is known. To
 * the tiles after it, it is the constant map of that value. Maps that are finite, but not when
 * joined, are applied to the value before them one after the other; a group of such maps is hard.
 * A tile whose map takes the state before it to one that is not finite publishes its value after the
 * fact (is_sound); so does such a group. The tiles after it find the same state before it by the same
 * operations, see that its map does not do, and wait for that value.
 *
 * What is published are words of 32 bits of a number and a tag, the first with a map's exponent: one is there or not, whatever became of
 * the others. So no fence is needed, and one load gets both the tag and the number.
 */
#ifndef SHOAL_RECUR_CHAIN_CUH
#define SHOAL_RECUR_CHAIN_CUH

#include "recur/strip.cuh"

enum { GROUP = 32 };
enum { WORD_EMPTY, WORD_THERE, WORD_HARD }; /* tags of a word */

typedef unsigned long long word; /* 32 bits of a number below a tag */

/* Tiles, or groups, of all segments. A number is one word, a double two; each has a tag that marks it as
 * written, so that no order of writing has to be kept. Word e of link i is maps[e * count + i]. */
typedef struct links {
    word *maps, *values;
    int64_t count;
} links;

typedef struct chain { /* of one segment */
    links tiles, groups;
    int64_t first_tile, first_group; /* of this segment among all */
    int64_t length;                  /* tiles of a segment        */
} chain;

/* A map as it is published. In float a map of order 1 is two numbers and an exponent. */
template <int SHAPE> struct published_map {
    typedef typename joined_map<SHAPE>::number number;
    number m[map_size(SHAPE)];
    int e;
    __device__ explicit published_map(const joined_map<SHAPE> &a) : e(a.e) {
#pragma unroll
        for (int i = 0; i < map_size(SHAPE); i++) m[i] = a.m[i];
    }
    __device__ joined_map<SHAPE> map() const {
        joined_map<SHAPE> a = {};
#pragma unroll
        for (int i = 0; i < map_size(SHAPE); i++) a.m[i] = m[i];
        a.e = e;
        return a;
    }
};
#ifdef SHOAL_SINGLE
template <> struct published_map<1> {
    float m[2];
    int e;
    __device__ explicit published_map(const joined_map<1> &a) {
        int exponent = 0;
        m[0] = (float)frexp(a.m[0], &exponent), m[1] = (float)a.m[1];
        e = exponent;
    }
    __device__ joined_map<1> map() const {
        const joined_map<1> a = { { scalbn((double)m[0], e), m[1] }, 0 };
        return a;
    }
};
#endif

__host__ __device__ static constexpr int words_of_map(int shape) {
    return map_size(shape) * (int)sizeof(real) / 4;
}
__host__ __device__ static constexpr int words_of_state(int shape) {
    return state_size(shape) * (int)sizeof(real) / 4;
}

/* One lane writes `WORDS` words as link i: `more` goes with the first, beside its tag. */
template <int WORDS>
__device__ static inline void publish(word *to, const links &l, int64_t i, const void *from,
                                      int more) {
#pragma unroll
    for (int e = 0; e < WORDS; e++) {
        uint32_t bits;
        memcpy(&bits, (const char *)from + e * sizeof bits, sizeof bits);
        const uint32_t beside = e ? 0 : (uint32_t)more << 2;
        atomicExch(&to[e * l.count + i], (word)(beside | WORD_THERE) << 32 | bits);
    }
}

template <int SHAPE>
__device__ static inline void publish_map(const links &to, int64_t i, const joined_map<SHAPE> &a) {
    const published_map<SHAPE> p(a);
    publish<words_of_map(SHAPE)>(to.maps, to, i, p.m, p.e);
}
template <int SHAPE>
__device__ static inline void publish_value(const links &to, int64_t i, const recur_state &x) {
    publish<words_of_state(SHAPE)>(to.values, to, i, &x, 0);
}
__device__ static inline void publish_hard(const links &to, int64_t i) {
    atomicExch(&to.maps[i], (word)WORD_HARD << 32);
}

/* Loads those words, and `more`: WORD_EMPTY unless all are there. */
template <int WORDS>
__device__ static inline int load_link(const word *from, const links &l, int64_t i, void *to,
                                       int *more) {
    word seen[WORDS];
    bool all = true;
#pragma unroll
    for (int e = 0; e < WORDS; e++) seen[e] = shoal_load_relaxed(&from[e * l.count + i]);
#pragma unroll
    for (int e = 0; e < WORDS; e++) {
        const uint32_t bits = (uint32_t)seen[e];
        memcpy((char *)to + e * sizeof bits, &bits, sizeof bits);
        all = all && (seen[e] >> 32 & 3) == WORD_THERE;
    }
    *more = (int)(seen[0] >> 32) >> 2;
    if ((seen[0] >> 32 & 3) == WORD_HARD) return WORD_HARD;
    return all ? WORD_THERE : WORD_EMPTY;
}

template <int SHAPE>
__device__ static inline int map_of_link(const links &from, int64_t i, joined_map<SHAPE> &a) {
    published_map<SHAPE> p(a);
    const int seen = load_link<words_of_map(SHAPE)>(from.maps, from, i, p.m, &p.e);
    a = p.map();
    return seen;
}
template <int SHAPE>
__device__ static inline int value_of_link(const links &from, int64_t i, recur_state &x) {
    int none;
    return load_link<words_of_state(SHAPE)>(from.values, from, i, &x, &none);
}

/* The state after a link from that before it, by its map; or the link's value, where the map does not do. It is
 * link i of lane `lane`. */
template <int SHAPE>
__device__ static inline recur_state state_after_link(const links &from, int64_t i, int lane,
                                                      const joined_map<SHAPE> &a,
                                                      const recur_state &x) {
    recur_state y = joined_apply<SHAPE>(a, x);
    if (is_sound<SHAPE>(x, y)) return y;
    if ((int)(threadIdx.x % 32) == lane)
        while (value_of_link<SHAPE>(from, i, y) == WORD_EMPTY) SHOAL_SPIN_WAIT();
    return state_from_lane<SHAPE>(y, lane);
}

/* The state before group g > 0 of a chain, in every lane; `first` is that before group 0. */
template <int SHAPE>
__device__ static inline recur_state state_before_group(const chain &c, int64_t g,
                                                        const recur_state &first) {
    const int lane = threadIdx.x % 32;
    const int64_t mine = g - 1 - lane,
                  i = c.first_group + mine; /* what this lane looks at; -1: w0 */
    joined_map<SHAPE> a = joined_identity<SHAPE>();
    recur_state x = first;
    bool map = false, value = mine == -1;
    int nearest;
    for (;;) {
        if (mine >= 0 && !value) {
            value = value_of_link<SHAPE>(c.groups, i, x) == WORD_THERE;
            if (!map) map = map_of_link<SHAPE>(c.groups, i, a) == WORD_THERE;
        }
        const unsigned values = __ballot_sync(ALL_LANES, value);
        const unsigned maps = __ballot_sync(ALL_LANES, map);
        const unsigned between = values ? (values & (0u - values)) - 1 : 0;
        nearest = __popc(between);
        if (values && (maps & between) == between) break;
        SHOAL_SPIN_WAIT();
    }
    x = state_from_lane<SHAPE>(x, nearest);
    for (int l = nearest - 1; l >= 0; l--) { /* V_{h+1} = (map of group h)(V_h) */
        const joined_map<SHAPE> b = map_from_lane<SHAPE>(a, l);
        x = state_after_link<SHAPE>(c.groups, i, l, b, x);
    }
    return x;
}

/* The state before tile j of a chain, in every lane. The tile has the map `own`, unless it is hard;
 * `first` is the state before tile 0. Publishes the tile's map, and the group's where the tile is
 * its last. *closed: the group's value is published too, else that is left to finish_link(). */
template <int SHAPE>
__device__ static inline recur_state begin_link(const chain &c, int64_t j,
                                                const joined_map<SHAPE> &own, bool hard,
                                                const recur_state &first, bool *closed) {
    const int lane = threadIdx.x % 32, p = (int)(j % GROUP);
    const int64_t g = j / GROUP, tile = c.first_tile + j, group = c.first_group + g;
    const bool last_of_all = j + 1 == c.length, closes = p == GROUP - 1 && !last_of_all;
    *closed = !closes;
    if (lane == 0 && !last_of_all) {
        if (hard)
            publish_hard(c.tiles, tile);
        else
            publish_map<SHAPE>(c.tiles, tile, own);
    }
    joined_map<SHAPE> a = joined_identity<SHAPE>();
    bool constant = false;
    if (lane < p) {
        const int64_t i = tile - p + lane;
        int seen;
        while ((seen = map_of_link<SHAPE>(c.tiles, i, a)) == WORD_EMPTY) SHOAL_SPIN_WAIT();
        constant = seen == WORD_HARD;
        if (constant) {
            recur_state x = {};
            while (value_of_link<SHAPE>(c.tiles, i, x) == WORD_EMPTY) SHOAL_SPIN_WAIT();
            a = joined_constant<SHAPE>(x);
        }
    }
    const unsigned constants = __ballot_sync(ALL_LANES, constant);
    const int last = 31 - __clz((int)constants);   /* of the constants; -1: there is none */
    if (lane < last) a = joined_identity<SHAPE>(); /* forgotten */
    joined_map<SHAPE> before = joined_identity<SHAPE>(), through = a;
    if (p > 0) through = scan_lanes<SHAPE>(a), before = map_from_lane<SHAPE>(through, p - 1);
    joined_map<SHAPE> all = own;
    if (closes) all = join<SHAPE>(before, own);
    const bool group_map = closes && !hard && is_finite<SHAPE>(all);
    if (closes && lane == 0) {
        if (group_map)
            publish_map<SHAPE>(c.groups, group, all);
        else
            publish_hard(c.groups, group);
    }
    recur_state x = first;
    if (g > 0 && last < 0) x = state_before_group<SHAPE>(c, g, first);
    if (group_map) {
        const recur_state end = joined_apply<SHAPE>(all, x);
        *closed = is_sound<SHAPE>(x, end);
        if (lane == 0 && *closed) publish_value<SHAPE>(c.groups, group, end);
    }
    if (p == 0) return x;
    const recur_state tile_state = joined_apply<SHAPE>(before, x);
    if (is_finite<SHAPE>(before) && is_sound<SHAPE>(x, tile_state)) return tile_state;
    recur_state y = x; /* before tile l, as that tile itself found it */
    for (int l = last < 0 ? 0 : last; l < p; l++) {
        const joined_map<SHAPE> one = map_from_lane<SHAPE>(a, l),
                                joined = map_from_lane<SHAPE>(through, l);
        const recur_state after = joined_apply<SHAPE>(joined, x);
        if (is_finite<SHAPE>(joined) && is_sound<SHAPE>(x, after))
            y = after;
        else
            y = state_after_link<SHAPE>(c.tiles, tile - p + lane, l, one, y);
    }
    return y;
}

/* The state after tile j, where somebody waits for it: `hard` has the tiles whose map does not do, too. */
template <int SHAPE>
__device__ static inline void finish_link(const chain &c, int64_t j, const recur_state &x,
                                          bool hard, bool closed) {
    if (threadIdx.x % 32 != 0 || j + 1 == c.length) return;
    if (hard) publish_value<SHAPE>(c.tiles, c.first_tile + j, x);
    if (!closed) publish_value<SHAPE>(c.groups, c.first_group + j / GROUP, x);
}

#endif
