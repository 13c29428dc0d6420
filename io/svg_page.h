/* SPDX-License-Identifier: Apache-2.0
 *
 * svg_page.h - internal to the charts: the frame, style sheet, title and text of a picture.
 */
#ifndef SHOAL_IO_SVG_PAGE_H
#define SHOAL_IO_SVG_PAGE_H

#include "svg.h"

/* Estimated width in pixels at the given font size; a system sans-serif is assumed. */
double svg_text_width(const char *text, double font_size);

/* Escapes for XML: & < > quotes; control characters and bytes that are not UTF-8 become U+FFFD. */
void svg_escape(FILE *file, const char *text);

/* A text element at (x, y) of class `style` ("t" title, "m" muted, "k" tick, "b" body), cut with
 * an ellipsis to `room` pixels (0: as long as it is). `anchor`: "start", "middle" or "end". */
void svg_text(FILE *file, double x, double y, const char *style, const char *anchor, double room,
              const char *text);

/* Opens the svg element, with style sheet, background, title and subtitle. Returns the y where the
 * rest may begin. svg_page_end closes it. */
double svg_page_begin(FILE *file, int width, int height, const char *title, const char *subtitle);
void svg_page_end(FILE *file);

/* Height that svg_page_begin takes. */
double svg_page_top(const char *title, const char *subtitle);

/* A marker of colour 1..IO_SVG_COLORS; shapes differ too, for those who cannot tell the colours. */
void svg_marker(FILE *file, int color, int shape, double x, double y);

#endif
