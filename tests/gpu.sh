#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# gpu.sh OUT PART... - what only a machine with a GPU can show, before a release. Parts run in their order; each has a
# log OUT/PART.txt, and the last lines tell how each ended and how long it took. LIMIT seconds (540) per part.
#
#   build      library, program and tests for this GPU, in $BUILD (build-gpu)
#   tests      the tests of the GPU: ctest -L gpu
#   memcheck   the same of one test per module, by compute-sanitizer
#   promises   SYSTEMS (1e5) random systems per module, judged by the oracle: no false ok, no false fail
#   kept       every row of bench/results of this GPU once more, beside its kept time
#   base       the rows below by $BASE, an earlier program, and by this one, in turns: ratios of the fastest times
#   cva        the CVAs of bench/results/cva and a book of 1,000 European calls: seconds
#   python     bench/python/linalg.py, with the package of $PYTHON (python3)
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
[ $# -gt 1 ] || { sed -n '3,17s/^# \{0,1\}//p' "$0" && exit 64; }
out=$1 build=${BUILD:-build-gpu} jobs=$(nproc) limit=${LIMIT:-540} systems=${SYSTEMS:-1e5}
shift
mkdir -p "$out" || exit 74
shoal=$build/shoal
rows=( # problem strings
    # shellcheck disable=SC2054
    tridiag:auto:cuda:f32+f64:n=256,count=131072 tridiag:auto:cuda:f64:n=2048,count=16384
    tridiag:auto:cuda:f64:n=256,count=131072,kind=penalty tridiag:qr:cuda:f64:n=256,count=131072
    tridiag:twocarry:cuda:f64:n=2^20+2^23 tridiag:auto:cuda:f64:n=16+32,count=2^20
    smallsym:auto+ldlt+ldltp+hhpcr:cuda:f32+f64:n=8+32+64,bytes=2^28
    recur:lookback:cuda:f32:n=2^26,order=1+2+3+4 recur:lookback:cuda:f64:n=2^26,order=1+2
    recur:lookback:cuda:f32:n=1000,count=65536,layout=interleaved symindef:complete:cuda:f64:n=4096
)

build() {
    cmake -S . -B "$build" -DSHOAL_TESTS=ON -DSHOAL_TIER=quick -DSHOAL_ISA=native -DSHOAL_CUDA=ON -DSIMT_SANITIZERS=OFF &&
        cmake --build "$build" -j "$jobs"
}

tests() { ctest --test-dir "$build" -L gpu -j 4 --output-on-failure --timeout 300; }

memcheck() {
    local bad=0 name
    for name in tridiag_api smallsym_api recur_api sort_api symindef_api american_api cva_api; do
        [ -x "$build/tests/test_$name" ] || continue
        timeout 120 compute-sanitizer --error-exitcode 9 "$build/tests/test_$name" --backend=cuda >"$out/memcheck-$name.txt" 2>&1
        local code=$?
        echo "$name $code"
        [ $code = 0 ] || { bad=1 && tail -20 "$out/memcheck-$name.txt"; }
    done
    return $bad
}

promises() {
    local bad=0 module
    for module in tridiag smallsym recur symindef; do
        "$build/tests/test_promises_$module" --backend=cuda "--systems=$systems" --seed=5 || bad=1
    done
    return $bad
}

kept() { "$shoal" bench --against bench/results --save "$out" --name kept; }

base() {
    local turn row name
    "${BASE:?the program to compare with}" --version
    for turn in 1 2; do
        for row in "${rows[@]}"; do
            for name in base this; do
                [ $name = base ] && program=$BASE || program=$shoal
                "$program" bench "$row" --json >>"$out/base-$name.jsonl" 2>>"$out/base-errors.txt" ||
                    echo "$name cannot run $row: $(tail -1 "$out/base-errors.txt")"
            done
        done
    done
    python3 - "$out" <<'END'
import json, sys
def fastest(name):
    text, decoder, times = open(f"{sys.argv[1]}/base-{name}.jsonl").read(), json.JSONDecoder(), {}
    while text.strip():
        run, end = decoder.raw_decode(text := text.strip())
        text = text[end:]
        for row in run["rows"]:
            if row.get("fastest_s"):
                times[row["problem"]] = min(times.get(row["problem"], 1e9), row["fastest_s"])
    return times
base, this = fastest("base"), fastest("this")
for problem, seconds in this.items():
    if problem in base:
        print(f"{seconds / base[problem]:6.3f}  {1e3 * seconds:9.4f} ms  {problem}")
END
}

cva() {
    local here=bench/results/cva
    awk 'BEGIN { print "asset,spot,volatility"; for (i = 0; i < 20; i++) print "A" i ",100,0." 20 + i }' >"$out/market.csv"
    awk 'BEGIN { print "payoff,assets,strike,maturity,quantity"
                 for (i = 0; i < 1000; i++) print "call,A" i % 20 "," 80 + i % 40 "," 1 + i % 4 "," i % 2 * 2 - 1 }' >"$out/calls.csv"
    local run
    for run in "examples/book.csv --market examples/market.csv --rate 0.03 --dates 12 --outer 16384 --inner 256" \
        "$here/basket29.csv --market $here/basket29-market.csv --dates 20 --outer 10000 --inner 300 --type f32" \
        "$here/put.csv --market $here/put-market.csv --dates 50 --outer 100000 --inner 316 --type f32" \
        "$out/calls.csv --market $out/market.csv --dates 50 --outer 100000" \
        "examples/book.csv --market examples/market.csv --rate 0.03 --dates 12 --outer 16384 --estimator amc"; do
        # shellcheck disable=SC2086 # words
        "$shoal" cva $run --backend cuda --json >"$out/cva.json" 2>>"$out/cva-errors.txt"
        echo "$? $(sed -n 's/^ *"\(seconds\|cva\)": \([^,]*\),*$/\1 \2/p' "$out/cva.json" | tr '\n' ' ') $run"
    done
}

python() { "${PYTHON:-python3}" bench/python/linalg.py --device cuda --json "$out/python.json"; }

case $1 in
=build | =tests | =memcheck | =promises | =kept | =base | =cva | =python) "${1#=}" && exit ;;
=*) echo "no part '${1#=}'" && exit 64 ;;
esac
bad=0 ends=()
for part in "$@"; do
    start=$SECONDS
    timeout "$limit" "$0" "$out" "=$part" >"$out/$part.txt" 2>&1
    code=$?
    [ $code = 0 ] || bad=1
    ends+=("$part: exit $code, $((SECONDS - start)) s")
    tail -25 "$out/$part.txt"
done
printf '%s\n' "${ends[@]}"
exit $bad
