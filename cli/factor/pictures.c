/* SPDX-License-Identifier: Apache-2.0
 *
 * pictures.c - element growth against the stage (Kruchinina's thesis, Figures 3.10 to 3.21), and the lower
 * triangle at some stages as pixels (Figure 3.15).
 *
 * Stage k begins when k - 1 rows are eliminated: columns 1 to k - 1 hold M and D, the rest is the
 * reduced matrix. Every picture needs a factorization of its own. Up to PLAIN rows a pixel is an
 * entry, beyond that the largest of a box. Colours run from blue to red with log |.|, over the range
 * that all pictures of a run have together, at most 2^52; zero and the upper triangle are white.
 * Until that range is known pictures wait as 16-bit levels, 31 per octave, 2 bytes per pixel.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "factor.h"
#include "io/png.h"
#include "io/svg.h"

enum { PLAIN = 2048, MAX_PIXELS = 1024, OCTAVE = 31, BELOW = 1080, DEFAULT_STAGES = 6 };
enum { COLUMNS = 1200, ROWS = 600 }; /* finer than the plot: points in one cell are one */

/* ---- growth ----------------------------------------------------------------------------------- */

typedef struct points {
    double *x, *y;
    int64_t count;
} points;

/* Stages whose pivots have that order, without those that would lie on another. */
static bool take_points(const factor_matrix *m, const factor_result *r, bool pairs, double low,
                        double high, points *p) {
    unsigned char *used = calloc(COLUMNS * ROWS, 1);
    p->x = malloc((size_t)m->n * sizeof *p->x + 1);
    p->y = malloc((size_t)m->n * sizeof *p->y + 1);
    const bool memory = used && p->x && p->y;
    for (int64_t k = 0; k < m->n && memory; k++) {
        const bool pair = k + 1 < m->n && r->interchanges[k + 1] < 0;
        if (!(r->growth[k] > 0) || pair != pairs) continue;
        const double height = high > low ? log(r->growth[k] / low) / log(high / low) : 0;
        const int64_t column = k * COLUMNS / m->n, row = (int64_t)(height * (ROWS - 1));
        unsigned char *cell = &used[row * COLUMNS + column];
        if (*cell) continue;
        *cell = 1;
        p->x[p->count] = (double)(k + 1);
        p->y[p->count++] = r->growth[k];
    }
    free(used);
    return memory;
}

int factor_draw_growth(const factor_arguments *a, const factor_matrix *m,
                       const factor_found *found) {
    const char *slash = strrchr(a->matrix, '/'), *name = slash ? slash + 1 : a->matrix;
    const shoal_symindef_info *info = &found->info;
    char title[256], subtitle[256];
    double low = INFINITY, high = 0;
    points single = { 0 }, pair = { 0 };
    io_error err;
    for (int64_t k = 0; k < m->n; k++)
        if (found->result.growth[k] > 0) {
            low = fmin(low, found->result.growth[k]);
            high = fmax(high, found->result.growth[k]);
        }
    snprintf(title, sizeof title, "%.80s: element growth, %s pivoting", name, info->method);
    snprintf(subtitle, sizeof subtitle,
             "n = %" PRId64 ", rank %" PRId64 ", %" PRId64 " 1x1 and %" PRId64
             " 2x2 pivots, with %" PRId64 " and %" PRId64 " swaps",
             m->n, info->rank, info->pivots_1x1, info->pivots_2x2, info->swaps_1x1,
             info->swaps_2x2);
    int code = CLI_OK;
    if (!take_points(m, &found->result, false, low, high, &single) ||
        !take_points(m, &found->result, true, low, high, &pair))
        code = cli_no_memory();
    const io_series series[] = {
        /* the first lies on top: mostly there are fewer 2x2 pivots */
        { "2x2 pivots", pair.count, pair.x, pair.y, .color = 2, .no_line = true },
        { "1x1 pivots", single.count, single.x, single.y, .color = 1, .no_line = true }
    };
    const io_chart chart = {
        title,     subtitle, "stage",           "max |reduced matrix| / max |A|",
        IO_LINEAR, IO_LOG10, .series_count = 2, .series = series
    };
    if (code == CLI_OK) code = cli_io(io_svg_write_lines(a->growth, &chart, &err), &err);
    free(single.x), free(single.y), free(pair.x), free(pair.y);
    return code;
}

/* ---- snapshots -------------------------------------------------------------------------------- */

static int make_directory(const char *path, bool *made) {
    struct stat info;
    *made = mkdir(path, 0777) == 0;
    const bool is = *made || (errno == EEXIST && stat(path, &info) == 0 && S_ISDIR(info.st_mode));
    if (is && access(path, W_OK | X_OK) == 0) return CLI_OK;
    return cli_fail(CLI_OUTPUT, "%s: cannot make or use this directory: %s", path, strerror(errno));
}

