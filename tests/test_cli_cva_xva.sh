#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# test_cli_cva_xva.sh PROGRAM [BACKEND] - `shoal cva`: DVA and FVA, results by counterparty, netting set and trade,
# incremental CVA, the cube, books as JSON, and messages about counterparties.
# shellcheck disable=SC2034,SC2086,SC1091,SC2154

# shellcheck source=tests/test_cli_base.sh
. "$(dirname "$0")/test_cli_base.sh"
on="--backend ${2:-cpu}"
"$shoal" info $on >/dev/null 2>&1 || { echo "skipped: no backend $2 here"; exit 77; }

value_of() { sed -n "s/^$1=//p" leaves; }
near() { awk -v a="$1" -v b="$2" -v e="$3" 'BEGIN { d = a - b; exit !(d <= e && d >= -e) }'; }
same() { check "$1: $2, $3" near "$2" "$3" "${4:-1e-9}"; }
# COLUMN FILE [NAME VALUE]: the sum of a column over the rows in which column NAME is VALUE
total() {
    awk -F, -v c="$1" -v n="$3" -v v="$4" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        n == "" || $at[n] == v { s += $at[c] } END { printf "%.15g\n", s }' "$2"
}

printf 'asset,spot,volatility\nA,100,0.2\nB,90,0.3\n' >market.csv
printf 'payoff,assets,strike,maturity\ncall,A,100,1\n' >call.csv
cat >book.csv <<'CSV'
trade,party,netting_set,payoff,ticker,strike,maturity,notional
T1,Aarhus,Main,call,A,100,1,2
T2,Aarhus,Main,put,B,95,1,-1
"T,3",Bergen,,forward,A,101,1,1
T4,Aarhus,Repo,forward,B,88,0.5,-2
CSV
printf 'counterparty,hazard,cds,recovery,threshold\nAarhus,0.02,,,\nBergen,,1y:0.02 2y:0.03,0.3,15\n' >parties.csv

# --- DVA and FVA of a call: its discounted EPE is its price ---
call="cva call.csv --market market.csv --rate 0.1 --dates 4 --outer 4096 --json $on"
expect 0 $call --own-hazard 0.02 --own-recovery 0.3 --borrowing 0.01 --lending 0.005
json; has dva fva_stderr eepe mean_epe peak_es99 es95.3 pv
fca=$(awk 'BEGIN { for (k = 0; k < 4; k++) s += 0.01 / 4 * exp(-0.07 * k / 4) * 13.26967658; print s }')
same "FVA of a call" "$(value_of fva)" "$fca" "$(awk -v e="$(value_of fva_stderr)" 'BEGIN { print 4 * e }')"
leaf dva=0; leaf fba=0
flat=$(value_of fva)
expect 0 $call --own-hazard 1:0.02,2:0.03 --own-recovery 0.3 --borrowing 1:0.01,2:0.01; json
same "spreads as points" "$(value_of fva)" "$flat" 1e-12
expect 64 $call --borrowing x; said "--borrowing: 'x' is neither"
expect 64 $call --own-hazard -1; said "--own-hazard: '-1': a rate must be finite and at least 0"
expect 0 cva call.csv --market market.csv --outer 64 --own-hazard 0.02 --lending 0.01 --borrowing 0.01 $on
check "DVA is printed" grep -q '^dva  *0$' out
check "FVA is printed" grep -q '^fva .*: cost ' out

# --- counterparties, sets, trades ---
run="cva book.csv --market market.csv --rate 0.03 --dates 6 --outer 512 --counterparties parties.csv --own-hazard 0.01 --borrowing 0.01 $on"
expect 0 $run --tables tables/of --json
json; has by_trade.3.cva by_set.2.eepe profiles.0.es95
leaf by_counterparty.1.counterparty=Bergen; leaf by_set.1.set=Bergen
for column in pv cva dva fva epe ene eepe; do
    same "$column of sets" "$(total $column tables/of/sets.csv)" "$(total $column tables/of/counterparties.csv)"
    same "$column of Aarhus/Main" "$(total $column tables/of/trades.csv set Main)" "$(total $column tables/of/sets.csv set Main)"
