/* SPDX-License-Identifier: Apache-2.0
 *
 * study_symindef_page.c - the page of the study of symmetric indefinite factorizations: every number on it is
 * in the study's JSON, but for those of Kruchinina's thesis, which stand beside ours. A part that was not
 * measured is left out, and the page says so.
 */
#include "bench/study_symindef_page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/symindef_product.h"

/* Table 3.1 of the thesis. The random one is of the same kind as ours, and another. */
static const struct {
    const char *name; /* how those of ours begin */
    double n, error[SYMINDEF_ALPHAS];
} thesis[] = {
    { "equidistant",
      3000,
      { 1.766888e-14, 1.766888e-14, 1.766888e-14, 1.766888e-14, 1.824500e-14, 1.721470e-14,
        1.753908e-14, 2.050335e-14, 7.376952e-14 } },
    { "astro-ph",
      16706,
      { 3.938794e-15, 2.757264e-15, 3.137581e-15, 3.282157e-15, 3.274952e-15, 2.977507e-15,
        2.956007e-15, 2.946825e-15, 1.703524e-14 } },
    { "alemdar",
      6245,
      { 4.971599e-14, 4.884935e-14, 4.599203e-14, 4.507927e-14, 4.721938e-14, 4.689740e-14,
        4.127681e-14, 4.011067e-14, 4.573181e-14 } },
};

bool symindef_is_part(const io_json_value *row, const char *part) {
    return strcmp(result_text(row, "part"), part) == 0;
}

/* ---- alpha ------------------------------------------------------------------------------------ */

static void describe(symindef_matrix *a) {
    const char *name = result_text(a->rows[0], "matrix");
    const double n = result_number(a->rows[0], "n");
    snprintf(a->label, sizeof a->label, "%.60s, n = %.0f", name, n);
    snprintf(a->beside, sizeof a->beside, "thesis, n = %.0f", n);
    for (size_t i = 0; i < sizeof thesis / sizeof *thesis; i++)
        if (strncmp(name, thesis[i].name, strlen(thesis[i].name)) == 0 && n == thesis[i].n)
            a->thesis = thesis[i].error;
}

static void find_matrices(const io_json_value *rows, symindef_matrices *m) {
    for (const io_json_value *row = rows->first; row; row = row->next) {
        int i = 0;
        if (!symindef_is_part(row, "alpha")) continue;
        while (i < m->count &&
               strcmp(result_text(m->matrix[i].rows[0], "matrix"), result_text(row, "matrix")) != 0)
            i++;
        if (i == SYMINDEF_MATRICES || m->matrix[i].count == SYMINDEF_ALPHAS) continue;
        m->matrix[i].rows[m->matrix[i].count++] = row;
        if (i == m->count) describe(&m->matrix[m->count++]);
    }
}

static void write_matrix(FILE *file, const symindef_matrix *a) {
    fprintf(file,
            "\n### %s\n\n"
            "| alpha | ms | 1x1 | 2x2 | growth | max multiplier | relative error | by vectors | "
            "thesis |\n|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
            a->label);
    for (int k = 0; k < a->count; k++) {
        const io_json_value *row = a->rows[k], *verified = io_json_get(row, "verified");
        fprintf(file, "| %.4g", result_number(row, "alpha"));
        result_cell(file, "%.4g", 1e3 * result_number(row, "median_s"));
        result_cell(file, "%.0f", result_number(row, "pivots_1x1"));
        result_cell(file, "%.0f", result_number(row, "pivots_2x2"));
        result_cell(file, "%.4g", result_number(row, "growth"));
        result_cell(file, "%.4g", result_number(row, "max_multiplier"));
        result_cell(file, "%.3e", result_number(row, "relative_error"));
        result_cell(file, "%.2e", result_number(row, "vector_error"));
        result_cell(file, "%.3e", a->thesis ? a->thesis[k] : (double)NAN);
        fprintf(file, "%s |\n", verified && !verified->boolean ? " (fails the check)" : "");
    }
}

static int write_alpha(const symindef_page *p, io_error *err) {
    symindef_matrices m = { .count = 0 };
    find_matrices(p->rows, &m);
    fputs("\n## The parameter alpha: Table 3.1\n", p->file);
    if (m.count == 0) {
        fputs("\nLeft out: the part `alpha` was not measured.\n", p->file);
        return IO_OK;
    }
    fputs(
        "\nA diagonal entry is a 1x1 pivot if it is above alpha times the largest entry; alpha_0 = (1 + "
        "sqrt 17) / 8 = 0.6404 has the smallest bound on the growth, and no multiplier is above "
        "max(1/alpha, 1/(1 - alpha)). The thesis's random matrix is another draw.\n",
        p->file);
    int status = symindef_draw_alpha_errors(p, &m, err);
    if (status == IO_OK) status = symindef_draw_multipliers(p, &m, err);
    for (int i = 0; i < m.count && status == IO_OK; i++) write_matrix(p->file, &m.matrix[i]);
    return status;
}

