# SPDX-License-Identifier: Apache-2.0
"""The pages of the studies that `shoal study` measures and keeps as JSON.

smallsym  errors of every method on every family of small symmetric systems
symindef  the studies of Kruchinina's thesis; its numbers stand beside ours
"""

import math
import os

from results import Refused, Result, cell, column, groups_of, words

# ---- small symmetric systems ----

QUANTILES = 41  # 0, 1/40, ... 1, as whole hundredths of decimal logarithms; null is 0


def share(heading, key):
    """The percentage of the systems, empty if there is none."""
    def text(row):
        part = row.number(key) / row.number("count") if row.number("count") else math.nan
        return "%.4g" % (100 * part) if part > 0 else ""
    return heading, "---:", text


def ok_text(row):
    wrong = " (%.0f of them WRONG)" % row.number("wrong") if row.number("wrong") > 0 else ""
    return share("", "ok")[2](row) + wrong


def error(heading, which, key):
    return heading, "---:", lambda row: cell("%.1e", row.inner(which).number(key))


SMALLSYM_COLUMNS = [
    words("family", lambda row: row.text("kind")), words("method", lambda row: "`%s`" % row.text("method")),
    ("ok", "---:", ok_text), share("warned", "ill"), share("truncated", "truncated"), share("failed", "failed"),
    share("redone", "redone"), error("backward", "backward", "median"), error("99 %", "backward", "p99"),
    error("max", "backward", "worst"), share("x*", "referenced"), error("forward", "forward", "median"),
    error("99 %", "forward", "p99"), error("max", "forward", "worst")]


def curve(row, which):
    """The share of the systems against the error: {} if the row has none. Small errors are drawn at unit / 1000."""
    values = row.inner(which).items_of("quantiles")
    least = row.number("unit") / 1000
    if len(values) != QUANTILES:
        return [], []
    return ([max(10 ** (v / 100), least) if isinstance(v, int) else least for v in values],
            [i / (QUANTILES - 1) for i in range(QUANTILES)])


def panels(rows, which):
    """A panel per family, in it a curve per method; a method has the same colour in every panel."""
    for kind, own in groups_of(rows, lambda row: row.text("kind")).items():
        curves = [dict(zip(("x", "y"), curve(row, which)), name=row.text("method"), color=i, markers=False)
                  for i, row in enumerate(own)]
        curves = [one for one in curves if one["x"]]
        yield {"title": kind, "subtitle": "" if curves else "no method has errors to show", "x_label": which + " error",
               "x_scale": "log10", "series": curves}


