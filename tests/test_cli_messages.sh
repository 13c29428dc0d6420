#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# test_cli_messages.sh PROGRAM - messages that the other tests of the program do not provoke: files that do not fit,
# options that exclude each other, damaged parts, remarks. cli_seen.sh says which messages no test has seen.
# shellcheck disable=SC2034,SC2086,SC1091,SC2154,SC2059

examples=$(cd "$(dirname "$0")/../examples" && pwd) || exit 2
# shellcheck source=tests/test_cli_base.sh
. "$(dirname "$0")/test_cli_base.sh"
on="--backend cpu"

npy() { # npy DESCR SHAPE BYTES: a file on stdout; BYTES are printf escapes
    printf '\223NUMPY\001\000\166\000%-117s\n' "{'descr': '$1', 'fortran_order': False, 'shape': $2, }"
    printf "$3"
}
one='\000\000\000\000\000\000\360\077'
long=$(awk 'BEGIN { for (i = 0; i < 2100; i++) printf "a/" }')
background() { ran="$*"; "$shoal" "$@" >out 2>err </dev/null & job=$!; }
stop() { # as Ctrl-C does, but for what runs in the background
    kill -TERM $job 2>/dev/null
    wait $job
    rc=$?
    check "interrupted: exit code 130" test $rc -eq 130
    note_seen $ran
}
changed() { sed "$1" "$2" >changed; } # a file with a change in it

# --- what nobody asked for ---
for command in "cva book.csv" "dataset expou" "predict a b" "train a" "report" "price heston"; do
    expect 64 $command extra; said "unexpected argument 'extra'"; silent out
done
for command in "solve tridiag" "solve small" "eig tridiag" "eig small" "recur"; do
    expect 64 $command extra; said "unexpected argument 'extra'"
done

# --- gen, solve, eig, factor, recur, sort ---
expect 74 gen tridiag dominant --n 3 -o "$long"; said "a/a/a/"; said "the file name is too long"
expect 74 gen symindef equidistant --n 3 -o "$long"; said "the file name is too long"
printf '1 1 2\n2 1 nan\n2 2 inf\n2 2 1\n' >t.txt
expect 0 gen symindef triplets t.txt -o t.mtx; said "t.txt: 2 values that are not finite"; said "duplicate entries were added up"
expect 74 gen symindef triplets t.txt -o "$long.mtx"; said "the file name is too long"
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 5\n1 1 1\n1 1 3\n2 2 4\n1 2 1\n2 1 1\n' >twice.mtx
expect 0 gen tridiag dominant --n 2 -o t
expect 0 solve tridiag -A twice.mtx -b t-b.npy -x x.npy $on; said "twice.mtx: 1 duplicate entries were added up"
expect 64 solve tridiag -A twice.mtx -b t-b.npy -x x.npy --factored --residual r.npy; said "--factored and --residual exclude each other"
printf '%%%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 1\n2 2 1e-17\n' >small.mtx
expect 0 factor small.mtx --tol 1e-30 -b t-b.npy -x x.npy $on; said "small.mtx is singular to working precision: rcond is 1e-17"
expect 64 factor small.mtx --snapshots d --stages "$(awk 'BEGIN { for (i = 1; i < 66; i++) printf "%s%d", (i > 1 ? "," : ""), i }')"
said "--stages: more than 64"
printf '%%%%MatrixMarket matrix coordinate real symmetric\n6001 6001 0\n' >wide.mtx
background factor wide.mtx --type f32 $on
waits=0
until grep -q "takes long" err || [ $((waits += 1)) -gt 300 ]; do sleep 0.1; done
stop; said "the check of n = 6001 takes long; --no-check skips it"
expect 64 recur --s 1 --moebius --order 2 --n 3 -o w.npy; said "--moebius has order 1"
expect 66 recur --s t-b.npy --t 1 --order 2 -o w.npy $on; said "t-b.npy has shape (2,); expected (n, 2) or (count, n, 2)"
npy '<f8' '()' "$one" >scalar.npy
expect 66 sort scalar.npy -o s.npy $on; said "scalar.npy has shape (); it needs at least one axis"

