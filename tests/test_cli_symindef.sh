#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# test_cli_symindef.sh PROGRAM - `shoal gen symindef`: files of every format, kinds with values, triplets,
# exit codes, JSON.
#
# Lists of options are split into words on purpose.
# shellcheck disable=SC2086,SC1091,SC2154

# shellcheck source=tests/test_cli_base.sh
. "$(dirname "$0")/test_cli_base.sh"
gen="gen symindef"

# --- usage ---
expect 64 $gen random -o s; said "--n is missing"
expect 64 $gen random --n 3; said "-o is missing"
expect 64 $gen randon --n 3 -o s; said "Did you mean 'random'?"
expect 64 $gen random --n 3 --count 2 -o s; said "--count"
expect 64 $gen random --n 3 --packed -o s; said "--packed"
expect 64 $gen random file.txt --n 3 -o s; said "unexpected argument 'file.txt'"
expect 64 gen tridiag dominant file.txt --n 3 -o s; said "unexpected argument 'file.txt'"
expect 64 gen rng uniform file.txt --count 3 -o s; said "unexpected argument 'file.txt'"
expect 64 $gen triplets a.txt b.txt -o s.mtx; said "unexpected argument 'b.txt'"
expect 64 $gen triplets -o s.mtx; said "FILE is missing: the triplets"
expect 64 $gen triplets a.txt -o s.npy; said "-o: 's.npy' does not end in .mtx"
expect 64 $gen triplets a.txt --type f32 -o s.mtx; said "--type"
expect 64 $gen hadamard --n 12 -o s; said "n is 12; kind 'hadamard' takes a power of two"
expect 64 $gen inertia:1:1 --n 2 -o s; said "value 3, zero eigenvalues, is missing"
expect 64 $gen inertia:1:1:1:10 --n 2 -o s; said "n is 2"
expect 64 $gen random:1 --n 2 -o s; said "random takes no value"
expect 64 $gen random --n 1e12 -o s; said "too large"
expect 69 $gen random --n 1e7 -o s; said "n = 10000000 needs 800000000000000 bytes"
check "usage errors leave no files" test -z "$(ls -- *.npy *.mtx 2>/dev/null)"

# --- gen ---
expect 0 $gen --list; check "kinds" grep -q "equidistant" out; check "triplets too" grep -q "triplets FILE" out
expect 0 $gen --list --json; json; leaf kinds.0.module=symindef; leaf kinds.0.kind=equidistant
expect 0 $gen clement --n 3 --seed 9 -o s --json; json; silent err
leaf command=gen; leaf module=symindef; leaf kind=clement; leaf n=3; leaf type=f64; leaf seed=9; leaf files.A=s.npy
check "shape (n,n)" grep -aq "'shape': (3, 3)" s.npy
check "the matrix of Clement" test "$(floats s.npy)" = \
    "0 1.4142135623730951 0 1.4142135623730951 0 1.4142135623730951 0 1.4142135623730951 0"
expect 0 $gen hadamard --n 2 --type f32 -o h.npy; check "the table names the file" grep -q "^h.npy  f32 (2, 2)" out
check "no second ending" test ! -e h.npy.npy
check "f4" grep -aq "<f4" h.npy
expect 0 $gen random --n 0 -o none; check "no rows" grep -aq "(0, 0)" none.npy
expect 0 $gen zerorow:0 --n 4 -o z; check "a zero row" test "$(floats z.npy | cut -d ' ' -f 1-5)" = "0 0 0 0 0"
expect 0 $gen equidistant --n 70 --threads 1 -o one; expect 0 $gen equidistant --n 70 --threads 3 -o three
check "threads do not matter" cmp -s one.npy three.npy
expect 0 $gen equidistant --n 70 --seed 2 -o two; check "the seed does" test "$(cmp -s one.npy two.npy; echo $?)" = 1
expect 0 $gen hilbert --n 3 -o s.mtx
check "array real symmetric" test "$(head -n 1 s.mtx)" = "%%MatrixMarket matrix array real symmetric"
check "the lower triangle by columns" test "$(tail -n +2 s.mtx | tr '\n' ' ')" = \
    "3 3 1 0.5 0.3333333333333333 0.3333333333333333 0.25 0.2 "
expect 74 $gen random --n 20000 -o nowhere/s; said "nowhere/s.npy: cannot write"

# --- HDF5 ---
"$shoal" info >out 2>err </dev/null
if grep -q "^hdf5 *on" out; then
    expect 0 $gen random --n 5 -o s.h5 --json; json; leaf files.A=s.h5
    check "an HDF5 file" test "$(head -c 4 s.h5 | tail -c 3)" = HDF
    expect 74 $gen random --n 5 -o nowhere/s.h5; said "nowhere/s.h5: cannot write"
else
    expect 74 $gen random --n 5 -o s.h5; said "s.h5: this program was built without HDF5"
    skip "HDF5 is off"
fi

# --- triplets ---
printf '%% a comment\n# another\n2 1 1.5\n\n4 2 -.5\n2 1 1\n' >t.txt
expect 0 $gen triplets t.txt -o t.mtx; said "t.txt: 1 duplicate entries were added up"
check "n and entries" grep -q "^t.mtx  n = 4, 2 entries" out
check "coordinate real symmetric" test "$(tr '\n' ' ' <t.mtx)" = \
    "%%MatrixMarket matrix coordinate real symmetric 4 4 2 2 1 2.5 4 2 -0.5 "
expect 0 $gen triplets t.txt --n 9 -o t.mtx --json -q; json; silent err
leaf kind=triplets; leaf n=9; leaf entries=2; leaf files.A=t.mtx
expect 0 $gen triplets t.txt --seed 3 -o t.mtx; said "--seed has no effect"
expect 66 $gen triplets t.txt --n 3 -o u.mtx; said "t.txt:5: row index 4 out of range 1..3"
printf '2 1 1\n1 2 1\n' >u.txt
expect 66 $gen triplets u.txt -o u.mtx; said "u.txt:2: entry (1, 2) lies above the diagonal"
expect 66 $gen triplets none.txt -o u.mtx; said "none.txt: cannot open"
check "no file after an error" test ! -e u.mtx
if [ -n "$SHOAL_DATA" ] && [ -f "$SHOAL_DATA/astro-ph.txt" ]; then
    expect 0 $gen triplets "$SHOAL_DATA/astro-ph.txt" -o a.mtx --json; json; silent err
    leaf n=16706; leaf entries=121251
else
    skip "SHOAL_DATA has no astro-ph.txt"
fi

summary test_cli_symindef.sh
