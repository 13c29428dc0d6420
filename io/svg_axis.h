/* SPDX-License-Identifier: Apache-2.0
 *
 * svg_axis.h - internal to the charts: the mapping from values to pixels, ticks and their labels.
 */
#ifndef SHOAL_IO_SVG_AXIS_H
#define SHOAL_IO_SVG_AXIS_H

#include "svg.h"

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
void svg_axis_fit(svg_axis *axis, io_scale scale, double min, double max, int most, svg_ends ends);

/* Pixel of a value, and of a tick. */
double svg_place(const svg_axis *axis, double value);
double svg_place_tick(const svg_axis *axis, int tick);

/* A number for people: `digits` significant digits, thousands grouped, 1.2×10⁹ beyond. */
void svg_number(double value, int digits, char *text, size_t size);

#endif
