#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# test_cli.sh PROGRAM - the contract of the command line: exit codes, what goes to stdout and what to
# stderr, JSON, hostile and ill-fitting files, write errors, Ctrl-C. What needs more than a POSIX shell,
# awk and od is skipped with a line that says so.
#
# Lists of options are split into words and bytes are written through printf's format on purpose; ulimit -v
# and the names in the directory are our own.
# shellcheck disable=SC2086,SC2059,SC3045,SC2010,SC1091,SC2154

# shellcheck source=tests/test_cli_base.sh
. "$(dirname "$0")/test_cli_base.sh"

# npy DESCR SHAPE BYTES...: a version 1.0 file on stdout; BYTES are printf escapes.
npy() {
    header="{'descr': '$1', 'fortran_order': False, 'shape': $2, }"
    shift 2
    printf '\223NUMPY\001\000\166\000%-117s\n' "$header"
    for bytes in "$@"; do printf "$bytes"; done
}
one='\000\000\000\000\000\000\360\077' two='\000\000\000\000\000\000\000\100' zero='\000\000\000\000\000\000\000\000'
four='\000\000\000\000\000\000\020\100' nan='\000\000\000\000\000\000\370\177'
f4two='\000\000\000\100' i4two='\002\000\000\000' i4zero='\000\000\000\000'
t="--dl t-dl.npy --d t-d.npy --du t-du.npy"

# --- help, version, mistakes of usage ---
expect 64; said "Solve equations:"; silent out
expect 0 --help; silent err; check "help on stdout, by tasks" grep -q "^Price derivatives:" out; cp out help
check "with an example each" test "$(grep -c '^              shoal ' out)" = 19
for flag in -h "-?" help; do expect 0 $flag; silent err; check "$flag" cmp -s out help; done
expect 0 solve tridiag --help; cp out help
expect 0 help solve tridiag; check "help COMMAND" cmp -s out help
expect 0 solve tridiag -h; check "-h behind a command" cmp -s out help
expect 64 help solv; said "Did you mean 'solve'?"
expect 64 --backend gpu info; said "there are auto, cpu, cuda. Did you mean 'cuda'?"
expect 0 --version; silent err; check "version" grep -Eq '^shoal [0-9]+\.[0-9]+\.[0-9]+$' out
for command in info gen "solve tridiag" "eig small" verify bench study report; do
    expect 0 $command --help; silent err; check "$command has an example" grep -q "Example" out
    check "an example fits on its line" awk '/^Example/ { inside = 1; next } /^$/ { inside = 0 } inside && !/^(  (shoal|source)|        )/ { exit 1 }' out
