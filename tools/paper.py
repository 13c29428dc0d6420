#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""paper.py - reruns a paper's experiments on this machine and writes one HTML page: `make paper NAME=gspike [QUICK=1]`.

    paper.py NAME build/shoal out/papers/NAME.html [--quick|--tiny]

The experiments are rows of a table, experiments.py: a figure, table or question of the paper, what the paper reports, and a
function that runs the program, puts its numbers beside the paper's and returns one sentence of judgement. What the program
writes stays in a folder beside the page. Pictures need matplotlib; without it there are the tables alone.

--quick: at most 2 minutes on two cores. --tiny: seconds, to test the page. On a machine without a GPU the experiments of GPUs
are shown from kept runs, which the page says.
"""

import argparse
import array
import ast
import json
import os
import subprocess
import sys
import time

import experiments
from html_page import HtmlPage
from results import Refused, Result, Row, read_folder

TINY, QUICK, FULL = range(3)
HERE = os.path.dirname(os.path.abspath(__file__))


class Lab:
    """The program, and where its files are."""

    def __init__(self, program, folder, size):
        self.program, self.folder, self.size_of_run = os.path.abspath(program), folder, size
        if not os.access(program, os.X_OK):
            raise Refused("%s: not a program" % program)
        os.makedirs(folder, exist_ok=True)
        about = self.ask("info", plain=True)
        self.device = about.text("device")
        self.has_gpu = about.text("backend") == "cuda"
        self.backend = "cuda" if self.has_gpu else "cpu"

    def size(self, *of):
        """One of three values, for --tiny, --quick and a full run."""
        return of[self.size_of_run]

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, *arguments):
        """The program's output; a numerical failure (exit code 1) has one, any other code is an error."""
        done = subprocess.run([self.program, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True,
                              check=False)
        if done.returncode not in (0, 1):
            raise Refused("shoal %s: %s" % (" ".join(map(str, arguments)), done.stderr.strip()[-300:]))
        return done.stdout

    def ask(self, *arguments, plain=False):
        """The JSON object of a command."""
        text = self.run(*arguments, "--json", *(() if plain else ("-q",)))
        try:
            return json.loads(text, object_hook=Row)
        except ValueError as error:
            raise Refused("shoal %s: not JSON: %s" % (" ".join(map(str, arguments)), error)) from None

    def bench(self, name, *problems, repeat=3, options=()):
        """What `shoal bench` keeps of these problems: a Result."""
        path = self.path(name + ".json")
        if os.path.exists(path):
            os.remove(path)
        self.run("bench", *problems, "--repeat", repeat, "--save", self.folder, "--name", name, "-q", *options)
        return Result(path)

    def verify(self, *problems):
        """The rows of `shoal verify`: errors, and no times."""
        return self.ask("verify", *problems).items_of("rows")

    def study(self, *arguments):
        """`shoal study` writes to a new file: a Result."""
        path = self.path("study-%s.json" % "-".join(a.lstrip("-") for a in arguments if not a.isdigit()))
        if os.path.exists(path):
            os.remove(path)
        self.run("study", *arguments, "-o", path, "-q")
        return Result(path)

    @staticmethod
    def kept(*names):
        """Kept runs of bench/results/paper; all of them without names."""
        folder = os.path.join(HERE, "..", "bench", "results", "paper")
        return [Result(os.path.join(folder, name)) for name in names] if names else read_folder(folder)

    def numbers(self, name):
        """The numbers of a .npy file, one after another."""
        with open(self.path(name), "rb") as file:
            data = file.read()
        begin = 10 + int.from_bytes(data[8:10], "little")
        kind = ast.literal_eval(data[10:begin].decode("latin1").strip())["descr"]
        return array.array({"<f8": "d", "<f4": "f", "<i4": "i", "<i8": "q"}[kind], data[begin:])


def write(name, program, path, size):
    try:
        import charts  # loads matplotlib
    except ImportError:
        charts = None
    title, about, rows = experiments.PAPERS[name]
    lab = Lab(program, os.path.splitext(os.path.abspath(path))[0] + "-files", size)
    page, failed = HtmlPage(path, title, charts), 0
    page.paragraph(about)
    page.paragraph("Measured on %s, %s, by `make paper NAME=%s%s`.%s" % (
        lab.device, time.strftime("%Y-%m-%d"), name, ("", " QUICK=1", "")[(size + 2) % 3] if size != TINY else " --tiny",
        "" if charts else " There are no pictures: Python has no matplotlib here."))
    for row in rows:
        begin = time.monotonic()
        page.begin_section(row.name, row.about)
        try:
            verdict = row.show(lab, page)
        except (Refused, OSError, ArithmeticError, LookupError, ValueError) as error:
            verdict, failed = "This could not be measured: %s: %s" % (type(error).__name__, error), failed + 1
        page.end_section(verdict)
        print("%-36s %6.1f s  %s" % (row.name, time.monotonic() - begin, verdict[:90]), flush=True)
    page.save()
    print("page: " + path)
    return failed


def main():
    parser = argparse.ArgumentParser(description="Rerun a paper's experiments on this machine.")
    parser.add_argument("paper", choices=list(experiments.PAPERS))
    parser.add_argument("program", help="the program, build/shoal")
    parser.add_argument("page", help="FILE.html")
    parser.add_argument("--quick", action="store_const", dest="size", const=QUICK, default=FULL)
    parser.add_argument("--tiny", action="store_const", dest="size", const=TINY)
    asked = parser.parse_args()
    try:
        return 1 if write(asked.paper, asked.program, asked.page, asked.size) else 0
    except (Refused, OSError) as error:
        print("paper.py: %s" % error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