def write_smallsym(page, study):
    machine, rows = study.machine, study.rows
    page.add("# Accuracy of small symmetric systems")
    page.paragraph("""The errors of each method on each family of test systems: a study that the paper of
[smallsym.md](smallsym.md) names as future work (its section 6). `make docs` generates this page from `%s`: %s, %s,
seed %.0f. No number is typed by hand.""" % (study.name, machine.text("device"), machine.text("date"),
                                        study.root.number("seed")))
    page.add("")
    for item in ("""- `ok`: status 0. `warned`: answered, but ill-conditioned or with a residual above the tolerance.
`redone`: `auto` took its second method. These columns, `truncated`, `failed` and `x*` are percentages of the systems.""",
                 """- `backward`: median, 99 % quantile and maximum of |b - A x| / (|A| |x| + |b|) in the maximum
norm, computed in twice double precision, over all answered systems. For a system with status 0 it must be at most 10
n epsilon (f32: `1.2e-6 n`, f64: `2.2e-15 n`). A larger error would be marked WRONG here.""",
                 """- `forward`: median, 99 % quantile and maximum of |x - x*| / |x*| in the maximum norm. x* is the
exact solution: elimination with row exchanges in double, refined with residuals in twice double precision until the
corrections are below a thousandth of epsilon. A truncated answer solves another system, and has no forward error.""",
                 """- `x*`: systems for which this refinement converges. The others are singular, or so nearly
singular that double precision does not suffice.""",
                 """- The pictures show the share of the systems whose error is at most the value on the horizontal
axis."""):
        page.paragraph(item)
    sizes = list(dict.fromkeys(row.number("n") for row in rows))
    for kind, title in (("f32", "Single precision, f32"), ("f64", "Double precision, f64")):
        own = [row for row in rows if row.text("type") == kind]
        if not own:
            continue
        n = sizes[len(sizes) // 2]  # drawn is the middle one of the sizes
        page.add("", "## " + title)
        for which in ("backward", "forward"):
            page.add("")
            page.picture("distributions of the %s error" % which, "smallsym-study-%s-%s.svg" % (kind, which), "panels", {
                "title": "Distributions of the %s error, %s, n = %.0f" % (which, kind, n),
                "subtitle": "share of the systems with an error no larger, by family and method",
                "panels": list(panels([row for row in own if row.number("n") == n], which))})
        for size in sizes:
            page.add("", "### %s, n = %.0f" % (kind, size), "")
            page.table(SMALLSYM_COLUMNS, [row for row in own if row.number("n") == size])


# ---- symmetric indefinite factorizations ----

WHOLE, SAMPLE = 3000, 64  # bench/study.h, bench/symindef_errors.h: rows over which errors are taken
READ_WAYS = ("triangle", "whole", "whole, packed")
TABLE_3_1 = [  # of the thesis: how our names begin, n, errors for nine values of alpha
    ("equidistant", 3000, (1.766888e-14, 1.766888e-14, 1.766888e-14, 1.766888e-14, 1.824500e-14, 1.721470e-14,
                           1.753908e-14, 2.050335e-14, 7.376952e-14)),
    ("astro-ph", 16706, (3.938794e-15, 2.757264e-15, 3.137581e-15, 3.282157e-15, 3.274952e-15, 2.977507e-15,
                         2.956007e-15, 2.946825e-15, 1.703524e-14)),
    ("alemdar", 6245, (4.971599e-14, 4.884935e-14, 4.599203e-14, 4.507927e-14, 4.721938e-14, 4.689740e-14,
                       4.127681e-14, 4.011067e-14, 4.573181e-14))]


def finite(points):
    return {x: y for x, y in points if math.isfinite(x) and math.isfinite(y)}


def chart_over(x_label, y_label, device, title, series, x_scale="linear", **more):
    return dict({"title": title, "subtitle": device, "x_label": x_label, "y_label": y_label, "x_scale": x_scale,
                 "y_scale": "log10", "series": series}, **more)


def write_alpha(page, device, rows):
    page.add("", "## The parameter alpha: Table 3.1")
    matrices = []  # label, rows, errors of the thesis or none
    for name, own in groups_of(rows, lambda row: row.text("matrix")).items():
        n = own[0].number("n")
        thesis = next((errors for begin, order, errors in TABLE_3_1 if name.startswith(begin) and n == order), ())
        matrices.append(("%s, n = %.0f" % (name, n), own[:9], thesis))
    if not matrices:
        page.paragraph("Left out: the part `alpha` was not measured.")
        return
    page.paragraph("""A diagonal entry is a 1x1 pivot if it is above alpha times the largest entry. No multiplier is
above max(1/alpha, 1/(1 - alpha)). The default (1 + sqrt 17) / 8 = 0.6404 has the smallest bound on the growth. The
thesis's random matrix is another draw.""")
    errors, multipliers = [], []
    for i, (label, own, thesis) in enumerate(matrices):
        alphas = [row.number("alpha") for row in own]
        errors.append({"name": label, "color": i, "points": finite((row.number("alpha"), row.number("relative_error"))
                                                                   for row in own)})
        if thesis:
            errors.append({"name": "thesis, n = %.0f" % own[0].number("n"), "color": i, "dashed": True,
                           "points": finite(zip(alphas, thesis))})
        multipliers.append({"name": label, "color": i, "points": finite((row.number("alpha"), row.number("max_multiplier"))
                                                                        for row in own)})
    bound = {k / 100: max(100 / k, 100 / (100 - k)) for k in range(1, 100)}
    multipliers.append({"name": "max(1/alpha, 1/(1 - alpha))", "dashed": True, "markers": False, "points": bound})
    page.add("")
    page.picture("relative errors against alpha", "symindef-study-alpha.svg", "lines", chart_over(
        "alpha", "relative error", device, "Table 3.1: relative errors for different parameters alpha", errors))
    page.add("")
    page.picture("largest multipliers against alpha", "symindef-study-multipliers.svg", "lines", chart_over(
        "alpha", "max |M|", device, "The largest multiplier, and what bounds it", multipliers))
    for label, own, thesis in matrices:
        page.add("", "### " + label, "")
        beside = {id(row): value for row, value in zip(own, thesis)}
        page.table([column("alpha", "%.4g", "alpha"), column("ms", "%.4g", "median_s", 1e3),
                    column("1x1", "%.0f", "pivots_1x1"), column("2x2", "%.0f", "pivots_2x2"),
                    column("growth", "%.4g", "growth"), column("max multiplier", "%.4g", "max_multiplier"),
                    column("relative error", "%.3e", "relative_error"), column("by vectors", "%.2e", "vector_error"),
                    ("thesis", "---:", lambda row, beside=beside: cell("%.3e", beside.get(id(row), math.nan)) + row.remark)],
                   own)


def over(pick, heading, template, key, scale=1.0):
    """A column over the matrices of an order: their median or their largest value."""
    def text(rows):
        values = sorted(v for v in (row.number(key) for row in rows) if not math.isnan(v))
        return cell(template, scale * pick(values)) if values else "-"
    return heading, "---:", text


def middle(values):
    return values[len(values) // 2]


def median_of(rows, key):
    values = sorted(v for v in (row.number(key) for row in rows) if not math.isnan(v))
    return middle(values) if values else math.nan


def gigabytes(rows):
    """Bytes of a pass over the reduced triangle per stage, read once and written once."""
    n = rows[0].number("n")
    return cell("%.4g", 1e-9 * n * (n + 1) * (n + 2) / 3 * 8 / median_of(rows, "median_s"))


def points_of(name, rows, key, color):
    """A point per matrix."""
    pairs = [(row.number("n"), row.number(key)) for row in rows if math.isfinite(row.number(key))]
    return {"name": name, "color": color, "line": False, "x": [x for x, _ in pairs], "y": [y for _, y in pairs]}


def write_host(page, device, rows, host):
    """Figure 3.7's speedup: the same factorization by the CPU beside that of the GPU."""
    ours, theirs = (groups_of(own, lambda row: row.number("n")) for own in (rows, host.rows))
    both = [n for n in theirs if n in ours]
    if not both:
        return
    page.paragraph("The same on the CPU (%s, %.0f threads, %s), and the speedup of %s:" % (
        host.device, host.machine.number("threads"), host.machine.text("date"), device))
    page.add("")
    page.table([("n", "---:", lambda n: "%.0f" % n), ("CPU, ms", "---:", lambda n: cell("%.4g", 1e3 * median_of(theirs[n], "median_s"))),
                ("relative error", "---:", lambda n: cell("%.2e", max(row.number("relative_error") for row in theirs[n]))),
                ("speedup", "---:", lambda n: cell("%.2f", median_of(theirs[n], "median_s") / median_of(ours.get(n, []), "median_s")))],
               sorted(theirs))


def write_sizes(page, device, rows, host=None):
    page.add("", "## Time and error against n: Figures 3.7 and 3.8")
    orders = groups_of([row for row in rows if row.number("n") > 0], lambda row: row.number("n"))
    if not orders:
        page.paragraph("Left out: the part `sizes` was not measured.")
        return
    page.paragraph("""For each n: median times, maximum errors and growth over its matrices. GB/s counts the reduced
triangle, read and written once per eliminated row. Ours writes it only every few rows.""")
    last = max(orders)
    law = {n: median_of(orders[last], "median_s") * (n / last) ** 3 for n in orders}
    unit = {"name": "2^-52", "color": 4, "dashed": True, "markers": False,
            "points": {min(orders): 2.0 ** -52, last: 2.0 ** -52}}
    number = ("n", "---:", lambda own: "%.0f" % own[0].number("n"))
    page.add("")
    page.picture("seconds per factorization against n", "symindef-study-times.svg", "lines", chart_over(
        "rows, n", "seconds", device, "Figure 3.7: time of a factorization",
        [{"name": name, "points": finite((n, median_of(own, key)) for n, own in orders.items())}
         for name, key in (("complete", "median_s"), ("G and J of its factors", "gjgt_s"))] +
        ([{"name": "complete, CPU", "points": finite((n, median_of(own, "median_s")) for n, own in groups_of(
            host.rows, lambda row: row.number("n")).items())}] if host else []) +
        [{"name": "n^3 through the last", "points": law, "dashed": True, "markers": False}], "log10"))
    page.add("")
    page.picture("errors of M D Mt against n", "symindef-study-errors.svg", "lines", chart_over(
        "rows, n", "relative error", device, "Figure 3.8: errors of M D Mt, three matrices of each n",
        [points_of("relative error", rows, "relative_error", 0), points_of("by vectors", rows, "vector_error", 1)] +
        ([points_of("relative error, CPU", host.rows, "relative_error", 2)] if host else []) + [unit]))
    page.add("")
    page.table([number, over(middle, "ms", "%.4g", "median_s", 1e3), ("GB/s", "---:", gigabytes),
                over(middle, "1x1", "%.0f", "pivots_1x1"), over(middle, "2x2", "%.0f", "pivots_2x2"),
                over(max, "growth", "%.3g", "growth"), over(max, "relative error", "%.2e", "relative_error"),
                over(max, "by vectors", "%.2e", "vector_error")], orders.values())
    if host:
        write_host(page, device, rows, host)
    page.add("", "## G J Gt: Figure 3.22")
    page.paragraph("""P A Pt = G J Gt, J = diag(+1, -1), from the same factors by `shoal_symindef_gjgt`. "ms" is the time
to form G from the factors.""")
    page.add("")
    page.picture("errors of G J Gt against n", "symindef-study-gjgt.svg", "lines", chart_over(
        "rows, n", "relative error", device, "Figure 3.22: errors of G J Gt, three matrices of each n",
        [points_of("G J Gt", rows, "gjgt_error", 0), points_of("M D Mt", rows, "relative_error", 2),
         points_of("G J Gt, by vectors", rows, "gjgt_vector_error", 1), unit]))
    page.add("")
    page.table([number, over(middle, "ms", "%.4g", "gjgt_s", 1e3), over(max, "relative error", "%.2e", "gjgt_error"),
                over(max, "by vectors", "%.2e", "gjgt_vector_error"), over(max, "of M D Mt", "%.2e", "relative_error"),
                over(max, "by vectors", "%.2e", "vector_error")], orders.values())


def write_read(page, cpu, rows):
    page.add("", "## Reading one triangle of an HDF5 file")
    if not rows:
        page.paragraph("Left out: the part `read` was not measured.")
        return
    page.paragraph("""Three ways, on the CPU: "triangle" reads the lower triangle by hyperslabs, one per row, straight
into packed storage. "whole" reads the whole matrix by one call. "whole, packed" then packs it. In the thesis (section
3.2) hyperslabs are 4 to 5 times faster. The file is contiguous and in the cache of the operating system.""")
    ms = {}
    for row in rows:
        ms.setdefault((row.number("n"), row.text("way")), 1e3 * row.number("median_s"))
    page.add("")
    page.picture("milliseconds of reading against n", "symindef-study-read.svg", "lines", chart_over(
        "rows, n", "milliseconds", cpu, "Reading an HDF5 file of n x n doubles",
        [{"name": way, "points": finite((n, value) for (n, own), value in ms.items() if own == way)}
         for way in READ_WAYS], "log10"))
    page.add("")

    def quotient(way):
        return lambda n: cell("%.2f", ms.get((n, way), math.nan) / ms[n, "triangle"])
    page.table([("n", "---:", lambda n: "%.0f" % n), ("MB", "---:", lambda n: "%.4g" % (1e-6 * n * n * 8))] +
               [(way + ", ms", "---:", lambda n, way=way: cell("%.4g", ms.get((n, way), math.nan))) for way in READ_WAYS] +
               [("whole / triangle", "---:", quotient("whole")), ("whole, packed / triangle", "---:", quotient("whole, packed"))],
               [n for n, way in ms if way == "triangle"])


def write_symindef(page, study, host=None):
    machine = study.machine
    page.add("# Studies of symmetric indefinite factorizations")
    page.paragraph("""The thesis's studies of `complete` ([symindef.md](symindef.md)), repeated in double, with packed
matrices. Where no matrix is named, it is of the kind `equidistant`: eigenvalues -n .. n - 1 in equal steps, random
eigenvectors. `make docs` generates this page from `%s`: %s, %.0f threads, %s, seed %.0f. No number of ours is typed
by hand.""" % (
        study.name, machine.text("device"), machine.number("threads"), machine.text("date"), study.root.number("seed")))
    page.add("")
    page.paragraph("""- relative error: |P A Pt - M D Mt| / |A|. |X| is the infinity norm, the largest sum of |X(i,j)|
over a row. For n above `%d` only %d rows are computed, so the true norm may be larger: equally spaced ones, and since
November 2026 for one half those with the largest errors. The sums are computed on the CPU in twice the precision of double (pairs of doubles), so they show the errors
of the factors.""" % (
        WHOLE, SAMPLE))
    page.paragraph("""- by vectors: |P A Pt v - M (D (Mt v))| / (|A| |v|) in the maximum norm, computed with the same
precision: the largest for three random vectors v of 1 and -1. `shoal bench` checks this error. It is smaller, because
rounding errors of a row add up with random signs.""")
    parts = groups_of(study.rows, lambda row: row.text("part"))
    write_alpha(page, machine.text("device"), parts.get("alpha", []))
    write_sizes(page, machine.text("device"), parts.get("sizes", []), host)
    write_read(page, machine.text("cpu"), parts.get("read", []))


def write_study(page, path):
    """The page of a study's JSON, whose member "study" names it."""
    if os.path.isdir(path):
        raise Refused("%s: a folder; expected the .json file of `shoal study`" % path)
    study = Result(path)
    if study.root.text("study") != "symindef":
        write_smallsym(page, study)
        return
    beside = os.path.join(os.path.dirname(path), "symindef-sizes-cpu.json")  # the same on a CPU, if it was measured
    write_symindef(page, study, Result(beside) if os.path.exists(beside) else None)
