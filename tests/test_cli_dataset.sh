#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# test_cli_dataset.sh PROGRAM [BACKEND] - `shoal dataset expou`: its files, parts that make the whole, runs that
# were broken off and go on, ranges, messages that name file, line and column.
# shellcheck disable=SC2034,SC2059,SC2086,SC1091,SC2154

# shellcheck source=tests/test_cli_base.sh
. "$(dirname "$0")/test_cli_base.sh"
on="--backend ${2:-cpu}"
"$shoal" info $on >/dev/null 2>&1 || { echo "skipped: no backend $2 here"; exit 77; }
few="--samples 70 --target-se 1e-3 --paths 2048 $on"

# --- the files ---
expect 0 dataset expou $few -o whole.csv --json
json; leaf rows=70; leaf made=70; leaf design=sobol; leaf seed=1; leaf parametrisation=beta; leaf output=whole.csv
has target_se stderr_mean stderr_max above_target paths made_seconds
check "a header" [ "$(head -n 1 whole.csv)" = alpha,m,beta,y0,rho,maturity,strike,price,stderr ]
check "70 rows" [ "$(wc -l <whole.csv)" -eq 71 ]
fields() { awk -F, 'NF != 9 { bad = 1 } NR > 1 { for (i = 1; i <= 9; i++) if ($i + 0 != $i) bad = 1 } END { exit bad }' "$1"; }
check "nine numbers per row" fields whole.csv
bounds() { awk -F, 'NR > 1 { low = $7 < 1 ? 1 - $7 : 0; if ($5 > 0 || $8 < low || $8 > 1 || $9 < 0 || $9 > 0.01) bad = 1 } END { exit bad }' "$1"; }
check "prices within their bounds" bounds whole.csv
check "nothing is left over" [ ! -e whole.csv.partial ]
expect 0 dataset expou $few -o again.csv --threads 1 -q
silent err
check "threads change nothing" cmp -s whole.csv again.csv
expect 0 dataset expou $few -o other.csv --seed 2
check "seeds differ" eval '! cmp -s whole.csv other.csv'
expect 0 dataset expou $few -o latin.csv --design latin
check "designs differ" eval '! cmp -s whole.csv latin.csv'
expect 0 dataset expou $few -o nu2.csv --parametrisation nu2
check "nu2 in the header" [ "$(head -n 1 nu2.csv)" = alpha,m,nu2,y0,rho,maturity,strike,price,stderr ]
expect 0 dataset expou $few -o printed.csv --parametrisation printed
check "nu2 as printed in the header" [ "$(head -n 1 printed.csv)" = alpha,m,nu2_printed,y0,rho,maturity,strike,price,stderr ]
# beta = sqrt(2 alpha nu2) (1 - e^m): the first row as a row of beta has the same price
head -n 2 printed.csv | tail -n 1 | awk -F, '{ b = sqrt(2 * $1 * $3) * (1 - exp($2))
    printf "parameter,low,high\nalpha,%s,%s\nm,%s,%s\nbeta,%.17g,%.17g\ny0,%s,%s\nrho,%s,%s\nmaturity,%s,%s\nstrike,%s,%s\n",
    $1, $1, $2, $2, b, b, $4, $4, $5, $5, $6, $6, $7, $7 }' >point.csv
expect 0 dataset expou --samples 1 -o point-out.csv --ranges point.csv --target-se 1e-4
check "the price of that beta" sh -c 'paste -d, printed.csv point-out.csv | awk -F, "NR == 2 { d = \$8 - \$17; if (d < 0) d = -d; exit d > 1e-3 }"'
printf 'parameter,low,high\nm,-1,0.1\n' >above.csv
expect 66 dataset expou $few -o r.csv --parametrisation printed --ranges above.csv; said "must end at 0"
expect 0 dataset expou $few -o whole.npy
tail -n +2 whole.csv | tr , '\n' >want
tail -c +129 whole.npy | od -An -v -t f8 | tr -s ' ' '\n' | sed '/^$/d' >got
same() { paste want got | awk '{ d = $1 - $2; if (d < 0) d = -d; a = $1 < 0 ? -$1 : $1; if (d > 1e-14 * a) bad = 1; n++ } END { exit bad || n != 630 }'; }
check "the same numbers as .npy" same
if "$shoal" info | grep -q '^ *hdf5 *on'; then
    expect 0 dataset expou $few -o whole.h5
    check "an HDF5 file" [ "$(head -c 4 whole.h5 | tail -c 3)" = HDF ]
