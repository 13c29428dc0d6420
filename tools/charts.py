# SPDX-License-Identifier: Apache-2.0
"""Charts as SVG: lines, grouped horizontal bars, panels of lines.

A chart is a dict: title, subtitle, x_label, y_label, x_scale and y_scale ("linear", "log2", "log10"), y_from_zero,
series. A series has a name, `points` {x: y} or lists `x` and `y`, and optionally color (an index), dashed, markers
(default true), line (default true). Text stays text, and the same numbers give the same file.
"""

import math
import os
import re

import matplotlib
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

COLORS = ("#0b62d6", "#d2570a", "#188038", "#8244d8", "#c4245c", "#0a8494", "#8a6500", "#5a6470", "#7a1f1f", "#33398f")
WIDTH, CHARACTER = 8.6, 0.072  # inches: of a chart, and of a character of the legend
matplotlib.rcParams.update({
    "svg.fonttype": "none", "svg.hashsalt": "shoal", "font.size": 8, "font.family": ["sans-serif"], "axes.grid": True,
    "grid.color": "#e6e9ed", "axes.edgecolor": "#aab2bb", "axes.axisbelow": True, "axes.titlesize": 8,
    "legend.frameon": False, "xtick.bottom": False, "ytick.left": False, "font.sans-serif": ["DejaVu Sans", "Arial"],
    "lines.markersize": 4, "mathtext.default": "regular"})


def save(figure, path):
    """Coordinates are rounded to hundredths of a point, a path is one line; the file appears when it is complete."""
    partial = "%s.%d" % (path, os.getpid())
    FigureCanvasSVG(figure)
    figure.savefig(partial, format="svg", metadata={"Date": None, "Creator": None})
    with open(partial, encoding="utf-8") as file:
        text = re.sub(r'\b(?:d|x|y|points|transform)="[^"]*"', lambda found: " ".join(
            re.sub(r"\d+\.\d+", lambda number: "%g" % round(float(number[0]), 2), found[0]).split()), file.read())
    with open(partial, "w", encoding="utf-8") as file:
        file.write("\n".join(line.rstrip() for line in text.split("\n")))
    os.replace(partial, path)


def begin(chart, height, top):
    """A figure with title and subtitle at its left upper corner; `top` is the share that the axes may take."""
    figure = Figure(figsize=(chart.get("width", WIDTH), height))
    figure.text(0.02, 1 - 0.25 / height, chart["title"], fontsize=11, fontweight="bold")
    figure.text(0.02, 1 - 0.45 / height, chart.get("subtitle") or "", color="#5c6670")
    figure.subplots_adjust(left=0.09, bottom=0.45 / height, top=top)
    return figure


def draw_series(axes, chart):
    for place, series in enumerate(chart["series"]):
        x = series["x"] if "x" in series else list(series["points"])
        y = series["y"] if "y" in series else list(series["points"].values())
        has_markers = series.get("markers", True) and len(x) <= 48
        axes.plot(x, y, label=series["name"], color=COLORS[series.get("color", place) % len(COLORS)],
                  linestyle="none" if not series.get("line", True) else "--" if series.get("dashed") else "-",
                  marker="o" if has_markers or not series.get("line", True) else None, linewidth=1.5)
    for axis, scale in (("x", chart.get("x_scale", "linear")), ("y", chart.get("y_scale", "linear"))):
        if scale != "linear":
            getattr(axes, "set_%sscale" % axis)("log", base=2 if scale == "log2" else 10, nonpositive="mask")
    if chart.get("y_from_zero"):
        axes.set_ylim(bottom=0)
    axes.set_xlabel(chart.get("x_label"))
    axes.set_ylabel(chart.get("y_label"))


def room_for(names, width=WIDTH):
    """The right edge of axes that leave room for these names."""
    return 1 - min(0.5, (0.45 + CHARACTER * max((len(name) for name in names), default=0)) / width)


def lines(chart, path):
    """Lines, with the legend right of the plot."""
    names = [series["name"] for series in chart["series"] if series["name"]]
    height = max(4.4, 0.8 + 0.17 * len(names))
    figure = begin(chart, height, 1 - 0.6 / height)
    figure.subplots_adjust(right=room_for(names) if names else 0.97)
    axes = figure.subplots()
    draw_series(axes, chart)
    if names:
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.02))
    save(figure, path)


def labelled(chart, path):
    """Few lines, each with its name at its right end in its color; x_ticks and y_ticks are all that the axes show."""
    figure = begin(chart, 3.4, 1 - 0.6 / 3.4)
    figure.subplots_adjust(right=room_for((series["name"] for series in chart["series"]), chart["width"]))
    axes = figure.subplots()
    draw_series(axes, chart)
    for line in axes.get_lines():
        axes.annotate(line.get_label(), line.get_xydata()[-1], xytext=(8, 0), textcoords="offset points", va="center",
                      color=line.get_color(), fontweight="bold")
    for axis, ticks in ((axes.xaxis, chart["x_ticks"]), (axes.yaxis, chart["y_ticks"])):
        axis.set_ticks(ticks, ["%g" % tick for tick in ticks])
        axis.set_ticks([], minor=True)
    axes.spines[["top", "right"]].set_visible(False)
    save(figure, path)


def bars(chart, path):
    """Grouped horizontal bars that carry their values: chart["groups"] is {group: {series: value}}."""
    groups, series = chart["groups"], chart["series"]
    places, labels, at = {name: ([], []) for name in series}, [], 0.0
    for group, values in groups.items():
        shown = [name for name in series if math.isfinite(values.get(name, math.nan))]
        for name in shown:
            places[name][0].append(at)
            places[name][1].append(values[name])
            at += 1
        labels.append((at - (len(shown) + 1) / 2, group))
        at += 0.6
    height = 1.2 + 0.14 * at + 0.17 * len(series)
    figure = begin(chart, height, 1 - (0.65 + 0.17 * len(series)) / height)
    figure.subplots_adjust(left=1 - room_for(groups), right=0.95)
    axes = figure.subplots()
    for place, name in enumerate(series):
        drawn = axes.barh(*places[name], height=0.9, color=COLORS[place % len(COLORS)], label=name)
        axes.bar_label(drawn, fmt="%.3g", padding=2, fontsize=7)
    axes.set_yticks([place for place, _ in labels], [label for _, label in labels])
    axes.set_ylim(at, -1)
    axes.grid(False, axis="y")
    axes.set_xlabel(chart["x_label"])
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1.0))
    save(figure, path)


def panels(chart, path):
    """Panels of lines, three abreast, with one legend for all."""
    count, across = len(chart["panels"]), 3
    down = -(-count // across)
    height = 1.1 + 2.3 * down
    figure = begin(chart, height, 1 - 1.0 / height)
    figure.subplots_adjust(left=0.06, right=0.98, hspace=0.45)
    names = {}
    for axes, panel in zip(figure.subplots(down, across, squeeze=False).flat, chart["panels"]):
        draw_series(axes, panel)
        axes.set_title(panel["title"], loc="left", fontweight="bold")
        axes.set_ylim(0, 1)
        if panel["subtitle"]:
            axes.text(0.5, 0.5, panel["subtitle"], ha="center", transform=axes.transAxes)
        names.update({line.get_label(): line for line in axes.get_lines()})
    for axes in figure.axes[count:]:
        axes.remove()
    figure.legend(names.values(), names, loc="upper left", bbox_to_anchor=(0.01, 1 - 0.5 / height), ncol=8)
    save(figure, path)
