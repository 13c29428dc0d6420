#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# test_cli_scale.sh PROGRAM [cuda] - one command on many devices and in many processes: the bits of one, whoever computes.
# Native: 4 processes of mpirun on however many cores there are, a process that dies or cannot begin, the report of --scale,
# and the commands of docs/scale.md. With cuda, over the emulator's two GPUs: --devices.
# shellcheck disable=SC2034,SC2086,SC1091,SC2154

# shellcheck source=tests/test_cli_base.sh
. "$(dirname "$0")/test_cli_base.sh"
root=$(cd "$(dirname "$0")/.." 2>/dev/null && pwd)
backend=${2:-cpu}
on="--backend $backend"

printf 'asset,spot,volatility\nA,100,0.2\n' >market.csv
printf 'payoff,assets,strike,maturity,style\nput,A,100,1,american\ncall,A,100,1,european\n' >book.csv
printf 'parameter,low,high\nrho,-0.5,-0.2\n' >ranges.csv
heston="price heston --method euler --steps 4 --paths 400000 --strike 0.9,1.1 --seed 5"
expou="price expou --steps 4 --paths 200000"
bullet="price bullet --method mc --paths 200000"
american="price american --payoff max-call --s0 100,100 --dates 4 --paths 200000 --fit-paths 4096"
cva="cva book.csv --market market.csv --dates 4 --outer 1024 --inner 16 --rule-paths 2048 --seed 5"
dataset="dataset expou --samples 200 --target-se 1e-2 --paths 512 --ranges ranges.csv"
[ "$backend" = cpu ] || heston="price heston --method euler --steps 1 --paths 140000 --seed 5" # emulated
[ "$backend" = cpu ] || cva="cva book.csv --market market.csv --dates 2 --outer 300 --inner 8 --rule-paths 1024 --seed 5"

results() { grep -vE '"(seconds|.*_seconds|.*_per_second|device|output)"' "$1"; }
# alike NAME: the results in out are those of NAME.one
alike() {
    results out >$1.many
    check "$1: the bits of one process on one device" cmp -s $1.one $1.many
}

if [ "$backend" = cuda ]; then
    # --- several GPUs: two, and two contexts on one ---
    export SIMT_DEVICES=2
    expect 0 $heston --json $on; results out >heston.one
    expect 0 $cva --json $on; results out >cva.one
    for devices in 0,1 1,0 0,0 all; do
        expect 0 $heston --devices $devices --units 3 --scale r.json --json $on; alike heston
        count=$(grep -c '"name": "GPU' r.json)
        check "two workers of --devices $devices" test "$count" -eq 2
    done
    expect 0 $cva --devices all --units 5 --json $on; alike cva
    # the second has no memory to open, none for the plan, none for a unit: the first does its units
    export SIMT_MEMORY=8589934592,64
    expect 0 $heston --devices all --units 3 --json $on; alike heston
    said "GPU 1 takes no units: the GPU gives no memory"
    expect 69 $heston --devices 0,1 $on; said "--devices: 1: the GPU gives no memory"
    export SIMT_MEMORY=8589934592,4096
    expect 0 $heston --devices 0,1 --units 3 --scale r.json --json $on; alike heston
    said "GPU 1 takes no units: it could not begin"
    check "one worker" test "$(grep -c '"name": "GPU' r.json)" -eq 1
    expect 0 $cva --devices 0,1 --units 5 --scale r.json --json $on; alike cva
    said "GPU 1 takes no more units: "; said "bytes of device memory: out of memory"
    check "one is lost" test "$(grep -c '"lost": true' r.json)" -eq 1
    unset SIMT_MEMORY
    expect 69 $heston --devices 0,7 $on; said "--devices: 7: "
    expect 69 $heston --devices 9 $on; said "backend cuda is not available"
    expect 64 $heston --devices 0, $on; said "--devices: '0,' is neither numbers of GPUs nor all"
    if command -v mpirun >/dev/null && "$shoal" info | grep -q '^mpi *on'; then
        mpirun --allow-run-as-root --oversubscribe -n 3 "$shoal" $heston --units 3 --json $on >out 2>err </dev/null
        rc=$?
        check "three processes on two GPUs" test $rc -eq 0
        alike heston
    fi
    summary test_cli_scale.sh
    exit
