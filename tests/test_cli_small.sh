#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# test_cli_small.sh PROGRAM [BACKEND] - `shoal solve small` and `shoal gen smallsym`: answers, shapes, exit
# codes, JSON, files that do not fit.
#
# Lists of options are split into words and bytes are written through printf's format on purpose.
# shellcheck disable=SC2086,SC2059,SC1091,SC2154

# shellcheck source=tests/test_cli_base.sh
. "$(dirname "$0")/test_cli_base.sh"
on="--backend ${2:-cpu}"
"$shoal" info $on >/dev/null 2>&1 || { echo "skipped: no backend $2 here"; exit 77; }

# npy DESCR SHAPE BYTES...: a version 1.0 file on stdout; BYTES are printf escapes.
npy() {
    header="{'descr': '$1', 'fortran_order': False, 'shape': $2, }"
    shift 2
    printf '\223NUMPY\001\000\166\000%-117s\n' "$header"
    for bytes in "$@"; do printf "$bytes"; done
}
one='\000\000\000\000\000\000\360\077' two='\000\000\000\000\000\000\000\100' zero='\000\000\000\000\000\000\000\000'
four='\000\000\000\000\000\000\020\100' nan='\000\000\000\000\000\000\370\177'
f4two='\000\000\000\100' i4two='\002\000\000\000' i4one='\001\000\000\000'
s="-A s-A.npy -b s-b.npy"
# The numbers of an f4 file.
singles() { tail -c +129 "$1" | od -An -v -t f4 | tr -s ' \n' ' ' | sed 's/^ //; s/ $//'; }

# --- usage ---
expect 0 solve small --help; silent err; check "an example" grep -q "Example" out
for option in method variant team rule packed triangle refine estimate cond tol; do
    check "--$option in the help" grep -q -- "  --$option" out
done
expect 64 solve small -x x.npy; said "-A is missing: the matrices"
expect 64 solve small -A a.npy -x x.npy; said "-A needs -b"
expect 64 solve small $s; said "-x is missing"
expect 64 solve small $s -x x.npy extra; said "extra"
expect 64 solve small $s -x x.npy --method ldl; said "Did you mean 'ldlt'?"
expect 64 solve small $s -x x.npy --method ldlt --variant tem; said "'team'"
expect 64 solve small $s -x x.npy --triangle left; said "there are lower, upper"
expect 64 solve small $s -x x.npy --cond many; said "--cond"
expect 64 solve small $s -x x.npy --tol nan; said "--tol"
for value in 0 -1; do
    expect 64 solve small $s -x x.npy --cond=$value; said "--cond: $value is not above 0"
    expect 64 solve small $s -x x.npy --tol=$value; said "--tol: $value is not above 0"
done
for steps in -1 101 1.5 some; do expect 64 solve small $s -x x.npy --refine=$steps; said "--refine: "; done
for threads in 0 1025 1.5 some; do
    expect 64 solve small $s -x x.npy --method ldlt --variant hybrid --team=$threads; said "--team: "
done
expect 64 solve small $s -x x.npy --method ldlt --team 4; said "--team needs --variant hybrid"
expect 64 solve small $s -x x.npy --method ldlt --variant team --team 4; said "--team needs --variant hybrid"
expect 64 solve small $s -x x.npy --estimate=2; said "--estimate"
expect 64 solve small $s -x x.npy --rank x.npy; said "two outputs"
expect 64 solve small $s -x x.npy --rank r.npy --status r.npy; said "two outputs"
expect 64 solve small --psi p.npy -x x.npy; said "--psi needs --y"
expect 64 solve small --y y.npy -x x.npy; said "--y needs --psi"
expect 64 solve small --psi p.npy --y y.npy; said "-x is missing"
expect 64 solve small --psi p.npy --y y.npy -b b.npy -x x.npy; said "-b needs -A"
expect 64 solve small --psi p.npy --y y.npy -A A.npy -b b.npy -x x.npy; said "-A and --psi exclude each other"
expect 64 solve small --psi p.npy --y y.npy -x x.npy --packed; said "--psi and --packed exclude each other"
expect 64 solve smal; said "Did you mean 'small'?"
expect 64 gen smallsym spd -o s; said "--n"
expect 64 gen smallsym sdp --n 3 -o s; said "Did you mean 'spd'?"
expect 64 gen smallsym spd --n 3 --layout interleaved -o s; said "--layout"
expect 64 gen tridiag dominant --n 3 --packed -o s; said "--packed"
expect 64 gen smallsym spd --n 3 --parameter 2 -o s; said "parameter is 2"; silent out
expect 64 gen smallsym hilbert --n 3 --parameter 2 -o s; said "hilbert"
expect 64 gen smallsym spd --n 3 --triangle both -o s; said "--triangle"
expect 64 gen smallsym spd --n 1e10 -o s; said "too large"
expect 64 gen smallsym spd --n 1e4 --count 1e12 -o s; said "too large"
check "usage errors leave no files" test -z "$(ls -- *.npy 2>/dev/null)"

