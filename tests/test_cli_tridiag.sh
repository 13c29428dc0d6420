#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# test_cli_tridiag.sh PROGRAM - the options of `shoal solve tridiag` beyond the plain solve, which test_cli.sh
# has.
#
# Lists of options are split into words and bytes are written through printf's format on purpose.
# shellcheck disable=SC2086,SC2059,SC1091,SC2154

# shellcheck source=tests/test_cli_base.sh
. "$(dirname "$0")/test_cli_base.sh"

# npy DESCR SHAPE BYTES...: a version 1.0 file on stdout; BYTES are printf escapes.
npy() {
    header="{'descr': '$1', 'fortran_order': False, 'shape': $2, }"
    shift 2
    printf '\223NUMPY\001\000\166\000%-117s\n' "$header"
    for bytes in "$@"; do printf "$bytes"; done
}
one='\000\000\000\000\000\000\360\077' two='\000\000\000\000\000\000\000\100'
four='\000\000\000\000\000\000\020\100' nan='\000\000\000\000\000\000\370\177'
zero='\000\000\000\000\000\000\000\000'

# By hand: A = [2 1; 0 4]. A^T = [2 0; 1 4], and A^T x = (4, 2) has x = (2, 0); A x has (1.75, 0.5)
npy '<f8' '(2,)' "$nan" "$zero" >dl.npy; npy '<f8' '(2,)' "$two" "$four" >d.npy
npy '<f8' '(2,)' "$one" "$nan" >du.npy; npy '<f8' '(2,)' "$four" "$two" >b.npy
h="--dl dl.npy --d d.npy --du du.npy -b b.npy -x x.npy"

# --- transposed ---
for method in auto thomas cr pcr hybrid lupp twocarry; do
    expect 0 solve tridiag $h --method $method --transposed --json; json; leaf transposed=true
    check "transposed by $method" test "$(floats x.npy)" = "2 0"
done
expect 0 solve tridiag $h --json; json; leaf transposed=false
check "not transposed" test "$(floats x.npy)" = "1.75 0.5"

# --- condition: |A| = 5, A^-1 = [0.5 -0.125; 0 0.25], |A^-1| = 0.5 ---
for method in auto thomas cr pcr hybrid lupp twocarry; do
    expect 0 solve tridiag $h --method $method --rcond r.npy --json; json; leaf files.rcond=r.npy
    check "rcond by $method" test "$(tail -c +129 r.npy | od -An -t f4 | awk '{ print ($1 > 0.3999 && $1 < 0.4001) }')" = 1
done
expect 64 solve tridiag $h --rcond x.npy; said "two outputs"

# --- factors ---
for method in auto lupp; do
    expect 0 solve tridiag $h --method $method --factored --status s.npy --json; json
    leaf factored=true; leaf method=$method; leaf max_residual=null; leaf failed=0
    check "factored by $method" test "$(floats x.npy)" = "1.75 0.5"
    check "status of $method" test "$(ints s.npy)" = 0
done
expect 0 solve tridiag $h --factored --transposed; check "both" test "$(floats x.npy)" = "2 0"
expect 64 solve tridiag $h --factored --method thomas; said "'thomas'"; said "auto, lupp"
expect 64 solve tridiag $h --factored --rcond r.npy; said "--rcond"; said "--factored"
expect 64 solve tridiag $h --periodic --rcond r.npy; said "--periodic"
expect 64 solve tridiag $h --periodic --method lupp; said "periodic"

# --- the ends meet: [2 1+1; 0 4] x = (4, 2) ---
npy '<f8' '(2,)' "$one" "$zero" >r-dl.npy; npy '<f8' '(2,)' "$one" "$zero" >r-du.npy
expect 0 solve tridiag --dl r-dl.npy --d d.npy --du r-du.npy -b b.npy -x x.npy --periodic --json; json
leaf periodic=true; leaf method=auto; leaf failed=0
check "periodic" test "$(floats x.npy | awk '{ print ($1 - 1.5) ^ 2 + ($2 - 0.5) ^ 2 < 1e-30 }')" = 1
expect 0 gen tridiag singular --n 6 --count 23 -o g
g="--dl g-dl.npy --d g-d.npy --du g-du.npy -b g-b.npy"
expect 1 solve tridiag $g -x p.npy --status p-s.npy --method lupp
expect 1 solve tridiag $g -x f.npy --status f-s.npy --factored
check "the same answers" cmp -s p.npy f.npy; check "the same statuses" cmp -s p-s.npy f-s.npy

# --- systems of different sizes: [2 1; 0 4] x = (4, 2), nothing, and 4 x = 2 ---
i0='\000\000\000\000\000\000\000\000' i2='\002\000\000\000\000\000\000\000' i3='\003\000\000\000\000\000\000\000'
npy '<f8' '(3,)' "$nan" "$zero" "$nan" >dl3.npy; npy '<f8' '(3,)' "$two" "$four" "$four" >d3.npy
npy '<f8' '(3,)' "$one" "$nan" "$nan" >du3.npy; npy '<f8' '(3,)' "$four" "$two" "$two" >b3.npy
npy '<i8' '(4,)' "$i0" "$i2" "$i2" "$i3" >o.npy
v="--dl dl3.npy --d d3.npy --du du3.npy -b b3.npy -x x.npy"
for method in auto thomas lupp; do
    expect 0 solve tridiag $v --offsets o.npy --method $method --status s.npy --json; json
    leaf count=3; leaf n=2; leaf files.offsets=o.npy
    check "sizes by $method" test "$(floats x.npy)" = "1.75 0.5 0.5"; check "statuses" test "$(ints s.npy)" = "0 0 0"
done
expect 0 solve tridiag $v --offsets o.npy; check "table" grep -q "3 with up to 2 unknowns" out
expect 0 solve tridiag $v --offsets o.npy --factored --transposed
check "sizes, factored, transposed" test "$(floats x.npy)" = "2 0 0.5"
expect 64 solve tridiag $v --offsets o.npy --method pcr; said "'pcr' does not take"
npy '<i8' '(3,)' "$i0" "$i3" "$i2" >down.npy; expect 66 solve tridiag $v --offsets down.npy; said "offset 2 is 2"
npy '<i8' '(2,)' "$i0" "$i2" >short.npy; expect 66 solve tridiag $v --offsets short.npy; said "has 3 rows"
npy '<i8' '(1, 2)' "$i0" "$i3" >flat.npy; expect 66 solve tridiag $v --offsets flat.npy; said "count + 1"
expect 66 solve tridiag $v --offsets b3.npy; said "int64"
expect 66 solve tridiag $v --offsets o.npy --layout interleaved; said "one axis"
npy '<i8' '(1,)' "$i0" >none.npy; npy '<f8' '(0,)' >z.npy
expect 0 solve tridiag --dl z.npy --d z.npy --du z.npy -b z.npy -x x.npy --offsets none.npy --json; json; leaf count=0

summary cli_tridiag
