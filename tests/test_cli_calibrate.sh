#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# test_cli_calibrate.sh PROGRAM [BACKEND] - `shoal calibrate`: known parameters, files, notes, mistakes.
# shellcheck disable=SC2034,SC2086,SC1091,SC2154

# shellcheck source=tests/test_cli_base.sh
. "$(dirname "$0")/test_cli_base.sh"
on="--backend ${2:-cpu}"
"$shoal" info $on >/dev/null 2>&1 || { echo "skipped: no backend $2 here"; exit 77; }

near() { awk -v a="$1" -v b="$2" -v e="$3" 'BEGIN { d = a - b; exit !(d <= e && d >= -e) }'; }
number() { sed -n "s/^  \"$1\": \([-+.0-9e]*\),*$/\1/p" out; } # of the JSON object

# quotes.csv from the formula: exact prices, in no order of maturities
model="--s0 100 --rate 0.03 --dividend 0.01 --v0 0.05 --kappa 1.5 --theta 0.08 --sigma 0.6 --rho -0.6"
{
    echo "maturity,strike,price"
    for t in 2 0.25 1 0.5; do
        "$shoal" price heston $on $model --method analytic --strike 80,90,100,110,125 --maturity $t --json |
            awk -F '[:, ]+' -v t=$t '/"strike":/ { for (i = 1; i < NF; i++) { if ($i == "\"strike\"") k = $(i + 1); if ($i == "\"price\"") print t "," k "," $(i + 1) } }'
    done
} >quotes.csv
check "20 quotes" [ "$(wc -l <quotes.csv)" = 21 ]
market="--s0 100 --rate 0.03 --dividend 0.01"

# --- known parameters ---
for errors in vol price; do
    expect 0 calibrate heston quotes.csv $market --errors $errors --starts 4 --json $on; json
    for pair in v0:0.05 kappa:1.5 theta:0.08 sigma:0.6 rho:-0.6; do
        check "$errors: ${pair%:*}" near "$(number ${pair%:*})" ${pair#*:} 1e-5
    done
    leaf errors=$errors; leaf quotes=20; leaf agree=4; leaf converged=true; leaf starts=4
done
said "below 1 (Feller's condition): the variance can reach 0"
expect 0 calibrate heston quotes.csv $market --v0 0.1 --kappa 1 --theta 0.05 --sigma 0.3 --rho 0 --solver ldlt -o fit.csv $on
check "a table" grep -q '^kappa  *1\.5' out
check "columns" grep -q '^strike,maturity,call,weight,price,implied_vol,fitted_price,fitted_vol$' fit.csv
check "the order of the file" [ "$(sed -n 2p fit.csv | cut -d, -f2)" = 2 ]
check "a fit" awk -F, 'NR > 1 && ($5 - $7 > 1e-6 || $7 - $5 > 1e-6) { bad = 1 } END { exit bad }' fit.csv
expect 0 calibrate heston quotes.csv $market --kappa 1 --sigma 0.5 --fix kappa,sigma --json $on; json
leaf kappa=1; leaf kappa_stderr=null; leaf fix=kappa,sigma; leaf sigma=0.5

# volatilities, puts and calls, weights, own rates
awk -F, 'NR == 1 { print "strike,maturity,implied_vol,weight,call,rate,dividend"; next } { print $1 "," $2 "," $6 ",2," ($1 > 100) ",0.03,0.01" }' fit.csv >vols.csv
expect 0 calibrate heston vols.csv --s0 100 --json $on; json
check "by volatilities" near "$(number kappa)" 1.5 1e-4

# --- notes and failures ---
expect 1 calibrate heston quotes.csv $market --iterations 1 $on; said "no convergence after 1 iteration"
{ head -n 1 quotes.csv; grep '^1,' quotes.csv; } >one.csv # no kappa and theta in one maturity
expect 0 calibrate heston one.csv $market --theta 0.2 --fix theta $on
expect 0 calibrate heston one.csv $market --sigma 3 --fix sigma $on
said "at its bound"
# three quotes without a smile do not determine five parameters
printf 'strike,maturity,implied_vol\n99,1,0.2\n100,1,0.2\n101,1,0.20001\n' >flat.csv
expect 1 calibrate heston flat.csv --s0 100 --sigma 0.01 --rho 0 --fix sigma,rho --iterations 2 $on; said "parameters compensate each other"
{ cat quotes.csv; echo "1,100,120"; } >high.csv
expect 66 calibrate heston high.csv $market $on; said "high.csv:22: no volatility has the price 120"

# --- mistakes ---
expect 64 calibrate; said "MODULE"
expect 64 calibrate hestn; said "Did you mean 'heston'?"
expect 64 calibrate heston; said "the quotes"
expect 66 calibrate heston none.csv $on; said "none.csv"
expect 64 calibrate heston quotes.csv --fix kapa $on; said "'kapa' is none of v0, kappa, theta, sigma, rho"
expect 64 calibrate heston quotes.csv --fix kappa $on; said "--fix kappa needs --kappa"
expect 64 calibrate heston quotes.csv --solver ldlp $on; said "Did you mean 'ldlt"
echo "strike,maturity,price,vola" >bad.csv
expect 66 calibrate heston bad.csv $on; said "bad.csv:1: unknown column 'vola'"
echo "strike,price" >bad.csv
expect 66 calibrate heston bad.csv $on; said "bad.csv:1: column maturity is missing"
echo "strike,maturity" >bad.csv
expect 66 calibrate heston bad.csv $on; said "bad.csv:1: columns price and implied_vol are missing; one of them is needed"
printf '\nstrike,maturity,price,implied_vol\n1,1,0.1,0.2\n' >bad.csv
expect 66 calibrate heston bad.csv $on; said "bad.csv:2: columns price and implied_vol are both there"
printf 'strike,maturity,price\n1,1,0.1\n1,inf,0.1\n' >bad.csv
expect 66 calibrate heston bad.csv $on; said "bad.csv:3: column maturity: 'inf' is not finite"
printf 'strike,maturity,price,rate\n1,1,0.1,-inf\n' >bad.csv
expect 66 calibrate heston bad.csv $on; said "bad.csv:2: column rate: '-inf' is not finite"
printf 'strike,maturity,price\n1,1,0.1\n1,nan,0.1\n' >bad.csv
expect 66 calibrate heston bad.csv $on; said "bad.csv:3: column maturity: 'nan' is not finite"
printf 'strike,maturity,price\n1,1,0.1\n1,one,0.1\n' >bad.csv
expect 66 calibrate heston bad.csv $on; said "bad.csv:3: column maturity: 'one' is not a number"
echo "strike,maturity,price" >bad.csv
expect 66 calibrate heston bad.csv $on; said "bad.csv:1: there are no quotes below this line"
printf 'strike,maturity,price\n1,1,0.1\n-1,1,0.1\n' >bad.csv
expect 66 calibrate heston bad.csv $on; said "bad.csv:3: strike is -1; it must be above 0"
printf 'strike,maturity,price,weight\n1,1,0.1,-1\n' >bad.csv
expect 66 calibrate heston bad.csv $on; said "bad.csv:2: weight is -1; it must be 0 or above"
printf 'strike,maturity,price,call\n1,1,0.1,2\n' >bad.csv
expect 66 calibrate heston bad.csv $on; said "bad.csv:2: call is 2; it must be 0 or 1"

summary test_cli_calibrate.sh
