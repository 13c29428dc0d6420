# SPDX-License-Identifier: Apache-2.0
"""The figures of three papers from kept rows of `shoal bench`; bench/results/README.md tells how they are measured.

smallsym  L. A. Abbas-Turki and S. Graillat, "Resolution of a large number of small random symmetric linear systems in
          single precision arithmetic on GPUs" (2017): figures 2, 4, 5, 6, 9, 10, 12
recur     A. Wakatani, "Implementation and Evaluation of Recurrence Equation Solvers on GPGPU systems using
          Rearrangement of Array Configurations": figures 1 and 3 to 8
tridiag   I. E. Venetis, A. Kouris, A. Sobczyk, E. Gallopoulos and A. H. Sameh, "A direct tridiagonal solver based on
          Givens rotations for GPU architectures": figures 7 and 8, Table 2

A figure whose rows are missing is left out, and the page says so.
"""

import math
import operator

from results import by_device, cell, groups_of, image_name, read_folder, slug

# ---- small symmetric systems: solid lines are the paper's versions, dashed ones are ours, or a law ----


def fits(row, method, variant=None, stage="none", pairs="none", sized=False):
    """Ours in f32 of the kind spd, stored in full, one right-hand side, verified; whole solves unless said."""
    return (row.ours and row.passed and row.text("module") == "smallsym" and row.text("type") == "f32"
            and row.text("kind") == "spd" and row.text("storage") == "full" and row.text("layout") == "system"
            and row.number("nrhs") == 1 and row.number("refine") == 0 and row.number("outcome") == 0
            and not row.number("estimate") > 0 and not row.number("gram") > 0
            and row.text("method") == method and variant in (None, row.text("variant"))
            and row.text("stage", "none") == stage and row.text("pairs", "none") == pairs
            and (not sized or row.number("team") > 0) and row.number("systems_per_second") > 0)


def fastest_rows(rows, **source):
    """{n: row} of the fastest rows of a source; of equals the last."""
    best = {}
    for row in (row for row in rows if fits(row, **source)):
        n = row.number("n")
        if n not in best or row.number("systems_per_second") >= best[n].number("systems_per_second"):
            best[n] = row
    return dict(sorted(best.items()))


def rates(rows, method, variant=None, **source):
    found = fastest_rows(rows, method=method, variant=variant, **source)
    return {n: row.number("systems_per_second") for n, row in found.items()}


def ratio(above, below):
    return {n: value / below[n] for n, value in above.items() if n in below}


def versions_of_ldlt(rows):
    simd, team = rates(rows, "ldlt", "simd"), rates(rows, "ldlt", "team")
    lines = [(name, ratio(rates(rows, "ldlt", name), simd), False) for name in ("coop", "hybrid")]
    return lines + [("team, ours", ratio(team, simd) if any(points for _, points, _ in lines) else {}, True)]


def best_team(rows):
    """A team larger than n has n threads."""
    found = fastest_rows(rows, method="ldlt", variant="hybrid", sized=True)
    best = {n: min(row.number("team"), n) for n, row in found.items()}
    return [("n*", best, False), ("n", {n: n for n in best}, True), ("n / 2", {n: n / 2 for n in best}, True),
            ("n / 4", {n: n / 4 for n in best}, True)]


def systems_of_ldlt(rows):
    paper, ours = rates(rows, "ldlt", "hybrid"), rates(rows, "ldlt", "team")
    last = max(paper, default=0)
    law = {n: paper[last] * (last / n) ** 3 for n in paper}  # through the last point
    return [("hybrid", paper, False), ("team, ours", ours if paper else {}, True), ("n^-3", law, True)]


def systems_of_pcr(rows):
    pcr = rates(rows, "hhpcr", stage="pcr")
    return [("PCR, two products", pcr, False), ("ldlt hybrid", rates(rows, "ldlt", "hybrid") if pcr else {}, True)]


