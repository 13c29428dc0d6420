/* SPDX-License-Identifier: Apache-2.0
 *
 * report.c - the page of `shoal report`: one file, no scripts, light and dark.
 */
#define _GNU_SOURCE
#include "bench/session.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "io/file.h"
#include "io/html.h"
#include "io/svg.h"

enum { MAX_METHODS = 16, MAX_SIZES = 64 };

typedef struct grid { /* rows of one type: methods across, n down */
    shoal_type type;
    const char *methods[MAX_METHODS];
    int64_t sizes[MAX_SIZES];
    const bench_row *cell[MAX_SIZES][MAX_METHODS];
    int method_count, size_count;
} grid;

int bench_make_parents(const char *path, io_error *err) {
    char *copy = strdup(path);
    if (!copy) return io_fail(err, IO_E_MEMORY, "no memory");
    int status = IO_OK;
    for (char *slash = copy; (slash = strchr(slash + 1, '/')) && status == IO_OK;) {
        *slash = 0;
        if (*copy && mkdir(copy, 0777) != 0 && errno != EEXIST)
            status = io_fail(err, IO_E_WRITE, "%s: cannot make the directory: %s", copy,
                             strerror(errno));
        *slash = '/';
    }
    free(copy);
    return status;
}

static grid grid_of(const bench_session *s, shoal_type type) {
    grid g = { .type = type };
    for (int i = 0; i < s->row_count; i++) {
        const bench_row *row = &s->rows[i];
        int m = 0, k = 0;
        if (row->problem.type != type) continue;
        while (m < g.method_count && strcmp(g.methods[m], row->method) != 0) m++;
        while (k < g.size_count && g.sizes[k] != row->problem.n) k++;
        if (m == MAX_METHODS || k == MAX_SIZES) continue;
        if (m == g.method_count) g.methods[g.method_count++] = row->method;
        if (k == g.size_count) g.sizes[g.size_count++] = row->problem.n;
        g.cell[k][m] = row;
    }
    return g;
}

static double rate(const bench_row *row) {
    return row && row->timed ? (double)row->problem.count / row->time.median : NAN;
}

/* Million systems per second, or why there is no rate. Three digits, zeros at the end too, so that columns line up. */
static const char *cell_text(const bench_row *row, char text[32]) {
    const double value = 1e-6 * rate(row);
    if (!isfinite(value)) return row && !row->check.passed ? bench_verdict(&row->check) : "-";
    snprintf(text, 32, value >= 99.95 ? "%.0f" : "%#.3g", value);
    return text;
}

static double worst_residual(const grid *g, int k) {
    double worst = 0;
    for (int m = 0; m < g->method_count; m++)
        if (g->cell[k][m] && g->cell[k][m]->check.max_residual > worst)
            worst = g->cell[k][m]->check.max_residual;
    return worst;
}

static const bench_row *fastest(const grid *g, int k) {
    const bench_row *best = NULL;
    for (int m = 0; m < g->method_count; m++)
        if (isfinite(rate(g->cell[k][m])) && !(rate(g->cell[k][m]) <= rate(best)))
            best = g->cell[k][m];
    return best;
}

static int64_t count_at(const grid *g, int k) {
    for (int m = 0; m < g->method_count; m++)
        if (g->cell[k][m]) return g->cell[k][m]->problem.count;
    return 0;
}

static int chart(FILE *file, const grid *g, io_error *err) {
    double x[MAX_SIZES], y[MAX_METHODS][MAX_SIZES];
    io_series series[MAX_METHODS] = { 0 };
    for (int k = 0; k < g->size_count; k++) x[k] = (double)g->sizes[k];
    for (int m = 0; m < g->method_count; m++) {
        for (int k = 0; k < g->size_count; k++) y[m][k] = rate(g->cell[k][m]);
        series[m] = (io_series){ .name = g->methods[m], .count = g->size_count, .x = x, .y = y[m] };
        series[m].dashed = strcmp(g->methods[m], "auto") == 0;
    }
    char title[96];
    snprintf(title, sizeof title, "Tridiagonal systems per second, %s precision",
             g->type == SHOAL_F64 ? "double" : "single");
    const io_chart c = { .title = title,
                         .subtitle = "median of repeated solves; higher is better",
                         .x_label = "unknowns per system, n",
                         .y_label = "systems per second",
                         .x_scale = IO_LOG2,
                         .y_scale = IO_LOG10,
                         .width = 960,
                         .height = 460,
                         .series_count = g->method_count,
                         .series = series };
    fputs("<div class=\"wide chart\">\n", file);
    int status = io_svg_lines(file, &c, err);
    fputs("</div>\n", file);
    return status;
}

