#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# test_cli_american.sh PROGRAM [BACKEND] - `shoal price american`: prices, lists, parts, mistakes.
# shellcheck disable=SC2034,SC2086,SC1091,SC2154

# shellcheck source=tests/test_cli_base.sh
. "$(dirname "$0")/test_cli_base.sh"
on="--backend ${2:-cpu}"
"$shoal" info $on >/dev/null 2>&1 || { echo "skipped: no backend $2 here"; exit 77; }
few="$on --fit-paths 600 --paths 600"

near() { awk -v a="$1" -v b="$2" -v e="$3" 'BEGIN { d = a - b; exit !(d <= e && d >= -e) }'; }
number() { sed -n "s/^  \"$1\": \([-+.0-9e]*\),*$/\1/p" out; } # of the JSON object
results() { grep -E '^ *"?(price|stderr|paths|truncated)' "$1"; }

# --- mistakes ---
expect 64 price amercan; said "Did you mean 'american'?"
expect 64 price american --payoff digital; said "unknown value 'digital'; there are put, call, max-call, basket-put, basket-call"
expect 64 price american --basis cubic; said "neither linear nor poly:DEGREE"
expect 64 price american --basis poly:0; said "--basis poly"
expect 64 price american --solver ldlp; said "Did you mean 'ldlt"
expect 64 price american --method euler; said "'euler'"
expect 64 price american --assets 64; said "--assets"
expect 64 price american --s0 1,2 --sigma 0.1,0.2,0.3; said "--sigma has 3 numbers for 2 assets"
expect 64 price american --assets 3 --correlation 0.1,0.2; said "2 numbers for 3 pairs"
expect 64 price american --assets 2 --payoff max-call --correlation 2 $on; said "correlation[1][0] is 2"
expect 64 price american --assets 3 --payoff max-call --correlation=-0.9 $on; said "not positive semidefinite"
expect 64 price american --assets 2 $on; said "a put is on one asset"
expect 64 price american --assets 9 --payoff max-call --basis poly:3 $on; said "more than 64 functions"
expect 64 price american --greeks --dates 9 --method lsm; said "--greeks"
expect 64 price american --put --payoff call; said "exclude each other"
expect 64 price american --dates 9 --paths 9 -o x; said "-o needs --shard"
expect 64 price american --sigma=-1 $on; said "sigma is -1"

# --- prices ---
expect 0 price american --s0 36 --strike 40 --rate 0.06 --dates 5 --json $few; json
check "a put" near "$(number price)" 4.4 0.4
leaf payoff=put; leaf functions=4; leaf fit.systems=4; leaf fit.failed=0; leaf put=true
expect 0 price american --s0 36 --strike 40 --rate 0.06 --dates 5 --sigma 0 --json $few; json
leaf fit.truncated=4
check "without noise: at the first date" near "$(number price)" 3.52287 1e-4
expect 0 price american --payoff basket-call --s0 90,110 --weights 0.3,0.7 --correlation 0.5 --dates 3 \
    --basis linear --solver eigdc --raw-basis --strike 95,105 --maturity 0.5,1 --type f32 --json $few; json
leaf functions=3; leaf surface.3.strike=105; leaf surface.2.maturity=1; leaf fit.systems=8; leaf solver=eigdc
expect 0 price american --steps 3 --dates 2 $few; said "--steps has no effect"
expect 0 price american --dates 2 --plot p.svg $few
check "a picture" grep -q svg p.svg

expect 64 price american --inner 9; said "--inner and --outer need --upper"
expect 64 price american --upper --shard 1/2 -o x; said "--upper and --shard exclude each other"
expect 64 price american --method dual --shard 1/2 -o x; said "--method dual and --shard exclude each other"
expect 0 price american --s0 36 --strike 40 --rate 0.06 --dates 3 --upper --inner 200 --outer 9 --json $few; json
leaf inner=200; leaf outer=9
check "from above" near "$(number upper)" 4.4 0.4
expect 0 price american --strike 90,100 --dates 2 --upper --outer 3 --json $few; json
has upper.1.upper upper.1.upper_stderr
expect 0 price american --dates 2 --upper --outer 3 $few
check "a line for the upper bound" grep -q "^upper bound" out