done
same "the CVA" "$(total cva tables/of/counterparties.csv)" "$(value_of cva)"
check "names with commas are quoted" grep -q '^"T,3",Bergen,Bergen,european,forward,' tables/of/trades.csv
check "contributions by date" [ "$(wc -l <tables/of/contributions.csv)" -eq 25 ]
check "profiles of parties and sets" [ "$(wc -l <tables/of/profiles.csv)" -eq $((1 + 5 * 6)) ]
whole=$(value_of cva) aarhus=$(value_of by_counterparty.0.cva)
expect 0 $run --breakdown
check "the table is printed" grep -q '^Aarhus  *' out
expect 0 $run --report page.html
check "the page has counterparties" grep -q '<h2>Counterparties</h2>' page.html
check "a page without scripts" eval '! grep -qi "<script" page.html'
check "columns that sort" grep -q '\.k3:checked~\.wide td{order:var(--k3)}' page.html
expect 0 $run --no-netting --breakdown --json
json; leaf by_set.2.set=T,3
same "one trade per set" "$(value_of by_trade.0.cva)" "$(value_of by_set.0.cva)"
grep -v Bergen book.csv >one.csv
expect 0 cva one.csv --market market.csv --rate 0.03 --dates 6 --outer 512 --hazard 0.02 --json $on
json; same "a run of one counterparty" "$(value_of cva)" "$aarhus" 1e-12
expect 0 cva book.csv --market market.csv --outer 16 --breakdown --json $on
json; leaf by_counterparty.1.counterparty=Bergen # without a file

# --- parts ---
for i in 1 2 3; do expect 0 $run --breakdown --shard $i/3 -o $i.part; done
expect 0 $run --breakdown --json; grep -v seconds out >whole
expect 0 merge-parts 3.part 2.part 1.part --json $on; grep -v seconds out >joined
check "parts have the bits of one run" cmp -s whole joined

