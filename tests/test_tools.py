# SPDX-License-Identifier: Apache-2.0
"""test_tools.py PROGRAM - the documents that tools/ generates from kept results: the committed pages are what comes out,
every number of the JSON is on them, rows written here give the numbers worked out here, what the program measures can be
shown, damaged input is refused."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tools"))
sys.dont_write_bytecode = True

import beside  # noqa: E402
import overview  # noqa: E402
import pages  # noqa: E402
import tables  # noqa: E402
from results import Refused, read_folder  # noqa: E402

RESULTS = os.path.join(ROOT, "bench", "results")
PROGRAM = sys.argv.pop() if len(sys.argv) > 1 else ""


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.at = self.folder.name

    def keep(self, name, root):
        with open(os.path.join(self.at, name), "w", encoding="utf-8") as file:
            file.write(root if isinstance(root, str) else json.dumps(root))

    def page(self, name, source=None, with_pictures=False):
        path = os.path.join(self.at, "docs", "page.md")
        pages.write(name, source or self.at, path, with_pictures)
        return read(path)

    def picture(self, name):
        return read(self.at, "docs", "img", name)

    def has(self, text, *parts):
        for part in parts:
            self.assertIn(part, text)


class Committed(Case):
    """docs/ and bench/results agree."""

    def test_pages(self):
        for name, (source, kind) in pages.DOCUMENTS.items():
            with self.subTest(name):
                self.assertEqual(read(ROOT, "docs", name), self.page(kind, os.path.join(RESULTS, source)),
                                 name + ": run `make docs`")

    def test_every_time_is_shown(self):
        """An independent count: the milliseconds in the tables are those of the files, each as often."""
        known = ("tridiag", "rng", "smallsym", "recur", "symindef", "sort", "heston", "expou", "bullet")
        kept = [row for file in read_folder(RESULTS) for row in file.rows if row.get("module") in known]
        expected = sorted("-" if row.get("median_s") is None else "%.4g" % (1e3 * row["median_s"]) for row in kept)
        shown, column = [], None
        for line in read(ROOT, "docs", "performance.md").split("\n"):
            cells = line.split(" | ")
            if "ms" in cells:
                column = cells.index("ms")
            elif line.startswith("| "):
                shown.append(cells[column])
        self.assertGreater(len(shown), 1000)
        self.assertEqual(sorted(shown), expected)

    def test_pictures_are_there(self):
        for name in pages.DOCUMENTS:
            for picture in re.findall(r"\(img/([^)]*)\)", read(ROOT, "docs", name)):
                text = read(ROOT, "docs", "img", picture)
                self.assertTrue("<svg" in text and text.rstrip().endswith("</svg>"), picture)


    def test_tables(self):
        """The pictures of kept tables have a point per row."""
        for name, (draw, source) in tables.PICTURES.items():
            chart = draw(os.path.join(RESULTS, source))
            points = sum(len(series["x"]) for series in chart["series"])
            self.assertEqual(points, (read(RESULTS, source).count("\n") - 1) * (1 if "bullet" in name else 2), name)
            self.has(read(ROOT, "docs", "img", name), chart["title"], *(">%s<" % series["name"] for series in chart["series"]))
            self.assertRaisesRegex(Refused, "expected columns", draw, os.path.join(RESULTS, "README.md"))

    def test_tables_beside_text(self):
        for page, heading, lines in beside.tables_of(RESULTS):
            with self.subTest(page + ": run `make docs`"):
                align = "|---|" + "---:|" * (heading.count("|") - 2)
                self.has(read(ROOT, "docs", page), "\n\n" + "\n".join([heading, align, *lines]) + "\n\n")

    def test_readme(self):
        """The speedups of README.md are those of the kept rows; its picture has a marker per row of a power of two."""
        shown = re.findall(r"(?m)^- \*\*([0-9.]+)(?: to ([0-9.]+))?\*\* over", read(ROOT, "README.md"))
        self.assertEqual([(least, most or least) for least, most in shown],
                         [("%.2g" % least, "%.2g" % most) for least, most in overview.speedups(RESULTS)])
        picture = read(ROOT, "docs", "img", overview.PICTURE)
        self.has(picture, *(">%s<" % name for name in overview.LINES))
        self.assertEqual(len(re.findall(r"<use [^>]*style=\"fill: #(?:0b62d6|d2570a|188038|8244d8)", picture)), 6 + 6 + 3 + 3)


class Refusals(Case):
    def test_damaged_input(self):
        for name in pages.PAGES:
            source = os.path.join(self.at, "one.json") if name == "study" else self.at
            for text, said in (("{}", "rows"), ("[]", "rows"), ('{"rows": 3}', "rows"), ('{"rows": [1]}', "rows"),
                               ('{"rows": [', "not JSON"), ("\0", "not JSON"), ("[" * 9999, "not JSON")):
                self.keep("one.json", text)
                with self.assertRaisesRegex(Refused, "one.json: .*" + said):
                    self.page(name, source)
            with self.assertRaisesRegex(Refused, "nowhere"):
                self.page(name, os.path.join(self.at, "nowhere"))
            self.assertFalse(os.path.exists(os.path.join(self.at, "docs", "page.md")))
        os.remove(os.path.join(self.at, "one.json"))
        with self.assertRaisesRegex(Refused, "no .json file"):
            self.page("performance")

    def test_odd_members(self):
        """Members of another kind are taken for absent ones: a page without them, or none, but no other error."""
        rows = [{"module": module, "who": 3, "n": "x", "count": None, "backward": 1, "part": part, "kind": "spike1"}
                for module in ("tridiag", "band", "rng", "smallsym", "recur", "symindef", "sort", "heston", 5)
                for part in ("alpha", "sizes", "read", None)]
        for study in ("smallsym", "symindef"):
            self.keep("one.json", {"study": study, "machine": 1, "conditions": [], "rows": rows})
            for name in pages.PAGES:
                self.page(name, os.path.join(self.at, "one.json") if name == "study" else self.at)


class Performance(Case):
    def test_groups(self):
        row = {"who": "Shoal", "module": "smallsym", "backend": "cuda", "type": "f32", "kind": "spd", "storage": "full",
               "layout": "system", "triangle": "lower", "nrhs": 1, "method": "ldlt", "variant": "team", "count": 50,
               "verified": True, "median_s": 0.002, "systems_per_second": 25000.0, "bytes_per_second": 1e9}
        peer = dict(row, who="cuSOLVER", version="cuSOLVER 1", note="a note", verified=False, median_s=None)
        rows = [dict(row, n=n, **more) for n in (4, 8) for more in ({}, {"outcome": 1}, {"gram": 20}, {"gram": 30})]
        self.keep("one.json", {"machine": {"device": "Test 1", "cpu": "unknown", "threads": 2, "isa": "v3", "date": "today",
                                           "copy_bytes_per_second": {"cuda": 2e12}}, "rows": rows + [dict(peer, n=8)]})
        self.keep("two.json", {"machine": {"device": "Test 2"}, "rows": [dict(row, module="unheard of")]})
        text = self.page("performance", with_pictures=True)
        self.has(text, "## Test 1\n\n- CPU: Test 1, 2 threads, instruction level v3\n- copy bandwidth on cuda: 2000 GB/s",
                 "- peer: cuSOLVER 1: a note\n", "- `bench/results/one.json`, measured today\n", "## Test 2\n",
                 "### smallsym, cuda, f32, full, one system after another, spd matrices\n", "Full: n^2 + 2 n",
                 "### smallsym, cuda, f32, regressions of 20 samples, one system after another\n", "-spd-30.svg",
                 "| 8 | 50 | `ldlt/team outcome=1` | 2 | - | 0.025 | 1 | - | - | - |\n",
                 "| 8 | 50 | cuSOLVER ldlt/team | - | - | 0.025 | 1 | - | - | - (fails the check) |\n")
        self.assertEqual(text.count("### "), 3)
        self.has(self.picture("smallsym-test-1-cuda-f32-system-full-spd.svg"), ">Small symmetric systems, f32, full,",
                 ">ldlt/team outcome=1<", ">limit: plain copy<", ">million systems per second<", ">cuSOLVER ldlt/team<")

    def test_random_numbers(self):
        row = {"who": "Shoal", "module": "rng", "backend": "cpu", "type": "f32", "law": "normal", "method": "normal",
               "variant": "boxmuller", "count": 1000, "math": "exact", "verified": True, "numbers_per_second": 2e9}
        self.keep("one.json", {"machine": {"device": "Test 1"}, "rows": [
            row, dict(row, math="fast", numbers_per_second=4e9), dict(row, law="poisson", **{"lambda": 64}),
            dict(row, who="libm", version="libm 2", verified=False, why="its mean", numbers_per_second=1e9)]})
        text = self.page("performance", with_pictures=True)
        self.has(text, "### rng, cpu, f32\n", "`normal/boxmuller`, fast", "| lambda = 64 |", "| fails: its mean |",
                 "GB/s counts the bytes written")
        self.has(self.picture("rng-test-1-cpu-f32.svg"), ">Shoal, fast arithmetic<", ">normal/boxmuller<", ">4<", ">libm 2<")


class Beside(Case):
    def test_libraries(self):
        row = {"problem": "spd", "n": 8, "type": "float64", "library": "torch", "shoal_systems_per_second": 2e9, "ratio": 12.4}
        self.keep("one.json", {"rows": [
            row, dict(row, ratio=9.96), dict(row, library="jax", ratio=0.298), dict(row, type="float32", ratio=119000),
            dict(row, type="float32", library="jax", ratio=1.25), dict(row, n=16), dict(row, n=16, type="float32")]})
        self.assertEqual(list(beside.python(os.path.join(self.at, "one.json")))[1:],
                         [["spd", "8", "2000, 2000", "10, 120000", "-", "0.3, 1.2"],
                          ["spd", "16", "2000, 2000", "12, 12", "-", "fails, fails"]])

    def test_again(self):
        def row(problem, kept, **more):
            return dict({"problem": problem, "module": "smallsym", "method": "ldlt", "type": "f32", "median_s": 3.0,
                         "kept_s": kept}, **more)
        self.keep("one.json", {"machine": {"date": "2"}, "rows": [row("a", 2.0), row("b", 3.0), row("d", None),
                                                                   row("e", 2.0, type="f64"), row("f", 2.0, module="rng")]})
        self.keep("two.json", {"machine": {"date": "1"}, "rows": [row("b", 1.0), row("c", 4.0)]})
        self.assertEqual(sorted(list(beside.again(self.at))[1:]),
                         [["`smallsym:ldlt`, f32", "3", "0.75", "1.00", "1.50"],
                          ["`smallsym:ldlt`, f64", "1", "1.50", "1.50", "1.50"]])

    def test_write(self):
        heads = {page: heading for page, heading, _ in beside.tables_of(RESULTS)}
        for page in heads:
            self.keep(page, read(ROOT, "docs", page))
        beside.write(RESULTS, self.at)
        for page, heading in heads.items():
            self.assertEqual(read(self.at, page), read(ROOT, "docs", page))
            self.keep(page, read(ROOT, "docs", page).replace(heading, ""))
            self.assertRaisesRegex(Refused, page + ": no table", beside.write, RESULTS, self.at)
            self.keep(page, read(ROOT, "docs", page))


class Figures(Case):
    @staticmethod
    def row(method, variant, n, team, rate, **extra):
        return dict({"who": "Shoal", "module": "smallsym", "backend": "cuda", "type": "f32", "kind": "spd",
                     "storage": "full", "layout": "system", "nrhs": 1, "refine": 0, "outcome": 0, "verified": True,
                     "method": method, "variant": variant, "n": n, "team": team, "systems_per_second": rate}, **extra)

    def test_small_systems(self):
        row, rows = self.row, []
        for n in (8, 16):
            rows += [row("ldlt", "simd", n, 0, 100), row("ldlt", "coop", n, 0, 200.0 * n / 8, stage="none"),
                     row("ldlt", "hybrid", n, 2, 300), row("ldlt", "hybrid", n, 4 if n == 8 else 64, 700),
                     row("ldlt", "hybrid", n, 1, 250), row("ldlt", "team", n, 0, 1200)]
        rows.append(row("ldlt", "simd", 24, 0, 100))  # with nothing to be compared with
        machine = {"device": "Test 1", "date": "today"}
        self.keep("one.json", {"machine": machine, "rows": rows})
        text = self.page("smallsym-figures", with_pictures=True)
        line = "|---:|---:|---:|---:|\n"
        self.has(text, "| n | coop | hybrid | team, ours |\n" + line + "| 8 | 2.00 | 7.00 | 12.00 |\n| 16 | 4.00 | 7.00 | 12.00 |\n",
                 "| n | n* | n | n / 2 | n / 4 |\n" + line[:-1] + "---:|\n| 8 | 4 | 8 | 4 | 2 |\n| 16 | 16 | 16 | 8 | 4 |\n",  # 64 are 16 threads
                 "| n | hybrid | team, ours | n^-3 |\n" + line + "| 8 | 700 | 1.2e+03 | 5.6e+03 |\n",
                 "## Figure 2\n\nLeft out: there is no study", "### Figure 10\n\nLeft out", "### Figure 12\n\nLeft out",
                 "### Figure 9\n\nLeft out: there are no rows of `hhpcr` with `stage=pcr`.")
        self.has(self.picture("smallsym-figure-4-test-1.svg"), "Figure 4. LDLt: speedup", ">hybrid</text>", "Test 1, f32")
        before = self.picture("smallsym-figure-4-test-1.svg")
        self.page("smallsym-figures", with_pictures=True)
        self.assertEqual(before, self.picture("smallsym-figure-4-test-1.svg"), "the same numbers give the same file")

        self.keep("two.json", {"machine": machine, "conditions": {"kind": "regression", "n": 30, "values": [900000, 1e6]}, "rows": [
            row("hhpcr", "formed", 16, 0, 5000, stage="pcr"), row("hhpcr", "simd", 16, 0, 10, stage="reduce"),
            row("hhpcr", "coop", 16, 0, 60, stage="reduce"), row("hhpcr", "reflect", 16, 0, 90, stage="reduce"),
            row("hhpcr", "coop", 16, 0, 140), row("hhpcr", "reflect", 16, 0, 400),
            row("eigdc", "middle", 16, 0, 15, pairs="tridiag"), row("eigdc", "gragg", 16, 0, 30, pairs="tridiag")]})
        text = self.page("smallsym-figures")
        self.has(text, "2 systems: 9e+05 to 1e+06.", "| n | PCR, two products | ldlt hybrid |\n|---:|---:|---:|\n| 16 | 5e+03 | 700 |\n",
                 "| n | simd / coop | hhpcr coop / ldlt hybrid | reflect / team, ours |\n" + line + "| 16 | 6.00 | 5.00 | 3.00 |\n",
                 "| n | over coop | over our fastest |\n|---:|---:|---:|\n| 16 | 2.00 | 3.00 |\n")
        self.assertNotIn("Left out", text)
        os.remove(os.path.join(self.at, "one.json"))
        self.keep("two.json", {"machine": machine, "rows": []})  # a study alone
        text = self.page("smallsym-figures")
        self.has(text, "The other figures are left out")
        self.assertNotIn("## Test 1", text)

    def test_recurrences(self):
        """Times that follow t = a N / P + b P exactly: the fit finds a and b."""
        row = {"who": "Shoal", "module": "recur", "backend": "cuda", "type": "f32", "method": "pscheme", "constant": "both",
               "n": 1 << 18, "variant": "blocked"}

        def seconds(p):
            return 64e-9 * 2 ** 18 / p + 1e-9 * p
        rows = [dict(row, threads_asked=t, groups_asked=g, median_s=seconds(t * g)) for t in (16, 32) for g in (4, 8)]
        rows += [dict(row, threads_asked=16, groups_asked=4, phase=phase, median_s=s) for phase, s in
                 (("precomputation", 0.001), ("propagation", 0.004), ("determination", 0.0035))]
        rows += [dict(row, method="serial", threads=1, median_s=0.02), dict(row, method="pcr", median_s=0.003)]
        self.keep("one.json", {"machine": {"device": "Test 1"}, "rows": rows})
        text = self.page("recur-figures")
        self.has(text, "alpha + gamma = 64 ns, beta = 1 ns per step; P_opt = 4096, sqrt(N / 2) = 362; the fastest was P = 256",
                 "| `blocked`, ms: T | G = 4 | G = 8 |\n", "| 16 | %.4g | %.4g |\n" % (1e3 * seconds(64), 1e3 * seconds(128)),
                 "| `serial`, one core | 20 |\n", "| `pcr` | 3 |\n", "| `lookback` | - |\n",
                 "| 4 | 16 | 1 | 3 | - |")  # below the noise
        self.keep("one.json", {"rows": rows[-1:]})
        self.has(self.page("recur-figures"), "They are left out")

    def test_tridiagonal(self):
        row = {"who": "Shoal", "module": "tridiag", "backend": "cpu", "type": "f64", "count": 1, "nrhs": 1,
               "method": "twocarry", "kind": "spike1", "verified": True, "max_residual": 1e-16, "samples": 1}
        rows = [dict(row, n=4096, median_s=0.001), dict(row, n=8192, median_s=0.002),
                dict(row, n=8192, median_s=0.003, samples=5), dict(row, n=4096, kind="spike15", warned=1)]
        for name, error in (("thomas", None), ("pcr", 1e-10)):
            rows.append(dict(row, n=4096, kind="spike15", method=name, verified=False, max_residual=error, tolerance=1e-14))
        self.keep("one.json", {"machine": {"device": "Test 1"}, "rows": rows})
        text = self.page("tridiag-figures")
        self.has(text, "| 1 | 1.1e-15 | 1.7e-15 | 1.0e-16 | - | - |\n", "| 15 | 1.1e-13 | 1.4e-14 | 1.0e-16 | **not finite** | **1.0e-10** |\n",
                 "- `thomas` on Test 1 fails on #15\n", "- `twocarry` on Test 1 warns of #15\n",
                 "| 8192 | 3 | 1.0e-16 |\n", "### Matrix #1\n")  # the row with most samples
        self.assertEqual(len(re.findall(r"^\| \d+ \| [0-9.]+e-\d+ \| [0-9.]+e-", text, re.M)), 21)
        self.assertEqual((text.count("fails on"), text.count("### Matrix")), (2, 1))
        self.keep("one.json", {"rows": rows[:1]})
        self.has(self.page("tridiag-figures"), "The figures are left out")


class Studies(Case):
    def test_beside_the_thesis(self):
        """The thesis's numbers stand beside matrices of its names and orders alone."""
        first = {"part": "alpha", "matrix": "astro-ph.mtx", "n": 16706, "alpha": 0.01, "median_s": 2, "pivots_1x1": 10,
                 "pivots_2x2": 5, "growth": 1, "max_multiplier": 3, "relative_error": 4e-15, "vector_error": 1e-16,
                 "verified": False}
        rows = [first, {"part": "alpha", "matrix": "astro-ph.mtx", "n": 16706, "alpha": 0.15},
                {"part": "alpha", "matrix": "equidistant", "n": 2999, "alpha": 0.01},
                {"part": "sizes", "n": 10, "median_s": 0.002}, {"part": "sizes", "n": 10, "median_s": 0.001, "relative_error": 3e-16},
                {"part": "sizes", "n": 10, "median_s": 0.5, "relative_error": 5e-16},
                {"part": "read", "n": 1000, "way": "triangle", "median_s": 0.002}, {"part": "read", "n": 1000, "way": "whole", "median_s": 0.003}]
        self.keep("study.json", {"study": "symindef", "machine": {"device": "Test 1", "threads": 1}, "seed": 1, "rows": rows})
        text = self.page("study", os.path.join(self.at, "study.json"))
        self.has(text, "`study.json`", "| 0.01 | 2000 | 10 | 5 | 1 | 3 | 4.000e-15 | 1.00e-16 | 3.939e-15 (fails the check) |\n",
                 "| 0.15 | - | - | - | - | - | - | - | 2.757e-15 |\n", "| 0.01 | - | - | - | - | - | - | - | - |\n",
                 "| 10 | 2 | 0.00176 | - | - | - | 5.00e-16 | - |\n",  # middle and largest
                 "| 1000 | 8 | 2 | 3 | - | 1.50 | - |\n")
        self.keep("study.json", {"study": "symindef", "rows": []})
        text = self.page("study", os.path.join(self.at, "study.json"))
        self.has(text, *("Left out: the part `%s` was not measured." % part for part in ("alpha", "sizes", "read")))

    def test_wrong_answers_are_named(self):
        row = {"method": "ldlt", "type": "f32", "kind": "spd", "n": 8, "count": 4, "ok": 3, "ill": 1, "wrong": 2, "referenced": 4,
               "unit": 1e-7, "backward": {"median": 1e-8, "p99": 2e-8, "worst": 3e-8, "quantiles": [None] + [-800] * 40}}
        self.keep("study.json", {"machine": {"device": "Test 1"}, "seed": 3, "rows": [row]})
        text = self.page("study", os.path.join(self.at, "study.json"), with_pictures=True)
        self.has(text, "seed 3", "### f32, n = 8\n",
                 "| spd | `ldlt` | 75 (2 of them WRONG) | 25 |  |  |  | 1.0e-08 | 2.0e-08 | 3.0e-08 | 100 | - | - | - |\n")
        self.has(self.picture("smallsym-study-f32-backward.svg"), "Distributions of the backward error, f32, n = 8", ">spd</text>")
        self.has(self.picture("smallsym-study-f32-forward.svg"), "no method has errors to show")


