# SPDX-License-Identifier: Apache-2.0
"""test_cva_table.py PROGRAM - tools/cva_table.py: verdicts on a program with known numbers, and on `shoal cva`."""

import contextlib
import io
import json
import os
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tools"))
sys.dont_write_bytecode = True

import cva_table  # noqa: E402

PROGRAM = sys.argv.pop() if len(sys.argv) > 1 else ""

CASE = """# a comment
case one tuned
about text
limit 0.01
market asset,spot,volatility
market A,100,0.2
book payoff,assets,strike,maturity
book put,A,100,2
run --rate 0 --dates 2
price 3
cva 2 1e-9
epe 4 1
ene 1 0

case two apart
limit 0.5
book payoff,assets,strike,maturity
book put,A,100,2
run --rate 0 --dates 2 --threshold 9
price 3
cva 2 1e-9
epe 4 1
ene 1 0
"""

# The CVA is 2 + --shift + 0.1 for odd seeds, less 0.1 for even ones.
FAKE = """#!%s
import json, sys
at = sys.argv.index
seed, shift = int(sys.argv[at("--seed") + 1]), float(sys.argv[at("--shift") + 1])
assert sys.argv[1] == "cva" and open(sys.argv[2]) and open(sys.argv[at("--market") + 1]) and "--json" in sys.argv
value = 2 + shift + (0.1 if seed %% 2 else -0.1)
print(json.dumps({"cva": value, "stderr": 0.1, "other": 2, "other_stderr": 0.1, "time": [0.5, 1, 2],
                  "epe": [7, 2 * value, 1], "epe_stderr": [0, 0.2, 0], "ene": [7, 1, 0]}))
"""


class Table(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.fake, self.cases = (os.path.join(self.folder.name, name) for name in ("fake", "cases.txt"))
        for path, text in ((self.fake, FAKE % sys.executable), (self.cases, CASE)):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        os.chmod(self.fake, 0o755)

    def table(self, *options, program=None, cases=None):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            code = cva_table.main([program or self.fake, "--cases", cases or self.cases, *options])
        return code, said.getvalue()

    def test_verdicts(self):
        # the mean of 6 runs is 2 + shift, its standard error sqrt(6 0.1^2 / 5 / 6) = 0.0447, 3 of them 0.134
        for shift, code in (("0", 0), ("0.09", 0), ("0.2", 1), ("-0.3", 1)):
            self.assertEqual(self.table("--seeds", "6", "--only", "one", "--", "--shift", shift)[0], code, shift)
        code, text = self.table("--seeds", "6", "--profile", "--", "--shift", "0.2")
        self.assertEqual(code, 1)
        # 3 of 6 runs are 0.3 off, 1.96 x 0.1 is less; EPE 4.4, not 4, and EPE - ENE 3.4, not 3, relative to 5
        self.assertIn("| one | 2 | 2.2 | +10.00 % | 2.24 % | 4.5 | 50 % | 4.5 (1) | +8.00 % |", text)
        self.assertIn("| 1 | 4 | 4.4 | 4.5 | 1 | 1 |", text)
        self.assertIn("1 of 2 cases pass; 50.0 % of 12 intervals", text)
        self.assertEqual(text.count("**fail**"), 1)

    def test_choices(self):
        self.assertIn("| 0.0 | 100 % |", self.table("--seeds", "2", "--value", "other", "--", "--shift", "1")[1])
        code, text = self.table("--seeds", "2", "--use", "apart", "--", "--shift", "0")
        self.assertTrue(code == 0 and "| two |" in text and "| one |" not in text, text)
        self.assertIn("of 2 intervals", self.table("--only", "one", "--seconds", "0", "--", "--shift", "0")[1])
        kept = os.path.join(self.folder.name, "kept.json")
        self.table("--seeds", "2", "--save", kept, "--", "--shift", "0")
        with open(kept, encoding="utf-8") as file:
            self.assertEqual([row["name"] for row in json.load(file)["rows"]], ["one", "two"])

    def test_jobs(self):
        """More jobs: the same table, but for the times, and one thread per program."""
        kept = os.path.join(self.folder.name, "kept.json")
        tables = []
        for jobs in ("1", "4"):
            text = self.table("--seeds", "6", "--jobs", jobs, "--save", kept, "--", "--shift", "0")[1]
            rows = [line.split("|") for line in text.splitlines() if line.startswith("| ")]
            tables.append([row[:10] + row[11:] for row in rows])
            with open(kept, encoding="utf-8") as file:
                saved = json.load(file)
            self.assertEqual("--threads" in saved["options"], jobs == "4")
            self.assertEqual([(group["name"], group["inside"], group["runs"]) for group in saved["groups"]],
                             [("limit 1 %", 6, 6), ("limit 50 %", 6, 6)])
            self.assertGreater(saved["core_seconds"], 0)
        self.assertEqual(tables[0], tables[1])
        text = self.table("--seeds", "2", "--slice", "2/2", "--", "--shift", "0")[1]
        self.assertTrue("| two |" in text and "| one |" not in text, text)

    def test_groups(self):
        """A group fails if its intervals do, though all intervals together would not."""
        row = {"limit": 0.003, "passes": True, "seeds": 1000, "covered": 1}
        groups = cva_table.groups_of([row, dict(row, limit=0.02, seeds=40, covered=0.75)])
        self.assertEqual([group["passes"] for group in groups], [True, False])
        self.assertTrue(cva_table.covers(1030, 1040))

    def test_refusals(self):
        for text in ("0/2", "3/2", "1", "a/b"):
            with contextlib.redirect_stderr(io.StringIO()), self.assertRaises(SystemExit):
                self.table("--slice", text)
        for options, said in ((("--only", "none"), "no case"), (("--value", "what", "--", "--shift", "0"), "no what"),
                              (("--", "--shift"), "one, seed 1: exit code 1")):
            with self.assertRaisesRegex(cva_table.Refused, said):
                self.table(*options)

    def test_coverage(self):
        # P(Bin(20, 0.9) <= 14) = 0.0113, P(.. <= 13) = 0.0024
        self.assertTrue(cva_table.covers(14, 20) and not cva_table.covers(13, 20))

    @unittest.skipUnless(PROGRAM, "no program")
    def test_program(self):
        """Closed forms have no error but that of the outer paths."""
        code, text = self.table("--only", "european-book", "--seeds", "8", "--", "--outer", "1024", "--threads", "1",
                                program=PROGRAM, cases=cva_table.CASES)
        self.assertEqual(code, 0, text)


if __name__ == "__main__":
    unittest.main()
