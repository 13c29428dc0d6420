#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# test_cli_cva.sh PROGRAM [BACKEND] - `shoal cva`: a known CVA, the example's book, the files and the page it writes,
# the comparison of solvers, messages that name file, line and column.
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
json; has cva stderr bias epe.0 ene.9 pfe95.0 pfe99.9 stage_seconds.rules stage_seconds.outer solver_share.ldlt
cva=$(number cva) error=$(number stderr)
check "a call: $cva +- $error" near "$cva" 0.38830185823 "$(awk -v e="$error" 'BEGIN { print 3 * e }')"
check "a call has no bias" [ "$(number bias)" = 0 ]
expect 0 cva --book call.csv --market market.csv --rate 0.1 --outer 16384 --threads 1 --json $on
check "threads change the CVA" [ "$(number cva)" = "$cva" ]

# --- the example, and its page ---
stages() { sed -n 's/^stage_seconds\.[a-z]*=//p' leaves | awk '{ s += $1 } END { print s }'; } # all seconds are there
expect 0 cva "$examples/book.csv" --market "$examples/market.csv" --rate 0.03 --dates 4 --outer 256 --inner 128 --json $on
json; has stage_seconds.start stage_seconds.open stage_seconds.american stage_seconds.results
seconds=$(number seconds)
check "stages: $(stages) of $seconds s" near "$(stages)" "$seconds" "$(awk -v s="$seconds" 'BEGIN { print 0.05 * s }')"
expect 0 cva "$examples/book.csv" --market "$examples/market.csv" --rate 0.03 --dates 4 --outer 64 --inner 64 \
    --degree 2 --rule-paths 4096 -o profile.csv --plot profile.svg --report page/cva.html --json $on
json; leaf american=7; leaf report=page/cva.html; leaf estimator=rule; has low high rule_bias rule_bias_stderr correction epe_low.3 pfe95_high.0
check "one line per date" [ "$(wc -l <profile.csv)" -eq 5 ]
check "a header" grep -q '^time,epe,' profile.csv
check "a picture" grep -q '<svg' profile.svg
cat >balance.awk <<'AWK'
{ s = s $0 " " }
END {
    while (match(s, /<[^>]*>/)) {
        t = substr(s, RSTART + 1, RLENGTH - 2); s = substr(s, RSTART + RLENGTH); tags++
        if (t ~ /^!/ || t ~ /\/$/) continue
        if (t ~ /^\//) { if (stack[n--] != substr(t, 2)) exit 1 }
        else { sub(/ .*/, "", t); stack[++n] = t }
    }
    exit n != 0 || tags < 100
}
AWK
check "tags are balanced" awk -f balance.awk page/cva.html
pictures() { [ "$(grep -c 'class="shoal-chart"' page/cva.html)" -eq "$1" ]; }
check "five pictures without regressions" pictures 5
check "a page for a phone" grep -q '<meta name="viewport" content="width=device-width' page/cva.html
elsewhere() { grep -qiE '<script|<link|src=|href=|url\(|@import' page/cva.html; }
check "nothing from elsewhere" eval '! elsewhere'
rounded() { # VALUE ERROR: to the second digit of the error
    awk -v x="$1" -v e="$2" 'BEGIN {
        p = log(e) / log(10) + 1e-9
        p = (p < int(p) ? int(p) - 1 : int(p)) - 1
        printf("%." (p > 0 ? 0 : -p) "f", (p > 0 ? int(x / 10 ^ p + 0.5) * 10 ^ p : x))
    }'
}
shown() { grep -qF "$1" page/cva.html; }
value_of() { sed -n "s/^$1=//p" leaves; }
error=$(number stderr)
check "the page has the CVA and its standard error" shown "<b>$(rounded "$(number cva)" "$error") ± $(rounded "$error" "$error")</b>"
check "the page has the bias" shown "The bias of the CVA is estimated as $(awk -v x="$(number bias)" 'BEGIN { printf "%.2g", x }')"
check "the page has the interval" shown "95 %: $(rounded "$(number low)" "$error") to $(rounded "$(number high)" "$error")"
check "the page has the profile" shown "<td>$(rounded "$(value_of epe.3)" "$(value_of epe_stderr.3)")</td>"
quantile_error=$(awk -v a="$(value_of pfe99_low.3)" -v b="$(value_of pfe99_high.3)" 'BEGIN { print (b - a) / 3.92 }')
check "the page has quantiles" shown "<td>$(rounded "$(value_of pfe99.3)" "$quantile_error")</td>"
expect 0 cva call.csv --market market.csv --outer 64 --report page/cva.html $on
check "the page of a book without regressions" awk -f balance.awk page/cva.html
check "five pictures" pictures 5
check "where the page is" grep -q '^report  *page/cva.html$' out
check "ten lines or fewer" [ "$(wc -l <out)" -le 10 ]
printf 'asset,spot,volatility\nA&<B>,100,0.2\n' >odd.csv
printf 'payoff,assets,strike,maturity\ncall,A&<B>,100,1\n' >oddcall.csv
expect 0 cva oddcall.csv --market odd.csv --outer 64 --report page/cva.html $on
check "names are escaped" grep -qF 'A&amp;&lt;B&gt;' page/cva.html
expect 74 cva call.csv --market market.csv --outer 64 --report call.csv/cva.html $on; said "call.csv"