@unittest.skipUnless(PROGRAM, "no program given")
class Measured(Case):
    """What the program writes, the tools can show."""

    def shoal(self, *words, code=0):
        done = subprocess.run([PROGRAM, "--quiet", "--backend", "cpu", *words], check=False, stdout=subprocess.DEVNULL)
        self.assertEqual(done.returncode, code)

    def bench(self, name, *problems, code=0):
        self.shoal("bench", *problems, "--repeat", "1", "--save", self.at, "--name", name, code=code)

    def test_bench(self):
        self.bench("it", "tridiag:lupp::f64:n=8+16,count=50", "smallsym:ldlt::f32:n=4+8,count=50,outcome=all",
                   "rng:normal+poisson+sobol::f32:count=1000,math=all", "symindef:complete::f64:n=8+16,storage=all",
                   "recur:lookback::f32:n=500", "sort:batchsort::u32:n=16,count=10")
        text = self.page("performance")
        self.has(text, "| 16 | 50 | `lupp` |", "| 8 | 50 | `ldlt/team outcome=1` |", "### rng, cpu, u32\n", "| n = 16 |",
                 "| 16 | `complete, packed` |", "### recur, cpu, f32, order 1,", "### sort, cpu, u32: Rows of n keys sorted")

    def test_tridiagonal(self):
        """A solver that passes, and one that fails on #15, whose diagonal is 0."""
        self.bench("lengths", "tridiag:twocarry::f64:n=4096+8192,count=1,kind=spike1")
        self.bench("kinds", "tridiag:twocarry+thomas::f64:n=4096,count=1,kind=spike15", code=1)
        text = self.page("tridiag-figures")
        for pattern, count in ((r"^\| \d+ \| [0-9.]+e-\d+ \| [0-9.]+e-", 21), ("fails on", 1),
                               ("^- `thomas/thread` on .* fails on #15$", 1),
                               ("^- `twocarry` on .* warns of #15$", 1),
                               (r"^\| 15 .*\*\*not finite\*\* \|$", 1), (r"^\| [48][01]9[26] \| [0-9.]+ \| [0-9.]+e-1[67] \|$", 2)):
            self.assertEqual(len(re.findall(pattern, text, re.M)), count, pattern)

    def test_studies(self):
        small, dense = (os.path.join(self.at, name) for name in ("small.json", "dense.json"))
        self.shoal("study", "smallsym", "--count", "2", "-o", small)
        self.has(self.page("study", small), "| spd | `ldlt` | 100 |", "### f64, n = 30\n")
        self.shoal("study", "symindef", "--n", "20", "-o", dense)
        text = self.page("study", dense)
        self.has(text, "### equidistant, n = 20\n", "\n| 0.6404 | ", "## G J Gt: Figure 3.22", "\n| 18 | ")
        for name in pages.PAGES:  # studies among the files trouble no page
            if name != "study":
                self.page(name)
        self.has(self.page("smallsym-figures"), "1000 systems: ", "left out: no file has rows")


if __name__ == "__main__":
    unittest.main()
