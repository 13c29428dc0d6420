# SPDX-License-Identifier: Apache-2.0
"""test_scale.py PROGRAM - tools/scale.py: times that can be computed by hand, and a report of the program."""

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tools"))
sys.dont_write_bytecode = True

import scale  # noqa: E402

PROGRAM = sys.argv.pop() if len(sys.argv) > 1 else ""

# 64 units of 1 s, a plan of 3 s, no bytes
REPORT = {"trace": [[i, 0, float(i), float(i + 1)] for i in range(64)], "bytes": 0, "plan_seconds": 3.0, "rows": 1e6}
EXACT = ["--start", "0", "--message", "0", "--poll", "0", "--slow", "0", "--mtbf", "inf"]


def predict(*words, report=None):
    options = scale.arguments(["r.json", *words])
    return scale.predict(options, report or REPORT)


def seconds(*words, report=None):
    return [run["seconds"] for run in predict(*words, report=report)["runs"]]


class Scale(unittest.TestCase):
    def test_equal_units_on_equal_workers(self):
        self.assertEqual(seconds("--engine", "mpi", "--workers", "1,2,64", *EXACT), [67, 35, 4])
        self.assertEqual(seconds("--engine", "mpi", "--workers", "2", "--times", "10", *EXACT), [323])
        # a task of the array has the plan in it
        self.assertEqual(seconds("--engine", "array", "--workers", "64", *EXACT), [4])

    def test_messages_are_one_after_the_other(self):
        o = scale.arguments(["r.json", *EXACT, "--message", "0.5"])
        job = scale.Job(REPORT, 1)
        for units in (64, 128, 256):
            run = scale.pool(o, job, 64, units, 1)
            self.assertGreaterEqual(run["seconds"], 3 + 0.5 * units)
            self.assertLess(run["seconds"], 3 + 0.5 * units + 2)
        self.assertEqual(scale.pool(o, job, 64, 256, 1)["limit"], "messages")

    def test_bytes_take_time(self):
        bytes_of = dict(REPORT, bytes=4e8)
        o = ["--engine", "mpi", "--workers", "1", *EXACT, "--rate", "4e8"]
        self.assertAlmostEqual(seconds(*o, report=bytes_of)[0], 68, delta=0.1)

    def test_slow_workers(self):
        o = scale.arguments(["r.json", *EXACT, "--slow", "0.5", "--factor", "3"])
        job = scale.Job(REPORT, 1)
        # half as fast on average 2/3: with large units the slow ones end last, with small ones all end together
        self.assertEqual(scale.pool(o, job, 8, 8, 1)["seconds"], 3 + 8 * 3)
        self.assertLess(scale.pool(o, job, 8, 512, 1)["seconds"], 3 + 64 / (8 * 2 / 3) + 1)

    def test_failures(self):
        o = scale.arguments(["r.json", *EXACT[:-1], "0.01"])
        job = scale.Job(REPORT, 1)
        run = scale.pool(o, job, 8, 64, 1)
        self.assertGreater(run["parts"]["failures"], 0)
        self.assertGreater(run["seconds"], 11)
        self.assertGreater(scale.array(o, job, 8, 64, 1)["parts"]["failures"], 0)

    def test_merges(self):
        o = scale.arguments(["r.json", "--start", "0", "--message", "1", "--fan-in", "10"])
        job = scale.Job(REPORT, 1)
        self.assertEqual(scale.flat(o, job, 100), 100)
        self.assertEqual(scale.tree(o, job, 100), 20)
        self.assertEqual(scale.tree(o, job, 10), 10)

    def test_no_more_units_than_rows(self):
        few = dict(REPORT, rows=100)
        for run in predict("--workers", "1000", report=few)["runs"]:
            self.assertLessEqual(run["units"], 100)

    def test_nothing_to_learn(self):
        with self.assertRaises(SystemExit):
            predict(report=dict(REPORT, trace=[]))

    def test_a_report_of_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "r.json")
            subprocess.run([PROGRAM, "price", "heston", "--method", "euler", "--steps", "4", "--paths", "400000",
                            "--backend", "cpu", "--scale", path], check=True, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                scale.main([path, "--times", "1e6", "--workers", "8,64"])
            self.assertIn("| mpi | 64 |", out.getvalue())
            self.assertIn("merge of 10,000 units", out.getvalue())
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                scale.main([path, "--times", "1e6", "--workers", "8", "--json"])
            runs = json.loads(out.getvalue())["runs"]
            self.assertEqual([run["engine"] for run in runs], ["mpi", "array"])
            for run in runs:
                self.assertTrue(0 < run["efficiency"] <= 1.0000001, run)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=0)
