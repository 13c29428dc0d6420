/* SPDX-License-Identifier: Apache-2.0
 *
 * svg_parts.c - the frame, style sheet and text of a picture, and ticks.
 *
 * A linear axis has steps of 1, 2, 2.5 or 5 times a power of ten; log2 has
 * whole powers, thinned out evenly when there are many; log10 has decades, and 1 2 5 when it spans
 * fewer than two of them. Labels on one axis are all of one kind: if one needs an exponent, all
 * have it.
 */
#include "svg_parts.h"

#include <math.h>
#include <string.h>

#include "html.h"

#define MARGIN     20
#define NEAR       0.15  /* a tick is near an end within this part of the axis  */
#define HUGE_VALUE 1e300 /* beyond, differences of two values could overflow */

typedef struct paint {
    const char *light, *dark;
} paint;

static const paint series_paint[IO_SVG_COLORS] = {
    { "#0b62d6", "#62a8ff" }, { "#d2570a", "#ff9d52" }, { "#188038", "#4cc463" },
    { "#8244d8", "#c297ff" }, { "#c4245c", "#ff7fa8" }, { "#0a8494", "#3fcbd8" },
    { "#8a6500", "#dcab2e" }, { "#5a6470", "#a2abb5" }, { "#7a1f1f", "#e59191" },
    { "#33398f", "#a3a9ff" },
};

double svg_text_width(const char *text, double font_size) {
    double ems = 0;
    for (const char *p = text; *p; p++) {
        unsigned char c = (unsigned char)*p;
        if ((c & 0xC0) == 0x80) continue; /* the rest of a UTF-8 character */
        if (strchr("iljtfrI.,:;'|!()[] /-", *p))
            ems += 0.36;
        else if (strchr("mwMW@%", *p) || c >= 0xE3)
            ems += 0.92;
        else
            ems += c >= 'A' && c <= 'Z' ? 0.69 : 0.58;
    }
    return ems * font_size;
}

void svg_text(FILE *file, double x, double y, const char *style, const char *anchor, double room,
              const char *text) {
    char cut[256];
    double size = style[0] == 't' ? 16 : style[0] == 'k' ? 11 : 12;
    fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\" text-anchor=\"%s\">", x, y, style,
            anchor);
    if (room > 0 && svg_text_width(text, size) > room) {
        size_t length = strlen(text);
        if (length > sizeof cut - 1) length = sizeof cut - 1;
        memcpy(cut, text, length);
        cut[length] = '\0';
        while (length > 0 && svg_text_width(cut, size) + size > room) {
            do length--;
            while (length > 0 && ((unsigned char)cut[length] & 0xC0) == 0x80);
            cut[length] = '\0';
        }
        io_html_text(file, cut);
        fputs("…<title>", file); /* the whole text appears when pointed at */
        io_html_text(file, text);
        fputs("</title>", file);
    } else {
        io_html_text(file, text);
    }
    fputs("</text>\n", file);
}

/* One set of rules; `dark` picks the column. */
static void put_colors(FILE *file, bool dark) {
    static const struct {
        const char *classes, *property;
        paint colors;
    } rules[] = {
        { ".bg", "fill", { "#ffffff", "#0e1318" } },
        { ".t", "fill", { "#14181d", "#f0f3f6" } },
        { ".b", "fill", { "#2a3138", "#d5dbe1" } },
        { ".m,.shoal-chart .k", "fill", { "#5c6670", "#98a2ad" } },
        { ".g", "stroke", { "#e6e9ed", "#232b33" } },
        { ".a", "stroke", { "#aab2bb", "#4b555f" } },
        { ".h", "stroke", { "#ffffff", "#0e1318" } }, /* halo round markers */
    };
    for (size_t k = 0; k < sizeof rules / sizeof rules[0]; k++) {
        fprintf(file, ".shoal-chart %s{%s:%s}\n", rules[k].classes, rules[k].property,
                dark ? rules[k].colors.dark : rules[k].colors.light);
    }
    for (int k = 0; k < IO_SVG_COLORS; k++) {
        const char *color = dark ? series_paint[k].dark : series_paint[k].light;
        fprintf(file, ".shoal-chart .s%d{stroke:%s}.shoal-chart .f%d{fill:%s}\n", k + 1, color,
                k + 1, color);
    }
}

