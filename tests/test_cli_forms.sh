#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# test_cli_forms.sh PROGRAM [BACKEND] - what `shoal factor` makes of the factors: --gjgt and --modify.
# Matrices that can be done by hand, and every strategy on a few of 20 rows.
#
# Lists of options are split into words and bytes are written through printf's format on purpose.
# shellcheck disable=SC1091,SC2059,SC2086,SC2154

# shellcheck source=tests/test_cli_base.sh
. "$(dirname "$0")/test_cli_base.sh"
on="--backend ${2:-cpu}"
"$shoal" info $on >/dev/null 2>&1 || { echo "skipped: no backend $2 here"; exit 77; }

between() { # between KEY LEAST MOST
    checks=$((checks + 1))
    sed -n "s/^$1=//p" leaves |
        awk -v a="$2" -v b="$3" '{ good = $1 != "null" && $1 + 0 >= a + 0 && $1 + 0 <= b + 0 } END { exit !good }' ||
        fail "$1 is '$(sed -n "s/^$1=//p" leaves)', not between $2 and $3"
}
close_to() { # close_to TEXT FILE NUMBER...: f8 numbers of a .npy file
    text=$1 file=$2
    shift 2
    check "$text: $(floats "$file")" test "$(echo "$(floats "$file") $*" | awk '{
        bad = NF % 2; for (i = 1; i <= NF / 2; i++) bad += ($i - $(i + NF / 2)) ^ 2 > 1e-28
        print bad + 0 }')" = 0
}
symmetric() { # symmetric N NUMBER...: rows of a lower triangle as Matrix Market
    n=$1
    shift
    printf '%%%%MatrixMarket matrix coordinate real symmetric\n%d %d %d\n' "$n" "$n" $#
    i=1 j=1
    for number in "$@"; do
        echo "$i $j $number"
        if [ $j -eq $i ]; then i=$((i + 1)) j=1; else j=$((j + 1)); fi
    done
}

# --- usage ---
expect 0 factor --help
for option in gjgt partitioned modify; do check "--help names --$option" grep -q -e "--$option" out; done
expect 64 factor a.npy --gjgt G.txt; said "--gjgt: 'G.txt' does not end in .npy or .h5"
expect 64 factor a.npy --partitioned; said "--partitioned needs --gjgt"
expect 64 factor a.npy -o G.npy --gjgt G.npy; said "two outputs are called 'G.npy'"
expect 64 factor a.npy --modify 0; said "--modify"
expect 64 factor a.npy --modify -1; said "--modify"
expect 64 factor a.npy --modify much; said "--modify"
expect 64 factor a.npy --modify; said "--modify"

# --- G J Gt by hand: diag(1, -4, 9), pivots 9, -4, 1; [2 1; 1 4], where 4 is the first pivot ---
symmetric 3 1 0 -4 0 0 9 >d.mtx
symmetric 2 2 1 4 >p.mtx
for storage in --packed --full "--triangle upper" "--full --triangle upper"; do
    expect 0 factor d.mtx $on $storage --gjgt G.npy --json; json; silent err
    close_to "G" G.npy 3 0 0 0 2 0 0 0 1
    check "signs" test "$(ints G-signs.npy)" = "1 -1 1"
    check "permutation" test "$(ints G-permutation.npy)" = "2 1 0"
    leaf gjgt.columns=3; leaf gjgt.positive=2; leaf gjgt.partitioned=false; leaf gjgt.relative_error=0
    leaf files.gjgt=G.npy; leaf files.signs=G-signs.npy; leaf files.gjgt_permutation=G-permutation.npy
    expect 0 factor d.mtx $on $storage --gjgt G.npy --partitioned --json; json; silent err
    close_to "G, +1 first" G.npy 3 0 0 0 0 2 0 1 0
    check "signs, +1 first" test "$(ints G-signs.npy)" = "1 1 -1"
    leaf gjgt.partitioned=true; leaf gjgt.relative_error=0
    expect 0 factor p.mtx $on $storage --gjgt G.npy --json; json
    close_to "G of rank 2" G.npy 2 0 0.5 1.3228756555322954
    between gjgt.relative_error 0 2e-16
done
check "G has its shape" grep -aq "(2, 2)" G.npy
expect 0 factor d.mtx $on --gjgt G.npy --partitioned
check "the table" grep -q "^G J Gt  *3 columns, 2 of +1, these first" out
check "the table has the error" grep -q "^G J Gt error  *0$" out
expect 0 factor d.mtx $on --gjgt G.npy --no-check --json; json; leaf gjgt.relative_error=null
expect 0 factor d.mtx $on --json; json; check "not asked for" sh -c '! grep -q -e gjgt -e modify leaves'

# --- a rank below n: columns of zero pivots are left out; rank 0 and n = 0 are no failures ---
symmetric 2 1 1 1 >ones.mtx
expect 0 factor ones.mtx $on --gjgt G.npy --json; json; leaf rank=1; leaf gjgt.columns=1; leaf gjgt.relative_error=0
close_to "G of ones" G.npy 1 1; check "one column" grep -aq "(2, 1)" G.npy
symmetric 2 0 0 0 >zero.mtx
expect 0 factor zero.mtx $on --gjgt G.npy --partitioned --json; json; leaf gjgt.columns=0; leaf gjgt.relative_error=0
check "no column" grep -aq "(2, 0)" G.npy
printf '%%%%MatrixMarket matrix coordinate real symmetric\n0 0 0\n' >none.mtx
expect 0 factor none.mtx $on --gjgt G.npy --modify auto --json; json; leaf gjgt.columns=0; leaf modify.lifted=0

