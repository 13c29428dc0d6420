#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# test_cli_study.sh PROGRAM [BACKEND] - `shoal report --study symindef`: its numbers and its page, one part at a
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
study="report --study symindef"

# --- usage ---
expect 0 report --help
for option in study part n matrix; do check "--help names --$option" grep -q -e "--$option" out; done
expect 64 report --part alpha; said "--part, --n and --matrix go with --study symindef"
expect 64 report --study smallsym --n 20; said "go with --study symindef"
expect 64 $study --count 3; said "--count goes with --study smallsym"
expect 64 $study --part beta; said "--part: 'beta' is none of alpha, sizes, read"
expect 64 $study --n 9; said "--n"
expect 64 $study --matrix a.mtx --part sizes; said "--matrix goes with --part alpha"
expect 64 $study --matrix a.mtx --n 20; said "--n: the matrix has its order"
expect 66 $study $on --matrix none.mtx -o page/s.md; said "none.mtx: cannot open"
check "nothing after an error" test ! -e page/s.json -a ! -e page/s.md

# --- all of it, and the page of the numbers again ---
expect 0 $study $on --n 20 -o page/s.md --json; json; silent err
leaf report=page/s.md; leaf study=page/s.json; leaf wrong=0
check "rows of alpha" test "$(grep -c '"part": "alpha"' page/s.json)" = 9
check "rows of sizes" test "$(grep -c '"part": "sizes"' page/s.json)" = 30
check "rows of read" test "$(grep -c '"part": "read"' page/s.json)" = $reads
check "no file is left" test "$(ls page)" = "$(printf 'img\ns.json\ns.md')"
check "the page" grep -q "^### equidistant, n = 20" page/s.md
for name in alpha multipliers times errors gjgt; do
    check "picture $name" grep -q "</svg>" page/img/symindef-study-$name.svg
done
expect 0 report --study page/s.json -o again/s.md; silent err
check "the same page of the same numbers" cmp -s page/s.md again/s.md
expect 0 report --study page/s.json -o again/s.md --n 30 --seed 3; said "have no effect"; said "--seed has no effect"

# --- a part takes the place of its own rows, a matrix that of its name ---
expect 0 gen symindef random --n 12 -o m.mtx
for times in 1 2; do
    expect 0 $study $on --matrix m.mtx -o page/s.md --json; json; leaf wrong=0
    check "rows of the matrix, $times" test "$(grep -c '"matrix": "m.mtx"' page/s.json)" = 9
    check "all others stay" test "$(grep -c '"part": ' page/s.json)" = $((9 + 9 + 30 + reads))
done
check "both matrices on the page" test "$(grep -c -e '^### equidistant, n = 20' -e '^### m.mtx, n = 12' page/s.md)" = 2
expect 0 $study $on --part alpha --n 16 -o page/s.md
check "alpha anew" test "$(grep -c '"part": "alpha"' page/s.json)" = 18
check "of another order" grep -q "^### equidistant, n = 16" page/s.md
check "that of the file stays" grep -q "^### m.mtx, n = 12" page/s.md
expect 0 $study $on --part sizes --n 10 -o alone/s.md
check "a part alone" grep -q "Left out: the part .alpha." alone/s.md
sed 's/"device": "/&other /' page/s.json >alone/o.json
expect 66 $study $on --part alpha --n 10 -o alone/o.md; said "alone/o.json: no study of symindef on"
expect 0 $study $on --n 10 -o alone/o.md # all of it: nothing is to be kept
check "all rows are new" test "$(grep -c '"part": ' alone/o.json)" = $((9 + 30 + reads))

# --- what cannot be factored is a row, and exit code 1 ---
printf '%%%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 1\n2 1 nan\n2 2 1\n' >bad.mtx
expect 1 $study $on --matrix bad.mtx -o bad/s.md; check "said" grep -q "^9 factorizations do not pass the check" out
check "and shown" test "$(grep -c '(fails the check)' bad/s.md)" = 9

# --- the pages of other results do not mind it ---
for what in figures recur-figures tridiag-figures performance; do
    expect 0 report --$what page -o others/$what.md
    check "$what" test -s others/$what.md
done
expect 74 $study $on --n 10 -o m.mtx/s.md; said "m.mtx"; silent out

summary test_cli_study.sh