else
    skip "no HDF5"
fi

# --- parts ---
for i in 1 2 3; do expect 0 dataset expou $few --shard $i/3 -o $i.part; done
expect 0 merge-parts 3.part 1.part 2.part -o joined.csv
check "parts make the whole" cmp -s whole.csv joined.csv
expect 0 merge-parts 1.part 2.part 3.part -o joined.npy --json
json; leaf samples=70; leaf parts=3
check "parts make the array" cmp -s whole.npy joined.npy
expect 66 merge-parts 1.part 3.part -o j.csv; said "part 2 of 3 is missing"
expect 66 merge-parts 1.part 2.part -o j.csv; said "part 3 of 3 is missing"
expect 66 merge-parts 1.part 1.part 2.part -o j.csv; said "part 1 twice"
expect 66 merge-parts 1.part none.part 3.part -o j.csv; said "none.part: cannot read"
expect 66 merge-parts 1.part whole.csv 3.part -o j.csv; said "whole.csv:1: not a part of a data set"
expect 64 merge-parts 1.part 2.part 3.part; said "-o is missing: where to write the data set"
expect 64 merge-parts 1.part 2.part 3.part --plot p.svg; said "--plot"
expect 64 merge-parts 1.part 2.part 3.part -o j.txt; said "'j.txt' does not end in .csv, .npy or .h5"
expect 0 dataset expou $few --seed 2 --shard 2/3 -o o.part
expect 66 merge-parts 1.part o.part 3.part -o j.csv; said "parts of two data sets"
head -n 10 2.part >short.part
expect 66 merge-parts 1.part short.part 3.part -o j.csv; said "short.part:10: only 8 of 23 rows"
spoilt() { # SED TEXT: part 2 changed so is refused, with that text
    sed "$1" 2.part >bad.part
    expect 66 merge-parts 1.part bad.part 3.part -o j.csv; said "bad.part:$2"
    expect 66 merge-parts 1.part bad.part 3.part -o j.npy; said "bad.part:$2"
}
spoilt '1s/design=sobol/design=latin/' "1: it has 'design=latin', but 1.part has 'design=sobol'"
spoilt '1s/version=[^ ]*/version=0.0.9/' "1: it has 'version=0.0.9', this version of shoal writes"
spoilt '1s/refine=1/refine=one/' "1: not a part of a data set: its first line lacks an option"
spoilt '1s/seed=1/seed=+1/' "1: it has 'seed=+1', this version of shoal writes 'seed=1'"
spoilt '1s,shard=2/3,shard=2/4,' "1: a part of 4, but 1.part is one of 3"
spoilt '1s,shard=2/3,shard=0/3,' "1: not a part of a data set: its first line does not contain the number"
spoilt "1s/ shard=/$(printf '\t')shard=/" "1: not a part of a data set: its first line has no blank before shard="
spoilt '2s/alpha/aleph/' "2: the header is not alpha,m"
spoilt '2d' "2: the header is not alpha,m"
spoilt '5d' "5: column alpha: not the value of the design"
spoilt '5p' "6: column alpha: not the value of the design"
spoilt '5{h;d};6{G}' "5: column alpha: not the value of the design"
spoilt '7s/^[^,]*,/x,/' "7: column alpha: not a number"
spoilt '7s/,[^,]*\(,[^,]*,[^,]*\)$/,2\1/' "7: column price: not from 0 to 1"
spoilt '7s/,[^,]*\(,[^,]*,[^,]*\)$/,nan\1/' "7: column stderr: a number, but the price is missing"
spoilt '7s/,[^,]*\(,[^,]*\)$/,-1\1/' "7: column stderr: not a standard error"
spoilt '7s/,[^,]*,[^,]*$//' "7: column price: the line has fewer fields"
spoilt '7s/,[^,]*$//' "7: column stderr: the line has fewer fields"
damaged="damaged: the checksum does not match"
spoilt '7s/$/,1/' "7: $damaged"
spoilt '7s/,[^,]*\(,[^,]*,[^,]*\)$/,0.5\1/' "7: $damaged"
spoilt '7s/,[^,]*\(,[^,]*\)$/,1e-5\1/' "7: $damaged"
spoilt '7s/[^,]*$/00000000/' "7: $damaged"
spoilt '2s/,crc32//' "2: no column crc32: an older version of shoal wrote it; run the part again"
# one bit of a part that stands alone: its first line, its header, a row, the ends of lines
head -n 2 2.part | wc -c >head.bytes
flip() { # OFFSET BIT: 2.part with that bit changed is bad.part
    byte=$(($(od -An -tu1 -j "$1" -N 1 2.part) ^ 1 << $2))
    { head -c "$1" 2.part; printf "\\$(printf %03o $byte)"; tail -c "+$(($1 + 2))" 2.part; } >bad.part
}
size=$(wc -c <2.part) from=$(cat head.bytes) bit=0
for at in 0 5 15 22 40 60 100 150 200 250 300 320 330 340 $((from - 1)) $from $((from + 1)) $((from + 17)) $((from + 130)) \
    $((from + 150)) $((from + 165)) $((from + 180)) $((size / 2)) $((size / 2 + 9)) $((size - 30)) $((size - 9)) $((size - 1)); do
    bit=$(((bit + 3) % 8)); flip $at $bit
    expect 66 merge-parts 1.part bad.part 3.part -o j.csv; said "bad.part"