# --- price ---
expect 64 price heston --shard 1/2 -o p --plot p.svg; said "--plot and --shard exclude each other"
expect 64 price heston --g full --variant normal; said "--g and --variant exclude each other"
expect 1 price heston --method analytic --v0 0 --theta 0 --plot d.svg $on; said "there is no density to plot"
expect 64 price expou --nu2=-1; said "--nu2: -1 is less than 0"
expect 64 price expou -o p; said "-o needs --shard"
expect 0 price expou --paths 64 --steps 2 --math fast --type f32 $on; said "--math fast has no effect"; said "--type f32 has no effect"
expect 0 price american --paths 64 --fit-paths 64 --dates 2 --math fast $on; said "--math fast has no effect"
b="price bullet --dates 4 --p1 1 --p2 2 $on"
expect 0 $b --paths 64 --math fast; said "--math fast has no effect without --type f32"
expect 0 $b --method quad --paths 64; said "--paths, --target-se, --antithetic and --control have no effect: quad simulates no paths"
expect 64 $b --at 0,100,0 --outer 4; said "--at and --outer exclude each other"
expect 64 $b --lattice 2000,2000,2000; said "--lattice: more than 4194304 points"
for bad in 1,2 0,1,1 1,1,1.5 1e300,1,1; do expect 64 $b --lattice $bad; said "is not three whole numbers from 1"; done
expect 66 $b --at t-b.npy; said "t-b.npy has shape (2,); expected (n, 3): k, x, j"
printf 'k,x\n0,100\n' >points.csv
expect 66 $b --at points.csv; said "points.csv has no column j"
printf 's0\n100\n1e9\n' >options.csv
expect 1 $b --method pde --nx 33 --steps-per-date 2 --options options.csv; said "options.csv: 1 option with an s0 outside of the grid"

# --- parts of prices ---
expect 0 price heston --method euler --steps 2 --paths 140000 --shard 1/2 -o 1.part $on
expect 0 price heston --method euler --steps 2 --paths 140000 --shard 2/2 -o 2.part $on
part() { # part FILE SED MESSAGE: that part with a change in it is refused
    LC_ALL=C sed "$2" $1.part >changed; seal changed
    expect 66 merge-parts changed $((3 - $1)).part $on
    said "changed: $3"
}
part 1 's/--steps/--plots/' "not a part: it has an unknown argument"
part 1 's/price heston/price golden/' "not a part: this program has no such command"
part 1 's/140000/150000/' "not a part: of a job with other inputs"
part 2 's/0\.2\.0/9.2.0/' "not a part: it was written by another version of shoal"
part 2 's/SHOALUNT/SHOALUNX/' "not a unit; parts are written by --shard I/N -o PART"
part 2 's/140000/1400000/' "too long: "
cp 2.part changed; spoil changed 300
expect 66 merge-parts 1.part changed $on; said "changed: damaged: the checksum does not match"
cp 2.part changed; spoil changed 40; seal changed
expect 66 merge-parts 1.part changed $on; said "are parts of different runs"
cp 2.part changed; spoil changed 136; seal changed
expect 66 merge-parts 1.part changed $on; said "changed: not a part: its sizes do not fit together"
expect 66 merge-parts 1.part 1.part $on; said "are the same part, 1 of 2"
expect 66 merge-parts 1.part $on; said "part 2 of 2 is missing"
expect 66 merge-parts 2.part $on; said "part 1 of 2 is missing"
expect 0 price expou --steps 2 --paths 64 --shard 1/1 -o expou.part $on
expect 64 merge-parts expou.part -o joined $on; said "-o applies to parts of price bullet"

# files that are no parts, alone and beside one; and tables that are none
: >empty
printf '\001\002\000\003' >bytes
head -c 100 1.part >cut.part
for file in empty bytes t-b.npy cut.part; do
    for first in "" 1.part; do expect 66 merge-parts $first $file $on; said "$file:"; said "; parts are written by --shard I/N -o PART"; done
done
expect 66 merge-parts empty $on; said "empty: not a unit"
expect 66 merge-parts cut.part $on; said "cut.part: cut off: 100 bytes"
for command in "cva t-b.npy --market $examples/market.csv" "cva $examples/book.csv --market t-b.npy" \
    "dataset expou --samples 2 --ranges t-b.npy -o d.csv" "$b --method pde --options t-b.npy"; do
    expect 66 $command $on; said "t-b.npy: a NumPy array (.npy); expected a table of text (CSV)"
done

