#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# test_cli_kill.sh PROGRAM [BACKEND] - `kill -9` in the middle of a part: of a price and of a CVA. The other parts
# are what they were, there is no half of this one, a part that was there before is still whole, and once it was
# run again all together are the bits of one run. Then the same with --checkpoint: finished units survive kills, full
# disks and a second process, and the same command continues.
# shellcheck disable=SC2034,SC2086,SC1091,SC2154

# shellcheck source=tests/test_cli_base.sh
. "$(dirname "$0")/test_cli_base.sh"
on="--backend ${2:-cpu} --threads 1" # slow enough to be killed on the way
"$shoal" info $on >/dev/null 2>&1 || { echo "skipped: no backend $2 here"; exit 77; }

printf 'asset,spot,volatility\nA,100,0.2\n' >market.csv
printf 'payoff,assets,strike,maturity,style\nput,A,100,1,american\ncall,A,100,1,european\n' >book.csv
results() { grep -vE '"(seconds|.*_seconds|.*_per_second|device)"' "$1"; }

# killed ARGUMENT...: starts it, kills it while it simulates; false if it was done before
killed() {
    "$shoal" "$@" >killed.out 2>killed.err </dev/null &
    job=$!
    busy $job
    kill -9 $job 2>/dev/null
    wait $job 2>/dev/null
    [ $? -eq 137 ]
}

# middle NAME ARGUMENT...: a command whose second part of three is killed
middle() {
    name=$1
    shift
    for i in 1 3; do expect 0 "$@" --shard $i/3 -o $name.$i $on; done
    cat $name.1 $name.3 >$name.before
    if ! killed "$@" --shard 2/3 -o $name.2 $on; then
        skip "$name was done before it could be killed"
        return
    fi
    check "$name: no half of a part" test ! -e $name.2
    check "$name: nothing else left behind" test "$(echo $name.*)" = "$name.1 $name.3 $name.before"
    cat $name.1 $name.3 >$name.after
    check "$name: the other parts are whole" cmp -s $name.before $name.after
    expect 66 merge-parts $name.1 $name.3 $on; said "part 2 of 3 is missing"
    expect 0 "$@" --shard 2/3 -o $name.2 $on
    cp $name.2 $name.kept
    if killed "$@" --shard 2/3 -o $name.2 $on; then
        check "$name: killed over a part that was there, it is there" cmp -s $name.2 $name.kept
    fi
    expect 0 merge-parts $name.1 $name.2 $name.3 --json $on; results out >$name.joined
    expect 0 "$@" --json $on; results out >$name.whole
    for value in price stderr cva epe; do
        check "$name: $value of one run" test "$(grep "\"$value\"" $name.joined)" = "$(grep "\"$value\"" $name.whole)"
    done
}

# kept NAME ARGUMENT...: a command with --checkpoint that is killed, runs out of disk, meets another process
kept() {
    name=$1
    shift
    expect 0 "$@" --json $on; results out >$name.whole
    for _ in 1 2 3; do killed "$@" --checkpoint $name.dir --json $on || break; done
    check "$name: whole units alone" test -z "$(ls $name.dir | grep -v -e lock -e '^unit-[0-9]*-of-[0-9]*$' -e '.tmp$')"
    expect 0 "$@" --checkpoint $name.dir --json $on; results out >$name.kept
    for value in price stderr cva epe; do
        check "$name: $value of one run" test "$(grep "\"$value\"" $name.kept)" = "$(grep "\"$value\"" $name.whole)"
    done
    check "$name: nothing half written" test -z "$(ls $name.dir | grep tmp)"
    units=$(ls $name.dir | grep -c unit-)
    expect 0 "$@" --checkpoint $name.dir --json $on; said "$name.dir: continuing after $units of $units units"
    expect 74 "$@" --checkpoint $name.dir --seed 6 $on; said "of a job with other inputs; choose another folder"
    first=$name.dir/$(ls $name.dir | grep -m 1 unit-)
    head -c 100 $first >cut && mv cut $first
    expect 74 "$@" --checkpoint $name.dir $on; said "--checkpoint: $first: cut off"
    rm $first
    (ulimit -f 0; "$shoal" "$@" --checkpoint $name.dir $on 2>&1 >/dev/null; echo "exit $?") | cat >err
    check "$name: no room is an error" grep -q "^exit 74" err
    said "--checkpoint: $first: cannot be written: File too large; the units that the folder contains are kept"
    check "$name: no unit is lost" test "$(ls $name.dir | grep -c unit-)" -eq $((units - 1))
    expect 0 "$@" --checkpoint $name.dir --json $on; said "continuing after $((units - 1)) of $units units"
    if command -v flock >/dev/null; then
        flock $name.dir/lock "$shoal" "$@" --checkpoint $name.dir $on >out 2>err
        check "$name: a second process is refused" test $? -eq 74
        said "--checkpoint: $name.dir: another process uses this folder"
    fi
}

middle price price heston --method euler --steps 100 --paths 1500000 --seed 5
middle cva cva book.csv --market market.csv --dates 8 --outer 6144 --inner 256 --rule-paths 4096 --seed 5
kept price price heston --method euler --steps 100 --paths 1500000 --seed 5
kept cva cva book.csv --market market.csv --dates 8 --outer 6144 --inner 256 --rule-paths 4096 --seed 5

summary test_cli_kill.sh
