# SPDX-License-Identifier: Apache-2.0
"""Pictures of kept tables, runs of `shoal price --compare` and `shoal train`: img/NAME from a .csv of bench/results."""

import csv
import os

from results import Refused


def read_table(path, *names):
    """The columns of these names, as lists of numbers."""
    try:
        with open(path, newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        return [[float(row[name]) for row in rows] for name in names]
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise Refused("%s: expected columns %s: %s" % (path, ", ".join(names), error)) from None


def chart(title, subtitle, x_label, y_label, x_scale, *series):
    return {"title": title, "subtitle": subtitle, "x_label": x_label, "y_label": y_label, "x_scale": x_scale,
            "y_scale": "log10", "series": [dict(zip(("name", "x", "y"), one[:3]), **(one[3] if one[3:] else {}))
                                           for one in series]}


def heston(path):
    kappa, theta, sigma, euler, exact = read_table(path, "kappa", "theta", "sigma", "euler_seconds",
                                                   "exact_seconds_to_equal")
    feller = [2 * k * t / (s * s) for k, t, s in zip(kappa, theta, sigma)]
    return chart("Heston: seconds to an equal error", "a point per set of kappa, theta, sigma", "2 kappa theta / sigma^2",
                 "seconds", "log10", ("euler", feller, euler, {"line": False}), ("exact", feller, exact, {"line": False}))


def bullet(path):
    rows = list(zip(*read_table(path, "nested", "seconds", "rms_error")))
    return chart("Bullet option: error against time", "root mean square over all points, against quadrature", "seconds",
                 "error", "log10", *((name, [row[1] for row in rows if (row[0] > 0) == is_nested],
                                      [row[2] for row in rows if (row[0] > 0) == is_nested])
                                     for name, is_nested in (("grid", False), ("nested", True))))


def training(path):
    epoch, fitted, checked = read_table(path, "epoch", "training", "validation")
    return chart("Training", "weighted root mean square of price errors", "epoch", "error", "linear",
                 ("training", epoch, fitted, {"markers": False}), ("validation", epoch, checked, {"markers": False}))


PICTURES = {"price-heston-compare.svg": (heston, "paper/heston-compare.csv"),
            "price-bullet-compare.svg": (bullet, "paper/bullet-compare.csv"),
            "surrogate-loss.svg": (training, "surrogate/loss-h200.csv")}


def write_pictures(results, folder):
    import charts
    for name, (draw, source) in PICTURES.items():
        charts.lines(draw(os.path.join(results, source)), os.path.join(folder, name))
