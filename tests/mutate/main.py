# SPDX-License-Identifier: Apache-2.0
"""Plant faults, build once with all of them, run the tests with one fault on at a time, report. See ../mutate.sh.

The folder (-w) keeps every step: original/ (the sources as drawn from), tree/ (with faults), build/, faults.json,
baseline.json (per test: seconds, result, faults reached), results.jsonl (one line per test run), noticed.tsv and
report.md. A run that was stopped goes on from there.
"""
import argparse
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import plant

ROOT = Path(__file__).resolve().parents[2]
FACTOR, EXTRA = 5, 10  # a test that takes FACTOR times its usual seconds + EXTRA has noticed the fault
NOT_RUN = r"install|docs.*|headers|abi|words|cli_seen|simt_.*"  # tests that do not run src/, or need the whole build
PLANTED = ["src", "io"]  # folders
OWN = {"pricing": "pricing|heston|expou|bullet|american", "models": "pricing|heston|expou|bullet|pde",
       "american": "american|cva", "surrogate": "dataset|surrogate", "core": "core|math|threads|graph"}


def options():
    p = argparse.ArgumentParser(prog="mutate.sh", description="plant small faults, report which of them the tests notice")
    p.add_argument("files", nargs="*", metavar="FILE", help="sources or folders (default: src)")
    p.add_argument("-n", type=int, default=200, help="number of faults (200)")
    p.add_argument("-s", "--seed", type=int, default=1, help="which faults are drawn (1)")
    p.add_argument("-j", "--jobs", type=int, default=os.cpu_count(), help="tests at a time (number of cores)")
    p.add_argument("-w", "--folder", default=str(ROOT / "build-mutate"), help="work folder (build-mutate)")
    p.add_argument("-f", "--flavours", default="native,plain", help="of native, plain, asan, tsan (native,plain)")
    p.add_argument("-t", "--tier", choices=("test", "all"), default="all", help="tests of make test, or of make test-all")
    p.add_argument("-R", "--tests", default="", help="only tests whose name matches this regular expression")
    p.add_argument("--skip", help="file with rows of report.md whose faults change nothing: do not draw them again")
    p.add_argument("--again", action="store_true", help="run the faults that were not noticed with the tree as it is now")
    return p.parse_args()


