#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# test_cli_rng.sh PROGRAM [BACKEND] - random numbers by the command line: files of `shoal gen rng`, and
# problems of rng for `verify` and `bench`. BACKEND (cpu) is where they are made; on another one than the
# CPU the files must be those of the CPU, byte by byte.
# shellcheck disable=SC2086,SC1091,SC2154

# shellcheck source=tests/test_cli_base.sh
. "$(dirname "$0")/test_cli_base.sh"
on="--backend ${2:-cpu}"
"$shoal" info $on >/dev/null 2>&1 || { echo "skipped: no backend $2 here"; exit 77; }

# --- mistakes ---
expect 64 gen rng; said "--list"
expect 64 gen rng normal -o x; said "--count"
expect 64 gen rng normal --count 5; said "-o"
expect 64 gen rng normal --count -5 -o x; said "--count"
expect 64 gen rng normall --count 5 -o x; said "Did you mean 'normal'?"; said "poisson"; silent out
expect 64 gen rgn normal --count 5 -o x; said "Did you mean 'rng'?"
expect 64 gen rng auto --count 5 -o x; said "unknown kind 'auto'"
expect 64 gen rng poisson --count 5 -o x; said "--lambda is missing"
expect 64 gen rng gamma --count 5 -o x; said "--alpha is missing"
expect 64 gen rng ncchisq --count 5 --lambda 2 -o x; said "--df is missing"
expect 64 gen rng sobol --count 5 -o x; said "--n is missing"
expect 64 gen rng normal --count 5 --lambda 2 -o x; said "--lambda does not apply to kind 'normal'"
expect 64 gen rng normal --count 5 --n 2 -o x; said "--n does not apply to kind 'normal'"
expect 64 gen rng words --count 5 --type f32 -o x; said "u32"
expect 64 gen rng normal --count 5 --nrhs 2 -o x; said "--nrhs does not apply to module 'rng'"
for option in --packed "--triangle upper" "--order 2" "--parameter 1" "--from 3" "--layout system"; do
    expect 64 gen rng normal --count 5 $option -o x; said "${option%% *} does not apply to module 'rng'"
done
expect 64 gen tridiag dominant --n 5 --lambda 2 -o x; said "--lambda does not apply to module 'tridiag'"
expect 64 gen rng normal --count 5 --variant log -o x; said "boxmuller"
expect 64 gen rng words --count 5 --variant log -o x; said "no variants"
expect 64 gen rng poisson --count 5 --lambda two -o x; said "two"
# what a law allows the library knows
for bad in -1 nan inf 2e9; do
    expect 64 gen rng poisson --count 5 --lambda $bad -o x $on; said "lambda is"; silent out
done
expect 64 gen rng gamma --count 5 --alpha 0 -o x $on; said "alpha is 0"
expect 64 gen rng ncchisq --count 5 --lambda 1 --df -2 -o x $on; said "df is -2"
expect 64 gen rng sobol --count 5 --n 100000 -o x $on; said "dimensions is 100000"
expect 64 gen rng sobol --count 5 --n 0 -o x $on; said "dimensions is 0"
expect 64 gen rng normal --count 5 --purpose 4000 -o x $on; said "purpose is 4000"
expect 64 gen rng normal --count 5 --purpose 128 -o x $on; said "purpose is 128"
expect 64 gen rng normal --count 5 --draw 256 -o x $on; said "draw is 256"
expect 0 gen rng normal --count 5 --purpose 127 --draw 255 -o x && rm -f x.npy # limits in --help
check "limits of purpose and draw in the help" sh -c '"$1" gen --help | grep -q "0 to 127" && "$1" gen --help | grep -q "0 to 255"' sh "$shoal"
expect 64 gen rng sobol --count 5 --n 2 --first 4294967295 -o x $on; said "end of the stream"
expect 64 gen rng words --count 5 --first 18446744073709551614 -o x $on; said "end of the stream"
expect 64 gen rng sobol --count 1e18 --n 1000 -o x $on; said "too large"
expect 64 verify rng; said "problem: rng needs a method, for example rng:words"
expect 64 verify rng:poisson:::lambda=-1; said "lambda"; silent out
expect 64 verify rng:gamma:::alpha=0; said "alpha"; silent out
expect 64 verify rng:normal:::nrhs=1; said "key 'nrhs'"
check "usage errors leave no files" test -z "$(ls -- *.npy 2>/dev/null)"
expect 74 gen rng words --count 5 -o nowhere/x $on; said "nowhere/x"; silent out

