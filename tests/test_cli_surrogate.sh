#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# test_cli_surrogate.sh PROGRAM - `shoal train` and `shoal predict`: the network that ships, a network trained on
# prices of that one, files and pictures, messages that name file, line and column, damaged models.
# shellcheck disable=SC2034,SC2086,SC1091,SC2154

examples=$(cd "$(dirname "$0")/../examples" && pwd) || exit 2
# shellcheck source=tests/test_cli_base.sh
. "$(dirname "$0")/test_cli_base.sh"
on="--backend cpu"

number() { sed -n "s/^ *\"$1\": \([-+.0-9e]*\),*$/\1/p" out; } # of the JSON object
near() { awk -v a="$1" -v b="$2" -v e="$3" 'BEGIN { d = a - b; exit !(d <= e && d >= -e) }'; }
net=$examples/expou.net
set="--alpha 1 --m -1.6 --beta 0.5 --y0 -1.6 --rho -0.5 --maturity 1 --strike 1"

# --- the network that ships ---
check "a small file" [ "$(wc -c <"$net")" -lt 200000 ]
expect 0 predict "$net" $set --check --paths 65536 --json $on
json; has price dprice_dstrike dprice_dmaturity mc_price mc_stderr errors.rmse arbitrage.points
check "near Monte Carlo" near "$(number price)" "$(number mc_price)" 1e-3
check "falls with the strike" near "$(number dprice_dstrike)" -0.5 0.2
price=$(number price)
expect 0 predict "$net" $set --strike 1.001 --json $on; up=$(number price)
expect 0 predict "$net" $set --strike 0.999 --json $on; down=$(number price)
expect 0 predict "$net" $set --json $on
check "the derivative is that of prices" near "$(number dprice_dstrike)" \
    "$(awk -v u="$up" -v d="$down" 'BEGIN { print (u - d) / 0.002 }')" 1e-3
expect 0 predict "$net" $set --strike 3 $on; said "not to be trusted: 1"; check "flagged" grep -q "yes" out
expect 0 predict "$net" --alpha 1 --m -1.6 --nu2 0.125 --y0 -1.6 --rho -0.5 --maturity 1 --strike 1 --json $on
check "beta out of nu2" near "$(number price)" "$price" 1e-6
expect 0 predict "$net" --export w.npz $on
check "a zip archive" [ "$(head -c 4 w.npz | od -An -tx1 | tr -d ' \n')" = 504b0304 ]
check "with weights" grep -q layer0.weight.npy w.npz

# --- rows of a file, and a network trained on its prices ---
awk 'BEGIN {
    srand(3); print "alpha,m,beta,y0,rho,maturity,strike"
    for (i = 0; i < 3000; i++)
        printf "%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f\n", 1 + rand(), -2 + 0.5 * rand(), 0.3 + 0.2 * rand(), -2 + 0.5 * rand(),
            -0.8 + 0.5 * rand(), 0.4 + rand(), 0.8 + 0.4 * rand()
}' >params.csv
expect 0 predict "$net" params.csv -o prices.csv --threads 1 $on
check "a line a row" [ "$(wc -l <prices.csv)" -eq 3001 ]
check "a header" grep -q '^alpha,m,beta,y0,rho,maturity,strike,price,dprice_dstrike,dprice_dmaturity,outside$' prices.csv
expect 0 predict "$net" params.csv -o again.csv --threads 3 -q $on
check "threads change nothing" cmp -s prices.csv again.csv
expect 0 predict "$net" params.csv -o bare.csv --no-derivatives $on
check "no derivatives" grep -q 'strike,price,outside$' bare.csv
awk -F, 'NR == 1 { print "alpha,m,beta,y0,rho,maturity,strike,price,stderr"; next }
    { print $1 "," $2 "," $3 "," $4 "," $5 "," $6 "," $7 "," $8 ",0.00005" }' prices.csv >train.csv
