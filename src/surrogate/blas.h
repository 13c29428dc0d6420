/* SPDX-License-Identifier: Apache-2.0
 *
 * blas.h - matrix products by cuBLAS, which is opened at run time.
 */
#ifndef SHOAL_SURROGATE_BLAS_H
#define SHOAL_SURROGATE_BLAS_H

#include "surrogate/surrogate.h"

#ifdef __cplusplus
extern "C" {
#endif

/* c[i][j] = sum over k of a(i,k) b(k,j), and with `add` what was there; i < m, j < n. */
typedef struct surrogate_product {
    int m, n, k;
    const void *a, *b; /* a(i,k) at i * a_row + k * a_col, b likewise: one of the two is 1      */
    int a_row, a_col, b_row, b_col;
    void *c;
    int c_row; /* its columns are 1 apart                                                      */
    int add;
} surrogate_product;

/* SHOAL_E_BACKEND and a sentence where cuBLAS is not there, or switched off by SHOAL_NO_CUBLAS=1 in the
 * environment. `size` is that of a number, 4 or 8. */
shoal_status shoal_surrogate_open_blas(shoal_context *ctx, size_t size,
                                       const surrogate_blas **blas);
void shoal_surrogate_close_blas(const surrogate_blas *blas);
shoal_status shoal_surrogate_multiply(shoal_context *ctx, const surrogate_blas *blas,
                                      const surrogate_product *p);

#ifdef __cplusplus
}
#endif
#endif