done
spoilt 25p "26: more rows than the part has"
head -c -4 2.part >bad.part
expect 66 merge-parts 1.part bad.part 3.part -o j.csv; said "bad.part:25: the line is cut off"
for i in 1 2 3; do sed '1s/strike=0.5:1.5/strike=0.5:-1/' $i.part >$i.bad; done
expect 66 merge-parts 1.bad 2.bad 3.bad -o j.csv; said "1.bad:1: range of strike is 0.5 to -1"
cp 1.part 1.csv
expect 64 merge-parts 1.csv 2.part 3.part -o 1.csv; said "is an input"
check "the part is as it was" cmp -s 1.part 1.csv
check "nothing was written" [ ! -e j.csv ]
check "no array was written" [ ! -e j.npy ]

# --- runs that were broken off ---
expect 0 dataset expou $few --shard 1/1 -o all.part
for bytes in 0 30 700 5000 5001; do
    head -c $bytes all.part >r.csv.partial
    expect 0 dataset expou $few -o r.csv
    check "goes on after $bytes bytes" cmp -s whole.csv r.csv
    check "nothing is left over after $bytes bytes" [ ! -e r.csv.partial ]
done
head -n 12 2.part >r.part
expect 0 dataset expou $few --shard 2/3 -o r.part; said "r.part: continuing after 10 rows"
check "a part goes on" cmp -s r.part 2.part
expect 0 dataset expou $few --shard 2/3 -o r.part
check "a part that is there stays" cmp -s r.part 2.part
long="--samples 1200 --target-se 1e-3 --paths 2048 $on"
begin() { # FILE: starts a run and waits for its first block
    "$shoal" dataset expou $long -o "$1" --json >out 2>err &
    job=$!
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        [ -e "$1.partial" ] && [ "$(wc -l <"$1.partial")" -gt 2 ] && break
        sleep 0.2
    done
}
expect 0 dataset expou $long -o long.csv
for signal in KILL TERM; do
    begin $signal.csv
    kill -$signal $job 2>/dev/null
    wait $job 2>/dev/null
    rc=$?
    if [ ! -e $signal.csv.partial ]; then
        skip "it was done before the signal"
        continue
    fi
    if [ $signal = TERM ]; then
        check "exit code 130" [ "$rc" -eq 130 ]
        json; leaf interrupted=true; leaf output=TERM.csv.partial
    fi
    kept=$(($(wc -l <$signal.csv.partial) - 2))
    check "$signal keeps blocks" [ "$kept" -ge 64 ]
    expect 0 dataset expou $long -o $signal.csv; said "$signal.csv.partial: continuing after $kept rows"
    check "goes on after $signal" cmp -s $signal.csv long.csv