head -n 301 train.csv >few.csv
expect 0 train train.csv -o net --layers 2 --width 32 --batch 64 --epochs 20 --seed 5 --plot loss.svg --export net.npz --json $on
json; leaf seed=5; leaf rows=2700; leaf validation_rows=300; leaf end=done; has inputs.6 training_error.19 validation_error.19
check "it learns" near "$(number validation)" 0 1e-3
check "a picture" grep -q '<svg' loss.svg
expect 0 train train.csv -o net2 --layers 2 --width 32 --batch 64 --epochs 20 --seed 5 --threads 1 -q $on
check "threads change the network" cmp -s net net2
expect 0 train train.csv -o net3 --layers 2 --width 32 --batch 64 --epochs 20 --seed 6 -q $on
check "a seed does not change the network" eval '! cmp -s net net3'
expect 0 predict net train.csv --check --json $on
json; has errors_by.3.rmse arbitrage.sets; check "errors of its own set" near "$(sed -n 's/^errors.rmse=//p' leaves)" 0 1e-3
expect 0 train train.csv --validation few.csv --target price --epochs 1 -o bad $on
expect 0 predict bad few.csv --check --json $on # one pass on prices: not free of arbitrage
json; check "arbitrage is found" [ "$(sed -n 's/^arbitrage.not_convex_in_strike=//p' leaves)" -gt 0 ]
expect 1 train train.csv --rate 1e6 --epochs 3 -o none $on; said "diverged"; check "no model of it" [ ! -e none ]
sed '1s/beta/nu2/' train.csv >nu2.csv
expect 0 train nu2.csv --epochs 1 -o nu2.net $on
expect 64 predict nu2.net $set $on; said "--nu2 is missing"

# --- files at fault ---
wrong() { # wrong SED TEXT: train.csv changed so is refused, with that text
    sed "$1" train.csv >wrong.csv
    expect 66 train wrong.csv -o none $on; said "wrong.csv:$2"
    check "nothing is written" [ ! -e none ]
}
wrong '1s/price/prize/' "1: column price: missing"
wrong '1s/stderr/error/' "1: column stderr: missing"
wrong '7s/^[^,]*,/text,/' "7: column alpha: 'text' is not a number"
wrong '7s/^[^,]*,/nan,/' "7: column alpha: 'nan' is not finite"
wrong '9s/^[^,]*,/-1,/' "9: column alpha: -1 is less than 0"
wrong '9s/,[^,]*$/,-1/' "9: column stderr: -1 is less than 0"
wrong '4s/,[^,]*,\([^,]*\)$/,1.5,\1/' "4: column price: 1.5 is above 1"
wrong '4s/,[^,]*,[^,]*,\([^,]*\)$/,-0.2,0.1,\1/' "4: column strike: -0.2 is not above 0"
wrong '4s/,[^,]*,[^,]*,\([^,]*\)$/,0.5,0.1,\1/' "4: column price: 0.1 is below the payoff"
wrong '5s/$/,3/' "5: more fields"
sed '1s/rho/roh/' params.csv >wrong.csv
expect 66 predict "$net" wrong.csv $on; said "wrong.csv:1: column rho: missing"
head -n 3 train.csv >short.csv; expect 66 train short.csv -o none $on; said "too few"
expect 66 train none.csv -o none $on; said "none.csv"
head -c 5000 "$net" >cut.net; expect 66 predict cut.net $set $on; said "cut.net: truncated"
{ head -c 8 "$net"; printf '\002'; tail -c +10 "$net"; } >two.net; expect 66 predict two.net $set $on; said "version 2"
{ head -c 5000 "$net"; printf '\001\001'; tail -c +5003 "$net"; } >damaged.net
expect 66 predict damaged.net $set $on; said "checksum"
expect 66 predict train.csv $set $on; said "not a model file"

# --- usage ---
expect 64 train -o net; said "TRAIN"
expect 64 train train.csv; said "-o"
expect 64 train train.csv -o net --width 12 $on; said "width"
expect 64 train train.csv -o net --target delta $on; said "delta"
expect 64 train train.csv -o net --plot loss.png; said ".svg"
expect 64 predict; said "MODEL"
expect 64 predict "$net"; said "PARAMS"
expect 64 predict "$net" params.csv --alpha 1; said "exclude"
expect 64 predict "$net" --alpha 1 $on; said "--m is missing"
expect 64 predict "$net" $set --rho -2; said "--rho"
expect 64 predict "$net" $set --paths 100; said "--check"
cp "$net" kept.net
expect 64 predict "$net" $set -o "$net"; said "is an input: it would be overwritten"
check "the model is as it was" cmp -s "$net" kept.net
expect 64 train train.csv -o net --gemm fused $on; said "gemm is 'fused'"

summary test_cli_surrogate.sh
