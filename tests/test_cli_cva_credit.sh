#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# test_cli_cva_credit.sh PROGRAM [BACKEND] - collateral of netting sets and wrong-way risk of `shoal cva`: known values,
# the same from options and from a file, parts of a run, the page, messages.
# shellcheck disable=SC2034,SC2086,SC1091,SC2154

# shellcheck source=tests/test_cli_base.sh
. "$(dirname "$0")/test_cli_base.sh"
on="--backend ${2:-cpu}"
"$shoal" info $on >/dev/null 2>&1 || { echo "skipped: no backend $2 here"; exit 77; }

number() { sed -n "s/^ *\"$1\": \([-+.0-9e]*\),*$/\1/p" out; } # of the JSON object
near() { awk -v a="$1" -v b="$2" -v e="$3" 'BEGIN { d = a - b; exit !(d <= e && d >= -e) }'; }
three() { awk -v e="$1" 'BEGIN { print 3 * e }'; }

printf 'asset,spot,volatility\nA,100,0.2\nB,100,0.2\n' >market.csv
printf 'payoff,assets,strike,maturity,set\nforward,A,100,1,one\nforward,A,100,1,two\n' >book.csv
given="--market market.csv --rate 0.1 --hazard 0.05 --dates 4 --seed 2 $on"

# --- options are the agreement of all sets; a file has one for each ---
expect 0 cva book.csv $given --outer 4096 --threshold 2 --mta 1 --mpor 0.1 --one-way counterparty --json
json; leaf collateral.1.mpor=0.1; leaf collateral.1.one_way=counterparty; leaf collateral.0.mta=1
was=$(number cva)
printf 'set,threshold,mta,mpor,one-way\none,2,1,0.1,counterparty\ntwo,2,1,0.1,counterparty\n' >sets.csv
expect 0 cva book.csv $given --outer 4096 --sets sets.csv --json
check "a file of sets is what options are" [ "$(number cva)" = "$was" ]
printf 'one-way,set,mta,mpor,threshold\n,two,,,\ncounterparty,one,,0.1,\n' >sets.csv # in any order
expect 0 cva book.csv $given --outer 4096 --sets sets.csv --threshold 2 --mta 1 --mpor 0.1 --one-way counterparty --json
check "empty fields are those of the options" [ "$(number cva)" = "$was" ]

# --- without netting a contract keeps the agreement of its set ---
printf 'set,threshold,independent\ntwo,1,\none,,-3\n' >sets.csv
expect 0 cva book.csv $given --outer 256 --sets sets.csv --json; was=$(number cva)
leaf_is_null() { json; grep -q '^collateral.0.threshold=null' leaves; }
check "one has no threshold" leaf_is_null
expect 0 cva book.csv $given --outer 256 --sets sets.csv --no-netting --json
check "no netting: the same sets" [ "$(number cva)" = "$was" ]
expect 0 cva book.csv $given --outer 16 --sets sets.csv --quiet
check "a line per set" eval 'grep -q "^collateral    set one: independent amount -3" out && grep -q "set two: threshold 1$" out'
expect 0 cva book.csv $given --outer 16 --threshold 2 --mta 1 --mpor 2w --one-way us
check "one line for all" grep -q '^collateral    threshold 2, minimum transfer 1, margin period 14 days, only we post$' out
expect 0 cva book.csv $given --outer 16 --threshold 2 --independent 1
check "the independent amount" grep -q "^collateral    threshold 2, independent amount 1" out

# --- wrong-way risk: a call after a jump is worth its price at the jumped spot ---
printf 'payoff,assets,strike,maturity\ncall,A,100,1\n' >call.csv
expect 0 cva call.csv $given --outer 16384 --default-jump -0.2 --json
cva=$(number cva) error=$(number stderr)
check "a jump: $cva +- $error" near "$cva" 0.0852357 "$(three "$error")"
expect 0 cva call.csv $given --outer 16384 --hazard-vol 1 --hazard-reversion 0.5 --json
cva=$(number cva) error=$(number stderr)
check "no correlation: $cva +- $error" near "$cva" 0.38830185823 "$(three "$error")"
json; leaf hazard_vol=1; has epe_default.3 epe_default_stderr.3
expect 0 cva call.csv $given --outer 4096 --hazard-vol 1 --hazard-correlation A:0.7 --default-jump B:0.1,A:0.05
check "a line about it" grep -q '^wrong way     volatility of the hazard rate 1, correlation A 0.7; jump at default A 5 %, B 10 %$' out
expect 0 cva call.csv $given --outer 4096 --hazard-vol 1 --hazard-correlation 0.7 --json
check "correlation raises the CVA" awk -v a="$(number cva)" 'BEGIN { exit !(a > 0.45) }'