done
# a part that was killed is no part yet, goes on, and then makes the whole
"$shoal" dataset expou $long --shard 1/2 -o k1.part >out 2>err &
job=$!
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    [ -e k1.part ] && [ "$(wc -l <k1.part)" -gt 2 ] && break
    sleep 0.1
done
kill -KILL $job 2>/dev/null
wait $job 2>/dev/null
expect 0 dataset expou $long --shard 2/2 -o k2.part
kept=$(($(wc -l <k1.part) - 2))
if [ $kept -lt 600 ]; then
    expect 66 merge-parts k1.part k2.part -o k.csv; said "k1.part:"; said "run the part again"
    expect 0 dataset expou $long --shard 1/2 -o k1.part; said "k1.part: continuing after $kept rows"
else
    skip "the part was done before the signal"
fi
expect 0 merge-parts k1.part k2.part -o k.csv
check "parts of which one was killed make the whole" cmp -s k.csv long.csv
cp all.part r.csv.partial
expect 66 dataset expou $few --seed 2 -o r.csv; said "r.csv.partial:1: it has 'seed=1', this command 'seed=2'"
expect 66 dataset expou $few --refine 2 -o r.csv; said "refine=1"
expect 0 dataset expou $few --seed 2 --restart -o r.csv
check "--restart forgets" cmp -s other.csv r.csv
sed 2s/alpha/aleph/ all.part >r.csv.partial
expect 66 dataset expou $few -o r.csv; said "r.csv.partial:2: the header is not alpha,m"
sed '7s/^[^,]*,/0.5,/' all.part >r.csv.partial
expect 66 dataset expou $few -o r.csv; said "r.csv.partial:7: column alpha: not the value of the design"
sed '9s/,[^,]*\(,[^,]*\)$/,x\1/' all.part >r.csv.partial
expect 66 dataset expou $few -o r.csv; said "r.csv.partial:9: column stderr: not a number"
sed '9s/[^,]*$/01234567/' all.part >r.csv.partial
expect 66 dataset expou $few -o r.csv; said "r.csv.partial:9: $damaged"
sed '1!s/,[^,]*$//' all.part >r.csv.partial
expect 66 dataset expou $few -o r.csv; said "r.csv.partial:2: no column crc32"; said "use --restart"
{ cat all.part; tail -n 1 all.part; } >r.csv.partial
expect 66 dataset expou $few -o r.csv; said "r.csv.partial:73: more rows than the part has"
echo "not a data set" >r.csv.partial
expect 66 dataset expou $few -o r.csv; said "r.csv.partial:1: it has 'not'"
rm -f r.csv.partial
expect 74 dataset expou $few -o nowhere/r.csv; said "nowhere/r.csv"

