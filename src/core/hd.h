/* SPDX-License-Identifier: Apache-2.0
 *
 * hd.h - SHOAL_HD marks a function that runs on the host and on the device. A header of such
 * functions is compiled by the C compiler, by nvcc, and as host C++ for the emulator.
 */
#ifndef SHOAL_CORE_HD_H
#define SHOAL_CORE_HD_H

#ifdef __CUDACC__
#define SHOAL_HD __host__ __device__
#else
#define SHOAL_HD
#endif

#endif