# --- cva: market and book ---
printf 'asset,spot,volatility\nA,100,0.2\nB,90,0.3\n' >market.csv
printf 'payoff,assets,strike,maturity\ncall,A,100,1\n' >book.csv
market() { # market LINES MESSAGE
    printf "$1" >m.csv
    expect 66 cva book.csv --market m.csv $on
    said "$2"
}
market 'asset,spot,volatility\nA B,100,0.2\n' "m.csv:2: column asset: 'A B' is not a name without blanks"
market 'asset,spot,volatility\nA,100,0.2\nB,90,-0.1\n' "m.csv:3: column volatility: '-0.1' is below 0"
market 'asset,spot,volatility,A,B\nA,100,0.2,1,0.5\nB,90,0.2,0.5,0.9\n' "m.csv:3: column B: '0.9' is not 1, the correlation of an asset with itself"
market 'asset,spot,volatility,A,B\nA,100,0.2,1,1.5\nB,90,0.2,1.5,1\n' "m.csv:2: column B: '1.5' is not from -1 to 1"
market 'asset,spot,volatility,A\nA,100,0.2,1\nB,90,0.2,0.5\n' "m.csv has no column B"
book() { # book LINE MESSAGE
    printf "payoff,assets,strike,maturity,weights\n$1\n" >b.csv
    expect 66 cva b.csv --market market.csv $on
    said "b.csv:2: column $2"
}
book 'basket-put,A B A,100,1,' "assets: 'A B A' has a name twice"
book 'basket-put,A B,100,1,0.5 x' "weights: '0.5 x' is not a number for each asset"
book 'basket-put,A B,100,1,0.5' "weights: '0.5' is not a number for each asset"
book 'basket-put,A B,100,1,0.5 0.2 0.3' "weights: '0.5 0.2 0.3' is not a number for each asset"

# --- cva: parts ---
for i in 1 2; do expect 0 cva book.csv --market market.csv --dates 2 --outer 8 --shard $i/2 -o $i.cva $on; done
cva_part() { # cva_part SED MESSAGE
    LC_ALL=C sed "$1" 1.cva >changed; seal changed
    expect 66 merge-parts changed 2.cva $on
    said "$2"
}
cva_part 's/\x00cva\x00--/\x00Cva\x00--/' "changed: not a part: this program has no such command"
cva_part 's/--rate/--plot/' "changed: not a part: it has an unknown argument"
cva_part 's/--outer\x008/--outer\x009/' "changed: not a part: of a job of 8 rows in 2 units; this one has 9 in 2"
cp 1.cva changed; spoil changed 80; seal changed
expect 66 merge-parts changed 2.cva $on; said "changed: not a part: a unit of 'bva'; this job is 'cva'"
cva_part 's/A,100,0.2/A,100,0.3/' "changed: not a part: of a job with other inputs"
expect 66 merge-parts 1.cva $on; said "part 2 of 2 is missing"
expect 66 merge-parts 2.cva $on; said "part 1 of 2 is missing"

# --- data sets ---
dataset="dataset expou --samples 4 --paths 1024 $on"
printf 'parameter,low,high\nbeta,0.1,0.2\n' >ranges.csv
expect 66 $dataset --parametrisation nu2 --ranges ranges.csv -o d.csv; said "unknown parameter 'beta'; there are alpha, m, nu2, y0, rho, maturity, strike"
for i in 1 2; do expect 0 $dataset --shard $i/2 -o $i.rows; done
line=$(head -n 1 1.rows)
{ printf '%s' "$line"; printf '\000\n'; } >nul.rows
expect 66 $dataset --shard 1/2 -o nul.rows; said "nul.rows:1: it was written with other options"
changed 's/^\(.*\)shard=1.2/\1shard=3\/2/' 1.rows
expect 66 merge-parts 2.rows changed -o d.csv; said "changed:1: not a part of a data set: its first line does not contain the number of the part"
expect 66 merge-parts 1.rows book.csv -o d.csv; said "book.csv:1: not a part of a data set: its first line is not a line of options"
head -c -3 2.rows >cut.rows
expect 66 merge-parts 1.rows cut.rows -o d.csv; said "the line is cut off; run the part again"
changed '3s/,.*/,x/' 2.rows
expect 66 merge-parts 1.rows changed -o d.npy; said "changed:3: column m: not a number"
if command -v flock >/dev/null; then
    flock 1.rows "$shoal" $dataset --shard 1/2 -o 1.rows >out 2>err </dev/null
    rc=$?
    check "a part that another program has" test $rc -eq 74
    said "1.rows: another program is writing to it"; note_seen