int factor_choose_stages(factor_arguments *a, int64_t n) {
    bool made;
    const int code = make_directory(a->snapshots, &made);
    if (code != CLI_OK) return code;
    if (made) rmdir(a->snapshots); /* until there are pictures */
    for (int i = 0; i < a->stage_count; i++)
        if (a->stages[i] > n)
            return cli_fail(CLI_USAGE, "--stages: %" PRId64 " is not between 1 and n = %" PRId64,
                            a->stages[i], n);
    if (a->stage_count > 0) return CLI_OK;
    for (int i = 0; i < DEFAULT_STAGES && n > 0; i++) {
        const int64_t stage =
            1 + (int64_t)((double)i * (double)(n - 1) / (DEFAULT_STAGES - 1) + 0.5);
        if (a->stage_count == 0 || stage > a->stages[a->stage_count - 1])
            a->stages[a->stage_count++] = stage;
    }
    return CLI_OK;
}

static int64_t box_of(int64_t n) { return n <= PLAIN ? 1 : (n + MAX_PIXELS - 1) / MAX_PIXELS; }

static uint16_t level_of(double magnitude) { /* 0: zero */
    if (!(magnitude > 0)) return 0;
    return (uint16_t)(1 + (int)((log2(fmin(magnitude, 0x1p1023)) + BELOW) * OCTAVE));
}

/* The lower triangle of side x side pixels, row after row. */
static void take_levels(const factor_matrix *m, const void *numbers, uint16_t *levels) {
    const int64_t box = box_of(m->n);
    for (int64_t i = 0; i < m->n; i++)
        for (int64_t j = 0; j <= i; j++) {
            const int64_t y = i / box, x = j / box;
            const uint16_t level = level_of(fabs(factor_entry(m, numbers, i, j)));
            uint16_t *to = &levels[y * (y + 1) / 2 + x];
            if (level > *to) *to = level;
        }
}

/* 0 <= part <= 1. White is kept for zero. */
static void colour(double part, unsigned char *rgb) {
    static const double stops[][3] = { /* blue, cyan, green, yellow, red */
                                       { 28, 52, 178 },
                                       { 30, 160, 215 },
                                       { 60, 175, 90 },
                                       { 245, 195, 40 },
                                       { 205, 25, 30 }
    };
    const double place = 4 * part;
    const int first = place >= 4 ? 3 : (int)place;
    for (int i = 0; i < 3; i++)
        rgb[i] = (unsigned char)(stops[first][i] +
                                 (place - first) * (stops[first + 1][i] - stops[first][i]) + 0.5);
}

static int write_picture(const char *path, const uint16_t *levels, int64_t side, int low,
                         int high) {
    const size_t bytes = 3 * (size_t)(side * side);
    unsigned char *rgb = malloc(bytes);
    io_error err;
    if (!rgb) return cli_no_memory();
    memset(rgb, 255, bytes);
    for (int64_t y = 0; y < side; y++)
        for (int64_t x = 0; x <= y; x++) {
            const int level = levels[y * (y + 1) / 2 + x], shown = level < low ? low : level;
            if (level > 0)
                colour(high > low ? (double)(shown - low) / (high - low) : 0,
                       rgb + 3 * (y * side + x));
        }
    const int code = cli_io(io_png_write(path, (int)side, (int)side, rgb, &err), &err);
    free(rgb);
    return code;
}

/* Levels of the triangle when stage k begins. */
static int look_at_stage(cli *c, const factor_arguments *a, const factor_matrix *m, int64_t stage,
                         void *scratch, uint16_t *levels) {
    factor_found found = { .result.factors = scratch };
    memcpy(scratch, m->file.a.data, m->bytes);
    int code = CLI_OK;
    if (stage > 1) /* the last one is all of it */
        code = factor_run(c, a, m, stage < m->n ? stage - 1 : m->n, NULL, NULL, NULL, &found);
    if (code == CLI_OK) take_levels(m, scratch, levels);
    return code;
}

int factor_draw_stages(cli *c, const factor_arguments *a, const factor_matrix *m, void *scratch) {
    const int64_t side = (m->n + box_of(m->n) - 1) / box_of(m->n);
    const size_t pixels = (size_t)(side * (side + 1) / 2), room = strlen(a->snapshots) + 32;
    uint16_t *levels = calloc(pixels * (size_t)a->stage_count + 1, sizeof *levels);
    char *path = malloc(room);
    int low = UINT16_MAX, high = 0, code = CLI_OK;
    bool made;
    if (!levels || !path) code = cli_no_memory();
    if (code == CLI_OK) code = make_directory(a->snapshots, &made);
    for (int s = 0; s < a->stage_count && code == CLI_OK; s++)
        code = look_at_stage(c, a, m, a->stages[s], scratch, levels + pixels * (size_t)s);
    for (size_t i = 0; i < pixels * (size_t)a->stage_count && code == CLI_OK; i++) {
        if (levels[i] == 0) continue;
        if (levels[i] < low) low = levels[i];
        if (levels[i] > high) high = levels[i];
    }
    if (low < high - 52 * OCTAVE) low = high - 52 * OCTAVE;
    for (int s = 0; s < a->stage_count && code == CLI_OK; s++) {
        snprintf(path, room, "%s/stage-%05" PRId64 ".png", a->snapshots, a->stages[s]);
        code = write_picture(path, levels + pixels * (size_t)s, side, low, high);
    }
    free(levels);
    free(path);
    return code;
}