# --- the files ---
expect 0 gen rng --list; silent err; check "kinds" grep -q "^rng *sobolnormal" out
expect 0 gen rng --list --json; json; leaf kinds.0.module=rng; leaf kinds.0.kind=words
numbers() { # numbers NAME COUNT ARGUMENT...: a kind with its options, in one file and in pieces
    name=$1 count=$2
    shift 2
    expect 0 gen rng "$@" --count "$count" --seed 9 -o whole $on; silent err
    expect 0 gen rng "$@" --count 7 --seed 9 -o piece1 $on
    expect 0 gen rng "$@" --count $((count - 7)) --seed 9 --first 7 -o piece2 $on
    { contents piece1.npy; contents piece2.npy; } >pieces
    contents whole.npy >all
    check "$name: pieces make the whole" cmp -s all pieces
    expect 0 gen rng "$@" --count "$count" --seed 10 -o other $on
    checks=$((checks + 1)); cmp -s whole.npy other.npy && fail "$name: another seed, the same file"
    expect 0 gen rng "$@" --count "$count" --seed 9 -o cpu --backend cpu --threads 1
    check "$name: the file of the CPU" cmp -s whole.npy cpu.npy
}
numbers words 1001 words; check "words: u4" grep -aq "'<u4'.*(1001,)" whole.npy
numbers uniform 1001 uniform; check "uniform: f8" grep -aq "'<f8'.*(1001,)" whole.npy
numbers "uniform f32" 1001 uniform --type f32; check "uniform: f4" grep -aq "'<f4'.*(1001,)" whole.npy
numbers normal 1001 normal
numbers icdf 1001 normal --variant icdf --type f32
numbers "another stream" 1001 normal --step 3 --purpose 4 --draw 5
numbers gamma 1001 gamma --alpha 0.5
numbers "log gamma" 1001 gamma --alpha 0.5 --variant log --type f32
numbers poisson 1001 poisson --lambda 64; check "poisson: u4" grep -aq "'<u4'.*(1001,)" whole.npy
check "poisson: counts" test "$(ints whole.npy | tr ' ' '\n' | awk '$1 < 10 || $1 > 200' | wc -l)" -eq 0
numbers ncchisq 1001 ncchisq --lambda 3 --df 2
numbers sobol 1001 sobol --n 3; check "sobol: (count,n)" grep -aq "'<f8'.*(1001, 3)" whole.npy
numbers sobolnormal 101 sobolnormal --n 5 --variant shift --type f32
expect 0 gen rng normal --count 1001 --seed 9 -o a $on; expect 0 gen rng normal --count 1001 --seed 9 --step 1 -o b $on
checks=$((checks + 1)); cmp -s a.npy b.npy && fail "another stream gave the same file"
expect 0 gen rng words --count 0 -o none $on; check "count = 0" grep -aq "(0,)" none.npy
expect 0 gen rng words --count 1 --first 18446744073709551613 -o end $on
expect 0 gen rng poisson --count 4 --lambda 0 -o zero $on; check "lambda = 0" test "$(ints zero.npy)" = "0 0 0 0"
expect 0 gen rng ncchisq --lambda 3 --df 2 --count 6 --first 5 --step 2 --seed 18446744073709551615 -o p --json $on
json; silent err; leaf command=gen; leaf module=rng; leaf kind=ncchisq; leaf variant=poisson; leaf count=6
leaf lambda=3; leaf df=2; leaf type=f64; leaf first=5; leaf step=2; leaf seed=18446744073709551615
leaf files.numbers=p.npy
expect 0 gen rng words --count 6 -o p --json $on; json; leaf variant=null; leaf type=u32
expect 0 gen rng words --count 6 --math fast -o p $on; said "--math fast has no effect"
expect 0 gen rng normal --count 6 --math fast -o p --json $on; silent err; json; leaf math=fast
# Several slices: what stands at the end is what a file of the end alone holds.
if [ "$on" = "--backend cpu" ]; then
    expect 0 gen rng words --count 1e7 -o big $on
    expect 0 gen rng words --count 1000 --first 9999000 -o end $on
    contents end.npy >alone; tail -c 4000 big.npy >last
    check "slices change nothing" cmp -s alone last
    check "a large file is whole" test "$(wc -c <big.npy)" -eq 40000128
    rm -f big.npy
fi

# --- verify and bench ---
expect 0 verify rng:all::all:count=3000,n=3,variant=all $on --json; json; silent err
leaf verified=true; leaf failed=0; leaf wrong=0; leaf max_residual=0; leaf rows.0.module=rng; leaf rows.0.type=u32
leaf rows.0.law=words; leaf rows.0.numbers_checked=3000; leaf rows.1.type=f64
expect 0 verify rng:poisson:::lambda=1+1000,count=5000 tridiag:lupp:cpu:f64:n=8,count=10 $on
check "a table a module" test "$(grep -c '^method' out)" -eq 2
expect 0 --math fast verify rng:normal::f32:count=2000 $on --json; json; leaf rows.0.math=fast; silent err
expect 0 --math fast verify rng:words:::count=2000 $on; said "--math fast has no effect"
mkdir saved
expect 0 bench rng:normal::f32:count=5000,math=all --repeat 2 --save saved $on --json; json
leaf command=bench; leaf rows.0.samples=2; has rows.0.numbers_per_second rows.0.share_of_copy rows.1.math
check "saved under the module's name" test -s "$(echo saved/rng-*.json)"

summary test_cli_rng.sh