done
expect 64 solv; said "'solve'"; said "there are solve, eig, factor, recur, sort, merge, price, calibrate, cva, merge-parts, dataset, train, predict, gen, verify"; silent out
said "Did you mean 'solve'?"
expect 64 --json nonsense; silent out
expect 64 --nonsense info; silent out
expect 64 info --nonsense; said "--nonsense"
expect 64 price heston --strke 1; said "shoal price heston: unknown option '--strke'. Did you mean '--strike'?"; silent out
expect 64 price heston -method euler; said "unknown option '-method'. Did you mean '--method'?"
expect 64 price heston --rho; said "requires an argument"
expect 64 gen tridiag dominant --n 3 -o -; said "-o -: gen tridiag writes several files"
expect 64 info extra; said "extra"
expect 64 --backend gpu info; said "auto, cpu, cuda"
expect 64 --threads 0 info; said "--threads"
expect 64 --threads 1.5 info; said "1.5"
expect 64 --device -1 info; said "--device"
expect 64 --seed -1 info; said "--seed"
expect 64 --seed 18446744073709551616 info; said "--seed"
expect 64 --math quick info; said "exact"
expect 64 gen; said "--list"
expect 64 gen tridiag dominant -o t; said "--n"
expect 64 gen tridiag dominant --n 3; said "-o"
expect 64 gen tridiag dominant --n -3 -o t; said "--n"
expect 64 gen tridiag dominant --n three -o t; said "three"
expect 64 gen tridiag dominnat --n 3 -o t; said "Did you mean 'dominant'?"; silent out
expect 64 gen tridiagonal dominant --n 3 -o t; said "tridiag"
expect 64 gen tridiag dominant --n 3 --type f16 -o t; said "f32"
expect 64 gen tridiag dominant --n 1e10 --count 1e10 -o t; said "too large"
expect 64 solve; expect 64 solve tridag; said "Did you mean 'tridiag'?"
expect 64 solve tridiag; said "-b is missing: the right-hand sides"
expect 64 solve tridiag -b b.npy -x x.npy; said "--d is missing: give --dl, --d and --du, or -A"
expect 64 solve tridiag $t -x x.npy; said "-b"
expect 64 solve tridiag $t -b b.npy; said "-x"
expect 64 solve tridiag $t -A A.mtx -b b.npy -x x.npy; said "--dl and -A exclude each other"
expect 64 solve tridiag --dl dl.npy --d d.npy -b b.npy -x x.npy; said "--dl needs --du"
expect 64 solve tridiag $t -b b.npy -x x.txt; said "-x: 'x.txt' does not end in .npy or .csv"
expect 64 solve tridiag $t -b - -x - --json; said "-x -: --json prints to standard output"
expect 64 solve tridiag --dl - --d - --du t-du.npy -b b.npy -x x.npy; said "--d -: standard input is read already"
expect 64 report -o -; said "-o -: a file has to have a name"
expect 64 solve tridiag $t -b b.npy -x x.npy --status x.npy; said "two outputs"
expect 64 solve tridiag $t -b t-b.npy -x x.npy --method prc; said "Did you mean 'pcr'?"; said "thomas"; said "lupp"
expect 64 solve tridiag $t -b t-b.npy -x x.npy --method pcr --variant strid; said "'stride'"
expect 64 solve tridiag $t -b t-b.npy -x x.npy --tol nan; said "--tol"
expect 64 solve tridiag $t -b t-b.npy -x x.npy --method pscheme --groups 0; said "--groups"
expect 64 solve tridiag $t -b t-b.npy -x x.npy --method pscheme --group-threads 2000; said "--group-threads"
expect 0 solve --help; check "solve takes a module" grep -q "MODULE" out
check "one notation" grep -qF "dl[i] x[i-1] + d[i] x[i] + du[i] x[i+1] = b[i]" out
expect 64 --threads 1025 info; said "1024"; silent out
expect 64 --threads 1025 verify tridiag --json; said "1024"; silent out
expect 64 gen tridiag dominant --n 3 --nrhs 0 -o t; said "--nrhs"
expect 64 verify tridiag:all:cpu:f32:n=3,variant=zz; said "'zz'"; silent out
expect 64 verify tridiag:::f64:n=3,n=4 --json; said "twice"; silent out
expect 64 bench tridiag:pcr+pcr; said "twice"; silent out
expect 64 verify tridiag::::nrhs=0; said "nrhs"; silent out
expect 64 verify; said PROBLEM
check "usage errors leave no files" test -z "$(ls -- *.npy 2>/dev/null)"
export SHOAL_ISA=nonsense
expect 64 info; said "nonsense"
unset SHOAL_ISA

# --- info, global options on both sides ---
expect 0 info; silent err; check "methods" grep -q "thomas" out
expect 0 --backend cpu info --json; json; silent err
leaf command=info; leaf backend=cpu; has version device seconds threads isa features.threads.on \
    backends.cuda.reason modules.tridiag.thomas.0
expect 0 --json --threads 1 info --backend=cpu; json; leaf threads=1
OMP_NUM_THREADS=5000 "$shoal" info --json --backend cpu >out 2>err </dev/null; rc=$?; json
check "at most 1024 threads, whatever OMP_NUM_THREADS is" test "$(sed -n 's/^threads=//p' leaves)" -le 1024
expect 0 info --json --quiet --math exact --device 0 --seed 5; json; silent err
expect 0 --backend cpu --device 3 info; said "--device has no effect"
expect 0 --seed 5 info; said "--seed has no effect"
expect 0 --seed 5 gen --list; said "--seed has no effect"
devices=${CUDA_VISIBLE_DEVICES-unset}
export CUDA_VISIBLE_DEVICES=
expect 69 --backend cuda info --json; silent out; said "cuda"
expect 0 info --json; json; leaf backend=cpu; leaf backends.cuda.available=false
expect 69 verify tridiag:pcr:cuda:f32:n=255,count=10 --json; silent out; said "cuda"
expect 69 bench tridiag:pcr:cuda:f32:n=255,count=10 --json --save saved; silent out
check "nothing is saved without a result" test ! -e saved
if [ "$devices" = unset ]; then unset CUDA_VISIBLE_DEVICES; else CUDA_VISIBLE_DEVICES=$devices; fi

