# SPDX-License-Identifier: Apache-2.0
"""cva_table.py PROGRAM [OPTION...] [-- OPTION OF shoal cva...] - `shoal cva` on books with known CVAs, many seeds.

Reads tests/cva_cases.txt, runs PROGRAM once per case and seed, and prints one row per case: the known CVA, the mean
over the seeds, its relative error, the standard error of the mean, z, and how many of the 95 % intervals contain the
known CVA. A case passes if

    |mean - known| <= limit known + 3 standard errors of the mean,

and if its intervals contain the known CVA as often as 90 % intervals would, up to a chance of 1 %: at least 14 of 20.
The intervals of all cases together are judged in the same way: at least 700 of 800; of a group of cases, the intervals
that the program prints, which contain its estimate of the bias.

Two columns are the martingale test. At every date e^(-r t) (EPE - ENE), plus what has been paid before, is the price.
The known exposures obey that, so a difference from them violates it. `EPE z` is the largest z over the dates, with its
date. `price` is the error of the price that the first date gives, before which nothing is paid, relative to EPE + ENE.
--profile prints every date.

--jobs N runs N programs at the same time, each with one thread (unless --threads is among the options of shoal cva):
the numbers are the same. --slice I/N runs every N-th case, from the I-th. Below the table is a line per group of
cases: those with the same limit. --save keeps rows, groups and times in one file.

The exit code is 0 if all of that holds. Needs only Python's standard library.
"""

import argparse
import concurrent.futures
import json
import math
import os
import resource
import shlex
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CASES = os.path.join(ROOT, "tests", "cva_cases.txt")
COVERED = 0.9  # the least share of 95 % intervals, over many runs
UNLIKELY = 0.01  # chance that a case with that share fails
GROUPS = {0.003: "one asset", 0.006: "two to five assets", 0.02: "netted near 0"}  # by limit
HEADER = "| case | known | mean | error | s.e. | z | covered | EPE z | price | s per run | |"


class Refused(Exception):
    """Input or output that cannot be used; the message says why."""


def read_cases(path):
    """The cases of the file, whose head describes it."""
    cases = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            word, _, rest = line.strip().partition(" ")
            if not word or word.startswith("#"):
                continue
            if word == "case":
                name, use = rest.split()
                cases.append({"name": name, "use": use, "market": [], "book": []})
            elif word in ("market", "book"):
                cases[-1][word].append(rest)
            elif word in ("times", "epe", "ene"):
                cases[-1][word] = [float(number) for number in rest.split()]
            elif word == "cva":
                cases[-1]["cva"], cases[-1]["cva_error"] = (float(number) for number in rest.split())
            elif word in ("price", "limit"):
                cases[-1][word] = float(rest)
            else:
                cases[-1][word] = rest
    return cases


def simulate(program, case, seed, more):
    """The JSON object of one run."""
    with tempfile.TemporaryDirectory() as folder:
        paths = {}
        for name in ("market", "book"):
            paths[name] = os.path.join(folder, name + ".csv")
            with open(paths[name], "w", encoding="utf-8") as file:
                file.write("\n".join(case[name]) + "\n")
        command = [program, "cva", paths["book"], "--market", paths["market"], *shlex.split(case["run"]),
                   "--seed", str(seed), "--json", *more]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise Refused("%s, seed %d: exit code %d: %s" % (case["name"], seed, done.returncode, done.stderr.strip()))
    return json.loads(done.stdout)


def mean_and_error(numbers, errors):
    """The mean and its standard error: from the scatter of the numbers; of fewer than 5, from their errors."""
    count = len(numbers)
    mean = math.fsum(numbers) / count
    if count < 5:
        return mean, math.sqrt(math.fsum(error * error for error in errors)) / count
    return mean, math.sqrt(math.fsum((x - mean) ** 2 for x in numbers) / (count - 1) / count)


def covers(inside, runs):
    """Whether so few intervals, or fewer, are likely if each contains the known CVA with probability COVERED."""
    least, total = math.log(COVERED), math.lgamma(runs + 1)
    chances = (math.exp(total - math.lgamma(i + 1) - math.lgamma(runs - i + 1) + i * least
                        + (runs - i) * math.log1p(-COVERED)) for i in range(inside + 1))
    return math.fsum(chances) >= UNLIKELY


def z_of(mean, error, known, scale):
    """(mean - known) / error; 0 if all runs agree with the known number up to rounding."""
    if abs(mean - known) <= 1e-9 * scale:
        return 0.0
    return (mean - known) / error if error > 0 else math.copysign(math.inf, mean - known)


