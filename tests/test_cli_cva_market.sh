#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# test_cli_cva_market.sh PROGRAM [BACKEND] - `shoal cva` with term structures, tenors and dates: a known CVA, files and points
# that are the same curve, parts of a run, messages.
# shellcheck disable=SC2034,SC2086,SC1091,SC2154

# shellcheck source=tests/test_cli_base.sh
. "$(dirname "$0")/test_cli_base.sh"
on="--backend ${2:-cpu}"
"$shoal" info $on >/dev/null 2>&1 || { echo "skipped: no backend $2 here"; exit 77; }

number() { sed -n "s/^ *\"$1\": \([-+.0-9e]*\),*$/\1/p" out; } # of the JSON object
near() { awk -v a="$1" -v b="$2" -v e="$3" 'BEGIN { d = a - b; exit !(d <= e && d >= -e) }'; }

# The market of test_cva_market.c, whose call of two years is worth 11.9285504624 by QuantLib 1.44.
mkdir curves
printf 'tenor,rate\n91d,0.01\n365d,0.03\n730d,0.045\n' >zero.csv
printf 'rate,date,desk\n0.35,2027-02-18,x\n0.25,2027-11-19,x\n0.22,2028-11-18,y\n' >curves/vol.csv
printf 'asset,spot,volatility,dividend\nA,100,vol.csv,182d:0 730d:0.02\n' >curves/market.csv
printf 'payoff,assets,strike,maturity\ncall,A,105,2028-11-18\n' >book.csv
given="--rates zero.csv --valuation-date 2026-11-19 --hazard 0.05 --outer 8192 --seed 2 $on"

expect 0 cva book.csv --market curves/market.csv $given --json
said "curves/vol.csv:1: ignored columns: desk"; json
was=$(number cva) error=$(number stderr)
check "a call: $was +- $error" near "$was" "$(awk 'BEGIN { print 0.6 * (1 - exp(-0.1)) * 11.9285504624 }')" \
    "$(awk -v e="$error" 'BEGIN { print 3 * e }')"

# --- the same in other words ---
printf 'tenor,hazard\n1y,0.05\n730d,0.05\n' >hazard.csv
expect 0 cva book.csv --market curves/market.csv $given --hazard hazard.csv --json
check "a flat hazard curve changes the CVA" near "$(number cva)" "$was" 1e-12
expect 0 cva book.csv --market curves/market.csv $given --horizon 730d --dates 10 --json
check "the horizon is the maturity" [ "$(number cva)" = "$was" ]
printf 'ticker,spot,sigma,dividend\nA,100,91d:0.35 1:0.25 2y:0.22,"182d:0,2:0.02"\n' >points.csv
printf 'payoff,assets,strike,maturity\ncall,A,105,2\n' >years.csv
expect 0 cva years.csv --market points.csv --rates 91d:0.01,1:0.03,2y:0.045 --outer 8192 --seed 2 $on --json
check "points are no file" near "$(number cva)" "$was" 1e-12
expect 0 cva book.csv --market curves/market.csv $given --dates 2027-06-01,2028-06-01, -o dates.csv --json
check "days over 365" grep -q '^0.5315068493150685,' dates.csv
printf 'date\n2027-06-01\n2028-06-01\n' >days.csv
was=$(number cva)
expect 0 cva book.csv --market curves/market.csv $given --dates days.csv --json
check "dates in a file" [ "$(number cva)" = "$was" ]

# --- exercise at dates, the page, the martingale test ---
printf 'style,payoff,assets,strike,maturity,exercise,id\namerican,put,A,105,2028-11-18,2027-02-18 2027-11-19,P\n' >put.csv
expect 0 cva put.csv --market curves/market.csv $given --outer 512 --dates 2027-02-18,2027-11-19, --validate \
    --report page.html --json
json; leaf validation.passed=1
check "the page has the rates" grep -q 'Zero rates by years: 0.2493: 0.01, 1: 0.03, 2: 0.045' page.html
check "the page has the volatilities" grep -q '<td>0.2493: 0.35, 1: 0.25, 2: 0.22</td>' page.html

