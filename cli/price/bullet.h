/* SPDX-License-Identifier: Apache-2.0
 *
 * bullet.h - what the files of `shoal price bullet` share.
 */
#ifndef CLI_PRICE_BULLET_H
#define CLI_PRICE_BULLET_H

#include "price.h"

typedef struct bullet_points {
    int64_t count;
    shoal_bullet_point *list; /* from malloc; NULL: (0, s0, 0) */
} bullet_points;

/* nk dates from 0 to `last`, nx prices from 0.7 s0 to 1.3 s0, nj counts from 0 to min(k, p2): evenly. */
int bullet_points_lattice(const shoal_bullet *m, int64_t last, const int64_t n[3],
                          bullet_points *to);

/* Whether the last date is M, or M + 1. */
int64_t bullet_last(const shoal_bullet *m);

typedef struct bullet_arguments {
    shoal_bullet m;
    price_options o;
    const char *at;
    int64_t lattice[3];
    int64_t outer;
    const char *options; /* a table of many, for pde */
    int64_t intervals;   /* of pde: the last so many alone, 0: all */
    bool compare, merging;
    bullet_points points;
} bullet_arguments;

/* Whether the method can do what the flag stands for. */
bool bullet_can(const bullet_arguments *a, unsigned flag);

/* The option that the library gets: the whole, or, of the last intervals alone, one that begins at date
 * `first` and whose counts include it. */
typedef struct bullet_window {
    shoal_bullet m;
    int64_t first;
} bullet_window;
bullet_window bullet_window_of(const bullet_arguments *a);
/* 1 where the count of a point grows by its own date: T_k counts, but is not in j, and x is below the
 * barrier. */
int bullet_counts_now(const shoal_bullet *m, int64_t k, double x);
/* A plan of the window for points of the whole; `nested`: NULL, and count is that of trajectories. */
int bullet_plan(cli *c, const bullet_arguments *a, const shoal_bullet_point *points, int64_t count,
                shoal_price **plan);
/* The points of a job, as they were asked for. */
const shoal_bullet_point *bullet_points_of(const price_job *job);

int bullet_print(const price_job *job, const price_outcome *out);
/* k, x, j, price, stderr (and delta, gamma) of every point: .npy. */
int bullet_write(const price_job *job, const price_outcome *out);
int bullet_plot(const price_job *job, const price_outcome *out);

/* The whole surface of pde, discounted: F(T_k, x, j) with j as in a point as FILE.npy, of shape (dates +
 * 1, counts, nx), with T_k and x as FILE-t.npy and FILE-x.npy; a picture of it (.png). */
int bullet_surface(cli *c, const bullet_arguments *a, const char *npy, const char *png);
enum { BULLET_NAME = 4096 };
/* FILE-t.npy out of FILE.npy and "t". */
const char *bullet_axis_name(const char *npy, const char *axis, char name[BULLET_NAME]);
/* Many options at once: --options FILE.csv. */
int bullet_many(cli *c, const bullet_arguments *a);

/* Question 3b: many points chosen beforehand against outer trajectories. */
int bullet_compare(cli *c, const bullet_arguments *a);

#endif
