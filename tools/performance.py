# SPDX-License-Identifier: Apache-2.0
"""docs/performance.md: every kept row of `shoal bench`, one table and one chart per group of comparable rows.

A module is an entry of MODULES: `key` gives what comparable rows share besides module, backend and type; `show`
writes a group.
"""

import math

from results import by_device, cell, column, groups_of, image_name, read_folder, words

INTRODUCTION = """`make docs` generates this page from the files in `bench/results`, and `shoal bench --peers --save
bench/results` writes those files: no number is typed by hand.

- A peer is another library, or a plain loop in C, measured in the same run.

- Every answer is checked before it is timed. If ours is wrong without a warning, it is not timed. Other answers that
fail are timed and marked.

- "ms" is the median of at least 20 samples and 0.3 seconds. "+-" is half the distance between the quartiles.

- "GB/s" counts the fewest bytes that a solver must move: three diagonals, the right-hand sides and the answer.

- "of copy" is the share of what a plain copy reaches on the same machine.

- "speedup" = time of the fastest peer / our time, on the same data in the same run.

- The data are in device memory. Inputs smaller than the device's last cache are rotated among several sets. Peers
that overwrite their input get fresh copies outside the timed region."""

ABOUT = {
    "rng": """Random numbers (`rng`): GB/s counts the bytes written; nothing is read. Our numbers are checked bit by bit
against the CPU's, and by mean and variance. Peers generate other numbers: they are checked by mean and variance only.
The speedup is over the fastest peer that passes; for `poisson` over the fastest one, whether it passes or not.""",
    "smallsym": """Small symmetric systems (`smallsym`): an answer passes with a backward error of 10 n epsilon, for
regressions 10 n + 70 epsilon. Batches larger than 4093 repeat 4093 different systems. Peers work on their own copy,
with both triangles. Peers that compute eigenpairs do not solve systems with them. GB/s counts these
numbers per system. Full: n^2 + 2 n nrhs (A, b and x). Packed: n (n + 1) / 2 + 2 n nrhs. Regressions of M samples: M n +
(M + n) nrhs (psi, y and x). Eigenpairs: A, or d and e, and the written w and V. Stages of hhpcr: what is read and written
of A, d, e, Q, b and x.""",
    "heston": """Prices (`heston`, `expou`, `bullet`): a path-step is one step of one path. "s to 1e-5" is the time in
seconds to a standard error of 1e-5: the measured time, multiplied by (measured standard error / 1e-5)^2.""",
    "symindef": """Dense symmetric matrices (`symindef`): a call is one factorization in place of a fresh copy of A,
made outside the timed region. Calls longer than 2.5 s are measured once. Gflop/s counts n^3 / 3 operations. For
`complete`, GB/s counts the reduced matrix read and written once per stage, n (n + 1) (n + 2) / 3 numbers. A method that
keeps updates pending moves less, so its share of the copy can be above 100 %. For `partial` and `rook`, GB/s counts the
triangle read and written once. The error is `|P A Pt v - M D Mt v| / |A|` for three random vectors v of 1 and -1; up to
10 n epsilon passes. Peers of `complete` are the loop of cuBLAS calls of Kruchinina's thesis, or a plain loop in C.""",
}

MS = column("ms", "%.4g", "median_s", 1e3)
SPREAD = column("+-", "%.2g", "spread_s", 1e3)
BYTES = column("GB/s", "%.4g", "bytes_per_second", 1e-9)
SPEEDUP = column("speedup", "%.2f", "speedup")


def remarked(last):
    """The last column of a table, with the remark about a row that fails its check."""
    heading, align, text = last
    return heading, align, lambda row: text(row) + row.remark


def best_points(rows, rate):
    """{n: rate} of rows; of several batches of one n the one with most rows, and of those the last."""
    points, size = {}, {}
    for row in rows:
        n, total = row.number("n"), row.number("n") * row.number("count")
        if math.isfinite(rate(row)) and n > 0 and not size.get(n, -1) > total:
            points[n], size[n] = rate(row), total
    return dict(sorted(points.items()))