else
    skip "no flock: two programs at one data set"
fi

background dataset expou --samples 100000 --paths 65536 -o stopped.csv $on
busy $job
stop; said "interrupted; the same command continues from here"

# --- train and predict ---
net=$examples/expou.net
expect 64 predict "$net" --export w.npz --check; said "PARAMS.csv is missing: there is nothing to price"
expect 64 predict "$net" --beta 1 --nu2 1; said "--beta and --nu2 exclude each other"
expect 64 predict "$net" --export w.zip; said "--export: 'w.zip' does not end in .npz"
expect 64 predict "$net" book.csv -o book.csv; said "'book.csv' is an input; --force overwrites it"
expect 64 train a.csv -o net --export w.zip; said "--export: 'w.zip' does not end in .npz"
expect 64 train a.csv -o w.npz --export w.npz; said "two outputs are called 'w.npz'"
rows() { # rows HEADER FIELDS: a table of 40 rows, the last two columns price and stderr
    awk -v header="$1" -v fields="$2" 'BEGIN {
        print header ",price,stderr"
        for (i = 0; i < 40; i++) {
            for (k = 0; k < fields; k++) printf "%g,", 0.8 + 0.2 * ((i * (k + 3)) % 41) / 41
            printf "0.2,0.001\n"
        }
    }' >rows.csv
}
short="train rows.csv -o net --layers 1 --width 8 --epochs 1 -q $on"
rows strike,maturity,strike_and_the_maturity_of_the_option 3
expect 66 $short; said "column strike_and_the_maturity_of_the_option: the name is longer than 31 bytes"
rows "$(awk 'BEGIN { printf "strike,maturity"; for (i = 0; i < 31; i++) printf ",x%d", i }')" 33
expect 66 $short; said "rows.csv: more than 32 inputs"
printf 'price,stderr\n0.1,0.1\n0.1,0.1\n' >rows.csv
expect 66 $short; said "rows.csv: no column is an input"
expect 64 train rows.csv -o rows.csv; said "'rows.csv' is an input; --force overwrites it"
rows level,strike,maturity 3
expect 0 $short
expect 64 predict net --strike 1 --maturity 1 $on; said "the model's input level has no option; use a .csv file"
printf 'level,strike,maturity,spare\n1,1,1,1\n' >one.csv
expect 0 predict net one.csv $on; said "one.csv: column spare is ignored"
expect 66 predict net one.csv --check $on; said "--check: the model has no input alpha"
rows strike,maturity 2
expect 0 $short
expect 64 predict net --strike 1 --maturity 1 --rho 0 $on; said "--rho is not an input of the model"
rows alpha,m,y0,rho,strike,maturity 6
expect 0 $short
expect 66 predict net --alpha 1 --m 1 --y0 1 --rho 1 --strike 1 --maturity 1 --check $on
said "--check: the model has no input beta"

# --- outputs that are inputs ---
printf 'asset,spot,volatility\nA,100,0.2\n' >m.csv; printf 'payoff,assets,strike,maturity\ncall,A,100,1\n' >b.csv
cp b.csv kept.csv
for output in "-o b.csv" "--plot b.csv" "--report b.csv" "-o ./b.csv"; do
    expect 64 cva b.csv --market m.csv --outer 64 $output $on; said "b.csv' is an input; --force overwrites it"
done
expect 64 cva b.csv --market m.csv -o c.csv --plot c.csv $on; said "two outputs are called 'c.csv'"
check "the book is as it was" cmp -s b.csv kept.csv

