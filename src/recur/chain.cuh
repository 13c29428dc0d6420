/* SPDX-License-Identifier: Apache-2.0
 *
 * chain.cuh - the look-back: how a tile learns the state before it from the tiles before it, and
 * what it tells the tiles after it.
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
 */
#ifndef SHOAL_RECUR_CHAIN_CUH
#define SHOAL_RECUR_CHAIN_CUH

#include "recur/strip.cuh"

enum { GROUP = 32 };
enum { LINK_MAP = 1, LINK_HARD = 2, LINK_VALUE = 4 }; /* what a link has published */

/* Tiles, or groups, of all segments: number e of link i is maps[e * count + i]. */
typedef struct links {
    int32_t *flags;
    real *maps, *values;
    int64_t count;
} links;

typedef struct chain { /* of one segment */
    links tiles, groups;
    int64_t first_tile, first_group; /* of this segment among all */
    int64_t length;                  /* tiles of a segment        */
} chain;

/* One lane publishes. */
template <int SHAPE>
__device__ static inline void publish_map(const links &to, int64_t i, const recur_map &a) {
#pragma unroll
    for (int e = 0; e < map_size(SHAPE); e++) to.maps[e * to.count + i] = a.m[e];
    shoal_store_release(&to.flags[i], (int32_t)LINK_MAP);
}

template <int SHAPE>
__device__ static inline void publish_value(const links &to, int64_t i, const recur_state &x,
                                            int32_t before) {
#pragma unroll
    for (int e = 0; e < state_size(SHAPE); e++) to.values[e * to.count + i] = x.x[e];
    shoal_store_release(&to.flags[i], (int32_t)(before | LINK_VALUE));
}

__device__ static inline int32_t wait_for(const links &from, int64_t i, int32_t wanted) {
    int32_t flag;
    while (!((flag = shoal_glance(&from.flags[i])) & wanted)) SHOAL_SPIN_WAIT();
    __threadfence(); /* what was published before the flag is seen after it */
    return flag;
}

template <int SHAPE> __device__ static inline recur_map map_of_link(const links &from, int64_t i) {
    recur_map a = {};
#pragma unroll
    for (int e = 0; e < map_size(SHAPE); e++) a.m[e] = __ldcg(&from.maps[e * from.count + i]);
    return a;
}

template <int SHAPE>
__device__ static inline recur_state value_of_link(const links &from, int64_t i) {
    recur_state x = {};
#pragma unroll
    for (int e = 0; e < state_size(SHAPE); e++) x.x[e] = __ldcg(&from.values[e * from.count + i]);
    return x;
}

/* The state before group g > 0 of a chain, in every lane; `first` is that before group 0. */
template <int SHAPE>
__device__ static inline recur_state state_before_group(const chain &c, int64_t g,
                                                        const recur_state &first) {
    const int lane = threadIdx.x % 32;
    const int64_t mine = g - 1 - lane; /* the group this lane looks at; -1: w0 */
    int nearest;
    for (;;) {
        const int32_t flag = mine >= 0    ? shoal_glance(&c.groups.flags[c.first_group + mine])
                             : mine == -1 ? LINK_VALUE
                                          : 0;
        const unsigned values = __ballot_sync(ALL_LANES, flag & LINK_VALUE);
        const unsigned maps = __ballot_sync(ALL_LANES, flag & LINK_MAP);
        const unsigned between = values ? (values & (0u - values)) - 1 : 0;
        nearest = __popc(between);
        if (values && (maps & between) == between) break;
        SHOAL_SPIN_WAIT();
    }
    __threadfence();
    recur_state x = first;
    recur_map a = map_identity(SHAPE);
    if (lane == nearest && mine >= 0) x = value_of_link<SHAPE>(c.groups, c.first_group + mine);
    if (lane < nearest) a = map_of_link<SHAPE>(c.groups, c.first_group + mine);
    x = state_from_lane<SHAPE>(x, nearest);
    for (int l = nearest - 1; l >= 0; l--) { /* V_{h+1} = (map of group h)(V_h) */
        const recur_map b = map_from_lane<SHAPE>(a, l);
        x = map_apply(&b, &x, SHAPE);
    }
    return x;
}

/* The state before tile j of a chain, in every lane. The tile has the map `own`, unless it is hard;
 * `first` is the state before tile 0. Publishes the tile's map, and the group's where the tile is
 * its last. *closed: the group's value is published too, else that is left to finish_link(). */
template <int SHAPE>
__device__ static inline recur_state begin_link(const chain &c, int64_t j, const recur_map &own,
                                                bool hard, const recur_state &first, bool *closed) {
    const int lane = threadIdx.x % 32, p = (int)(j % GROUP);
    const int64_t g = j / GROUP, tile = c.first_tile + j, group = c.first_group + g;
    const bool last_of_all = j + 1 == c.length, closes = p == GROUP - 1 && !last_of_all;
    *closed = !closes;
    if (lane == 0 && !last_of_all) {
        if (hard)
            shoal_store_release(&c.tiles.flags[tile], (int32_t)LINK_HARD);
        else
            publish_map<SHAPE>(c.tiles, tile, own);
    }
    recur_map a = map_identity(SHAPE);
    bool constant = false;
    if (lane < p) {
        const int64_t i = tile - p + lane;
        constant = wait_for(c.tiles, i, LINK_MAP | LINK_HARD) & LINK_HARD;
        if (constant) {
            wait_for(c.tiles, i, LINK_VALUE);
            const recur_state x = value_of_link<SHAPE>(c.tiles, i);
            a = map_constant(&x, SHAPE);
        } else
            a = map_of_link<SHAPE>(c.tiles, i);
    }
    const unsigned constants = __ballot_sync(ALL_LANES, constant);
    const int last = 31 - __clz((int)constants); /* of the constants; -1: there is none */
    if (lane < last) a = map_identity(SHAPE);    /* forgotten */
    recur_map before = map_identity(SHAPE);
    if (p > 0) before = map_from_lane<SHAPE>(scan_lanes<SHAPE>(a), p - 1);
    const recur_map all = map_join(&before, &own, SHAPE);
    const bool group_map = closes && !hard && map_poison(&all, SHAPE) == 0;
    if (closes && lane == 0) {
        if (group_map)
            publish_map<SHAPE>(c.groups, group, all);
        else
            shoal_store_release(&c.groups.flags[group], (int32_t)LINK_HARD);
    }
    recur_state x = first;
    if (g > 0 && last < 0) x = state_before_group<SHAPE>(c, g, first);
    if (group_map) {
        const recur_state end = map_apply(&all, &x, SHAPE);
        if (lane == 0) publish_value<SHAPE>(c.groups, group, end, LINK_MAP);
        *closed = true;
    }
    if (p > 0 && map_poison(&before, SHAPE) == 0) return map_apply(&before, &x, SHAPE);
    for (int l = last < 0 ? 0 : last; l < p; l++) {
        const recur_map one = map_from_lane<SHAPE>(a, l);
        x = map_apply(&one, &x, SHAPE);
    }
    return x;
}

/* The state after tile j, where somebody waits for it. */
template <int SHAPE>
__device__ static inline void finish_link(const chain &c, int64_t j, const recur_state &x,
                                          bool hard, bool closed) {
    if (threadIdx.x % 32 != 0 || j + 1 == c.length) return;
    if (hard) publish_value<SHAPE>(c.tiles, c.first_tile + j, x, LINK_HARD);
    if (!closed) publish_value<SHAPE>(c.groups, c.first_group + j / GROUP, x, LINK_HARD);
}

#endif
