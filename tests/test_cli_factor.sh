#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# test_cli_factor.sh PROGRAM [BACKEND [small|slow]] - `shoal factor`: the counters of Kruchinina's thesis, files of every
# format, matrices that are singular or not finite, pictures, exit codes, JSON. small: fewer rows, for an
# emulated GPU. slow: astro-ph of $SHOAL_DATA alone, which takes minutes.
#
# Lists of options are split into words and bytes are written through printf's format on purpose.
# shellcheck disable=SC2086,SC2059,SC1091,SC2154

# shellcheck source=tests/test_cli_base.sh
. "$(dirname "$0")/test_cli_base.sh"
on="--backend ${2:-cpu}" size=$3
"$shoal" info $on >/dev/null 2>&1 || { echo "skipped: no backend $2 here"; exit 77; }
gen="gen symindef"

number() { sed -n "s/^$1=//p" leaves; } # number KEY: its value
between() { # between KEY LEAST MOST
    checks=$((checks + 1))
    awk -v x="$(number "$1")" -v a="$2" -v b="$3" 'BEGIN { exit !(x != "" && x != "null" && x + 0 >= a + 0 && x + 0 <= b + 0) }' ||
        fail "$1 is '$(number "$1")', not between $2 and $3"
}
counters() { # counters RANK PLUS MINUS ZERO ONE TWO SWAPS
    leaf rank=$1; leaf inertia.0=$2; leaf inertia.1=$3; leaf inertia.2=$4; leaf pivots_1x1=$5; leaf pivots_2x2=$6
    check "swaps" test $(($(number swaps_1x1) + $(number swaps_2x2))) -eq $7
}

