/* SPDX-License-Identifier: Apache-2.0
 *
 * outcome.h - rules about the statuses of single systems, on the CPU and on GPUs.
 */
#ifndef SHOAL_CORE_OUTCOME_H
#define SHOAL_CORE_OUTCOME_H

#include "core/hd.h"
#include <stdint.h>

/* The worse of two statuses: any failure over any answer, a warning over none. */
SHOAL_HD static inline int32_t shoal_worse(int32_t s, int32_t t) {
    return s < 0 || t < 0 ? (s < t ? s : t) : s > t ? s : t;
}

#endif