double svg_page_top(const char *title, const char *subtitle) {
    return MARGIN + (title && *title ? 22 : 0) + (subtitle && *subtitle ? 18 : 0);
}

double svg_page_begin(FILE *file, int width, int height, const char *title, const char *subtitle) {
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"shoal-chart\" width=\"%d\" "
            "height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"",
            width, height, width, height);
    io_html_text(file, title ? title : "chart");
    fputs("\">\n<style>\n"
          ".shoal-chart text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,"
          "'Helvetica Neue',Arial,sans-serif}\n"
          ".shoal-chart .t{font-size:16px;font-weight:600}\n"
          ".shoal-chart .m,.shoal-chart .b{font-size:12px}\n"
          ".shoal-chart .k{font-size:11px;font-variant-numeric:tabular-nums}\n"
          ".shoal-chart .g,.shoal-chart .a{stroke-width:1;shape-rendering:crispEdges}\n"
          ".shoal-chart .l{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}\n"
          ".shoal-chart .d{stroke-dasharray:6 5}\n"
          ".shoal-chart .e{fill:none;stroke-width:1.2}\n"
          ".shoal-chart .r{fill:none;stroke-width:1;stroke-opacity:.45}\n"
          ".shoal-chart .q{stroke-dasharray:1 4;stroke-opacity:.8}\n" /* leaders across the plot */
          ".shoal-chart .h{stroke-width:1.4}\n",
          file);
    put_colors(file, false);
    fputs("@media (prefers-color-scheme:dark){\n", file);
    put_colors(file, true);
    fprintf(file, "}\n</style>\n<rect class=\"bg\" width=\"%d\" height=\"%d\" rx=\"8\"/>\n", width,
            height);
    double y = MARGIN, room = width - 2.0 * MARGIN;
    if (title && *title) svg_text(file, MARGIN, y + 14, "t", "start", room, title);
    y += title && *title ? 22 : 0;
    if (subtitle && *subtitle) svg_text(file, MARGIN, y + 12, "m", "start", room, subtitle);
    return svg_page_top(title, subtitle);
}

void svg_marker(FILE *file, int color, int shape, double x, double y) {
    static const struct {
        const char *element, *before_x, *before_y, *after;
        double dx, dy; /* of the point that is written */
    } shapes[] = {
        { "circle", "cx=\"", "\" cy=\"", "\" r=\"4", 0, 0 },
        { "rect", "x=\"", "\" y=\"", "\" width=\"7\" height=\"7\" rx=\"1", -3.5, -3.5 },
        { "path", "d=\"M", " ", "l4.6 8h-9.2z", 0, -5.2 },
        { "path", "d=\"M", " ", "l5 5l-5 5l-5 -5z", 0, -5 },
    };
    const int k = shape % 4;
    fprintf(file, "<%s class=\"h f%d\" %s%.1f%s%.1f%s\"/>\n", shapes[k].element, color,
            shapes[k].before_x, x + shapes[k].dx, shapes[k].before_y, y + shapes[k].dy,
            shapes[k].after);
}

/* ---- axes ------------------------------------------------------------------------------------- */

bool svg_usable(io_scale scale, double value) {
    return isfinite(value) && fabs(value) < HUGE_VALUE && (scale == IO_LINEAR || value > 0);
}

static double transform(io_scale scale, double value) {
    return scale == IO_LOG2 ? log2(value) : scale == IO_LOG10 ? log10(value) : value;
}

double svg_place(const svg_axis *axis, double value) {
    double t = (transform(axis->scale, value) - axis->low) / (axis->high - axis->low);
    return axis->first + t * (axis->last - axis->first);
}

double svg_place_tick(const svg_axis *axis, int tick) {
    double t = (axis->tick[tick] - axis->low) / (axis->high - axis->low);
    return axis->first + t * (axis->last - axis->first);
}

