/* SPDX-License-Identifier: Apache-2.0
 *
 * forms.c - --modify and --gjgt of `shoal factor`.
 *
 * --modify comes first: G, x and the factors that are written are then those of A + E, while rank,
 * inertia and relative error stay those of A. D is kept for that error as it was. |E| is measured as
 * what the modified factors are off A: |P A Pt - M (D + F) Mt| / |A|, rounding errors included.
 */
#include "forms.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/hdf5.h"

static bool on_host(const cli *c) { return strcmp(c->machine.backend, "cpu") == 0; }

static int modify(cli *c, const factor_arguments *a, const factor_matrix *m, shoal_symindef *plan,
                  void *array, const factor_result *r, factor_forms *forms) {
    const size_t n = (size_t)m->n;
    forms->d = calloc(n + 1, sizeof *forms->d);
    forms->e = calloc(n + 1, sizeof *forms->e);
    if (!forms->d || !forms->e) return cli_no_memory();
    shoal_status s = SHOAL_OK;
    if (!on_host(c)) s = shoal_copy(c->ctx, r->factors, array, m->bytes);
    factor_blocks(m, r, forms->d, forms->e);
    if (s == SHOAL_OK)
        s = m->type == SHOAL_F32 ? shoal_symindef_modifyf(plan, array, a->delta, &forms->change)
                                 : shoal_symindef_modify(plan, array, a->delta, &forms->change);
    return cli_status(c, s);
}

static int allocate_gjgt(const factor_arguments *a, const factor_matrix *m, int64_t rank,
                         factor_forms *forms) {
    const int64_t shape[2] = { m->n, rank };
    int64_t count = 0, bytes = INT64_MAX;
    io_error err;
    const io_type type = m->file.a.type;
    forms->signs = calloc((size_t)rank + 1, sizeof *forms->signs);
    const bool fits = io_shape_bytes(type, 2, shape, &count, &bytes) == IO_OK &&
                      bytes <= io_memory_bytes() &&
                      io_array_create(type, 2, shape, &forms->G, &err) == IO_OK;
    if (fits && forms->signs) return CLI_OK;
    return cli_fail(CLI_UNAVAILABLE,
                    "--gjgt %s: G of %" PRId64 " rows and %" PRId64 " columns needs %" PRId64
                    " bytes: no memory",
                    a->gjgt, m->n, rank, bytes);
}

static int make_gjgt(cli *c, const factor_arguments *a, const factor_matrix *m,
                     shoal_symindef *plan, const void *array, int64_t rank, factor_forms *forms) {
    int code = allocate_gjgt(a, m, rank, forms);
    if (code != CLI_OK) return code;
    const size_t bytes = (size_t)(m->n * rank) * io_type_size(forms->G.type);
    const bool here = on_host(c);
    void *G = here ? forms->G.data : NULL;
    shoal_status s = here ? SHOAL_OK : shoal_alloc(c->ctx, bytes ? bytes : 1, &G);
    if (s == SHOAL_OK)
        s = m->type == SHOAL_F32
                ? shoal_symindef_gjgtf(plan, array, a->partitioned, G, forms->signs)
                : shoal_symindef_gjgt(plan, array, a->partitioned, G, forms->signs);
    if (s == SHOAL_OK && !here && bytes) s = shoal_copy(c->ctx, forms->G.data, G, bytes);
    code = cli_status(c, s);
    if (!here) shoal_free(c->ctx, G);
    return code;
}

int factor_make_forms(cli *c, const factor_arguments *a, const factor_matrix *m,
                      shoal_symindef *plan, void *array, const factor_result *r, int64_t rank,
                      factor_forms *forms) {
    int code = CLI_OK;
    if (a->modify) code = modify(c, a, m, plan, array, r, forms);
    if (code == CLI_OK && a->gjgt) /* nothing is zero any more once it is modified */
        code = make_gjgt(c, a, m, plan, array, a->modify ? m->n : rank, forms);
    return code;
}

void factor_free_forms(factor_forms *forms) {
    free(forms->d);
    free(forms->e);
    free(forms->signs);
    io_array_free(&forms->G);
}

int factor_write_gjgt(const factor_arguments *a, const factor_matrix *m, const factor_result *r,
                      const factor_forms *forms) {
    const io_array *g = &forms->G;
    if (cli_ends_in(a->gjgt, ".h5")) {
        const io_array signs = {
            .type = IO_I4, .ndim = 1, .shape = { g->shape[1] }, .data = forms->signs
        };
        const io_array permutation = {
            .type = IO_I4, .ndim = 1, .shape = { m->n }, .data = r->permutation
        };
        const io_h5_item items[] = { { "G", g },
                                     { "signs", &signs },
                                     { "permutation", &permutation } };
        io_error err;
        return cli_io(io_h5_write(a->gjgt, items, 3, &err), &err);
    }
    int code = cli_array_write(a->gjgt, g->type, 2, g->shape, g->data);
    if (code == CLI_OK) code = factor_write_beside(a->gjgt, "signs", g->shape[1], forms->signs);
    if (code == CLI_OK) code = factor_write_beside(a->gjgt, "permutation", m->n, r->permutation);
    return code;
}

static int64_t positive_signs(const factor_forms *forms) {
    int64_t count = 0;
    for (int64_t k = 0; k < forms->G.shape[1]; k++) count += forms->signs[k] > 0;
    return count;
}

void factor_json_forms(io_json *j, const factor_arguments *a, const factor_forms *forms,
                       bool known) {
    if (a->modify && !known) io_json_null(j, "modify");
    if (a->modify && known) {
        io_json_object(j, "modify");
        io_json_double(j, "delta", forms->change.delta);
        io_json_int(j, "lifted", forms->change.lifted);
        io_json_double(j, "largest", forms->change.largest);
        io_json_double(j, "relative_change", forms->change_error);
        io_json_close(j);
    }
    if (a->gjgt && !known) io_json_null(j, "gjgt");
    if (a->gjgt && known) {
        io_json_object(j, "gjgt");
        io_json_bool(j, "partitioned", a->partitioned);
        io_json_int(j, "columns", forms->G.shape[1]);
        io_json_int(j, "positive", positive_signs(forms));
        io_json_double(j, "relative_error", forms->gjgt_error);
        io_json_close(j);
    }
}

void factor_print_number(const char *name, double value) {
    if (isnan(value))
        printf("%-14s not known\n", name);
    else
        printf("%-14s %.6g\n", name, value);
}

void factor_print_forms(const factor_arguments *a, const factor_forms *forms) {
    if (a->modify) {
        printf("modified       %" PRId64 " of D's eigenvalues lifted to %.6g, by %.6g at most\n",
               forms->change.lifted, forms->change.delta, forms->change.largest);
        factor_print_number("|E| / |A|", forms->change_error);
    }
    if (a->gjgt) {
        printf("G J Gt         %" PRId64 " columns, %" PRId64 " of +1%s\n", forms->G.shape[1],
               positive_signs(forms), a->partitioned ? ", these first" : "");
        factor_print_number("G J Gt error", forms->gjgt_error);
    }
}

void factor_json_gjgt_files(io_json *j, const factor_arguments *a) {
    const bool several = cli_ends_in(a->gjgt, ".npy");
    char *signs = several ? factor_beside(a->gjgt, "signs") : NULL;
    char *permutation = several ? factor_beside(a->gjgt, "permutation") : NULL;
    io_json_string(j, "gjgt", a->gjgt);
    if (signs) io_json_string(j, "signs", signs);
    if (permutation) io_json_string(j, "gjgt_permutation", permutation);
    free(signs);
    free(permutation);
}
