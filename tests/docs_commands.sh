#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# docs_commands.sh PROGRAM [WORD...] - runs the commands that README.md and docs/*.md show, after "$ " or indented by
# four: "shoal ...", and, where libshoal.so lies beside the program, "cc ..." and "./NAME". Words choose those that
# contain one, or whose page does.
#
# The commands of one block run in one folder, so that a command finds what the one before it wrote; what it
# reads besides is made for it, small. Commands that would take hours run with smaller numbers (`small`), and are
# named. A command that does not end with 0 is a failure, and so is one that takes longer than LIMIT seconds
# (default 300). What is left out is named with its reason: what needs a GPU or a feature that is off, and what
# measures a machine or builds for it. About 5 minutes of processor time.
#
# README.md and docs/first-ten-minutes.md are sessions: programs ("save this as `NAME`:") are saved, commands run in one
# shell from top to bottom and print what the page shows: the same words, any numbers; "..." is anything. "make install" and
# "pip install" of the first ten minutes install what the build has made; with LITERAL=1 they build it, too.
set -uo pipefail
program=$(realpath "${1:?usage: docs_commands.sh PROGRAM [WORD...]}")
shift
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ran=0 failed=0 skipped=0
hdf5=$("$program" --backend cpu info | awk '$1 == "hdf5" { print $2 }')
gpu=$("$program" info | awk '$1 == "cuda" { print $2; exit }')

# Why a command is not run; empty: it is.
why_not() {
    case "$1 " in
    *COMMAND*) echo "a pattern, not a command" ;;
    *:cuda:* | *"--backend cuda"*) [ "$gpu" = on ] || echo "needs a GPU" ;;
    *.h5*) [ "$hdf5" = on ] || echo "needs HDF5" ;;
    "bench "* | *"report -o "*) echo "measures the machine" ;;
    "make "*) echo "builds or installs all: CI and the test install do" ;;
    "cc "* | "./"*) [ -e "$(dirname "$program")/libshoal.so" ] || echo "no libshoal.so beside the program" ;;
    esac
}

# The same command with smaller numbers, where it would take long.
small() {
    case "$1" in
    "dataset "*) sed -E 's/--samples [0-9e]+/--samples 60/' <<<"$1" ;;
    "train "*"--epochs"*) sed -E 's/--epochs [0-9]+/--epochs 3/' <<<"$1" ;;
    "train "*) echo "$1 --epochs 3" ;;
    "price heston --compare"*) echo "$1 --paths 256 --steps 64" ;;
    "cva "*--compare*) sed -E 's/--outer [0-9]+/--outer 8 --inner 16 --rule-paths 4096/' <<<"$1" ;;
    "cva "*--counterparties* | "cva "*--add* | "cva "*--tables*) echo "$1 --outer 128 --inner 16 --rule-paths 4096" ;;
    "cva "*--validate*) echo "$1 --outer 256 --rule-paths 8192" ;;
    "price "*) sed -E 's/--paths 1e9/--paths 1e5/; s/(--lattice .*--paths) 1e5/\1 1e3/; s/--target-se 1e-[45]/--target-se 1e-3/' <<<"$1" ;;
    "study smallsym"*) sed -E 's/--count [0-9]+/--count 4/' <<<"$1" ;;
    "study symindef"*) sed -E 's/--n [0-9]+/--n 100/' <<<"$1" ;;
    *) echo "$1" ;;
    esac
}

# The exit code that the page says; 0 where it says nothing.
expected() {
    case "$1" in
    *"--method thomas --status"*) echo 1 ;; # systems without an answer, as the text below it says
    *) echo 0 ;;
    esac
}

# ---- a page from top to bottom ----

build=$(dirname "$program")
python=$(sed -n 's/^Python_EXECUTABLE:[A-Z]*=//p' "$build/CMakeCache.txt" 2>/dev/null)
[ -n "$(find "$build/python/shoal" -name '_core*' 2>/dev/null)" ] || python=