def rate_chart(device, rows, copy_rate, title, key, scale, labels):
    """A rate of the rows against n, peers dashed, and the limit that the copy bandwidth sets."""
    def rate(row):
        return scale * row.number(key)
    series = []
    for name, own in groups_of(rows, lambda row: row.solver).items():
        points = best_points(own, rate)
        if points:
            series.append({"name": name, "points": points, "dashed": not own[0].ours})
    limit = {}
    for row in rows:
        each = row.number("bytes_per_second") / rate(row) if rate(row) else math.nan
        if copy_rate > 0 and each > 0 and row.number("n") > 0:
            limit[row.number("n")] = copy_rate / each
    if limit:
        series.append({"name": "limit: plain copy", "points": dict(sorted(limit.items())), "markers": False})
    return {"title": title, "subtitle": device + "; peers dashed; higher is better", "x_label": labels[0],
            "y_label": labels[1], "x_scale": "log2", "y_scale": "log10", "series": series}


def line_chart(page, about, name, chart):
    """A picture of lines. None where every line is one point: the table has that number."""
    if any(len(series["points"]) > 1 for series in chart["series"]):
        page.picture(about, name, "lines", chart)
        page.add("")


def right_hand_sides(nrhs):
    return "%.0f right-hand side%s" % (nrhs, "" if nrhs == 1 else "s")


def show_rates(page, device, rows, copy_rate, heading, title, extra, spec):
    """Heading, chart and table of a group of systems."""
    first = rows[0]
    page.add("", "### %s, %s, %s%s" % (first.text("module"), first.text("backend"), first.text("type"), heading), "")
    line_chart(page, spec["about"], image_name(device, first, extra),
               rate_chart(device, rows, copy_rate, title, spec["rate"], spec["chart_scale"],
                          (spec["x_label"], spec["y_label"])))
    columns = [column("n", "%.0f", "n"), column(spec["things"], "%.0f", "count"),
               words("solver", lambda row: row.marked_solver), MS, SPREAD,
               column(spec["unit"], "%.4g", spec["rate"], spec["scale"]), BYTES,
               column("of copy", spec["share"], "share_of_copy", 100), SPEEDUP]
    if spec.get("residual"):
        columns.append(column("residual", "%.1e", "max_residual"))
    page.table(columns[:-1] + [remarked(columns[-1])], rows)


TRIDIAG = {"things": "systems", "rate": "rows_per_second", "scale": 1e-9, "unit": "Grows/s", "share": "%.0f %%",
           "residual": True, "chart_scale": 1, "about": "rows per second against n", "x_label": "unknowns per system, n",
           "y_label": "rows per second"}
RECUR = dict(TRIDIAG, things="segments", residual=False, x_label="rows per segment, n")
SMALLSYM = dict(TRIDIAG, rate="systems_per_second", scale=1e-6, unit="M systems/s", share="%.1f %%", chart_scale=1e-6,
                about="million systems per second against n", y_label="million systems per second")
SORT = dict(TRIDIAG, things="rows", rate="keys_per_second", unit="Gkeys/s", residual=False,
            about="keys per second against n", x_label="keys, n", y_label="keys per second")


def order_of(row, thing):
    return "interleaved" if row.text("layout") == "interleaved" else "one %s after another" % thing


def show_tridiag(page, device, rows, copy_rate):
    first = rows[0]
    kind, nrhs, layout = first.text("kind"), first.number("nrhs"), first.text("layout")
    usual = kind == "dominant" and nrhs == 1
    order = order_of(first, "system")
    show_rates(page, device, rows, copy_rate,
               ", " + order + ("" if usual else ", %s matrices, %s" % (kind, right_hand_sides(nrhs))),
               "Tridiagonal systems, %s, %s" % (first.text("type"), order),
               "-" + layout + ("" if usual else "-%s-%.0f" % (kind, nrhs)), TRIDIAG)


BAND_FORMS = {"penta": "pentadiagonal", "ctridiag": "complex tridiagonal", "cpenta": "complex pentadiagonal"}


