/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_quantlib.h - Heston's call by QuantLib, as peers_quantlib.cpp calls it.
 */
#ifndef BENCH_PEERS_QUANTLIB_H
#define BENCH_PEERS_QUANTLIB_H

#include <shoal/pricing.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A call of strike and maturity 1. All return 0, or -1 where QuantLib throws. Analytic: by adaptive integration to
 * 1e-12, or as the engine is made by default, by Gauss and Laguerre's rule of order 144. */
int bench_quantlib_euler(const shoal_heston *model, int64_t steps, int64_t paths, uint64_t seed,
                         double *price, double *error);
int bench_quantlib_adaptive(const shoal_heston *model, double *price);
int bench_quantlib_laguerre(const shoal_heston *model, double *price);
const char *bench_quantlib_version(void);

#ifdef __cplusplus
}
#endif
#endif
