#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# test_cli_eig.sh PROGRAM [BACKEND] - `shoal eig small` and `shoal eig tridiag`: pairs that are pairs, known
# spectra, shapes, exit codes, JSON, files that do not fit.
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
nan='\000\000\000\000\000\000\370\177' minus='\000\000\000\000\000\000\360\277'
f4one='\000\000\200\077' f4two='\000\000\000\100' i4two='\002\000\000\000' i4one='\001\000\000\000'

singles() { tail -c +129 "$1" | od -An -v -t f4 | tr -s ' \n' ' ' | sed 's/^ //; s/ $//'; }

# In units of roundoff: the largest |A v - w v| / |A| and |Vt V - I| of the matrices; the lower triangle of A is
# read. "-" unless the values ascend.
cat >pairs.awk <<'AWK'
function size(x) { return x < 0 ? -x : x }
function most(x) { if (!(size(x) <= worst)) worst = size(x) }
NR == 1 { split($0, A) }
NR == 2 { split($0, w) }
NR == 3 { split($0, V) }
END {
    for (k = 0; k < count; k++) {
        norm = 0
        for (i = 0; i < n; i++) {
            sum = 0
            for (j = 0; j < n; j++) {
                low = i > j ? j : i; a[i, j] = A[(k * n + i + j - low) * n + low + 1]; sum += size(a[i, j])
            }
            if (sum > norm) norm = sum
        }
        for (m = 0; m < n; m++) {
            if (m > 0 && !(w[k * n + m] + 0 <= w[k * n + m + 1] + 0)) { print "-"; exit }
            for (i = 0; i < n; i++) {
                r = -w[k * n + m + 1] * V[(k * n + i) * n + m + 1]
                for (j = 0; j < n; j++) r += a[i, j] * V[(k * n + j) * n + m + 1]
                most(r / norm)
            }
            for (o = 0; o <= m; o++) {
                r = o == m ? -1 : 0
                for (i = 0; i < n; i++) r += V[(k * n + i) * n + m + 1] * V[(k * n + i) * n + o + 1]
                most(r)
            }
        }
    }
    printf "%.3f\n", worst / unit
}
AWK
# pairs A w V COUNT N TYPE: they are eigenpairs, to 10 n units of roundoff
pairs() {
    if [ "$6" = f32 ]; then
        unit=1.1920929e-7
        for f in "$1" "$2" "$3"; do singles "$f" | tr -d '\n'; echo; done >three
    else
        unit=2.220446049250313e-16
        for f in "$1" "$2" "$3"; do floats "$f" | tr -d '\n'; echo; done >three
    fi
    found=$(awk -v count="$4" -v n="$5" -v unit=$unit -f pairs.awk three)
    check "eigenpairs of $1 within 10 n units: $found" awk -v f="$found" -v n="$5" \
        'BEGIN { exit !(f != "-" && f + 0 > 0 && f + 0 <= 10 * n) }'
}
# near FILE BOUND VALUE...: the doubles of the file, to within the bound
near() {
    file=$1 bound=$2
    shift 2
    check "$file holds $*: $(floats "$file")" awk -v have="$(floats "$file")" -v want="$*" -v bound="$bound" \
        'BEGIN { n = split(have, h); if (n != split(want, w)) exit 1
                 for (i = 1; i <= n; i++) { d = h[i] - w[i]; if (!(d <= bound && -d <= bound)) exit 1 } }'
}

# --- usage ---
expect 64 eig; said "Modules:"; silent out
for command in eig "eig small" "eig tridiag" "eig dense"; do
    expect 0 $command --help; silent err; check "$command has an example" grep -q "^  *shoal eig" out
done
expect 64 eig smal; said "Did you mean 'small'?"
expect 64 eig small; said "-A is missing"
expect 64 eig small -A a.npy; said "-w is missing"
expect 64 eig small -A a.npy -w w.npy extra; said "extra"
expect 64 eig small -A a.npy -w w.npy --method eigd; said "Did you mean 'eigdc'?"
expect 64 eig small -A a.npy -w w.npy --variant grag; said "Did you mean 'gragg'?"
expect 64 eig small -A a.npy -w w.npy --triangle left; said "there are lower, upper"
expect 64 eig small -A a.npy -w w.npy --cond many; said "--cond"
expect 64 eig small -A a.npy -w w.npy --tol nan; said "--tol"
expect 64 eig small -A a.npy -w w.npy -v w.npy; said "two outputs"
expect 64 eig small -A a.npy -w w.npy --rank r.npy --status r.npy; said "two outputs"
expect 64 eig small -A a.npy -w w.npy --layout system; said "--layout"
expect 64 eig tridiag; said "--d is missing"
expect 64 eig tridiag --d d.npy; said "--e is missing"
expect 64 eig tridiag --d d.npy --e e.npy; said "-w is missing"
expect 64 eig tridiag --d d.npy --e e.npy -w w.npy --layout rows; said "unknown value 'rows'; there are system, interleaved"
expect 64 eig tridiag --d d.npy --e e.npy -w w.npy --packed; said "--packed"
check "usage errors leave no files" test -z "$(ls -- *.npy 2>/dev/null)"