static void rate_table(FILE *file, const grid *g) {
    char text[32];
    fprintf(file, "<div class=wide><table><thead><tr><th>n<th>systems");
    for (int m = 0; m < g->method_count; m++) {
        fputs("<th>", file);
        io_html_text(file, g->methods[m]);
    }
    fputs("<th>largest residual</tr></thead><tbody>\n", file);
    for (int k = 0; k < g->size_count; k++) {
        const bench_row *best = fastest(g, k);
        fprintf(file, "<tr><td>%lld<td>%s", (long long)g->sizes[k],
                io_html_count(count_at(g, k), text));
        for (int m = 0; m < g->method_count; m++) {
            const bench_row *row = g->cell[k][m];
            const bool bad = row && !isfinite(rate(row)) && !row->check.passed;
            const char *mark = bad ? " class=bad" : row && row == best ? " class=best" : "";
            fprintf(file, "<td%s>%s", mark, cell_text(row, text));
        }
        fprintf(file, "<td>%.1e</tr>\n", worst_residual(g, k));
    }
    fputs("</tbody></table></div>\n", file);
}

static void detail_table(FILE *file, const bench_session *s) {
    char text[32];
    fputs("<details><summary>All measurements</summary><div class=wide><table><thead><tr>"
          "<th class=l>method<th class=l>variant<th class=l>type<th>n<th>systems<th>ms<th>&plusmn;"
          "<th>GB/s<th>% of copy<th>residual<th>failed<th class=l>check</tr></thead><tbody>\n",
          file);
    for (int i = 0; i < s->row_count; i++) {
        const bench_row *r = &s->rows[i];
        fprintf(file, "<tr><td class=l>%s<td class=l>%s<td class=l>%s<td>%lld<td>%s", r->method,
                r->variant, bench_type_name(r->problem.type), (long long)r->problem.n,
                io_html_count(r->problem.count, text));
        if (r->timed)
            fprintf(file, "<td>%.4g<td>%.2g<td>%.4g<td>%.1f", 1e3 * r->time.median,
                    1e3 * r->time.spread, 1e-9 * r->bytes / r->time.median, 100 * r->share);
        else
            fputs("<td>-<td>-<td>-<td>-", file);
        fprintf(file, "<td>%.2e<td>%lld<td class=\"l %s\">", r->check.max_residual,
                (long long)r->check.failed, r->check.passed ? "good" : "bad");
        io_html_text(file, r->check.passed ? "passed" : r->check.why);
        fputs("</tr>\n", file);
    }
    fputs("</tbody></table></div></details>\n", file);
}

static void cards(FILE *file, const bench_session *s, const grid *g) {
    char value[96], label[128], number[32];
    double solved = 0, worst = 0;
    int wrong = 0;
    for (int i = 0; i < s->row_count; i++) {
        const bench_row *row = &s->rows[i];
        const double unit = row->check.tolerance / 100;
        solved += (double)row->check.systems;
        wrong += !row->check.passed;
        if (row->check.max_residual / unit > worst) worst = row->check.max_residual / unit;
    }
    fputs("<div class=cards>\n", file);
    io_html_card(file, io_html_count((int64_t)solved, number), "systems solved and checked");
    snprintf(value, sizeof value, "%.2g units", worst);
    io_html_card(file, value, "largest residual, in units of roundoff; 100 are allowed");
    snprintf(value, sizeof value, "%d of %d", s->row_count - wrong, s->row_count);
    io_html_card(file, value, "cases passed the check");
    const int step = g->size_count > 1 ? g->size_count - 1 : 1; /* the first size and the last */
    for (int k = 0; k < g->size_count; k += step) {
        const bench_row *best = fastest(g, k);
        if (!best) continue;
        const int scale = rate(best) >= 1e9 ? 3 : rate(best) >= 1e6 ? 2 : 1; /* thousands */
        snprintf(value, sizeof value, "%.3g %c/s", rate(best) / pow(1000, scale), " kMG"[scale]);
        snprintf(label, sizeof label, "systems of n = %lld, double, by %s", (long long)g->sizes[k],
                 best->method);
        io_html_card(file, value, label);
    }
    fputs("</div>\n", file);
}