# --- Heston's model: a call that is worth 9.5282131 by QuantLib 1.44 (bench/quantlib_heston_american.py) ---
printf 'asset,spot,dividend,v0,kappa,theta,vol_of_vol,rho\nA,100,0.02,0.04,1.5,0.06,0.5,-0.7\n' >heston.csv
printf 'payoff,assets,strike,maturity,style\ncall,A,100,1,\nput,A,105,1,american\n' >stochastic.csv
heston="stochastic.csv --market heston.csv --rate 0.05 --dates 4 --outer 64 --inner 32 --rule-paths 2048 $on"
expect 0 cva $heston --json --validate --report heston.html
json; leaf validation.passed=1; was=$(number cva)
check "its price" near "$(sed -n 's/.*"price": \[\([-+.0-9e]*\),.*/\1/p' out)" 9.528213 2e-4
check "the page has the model" grep -q "Heston's model of A: v0 0.04, kappa 1.5, theta 0.06, xi 0.5, rho -0.7" heston.html
for i in 1 2; do expect 0 cva $heston --shard $i/2 -o heston$i.part; done
expect 0 merge-parts heston1.part heston2.part --json
check "parts have the model" [ "$(number cva)" = "$was" ]
# A correlation above 0: high powers of the price have no mean. A put is worth no more than its strike.
printf 'asset,spot,v0,kappa,theta,xi,rho\nB,90,0.09,1,0.05,0.8,0.5\n' >fat.csv
printf 'payoff,assets,strike,maturity,style\nput,B,100,5,american\n' >fatput.csv
for estimator in rule amc; do
    expect 0 cva fatput.csv --market fat.csv --rate 0.03 --dates 5 --outer 256 --inner 32 --rule-paths 4096 --estimator $estimator --json $on
    check "a cva of $estimator" awk -v x="$(sed -n 's/^ *"cva": \([^,]*\),*/\1/p' out)" 'BEGIN { exit !(x > 0.5 && x < 1.5) }'
done
expect 0 cva $heston --outer 16 --compare; said "it has no Heston model"
expect 64 cva $heston --greeks; said "heston.csv: there is no Heston model with sensitivities"
expect 64 cva $heston --estimator inner; said "heston.csv: there is no Heston model with estimator inner"
expect 66 cva $heston --dividends A:0.5:1; said "heston.csv: asset A: an asset of Heston's model has no cash dividends"
printf 'payoff,assets,strike,maturity\ndigital-put,A,100,1\n' >digital.csv
expect 66 cva digital.csv --market heston.csv $on; said "digital.csv:2: european digital-put is not supported on an asset of Heston's model"
printf 'asset,spot,volatility,v0,kappa,theta,xi,rho\nA,100,0.2,0.04,1.5,0.06,0,-1.7\nB,90,,0.04,,0.06,0.5,-0.7\nC,90,,,,,,\n' >bad.csv
expect 66 cva stochastic.csv --market bad.csv $on
said "bad.csv:2: column xi: '0' is not above 0"
said "bad.csv:2: column rho: '-1.7' is not from -1 to 1"
said "bad.csv:2: column volatility: '0.2' is given; with v0 to rho it must be empty"
said "bad.csv:3: column kappa is missing; Heston's model needs v0, kappa, theta, xi and rho"
said "bad.csv:4: column volatility: '' is not a finite number"

# --- cash dividends: the market of test_cva_dividends.c, whose call is worth 6.6896779686 by QuantLib 1.44 ---
printf 'asset,spot,volatility,dividend\nA,100,0.25,0.01\n' >flat.csv
printf 'payoff,assets,strike,maturity\ncall,A,102,365d\n' >call.csv
printf 'ex_date,cash,ticker,desk\n2027-08-20,4,A,x\n2027-02-18,2.5,A,x\n2026-11-19,9,A,y\n' >paid.csv
flat="call.csv --market flat.csv --rate 0.03 --outer 8192 --seed 2 $on"
expect 0 cva $flat --dividends paid.csv --valuation-date 2026-11-19 --json --validate --report paid.html
said "paid.csv:1: ignored columns: desk"; said "paid.csv: 1 dividend on or before today: ignored"
json; leaf validation.passed=1; leaf "dividends=A:0.2493150684931507:2.5,A:0.7506849315068493:4"
was=$(number cva)
check "a call: $was" near "$was" "$(awk 'BEGIN { print 0.6 * (1 - exp(-0.05)) * 6.6896779686 }')" \
    "$(awk -v e="$(number stderr)" 'BEGIN { print 3 * e }')"