# --- gen ---
expect 0 gen --list; silent err; check "kinds" grep -q "dominant" out
expect 0 gen tridiag --list --json; json; leaf kinds.0.module=tridiag
expect 0 gen tridiag dominant --n 5 --count 3 --seed 18446744073709551615 -o t --json; json; silent err
leaf command=gen; leaf n=5; leaf count=3; leaf nrhs=1; leaf type=f64; leaf kind=dominant
leaf seed=18446744073709551615; leaf files.dl=t-dl.npy; leaf files.b=t-b.npy
check "four files and nothing else" test "$(echo t-*)" = "t-b.npy t-d.npy t-dl.npy t-du.npy"
check "shape (count,n)" grep -aq "(3, 5)" t-b.npy
expect 0 gen tridiag dominant --n 5 --count 3 --seed 18446744073709551615 -o u
check "the same seed, the same file" cmp -s t-d.npy u-d.npy
expect 0 gen tridiag dominant --n 5 --count 3 --seed 2 -o u
checks=$((checks + 1)); cmp -s t-d.npy u-d.npy && fail "another seed gave the same file"
expect 0 gen tridiag dominant --n 5 --count 2 --from 1 --seed 18446744073709551615 -o u --json; json; leaf from=1
check "--from: systems 1 and 2 of 3" test "$(floats u-d.npy)" = "$(floats t-d.npy | cut -d ' ' -f 6-)"
expect 64 gen tridiag dominant --n 5 --from -1 -o u; said "--from"
expect 64 gen tridiag dominant --n 5 --from 9223372036854775807 --count 2 -o u; said "first"
expect 0 gen tridiag block18:2:16 --n 64 -o w --json; json; silent err; leaf kind=block18:2:16; leaf files.x=w-x.npy
check "x too" test "$(echo w-*)" = "w-b.npy w-d.npy w-dl.npy w-du.npy w-x.npy"
expect 0 solve tridiag --dl w-dl.npy --d w-d.npy --du w-du.npy -b w-b.npy -x w-y.npy
expect 64 gen tridiag block18:x --n 64 -o w; said "value 1, singular blocks"
expect 64 gen tridiag blok18:2 --n 64 -o w; said "Did you mean 'block18'"
expect 64 gen smallsym spd:2 --n 4 -o w; said "unknown kind 'spd:2'"
expect 0 gen tridiag laplace --n 6 --nrhs 2 -o v
check "shape (n)" grep -aq "(6,)" v-d.npy; check "shape (n,nrhs)" grep -aq "(6, 2)" v-b.npy
check "laplace" test "$(floats v-d.npy)" = "2 2 2 2 2 2"
expect 0 gen tridiag dominant --n 4 --count 7 --nrhs 2 --layout interleaved --type f32 -o w
check "shape (n,count,nrhs)" grep -aq "(4, 7, 2)" w-b.npy; check "f4" grep -aq "<f4" w-b.npy
expect 0 gen tridiag dominant --n 0 --count 3 -o z; check "n = 0" grep -aq "(3, 0)" z-b.npy
expect 0 gen tridiag dominant --n 3 --count 0 -o y; check "count = 0" grep -aq "(0, 3)" y-b.npy
expect 74 gen tridiag dominant --n 3 -o nowhere/t; said "nowhere/t"; silent out

