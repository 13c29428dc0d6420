# SPDX-License-Identifier: Apache-2.0
"""The experiments of five papers, in their order: rows for paper.py.

A row is a figure, table or question: its name, what the paper shows there, and a function of a lab (paper.Lab) and a page that
measures it and returns a sentence. A function may serve several rows.
"""

import math
from collections import namedtuple

import figures
from results import Refused, cell

Experiment = namedtuple("Experiment", "name about show")


# ---- what the experiments share ----

def number(template, value):
    return cell(template, value) if isinstance(value, (int, float)) else str(value)


def grid(page, headings, rows):
    """A table of given rows: text, or (template, number)."""
    page.table([(str(heading), "---:", lambda row, i=i: number(*row[i]) if isinstance(row[i], tuple) else str(row[i]))
                for i, heading in enumerate(headings)], rows)


def lines(page, title, x_label, y_label, series, **more):
    page.picture(title, "", "lines", {"title": title, "x_label": x_label, "y_label": y_label, "series": [
        {"name": name, "points": points} for name, points in series if points], **more})


def explained(*paragraphs):
    """A drawing or statement of the paper: where Shoal has it."""
    def show(lab, page):
        for text in paragraphs[:-1]:
            page.paragraph(text)
        return paragraphs[-1]
    return show


def log_scale(value):
    return {"x_scale": "log2", "y_scale": "log10"} if value else {}


def within(ours, paper, factor):
    """How many of the pairs are no worse than `factor` times the paper's."""
    pairs = [(u, v) for u, v in zip(ours, paper) if math.isfinite(u)]
    return sum(u <= factor * v for u, v in pairs), len(pairs)


def norm(values):
    return math.sqrt(math.fsum(v * v for v in values))


def kept_note(page, files):
    page.paragraph("Kept runs: " + "; ".join(sorted({"%s, %s" % (f.device, f.machine.text("date")[:10]) for f in files})) + ".")


# ---- g-Spike ----

def tridiagonal(lab, kind, n, method, *options, largest=False):
    """Forward and backward error and status of one system of a kind with a known x."""
    lab.run("gen", "tridiag", kind, "--n", n, "-o", "t", "-q")
    lab.run("solve", "tridiag", "--dl", "t-dl.npy", "--d", "t-d.npy", "--du", "t-du.npy", "-b", "t-b.npy", "-x", "y.npy",
            "--method", method, "--status", "s.npy", "--residual", "r.npy", "--force", "-q", *options)
    x, y = lab.numbers("t-x.npy"), lab.numbers("y.npy")
    measure = (lambda v: max(map(abs, v))) if largest else norm
    return measure([u - v for u, v in zip(x, y)]) / measure(x), lab.numbers("r.npy")[0], lab.numbers("s.npy")[0]


def spike_figure_1(lab, page):
    rows = []
    for method, options in (("gspike", ("--block", 3)), ("gspike", ("--block", 5)), ("thomas", ()), ("lupp", ())):
        forward, backward, status = tridiagonal(lab, "fig1", 5, method, *options)
        rows.append(("`%s` %s" % (method, " ".join(map(str, options))), ("%.1e", forward), ("%.1e", backward), "%d" % status))
    grid(page, ("method", "forward error", "backward error", "status"), rows)
    forward = rows[0][1][1]
    return "Split into 3 + 2 rows, both singular, g-Spike's error is %.1e: %s, as the paper says." % (
        forward, "the fill-in works" if forward < 1e-14 else "the fill-in fails")


KAPPA = (9.21e3, 1, 2.84e3, 1.03e4, 5.51e5, 1.01, 9, 8.76e14, 1.01e15, 1.65e15, 9.37e14, 2.67e21, 1.05e17, 1.57e16, 4.99e16,
         2.61e3, 1, 3, 1.12, 2.47, 4.01e7)


def spike_matrices(lab, page):
    n, rows = lab.size(128, 4096, 4096), []
    for k, paper in enumerate(KAPPA, 1):
        lab.run("gen", "tridiag", "spike%d" % k, "--n", n, "-o", "t", "-q")
        lab.run("solve", "tridiag", "--dl", "t-dl.npy", "--d", "t-d.npy", "--du", "t-du.npy", "-b", "t-b.npy", "-x", "y.npy",
                "--method", "lupp", "--rcond", "c.npy", "--force", "-q")
        rcond = lab.numbers("c.npy")[0]
        rows.append(("#%d" % k, ("%.2e", paper), ("%.2e", 1 / rcond if rcond > 0 else math.inf)))
    grid(page, ("matrix", "paper: kappa_2, n = 4096", "ours: estimate of kappa_1, n = %d" % n), rows)
    close = sum(row[2][1] < 1e3 * row[1][1] and row[1][1] < 1e3 * row[2][1] for row in rows if math.isfinite(row[2][1]))
    return "%d of 21 condition numbers are within a factor of 1000, which two norms and other random numbers allow." % close


def spike_table_2(lab, page):
    n = lab.size(256, 4096, 4096)
    where = lab.backend
    problems = ["tridiag:gspike+twocarry:%s:f64:n=%d,count=1,kind=spike%d" % (where, n, k) for k in range(1, 22)]
    problems += ["tridiag:lupp:cpu:f64:n=%d,count=1,kind=spike%d" % (n, k) for k in range(1, 22)]
    found = {}
    for row in lab.verify(*problems):
        found.setdefault(row.solver, {})[figures.spike_number(row)] = row
    grid(page, ("#", "paper: g-Spike", "paper: `gtsv`", *("`%s`" % name for name in found)),
         [(k, ("%.1e", figures.TABLE_2[k - 1][0]), ("%.1e", figures.TABLE_2[k - 1][1]),
           *(figures.error_text(own.get(k)) for own in found.values())) for k in range(1, 22)])
    page.paragraph("**Bold**: above 100 epsilon, which the status says. The random matrices are not those of the paper.")
    ours = found["gspike"]
    good, of = within([ours[k].number("max_residual") for k in ours], [figures.TABLE_2[k - 1][0] for k in ours], 100)
    return ("g-Spike's backward error is at most 100 times the paper's on %d of %d matrices; where both fail, #12 to #15, the "
            "draw decides. `twocarry` %s." % (good, of, "passes all" if all(row.passed for row in found["twocarry"].values())
                                              else "fails on some"))


