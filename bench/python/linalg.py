# SPDX-License-Identifier: Apache-2.0
"""Shoal beside the batched linear algebra of numpy, torch, CuPy and JAX, on the same arrays on the same device.

    python bench/python/linalg.py --device cuda --json bench/results/python-h200.json
    python bench/python/linalg.py --device cpu --overhead --json bench/results/python-overhead-NAME.json

A row is one problem and one function of another library: both times per system and their ratio, theirs over Shoal's.
The arrays are made of up to 1024 different systems and lie on the device before the clock starts. A time is the median
of up to `--repeat` calls, as many as fit into `--seconds` and at least one, each waited for, after one to warm up. A
function is tried on few systems first: if all of them would take longer than a second, it gets fewer; if its first call
takes longer than 2 seconds, that call is its time. Answers are checked: the largest backward error of a sample is in the
row. A library that is not installed, or does not take a problem, has no row, and the reason is printed.

--overhead times one call on a batch of 8 systems of 4 unknowns, in blocks of 100: nearly all of that is Python. On a
machine that is busy with other work, the least is what the call itself takes. "queued" is the time until the last call
of a block returns: the rest of the time is the GPU's. --parts splits a call of Shoal into its parts.

--staging GB solves arrays of numpy on a GPU (device="cuda") and compares with copies of pinned memory.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import time
from typing import Any, Callable

import numpy as np

import shoal

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # JAX takes most of a GPU's memory else
DIFFERENT = 1024  # systems; the rest repeats them
TRIED = 512  # a first call is on this part of the systems
TOO_LONG = 2.0  # seconds
COUNTS = {"spd": 1_000_000, "indefinite": 200_000, "eigh": 200_000, "tridiagonal": 100_000}


class Library:
    """Arrays of one library on the device, and how to wait for it."""

    def __init__(self, name: str, module: Any, device: str) -> None:
        self.name, self.module, self.device = name, module, device

    def array(self, a: np.ndarray) -> Any:
        if self.name == "torch":
            return self.module.from_numpy(a).to(self.device)
        if self.name == "jax":
            jax = self.module
            return jax.device_put(a, jax.devices("gpu" if self.device == "cuda" else "cpu")[0])
        return self.module.asarray(a)

    def repeated(self, a: Any, times: int) -> Any:
        """The array `times` times behind itself."""
        if self.name == "torch":
            return a.repeat(times, *[1] * (a.ndim - 1))
        module = self.module.numpy if self.name == "jax" else self.module
        return module.tile(a, (times,) + (1,) * (a.ndim - 1))

    def wait(self, result: Any) -> None:
        if self.name == "torch" and self.device == "cuda":
            self.module.cuda.synchronize()
        elif self.name == "cupy":
            self.module.cuda.get_current_stream().synchronize()
        elif self.name == "jax":
            self.module.block_until_ready(getattr(result, "x", result))  # of a shoal.Result


def libraries(device: str) -> dict[str, Library]:
    """Those that are installed and reach the device; the first one's arrays are Shoal's, too."""
    found = {}
    for name in ("torch", "cupy", "jax") if device == "cuda" else ("numpy", "torch", "jax"):
        try:
            module = __import__(name)
            if name == "jax":
                module.config.update("jax_enable_x64", True)
                module.devices("gpu" if device == "cuda" else "cpu")
            if name == "torch" and device == "cuda" and not module.cuda.is_available():
                raise RuntimeError("torch reaches no GPU")
            found[name] = Library(name, module, device)
        except Exception as error:
            print(f"{name}: no rows ({error})", file=sys.stderr)
    return found


def seconds_of(library: Library, call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    library.wait(call())
    return time.perf_counter() - start


def median_seconds(library: Library, call: Callable[[], Any], repeat: int, limit: float) -> float:
    """After one call to warm up, which is the time itself if it is long."""
    first = seconds_of(library, call)
    if first > TOO_LONG:
        return first
    times, end = [], time.perf_counter() + limit
    while not times or (len(times) < repeat and time.perf_counter() < end):
        times.append(seconds_of(library, call))
    return statistics.median(times)


def seconds_per_system(
    library: Library, call: Callable[[dict[str, Any]], Any], given: dict[str, Any], count: int, repeat: int, limit: float
) -> tuple[float, int]:
    """And the systems that this was measured on."""
    few = max(count // TRIED, 1)
    some = {name: a[:few] for name, a in given.items()}
    first = seconds_of(library, lambda: call(some))
    if first > TOO_LONG:
        return first / few, few
    most = int(few / max(seconds_of(library, lambda: call(some)), 1e-9))  # in a second, by the second call
    if most < count:
        count = max(most, few)
        given = {name: a[:count] for name, a in given.items()}
    return median_seconds(library, lambda: call(given), repeat, limit) / count, count


# ---- problems: arrays, Shoal's call, the calls of others ------------------------------------------------


def spd(n: int, count: int, dtype: str) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(n)
    M = rng.standard_normal((count, n, n), dtype=np.float64)
    A = np.matmul(M, M.swapaxes(1, 2), out=M) if n > 1 else M * M
    A += n * np.eye(n)
    return {"A": A.astype(dtype), "b": rng.standard_normal((count, n, 1)).astype(dtype)}


def indefinite(n: int, count: int, dtype: str) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(n)
    M = rng.standard_normal((count, n, n))
    return {"A": (M + M.swapaxes(1, 2)).astype(dtype), "b": rng.standard_normal((count, n, 1)).astype(dtype)}


def bands(n: int, count: int, dtype: str) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(n)
    dl, d, du, b = rng.standard_normal((4, count, n)).astype(dtype)
    dl[:, 0] = du[:, -1] = 0
    return {"dl": dl, "d": d + 6, "du": du, "b": b}


Call = Callable[[Any, dict[str, Any]], Any]
SOLVES: dict[str, dict[str, Call]] = {
    "numpy": {"linalg.solve": lambda np_, v: np_.linalg.solve(v["A"], v["b"])},
    "torch": {"linalg.solve_ex": lambda torch, v: torch.linalg.solve_ex(v["A"], v["b"])},
    "cupy": {"linalg.solve": lambda cupy, v: cupy.linalg.solve(v["A"], v["b"])},
    "jax": {"numpy.linalg.solve": lambda jax, v: jax.numpy.linalg.solve(v["A"], v["b"])},
}
SPD: dict[str, dict[str, Call]] = {
    **SOLVES,
    "torch": {
        **SOLVES["torch"],
        "cholesky_ex + cholesky_solve": lambda torch, v: torch.cholesky_solve(
            v["b"], torch.linalg.cholesky_ex(v["A"]).L
        ),
    },
}
INDEFINITE: dict[str, dict[str, Call]] = {
    **SOLVES,
    "torch": {
        **SOLVES["torch"],
        "ldl_factor_ex + ldl_solve": lambda torch, v: torch.linalg.ldl_solve(
            *torch.linalg.ldl_factor_ex(v["A"])[:2], v["b"]
        ),
    },
}
EIGH: dict[str, dict[str, Call]] = {
    "numpy": {"linalg.eigh": lambda np_, v: np_.linalg.eigh(v["A"])},
    "torch": {"linalg.eigh": lambda torch, v: torch.linalg.eigh(v["A"])},
    "cupy": {"linalg.eigh": lambda cupy, v: cupy.linalg.eigh(v["A"])},
    "jax": {"numpy.linalg.eigh": lambda jax, v: jax.numpy.linalg.eigh(v["A"])},
}
TRIDIAGONAL: dict[str, dict[str, Call]] = {
    "jax": {
        "lax.linalg.tridiagonal_solve": lambda jax, v: jax.lax.linalg.tridiagonal_solve(
            v["dl"], v["d"], v["du"], v["b"][..., None]
        )
    },
}
PROBLEMS: dict[str, tuple[Any, Callable[[dict[str, Any]], Any], dict[str, dict[str, Call]]]] = {
    "spd": (spd, lambda v: shoal.solve_ex(v["A"], v["b"]), SPD),
    "indefinite": (indefinite, lambda v: shoal.solve_ex(v["A"], v["b"]), INDEFINITE),
    "eigh": (indefinite, lambda v: shoal.eigh(v["A"]), EIGH),
    "tridiagonal": (
        bands, lambda v: shoal.solve_tridiagonal_ex(v["dl"], v["d"], v["du"], v["b"]), TRIDIAGONAL
    ),
}  # fmt: skip


def host(a: Any) -> np.ndarray:
    if hasattr(a, "get"):
        a = a.get()
    return np.asarray(a.cpu() if hasattr(a, "cpu") else a)


def backward_error(problem: str, arrays: dict[str, np.ndarray], result: Any, sample: int = 1000) -> float:
    """The largest |b - A x| / (|A| |x| + |b|), or |A v - w v| / |A|, of the first systems."""
    if problem == "eigh":
        w, V = (host(part)[:sample].astype(float) for part in result)
        A = arrays["A"][:sample].astype(float)
        return float((np.abs(A @ V - V * w[:, None]).max((1, 2)) / np.abs(A).sum(-1).max(-1)).max())
    x = host(result.x)[:sample].astype(float)
    v = {name: a[:sample].astype(float) for name, a in arrays.items()}
    if problem == "tridiagonal":
        Ax = v["d"] * x
        Ax[:, 1:] += v["dl"][:, 1:] * x[:, :-1]
        Ax[:, :-1] += v["du"][:, :-1] * x[:, 1:]
        size = sum(np.abs(v[name]) for name in ("dl", "d", "du")).max(-1)
        off = np.abs(v["b"] - Ax).max(-1) / (size * np.abs(x).max(-1) + np.abs(v["b"]).max(-1))
        return float(off.max())
    off = np.abs(v["b"] - v["A"] @ x).max((1, 2))
    return float((off / (np.abs(v["A"]).sum(-1).max(-1) * np.abs(x).max((1, 2)) + np.abs(v["b"]).max((1, 2)))).max())


def run(problem: str, n: int, dtype: str, device: str, count: int, repeat: int, limit: float) -> list[dict[str, Any]]:
    make, ours, others = PROBLEMS[problem]
    different = min(count, DIFFERENT)
    times = count // different
    count = times * different
    arrays, rows = make(n, different, dtype), []
    for library in libraries(device).values():
        calls = others.get(library.name, {})
        if not calls:
            continue
        given = {name: library.repeated(library.array(a), times) for name, a in arrays.items()}
        seconds = median_seconds(library, lambda: ours(given), repeat, limit) / count  # noqa: B023
        error = backward_error(problem, arrays, ours(given))
        for function, call in calls.items():
            try:
                theirs, systems = seconds_per_system(
                    library, lambda some: call(library.module, some), given, count, repeat, limit  # noqa: B023
                )
            except Exception as failed:
                print(f"{problem} n={n}: {library.name} {function}: {str(failed).splitlines()[0]}", file=sys.stderr)
                continue
            rows.append({
                "problem": problem, "n": n, "count": count, "type": dtype, "library": library.name,
                "function": function, "their_count": systems, "shoal_seconds": seconds * count,
                "their_seconds": theirs * systems, "ratio": theirs / seconds, "shoal_systems_per_second": 1 / seconds,
                "their_systems_per_second": 1 / theirs, "backward_error": error,
            })  # fmt: skip
            print(
                f"{problem:12s} n={n:<4d} {dtype} x{count:<8d} shoal {1e-6 / seconds:9.4g} M/s   "
                f"{library.name} {function} {1e-6 / theirs:9.4g} M/s   ratio {theirs / seconds:.3g}", flush=True
            )  # fmt: skip
    return rows


# ---- the time of one call ---------------------------------------------------------------------------------


def overhead(device: str, seconds: float = 2.0) -> list[dict[str, Any]]:
    """Microseconds per call on 8 systems of 4 unknowns, float64: of blocks of 100 calls the median and the least."""
    arrays = {**spd(4, 8, "float64"), **{f"{k}1": v for k, v in bands(4, 8, "float64").items()}}
    rows = []
    for library in libraries(device).values():
        v = {name: library.array(a) for name, a in arrays.items()}
        plan = shoal.TridiagonalPlan(4, 8, device=device)
        out = library.array(np.empty((8, 4))) if library.name != "jax" else None
        ours: dict[str, Callable[[], Any]] = {
            "shoal.solve_ex": lambda: shoal.solve_ex(v["A"], v["b"]),  # noqa: B023
            "shoal.solve": lambda: shoal.solve(v["A"], v["b"]),  # noqa: B023
            "shoal.solve_tridiagonal": lambda: shoal.solve_tridiagonal(v["dl1"], v["d1"], v["du1"], v["b1"]),  # noqa: B023
        }
        if out is not None:
            ours["shoal.TridiagonalPlan.solve"] = lambda: plan.solve(v["dl1"], v["d1"], v["du1"], v["b1"], out=out)  # noqa: B023
        theirs = {f"{library.name}.{f}": (lambda call=call: call(library.module, v)) for f, call in SPD[library.name].items()}  # noqa: B023
        for name, call in {**ours, **theirs}.items():
            blocks, queued, end = [], [], time.perf_counter() + seconds
            library.wait(call())
            while len(blocks) < 5 or (time.perf_counter() < end and len(blocks) < 2000):
                start = time.perf_counter()
                for _ in range(100):
                    last = call()
                queued.append((time.perf_counter() - start) / 100 * 1e6)
                library.wait(last)
                blocks.append((time.perf_counter() - start) / 100 * 1e6)
            micros = statistics.median(blocks)
            rows.append({"problem": "overhead", "n": 4, "count": 8, "type": "float64", "library": library.name,
                         "function": name, "microseconds": micros, "least": min(blocks),
                         "queued": statistics.median(queued)})  # fmt: skip
            print(
                f"overhead     8 systems of 4, arrays of {library.name:6s} {name:38s} {micros:8.2f} us per call, "
                f"at least {min(blocks):.2f}, queued in {statistics.median(queued):.2f}", flush=True
            )  # fmt: skip
    return rows


def parts(device: str) -> list[dict[str, Any]]:
    """Microseconds of what solve_ex and TridiagonalPlan.solve do, for 8 systems of 4 unknowns, until they return."""
    from shoal import _core, _linalg, _results, _runtime

    rows = []
    arrays = {**spd(4, 8, "float64"), **{f"{k}1": v for k, v in bands(4, 8, "float64").items()}}
    for library in libraries(device).values():
        if library.name == "jax":
            continue
        v = {name: library.array(a) for name, a in arrays.items()}
        A, b, row = v["A"], v["b"], [v[name] for name in ("dl1", "d1", "du1", "b1")]
        plan = shoal.TridiagonalPlan(4, 8, device=device)
        out = library.repeated(row[3], 1)
        plan.solve(*row, out=out)
        fields, kept = _linalg._VERDICT | _linalg.RCOND, _runtime._local
        options = ("auto", None, "lower", 0, False, 0.0, 0.0)
        x, block, _, (door, _), _ = _linalg.SMALL.first((A, b), options, fields, None, False)
        stream, p, key = door.library.stream(door.library.device(A)), door.library.pointer, (*options, None, fields)
        work = next(plan for (kind, *_), plan in kept.plans.items() if kind is _linalg._SMALLSYM)
        measured: dict[str, Callable[[], Any]] = {
            "solve_ex": lambda: shoal.solve_ex(A, b),  # noqa: B023
            "  all but the arguments and the result": lambda: kept.calls.again((A, b), key, False),  # noqa: B023
            "  a look at the arguments": lambda: kept.calls.again((A, b), (), False),  # noqa: B023
            "  memory for x": lambda: library.module.empty_like(b),  # noqa: B023
            "  the C function": lambda: _core.smallsym_solve(work, stream, p(block), fields, p(A), p(b), p(x)),  # noqa: B023
            "  the C function without outcomes": lambda: _core.smallsym_solve(work, stream, 0, 0, p(A), p(b), p(x)),  # noqa: B023
            "  and the number of failed systems": lambda: (  # noqa: B023
                _core.smallsym_solve(work, stream, p(block), 1, p(A), p(b), p(x)), _core.smallsym_failed(work)  # noqa: B023
            ),  # fmt: skip
            "  a C function that does nothing": lambda: _core.version(),
            "  the result": lambda: _results.Result(x, "smallsym", door, block, fields, (8,)),  # noqa: B023
            "TridiagonalPlan.solve": lambda: plan.solve(*row, out=out),  # noqa: B023
            "  the C function ": lambda: _core.tridiag_solve(plan._plan, stream, 0, 0, *map(p, row), p(out)),  # noqa: B023
        }
        for name, call in measured.items():
            least = float("inf")
            for _ in range(50):
                start = time.perf_counter()
                for _ in range(100):
                    call()
                least = min(least, (time.perf_counter() - start) / 100 * 1e6)
                library.wait(x)
            rows.append({"problem": "parts", "library": library.name, "function": name.strip(), "least": least})
            print(f"parts        arrays of {library.name:6s} {name:42s} at least {least:6.2f} us", flush=True)
    return rows


# ---- arrays on the host, solved by a GPU ----------------------------------------------------------------------


def copy_rates(library: Library, size: int = 1 << 30) -> tuple[float, float]:
    """Bytes per second of one large copy from pinned memory to the GPU, and back."""
    module = library.module
    if library.name == "torch":
        there, here = module.empty(size, dtype=module.uint8, device="cuda"), module.empty(size, dtype=module.uint8).pin_memory()
        copies = (lambda: there.copy_(here, non_blocking=True), lambda: here.copy_(there, non_blocking=True))
    else:
        there, memory = module.empty(size, module.uint8), module.cuda.alloc_pinned_memory(size)
        here = np.frombuffer(memory, np.uint8, size)
        copies = (lambda: there.set(here), lambda: there.get(out=here))
    to, back = (size / min(seconds_of(library, copy) for _ in range(5)) for copy in copies)
    return to, back


def staging(gigabytes: float, repeat: int) -> list[dict[str, Any]]:
    """A GPU solves arrays of numpy: the time beside that of the slower direction's copies from pinned memory alone."""
    library = next(iter(found for name, found in libraries("cuda").items() if name != "jax"))
    to, back = copy_rates(library)
    print(f"staging      pinned memory: {to / 1e9:.1f} GB/s to the GPU, {back / 1e9:.1f} GB/s from it")
    rows = []
    for problem, n in (("tridiagonal", 256), ("spd", 8), ("spd", 32)):
        make = PROBLEMS[problem][0]
        arrays = make(n, DIFFERENT, "float64")
        times = max(int(gigabytes * 1e9 / sum(a.nbytes for a in arrays.values())), 1)
        v = {name: np.tile(a, (times, *[1] * (a.ndim - 1))) for name, a in arrays.items()}
        if problem == "tridiagonal":
            call = lambda: shoal.solve_tridiagonal_ex(v["dl"], v["d"], v["du"], v["b"], device="cuda")  # noqa: B023, E731
        else:
            call = lambda: shoal.solve_ex(v["A"], v["b"], device="cuda")  # noqa: B023, E731
        result = call()
        error = backward_error(problem, arrays, result)
        all_seconds = sorted(seconds_of(library, call) for _ in range(repeat))
        seconds = all_seconds[0]
        into = sum(a.nbytes for a in v.values())
        out = result.x.nbytes + result._block.nbytes
        bound = max(into / to, out / back)
        rows.append({"problem": f"staging {problem}", "n": n, "count": len(result.x), "type": "float64",
                     "seconds": seconds, "bytes_in": into, "bytes_out": out, "copy_to": to, "copy_back": back,
                     "share_of_copy_rate": bound / seconds, "least_share": bound / all_seconds[-1],
                     "backward_error": error})  # fmt: skip
        print(
            f"staging      {problem:12s} n={n:<4d} {into / 1e9:.2f} GB in, {out / 1e9:.2f} GB out: {seconds:.3f} s, "
            f"{into / seconds / 1e9:.1f} GB/s, {100 * bound / seconds:.0f} % of the slower direction's rate "
            f"(the slowest of {repeat} calls {100 * bound / all_seconds[-1]:.0f} %)", flush=True
        )  # fmt: skip
    return rows


