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
near() { # near A B E: both are there, and no more than E apart
    [ -n "$1" ] && [ -n "$2" ] && awk -v a="$1" -v b="$2" -v e="$3" 'BEGIN { d = a - b; exit !(d <= e && d >= -e) }'
}
check "nothing is near nothing" eval '! near "" "" 1 && ! near 0 "" 1'
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
expect 0 predict "$net" $set --strike 3 $on; said "1 row outside of the ranges of the training set (strike)"; check "flagged" grep -q "yes" out
# outside: every number beyond an end of the ranges, and none in them
outside() { expect 0 predict "$net" $set "--$1" "$2" --json -q $on; json; leaf "outside=$3"; }
for range in alpha:0.1:5:0.0999999:5.001 m:-3:0.2:-3.001:0.2000001 beta:0.05:1:0.049999:1.0001 y0:-3:0:-3.00001:1e-300 \
    rho:-0.95:0:-0.9500001:1e-9 maturity:0.05:2:0.0499:2.001 strike:0.5:1.5:0.4999:1.501; do
    name=${range%%:*} ends=${range#*:}
    outside "$name" "$(echo "$ends" | cut -d: -f1)" 0; outside "$name" "$(echo "$ends" | cut -d: -f2)" 0
    outside "$name" "$(echo "$ends" | cut -d: -f3)" 1; outside "$name" "$(echo "$ends" | cut -d: -f4)" 1
done
expect 0 predict "$net" --alpha 1 --m -1.6 --nu2 0.125 --y0 -1.6 --rho -0.5 --maturity 1 --strike 1 --json $on
check "beta out of nu2" near "$(number price)" "$price" 1e-6
# where 64 steps are wrong by 6e-3: 0.08718 +- 1e-5 by shoal dataset
expect 0 predict "$net" --alpha 5 --m -3 --beta 1 --y0 0 --rho -0.95 --maturity 2 --strike 1 --check --json $on
json; check "a simulation of as many steps as a corner needs" near "$(number mc_price)" 0.08718 2e-4
check "to a standard error of 5e-5" near "$(number mc_stderr)" 0 5e-5
expect 0 predict "$net" $set --check --target-se 1e-3 --json $on; json; check "as coarse as is asked for" near "$(number mc_stderr)" 0 1e-3
check "in 8192 paths" [ "$(number paths)" -eq 8192 ]
expect 64 predict "$net" $set --rho 0.3 --check $on; said "--rho: 0.3 is not from -1 to 0, the limits of rho in a simulation"
expect 64 predict "$net" $set --maturity 900 --alpha 5 --check $on; said "--maturity: 900 needs"
expect 64 predict "$net" --alpha 1 --m -1.6 --nu2 1e6 --y0 -1.6 --rho -0.5 --maturity 1 --strike 1 --check $on
said "--nu2: 1e+06 makes beta 1414.21, which is not from 0 to 1000, the limits of beta in a simulation"
# what is not simulated needs no seed
expect 0 predict "$net" $set --seed 5 --json $on; said "--seed has no effect"
json; leaf seed=null; leaf target_se=null; leaf most_paths=null; leaf output=null; leaf export=null; leaf params=null
expect 0 predict "$net" $set --seed 5 --check -o one.csv --export one.npz --json $on
check "not a word on the seed" eval '! grep -q "no effect" err'
json; leaf seed=5; leaf output=one.csv; leaf export=one.npz; leaf most_paths=2097152; has target_se
check "the standard error of a data set" near "$(number target_se)" 5e-5 1e-12
check "a table of one row" grep -q "mc_stderr,outside$" one.csv
expect 0 predict "$net" $set --check --paths 8192 --target-se 1e-2 --json $on; json; leaf seed=1; leaf most_paths=8192
check "the standard error that was asked for" near "$(number target_se)" 1e-2 1e-12
expect 0 predict "$net" --export one.npz --seed 5 $on; said "--seed has no effect"
# inputs without a price
expect 64 predict "$net" $set --alpha 0 $on; said "--alpha: 0 is not above 0, and the network takes its logarithm"
expect 64 predict "$net" $set --m 1e300 $on; said "--m: 1e+300 makes the network overflow; its range is"
expect 64 predict "$net" $set --m 1e300 --type f64 $on; said "--m: 1e+300 makes the network overflow"
row() { printf 'alpha,m,beta,y0,rho,maturity,strike,price,stderr\n1,%s,0.5,-1.6,-0.5,0.05,0.5,0.9,0.1\n' "$1" >far.csv; }
# m up to which there is a price for a short maturity, to 1e-4 of it: for longer ones there is none, which is arbitrage
low=1 high=1000000
while awk -v l=$low -v h=$high 'BEGIN { exit !(h - l > 1e-4 * l) }'; do
    mid=$(awk -v l=$low -v h=$high 'BEGIN { printf "%.6f", sqrt(l * h) }')
    row "$mid"
    if "$shoal" predict "$net" far.csv -q $on >out 2>err; then low=$mid; else high=$mid; fi
done
row "$high"
expect 66 predict "$net" far.csv $on; said "far.csv:2: column m: "; said "makes the network overflow"
row "$low"
expect 0 predict "$net" far.csv --check --json -q $on
json; check "no price is arbitrage" [ "$(sed -n 's/^arbitrage.not_falling_in_strike=//p' leaves)" -gt 0 ]
expect 0 predict "$net" --export w.npz --json $on; json; leaf "model=$net"; leaf export=w.npz
expect 0 predict "$net" --export w.npz $on; silent out
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
check "one line per row" [ "$(wc -l <prices.csv)" -eq 3001 ]
check "a header" grep -q '^alpha,m,beta,y0,rho,maturity,strike,price,dprice_dstrike,dprice_dmaturity,outside$' prices.csv
expect 0 predict "$net" params.csv -o again.csv --threads 3 -q $on
check "threads change nothing" cmp -s prices.csv again.csv
expect 0 predict "$net" params.csv -o bare.csv --no-derivatives $on
check "no derivatives" grep -q 'strike,price,outside$' bare.csv
awk -F, 'NR == 1 { print "alpha,m,beta,y0,rho,maturity,strike,price,stderr"; next }
    { print $1 "," $2 "," $3 "," $4 "," $5 "," $6 "," $7 "," $8 ",0.00005" }' prices.csv >train.csv
head -n 301 train.csv >few.csv
# batches of several blocks, the last one not full
expect 0 train train.csv -o net --layers 2 --width 32 --batch 700 --epochs 60 --seed 5 --plot loss.svg --export net.npz --json $on
said "train.csv: inputs are alpha, m, beta, y0, rho, maturity, strike"
check "the inputs are named once" [ "$(grep -c 'inputs are' err)" -eq 1 ]
json; leaf seed=5; leaf rows=2700; leaf validation_rows=300; leaf end=done; has inputs.6 training_error.59 validation_error.59
leaf most_epochs=60; leaf epochs=60; leaf patience=15; leaf batch=700; leaf plot=loss.svg; leaf export=net.npz
check "the default of --rate" near "$(number rate)" 4e-3 1e-15
check "the default of --floor" near "$(number floor)" 1e-4 1e-15
check "it learns" near "$(number validation)" 0 1e-3
check "a picture" grep -q '<svg' loss.svg
expect 0 train train.csv -o net2 --layers 2 --width 32 --batch 700 --epochs 60 --seed 5 --threads 1 -q $on
check "one thread makes the same network" cmp -s net net2
expect 0 train train.csv -o net4 --layers 2 --width 32 --batch 700 --epochs 60 --seed 5 --threads 5 -q $on
check "five threads make the same network" cmp -s net net4
expect 0 train train.csv -o net3 --layers 2 --width 32 --batch 700 --epochs 60 --seed 6 -q $on
check "another seed makes another network" eval '! cmp -s net net3'
expect 0 predict net train.csv --check --json $on
json; has errors_by.3.rmse arbitrage.sets; check "errors of its own set" near "$(sed -n 's/^errors.rmse=//p' leaves)" 0 1e-3
expect 0 train train.csv --validation few.csv --target price --epochs 1 --patience 3 --rate 1e-3 --floor 1e-3 -o bad --json $on
json; leaf plot=null; leaf export=null; leaf patience=3; leaf most_epochs=1; leaf batch=256
check "the rate that was asked for" near "$(number rate)" 1e-3 1e-15; check "the floor" near "$(number floor)" 1e-3 1e-15
expect 0 predict bad few.csv --check --json $on # one pass on prices: not free of arbitrage
json; check "arbitrage is found" [ "$(sed -n 's/^arbitrage.not_convex_in_strike=//p' leaves)" -gt 0 ]
# one strike, one maturity: the network cannot know what others cost
awk -F, -v OFS=, 'NR > 1 { $7 = 1 } { print $1, $2, $3, $4, $5, $6, $7 }' params.csv >atm.csv
expect 0 predict "$net" atm.csv -o atm.out -q $on
cut -d, -f1-8 atm.out | sed '1s/$/,stderr/; 2,$s/$/,0.00005/' >atm.csv
expect 0 train atm.csv --epochs 2 -o atm.net $on
expect 0 predict atm.net few.csv --check --json $on
json; leaf arbitrage.not_falling_in_strike=null; leaf arbitrage.not_convex_in_strike=null; leaf arbitrage.points=5100
has arbitrage.not_rising_in_maturity
expect 0 predict atm.net few.csv --check $on; check "not a word on strikes" eval '! grep -q "in strike" out'
expect 1 train train.csv --rate 1e6 --epochs 3 -o none $on; said "diverged"; check "no model of it" [ ! -e none ]
expect 1 train train.csv --rate 1e6 --epochs 3 -o none --export none.npz --json $on
json; leaf end=diverged; leaf model=null; leaf export=null; has epochs rows
check "no weights of it" [ ! -e none.npz ]
sed '1s/beta/nu2/' train.csv >nu2.csv
expect 0 train nu2.csv --epochs 1 -o nu2.net $on
expect 64 predict nu2.net $set $on; said "--nu2 is missing"
expect 0 train nu2.csv --target price --epochs 1 -o nu2.net -q $on # which has a price of any number
expect 64 predict nu2.net --alpha 1 --m -1.6 --nu2 1e6 --y0 -1.6 --rho -0.5 --maturity 1 --strike 1 --check $on
said "--nu2: 1e+06 makes beta 1414.21, which is not from 0 to 1000, the limits of beta in a simulation"
awk -F, -v OFS=, 'NR == 4 { $3 = 600000 } NR < 9' nu2.csv | cut -d, -f1-7 | awk -F, -v OFS=, 'NR == 4 { $1 = 1 } 1' >far.csv
expect 66 predict nu2.net far.csv --check $on; said "far.csv:4: column nu2: 600000 makes beta 1095.45, which is not from 0 to 1000"

# --- a row that overflows is named, and not the learning rate ---
awk -F, -v OFS=, 'NR == 9 { $2 = "1e50" } 1' few.csv >wrong.csv
expect 66 train train.csv --validation wrong.csv --epochs 1000000 -o none $on
said "wrong.csv:9: column m: 1e+50 is too far from the training rows: the network overflows"
awk -F, -v OFS=, 'NR == 2900 { $2 = "1e50" } 1' train.csv >wrong.csv # of the tenth that is held back
expect 66 train wrong.csv --epochs 1000000 -o none $on; said "wrong.csv:2900: column m: 1e+50 is too far"
check "nothing is written" [ ! -e none ]

# --- Ctrl-C between a few rows ---
"$shoal" predict "$net" params.csv --check --paths 262144 --target-se 1e-12 --threads 1 -o none $on >out 2>err </dev/null & job=$!
busy $job; kill -TERM $job; since=$(date +%s); wait $job; rc=$?; took=$(($(date +%s) - since)); note_seen predict
check "interrupted: exit code 130" [ $rc -eq 130 ]
check "said once" [ "$(grep -c interrupted err)" -eq 1 ]
check "in a few seconds, not after 256 rows: $took" [ $took -le 15 ]
check "no prices are written" [ ! -e none ]

# --- Ctrl-C in an epoch: the best network before it is written; without a complete epoch there is none ---
for i in 1 2 3 4 5 6 7 8; do tail -n +2 train.csv; done >rows
{ head -n 1 train.csv; for i in 1 2 3 4 5 6 7 8; do cat rows; done; } >long.csv
"$shoal" train train.csv --epochs 1000000 --layers 1 --width 8 -o best.net --threads 1 $on >out 2>err </dev/null & job=$!
busy $job; sleep 1; kill -TERM $job; wait $job; rc=$?; note_seen train
check "training that is interrupted: exit code 130" [ $rc -eq 130 ]
expect 0 predict best.net params.csv -q -o best.out $on
"$shoal" train long.csv --epochs 9 --layers 8 --width 256 -o first.net --threads 1 $on >out 2>err </dev/null & job=$!
busy $job; kill -TERM $job; wait $job; rc=$?
check "in the first epoch: exit code 130" [ $rc -eq 130 ]
check "and no model" [ ! -e first.net ]

# --- files at fault ---
wrong() { # wrong SED TEXT: train.csv changed so is refused, with that text
    sed "$1" train.csv >wrong.csv
    expect 66 train wrong.csv -o none $on; said "wrong.csv:$2"
    check "nothing is written" [ ! -e none ]
}
wrong '1s/price/prize/' "1: column price is missing"
wrong '1s/stderr/error/' "1: column stderr is missing"
wrong '7s/^[^,]*,/text,/' "7: column alpha: 'text' is not a number"
wrong '7s/^[^,]*,/nan,/' "7: column alpha: 'nan' is not finite"
wrong '9s/^[^,]*,/-1,/' "9: column alpha: -1 is less than 0"
wrong '9s/,[^,]*$/,-1/' "9: column stderr: -1 is less than 0"
wrong '9s/,[^,]*$/,1e200/' "9: column stderr: 1e+200 is above 1"
wrong '9s/^[^,]*,/1e300,/' "9: column alpha: 1e+300 is beyond 1e100"
sed '9s/^[^,]*,/1e300,/' few.csv >wrong.csv; expect 66 train train.csv --validation wrong.csv -o none $on; said "wrong.csv:9: column alpha: 1e+300"
wrong '4s/,[^,]*,\([^,]*\)$/,1.5,\1/' "4: column price: 1.5 is above 1"
wrong '4s/,[^,]*,[^,]*,\([^,]*\)$/,-0.2,0.1,\1/' "4: column strike: -0.2 is not above 0"
wrong '4s/,[^,]*,[^,]*,\([^,]*\)$/,0.5,0.1,\1/' "4: column price: 0.1 is below the payoff"
wrong '5s/$/,3/' "5: more fields"
wrong '1s/strike/stroke/' "1: column strike is missing; the target volatility needs it"
wrong '1s/maturity/tenor/' "1: column maturity is missing; the target volatility needs it"
wrong '1s/alpha/a-name-of-thirty-two-bytes-and-more/' "1: column a-name-of-thirty-two-bytes-and-more: the name is longer than 31"
wrong "1s/alpha/al$(printf '\001')pha/" "1: column al"
wrong '1s/alpha/m/' "1: column m appears twice"
for name in outside rows mc_price mc_stderr dprice_dstrike dprice_dmaturity seed target_se most_paths output export type \
    seconds model interrupted prices_per_second errors arbitrage typical_error; do
    wrong "1s/y0/$name/" "1: column $name: this name is taken by a result of shoal predict"
done
if command -v gzip >/dev/null; then # a model of another program: its checksum is gzip's
    sed '1s/y0/yo/' train.csv >y.csv; expect 0 train y.csv --epochs 1 -o y.net -q $on
    body=$(($(wc -c <y.net) - 4)) at=$((80 + 3 * 72))
    { head -c $at y.net; printf 'rows\000'; head -c $body y.net | tail -c +$((at + 6)); } >rows.net
    gzip -c rows.net | tail -c 8 | head -c 4 >crc; cat crc >>rows.net
    expect 66 predict rows.net few.csv $on; said "rows.net: input rows: this name is taken by a result of shoal predict"
    expect 0 predict rows.net --export rows.npz $on
else
    skip "no gzip here to make a checksum with"
fi
wrong '6s/^[^,]*,//' "6: "
wrong '6s/^[^,]*,/,/' "6: column alpha: "
wrong '2s/^[^,]*,/inf,/' "2: column alpha: 'inf' is not finite"
wrong '3001s/^[^,]*,/1e999,/' "3001: column alpha: '1e999' is not finite"
wrong '8s/^\([^,]*,\)[^,]*,/\1-nan,/' "8: column m: '-nan' is not finite"
wrong '8s/,[^,]*$/,nan/' "8: column stderr: 'nan' is not finite"
wrong '8s/,[^,]*,\([^,]*\)$/,nan,\1/' "8: column price: 'nan' is not finite"
wrong '8s/,[^,]*,\([^,]*\)$/,,\1/' "8: column price: "
wrong '8s/,[^,]*,\([^,]*\)$/,0x1p-2,\1/' "8: column price: '0x1p-2' is not a number"
wrong '8s/,[^,]*,\([^,]*\)$/,-0.1,\1/' "8: column price: -0.1 is below the payoff"
wrong '9s/^\(\([^,]*,\)\{4\}\)[^,]*,/\1-1.01,/' "9: column rho: -1.01 is not from -1 to 1"
wrong '9s/^\(\([^,]*,\)\{5\}\)[^,]*,/\10,/' "9: column maturity: 0 is not above 0"
sed 's/,/;/g' train.csv >wrong.csv; expect 66 train wrong.csv -o none $on; said "wrong.csv:2: column alpha;m;beta"
head -n 1 train.csv >wrong.csv; expect 66 train wrong.csv -o none $on; said "wrong.csv: too few rows for training: 0"
head -n 2 train.csv >wrong.csv; expect 66 train wrong.csv --validation few.csv -o none $on; said "wrong.csv: too few rows for training: 1"
expect 66 train few.csv --validation wrong.csv -o none $on; said "wrong.csv: too few rows for validation: 1"
: >wrong.csv; expect 66 train wrong.csv -o none $on; said "wrong.csv"
cut -d, -f8- train.csv >wrong.csv; expect 66 train wrong.csv -o none $on; said "wrong.csv: no column is an input"
sed '7s/^[^,]*,/0,/' few.csv >wrong.csv
expect 66 train train.csv --validation wrong.csv -o none $on; said "wrong.csv:7: column alpha: 0 is not above 0, but all rows of the training set are"
wrong '3001s/^[^,]*,/0,/' "3001: column alpha: 0 is not above 0, but all rows of the training set are" # of the tenth that is held back
sed '7s/^[^,]*,/0,/' few.csv >wrong.csv
expect 66 predict "$net" wrong.csv $on; said "wrong.csv:7: column alpha: 0 is not above 0, and the network takes its logarithm"
sed '1s/strike/stroke/' few.csv >wrong.csv; expect 0 train wrong.csv --target price --epochs 1 -o price.net $on
unfit() { # SED TEXT: params.csv changed so is refused by predict, with that text
    sed "$1" params.csv >wrong.csv
    expect 66 predict "$net" wrong.csv -o none $on; said "wrong.csv:$2"
    check "no prices are written" [ ! -e none ]
}
unfit '1s/strike/stroke/' "1: column strike is missing"
unfit '5s/^[^,]*,/text,/' "5: column alpha: 'text' is not a number"
unfit '5s/^[^,]*,/nan,/' "5: column alpha: 'nan' is not finite"
unfit '5s/^[^,]*,/-2,/' "5: column alpha: -2 is less than 0"
unfit '5s/^\([^,]*,\)[^,]*,/\11e300,/' "5: column m: 1e+300 makes the network overflow"
unfit '5s/,[^,]*$/,0/' "5: column strike: 0 is not above 0"
unfit '5s/,[^,]*$//' "5: "
sed '4s/^\(\([^,]*,\)\{4\}\)[^,]*,/\10.3,/' params.csv | head -n 9 >wrong.csv
expect 66 predict "$net" wrong.csv --check $on; said "wrong.csv:4: column rho: 0.3 is not from -1 to 0, the limits of rho in a simulation"
head -n 1 params.csv >wrong.csv; expect 0 predict "$net" wrong.csv -o empty.csv $on
check "no row, no price" [ "$(wc -l <empty.csv)" -eq 1 ]
awk -F, 'NR == 1 { print "id," $0; next } { print NR "," $0 }' few.csv >id.csv
expect 0 train id.csv --epochs 1 -o id.net $on; said "id.csv: inputs are id, alpha"
awk 'NR == 1 { print; next } NR < 400 { print "1,-1.6,0.5,-1.6,-0.5,1,1,0.08,0.0001" }' train.csv >same.csv
expect 66 train same.csv -o none $on; said "same.csv: all rows have the same inputs: there is nothing to learn"
sed '1s/rho/roh/' params.csv >wrong.csv
expect 66 predict "$net" wrong.csv $on; said "wrong.csv:1: column rho is missing"
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
for option in "-o nowhere/n.net" "-o n.net --plot nowhere/n.svg" "-o n.net --export nowhere/n.npz"; do
    expect 74 train train.csv --epochs 1000000 $option $on; said "nowhere/n." # before the training
    check "no model is written" [ ! -e n.net ]
done
head -n 9 params.csv >eight.csv # nor after a simulation of hours
for option in "-o nowhere/n.csv" "--export nowhere/n.npz"; do
    expect 74 predict "$net" eight.csv --check --paths 33554432 --target-se 1e-12 $option $on; said "nowhere/n."
done
expect 66 predict "$net" none.csv -o n.csv --export n.npz $on; check "nothing is written" [ ! -e n.npz ] # the table first
for option in "-o X.npz --export X.npz" "-o X.svg --plot X.svg"; do
    expect 64 train train.csv $option; said "two outputs are called 'X."
done
expect 64 predict "$net" $set -o X.npz --export X.npz; said "two outputs are called 'X.npz'"
cp train.csv in.npz; cp few.csv in.svg
expect 64 train in.npz -o net --export in.npz; said "'in.npz' is an input; --force overwrites it"
expect 64 train train.csv --validation in.svg -o net --plot in.svg; said "'in.svg' is an input; --force overwrites it"
expect 64 train train.csv -o ./train.csv; said "'./train.csv' is an input; --force overwrites it"
cp "$net" in.npz; expect 64 predict in.npz $set --export in.npz; said "'in.npz' is an input; --force overwrites it"
expect 64 predict "$net" params.csv -o params.csv; said "'params.csv' is an input; --force overwrites it"
check "inputs are as they were" cmp -s in.npz "$net"
expect 64 train train.csv -o net --target delta $on; said "delta"
expect 64 train train.csv -o net --plot loss.png; said ".svg"
expect 64 predict; said "MODEL"
expect 64 predict "$net"; said "PARAMS"
expect 64 predict "$net" params.csv --alpha 1; said "exclude"
expect 64 predict "$net" --alpha 1 $on; said "--m is missing"
expect 64 predict "$net" $set --rho -2; said "--rho"
expect 64 predict "$net" $set --paths 1000; said "--paths needs --check"
expect 64 predict "$net" $set --target-se 1e-4; said "--target-se needs --check"
expect 64 predict "$net" $set --check --paths 100; said "--paths"
expect 64 train train.csv -o net --floor 1e-13 $on; said "floor is 1e-13; it must be at least 1e-12"
cp "$net" kept.net
expect 64 predict "$net" $set -o "$net"; said "is an input; --force overwrites it"
check "the model is as it was" cmp -s "$net" kept.net
expect 64 train train.csv -o net --gemm fused $on; said "gemm is 'fused'"

summary test_cli_surrogate.sh
