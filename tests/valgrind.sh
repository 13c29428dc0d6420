#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# valgrind.sh BUILD [WORD...] - the test programs of the CPU under valgrind's memcheck: reads of what was never
# written, reads and writes out of bounds, leaks. Words choose the tests whose names contain one. A test that takes
# longer than LIMIT seconds (default 300) is named and passed over, and so is one with an instruction that
# valgrind does not know. A test that fails is a fault as well, unless it stands below with the reason.
set -uo pipefail
build=$(cd "${1:?usage: valgrind.sh BUILD [WORD...]}" && pwd)
shift
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
command -v valgrind >/dev/null || { echo "skipped: there is no valgrind"; exit 77; }
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive
good=0 bad=0 late=0 cannot=0 differ=0

# Tests that may fail under valgrind alone: "name<TAB>check<TAB>reason". Every check that fails there has to hold the
# words of the second field.
excused() {
    local twice="valgrind rounds a multiply-add of ARM's vectors twice: pairs of doubles are no more exact than one, and vectors have other bits"
    [ "$(uname -m)" = aarch64 ] || return
    printf '%s\t%s\t%s\n' bench_study_symindef 'vector_error") <= number(row, "' "$twice" \
        bench_symindef_check 'bench_product_error(&p) == 0' "$twice" \
        bench_rng 'a fill in pieces gives' "$twice" \
        rng 'wrong == 0' "$twice" \
        symindef 'memcmp(f.' "$twice" \
        symindef_blocked 'most == f.info.growth' "$twice" \
        symindef_accuracy 'memcmp(one + ' "$twice"
}
# excuse NAME: the reason, if all failed checks of the log are excused
excuse() {
    local name check reason
    while IFS=$'\t' read -r name check reason; do
        [ "$name" = "$1" ] && ! grep 'failed:' "$log" | grep -qvF -e "$check" && { echo "$reason"; return 0; }
    done < <(excused)
    return 1
}

# The tests of CTest that are programs of ours on the CPU: "name<TAB>command"
commands() {
    (cd "$build" && ctest -N -V -L native) | awk '
        /Test command: / { sub(/.*Test command: /, ""); command = $0 }
        /Test +#[0-9]+: / { name = $NF; if (command ~ /^[^ ]*\/tests\/test_[a-z_]*( |$)/) print name "\t" command; command = "" }' |
        grep -vE '_(plain|asan|tsan|cuda|O0|clang)[	"_ ]|_(plain|asan|tsan|clang)$'
}

memcheck() { # memcheck [OPTION] PROGRAM ARGUMENT...: leaves its exit code in code
    timeout "${LIMIT:-300}" valgrind --error-exitcode=99 -q --leak-check=full --suppressions="$here/valgrind.supp" \
        "$@" >"$log" 2>&1 </dev/null
    code=$?
}

while IFS=$'\t' read -r name command; do
    chosen=$([ $# -eq 0 ] && echo yes)
    for word in "$@"; do [[ $name != *"$word"* ]] || chosen=yes; done
    [ -n "$chosen" ] || continue
    read -r -a words <<<"${command//\"/}"
    [[ $command != *--backend=cpu* ]] || words+=(--small)
    memcheck "${words[@]}"
    # Long blocks of vector instructions can be too much for its translator.
    if grep -q "the 'impossible' happened" "$log"; then memcheck --vex-guest-max-insns=20 "${words[@]}"; fi
    if grep -qE "the 'impossible' happened|unhandled instruction" "$log"; then
        cannot=$((cannot + 1)); echo "cannot  $name: valgrind gave up"
        continue
    fi
    case $code in
    0 | 77) good=$((good + 1)) ;;
    1)
        if reason=$(excuse "$name"); then
            differ=$((differ + 1)); echo "differs $name: $reason"
        else
            bad=$((bad + 1)); echo "FAULT   $name: a check failed"; grep -m 3 failed: "$log"
        fi
        ;;
    124) late=$((late + 1)); echo "late    $name: more than ${LIMIT:-300} s" ;;
    *)
        bad=$((bad + 1))
        echo "FAULT   $name: exit code $code"
        { grep -E '^==|FAIL' "$log" || tail -n 5 "$log"; } | head -n 40
        ;;
    esac
done < <(commands)
echo "$good clean, $bad with faults, $differ with another verdict for a known reason, $late too slow, $cannot that valgrind cannot run"
[ $good -gt 0 ] && [ $bad -eq 0 ]
