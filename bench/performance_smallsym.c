/* SPDX-License-Identifier: Apache-2.0
 *
 * performance_smallsym.c - small symmetric systems on the page of saved results: a group is what
 * differs in n and solver alone, the steps of refinement, the estimate and the outcome asked for being
 * part of the solver. Eigenpairs, stages and regressions of M samples are groups of their own.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/performance.h"

/* "none" where systems were solved; in results older than the key, too. */
static const char *pairs_of(const io_json_value *row) {
    const char *pairs = result_text(row, "pairs");
    return *pairs ? pairs : "none";
}

/* The same where all of the method ran. */
static const char *stage_of(const io_json_value *row) {
    const char *stage = result_text(row, "stage");
    return *stage ? stage : "none";
}

/* Samples of a regression; 0 where A was given, and in results older than the key. */
static double samples_of(const io_json_value *row) {
    const double samples = result_number(row, "gram");
    return samples > 0 ? samples : 0;
}

static bool comparable(const io_json_value *p, const io_json_value *q) {
    static const char *const keys[] = { "layout", "storage", "triangle", "kind" };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(result_text(p, keys[i]), result_text(q, keys[i])) != 0) return false;
    if (strcmp(pairs_of(p), pairs_of(q)) != 0 || strcmp(stage_of(p), stage_of(q)) != 0 ||
        samples_of(p) != samples_of(q))
        return false;
    const double one = result_number(p, "parameter"), other = result_number(q, "parameter");
    return result_number(p, "nrhs") == result_number(q, "nrhs") &&
           (one == other || (isnan(one) && isnan(other)));
}

static const result_columns columns = { "systems", "systems_per_second",
                                        1e-6,      "M systems/s",
                                        "%.1f %%", true };

static int write_group(const result_page *p, const result_group *group, io_error *err) {
    const io_json_value *first = group->rows[0];
    const double nrhs = result_number(first, "nrhs"), given = result_number(first, "parameter");
    const double samples = samples_of(first);
    const char *kind = result_text(first, "kind"), *storage = result_text(first, "storage");
    const char *layout = result_text(first, "layout"), *triangle = result_text(first, "triangle");
    const char *pairs = pairs_of(first), *stage = stage_of(first);
    const bool solved = strcmp(pairs, "none") == 0, whole = strcmp(stage, "none") == 0;
    const bool lower = strcmp(triangle, "lower") == 0, apart = strcmp(layout, "interleaved") == 0;
    char name[RESULT_FILE], image[RESULT_PATH], extra[96], what[160], title[200],
        parameter[16] = "";
    if (isfinite(given)) snprintf(parameter, sizeof parameter, "%g", given);
    snprintf(extra, sizeof extra, "-%.12s-%.8s-%.31s%s%s", layout, storage, kind, parameter,
             lower ? "" : "-upper");
    if (samples > 0)
        snprintf(extra + strlen(extra), sizeof extra - strlen(extra), "-%.0f", samples);
    if (nrhs != 1) snprintf(extra + strlen(extra), sizeof extra - strlen(extra), "-%.0f", nrhs);
    if (!solved) snprintf(extra + strlen(extra), sizeof extra - strlen(extra), "-%.8s", pairs);
    if (!whole) snprintf(extra + strlen(extra), sizeof extra - strlen(extra), "-%.8s", stage);
    snprintf(what, sizeof what, "%.8s, %s, %.31s%s%s matrices%s", storage,
             apart ? "interleaved" : "one system after another", kind, *parameter ? " " : "",
             parameter, lower ? "" : ", upper triangle");
    if (samples > 0)
        snprintf(what, sizeof what, "regressions of %.0f samples, %s", samples,
                 apart ? "interleaved" : "one system after another");
    if (nrhs != 1)
        snprintf(what + strlen(what), sizeof what - strlen(what), ", %.0f right-hand sides", nrhs);
    if (!solved)
        snprintf(what + strlen(what), sizeof what - strlen(what), ", eigenpairs: %.8s", pairs);
    if (!whole) snprintf(what + strlen(what), sizeof what - strlen(what), ", stage %.8s", stage);
    snprintf(title, sizeof title, "Small symmetric systems, %.4s, %s", result_text(first, "type"),
             what);
    const result_axes axes = { title, "systems_per_second", 1e-6, "million systems a second",
                               NULL };
    int status = result_image(p, group, extra, name, image, err);
    if (status == IO_OK) status = result_chart(group, &axes, image, err);
    if (status != IO_OK) return status;
    fprintf(p->file,
            "\n### smallsym, %s, %s, %s\n\n![million systems a second against n](img/%s)\n\n",
            result_text(first, "backend"), result_text(first, "type"), what, name);
    result_table(p, group, &columns);
    return status;
}

static const char introduction[] =
    "Of small symmetric systems (`smallsym`) GB/s counts A as it is stored, b and x: n^2 + 2 n nrhs "
    "numbers a system, packed n (n + 1) / 2 + 2 n nrhs; of eigenpairs A, or d and e, and what is "
    "written of w and V; of stages of hhpcr what is read and written of A, d, e, Q, b and x; of "
    "regressions of M samples psi, y and x: M n + (M + n) nrhs. An answer passes with a backward error of "
    "10 n units of roundoff, of regressions 10 n + 70. Batches larger than 4093 repeat so many different systems. Peers work "
    "on a copy of their own, with both triangles; of eigenvalue methods they compute the "
    "eigenpairs, and do not solve.";

const result_module result_smallsym = { "smallsym", introduction, comparable, write_group };