# --- every solver ---
printf 'style,payoff,assets,strike,maturity\namerican,put,A,105,1\n' >put.csv
put="cva put.csv --market market.csv --rate 0.06 --dates 5 --outer 32 --inner 128 --rule-paths 4096"
expect 0 $put --json $on
cva=$(number cva)
expect 0 $put --compare -o compare.csv --json $on
json; leaf compare.0.solver=auto; leaf compare.0.basis=centred; leaf compare.0.type=f64; leaf compare.0.difference=0
leaf compare.0.estimator=rule; leaf compare.1.estimator=amc; leaf compare.2.estimator=inner
leaf compare.11.solver=eigdc; leaf compare.11.basis=raw; leaf compare.12.type=f32; leaf compare.23.solver=eigdc
leaf "compare.0.cva=$cva"; has compare.23.seconds compare.23.difference_stderr
check "one line per run" [ "$(wc -l <compare.csv)" -eq 25 ]
column() { awk -F, -v n="$1" -v r="$2" 'NR == r + 1 { print $n }' compare.csv; }
check "rule and amc agree" near "$(column 5 1)" "$(column 5 2)" "$(column 6 1)"
# column SOLVER BASIS TYPE NUMBER of the table
run_of() {
    awk -F, -v s="$1" -v b="$2" -v t="$3" -v n="$4" '$1 == "inner" && $2 == s && $3 == b && $4 == t { print $n }' compare.csv
}
raw=$(run_of eigdc raw f64 13) centred=$(run_of eigdc centred f64 13)
check "centred: $centred truncated, raw: $raw" awk -v r="$raw" -v c="$centred" 'BEGIN { exit !(r > 0.5 && c < 0.25) }'
check "auto refines before it truncates" awk -v a="$(run_of auto raw f64 13)" -v e="$raw" 'BEGIN { exit !(a < e / 2) }'
for method in ldlt ldltp hhpcr eigdc; do
    check "$method agrees with auto" near "$(run_of $method centred f64 5)" "$(run_of auto centred f64 5)" "$(run_of $method centred f64 6)"
done
expect 64 cva put.csv --market market.csv --compare --solver ldlt; said "--compare and --solver exclude each other"
expect 64 cva put.csv --market market.csv --compare --report x.html; said "--compare and --report exclude each other"

# --- estimators ---
expect 0 $put --estimator inner --report page/cva.html $on
check "eight pictures with regressions" pictures 8
expect 0 $put --estimator inner --no-control --json $on
json; leaf estimator=inner; leaf control=false
check "inner paths that are not hedged exercise late" awk -v r="$cva" -v i="$(number cva)" 'BEGIN { exit !(i > r) }'
expect 64 $put --estimator never; said "--estimator: unknown value 'never'"
expect 64 $put --stopping rule; said "--stopping is now --estimator rule|amc|inner"
expect 64 $put --compare --estimator amc; said "--compare and --estimator exclude each other"
expect 0 $put --estimator amc --json $on; json; leaf inner_paths=0; leaf systems=0
expect 64 $put --rule-paths 0; said "--rule-paths"
expect 0 $put --estimator inner --no-control --dates 10 --outer 1024 --inner 32 $on; said "the bias may be"