# --- astro-ph: exact counters of rank and inertia; ties in the weights move the others by 2 % at most ---
# --- and those of the other matrices that the thesis took from collections, where they are given ---
thesis() { # thesis FILE N 1X1 2X2 SWAPS SWAPS: all of full rank
    if [ ! -f "$SHOAL_DATA/$1" ]; then
        echo "note: SHOAL_DATA has no $1"
        return
    fi
    expect 0 factor "$SHOAL_DATA/$1" --pivot complete --no-check --json $on; json; leaf n=$2; leaf rank=$2
    for pair in pivots_1x1=$3 pivots_2x2=$4 swaps_1x1=$5 swaps_2x2=$6; do
        between "${pair%=*}" $((${pair#*=} * 98 / 100)) $((${pair#*=} * 102 / 100 + 1))
    done
}
if [ "$size" = slow ]; then
    if [ -z "$SHOAL_DATA" ] || [ ! -f "$SHOAL_DATA/astro-ph.txt" ]; then
        echo "skipped: SHOAL_DATA has no astro-ph.txt"
        exit 77
    fi
    expect 0 $gen triplets "$SHOAL_DATA/astro-ph.txt" -o a.mtx
    expect 0 factor a.mtx --pivot complete --no-check --json $on; json
    leaf n=16706; leaf rank=15668; leaf inertia.0=5846; leaf inertia.1=9822; leaf inertia.2=1038
    between pivots_1x1 6866 7146; between pivots_2x2 4245 4417
    between swaps_1x1 6863 7143; between swaps_2x2 8487 8833
    cat leaves
    thesis Alemdar.mtx 6245 3635 1305 3632 2581
    thesis human_gene1.mtx 22283 22003 140 21970 278
    summary test_cli_factor.sh
    exit
fi

# --- usage ---
expect 0 factor --help; silent err; check "an example" grep -q "Example" out
for option in pivot alpha tol refine inverse output no-check packed full triangle type growth snapshots stages; do
    check "--help names --$option" grep -q -e "--$option" out
done
expect 64 factor; said "is missing: the matrix"
expect 64 factor a.npy b.npy; said "unexpected argument 'b.npy'"
expect 64 factor a.npy --pivot complet; said "Did you mean 'complete'?"
expect 64 factor a.npy --variant x; said "unknown option '--variant'"
expect 64 factor a.npy --alpha 1; said "--alpha: 1 is not below 1"
expect 64 factor a.npy --alpha 0; said "--alpha"
expect 64 factor a.npy --tol -1; said "--tol"
expect 64 factor a.npy -b b.npy; said "-b needs -x"
expect 64 factor a.npy -x x.npy; said "-x needs -b"
expect 64 factor a.npy --packed --full; said "exclude each other"
expect 64 factor a.npy --pivot rok; said "unknown pivot 'rok'"
expect 64 factor a.npy --stages 1,2; said "--stages needs --snapshots"
expect 64 factor a.npy --snapshots d --stages 1,,2; said "--stages"
expect 64 factor a.npy --snapshots d --stages 0; said "--stages: 0"
expect 64 factor a.npy -o F.txt; said "-o: 'F.txt' does not end in .npy or .h5"
expect 64 factor a.npy -b b.npy -x F.npy -o F.npy; said "two outputs"
expect 64 factor a.npy --type f16; said "--type"
expect 66 factor none.npy; said "none.npy: cannot open"

# --- by hand: [2 1; 1 4], where 4 is the first pivot; b = (4, 2) has x = (2, 0) ---
# npy DESCR SHAPE BYTES...: a version 1.0 file on stdout; BYTES are printf escapes.
npy() {
    header="{'descr': '$1', 'fortran_order': ${order:-False}, 'shape': $2, }"
    shift 2
    printf '\223NUMPY\001\000\166\000%-117s\n' "$header"
    for bytes in "$@"; do printf "$bytes"; done
}
one='\000\000\000\000\000\000\360\077' two='\000\000\000\000\000\000\000\100'
four='\000\000\000\000\000\000\020\100' nan='\000\000\000\000\000\000\370\177'
npy '<f8' '(2, 2)' "$two" "$nan" "$one" "$four" >lower.npy
npy '<f8' '(2, 2)' "$two" "$one" "$nan" "$four" >upper.npy
order=True npy '<f8' '(2, 2)' "$two" "$one" "$nan" "$four" >fortran.npy
npy '<f8' '(3,)' "$two" "$one" "$four" >packed.npy
npy '>f8' '(3,)' '\100\000\000\000\000\000\000\000' '\077\360\000\000\000\000\000\000' '\100\020\000\000\000\000\000\000' >big.npy
npy '<i4' '(3,)' '\002\000\000\000' '\001\000\000\000' '\004\000\000\000' >whole.npy
npy '<f8' '(2,)' "$four" "$two" >b.npy
printf '%%%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 2\n2 1 1\n2 2 4\n' >s.mtx
printf '%%%%MatrixMarket matrix array integer general\n2 2\n2\n1\n1\n4\n' >g.mtx
near() { # near TEXT A B: the two numbers of x.npy
    check "$1" test "$(floats x.npy | awk -v a="$2" -v b="$3" '{ print ($1 - a) ^ 2 + ($2 - b) ^ 2 < 1e-28 }')" = 1
}
for file in lower.npy fortran.npy packed.npy big.npy whole.npy s.mtx g.mtx "upper.npy --triangle upper"; do
    for storage in "" --packed --full; do
        expect 0 factor $file $storage $on --pivot complete -b b.npy -x x.npy -o F.npy --json; json; silent err
        counters 2 2 0 0 2 0 1; leaf swaps_1x1=1; leaf largest=4; leaf sign_det=1; leaf status=ok
        near "x of $file $storage" 2 0
        case $storage in --full) want="4 0 0.25 1.75" ;; *) want="4 0.25 1.75" ;; esac
        case $file$storage in upper*--full) want="4 0.25 0 1.75" ;; esac
        check "factors of $file $storage" test "$(floats F.npy)" = "$want"
        check "interchanges" test "$(ints F-interchanges.npy)" = "2 2"
        check "permutation" test "$(ints F-permutation.npy)" = "1 0"
        leaf files.factors=F.npy; leaf files.interchanges=F-interchanges.npy; leaf files.permutation=F-permutation.npy
    done