def places(case, times):
    """Where the known dates are among those of a run, which may have others, too; None if one of them is missing."""
    column = case["book"][0].split(",").index("maturity")
    horizon = max(float(line.split(",")[column]) for line in case["book"][1:])
    known = case.get("times") or [horizon * (k + 1) / len(case["epe"]) for k in range(len(case["epe"]))]
    found = [[i for i, time in enumerate(times) if abs(time - date) < 1e-6 * horizon] for date in known]
    return [at[0] for at in found] if all(found) else None


def profile(case, runs, at):
    """Per date: time, known EPE, mean, z; known ENE, mean. `at`: the places of the known dates."""
    rows = []
    scale = max(case["epe"] + case["ene"])
    for known, k in enumerate(at):
        mean, error = mean_and_error([run["epe"][k] for run in runs], [run["epe_stderr"][k] for run in runs])
        other = math.fsum(run["ene"][k] for run in runs) / len(runs)
        rows.append([runs[0]["time"][k], case["epe"][known], mean, z_of(mean, error, case["epe"][known], scale),
                     case["ene"][known], other])
    return rows


def judge(case, runs, value, error):
    """A row of the table."""
    mean, spread = mean_and_error([run[value] for run in runs], [run[error] for run in runs])
    known = case["cva"]
    inside = sum(abs(run[value] - known) <= 1.96 * run[error] for run in runs)
    printed = inside
    if value == "cva" and "low" in runs[0]:
        printed = sum(run["low"] <= known <= run["high"] for run in runs)
    close = abs(mean - known) <= case["limit"] * known + 3 * spread
    row = {"name": case["name"], "use": case["use"], "limit": case["limit"], "known": known, "mean": mean,
           "relative": (mean - known) / known, "error": spread, "z": z_of(mean, spread, known, known),
           "covered": inside / len(runs), "printed": printed / len(runs), "passes": close and covers(inside, len(runs))}
    at = places(case, runs[0].get("time", []))
    if at:
        row["profile"] = profile(case, runs, at)
        row["epe_z"], row["epe_date"] = max(((dates[3], k + 1) for k, dates in enumerate(row["profile"])),
                                            key=lambda pair: abs(pair[0]))
        mean = row["profile"][0][2] - row["profile"][0][5]
        if "--threshold" not in case["run"]:  # before the first decision: EPE - ENE = e^(r t) price
            row["price"] = (mean - case["epe"][0] + case["ene"][0]) / (case["epe"][0] + case["ene"][0])
    return row


def text_of(row, seconds):
    cells = [row["name"], "%.6g" % row["known"], "%.6g" % row["mean"], "%+.2f %%" % (100 * row["relative"]),
             "%.2f %%" % (100 * row["error"] / row["known"]), "%.1f" % row["z"], "%.0f %%" % (100 * row["covered"]),
             "%.1f (%d)" % (row["epe_z"], row["epe_date"]) if "epe_date" in row else "",
             "%+.2f %%" % (100 * row["price"]) if "price" in row else "",
             "%.2g" % seconds, "pass" if row["passes"] else "**fail**"]
    return "| " + " | ".join(cells) + " |"


def slice_of(text):
    """I/N as a pair, I from 1 to N."""
    part, slash, parts = text.partition("/")
    if not (slash and part.isdigit() and parts.isdigit() and 1 <= int(part) <= int(parts)):
        raise argparse.ArgumentTypeError("'%s' is not I/N with I from 1 to N" % text)
    return int(part), int(parts)


def start_runs(pool, case, options, more, values):
    """The runs of a case, one per seed, as futures; None is the result of one that --seconds leaves out."""
    begun = []

    def run(number):
        begun.append(time.monotonic())
        if number >= 2 and begun[-1] - begun[0] > options.seconds:
            return None
        start = time.monotonic()
        result = simulate(options.program, case, options.first_seed + number, more)
        for value in values:
            if value not in result:
                raise Refused("the JSON object has no %s" % value)
        return dict(result, run_seconds=time.monotonic() - start)

    return [pool.submit(run, number) for number in range(options.seeds)]


def groups_of(rows):
    """Per limit: cases, those that pass, runs, intervals that contain the known CVA, with and without the bias, and the
    verdict on the share of those with it: these are the intervals that the program prints."""
    groups = []
    for limit in sorted({row["limit"] for row in rows}):
        members = [row for row in rows if row["limit"] == limit]
        runs = sum(row["seeds"] for row in members)
        inside = round(sum(row["covered"] * row["seeds"] for row in members))
        printed = round(sum(row["printed"] * row["seeds"] for row in members))
        groups.append({"name": GROUPS.get(limit, "limit %g %%" % (100 * limit)), "cases": len(members),
                       "pass": sum(row["passes"] for row in members), "runs": runs, "inside": inside,
                       "covered": inside / runs, "printed": printed / runs, "passes": covers(printed, runs)})
    return groups


