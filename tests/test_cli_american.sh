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
expect 64 price american --greeks; said "--greeks"
expect 64 price american --put --payoff call; said "exclude each other"
expect 64 price american -o x; said "-o needs --shard"
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

# --- parts ---
all="price american --s0 36,40 --payoff max-call --correlation 0.2 --dates 2 --basis poly:2 --fit-paths 600 --paths 140000 --seed 4 $on"
expect 0 $all --json; results out >whole
for i in 1 2; do expect 0 $all --shard $i/2 -o $i.part; done
expect 0 merge-parts 2.part 1.part --json $on; results out >joined
check "parts are the whole" cmp whole joined
check "and say something" test -s whole

summary test_cli_american.sh