# --- solve: answers ---
expect 0 solve tridiag $t -b t-b.npy -x x.npy --status s.npy --residual r.npy --json; json; silent err
leaf "command=solve tridiag"; leaf count=3; leaf n=5; leaf nrhs=1; leaf method=auto; leaf type=f64
leaf failed=0; leaf warned=0; leaf files.dl=t-dl.npy; leaf files.x=x.npy
has version backend device seconds variant redone max_residual
leaf tol=2.220446049250313e-14
expect 0 solve tridiag $t -b t-b.npy -x x.npy --tol 1e-3 --seed 4 --json; json; leaf tol=0.001
said "--seed has no effect"
expect 0 solve tridiag $t -b t-b.npy -x x.npy --method gspike --json; json; leaf delta=1.4901161193847656e-08; has cond; leaf split=true
expect 0 solve tridiag $t -b t-b.npy -x x.npy --method gspike --delta 0.25 --cond 1e12 --no-split --json; json
leaf delta=0.25; leaf cond=1000000000000; leaf split=false
expect 0 solve tridiag $t -b t-b.npy -x y.npy --method gspike --block 3 --json; json; leaf block=3; leaf warned=0
expect 64 solve tridiag $t -b t-b.npy -x y.npy --method thomas --block 3; said "block is 3"; said "thomas"
expect 64 solve tridiag $t -b t-b.npy -x x.npy --method thomas --cond 1e9; said "cond"; said "thomas"
expect 64 solve tridiag $t -b t-b.npy -x x.npy --method gspike --delta 2; said "delta"
check "status" test "$(ints s.npy)" = "0 0 0"
check "x has the shape of b" grep -aq "(3, 5)" x.npy
expect 0 solve tridiag $t -b t-b.npy -x x.npy; silent err; check "table" grep -q "max residual" out
expect 0 --quiet solve tridiag $t -b t-b.npy -x x.npy; silent err; check "quiet has results" test -s out
for method in thomas cr pcr hybrid lupp pscheme; do
    expect 0 solve tridiag $t -b t-b.npy -x "$method.npy" --method $method --json; json; leaf method=$method
done
expect 0 solve tridiag $t -b t-b.npy -x x.npy --method pscheme --groups 2 --group-threads 3 --json; json
leaf groups=2; leaf group_threads=3
expect 0 solve tridiag $t -b t-b.npy -x x.npy --method pscheme --groups 2; check "parts" grep -q "2 groups of" out
expect 64 solve tridiag $t -b t-b.npy -x x.npy --method thomas --groups 2; said "groups is 2; thomas"
# By hand: [2 1; 1 2] x = [4 2] has x = (2, 0)
npy '<f8' '(2,)' "$nan" "$one" >dl.npy; npy '<f8' '(2,)' "$two" "$two" >d.npy
npy '<f8' '(2,)' "$one" "$nan" >du.npy; npy '<f8' '(2,)' "$four" "$two" >b.npy
h="--dl dl.npy --d d.npy --du du.npy"
expect 0 solve tridiag $h -b b.npy -x x.npy --method lupp; check "by hand" test "$(floats x.npy)" = "2 0"
expect 0 solve tridiag $h -b b.npy -x b2.npy
expect 64 solve tridiag $h -b b2.npy -x b2.npy; said "'b2.npy' is an input; --force overwrites it"
expect 0 solve tridiag $h -b b2.npy -x b2.npy --force
# "-": standard input and output; what is printed goes to stderr then. A .csv file has a line per system.
"$shoal" solve tridiag $h -b - -x - --method lupp <b.npy >piped.npy 2>err; rc=$?; note_seen solve tridiag -b - -x -
check "through a pipe" test $rc -eq 0 -a "$(floats piped.npy)" = "2 0"; said "max residual"
expect 0 solve tridiag $t -b t-b.npy -x x.csv; expect 0 solve tridiag $t -b t-b.npy -x x.npy
check "a line per system, the same numbers" test "$(tr ',' '\n' <x.csv | awk '{ s += $1 } END { printf "%.12g", s }') $(wc -l <x.csv)" = \
    "$(floats x.npy | tr ' ' '\n' | awk '{ s += $1 } END { printf "%.12g", s }') 3"
printf '%%%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 2\n2 1 1\n2 2 2\n' >A.mtx
expect 0 solve tridiag -A A.mtx -b b.npy -x m.npy --method lupp --json; json; leaf files.A=A.mtx; leaf n=2
check "Matrix Market" test "$(floats m.npy)" = "2 0"
expect 0 solve tridiag --dl w-dl.npy --d w-d.npy --du w-du.npy -b w-b.npy -x x.npy --layout interleaved --json
json; leaf n=4; leaf count=7; leaf nrhs=2; leaf layout=interleaved; leaf type=f32; leaf tol=1.1920928955078125e-05
for s in z y; do
    expect 0 solve tridiag --dl $s-dl.npy --d $s-d.npy --du $s-du.npy -b $s-b.npy -x x.npy --status s.npy --json
    json; leaf failed=0; cmp -s x.npy $s-b.npy || fail "an empty batch has an empty answer"
