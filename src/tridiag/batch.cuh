/* SPDX-License-Identifier: Apache-2.0
 *
 * batch.cuh - the verdict for methods whose blocks each hold only a part of a system: they leave
 * x in y, solve after solve (n numbers each), and call tridiag_verdict, which judges, notes and
 * writes.
 */
#ifndef SHOAL_TRIDIAG_BATCH_CUH
#define SHOAL_TRIDIAG_BATCH_CUH

#include "tridiag/device.cuh"

/* Bytes of `memory` that the verdict needs. */
extern "C" size_t R(tridiag_verdict_bytes)(const shoal_tridiag *plan);

extern "C" shoal_status R(tridiag_verdict)(shoal_tridiag *plan, const tridiag_job *job,
                                           const real *y, void *memory, int32_t failure);

#endif