# --- exactly: prices and refusals ---
exact="price american --method exact $on"
while IFS=, read -r payoff s0 strike rate dividend sigma maturity price; do # the price of QuantLib 1.44
    expect 0 $exact --payoff "$payoff" --s0 "$s0" --strike "$strike" --rate="$rate" --dividend="$dividend" --sigma "$sigma" \
        --maturity "$maturity" --json; json; leaf status=ok; leaf method=exact
    check "$payoff, $s0: QuantLib's price" near "$(number price)" "$price" "$(awk -v k="$strike" 'BEGIN { print 1e-7 * k }')"
    check "$payoff, $s0: a small error" near "$(number error)" 0 "$(awk -v k="$strike" 'BEGIN { print 1e-6 * k }')"
done <<'END'
put,36,40,0.06,0,0.2,1,4.48667441902713
call,40,40,0.06,0,0.4,2,10.8491815202299
call,100,100,0.05,0.05,0.2,1,7.66260927694477
call,95,100,0,0.1,0.4,20,18.8132249657695
put,105,100,0,-0.03,0.8,10,75.8578634012616
put,105,100,0.01,0.15,0.05,3,30.0936109215622
call,125,100,0.15,0.01,0.8,0.24657534246575341,35.0313572431103
END
expect 0 $exact --s0 36 --strike 36,40 --rate 0.06 --maturity 0.5,1 --greeks --json -o p.csv; json
leaf surface.3.strike=40; leaf surface.3.maturity=1; leaf surface.0.status=ok; leaf put=true; leaf nodes=24; leaf files.output=p.csv
has surface.0.implied_vol surface.0.boundary surface.0.gamma surface.0.vega surface.0.theta surface.0.rho
check "no options of simulations" sh -c '! grep -q "^dates=\|^solver=\|^correlation=\|^paths=" leaves'
check "a CSV" test "$(head -n 1 p.csv)" = "maturity,strike,price,error,implied_vol,boundary,status,delta,gamma,vega,theta,rho"
check "and its last line" awk -F, 'END { d = $3 - 4.48667441902713; exit !(NR == 5 && d * d < 1e-12 && $7 == "ok" && $8 < -0.6 && $8 > -0.8) }' p.csv
delta=$(awk -F, 'END { print $8 }' p.csv)
up=$("$shoal" $exact --s0 36.01 --strike 40 --rate 0.06 --json | sed -n 's/^  "price": \(.*\),/\1/p')
down=$("$shoal" $exact --s0 35.99 --strike 40 --rate 0.06 --json | sed -n 's/^  "price": \(.*\),/\1/p')
check "delta is the slope" near "$delta" "$(awk "BEGIN { printf \"%.12g\", ($up - $down) / 0.02 }")" 1e-6
expect 0 $exact --s0 36 --strike 40 --rate 0.06
check "a table" grep -q "^price         4.48667[0-9]*$" out
error=$(awk '$1 == "error" { print $2 }' out) price=$(awk '$1 == "price" { print $2 }' out)
expect 0 $exact --s0 36 --strike 40 --rate 0.06 --nodes 32
check "a price within its error" near "$(awk '$1 == "price" { print $2 }' out)" "$price" "$error"
check "that is smaller with more nodes" awk -v e="$error" '$1 == "error" { smaller = $2 < e / 4 } END { exit !smaller }' out
expect 0 $exact --s0 36 --strike 40 --rate 0.06
check "that says what the error is" grep -q "the error is the change from 18 nodes, there is no sampling error" out
expect 0 $exact --strike 90,100 --greeks --nodes 12
check "a line per strike" test "$(grep -c "^ *1 *\(90\|100\) " out)" = 2
check "and names" grep -q "^ *maturity .* theta *rho$" out
expect 0 $exact --put --seed 3 --type f32; said "--seed has no effect"; said "--type f32 has no effect: exact computes in f64"

for dated in "--dates 9" "--exercise 0.5" "--cash 3m:1" "--rates 1:0.1" "--dividends 1:0.1" "--sigmas 1:0.1"; do
    expect 64 $exact $dated; said "${dated%% *} does not apply to --method exact: use --method pde"
    expect 0 price american $dated --nodes 65 --json $on; json; leaf method=pde
done
for foreign in "--basis linear" --raw-basis "--solver ldlt" "--fit-paths 9" --upper "--weights 1" "--correlation 0" \
    "--paths 9" "--steps 9" "--target-se 1" --control --no-control "--plot p.svg" "--shard 1/2 -o x"; do
    expect 64 $exact $foreign; said "${foreign%% *} does not apply to --method exact: nothing is simulated"