done
npy '<f8' '(2, 0)' >none-b.npy
expect 0 solve tridiag $h -b none-b.npy -x x.npy --status s.npy --json; json; leaf nrhs=0; leaf failed=0
check "no right-hand side, an empty answer" cmp -s x.npy none-b.npy
check "no right-hand side, status 0" test "$(ints s.npy)" = 0
expect 0 solve tridiag -A A.mtx -b none-b.npy -x x.npy; check "so too of a matrix" cmp -s x.npy none-b.npy
npy '<f8' '(1000000000000, 0)' >many.npy
expect 0 solve tridiag --dl many.npy --d many.npy --du many.npy -b many.npy -x x.npy
npy '<i4' '(1,)' "$i4zero" >i0.npy; npy '<i4' '(1,)' "$i4two" >i2.npy
expect 0 solve tridiag --dl i0.npy --d i2.npy --du i0.npy -b i2.npy -x x.npy; said "i2.npy: i4 converted to f8"
check "integers" test "$(floats x.npy)" = "1"
expect 0 -q solve tridiag --dl i0.npy --d i2.npy --du i0.npy -b i2.npy -x x.npy; silent err
expect 0 solve tridiag $h -b b.npy -x x.npy --math fast; said "--math fast"

# Many slices, and threads: the answer to a system depends on that system alone.
expect 0 gen tridiag dominant --n 1000 --count 50 --nrhs 100 --type f32 -o big
expect 0 gen tridiag dominant --n 1000 --count 5 --nrhs 100 --type f32 -o few
B="--dl big-dl.npy --d big-d.npy --du big-du.npy -b big-b.npy"
expect 0 solve tridiag $B -x bx.npy; silent err
expect 0 solve tridiag $B -x bx1.npy --threads 1; check "threads change nothing" cmp -s bx.npy bx1.npy
expect 0 solve tridiag --dl few-dl.npy --d few-d.npy --du few-du.npy -b few-b.npy -x fx.npy
contents fx.npy >fx; contents bx.npy | head -c 2000000 >bx
check "slices change nothing" cmp -s fx bx
rm -f big-* bx* fx*

# --- numerical failures: exit 1, everything written ---
expect 0 gen tridiag nonfinite --n 4 --count 23 -o t; rm -f x.npy
expect 1 solve tridiag $t -b t-b.npy -x x.npy --status s.npy --json; json; said "non-finite"
checks=$((checks + 1)); grep -q '^failed=0$' leaves && fail "failed is 0"
has failed max_residual seconds; check "x is written" test -s x.npy
failed=$(sed -n 's/^failed=//p' leaves)
check "status counts the failures" test "$(ints s.npy | tr ' ' '\n' | grep -c '^-1$')" = "$failed"
check "x of failed systems is NaN, of no other" test "$(floats x.npy | tr ' ' '\n' | grep -ci nan)" = $((failed * 4))
expect 1 solve tridiag $t -b t-b.npy -x x.npy; check "table on exit 1" grep -q "^failed" out
npy '<f8' '(1,)' "$zero" >zero.npy; npy '<f8' '(1,)' "$two" >b1.npy
expect 1 solve tridiag --dl zero.npy --d zero.npy --du zero.npy -b b1.npy -x x.npy --json; json; leaf failed=1
leaf max_residual=null