def machine() -> dict[str, Any]:
    info = shoal.info()
    versions = {"python": platform.python_version(), "numpy": np.__version__}
    for name in ("torch", "cupy", "jax"):
        if name in sys.modules:
            versions[name] = sys.modules[name].__version__
    return {"shoal": info["version"], "device": info["device"], "gpu": info["gpu"], "isa": info["isa"],
            "threads": info["threads"], "cores": os.cpu_count(), "versions": versions}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    parser.add_argument("--n", type=int, nargs="+", default=[8, 32, 64])
    parser.add_argument("--type", nargs="+", choices=("float64", "float32"), default=["float64", "float32"])
    parser.add_argument("--count", type=float, default=0, help="systems per problem; 0: as many as a GPU wants")
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.2, help="for the repetitions of one function; overhead: 10 times")
    parser.add_argument("--staging", type=float, default=0, metavar="GB", help="arrays of so many GB on the host alone")
    parser.add_argument("--parts", action="store_true", help="the parts of one call alone")
    parser.add_argument("--overhead", action="store_true", help="the time of one small call alone")
    parser.add_argument("--json", help="a file for the rows")
    a = parser.parse_args()
    rows: list[dict[str, Any]] = []

    def keep() -> None:
        """Writes what there is: a run that is stopped keeps its rows."""
        if a.json:
            with open(a.json, "w", encoding="utf-8") as file:
                json.dump({"machine": machine(), "command": sys.argv[1:], "rows": rows}, file, indent=1)
                file.write("\n")

    if a.overhead:
        rows += overhead(a.device, 10 * a.seconds)
    if a.parts:
        rows += parts(a.device)
    if a.staging:
        rows += staging(a.staging, a.repeat)
    small = a.overhead or a.parts or a.staging
    for problem in [] if small else a.problems:
        for n in a.n:
            for dtype in a.type:
                count = int(a.count) or max(COUNTS[problem] * 8 // n, 1000)
                rows += run(problem, n, dtype, a.device, count, a.repeat, a.seconds)
                keep()
    if rows and not small:
        ratios = sorted(row["ratio"] for row in rows)
        print(f"ratios, their time / Shoal's: {ratios[0]:.3g} to {ratios[-1]:.3g}, median {statistics.median(ratios):.3g}")
    keep()


if __name__ == "__main__":
    main()
