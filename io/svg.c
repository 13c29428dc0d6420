/* SPDX-License-Identifier: Apache-2.0
 *
 * svg.c - line charts. Top to bottom: title, subtitle, y label (lying, above its axis), the plot, x
 * label. Right of the plot the names of the series, each at the height of the end of its line as
 * far as they do not collide, with a sample of the line and a leader to its last point.
 *
 * The plot is a nested svg element, which clips what lies outside the axes without needing an id.
 */
#include "svg.h"

#include <math.h>

#include "file.h"
#include "svg_parts.h"

#define MARGIN      20
#define LINE_GAP    17 /* between the names of two series                */
#define BLEED       8  /* room for markers at the edge of the plot       */
#define SAMPLE      22 /* length of the line sample beside a name        */
#define MANY_POINTS 48 /* beyond, markers would run into each other      */

typedef struct plot {
    const io_chart *chart;
    svg_axis x, y;
    double left, right, top, bottom; /* pixels                           */
} plot;

typedef struct name_tag { /* a series name right of the plot */
    int series;
    double point_x, point_y; /* last point of the line; NAN if it has none */
    double y;                /* where the name stands                      */
} name_tag;

static int color_of(const io_chart *chart, int series) {
    int color = chart->series[series].color;
    return color >= 1 && color <= IO_SVG_COLORS ? color : series % IO_SVG_COLORS + 1;
}

static bool visible(const io_chart *chart, const io_series *s, int64_t i) {
    return svg_usable(chart->x_scale, s->x[i]) && svg_usable(chart->y_scale, s->y[i]);
}

static void widen(double range[2], double value) {
    range[0] = fmin(range[0], value);
    range[1] = fmax(range[1], value);
}

/* Smallest and largest x and y of the visible points, error bars included; 1..10 if none. */
static void find_ranges(const io_chart *chart, double x[2], double y[2]) {
    x[0] = y[0] = INFINITY;
    x[1] = y[1] = -INFINITY;
    for (int k = 0; k < chart->series_count; k++) {
        const io_series *s = &chart->series[k];
        for (int64_t i = 0; i < s->count; i++) {
            if (!visible(chart, s, i)) continue;
            widen(x, s->x[i]);
            widen(y, s->y[i]);
            if (!s->error || !isfinite(s->error[i])) continue;
            if (svg_usable(chart->y_scale, s->y[i] - s->error[i])) widen(y, s->y[i] - s->error[i]);
            if (svg_usable(chart->y_scale, s->y[i] + s->error[i])) widen(y, s->y[i] + s->error[i]);
        }
    }
    if (x[0] > x[1]) x[0] = y[0] = 1, x[1] = y[1] = 10;
    if (chart->y_scale == IO_LINEAR && chart->y_from_zero) widen(y, 0);
}

static double widest_label(const svg_axis *axis) {
    double widest = 0;
    for (int k = 0; k < axis->ticks; k++) widest = fmax(widest, svg_text_width(axis->label[k], 11));
    return widest;
}

/* Fits the axes and finds the rectangle of the plot. */
static void lay_out(plot *p, double top, int width, int height) {
    const io_chart *chart = p->chart;
    double x[2], y[2], names = 0;
    find_ranges(chart, x, y);
    for (int k = 0; k < chart->series_count; k++)
        names = fmax(names, svg_text_width(chart->series[k].name ? chart->series[k].name : "", 12));
    names = fmin(names, 0.34 * width);

    p->top = top + (chart->y_label && *chart->y_label ? 34 : 14);
    p->bottom = height - MARGIN - 22 - (chart->x_label && *chart->x_label ? 20 : 0);
    svg_axis_fit(&p->y, chart->y_scale, y[0], y[1], (int)((p->bottom - p->top) / 38), SVG_ROUND);
    p->left = MARGIN + widest_label(&p->y) + 10;
    p->right = width - MARGIN - names - SAMPLE - 34;
    if (p->right < p->left + 80) p->right = p->left + 80;

    int max_ticks = SVG_TICKS; /* as many x ticks as stand side by side with room between */
    do {
        svg_axis_fit(&p->x, chart->x_scale, x[0], x[1], max_ticks, SVG_NEAR);
    } while ((widest_label(&p->x) + 18) * p->x.ticks > p->right - p->left && --max_ticks >= 2);
    p->x.first = p->left;
    p->x.last = p->right;
    p->y.first = p->bottom;
    p->y.last = p->top;
}