def show_band(page, device, rows, copy_rate):
    first = rows[0]
    form, order, kind, nrhs = first.text("form"), order_of(first, "system"), first.text("kind"), first.number("nrhs")
    usual = kind == "dominant" and nrhs == 1
    show_rates(page, device, rows, copy_rate, ", %s, %s" % (BAND_FORMS.get(form, form), order)
               + ("" if usual else ", %s matrices, %s" % (kind, right_hand_sides(nrhs))),
               "%s systems, %s, %s" % (BAND_FORMS.get(form, form).capitalize(), first.text("type"), order),
               "-%s-%s" % (form, first.text("layout")) + ("" if usual else "-%s-%.0f" % (kind, nrhs)), TRIDIAG)


def show_recur(page, device, rows, copy_rate):
    first = rows[0]
    layout, kind, constant = (first.text(key) for key in ("layout", "kind", "constant"))
    direction, order = first.text("direction"), first.number("order")
    heading = ", order %.0f, %s" % (order, order_of(first, "segment"))
    heading += "" if constant == "none" else ", constant: " + constant
    heading += ", in reverse" if direction == "reverse" else ""
    show_rates(page, device, rows, copy_rate, heading + ", kind " + kind,
               "Recurrences of order %.0f, %s" % (order, first.text("type")),
               "-%s-order-%.0f-constant-%s-%s-%s" % (layout, order, constant, direction, kind), RECUR)


def samples_of(row):
    return max(row.number("gram"), 0) if row.number("gram") > 0 else 0


def smallsym_key(row):
    return tuple(row.text(key) for key in ("layout", "storage", "triangle", "kind")) + (
        row.text("pairs", "none"), row.text("stage", "none"), samples_of(row), cell("%r", row.number("parameter")),
        cell("%r", row.number("nrhs")))


def show_smallsym(page, device, rows, copy_rate):
    first = rows[0]
    layout, storage, triangle, kind, pairs, stage, samples, _, _ = smallsym_key(first)
    nrhs, given = first.number("nrhs"), first.number("parameter")
    parameter = "%g" % given if math.isfinite(given) else ""
    order, upper = order_of(first, "system"), triangle != "lower"
    extra = "-%s-%s-%s%s%s" % (layout, storage, kind, parameter, "-upper" if upper else "")
    what = "%s, %s, %s%s matrices%s" % (storage, order, kind, parameter and " " + parameter,
                                        ", upper triangle" if upper else "")
    if samples > 0:
        extra += "-%.0f" % samples
        what = "regressions of %.0f samples, %s" % (samples, order)
    if nrhs != 1:
        extra += "-%.0f" % nrhs
        what += ", " + right_hand_sides(nrhs)
    if pairs != "none":
        extra += "-" + pairs
        what += ", eigenpairs: " + pairs
    if stage != "none":
        extra += "-" + stage
        what += ", stage " + stage
    show_rates(page, device, rows, copy_rate, ", " + what,
               "Small symmetric systems, %s, %s" % (first.text("type"), what), extra, SMALLSYM)


def sort_key(row):
    """Task (sort rows, merge one pair, merge a batch), |B| / |A| rounded, and what else is comparable."""
    n, na = row.number("n"), row.number("na")
    task = 0 if na == n else 1 if row.number("count") == 1 else 2
    ratio = int((n - na) / na + 0.5) if task > 0 and 0 < na <= n else 0
    return (task, ratio, row.get("index") is True, cell("%.0f", row.number("value_bytes")), row.text("kind"),
            row.text("direction"))


def show_sort(page, device, rows, copy_rate):
    first = rows[0]
    task, ratio, places, values, kind, direction = sort_key(first)
    title = ("Rows of n keys sorted", "Two arrays of n keys merged", "Pairs of n keys merged")[task]
    heading = ": " + title
    heading += ", 1 : %.0f" % ratio if task > 0 and ratio != 1 else ""
    heading += ", %s of %s bytes" % ("places" if places else "values", values) if values not in ("-", "0") else ""
    heading += ", descending" if direction == "descending" else ""
    extra = "-%s-%.0f-values-%s%s-%s-%s" % (("sort", "merge", "batch-merge")[task], ratio, values,
                                             "-places" if places else "", direction, kind)
    show_rates(page, device, rows, copy_rate, heading + ", kind " + kind, "%s, %s" % (title, first.text("type")),
               extra, SORT)