# --- 66: files that cannot be read or do not fit ---
bad() { # bad FILE: not usable as b
    expect 66 solve tridiag $h -b "$1" -x none.npy --json
    said "$1"; silent out; check "no output after bad input" test ! -e none.npy
}
bad missing.npy; bad .
: >empty.npy; bad empty.npy
head -c 60 b.npy >header.npy; bad header.npy
head -c 140 b.npy >short.npy; bad short.npy
printf 'not an array at all, but long enough to hold a header of one .......' >text.npy; bad text.npy
npy '<f8' '(9223372036854775807,)' "$one" >huge.npy; bad huge.npy
npy '<f8' '(4611686018427387904, 4)' "$one" >overflow.npy; bad overflow.npy
npy '<f8' '(1000000000000,)' "$one" >lying.npy; bad lying.npy
npy '<f8' '(-2,)' "$one" >negative.npy; bad negative.npy
npy '<c16' '(1,)' "$one" "$one" >complex.npy; bad complex.npy
npy '|O' '(2,)' "$one" "$one" >object.npy; bad object.npy
npy '<f8' '2' "$one" "$one" >shape.npy; bad shape.npy
printf '\223NUMPY\011\000\166\000' >version.npy; bad version.npy
printf '\223NUMPY\001\000\377\377{' >longheader.npy; bad longheader.npy
npy '<f8' '(3,)' "$one" "$one" "$one" >b3.npy
bad b3.npy; said "(3,)"; said "(2,)"; said "d.npy"
npy '<f8' '(1, 2)' "$one" "$one" >b12.npy; bad b12.npy; said "(1, 2)"
npy '<f8' '()' "$one" >scalar.npy; bad scalar.npy
npy '<f4' '(2,)' "$f4two" "$f4two" >f4.npy; bad f4.npy; said "f4"; said "f8"
npy '<f8' '(1,)' "$one" >off.npy
expect 66 solve tridiag --dl off.npy --d d.npy --du du.npy -b b.npy -x none.npy
said "off.npy"; said "(1,)"; said "d.npy"; said "(2,)"
expect 66 solve tridiag --dl dl.npy --d d.npy --du off.npy -b b.npy -x none.npy; said "off.npy"
npy '<f8' '(1, 1, 2)' "$one" "$one" >cube.npy
expect 66 solve tridiag --dl cube.npy --d cube.npy --du cube.npy -b cube.npy -x none.npy; said "(1, 1, 2)"
mtx() { # mtx TEXT: not usable as A
    printf "$1" >bad.mtx
    expect 66 solve tridiag -A bad.mtx -b b.npy -x none.npy; said "bad.mtx"; silent out
}
mtx ''
mtx 'hello\n'
mtx '%%%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 2\n'
mtx '%%%%MatrixMarket matrix coordinate real general\n2 2 1\n1 3 2\n'
mtx '%%%%MatrixMarket matrix coordinate real general\n2 2 9000000000000000000\n1 1 2\n'
mtx '%%%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 2\n'
mtx '%%%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 1 2 3\n'
printf '%%%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 2\n2 2 2\n3 3 2\n1 3 1\n' >full.mtx
expect 66 solve tridiag -A full.mtx -b b3.npy -x none.npy; said "full.mtx"
printf '%%%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 2\n2 2 2\n3 3 2\n' >three.mtx
expect 66 solve tridiag -A three.mtx -b b.npy -x none.npy; said "three.mtx"; said "(3,)"; said "(2,)"
# a few bytes may promise any n: nothing of that size is asked for
printf '%%%%MatrixMarket matrix coordinate real general\n1000000000 1000000000 1\n1 1 2\n' >wide.mtx
npy '<f8' '(1000000000, 0)' >wide.npy
little() { # little ARGUMENT...: as expect, with little memory where the program runs so at all
    (
        ulimit -v 2000000 2>/dev/null
        exec "$shoal" --backend cpu "$@"
    ) >out 2>err </dev/null
    rc=$?
}
little solve tridiag -A A.mtx -b b.npy -x x.npy
if [ $rc -ne 0 ]; then # as with sanitizers, which reserve addresses
    skip "a limit on memory: the program does not run with it"
    little() { "$shoal" --backend cpu "$@" >out 2>err </dev/null; rc=$?; }
fi
little solve tridiag -A wide.mtx -b b3.npy -x none.npy
check "exit code 66 expected: n of the matrix is not that of b" test $rc -eq 66
said "wide.mtx"; said "(1000000000,)"; said "b3.npy"; said "(3,)"; silent out
little solve tridiag -A wide.mtx -b wide.npy -x none.npy
check "exit code 66 expected: an n that no file holds" test $rc -eq 66
said "wide.mtx"; silent out
check "no output after bad input" test ! -e none.npy