/* Appends base and exponent as in 10⁻³. */
static void put_power(const char *base, int exponent, char *text, size_t size) {
    static const char *const digits[] = { "⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹" };
    char plain[16];
    size_t used = strlen(text);
    used += (size_t)snprintf(text + used, size - used, "%s", base);
    snprintf(plain, sizeof plain, "%d", exponent);
    for (const char *p = plain; *p && used < size; p++) {
        const char *digit = *p == '-' ? "⁻" : digits[*p - '0'];
        used += (size_t)snprintf(text + used, size - used, "%s", digit);
    }
}

/* Puts commas between groups of three digits left of the point, from 10,000 on. */
static void group_thousands(char *text, size_t size) {
    size_t start = text[0] == '-', digits = strspn(text + start, "0123456789");
    if (digits < 5) return;
    for (size_t at = start + digits; at > start + 3;) {
        at -= 3;
        size_t tail = strlen(text + at) + 1;
        if (at + tail + 1 > size) return;
        memmove(text + at + 1, text + at, tail);
        text[at] = ',';
    }
}

static void put_fixed(double value, int decimals, char *text, size_t size) {
    snprintf(text, size, "%.*f", decimals, value == 0 ? 0.0 : value);
    group_thousands(text, size);
}

static void put_scaled(double value, int exponent, int decimals, char *text, size_t size) {
    snprintf(text, size, "%.*f", decimals, value / pow(10, exponent));
    put_power("×10", exponent, text, size);
}

static int power_of_ten(double value) {
    return value == 0 ? 0 : (int)floor(log10(fabs(value)) + 1e-9);
}

void svg_number(double value, int digits, char *text, size_t size) {
    int power = power_of_ten(value);
    int decimals = digits - 1 - power;
    if (power >= 7 || power < -4)
        put_scaled(value, power, digits - 1, text, size);
    else
        put_fixed(value, decimals > 0 ? decimals : 0, text, size);
}

static void linear_ticks(svg_axis *axis, int max_ticks, bool round) {
    static const double steps[] = { 1, 2, 2.5, 5, 10 };
    double span = axis->high - axis->low;
    double min_span = 1e-9 * fmax(fabs(axis->low), fabs(axis->high));
    if (span <= min_span) { /* one value, or as good as one */
        double widen = fmax(min_span, axis->low == 0 ? 0.5 : 0.05 * fabs(axis->low));
        axis->low -= widen;
        axis->high += widen;
        span = axis->high - axis->low;
    }
    double unit = pow(10, floor(log10(span / max_ticks))), step = 10 * unit;
    int choice = 4;
    for (int k = 3; k >= 0; k--) {
        if (span / (steps[k] * unit) + (round ? 1 : 0) > max_ticks) break;
        choice = k;
        step = steps[k] * unit;
    }
    double begin = axis->low / step, end = axis->high / step;
    begin = round ? floor(begin + 1e-6) : ceil(begin - 1e-6);
    end = round ? ceil(end - 1e-6) : floor(end + 1e-6);
    if (round) {
        axis->low = begin * step;
        axis->high = end * step;
    }
    int step_power = power_of_ten(step), decimals = -step_power + (choice == 2 ? 1 : 0);
    int power = power_of_ten(fmax(fabs(axis->low), fabs(axis->high)));
    bool scaled = power >= 7 || step_power < -4;
    if (scaled) decimals += power;
    if (decimals < 0) decimals = 0;
    if (decimals > 9) decimals = 9;
    for (double k = begin; k <= end && axis->ticks < SVG_TICKS; k++) {
        double value = k * step;
        char *label = axis->label[axis->ticks];
        axis->tick[axis->ticks++] = value;
        if (scaled && k != 0)
            put_scaled(value, power, decimals, label, SVG_LABEL);
        else
            put_fixed(k == 0 ? 0.0 : value, k == 0 ? 0 : decimals, label, SVG_LABEL);
    }
}

