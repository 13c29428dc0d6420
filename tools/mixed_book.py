#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mixed_book.py FOLDER [CONTRACTS [SEED]]: a market of 20 assets and a book of mixed contracts [1000], for timing `shoal cva`.

    python3 tools/mixed_book.py out/mixed
    shoal cva out/mixed/book.csv --market out/mixed/market.csv --rate 0.03 --dates 1w --outer 16384 --estimator amc

Half of the contracts are European puts, calls, forwards and digital options on one asset. 30 % are American puts and calls
on one asset, 20 % American baskets and max-calls on 2 to 5 assets. Maturities are 13, 26, 39 and 52 weeks, netting sets 10.
A quarter of the contracts is sold. The same arguments make the same files.
"""

import os
import random
import sys

ASSETS, SETS, RATE_OF_EQUALS = 20, 10, 0.5


def main():
    folder, count, seed = sys.argv[1], int((sys.argv + ["", "1000"])[2] or 1000) if len(sys.argv) > 2 else 1000, 1
    if len(sys.argv) > 3:
        seed = int(sys.argv[3])
    draw = random.Random(seed)
    names = [f"A{i:02}" for i in range(ASSETS)]
    spots = [round(draw.uniform(40, 160), 1) for _ in names]
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "market.csv"), "w", encoding="ascii") as file:
        print("asset,spot,volatility,dividend," + ",".join(names), file=file)
        for i, name in enumerate(names):
            correlations = ",".join("1" if k == i else "0.3" for k in range(ASSETS))
            volatility, dividend = round(draw.uniform(0.15, 0.45), 2), round(draw.uniform(0, 0.05), 3)
            print(f"{name},{spots[i]},{volatility},{dividend},{correlations}", file=file)
    with open(os.path.join(folder, "book.csv"), "w", encoding="ascii") as file:
        print("id,style,payoff,assets,strike,maturity,quantity,set", file=file)
        for i in range(count):
            share = i / count
            single = share < 0.8
            chosen = draw.sample(range(ASSETS), 1 if single else draw.randint(2, 5))
            if share < 0.5:
                payoff = draw.choice(["put", "put", "put", "call", "call", "call", "forward", "digital-call"])
            else:
                payoff = draw.choice(["put", "call"] if single else ["basket-put", "basket-call", "max-call"])
            level = max(spots[a] for a in chosen) if payoff == "max-call" else sum(spots[a] for a in chosen) / len(chosen)
            strike = round(level * draw.choice([0.8, 0.9, 0.95, 1, 1.05, 1.1, 1.2]), 2)
            quantity = draw.choice([1, 2, 5]) * (-1 if draw.random() < 0.25 else 1)
            style = "european" if share < 0.5 else "american"
            assets = " ".join(names[a] for a in chosen)
            weeks = draw.choice([13, 26, 39, 52])
            print(f"T{i:04},{style},{payoff},{assets},{strike},{weeks}w,{quantity},S{draw.randrange(SETS)}", file=file)


main()
