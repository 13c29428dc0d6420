/* SPDX-License-Identifier: Apache-2.0
 *
 * cublas.cu - matrix products by cublasSgemm and cublasDgemm. The library is opened at run time
 * and never linked; the prototypes are ours. Its matrices are stored by columns: ours, by rows,
 * are their transposes, so that c = a b is asked for as c' = b' a'.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include "core/launch.cuh"
#include "surrogate/surrogate.h"

typedef int gemm_f32(void *handle, int op_a, int op_b, int m, int n, int k, const float *alpha,
                     const float *a, int lda, const float *b, int ldb, const float *beta, float *c,
                     int ldc);
typedef int gemm_f64(void *handle, int op_a, int op_b, int m, int n, int k, const double *alpha,
                     const double *a, int lda, const double *b, int ldb, const double *beta,
                     double *c, int ldc);

struct surrogate_blas {
    size_t size;
    void *handle; /* cublasHandle_t; the file of dlopen stays open */
    int (*destroy)(void *handle);
    int (*set_stream)(void *handle, void *stream);
    gemm_f32 *f32;
    gemm_f64 *f64;
};

/* The loader's path, then the homes of a toolkit; the name without a version last. */
static void *open_file(void) {
#ifdef SHOAL_EMULATED
    return NULL; /* it would be given memory of the host */
#else
    static const char *const versions[] = { ".13", ".12", "" };
    const char *const homes[] = { "", getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda" };
    for (const char *home : homes)
        for (const char *version : versions) {
            char path[512];
            if (!home) continue;
            snprintf(path, sizeof path, "%.400s%slibcublas.so%s", home, *home ? "/lib64/" : "",
                     version);
            void *file = dlopen(path, RTLD_NOW | RTLD_LOCAL);
            if (file) return file;
        }
    return NULL;
#endif
}

extern "C" shoal_status shoal_surrogate_open_blas(shoal_context *ctx, size_t size,
                                                  const surrogate_blas **blas) {
    const char *off = getenv("SHOAL_NO_CUBLAS");
    *blas = NULL;
    if (off && *off && *off != '0')
        return shoal_fail(ctx, SHOAL_E_BACKEND, "gemm is 'cublas'; SHOAL_NO_CUBLAS forbids it");
    void *file = open_file();
    if (!file)
        return shoal_fail(ctx, SHOAL_E_BACKEND, "gemm is 'cublas'; libcublas.so was not found");
    surrogate_blas *b = (surrogate_blas *)calloc(1, sizeof *b);
    if (!b) return SHOAL_NO_MEMORY(ctx, "cuBLAS");
    int (*create)(void **) = (int (*)(void **))dlsym(file, "cublasCreate_v2");
    b->size = size;
    b->destroy = (int (*)(void *))dlsym(file, "cublasDestroy_v2");
    b->set_stream = (int (*)(void *, void *))dlsym(file, "cublasSetStream_v2");
    b->f32 = (gemm_f32 *)dlsym(file, "cublasSgemm_v2");
    b->f64 = (gemm_f64 *)dlsym(file, "cublasDgemm_v2");
    if (!create || !b->destroy || !b->set_stream || !b->f32 || !b->f64 || create(&b->handle) != 0) {
        free(b);
        return shoal_fail(ctx, SHOAL_E_BACKEND, "gemm is 'cublas'; cuBLAS cannot be opened");
    }
    *blas = b;
    return SHOAL_OK;
}

extern "C" void shoal_surrogate_close_blas(const surrogate_blas *blas) {
    if (!blas) return;
    blas->destroy(blas->handle);
    free((void *)blas);
}

extern "C" shoal_status shoal_surrogate_multiply(shoal_context *ctx, const surrogate_blas *blas,
                                                 const surrogate_product *p) {
    const int turn_a = p->a_col != 1, turn_b = p->b_col != 1; /* CUBLAS_OP_N is 0, _T 1 */
    const int lda = turn_a ? p->a_col : p->a_row, ldb = turn_b ? p->b_col : p->b_row;
    int error = blas->set_stream(blas->handle, ctx->stream);
    if (error == 0 && blas->size == sizeof(float)) {
        const float one = 1, beta = p->add ? 1.f : 0.f;
        error = blas->f32(blas->handle, turn_b, turn_a, p->n, p->m, p->k, &one, (const float *)p->b,
                          ldb, (const float *)p->a, lda, &beta, (float *)p->c, p->c_row);
    } else if (error == 0) {
        const double one = 1, beta = p->add ? 1. : 0.;
        error =
            blas->f64(blas->handle, turn_b, turn_a, p->n, p->m, p->k, &one, (const double *)p->b,
                      ldb, (const double *)p->a, lda, &beta, (double *)p->c, p->c_row);
    }
    if (error == 0) return SHOAL_OK;
    return shoal_fail(ctx, SHOAL_E_CUDA, "cuBLAS: a product of %d x %d x %d failed with status %d",
                      p->m, p->n, p->k, error);
}
