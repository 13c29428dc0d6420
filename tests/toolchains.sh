#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# toolchains.sh [COMPILER...] - builds library, program and native tests with every compiler named (default: gcc 11 to
# 14 and clang 14 to 19), warnings as errors, and runs a small set of tests. Prints a table; a compiler that is not
# there is skipped with a line, but one must be there. Run before a release. INSTALL=1 installs what apt-get has. The builds hold one
# instruction level, no CUDA, and lie below WORK (default: a temporary folder). TESTS is the expression of ctest, and
# the targets built for it.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
[ $# -gt 0 ] || set -- gcc-{11,12,13,14} clang-{14,15,16,17,18,19}
tests=${TESTS:-core tridiag smallsym recur sort symindef pricing rng math io}
jobs=${JOBS:-$(nproc)}
work=${WORK:-$(mktemp -d)}
[ -n "${WORK:-}" ] || trap 'rm -rf "$work"' EXIT
mkdir -p "$work"
bad=0 tried=0

programs() { for test in $tests; do echo "test_$test"; done; }
expression() { echo "^($(tr ' ' '|' <<<"$tests"))\$"; }

printf '%-12s %-10s %-10s %s\n' compiler built tests seconds
for compiler in "$@"; do
    if ! command -v "$compiler" >/dev/null && [ "${INSTALL:-0}" = 1 ]; then
        apt-get install -qq -y --no-install-recommends "$compiler" >"$work/apt.log" 2>&1
    fi
    if ! command -v "$compiler" >/dev/null; then
        printf '%-12s skipped: it is not installed\n' "$compiler"
        continue
    fi
    start=$SECONDS built=no passed=- tried=1
    log=$work/$compiler.log build=$work/$compiler
    cxx=${compiler/gcc/g++}
    cxx=${cxx/clang/clang++}
    command -v "$cxx" >/dev/null || cxx=false # no emulator then: native tests need none
    # shellcheck disable=SC2046 # a word a target
    if CC=$compiler CXX=$cxx cmake -S . -B "$build" -DSHOAL_TESTS=ON -DSHOAL_SMALL_TESTS=ON -DSHOAL_WERROR=ON \
        -DSHOAL_CUDA=OFF -DSHOAL_ISA=native -DSIMT_SANITIZERS=OFF >"$log" 2>&1 &&
        cmake --build "$build" -j "$jobs" --target shoal shoal_cli $(programs) >>"$log" 2>&1; then
        built=yes
        passed=$(cd "$build" && ctest -j "$jobs" -R "$(expression)" 2>&1 | tee -a "$log" |
            sed -n 's/^\([0-9]*\)% tests passed, \([0-9]*\) tests failed out of \([0-9]*\).*/\2 \3/p' |
            { read -r failed all && echo "$((all - failed))/$all"; })
    fi
    [ "$built" = yes ] && [ "${passed%/*}" = "${passed#*/}" ] && [ -n "$passed" ] || bad=1
    printf '%-12s %-10s %-10s %d\n' "$compiler" "$built" "${passed:--}" $((SECONDS - start))
    [ "$built" = yes ] || grep -m 5 -E 'error|Error' "$log"
done
[ $tried = 1 ] || echo "none of these compilers is there"
exit $((bad || !tried))