/* ---- sizes ------------------------------------------------------------------------------------ */

static void find_orders(const io_json_value *rows, symindef_orders *o) {
    for (const io_json_value *row = rows->first; row; row = row->next) {
        const double n = result_number(row, "n");
        int i = 0;
        if (!symindef_is_part(row, "sizes") || !(n > 0)) continue;
        while (i < o->count && o->n[i] != n) i++; /* they are in order */
        if (i == SYMINDEF_ORDERS || o->matrices[i] == SYMINDEF_SEEDS) continue;
        if (i == o->count) o->n[o->count++] = n;
        o->rows[i][o->matrices[i]++] = row;
    }
}

static int ascending(const void *p, const void *q) {
    const double one = *(const double *)p, other = *(const double *)q;
    return one < other ? -1 : one > other;
}

/* Those that are numbers, in order; returns how many. */
static int values_of(const symindef_orders *o, int i, const char *key,
                     double values[SYMINDEF_SEEDS]) {
    int count = 0;
    for (int k = 0; k < o->matrices[i]; k++) {
        const double value = result_number(o->rows[i][k], key);
        if (!isnan(value)) values[count++] = value;
    }
    qsort(values, (size_t)count, sizeof *values, ascending);
    return count;
}

double symindef_middle(const symindef_orders *o, int i, const char *key) {
    double values[SYMINDEF_SEEDS] = { 0 };
    const int count = values_of(o, i, key, values);
    return count > 0 ? values[count / 2] : NAN;
}

static double largest(const symindef_orders *o, int i, const char *key) {
    double values[SYMINDEF_SEEDS] = { 0 };
    const int count = values_of(o, i, key, values);
    return count > 0 ? values[count - 1] : NAN;
}

/* Bytes of a pass over the reduced triangle in each stage, read once and written once. */
static double bytes_of(double n) { return n * (n + 1) * (n + 2) / 3 * sizeof(double); }

static void write_orders(FILE *file, const symindef_orders *o) {
    fputs("\n| n | ms | GB/s | 1x1 | 2x2 | growth | relative error | by vectors |\n"
          "|---:|---:|---:|---:|---:|---:|---:|---:|\n",
          file);
    for (int i = 0; i < o->count; i++) {
        const double seconds = symindef_middle(o, i, "median_s");
        fprintf(file, "| %.0f", o->n[i]);
        result_cell(file, "%.4g", 1e3 * seconds);
        result_cell(file, "%.4g", 1e-9 * bytes_of(o->n[i]) / seconds);
        result_cell(file, "%.0f", symindef_middle(o, i, "pivots_1x1"));
        result_cell(file, "%.0f", symindef_middle(o, i, "pivots_2x2"));
        result_cell(file, "%.3g", largest(o, i, "growth"));
        result_cell(file, "%.2e", largest(o, i, "relative_error"));
        result_cell(file, "%.2e", largest(o, i, "vector_error"));
        fputs(" |\n", file);
    }
}

static void write_gjgt(FILE *file, const symindef_orders *o) {
    fputs("\n| n | ms | relative error | by vectors | of M D Mt | by vectors |\n"
          "|---:|---:|---:|---:|---:|---:|\n",
          file);
    for (int i = 0; i < o->count; i++) {
        fprintf(file, "| %.0f", o->n[i]);
        result_cell(file, "%.4g", 1e3 * symindef_middle(o, i, "gjgt_s"));
        result_cell(file, "%.2e", largest(o, i, "gjgt_error"));
        result_cell(file, "%.2e", largest(o, i, "gjgt_vector_error"));
        result_cell(file, "%.2e", largest(o, i, "relative_error"));
        result_cell(file, "%.2e", largest(o, i, "vector_error"));
        fputs(" |\n", file);
    }
}

static int write_sizes(const symindef_page *p, io_error *err) {
    symindef_orders o = { .count = 0 };
    find_orders(p->rows, &o);
    fputs("\n## Time and error against n: Figures 3.7 and 3.8\n", p->file);
    if (o.count == 0) {
        fputs("\nLeft out: the part `sizes` was not measured.\n", p->file);
        return IO_OK;
    }
    fputs(
        "\nTimes are medians over the matrices of an order, errors and growth the largest. GB/s counts "
        "the reduced triangle, read once and written once for each row that is eliminated; ours writes "
        "it a few times less often.\n",
        p->file);
    int status = symindef_draw_times(p, &o, err);
    if (status == IO_OK) status = symindef_draw_errors(p, &o, err);
    if (status != IO_OK) return status;
    write_orders(p->file, &o);
    fputs(
        "\n## G J Gt: Figure 3.22\n\n"
        "P A Pt = G J Gt, J = diag(+1, -1), of the same factors (`shoal_symindef_gjgt`); the time is "
        "that of making G out of them.\n",
        p->file);
    status = symindef_draw_gjgt(p, &o, err);
    if (status == IO_OK) write_gjgt(p->file, &o);
    return status;
}