done
expect 64 $exact --payoff max-call; said "--method exact prices a put or a call on one asset"
expect 64 $exact --s0 1,2; said "--method exact prices a put or a call on one asset"
expect 64 $exact --strike 1,0; said "--strike is 0; it must be above 0"
expect 64 $exact --maturity=-1; said "--maturity is -1; it must be 0 or above"
expect 64 $exact --sigma=-1; said "--sigma is -1; it must be 0 or above"
expect 64 $exact --nodes 4; said "--nodes"
expect 64 price american --nodes 12 --method lsm; said "--nodes needs --method exact or pde"
expect 64 price american --method exat; said "Did you mean 'exact'?"
expect 74 $exact -o nowhere/p.csv; said "nowhere"
expect 1 $exact --rate=-0.01 --dividend=-0.02 --strike 90,100 --json; said "2 of 2 options without a price: there are two exercise boundaries"
json; leaf surface.1.price=null; leaf "surface.1.status=two boundaries"
expect 1 $exact --maturity 1,1e6; said "1 of 2 options without a price: a number is too large"
check "a dash for no price" grep -q "^ *1e+06 *100 *- " out

# --- exact is the default for one asset; what is simulated keeps lsm ---
expect 0 price american --s0 36 --strike 40 --rate 0.06 --json $on; json; leaf method=exact
expect 0 price american --method auto --payoff call --json $on; json; leaf method=exact
for simulated in "--dates 2 --no-control" "--upper --outer 2 --inner 9" "--no-control" "--basis linear"; do
    expect 0 price american $simulated --paths 256 --fit-paths 256 --json $on; json; leaf method=lsm
done
expect 0 price american --target-se 1 --fit-paths 256 --json $on; json; leaf method=lsm
expect 0 price american --payoff basket-put --assets 2 --dates 2 --paths 256 --fit-paths 256 --json $on; json; leaf method=lsm

# --- finite differences: dates, dividends, curves ---
pde="price american --method pde --nodes 201 --steps 64 --json $on"
expect 0 $pde --s0 36 --strike 40 --rate 0.06; json
check "any time" near "$(number price)" 4.486674 2e-4
check "an error" near "$(number error)" 0 2e-3
expect 0 $pde --s0 36 --strike 40 --rate 0.06 --dates 4; json; leaf dates=4
check "dates are worth less" awk -v p="$(number price)" 'BEGIN { exit !(p > 4.2 && p < 4.48) }'
expect 0 $pde --put --strike 102 --rate 0.03 --dividend 0.01 --sigma 0.25 --cash 91d:2.5,274d:4 --greeks \
    --exercise 0.1643835616438356,0.2465753424657534,0.4986301369863014,0.7479452054794521,0.821917808219178; json
check "with dividends, as by QuantLib" near "$(number price)" 13.1715936 2e-4
leaf cash=91d:2.5,274d:4; leaf implied_vol=null
expect 0 $pde --payoff call --strike 95 --rates 182d:0.01,365d:0.04,730d:0.05 --dividends 2:0.05 \
    --sigmas 182d:0.35,365d:0.3,730d:0.25 --maturity 2 --exercise 0.4986301369863014,1,1.4986301369863014; json
check "with curves, as by QuantLib" near "$(number price)" 15.0881912 4e-4
printf 'strike,call\n95,1\n105,0\n' >pair.csv
expect 0 price american --method pde --nodes 65 --options pair.csv -o pde.csv $on
check "two prices" test "$(wc -l <pde.csv)" = 3
printf 'strike,price\n95,9\n' >quote.csv
expect 66 price american --method pde --options quote.csv $on; said "the column price needs --method exact"
expect 64 price american --method pde --european; said "use --dates 1"
expect 64 price american --method pde --nodes 40 $on; said "nodes is 40"
expect 64 price american --method pde --paths 9; said "--paths does not apply to --method pde"
expect 64 price american --nodes 33; said "with --method exact it must be 6 to 32"
expect 64 price american --cash 3m; said "--cash: '3m' must be times and numbers"
expect 64 price american --cash 3m:1 --method lsm; said "--cash needs --method pde"
expect 64 price american --exercise 0.5 --dates 2; said "--dates"
expect 1 price american --sigma 0 --dates 2 $on; said "1 of 1 option without a price"
expect 1 price american --strike 1e40 $on; said "strike is 1e+40; it must be 1e-30 to 1e+30"
expect 0 price american --exercise 0.5,1.5 $on; said "--exercise: 1.5 is after the last maturity, 1, and has no effect"
expect 0 price american --rates 1:0.03 $on; check "the header names the curve" grep -q "rate by a curve" out