# --- a standard error ---
expect 0 cva call.csv --market market.csv --rate 0.1 --outer 64 --target-se 0.01 --json $on
check "the standard error is reached" awk -v e="$(number stderr)" 'BEGIN { exit !(e <= 0.01 && e > 0.005) }'
expect 64 cva call.csv --market market.csv --outer 64 --target-se 1e-12 $on
said "--target-se 1e-12 needs about"; said "paths, which would take"; said "the limit is 2^24 outer paths"
printf 'style,payoff,assets,strike,maturity,quantity\namerican,basket-put,A B,100,1,1\namerican,basket-put,A B,90,1,-1\n' >spread.csv
chosen() { sed -n "s/^ *\"chosen\": .*\"$1\": \([.0-9e-]*\)[,}].*$/\1/p" out; }
spread="cva spread.csv --market market.csv --rate 0.05 --dates 4 --seed 3 $on"
expect 0 $spread --target-se 0.003 --json
json; has chosen.outer chosen.level_share
check "the standard error is reached" awk -v e="$(number stderr)" 'BEGIN { exit !(e <= 0.003 && e > 0.0015) }'
wish=$(chosen outer) inner=$(chosen inner) run=$(number paths)
check "a pilot run chooses the outer paths: $wish" [ "$wish" -gt 100 ]
check "its outer paths are run, or a few more: $run" [ $((run >= wish && run <= 2 * wish)) -eq 1 ]
check "inner paths fill lanes: $inner" [ $((inner % 32)) -eq 0 ] && [ "$inner" -gt 0 ]
share=$(chosen level_share)
check "some nodes have levels: $share" awk -v s="$share" 'BEGIN { exit !(s > 0 && s <= 0.5) }'
expect 0 $spread --target-se 0.003 --threads 1 --json
check "the choice depends on the seed only" [ "$(chosen outer)/$(chosen inner)/$(chosen level_share)" = "$wish/$inner/$share" ]
expect 0 $spread --target-se 0.0015 --json
check "twice the precision takes four times the paths" awk -v a="$(chosen outer)" -v b="$wish" \
    'BEGIN { exit !(b < 0.3 * a) }'
expect 0 $spread --target-se 0.003 --inner 96 --outer 9000 --json
check "inner paths that are given stay" [ "$(chosen inner)" = 96 ]
check "outer paths that are given are the least" [ "$(number paths)" -ge 9000 ]
expect 0 $spread --target-se 0.003
check "the choice is printed" grep -q "^chosen .* outer paths, $inner inner paths, more levels at .* % of the nodes" out
expect 0 $spread --outer 128; check "nothing is chosen without a target" eval '! grep -q ^chosen out'
expect 0 cva call.csv --market market.csv --rate 0.1 --target-se 0.01 $on
check "closed forms have no inner paths" grep -q "^chosen .* outer paths; by a pilot run" out
expect 64 $put --target-se 0.01 --compare; said "--target-se and --compare exclude each other"

# --- its time is estimated after the first paths ---
expect 0 $spread --outer 512 --json
json; has estimated_seconds
if env --default-signal=INT timeout --foreground --preserve-status 9 true 2>/dev/null; then
    long="$spread --outer 1e5 --inner 4096 --threads 1" rc=0
    env --default-signal=INT timeout --foreground --preserve-status -k 60 -s INT 9 "$shoal" $long >out 2>err </dev/null || rc=$?
    note_seen $long
    check "interrupted" [ "$rc" -eq 130 ]
    said "the outer paths will take about"
fi

# --- in parts ---
both="cva both.csv --market market.csv --rate 0.06 --dates 5 --inner 32 --rule-paths 4096 --hazard 0.5:0.02,2:0.05 --threshold 9"
printf 'style,payoff,assets,strike,maturity\namerican,put,A,105,1\n,call,B,90,1\n' >both.csv
values() { grep -v seconds "$1"; }
expect 0 $both --outer 50 --json $on; values out >whole
for i in 1 2 3; do expect 0 $both --outer 50 --shard $i/3 -o $i.part $on; done
mv both.csv elsewhere.csv # parts have the book in them
expect 0 merge-parts 3.part 1.part 2.part -o joined.csv --json $on; values out >joined
check "parts have the bits of one run" cmp -s whole joined
check "the profile of parts" [ "$(wc -l <joined.csv)" -eq 6 ]
expect 66 merge-parts 1.part 3.part $on; said "part 2 of 3 is missing"
expect 66 merge-parts 1.part 1.part 2.part $on; said "are the same part, 1 of 3"
mv elsewhere.csv both.csv
for i in 1 2; do expect 0 $both --outer 8 --no-control --shard $i/2 -o plain$i.part $on; done
expect 0 merge-parts plain1.part plain2.part --json $on; json; leaf control=false; leaf paths=8
expect 0 $both --outer 51 --shard 3/3 -o other.part $on
expect 66 merge-parts 1.part 2.part other.part $on; said "are parts of different runs"
LC_ALL=C sed 's/--rate/--plot/' 1.part >evil.part; seal evil.part
expect 66 merge-parts evil.part 2.part 3.part $on; said "evil.part: not a part: it has an unknown argument"
cp 1.part bad.part; spoil bad.part 4000
expect 66 merge-parts bad.part 2.part 3.part $on; said "bad.part: damaged: the checksum does not match"
LC_ALL=C sed 's/call/Call/' 1.part >bad.part; seal bad.part
expect 66 merge-parts bad.part 2.part 3.part $on; said "unknown payoff 'Call'"
expect 64 $both --shard 1/3; said "--shard needs -o"
expect 64 $both --shard 0/3 -o x; said "'0/3' is not I/N"
expect 64 $both -o x.npy; said "-o: 'x.npy' does not end in .csv"
expect 64 $both --shard 1/3 -o x --report x.html; said "--shard and --report exclude each other"

