# SPDX-License-Identifier: Apache-2.0
"""Tables of kept runs on pages that are written by hand. A table takes the place of the one with the same heading."""

import os
import re
import statistics

from results import Refused, Result, groups_of, read_folder

TYPES = ("float64", "float32")
LIBRARIES = {"torch": "torch", "cupy": "CuPy", "jax": "JAX"}
WITH_STATUS = ("tridiag", "smallsym", "recur", "symindef")


def short(number):
    """Two digits, without an exponent."""
    return "%.2g" % number if number < 10 else "%.0f" % float("%.2g" % number)


def by_type(rows, text):
    """text(rows of a type) of double and float: "3.3, 11"."""
    return ", ".join(text([row for row in rows if row.text("type") == kind]) for kind in TYPES)


def python(path):
    """The speedup over the fastest function of each library. A function without a row has failed at that n."""
    every = Result(path).rows
    yield ["systems", "n", "Shoal, million/s", *LIBRARIES.values()]
    for (problem, n), rows in groups_of(every, lambda row: (row.text("problem"), row.number("n"))).items():
        cells = [problem, "%.0f" % n, by_type(
            rows, lambda own: short(1e-6 * own[0].number("shoal_systems_per_second")))]
        for library in LIBRARIES:
            has_function = any((row.text("problem"), row.text("library")) == (problem, library) for row in every)
            cells.append(by_type([row for row in rows if row.text("library") == library],
                                 lambda own: short(min(row.number("ratio") for row in own)) if own else "fails")
                         if has_function else "-")
        yield cells


def again(path):
    """Times of runs of `shoal bench --against`, divided by the kept ones, per method and type. A later run of a problem
    takes the place of an earlier one."""
    files = sorted(read_folder(path), key=lambda file: file.machine.text("date"))
    every = {row.text("problem"): row for file in files for row in file.rows if row.number("kept_s") > 0}
    rows = [row for row in every.values() if row.text("module") in WITH_STATUS]
    yield ["problems", "number", "least", "median", "largest"]
    for name, own in groups_of(rows, lambda row: "`%s:%s`, %s" % tuple(
            row.text(key) for key in ("module", "method", "type"))).items():
        ratios = [row.number("median_s") / row.number("kept_s") for row in own]
        three = min(ratios), statistics.median(ratios), max(ratios)
        yield [name, "%d" % len(own), *("%.2f" % number for number in three)]


def promises(path):
    """The tables that the tests of promises print for a GPU, one after another."""
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith("| "):
                cells = line.strip("| \n").replace(" cuda`", "`").split(" | ")
                yield [cells[0] + ", H200", *cells[1:]] if cells[1] == "ok" else cells


TABLES = (  # page of docs/, file of bench/results, its tables
    ("python.md", "python/linalg-h200.json", python),
    ("promises.md", "promises/h200.txt", promises),
    ("promises.md", "again", again),
)


def tables_of(results):
    """(page, heading, lines below it) of every table. A heading has no number."""
    for page, source, make in TABLES:
        found = []
        for cells in make(os.path.join(results, source)):
            line = "| " + " | ".join(cells) + " |"
            if not re.search("[0-9]", cells[1]):
                found.append((line, []))
            else:
                found[-1][1].append(line)
        yield from ((page, heading, lines) for heading, lines in found)


def write(results, docs):
    for page, heading, lines in tables_of(results):
        path = os.path.join(docs, page)
        with open(path, encoding="utf-8") as file:
            before, found, after = file.read().partition("\n" + heading + "\n")
        if not found:
            raise Refused("%s: no table with the heading %s" % (path, heading))
        align, _, after = after.partition("\n")
        after = re.sub(r"\A(\|.*\n)*", "", after)
        with open(path, "w", encoding="utf-8") as file:
            file.write(before + found + "\n".join([align, *lines]) + "\n" + after)
