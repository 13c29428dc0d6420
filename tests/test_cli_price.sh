#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# test_cli_price.sh PROGRAM [BACKEND] - `shoal price` and `shoal merge-parts`: prices, lists, parts, pictures,
# Ctrl-C, mistakes.
# shellcheck disable=SC2034,SC2086,SC1091,SC2154,SC3045

# shellcheck source=tests/test_cli_base.sh
. "$(dirname "$0")/test_cli_base.sh"
on="--backend ${2:-cpu}"
"$shoal" info $on >/dev/null 2>&1 || { echo "skipped: no backend $2 here"; exit 77; }

# near VALUE TRUTH TOLERANCE
near() { awk -v a="$1" -v b="$2" -v e="$3" 'BEGIN { d = a - b; exit !(d <= e && d >= -e) }'; }
number() { sed -n "s/^ *\"$1\": \([-+.0-9e]*\),*$/\1/p" out; } # of the JSON object
results() { grep -E '"(price|stderr|implied_vol|delta|gamma|vega|paths)' "$1"; }

# --- mistakes ---
expect 64 price; said "Usage"
expect 64 price hestn; said "Did you mean 'heston'?"
expect 64 price heston --method eulr; said "Did you mean 'euler'?"
expect 64 price heston x; said "unexpected argument 'x'"
expect 64 price heston --s0 0; said "--s0"
expect 64 price heston --s0 nan; said "finite"
expect 64 price heston --rho 1.5 $on; said "rho is 1.5"
expect 64 price heston --sigma -1 $on; said "sigma is -1"
expect 64 price heston --v0=-0.1 $on; said "v0 is -0.1"
expect 64 price heston --strike 1,x; said "'x' is not a finite number"
expect 64 price heston --strike=-1 $on; said "strike[0] is -1"
expect 64 price heston --maturity 1,0.5 $on; said "maturity[1] is 0.5; it must be at least 1"
expect 64 price heston --rate 800 $on; said "rate 800"
expect 64 price heston --paths 0; said "--paths"
expect 64 price heston --target-se 0; said "--target-se"
expect 64 price heston --bump 0 --greeks; said "--bump"
expect 64 price heston --bump 0.01; said "--bump needs --greeks"
expect 64 price heston --paths 1e13; said "--paths: 1e13 is not between 1 and 1099511627776"
expect 64 price heston --plot p.png $on; said "--plot: 'p.png' does not end in .svg"
for option in --greeks "--method euler" "--g abs" "--variant normal" "--kappa 1" "--theta 1" "--sigma 1" "--target-se 1" \
    "--shard 1/2 -o p"; do
    expect 64 price heston --compare $option $on; said "--compare and ${option%% *} exclude each other"
done
expect 64 price heston --compare --strike 1,2 $on; said "--compare takes one --strike"
expect 64 price heston --method euler --g half; said "'half'"
expect 64 price heston --shard 1/2; said "--shard needs -o"
expect 64 price heston --shard 3/2 -o p; said "'3/2'"
expect 64 price heston --shard 1/2 -o p --target-se 1; said "exclude each other"
expect 64 price heston -o p; said "-o needs --shard"
expect 64 price heston --method analytic --shard 1/2 -o p; said "simulates no paths"
expect 64 merge-parts; said "PART is missing"
expect 66 merge-parts nowhere.part; said "nowhere.part"
echo '{"a": 1}' >bad.part
expect 66 merge-parts bad.part; said "bad.part: not a unit; parts are written by --shard I/N -o PART"
expect 74 price heston --method analytic --plot nowhere/p.svg $on; said "nowhere"
check "mistakes leave no files" test ! -e p

# --- bumps and parity: a wider bump is another estimate; calls of a large variance are puts ---
euler="price heston --method euler --steps 4 --paths 600 --greeks --json $on"
expect 0 $euler; narrow=$(number gamma)
expect 0 $euler --bump 0.2; check "a bump of one's own" test "$(number gamma)" != "$narrow"
expect 0 $euler; json; leaf parity=false
expect 0 $euler --v0 4 --theta 4 --maturity 10 --steps 64; json; leaf parity=true

# --- the formula ---
expect 0 price heston --method analytic --greeks --json $on; json; leaf variant=null
leaf command="price heston"; leaf method=analytic; leaf stderr=0; leaf paths=0; leaf rho=-0.7
check "the known price" near "$(number price)" 0.119732509397 1e-11
truth=$(number delta)
check "its volatility" near "$(number implied_vol)" 0.3012602642 1e-9
expect 0 price heston --s0 100 --strike 60,100,140 --maturity 10 --v0 .04 --theta .04 --sigma 1 --rho=-.9 \
    --method analytic --json $on