def parse(arguments):
    """The options of this program, and those of shoal cva."""
    own, more = arguments, []
    if "--" in arguments:
        at = arguments.index("--")
        own, more = arguments[:at], arguments[at + 1:]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="shoal")
    parser.add_argument("--cases", default=CASES, help="the file [tests/cva_cases.txt]")
    parser.add_argument("--seeds", type=int, default=20, help="runs per case [20]")
    parser.add_argument("--first-seed", type=int, default=1, help="the seed of the first run [1]")
    parser.add_argument("--only", action="append", default=[], metavar="WORD", help="cases whose names contain a WORD")
    parser.add_argument("--use", choices=("tuned", "apart"), help="one of the two kinds of cases [both]")
    parser.add_argument("--slice", type=slice_of, default=(1, 1), metavar="I/N", help="every N-th case, from the I-th")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="programs that run at the same time [1]")
    parser.add_argument("--value", default="cva", help="member of the JSON object that is judged [cva]")
    parser.add_argument("--error", help="its standard error [stderr; of VALUE: VALUE_stderr]")
    parser.add_argument("--seconds", type=float, default=math.inf,
                        help="per case: no further seed after this time; at least two")
    parser.add_argument("--profile", action="store_true", help="EPE and ENE at every date, too")
    parser.add_argument("--save", metavar="FILE.json", help="keep the rows")
    options = parser.parse_args(own)
    if options.jobs < 1 or options.seeds < 1:
        parser.error("--jobs and --seeds must be at least 1")
    if options.jobs > 1 and not any(word.startswith("--threads") for word in more):
        more = [*more, "--threads", "1"]
    if options.error is None:
        options.error = "stderr" if options.value == "cva" else options.value + "_stderr"
    return options, more


def print_profile(row):
    print("\n| time | EPE | mean | z | ENE | mean |\n|" + "---:|" * 6)
    for dates in row["profile"]:
        print("| %.4g | %.6g | %.6g | %.1f | %.6g | %.6g |" % tuple(dates))


def main(arguments):
    options, more = parse(arguments)
    cases = [case for case in read_cases(options.cases)
             if (not options.only or any(word in case["name"] for word in options.only))
             and options.use in (None, case["use"])]
    if not cases:
        raise Refused("no case has such a name")
    cases = cases[options.slice[0] - 1::options.slice[1]]
    rows, begun = [], time.monotonic()
    print(HEADER + "\n" + "|---|" + "---:|" * 9 + "---|")
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        values = (options.value, options.error)
        futures = [start_runs(pool, case, options, more, values) for case in cases]
        try:
            for case, started in zip(cases, futures):
                runs = [run for run in (future.result() for future in started) if run]
                seconds = math.fsum(run["run_seconds"] for run in runs) / len(runs)
                rows.append(dict(judge(case, runs, *values), seeds=len(runs), seconds=seconds))
                print(text_of(rows[-1], seconds), flush=True)
                if options.profile and "profile" in rows[-1]:
                    print_profile(rows[-1])
                    print("\n" + HEADER if case is not cases[-1] else "")
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    seconds, used = time.monotonic() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    groups = groups_of(rows)
    passed, count = sum(row["passes"] for row in rows), sum(row["seeds"] for row in rows)
    inside = sum(group["inside"] for group in groups)
    print()
    for group in groups:
        print("%s: %d of %d cases pass; of %d intervals %.1f %% contain the known CVA, with the bias %.1f %%%s" % (
            group["name"], group["pass"], group["cases"], group["runs"], 100 * group["covered"], 100 * group["printed"],
            "" if group["passes"] else " **fail**"))
    print("%d of %d cases pass; %.1f %% of %d intervals contain the known CVA; %.0f s, %.0f core-seconds" % (
        passed, len(rows), 100 * inside / count, count, seconds, used.ru_utime + used.ru_stime))
    if options.save:
        with open(options.save, "w", encoding="utf-8") as file:
            json.dump({"options": more, "value": options.value, "jobs": options.jobs, "seconds": seconds,
                       "core_seconds": used.ru_utime + used.ru_stime, "groups": groups, "rows": rows}, file, indent=1)
    return 0 if passed == len(rows) and all(group["passes"] for group in groups) and covers(inside, count) else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (Refused, OSError) as problem:
        sys.exit("cva_table.py: %s" % problem)