static void draw_axes(FILE *file, const plot *p, int height) {
    for (int k = 0; k < p->y.ticks; k++) {
        double y = svg_place_tick(&p->y, k);
        fprintf(file, "<path class=\"g\" d=\"M%.1f %.1fH%.1f\"/>\n", p->left, y, p->right);
        svg_text(file, p->left - 9, y + 4, "k", "end", 0, p->y.label[k]);
    }
    for (int k = 0; k < p->x.ticks; k++) {
        double x = svg_place_tick(&p->x, k);
        fprintf(file, "<path class=\"g\" d=\"M%.1f %.1fV%.1f\"/>\n", x, p->top, p->bottom);
        svg_text(file, x, p->bottom + 18, "k", "middle", 0, p->x.label[k]);
    }
    fprintf(file, "<path class=\"a\" d=\"M%.1f %.1fH%.1f\"/>\n", p->left, p->bottom, p->right);
    if (p->chart->y_label && *p->chart->y_label)
        svg_text(file, MARGIN, p->top - 16, "m", "start", p->right - MARGIN, p->chart->y_label);
    if (p->chart->x_label && *p->chart->x_label)
        svg_text(file, (p->left + p->right) / 2, height - MARGIN + 2, "m", "middle",
                 p->right - p->left, p->chart->x_label);
}

static void draw_line(FILE *file, const plot *p, const io_series *s, int color) {
    bool open = false;
    fprintf(file, "<path class=\"l s%d%s\" d=\"", color, s->dashed ? " d" : "");
    for (int64_t i = 0; i < s->count; i++) {
        bool shown = visible(p->chart, s, i);
        if (shown)
            fprintf(file, "%c%.1f %.1f", open ? 'L' : 'M', svg_place(&p->x, s->x[i]),
                    svg_place(&p->y, s->y[i]));
        open = shown;
    }
    fputs("\"/>\n", file);
}

/* The area between a line and its base, point by point forth and back. */
static void draw_area(FILE *file, const plot *p, const io_series *s, int color) {
    char letter = 'M';
    fprintf(file, "<path class=\"f%d\" stroke=\"none\" fill-opacity=\"0.16\" d=\"", color);
    for (int64_t i = 0; i < 2 * s->count; i++) {
        const int64_t at = i < s->count ? i : 2 * s->count - 1 - i;
        const double y = i < s->count ? s->y[at] : s->base[at];
        if (!visible(p->chart, s, at) || !svg_usable(p->chart->y_scale, y)) continue;
        fprintf(file, "%c%.1f %.1f", letter, svg_place(&p->x, s->x[at]), svg_place(&p->y, y));
        letter = 'L';
    }
    fputs(letter == 'L' ? "Z\"/>\n" : "\"/>\n", file);
}

static void draw_errors(FILE *file, const plot *p, const io_series *s, int color) {
    fprintf(file, "<path class=\"e s%d\" d=\"", color);
    for (int64_t i = 0; i < s->count; i++) {
        if (!visible(p->chart, s, i) || !isfinite(s->error[i])) continue;
        double low = s->y[i] - s->error[i], high = s->y[i] + s->error[i];
        double x = svg_place(&p->x, s->x[i]);
        double bottom = svg_usable(p->chart->y_scale, low) ? svg_place(&p->y, low) : p->bottom;
        double top = svg_usable(p->chart->y_scale, high) ? svg_place(&p->y, high) : p->top;
        fprintf(file, "M%.1f %.1fV%.1fM%.1f %.1fh6M%.1f %.1fh6", x, bottom, top, x - 3, bottom,
                x - 3, top);
    }
    fputs("\"/>\n", file);
}

static void draw_series(FILE *file, const plot *p) {
    const io_chart *chart = p->chart;
    double x = p->left - BLEED, y = p->top - BLEED;
    double width = p->right - p->left + 2 * BLEED, height = p->bottom - p->top + 2 * BLEED;
    fprintf(file,
            "<svg x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" viewBox=\"%.1f %.1f %.1f "
            "%.1f\" overflow=\"hidden\">\n",
            x, y, width, height, x, y, width, height);
    for (int k = chart->series_count - 1; k >= 0; k--)
        if (chart->series[k].base) draw_area(file, p, &chart->series[k], color_of(chart, k));
    for (int k = chart->series_count - 1; k >= 0; k--) { /* the first series lies on top */
        const io_series *s = &chart->series[k];
        int color = color_of(chart, k);
        if (s->error) draw_errors(file, p, s, color);
        if (!s->no_line) draw_line(file, p, s, color);
        if (s->no_markers || (s->count > MANY_POINTS && !s->no_line)) continue;
        for (int64_t i = 0; i < s->count; i++)
            if (visible(chart, s, i))
                svg_marker(file, color, color - 1, svg_place(&p->x, s->x[i]),
                           svg_place(&p->y, s->y[i]));
    }
    fputs("</svg>\n", file);
}