/* ---- read ------------------------------------------------------------------------------------- */

static double milliseconds(const symindef_page *p, double n, int way) {
    for (const io_json_value *row = p->rows->first; row; row = row->next)
        if (symindef_is_part(row, "read") && result_number(row, "n") == n &&
            strcmp(result_text(row, "way"), bench_read_ways[way]) == 0)
            return 1e3 * result_number(row, "median_s");
    return NAN;
}

static int write_read(const symindef_page *p, io_error *err) {
    bool any = false;
    for (const io_json_value *row = p->rows->first; row; row = row->next)
        any |= symindef_is_part(row, "read");
    fputs("\n## Reading one triangle of an HDF5 file\n", p->file);
    if (!any) {
        fputs("\nLeft out: the part `read` was not measured.\n", p->file);
        return IO_OK;
    }
    fputs(
        "\nThe lower triangle by hyperslabs, a row each, straight into packed storage; the whole matrix by "
        "one call; and the whole matrix, then packed (thesis, section 3.2: hyperslabs are 4 to 5 times "
        "faster). The file is contiguous and in the cache of the operating system; on the CPU.\n",
        p->file);
    const int status = symindef_draw_read(p, err);
    if (status != IO_OK) return status;
    fputs(
        "\n| n | MB | triangle, ms | whole, ms | whole, packed, ms | whole / triangle | whole, packed / "
        "triangle |\n|---:|---:|---:|---:|---:|---:|---:|\n",
        p->file);
    for (const io_json_value *row = p->rows->first; row; row = row->next) {
        const double n = result_number(row, "n");
        if (!symindef_is_part(row, "read") ||
            strcmp(result_text(row, "way"), bench_read_ways[0]) != 0)
            continue;
        const double triangle = milliseconds(p, n, 0);
        fprintf(p->file, "| %.0f | %.4g", n, 1e-6 * n * n * sizeof(double));
        for (int way = 0; way < BENCH_READ_WAYS; way++)
            result_cell(p->file, "%.4g", milliseconds(p, n, way));
        result_cell(p->file, "%.2f", milliseconds(p, n, 1) / triangle);
        result_cell(p->file, "%.2f", milliseconds(p, n, 2) / triangle);
        fputs(" |\n", p->file);
    }
    return status;
}

static void write_introduction(FILE *file, const char *study, const io_json_value *root) {
    const io_json_value *machine = io_json_get(root, "machine");
    const char *base = strrchr(study, '/');
    fprintf(
        file,
        "# Studies of symmetric indefinite factorizations\n\n"
        "The studies of the thesis of [symindef.md](symindef.md) that need nobody to be compared with, by "
        "`complete` in double, packed. This page is made by `shoal report --study` from `%s`: %s, %.0f "
        "threads, %s, seed %.0f. No number of ours is typed by hand. The matrices have the eigenvalues "
        "-n .. n - 1 in equal steps, and random vectors (`equidistant`), where none is named.\n\n",
        base ? base + 1 : study, result_text(machine, "device"), result_number(machine, "threads"),
        result_text(machine, "date"), result_number(root, "seed"));
    fprintf(
        file,
        "- relative error: |P A Pt - M D Mt| / |A|, where |X| is the largest sum of |X(i,j)| over a row: of "
        "all rows up to n = %d, beyond that of %d rows, equally spaced and the last among them, which can "
        "only be less. The sums are taken on the CPU in twice the precision of double (pairs of "
        "doubles), so that what is seen are the errors of the factors.\n"
        "- by vectors: |P A Pt v - M (D (Mt v))| / (|A| |v|), maximum norms, the largest for three random "
        "vectors v of 1 and -1, in the same arithmetic: what `shoal bench` checks. Rounding errors of a "
        "row add up with random signs and show smaller.\n",
        STUDY_WHOLE, BENCH_SAMPLE);
}

int bench_study_symindef_page(FILE *file, const char *path, const char *study,
                              const io_json_value *root, io_error *err) {
    const io_json_value *machine = io_json_get(root, "machine");
    const symindef_page p = { .file = file,
                              .path = path,
                              .device = result_text(machine, "device"),
                              .cpu = result_text(machine, "cpu"),
                              .rows = io_json_get(root, "rows") };
    write_introduction(file, study, root);
    int status = write_alpha(&p, err);
    if (status == IO_OK) status = write_sizes(&p, err);
    if (status == IO_OK) status = write_read(&p, err);
    return status;
}