json
check "three strikes" test "$(grep -c '"strike": [0-9]*, "price"' out)" -eq 3
expect 0 price heston --method analytic --paths 7 --antithetic --seed 3 $on
said "analytic has no paths"; said "--antithetic has no effect"; said "--seed has no effect"
expect 0 price heston --method analytic --plot density.svg $on
check "a density" grep -q "density of the asset" density.svg

# --- numbers as people read them; a target that cannot be reached ---
expect 0 price heston --paths 1e4 --steps 8 $on
check "a price is rounded to its error" grep -Eq "^price +0\.[0-9]{4,5} \+- 0\.00[0-9]{2,3}$" out
check "one maturity, one date" test "$("$shoal" price american --dates 1 --paths 64 --fit-paths 64 $on | grep -c "on 1 asset, rate 0.05, 1 date$")" = 1
expect 64 price heston --target-se 1e-12 $on; silent out
said "--target-se 1e-12 needs about "; said "paths, which would take "; said "years; the limit is 2^40 paths"

# --- simulations ---
errors() { awk -v a="$1" -v b="$2" 'BEGIN { print a * b }'; } # errors COUNT ERROR
expect 0 price heston --paths 3000 --steps 16 --json $on; json
leaf method=conditional; leaf variant=poisson; leaf control=true; leaf paths=3000; leaf steps=16; leaf seed=1
check "near the price" near "$(number price)" 0.119732509397 "$(errors 4 "$(number stderr)")"
check "and as near as that" awk -v a="$(number stderr)" 'BEGIN { exit !(a > 0 && a < 1e-3) }'
speed=$(number path_steps_per_second) seconds=$(number simulation_seconds)
check "a speed is above 0" awk -v a="$speed" 'BEGIN { exit !(a > 0) }'
check "it is paths times steps per second" near "$speed" "$(awk -v s="$seconds" 'BEGIN { print 3000 * 16 / s }')" \
    "$(awk -v a="$speed" 'BEGIN { print 1e-5 * a }')"
for method in euler exact conditional; do
    expect 0 price heston --method $method --paths 600 --steps 64 --greeks --json $on; json
    check "$method has derivatives" near "$(number delta)" "$truth" "$(errors 4 "$(number delta_stderr)")"
done
expect 0 price heston --method euler --g abs --type f32 --math fast --paths 600 --steps 8 --json $on; json
leaf variant=abs; leaf type=f32; leaf math=fast
expect 0 price heston --method conditional --g abs --type f32 --math fast --paths 300 --steps 2 $on
said "--g has no effect"; said "--type f32 has no effect"; said "--math fast has no effect"
expect 0 price heston --put --strike 0.9,1.1 --maturity 0,0.5,1 --paths 600 --steps 4 --plot smile.svg --json $on; json
check "six contracts" test "$(grep -c '"maturity": [0-9.]*, "strike"' out)" -eq 6
check "a smile" grep -q "implied volatility" smile.svg
expect 0 price heston --paths 600 --steps 4 --plot path.svg $on
check "a convergence" grep -q "price against paths" path.svg
expect 0 price heston --steps 2 --target-se 0.01 --json $on; json
leaf target_se=0.01; leaf paths=65536; leaf unpaid=0
if [ -z "$2" ]; then # where no path pays, 0 +- 0 is not the error that was asked for
    expect 0 price heston --method euler --steps 1 --strike 1000 --target-se 1e-9 --json $on; json
    said "no path paid: 0 +- 0 is not an estimate"; leaf price=0; leaf unpaid=1; leaf paths=4194304
    expect 0 price heston --method euler --steps 1 --strike 1000 --target-se 0.01 --json $on; json
    said "no path paid: 0 +- 0 is not an estimate"; leaf price=0; leaf unpaid=1; leaf paths=65536
    check "a bound below the target" awk -v b="$(number bound)" 'BEGIN { exit !(b > 0 && b <= 0.01) }'
    for way in "" --json; do # a target is not needed for that
        expect 0 price bullet --dates 2 --p1 2 --p2 2 --barrier 30 --strike 10 $way $on
        said "no path paid: 0 +- 0 is not an estimate"; said "with 95 % confidence the value is below"
    done
    json; leaf unpaid=1
    check "a bound of the price" awk -v b="$(number bound)" 'BEGIN { exit !(b > 0 && b < 0.01) }'
    expect 0 price american --method lsm --s0 100 --strike 20 --dates 2 --maturity 1 --json $on; json
    said "no path paid: 0 +- 0 is not an estimate"
    # 64 steps were the default, off by 24 standard errors; now the steps follow kappa T
    kaya="--s0 100 --strike 100 --v0 .010201 --kappa 6.21 --theta .019 --sigma .61 --rate .0319 --maturity 10"
    expect 0 price heston $kaya --paths 16384 --json $on; json
    leaf steps=512; silent err
    check "the default meets the formula" near "$(number price)" 32.5679356 "$(errors 4 "$(number stderr)")"
    expect 0 price heston $kaya --paths 65536 --steps 64 --json $on; json
    said "the bias of 64 steps may exceed the standard error: bias up to"
    check "the bias is told" near "$(number bias)" 0.21 0.02
    expect 0 price expou --alpha 20 --m -2.3 --beta 6.3 --maturity 5 --paths 65536 --steps 64 $on
    said "the bias of 64 steps may exceed"
    expect 0 price bullet --count B --s0 120 --greeks --dates 2 --p1 0 --p2 1 --paths 600 $on
    said "the price jumps at the barrier"
    expect 0 price heston --method euler --steps 1 --strike 1.2 --maturity 0,1 --target-se 0.01 --json $on; json
    leaf unpaid=0; leaf paths=65536
    # at the second point the count is too large to pay, and at the third the barrier is never reached
    expect 0 price bullet --method grid --dates 2 --at "0,100,0;0,100,5;0,1e6,0" --p1 1 --p2 2 --target-se 1 --json $on; json
    leaf unpaid=1; leaf paths=2097152