# --- ranges ---
printf 'parameter,low,high,scale\nrho,-0.5,-0.5,\nstrike,0.9,1.1,log\nmaturity,1,1,linear\n' >ranges.csv
expect 0 dataset expou $few --ranges ranges.csv -o r.csv
within() { awk -F, 'NR > 1 && ($5 != -0.5 || $6 != 1 || $7 < 0.9 || $7 > 1.1) { bad = 1 } END { exit bad }' "$1"; }
check "ranges are kept" within r.csv
# volatilities of 2000 %: no sample has the paths that make E S = 1, and a call is worth the asset all the same
printf 'parameter,low,high\nm,3,3\ny0,3,3\nmaturity,1,1\nbeta,0.3,0.3\nrho,-0.95,-0.5\n' >ranges.csv
expect 0 dataset expou --samples 8 --ranges ranges.csv $on -o wild.csv
wild() { awk -F, 'NR > 1 && ($8 < 0.9999 || $8 > 1) { bad = 1 } END { exit bad || NR != 9 }' "$1"; }
check "a call on a wild asset costs what the asset does" wild wild.csv
# rows that overflow have no price, are counted, kept by a run that goes on, and refused by train
printf 'parameter,low,high\nbeta,1000,1000\nalpha,0,0\nm,5,5\ny0,5,5\nmaturity,1.2e-4,1.2e-4\nrho,-0.5,-0.1\n' >ranges.csv
over="--samples 40 --paths 512 --ranges ranges.csv $on"
expect 0 dataset expou $over -o over.csv --json; said "40 rows without a price: NaN in the file, which shoal train refuses"
json; leaf without_price=40; leaf rows=40
expect 0 dataset expou $over --shard 1/1 -o over.part
head -n 12 over.part >o.csv.partial
expect 0 dataset expou $over -o o.csv; said "o.csv.partial: continuing after 10 rows"; said "40 rows without a price: NaN in the file, which shoal train refuses"
check "goes on with rows that have no price" cmp -s o.csv over.csv
expect 0 merge-parts over.part -o o2.csv; said "40 rows without a price"
check "merges rows that have no price" cmp -s o2.csv over.csv
expect 66 train over.csv -o none; said "over.csv:2: column price: 'nan' is not finite"
expect 64 dataset expou $few --ranges ranges.csv -o ranges.csv; said "is an input"
refused() { # CONTENTS WORDS
    printf "$1" >bad.csv
    expect 66 dataset expou $few --ranges bad.csv -o r.csv; said "$2"
}
refused 'parameter,low\nrho,-1\n' "bad.csv:1: column high is missing"
refused 'parameter,low,high,step\nrho,-1,0,1\n' "bad.csv:1: unknown column 'step'; there are parameter, low, high, scale"
refused 'parameter,low,high\nsigma,0,1\n' "bad.csv:2: unknown parameter 'sigma'; there are alpha, m, beta"
refused 'parameter,low,high\nrho,-1,0\nrho,-1,0\n' "bad.csv:3: column parameter: this parameter has a line already"
refused 'parameter,low,high\nrho,-1,0.5\n' "bad.csv:2: column high: 0.5 is not from -1 to 0"
refused 'parameter,low,high\nm,-1,-2\n' "bad.csv:2: column high: high is below low"
refused 'parameter,low,high\nm,one,2\n' "bad.csv:2: column low: 'one' is not a finite number"
refused 'parameter,low,high\nm,nan,2\n' "bad.csv:2: column low: 'nan' is not a finite number"
refused 'parameter,low,high,scale\nbeta,0,1,log\n' "bad.csv:2: column low: a logarithmic range must begin above 0"
refused 'parameter,low,high,scale\nbeta,0,1,cubic\n' "bad.csv:2: column scale: expected linear or log"
refused 'parameter,low,high\nmaturity,1,500\n' "steps per path"
refused '' "bad.csv"
expect 66 dataset expou $few --ranges none.csv -o r.csv; said "none.csv"

# --- the command line ---
expect 64 dataset expou -o r.csv; said "--samples is missing"
expect 64 dataset expou --samples 10; said "-o is missing"
expect 64 dataset expou $few -o r.txt; said "'r.txt' does not end in .csv, .npy or .h5"
expect 64 dataset expou $few -o r.csv --design grid; said "--design: unknown value 'grid'; there are sobol, latin"
expect 64 dataset expou $few -o r.csv --parametrisation sigma; said "there are beta, nu2"
expect 64 dataset expou $few -o r.csv --shard 3/2; said "--shard: '3/2'"
expect 64 dataset expou $few -o r.csv --paths 100; said "--paths"
expect 64 dataset expou $few -o r.csv --refine 9; said "--refine"
expect 64 dataset expou --samples 0 -o r.csv; said "--samples"
expect 64 dataset expoo; said "Did you mean 'expou'?"
summary test_cli_dataset
