#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# test_cli_kill.sh PROGRAM [BACKEND] - `kill -9` in the middle of a part: of a price and of a CVA. The other parts
# are what they were, there is no half of this one, a part that was there before is still whole, and once it was
# run again all together are the bits of one run.
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

middle price price heston --method euler --steps 100 --paths 1500000 --seed 5
middle cva cva book.csv --market market.csv --dates 8 --outer 1536 --inner 256 --rule-paths 4096 --seed 5

summary test_cli_kill.sh