def ratios_of_householder(rows):
    alone, together = (rates(rows, "hhpcr", name, stage="reduce") for name in ("simd", "coop"))
    lines = [("simd / coop", ratio(together, alone), False),
             ("hhpcr coop / ldlt hybrid", ratio(rates(rows, "ldlt", "hybrid"), rates(rows, "hhpcr", "coop")), False)]
    ours = ratio(rates(rows, "ldlt", "team"), rates(rows, "hhpcr", "reflect"))
    return lines + [("reflect / team, ours", ours if any(points for _, points, _ in lines) else {}, True)]


def time_of_conquest(rows):
    conquest = rates(rows, "eigdc", pairs="tridiag")
    return [("over coop", ratio(rates(rows, "hhpcr", "coop", stage="reduce"), conquest), False),
            ("over our fastest", ratio(rates(rows, "hhpcr", stage="reduce"), conquest), True)]


SMALLSYM = [  # number, title, y label, scales, format, rows needed, lines
    (4, "LDLt: speedup over one thread per system", "time of simd / time", "linear", "%.2f",
     "`ldlt` in the variants `simd`, `coop` and `hybrid`", versions_of_ldlt),
    (5, "LDLt: the fastest team of variant hybrid", "threads per system", "linear", "%.0f",
     "`ldlt` in the variant `hybrid` with several values of `team`", best_team),
    (6, "LDLt: systems per second", "systems per second", "log", "%.3g", "`ldlt` in the variant `hybrid`",
     systems_of_ldlt),
    (9, "PCR and two products of a matrix and a vector", "systems per second", "log", "%.3g",
     "`hhpcr` with `stage=pcr`", systems_of_pcr),
    (10, "Householder: ratios of times", "ratio of times", "linear", "%.2f",
     "`hhpcr` with `stage=reduce` in the variants `simd` and `coop`", ratios_of_householder),
    (12, "Divide and conquer: time over that of Householder's reduction", "ratio of times", "linear", "%.2f",
     "`eigdc` with `pairs=tridiag` and `hhpcr` with `stage=reduce`", time_of_conquest),
]


def write_smallsym_figure(page, device, rows, figure):
    number, title, y_label, scale, template, needed, lines_of = figure
    page.add("", "### Figure %d" % number, "")
    lines = [line for line in lines_of(rows) if line[1]]
    if not lines:
        page.add("Left out: there are no rows of %s." % needed)
        return
    log = scale == "log"
    page.picture(title, "smallsym-figure-%d-%s.svg" % (number, slug(device)), "lines", {
        "title": "Figure %d. %s" % (number, title), "subtitle": device + ", f32; dashed: not in the paper",
        "x_label": "unknowns per system, n", "y_label": y_label, "x_scale": "log2" if log else "linear",
        "y_scale": "log10" if log else "linear", "y_from_zero": not log,
        "series": [{"name": name, "points": points, "dashed": dashed, "markers": not dashed}
                   for name, points, dashed in lines]})
    page.add("")
    page.table([("n", "---:", lambda n: "%.0f" % n)] +
               [(name, "---:", lambda n, points=points: cell(template, points.get(n, math.nan)))
                for name, points, _ in lines], lines[0][1])


def write_conditions(page, files):
    """Figure 2: condition numbers, system after system, of a study. They do not depend on the machine."""
    found = next((file.root.inner("conditions") for file in files if "conditions" in file.root), None)
    values = found.items_of("values") if found else []
    page.add("", "## Figure 2", "")
    if not values:
        page.add("Left out: there is no study (`shoal study smallsym`) among the files.")
        return
    least, most = min(values), max(values)
    page.picture("Condition numbers of regression matrices", "smallsym-figure-2.svg", "lines", {
        "title": "Figure 2. Condition numbers of regression matrices",
        "subtitle": "%s, n = %.0f, raw basis: %.3g to %.3g" % (found.text("kind"), found.number("n"), least, most),
        "x_label": "system", "y_label": "condition number", "y_from_zero": True,
        "series": [{"name": "", "points": dict(enumerate(values, 1)), "markers": False}]})
    page.add("", "%d systems: %.3g to %.3g." % (len(values), least, most))