session_of() { # session_of PAGE: a script of `step LINE` with a command and what the page shows below it
    awk '
        function flush() {
            if (command != "") printf "step %d <<\47END_OF_STEP\47\n%s\n%sEND_OF_STEP\n", line, command, output
            command = output = ""
        }
        /^```/ && !inside {
            inside = 1; console = /console/; saved = /^```(c|python)$/ && name != ""
            if (saved) printf "cat >%s <<\47END_OF_FILE\47\n", name
            next
        }
        /^```$/ { if (saved) print "END_OF_FILE"; flush(); inside = console = saved = 0; name = ""; next }
        saved { print }
        console && /^\$ / { flush(); command = substr($0, 3); line = FNR; next }
        console { output = output $0 "\n" }
        !inside && match($0, /`[a-z.]+`:$/) { name = substr($0, RSTART + 1, RLENGTH - 3) }
        !inside && match($0, /`[a-z.]+` \(.*:$/) { name = substr($0, RSTART + 1, index(substr($0, RSTART + 1), "`") - 1) }' "$1"
}
alike() { # numbers and the name of the machine are masked; only a slow machine tells how long it will take
    sed -E '/ will take about /d; s/ on (cpu|cuda), .*/ on DEVICE/; s/^(backend|device) .*/\1/; s/[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?/#/g'
}
step() { # step LINE, with the command and the output on stdin: in this shell, so that it sees what was set before it
    local command output pattern code reason=
    IFS= read -r command
    output=$(cat)
    case $command in *pip*install* | python*) [ -n "${LITERAL:-}$python" ] || reason="this build has no Python package" ;; esac
    if [ -n "$reason" ]; then
        skipped=$((skipped + 1))
        echo "skip  $page:$1: $command ($reason)"
        return
    fi
    ran=$((ran + 1))
    eval "$command" >"$work/said" 2>&1 </dev/null
    code=$?
    pattern=$(alike <<<"$output" | sed 's/[][*?\\]/\\&/g; s/\.\.\./*/g')
    # shellcheck disable=SC2053 # it is a pattern
    if [ $code -ne "$(expected "$command")" ] || { [ -n "$output" ] && [[ $(alike <"$work/said") != $pattern ]]; }; then
        failed=$((failed + 1))
        echo "FAIL  $page:$1: $command: exit code $code; shown, and printed:"
        diff <(echo "$output") "$work/said"
    fi
}
session() { # session PAGE
    page=$1
    session_of "$root/$1" >"$work/session.sh"
    # shellcheck disable=SC1091
    . "$work/session.sh"
}
first_ten_minutes() {
    local HOME=$work/home
    mkdir -p "$HOME"
    cd "$root" || exit 1
    if [ -n "${LITERAL:-}" ]; then # for this CPU, which takes a third of the time
        make() { CMAKE_ARGS=-DSHOAL_ISA=native command make "$@"; }
        pip() { SHOAL_ISA=native command pip "$@"; }
    else
        make() { cmake --install "$build" --prefix "${2#PREFIX=}"; }
        pip() {
            "$python" -c 'import numpy, os; print(os.path.dirname(os.path.dirname(numpy.__file__)))' >"$work/packages"
            { echo "$build/python" && cat "$work/packages"; } >"$(python -c 'import site; print(site.getsitepackages()[0])')/shoal.pth"
        }
    fi
    session docs/first-ten-minutes.md
}

# ---- commands that stand alone ----

