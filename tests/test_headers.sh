#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# test_headers.sh INCLUDE_DIR CC [CXX] - each public header compiles alone: as strict C11, as C17 and,
# given a C++ compiler, as C++11 and C++20, all warnings being errors; as C++ the functions are C's.

include=${1:?usage: test_headers.sh INCLUDE_DIR CC [CXX]} cc=${2:?} cxx=$3
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
failures=0 checks=0

compile() { # name, compiler and options...
    name=$1
    shift
    checks=$((checks + 1))
    if "$@" -Wall -Wextra -Wpedantic -Wshadow -Werror -I"$include" -c -o "$dir/out.o" 2>"$dir/err"; then
        echo "ok    $name"
    else
        failures=$((failures + 1))
        echo "FAIL  $name"
        cat "$dir/err"
    fi
}

for header in "$include"/shoal/*.h; do
    base=$(basename "$header")
    # twice: the guard holds
    printf '#include <shoal/%s>\n#include <shoal/%s>\n' "$base" "$base" >"$dir/use.c"
    printf 'const char *use(void);\nconst char *use(void) { return shoal_version(); }\n' >>"$dir/use.c"
    cp "$dir/use.c" "$dir/use.cpp"
    compile "$base as C11" "$cc" -std=c11 -pedantic-errors -Wstrict-prototypes "$dir/use.c"
    compile "$base as C17" "$cc" -std=c17 -pedantic-errors -Wstrict-prototypes "$dir/use.c"
    [ -n "$cxx" ] || continue
    for standard in c++11 c++20; do
        if "$cxx" -std=$standard -x c++ -fsyntax-only /dev/null 2>/dev/null; then
            compile "$base as $standard" "$cxx" -std=$standard -pedantic-errors "$dir/use.cpp"
        fi
    done
    if command -v nm >/dev/null; then
        checks=$((checks + 1))
        nm "$dir/out.o" | grep -q 'U shoal_version$' || {
            failures=$((failures + 1))
            echo "FAIL  $base: shoal_version has no C linkage in C++"
        }
    fi
done
[ -n "$cxx" ] || echo "skip  no C++ compiler"
echo "$checks checks, $failures failed"
[ "$failures" -eq 0 ]