# --- what is added ---
printf 'trade,party,set,payoff,assets,strike,maturity\nNEW,Bergen,,put,A,95,1\n' >add.csv
expect 0 $run --add add.csv --json; json
after=$(value_of cva) change=$(value_of incremental.cva)
same "without it" "$(value_of incremental.cva_before)" "$whole" 1e-12
{ cat book.csv; echo 'NEW,Bergen,,put,A,95,1,1'; } >both.csv
expect 0 cva both.csv ${run#cva book.csv} --json; json
same "the book with it" "$(value_of cva)" "$after" 1e-12
same "an exact difference" "$(awk -v a="$after" -v b="$whole" 'BEGIN { printf "%.17g", a - b }')" "$change" 1e-12
expect 0 $run --own-hazard 0.02 --borrowing 0.01 --lending 0.01 --add add.csv --json; json
for k in dva fva; do
    check "$k has an error of the difference" awk -v e="$(value_of incremental.${k}_stderr)" -v w="$(value_of ${k}_stderr)" 'BEGIN { exit !(e > 0 && e < w) }'
done
expect 0 $run --add add.csv --own-hazard 0.02 --borrowing 0.01 --report page.html
check "both are printed" [ "$(grep -c '^ *of the [DF]VA ' out)" = 2 ]
check "both are on the page" grep -q 'DVA changes by .*FVA changes by ' page.html
expect 0 $run --add add.csv --report page.html; check "it is printed" grep -q '^incremental .* of the CVA is that of 1 contract in add.csv; without' out
check "the page has it" grep -q '<h2>What is added</h2>' page.html
printf 'payoff,assets,strike,maturity\nput,A,95,1\n' >plain.csv
expect 66 $run --add plain.csv; said "plain.csv has no column counterparty"
expect 66 cva book.csv --market market.csv --add plain.csv $on; said "plain.csv has no column counterparty; book.csv has"
expect 64 $run --add add.csv --shard 1/2 -o x.part; said "--add and --shard exclude each other"

# --- the cube ---
expect 0 $run --cube cube.npy --json; json
check "shape of the cube" eval "head -c 128 cube.npy | grep -q \"'shape': (512, 4, 6)\""
check "size of the cube" [ "$(wc -c <cube.npy)" -eq $((128 + 8 * 512 * 4 * 6)) ]
tail -c +129 cube.npy | od -An -v -t f8 -w$((8 * 6)) | awk 'NR % 4 == 1 { s += $1 } END { printf "%.15g\n", s / 512 }' >mean
check "a value of the cube" awk -v m="$(cat mean)" 'BEGIN { exit !(m > 10 && m < 30) }'
expect 0 $run --cube cube.npy --outer 300 --threads 1; check "pieces" [ "$(wc -c <cube.npy)" -eq $((128 + 8 * 300 * 4 * 6)) ]
if "$shoal" info | grep -q '^ *hdf5 *on\|hdf5.*yes\|HDF5'; then
    expect 0 $run --cube cube.h5
    check "a cube in HDF5" [ "$(wc -c <cube.h5)" -gt $((8 * 512 * 4 * 6)) ]
fi
expect 64 $run --cube cube.npy --target-se 0.1; said "--cube and --target-se exclude each other"
expect 64 $run --cube cube.npy --add add.csv; said "--add and --cube exclude each other"
expect 64 $run --cube cube.npy --mpor 2w --threshold 1; said "--cube: not with a margin period"
expect 64 $run --cube cube.txt; said "cube.txt"
expect 74 $run --cube none/cube.npy; said "none/cube.npy"
expect 64 $run --compare --tables t; said "--compare and --tables exclude each other"

# --- books as JSON ---
cat >book.json <<'JSON'
[
  {"id": "T1", "counterparty": "Aarhus", "set": "Main", "payoff": "call", "assets": ["A"], "strike": 100, "maturity": "1y", "quantity": 2},
  {"id": "T2", "counterparty": "Aarhus", "set": "Main", "payoff": "put", "assets": "B", "strike": 95.0, "maturity": 1, "quantity": -1},
  {"id": "T,3", "counterparty": "Bergen", "payoff": "forward", "assets": ["A"], "strike": 101, "maturity": 1},
  {"id": "T4", "counterparty": "Aarhus", "set": "Repo", "payoff": "forward", "assets": ["B"], "strike": 88, "maturity": 0.5, "quantity": -2}
]
JSON
expect 0 cva book.json ${run#cva book.csv} --json; json; leaf "cva=$whole"
for i in 1 2; do expect 0 cva book.json ${run#cva book.csv} --shard $i/2 -o j$i.part; done
expect 0 merge-parts j1.part j2.part --json $on; json; leaf "cva=$whole"
printf '[{"payoff": "cal", "assets": "A",\n "strike": 1, "maturity": 1},\n {"payoff": "call", "assets": "C", "strike": "x", "maturity": 1}]' >bad.json
expect 66 cva bad.json --market market.csv $on
said "bad.json:1: unknown payoff 'cal'"; said "bad.json:3: unknown asset 'C'; the market has A, B"; said "bad.json:3: column strike: 'x'"
printf '[{"payoff": "call", "assets": {}, "strike": 1, "maturity": 1}]' >bad.json
expect 66 cva bad.json --market market.csv $on; said "bad.json:1: assets: is neither a number, a text nor a list of these"
printf '[1]' >bad.json
expect 66 cva bad.json --market market.csv $on; said "bad.json:1: is not an object"
printf '[{"payoff": ]' >bad.json
expect 66 cva bad.json --market market.csv $on; said "bad.json:1:13: expected a value"

# --- sensitivities: a call's are those of its price; a row per parameter everywhere ---
expect 0 $call --greeks; json
leaf sensitivities.0.parameter=spot; leaf sensitivities.0.of=A; leaf sensitivities.5.parameter=recovery
loss=$(awk 'BEGIN { print 0.6 * (1 - exp(-0.05)) }')
greek() { same "$1" "$(value_of sensitivities.$2.derivative)" "$(awk -v a="$3" -v b="$loss" 'BEGIN { print a * b }')" \
    "$(awk -v e="$(value_of sensitivities.$2.stderr)" 'BEGIN { print 3 * e }')"; }
greek "delta" 0 0.725746882; greek "vega" 1 33.3224603; greek "rho" 3 59.3050117
expect 0 $call --gammas; json; leaf sensitivities.6.parameter=gamma; leaf sensitivities.6.move=0.5
greek "gamma of a call" 6 0.0166612302
greeks="cva book.csv --market market.csv --rate 0.03 --dates 6 --outer 512 --counterparties parties.csv --greeks $on"
expect 0 ${greeks} --own-hazard 0.01 --tables tables/greeks
check "spots, volatilities, dividends; rate; correlation; three hazard rates and two recoveries" \
    [ "$(wc -l <tables/greeks/sensitivities.csv)" -eq 14 ]
check "names" grep -q '^correlation,A,B,' tables/greeks/sensitivities.csv
check "a point of a hazard rate" grep -q '^hazard,Bergen,,1,' tables/greeks/sensitivities.csv
check "they are printed" grep -q '^hazard  *Bergen  *later ' out
expect 0 $greeks --report page.html; check "the page has them" grep -q '<h2>Sensitivities</h2>' page.html
# An American call without dividends is kept, so no boundary moves: its change with the dividend is that of the European one.
printf 'payoff,assets,strike,maturity,style\ncall,A,100,1,american\n' >kept.csv
printf 'asset,spot,volatility,dividend\nA,100,0.2,0\n' >still.csv
expect 0 cva kept.csv --market still.csv --dates 5 --outer 1024 --greeks $on
check "no boundary" awk '$1 == "dividend" && $2 == "A" { exit !($4 < -1 && $4 > -2.5) }' out
gammas="${greeks% --greeks*} --gammas $on"
expect 0 $gammas --tables tables/gammas; check "gammas are printed" grep -q '^cross-gamma  *A  *B ' out
check "as with --greeks, two gammas and a cross gamma" [ "$(wc -l <tables/gammas/sensitivities.csv)" -eq 17 ]
head -14 tables/gammas/sensitivities.csv >first
check "the others are those of --greeks" cmp -s first tables/greeks/sensitivities.csv
expect 0 $gammas --report page.html; check "the page has gammas" grep -q 'Of a cross gamma' page.html
expect 0 $greeks --json; grep -v seconds out >whole
for i in 1 2; do expect 0 $greeks --shard $i/2 -o $i.part; done
expect 0 merge-parts 2.part 1.part --json $on; grep -v seconds out >joined
check "parts have the sensitivities of one run" cmp -s whole joined
expect 64 $run --compare --greeks; said "--compare and --greeks exclude each other"
expect 64 $run --compare --gammas; said "--compare and --gammas exclude each other"
expect 0 $call --greeks --mpor 2w --threshold 1; check "its delta" grep -q "\"parameter\": \"spot\"" out
printf 'payoff,assets,strike,maturity,style\ncall,A,100,1,\nput,A,100,1,american\n' >early.csv
expect 0 cva early.csv --market market.csv --greeks --dates 4 --outer 64 $on; check "its vega" grep -q "^volatility  *A" out
expect 66 cva early.csv --market market.csv --greeks --estimator inner $on
said "early.csv:3: there are no sensitivities of a contract with early exercise by estimator inner"
printf 'payoff,assets,strike,maturity,style\ncall,A,100,1,\nmax-call,A B,100,1,american\n' >early.csv
expect 66 cva early.csv --market market.csv --greeks $on
said "early.csv:3: there are no sensitivities of a contract with early exercise on several assets"
printf 'asset,spot,volatility\nA,100,1:0.2 2:0.141421356237309504\n' >still.csv
printf 'payoff,assets,strike,maturity\ncall,A,100,2\n' >long.csv
expect 66 cva long.csv --market still.csv --dates 2 --greeks $on
said "still.csv: column volatility of asset A is 0 from 1 to 2 years; with greeks it must be above 0"

# --- mistakes about counterparties ---
expect 66 cva call.csv --market market.csv --counterparties parties.csv $on
said "call.csv has no column counterparty; --counterparties needs it"
parties() { printf '%b' "$1" >bad.csv; expect 66 cva book.csv --market market.csv --counterparties bad.csv $on; said "$2"; }
parties 'counterparty\nAarhus\nBerge\n' "book.csv:4: unknown counterparty 'Bergen'; there are Aarhus, Berge. Did you mean 'Berge'?"
parties 'counterparty,hazard\nAarhus,x\nAarhus,1:-1\n' "bad.csv:2: column hazard: 'x' is neither a number nor points"
said "bad.csv:3: column counterparty: 'Aarhus' is there twice"; said "bad.csv:3: column hazard: '1:-1' has a rate below 0"
parties 'counterparty,hazard,cds\nAarhus,0.1,1y:0.1\n' "bad.csv:2: column cds: '1y:0.1' is given, and so is a hazard rate"
parties 'counterparty,cds\nAarhus,0.1\n' "bad.csv:2: column cds: '0.1' are not points like 1y:0.01 5y:0.02"
parties 'counterparty,recovery,threshold\nAarhus,2,-1\n' "bad.csv:2: column recovery: '2' is above 1"
said "bad.csv:2: column threshold: '-1' is below 0"
parties 'counterparty\n""\n' "bad.csv:2: column counterparty: '' is empty"
parties 'counterparty,hazard\nAarhus,1e7\nBergen,1\n' "bad.csv: counterparty Aarhus: hazard[0] is 1e+07"
parties 'counterparty\n' "bad.csv has no counterparties"
parties 'name,hazrd\nAarhus,1\nBergen,1\n' "unknown column 'hazrd'"

summary test_cli_cva_xva.sh
