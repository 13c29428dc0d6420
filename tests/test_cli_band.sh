#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# test_cli_band.sh PROGRAM [BACKEND] - `shoal solve band` and `shoal gen band`: files, numbers in their place, shapes,
# mistakes; and problems of band for `verify`.
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
zero='\000\000\000\000\000\000\000\000' one='\000\000\000\000\000\000\360\077'
two='\000\000\000\000\000\000\000\100' four='\000\000\000\000\000\000\020\100'

# --- by hand: [4 0 1; 0 1 0; 1 0 2] x = (5, 1, 3) has x = (1, 1, 1), the second diagonals are ones ---
npy '<f8' '(3,)' "$zero" "$zero" "$one" >dl2.npy; npy '<f8' '(3,)' "$zero" "$zero" "$zero" >dl.npy
npy '<f8' '(3,)' "$four" "$one" "$two" >d.npy; npy '<f8' '(3,)' "$one" "$zero" "$zero" >du2.npy
five='\000\000\000\000\000\000\024\100' three='\000\000\000\000\000\000\010\100'
npy '<f8' '(3,)' "$five" "$one" "$three" >b.npy
h="--dl2 dl2.npy --dl dl.npy --d d.npy --du dl.npy --du2 du2.npy -b b.npy -x x.npy $on"
expect 0 solve band $h --json --status s.npy --residual r.npy --rcond c.npy; json
leaf "command=solve band"; leaf width=2; leaf complex=false; leaf failed=0; leaf method=lupp
check "five diagonals" test "$(floats x.npy)" = "1 1 1"
check "the status" test "$(ints s.npy)" = 0
expect 0 solve band $h; check "the table" grep -q "pentadiagonal" out
expect 0 solve band $h --tol 1e-30 --cond 1.5; check "a warning" grep -q "warned *1" out

# --- complex: [i 1; 1 0] x = (1 + i, 1) has x = (1, 1) ---
npy '<c16' '(2,)' "$zero" "$zero" "$one" "$zero" >cdl.npy; npy '<c16' '(2,)' "$zero" "$one" "$zero" "$zero" >cd.npy
npy '<c16' '(2,)' "$one" "$zero" "$zero" "$zero" >cdu.npy; npy '<c16' '(2,)' "$one" "$one" "$one" "$zero" >cb.npy
c="--dl cdl.npy --d cd.npy --du cdu.npy -b cb.npy -x x.npy $on"
expect 0 solve band $c --json; json; leaf width=1; leaf complex=true; leaf type=f64; leaf failed=0
check "complex numbers" test "$(floats x.npy)" = "1 0 1 0"
expect 66 solve tridiag --dl cdl.npy --d cd.npy --du cdu.npy -b cb.npy -x x.npy; said "shoal solve band"
npy '>c16' '(2,)' '\000\000\000\000\000\000\000\000' '\077\360\000\000\000\000\000\000' \
    '\000\000\000\000\000\000\000\000' '\000\000\000\000\000\000\000\000' >big.npy
expect 0 solve band $c --d big.npy; check "big-endian numbers" test "$(floats x.npy)" = "1 0 1 0"
npy '<c16' '(2,)' "$zero" "$zero" "$zero" "$zero" >zero.npy
expect 1 solve band --dl zero.npy --d zero.npy --du zero.npy -b cb.npy -x x.npy --status s.npy $on
check "a singular matrix" test "$(ints s.npy)" = -3

# --- generated systems ---
for form in penta ctridiag cpenta; do
    wide=; test $form = ctridiag || wide="--dl2 t-dl2.npy --du2 t-du2.npy"
    f="$wide --dl t-dl.npy --d t-d.npy --du t-du.npy -b t-b.npy $on"
    for type in f32 f64; do
        expect 0 gen band random --n 40 --count 30 --nrhs 2 --form $form --type $type --seed 5 -o t; silent err
        expect 0 solve band $f -x x.npy --json; json; leaf count=30; leaf nrhs=2; leaf failed=0; leaf type=$type
        cp x.npy $form-$type.npy
    done
    expect 0 gen band random --n 40 --count 30 --nrhs 2 --form $form --seed 5 --layout interleaved -o t
    expect 0 solve band $f -x x.npy --layout interleaved --json; json; leaf failed=0
    expect 0 gen band singular --n 9 --count 14 --form $form -o t
    expect 1 solve band $f -x x.npy --json; json; leaf failed=2
done
expect 0 gen band random --n 40 --from 10 --count 20 --nrhs 2 --seed 5 -o t
expect 0 gen band random --n 0 --count 3 -o none
expect 0 solve band --dl2 none-dl2.npy --dl none-dl.npy --d none-d.npy --du none-du.npy --du2 none-du2.npy \
    -b none-b.npy -x x.npy --rcond c.npy --json $on; json; leaf count=3; leaf failed=0
expect 0 verify band::${2:-cpu}:f32+f64:form=penta+ctridiag+cpenta,n=1+50,count=100,nrhs=2
check "verified" grep -q "cpenta.*ok" out

# --- mistakes ---
expect 64 solve band --dl dl.npy; said "missing"
expect 64 solve band --dl2 dl2.npy --dl dl.npy --d d.npy --du dl.npy -b b.npy -x x.npy; said "--du2"
expect 66 solve band --dl dl.npy --d d.npy --du dl.npy -b b.npy -x x.npy; said "shoal solve tridiag"
expect 66 solve band $h --d cd.npy; said "shape"
expect 66 solve band $h -b cb.npy; said "right-hand sides"
npy '<c16' '(3,)' "$one" "$zero" "$one" "$zero" "$one" "$zero" >three.npy
expect 66 solve band $h --d three.npy; said "all must be of one type"
npy '<f8' '(1, 1, 3)' "$one" "$one" "$one" >cube.npy
expect 66 solve band $h --d cube.npy; said "a diagonal is"
expect 64 gen band random --n 5 --form wide -o t; said "--form"
expect 64 gen tridiag random --n 5 --form penta -o t; said "--form does not apply to module 'tridiag'"
expect 66 recur --s cb.npy --t cb.npy -o w.npy; said "c16"

summary test_cli_band.sh