fi
[ -n "$2" ] || expect 0 price heston --compare --paths 300 --steps 16 -o c.csv --plot c.svg --json $on
[ -n "$2" ] || json
[ -n "$2" ] || check "a table of 50 sets or so" test "$(wc -l <c.csv)" -gt 40
if [ -z "$2" ]; then # what is honoured: the strike and the put of every row
    expect 0 price heston --compare --paths 20 --steps 16 --strike 0 --put --antithetic --no-control --json $on; json
    leaf put=true; leaf strike=0; leaf antithetic=true; leaf compare.0.analytic=0; leaf compare.0.euler=0
fi

if [ -z "$2" ]; then # the sheet's steps
    expect 0 price heston --compare --paths 20 --steps 16 --exact-steps 24 --json $on; json; leaf compare.0.exact_steps=24
fi
expect 64 price heston --exact-steps 24; said "--exact-steps needs --compare"
# Euler in S: within its bias and five standard errors of the formula, and not the bits of log S
expect 0 price heston --method euler --scheme s --g abs --paths 20000 --steps 200 --json $on; json
leaf variant=abs-s; check "the price in S" near "$(number price)" 0.11973 0.007
expect 0 price heston --method conditional --scheme s --paths 300 $on; said "--scheme has no effect on conditional"
expect 0 price expou --method euler --scheme s --put --paths 20000 --steps 200 --json $on; json
leaf variant=s; check "the price in S, expou" near "$(number price)" 0.11338 0.006
expect 0 price expou --scheme s --paths 300 --steps 4 $on; said "--scheme has no effect on conditional"