# --- small: by hand ---
# [2 1; 1 2] has the pairs 1, (1, -1) / sqrt 2 and 3, (1, 1) / sqrt 2; what is above the diagonal is not read.
npy '<f8' '(2, 2)' "$two" "$nan" "$one" "$two" >A.npy
expect 0 $on eig small -A A.npy -w w.npy -v V.npy; silent err; near w.npy 1e-15 1 3
check "shape (n)" grep -aq "(2,)" w.npy; check "shape (n,n)" grep -aq "(2, 2)" V.npy
check "table" grep -q "max residual  [0-9]" out; check "matrices" grep -q "1 with 2 rows, eigenvalues and eigenvectors, f64" out
pairs A.npy w.npy V.npy 1 2 f64
npy '<f8' '(3,)' "$two" "$one" "$two" >P.npy
expect 0 $on eig small -A P.npy -w y.npy --packed; check "packed, the same values" cmp -s w.npy y.npy
check "values alone are not judged" grep -q "max residual  not known" out; check "values" grep -q "rows, eigenvalues, f64" out
npy '<f8' '(2, 2)' "$two" "$one" "$nan" "$two" >U.npy
expect 0 $on eig small -A U.npy -w y.npy --triangle upper; check "the upper triangle" cmp -s w.npy y.npy
expect 1 $on eig small -A U.npy -w y.npy; said "U.npy: 1 of 1 matrices are not symmetric"
npy '<f8' '(2, 2)' "$two" "$two" "$one" "$two" >N.npy
expect 0 $on eig small -A N.npy -w y.npy; check "the lower triangle" cmp -s w.npy y.npy
said "N.npy: 1 of 1 matrices are not symmetric, the first is number 0, counted from 0; the lower triangle is read"
npy '<i4' '(2, 2)' "$i4two" "$i4one" "$i4one" "$i4two" >I.npy
expect 0 $on eig small -A I.npy -w y.npy; said "I.npy: i4 converted to f8"; check "integers" cmp -s w.npy y.npy
expect 0 $on eig small -A A.npy -w y.npy --tol 1e-3; said "--tol has no effect"
expect 0 $on eig small -A A.npy -w y.npy --seed 4 --math fast; said "--seed has no effect"; said "--math fast"
npy '<f4' '(2, 2)' "$f4two" "$f4one" "$f4one" "$f4two" >F.npy
expect 0 $on eig small -A F.npy -w y.npy -v Y.npy --json; json; leaf type=f32; leaf tol=2.1457672119140625e-06; leaf cond=100000
check "f4 in, f4 out" grep -aq "<f4" y.npy; pairs F.npy y.npy Y.npy 1 2 f32
npy '<f8' '(1, 1)' "$two" >one.npy
expect 0 $on eig small -A one.npy -w y.npy -v Y.npy; near y.npy 0 2; near Y.npy 0 1

# --- small: families ---
for type in f64 f32; do
    for kind in spd indefinite clustered deficient; do
        expect 0 gen smallsym $kind --n 7 --count 9 --type $type -o k
        expect 0 $on eig small -A k-A.npy -w w.npy -v V.npy; silent err; pairs k-A.npy w.npy V.npy 9 7 $type
    done