def write_smallsym(page, folder):
    files = read_folder(folder)
    page.add("# The paper's figures")
    page.paragraph("""Figures 2, 4, 5, 6, 9, 10 and 12 of the small-systems paper, measured again in single precision
with the data in device memory. [smallsym.md](smallsym.md#the-papers-figures) explains each of them. Solid lines are
the paper's versions, measured on our machine. Dashed lines are our default method (`team`), or a power of n for
comparison. Of several measurements for one n the fastest counts. `make docs` generates this page from files of `shoal
bench --save`: no number is typed by hand.""")
    write_conditions(page, files)
    files = [file for file in files if any(row.text("module") == "smallsym" for row in file.rows)]
    for device, own, rows in by_device(files):
        page.add("", "## " + device, "")
        for file in own:
            page.add("- `%s`, measured %s" % (file.name, file.machine.text("date")))
        for figure in SMALLSYM:
            write_smallsym_figure(page, device, rows, figure)
    if not files:
        page.paragraph("The other figures are left out: no file has rows of `shoal bench`.")


# ---- recurrences: the P-scheme ----

PHASES = ("precomputation", "propagation", "determination")
VARIANTS = ("blocked", "rearranged")
STORED = ("stored", "stored-rearranged")  # with the paper's auxiliary arrays, in the same order
PAPER_MS = {  # section V.C, pre-computation at N = 2^18: rearranged or not, G: {T: ms}
    (False, 4): {16: 2.69, 32: 1.92, 64: 1.18, 128: 0.9}, (True, 4): {16: 2.07, 32: 1.07, 64: 0.59, 128: 0.34},
    (False, 32): {64: 0.59}, (True, 32): {64: 0.13}}
PAPER_PROPAGATION = {16: 0.25, 32: 0.38, 64: 0.69, 128: 1.21}  # G = 4, with and without the rearrangement


def is_recur(row, method, phase="none"):
    """Ours with constant scale and offset, timed, up to the end of a phase ("none": the whole)."""
    return (row.ours and row.text("module") == "recur" and row.text("method") == method
            and row.text("form", "linear") == "linear" and row.text("constant") == "both" and row.text("phase", "none") == phase and row.number("median_s") > 0)


def fastest(rows, method, n, one_core=False):
    return min((row.number("median_s") for row in rows if is_recur(row, method) and row.number("n") == n
                and (not one_core or row.number("threads") == 1)), default=math.nan)


def scheme_of(rows, n, variant, phase="none"):
    """{(T, G): seconds} of one variant for one N."""
    found = {}
    for row in rows:
        threads, groups = row.number("threads_asked"), row.number("groups_asked")
        if (is_recur(row, "pscheme", phase) and row.number("n") == n and threads > 0 and groups > 0
                and row.text("variant") == variant):
            found[threads, groups] = row.number("median_s")
    return found


def axes_of(scheme):
    """The T and the G of a scheme, in the order in which they come."""
    return [list(dict.fromkeys(key[i] for key in scheme)) for i in (0, 1)]


def fit_of(scheme, n):
    """Equations (14) to (16): t = a N / P + b P, by least squares of relative errors; the fastest P and its time."""
    points = [(threads * groups, time) for (threads, groups), time in scheme.items()]
    if not points:
        return math.nan, math.nan, math.nan, math.nan
    best_p, best_time = min(points, key=lambda point: point[1])
    x, y = [n / p / time for p, time in points], [p / time for p, time in points]  # a x + b y = 1, nearly
    xx, xy, yy = (sum(map(operator.mul, u, v)) for u, v in ((x, x), (x, y), (y, y)))
    determinant = xx * yy - xy * xy
    if not determinant > 0:
        return math.nan, math.nan, best_p, best_time
    return ((sum(x) * yy - sum(y) * xy) / determinant, (sum(y) * xx - sum(x) * xy) / determinant,
            best_p, best_time)


def points_at(scheme, groups, scale):
    return {threads: scale(seconds) for (threads, g), seconds in scheme.items() if g == groups}