/* Moves sorted tags apart to `gap`, between top and bottom, as little as possible: tags that
 * collide form a block, which stands at the mean of the places of its members; blocks that collide
 * merge. */
static void spread_tags(name_tag *tags, int count, double top, double bottom, double gap) {
    struct {
        int first, size;
        double wish; /* sum over the members of where the block would begin for each */
        double begin;
    } block[IO_SVG_MAX_SERIES];
    int blocks = 0;
    for (int i = 0; i < count; i++) {
        int first = i, size = 1;
        double wish = tags[i].y, begin = fmin(fmax(wish, top), bottom);
        while (blocks > 0 && block[blocks - 1].begin + block[blocks - 1].size * gap > begin) {
            blocks--;
            wish = block[blocks].wish + wish - size * block[blocks].size * gap;
            size += block[blocks].size;
            first = block[blocks].first;
            begin = fmax(fmin(wish / size, bottom - (size - 1) * gap), top);
        }
        block[blocks].first = first;
        block[blocks].size = size;
        block[blocks].wish = wish;
        block[blocks].begin = begin;
        blocks++;
    }
    for (int k = 0; k < blocks; k++)
        for (int i = 0; i < block[k].size; i++)
            tags[block[k].first + i].y = block[k].begin + i * gap;
}

static void draw_names(FILE *file, const plot *p, int width) {
    const io_chart *chart = p->chart;
    name_tag tags[IO_SVG_MAX_SERIES];
    int count = 0;
    for (int k = 0; k < chart->series_count; k++) {
        const io_series *s = &chart->series[k];
        if (!s->name || !*s->name) continue;
        name_tag tag = { k, NAN, NAN, p->bottom };
        for (int64_t i = 0; i < s->count; i++) {
            if (!visible(chart, s, i)) continue;
            double x = svg_place(&p->x, s->x[i]), y = svg_place(&p->y, s->y[i]);
            bool inside =
                x >= p->left - 1 && x <= p->right + 1 && y >= p->top - 1 && y <= p->bottom + 1;
            if (!inside || (tag.point_x >= x)) continue; /* false while it is NAN */
            tag.point_x = x;
            tag.point_y = tag.y = y;
        }
        int place = count++; /* sorted by height; of the same height, in the order of the series */
        for (; place > 0 && tags[place - 1].y > tag.y; place--) tags[place] = tags[place - 1];
        tags[place] = tag;
    }
    double gap = count > 1 ? fmin(LINE_GAP, (p->bottom - p->top) / (count - 1)) : LINE_GAP;
    spread_tags(tags, count, p->top, p->bottom, gap);

    double sample = p->right + 26; /* left end of the line samples */
    for (int i = 0; i < count; i++) {
        const io_series *s = &chart->series[tags[i].series];
        int color = color_of(chart, tags[i].series);
        double y = tags[i].y;
        if (!isnan(tags[i].point_x))
            fprintf(file, "<path class=\"r s%d%s\" d=\"M%.1f %.1fL%.1f %.1fL%.1f %.1f\"/>\n", color,
                    tags[i].point_x < p->right - 8 ? " q" : "", tags[i].point_x + 7,
                    tags[i].point_y, fmax(p->right + 8, tags[i].point_x + 7), tags[i].point_y,
                    sample - 4, y);
        if (!s->no_line)
            fprintf(file, "<path class=\"l s%d%s\" d=\"M%.1f %.1fh%d\"/>\n", color,
                    s->dashed ? " d" : "", sample, y, SAMPLE);
        if (!s->no_markers && (s->count <= MANY_POINTS || s->no_line))
            svg_marker(file, color, color - 1, sample + SAMPLE / 2.0, y);
        svg_text(file, sample + SAMPLE + 7, y + 4, "b", "start", width - sample - SAMPLE - 13,
                 s->name);
    }
}

int io_svg_lines(FILE *file, const io_chart *chart, io_error *err) {
    if (chart->series_count < 0 || chart->series_count > IO_SVG_MAX_SERIES)
        return io_fail(err, IO_E_SIZE, "chart: %d series, at most %d fit", chart->series_count,
                       IO_SVG_MAX_SERIES);
    int width = chart->width > 0 ? chart->width : 760;
    int height = chart->height > 0 ? chart->height : 440;
    if (width < 320) width = 320;
    if (height < 220) height = 220;
    if (height < 150 + 15 * chart->series_count) height = 150 + 15 * chart->series_count;
    plot p = { .chart = chart };
    double top = svg_page_begin(file, width, height, chart->title, chart->subtitle);
    lay_out(&p, top, width, height);
    draw_axes(file, &p, height);
    draw_series(file, &p);
    draw_names(file, &p, width);
    fputs("</svg>\n", file);
    if (ferror(file)) return io_fail(err, IO_E_WRITE, "chart: cannot write");
    return IO_OK;
}