# --- verify and bench ---
expect 0 verify tridiag:all:cpu:f64:n=17,count=10 --json; json; silent err
leaf command=verify; leaf verified=true; leaf failed=0; leaf wrong=0; leaf seed=1; leaf rows.0.systems_checked=10
has warned max_residual machine.device rows.0.problem rows.0.tolerance rows.4.method
expect 1 verify tridiag:thomas:cpu:f64:n=64,count=1000,kind=zeropivot
check "an honest failure" grep -q "[0-9] failed$" out
checks=$((checks + 1)); grep -q WRONG out && fail "an honest failure is called WRONG"
expect 0 verify tridiag:auto:cpu:f64:n=64,count=1000,kind=zeropivot; check "verdict" grep -q "ok$" out
expect 1 verify tridiag:all:cpu:f64:n=10,count=100,kind=nonfinite,nrhs=3 --json; json; leaf wrong=0
expect 69 verify tridiag::cpu:f64:n=1e9,count=1e5 --json; silent out; said "memory"
expect 0 verify smallsym:all:cpu:all:n=1+9,count=20,storage=all --json; json; silent err
leaf verified=true; leaf rows.0.storage=full; leaf rows.0.systems_checked=20; has rows.0.distinct rows.0.outcome
expect 64 verify smallsym:::f64:outcome=2; said "outcome '2'"; silent out
expect 69 verify smallsym::cpu:f64:n=2^12,count=2^20 --json; silent out; said "memory"
mkdir saved
expect 0 bench smallsym:ldlt:cpu:f32:n=8,count=100,outcome=1 --peers --repeat 2 --json; json
leaf rows.0.method=ldlt; leaf rows.0.outcome=1; leaf rows.0.bytes=32000; has rows.0.systems_per_second
expect 0 bench tridiag:lupp:cpu:f32:n=16,count=100 --repeat 2 --save saved --name one --json; json
leaf command=bench; leaf verified=true; leaf rows.0.method=lupp; leaf rows.0.samples=2; has rows.0.median_s
check "saved under its name" test -s saved/one.json
expect 69 bench tridiag:lupp:cpu:f32:n=16,count=100 tridiag:lupp:cpu:f32:n=1e9,count=1e5 --repeat 2 --save saved --name half --json; json
said "n=1000000000,count=100000,"; leaf verified=false; leaf rows.0.method=lupp; has error rows.0.median_s
check "what was measured before a problem too large is kept" grep -q '"lupp"' saved/half.json
rm saved/half.json
again="bench tridiag:lupp:cpu:f32:n=16,count=100 --repeat 2 --against"
sed 's/"median_s": [^,]*/"median_s": 1e-12/' saved/one.json >saved/fast.json
sed 's/"median_s": [^,]*/"median_s": 1e3/; s/"date": "./"date": "3/' saved/one.json >saved/slow.json
expect 70 $again saved/fast.json; grep -q "^slower: .*:n=16,count=100" out; check "the slower row is listed" test $? = 0
grep -q "^1 of 1 rows" out; check "it is counted" test $? = 0
expect 0 $again saved --json; json; leaf rows.0.kept_s=1000 # the last of three runs counts
expect 0 bench --against saved --repeat 2; grep -q "^0 of 1 rows" out; check "its problems are the run's" test $? = 0
expect 0 bench tridiag:thomas:cpu:f32:n=16,count=100 --repeat 2 --against saved; said "no row of this run"
expect 66 $again nowhere; said "nowhere: cannot open"
echo '{}' >saved/empty.json
expect 66 $again saved/empty.json; said "no timed rows of"
echo '{' >saved/broken.json
expect 66 $again saved/broken.json; said "broken.json"
rm saved/[befs]*.json

# --- 74: outputs that cannot be written ---
expect 74 solve tridiag $h -b b.npy -x nowhere/x.npy; said "nowhere/x.npy"; silent out
expect 74 solve tridiag $h -b b.npy -x .; silent out
expect 74 solve tridiag $h -b b.npy -x x.npy --status nowhere/s.npy; said "nowhere/s.npy"
if [ -c /dev/full ]; then
    expect 74 solve tridiag $h -b b.npy -x /dev/full; said "/dev/full"; silent out
    for command in "info" "info --json" "--help" "--version" "gen --list" "solve tridiag $h -b b.npy -x x.npy"; do
        checks=$((checks + 1)); : >out
        "$shoal" $command >/dev/full 2>err; rc=$?
        [ $rc -eq 74 ] || fail "exit code 74 expected: shoal $command >/dev/full"
        check "one line of stderr: shoal $command >/dev/full" test "$(wc -l <err)" -eq 1
    done