def one_core(rows, method, form):
    """{N: seconds} on one core: of the nonlinear recurrence with arrays, or of the linear one with constants."""
    chosen = [row for row in rows if row.ours and row.text("module") == "recur" and row.text("method") == method
              and row.text("form", "linear") == form and row.number("threads") == 1 and row.number("median_s") > 0
              and (form == "moebius" or row.text("constant") == "both") and row.text("variant", "blocked") == "blocked"]
    return dict(sorted((n, min(row.number("median_s") for row in own))
                       for n, own in groups_of(chosen, lambda row: row.number("n")).items()))


def write_one_core(page, device, rows):
    """Figure 1: seconds against N of substitution and of the P-scheme, both on one core."""
    lines = {form: [one_core(rows, method, form) for method in ("serial", "pscheme")] for form in ("moebius", "linear")}
    lines = {form: pair for form, pair in lines.items() if pair[0] and pair[1]}
    if not lines:
        return
    page.add("", "### Figure 1")
    page.paragraph("""The paper's Figure 1 is of the nonlinear recurrence of p, equation (5): 1 division per row by
substitution, 3 by the P-scheme, which takes "about twice" as long on a Pentium III. Below it is the Moebius recurrence,
whose maps are products of 2 x 2 matrices here: no division before the last. The linear recurrence is that of section V.""")
    page.add("")
    page.picture("seconds against N", image_name(device, rows[0], "-pscheme-one-core"), "lines", {
        "title": "Substitution and the P-scheme, one core", "subtitle": "dashed: the linear recurrence", "x_label": "N",
        "y_label": "seconds", "x_scale": "log2", "y_scale": "log10", "series": [
            {"name": "%s, %s" % (name, "nonlinear" if form == "moebius" else form), "points": points,
             "dashed": form == "linear"}
            for form, pair in lines.items() for name, points in zip(("substitution", "P-scheme"), pair)]})
    for form, (serial, scheme) in lines.items():
        write_one_core_table(page, "nonlinear" if form == "moebius" else form, serial, scheme)


def write_one_core_table(page, title, serial, scheme):
    page.add("", title.capitalize() + " recurrence:", "")
    page.table([("N", "---:", lambda n: "%.0f" % n),
                ("`serial`, ms", "---:", lambda n: cell("%.4g", 1e3 * serial.get(n, math.nan))),
                ("`pscheme`, ms", "---:", lambda n: cell("%.4g", 1e3 * scheme[n])),
                ("ratio", "---:", lambda n: cell("%.2f", scheme[n] / serial.get(n, math.nan)))], scheme)


def write_scheme(page, variant, scheme, n):
    threads, groups = axes_of(scheme)
    page.add("")
    page.table([("`%s`, ms: T" % variant, "---:", lambda t: "%.0f" % t)] +
               [("G = %.0f" % g, "---:", lambda t, g=g: cell("%.4g", 1e3 * scheme.get((t, g), math.nan)))
                for g in groups], threads)
    a, b, best_p, best_s = fit_of(scheme, n)
    best_fit = cell("%.0f", math.sqrt(a / b * n) if a / b >= 0 else math.nan)
    page.paragraph("Fit: alpha + gamma = %.3g ns, beta = %.3g ns per step; P_opt = %s, sqrt(N / 2) = %.0f; the fastest was "
                   "P = %.0f, %.4g ms." % (1e9 * a, 1e9 * b, best_fit, math.sqrt(n / 2), best_p, 1e3 * best_s))


