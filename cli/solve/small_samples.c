/* SPDX-License-Identifier: Apache-2.0
 *
 * small_samples.c - reads samples of regressions from .npy files.
 */
#include "small_samples.h"

#include <string.h>

static int check_psi(small_batch *batch) {
    const io_array *psi = &batch->A.a;
    char text[96];
    io_shape_text(psi->ndim, psi->shape, text, sizeof text);
    if (psi->ndim != 2 && psi->ndim != 3)
        return cli_fail(CLI_INPUT, "%s has shape %s; samples are (count, M, n) or (M, n)",
                        batch->A.path, text);
    batch->count = psi->ndim == 2 ? 1 : psi->shape[0];
    batch->samples = psi->shape[psi->ndim - 2];
    batch->n = psi->shape[psi->ndim - 1];
    if (batch->samples == 0)
        return cli_fail(CLI_INPUT, "%s has shape %s; there is no sample", batch->A.path, text);
    return CLI_OK;
}

static int check_y(small_batch *batch) {
    const io_array *psi = &batch->A.a, *y = &batch->b.a;
    const int axes = psi->ndim - 1; /* of one right-hand side a system */
    if ((y->ndim != axes && y->ndim != axes + 1) || y->shape[axes - 1] != batch->samples ||
        (axes == 2 && y->shape[0] != batch->count))
        return cli_array_misfit(&batch->b, &batch->A,
                                axes == 2 ? "y is (count, M) or (count, M, nrhs)"
                                          : "y of one system is (M,) or (M, nrhs)");
    batch->nrhs = y->ndim == axes ? 1 : y->shape[axes];
    return CLI_OK;
}

int small_read_samples(const cli *c, const char *psi, const char *y, small_batch *batch) {
    memset(batch, 0, sizeof *batch);
    int code = cli_array_read(&batch->A, psi);
    if (code == CLI_OK) code = cli_array_read(&batch->b, y);
    if (code == CLI_OK) code = check_psi(batch);
    if (code == CLI_OK) code = check_y(batch);
    cli_array *all[] = { &batch->A, &batch->b };
    if (code == CLI_OK) code = cli_array_unify(c, all, 2, &batch->type);
    if (code == CLI_OK && cli_interrupted()) code = CLI_INTERRUPTED;
    return code;
}

int small_answer_shape(const small_batch *batch, int64_t shape[3]) {
    const io_array *b = &batch->b.a;
    for (int i = 0; i < b->ndim; i++) shape[i] = b->shape[i];
    if (batch->samples > 0) shape[batch->A.a.ndim - 2] = batch->n; /* in the place of M */
    return b->ndim;
}