done
expect 0 gen smallsym spectrum --n 5 --count 2 --parameter 10000 -o g
expect 0 $on eig small -A g-A.npy -w w.npy -v V.npy --rcond c.npy --residual r.npy --status st.npy --json; json; silent err
near w.npy 1e-14 0.0001 0.001 0.01 0.1 1 0.0001 0.001 0.01 0.1 1
leaf "command=eig small"; leaf count=2; leaf n=5; leaf type=f64; leaf storage=full; leaf triangle=lower; leaf method=eigdc
leaf variant=middle; leaf vectors=true; leaf tol=9.992007221626409e-15; leaf cond=1000000000000; leaf solved=2; leaf failed=0
leaf warned=0; leaf files.A=g-A.npy; leaf files.values=w.npy; leaf files.vectors=V.npy; leaf files.rcond=c.npy
has version backend device seconds max_residual eig_seconds; check "status" test "$(ints st.npy)" = "0 0"
check "rcond" awk -v r="$(singles c.npy)" 'BEGIN { split(r, c); exit !(c[1] > 0.99e-4 && c[1] < 1.01e-4) }'
check "shape (count,n)" grep -aq "(2, 5)" w.npy; check "shape (count,n,n)" grep -aq "(2, 5, 5)" V.npy
expect 0 $on eig small -A g-A.npy -w y.npy -v Y.npy --threads 1
check "threads change nothing" cmp -s w.npy y.npy; check "threads change nothing" cmp -s V.npy Y.npy
expect 0 $on eig small -A g-A.npy -w y.npy --json; json; leaf vectors=false; leaf max_residual=null; near y.npy 1e-14 "$(floats w.npy)"
expect 0 $on eig small -A g-A.npy -w y.npy --residual r2.npy --json; json
check "a residual asked for is the same without vectors" cmp -s r.npy r2.npy
expect 0 $on eig small -A g-A.npy -w y.npy -v Y.npy --method auto --json; json; leaf method=auto; check "auto is eigdc" cmp -s V.npy Y.npy
expect 0 $on eig small -A g-A.npy -w y.npy -v Y.npy --variant gragg --json; json; leaf variant=gragg; pairs g-A.npy y.npy Y.npy 2 5 f64
expect 64 $on eig small -A g-A.npy -w none.npy --method ldlt; said "eigdc"; silent out
expect 0 $on eig small -A g-A.npy -w y.npy --rank k.npy --inertia i.npy --cond 500
check "rank" test "$(ints k.npy)" = "3 3"; check "inertia" test "$(ints i.npy)" = "3 0 2 3 0 2"; check "(count,3)" grep -aq "(2, 3)" i.npy
expect 0 $on eig small -A g-A.npy -w y.npy -v Y.npy --tol 1e-30 --status st.npy --json; json; leaf warned=2
check "above --tol: a warning" test "$(ints st.npy)" = "1 1"
expect 0 gen smallsym kkt --n 6 --count 4 -o k
expect 0 $on eig small -A k-A.npy -w w.npy --inertia i.npy; check "inertia" test "$(ints i.npy)" = "4 2 0 4 2 0 4 2 0 4 2 0"

# --- tridiag ---
# diagonal 2, subdiagonal -1: the values are 2 - 2 cos(k pi / (n + 1)); n = 3: 2 - sqrt 2, 2, 2 + sqrt 2.
npy '<f8' '(3,)' "$two" "$two" "$two" >d.npy; npy '<f8' '(2,)' "$minus" "$minus" >e.npy
t="--d d.npy --e e.npy"
expect 0 $on eig tridiag $t -w w.npy -v V.npy --json; json; silent err
leaf "command=eig tridiag"; leaf n=3; leaf count=1; leaf layout=system; leaf files.d=d.npy; leaf files.e=e.npy
near w.npy 2e-15 0.58578643762690495 2 3.4142135623730949; check "shape (n)" grep -aq "(3,)" w.npy; check "shape (n,n)" grep -aq "(3, 3)" V.npy
npy '<f8' '(3, 3)' $two $zero $zero $minus $two $zero $zero $minus $two >T.npy; pairs T.npy w.npy V.npy 1 3 f64
expect 0 $on eig tridiag $t -w y.npy; check "table" grep -q "1 with 3 rows, tridiagonal, eigenvalues, f64" out
near y.npy 2e-15 "$(floats w.npy)"
expect 0 $on eig tridiag $t -w y.npy -v Y.npy --variant gragg; pairs T.npy y.npy Y.npy 1 3 f64
# Two matrices, [2 1; 1 2] and [1 0; 0 2], in both layouts.
npy '<f8' '(2, 2)' $two $two $one $two >d2.npy; npy '<f8' '(2, 1)' $one $zero >e2.npy
expect 0 $on eig tridiag --d d2.npy --e e2.npy -w w.npy -v V.npy --status st.npy --rank k.npy; near w.npy 2e-15 1 3 1 2
check "status" test "$(ints st.npy)" = "0 0"; check "rank" test "$(ints k.npy)" = "2 2"; check "(count,n,n)" grep -aq "(2, 2, 2)" V.npy
npy '<f8' '(2, 2)' $two $one $two $two >d3.npy; npy '<f8' '(1, 2)' $one $zero >e3.npy
expect 0 $on eig tridiag --d d3.npy --e e3.npy -w y.npy -v Y.npy --layout interleaved --json; json; leaf layout=interleaved
near y.npy 2e-15 1 1 3 2
check "interleaved, the same vectors" test "$(floats Y.npy | awk '{ print $1, $3, $5, $7, $2, $4, $6, $8 }')" = \
    "$(floats V.npy)"