# --- gen ---
expect 0 gen smallsym --list; check "kinds" grep -q "regression" out
expect 0 gen smallsym --list --json; json; leaf kinds.0.module=smallsym; leaf kinds.0.kind=spd
expect 0 gen smallsym spd --n 5 --count 3 --seed 9 -o s --json; json; silent err
leaf command=gen; leaf module=smallsym; leaf kind=spd; leaf n=5; leaf count=3; leaf nrhs=1; leaf type=f64
leaf storage=full; leaf triangle=lower; leaf parameter=null; leaf seed=9; leaf files.A=s-A.npy; leaf files.b=s-b.npy
check "two files and nothing else" test "$(echo s-*)" = "s-A.npy s-b.npy"
check "shape (count,n,n)" grep -aq "(3, 5, 5)" s-A.npy; check "shape (count,n)" grep -aq "(3, 5)" s-b.npy
expect 0 gen smallsym spd --n 5 --seed 9 -o one
check "shape (n,n)" grep -aq "(5, 5)" one-A.npy; check "shape (n)" grep -aq "(5,)" one-b.npy
contents one-A.npy >one; contents s-A.npy | head -c 200 >first
check "the first system is the same in every file" cmp -s one first
expect 0 gen smallsym spd --n 5 --count 3 --seed 9 --packed --nrhs 2 --type f32 -o p
check "packed" grep -aq "(3, 15)" p-A.npy; check "nrhs" grep -aq "(3, 5, 2)" p-b.npy; check "f4" grep -aq "<f4" p-A.npy
expect 0 gen smallsym spectrum --n 4 --parameter 100 -o q --json; json; leaf parameter=100
for kind in $("$shoal" gen smallsym --list | awk '{ print $2 }'); do
    expect 0 gen smallsym $kind --n 4 --count 2 -o k; silent err
done
expect 0 gen smallsym spd --n 0 --count 3 -o z; check "n = 0" grep -aq "(3, 0, 0)" z-A.npy
expect 0 gen smallsym spd --n 3 --count 0 -o y; check "count = 0" grep -aq "(0, 3, 3)" y-A.npy
expect 74 gen smallsym spd --n 3 -o nowhere/t; said "nowhere/t"; silent out

# --- the rule of auto: a condition number of 1e6, or the residue alone ---
expect 0 gen smallsym regression --n 30 --count 8 --type f32 -o g
expect 0 solve small -A g-A.npy -b g-b.npy -x x.npy --variant hhpcr --json $on; json; leaf redone=8; leaf warned=8; leaf rule=condition
expect 0 solve small -A g-A.npy -b g-b.npy -x x.npy --variant hhpcr --rule residue --json $on; json
leaf redone=0; leaf warned=0; leaf rule=residue
expect 64 solve small -A g-A.npy -b g-b.npy -x x.npy --rule both; said "there are condition, residue"

