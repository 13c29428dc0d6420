# SPDX-License-Identifier: Apache-2.0
"""Kept results: reads the JSON of `shoal bench --save` and `shoal study`, and writes Markdown pages.

Every number of a page comes from a file. A page appears when it is complete; its pictures lie in img/ beside it.
"""

import json
import math
import os
import re
import textwrap


class Refused(Exception):
    """Input that no page can be generated from; the message names the file and what was expected."""


class Row(dict):
    """A JSON object. A member that is absent, or of another kind, is "" as text and NaN as a number."""

    def text(self, key, otherwise=""):
        value = self.get(key)
        return value if isinstance(value, str) and value else otherwise

    def number(self, key):
        value = self.get(key)
        return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else math.nan

    def inner(self, key):
        value = self.get(key)
        return value if isinstance(value, Row) else Row()

    def items_of(self, key):
        value = self.get(key)
        return value if isinstance(value, list) else []

    @property
    def ours(self):
        return self.text("who") == "Shoal"

    @property
    def passed(self):
        return self.get("verified") is True

    @property
    def remark(self):
        return " (fails the check)" if self.get("verified") is False else ""

    @property
    def solver(self):
        """Who and which: "pcr/permute", "cuSPARSE gtsv2StridedBatch", "ldlt/hybrid team=8 outcome=1"."""
        name = self.text("method") if self.ours else self.text("who") + " " + self.text("method")
        if self.text("variant"):
            name += "/" + self.text("variant")
        for option in ("team", "refine", "estimate", "outcome") if self.ours else ():
            if self.number(option) > 0:
                name += " %s=%.0f" % (option, self.number(option))
        if self.text("phase", "none") != "none":
            name += " up to " + self.text("phase")
        return name

    @property
    def marked_solver(self):
        return "`%s`" % self.solver if self.ours else self.solver


class Result:
    """One file: its name, its root, its rows."""

    def __init__(self, path):
        self.name = os.path.basename(path)
        try:
            with open(path, encoding="utf-8") as file:
                self.root = json.load(file, object_hook=Row)
        except OSError as error:
            raise Refused("%s: cannot be read: %s" % (path, error.strerror)) from None
        except (ValueError, RecursionError) as error:
            raise Refused("%s: not JSON: %s" % (path, error)) from None
        rows = self.root.get("rows") if isinstance(self.root, Row) else None
        if not isinstance(rows, list) or not all(isinstance(row, Row) for row in rows):
            raise Refused('%s: expected an array "rows" of objects' % path)
        self.rows = rows
        self.machine = self.root.inner("machine")
        self.device = self.machine.text("device")


def read_folder(folder):
    """Every .json file of a folder, in the order of their names."""
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".json"))
    except OSError as error:
        raise Refused("%s: cannot be read: %s" % (folder, error.strerror)) from None
    if not names:
        raise Refused("%s: no .json file there" % folder)
    return [Result(os.path.join(folder, name)) for name in names]


def by_device(files):
    """(device, its files, their rows), in the order in which the devices come."""
    for device in dict.fromkeys(file.device for file in files):
        own = [file for file in files if file.device == device]
        yield device, own, [row for file in own for row in file.rows]


def groups_of(things, key):
    """Things with the same key together, in the order in which the keys come."""
    groups = {}
    for thing in things:
        groups.setdefault(key(thing), []).append(thing)
    return groups


def slug(text):
    """Small letters, digits and single dashes."""
    return re.sub("[^a-z0-9]+", "-", text.lower())[:63].strip("-")


def image_name(device, first, extra):
    parts = (first.text("module"), slug(device), first.text("backend"), first.text("type"))
    return "-".join(parts) + extra + ".svg"


def cell(template, value):
    return template % value if math.isfinite(value) else "-"


def column(heading, template, key, scale=1.0):
    """A column of a table: its heading, right aligned, and the text of a row."""
    return heading, "---:", lambda row: cell(template, scale * row.number(key))


def words(heading, text):
    """The same, of text: left aligned."""
    return heading, "---", text


class Page:
    """Lines of Markdown, and pictures drawn by `charts` (None: no picture is drawn)."""

    def __init__(self, path, charts):
        self.path, self.charts, self.lines = path, charts, []

    def add(self, *lines):
        self.lines += lines

    def paragraph(self, text):
        """An empty line, then the text, wrapped but not within `code`; a list item if it begins with a dash."""
        if not text.startswith("- "):
            self.add("")
        text = re.sub("`[^`]*`", lambda code: " ".join(code[0].split()).replace(" ", "\0"), text)
        text = re.sub(r"\s(?=[-+=]\s)", "\0", text)  # no line begins with a sign: "- " would be a list item
        self.lines += [line.replace("\0", " ") for line in textwrap.wrap(
            text, 118, subsequent_indent="  " if text.startswith("- ") else "", break_long_words=False,
            break_on_hyphens=False)]

    def table(self, columns, rows):
        self.add("| " + " | ".join(heading for heading, _, _ in columns) + " |",
                 "|" + "|".join(align for _, align, _ in columns) + "|")
        for row in rows:
            self.add("| " + " | ".join(text(row) for _, _, text in columns) + " |")

    def picture(self, about, name, kind, chart):
        """Shows img/NAME, which charts.KIND(chart) draws."""
        self.add("![%s](img/%s)" % (about, name))
        if self.charts:
            path = os.path.join(os.path.dirname(self.path), "img", name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            getattr(self.charts, kind)(chart, path)

    def save(self):
        os.makedirs(os.path.dirname(self.path) or ".", exist_ok=True)
        partial = "%s.%d" % (self.path, os.getpid())
        with open(partial, "w", encoding="utf-8") as file:
            file.write("\n".join(self.lines) + "\n")
        os.replace(partial, self.path)