static void machine(FILE *file, const bench_session *s) {
    char text[160];
    time_t now = time(NULL);
    struct tm utc;
    fputs("<h2>The machine</h2>\n<div class=card><dl>\n", file);
    for (int i = 0; i < 2; i++) {
        const bench_place *p = &s->places[i];
        if (!p->ctx) continue;
        io_html_fact(file, "device", p->machine.device);
        io_html_fact(file, "backend", p->machine.backend);
        io_html_fact(file, "software", p->software);
        io_html_fact(file, "instruction level", p->machine.isa);
        snprintf(text, sizeof text, "%d", p->machine.threads);
        io_html_fact(file, "CPU threads", text);
        io_html_fact(file, "GPU", p->machine.gpu);
        snprintf(text, sizeof text, "%.4g GB/s, bytes read and written", 1e-9 * p->copy_rate);
        if (p->copy_rate > 0) io_html_fact(file, "copy bandwidth", text);
    }
    io_html_fact(file, "Shoal", shoal_version());
    if (gmtime_r(&now, &utc) && strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &utc))
        io_html_fact(file, "date", text);
    fputs("</dl></div>\n", file);
}

static int body(FILE *file, const bench_session *s, const bench_story *story, io_error *err) {
    const grid grids[] = { grid_of(s, SHOAL_F64), grid_of(s, SHOAL_F32) };
    int status = IO_OK;
    fprintf(file, "<h1>Tridiagonal systems by every method</h1>\n<p class=lead>");
    io_html_text(file, story->sizes);
    fputs("</p>\n", file);
    if (story->interrupted)
        fputs(
            "<p class=bad>The run was interrupted: the cases measured until then are shown.</p>\n",
            file);
    cards(file, s, &grids[0]);
    for (int t = 0; t < 2 && status == IO_OK; t++) {
        if (grids[t].size_count == 0) continue;
        fprintf(file, "<h2>%s precision</h2>\n", t ? "Single" : "Double");
        status = chart(file, &grids[t], err);
        fputs("<p>Million systems per second; the fastest in each line is marked.</p>\n", file);
        rate_table(file, &grids[t]);
    }
    fputs(
        "<h2>How it was measured</h2>\n<p>The matrices are strictly diagonally dominant, made from "
        "a seed, one system after another in memory. Each answer is checked before it is timed: "
        "the residual |d &minus; Ax| / (|A||x| + |d|) of every system, in twice double precision, "
        "by code that shares nothing with the library. GB/s counts the fewest bytes a solver must "
        "move, five numbers per row, and is compared with a plain copy on the same machine. "
        "<em>auto</em> is <em>lupp</em> on a CPU; on a GPU it is <em>hybrid</em>, checks every "
        "residual itself and redoes with pivoting what is not good enough.</p>\n",
        file);
    detail_table(file, s);
    machine(file, s);
    fprintf(file, "<footer>Written by <code>shoal report</code>, version %s.</footer>\n",
            shoal_version());
    return status;
}

int bench_report_html(const bench_session *s, const bench_story *story, const char *path,
                      io_error *err) {
    io_out *out;
    int status = bench_make_parents(path, err);
    if (status == IO_OK) status = io_out_open(path, &out, err);
    if (status != IO_OK) return status;
    FILE *file = io_out_file(out);
    io_html_begin(file, "Shoal: tridiagonal systems by every method");
    status = body(file, s, story, err);
    io_html_end(file);
    if (status == IO_OK) return io_out_commit(out, err);
    io_out_abandon(out);
    return status;
}

void bench_report_text(const bench_session *s, FILE *file) {
    grid g = grid_of(s, SHOAL_F64);
    char number[32];
    fprintf(file, "million systems per second, double precision\n%6s %9s", "n", "systems");
    for (int m = 0; m < g.method_count; m++) fprintf(file, " %8s", g.methods[m]);
    fprintf(file, " %12s\n", "residual");
    for (int k = 0; k < g.size_count; k++) {
        fprintf(file, "%6lld %9s", (long long)g.sizes[k], io_html_count(count_at(&g, k), number));
        for (int m = 0; m < g.method_count; m++)
            fprintf(file, " %8s", cell_text(g.cell[k][m], number));
        fprintf(file, " %12.1e\n", worst_residual(&g, k));
    }
}