else
    skip "full disk: there is no /dev/full"
fi
checks=$((checks + 1)); : >out
"$shoal" info >&- 2>err; rc=$?
[ $rc -eq 74 ] || fail "exit code 74 expected: shoal info with stdout closed"
checks=$((checks + 1))
"$shoal" solve tridiag $h -b b.npy -x closed.npy >&- 2>err; rc=$?
[ $rc -eq 74 ] || fail "exit code 74 expected: solve with stdout closed"
check "nothing was printed into a file" cmp -s closed.npy x.npy
"$shoal" info >out 2>&- </dev/null; rc=$?
check "stderr closed" test $rc -eq 0
check "no temporary files are left" test -z "$(ls -A | grep -i tmp)"

# --- 130: Ctrl-C, SIGTERM; env undoes a SIGINT that our caller, or a shell for what runs behind, has switched off ---
interrupt() { # interrupt SIGNAL ARGUMENT...: sends it once the program is at work
    sent=$1
    shift
    env --default-signal=INT "$shoal" "$@" >out 2>err </dev/null &
    job=$!
    busy $job
    kill "-$sent" $job 2>/dev/null
    wait $job
    rc=$?
    checks=$((checks + 1))
    [ $rc -eq 130 ] || fail "exit code 130 expected after $sent: shoal $*"
}
if env --default-signal=INT timeout --foreground --preserve-status 9 true 2>/dev/null; then
    checks=$((checks + 1))
    mkfifo pipe.npy # nobody writes to it: the program waits
    env --default-signal=INT timeout --foreground --preserve-status -k 20 -s INT 1 \
        "$shoal" solve tridiag $h -b pipe.npy -x none.npy --json >out 2>err </dev/null
    rc=$?
    [ $rc -eq 130 ] || fail "exit code 130 expected: interrupted while reading"
    json; leaf interrupted=true; leaf "command=solve tridiag"; has version seconds
    for part in dl d du b; do ln -s /dev/null null-$part.npy; done
    interrupt INT gen tridiag dominant --n 1000 --count 1e9 -o null --json
    json; leaf interrupted=true; leaf command=gen; leaf n=1000; leaf count=1000000000
    interrupt INT gen tridiag dominant --n 1000 --count 1e9 -o null
    said "interrupted"; silent out
    interrupt TERM gen tridiag dominant --n 1000 --count 1e9 -o null
    said "interrupted"; silent out
    interrupt INT bench tridiag:thomas:cpu:f64:n=512,count=20000 --json
    json; leaf interrupted=true
    # stages that take seconds on one thread: a matrix, its text, a file that is read, a check
    for name in large.npy large.mtx; do
        interrupt INT gen symindef equidistant --n 6000 --threads 1 -o $name
        said "interrupted"; check "no half of $name" test ! -e $name
    done
    interrupt INT verify tridiag:all:cpu:f64+f32:n=64,rows=2^23 --threads 1
    said "interrupted"
    { echo a,b; awk 'BEGIN { for (i = 0; i < 1500000; i++) print i "," i }'; } >large.csv
    interrupt INT train large.csv -o large.net --threads 1
    said "interrupted"; check "no model of a table that was not read" test ! -e large.net
else
    skip "Ctrl-C: needs timeout and env --default-signal of GNU coreutils"
fi

# --- the progress bar: on a terminal only ---
if command -v timeout >/dev/null && command -v script >/dev/null && script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
    [ -h null-b.npy ] || for part in dl d du b; do ln -s /dev/null null-$part.npy; done
    work="timeout 3 '$shoal' gen tridiag dominant --n 1000 --count 1e9 -o null"
    TERM=xterm script -qec "$work" /dev/null >out 2>err </dev/null
    check "a terminal sees a progress bar" grep -q "generate \[#" out
    TERM=xterm script -qec "$work --quiet" /dev/null >out 2>err </dev/null
    checks=$((checks + 1)); grep -q "generate" out && fail "--quiet has a progress bar"
    TERM=xterm script -qec "$work 2>err >file" /dev/null >out </dev/null
    checks=$((checks + 1)); grep -q "generate" err && fail "a file has a progress bar"
else
    skip "progress bar: needs script(1) and timeout(1)"
fi

summary test_cli.sh