done
leaf command=factor; leaf n=2; leaf type=f64; leaf storage=full; leaf triangle=upper; leaf method=complete
leaf variant=null; leaf alpha=0.6403882032022076; leaf growth=1; leaf max_multiplier=0.25
leaf tol=8.881784197001252e-16; leaf relative_error=0; leaf swaps_2x2=0; leaf files.x=x.npy
has version backend device seconds factor_seconds log_abs_det
between log_abs_det 1.945910 1.945911; between rcond 0.2799999 0.2800001
expect 0 factor packed.npy $on; check "the table" grep -q "^pivots  *2 1x1, 0 2x2" out; silent err
expect 0 factor packed.npy $on -b b.npy -x x.npy --refine --inverse I.npy --json; json; silent err
near "x, refined" 2 0; leaf files.inverse=I.npy; leaf doubtful_pivots=0
between backward_error -1e-300 1e-15; between forward_bound 0 1e-14
check "inverse" test "$(floats I.npy | awk '{ print ($1 - 4/7)^2 + ($2 + 1/7)^2 + ($3 + 1/7)^2 + ($4 - 2/7)^2 < 1e-30 }')" = 1
expect 64 factor packed.npy --refine; said "--refine needs -b"
expect 64 factor packed.npy -b b.npy -x x.npy --refine --modify auto; said "exclude each other"
expect 64 factor packed.npy --inverse I.h5; said "--inverse: 'I.h5' does not end in .npy"
expect 64 factor packed.npy --growth g.png; said "--growth: 'g.png' does not end in .svg"
npy '<f8' '(2,)' "$four" "$nan" >bad.npy
expect 1 factor packed.npy $on -b bad.npy -x x.npy; said "x.npy: not finite"
npy '<f8' '(3,)' "$one" "$one" "$one" >ones.npy
expect 1 factor ones.npy $on --inverse I.npy; said "its rank is 1 of 2, and the inverse is NaN"
expect 0 gen symindef inertia:3:2:95:10 --n 100 -o lowrank
expect 0 factor lowrank.npy $on --pivot complete --json; json; said "of the pivots may be rounding errors: they are below n epsilon max |A|"
between doubtful_pivots 1 95
expect 0 factor lowrank.npy $on --pivot complete --tol 1e-12 --json; json; silent err; leaf rank=5; leaf doubtful_pivots=0
expect 0 factor packed.npy $on --no-check --json; json; leaf relative_error=null
expect 0 factor packed.npy $on --alpha 0.5 --tol 2 --json; json; leaf alpha=0.5; leaf tol=2; counters 1 1 0 1 1 0 1
expect 0 factor packed.npy $on --seed 3; said "--seed has no effect"
expect 0 factor packed.npy $on --type f32 --json; json; leaf type=f32; leaf tol=4.76837158203125e-07
expect 0 factor packed.npy $on --type f32 -b b.npy -x x4.npy; said "b.npy: f8 converted to f4"
check "x in f4" test "$(tail -c +129 x4.npy | od -An -v -t f4 | tr -s ' \n' ' ')" = " 2 0 "
npy '<f4' '(3,)' '\000\000\000\100' '\000\000\200\077' '\000\000\200\100' >single.npy
expect 0 factor single.npy $on --json; json; leaf type=f32
expect 66 factor single.npy $on -b b.npy -x y.npy; said "single.npy contains f4, but b.npy contains f8"
expect 0 factor single.npy $on --type f64 -b b.npy -x x.npy; near "f4 taken as f64" 2 0
npy '<f8' '(2, 2)' "$four" "$two" "$two" "$four" >b2.npy
expect 0 factor packed.npy $on -b b2.npy -x x.npy; check "two right-hand sides" grep -aq "(2, 2)" x.npy
"$shoal" factor /dev/stdin $on --json <packed.npy >out 2>err
check "a file on stdin" grep -q '"rank": 2' out
tail -c +1 lower.npy | "$shoal" factor /dev/stdin $on --json >out 2>err; check "a pipe" grep -q '"rank": 2' out

