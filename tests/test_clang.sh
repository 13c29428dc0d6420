#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# test_clang.sh BUILD CLANG COMPILER - clang, too, takes the C files of library, readers and program as the build in
# BUILD compiles them with COMPILER, without a warning. They are only checked (-fsyntax-only): toolchains.sh builds and
# runs them.
set -uo pipefail
build=$1 clang=$2 compiler=$3
commands=$build/compile_commands.json
[ -e "$commands" ] || { echo "skipped: the build writes no compile_commands.json"; exit 77; }
command -v "$clang" >/dev/null || { echo "skipped: there is no clang"; exit 77; }
openmp=$("$compiler" -print-file-name=include/omp.h) # clang's own may not be installed

# Flags, a tab, the file. Left out: the compiler, the output, precompiled headers, which are another compiler's, and
# builds for the emulator, the fuzzers and coverage.
entries() {
    sed -n 's/^ *"command": "\(.*\)",\{0,1\}$/\1/p' "$commands" | sed -E 's/\\(.)/\1/g; s/ -include [^ ]*cmake_pch.h//; s/ -Winvalid-pch//' |
        sed -nE '/-fsanitize|-DSHOAL_CUDA|-DSHOAL_EMULATED|-DFUZZING/! s/^[^ ]+ (.*) -o [^ ]+ -c ([^ ]*\/(src|io|cli)\/[^ ]*\.c)$/\1\t\2/p'
}
# Files with the same flags by one call; a file is checked once per type.
failed=0 checked=0
while IFS=$'\t' read -r flags files; do
    # shellcheck disable=SC2086 # words
    "$clang" -fsyntax-only $flags -Wno-unknown-warning-option -idirafter "${openmp%/*}" $files || failed=1
    set -- $files
    checked=$((checked + $#))
done < <(entries | awk -F '\t' '{ key = $2 ($1 ~ /-DSHOAL_SINGLE/) } !seen[key]++ { of[$1] = of[$1] " " $2 }
                                END { for (flags in of) print flags "\t" of[flags] }')
echo "$checked files"
[ "$failed" = 0 ] && [ "$checked" -gt 100 ]