# --- nothing to be exposed to ---
printf 'payoff,assets,strike,maturity\n' >empty.csv
expect 0 cva empty.csv --market market.csv --json $on
said "empty.csv has no contracts: the CVA is 0"
check "an empty book" [ "$(number cva)" = 0 ]
printf 'payoff,assets,strike,maturity\ncall,A,100,0\n' >expired.csv
expect 0 cva expired.csv --market market.csv --json $on
said "expired.csv:2: maturity 0: expired, and counts as nothing; 1 such contract"
expect 0 cva expired.csv --market market.csv --outer 16 --inner 16 --compare $on
said "expired.csv:2: maturity 0: expired, and counts as nothing; 1 such contract"
printf 'payoff,assets,strike,maturity\ncall,A,100,1\ncall,A,100,-2\n' >expired.csv
expect 0 cva expired.csv --market market.csv --outer 16 --validate $on
said "expired.csv:3: maturity -2: expired"
expect 0 cva expired.csv --market market.csv --outer 16 --json $on; json; leaf expired=1
printf 'payoff,assets,strike,maturity\ncall,A,100,0\n' >expired.csv
expect 0 cva expired.csv --market market.csv --json $on
check "an expired book" [ "$(number cva)" = 0 ]

# --- payoffs ---
of="--rate 0.03 --hazard 0.05 --recovery 0.4 --dates 4 --outer 64 --json $on"
printf 'payoff,assets,strike,maturity\ndigital-put,A,95,1\ndigital-call,A,95,1\n' >digital.csv
expect 0 cva digital.csv --market market.csv $of
check "digital options pay 1 together" near "$(number cva)" 0.02839751 1e-7
printf 'payoff,assets,strike,maturity,barrier,quantity\nup-in-put,A,95,1,110,1\nup-out-put,A,95,1,110,1\nput,A,95,1,,-1\n' >barrier.csv
expect 0 cva barrier.csv --market market.csv --validate --report barrier.html --tables barrier.of --breakdown $of
check "the page has the barrier" grep -q 'up-in-put, barrier 110' barrier.html
check "a put is a knock-in and a knock-out" near "$(number cva)" 0 1e-12
json; leaf validation.passed=1; leaf by_trade.0.barrier=110
check "a barrier per trade" grep -q '^line 3,.*,up-out-put,95,110,1,' barrier.of/trades.csv
check "no barrier of a put" grep -q '^line 4,.*,put,95,nan,1,' barrier.of/trades.csv
check "no barrier is null" grep -q '"payoff": "put".*"barrier": null' out
printf 'payoff,assets,strike,maturity,fixings\nasian-put,A,95,1,3m\nasian-call,A,95,1,0.25 6m 0.75 1\nasian-call,A,95,0.5,\n' >asian.csv
expect 0 cva asian.csv --market market.csv --validate --dates 4 $of; json; leaf validation.passed=1
printf 'payoff,assets,strike,maturity,fixing,quantity\nasian-put,A,95,1,1,1\nput,A,95,1,,-1\n' >asian.csv
expect 0 cva asian.csv --market market.csv $of
check "a mean of one price" near "$(number cva)" 0 1e-12
printf 'asset,spot,volatility,foreign_rate\nEUR,1.1,0.1,0.01\n' >fx.csv
printf 'asset,spot,volatility,dividend\nEUR,1.1,0.1,0.01\n' >fx-asset.csv
for payoff in forward put call; do
    printf 'payoff,assets,strike,maturity,notional\n%s,EUR,1.08,1,1000\n' "$payoff" >asset.csv
    printf 'payoff,assets,strike,maturity,notional\nfx-%s,EUR,1.08,1,1000\n' "$payoff" >rate.csv
    expect 0 cva asset.csv --market fx-asset.csv $of
    cva=$(number cva)
    expect 0 cva rate.csv --market fx.csv $of
    check "the CVA of an fx-$payoff" [ "$(number cva)" = "$cva" ]