npy '<f4' '(2,)' "$f4two" "$f4two" >df.npy; npy '<f4' '(1,)' "$f4one" >ef.npy
expect 0 $on eig tridiag --d df.npy --e ef.npy -w y.npy -v Y.npy --json; json; leaf type=f32; pairs F.npy y.npy Y.npy 1 2 f32
npy '<f8' '(1,)' "$two" >d1.npy; npy '<f8' '(0,)' >e1.npy
expect 0 $on eig tridiag --d d1.npy --e e1.npy -w y.npy -v Y.npy; near y.npy 0 2; near Y.npy 0 1

# --- empty batches ---
expect 0 gen smallsym spd --n 0 --count 3 -o z; expect 0 gen smallsym spd --n 3 --count 0 -o y
for e in z y; do
    expect 0 $on eig small -A $e-A.npy -w w.npy -v V.npy --status st.npy --json; json; leaf failed=0; leaf max_residual=0
    check "no values" cmp -s w.npy $e-b.npy; check "no vectors" test "$(contents V.npy | wc -c)" -eq 0
done
npy '<f8' '(0, 0)' >nothing.npy; expect 0 $on eig small -A nothing.npy -w w.npy; check "(0,)" grep -aq "(0,)" w.npy
npy '<f8' '(1000000000000, 0, 0)' >many.npy; expect 0 $on eig small -A many.npy -w w.npy
npy '<f8' '(2, 0)' >d0.npy; expect 0 $on eig tridiag --d d0.npy --e d0.npy -w w.npy --status st.npy; check "n = 0" test "$(ints st.npy)" = "0 0"
npy '<f8' '(0, 2)' >dn.npy; npy '<f8' '(0, 1)' >en.npy; expect 0 $on eig tridiag --d dn.npy --e en.npy -w w.npy -v V.npy
check "count = 0" grep -aq "(0, 2, 2)" V.npy

# --- numerical failures: exit 1, everything written ---
expect 0 gen smallsym nonfinite --n 4 --count 23 -o n
expect 1 $on eig small -A n-A.npy -w w.npy -v V.npy --status st.npy --json; json; leaf count=23; leaf failed=2; leaf solved=21; said "2 matrices without an answer"
said "non-finite"; check "status counts the failures" test "$(ints st.npy | tr ' ' '\n' | grep -c '^-1$')" = 2
check "their values are NaN, the others are not" test "$(floats w.npy | tr ' ' '\n' | grep -c nan)" = 8
npy '<f8' '(2, 2)' $nan $nan $nan $nan >N.npy; rm -f w.npy
expect 1 $on eig small -A N.npy -w w.npy -v V.npy --json; json; said "1 matrix without"; leaf max_residual=null; check "w is written" test -s w.npy
npy '<f8' '(2,)' "$one" "$nan" >dx.npy; npy '<f8' '(1,)' "$one" >ex.npy
expect 1 $on eig tridiag --d dx.npy --e ex.npy -w w.npy; said "non-finite"; check "NaN" test "$(floats w.npy)" = "nan nan"

# --- 66: inputs that do not fit ---
bad() { # bad ARGUMENT...: refused
    expect 66 $on eig "$@" -w none.npy -v none-v.npy; silent out
}
bad small -A missing.npy; said "missing.npy"
printf 'hello' >text.npy; bad small -A text.npy; said "text.npy"
bad small -A d.npy; said "(3,)"; said "(n, n)"
npy '<f8' '(1, 2)' "$one" "$one" >wide.npy; bad small -A wide.npy; said "not square"
bad small -A A.npy --packed; said "2 is not n (n + 1) / 2"
bad tridiag --d missing.npy --e e.npy; said "missing.npy"
bad tridiag --d d.npy --e missing.npy; said "missing.npy"
bad tridiag --d d.npy --e d.npy; said "d.npy"; said "(3,)"; said "(n - 1,)"
bad tridiag --d d.npy --e e2.npy; said "(2, 1)"
bad tridiag --d d2.npy --e e3.npy; said "(1, 2)"; said "(count, n - 1)"
bad tridiag --d d3.npy --e e2.npy --layout interleaved; said "(n - 1, count)"
bad tridiag --d V.npy --e e.npy --layout interleaved; said "V.npy"; said "subdiagonal"
npy '<f8' '()' "$one" >scalar.npy; bad tridiag --d scalar.npy --e e.npy; said "a diagonal is (n,) or (count, n)"; bad small -A scalar.npy
bad tridiag --d d1.npy --e ex.npy; said "(1,)"
bad tridiag --d df.npy --e ex.npy; said "f4"; said "f8"
check "no output after bad input" test ! -e none.npy
expect 74 $on eig small -A A.npy -w nowhere/w.npy; said "nowhere/w.npy"; silent out
expect 74 $on eig small -A A.npy -w w.npy -v nowhere/V.npy; said "nowhere/V.npy"

