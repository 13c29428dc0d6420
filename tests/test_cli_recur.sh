#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# test_cli_recur.sh PROGRAM [BACKEND] - `shoal recur` and `shoal gen recur`: files, numbers in their place,
# orders, directions, layouts, mistakes; and problems of recur for `verify` and `bench`.
# shellcheck disable=SC2086,SC1091,SC2154

# shellcheck source=tests/test_cli_base.sh
. "$(dirname "$0")/test_cli_base.sh"
on="--backend ${2:-cpu}"
"$shoal" info $on >/dev/null 2>&1 || { echo "skipped: no backend $2 here"; exit 77; }

# --- mistakes ---
expect 64 recur; said "--s is missing"
expect 64 recur --s 1; said "-o is missing"
expect 64 recur --s 1 -o w.npy; said "--t is missing: the term that is added"
expect 64 recur --s 1 --t 1; said "-o is missing"
expect 64 recur --s 1 --t 1 -o w.npy; said "--n is missing"
expect 64 recur --s 1 --t 1 --n -3 -o w.npy; said "--n"
expect 64 recur --s 1,2 --t 1 --n 3 -o w.npy; said "--s has 2 numbers"
expect 64 recur --s 1 --t 1 --n 3 --order 5 -o w.npy; said "--order"
expect 64 recur --s 1,2 --t 1 --n 3 --order 2 --w0 1 -o w.npy; said "--w0 has 1 number"
expect 64 recur --moebius --s 1,2,3,4 --t 1 --n 3 -o w.npy; said "--t and --moebius exclude each other"
expect 64 recur --moebius --s 1,2 --n 3 -o w.npy; said "--s has 2 numbers, expected 4"
expect 64 recur --s 1 --t 1 --n 3 --method lookbak -o w.npy; said "Did you mean 'lookback'?"
expect 64 recur --s 1 --t 1 --n 3 --method pscheme --variant x -o w.npy; said "rearranged"
expect 64 recur --s 1 --t 1 --n 3 --status w.npy -o w.npy; said "two outputs"
expect 66 recur --s nowhere.npy --t 1 -o w.npy; said "nowhere.npy"
expect 64 gen recur decay -o r; said "--n is missing"
expect 64 gen recur decay --n 5 --nrhs 2 -o r; said "--nrhs does not apply to module 'recur'"
expect 64 gen recur decay --n 5 --order 9 -o r; said "--order"
check "usage errors leave no files" test -z "$(ls -- *.npy 2>/dev/null)"

# --- numbers ---
values() { od -An -v -t f8 -j 128 "$1" | awk '{ for (i = 1; i <= NF; i++) printf "%.10g ", $i }'; }
expect 0 recur --s 2 --t 1 --w0 3 --n 4 -o w.npy $on; silent err
check "w = 2 w + 1 from 3" test "$(values w.npy)" = "7 15 31 63 "
expect 0 recur --s 2 --t 1 --w0 3 --n 4 --reverse -o w.npy $on
check "the same in reverse" test "$(values w.npy)" = "63 31 15 7 "
expect 0 recur --s 1,1 --order 2 --t 0 --w0 1,0 --n 8 -o w.npy $on
check "Fibonacci's numbers" test "$(values w.npy)" = "1 2 3 5 8 13 21 34 "
expect 0 recur --moebius --s 1,1,1,0 --w0 1 --n 6 -o w.npy $on
check "the golden ratio by continued fractions" \
    test "$(values w.npy | awk '{ printf "%.4f", $6 }')" = "1.6154"
for method in serial lookback pscheme pcr; do
    expect 0 recur --s 1 --t 1 --n 300 --count 2 --method $method -o $method.npy $on
    check "$method" cmp serial.npy $method.npy
done
expect 0 recur --s 1 --t 1 --n 0 -o w.npy $on
expect 0 gen recur decay --n 0 --count 3 -o none
check "first values without rows" test "$(contents none-w0.npy | wc -c)" -eq 24

# --- files ---
expect 0 gen recur decay --n 1000 --count 7 --seed 3 -o r; silent err
check "the files are named" grep -q "r-w0.npy *f64 (7,)" out
expect 0 recur --s r-s.npy --t r-t.npy --w0 r-w0.npy -o w.npy --status s.npy --json $on; json
leaf command=recur; leaf count=7; leaf n=1000; leaf order=1; leaf failed=0; leaf files.w=w.npy
expect 0 recur --s r-s.npy --t r-t.npy --w0 r-w0.npy --method serial -o serial.npy $on
expect 0 gen recur decay --n 1000 --count 7 --seed 3 --layout interleaved -o i
expect 0 recur --s i-s.npy --t i-t.npy --w0 i-w0.npy --layout interleaved --method serial -o iw.npy $on
numbers_of() { od -An -v -t x8 -w8 -j 128 "$1" | sort | cksum; }
check "the layouts hold the same numbers" test "$(numbers_of serial.npy)" = "$(numbers_of iw.npy)"
expect 0 gen recur waves --n 50 --count 4 --order 3 --type f32 -o o; check "an axis" grep -q "(4, 50, 3)" out
expect 0 recur --s o-s.npy --t o-t.npy --w0 o-w0.npy --order 3 -o w.npy $on
expect 66 recur --s o-s.npy --t o-t.npy -o w.npy $on; said "(4, 50, 3)"
expect 66 recur --s o-s.npy --t r-t.npy --order 3 -o w.npy $on; said "r-t.npy"
expect 66 recur --s o-s.npy --t o-t.npy --w0 r-w0.npy --order 3 -o w.npy $on; said "3 numbers"
expect 64 recur --s r-s.npy --t 1 --n 5 -o w.npy $on; said "--n and --count are for constants"
expect 64 recur --s r-s.npy --t 1 --type f32 -o w.npy $on; said "--type is for constants"
expect 74 recur --s r-s.npy --t 1 -o nowhere/w.npy $on; said "nowhere"

# --- failures ---
expect 0 gen recur nonfinite --n 40 --count 22 -o bad
expect 1 recur --s bad-s.npy --t bad-t.npy -o w.npy --status s.npy --json $on; json
leaf failed=2; said "2 segments without an answer; the first is number 10"; said "non-finite input"
expect 1 recur --s 2 --t 0 --w0 1 --n 2000 -o w.npy $on; said "overflow"

# --- problems ---
expect 0 verify recur:all::f32+f64:n=70,count=5,order=1+2 $on; check "verified" grep -q "lookback" out
expect 0 verify recur:pscheme:::n=900,threads=4+8,groups=3,variant=all $on
expect 64 verify recur:lookback:::n=500,phase=propagation; said "phase"
expect 64 verify recur:pscheme:::n=500,phase=second; said "'second'"
expect 0 verify recur::::n=500,direction=reverse,constant=none+s+t+both $on
expect 64 verify recur:lookback:::n=500,threads=4; said "threads"
expect 0 bench recur:lookback::f32:n=5000 --repeat 2 --peers --json $on; json
leaf verified=true; leaf rows.0.method=lookback; leaf rows.0.order=1; leaf rows.0.constant=none

# --- rows as the paper's figures need them (tools/figures.py) ---
if [ "${2:-cpu}" = cpu ]; then
    parts=recur:pscheme::f32:n=2^12,count=1,constant=both,groups=4+8
    expect 0 bench $parts,threads=16+32,variant=blocked $parts,threads=16,variant=rearranged,phase=all $on --repeat 1 --json; json
    leaf rows.0.groups_asked=4; leaf rows.0.threads_asked=16; leaf rows.0.variant=blocked; leaf rows.6.phase=precomputation
fi

summary test_cli_recur.sh