# --- two outputs of one file, and outputs that cannot be written: both before any work ---
rm -f x.npy m.npy w.npy q.npy c.csv c.svg; mkdir there; ln -s there link
expect 0 gen tridiag dominant --n 4 -o t
npy "<f8" "(2, 2)" "$one$one$one$one" >F.npy; cp t-d.npy old.npy; ln -s old.npy older.npy
tridiag="solve tridiag --dl t-dl.npy --d t-d.npy --du t-du.npy -b t-b.npy"
one_file() { expect 64 "$@" $on; said "two outputs are one file"; silent out; }
one_file $tridiag -x x.npy --status ./x.npy
one_file $tridiag -x there/x.npy --status link/../there//x.npy
one_file $tridiag -x old.npy --status older.npy
one_file merge t-d.npy t-d.npy --a-values t-d.npy --b-values t-d.npy -o m.npy --values ./m.npy
one_file sort t-d.npy -o m.npy --index there/../m.npy
one_file recur --s 1 --t 1 --n 3 -o w.npy --status ./w.npy
one_file factor F.npy -o q.npy --inverse ./q.npy
one_file factor F.npy -o q.npy --inverse ./q-permutation.npy
one_file factor F.npy --gjgt q.npy --inverse ./q-signs.npy
expect 64 factor F.npy -o q.npy --inverse q-interchanges.npy; said "two outputs are called 'q-interchanges.npy'"
one_file cva b.csv --market m.csv -o c.csv --plot ./c.csv
one_file cva b.csv --market m.csv --plot ./c.svg --report c.svg
one_file price heston --compare -o x.svg --plot ./x.svg
expect 0 $tridiag -x /dev/null --status /dev/null $on
cannot() { expect 74 "$@" $on; said "nowhere/x"; said "cannot write"; silent out; }
endless="--paths 1e12"
cannot price heston $endless --plot nowhere/x.svg
cannot price heston $endless --shard 1/2 -o nowhere/x
cannot price bullet --method pde -o nowhere/x.npy
cannot price american $endless --plot nowhere/x.svg
cannot cva b.csv --market m.csv --outer 1e9 -o nowhere/x.csv
cannot cva b.csv --market m.csv --outer 1e9 --plot nowhere/x.svg
cannot bench --save F.npy/nowhere/x
cannot cva b.csv --market m.csv --outer 1e9 --report F.npy/nowhere/x.html
cannot report -o F.npy/nowhere/x.html
expect 0 bench tridiag:lupp:cpu:f32:n=16,count=10 --repeat 2 --save made/here --name it
check "the directory of --save is made" test -s made/here/it.json
cannot factor nosuch.npy -o nowhere/x.npy
cannot $tridiag -x nowhere/x.npy
expect 74 $tridiag -x F.npy/x.npy $on; said "F.npy/x.npy: cannot write"
expect 74 $tridiag -x there $on; said "there: cannot write"
if [ -d /proc/self ]; then expect 74 $tridiag -x /proc/self/x.npy $on; said "/proc/self/x.npy: cannot write"; fi
check "nothing was written" test ! -e x.npy -a ! -e m.npy -a ! -e w.npy -a ! -e q.npy -a ! -e c.csv -a ! -e c.svg
if (ulimit -f 100) 2>/dev/null; then
    (ulimit -f 100; "$shoal" gen tridiag dominant --n 1e6 -o big >out 2>err </dev/null); rc=$?
    check "a limit of file sizes: exit code 74" test $rc -eq 74
    said "big-dl.npy: cannot write: File too large"
    check "no temporary files" test -z "$(find . -name '.shoal-*')"
fi

# --- an interrupted report leaves an older one ---
for page in study.json page.html; do
    command="study smallsym"; [ $page != page.html ] || command=report
    for old in "" "the old page"; do
        [ -z "$old" ] || echo "$old" >$page
        background $command -o $page $on; busy $job; stop
        [ -z "$old" ] && { check "a page where there was none" test -s $page; continue; }
        said "$page is unchanged: the results are not complete"
        check "the old page" test "$(cat $page)" = "$old"
    done
done

# --- arguments that are empty ---
expect 64 $tridiag -x '' $on; said "the argument after '-x' is empty"
expect 64 recur --s '' --t 1; said "the argument after '--s' is empty"
expect 64 solve tridiag --d= ; said "'--d=' has an empty value"
expect 0 gen rng words --count 1 --seed 1e19 --json -o seed $on; json; leaf seed=10000000000000000000
expect 64 gen rng words --count 1 --seed 1e20 -o seed $on; said "'1e20' is not a whole number from 0 to 18446744073709551615"

# --- bytes that are no text ---
printf 'pay\033[31m\377off,assets,strike,maturity\ncall,A,100,1\n' >wild.csv
expect 66 cva wild.csv --market m.csv $on
check "nothing that a terminal obeys" test "$(LC_ALL=C tr -d '\n -~' <err | wc -c)" -eq 0
expect 64 gen nosuch; said "nosuch"
expect 64 gen tridiag; said "KIND is missing"
expect 0 price bullet --p1 60 --p2 50 --method quad $on; said "--p1 60 is above --p2 50: no count pays"
expect 64 info --threads 0; said "between 1 and 1024"

summary test_cli_messages.sh