# --- answers ---
expect 0 $on solve small $s -x x.npy --status st.npy --residual r.npy --json; json; silent err
leaf "command=solve small"; leaf count=3; leaf n=5; leaf nrhs=1; leaf type=f64; leaf method=auto; leaf failed=0
leaf team=0; leaf refine=0; leaf estimate=false
leaf warned=0; leaf storage=full; leaf triangle=lower; leaf cond=1000000000000; leaf tol=9.992007221626409e-15
leaf files.A=s-A.npy; leaf files.x=x.npy; leaf files.status=st.npy
has version backend device seconds variant redone max_residual solved solve_seconds
check "status" test "$(ints st.npy)" = "0 0 0"; check "x has the shape of b" grep -aq "(3, 5)" x.npy
expect 0 $on solve small $s -x y.npy --threads 1; silent err; check "threads change nothing" cmp -s x.npy y.npy
check "table" grep -q "max residual" out
expect 0 $on solve small $s -x y.npy --method ldlt --variant team --inertia i.npy --rank k.npy --rcond c.npy --method-out m.npy
check "inertia" test "$(ints i.npy)" = "5 0 0 5 0 0 5 0 0"; check "shape (count,3)" grep -aq "(3, 3)" i.npy
check "rank" test "$(ints k.npy)" = "5 5 5"; check "method" test "$(ints m.npy)" = "0 0 0"; check "rcond" test -s c.npy
expect 0 $on solve small -A one-A.npy -b one-b.npy -x o.npy --json; json; leaf count=1
contents o.npy >ox; contents x.npy | head -c 40 >fx; check "a batch of one" cmp -s ox fx
expect 0 gen smallsym spd --n 5 --count 3 --seed 9 --triangle upper -o u
expect 0 $on solve small -A u-A.npy -b u-b.npy -x y.npy --triangle upper --json; json; leaf triangle=upper
check "the upper triangle, the same answer" cmp -s x.npy y.npy
expect 1 $on solve small -A u-A.npy -b u-b.npy -x y.npy; said "non-finite"
said "u-A.npy: 3 of 3 matrices are not symmetric, the first is number 0, counted from 0; the lower triangle is read"
for t in lower upper; do
    expect 0 gen smallsym spd --n 5 --count 3 --seed 9 --packed --triangle $t -o u
    expect 0 $on solve small -A u-A.npy -b u-b.npy -x y.npy --packed --triangle $t --json; json; leaf storage=packed
    check "packed, the same answer" cmp -s x.npy y.npy
done
expect 0 $on solve small -A p-A.npy -b p-b.npy -x y.npy --packed --cond 1e3 --json; json; leaf nrhs=2; leaf type=f32; leaf cond=1000
leaf tol=5.364418029785156e-06; check "shape (count,n,nrhs)" grep -aq "(3, 5, 2)" y.npy
# By hand: [2 1; 1 2] x = [4 2] has x = (2, 0); what is above the diagonal is not read.
npy '<f8' '(2, 2)' "$two" "$nan" "$one" "$two" >A.npy; npy '<f8' '(2,)' "$four" "$two" >b.npy
expect 0 $on solve small -A A.npy -b b.npy -x x.npy; check "by hand" test "$(floats x.npy)" = "2 0"
npy '<f8' '(3,)' "$two" "$one" "$two" >P.npy
expect 0 $on solve small -A P.npy -b b.npy -x x.npy --packed; check "packed by hand" test "$(floats x.npy)" = "2 0"
expect 0 $on solve small -A A.npy -b b.npy -x b2.npy; expect 0 $on solve small -A A.npy -b b2.npy -x b2.npy --force
# Another number above the diagonal is not read either, but told; not where the triangle is named, nor with -q.
npy '<f8' '(2, 2, 2)' "$two" "$one" "$one" "$two" "$two" "$four" "$one" "$two" >N.npy
npy '<f8' '(2, 2)' "$four" "$two" "$four" "$two" >nb.npy
expect 0 $on solve small -A N.npy -b nb.npy -x x.npy; check "the lower triangle" test "$(floats x.npy)" = "2 0 2 0"
said "N.npy: 1 of 2 matrices are not symmetric, the first is number 1"
expect 0 $on solve small -A N.npy -b nb.npy -x x.npy --triangle lower; silent err
expect 0 $on solve small -A N.npy -b nb.npy -x x.npy -q; silent err
npy '<i4' '(2, 2)' "$i4two" "$i4one" "$i4one" "$i4two" >I.npy
expect 0 $on solve small -A I.npy -b b.npy -x x.npy; said "I.npy: i4 converted to f8"
check "integers" test "$(floats x.npy)" = "2 0"
expect 0 $on solve small -A A.npy -b b.npy -x x.npy --method ldlt --rule residue; said "--rule has no effect on ldlt"
expect 0 $on solve small -A A.npy -b b.npy -x x.npy --seed 4 --math fast; said "--seed has no effect"; said "--math fast"
for e in z y; do
    expect 0 gen smallsym spd --n "$([ $e = z ] && echo 0 || echo 3)" --count "$([ $e = z ] && echo 3 || echo 0)" -o $e
    expect 0 $on solve small -A $e-A.npy -b $e-b.npy -x x.npy --status st.npy --json; json; leaf failed=0
    check "an empty batch has an empty answer" cmp -s x.npy $e-b.npy