def write_phases(page, device, rows, n):
    """Figures 3 and 5: a phase takes what the row up to its end has more; a difference below the noise is left out."""
    for variant in VARIANTS + STORED:
        upto = [scheme_of(rows, n, variant, phase) for phase in PHASES]
        if not upto[0] or not upto[1]:
            continue
        alone = [upto[0]] + [{key: more for key, seconds in upto[i].items()
                              if (more := seconds - upto[i - 1].get(key, math.nan)) > 0} for i in (1, 2)]
        series = []
        for i, phase in enumerate(PHASES):
            groups = axes_of(upto[i])[1]
            for g in sorted({min(groups), max(groups)} if groups else ()):
                series.append({"name": "%s, G = %.0f" % (phase, g), "color": i, "dashed": g < max(groups),
                               "points": points_at(alone[i], g, lambda seconds: 1e3 * seconds)})
        page.add("")
        page.picture("milliseconds of each phase against T", image_name(device, rows[0], "-phases-%.0f-%s" % (n, variant)),
                     "lines", {"title": "Phases of the P-scheme, N = %.0f, %s" % (n, variant),
                               "x_label": "T, threads per group", "y_label": "milliseconds", "x_scale": "log2",
                               "y_scale": "log10", "series": series})
        threads, groups = axes_of(upto[0])
        paper = [(name, "---:", lambda at, own=own: cell("%.2f", own(at))) for name, own in (
            ("paper: pre-computation", lambda at: PAPER_MS.get((variant.endswith("rearranged"), at[1]), {}).get(at[0], math.nan)),
            ("paper: propagation", lambda at: PAPER_PROPAGATION.get(at[0], math.nan) if at[1] == 4 else math.nan),
        )] if n == 1 << 18 else []
        page.add("")
        page.table([("`%s`, ms: G" % variant, "---:", lambda at: "%.0f" % at[1]), ("T", "---:", lambda at: "%.0f" % at[0])] +
                   [(name, "---:", lambda at, own=own: cell("%.4g", 1e3 * own.get(at, math.nan)))
                    for name, own in zip(("pre-computation",) + PHASES[1:], alone)] + paper,
                   [(t, g) for g in sorted({min(groups), max(groups)}) for t in threads])


def write_size(page, device, rows, everywhere, n):
    """Figures 4, 6, 7 and 8: speedup over one core against T, solid with the rearrangement, dashed without."""
    schemes = [scheme_of(rows, n, variant) for variant in VARIANTS]
    if not any(schemes):
        return
    serial = fastest(everywhere, "serial", n, one_core=True)
    base = serial if serial > 0 else 1e-3
    series = [{"name": "G = %.0f%s" % (g, "" if v else ", blocked"), "color": i, "dashed": v == 0,
               "points": points_at(schemes[v], g, lambda seconds: base / seconds)}
              for v in (0, 1) for i, g in enumerate(axes_of(schemes[v])[1])]
    page.add("", "### N = %.0f" % n, "")
    page.picture("speedup against T", image_name(device, rows[0], "-pscheme-%.0f" % n), "lines", {
        "title": "P-scheme, N = %.0f" % n, "subtitle": "solid: with the rearrangement; dashed: without",
        "x_label": "T, threads per group", "y_label": "speedup over one core" if serial > 0 else "solves per millisecond",
        "x_scale": "log2", "y_from_zero": True, "series": series})
    for variant, scheme in zip(VARIANTS, schemes):
        if scheme:
            write_scheme(page, variant, scheme, n)
    best = min((seconds for scheme in schemes for seconds in scheme.values()), default=math.nan)
    times = [("`serial`, one core", serial), ("`pscheme`, the fastest", best),
             ("`pcr`", fastest(rows, "pcr", n)), ("`lookback`", fastest(rows, "lookback", n))]
    page.add("")
    page.table([("", "---", lambda time: time[0]), ("ms", "---:", lambda time: cell("%.4g", 1e3 * time[1]))], times)
    write_phases(page, device, rows, n)


def write_recur(page, folder):
    files = read_folder(folder)
    everywhere = [row for file in files for row in file.rows]  # serial may be of any machine
    sizes, found = (1 << 18, 1 << 20), False
    page.add("# Recurrences: the paper's figures")
    page.paragraph("""Figures 1 and 3 to 8 of the paper of [recur.md](recur.md#pscheme): the P-scheme with T threads
in each of G groups, `P = T G` parts, N rows. s and t are constant, in single precision, as in the paper. `make docs`
generates this page from files of `shoal bench --save`: no number is typed by hand.""")
    page.add("")
    page.paragraph("- Speedups are over `serial` on one core of the machine that measured it.")
    page.paragraph("""- Fit: time = (alpha + gamma) N / P + beta P, equations (14) to (16), with alpha, beta and gamma
the times per step of pre-computation, propagation and determination. P_opt minimizes the fitted time; `sqrt(N / 2)`
is the paper's estimate of it, equation (18).""")
    page.paragraph("- A phase marked `-` took less time than the noise.")
    page.paragraph("""- The paper's times are those that its section V.C prints, of a Tesla C1060: it keeps the auxiliary values
of every row, as `stored` does here. `blocked` and `rearranged` keep one map per part, so their pre-computation has
nothing to write and gains nothing from the rearrangement.""")
    for device, _, rows in by_device(files):
        rows = [row for row in rows if row.text("module") == "recur"]
        if not any(fastest(rows, "pscheme", n) > 0 for n in sizes):
            continue
        found = True
        page.add("", "## " + device)
        write_one_core(page, device, rows)
        for n in sizes:
            write_size(page, device, rows, everywhere, n)
    if not found:
        page.paragraph("They are left out: no file has rows of `pscheme` with `constant=both`.")


