/* SPDX-License-Identifier: Apache-2.0
 *
 * svg_bars.c - grouped horizontal bars. Top to bottom: title, subtitle, a legend (when there is
 * more than one series), the groups, the value axis. The height follows from the number of bars.
 */
#include <math.h>

#include "file.h"
#include "svg_axis.h"
#include "svg_page.h"

#define MARGIN     20
#define BAR        15 /* thickness of a bar                */
#define BAR_STEP   18 /* from one bar to the next          */
#define GROUP_GAP  14 /* between two groups                */
#define LEGEND_ROW 20

typedef struct layout {
    const io_bars *bars;
    int width, digits;
    svg_axis axis;
    double left, right, top, bottom;
} layout;

/* Draws the legend in as many rows as it takes and returns their height; draws nothing if file is
 * NULL. */
static double legend(FILE *file, const io_bars *bars, int width, double top) {
    if (bars->series_count < 2) return 0;
    double x = MARGIN, y = top + 16;
    for (int s = 0; s < bars->series_count; s++) {
        double room = fmin(svg_text_width(bars->series[s], 12) + 4, width - 2.0 * MARGIN - 20);
        if (x > MARGIN && x + 18 + room > width - MARGIN) {
            x = MARGIN;
            y += LEGEND_ROW;
        }
        if (file) {
            fprintf(file,
                    "<rect class=\"f%d\" x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"12\" "
                    "rx=\"2\"/>\n",
                    s % IO_SVG_COLORS + 1, x, y - 6);
            svg_text(file, x + 18, y + 4, "b", "start", room, bars->series[s]);
        }
        x += 18 + room + 18;
    }
    return y - top + 12;
}

/* The value axis from 0, or on a log scale from the decade below the smallest value. */
static void fit_axis(layout *l) {
    const io_bars *bars = l->bars;
    double low = INFINITY, high = -INFINITY;
    for (int k = 0; k < bars->group_count * bars->series_count; k++) {
        if (!svg_usable(bars->scale, bars->values[k])) continue;
        low = fmin(low, bars->values[k]);
        high = fmax(high, bars->values[k]);
    }
    if (low > high) low = high = 1;
    if (bars->scale == IO_LINEAR) {
        low = fmin(low, 0);
        high = fmax(high, 0);
    } else {
        low = pow(10, ceil(log10(low) - 1 - 1e-9)); /* below it: its own bar must have a length */
        high = fmax(high, 10 * low);
    }
    svg_axis_fit(&l->axis, bars->scale, low, high, (int)((l->right - l->left) / 64), SVG_EXACT);
    l->axis.first = l->left + (low < 0 ? 56 : 0); /* room for the numbers of negative bars */
    l->axis.last = l->right;
}

static void draw_bar(FILE *file, const layout *l, int series, double value, double y) {
    const io_bars *bars = l->bars;
    char text[SVG_LABEL];
    double zero = bars->scale == IO_LINEAR ? svg_place(&l->axis, 0) : l->left;
    if (!svg_usable(bars->scale, value)) {
        svg_text(file, zero + 6, y + 11.5, "k", "start", 0, "–");
        return;
    }
    double end = svg_place(&l->axis, value), from = fmin(zero, end), length = fabs(end - zero);
    fprintf(file,
            "<rect class=\"f%d\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" rx=\"2\"/>\n",
            series % IO_SVG_COLORS + 1, from, y, fmax(length, 1), BAR);
    svg_number(value, l->digits, text, sizeof text);
    svg_text(file, end < zero ? end - 6 : end + 6, y + 11.5, "k", end < zero ? "end" : "start", 0,
             text);
}

static void draw(FILE *file, const layout *l, int height) {
    const io_bars *bars = l->bars;
    for (int k = 0; k < l->axis.ticks; k++) {
        double x = svg_place_tick(&l->axis, k);
        fprintf(file, "<path class=\"g\" d=\"M%.1f %.1fV%.1f\"/>\n", x, l->top, l->bottom);
        svg_text(file, x, l->bottom + 16, "k", "middle", 0, l->axis.label[k]);
    }
    double y = l->top + GROUP_GAP / 2.0;
    for (int g = 0; g < bars->group_count; g++) {
        double middle = y + (bars->series_count - 1) * BAR_STEP / 2.0 + BAR / 2.0;
        svg_text(file, l->left - 10, middle + 4, "b", "end", l->left - MARGIN - 6, bars->groups[g]);
        for (int s = 0; s < bars->series_count; s++, y += BAR_STEP)
            draw_bar(file, l, s, bars->values[g * bars->series_count + s], y);
        y += GROUP_GAP;
    }
    double zero = bars->scale == IO_LINEAR ? svg_place(&l->axis, 0) : l->left;
    fprintf(file, "<path class=\"a\" d=\"M%.1f %.1fV%.1f\"/>\n", zero, l->top, l->bottom);
    if (bars->value_label && *bars->value_label)
        svg_text(file, (l->left + l->right) / 2, height - MARGIN + 4, "m", "middle",
                 l->width - 2.0 * MARGIN, bars->value_label);
}

int io_svg_bars(FILE *file, const io_bars *bars, io_error *err) {
    if (bars->group_count < 0 || bars->series_count < 0 || bars->series_count > IO_SVG_MAX_SERIES ||
        bars->group_count > 1000)
        return io_fail(err, IO_E_SIZE, "chart: %d groups of %d bars do not fit", bars->group_count,
                       bars->series_count);
    layout l = { .bars = bars, .width = bars->width > 0 ? bars->width : 760 };
    if (l.width < 320) l.width = 320;
    l.digits = bars->digits > 0 && bars->digits <= 9 ? bars->digits : 3;

    double names = 0, top = svg_page_top(bars->title, bars->subtitle);
    for (int g = 0; g < bars->group_count; g++)
        names = fmax(names, svg_text_width(bars->groups[g], 12));
    l.left = MARGIN + fmin(names + 10, 0.35 * l.width) + 10;
    l.right = l.width - MARGIN - 62; /* room for the number behind the longest bar */
    l.top = top + legend(NULL, bars, l.width, top) + 8;
    l.bottom = l.top + bars->group_count * (bars->series_count * BAR_STEP + GROUP_GAP);
    int height = (int)(l.bottom + 22 + MARGIN + (bars->value_label && *bars->value_label ? 18 : 0));
    fit_axis(&l);

    svg_page_begin(file, l.width, height, bars->title, bars->subtitle);
    legend(file, bars, l.width, top);
    draw(file, &l, height);
    svg_page_end(file);
    if (ferror(file)) return io_fail(err, IO_E_WRITE, "chart: cannot write");
    return IO_OK;
}

int io_svg_write_bars(const char *path, const io_bars *bars, io_error *err) {
    io_out *out;
    int status = io_out_open(path, &out, err);
    if (status != IO_OK) return status;
    status = io_svg_bars(io_out_file(out), bars, err);
    if (status == IO_OK) return io_out_commit(out, err);
    io_out_abandon(out);
    return status;
}
