# SPDX-License-Identifier: Apache-2.0
"""test_cva_quantlib.py PROGRAM - exposures and CVA of `shoal cva` agree with those of QuantLib that bench/quantlib_cva.py
has kept, and the table of docs/cva.md has the kept numbers."""

import json
import math
import os
import subprocess
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
KEPT = os.path.join(ROOT, "bench", "results", "quantlib")
PROGRAM = sys.argv.pop() if len(sys.argv) > 1 else ""
LIMIT = 4  # of |z|, for 25 numbers: a chance of 1 in 600 at most


class Beside(unittest.TestCase):
    def setUp(self):
        with open(os.path.join(KEPT, "cva.json"), encoding="utf-8") as file:
            self.kept = json.load(file)
        self.way = {row["way"]: row for row in self.kept["results"]}

    def agree(self, ours, theirs):
        for name, error in (("epe", "epe_stderr"), ("ene", "ene_stderr"), ("cva", "stderr")):
            for x, dx, y, dy in zip(*(v if isinstance(v, list) else [v] for v in
                                      (ours[name], ours[error], theirs[name], theirs[error]))):
                self.assertLess(abs(x - y), LIMIT * math.hypot(dx, dy), (name, x, y))

    def test_kept(self):
        for name in ("shoal amc", "shoal rule"):
            self.agree(self.way[name], self.way["QuantLib"])

    @unittest.skipUnless(PROGRAM, "no program")
    def test_program(self):
        kept = self.kept
        days = ",".join(repr(d / 365) for d in kept["days"])
        for estimator in ("amc", "rule"):
            words = [PROGRAM, "--seed", "7", "--backend", "cpu", "cva", os.path.join(KEPT, "cva-book.csv"), "--market",
                     os.path.join(KEPT, "cva-market.csv"), f"--rate={kept['rate']}", f"--hazard={kept['hazard']}",
                     f"--recovery={kept['recovery']}", f"--dates={days}", "--outer=2048", "--inner=16",
                     f"--estimator={estimator}", "--json"]
            said = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
            self.assertEqual(len(said["epe"]), len(kept["days"]))
            self.agree(said, self.way["QuantLib"])

    def test_page(self):
        with open(os.path.join(ROOT, "docs", "cva.md"), encoding="utf-8") as file:
            page = file.read()
        ours, theirs = self.way["shoal amc"], self.way["QuantLib"]
        for k, days in enumerate(self.kept["days"]):
            cells = [f"{days}", *("%.3f ± %.3f" % (row[name][k], row[name + "_stderr"][k])
                                  for name in ("epe", "ene") for row in (ours, theirs))]
            self.assertIn("| " + " | ".join(cells) + " |\n", page)
        for name, row in self.way.items():
            cva = "%.5f ± %.5f" % (row["cva"], row["stderr"])
            times = "%.3g s | %.3g s" % (row["all_fastest_s"], row["all_median_s"])
            self.assertIn(f"| {cva} | {times} |\n", page, name)


if __name__ == "__main__":
    unittest.main()
