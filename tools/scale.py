#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scale.py REPORT.json [OPTION...] - how long a job takes on many workers, and what limits it.

Reads a report of `shoal ... --scale REPORT.json` on a few workers: the times of its units, the time of its plan, its
bytes. Predicts the same job, or one that is --times larger, on other numbers of workers, by simulation:

  mpi     rank 0 hands units to the workers that are free, one message at a time, and adds what they send. A process that
          dies ends the run; it starts again and continues from the folder of --checkpoint.
  array   as many tasks as units, each a process of its own with a plan of its own (--shard I/N, a Slurm array). A task
          that dies runs again. merge-parts reads all files, one after the other; or a tree of merges does.

Times of units are drawn from those of the report, scaled by the size of a unit. --slow of the workers are slower by
--factor, and a worker dies once in --mtbf hours. The table gives the best of several numbers of units per worker:
fewer units end unevenly, more cost messages. "limit" is what took the largest part of the time that is not work.

  tools/scale.py r.json --times 1000 --workers 8,64,1024,10000
"""

import argparse
import heapq
import json
import math
import random
import sys

PER_WORKER = (1, 2, 4, 8, 16, 32, 64)


def arguments(words):
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("report", help="a file of --scale")
    p.add_argument("--times", type=float, default=1, help="how many times larger the job is [1]")
    p.add_argument("--workers", default="8,64,1024,10000", help="numbers of workers [8,64,1024,10000]")
    p.add_argument("--engine", choices=("mpi", "array", "both"), default="both")
    p.add_argument("--start", type=float, default=2, help="seconds from the command to the first line of shoal [2]")
    p.add_argument("--message", type=float, default=2e-4, help="seconds of rank 0 per unit, or per file [2e-4]")
    p.add_argument("--rate", type=float, default=4e8, help="bytes per second that rank 0 or merge-parts adds [4e8]")
    p.add_argument("--poll", type=float, default=1e-3, help="seconds between two looks for a message [1e-3]")
    p.add_argument("--slow", type=float, default=0.02, help="share of slow workers [0.02]")
    p.add_argument("--factor", type=float, default=2, help="how much slower they are [2]")
    p.add_argument("--mtbf", type=float, default=10000, help="hours between two failures of a worker [10000]")
    p.add_argument("--fan-in", type=int, default=32, help="files per merge of the tree [32]")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--json", action="store_true", help="print JSON")
    return p.parse_args(words)


class Job:
    """What the report says, for a job --times larger."""

    def __init__(self, report, times):
        spans = [end - begin for _, _, begin, end in report["trace"]]
        if not spans:
            raise SystemExit("scale.py: the report has no units of its run")
        mean = sum(spans) / len(spans)
        self.spread = [span / mean for span in spans]
        self.work = sum(spans) * times
        self.bytes = report["bytes"] * times
        self.plan = report["plan_seconds"]
        self.rows = report["rows"] * times


def look(o, workers):
    """Mean wait until rank 0 looks: it looks less often at many ranks (cli/common/ranks.c)."""
    return 0.5 * o.poll * min(1 + workers // 64, 100)


class Crew:
    """Workers, their speeds and failures."""

    def __init__(self, o, count, seed):
        self.random = random.Random(seed)
        self.rate = 1 / (o.mtbf * 3600)
        slow = round(o.slow * count)
        self.slowness = [o.factor] * slow + [1.0] * (count - slow)
        self.random.shuffle(self.slowness)

    def fails_within(self, seconds):
        """When a worker fails in so many seconds, or None."""
        at = self.random.expovariate(self.rate) if self.rate > 0 else math.inf
        return at if at < seconds else None


def pool(o, job, workers, units, seed):
    """One MPI run: seconds, and where they went."""
    crew = Crew(o, workers, seed)
    each = job.work / units
    serve = o.message + job.bytes / units / o.rate
    start = o.start + job.plan
    free = [(start, w) for w in range(workers)]
    server = start
    busy, end, lost, waited = 0.0, start, 0.0, 0.0
    for _ in range(units):
        asked, w = heapq.heappop(free)
        begin = max(asked + (look(o, workers) if workers > 1 else 0), server)
        waited += begin - asked
        server = begin + serve
        span = each * crew.random.choice(job.spread) * crew.slowness[w]
        at = crew.fails_within(span)
        if at is not None:  # everybody starts again; what was under way is lost
            lost += start + 0.5 * each
        busy += span
        heapq.heappush(free, (server + span, w))
        end = max(end, server + span)
    end += serve + lost
    ideal = job.work / workers
    mean_end = sum(t for t, _ in free) / workers
    parts = {"start and plan": start, "messages": waited / workers + serve * min(units, units / workers + 1),
             "uneven end": max(end - lost - mean_end, 0.0), "failures": lost}
    return result(workers, units, each, end, ideal, parts)


def array(o, job, workers, units, seed):
    """Tasks with a plan each, then a merge: seconds, and where they went."""
    crew = Crew(o, workers, seed)
    each = job.work / units
    start = o.start + job.plan
    free = [(0.0, w) for w in range(workers)]
    end, lost = 0.0, 0.0
    for _ in range(units):
        at, w = heapq.heappop(free)
        span = (start + each * crew.random.choice(job.spread)) * crew.slowness[w]
        failed = crew.fails_within(span)
        while failed is not None:
            at, lost = at + failed + o.start, lost + failed + o.start
            failed = crew.fails_within(span)
        heapq.heappush(free, (at + span, w))
        end = max(end, at + span)
    mean_end = sum(t for t, _ in free) / workers
    merge = min(flat(o, job, units), tree(o, job, units))
    parts = {"start and plan": start * units / workers, "uneven end": max(end - mean_end, 0.0), "merge": o.start + merge,
             "failures": lost / workers}
    return result(workers, units, each, end + o.start + merge, job.work / workers, parts)


def flat(o, job, units):
    """Seconds to merge all files in one process."""
    return units * o.message + job.bytes / o.rate


def tree(o, job, units):
    """Seconds to merge in levels, each level in parallel; the last merge reads all bytes."""
    if units <= o.fan_in:
        return flat(o, job, units)
    seconds, files = 0.0, units
    while files > 1:
        here = min(files, o.fan_in)
        files = math.ceil(files / o.fan_in)
        seconds += o.start + here * o.message + job.bytes / files / o.rate
    return seconds


def result(workers, units, each, seconds, ideal, parts):
    limit = max(parts, key=parts.get)
    return {"workers": workers, "units": units, "unit_seconds": each, "seconds": seconds, "efficiency": ideal / seconds,
            "limit": limit, "parts": parts}


def best(o, job, workers, engine):
    """The fastest number of units per worker, of those that the job has rows for."""
    runs = []
    for per in PER_WORKER:
        units = per * workers
        if (units > job.rows or units > 1000000) and runs:
            break
        units = max(1, min(units, int(job.rows)))
        runs.append(engine(o, job, workers, units, o.seed))
        if workers * per >= 160000:
            break
    return min(runs, key=lambda r: r["seconds"])


def predict(o, report):
    job = Job(report, o.times)
    engines = {"mpi": pool, "array": array}
    names = list(engines) if o.engine == "both" else [o.engine]
    answers = []
    for name in names:
        for count in [int(float(n)) for n in o.workers.split(",")]:
            answers.append({"engine": name, **best(o, job, count, engines[name])})
    merges = {"units": 10000, "flat_seconds": flat(o, job, 10000), "tree_seconds": tree(o, job, 10000)}
    return {"work_seconds": job.work, "plan_seconds": job.plan, "bytes": job.bytes, "runs": answers, "merge": merges}


def words_of(seconds):
    for size, name in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return "%.3g %s" % (seconds / size, name)
    return "%.3g s" % seconds


def print_table(p):
    print("work %s on one worker, plan %s, %.3g bytes of results\n" %
          (words_of(p["work_seconds"]), words_of(p["plan_seconds"]), p["bytes"]))
    print("| engine | workers | units | per unit | time | efficiency | limit |")
    print("|---|---|---|---|---|---|---|")
    for r in p["runs"]:
        print("| %s | %s | %s | %s | %s | %.0f %% | %s |" %
              (r["engine"], "{:,}".format(r["workers"]), "{:,}".format(r["units"]), words_of(r["unit_seconds"]),
               words_of(r["seconds"]), 100 * r["efficiency"], r["limit"]))
    m = p["merge"]
    print("\nmerge of 10,000 units: %s in one process, %s by a tree" % (words_of(m["flat_seconds"]),
                                                                     words_of(m["tree_seconds"])))


def main(words):
    o = arguments(words)
    with open(o.report, encoding="utf-8") as file:
        report = json.load(file)
    answer = predict(o, report)
    if o.json:
        json.dump(answer, sys.stdout, indent=2)
        print()
    else:
        print_table(answer)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
