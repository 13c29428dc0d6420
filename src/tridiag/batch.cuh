/* SPDX-License-Identifier: Apache-2.0
 *
 * batch.cuh - the verdict for methods whose blocks each hold only a part of a system: they leave
 * x in y, solve after solve (n numbers each), and call tridiag_verdict, which judges, notes and
 * writes; and what else the driver does for others.
 */
#ifndef SHOAL_TRIDIAG_BATCH_CUH
#define SHOAL_TRIDIAG_BATCH_CUH

#include "tridiag/device.cuh"

/* Bytes of `memory` that the verdict needs. */
extern "C" size_t R(tridiag_verdict_bytes)(const shoal_tridiag *plan);

extern "C" shoal_status R(tridiag_verdict)(shoal_tridiag *plan, const tridiag_job *job,
                                           const real *y, void *memory, int32_t failure);

/* What comes before the kernels of a call. turn: of a transposed plan, the diagonals of A^T are made and
 * become the job's. begin: outcomes that several threads add to are cleared, and the method is noted
 * where they do not do it. */
extern "C" void R(tridiag_turn)(const shoal_tridiag *plan, tridiag_job *job);
extern "C" shoal_status R(tridiag_begin)(shoal_tridiag *plan, tridiag_job *job);

#endif