# --- parts: the same bits ---
all="price heston --method euler --steps 2 --paths 140000 --greeks --bump 0.02 --antithetic --seed 9 $on"
expect 0 $all --json; results out >whole
for i in 1 2 3; do expect 0 $all --shard $i/3 -o $i.part; done
expect 0 merge-parts 3.part 1.part 2.part --json $on; json
leaf command="price heston"; leaf seed=9
results out >joined
check "the parts are the whole" cmp whole joined
expect 66 merge-parts 1.part 3.part $on; said "part 2 of 3 is missing"
expect 66 merge-parts 1.part 2.part $on; said "part 3 of 3 is missing"
expect 66 merge-parts 1.part 1.part 2.part $on; said "are the same part, 1 of 3"
expect 0 $all --seed 8 --shard 2/3 -o other.part
expect 66 merge-parts 1.part other.part 3.part $on; said "parts of different runs"
damaged() { # damaged SED TEXT: all three parts changed alike; they are refused
    for i in 1 2 3; do LC_ALL=C sed "$1" $i.part >$i.bad; done
    cmp -s 2.part 2.bad && fail "the parts have not changed: $1"
    seal 1.bad 2.bad 3.bad
    expect 66 merge-parts 1.bad 2.bad 3.bad $on; said "$2"; silent out
}
damaged 's/--paths/--plots/' "not a part: it has an unknown argument"
damaged 's/--paths/--usage/' "not a part: it has an unknown argument"
damaged 's/140000/999999/' "of a job of 2 rows in 3 units; this one has "
damaged 's/140000/140001/' "of a job with other inputs"
cp 2.part 2.bad; spoil 2.bad 500
expect 66 merge-parts 1.part 2.bad 3.part $on; said "2.bad: damaged: the checksum does not match"; silent out
head -c 300 2.part >2.bad
expect 66 merge-parts 1.part 2.bad 3.part $on; said "2.bad: cut off"
expect 0 merge-parts 1.part 2.part 3.part --plot merged.svg $on
check "the picture of the whole" grep -q "price against paths" merged.svg
expect 64 merge-parts 1.part 2.part 3.part -o x.npy $on; said "-o applies to parts of price bullet"
expect 0 price heston --steps 1 --paths 100 --shard 2/2 -o empty.part --json $on; json
expect 0 price heston --steps 1 --paths 100 --shard 1/2 -o full.part $on
expect 0 merge-parts empty.part full.part --json $on; leaf paths=100
for threads in 1 2; do
    expect 0 $all --threads $threads --json
    results out >$threads.threads
    check "$threads threads" cmp whole $threads.threads
done

# --- exponential Ornstein-Uhlenbeck ---
expect 64 price expou --method analytic; said "'analytic'"
expect 64 price expou --beta 1 --nu2 1; said "exclude each other"
expect 64 price expou --nu2-form paper; said "--nu2-form needs --nu2"
expect 64 price expou --nu2 1 --nu2-form other; said "there are usual, paper"
expect 64 price expou --rho 2 $on; said "rho is 2"
expect 0 price expou --paths 1000 --steps 8 --json $on; json
leaf method=conditional; leaf control=true; leaf finite_variance=true; leaf alpha=1
check "near the price" near "$(number price)" 0.1134 0.002
expect 0 price expou --paths 1000 --steps 8 --method euler --json $on; json
said "the variance of S_T is infinite"; leaf finite_variance=false
expect 0 price expou --paths 1000 --steps 32 --method euler --put $on; silent err
expect 0 price expou --paths 300 --steps 4 --rho 0.5 $on; said "local martingale"
expect 0 price expou --paths 300 --steps 4 --nu2 0.25 --alpha 2 --json $on
check "beta of nu2" near "$(number beta)" 1 1e-12
expect 0 price expou --paths 300 --steps 4 --nu2 0.25 --alpha 2 --m 0.1 --nu2-form paper --json -q $on
check "beta as printed" near "$(number beta)" -0.10517 1e-5
all="price expou --steps 2 --paths 70000 --greeks --seed 2 $on"
expect 0 $all --json; results out >whole
for i in 1 2; do expect 0 $all --shard $i/2 -o $i.part; done
expect 0 merge-parts 1.part 2.part --json $on; results out >joined
check "the parts are the whole, here too" cmp whole joined