done
npy '<f8' '(2, 0)' >norhs.npy
expect 0 $on solve small -A A.npy -b norhs.npy -x x.npy --status st.npy --json; json; leaf nrhs=0
check "no right-hand side, status 0" test "$(ints st.npy)" = 0
npy '<f8' '(1000000000000, 0, 0)' >many-A.npy; npy '<f8' '(1000000000000, 0)' >many-b.npy
expect 0 $on solve small -A many-A.npy -b many-b.npy -x x.npy

# --- options of the methods ---
# By hand, again: |A| = 3 and |A^-1| = 1 in the 1-norm, pivots 2 and 3/2.
expect 0 $on solve small -A A.npy -b b.npy -x x.npy --method ldlt --rcond c.npy
check "the pivot bound" test "$(singles c.npy)" = 0.75
expect 0 $on solve small -A A.npy -b b.npy -x x.npy --method ldlt --rcond c.npy --estimate --json; json; leaf estimate=true
check "the estimate" test "$(singles c.npy | cut -c 1-8)" = 0.333333
check "the same answer" test "$(floats x.npy)" = "2 0"
# Steps of refinement change the answer of a Hilbert-like system in f32, until it is as good as it gets.
expect 0 gen smallsym hilbert --n 4 --type f32 -o h
expect 0 $on solve small -A h-A.npy -b h-b.npy -x x0.npy --method ldlt --residual r0.npy
for steps in 8 9; do
    expect 0 $on solve small -A h-A.npy -b h-b.npy -x x$steps.npy --method ldlt --refine $steps --residual r.npy --json
    json; leaf refine=$steps
done
check "--refine has an effect" test "$(singles x0.npy)" != "$(singles x9.npy)"
check "more of it has none" cmp -s x8.npy x9.npy
# The error goes down; the residual, far below a unit of roundoff before and after, need not. The answer is that of
# elimination in double, of the singles as they are: od's digits are taken back to 24 bits first.
check "the error is smaller" awk -v A="$(singles h-A.npy)" -v b="$(singles h-b.npy)" -v x0="$(singles x0.npy)" -v x="$(singles x9.npy)" '
    function exact(v,   s, m) {
        if (v == 0) return 0
        s = v < 0 ? -1 : 1; v *= s
        for (m = 1; v < 8388608; m *= 2) v *= 2
        for (; v >= 16777216; m /= 2) v /= 2
        return s * int(v + 0.5) / m
    }
    BEGIN {
        n = split(b, r); split(A, a); split(x0, p); split(x, q)
        for (i = 0; i < n; i++) { M[i, n] = exact(r[i + 1]); for (j = 0; j < n; j++) M[i, j] = exact(a[(i > j ? i * n + j : j * n + i) + 1]) }
        for (k = 0; k < n; k++) for (i = k + 1; i < n; i++) { f = M[i, k] / M[k, k]; for (j = k; j <= n; j++) M[i, j] -= f * M[k, j] }
        for (i = n - 1; i >= 0; i--) { y[i] = M[i, n]; for (j = i + 1; j < n; j++) y[i] -= M[i, j] * y[j]; y[i] /= M[i, i] }
        for (i = 0; i < n; i++) { d = p[i + 1] - y[i]; before += d * d; d = q[i + 1] - y[i]; after += d * d }
        exit !(n == 4 && after < before / 100)
    }'