# --- many options, one per line ---
awk 'BEGIN { OFS = ","; print "strike,s0,rate,sigma,call"; for (i = 0; i < 10000; i++) print 90 + i % 20, 100, 0.05, 0.1 + i / 20000, i % 2 }' >many.csv
head -n 3 many.csv >two.csv
expect 0 $exact --options two.csv --maturity 0.5 --nodes 6 -o priced.csv --json; json; leaf files.options=two.csv; leaf files.output=priced.csv
leaf surface.1.strike=91; leaf surface.1.sigma=0.10005
expect 0 $exact --options many.csv --maturity 0.5 --nodes 6 -o priced.csv
check "10,000 prices" test "$(wc -l <priced.csv)" = 10001
check "rows repeat the columns of the file" test "$(head -n 1 priced.csv)" = "$(head -n 1 many.csv),price,error,implied_vol,boundary,status"
line=$(sed -n 5001p priced.csv)
expect 0 $exact --strike 109 --s0 100 --rate 0.05 --sigma 0.34995 --maturity 0.5 --nodes 6 --payoff call -o one.csv
check "the same as alone" test "$(sed -n 2p one.csv | cut -d, -f3-)" = "$(echo "$line" | cut -d, -f6-)"
expect 0 $exact --options many.csv --nodes 6; check "their file" grep -q "^options *10000 options of many.csv" out

# --- volatilities of prices ---
for kind in "" --european; do
    printf 'strike,sigma,call\n90,0.2,0\n100,0.35,1\n105,0.15,0\n' >known.csv
    expect 0 $exact --s0 100 $kind --options known.csv -o priced.csv
    awk -F, 'NR == 1 { print "strike,call,price"; next } { print $1 "," $3 "," $4 }' priced.csv >asked.csv
    expect 0 $exact --s0 100 $kind --options asked.csv -o found.csv
    check "columns $kind" grep -q '^strike,call,sigma,price,' found.csv
    check "volatilities $kind" sh -c 'paste -d, known.csv found.csv | awk -F, "NR > 1 { d = \$2 - \$6; if (d > 1e-9 || d < -1e-9) exit 1 }"'
done
expect 0 $exact --european --json; json; leaf european=true
expect 0 $exact --european; check "at maturity" grep -q "exercise at maturity" out
printf 'strike,price\n110,1e-9\n100,500\n' >asked.csv
expect 1 $exact --s0 100 --options asked.csv -o found.csv; said "2 of 2 options without a price: no volatility gives so low a price"
check "statuses" sh -c 'grep -q "too low" found.csv && grep -q "too high" found.csv'
expect 1 $exact --s0 100 --options asked.csv --json; json; leaf 'surface.1.status=too high'
printf 'strike,price,sigma\n1,1,1\n' >bad.csv; expect 66 $exact --options bad.csv; said "the columns sigma and price exclude each other"
printf 'strike,spot\n1,2\n' >bad.csv; expect 66 $exact --options bad.csv; said "bad.csv:1: unknown column 'spot'"
printf 'strike,call\n1,0\n1,2\n' >bad.csv; expect 66 $exact --options bad.csv; said "bad.csv:3: call is 2; it must be 0 or 1"
printf 'strike\n-1\n' >bad.csv; expect 66 $exact --options bad.csv; said "bad.csv:2: strike is -1; it must be above 0"
printf 'sigma\n-1\n' >bad.csv; expect 66 $exact --options bad.csv; said "bad.csv:2: sigma is -1; it must be 0 or above"
expect 66 $exact --options none.csv; said "none.csv"

# --- parts ---
all="price american --s0 36,40 --payoff max-call --correlation 0.2 --dates 2 --basis poly:2 --fit-paths 600 --paths 140000 --seed 4 $on"
expect 0 $all --json; results out >whole
for i in 1 2; do expect 0 $all --shard $i/2 -o $i.part; done
expect 0 merge-parts 2.part 1.part --json $on; results out >joined
check "parts are the whole" cmp whole joined
check "and say something" test -s whole

summary test_cli_american.sh
