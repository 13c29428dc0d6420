/* SPDX-License-Identifier: Apache-2.0
 *
 * forms.h - what `shoal factor` makes of the factors: --modify and --gjgt.
 */
#ifndef CLI_FACTOR_FORMS_H
#define CLI_FACTOR_FORMS_H

#include "files.h"

typedef struct factor_forms {     /* zeroed to begin; what was not asked for stays so    */
    shoal_symindef_change change; /* of --modify                                         */
    double *d, *e;                /* D as it was before that, as factor_blocks() has it  */
    double change_error;          /* |E| / |A|, NaN: not known                           */
    io_array G;                   /* of --gjgt: (n, rank), of the type of the matrix     */
    int32_t *signs;               /* J: `rank` of them, +1 or -1                         */
    double gjgt_error;            /* |P A Pt - G J Gt| / |A|, NaN: not known             */
} factor_forms;

/* `array` holds the factors in the context's memory; --modify changes them there. r->factors is
 * scratch. CLI_OK or an exit code, its message printed. */
int factor_make_forms(cli *c, const factor_arguments *a, const factor_matrix *m,
                      shoal_symindef *plan, void *array, const factor_result *r, int64_t rank,
                      factor_forms *forms);
void factor_free_forms(factor_forms *forms);

/* Writes --gjgt: G.npy, G-signs.npy and G-permutation.npy, or the datasets of G.h5. */
int factor_write_gjgt(const factor_arguments *a, const factor_matrix *m, const factor_result *r,
                      const factor_forms *forms);

/* The members "modify" and "gjgt" of the JSON, null where nothing is `known`; lines of the table; and
 * the members of "files". */
void factor_json_forms(io_json *j, const factor_arguments *a, const factor_forms *forms,
                       bool known);
void factor_print_forms(const factor_arguments *a, const factor_forms *forms);
void factor_json_gjgt_files(io_json *j, const factor_arguments *a);

/* One line of the table, of a number that may be NaN: not known. */
void factor_print_number(const char *name, double value);

#endif