int io_svg_write_lines(const char *path, const io_chart *chart, io_error *err) {
    io_out *out;
    int status = io_out_open(path, &out, err);
    if (status != IO_OK) return status;
    status = io_svg_lines(io_out_file(out), chart, err);
    if (status == IO_OK) return io_out_commit(out, err);
    io_out_abandon(out);
    return status;
}

/* ---- bars -------------------------------------------------------------------------------------
 *
 * Top to bottom: title, subtitle, the bars, the value axis. The height follows from the number of
 * bars. */

#define BAR      15 /* thickness of a bar       */
#define BAR_STEP 32 /* from one bar to the next */

/* The value axis, with 0 on it. */
static void fit_axis(plot *p, const io_bars *bars) {
    double range[2] = { INFINITY, -INFINITY };
    for (int k = 0; k < bars->count; k++)
        if (svg_usable(IO_LINEAR, bars->values[k])) widen(range, bars->values[k]);
    if (range[0] > range[1]) widen(range, 1);
    widen(range, 0);
    svg_axis_fit(&p->x, IO_LINEAR, range[0], range[1], (int)((p->right - p->left) / 64), SVG_EXACT);
    p->x.first = p->left + (range[0] < 0 ? 56 : 0); /* room for the numbers of negative bars */
    p->x.last = p->right;
}

static void draw_bar(FILE *file, const plot *p, double value, double y) {
    char text[SVG_LABEL];
    double zero = svg_place(&p->x, 0);
    if (!svg_usable(IO_LINEAR, value)) {
        svg_text(file, zero + 6, y + 11.5, "k", "start", 0, "–");
        return;
    }
    double end = svg_place(&p->x, value), from = fmin(zero, end), length = fabs(end - zero);
    fprintf(file,
            "<rect class=\"f1\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" rx=\"2\"/>\n",
            from, y, fmax(length, 1), BAR);
    svg_number(value, 3, text, sizeof text);
    svg_text(file, end < zero ? end - 6 : end + 6, y + 11.5, "k", end < zero ? "end" : "start", 0,
             text);
}

static void draw_bars(FILE *file, const plot *p, const io_bars *bars, int width, int height) {
    for (int k = 0; k < p->x.ticks; k++) {
        double x = svg_place_tick(&p->x, k);
        fprintf(file, "<path class=\"g\" d=\"M%.1f %.1fV%.1f\"/>\n", x, p->top, p->bottom);
        svg_text(file, x, p->bottom + 16, "k", "middle", 0, p->x.label[k]);
    }
    double y = p->top + (BAR_STEP - BAR - 3) / 2.0;
    for (int k = 0; k < bars->count; k++, y += BAR_STEP) {
        svg_text(file, p->left - 10, y + BAR / 2.0 + 4, "b", "end", p->left - MARGIN - 6,
                 bars->names[k]);
        draw_bar(file, p, bars->values[k], y);
    }
    fprintf(file, "<path class=\"a\" d=\"M%.1f %.1fV%.1f\"/>\n", svg_place(&p->x, 0), p->top,
            p->bottom);
    if (bars->value_label && *bars->value_label)
        svg_text(file, (p->left + p->right) / 2, height - MARGIN + 4, "m", "middle",
                 width - 2.0 * MARGIN, bars->value_label);
}

int io_svg_bars(FILE *file, const io_bars *bars, io_error *err) {
    if (bars->count < 0 || bars->count > 1000)
        return io_fail(err, IO_E_SIZE, "chart: %d bars do not fit", bars->count);
    plot p = { .chart = NULL };
    int width = bars->width > 0 ? bars->width : 760;
    if (width < 320) width = 320;

    double names = 0;
    for (int k = 0; k < bars->count; k++) names = fmax(names, svg_text_width(bars->names[k], 12));
    p.left = MARGIN + fmin(names + 10, 0.35 * width) + 10;
    p.right = width - MARGIN - 62; /* room for the number behind the longest bar */
    p.top = svg_page_top(bars->title, bars->subtitle) + 8;
    p.bottom = p.top + bars->count * BAR_STEP;
    int height = (int)(p.bottom + 22 + MARGIN + (bars->value_label && *bars->value_label ? 18 : 0));
    fit_axis(&p, bars);

    svg_page_begin(file, width, height, bars->title, bars->subtitle);
    draw_bars(file, &p, bars, width, height);
    fputs("</svg>\n", file);
    if (ferror(file)) return io_fail(err, IO_E_WRITE, "chart: cannot write");
    return IO_OK;
}