def spike_lengths(matrices):
    def show(lab, page):
        top = lab.size(12, 16, 24 if lab.has_gpu else 20)
        sizes = "+".join("2^%d" % e for e in range(10, top + 1, 2))
        file = lab.bench("lengths-" + "-".join(map(str, matrices)), *(
            "tridiag:gspike+twocarry:%s:f64:n=%s,count=1,kind=spike%d" % (lab.backend, sizes, k) for k in matrices),
            repeat=lab.size(1, 2, 5), options=("--peers",))
        rows = [row for row in file.rows if figures.spike_number(row) in matrices and row.number("median_s") > 0]
        figures.write_lengths(page, file.device, rows)
        times = {}
        for row in rows:
            times.setdefault((row.solver, row.number("n")), []).append(row.number("median_s"))
        n = max(size for name, size in times if name == "gspike")
        own, other = times["gspike", n], times["twocarry", n]
        return "At n = %.0f g-Spike's time differs by %.0f %% between the matrices%s; `twocarry` is %.1f times as fast." % (
            n, 100 * (max(own) / min(own) - 1), ": it does not depend on the matrix, as the paper says"
            if max(own) < 1.25 * min(own) else "; that includes the noise of this machine" if not lab.has_gpu else "",
            min(own) / min(other))
    return show


BLOCKS = (0, 1, 2, 4, 8, 32, 128, 512, 2048, 8192, 32768)
TABLE_3 = ((2.22e-16, 1.35e-05, 1.91e-05, 2.71e-05, 4.39e-05, 9.28e-05, 2.17e-04, 4.49e-04, 1.13e-03, 2.89e-03, 3.45e-03),
           (1.35e-16, 6.75e-16, 9.56e-16, 1.34e-15, 1.89e-15, 3.76e-15, 7.48e-15, 1.50e-14, 3.02e-14, 5.87e-14, 8.42e-14))
TABLE_4 = ((3.48e-13, 3.05e-05, 9.30e-05, 1.88e-04, 4.05e-04, 1.89e-03, 2.16e-02, 2.09e-02, 9.32e-02, 3.48, 11.8),
           (7.01e-12, 5.85e-13, 9.49e-13, 2.24e-12, 3.73e-13, 2.27e-12, 7.85e-12, 9.02e-12, 2.86e-12, 1.22e-11, 1.87e-10))


def spike_blocks(lab, page, kind, paper, title):
    n = lab.size(1 << 10, 1 << 15, 1 << 20)
    counts = [c for c in BLOCKS if 32 * c <= n][:lab.size(3, 9, 11)]
    ours = {c: [tridiagonal(lab, "%s:%d" % (kind, c) if c else "spike" + kind.lstrip("blockpy"), n, method)[0]
                for method in ("gspike", "lupp")] for c in counts}
    grid(page, ("singular blocks", "paper: `gtsv`", "paper: g-Spike, n = 2^20", "`gspike`, n = %d" % n, "`lupp`"),
         [(c, ("%.2e", paper[0][i]), ("%.2e", paper[1][i]), *(("%.2e", e) for e in ours[c])) for i, c in enumerate(counts)])
    lines(page, title, "singular blocks", "forward error", [
        ("paper: gtsv", dict(zip(counts[1:], paper[0][1:]))), ("paper: g-Spike", dict(zip(counts[1:], paper[1][1:]))),
        ("gspike", {c: e[0] for c, e in ours.items() if c}), ("lupp", {c: e[1] for c, e in ours.items() if c})],
        x_scale="log2", y_scale="log10")
    worst = max(e[0] / max(e[1], paper[1][i]) for i, e in enumerate(ours.values()))
    return "g-Spike's error is at most %.1f times the larger of the paper's and elimination with pivoting's." % worst


TABLE_5 = (("hidden1:1", .054, .63, 1.6e-3), ("hidden1:4", .034, .89, 6.6e-4), ("hidden18:1", 1.4e-4, 3.6e-4, 5.7e-5),
           ("hidden18:4", .93, .22, 1.4e-2))


def spike_table_5(lab, page):
    n, rows = lab.size(1 << 10, 1 << 15, 1 << 20), []
    for kind, gtsv, forward, backward in TABLE_5:
        own = tridiagonal(lab, kind, n, "gspike", "--cond", "1e12", largest=True)
        other = tridiagonal(lab, kind, n, "lupp", largest=True)
        rows.append((kind, ("%.1e", gtsv), ("%.1e", forward), ("%.1e", backward), ("%.1e", own[0]), ("%.1e", own[1]),
                     "%d" % own[2], ("%.1e", other[0])))
    grid(page, ("kind", "paper: `gtsv`", "paper: g-Spike forward", "backward", "ours: forward", "backward", "status",
                "`lupp` forward"), rows)
    return "g-Spike fails on %d of 4, as in the paper, and the status warns of %d: the condition estimate that the paper " \
           "proposes." % (sum(row[4][1] > 1e-6 for row in rows), sum(row[6] == "1" for row in rows))


def spike_operations(lab, page):
    n = lab.size(1 << 12, 1 << 16, 1 << 20)
    file = lab.bench("operations", "tridiag:gspike+twocarry+lupp+thomas:cpu:f64:n=%d,count=1,kind=spike18" % n,
                     repeat=lab.size(1, 3, 7), options=("--threads", "1"))
    grid(page, ("method", "ns per row, one core"), [("`%s`" % row.solver, ("%.1f", 1e9 * row.number("median_s") / n))
                                                     for row in file.rows])
    times = {row.solver: row.number("median_s") for row in file.rows}
    return "On one core g-Spike takes %.1f times as long as elimination with pivoting: the price of a root and two " \
           "divisions per row." % (times["gspike"] / times["lupp"])


GSPIKE = [
    Experiment("Figure 1", "A nonsingular 5 x 5 matrix whose leading 3 and last 2 rows are singular blocks.", spike_figure_1),
    Experiment("Figure 2", "The factorization A P = D S for 4 blocks.",
               explained("[gspike.h](../src/tridiag/gspike.h) has the rows that each block passes on, level by level.")),
    Experiment("Figure 3", "The column exchanges of Appendix C in the reduced system.",
               explained("`gspike` orders the columns as in Figure C2 (c), so each level is tridiagonal again.")),
    Experiment("Figure 4", "Storage of the matrix on CPU and GPU.",
               explained("Three diagonals of n numbers, as cuSPARSE takes them; 5 n numbers of workspace and an eighth more.")),
    Experiment("Figure 5", "Flowchart: marshalling, factorization, reduced system, back substitution.",
               explained("Kernels `marshal`, `factor`, `join`, `top`, `part` and `finish` of gspike.cu, in this order.")),
    Experiment("Figure 6", "Memory accesses of the threads of a block after marshalling.",
               explained("Row i of block j is at i p + j, p the number of blocks: neighbouring threads read neighbouring numbers.")),
    Experiment("Section 2.1: operations", "45 m operations per block of m rows, against 24 m with diagonal pivoting.", spike_operations),
    Experiment("Table 1", "The machines of the paper: a GeForce GTX 580, a Tesla C2075 and others.",
               lambda lab, page: "This machine: %s." % lab.device),
    Experiment("Table A.1", "The collection of 21 matrices and their condition numbers.", spike_matrices),
    Experiment("Table 2", "Errors of four solvers on the 21 matrices, n = 4096.", spike_table_2),
    Experiment("Figure 7", "Runtimes on #1, which needs pivoting, and on #18, which does not.", spike_lengths((1, 18))),
    Experiment("Figure 8", "Runtimes on #1, #4, #17 and #21: g-Spike's do not depend on the matrix.", spike_lengths((1, 4, 17, 21))),
    Experiment("Table 3", "Forward errors with singular blocks in #18.",
               lambda lab, page: spike_blocks(lab, page, "block18", TABLE_3, "Figure 9: singular blocks in #18")),
    Experiment("Figure 9", "A plot of Table 3.", explained("The picture under Table 3 is this figure.")),
    Experiment("Table 4", "Forward errors with singular blocks in #1: copies of one block.",
               lambda lab, page: spike_blocks(lab, page, "copy1", TABLE_4, "Figure 10: singular blocks in #1")),
    Experiment("Figure 10", "A plot of Table 4.", explained("The picture under Table 4 is this figure.")),
    Experiment("Table 5", "Blocks whose near singularity g-Spike does not detect.", spike_table_5),
    Experiment("Figure C1", "The reduced system as extracted.", explained("gspike_join() writes its rows, two per block.")),
    Experiment("Figure C2", "Ways of partitioning the reduced system.",
               explained("(c) is used: (a) leaves ill-conditioned blocks if spikes are near 1, (b) loses two ranks if they are small.")),
]