done

# --- mistakes in files ---
book() {
    printf 'style,payoff,assets,weights,strike,maturity,quantity\neuropean,put,B,,90,1,1\n%s\n' "$1" >book.csv
    expect 66 cva book.csv --market market.csv $on
    said "book.csv:3: $2"
}
book 'asian,put,A,,1,1,1' "column style: 'asian'"
book ',cap,A,,1,1,1' "unknown payoff 'cap'"
book ',putt,A,,1,1,1' "unknown payoff 'putt'; there are put, call, max-call, basket-put, basket-call, forward, digital-put, digital-call, fx-forward, fx-put, fx-call, down-out-put, down-out-call, down-in-put, down-in-call, up-out-put, up-out-call, up-in-put, up-in-call, asian-put, asian-call. Did you mean 'put'?"
printf 'payof,assets,strike,maturity\nput,A,1,1\n' >payof.csv
expect 66 cva payof.csv --market market.csv $on; said "payof.csv:1: unknown column 'payof'"; said "Did you mean 'payoff'?"
book ',put,C,,1,1,1' "unknown asset 'C'; the market has A, B"
book ',put,A B,,1,1,1' "column assets: 'A B'"
book ',put,,,1,1,1' "column assets: ''"
book ',basket-call,A B,1,1,1,1' "column weights: '1'"
book ',put,A,5,1,1,1' "weight is given; put has no weights"
book 'american,digital-call,A,,1,1,1' "column style: 'american' must be european: digital-call has no early exercise"
book ',fx-call,A B,,1,1,1' "column assets: 'A B' are several assets; fx-call has one"
book ',put,A,,x,1,1' "column strike: 'x'"
book ',put,A,,-1,1,1' "column strike: '-1'"
book ',put,A,,1,,1' "column maturity: ''"
book ',put,A,,1,nan,1' "column maturity: 'nan'"
book ',put,A,,1,1' "column quantity: missing"
book 'american,put,A,,0,1,1' "strike is 0"
book ',up-out-call,A,,1,1,1' "up-out-call needs a number in column barrier"
book 'american,up-out-call,A,,1,1,1' "column style: 'american' must be european: up-out-call has no early exercise"
printf 'payoff,assets,strike,maturity,fixings\nput,A,1,1,1\nasian-put,A,1,1,2\nasian-put,A,1,1,1e-9d\n' >book.csv
expect 66 cva book.csv --market market.csv $on
said "book.csv:2: column fixings: '1' is given, but put has no fixings"
said "book.csv:3: column fixings: '2' is neither a step (1w, 3m) nor ascending times up to maturity"
said "book.csv:4: column fixings: '1e-9d' is too small a step"
printf 'payoff,assets,strike,maturity,barrier\nput,A,1,1,2\nup-in-put,A,1,1,0\nup-in-put,A,1,1,x\n' >book.csv
expect 66 cva book.csv --market market.csv $on
said "book.csv:2: column barrier: '2' is given, but put has no barrier"
said "book.csv:3: column barrier: '0' is not above 0"; said "book.csv:4: column barrier: 'x'"
book 'american,forward,A,,1,1,1' "column style: 'american'"
printf 'asset,spot,volatility\nA,1e30,2\nB,90,0.3\n' >vast.csv
printf 'style,payoff,assets,strike,maturity\n,put,B,90,1\namerican,put,A,1e30,1\n' >book.csv
expect 66 cva book.csv --market vast.csv --estimator inner $on; said "book.csv:3: at date 1, outer paths"
# --- dates ---
profile_of() { expect 0 "$@" --outer 64 -o dates.csv $on; times=$(awk -F, 'NR > 1 { printf "%s%.4g", s, $1; s = " " }' dates.csv); }
printf 'payoff,assets,strike,maturity\nput,B,90,1\nput,B,90,0.95\n' >book.csv
profile_of cva book.csv --market market.csv --dates 4
check "maturities are dates: $times" [ "$times" = "0.25 0.5 0.75 0.95 1" ]
profile_of cva book.csv --market market.csv --dates 0.1,6m,2y
check "a list: $times" [ "$times" = "0.1 0.5 0.95 1 2" ]
expect 0 cva book.csv --market market.csv --dates 3w --outer 64 $on
check "dates of one unit" awk '/^time / { inside = 1; next } inside && $2 !~ /^days?$/ { exit 1 } END { exit !inside }' out
profile_of cva book.csv --market market.csv --dates 3m --horizon 0.6
check "a step: $times" [ "$times" = "0.25 0.5 0.6" ]
said "book.csv:2: maturity 1: exposures after the horizon, 0.6, are not counted; 2 such contracts"
printf 'time\n1w\n0.5\n1y\n' >times.csv
profile_of cva book.csv --market market.csv --dates times.csv
check "a file: $times" [ "$times" = "0.01918 0.5 0.95 1" ]
expect 0 cva call.csv --market market.csv --rate 0.1 --outer 16384 --dates 4 --horizon 5 --json $on
check "no exposure is lost" near "$(number cva)" 0.38830185823 "$(awk -v e="$(number stderr)" 'BEGIN { print 3 * e }')"
printf 'style,payoff,assets,strike,maturity,exercise\namerican,put,A,105,0.95,\namerican,put,A,105,1, 3m \namerican,put,A,105,1,0.3 8m\n' >own.csv
profile_of cva own.csv --market market.csv --rate 0.06 --dates 2 --inner 16 --validate
check "own dates of exercise are no dates of exposure: $times" [ "$times" = "0.5 0.95 1" ]
check "all are priced" grep -q '^validation  *passed: worst z' out
expect 0 cva own.csv --market market.csv --dates 0.5,1 --outer 20 --inner 16 --shard 1/2 -o one.part $on
expect 0 cva own.csv --market market.csv --dates 0.5,1 --outer 20 --inner 16 --shard 2/2 -o two.part $on
expect 0 merge-parts one.part two.part --json $on; json; leaf dates=3
LC_ALL=C sed 's/0[.]5,1,/t2.csv/' one.part >evil.part; seal evil.part
expect 66 merge-parts evil.part two.part $on; said "'t2.csv' is a file; parts contain the times"
expect 0 cva own.csv --market market.csv --dates 1 --outer 16 --inner 16 $on
said "own.csv:2: exercise is possible at maturity only: no date is before it; 1 such contract"
expect 0 cva own.csv --market market.csv --estimator inner --dates 0.5,1 --outer 64 --inner 64 --json $on
json; leaf dates=3; check "inner has any dates" [ "$(number systems)" -gt 0 ]
expect 0 cva own.csv --market market.csv --outer 16 --inner 16 --compare -o compare.csv $on
check "all estimators are compared" [ "$(wc -l <compare.csv)" -eq 25 ]
awk 'BEGIN { print "asset,spot,volatility"; for (i = 1; i <= 64; i++) print "A" i ",100,0.2" }' >many.csv
awk 'BEGIN { printf "style,payoff,assets,strike,maturity\namerican,basket-put,"
             for (i = 1; i <= 64; i++) printf "A%d ", i; print ",100,1" }' >wide.csv
