/* SPDX-License-Identifier: Apache-2.0
 *
 * shoal.h - everything. Each module can also be included alone.
 */
#ifndef SHOAL_SHOAL_H
#define SHOAL_SHOAL_H

#include <shoal/american.h>
#include <shoal/band.h>
#include <shoal/core.h>
#include <shoal/cva.h>
#include <shoal/dataset.h>
#include <shoal/pricing.h>
#include <shoal/recur.h>
#include <shoal/rng.h>
#include <shoal/smallsym.h>
#include <shoal/sort.h>
#include <shoal/surrogate.h>
#include <shoal/symindef.h>
#include <shoal/tridiag.h>
#include <shoal/units.h>
#endif