# --- files that do not fit ---
npy '<f8' '(2,)' "$one" "$one" >two.npy
expect 66 factor two.npy $on; said "two.npy has shape (2,); expected (n, n), or (n(n+1)/2,)"
npy '<f8' '(1, 2)' "$one" "$one" >row.npy; expect 66 factor row.npy $on; said "row.npy has shape (1, 2)"
npy '<f8' '(3,)' "$one" "$one" >short.npy; expect 66 factor short.npy $on; said "declares"
echo text >text.npy; expect 66 factor text.npy $on; said "not a NumPy .npy file"
echo 1,2 >text.csv; expect 66 factor text.csv $on; said "not a NumPy .npy file; expected a .npy, .mtx or .h5 file"
npy '<f8' '(3,)' "$one" "$one" "$one" >b3.npy
expect 66 factor packed.npy $on -b b3.npy -x y.npy; said "b3.npy has shape (3,); for n = 2 expected (n,) or (n, nrhs)"
# By hand: (2 1; 4 2) is not symmetric; its lower triangle is (2 4; 4 2), and so on. NaN is no entry, and rounding is none.
npy '<f8' '(2, 2)' "$two" "$one" "$four" "$two" >skew.npy
expect 0 factor skew.npy $on --json; json; leaf inertia.1=1
said "skew.npy: not symmetric; the lower triangle is read"
expect 0 factor skew.npy $on --full; said "skew.npy: not symmetric"
for t in lower upper; do expect 0 factor skew.npy $on --triangle $t; silent err; done
expect 0 factor skew.npy $on -q; silent err
tail -c +1 skew.npy | "$shoal" factor /dev/stdin $on >out 2>err; silent err # a pipe cannot be read twice
npy '<f8' '(2, 2)' "$two" "$nan" "$one" "$two" >half.npy; expect 0 factor half.npy $on; silent err
expect 0 gen symindef random --n 40 -o sym.npy; expect 0 factor sym.npy $on; silent err
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 1\n2 1 1\n' >not.mtx
expect 66 factor not.mtx $on; said "not symmetric: entry (2, 1) is 1, (1, 2) is 0"
printf '%%%%MatrixMarket matrix coordinate real symmetric\n10000000 10000000 1\n1 1 1\n' >huge.mtx
expect 66 factor huge.mtx $on; said "n = 10000000 needs 400000040000000 bytes"
expect 66 factor huge.mtx $on --full; said "needs 800000000000000 bytes in full storage"
expect 74 factor packed.npy $on -o nowhere/F.npy; said "nowhere/F.npy: cannot write"
check "nothing after an error" test ! -e y.npy

# --- n = 0 and 1 ---
npy '<f8' '(0, 0)' >none.npy; npy '<f8' '(0,)' >b0.npy; npy '<f8' '(1, 1)' "$four" >one.npy; npy '<f8' '(1,)' "$two" >b1.npy
expect 0 factor none.npy $on -b b0.npy -x x.npy -o F.npy --growth g.svg --snapshots none --json; json; silent err
counters 0 0 0 0 0 0 0; leaf n=0; leaf relative_error=0; leaf sign_det=1; leaf log_abs_det=0
check "empty factors" grep -aq "(0,)" F.npy; check "an empty picture" grep -q "</svg>" g.svg
check "no pictures" test -z "$(ls none)"
expect 0 factor one.npy $on -b b1.npy -x x.npy --snapshots one --json; json; silent err
counters 1 1 0 0 1 0 0; leaf stages.0=1; check "x" test "$(floats x.npy)" = 0.5; check "one stage" test "$(ls one)" = stage-00001.png