expect 0 gen smallsym spectrum --n 4 --count 2 --parameter 100 -o q
expect 0 $on solve small -A q-A.npy -b q-b.npy -x x.npy --method eigdc --rank k.npy
check "all eigenvalues" test "$(ints k.npy)" = "4 4"
expect 0 $on solve small -A q-A.npy -b q-b.npy -x x.npy --method eigdc --rank k.npy --status st.npy --cond 10 --json; json; leaf cond=10
check "--cond discards some" test "$(ints k.npy)" = "2 2"; check "which is said" test "$(ints st.npy)" = "2 2"
expect 0 $on solve small -A q-A.npy -b q-b.npy -x x.npy --method ldlt --status st.npy --tol 1e-30 --json; json; leaf tol=1e-30; leaf warned=2
check "above --tol: a warning" test "$(ints st.npy)" = "1 1"
if [ "${2:-cpu}" = cuda ]; then
    expect 0 $on solve small $s -x x.npy --method ldlt --variant hybrid --team 2 --json; json; leaf team=2; leaf variant=hybrid
    expect 64 $on solve small $s -x x.npy --method eigdc --refine 1; said "refine"
    expect 64 $on solve small $s -x x.npy --method hhpcr --estimate; said "estimate"
else
    expect 64 $on solve small $s -x x.npy --method ldlt --variant hybrid --team 2; said "hybrid"
fi

# --- regressions: systems formed out of samples ---
# By hand: psi = (2, 0), (0, 1) and y = 4, 2 have x = (2, 2).
npy '<f8' '(2, 2)' "$two" "$zero" "$zero" "$one" >psi.npy; npy '<f8' '(2,)' "$four" "$two" >y.npy
expect 0 $on solve small --psi psi.npy --y y.npy -x x.npy --json; json; silent err
leaf count=1; leaf n=2; leaf nrhs=1; leaf samples=2; leaf files.psi=psi.npy; leaf files.y=y.npy; leaf failed=0
check "by hand" test "$(floats x.npy)" = "2 2"; check "shape (n,)" grep -aq "(2,)" x.npy
# Two systems of one unknown, three samples: x = sum psi y / sum psi^2.
npy '<f8' '(2, 3, 1)' "$one" "$one" "$two" "$two" "$two" "$zero" >psi3.npy
npy '<f8' '(2, 3, 2)' "$one" "$zero" "$one" "$four" "$two" "$one" "$four" "$two" "$four" "$two" "$nan" "$one" >y3.npy
expect 1 $on solve small --psi psi3.npy --y y3.npy -x x.npy --status st.npy --rank k.npy; said "1 system without"
check "samples in the table" grep -q "samples       3 per system" out
check "each right-hand side by itself" test "$(floats x.npy)" = "1 1 nan 1"
check "status" test "$(ints st.npy)" = "0 -1"; check "shape (count,n,nrhs)" grep -aq "(2, 1, 2)" x.npy
npy '<f8' '(3, 2, 0)' >psi0.npy; npy '<f8' '(3, 2)' "$one" "$one" "$one" "$one" "$one" "$one" >y0.npy
expect 0 $on solve small --psi psi0.npy --y y0.npy -x x.npy --json; json; leaf n=0; check "no unknowns" grep -aq "(3, 0)" x.npy
badfit() { # badfit psi y: refused
    expect 66 $on solve small --psi "$1" --y "$2" -x none.npy; silent out
}
npy '<f8' '(0, 2)' >nothing.npy; npy '<f8' '(0,)' >no.npy; badfit nothing.npy no.npy; said "contains no samples"
badfit y.npy y.npy; said "(count, M, n)"
badfit psi.npy psi3.npy; said "(M, nrhs)"; badfit psi3.npy y.npy; said "(count, M)"
badfit psi.npy missing.npy; said "missing.npy"