def is_fast(row):
    return row.text("math") == "fast"


def rng_parameters(row):
    """"lambda = 64, df = 4": those that the row has."""
    found = ["%s = %g" % (key, row.number(key)) for key in ("lambda", "alpha", "df", "n")
             if math.isfinite(row.number(key))]
    return ", ".join(found) + (", interleaved" if row.text("layout") == "interleaved" else "")


def rng_label(row, variant):
    law = row.text("law") + (variant and "/" + variant)
    return law + (", " + rng_parameters(row) if rng_parameters(row) else "")


def rng_bars(device, rows):
    """A bar per law, parameters and variant; a peer's bar stands in each group of its law. The fastest row counts."""
    bars, series = {}, {}

    def put(group, name, rate):
        own = bars.setdefault(group, {})
        series[name] = True
        own[name] = max(own.get(name, 0), 1e-9 * rate)
    timed = [row for row in rows if math.isfinite(row.number("numbers_per_second"))]
    for row in (row for row in timed if row.ours):
        put(rng_label(row, row.text("variant")), "Shoal, fast arithmetic" if is_fast(row) else "Shoal",
            row.number("numbers_per_second"))
    for row in (row for row in timed if not row.ours):
        for mine in (mine for mine in rows if mine.ours and rng_label(mine, "") == rng_label(row, "")):
            put(rng_label(mine, mine.text("variant")), row.text("version"), row.number("numbers_per_second"))
    return {"title": "Random numbers, " + rows[0].text("type"), "subtitle": device + "; higher is better",
            "x_label": "billion numbers per second", "groups": bars, "series": list(series)}


def show_rng(page, device, rows, _):
    first = rows[0]
    page.add("", "### rng, %s, %s" % (first.text("backend"), first.text("type")), "")
    page.picture("numbers per second", image_name(device, first, ""), "bars", rng_bars(device, rows))
    page.add("")
    page.table([words("numbers", lambda row: row.text("law")), words("parameters", lambda row: rng_parameters(row) or "-"),
                column("count", "%.0f", "count"),
                words("generator", lambda row: row.marked_solver + (", fast" if is_fast(row) else "")), MS, SPREAD,
                column("Gnumbers/s", "%.4g", "numbers_per_second", 1e-9), BYTES,
                column("of copy", "%.0f %%", "share_of_copy", 100), SPEEDUP,
                words("check", lambda row: "fails: " + row.text("why") if row.remark else "passed")], rows)


def symindef_name(row):
    """"complete, packed", "cuSOLVER Dsytrf, full"."""
    return "%s, %s%s%s%s" % (row.solver, row.text("storage"), ", upper" if row.text("triangle") == "upper" else "",
                             ", alpha %.4g" % row.number("alpha") if row.number("alpha") > 0 else "",
                             ", growth kept" if row.number("growth") > 0 else "")


def show_symindef(page, device, rows, _):
    first = rows[0]
    kind = first.text("kind")
    timed = [row for row in rows if row.number("n") > 0 and math.isfinite(row.number("median_s"))]
    series = [{"name": name, "dashed": not own[0].ours,
               "points": dict(sorted({row.number("n"): row.number("median_s") for row in own}.items()))}
              for name, own in groups_of(timed, symindef_name).items()]
    page.add("", "### symindef, %s, %s, kind %s" % (first.text("backend"), first.text("type"), kind), "")
    line_chart(page, "seconds per factorization against n", image_name(device, first, "-" + kind), {
        "title": "Symmetric indefinite matrices, %s, kind %s" % (first.text("type"), kind),
        "subtitle": device + "; peers dashed; lower is better", "x_label": "rows, n",
        "y_label": "seconds per factorization", "x_scale": "log2", "y_scale": "log10", "series": series})
    page.table([column("n", "%.0f", "n"),
                words("solver", lambda row: "`%s`" % symindef_name(row) if row.ours else symindef_name(row)),
                MS, SPREAD, column("samples", "%.0f", "samples"), column("Gflop/s", "%.4g", "flops_per_second", 1e-9),
                BYTES, column("of copy", "%.1f %%", "share_of_copy", 100), SPEEDUP,
                remarked(column("error", "%.1e", "max_residual"))], rows)