# --- bullet options ---
few="--dates 10 --p1 3 --p2 8 $on"
expect 64 price bullet --count G; said "there are A, B, C"
expect 64 price bullet --strike 90,100 $on; said "is not a finite number"
expect 64 price bullet --at 1,2 $on; said "k,x,j"
expect 64 price bullet --at 1,2,3,4 $on; said "k,x,j"
expect 64 price bullet --at 0.5,100,0 $on; said "whole numbers"
expect 64 price bullet --method mc --at "0,100,0;1,100,0" $on; said "--method grid"
expect 64 price bullet --method grid --at 200,100,0 $on; said "k must be 0 to 100"
expect 64 price bullet --at 0,100,0 --lattice 1,1,1; said "exclude each other"
expect 64 price bullet --lattice 1,2; said "three whole numbers"
expect 64 price bullet --outer 3 $on; said "--outer needs --method nested"
expect 64 price bullet --method quad --shard 1/2 -o p $on; said "simulates no paths"
expect 64 price bullet -o p.txt $on; said ".npy"
expect 64 price bullet --barrier=-1 $on; said "barrier is -1"
expect 66 price bullet --at nowhere.npy $on; said "nowhere.npy"
printf 'k,x,j\n0,100,0\n5,90,2.5\n' >half.csv
expect 66 price bullet --method grid --at half.csv $on; said "half.csv: point 1"
for count in A:0.1227642329 B:0.1190729792 D:0.1184623120 F:0.1168152842; do
    expect 0 price bullet --method quad --probability --count ${count%%:*} --json $on; json
    check "the probability of $count" near "$(number probability)" ${count#*:} 1e-9
done
expect 0 price bullet --probability --dates 10 --p1 3 --p2 8 --paths 600 $on; check "named so" grep -q "^probability" out
expect 64 price bullet --method pde --probability $on; said "--probability: pde computes prices only"
expect 64 price bullet --compare --probability $on; said "--compare and --probability exclude each other"
expect 0 price bullet --method quad --greeks --barrier 0 --p1 0 --p2 0 --json $on; json
check "the limit is Black and Scholes" near "$(number price)" 13.2696765847 1e-9
check "and its delta" near "$(number delta)" 0.72574688225 1e-10
expect 0 price bullet --paths 5000 --put --steps 3 --json $few; json
said "--put has no effect"; said "--steps has no effect"
leaf method=mc; leaf count=A; leaf steps=10; leaf k=0
price=$(number price) error=$(number stderr)
expect 0 price bullet --method quad --json $few
check "mc is near quad" near "$price" "$(number price)" "$(echo "$error" | awk '{ print 4 * $1 }')"
printf 'k,x,j\n0,100,0\n5,90,2\n' >points.csv
expect 0 price bullet --method grid --at points.csv --paths 600 -o out.npy --json $few; json
leaf surface.1.k=5; leaf surface.1.j=2; leaf points=2
check "points kept" test "$(od -An -v -t f8 -j 128 -N 24 out.npy | awk '{ printf "%s %s ", $1, $2 }')" = "0 100 0  "
expect 0 price bullet --method grid --lattice 3,3,2 --paths 300 --plot grid.svg --json $few; json
leaf points=18
# the sums of one unit are what a grid takes, not those of a round of 1024 (which would be 800 MB here)
if [ -z "$2" ] && (ulimit -v 600000) 2>/dev/null; then
    (ulimit -v 600000 && exec "$shoal" price bullet --method grid --lattice 16,25,25 --dates 2 --p1 1 --p2 2 --paths 10 \
        --threads 2 --backend cpu -o large.npy -q) >out 2>err
    rc=$?
    check "a large grid in little memory" test $rc -eq 0 -a "$(wc -c <large.npy)" -eq $((128 + 8 * 5 * 10000))
fi
check "a picture of lines" grep -q "value against price" grid.svg
expect 0 price bullet --method nested --outer 3 --paths 300 --plot nested.svg --json $few; json
leaf points=33; leaf outer=3
check "a picture of trajectories" grep -q "outer trajectories" nested.svg
expect 0 price bullet --compare --outer 4 --paths 256 -o bc.csv --plot bc.svg --json $few; json
leaf compare.0.nested=0
check "a table of both" test "$(wc -l <bc.csv)" -eq 5
expect 64 price bullet --method pde --solver magic; said "'magic'"
expect 64 price bullet --method pde --nx 3; said "--nx"
expect 64 price bullet --method pde --sigma 0 $on; said "sigma is 0"
expect 64 price bullet --method pde --shard 1/2 -o p $on; said "pde simulates no paths"
expect 64 price bullet --options points.csv $on; said "--options needs --method pde"
printf 'sigma,barier\n0.2,120\n' >bad.csv
expect 66 price bullet --method pde --options bad.csv $on; said "bad.csv:1: unknown column 'barier'; there are s0, strike, rate, maturity, sigma, barrier, p1, p2. Did you mean 'barrier'?"
printf 'sigma,p1\n0.2,2\n\n0.2,2.7\n' >bad.csv
expect 66 price bullet --method pde --options bad.csv $on; said "bad.csv:4: column p1: 2.7 is not a whole number"
for option in "--method pde" "--method quad" "--at 0,100,0" "--lattice 1,1,1" "--nx 65" "--last 1" --greeks; do
    expect 64 price bullet --compare $option $on; said "--compare and ${option%% *} exclude each other"
done
for method in mc grid nested quad; do
    expect 64 price bullet --method $method --plot p.png $on; said "does not end in .svg"
done
expect 0 price bullet --method mc --nx 9 --paths 300 $few; said "have no effect without --method pde"
for solver in pcr thomas; do
    expect 0 price bullet --method pde --solver $solver --nx 65 --steps-per-date 3 --greeks --json $few; json
    leaf variant=$solver; leaf stderr=0
    number price >$solver.price
done
expect 0 price bullet --method pde --nx 65 --steps-per-date 3 $few
check "the error of pde" grep -Eq '^grid +65 points; the error is the change from 33 points$' out
check "a price rounded to it" grep -Eq '^price .* [+]- ' out
expect 0 price bullet --method pde --nx 5 --steps-per-date 3 $few
check "a grid that cannot be halved" grep -Eq '^price +[0-9.]+$' out
check "both solvers" near "$(cat pcr.price)" "$(cat thomas.price)" 1e-10
expect 0 price bullet --method quad --json $few
check "near quad" near "$(cat pcr.price)" "$(number price)" 0.2
expect 0 price bullet --method pde --nx 33 --steps-per-date 2 -o surface.npy --plot surface.png $few
check "the surface" test "$(wc -c <surface.npy)" -eq $((128 + 8 * 11 * 9 * 33))
# entry FILE I: number I of it
entry() { tail -c +$((129 + 8 * $2)) "$1" | head -c 8 | od -An -t f8 | tr -d ' '; }
# on_surface COUNT K J I: the surface in s.npy, of 9 counts and 65 lines, has there what --at says
on_surface() {
    x=$(entry s-x.npy $4) value=$(entry s.npy $((($2 * 9 + $3) * 65 + $4)))
    expect 0 price bullet --method pde --nx 65 --steps-per-date 2 --count $1 --at "$2,$x,$3" --json $few
    check "$1: the surface at k $2, j $3, line $4" near "$(number price)" "$value" 1e-9
}
counts="A B C D E F"
[ -z "$2" ] || counts=B
for count in $counts; do
    last=10; case $count in [EF]) last=11 ;; esac
    expect 0 price bullet --method pde --nx 65 --steps-per-date 2 --count $count -o s.npy --json $few; json
    leaf files.surface=s.npy; leaf files.t=s-t.npy; leaf files.x=s-x.npy
    check "$count: the last date" near "$(entry s-t.npy $last)" 1 1e-15
    on_surface $count 0 0 32; on_surface $count 0 2 30; on_surface $count 4 3 31; on_surface $count 4 8 31
    on_surface $count 4 3 44; on_surface $count 9 5 33
    on_surface $count $last 3 40; on_surface $count $last 8 34; on_surface $count $last 8 40
