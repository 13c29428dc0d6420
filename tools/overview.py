# SPDX-License-Identifier: Apache-2.0
"""The picture of README.md, and the speedups beside it, from kept results."""

import json
import os

from results import Refused, Result, read_folder

PICTURE = "auto-cusparse-lapack.svg"
H200, XEON = "NVIDIA H200", "Intel(R) Xeon(R) Processor"
USUAL = {"type": "f64", "layout": "system", "nrhs": 1, "verified": True}  # one system after another
TRIDIAG = dict(USUAL, module="tridiag", kind="dominant")
SMALLSYM = dict(USUAL, module="smallsym", kind="spd", storage="full", method="ldlt", pairs="none", stage="none")
TORCH = {"problem": "spd", "type": "float64", "library": "torch"}
LINES = {  # name: device, solver
    "Shoal auto, H200": (H200, "auto"),
    "cuSPARSE, H200": (H200, "cuSPARSE gtsv2StridedBatch"),
    "Shoal auto, Xeon": (XEON, "auto"),
    "LAPACK, Xeon": (XEON, "LAPACK dgtsv"),
}


def kept_rows(results, device, solver, members):
    return [row for file in read_folder(results) for row in file.rows
            if file.device == device and row.solver == solver and row.number("count") > 1
            and all(row.get(key, "none") == value for key, value in members.items())]


def speedups(results):
    """Minimum and maximum of each row of README.md's table."""
    path = os.path.join(results, "quantlib", "xeon.json")
    with open(path, encoding="utf-8") as file:
        euler = [way["times_ours"] for way in json.load(file)["results"] if way["way"] == "MCEuropeanHestonEngine"]
    at = {}  # the fastest function of torch per n
    for row in Result(os.path.join(results, "python", "linalg-h200.json")).rows:
        if all(row[key] == value for key, value in TORCH.items()):
            at[row["n"]] = min(at.get(row["n"], row["ratio"]), row["ratio"])
    jobs = [[row.number("speedup") for row in kept_rows(results, device, solver, members)]
            for device, solver, members in ((H200, "auto", TRIDIAG), (XEON, "ldlt/team", SMALLSYM))]
    return [(min(job), max(job)) for job in (*jobs, at.values(), euler)]


def write_picture(results, folder):
    """Rows per second against n. Powers of two only: cuSPARSE is fastest there."""
    import charts
    series = []
    for name, (device, solver) in LINES.items():
        points = {int(row["n"]): 1e-9 * row["rows_per_second"] for row in kept_rows(results, device, solver, TRIDIAG)}
        points = {n: rate for n, rate in sorted(points.items()) if n & (n - 1) == 0}
        if not points:
            raise Refused("%s: no rows of %s on %s" % (results, solver, device))
        series.append({"name": name, "points": points})
    charts.labelled({
        "title": "Many tridiagonal systems per call, f64", "width": 6.2, "series": series,
        "subtitle": "cuSPARSE gtsv2StridedBatch; LAPACK dgtsv on 16 threads; n a power of two; higher is better",
        "x_label": "unknowns per system, n", "y_label": "billion rows per second", "x_scale": "log2", "y_scale": "log10",
        "x_ticks": [2 ** k for k in range(5, 11)], "y_ticks": [0.5, 1, 2, 5, 10, 20, 50, 100]},
        os.path.join(folder, PICTURE))