# ---- the P-scheme ----

def scheme_one_core(lab, page):
    sizes = "+".join("2^%d" % e for e in range(10, lab.size(11, 18, 20) + 1, lab.size(1, 2, 1)))
    file = lab.bench("one-core", "recur:serial+pscheme:cpu:f32:n=%s,form=moebius" % sizes,
                     "recur:serial+pscheme:cpu:f32:n=%s,constant=both" % sizes, repeat=lab.size(1, 3, 10),
                     options=("--threads", "1"))
    figures.write_one_core(page, file.device, file.rows)
    serial, scheme = (figures.one_core(file.rows, method, "moebius") for method in ("serial", "pscheme"))
    n = max(scheme)
    return "On one core the P-scheme takes %.1f times as long as substitution for the nonlinear recurrence; the paper: about " \
           "twice." % (scheme[n] / serial[n])


def scheme_rearrangement(lab, page):
    order = [j * 3 + i for i in range(3) for j in range(3)]
    grid(page, ("place", *range(9)), [("row of the array", *range(9)), ("after the rearrangement", *order)])
    return "Nine rows in three parts: row i of part j is at place 3 i + j, as in the paper; variant `rearranged`."


def scheme_rows(lab, n, phases=False):
    """Rows of this machine, and where that has no GPU those of a kept run too."""
    groups, threads = ("4", "16+64") if lab.size_of_run == 0 else ("4+32", "16+32+64+128+256+512" if lab.has_gpu else "16+64+256")
    problem = "recur:pscheme:%s:f32:n=%d,constant=both,groups=%s,threads=%s,variant=all" % (lab.backend, n, groups, threads)
    if phases:
        problem += ",phase=precomputation+propagation+determination"
    own = lab.bench("%s-%d" % ("phases" if phases else "scheme", n), problem, repeat=lab.size(1, 2, 10))
    return own, [] if lab.has_gpu else lab.kept("recur-phases.json" if phases else "recur-pscheme.json")


def scheme_phases(exponent):
    def show(lab, page):
        n = 1 << min(exponent, lab.size(10, 20, 20))
        own, kept = scheme_rows(lab, n, phases=True)
        figures.write_phases(page, own.device, own.rows, n)
        for file in kept:
            kept_note(page, [file])
            figures.write_phases(page, file.device, file.rows, 1 << exponent)
        at = (64, 4)
        upto = {v: figures.scheme_of(own.rows, n, v, "precomputation").get(at, math.nan) for v in ("stored", "stored-rearranged")}
        return "Pre-computation at G = 4, T = 64 with stored auxiliary arrays: %.3g ms, rearranged %.3g ms (paper: 1.18 and 0.59 ms " \
               "at N = 2^18). %s" % (1e3 * upto["stored"], 1e3 * upto["stored-rearranged"], "A GPU coalesces; a CPU reads a new "
                                     "line of cache for each row instead." if not lab.has_gpu else "")
    return show


def scheme_speedups(exponent, fit=False):
    def show(lab, page):
        n = 1 << min(exponent, lab.size(10, 20, 20))
        own, kept = scheme_rows(lab, n)
        serial = lab.bench("serial-%d" % n, "recur:serial:cpu:f32:n=%d,constant=both" % n, repeat=3, options=("--threads", "1"))
        everywhere = own.rows + serial.rows
        sources = [(own.device, own.rows, everywhere, n)]
        if kept:
            files = kept + lab.kept("recur-serial.json", "recur-pcr.json")
            kept_note(page, files)
            rows = [row for file in kept + lab.kept("recur-pcr.json") for row in file.rows]
            sources.append((kept[0].device, rows, [row for file in files for row in file.rows], 1 << exponent))
        for device, rows, all_rows, size in sources:
            page.add("", "### " + device)
            figures.write_size(page, device, rows, all_rows, size)
        device, rows, all_rows, size = sources[-1]
        scheme = figures.scheme_of(rows, size, "rearranged")
        best = min(scheme, key=scheme.get)
        plain = figures.fastest(all_rows, "serial", size, one_core=True)
        if fit:
            return "Fastest on %s: G = %.0f, T = %.0f, P = %.0f; sqrt(N / 2) = %.0f. The paper: G as large as possible first, then " \
                   "T." % (device, best[1], best[0], best[0] * best[1], math.sqrt(size / 2))
        return "On %s the largest speedup over one core is %.1f, at G = %.0f and T = %.0f, P = %.0f; sqrt(N / 2) = %.0f." % (
            device, plain / scheme[best], best[1], best[0], best[0] * best[1], math.sqrt(size / 2))
    return show


def scheme_pcr(lab, page):
    rows, verdict = [], []
    for n in (1 << lab.size(10, 18, 18), 1 << lab.size(11, 20, 20)):
        file = lab.bench("pcr-%d" % n, "recur:pscheme+pcr+lookback:%s:f32:n=%d,constant=both" % (lab.backend, n),
                         repeat=lab.size(1, 3, 10))
        times = {row.solver: 1e3 * row.number("median_s") for row in file.rows if row.ours}
        rows.append((n, *(("%.4g", times.get(name, math.nan)) for name in ("pscheme/blocked", "pcr", "lookback"))))
        verdict.append(times["pcr"] / times["pscheme/blocked"])
    grid(page, ("N", "`pscheme`, ms", "`pcr`, ms", "`lookback`, ms"), rows)
    return "The P-scheme is %.1f and %.1f times as fast as cyclic reduction here, for the reason the paper gives: N against N log N " \
           "operations." % tuple(verdict)