# --- numerical failures: exit 1, everything written ---
npy '<f8' '(2, 2)' "$zero" "$zero" "$one" "$zero" >Z.npy; rm -f x.npy
expect 1 $on solve small -A Z.npy -b b.npy -x x.npy --method ldlt --status st.npy --json; json; said "1 system without an answer"
leaf failed=1; leaf max_residual=null; check "status" test "$(ints st.npy)" = -2; check "x is written" test -s x.npy
npy '<f8' '(2, 2)' "$one" "$one" "$one" "$one" >Z.npy
expect 0 $on solve small -A Z.npy -b b.npy -x x.npy; said "1 system answered with a warning; the first is number 0, counted from 0: truncated to a lower rank"
expect 0 gen smallsym nonfinite --n 4 --count 23 -o n
expect 1 $on solve small -A n-A.npy -b n-b.npy -x x.npy --status st.npy --json; json; leaf failed=2; said "non-finite"
check "status counts the failures" test "$(ints st.npy | tr ' ' '\n' | grep -c '^-1$')" = 2

# --- 66: inputs that do not fit ---
bad() { # bad A b: refused
    expect 66 $on solve small -A "$1" -b "$2" -x none.npy; silent out
}
bad missing.npy b.npy; said "missing.npy"
bad A.npy missing.npy; said "missing.npy"
printf 'hello' >text.npy; bad text.npy b.npy; said "text.npy"
bad b.npy b.npy; said "(2,)"; said "(n, n)"
npy '<f8' '(1, 2)' "$one" "$one" >wide.npy; bad wide.npy b.npy; said "not square"
npy '<f8' '(3,)' "$one" "$one" "$one" >b3.npy; bad A.npy b3.npy; said "b3.npy"; said "(3,)"; said "(2, 2)"
bad s-A.npy b.npy; said "(count, n)"
npy '<f8' '()' "$one" >scalar.npy; bad A.npy scalar.npy; bad scalar.npy b.npy
npy '<f4' '(2,)' "$f4two" "$f4two" >f4.npy; bad A.npy f4.npy; said "f4"; said "f8"
expect 66 $on solve small -A A.npy -b b.npy -x none.npy --packed; said "A.npy"; said "2 is not n (n + 1) / 2"
expect 66 $on solve small -A s-A.npy -b s-b.npy -x none.npy --packed; said "(count, n (n + 1) / 2)"
check "no output after bad input" test ! -e none.npy
expect 74 $on solve small -A A.npy -b b.npy -x nowhere/x.npy; said "nowhere/x.npy"; silent out
expect 74 $on solve small -A A.npy -b b.npy -x x.npy --rank nowhere/r.npy; said "nowhere/r.npy"

# --- a study of errors ---
expect 0 $on study smallsym --count 2 -o page/study.json --json; json; silent err
leaf study=page/study.json; leaf wrong=0
check "its rows" grep -q '"kind": "spd"' page/study.json
check "its conditions" grep -q '"conditions": {' page/study.json
expect 64 study; said "WHAT is missing: smallsym or symindef"; silent out
expect 64 study smallsim; said "unknown value 'smallsim'; there are smallsym, symindef. Did you mean 'smallsym'?"; silent out
expect 64 study smallsym symindef; said "unexpected argument 'symindef'"
expect 64 study smallsym --count 0; said "--count"
expect 74 $on study smallsym --count 1 -o A.npy/study.json; said "A.npy"; silent out

# --- slices change nothing ---
expect 0 gen smallsym wishart --n 24 --count 9000 --type f32 -o big
expect 0 $on solve small -A big-A.npy -b big-b.npy -x bx.npy; silent err
expect 0 gen smallsym wishart --n 24 --count 9 --type f32 -o few
expect 0 $on solve small -A few-A.npy -b few-b.npy -x fx.npy
contents fx.npy >fx; contents bx.npy | head -c 864 >bx
check "the first nine of nine thousand" cmp -s fx bx
check "no temporary files are left" test -z "$(find . -name '*tmp*')"

summary test_cli_small.sh