fi

# --- one process: units, a folder, the report ---
one() { # one NAME COMMAND...: the results of one process, and the same in units
    name=$1
    shift
    expect 0 "$@" --json; results out >$name.one
    expect 0 "$@" --json --units 3 --checkpoint $name.dir --scale $name.json --scale-plot $name.svg; alike $name
    bytes=$(($(cat $name.dir/unit-* | wc -c) - 3 * 196)) # heads and checksums
    check "$name: whole bytes" grep -q "\"bytes\": $bytes,$" $name.json
    check "$name: three units are kept" test "$(ls $name.dir | grep -c unit-)" -eq 3
    cp $name.json out; json; leaf units=3; leaf units_before=0; has idle_share critical_path_seconds bytes workers.0.busy_seconds
    check "$name: a unit per line" test "$(sed -n '/"trace"/,$p' $name.json | grep -c '\[[0-2], 0, ')" -eq 3
    check "$name: a picture" grep -q "1 worker, 3 units" $name.svg
}
one heston $heston
one expou $expou
one bullet $bullet
one american $american
one cva $cva
one dataset $dataset -o one.csv
sums="$cva --quantile-error 0.01 --breakdown"
one sums $sums
for i in 1 2; do expect 0 $sums --shard $i/2 -o $i.part; done
expect 0 merge-parts 2.part 1.part --json; alike sums
expect 0 $sums --shard 1/1 -o all.part
small=$(wc -c <all.part)
# merge-parts keeps 64 MiB of parts, and reads the others twice: 12 of 11 MB in 150 MB
printf 'payoff,assets,strike,maturity\ncall,A,100,1\n' >call.csv
large="cva call.csv --market market.csv --dates 4 --outer 12 --quantile-error 1e-4"
expect 0 $large --json; mv out large.one
for i in $(seq 12); do "$shoal" $large --shard $i/12 -o large-$i.part >/dev/null 2>&1; done
expect 0 merge-parts large-*.part --json; results large.one >large.a; results out >large.b
check "12 large parts" cmp -s large.a large.b
check "in 150 MB" sh -c 'ulimit -v 150000 && "$1" merge-parts --threads 1 large-*.part >/dev/null 2>&1' - "$shoal"
rm large-*.part
expect 0 $sums --outer 2000 --shard 1/1 -o all.part
check "the size of a part does not depend on --outer" test "$(wc -c <all.part)" -eq "$small"
# means are those of the rows, quantiles within 1 %
expect 0 $cva --breakdown --json; mv out rows.json
near() { # near KEY ERROR: the number of this key at the top of sums.one and rows.json
    for file in sums.one rows.json; do grep "^  \"$1\": " $file | head -n 1 | sed 's/.*: //; s/,//'; done |
        awk -v e=$2 'NR == 1 { x = $1 } NR == 2 { exit !(x != 0 && ($1 - x) ^ 2 <= (e * x) ^ 2) }' &&
        check "$1 of sums" true || check "$1 of sums" false
}
for key in cva stderr eepe epe; do near $key 1e-12; done
for key in peak_pfe95 peak_pfe99 peak_es95 peak_es99; do near $key 0.01; done
for with in "--validate" "--greeks" "--gammas" "--compare" "--target-se 1" "--cube c.npy" "--add book.csv"; do
    expect 64 $cva --quantile-error 0.01 $with; said "--quantile-error and ${with%% *} exclude each other"
