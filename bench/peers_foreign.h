/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_foreign.h - peers that other compilers or other options compile, as the bench calls them: kernels by nvcc, the
 * C++ library, QuantLib, a loop per type.
 */
#ifndef BENCH_PEERS_FOREIGN_H
#define BENCH_PEERS_FOREIGN_H

#include <shoal/pricing.h>
#include <shoal/sort.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- CUB: device pointers, the default stream; 0, or -1; 0 bytes of scratch: CUB refuses ------- */

/* w_i = s_i w_{i-1} + t_i, w_{-1} = *w0, n rows of float (single) or double by DeviceScan on affine maps. */
size_t bench_cub_bytes(int single, int64_t n);
int bench_cub_scan(int single, int64_t n, const void *s, const void *t, const void *w0, void *w,
                   void *scratch, size_t bytes);
const char *bench_cub_version(void);

/* DeviceMerge and DeviceSegmentedSort: u32, ascending. */
typedef struct bench_cub_job {
    int64_t na, nb;                              /* of a merge; of a sort na keys per row ... */
    int64_t count;                               /* ... and so many rows                      */
    int64_t *offsets;                            /* of rows: count + 1                        */
    const uint32_t *a, *b, *a_values, *b_values; /* a_values NULL: keys alone */
    uint32_t *out, *out_values;
    void *scratch;
    size_t bytes;
} bench_cub_job;

size_t bench_cub_merge_bytes(const bench_cub_job *job);
size_t bench_cub_sort_bytes(const bench_cub_job *job);
int bench_cub_merge(const bench_cub_job *job);
int bench_cub_sort(const bench_cub_job *job);

/* ---- cuRAND's device functions: the default stream; 0, or -1 ---------------------------------- */

typedef struct bench_curand { /* a kernel, and the grid that fills the GPU */
    const void *kernel;
    const char *function; /* "curand_normal4" */
    int blocks;
} bench_curand;

/* The kernel for a method of ours and a type ("f32", "f64", "u32"): -1 if cuRAND has none, or no GPU
 * answers. */
int bench_curand_choose(const char *method, const char *type, bench_curand *job);
/* `count` numbers into an array aligned to 16 bytes. */
int bench_curand_fill(const bench_curand *job, uint64_t seed, double lambda, int64_t count,
                      void *out);
/* Heston's call by Euler: payoffs and their squares to sums[0] and sums[1]. */
int bench_curand_heston(int64_t paths, int64_t steps, uint64_t seed, double *sums);
/* "cuRAND 10.4.0": of the headers that were compiled. */
const char *bench_curand_version(void);

/* ---- the C++ library: rows first .. end - 1 ---------------------------------------------------- */

/* n keys each, in place; and of A and B with na and nb keys into out. */
void bench_std_sort(shoal_key key, void *keys, int64_t n, int64_t first, int64_t end,
                    int descending);
void bench_std_merge(shoal_key key, const void *a, int64_t na, const void *b, int64_t nb, void *out,
                     int64_t first, int64_t end, int descending);

/* ---- QuantLib: a call of strike and maturity 1 by Heston's model; 0, or -1 if QuantLib throws -- */

int bench_quantlib_euler(const shoal_heston *model, int64_t steps, int64_t paths, uint64_t seed,
                         double *price, double *error);
/* By adaptive integration to 1e-12, or by the engine's default, Gauss and Laguerre's rule of order 144. */
int bench_quantlib_analytic(const shoal_heston *model, int adaptive, double *price);
const char *bench_quantlib_version(void);

/* ---- complete pivoting as a plain loop (peers_complete.c) --------------------------------------- */

/* Factors the packed columns of the lower triangle in place; room for 2 n numbers; interchanges as
 * the library has them. */
void shoal_complete_loop_f64_plain(int64_t n, double *a, double *room, int32_t *interchanges);
void shoal_complete_loop_f32_plain(int64_t n, float *a, float *room, int32_t *interchanges);

/* ---- the thesis's factorization with complete pivoting by calls of BLAS, section 3.2 -------------
 *
 * The reduced matrix is the tail of the packed columns of the lower triangle (the thesis: rows of the
 * upper one), with zeros on its diagonal, which is a vector of its own. */

/* cuBLAS's functions of one type: I?amax, ?spr, ?scal. Vectors are the device's, numbers the host's.
 * 0 = good. */
typedef struct bench_thesis_blas {
    void *handle;
    int (*amax)(void *handle, int n, const void *x, int step, int *place); /* counted from 1 */
    int (*spr)(void *handle, int uplo, int n, const void *alpha, const void *x, int step, void *ap);
    int (*scal)(void *handle, int n, const void *alpha, void *x, int step);
} bench_thesis_blas;

/* A matrix that is being factored. */
typedef struct bench_thesis {
    int single; /* float, else double                                       */
    int64_t n;
    void *a;      /* packed columns of the lower triangle, on the device      */
    void *d;      /* n numbers: the diagonal                                  */
    void *x;      /* 2 n numbers                                              */
    double *seen; /* 4 numbers in mapped memory, of bench_thesis_map()        */
} bench_thesis;

/* Factors t->a in place; interchanges as the library has them. 0, or what failed. */
int bench_thesis_factor(const bench_thesis_blas *blas, const bench_thesis *t,
                        int32_t *interchanges);

/* The kernels (peers_thesis.cu), all in the default stream; 0 = good. */
double *bench_thesis_map(void); /* memory that host and device see; NULL: there is none */
void bench_thesis_unmap(double *seen);
int bench_thesis_split(const bench_thesis *t); /* d = diagonal of a, which becomes 0     */
int bench_thesis_join(const bench_thesis *t);  /* and back                               */
/* seen = a(q,p), d(p), d(q), d(r): waits. p < q, or p = q: no entry is looked at. */
int bench_thesis_look(const bench_thesis *t, int64_t p, int64_t q, int64_t r);
int bench_thesis_swap(const bench_thesis *t, int64_t p, int64_t q); /* p < q */
/* x = C Q of columns k and k + 1, Q = [c -s; s c], rows from k + 2 on. */
int bench_thesis_turn(const bench_thesis *t, int64_t k, double c, double s);
/* Columns k and k + 1 become [x0 / lambda0, x1 / lambda1] Qt. */
int bench_thesis_multipliers(const bench_thesis *t, int64_t k, double c, double s, double lambda0,
                             double lambda1);
/* d += diagonal of a, which becomes 0, from row `first` on. */
int bench_thesis_fold(const bench_thesis *t, int64_t first);

#ifdef __cplusplus
}
#endif
#endif