check "the page has them" grep -q 'Cash dividends of A, by years: 0.2493: 2.5, 0.7507: 4' paid.html
expect 0 cva $flat --dividends A:274d:4,A:91d:2.5 --json
check "a list is no file" [ "$(number cva)" = "$was" ]
for i in 1 2; do expect 0 cva $flat --dividends A:274d:4,A:91d:2.5 --shard $i/2 -o paid$i.part; done
expect 0 merge-parts paid1.part paid2.part --json $on
check "parts have dividends" [ "$(number cva)" = "$was" ]
expect 0 cva $flat --dividends A:91d:2.5,A:274d:4 --outer 16 --inner 32 --compare; said "it has no cash dividends"
expect 64 cva $flat --dividends A:1; said "--dividends: 'A:1' is neither a list ASSET:TIME:AMOUNT,.. with amounts of at least 0 nor a .csv file; dates need --valuation-date"
expect 64 cva $flat --dividends B:1:1; said "--dividends: unknown asset 'B'"
expect 66 cva $flat --dividends A:1:1,A:1:2; said "--dividends: asset A has two dividends at 1 years; add them up"
expect 66 cva $flat --dividends A:1:200; said "--dividends: asset A: the dividends are worth 196.04 today; that must be less than the price, 100"
expect 64 cva $flat --dividends A:1:1 --greeks; said "--dividends: there are no cash dividends with sensitivities"
printf 'asset,date,amount\nB,1,1\nA,x,1\nA,1,-1\n' >paid.csv
expect 66 cva $flat --dividends paid.csv
said "paid.csv:2: unknown asset 'B'; the market has A"; said "paid.csv:3: column date: 'x'"
said "paid.csv:4: column amount: '-1' is below 0"
printf 'asset,date\nA,1\n' >paid.csv
expect 66 cva $flat --dividends paid.csv; said "paid.csv has no column amount; the file must have asset, date, amount"
printf 'payoff,assets,strike,maturity,barrier\nup-in-put,A,95,1,110\n' >barrier.csv
expect 66 cva barrier.csv --market flat.csv --dividends A:0.5:1 $on; said "barrier.csv:2: up-in-put takes no asset with cash dividends"

# --- parts hold the curves, not the names of their files ---
expect 0 cva put.csv --market curves/market.csv $given --outer 64 --json; whole=$(number cva)
for i in 1 2; do expect 0 cva put.csv --market curves/market.csv $given --outer 64 --shard $i/2 -o $i.part; done
mv curves/vol.csv curves/other.csv; mv zero.csv other.csv
expect 0 merge-parts 1.part 2.part --json $on
check "parts are the whole" [ "$(number cva)" = "$whole" ]
mv curves/other.csv curves/vol.csv; mv other.csv zero.csv

# --- spreads of swaps: hazard rates of bench/quantlib_cds.py ---
printf 'tenor,spread\n1y,0.008\n3y,0.012\n5y,0.016\n7y,0.018\n10y,0.020\n' >cds.csv
swaps="--rates 91d:0.01,1:0.03,2:0.045,10:0.05 --outer 2 $on --json"
expect 0 cva years.csv --market points.csv --cds cds.csv --valuation-date 2026-11-19 $swaps; json
i=0
for hazard in 0.01345845033058 0.02420141286507 0.03962710328066 0.04191431415451 0.04630890609102; do
    check "hazard $i" near "$(sed -n "s/^hazard\.$i=//p" leaves)" $hazard 1e-12
    i=$((i + 1))