done
# the last interval alone: with E and F [T_M, T), where the call is Black and Scholes's
expect 0 price bullet --method quad --barrier 0 --p1 0 --p2 0 --dates 1 --maturity 0.09090909090909091 --json $on
call=$(number price)
one_interval() { # COUNT J VALUE
    expect 0 price bullet --method pde --nx 1025 --steps-per-date 40 --count $1 --last 1 --at 10,100,$2 -o one.npy --json $few
    json; leaf last=1; leaf k=10
    check "$1, j = $2: [T_M, T) alone" near "$(number price)" "$3" 5e-4
}
one_interval E 5 "$call"; one_interval E 9 0; one_interval F 2 "$call"; one_interval F 8 0; one_interval F 1 0
check "two dates are kept" test "$(wc -c <one.npy)" -eq $((128 + 8 * 2 * 9 * 1025))
check "the first is T_M" near "$(entry one-t.npy 0)" 0.90909090909090909 1e-15
nx=1025
[ -z "$2" ] || nx=513
for count in $counts; do # some of the intervals, against all by quadrature
    last=10; case $count in [EF]) last=11 ;; esac
    for x in 100 118; do
        expect 0 price bullet --method quad --count $count --at "$((last - 3)),$x,4" --json $few
        exact=$(number price)
        expect 0 price bullet --method pde --nx $nx --steps-per-date 40 --count $count --last 3 --at "$((last - 3)),$x,4" --json $few
        check "$count: three intervals from $x" near "$(number price)" "$exact" 2e-3
    done