shown() { # as the page has it
    case $1 in
    "make "* | "cc "* | ./*) echo "$1" ;;
    *) echo "shoal $1" ;;
    esac
}
gen() { "$program" --backend cpu --quiet gen "$@" >/dev/null; }
batch() { # batch STEM...: a batch in its files, made under the names of the manual
    gen "${@:2}" -o made && for part in $1; do [ -e "$part.npy" ] || cp "made-$part.npy" "$part.npy"; done
}
vector() { # vector NAME [COUNT]: uniform numbers, sorted
    [ -e "$1.npy" ] && return
    gen rng uniform --count "${2:-100}" -o unsorted
    "$program" --quiet sort unsorted.npy -o "$1.npy" >/dev/null
}

table() { # table NAME SEED: a few rows of prices
    [ -e "$1" ] || "$program" --quiet dataset expou --samples 60 --seed "$2" --target-se 1e-3 -o "$1" >/dev/null
}

# Makes what the command reads and nothing before it has written.
prepare() {
    case "$1" in
    "solve tridiag --dl dl.npy"*) batch "dl d du b" tridiag dominant --n 8 --count 3 ;;
    "solve tridiag -A A.mtx"*)
        printf '%%%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 4\n2 2 4\n1 2 1\n2 1 1\n' >A.mtx
        rm -f b.npy
        batch b tridiag dominant --n 2
        ;;
    "solve small --psi"*) gen rng sobol --n 8 --count 24 -o psi && vector y 24 ;; # samples of one regression
    "solve small -A A.npy"*--packed* | "eig small -A A.npy"*--packed*)
        rm -f A.npy b.npy
        batch "A b" smallsym spd --n 8 --count 3 --packed
        ;;
    "solve small -A A.npy"* | "eig small -A A.npy"*) batch "A b" smallsym spd --n 8 --count 3 ;;
    "eig dense"*) [ -e A.npy ] || gen symindef equidistant --n 9 -o A ;;
    "eig tridiag"*) vector d && vector e 99 ;;
    "factor A.mtx"*) gen symindef equidistant --n 9 -o A.mtx && batch b tridiag dominant --n 9 ;;
    "factor A.h5"*) [ -e A.h5 ] || gen symindef equidistant --n 9 -o A.h5 ;;
    "factor A.npy"*--stages*) gen symindef equidistant --n 600 -o A ;;
    "factor A.npy"*) [ -e A.npy ] || gen symindef equidistant --n 9 -o A; batch b tridiag dominant --n 9 ;;
    *"triplets FILE.txt"*) printf '1 1 2\n2 1 1\n2 2 2\n' >FILE.txt ;;
    "merge "*) vector a && vector b && vector i && vector j ;;
    "sort "*) vector x && vector price && vector id ;;
    "recur "*) vector s && vector t && vector x ;;
    "cva book.csv"*)
        cp "$root/examples/book.csv" "$root/examples/market.csv" .
        printf 'payoff,assets,strike,maturity\ncall,ALFA,100,1\n' >trade.csv
        printf 'set,threshold,mta\nrates,0,0.5\nequity,10,1\n' >sets.csv
        printf 'counterparty,hazard\nAarhus,0.02\n' >parties.csv
        case $1 in
        *--sets*) sed 's/$/,rates/; 1s/rates$/set/; $s/rates$/equity/' book.csv >b && mv b book.csv ;;
        *--greeks* | *--gammas*) sed '/basket/d; /max/d' book.csv >b && mv b book.csv ;;
        *--counterparties*) sed 's/$/,Aarhus/; 1s/Aarhus$/counterparty/' book.csv >b && mv b book.csv ;;
        esac
        ;;
    "dataset "*ranges.csv*) printf 'parameter,low,high\nstrike,0.8,1.2\n' >ranges.csv ;;
    "train "*)
        table train.csv 1
        table validation.csv 2
        ;;
    "predict expou.net"*)
        table test.csv 3
        [ -e expou.net ] || cp "$root/examples/expou.net" .
        [ -e params.csv ] || cut -d, -f1-7 test.csv >params.csv
        ;;
    esac
}

# page:block<TAB>command, a line each; a command that goes on after a backslash is one.
commands() {
    local page
    for page in README.md docs/cli.md docs/*.md; do
        case $page in docs/performance.md | docs/first-ten-minutes.md) continue ;; esac # measured elsewhere; a session
        awk -v page="$page" '
            /^```/ || /^#/ { block++ }
            page == "README.md" && /^\$ / { next } # a session, too
            more { line = line " " $0 }
            !more && sub(/^(\$ |    )shoal /, "") { line = $0; found = 1 }
            !more && !found && /^(\$ |    )(cc |make |\.\/)/ { line = $0; sub(/^(\$ |    )/, "", line); sub(/ +#.*/, "", line); found = 1 }
            found { more = sub(/ *\\$/, "", line); if (!more) { gsub(/ +/, " ", line); print page ":" block "\t" line; found = 0 } }
            ' "$page"
    done | awk '!seen[$0]++'
}