expect 0 cva wide.csv --market many.csv --dates 2 --outer 16 --inner 16 --rule-paths 512 --compare -o compare.csv $on
said "wide.csv:2: assets is 64"
check "inner is left out" [ "$(wc -l <compare.csv)" -eq 5 ]
for bad in 0 1.5 2q w 0.0d; do expect 64 cva call.csv --market market.csv "--dates=$bad"; said "is neither a number from 1"; done
expect 64 cva call.csv --market market.csv --dates 1,0.5; said "'1,0.5' is not a list of ascending times"
expect 64 cva call.csv --market market.csv --dates 0.00001d $on; said "--dates: a step of"
expect 64 cva call.csv --market market.csv --dates 0.5,2 --horizon 1 $on; said "--dates: 2 is after --horizon 1"
expect 66 cva call.csv --market market.csv --dates none.csv; said "none.csv"
dates_file() { printf '%b' "$1" >times.csv; expect 66 cva call.csv --market market.csv --dates times.csv; said "$2"; }
dates_file 'day\n1\n' "times.csv has no column time"
dates_file 'tme\n1\n' "times.csv:1: unknown column 'tme'; the columns are time. Did you mean 'time'?"
printf 'x,date\n7,1\n' >times.csv
expect 0 cva call.csv --market market.csv --dates times.csv --outer 16 $on; said "times.csv:1: ignored columns: x"
dates_file 'time\n' "times.csv has 0 dates"
dates_file 'time\n1q\n' "times.csv:2: column time: '1q' is not a time above 0"
dates_file 'time\n1\n1\n' "times.csv:3: column time: '1' is not after the time before it"
exercise_column() {
    printf 'style,payoff,assets,strike,maturity,exercise\n%s\n' "$1" >own.csv
    expect 66 cva own.csv --market market.csv $on; said "own.csv:2: column exercise: $2"
}
exercise_column ',put,A,1,1,0.5' "'0.5' is given, but the contract is not american"
exercise_column 'american,put,A,1,1,0.5 0.2' "'0.5 0.2' is neither a step"
exercise_column 'american,put,A,1,1,0.5 2' "'0.5 2' is neither a step"
exercise_column 'american,put,A,1,1,0.0001d' "'0.0001d' is too small a step"

