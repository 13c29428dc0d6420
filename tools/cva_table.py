# SPDX-License-Identifier: Apache-2.0
"""cva_table.py PROGRAM [OPTION...] [-- OPTION OF shoal cva...] - `shoal cva` on books with known CVAs, many seeds.

Reads tests/cva_cases.txt, runs PROGRAM once per case and seed, and prints one row per case: the known CVA, the mean
over the seeds, its relative error, the standard error of the mean, z, and how many of the 95 % intervals contain the
known CVA. A case passes if

    |mean - known| <= limit known + 3 standard errors of the mean,

and if its intervals contain the known CVA as often as 90 % intervals would, up to a chance of 1 %: at least 14 of 20.
The intervals of all cases together are judged in the same way: at least 700 of 800.

Two columns are the martingale test. At every date e^(-r t) (EPE - ENE), plus what has been paid before, is the price.
The known exposures obey that, so a difference from them violates it. `EPE z` is the largest z over the dates, with its
date. `price` is the error of the price that the first date gives, before which nothing is paid, relative to EPE + ENE.
--profile prints every date.

The exit code is 0 if all of that holds. Needs only Python's standard library.
"""

import argparse
import json
import math
import os
import shlex
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CASES = os.path.join(ROOT, "tests", "cva_cases.txt")
COVERED = 0.9  # the least share of 95 % intervals, over many runs
UNLIKELY = 0.01  # chance that a case with that share fails
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
    return sum(math.comb(runs, i) * COVERED ** i * (1 - COVERED) ** (runs - i) for i in range(inside + 1)) >= UNLIKELY


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
    close = abs(mean - known) <= case["limit"] * known + 3 * spread
    row = {"name": case["name"], "use": case["use"], "known": known, "mean": mean, "relative": (mean - known) / known,
           "error": spread, "z": z_of(mean, spread, known, known), "covered": inside / len(runs),
           "passes": close and covers(inside, len(runs))}
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


def main(arguments):
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
    parser.add_argument("--value", default="cva", help="member of the JSON object that is judged [cva]")
    parser.add_argument("--error", help="its standard error [stderr; of VALUE: VALUE_stderr]")
    parser.add_argument("--seconds", type=float, default=math.inf,
                        help="per case: no further seed after this time; at least two")
    parser.add_argument("--profile", action="store_true", help="EPE and ENE at every date, too")
    parser.add_argument("--save", metavar="FILE.json", help="keep the rows")
    options = parser.parse_args(own)
    error = options.error or ("stderr" if options.value == "cva" else options.value + "_stderr")
    cases = [case for case in read_cases(options.cases)
             if (not options.only or any(word in case["name"] for word in options.only))
             and options.use in (None, case["use"])]
    if not cases:
        raise Refused("no case has such a name")
    rows = []
    print(HEADER + "\n" + "|---|" + "---:|" * 9 + "---|")
    for case in cases:
        start, runs = time.monotonic(), []
        for seed in range(options.first_seed, options.first_seed + options.seeds):
            if len(runs) >= 2 and time.monotonic() - start > options.seconds:
                break
            runs.append(simulate(options.program, case, seed, more))
            if options.value not in runs[-1] or error not in runs[-1]:
                raise Refused("the JSON object has no %s or no %s" % (options.value, error))
        seconds = (time.monotonic() - start) / len(runs)
        rows.append(dict(judge(case, runs, options.value, error), seeds=len(runs), seconds=seconds))
        print(text_of(rows[-1], seconds), flush=True)
        if options.profile and "profile" in rows[-1]:
            print("\n| time | EPE | mean | z | ENE | mean |\n|" + "---:|" * 6)
            for dates in rows[-1]["profile"]:
                print("| %.4g | %.6g | %.6g | %.1f | %.6g | %.6g |" % tuple(dates))
            print("\n" + HEADER if case is not cases[-1] else "")
    passed, count = sum(row["passes"] for row in rows), sum(row["seeds"] for row in rows)
    inside = round(sum(row["covered"] * row["seeds"] for row in rows))
    print("\n%d of %d cases pass; %.1f %% of %d intervals contain the known CVA" % (
        passed, len(rows), 100 * inside / count, count))
    if options.save:
        with open(options.save, "w", encoding="utf-8") as file:
            json.dump({"options": more, "value": options.value, "rows": rows}, file, indent=1)
    return 0 if passed == len(rows) and covers(inside, count) else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (Refused, OSError) as problem:
        sys.exit("cva_table.py: %s" % problem)