done
leaf hazard_until.4=10.093150684931507
expect 0 cva years.csv --market points.csv --cds 1y:0.008,2032-01-30:0.016 --valuation-date 2026-11-19 $swaps; json
leaf hazard_until.1=5.2
expect 0 cva years.csv --market points.csv --cds 5:0.006 --outer 2 $on --json; json # no interest: S 365 / 360 / (1 - R)
check "a spread of 60 basis points" near "$(sed -n 's/^hazard\.0=//p' leaves)" 0.01013889 1e-6
expect 0 cva years.csv --market points.csv --cds 1:0.006,5:0.01 --shard 1/1 -o cds.part --rate 0.02 --outer 8 $on
expect 0 merge-parts cds.part --json $on
expect 66 cva years.csv --market points.csv --cds 1:0.02,5:0.001 $on; said "--cds: cds[1]: spread is 0.001; after the spreads before it"
expect 64 cva years.csv --market points.csv --cds 1:0.02 --hazard 0.1 $on; said "--cds and --hazard exclude each other"
expect 64 cva years.csv --market points.csv --cds 0.02 $on; said "--cds: '0.02' is neither a list"

# --- messages ---
market() { printf 'asset,spot,volatility,dividend\nA,100,%s,%s\n' "$1" "$2" >bad.csv; }
market none.csv 0; expect 66 cva years.csv --market bad.csv $on; said "none.csv"
market 1:0.2,0.5:0.3 0; sed 's/1:0.2,0.5:0.3/"1:0.2,0.5:0.3"/' bad.csv >worse.csv
expect 66 cva years.csv --market worse.csv $on; said "worse.csv:2: column volatility: '1:0.2,0.5:0.3' is neither a number, points"
market 0.2 1:x; expect 66 cva years.csv --market bad.csv $on; said "bad.csv:2: column dividend: '1:x' is neither"
market '1:0.4 2:0.2' 0; expect 66 cva years.csv --market bad.csv $on
said "bad.csv: column volatility of asset A: value[1] is 0.2; with a variance that does not fall it is at least 0.282843"
printf 'tenor,rate\n1y,0.02\n2027-01-01,0.03\n' >bad.csv
expect 66 cva years.csv --market points.csv --rates bad.csv $on
said "bad.csv:3: column tenor: '2027-01-01' is a date; --valuation-date says which day is today"
expect 66 cva years.csv --market points.csv --rates bad.csv --valuation-date 2026-11-19 $on
said "bad.csv:3: column tenor: '2027-01-01' is not after the time before it"
printf 'tenor\n1y\n' >bad.csv; expect 66 cva years.csv --market points.csv --rates bad.csv $on; said "bad.csv has no column rate"
printf 'tenor,rate\n' >bad.csv; expect 66 cva years.csv --market points.csv --rates bad.csv $on; said "bad.csv has 0 points"
expect 66 cva years.csv --market points.csv --rates 1:5000 $on; said "--rates: value[0] is 5000"
expect 64 cva years.csv --market points.csv --rates 1 $on; said "--rates: '1' is neither a list"
expect 64 cva years.csv --market points.csv --rate 0.1 --rates 1:0.05 $on; said "--rate and --rates exclude each other"
expect 64 cva years.csv --market points.csv --hazard 1:-0.05 $on; said "--hazard: '1:-0.05': a rate must be finite and at least 0"
expect 64 cva years.csv --market points.csv --valuation-date 2026-02-29 $on; said "--valuation-date: '2026-02-29' is not a date"
expect 64 cva years.csv --market points.csv --horizon 2027-01-01 $on; said "--horizon: '2027-01-01' is a date"
expect 64 cva years.csv --market points.csv --dates 2027-01-01, $on; said "dates need --valuation-date"
expect 66 cva book.csv --market points.csv $on; said "book.csv:2: column maturity: '2028-11-18' is a date"
expect 64 cva years.csv --market points.csv --estimator inner $on; said "estimator inner takes no curves"

summary test_cli_cva_market.sh