# --- the martingale test ---
expect 0 cva "$examples/book.csv" --market "$examples/market.csv" --rate 0.03 --dates 4 --outer 256 --inner 16 \
    --rule-paths 4096 --validate --report page/cva.html --json $on
json; leaf validation.passed=1; has validation.worst_z validation.limit validation.line validation.time
leaf validation.scores=52; has validation.z.12.3 validation.price.12
check "a green line" grep -q '<p class="good">Validation passed: worst z' page/cva.html
expect 70 $put --dates 10 --estimator inner --no-control --inner 4 --outer 1024 --validate --report page/cva.html $on
said "the validation FAILED: worst z"
check "a red line" grep -q '<p class="bad">Validation FAILED: worst z' page/cva.html
expect 0 $put --validate --outer 20 --json $on; values out >whole
for i in 1 2; do expect 0 $put --validate --outer 20 --shard $i/2 -o v$i.part $on; done
expect 0 merge-parts v1.part v2.part --json $on; values out >joined
check "a validation of parts" cmp -s whole joined
expect 64 $put --validate --not-stopped; said "--validate and --not-stopped exclude each other"
expect 64 $put --validate --compare; said "--validate and --compare exclude each other"

# --- what is assumed ---
expect 0 cva call.csv --market market.csv --outer 16 $on
check "assumptions" grep -q '^assumed  *hazard 0.05 recovery 0.4 rate 0 independent assets$' out
expect 0 cva "$examples/book.csv" --market "$examples/market.csv" --rate 0.03 --hazard 0.02 --recovery 0.4 --dates 1 \
    --outer 4 --inner 4 --rule-paths 1024 $on
check "nothing is assumed" eval '! grep -q ^assumed out'
expect 0 cva call.csv --market market.csv --hazard 0 --outer 16 --json $on
check "nobody defaults" [ "$(number cva)" = 0 ]
printf 'asset,spot,volatility\nA,100,0\n' >still.csv
expect 0 cva call.csv --market still.csv --rate 0.1 --outer 16 --validate --json $on
check "no volatility: (1 - R) (1 - e^-0.05) (100 - 100 e^-0.1)" near "$(number cva)" 0.2784680333 1e-9
leaf validation.passed=1
printf 'style,payoff,assets,strike,maturity,quantity\namerican,put,A,100,1,1\namerican,put,A,100,1,-1\n' >cancel.csv
expect 0 cva cancel.csv --market market.csv --outer 64 --inner 16 --json $on
check "what cancels is nothing" [ "$(number cva)$(number stderr)" = 00 ]
market() {
    printf '%b' "$1" >bad.csv
    expect 66 cva call.csv --market bad.csv $on
    said "$2"
}
market 'asset,spot,volatility\nA,-1,0.2\n' "bad.csv:2: column spot: '-1'"
market 'asset,spot,volatility\nA,1,0.2\nA,1,0.2\n' "bad.csv:3: column asset: 'A'"
market 'asset,spot,volatility,A,B\nA,1,0.2,1,0.5\nB,1,0.2,0.4,1\n' "bad.csv:3: column A: '0.4'"
market 'asset,spot,level\nA,1,0.2\n' "bad.csv has no column volatility"
market 'asset,spot,vol,volatility\nA,1,0.2,0.2\n' "bad.csv:1: columns volatility and vol are the same; keep one of them"
market 'asset,spot,vol\n,0,x\nB,1,-1\n' "bad.csv:2: column asset: '' is not a name without blanks"
said "bad.csv:2: column spot: '0' is not above 0"; said "bad.csv:2: column volatility: 'x' is not a finite number"
said "bad.csv:3: column volatility: '-1' is below 0"
market 'asset,spot,vol,A,B\nA,1,0.2,2,0.5\nB,1,0.2,0.4,1\n' "bad.csv:2: column A: '2' is not from -1 to 1"
said "bad.csv:3: column A: '0.4' is not what the other asset's line has"
market 'asset,spot,volatility,divident\nA,1,0.2,0\n' "bad.csv:1: unknown column 'divident'; the columns are asset, spot, volatility, dividend, v0, kappa, theta, xi, rho, A. Did you mean 'dividend'?"
market 'asset,spot,volatility\n' "has 0 assets"
market 'asset,spot,volatility,A,B,C\nA,1,0.2,1,0.9,-0.9\nB,1,0.2,0.9,1,0.9\nC,1,0.2,-0.9,0.9,1\n' "bad.csv: correlation is not positive semidefinite: A, B and C have impossible correlations"
market 'asset,spot,volatility,A,B,C,D\nA,1,0.2,1,-0.3,-0.3,-0.5\nB,1,0.2,-0.3,1,-0.3,-0.5\nC,1,0.2,-0.3,-0.3,1,-0.5\nD,1,0.2,-0.5,-0.5,-0.5,1\n' "the correlations of D with the assets before it do not fit"
market 'asset,spot,volatility\nB,1,0.2\nA,1e300,0.2\n' "bad.csv: column spot of asset A is 1e+300; it must be"
market 'asset,spot,volatility\nA,1,1e300\n' "bad.csv: column volatility of asset A is 1e+300"
market 'asset,spot,volatility,dividend\nA,1,0.2,1e300\n' "bad.csv: column dividend of asset A is 1e+300"
expect 66 cva none.csv --market market.csv; said "none.csv"