done
expect 64 $cva --quantile-error 1e-6; said "--quantile-error: 1e-6 is less than 1e-05"
expect 0 $dataset --units 3 --checkpoint dataset.dir -o again.csv; said "dataset.dir: continuing after 3 of 3 units"
check "the rows of one process" cmp -s one.csv again.csv
expect 0 $cva --checkpoint cva.dir --units 3 --scale r.json; cp r.json out; json; leaf units_before=3; leaf bytes=0
expect 74 $cva --checkpoint cva.dir; said "units; this one has"
expect 0 $heston --devices 0,1 $on; said "--devices has no effect: this runs on the CPU"
expect 0 info --devices all; said "--devices: this command runs on one device"
expect 64 $heston --devices 0 --device 1; said "--devices and --device exclude each other"
expect 64 $heston --devices one; said "--devices: 'one' is neither numbers of GPUs nor all"
expect 64 $heston --scale r.txt; said "does not end in .json"
expect 64 price heston --method analytic --checkpoint analytic.dir; said "simulates no paths"
expect 0 price heston --method analytic --units 3 --json
expect 66 merge-parts cva.dir/unit-000000-of-000003; said "not a part: a unit of --checkpoint; its command merges them"
expect 64 $cva --target-se 1 --scale r.json; said "exclude each other"

if command -v mpirun >/dev/null && "$shoal" info | grep -q '^mpi *on'; then
    # --- several processes ---
    mpi() { # mpi CODE OPTION... ARGUMENT...: as expect, by mpirun
        want=$1
        shift
        mpirun --allow-run-as-root --oversubscribe "$@" >out 2>err </dev/null
        rc=$?
        checks=$((checks + 1))
        [ "$rc" -eq "$want" ] || fail "exit code $want expected: mpirun $*"
        while [ "$1" != "$shoal" ]; do shift; done
        shift
        note_seen "$@"
    }
    four="-n 4 $shoal"
    mpi 0 $four $heston --json --scale r.json; alike heston
    cp r.json out; json; has workers.3.computed_seconds
    mpi 0 $four $cva --json --units 8; alike cva
    mpi 0 $four $sums --json --units 8; alike sums
    mpi 0 $four $american --json; alike american
    mpi 0 $four $dataset -o four.csv; check "four processes make the rows of one" cmp -s one.csv four.csv
    mpi 0 $four price heston --method analytic; said "3 of 4 processes had no work: this command runs in one"
    mpi 66 $four cva none.csv --market market.csv; said "shoal: none.csv: cannot open"
    check "the message once" test "$(grep -c 'none.csv' err)" -eq 1
    mpi 64 $four cva --nonsense; said "unknown option '--nonsense'"
    # a process that cannot begin: the others do its work
    mpi 0 -n 1 "$shoal" $heston --json : -n 1 env SHOAL_ISA=none "$shoal"; alike heston
    said "shoal: rank 1: isa: this build has no instruction level 'none'"
    said "shoal: rank 1 takes no more units: it could not begin"
    # a process that dies ends all of them; the same command continues
    long="$cva --backend cpu --threads 1 --outer 200000 --exposure nested --inner 4096 --checkpoint long.dir --json"
    mpirun --allow-run-as-root --oversubscribe -n 2 "$shoal" $long >out 2>err </dev/null &
    job=$!
    for _ in $(seq 900); do [ "$(ls long.dir 2>/dev/null | grep -c '^unit-.*[0-9]$')" -ge 3 ] && break; sleep 0.1; done
    for pid in $(cat /proc/$job/task/$job/children 2>/dev/null); do last=$pid; done
    if [ -n "${last-}" ] && kill -9 "$last" 2>/dev/null; then
        wait $job
        rc=$?
        check "exit code 137" test $rc -eq 137
        said "exited on signal 9 (Killed)"
        kept=$(ls long.dir | grep -c '^unit-.*[0-9]$')
        check "finished units are kept" test "$kept" -ge 3
        mpirun --allow-run-as-root --oversubscribe -n 2 "$shoal" $long >out 2>err </dev/null &
        job=$!
        for _ in $(seq 900); do [ "$(ls long.dir | grep -c '^unit-.*[0-9]$')" -gt "$kept" ] && break; sleep 0.1; done
        kill -INT $job
        wait $job
        said "long.dir: continuing after $kept of 256 units"
        said "interrupted; the same command continues from long.dir"
    else
        skip "no children of mpirun in /proc"
        kill $job 2>/dev/null
        wait $job
    fi
else
    skip "no MPI"
    [ -z "${SHOAL_TEST_REQUIRE-}" ] || fail "MISSING: MPI"
fi

summary test_cli_scale.sh