def write_if_new(path, data):
    if not path.exists() or path.read_bytes() != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def copy_tree(to, sources):
    listed = subprocess.run(["git", "ls-files", "-coz", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True)
    names = listed.stdout.split("\0")
    if listed.returncode != 0:  # an archive
        names = [str(p.relative_to(ROOT)) for top in ROOT.glob("[!.]*") if not re.match("build|out$", top.name)
                 for p in ([top] if top.is_file() else top.rglob("*"))]
    for name in names:
        if name and (ROOT / name).is_file() and (sources or name.split("/")[0] not in PLANTED):
            write_if_new(to / name, (ROOT / name).read_bytes())
            shutil.copymode(ROOT / name, to / name)


def all_places(original, files, suffixes):
    here, given = plant.defined_here(os.environ.get("CC", "cc")), [original / f for f in files]
    for path in sorted(p for f in given for p in ([f] if f.is_file() else f.rglob("*"))):
        if path.suffix in suffixes and not path.name.endswith("_table.h"):
            text = path.read_text()
            for place in plant.Places(text, here).found:
                yield dict(place, file=str(path.relative_to(original)), code=text.split("\n")[place["line"] - 1].strip())


def drawing_order(places, seed, skipped):
    """One place per line of code, in the order in which faults are drawn."""
    lines = {}
    for place in places:
        if key_of(row(place)) not in skipped:
            lines.setdefault((place["file"], place["line"]), []).append(place)
    draw, keys = random.Random(seed), list(lines)
    draw.shuffle(keys)
    for key in keys:
        kind = draw.choice(sorted({p["kind"] for p in lines[key]}))
        yield draw.choice([p for p in lines[key] if p["kind"] == kind])


def same_faults(faults, places):
    """The faults where they are in sources that have changed; those whose line is no longer there are left out."""
    found = {}
    for place in places:
        found.setdefault(key_of(row(place)), []).append(place)
    for f in faults:
        if candidates := found.get(key_of(row(f))):
            yield dict(min(candidates, key=lambda p: abs(p["line"] - f["line"])), k=f["k"])


def choose(state, order, wanted):
    while len(state["faults"]) < wanted and state["next"] < len(order):
        place = order[state["next"]]
        state["next"] += 1
        if not any(f["file"] == place["file"] and f["a"] < place["b"] and place["a"] < f["b"] for f in state["faults"]):
            state["last"] += 1
            state["faults"].append(dict(place, k=state["last"]))


def write_sources(folder, state):
    touched = {}
    for f in state["faults"]:
        touched.setdefault(f["file"], []).append(f)
    for path in (p for top in PLANTED for p in (folder / "original" / top).rglob("*.[ch]*")):
        name = str(path.relative_to(folder / "original"))
        text = path.read_text()
        for f in sorted(touched.get(name, []), key=lambda f: -f["a"]):
            text = text[:f["a"]] + f["new"].replace("@", f"shoal_mutant({f['k']})") + text[f["b"]:]
        if name in touched:
            text = f'#include "{folder}/mutant.h"\n#line 1\n' + text
        write_if_new(folder / "tree" / name, text.encode())


def tests_of(build, o):
    """All tests of the flavours: name -> command, environment, labels, seconds at most."""
    tests, text = {}, "".join(p.read_text() for p in build.rglob("CTestTestfile.cmake"))
    quoted = r'"((?:\\.|[^"\\])*)"'
    for name, arguments in re.findall(r"^add_test\((?:\[=*\[)?([^\s\]]+)(?:\]=*\])? (.*)\)$", text, re.M):
        tests[name] = dict(command=[re.sub(r"\\(.)", r"\1", a) for a in re.findall(quoted, arguments)], env={}, limit=600)
    for m in re.finditer(r"^set_tests_properties\((?:\[=*\[)?([^\s\]]+)(?:\]=*\])? PROPERTIES (.*)\)$", text, re.M):
        values = dict(re.findall(rf"(\w+) {quoted}", m[2]))
        tests[m[1]].update(env=dict(v.split("=", 1) for v in values.get("ENVIRONMENT", "").split(";") if v),
                           labels=set(values.get("LABELS", "").split(";")), limit=float(values.get("TIMEOUT", 600)))
    chosen = {}
    for name, t in tests.items():
        flavour = re.search(r"_(plain|asan|tsan)\b", " ".join([name] + t["command"]))
        wanted = (flavour[1] if flavour else "native") in o.flavours.split(",") and re.search(o.tests, name)
        if wanted and not t["labels"] & {"gpu", "slow"} and not re.fullmatch(NOT_RUN, name):
            chosen[name] = t
    return chosen


def culprits(message, folder, faults):
    """The faults that a compiler's message is about."""
    named = [(os.path.normpath(folder / "build" / m[1]), int(m[2]), m[3]) for m in
             re.finditer(r"^(?:In file included from )?\s*([^\s:]+):(\d+)(?::\d+)?(: (?:fatal )?error)?", message, re.M)]
    at = {f["k"]: (str(folder / "tree" / f["file"]), f["line"], f["line"] + f["new"].count("\n")) for f in faults}
    for places in ([n for n in named if n[2]], named):  # the lines of errors, else any line of the message
        found = {k for path, line, _ in places for k, (p, a, b) in at.items() if p == path and a <= line <= b}
        if found:
            return found
    for path, line, _ in named:  # a name whose declaration was dropped: the last fault before
        found |= set(sorted((k for k, (p, a, _) in at.items() if p == path and a <= line), key=lambda k: at[k][1])[-1:])
    return found


def build_all(folder, o, state, order):
    """Build what the tests need. Faults that do not compile are replaced."""
    build = folder / "build"
    here = Path(__file__).resolve().parent
    write_if_new(folder / "mutant.h", (here / "mutant.h").read_bytes())
    subprocess.run([os.environ.get("CC", "cc"), "-O1", "-fPIC", "-c", here / "mutant.c", "-o", folder / "mutant.o"],
                   check=True)
    ninja = shutil.which("ninja")
    sanitizers = "ON" if re.search("asan|tsan", o.flavours) else "OFF"
    while True:
        (folder / "faults.json").write_text(json.dumps(state, indent=1))
        write_sources(folder, state)
        subprocess.run(["cmake", "-S", folder / "tree", "-B", build, "-G", "Ninja" if ninja else "Unix Makefiles",
                        "-DSHOAL_TESTS=ON", f"-DSHOAL_TIER={'quick' if o.tier == 'test' else 'all'}", "-DSHOAL_CUDA=OFF",
                        "-DSHOAL_ISA=native", f"-DSIMT_SANITIZERS={sanitizers}",
                        "-DSHOAL_OTHER_CC=OFF",  # its program is linked without mutant.o
                        f"-DCMAKE_EXE_LINKER_FLAGS={folder}/mutant.o", f"-DCMAKE_SHARED_LINKER_FLAGS={folder}/mutant.o"],
                       check=True, stdout=subprocess.DEVNULL)
        tests = tests_of(build, o)
        targets = {os.path.relpath(a, build) for t in tests.values() for a in t["command"] if a.startswith(f"{build}/")}
        targets = sorted(t for t in targets if not (build / t).is_dir())
        command = ["ninja", "-k", "0", *targets] if ninja else ["make", "-k"]
        done = subprocess.run([*command, "-C", build, "-j", str(o.jobs)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True)
        if done.returncode == 0:
            break
        parts = done.stdout.split("FAILED: ")  # of make, one part
        bad = {k for part in parts[len(parts) > 1:] for k in culprits(part, folder, state["faults"])}
        if not bad:
            sys.exit(f"mutate.sh: does not build, and not for a fault:\n{done.stdout[-4000:]}")
        print(f"{len(bad)} of {len(state['faults'])} faults do not compile")
        state["faults"] = [f for f in state["faults"] if f["k"] not in bad]
        choose(state, order, o.n)
    return tests


class Run:
    """One test with one fault on (0: none)."""

    def __init__(self, folder, name, test, fault, limit, size=0):
        self.name, self.fault, self.begin, self.limit = name, fault, time.monotonic(), limit
        self.scratch = folder / "scratch" / f"{name}-{fault}"
        shutil.rmtree(self.scratch, ignore_errors=True)
        (self.scratch / "cwd").mkdir(parents=True)
        env = dict({"OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive"}, **os.environ)
        env.update(test["env"], TMPDIR=str(self.scratch), SHOAL_MUTANT=str(fault))
        if "SHOAL_SEEN" in env:
            env["SHOAL_SEEN"] = str(self.scratch / "seen")
        if size:
            (self.scratch / "map").write_bytes(bytes(size))
            env["SHOAL_MUTANT_MAP"] = str(self.scratch / "map")
        with open(self.scratch / "log", "wb") as log:
            self.process = subprocess.Popen(test["command"], cwd=self.scratch / "cwd", env=env, stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=subprocess.STDOUT, start_new_session=True)

    def result(self):
        """None while it runs; "" passed; else how it failed."""
        code, self.seconds = self.process.poll(), time.monotonic() - self.begin
        if code is None and self.seconds > self.limit:
            self.stop()
            return "time-out"
        if code is None:
            return None
        return "" if code == 0 else "skipped" if code == 77 else f"exit {code}" if code > 0 else f"signal {-code}"

    def stop(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()

    def clear(self):
        shutil.rmtree(self.scratch, ignore_errors=True)


def run_all(jobs, start, finish):
    """Keep `jobs` runs going: start() gives the next one or None, finish(run, result) takes a finished one."""
    running = []
    try:
        while True:
            while len(running) < jobs and (run := start(running)):
                running.append(run)
            if not running:
                return
            time.sleep(0.01)
            for run in list(running):
                if run in running and (result := run.result()) is not None:
                    running.remove(run)
                    for other in finish(run, result, running):
                        other.stop()
                        other.clear()
                        running.remove(other)
    finally:
        for run in running:
            run.stop()


def baseline(folder, o, tests, size):
    """Without a fault: the seconds of each test, whether it passes, and the faults that it reaches."""
    known, path = {}, folder / "baseline.json"
    if path.exists():
        known = json.loads(path.read_text())
    waiting = [n for n in tests if n not in known]

    def start(_):
        return Run(folder, waiting[0], tests[waiting[0]], 0, tests[waiting.pop(0)]["limit"], size) if waiting else None

    def finish(run, result, _):
        reached = [k for k, byte in enumerate((run.scratch / "map").read_bytes()) if byte]
        known[run.name] = dict(seconds=run.seconds, result=result, reached=reached)
        path.write_text(json.dumps(known))
        if result and result != "skipped":
            print(f"left out: {run.name} fails without a fault ({result}), see {run.scratch}/log")
        else:
            run.clear()
        return []

    run_all(o.jobs, start, finish)
    return {n: b for n, b in known.items() if n in tests and not b["result"]}


def module_of(fault):
    places = fault["file"].split("/")
    return places[1] if len(places) > 2 else places[0]


def run_faults(folder, o, faults, tests, base):
    """The tests that reach a fault, those of its module first, then by time, until one fails."""
    queue, tested, noticed = {}, {}, {}
    results = folder / "results.jsonl"
    for line in results.read_text().splitlines() if results.exists() else []:
        r = json.loads(line)
        tested.setdefault(r["fault"], set()).add(r["test"])
        if r["result"]:
            noticed[r["fault"]] = r
    for f in faults:
        own = re.compile(r"(cli_|bench_)?(" + OWN.get(module_of(f), module_of(f)) + ")")
        queue[f["k"]] = sorted((n for n, b in base.items() if f["k"] in b["reached"] and n not in tested.get(f["k"], ())),
                               key=lambda n: (not own.match(n), base[n]["seconds"]))
    spent = dict.fromkeys(queue, 0)

    def start(running):
        count = {k: sum(r.fault == k for r in running) for k in queue}
        live = [k for k in queue if queue[k] and k not in noticed]
        if not live:
            return None
        k = min(live, key=lambda k: (count[k], spent[k]))
        name = queue[k].pop(0)
        spent[k] += base[name]["seconds"]
        return Run(folder, name, tests[name], k, FACTOR * base[name]["seconds"] + EXTRA)

    def finish(run, result, running):
        result = "" if result == "skipped" else result
        record = dict(fault=run.fault, test=run.name, result=result, seconds=round(run.seconds, 2))
        with open(results, "a", encoding="utf-8") as out:
            out.write(json.dumps(record) + "\n")
        run.clear()
        if result:
            noticed.setdefault(run.fault, record)
        return [r for r in running if r.fault == run.fault] if result else []

    try:
        run_all(o.jobs, start, finish)
    finally:
        left = sum(bool(queue[k]) and k not in noticed for k in queue)
        if left:
            print(f"stopped: {left} of the faults below that were not noticed have tests left")
        report(folder, faults, base, noticed)


def row(f):
    code, change = (t.replace("|", "\\|") for t in (f["code"], f["change"]))
    return f"| {f['file']}:{f['line']} | `{code}` | `{change}` | {f['kind']} |"


def key_of(line):
    """A row without its line number and its last column: it names the same fault in a later tree."""
    return re.sub(r"^(\| [^:|]*):\d+", r"\1", line).rsplit(" | ", 1)[0]


def report(folder, faults, base, noticed):
    reached = {k for b in base.values() for k in b["reached"]}
    count, rows = {}, []
    for f in faults:
        r, k = noticed.get(f["k"]), f["k"]
        for name in (module_of(f), "all"):
            c = count.setdefault(name, [0] * 4)
            for i, yes in enumerate((True, r, not r and k in reached, k not in reached)):
                c[i] += bool(yes)
        if not r:
            rows.append(row(f)[:-2] + (" |" if k in reached else ", not reached |"))
    lines = ["| module | planted | noticed | not noticed | not reached |", "|---|---|---|---|---|"]
    for name in sorted(count, key=lambda n: (n == "all", n)):
        lines.append(f"| {name} | " + " | ".join(map(str, count[name])) + " |")
    n = max(1, len(faults))
    lines += ["", f"Noticed: {100 * count['all'][1] / n:.1f} %.", "",
              "| file:line | code | change that no test noticed | kind |", "|---|---|---|---|"] + sorted(rows)
    (folder / "report.md").write_text("\n".join(lines) + "\n")
    by_k = {f["k"]: f for f in faults}
    (folder / "noticed.tsv").write_text("".join(
        f"{r['test']}\t{r['result']}\t{row(by_k[k])}\n" for k, r in sorted(noticed.items()) if k in by_k))
    print("\n".join(lines))


def main():
    o = options()
    folder = Path(o.folder).resolve()
    state_file = folder / "faults.json"
    began = time.monotonic()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # ends the tests that run, too
    if not state_file.exists():
        shutil.rmtree(folder / "original", ignore_errors=True)
        copy_tree(folder / "original", True)
        copy_tree(folder / "tree", True)
        files = [os.path.relpath(Path(f).resolve(), ROOT) for f in o.files] or PLANTED
        suffixes = [".c", ".h"] + ([] if o.flavours == "native" else [".cu", ".cuh"])
        state = dict(files=files, suffixes=suffixes, seed=o.seed, skip=o.skip, n=o.n, faults=[], next=0, last=0)
    else:
        state = json.loads(state_file.read_text())
        print(f"the {state['n']} faults of {folder} again; remove that folder to draw others")
        o.n = state["n"]
        if o.again:
            copy_tree(folder / "original", True)
            copy_tree(folder / "tree", False)
            (folder / "baseline.json").unlink(missing_ok=True)
            results = folder / "results.jsonl"
            lines = results.read_text().splitlines(True) if results.exists() else []
            results.write_text("".join(line for line in lines if json.loads(line)["result"]))
    skipped = {key_of(line) for line in Path(state["skip"]).read_text().splitlines()} if state["skip"] else set()
    places = list(all_places(folder / "original", state["files"], state["suffixes"]))
    order = list(drawing_order(places, state["seed"], skipped))
    state["faults"] = list(same_faults(state["faults"], places))
    if not state["faults"]:
        choose(state, order, o.n + o.n // 5)  # some will not compile
    tests = build_all(folder, o, state, order)
    faults = state["faults"][:o.n]
    print(f"built after {time.monotonic() - began:.0f} s: {len(faults)} faults, {len(tests)} tests", flush=True)
    if not re.search("asan|tsan", o.flavours):
        resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))  # a fault may ask for all memory
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (4 << 30, 4 << 30))
    base = baseline(folder, o, tests, state["last"] + 1)
    print(f"run without faults after {time.monotonic() - began:.0f} s", flush=True)
    run_faults(folder, o, faults, tests, base)
    print(f"done after {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