# --- modified Cholesky by hand: [1 2; 2 1] has the eigenvalues 3 and -1, and is a pivot; -1 becomes 1/2 ---
symmetric 2 1 2 1 >two.mtx
npy() { # npy NUMBER...: f8, each as 8 escaped bytes
    printf '\223NUMPY\001\000\166\000%-117s\n' "{'descr': '<f8', 'fortran_order': False, 'shape': ($#,), }"
    for bytes in "$@"; do printf "$bytes"; done
}
npy '\000\000\000\000\000\000\020\100' '\000\000\000\000\000\000\000\100' >b.npy # 4, 2
expect 0 factor two.mtx $on --pivot complete --modify 0.5 -b b.npy -x x.npy -o F.npy --gjgt G.npy --json; json; silent err
leaf modify.delta=0.5; leaf modify.lifted=1; between modify.largest 1.4999999999999 1.5000000000001
between modify.relative_change 0.4999999999999 0.5000000000001
leaf pivots_2x2=1; leaf inertia.1=1; leaf relative_error=0 # of A
close_to "x of A + E" x.npy 3 -1
close_to "A + E is the block" F.npy 1.75 1.25 1.75
leaf gjgt.columns=2; leaf gjgt.positive=2; between gjgt.relative_error 0.4999999999999 0.5000000000001 # E is in it
expect 0 factor two.mtx $on --modify 0.5
check "the table" grep -q "^modified  *raised 1 eigenvalue of D to 0.5, by up to 1.5" out
check "the table has |E|" grep -q "^|E| / |A|  *0.5$" out
expect 0 factor two.mtx $on --modify 0.5 --no-check --json; json; leaf modify.relative_change=null; leaf relative_error=null
expect 0 factor p.mtx $on --modify 0.5 --json; json; leaf modify.lifted=0; leaf modify.largest=0; between modify.relative_change 0 1e-16
expect 0 factor p.mtx $on --modify auto --json; json; between modify.delta 7e-8 8e-8 # sqrt(2^-52) 5
expect 0 factor p.mtx $on --modify auto --type f32 --json; json; between modify.delta 1.7e-3 1.8e-3

# --- what is singular is not once it is modified ---
expect 1 factor ones.mtx $on -b b.npy -x x.npy --json; json
expect 0 factor ones.mtx $on --modify 1 -b b.npy -x x.npy --json; json; silent err
leaf rank=1; leaf modify.lifted=1; leaf modify.largest=1
close_to "x of [1 1; 1 2]" x.npy 6 -2
expect 0 factor zero.mtx $on --modify auto --json; json; leaf modify.lifted=2; leaf rank=0

# --- what cannot be factored has none of it ---
symmetric 2 1 nan 1 >bad.mtx; rm -f G.npy
expect 1 factor bad.mtx $on --gjgt G.npy --modify auto --json; json; leaf gjgt=null; leaf modify=null
check "no G" test ! -e G.npy
expect 1 factor bad.mtx $on --gjgt G.npy --modify auto; check "no line of it" sh -c '! grep -q "^G J Gt" out'
expect 74 factor d.mtx $on --gjgt nowhere/G.npy; said "nowhere/G.npy: cannot write"

# --- every strategy, both types; snapshots are of A ---
expect 0 gen symindef random --n 20 -o r
expect 0 gen symindef clement --n 20 -o c
ways=$("$shoal" info $on | awk '/^$/ { inside = 0 } /^[a-z]/ { inside = $1 == "symindef"; name = $1 } inside { print $1 == name ? $2 : $1 }')
for way in $ways; do
    for file in r c; do
        expect 0 factor $file.npy $on --pivot $way --gjgt G.npy --partitioned --json; json
        leaf gjgt.columns=20; between gjgt.relative_error 1e-18 1e-14
        check "signs in order" test "$(ints G-signs.npy | tr ' ' '\n' | uniq | tr '\n' ' ')" = "1 -1 "
        expect 0 factor $file.npy $on --pivot $way --gjgt G.npy --type f32 --full --json; json
        between gjgt.relative_error 1e-9 1e-5
        expect 0 factor $file.npy $on --pivot $way --modify auto --gjgt G.npy --json; json
        leaf gjgt.positive=20; between relative_error 0 1e-14; between modify.relative_change 0.1 1e3
    done
done
expect 0 factor r.npy $on --snapshots plain --stages 20; expect 0 factor r.npy $on --modify 1 --snapshots modified --stages 20
check "pictures are those of A" cmp -s plain/stage-00020.png modified/stage-00020.png

# --- HDF5 ---
"$shoal" info >out 2>err </dev/null
if grep -q "^hdf5 *on" out; then
    expect 0 factor r.npy $on --gjgt G.h5 --modify auto -o F.h5 --json; json; leaf files.gjgt=G.h5; leaf files.factors=F.h5
    check "no other files of it" sh -c '! grep -q -e files.signs -e files.gjgt_permutation leaves'
    expect 0 factor G.h5:/G $on --json; json; leaf n=20
    for name in signs permutation; do expect 66 factor G.h5:/$name $on; said "has 1 dimensions, not 2"; done
    expect 74 factor r.npy $on --gjgt nowhere/G.h5; said "nowhere/G.h5: cannot write"
else
    expect 66 factor r.npy $on --gjgt G.h5 -q
    skip "HDF5 is off"
fi

summary test_cli_forms.sh
