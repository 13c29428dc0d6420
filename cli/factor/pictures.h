/* SPDX-License-Identifier: Apache-2.0
 *
 * pictures.h - the pictures of `shoal factor`.
 */
#ifndef CLI_FACTOR_PICTURES_H
#define CLI_FACTOR_PICTURES_H

#include "run.h"

/* --growth: needs found->result.growth. */
int factor_draw_growth(const factor_arguments *a, const factor_matrix *m,
                       const factor_found *found);

/* Puts the stages of --snapshots into a->stages, all of them if none were given. Before anything is
 * factored: CLI_USAGE for one that is not there, CLI_OUTPUT where the directory cannot be made. */
int factor_choose_stages(factor_arguments *a, int64_t n);

/* --snapshots: factors the matrix again for each stage, in `scratch` of m->bytes. */
int factor_draw_stages(cli *c, const factor_arguments *a, const factor_matrix *m, void *scratch);

#endif
