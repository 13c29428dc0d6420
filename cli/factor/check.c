/* SPDX-License-Identifier: Apache-2.0
 *
 * check.c - the relative errors that `shoal factor` tells: the product of the factors in double,
 * by bench/symindef_product.c, independently of the library.
 */
#include <math.h>
#include <stdlib.h>

#include "bench/symindef_errors.h"
#include "run.h"

static double entry(const void *matrix, int64_t i, int64_t j) {
    const factor_matrix *m = matrix;
    return factor_entry(m, m->file.a.data, i, j);
}

static bench_product product_of(const cli *c, const factor_matrix *m, const factor_result *r) {
    return (bench_product){ .n = m->n,
                            .type = m->type,
                            .permutation = r->permutation,
                            .given = entry,
                            .matrix = m,
                            .threads = c->machine.threads > 0 ? c->machine.threads : 1,
                            .stop = cli_interrupted };
}

double factor_error(const cli *c, const factor_matrix *m, const factor_result *r, const double *d,
                    const double *e) {
    const size_t n = (size_t)m->n;
    double *blocks = calloc(2 * n + 1, sizeof *blocks);
    if (!blocks) return NAN;
    factor_blocks(m, r, blocks, blocks + n);
    bench_product p = product_of(c, m, r);
    p.triangle = (bench_triangle){ m->n, m->form.packed, m->form.upper };
    p.factors = r->factors;
    p.d = d ? d : blocks;
    p.e = e ? e : blocks + n;
    const double error = bench_product_error(&p);
    free(blocks);
    return error;
}

double factor_gjgt_error(const cli *c, const factor_matrix *m, const factor_result *r,
                         const factor_forms *forms, bool partitioned) {
    bench_product p = product_of(c, m, r);
    p.G = forms->G.data;
    p.signs = forms->signs;
    p.columns = forms->G.shape[1];
    p.partitioned = partitioned;
    return bench_product_error(&p);
}