PSCHEME = [
    Experiment("Equations (4) to (13)", "The recurrences p, q and x; beta, gamma and delta carry p over several rows.",
               explained("`tridiag` has `pscheme` with these equations (variant `printed`) and with products of matrices, which do "
                         "not break down where gamma is 0.")),
    Experiment("Figure 1", "Substitution against the P-scheme on one core, the nonlinear recurrence of p.", scheme_one_core),
    Experiment("Figure 2", "The rearrangement of an array of 9 rows in 3 parts.", scheme_rearrangement),
    Experiment("Figure 3", "Times of the three phases, N = 2^18, with and without the rearrangement.", scheme_phases(18)),
    Experiment("Figure 4", "Speedups over one core, N = 2^18.", scheme_speedups(18)),
    Experiment("Figure 5", "Times of the three phases, N = 2^20.", scheme_phases(20)),
    Experiment("Figure 6", "Speedups over one core, N = 2^20.", scheme_speedups(20)),
    Experiment("Figure 7", "Against parallel cyclic reduction.", scheme_pcr),
    Experiment("Figure 8", "Speedups against T for each G, and the best P of equation (18).", scheme_speedups(18, fit=True)),
    Experiment("Section V.F: policy", "G should be as large as possible first, then T is chosen.",
               explained("`shoal_choose_parts` (core/parts.c) does this: as many groups as the hardware runs, then T for "
                         "P = sqrt(N / 2).")),
]


# ---- small symmetric systems ----

