#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# test_cli_sort.sh PROGRAM [BACKEND] - `shoal sort` and `shoal merge`: rows, types, values, places, mistakes;
# and problems of sort for `verify` and `bench`.
# shellcheck disable=SC2034,SC2059,SC2086,SC1091,SC2154

# shellcheck source=tests/test_cli_base.sh
. "$(dirname "$0")/test_cli_base.sh"
on="--backend ${2:-cpu}"
"$shoal" info $on >/dev/null 2>&1 || { echo "skipped: no backend $2 here"; exit 77; }

# npy FILE TYPE SHAPE NUMBER...: a .npy file of u4 or i8 numbers; SHAPE is what stands between the brackets
npy() {
    file=$1 type=$2 shape=$3
    shift 3
    header="{'descr': '<$type', 'fortran_order': False, 'shape': ($shape), }"
    {
        printf '\223NUMPY\001\000\166\000%-117s\n' "$header"
        for number in "$@"; do
            for place in 1 2 3 4; do
                printf "\\$(printf %o $((number % 256)))"
                number=$((number / 256))
            done
            [ "$type" = i8 ] && printf '\000\000\000\000'
        done
    } >"$file"
}
u4() { od -An -v -t u4 -j 128 "$1" | awk '{ for (i = 1; i <= NF; i++) printf "%s ", $i }'; }
i8() { od -An -v -t d8 -j 128 "$1" | awk '{ for (i = 1; i <= NF; i++) printf "%s ", $i }'; }

npy x.npy u4 "2, 4" 7 1 5 1 3000000000 2 4 2
npy v.npy u4 "2, 4" 10 11 12 13 20 21 22 23
npy a.npy u4 "9," 1 2 5 6 6 9 11 15 16
npy b.npy u4 "7," 4 7 8 10 12 13 14
npy w.npy i8 "2," 0 2
npy r.npy u4 "2, 3" 1 5 9 0 0 2
npy s.npy u4 "2, 2" 5 6 1 2

# --- mistakes ---
expect 64 sort; said "KEYS.npy is missing"
expect 64 sort x.npy; said "-o is missing"
expect 64 sort x.npy y.npy -o z.npy; said "unexpected argument 'y.npy'"
expect 64 sort x.npy -o y.npy --index y.npy; said "two outputs"
expect 64 sort x.npy -o y.npy --index i.npy --values v.npy --sorted-values u.npy; said "exclude each other"
expect 64 sort x.npy -o y.npy --values v.npy; said "--values needs --sorted-values"
expect 64 sort x.npy -o y.npy --method batchsrt; said "Did you mean 'batchsort'?"
expect 64 sort x.npy -o y.npy --method batchsort --variant x; said "network"
expect 64 sort x.npy -o y.npy --method mergepath $on; said "unknown value 'mergepath'; there are auto, batchsort"
expect 66 sort nowhere.npy -o y.npy; said "nowhere.npy"
expect 66 sort x.npy -o y.npy --values a.npy --sorted-values u.npy $on; said "each key has one value"
expect 66 sort x.npy -o y.npy --offsets w.npy $on; said "one axis"
expect 66 sort a.npy -o y.npy --offsets w.npy $on; said "the last offset is 2, but a.npy has 9 keys"
expect 66 sort a.npy -o y.npy --offsets b.npy $on; said "int64"
npy w.npy i8 "2," 1 9
expect 66 sort a.npy -o y.npy --offsets w.npy $on; said "w.npy: offset 0 is 1; offsets begin with 0"
npy w.npy i8 "4," 0 4 2 9
expect 66 sort a.npy -o y.npy --offsets w.npy $on; said "w.npy: offset 2 is 2; offsets begin with 0 and do not decrease"
expect 64 merge a.npy -o m.npy; said "B.npy is missing: the second file of sorted keys"
expect 64 merge a.npy b.npy; said "-o is missing"
expect 64 merge a.npy b.npy x.npy -o m.npy; said "unexpected argument 'x.npy'"
expect 64 merge a.npy b.npy -o m.npy --values v.npy; said "--values needs --a-values"
expect 66 merge a.npy w.npy -o m.npy $on; said "both must have the same type"
expect 66 merge a.npy r.npy -o m.npy $on; said "(count, na) and (count, nb)"
expect 66 merge a.npy b.npy -o m.npy --descending $on; said "a.npy is not sorted: in row 0 key 1 is greater"
expect 66 merge x.npy r.npy -o m.npy $on; said "x.npy is not sorted: in row 0 key 1 is less"
expect 64 merge r.npy s.npy -o m.npy --method mergepath $on; said "batchmerge"
expect 74 merge a.npy b.npy -o nowhere/m.npy $on; said "nowhere"
check "mistakes leave no files" test ! -e y.npy -a ! -e m.npy -a ! -e u.npy -a ! -e i.npy

