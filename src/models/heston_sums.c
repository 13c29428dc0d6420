/* SPDX-License-Identifier: Apache-2.0
 *
 * heston_sums.c - sums of Heston's integrands over points that all strikes of a maturity share.
 *
 * A lane has every HESTON_LANES-th point, and the lanes are added in one order, so that all instruction levels have the
 * same bits. About 50 operations per point.
 */
#include "models/heston_sums.h"
#include "core/loops.h"
#include "core/math.h"
#include "core/real.h"

static void add(const heston_nodes *nodes, int64_t from, int64_t to, double k,
                double sums[HESTON_PARTS]) {
    double part[HESTON_PARTS][HESTON_LANES] = { { 0 } };
    const double turns = k * 0.31830988618379067; /* 1 / pi */
    for (int64_t i = from; i < to; i += HESTON_LANES) EACH(l, HESTON_LANES) {
            const double u = nodes->u[i + l], re = nodes->re[i + l], im = nodes->im[i + l];
            double s, c;
            shoal_sincospi(u * turns, &s, &c);
            const double x = c * re - s * im, y = s * re + c * im; /* e^(iuk) phi / q */
            part[0][l] += x;
            part[1][l] += 0.5 * x - u * y;
            part[2][l] += (u * u + 0.25) * x;
            part[3][l] += x * nodes->slope_re[i + l] - y * nodes->slope_im[i + l];
        }
    for (int p = 0; p < HESTON_PARTS; p++)
        for (int l = 0; l < HESTON_LANES; l++) sums[p] += part[p][l];
}

const heston_sums R(heston_sums) = { add };