# ---- one tridiagonal system: g-Spike ----

DRAWN = {1: "random: needs pivoting", 18: "-1 4 -1: needs no pivoting", 4: "random, one entry tiny", 17: "1 1e8 1",
         21: "ill-conditioned"}
ERROR_ROWS = 4096
TABLE_2 = [  # the paper's normwise backward errors of g-Spike and of cuSPARSE's gtsv of 2014, at n = 4096
    (1.07e-15, 1.70e-15), (7.77e-17, 7.77e-17), (9.25e-17, 9.25e-17), (4.65e-15, 7.85e-15), (2.01e-15, 2.66e-15),
    (1.38e-16, 9.22e-17), (8.50e-17, 8.50e-17), (9.84e-17, 9.84e-17), (1.03e-16, 1.20e-16), (7.82e-17, 1.22e-18),
    (7.51e-17, 8.35e-17), (1.41e-07, 1.09e-10), (9.03e-17, 8.65e-17), (8.59e-11, 1.00e-03), (1.14e-13, 1.36e-14),
    (8.11e-17, 9.73e-17), (1.57e-16, 1.57e-16), (9.93e-17, 9.93e-17), (1.45e-16, 9.64e-17), (1.41e-16, 9.37e-17),
    (1.08e-15, 3.51e-16)]


def spike_number(row):
    """The matrix of Table A.1, 1 to 21, that a row solves as one system in double; 0: it is no such row."""
    kind = row.text("kind")
    is_one = (row.text("module") == "tridiag" and row.text("type") == "f64" and row.number("count") == 1
              and row.number("nrhs") == 1 and kind.startswith("spike") and kind[5:].isdecimal())
    return int(kind[5:]) if is_one and 1 <= int(kind[5:]) <= len(TABLE_2) else 0


def error_text(row):
    """The backward error, bold if it fails. Of x that is not finite the file has no error."""
    if row is None:
        return "-"
    error = row.number("max_residual")
    if not row.passed and not error > row.number("tolerance"):
        return "**not finite**"
    return cell("%.1e" if row.passed else "**%.1e**", error)


def write_errors(page, files):
    """Table 2: backward errors on all matrices at n = 4096, a column per solver and machine."""
    found = {}
    for file in files:
        for row in file.rows:
            if spike_number(row) and row.number("n") == ERROR_ROWS:
                found.setdefault((row.solver, file.device), {}).setdefault(spike_number(row), row)
    if not found:
        page.paragraph("The errors are left out: no file has one system of `spike1` to `spike21` of %d rows." % ERROR_ROWS)
        return
    page.add("", "## Backward errors, n = %d" % ERROR_ROWS)
    page.paragraph("""In double and in the maximum norm. The first two columns are the paper's Table 2. The other
columns are ours, all with the same random matrices, which are not those of the paper. **Bold**: above 100 epsilon, or
not finite.""")
    page.add("")
    for device, keys in groups_of(found, lambda key: key[1]).items():
        page.add("- %s: %s" % (device, ", ".join("`%s`" % solver for solver, _ in keys)))
    page.add("")
    # a column is named without the library, and with its machine if two machines have the same solver
    solvers = [solver for solver, _ in found]
    page.table([("#", "---:", str), ("paper: g-Spike", "---:", lambda k: "%.1e" % TABLE_2[k - 1][0]),
                ("paper: `gtsv`", "---:", lambda k: "%.1e" % TABLE_2[k - 1][1])] +
               [("`%s`%s" % (solver.split()[-1], ", " + device if solvers.count(solver) > 1 else ""), "---:",
                 lambda k, own=own: error_text(own.get(k))) for (solver, device), own in found.items()],
               range(1, len(TABLE_2) + 1))
    page.add("")
    for (solver, device), own in found.items():
        for verb, is_named in (("fails on", lambda row: not row.passed),
                               ("warns of", lambda row: row.number("warned") > 0)):
            named = ["#%d" % k for k in sorted(own) if is_named(own[k])]
            if named:
                page.add("- `%s` on %s %s %s" % (solver, device, verb, ", ".join(named)))