/* Ticks at 1, 2 and 5 times powers of ten, for an axis of few decades. */
static void short_decade_ticks(svg_axis *axis) {
    static const double parts[] = { 1, 2, 5 };
    double low = -HUGE_VALUE, high = HUGE_VALUE; /* the ticks that enclose the axis */
    int first = (int)floor(axis->low), last = (int)ceil(axis->high), inside = 0;
    for (int e = first; e <= last; e++) {
        for (int k = 0; k < 3; k++) {
            double at = e + log10(parts[k]);
            if (at <= axis->low + 1e-9) low = at;
            if (at >= axis->high - 1e-9 && at > low && at < high)
                high = at; /* of one value: the next */
            if (at >= axis->low - 1e-9 && at <= axis->high + 1e-9) inside++;
        }
    }
    if (inside < 2) {
        axis->low = low;
        axis->high = high;
    }
    bool scaled = first < -3 || last > 5;
    for (int e = first; e <= last; e++) {
        for (int k = 0; k < 3 && axis->ticks < SVG_TICKS; k++) {
            double at = e + log10(parts[k]);
            if (at < axis->low - 1e-9 || at > axis->high + 1e-9) continue;
            char *label = axis->label[axis->ticks];
            axis->tick[axis->ticks++] = at;
            if (scaled)
                put_scaled(parts[k] * pow(10, e), e, 0, label, SVG_LABEL);
            else
                put_fixed(parts[k] * pow(10, e), e < 0 ? -e : 0, label, SVG_LABEL);
        }
    }
}

/* Ticks at whole powers of 2 or 10, every `stride`-th. */
static void power_ticks(svg_axis *axis, int max_ticks) {
    double begin = ceil(axis->low - 1e-9), end = floor(axis->high + 1e-9);
    if (end - begin < 1) { /* fewer than two inside: move the ends out */
        begin = axis->low = floor(axis->low + 1e-9);
        end = axis->high = fmax(ceil(axis->high - 1e-9), begin + 1);
    }
    int stride = 1; /* `most` is at most SVG_TICKS */
    while (floor((end - begin) / stride) + 1 > max_ticks) stride++;
    bool ten = axis->scale == IO_LOG10;
    bool scaled = ten ? begin < -3 || end > 4 : begin < 0 || end > 16;
    for (int e = (int)begin; e <= (int)end; e += stride) {
        char *label = axis->label[axis->ticks];
        axis->tick[axis->ticks++] = e;
        label[0] = '\0';
        if (scaled)
            put_power(ten ? "10" : "2", e, label, SVG_LABEL);
        else
            put_fixed(ten ? pow(10, e) : ldexp(1, e), ten && e < 0 ? -e : 0, label, SVG_LABEL);
    }
}

/* Moves an end of a log axis out to the next tick if that costs little, or else by `pad`. */
static double extend(double end, double tick, double span, double pad) {
    double distance = fabs(tick - end);
    if (distance <= NEAR * span) return tick;
    return tick > end ? end + pad : end - pad;
}

static void extend_ends(svg_axis *axis, bool thirds, bool padded) {
    double span = axis->high - axis->low, pad = padded ? 0.03 * span : 0;
    double low = floor(axis->low + 1e-9), high = ceil(axis->high - 1e-9);
    if (thirds) { /* ticks at log10 of 1, 2, 5 */
        static const double parts[] = { 0.3010299956639812, 0.6989700043360188 };
        double below = low, above = high;
        for (int k = 0; k < 2; k++) {
            if (below + parts[k] <= axis->low + 1e-9) low = below + parts[k];
            if (above - parts[k] >= axis->high - 1e-9) high = above - parts[k];
        }
    }
    axis->low = extend(axis->low, low, span, pad);
    axis->high = extend(axis->high, high, span, pad);
}

void svg_axis_fit(svg_axis *axis, io_scale scale, double min, double max, int max_ticks,
                  svg_ends ends) {
    if (max_ticks > SVG_TICKS) max_ticks = SVG_TICKS;
    if (max_ticks < 2) max_ticks = 2;
    axis->scale = scale;
    axis->ticks = 0;
    axis->low = transform(scale, min);
    axis->high = transform(scale, max);
    if (scale == IO_LINEAR) {
        linear_ticks(axis, max_ticks, ends == SVG_ROUND);
        return;
    }
    double span = axis->high - axis->low;
    bool thirds = scale == IO_LOG10 && (span < 1.5 || 3 * span + 2 <= max_ticks);
    if (ends != SVG_EXACT) extend_ends(axis, thirds, ends == SVG_ROUND);
    if (thirds)
        short_decade_ticks(axis);
    else
        power_ticks(axis, max_ticks);
}
