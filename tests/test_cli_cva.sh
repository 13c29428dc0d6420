#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# test_cli_cva.sh PROGRAM [BACKEND] - `shoal cva`: a known CVA, the example's book, the files it writes, messages
# that name file, line and column.
# shellcheck disable=SC2034,SC2086,SC1091,SC2154

examples=$(cd "$(dirname "$0")/../examples" && pwd) || exit 2
# shellcheck source=tests/test_cli_base.sh
. "$(dirname "$0")/test_cli_base.sh"
on="--backend ${2:-cpu}"
"$shoal" info $on >/dev/null 2>&1 || { echo "skipped: no backend $2 here"; exit 77; }

number() { sed -n "s/^ *\"$1\": \([-+.0-9e]*\),*$/\1/p" out; } # of the JSON object
near() { awk -v a="$1" -v b="$2" -v e="$3" 'BEGIN { d = a - b; exit !(d <= e && d >= -e) }'; }

printf 'asset,spot,volatility\nA,100,0.2\nB,90,0.3\n' >market.csv
printf 'payoff,assets,strike,maturity\ncall,A,100,1\n' >call.csv

# --- a known value ---
expect 0 cva call.csv --market market.csv --rate 0.1 --hazard 0.05 --outer 16384 --json $on
json; has cva stderr bias epe.0 ene.9 pfe95.0 pfe99.9 stage_seconds.outer solver_share.ldlt
cva=$(number cva) error=$(number stderr)
check "a call: $cva +- $error" near "$cva" 0.38830185823 "$(awk -v e="$error" 'BEGIN { print 3 * e }')"
check "a call has no bias" [ "$(number bias)" = 0 ]
expect 0 cva --book call.csv --market market.csv --rate 0.1 --outer 16384 --threads 1 --json $on
check "threads change the CVA" [ "$(number cva)" = "$cva" ]

# --- the example ---
expect 0 cva "$examples/book.csv" --market "$examples/market.csv" --rate 0.03 --dates 4 --outer 64 --inner 64 \
    -o profile.csv --plot profile.svg $on
check "American contracts are counted" grep -q ' 7 american' out
check "a line a date" [ "$(wc -l <profile.csv)" -eq 5 ]
check "a header" grep -q '^time,epe,' profile.csv
check "a picture" grep -q '<svg' profile.svg

# --- nothing to be exposed to ---
printf 'payoff,assets,strike,maturity\n' >empty.csv
expect 0 cva empty.csv --market market.csv --json $on
check "an empty book" [ "$(number cva)" = 0 ]
printf 'payoff,assets,strike,maturity\ncall,A,100,0\n' >expired.csv
expect 0 cva expired.csv --market market.csv --json $on
said "expired"
check "an expired book" [ "$(number cva)" = 0 ]

# --- mistakes in files ---
book() {
    printf 'style,payoff,assets,weights,strike,maturity,quantity\neuropean,put,B,,90,1,1\n%s\n' "$1" >book.csv
    expect 66 cva book.csv --market market.csv $on
    said "book.csv:3: $2"
}
book 'asian,put,A,,1,1,1' "column style: 'asian'"
book ',cap,A,,1,1,1' "column payoff: 'cap'"
book ',put,C,,1,1,1' "column assets: 'C'"
book ',put,A B,,1,1,1' "column assets: 'A B'"
book ',put,,,1,1,1' "column assets: ''"
book ',basket-call,A B,1,1,1,1' "column weights: '1'"
book ',put,A,5,1,1,1' "weight is given"
book ',put,A,,x,1,1' "column strike: 'x'"
book ',put,A,,-1,1,1' "column strike: '-1'"
book ',put,A,,1,,1' "column maturity: ''"
book ',put,A,,1,nan,1' "column maturity: 'nan'"
book ',put,A,,1,1' "column quantity: missing"
book 'american,put,A,,1,0.33,1' "maturity is 0.33"
book 'american,put,A,,0,1,1' "strike is 0"
book 'american,forward,A,,1,1,1' "column style: 'american'"
market() {
    printf '%b' "$1" >bad.csv
    expect 66 cva call.csv --market bad.csv $on
    said "$2"
}
market 'asset,spot,volatility\nA,-1,0.2\n' "bad.csv:2: column spot: '-1'"
market 'asset,spot,volatility\nA,1,0.2\nA,1,0.2\n' "bad.csv:3: column asset: 'A'"
market 'asset,spot,volatility,A,B\nA,1,0.2,1,0.5\nB,1,0.2,0.4,1\n' "bad.csv:3: column A: '0.4'"
market 'asset,spot,vol\nA,1,0.2\n' "bad.csv has no column volatility"
market 'asset,spot,volatility,divident\nA,1,0.2,0\n' "column divident"
market 'asset,spot,volatility\n' "has 0 assets"
expect 66 cva none.csv --market market.csv; said "none.csv"

# --- mistakes on the command line ---
expect 64 cva call.csv; said "--market"
expect 64 cva --market market.csv; said "BOOK"
expect 64 cva call.csv --market market.csv --hazard 2:0.1,1:0.2; said "--hazard: '2:0.1,1:0.2'"
expect 64 cva call.csv --market market.csv --inner 2,4; said "--inner: 2 numbers"
expect 64 cva call.csv --market market.csv --recovery 2; said "--recovery: '2'"
expect 64 cva call.csv --market market.csv --exposure open; said "'open'"
expect 64 cva call.csv --market market.csv --solver magic; said "magic"

summary test_cli_cva.sh