def show_prices(page, _, rows, __):
    first, is_pde = rows[0], "nx" in rows[0]
    has_errors = any("seconds_to_stderr_1e-5" in row for row in rows)
    page.add("", "### %s, %s, %s%s" % (first.text("module"), first.text("backend"), first.text("type"),
                                       ": PDE" if is_pde else ""), "")
    solver = words("solver", lambda row: row.marked_solver + (", fast" if row.ours and is_fast(row) else ""))
    if is_pde:
        columns = [column("dates", "%.0f", "n"), column("options", "%.0f", "count"), column("nx", "%.0f", "nx"), solver,
                   MS, SPREAD, column("G node-steps/s", "%.4g", "node_steps_per_second", 1e-9),
                   column("options/s", "%.4g", "options_per_second")]
    else:
        columns = [column("steps", "%.0f", "n"), column("paths", "%.0f", "count"), solver, MS, SPREAD,
                   column("G path-steps/s", "%.4g", "path_steps_per_second", 1e-9)]
        columns += [column("s to 1e-5", "%.4g", "seconds_to_stderr_1e-5")] if has_errors else []
    page.table(columns + [remarked(SPEEDUP)], rows)


def texts(*keys):
    return lambda row: tuple(row.text(key) for key in keys)


MODULES = {  # name: (what comparable rows share, how a group is shown)
    "tridiag": (lambda row: texts("layout", "kind")(row) + (cell("%r", row.number("nrhs")),), show_tridiag),
    "band": (lambda row: texts("form", "layout", "kind")(row) + (cell("%r", row.number("nrhs")),), show_band),
    "rng": (lambda row: (), show_rng),
    "smallsym": (smallsym_key, show_smallsym),
    "recur": (lambda row: texts("layout", "kind", "constant", "direction")(row) + (cell("%r", row.number("order")),), show_recur),
    "symindef": (texts("kind"), show_symindef),
    "sort": (sort_key, show_sort),
    "heston": (lambda row: "nx" in row, show_prices),
    "expou": (lambda row: "nx" in row, show_prices),
    "bullet": (lambda row: "nx" in row, show_prices),
}


def write_machine(page, device, files):
    machine = files[0].machine
    page.add("", "## " + device, "")
    if machine.text("software"):
        page.add("- " + machine.text("software"))
    cpu = machine.text("cpu")
    threads = machine.number("threads")
    page.add("- CPU: %s, %.0f thread%s, instruction level %s" % (device if cpu == "unknown" else cpu, threads,
                                                               "" if threads == 1 else "s", machine.text("isa")))
    for backend, rate in machine.inner("copy_bytes_per_second").items():
        page.add("- copy bandwidth on %s: %.4g GB/s, bytes read and written" % (backend, 1e-9 * rate))
    versions = {}
    for file in files:
        for row in file.rows:
            versions.setdefault(row.text("version"), row)
    for version, row in versions.items():
        note = "" if row.ours or not row.text("note") else ": " + row.text("note")
        if version:
            page.paragraph("- " + ("" if row.ours else "peer: ") + version + note)
    for file in files:
        page.add("- `bench/results/%s`, measured %s" % (file.name, file.machine.text("date")))


def write_page(page, folder):
    files = read_folder(folder)
    page.add("# Performance")
    first, *items = INTRODUCTION.split("\n\n")
    page.paragraph(first)
    page.add("")
    for item in items:
        page.paragraph(item)
    seen = {row.text("module") for file in files for row in file.rows}
    for module in (module for module in ABOUT if module in seen):
        page.paragraph(ABOUT[module])
    for device, own, rows in by_device(files):
        write_machine(page, device, own)
        known = [row for row in rows if row.text("module") in MODULES]  # others are of a newer program
        groups = groups_of(known, lambda row: texts("module", "backend", "type")(row)
                           + (MODULES[row.text("module")][0](row),))
        for group in groups.values():
            rate = own[0].machine.inner("copy_bytes_per_second").number(group[0].text("backend"))
            MODULES[group[0].text("module")][1](page, device, group, rate if math.isfinite(rate) else 0)