# --- sorting ---
expect 0 sort x.npy -o y.npy --index i.npy $on; silent err
check "the plural of key" grep -q '2 with 4 keys' out
check "rows are sorted" test "$(u4 y.npy)" = "1 1 5 7 2 2 4 3000000000 "
check "the places, stable" test "$(i8 i.npy)" = "1 3 2 0 1 3 2 0 "
expect 0 sort x.npy -o y.npy --values v.npy --sorted-values u.npy --descending --json $on; json
leaf command=sort; leaf count=2; leaf n=4; leaf key=u32; leaf method=batchsort; leaf descending=true
leaf files.sorted_values=u.npy
check "descending" test "$(u4 y.npy)" = "7 5 1 1 3000000000 4 2 2 "
check "values go along" test "$(u4 u.npy)" = "10 12 11 13 20 22 21 23 "
npy o.npy i8 "4," 0 3 3 9
expect 0 sort a.npy -o y.npy --offsets o.npy --descending $on
check "rows of different lengths" test "$(u4 y.npy)" = "5 2 1 16 15 11 9 6 6 "
for variant in network merge; do
    expect 0 sort x.npy -o $variant.npy --method batchsort --variant $variant $on
done
check "variants agree" cmp network.npy merge.npy
npy none.npy u4 "0,"
expect 0 sort none.npy -o y.npy $on

# --- merging: the paper's figure 1 ---
for variant in tiled small naive; do
    expect 0 merge a.npy b.npy -o m.npy --method mergepath --variant $variant $on
    check "$variant" test "$(u4 m.npy)" = "1 2 4 5 6 6 7 8 9 10 11 12 13 14 15 16 "
done
expect 0 merge a.npy b.npy -o m.npy --json $on; json
leaf command=merge; leaf na=9; leaf nb=7; leaf method=mergepath; leaf files.merged=m.npy
expect 0 merge a.npy b.npy -o m.npy --path p.svg $on
check "the path is drawn" grep -q "keys taken from B" p.svg
expect 0 merge r.npy s.npy -o m.npy --a-values r.npy --b-values s.npy --values u.npy --json $on; json
leaf method=batchmerge; leaf count=2
check "row by row" test "$(u4 m.npy)" = "1 5 5 6 9 0 0 1 2 2 "
check "their values" cmp m.npy u.npy
npy huge.npy f8 "0, 9223372036854775807" # which NumPy cannot load, so it is not copied either
expect 66 sort huge.npy -o h.npy $on; said "huge.npy: shape (0, 9223372036854775807) of f8 overflows"
npy wide.npy f8 "0, 1152921504606846975"; expect 0 sort wide.npy -o h.npy $on; check "empty" cmp wide.npy h.npy
expect 0 merge a.npy none.npy -o m.npy $on; check "an empty array" cmp a.npy m.npy
expect 0 merge none.npy none.npy -o m.npy --path none.svg $on; said "--path: there are no keys to draw"

# --- problems ---
expect 0 verify sort:batchsort::all:n=70,count=5,values=0+4 $on; check "verified" grep -q "batchsort" out
expect 0 verify sort:mergepath+batchmerge::f32:n=500,ratio=4,variant=all $on
expect 64 verify sort:batchsort::u16:n=5; said "u16"
expect 0 bench sort:batchsort::u32:n=64,count=100 --repeat 2 --peers --json $on; json
leaf verified=true; leaf rows.0.method=batchsort; leaf rows.0.type=u32; leaf rows.0.kind=random

summary test_cli_sort.sh
