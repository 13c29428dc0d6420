#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_papers.py PROGRAM - `make paper`: every figure, table and question of the five papers is a row of
tools/experiments.py, in the paper's order; and the page of one paper, at tiny sizes, has them all with a judgement each."""

import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOOLS = os.path.join(HERE, "..", "tools")
sys.path.insert(0, TOOLS)
import experiments  # noqa: E402

CONTENTS = {  # what the papers number, counted in the papers themselves
    "gspike": ["Figure %d" % k for k in range(1, 11)] + ["Table %d" % k for k in range(1, 6)] + ["Figure C1", "Figure C2", "Table A.1"],
    "pscheme": ["Figure %d" % k for k in range(1, 9)],
    "smallsym": ["Figure %d" % k for k in range(1, 13)],
    "symindef": ["Figure 1.%d" % k for k in range(1, 5)] + ["Figure 3.%d" % k for k in range(1, 23)] + ["Table 3.1"],
    "course": ["Project %d, question %d" % (p, q) for p in range(1, 7) for q in range(1, 4)]
              + ["Project 4, Figure 1", "Project 6, Figure 2"],
}


def numbered(name):
    """The figures of a row's name: "Figures 3.9 to 3.11" are three, "Figures 3.16, 3.17" two."""
    many = re.fullmatch(r"Figures (\d+)\.(\d+)(?: to |, )(\d+)\.(\d+)", name)
    if not many:
        return [name]
    chapter, first, last = many[1], int(many[2]), int(many[4])
    assert many[3] == chapter
    return ["Figure %s.%d" % (chapter, k) for k in range(first, last + 1)]


def check_rows():
    for paper, contents in CONTENTS.items():
        rows = experiments.PAPERS[paper][2]
        names = [name for row in rows for name in numbered(row.name)]
        missing = [name for name in contents if name not in names]
        assert not missing, "%s: no row for %s" % (paper, ", ".join(missing))
        assert len(set(names)) == len(names), "%s: a row twice" % paper
        figures = [float(name.split()[1]) for name in names if re.fullmatch(r"Figure \d+(\.\d+)?", name)]
        if paper != "symindef":  # 3.9 stands before 3.10 there
            assert figures == sorted(figures), "%s: not in the paper's order" % paper


def check_page(program, paper):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "page.html")
        done = subprocess.run([sys.executable, os.path.join(TOOLS, "paper.py"), paper, program, path, "--tiny"], check=False,
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        with open(path, encoding="utf-8") as file:
            text = file.read()
    for row in experiments.PAPERS[paper][2]:
        section = re.search(r"<h2>%s</h2>.*?</section>" % re.escape(row.name), text, re.S)
        assert section, "%s is not on the page" % row.name
        verdict = re.search(r'<p class="verdict">(.+?)</p>', section[0], re.S)
        assert verdict and "could not be measured" not in verdict[1] and "nan" not in verdict[1].lower(), section[0][-300:]
    assert text.count("<table>") >= 5 and text.endswith("</body></html>\n")


def check_refusals(program):
    done = subprocess.run([sys.executable, os.path.join(TOOLS, "paper.py"), "gspike", "/nowhere/shoal", "x.html"], check=False,
                          capture_output=True, text=True)
    assert not os.path.exists("x-files"), "a folder for nothing"
    assert done.returncode == 1 and "/nowhere/shoal" in done.stderr and "Traceback" not in done.stderr, done.stderr
    done = subprocess.run([sys.executable, os.path.join(TOOLS, "paper.py"), "other", program, "x.html"], check=False,
                          capture_output=True, text=True)
    assert done.returncode == 2 and "gspike" in done.stderr, done.stderr


check_rows()
check_page(sys.argv[1], "symindef")
check_refusals(sys.argv[1])