def write_lengths(page, device, rows):
    """Figures 7 and 8: the time of one solve against n by every solver, and how far the matrices are apart."""
    lengths = sorted({row.number("n") for row in rows})
    if len(lengths) < 2:
        return False
    at = {}  # (matrix, solver, n): of several rows the one with most samples
    for row in rows:
        key = spike_number(row), row.solver, row.number("n")
        if key not in at or row.number("samples") > at[key].number("samples"):
            at[key] = row
    solvers = {row.solver: row.ours for row in rows}

    def ms(matrix, solver, n):
        row = at.get((matrix, solver, n))
        return 1e3 * row.number("median_s") if row else math.nan

    def spread(solver, n):
        times = [ms(matrix, solver, n) for matrix in DRAWN]
        return max(times) / min(times) - 1 if all(time > 0 for time in times) else math.nan
    first_column = ("n", "---:", lambda n: "%.0f" % n)
    page.add("", "## Figures 7 and 8: " + device)
    for matrix in (matrix for matrix in DRAWN if any(key[0] == matrix for key in at)):
        page.add("", "### Matrix #%d" % matrix, "")
        page.picture("milliseconds against n", image_name(device, rows[0], "-lengths-spike%d" % matrix), "lines", {
            "title": "One system, matrix #%d (%s)" % (matrix, DRAWN[matrix]),
            "subtitle": device + ", double; peers dashed; lower is better", "x_label": "n", "y_label": "milliseconds",
            "x_scale": "log2", "y_scale": "log10",
            "series": [{"name": solver, "dashed": not ours, "points": {n: ms(matrix, solver, n) for n in lengths}}
                       for solver, ours in solvers.items()]})
        page.add("")
        page.table([first_column] + [
            column for solver in solvers for column in (
                ("`%s`, ms" % solver, "---:", lambda n, s=solver, m=matrix: cell("%.4g", ms(m, s, n))),
                ("error", "---:", lambda n, s=solver, m=matrix: error_text(at.get((m, s, n)))))], lengths)
    page.add("", "### Over the matrices")
    page.paragraph("Extra time of the slowest of the five matrices over the fastest:")
    page.add("")
    page.table([first_column] + [("`%s`" % solver, "---:", lambda n, s=solver: cell("%.1f %%", 100 * spread(s, n)))
                                 for solver in solvers], lengths)
    return True


def write_tridiag(page, folder):
    files = read_folder(folder)
    page.add("# One tridiagonal system: the paper's figures")
    page.paragraph("""Times and errors of solvers for one long tridiagonal system: Figures 7 and 8 of the g-Spike paper,
and errors beside its Table 2. The matrices are those of the paper's Table A.1.
[tridiag.md](tridiag.md#the-papers-tables) has the paper's other tables. `make docs` generates this page from files of
`shoal bench --peers --save`: no number of ours is typed by hand.""")
    write_errors(page, files)
    found = False
    for device, _, rows in by_device(files):
        rows = [row for row in rows if spike_number(row) in DRAWN and row.number("median_s") > 0]
        found |= write_lengths(page, device, rows)
    if not found:
        page.paragraph("The figures are left out: no file has one system of `spike1`, `spike4`, `spike17`, `spike18` or "
                       "`spike21` at two lengths.")