def small_conditions(lab, page):
    count = lab.size(20, 300, 1000)
    lab.run("gen", "smallsym", "regression", "--n", 30, "--count", count, "-o", "s", "-q")
    lab.run("eig", "small", "-A", "s-A.npy", "--rcond", "c.npy", "-w", "w.npy", "--force", "-q")
    values = sorted(1 / c for c in lab.numbers("c.npy"))
    lines(page, "Condition numbers of %d regression matrices" % count, "system", "condition number",
          [("", dict(enumerate((1 / c for c in lab.numbers("c.npy")), 1)))], y_from_zero=True)
    return "%d draws, n = 30, 300 paths: %.3g to %.3g, median %.3g; the paper's figure has about 1e6." % (
        count, values[0], values[-1], values[len(values) // 2])


def small_figure(wanted):
    """Figures 4 to 12: from this machine if it has the versions, else kept."""
    def show(lab, page):
        sizes = lab.size("4+8", "8+16+32+48+64", "4+8+12+16+20+24+28+32+36+40+44+48+52+56+60+64")
        volume = lab.size("2^12", "2^18", "2^27" if lab.has_gpu else "2^22")
        versions = {
            4: ["ldlt:cuda:f32:n=%s,bytes=%s,variant=team+simd+coop+hybrid"],
            5: ["ldlt:cuda:f32:n=%s,bytes=%s,variant=hybrid,team=1+2+4+8+12+16+24+32+48+64"],
            6: ["ldlt:cuda:f32:n=%s,bytes=%s,variant=team+hybrid"],
            9: ["hhpcr:cuda:f32:n=%s,bytes=%s,stage=pcr", "ldlt:cuda:f32:n=%s,bytes=%s,variant=hybrid"],
            10: ["hhpcr:cuda:f32:n=%s,bytes=%s,stage=reduce,variant=reflect+simd+coop",
                 "hhpcr:cuda:f32:n=%s,bytes=%s,variant=reflect+coop", "ldlt:cuda:f32:n=%s,bytes=%s,variant=team+hybrid"],
            12: ["eigdc:cuda:f32:n=%s,bytes=%s,pairs=tridiag", "hhpcr:cuda:f32:n=%s,bytes=%s,stage=reduce,variant=reflect+coop"],
        }[wanted]
        figure = next(f for f in figures.SMALLSYM if f[0] == wanted)
        if lab.has_gpu:
            file = lab.bench("figure-%d" % wanted, *("smallsym:" + v % (sizes, volume) for v in versions), repeat=5)
            files, device, rows = [file], file.device, file.rows
        else:
            files = [file for file in lab.kept() if any(row.text("module") == "smallsym" for row in file.rows)]
            device, rows = files[0].device, [row for file in files for row in file.rows]
            kept_note(page, files)
        figures.write_smallsym_figure(page, device, rows, figure)
        return SMALL_VERDICTS[wanted](figure[6](rows))
    return show


def at_sizes(found, name):
    return next((points for line, points, _ in found if line == name), {})


SMALL_VERDICTS = {
    4: lambda found: "Speedup of `hybrid` at n = 64: %.1f (paper: above 14). Unlike the paper's GeForce 970, no drop at n = 40: that "
                     "is its rule for n*, not the algorithm." % at_sizes(found, "hybrid").get(64, math.nan),
    5: lambda found: "n* / n on average: %.2f. The paper's two regimes (1/2 below n = 40, then 1) are those of a GeForce 970." % (
        sum(t / n for n, t in at_sizes(found, "n*").items()) / max(len(at_sizes(found, "n*")), 1)),
    6: lambda found: "From n = 32 to 64 the systems per second fall by %.1f; n^3 predicts 8." % (
        at_sizes(found, "hybrid").get(32, math.nan) / at_sizes(found, "hybrid").get(64, math.nan)),
    9: lambda found: "At n = 32, PCR with two products runs %.1f times as often per second as a solve by LDLt." % (
        at_sizes(found, "PCR, two products").get(32, math.nan) / at_sizes(found, "ldlt hybrid").get(32, math.nan)),
    10: lambda found: "Householder with PCR takes %.1f times as long as LDLt at n = 64 (paper: about 5)." % (
        at_sizes(found, "hhpcr coop / ldlt hybrid").get(64, math.nan)),
    12: lambda found: "At n = 64 divide and conquer takes %.1f times as long as the paper's reduction and %.1f times as long as our faster "
                      "one (paper: at most 3)." % (at_sizes(found, "over coop").get(64, math.nan),
                                                   at_sizes(found, "over our fastest").get(64, math.nan)),
}


def small_rule(lab, page):
    rows = []
    for kind in ("regression", "spd", "indefinite", "singular", "hilbert"):
        lab.run("gen", "smallsym", kind, "--n", 30, "--count", lab.size(14, 1000, 1000), "--type", "f32", "-o", "s", "-q")
        for rule in ("residue", "condition"):
            found = lab.ask("solve", "small", "-A", "s-A.npy", "-b", "s-b.npy", "-x", "x.npy", "--variant", "hhpcr", "--rule", rule,
                            "--force")
            rows.append((kind, rule, "%.0f" % found.number("redone"), "%.0f" % found.number("warned"),
                         ("%.1e", found.number("max_residual"))))
    grid(page, ("kind", "rule", "redone", "warned", "largest residual"), rows)
    return "On the matrices of Figure 2 the residue alone redoes %s systems, although their condition is 1e6: a small residual says " \
           "nothing of the eigenvalues that the paper discards. The condition number, our rule, redoes %s." % (rows[0][2], rows[1][2])


def small_cva(lab, page):
    for name, text in (("put.csv", "style,payoff,assets,strike,maturity\namerican,put,A,40,1\n"),
                       ("put-market.csv", "asset,spot,volatility,dividend,A\nA,36,0.2,0,1\n")):
        with open(lab.path(name), "w", encoding="utf-8") as file:
            file.write(text)
    common = ("cva", "put.csv", "--market", "put-market.csv", "--rate", "0.06", "--dates", 10)
    rows = []
    for name, options in (("rule", ("--outer", lab.size(64, 2048, 65536), "--inner", 96)),
                          ("inner", ("--estimator", "inner", "--outer", lab.size(8, 64, 1024), "--inner", 96))):
        found = lab.ask(*common, *options)
        rows.append((name, ("%.5f", found.number("cva")), ("%.5f", found.number("stderr"))))
    grid(page, ("exercise rule", "CVA of an American put, 10 dates", "standard error"), rows)
    return "Reference 0.04254: off by %.1f standard errors." % (abs(rows[0][1][1] - 0.04254) / rows[0][2][1])


SMALLSYM = [
    Experiment("Section 2: CVA", "CVA of American options by nested simulation, regressions on inner paths.", small_cva),
    Experiment("Figure 1", "A two-stage simulation: outer paths, and inner paths from each date.",
               explained("`shoal cva --outer M --inner M1,M2,..`: inner paths per date; docs/cva.md.")),
    Experiment("Figure 2", "Condition numbers of 1000 regression matrices.", small_conditions),
    Experiment("Figure 3", "The parallel LDLt of a column.", explained("src/smallsym/paper/ldlt.cu: columns one after another in shared memory.")),
    Experiment("Figure 4", "Speedup of the collaborative and the hybrid LDLt over one thread per system.", small_figure(4)),
    Experiment("Figure 5", "The best number of threads n*.", small_figure(5)),
    Experiment("Figure 6", "Systems per second.", small_figure(6)),
    Experiment("Figure 7", "Cyclic reduction for 8 unknowns.", explained("`tridiag` method `cr`.")),
    Experiment("Figure 8", "Parallel cyclic reduction by permutation.", explained("`tridiag` method `pcr`, variant `permute`; `hhpcr`.")),
    Experiment("Figure 9", "PCR and two products per second.", small_figure(9)),
    Experiment("Figure 10", "Ratios of times of Householder's reduction.", small_figure(10)),
    Experiment("Figure 11", "The division scheme of divide and conquer.",
               explained("src/smallsym/conquer.h: split at a zero, else at n / 2, down to blocks of 1 and 2 rows.")),
    Experiment("Figure 12", "Divide and conquer over Householder's reduction.", small_figure(12)),
    Experiment("Section 6: strategy", "Householder with PCR for all; where the residue is large, divide and conquer.", small_rule),
]


# ---- symmetric indefinite factorization ----

def factored(lab, *options):
    return lab.ask("factor", "a.npy", "-o", "f.npy", "--force", *options)


FACTOR_HEADINGS = ("matrix", "1x1, 2x2 pivots", "swaps", "growth", "its bound", "relative error", "bound (2.5)", "cond. of D", "comparisons")


def factor_row(name, found):
    return (name, "%.0f, %.0f" % (found.number("pivots_1x1"), found.number("pivots_2x2")),
            "%.0f, %.0f" % (found.number("swaps_1x1"), found.number("swaps_2x2")), ("%.3g", found.number("growth")),
            ("%.1e", found.number("growth_bound")), ("%.2e", found.number("relative_error")), ("%.1e", found.number("error_bound")),
            ("%.3g", found.number("block_cond")), "%.3g" % found.number("comparisons"))


def factor_data(kind, n, paper):
    def show(lab, page):
        order = lab.size(64, n, n)
        lab.run("gen", "symindef", kind, "--n", order, "-o", "a.npy", "--force", "-q")
        found = factored(lab, "--growth", "g.svg")
        grid(page, FACTOR_HEADINGS, [factor_row("%s, n = %d" % (kind, order), found)])
        page.drawing(lab.path("g.svg"))
        return "%s Ours: %.0f and %.0f pivots, error %.2e." % (paper, found.number("pivots_1x1"), found.number("pivots_2x2"),
                                                              found.number("relative_error"))
    return show


def factor_strategies(lab, page):
    n = lab.size(64, 400, 1000)
    lab.run("gen", "symindef", "equidistant", "--n", n, "-o", "a.npy", "--force", "-q")
    found = {way: factored(lab, "--pivot", way, "--growth", "g.svg") for way in ("complete", "partial", "rook")}
    grid(page, ("strategy",) + FACTOR_HEADINGS[1:], [factor_row(way, row) for way, row in found.items()])
    return "Comparisons: %.2f n^3/6 by complete, %.2f n^2 by partial and %.2f n^2 by rook pivoting, as section 1.2 counts." % (
        found["complete"].number("comparisons") / (n ** 3 / 6), found["partial"].number("comparisons") / n ** 2,
        found["rook"].number("comparisons") / n ** 2)


def factor_sizes(lab, page):
    here = lab.study("symindef", "--part", "sizes", "--n", str(lab.size(60, 400, 1000)), "--backend", "cpu")
    files = [here] + ([lab.study("symindef", "--part", "sizes", "--n", "10000", "--backend", "cuda")] if lab.has_gpu
                      else lab.kept("symindef-sizes-cpu.json", "symindef-study.json"))
    found = {}
    for file in files:
        for row in file.rows:
            if row.text("part") == "sizes":
                own = found.setdefault((row.text("backend") + ", " + file.device, row.number("n")), [])
                own.append(row)
    devices = list(dict.fromkeys(device for device, _ in found))

    def points(device, key, best=min):
        return {n: best(row.number(key) for row in rows) for (d, n), rows in found.items() if d == device}
    times = {device: points(device, "median_s") for device in devices}
    quad = {n: max(row.number("quad_gjgt_error") for row in rows) for (_, n), rows in found.items()
            if any(row.number("quad_gjgt_error") > 0 for row in rows)}
    grid(page, ("device", "n", "seconds", "largest error, M D Mt", "largest error, G J Gt", "G J Gt in 128 bits"),
         [(d, "%.0f" % n, ("%.4g", times[d][n]), ("%.1e", points(d, "relative_error", max)[n]), ("%.1e", points(d, "gjgt_error", max)[n]),
           ("%.1e", quad.get(n, math.nan) if d == devices[0] else math.nan)) for d, n in found])
    lines(page, "Figure 3.7: time of the factorization", "n", "seconds", list(times.items()), x_scale="log2", y_scale="log10")
    lines(page, "Figure 3.8: relative error, three matrices per order", "n", "relative error",
          [(d, points(d, "relative_error", max)) for d in devices], y_scale="log10")
    lines(page, "Figure 3.22: error of G J Gt", "n", "relative error",
          [(d, points(d, "gjgt_error", max)) for d in devices] + [("128 bits", quad)], y_scale="log10")
    host = devices[1 if len(devices) > 2 else 0]  # that of the GPU's machine, where there is one
    both = sorted(set(times[host]) & set(times[devices[-1]])) if len(devices) > 1 else []
    worst = max(max(points(d, "relative_error", max).values()) for d in devices)
    speedup = "; speedup of the GPU at n = %.0f: %.1f" % (both[-1], times[host][both[-1]] / times[devices[-1]][both[-1]]) if both else ""
    return "Largest error of all orders %.1e (Table 3.1 of the thesis: 1.7e-14 to 7.4e-14 at n = 3000)%s." % (worst, speedup)


def factor_alpha(lab, page):
    import studies
    file = lab.study("symindef", "--part", "alpha", "--n", str(lab.size(60, 300, 3000)))
    rows, paper = file.rows, studies.TABLE_3_1[0]
    kept = [row for f in lab.kept("symindef-study.json") for row in f.rows
            if row.text("part") == "alpha" and row.text("matrix").startswith("astro")]
    grid(page, ("alpha", "paper, n = 3000", "ours, n = %.0f" % rows[0].number("n"), "paper, astro-ph", "kept, astro-ph, H200"),
         [("%.4g" % row.number("alpha"), ("%.2e", paper[2][i]), ("%.2e", row.number("relative_error")),
           ("%.2e", studies.TABLE_3_1[1][2][i]), ("%.2e", kept[i].number("relative_error") if i < len(kept) else math.nan))
          for i, row in enumerate(rows)])
    page.paragraph("The errors of astro-ph are taken over %.0f of 16706 rows." % (kept[0].number("rows_checked") if kept else 0))
    errors = [row.number("relative_error") for row in rows]
    return "The error hardly depends on alpha from 0.01 to 0.85 and is %.1f times the smallest at 0.99; in the thesis %.1f times." % (
        errors[-1] / min(errors), paper[2][-1] / min(paper[2]))


def factor_hilbert(lab, page):
    n = lab.size(100, 600, 2000)
    lab.run("gen", "symindef", "hilbert", "--n", n, "-o", "a.npy", "--force", "-q")
    found = factored(lab, *(("--tol", "%.17g" % (2.220446e-16 * n)) if n != 2000 else ()))
    return "n = %d: rank %.0f (thesis, n = 2000: 30; MATLAB 25)." % (n, found.number("rank"))


def factor_hadamard_pictures(lab, page):
    n = lab.size(16, 256, 1024)
    lab.run("gen", "symindef", "hadamard", "--n", n, "-o", "a.npy", "--force", "-q")
    lab.run("factor", "a.npy", "--snapshots", "stages-%d" % n, "--stages", "1,%d,%d" % (n // 2, n - 1), "--force", "-q")
    return "Three pictures of the lower triangle are in the folder of this page, stages-%d." % n


def factor_sparse(name, text):
    return explained("The matrix %s is not part of Shoal; `shoal factor FILE.mtx --growth g.svg` repeats the figure." % name, text)


SYMINDEF = [
    Experiment("Figures 1.1 to 1.4", "The forms of M and D, and the pivots of three strategies.",
               explained("docs/symindef.md; src/symindef/search.h has Algorithms 3 and 4, complete.c Algorithm 2.")),
    Experiment("Section 1.2: strategies", "Comparisons, multipliers and blocks of D by strategy.", factor_strategies),
    Experiment("Figures 3.1 to 3.3", "GPU and CPU; the vector of interchanges; the exchange of rows and columns.",
               explained("`shoal_symindef_order()` returns the interchanges; bench/peers_thesis.cu is the thesis's own loop.")),
    Experiment("Figures 3.4 to 3.6", "The profiler's timeline and counters of the thesis's kernels.",
               explained("Not repeated: these are pictures of Nvidia's profiler on a Fermi GPU. Run `nsys` or `ncu` on `shoal bench`.")),
    Experiment("Figure 3.7", "Time of the sequential and the parallel factorization, and the speedup.", factor_sizes),
    Experiment("Figure 3.8", "Relative errors, three matrices per order.", explained("The second picture under Figure 3.7 is this figure.")),
    Experiment("Figures 3.9 to 3.11", "The Hadamard matrix.", factor_data("hadamard", 1024, "Thesis: 1024 pivots of order 1, none of order 2, error 0.")),
    Experiment("Figures 3.12 to 3.14", "The Clement matrix.", factor_data("clement", 1024, "Thesis: 0 and 512 pivots, error 6.14e-16.")),
    Experiment("Figure 3.15", "Pictures of the Hadamard matrix during the factorization.", factor_hadamard_pictures),
    Experiment("Figures 3.16, 3.17", "The matrix alemdar.", factor_sparse("alemdar", "Not measured here: the file is not available offline.")),
    Experiment("Figures 3.18, 3.19", "The matrix human_gene1.", factor_sparse("human_gene1", "Not measured here: the file is not available offline.")),
    Experiment("Figures 3.20, 3.21", "The matrix astro-ph.", factor_sparse(
        "astro-ph", "Kept from an H200: 7004 and 4332 pivots, error 3.01e-15 (thesis 7006, 4331, 2.98e-15).")),
    Experiment("Section 3.3: rank", "The Hilbert matrix of order 2000 has numerical rank 30.", factor_hilbert),
    Experiment("Table 3.1", "Errors for nine values of alpha.", factor_alpha),
    Experiment("Figure 3.22", "Errors of G J Gt beside a 128-bit Fortran routine.",
               explained("The third picture under Figure 3.7, with a factorization in 128 bits up to n = 200 (bench/symindef_quad.c): its errors are "
                         "about 1e-33 there. Those of double are 2^60 times as large, which is the difference of the precisions.")),
]


# ---- the course's projects ----

def euler_price(lab, page):
    rows = [("reference: formula", "", ("%.6f", lab.ask("price", "heston", "--method", "analytic").number("price")), "")]
    for scheme in ("log", "s"):
        for g in ("plus", "abs"):
            found = lab.ask("price", "heston", "--method", "euler", "--scheme", scheme, "--g", g, "--paths", lab.size(2000, 65536, 1 << 20),
                            "--steps", lab.size(50, 1000, 1000))
            rows.append(("Euler in %s" % {"log": "log S", "s": "S, equation (4)"}[scheme], g, ("%.5f", found.number("price")),
                         ("%.5f", found.number("stderr"))))
    grid(page, ("method", "g", "E[(S_1 - 1)+]", "standard error"), rows)
    off = max(abs(row[2][1] - rows[0][2][1]) / row[3][1] for row in rows[1:])
    return "kappa = 0.5, theta = 0.1, sigma = 0.3: at most %.1f standard errors from the formula." % off


def gamma_law(lab, page):
    rows = []
    for alpha in (0.3, 1, 3.7):
        lab.run("gen", "rng", "gamma", "--alpha", alpha, "--count", lab.size(10000, 200000, 1 << 20), "-o", "z.npy", "--force", "-q")
        z = lab.numbers("z.npy")
        mean = math.fsum(z) / len(z)
        rows.append((alpha, ("%.4f", mean), ("%.4f", math.fsum((v - mean) ** 2 for v in z) / len(z))))
    grid(page, ("alpha", "mean", "variance"), rows)
    return "Mean and variance are alpha in theory; the largest deviation is %.1f %%." % (
        100 * max(abs(row[1][1] / row[0] - 1) for row in rows))


def heston_times(lab, page):
    results = []
    for exact in (lab.size(8, 100, 1000), 0):
        found = lab.ask("price", "heston", "--compare", "--paths", lab.size(64, 1024, 65536), "--steps", lab.size(16, 100, 1000),
                        *(("--exact-steps", exact) if exact else ()))
        results.append(found.items_of("compare"))
    same, few = results
    ratio = sorted(row.number("exact_seconds") / row.number("euler_seconds") for row in same)
    equal = sorted(row.number("euler_seconds") / row.number("exact_seconds_to_equal") for row in few)
    grid(page, ("kappa", "theta", "sigma", "Euler, s", "exact, as many steps, s", "exact, 8 kappa T steps, s"),
         [(row.number("kappa"), row.number("theta"), row.number("sigma"), ("%.3g", row.number("euler_seconds")),
           ("%.3g", row.number("exact_seconds")), ("%.3g", other.number("exact_seconds"))) for row, other in list(zip(same, few))[::5]])
    return "With as many steps as Euler, exact steps take %.1f times as long (median of %d sets). With 8 kappa T steps they reach Euler's " \
           "error %.1f times as fast." % (ratio[len(ratio) // 2], len(ratio), equal[len(equal) // 2])


def expou_price(lab, page):
    rows = []
    for name, options in (("Euler in S, equation (6)", ("--method", "euler", "--scheme", "s")), ("Euler in log S", ("--method", "euler")),
                          ("conditional", ("--method", "conditional"))):
        found = lab.ask("price", "expou", *options, "--paths", lab.size(2000, 65536, 1 << 20), "--steps", lab.size(50, 1000, 1000))
        rows.append((name, ("%.5f", found.number("price")), ("%.5f", found.number("stderr"))))
    grid(page, ("method", "E[(S_1 - 1)+]", "standard error"), rows)
    return "alpha = 1, m = beta = 0.1: Euler in S is %.1f standard errors from the reference 0.113407." % (
        abs(rows[0][1][1] - 0.1134067) / rows[0][2][1])


def expou_dataset(lab, page):
    lab.run("dataset", "expou", "--samples", lab.size(4, 100, 4000), "--parametrisation", "printed", "--target-se", lab.size("1e-2", "1e-3", "5e-5"),
            "-o", "train.csv", "--force", "-q")
    with open(lab.path("train.csv"), encoding="utf-8") as file:
        text = file.read().splitlines()
    page.raw("<pre>%s</pre>" % "\n".join(line[:110] for line in text[:4]))
    return "%d rows with the sheet's beta = sqrt(2 alpha nu2) (1 - e^m), in one run parallel over parameters." % (len(text) - 1)


def expou_network(lab, page):
    lab.run("dataset", "expou", "--samples", lab.size(64, 300, 4000), "--target-se", "1e-2", "-o", "set.csv", "--seed", 2, "--force", "-q")
    lab.run("train", "set.csv", "-o", "m.net", "--epochs", lab.size(1, 10, 200), "--force", "-q")
    found = lab.ask("predict", "m.net", "set.csv", "-o", "p.csv", "--force")
    return "Trained on %d rows; inference took %.3g s." % (lab.size(64, 300, 4000), found.number("seconds"))


def bullet_vanilla(lab, page):
    found = lab.ask("price", "bullet", "--p1", 0, "--p2", 0, "--barrier", 0, "--paths", lab.size(20000, 1 << 18, 1 << 20))
    return "P1 = P2 = B = 0: %.3f +- %.3f; formula (8): 13.2697." % (found.number("price"), found.number("stderr"))


def bullet_price(lab, page):
    mc = lab.ask("price", "bullet", "--paths", lab.size(20000, 1 << 18, 1 << 20))
    quad = lab.ask("price", "bullet", "--method", "quad")
    return "F(0, 100, 0) = %.4f +- %.4f by Monte Carlo, %.6f by quadrature." % (mc.number("price"), mc.number("stderr"), quad.number("price"))


def bullet_strategies(lab, page):
    found = lab.ask("price", "bullet", "--compare", "--paths", lab.size(64, 1024, 16384), "--outer", lab.size(1, 4, 16),
                    "--dates", lab.size(10, 100, 100), "--p1", lab.size(1, 10, 10), "--p2", lab.size(5, 50, 50))
    rows = found.items_of("compare")
    grid(page, ("strategy", "points with j <= P2", "paths", "seconds", "rms error"),
         [("nested" if row.number("nested") else "grid", "%.0f" % row.number("points"), "%.0f" % row.number("paths"),
           ("%.3g", row.number("seconds")), ("%.3g", row.number("rms_error"))) for row in rows])
    last = {row.number("nested"): row for row in rows}
    errors = [last[k].number("rms_error") for k in (0, 1)]
    return "With as many paths per point the rms error is %.3g by grid and %.3g by nested, over different points with j <= min(k, P2), as the " \
           "sheet asks; nested takes %.1f times as long. docs/pricing.md has 866 points, where the errors are equal." % (
               *errors, last[1].number("seconds") / last[0].number("seconds"))


def merge_example(lab, page):
    from struct import pack
    for name, keys in (("a.npy", (1, 2, 5, 6, 6, 9, 11, 15, 16)), ("b.npy", (4, 7, 8, 10, 12, 13, 14))):
        head = "{'descr': '<i4', 'fortran_order': False, 'shape': (%d,), }" % len(keys)
        head += " " * (117 - len(head)) + "\n"
        with open(lab.path(name), "wb") as file:
            file.write(b"\x93NUMPY\x01\x00" + pack("<H", len(head)) + head.encode() + pack("<%di" % len(keys), *keys))
    lab.run("merge", "a.npy", "b.npy", "-o", "m.npy", "--path", "path.svg", "--force", "-q")
    page.drawing(lab.path("path.svg"))
    return "Merged: %s." % ", ".join(map(str, lab.numbers("m.npy")))


def bench_grid(name, problems, sizes, about):
    """Times of one module of the bench against a size."""
    def show(lab, page):
        file = lab.bench(name, *(problem % (lab.backend, lab.size(*sizes)) for problem in problems), repeat=lab.size(1, 3, 10))
        found = {}
        for row in file.rows:
            if row.ours:
                found.setdefault(row.solver, {})[row.number("n")] = 1e3 * row.number("median_s")
        every = sorted({n for own in found.values() for n in own})
        grid(page, ("d", *("`%s`, ms" % solver for solver in found)),
             [("%.0f" % n, *(("%.4g", own.get(n, math.nan)) for own in found.values())) for n in every])
        lines(page, name, "d", "milliseconds", list(found.items()), x_scale="log2", y_scale="log10")
        best = min(found, key=lambda solver: found[solver].get(every[-1], math.inf))
        return "%s At d = %.0f `%s` is fastest." % (about, every[-1], best)
    return show


def pde_price(lab, page):
    rows, exact = [], 4.824199943
    for options in ((), ("--as-printed",)):
        for solver in ("pcr", "thomas"):
            found = lab.ask("price", "bullet", "--method", "pde", "--solver", solver, "--nx", lab.size(65, 257, 1025), *options)
            rows.append(("as printed" if options else "corrected", solver, ("%.6f", found.number("price")),
                         ("%.1e", abs(found.number("price") - exact))))
    grid(page, ("scheme", "solver", "F(0, 100, 0)", "error"), rows)
    return "The scheme as printed is off by %s, ours by %s: the upper boundary 2 K and the sharp jump cost most." % (
        number(*rows[2][3]), number(*rows[0][3]))


def pde_last(lab, page):
    found = lab.ask("price", "bullet", "--method", "pde", "--last", 1, "--count", "E", "--nx", lab.size(65, 257, 1025))
    return "On [T_M, T) with j = P1 the value at x = 100 is %.5f." % found.number("price")


KEYS = ("2^14", "2^20", "2^26")
COURSE = [
    Experiment("Project 1, question 1", "E[(S_1 - 1)+] in Heston's model by Euler's scheme, dt = 1/1000.", euler_price),
    Experiment("Project 1, question 2", "The gamma law for alpha >= 1 and alpha < 1.", gamma_law),
    Experiment("Project 1, question 3", "Times of Euler and of exact simulation over kappa, theta, sigma.", heston_times),
    Experiment("Project 2, question 1", "The price in the exponential OU model by Euler's scheme.", expou_price),
    Experiment("Project 2, question 2", "Many combinations of parameters, beta = sqrt(2 alpha nu2) (1 - e^m).", expou_dataset),
    Experiment("Project 2, question 3", "Train a network and time its inference.", expou_network),
    Experiment("Project 3, check", "With P1 = P2 = B = 0 the bullet option is a call.", bullet_vanilla),
    Experiment("Project 3, question 1", "F(0, x0, 0) for B = 120, M = 100, P1 = 10, P2 = 50.", bullet_price),
    Experiment("Project 3, question 2", "An array of values F(T_k, x, j).", explained(
        "`shoal price bullet --method grid --lattice K,X,J` or `--at FILE`; the table of question 3 prices such an array.")),
    Experiment("Project 3, question 3", "Outer trajectories first, then inner simulations; compare both.", bullet_strategies),
    Experiment("Project 4, Figure 1", "The merge path of an example.", merge_example),
    Experiment("Project 4, question 1", "Merge up to 1024 keys in one block.", explained(
        "`mergepath` variant `small`; question 3 has its times.")),
    Experiment("Project 4, question 2", "Merge large arrays by partitioning.", explained(
        "`mergepath` variant `tiled`; docs/sort.md has the errors of Algorithm 2 as printed.")),
    Experiment("Project 4, question 3", "Time against d, partition against idx.", bench_grid(
        "merge", ["sort:mergepath:%s:u32:n=%s,variant=all"], ("2^10", "1024+2^14+2^18", "1024+2^16+2^20+2^24"), "")),
    Experiment("Project 5, question 1", "As project 4, question 1.", explained("See there.")),
    Experiment("Project 5, question 2", "mergeSmallBatch_k: time against d; at most 32 threads per merge.", bench_grid(
        "batch merge", ["sort:batchmerge:%s:u32:n=16+64+256+1024,keys=%s,variant=all"], KEYS, "")),
    Experiment("Project 5, question 3", "sortSmallBatch_k: time against d.", bench_grid(
        "batch sort", ["sort:batchsort:%s:u32:n=16+64+256+1024,keys=%s,variant=all"], KEYS, "")),
    Experiment("Project 6, question 1", "Thomas against PCR, d <= 1024.", bench_grid(
        "Thomas and PCR", ["tridiag:thomas+pcr:%s:f32:n=32+128+512+1024,rows=%s"], KEYS, "")),
    Experiment("Project 6, question 2", "The PDE on [T_M, T).", pde_last),
    Experiment("Project 6, question 3", "The PDE over all dates, by Thomas or PCR.", pde_price),
    Experiment("Project 6, Figure 2", "The backward scheme for M = 10, P1 = 3, P2 = 8.", explained(
        "docs/img/price-bullet-surface.svg: `shoal price bullet --method pde --dates 10 --p1 3 --p2 8 --plot F.svg`.")),
]

PAPERS = {  # title, about, rows
    "gspike": ("A direct tridiagonal solver based on Givens rotations for GPU architectures", """I. E. Venetis, A. Kouris, A. Sobczyk,
E. Gallopoulos and A. H. Sameh, Parallel Computing, 2015. The method is `gspike`.""", GSPIKE),
    "pscheme": ("Recurrence equation solvers on GPGPU systems using rearrangement of array configurations", """A. Wakatani. The method is
`pscheme` of recurrences and of tridiagonal systems.""", PSCHEME),
    "smallsym": ("A large number of small random symmetric linear systems in single precision on GPUs", """L. A. Abbas-Turki and S. Graillat,
Journal of Supercomputing, 2017. The methods are `ldlt`, `hhpcr` and `eigdc`.""", SMALLSYM),
    "symindef": ("Parallelization of the symmetric indefinite factorization", """A. Kruchinina, diploma thesis, University of Zagreb, 2013. The
command is `shoal factor`.""", SYMINDEF),
    "course": ("Projects: merge sort, Monte Carlo and PDE simulations", """L. Abbas-Turki, course notes, December 2024: six projects, question by
question.""", COURSE),
}