# --- singular, not finite, too large ---
npy '<f8' '(3,)' "$one" "$one" "$one" >ones.npy
expect 0 factor ones.npy $on --json; json; silent err; leaf rank=1; leaf inertia.2=1; leaf sign_det=0; leaf log_abs_det=null
expect 1 factor ones.npy $on -b b.npy -x x.npy -o F.npy --json; json
said "ones.npy is singular: its rank is 1 of 2, and x is NaN"; leaf rank=1; leaf files.x=x.npy; leaf files.factors=F.npy
check "x is NaN" test "$(floats x.npy | tr -d -)" = "nan nan"
npy '<f8' '(3,)' "$one" "$nan" "$one" >bad.npy; rm -f F.npy
expect 1 factor bad.npy $on -b b.npy -x x.npy -o F.npy --growth bad.svg --snapshots bad --json; json
said "bad.npy cannot be factored"; leaf rank=null; leaf inertia=null; leaf relative_error=null; leaf growth=null
check "x is NaN" test "$(floats x.npy | tr -d -)" = "nan nan"
check "neither factors nor pictures" test ! -e F.npy -a ! -e bad.svg -a ! -e bad
expect 1 factor bad.npy $on; check "the table says why" grep -q "^status  *non-finite" out
printf '%%%%MatrixMarket matrix array real symmetric\n2 2\n1e308\n-1e308\n-1e308\n' >over.mtx
expect 1 factor over.mtx $on --json; json; said "over.mtx cannot be factored: "; leaf rank=null

# --- every way to choose pivots ---
ways=$("$shoal" info $on | awk '/^$/ { inside = 0 } /^[a-z]/ { inside = $1 == "symindef"; name = $1 } inside { print $1 == name ? $2 : $1 }')
check "complete among: $ways" test "$(echo "$ways" | grep -c '^complete$')" = 1
rows=120; [ "$size" = small ] && rows=40
expect 0 $gen random --n $rows -o r
expect 0 $gen random --n $rows -o r.mtx
for way in auto $ways; do
    for storage in --packed --full; do
        expect 0 factor r.npy $on --pivot $way $storage --json; json; silent err
        [ $way = auto ] || leaf method=$way
        leaf rank=$rows; between relative_error 1e-18 1e-13; between max_multiplier 0.1 1e9
        [ $way = auto ] || [ $way = complete ] || leaf growth=null
        expect 0 factor r.mtx $on --pivot $way $storage --triangle upper --growth g.svg --json; json
        between relative_error 1e-18 1e-13; between growth 1 1e6; leaf files.growth=g.svg
    done
done

# --- the thesis, section 3.3 ---
if [ "$size" = small ]; then
    expect 0 $gen hadamard --n 64 -o h; expect 0 $gen clement --n 64 -o c
    expect 0 factor h.npy $on --pivot complete --json; json; counters 64 32 32 0 64 0 0; leaf relative_error=0; leaf growth=64
    expect 0 factor c.npy $on --pivot complete --json; json; counters 64 32 32 0 0 32 54; between relative_error 0 2e-15
else
    expect 0 $gen hadamard --n 1024 -o h; expect 0 $gen clement --n 1024 -o c; expect 0 $gen hilbert --n 2000 -o i
    expect 0 factor h.npy $on --pivot complete --json; json; counters 1024 512 512 0 1024 0 0
    leaf relative_error=0; leaf growth=1024
    expect 0 factor c.npy $on --pivot complete --json; json; counters 1024 512 512 0 0 512 930
    between relative_error 0 1e-15
    first=$(number relative_error)
    expect 0 factor c.npy $on --pivot complete --full --triangle upper --threads 1 --json; json
    leaf relative_error=$first
    expect 0 factor i.npy $on --pivot complete --json; json; leaf rank=30; leaf pivots_1x1=30; leaf inertia.2=1970
fi