# A pkg-config that knows the library beside the program, as if it were installed.
mkdir "$work/bin"
cat >"$work/bin/pkg-config" <<SHIM
#!/bin/sh
echo "-I$root/include -L$(dirname "$program") -lshoal -Wl,-rpath,$(dirname "$program")"
SHIM
chmod +x "$work/bin/pkg-config"

cd "$root" || exit 1
last=""
declare -A seen
while IFS=$'\t' read -r block command; do
    chosen=$([ $# -eq 0 ] && echo yes)
    for word in "$@"; do [[ "$block $command" != *"$word"* ]] || chosen=yes; done
    [ -n "$chosen" ] || continue
    reason=$(why_not "$command")
    if [ -n "$reason" ]; then
        skipped=$((skipped + 1))
        echo "skip  ${block%:*}: $(shown "$command") ($reason)"
        continue
    fi
    case $command in
    *--shard*) ;;
    "price "* | "cva "*) # nothing that comes later reads what these write: once is enough
        [ -z "${seen[$command]:-}" ] || continue
        seen[$command]=1
        ;;
    esac
    if [ "$block" != "$last" ]; then
        folder=$(mktemp -d "$work/XXXXXX")
        cd "$folder" || exit 1
        ln -s "$root/examples" "$root/bench" .
        mkdir out docs
        last=$block
    fi
    prepare "$command" 2>"$work/prepare" || { echo "cannot prepare: $(cat "$work/prepare")"; }
    smaller=$(small "$command")
    [ "$smaller" = "$command" ] || echo "small ${block%:*}: shoal $smaller"
    begun=$SECONDS
    case $command in
    "cc "* | ./*) PATH=$work/bin:$PATH timeout "${LIMIT:-300}" bash -c "$command" >"$work/said" 2>&1 </dev/null ;;
    *)
        read -r -a words <<<"$smaller"
        timeout "${LIMIT:-300}" "$program" "${words[@]}" >"$work/said" 2>&1 </dev/null
        ;;
    esac
    code=$?
    ran=$((ran + 1))
    [ $((SECONDS - begun)) -lt 20 ] || echo "slow  ${block%:*}: $(shown "$smaller"): $((SECONDS - begun)) s"
    if [ $code -ne "$(expected "$command")" ]; then
        failed=$((failed + 1))
        echo "FAIL  ${block%:*}: $(shown "$command"): exit code $code"
        tail -n 3 "$work/said"
    fi
done < <(commands)

is_chosen() { # is_chosen PAGE WORD...
    local page=$1
    shift
    [ $# -eq 0 ] && return
    for word in "$@"; do [[ "$page" != *"$word"* ]] || return 0; done
    return 1
}
if is_chosen README.md "$@"; then
    mkdir "$work/readme" && cd "$work/readme" && ln -s "$root/examples" . || exit 1
    PATH=$build:$PATH session README.md
fi
if is_chosen README.md "$@" && [ -n "$python" ]; then
    ran=$((ran + 1))
    awk '/^```python$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$root/README.md" >"$work/readme.py"
    PYTHONPATH=$build/python "$python" "$work/readme.py" >"$work/said" 2>&1 ||
        { failed=$((failed + 1)) && echo "FAIL  README.md: its Python" && cat "$work/said"; }
fi
if is_chosen docs/first-ten-minutes.md "$@"; then first_ten_minutes; fi
echo "$((ran - failed)) passed, $failed failed, $skipped skipped"
[ $ran -gt 0 ] && [ $failed -eq 0 ]
