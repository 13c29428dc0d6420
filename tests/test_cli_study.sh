#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# test_cli_study.sh PROGRAM [BACKEND] - `shoal study symindef`: its numbers, one part at a
# time, a matrix of the user's, exit codes. Matrices of 20 rows.
#
# Lists of options are split into words on purpose.
# shellcheck disable=SC2086,SC1091,SC2154

# shellcheck source=tests/test_cli_base.sh
. "$(dirname "$0")/test_cli_base.sh"
on="--backend ${2:-cpu}"
"$shoal" info $on >/dev/null 2>&1 || { echo "skipped: no backend $2 here"; exit 77; }
"$shoal" info >out 2>err </dev/null
reads=0; grep -q "^hdf5 *on" out && reads=12
study="study symindef"

# --- usage ---
expect 0 study --help
for option in output count part n matrix; do check "--help names --$option" grep -q -e "--$option" out; done
expect 64 study smallsym --part alpha; said "--part does not apply to study 'smallsym'"
expect 64 study smallsym --n 20; said "--n does not apply to study 'smallsym'"
expect 64 $study --count 3; said "--count does not apply to study 'symindef'"
expect 64 $study --part beta; said "--part: unknown value 'beta'; there are alpha, sizes, read"
expect 64 $study --n 9; said "--n"
expect 64 $study --matrix a.mtx --part sizes; said "--matrix needs --part alpha"
expect 64 $study --matrix a.mtx --n 20; said "--n and --matrix exclude each other"
expect 66 $study $on --matrix none.mtx -o page/s.json; said "none.mtx: cannot open"
check "nothing after an error" test ! -e page/s.json

# --- all of it ---
expect 0 $study $on --n 20 -o page/s.json --json; json; silent err
leaf study=page/s.json; leaf wrong=0
check "rows of alpha" test "$(grep -c '"part": "alpha"' page/s.json)" = 9
check "rows of sizes" test "$(grep -c '"part": "sizes"' page/s.json)" = 30
check "rows of read" test "$(grep -c '"part": "read"' page/s.json)" = $reads
check "no file is left" test "$(ls page)" = s.json

# --- a part takes the place of its own rows, a matrix that of its name ---
rows() { grep -c "$1" "$2"; } # rows PATTERN FILE
expect 0 gen symindef random --n 12 -o m.mtx
for times in 1 2; do
    expect 0 $study $on --matrix m.mtx -o page/s.json --json; json; leaf wrong=0
    check "rows of the matrix, $times" test "$(rows '"matrix": "m.mtx", "n": 12' page/s.json)" = 9
    check "all others stay" test "$(rows '"part": ' page/s.json)" = $((9 + 9 + 30 + reads))
done
expect 0 $study $on --part alpha --n 16 -o page/s.json
check "alpha anew" test "$(rows '"part": "alpha"' page/s.json)" = 18
check "of another order" test "$(rows '"alpha", "matrix": "equidistant", "n": 16' page/s.json)" = 9
check "that of the file stays" test "$(rows '"matrix": "m.mtx", "n": 12' page/s.json)" = 9
expect 0 $study $on --part sizes --n 10 -o alone/s.json
check "a part alone" test "$(rows '"part": ' alone/s.json)" = 30
sed 's/"device": "/&other /' page/s.json >alone/o.json
expect 66 $study $on --part alpha --n 10 -o alone/o.json; said "alone/o.json: not a study of symindef on"
expect 0 $study $on --n 10 -o alone/o.json # all of it: nothing is to be kept
check "all rows are new" test "$(rows '"part": ' alone/o.json)" = $((9 + 30 + reads))

# --- what cannot be factored is a row, and exit code 1 ---
printf '%%%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 1\n2 1 nan\n2 2 1\n' >bad.mtx
expect 1 $study $on --matrix bad.mtx -o bad/s.json; check "said" grep -q "^factorizations that fail the check: 9$" out
check "and kept" test "$(rows '"verified": false' bad/s.json)" = 9
expect 74 $study $on --n 10 -o m.mtx/s.json; said "m.mtx"; silent out

summary test_cli_study.sh