# --- parts, the page, the estimators ---
both="--sets sets.csv --mpor 2w --threshold 1 --hazard-vol 0.5 --hazard-correlation A:0.3 --default-jump A:-0.1"
printf 'style,payoff,assets,strike,maturity,set\namerican,put,A,105,1,one\neuropean,forward,A,100,1,one\neuropean,call,A,95,0.5,two\n' >mixed.csv
expect 0 cva mixed.csv $given --outer 64 $both --json; whole=$(number cva)
for i in 1 2; do expect 0 cva mixed.csv $given --outer 64 $both --shard $i/2 -o $i.part; done
mv sets.csv other.csv
expect 0 merge-parts 1.part 2.part --json $on
check "parts are the whole" [ "$(number cva)" = "$whole" ]
mv other.csv sets.csv
expect 0 cva mixed.csv $given --outer 64 $both --validate --report page.html --tables folder
check "the page has the collateral" grep -q '<dt>collateral of two</dt><dd>threshold 1, margin period' page.html
check "the page has the jump" grep -q '<dt>jump at default</dt><dd>A -0.1, B 0</dd>' page.html
said "no contributions of trades"
check "sets have results" grep -q '^counterparty,one,' folder/sets.csv
expect 0 cva mixed.csv $given --outer 16 --inner 8 --rule-paths 1024 $both --compare; said "--estimator inner is left out: it has no jump at default"
check "four runs" [ "$(grep -c '^rule \|^amc ' out)" -eq 4 ]
expect 0 cva mixed.csv $given --outer 16 --estimator inner --hazard-vol 0.5 --threshold 1
expect 64 cva mixed.csv $given --outer 16 --estimator inner --mpor 2w --threshold 1; said "estimator inner has no margin period"

# --- counterparties ---
printf 'payoff,assets,strike,maturity,counterparty,set\nforward,A,100,1,X,one\nforward,A,100,1,Y,two\n' >parties.csv
printf 'counterparty,hazard,threshold\nX,0.05,2\nY,0.05,\n' >cpty.csv
printf 'set,mpor\none,0.1\n' >mpor.csv
expect 0 cva parties.csv $given --outer 64 --counterparties cpty.csv --sets mpor.csv --json
json; leaf collateral.0.threshold=2; leaf collateral.0.mpor=0.1
expect 0 cva parties.csv $given --outer 64 --hazard-vol 1 --hazard-correlation A:0.5 --breakdown --json
expect 64 cva parties.csv $given --outer 64 --default-jump 0.1; said "several counterparties have no jump at default"

# --- messages ---
bad() { printf "$1" >bad.csv; expect 66 cva book.csv $given --sets bad.csv; said "$2"; }
bad 'set,threshold\nthree,1\n' "bad.csv:2: unknown set 'three'; the book has one, two"
bad 'set,threshold\none,1\none,2\n' "bad.csv:3: column set: 'one' is there twice"
bad 'set,threshold\none,-1\ntwo,x\n' "bad.csv:2: column threshold: '-1' is below 0"
said "bad.csv:3: column threshold: 'x' is not a finite number"
bad 'set,threshold,mpor\none,1,soon\n' "bad.csv:2: column mpor: 'soon' is not a time"
bad 'set,threshold,one-way\none,1,them\n' "bad.csv:2: column one-way: 'them' is neither no, counterparty nor us"
bad 'set,mpor\none,2w\n' "bad.csv:2: column mpor: '2w' is given, but the set has no threshold"
bad 'threshold\n1\n' "bad.csv has no column set"
expect 64 cva book.csv $given --mpor 2w; said "--mpor needs --threshold"
expect 64 cva book.csv $given --mta 2; said "--mta needs --threshold"
expect 64 cva book.csv $given --one-way us; said "--one-way needs --threshold"
expect 64 cva book.csv $given --threshold 1 --mpor soon; said "--mpor: 'soon' is not a time"
expect 64 cva book.csv $given --hazard-correlation 0.5; said "--hazard-correlation needs --hazard-vol"
expect 64 cva book.csv $given --hazard-reversion 0.5; said "--hazard-reversion needs --hazard-vol"
expect 64 cva book.csv $given --default-jump C:0.1; said "--default-jump: unknown asset 'C'"
expect 64 cva book.csv $given --default-jump A; said "--default-jump: 'A' is neither a number nor a list ASSET:NUMBER"
expect 64 cva book.csv $given --default-jump -1; said "--default-jump: -1 for A; it must be from -0.999 to 1000"
expect 64 cva book.csv $given --hazard-vol 1 --hazard-correlation A:1,B:1; said "hazard correlation with the assets is impossible"

summary test_cli_cva_credit.sh