# --- files that people have: other names, any order, other columns, ids; all problems at once ---
printf 'sector,sigma,ticker,spot\ntech,0.2,A,100\n' >other.csv
printf 'trade_id,notional,maturity,desk,strike,ticker,payoff\nT1,2,1,x,100,A,call\nT-2,-1,1,y,90,A,call\n' >trades.csv
expect 0 cva trades.csv --market other.csv --rate 0.1 --outer 256 --validate --report page/cva.html --json $on
said "other.csv:1: ignored columns: sector"; said "trades.csv:1: ignored columns: desk"; json; leaf validation.id.1=T-2
check "the page has the trade" grep -q '<td class="l">T-2</td>' page/cva.html
was=$(number cva)
printf 'asset,spot,volatility\nA,100,0.2\n' >usual.csv
printf 'payoff,assets,strike,maturity,quantity\ncall,A,100,1,2\ncall,A,90,1,-1\n' >book2.csv
expect 0 cva book2.csv --market usual.csv --rate 0.1 --outer 256 --json $on
check "names of columns change no number" [ "$(number cva)" = "$was" ]
expect 0 cva trades.csv --market other.csv --rate 0.1 --outer 256 --validate $on
check "the validation names the trade" grep -q '^validation .*: trade T.*, line [23] of trades.csv' out
check "a line per trade" grep -q '^ *3 T-2  *call ' out
printf 'style,payoff,assets,strike,maturity,quantity\nbermudan,putt,A,x,1,1\neuropean,put,ALPHA,100,y,1\n,call,B,-1,1,z\n' >bad.csv
expect 66 cva bad.csv --market market.csv $on
said "bad.csv:2: column style: 'bermudan' is neither"; said "bad.csv:2: unknown payoff 'putt'; there are put, call"
said "bad.csv:2: column strike: 'x' is not a finite number"; said "bad.csv:3: unknown asset 'ALPHA'; the market has A, B"
said "bad.csv:3: column maturity: 'y'"; said "bad.csv:4: column strike: '-1' is below 0"
said "bad.csv:4: column quantity: 'z' is not a finite number"
awk 'BEGIN { print "payoff,assets,strike,maturity"; for (i = 0; i < 99; i++) print "put,A,x,1" }' >bad.csv
expect 66 cva bad.csv --market market.csv $on; said "bad.csv:21: column strike"; said "bad.csv: more lines may have problems"
check "the first 20 lines with problems are reported" [ "$(grep -c "column strike" err)" -eq 20 ]

# --- mistakes on the command line ---
expect 64 cva call.csv; said "--market"
expect 64 cva --market market.csv; said "BOOK"
expect 64 cva call.csv --market market.csv --hazard 2:0.1,1:0.2; said "--hazard: '2:0.1,1:0.2'"
expect 64 cva call.csv --market market.csv --inner 2,4; said "--inner: 2 numbers"
expect 64 cva call.csv --market market.csv --recovery 2; said "--recovery: 2 is not between 0 and 1"
expect 64 cva call.csv --market market.csv --exposure open; said "'open'"
expect 64 cva call.csv --market market.csv --solver magic; said "magic"

summary test_cli_cva.sh
