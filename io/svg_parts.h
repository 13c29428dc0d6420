/* SPDX-License-Identifier: Apache-2.0
 *
 * svg_parts.h - internal to the charts: the frame, style sheet, title and text of a picture; the mapping from values
 * to pixels, ticks and their labels.
 */
#ifndef SHOAL_IO_SVG_PARTS_H
#define SHOAL_IO_SVG_PARTS_H

#include "svg.h"

/* Estimated width in pixels at the given font size; a system sans-serif is assumed. */
double svg_text_width(const char *text, double font_size);

/* A text element at (x, y) of class `style` ("t" title, "m" muted, "k" tick, "b" body), cut with
 * an ellipsis to `room` pixels (0: as long as it is). `anchor`: "start", "middle" or "end". */
void svg_text(FILE *file, double x, double y, const char *style, const char *anchor, double room,
              const char *text);

/* Opens the svg element, with style sheet, background, title and subtitle. Returns the y where the
 * rest may begin. The caller closes the element. */
double svg_page_begin(FILE *file, int width, int height, const char *title, const char *subtitle);

/* Height that svg_page_begin takes. */
double svg_page_top(const char *title, const char *subtitle);

/* A marker of colour 1..IO_SVG_COLORS; shapes differ too, for those who cannot tell the colours. */
void svg_marker(FILE *file, int color, int shape, double x, double y);

#define SVG_TICKS 16
#define SVG_LABEL 32

typedef struct svg_axis {
    io_scale scale;
    double low, high;   /* ends of the axis: values, or their logarithms           */
    double first, last; /* pixels of the two ends                                  */
    int ticks;          /* numbers at the ticks, in the same unit as low and high  */
    double tick[SVG_TICKS];
    char label[SVG_TICKS][SVG_LABEL];
} svg_axis;

/* True if the value can stand on such an axis: finite, positive for a logarithm. */
bool svg_usable(io_scale scale, double value);

/* How the ends of an axis follow from the range of the values. */
typedef enum svg_ends {
    SVG_EXACT, /* as given                                                                */
    SVG_NEAR,  /* as given; a log axis goes out to the next tick if that is near          */
    SVG_ROUND  /* a linear axis goes out to the next ticks; a log axis too, or gets a pad */
} svg_ends;

/* Chooses ends and ticks for values from `min` to `max` (usable, min <= max), at most `most`
 * ticks. An axis always gets a positive length and, exact ones aside, two ticks. */
void svg_axis_fit(svg_axis *axis, io_scale scale, double min, double max, int max_ticks,
                  svg_ends ends);

/* Pixel of a value, and of a tick. */
double svg_place(const svg_axis *axis, double value);
double svg_place_tick(const svg_axis *axis, int tick);

/* A number for people: `digits` significant digits, thousands grouped, 1.2×10⁹ beyond. */
void svg_number(double value, int digits, char *text, size_t size);

#endif
