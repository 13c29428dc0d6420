/* SPDX-License-Identifier: Apache-2.0
 *
 * svg_page.c - the frame, style sheet and text of a picture.
 */
#include "svg_page.h"

#include <string.h>

#include "text.h"

#define MARGIN 20

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

void svg_escape(FILE *file, const char *text) {
    size_t left = strlen(text);
    while (left > 0) {
        int length = io_utf8_length(text, left);
        unsigned char c = (unsigned char)*text;
        if (length == 0 || c < 0x20 || c == 0x7f)
            fputs("\xEF\xBF\xBD", file);
        else if (c == '&')
            fputs("&amp;", file);
        else if (c == '<')
            fputs("&lt;", file);
        else if (c == '>')
            fputs("&gt;", file);
        else if (c == '"')
            fputs("&quot;", file);
        else
            fwrite(text, 1, (size_t)length, file);
        if (length == 0) length = 1;
        text += length;
        left -= (size_t)length;
    }
}

static double font_size(const char *style) {
    return style[0] == 't' ? 16 : style[0] == 'k' ? 11 : 12;
}

void svg_text(FILE *file, double x, double y, const char *style, const char *anchor, double room,
              const char *text) {
    char cut[256];
    double size = font_size(style);
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
        svg_escape(file, cut);
        fputs("…<title>", file); /* the whole text appears when pointed at */
        svg_escape(file, text);
        fputs("</title>", file);
    } else {
        svg_escape(file, text);
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
    svg_escape(file, title ? title : "chart");
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

void svg_page_end(FILE *file) { fputs("</svg>\n", file); }

void svg_marker(FILE *file, int color, int shape, double x, double y) {
    switch (shape % 4) {
    case 0:
        fprintf(file, "<circle class=\"h f%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/>\n", color, x, y);
        break;
    case 1:
        fprintf(file,
                "<rect class=\"h f%d\" x=\"%.1f\" y=\"%.1f\" width=\"7\" height=\"7\" rx=\"1\"/>\n",
                color, x - 3.5, y - 3.5);
        break;
    case 2:
        fprintf(file, "<path class=\"h f%d\" d=\"M%.1f %.1fl4.6 8h-9.2z\"/>\n", color, x, y - 5.2);
        break;
    default:
        fprintf(file, "<path class=\"h f%d\" d=\"M%.1f %.1fl5 5l-5 5l-5 -5z\"/>\n", color, x,
                y - 5);
        break;
    }
}