# --- HDF5 ---
"$shoal" info >out 2>err </dev/null
if grep -q "^hdf5 *on" out; then
    expect 0 $gen random --n $rows -o r.h5
    expect 0 factor r.npy $on --json; json; first=$(number log_abs_det)
    expect 0 factor r.h5 $on --json; json; leaf log_abs_det=$first
    expect 0 factor r.h5:/A $on --triangle upper --full --growth g.svg -o F.h5 --json; json; leaf files.factors=F.h5
    expect 0 factor F.h5:/factors $on --json; json; leaf n=$rows
    for name in interchanges permutation d e growth; do
        expect 66 factor F.h5:/$name $on; said "has 1 dimensions, not 2"
    done
    expect 0 factor r.h5 $on -o F.h5; expect 66 factor F.h5:/growth $on; said "no such dataset"
    expect 66 factor F.h5:/none $on; said "no such dataset"
    echo text >text.h5; expect 66 factor text.h5 $on; said "not a readable HDF5 file"
    expect 74 factor r.h5 $on -o nowhere/F.h5; said "nowhere/F.h5: cannot write"
else
    expect 66 factor r.h5 $on; said "built without HDF5"
    skip "HDF5 is off"
fi

# --- pictures ---
png() { od -An -v -t u1 -N 26 "$1" | tr -s ' \n' ' ' | sed 's/^ //; s/ $//'; } # signature, IHDR, sides, bits, colours
head="137 80 78 71 13 10 26 10 0 0 0 13 73 72 68 82"
expect 0 $gen hadamard --n 64 -o h
expect 0 factor h.npy $on --pivot complete --snapshots pictures --json; json
leaf files.snapshots=pictures; leaf stages.0=1; leaf stages.5=64
check "six pictures" test "$(echo pictures/*)" = "$(printf 'pictures/stage-000%s.png ' 01 14 26 39 51 64 | sed 's/ $//')"
for file in pictures/*; do
    check "$file is 64 x 64, 8 bits, RGB" test "$(png $file)" = "$head 0 0 0 64 0 0 0 64 8 2"
    check "$file ends" test "$(tail -c 12 $file | od -An -v -t u1 | tr -s ' \n' ' ')" = " 0 0 0 0 73 69 78 68 174 66 96 130 "
done
check "stages differ" test "$(cat pictures/* | wc -c)" -gt 1200
rm -f F.npy
expect 74 factor h.npy $on --snapshots nowhere/d -o F.npy; said "nowhere/d: cannot make or use this directory: No such file"
expect 74 factor h.npy $on --snapshots h.npy -o F.npy; said "h.npy: cannot make or use this directory: File exists"
check "not factored" test ! -e F.npy
expect 0 factor h.npy $on --pivot complete --snapshots again --stages 64,1 --full --triangle upper -q --json; json
leaf stages.0=64; leaf stages.1=1; check "two" test "$(echo again/*)" = "again/stage-00001.png again/stage-00064.png"
check "the last stage is the same from the other triangle" cmp -s pictures/stage-00064.png again/stage-00064.png
expect 64 factor h.npy $on --snapshots d --stages 65; said "--stages: 65 is not between 1 and n = 64"
expect 74 factor h.npy $on --growth nowhere/g.svg; said "nowhere/g.svg: cannot write"
expect 0 factor h.npy $on --pivot complete --growth g.svg --json; json; silent err; leaf files.growth=g.svg
check "an SVG" test "$(head -c 4 g.svg)$(tail -n 1 g.svg)" = "<svg</svg>"
check "title and counters" grep -q "h.npy: element growth, complete pivoting" g.svg
check "counters" grep -q "64 1x1 and 0 2x2 pivots, with 0 and 0 swaps" g.svg
check "a point a stage" test "$(grep -c '<circle' g.svg)" -ge 64
if [ "$size" != small ]; then
    expect 0 $gen clement --n 2049 -o w
    expect 0 factor w.npy $on --no-check --snapshots wide --stages 1 -q
    check "boxes of 3 x 3" test "$(png wide/stage-00001.png)" = "$head 0 0 2 171 0 0 2 171 8 2"
fi

summary test_cli_factor.sh
