/* SPDX-License-Identifier: Apache-2.0
 *
 * curve.h - term structures of rates, dividend yields and volatilities.
 */
#ifndef SHOAL_PRICING_CURVE_H
#define SHOAL_PRICING_CURVE_H

#include "core/plan.h"
#include <shoal/american.h>

#define CURVE_SAME 1e-9 /* times and variances that differ by so small a part are equal */

/* squared: of volatilities, whose squares times time must not fall. */
shoal_status shoal_check_curve(shoal_context *ctx, const shoal_curve *c, int squared);
/* Cash dividends: amounts at times. */
shoal_status shoal_check_cash(shoal_context *ctx, const shoal_curve *c);
/* The integral from 0 to t of the curve, or of its square; of `flat` if it has no points. */
double shoal_curve_integral(const shoal_curve *c, int squared, double flat, double t);

#endif