done
expect 64 price bullet --method quad --last 1 $few; said "--last needs --method pde"
expect 64 price bullet --method pde --last 11 $few; said "--last: 11 is not between 1 and 10"
expect 64 price bullet --method pde --last 2 --at 7,100,3 $few; said "point 0 has k = 7; --last 2 is from 8 to 10"
for method in quad pde; do
    expect 0 price bullet --method $method --nx 65 --steps-per-date 2 --at 5,100,2 --plot curve.svg $few
    check "$method: a curve and no dots" sh -c 'grep -q "value against price" curve.svg && ! grep -q "<circle" curve.svg'
done
check "its picture" test "$(head -c 4 surface.png | tail -c 3)" = PNG
expect 0 price bullet --method pde --nx 33 --steps-per-date 2 --as-printed --at 5,100,2 $few
printf 'barrier,sigma\n110,0.2\n120,0.2\n130,0.25\n' >options.csv
expect 0 price bullet --method pde --nx 33 --steps-per-date 2 --options options.csv --json $few; json
leaf options=3; leaf surface.2.barrier=130
all="price bullet --method grid --lattice 2,2,1 --paths 140000 --seed 4 --dates 2 --p1 1 --p2 2 $on"
expect 0 $all --json; grep '"k"' out >whole
for i in 1 2; do expect 0 $all --shard $i/2 -o $i.part; done
expect 0 merge-parts 2.part 1.part --json $on; grep '"k"' out >joined
check "parts of a grid are the whole" cmp whole joined
expect 0 $all -o whole.npy
expect 0 merge-parts 2.part 1.part -o joined.npy --plot joined.svg $on
check "and so is what is kept" cmp whole.npy joined.npy
check "and its picture" grep -q "value against price" joined.svg

# --- Ctrl-C: what is known so far ---
if [ -z "$2" ] && env --default-signal=INT timeout --foreground --preserve-status 9 true 2>/dev/null; then
    env --default-signal=INT timeout --foreground --preserve-status -k 20 -s INT 1.5 "$shoal" price heston \
        --method euler --steps 50 --paths 1e11 --backend cpu --json >out 2>err </dev/null
    rc=$?
    check "Ctrl-C is exit code 130" test $rc -eq 130
    json
    leaf interrupted=true
    check "and the price so far" near "$(number price)" 0.1197 0.005
    for long in "heston --method analytic --v0 1e-8 --theta 0 --strike 1.1,1.2,1.3,1.4,1.5,1.6" \
        "bullet --method quad --dates 2000 --p1 100 --p2 1000" "american --fit-paths 1e8" \
        "bullet --method grid --lattice 11,13,6 --paths 1e8 -o none.npy"; do # no price is known yet
        start=$(date +%s)
        env --default-signal=INT timeout --foreground --preserve-status -k 20 -s INT 1 "$shoal" price $long --json \
            --backend cpu >out 2>err </dev/null
        rc=$?
        check "Ctrl-C ends $long" test $rc -eq 130 -a $(($(date +%s) - start)) -le 4
        said "interrupted"; json; leaf interrupted=true
    done

    # one block of paths takes seconds: all paths of a block are used for every contract
    list() { awk -v n="$1" -v low="$2" 'BEGIN { for (i = 0; i < n; i++) printf "%s%.6g", i ? "," : "", low + i / n }'; }
    large="--strike $(list 400 0.6) --maturity $(list 250 0.5)"
    "$shoal" price heston $large --greeks --steps 250 --paths 1e6 --backend cpu >out 2>err </dev/null &
    job=$!
    sleep 1
    start=$(date +%s%N)
    kill -TERM $job
    wait $job
    rc=$?
    took=$((($(date +%s%N) - start) / 1000000))
    check "100,000 contracts: exit code 130, not $rc" test $rc -eq 130
    check "100,000 contracts: stopped after $took ms" test $took -le 1000

    # rows that nobody reads: those that follow Ctrl-C are few
    mkfifo rows
    "$shoal" price american $large --european --backend cpu >rows 2>err </dev/null &
    job=$!
    exec 3<rows
    sleep 2
    kill -TERM $job
    lines=$(cat <&3 | wc -l)
    exec 3<&-
    wait $job
    rc=$?
    check "a long list: exit code 130, or 74 if it ended a write, not $rc" test $rc -eq 130 -o $rc -eq 74
    check "a long list: $lines lines" test "$lines" -lt 40000
    expect 0 price american --strike "$(list 40 0.6)" --maturity 1 --european -o list.csv
    check "a list as a file" test "$(wc -l <list.csv)" -eq 41
fi

summary test_cli_price.sh
