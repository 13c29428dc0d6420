#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's sort of rows beside ours: times torch.sort on a GPU, which also returns the places (int64),
and writes rows as `shoal bench` does (bench/results/README.md).

    python3 bench/torch_sort.py bench/results/sort-h200-torch.json [KEYS [N...]]
"""
import datetime
import json
import statistics
import sys
import time

import torch


def measure(n, count, seconds=0.2):
    keys = torch.randint(-2**31, 2**31, (count, n), dtype=torch.int32, device="cuda")
    out = torch.sort(keys, dim=1)
    kept = torch.gather(keys, 1, out.indices).equal(out.values)
    verified = kept and bool((out.values[:, 1:] >= out.values[:, :-1]).all())
    del out
    times, end = [], time.monotonic() + seconds
    while len(times) < 5 or time.monotonic() < end:
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        first.record()
        torch.sort(keys, dim=1)
        last.record()
        last.synchronize()
        times.append(1e-3 * first.elapsed_time(last))
    return verified, times


def row(n, count):
    verified, times = measure(n, count)
    median, quarters = statistics.median(times), statistics.quantiles(times, n=4)
    moved = n * count * (2 * 4 + 8)
    problem = f"sort:batchsort:cuda:i32:n={n},count={count},values=8,index=1,direction=ascending,kind=random"
    return {
        "who": "PyTorch", "version": "PyTorch " + torch.__version__, "method": "torch.sort", "variant": "",
        "problem": problem, "module": "sort", "backend": "cuda", "type": "i32", "kind": "random",
        "n": n, "na": n, "count": count, "value_bytes": 8, "index": True, "direction": "ascending", "seed": 0,
        "threads": 0, "sets": 1, "verified": verified, "max_residual": 0, "tolerance": 1,
        "rows_checked": count, "failed": 0, "warned": 0, "wrong": 0 if verified else 1,
        "bytes": moved, "median_s": median, "spread_s": (quarters[2] - quarters[0]) / 2,
        "fastest_s": min(times), "samples": len(times), "calls": 1,
        "keys_per_second": n * count / median, "bytes_per_second": moved / median,
        "note": "returns places; memory of the result comes from its cache",
    }


def main():
    path, keys = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 2**26
    lengths = [int(n) for n in sys.argv[3:]] or [32, 64, 128, 256, 512, 1024]
    device = torch.cuda.get_device_properties(0)
    result = {
        "command": "bench", "version": torch.__version__, "backend": "cuda", "device": device.name,
        "machine": {
            "device": device.name, "gpu": device.name, "multiprocessors": device.multi_processor_count,
            "software": "CUDA " + torch.version.cuda, "copy_bytes_per_second": {},
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        },
        "rows": [row(n, keys // n) for n in lengths],
    }
    with open(path, "w", encoding="utf-8") as file:
        json.dump(result, file, indent=2)
    for r in result["rows"]:
        print(f"{r['n']:6d} {1e3 * r['median_s']:9.4f} ms {1e-9 * r['keys_per_second']:8.2f} Gkeys/s")


if __name__ == "__main__":
    main()