# --- dense ---
expect 64 eig dense; said "A.{npy,mtx,h5} is missing"
expect 64 eig dense A.npy; said "-w is missing"
expect 64 eig dense A.npy -w w.npy --method jacoby; said "jjacobi"
expect 64 eig dense A.npy -w w.npy --packed --full; said "--packed"
expect 64 eig dense A.npy -w w.npy -v w.npy; said "two outputs"
npy '<f8' '(2, 2)' "$two" "$nan" "$one" "$two" >A.npy
expect 0 $on eig dense A.npy -w w.npy -v V.npy --method jjacobi --full --triangle lower; silent err; near w.npy 1e-15 1 3
check "its table" grep -q "eigenvalues    2 positive, 0 negative, 0 zero" out; pairs A.npy w.npy V.npy 1 2 f64
expect 0 $on eig dense P.npy -w y.npy --packed; check "packed, the same values" cmp -s w.npy y.npy
printf '%%%%MatrixMarket matrix array real symmetric\n2 2\n2e-308\n1e-308\n2e-308\n' >T.mtx
expect 0 $on eig dense T.mtx -w tw.npy --json; json
check "a tiny matrix" awk -v x="$(sed -n 's/.*"largest": \([^,]*\),.*/\1/p' out)" 'BEGIN { exit !(x > 2.999999e-308 && x < 3.000001e-308) }'
expect 0 $on gen symindef clement --n 40 -o C; expect 0 $on eig dense C.npy -w cw.npy -v cV.npy; pairs C.npy cw.npy cV.npy 1 40 f64
expect 0 $on eig dense C.npy -w cw.npy -v cV.npy --type f32 --pivot rook --json --force; json; leaf type=f32; leaf pivot=rook
leaf status=ok; leaf rank=40; leaf inertia.0=20; leaf inertia.1=20; leaf files.A=C.npy; leaf files.values=cw.npy
expect 0 gen symindef hilbert --n 40 -o H
expect 0 $on eig dense H.npy -w hw.npy --tol 1e-14 --json; json; check "dropped pivots are zeros" grep -q '"smallest": 0,' out
expect 0 gen symindef nonfinite --n 5 -o N
expect 1 $on eig dense N.npy -w nw.npy --json; json; said "N.npy has no eigenpairs: non-finite input"; leaf rank=null
check "NaN" test "$(floats nw.npy | cut -d ' ' -f 1 | tr -d +-)" = nan
expect 66 $on eig dense missing.npy -w nw.npy; said "missing.npy"
expect 0 gen symindef zeros --n 0 -o Z; expect 0 $on eig dense Z.npy -w zw.npy; check "no eigenvalues" grep -aq "(0,)" zw.npy

# --- slices change nothing ---
expect 0 gen smallsym wishart --n 24 --count 9000 --type f32 -o big
expect 0 $on eig small -A big-A.npy -w bw.npy -v bV.npy; silent err
expect 0 gen smallsym wishart --n 24 --count 9 --type f32 -o few
expect 0 $on eig small -A few-A.npy -w fw.npy -v fV.npy; pairs few-A.npy fw.npy fV.npy 9 24 f32
contents fw.npy >fw; contents bw.npy | head -c 864 >bw; check "the first nine of nine thousand" cmp -s fw bw
contents fV.npy >fV; contents bV.npy | head -c 20736 >bV; check "and their vectors" cmp -s fV bV
npy '<f4' '(9, 24, 24)' >last-A.npy; contents big-A.npy | tail -c 20736 >>last-A.npy
expect 0 $on eig small -A last-A.npy -w lw.npy -v lV.npy; contents lV.npy >lV; contents bV.npy | tail -c 20736 >bV
check "and the last nine" cmp -s lV bV
check "no temporary files are left" test -z "$(find . -name '*tmp*')"

summary test_cli_eig.sh
