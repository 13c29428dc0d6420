#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# test_clang.sh BUILD CLANG [single] - clang, too, takes the C files of library, readers and program as the build in
# BUILD compiles them, without a warning; with `single` those for f32 as well as those for f64. They are only checked
# (-fsyntax-only): toolchains.sh builds and runs them. CLANG may be any compiler with the options of gcc.
set -uo pipefail
unset LD_PRELOAD # checks of the heap
build=$1 clang=$2 single=${3:-}
commands=$build/compile_commands.json
[ -e "$commands" ] || { echo "skipped: the build writes no compile_commands.json"; exit 77; }

# Flags, a tab, the file. Left out: the compiler, the output, precompiled headers, which are another compiler's, and
# builds for the emulator, the fuzzers and coverage.
entries() {
    sed -n 's/^ *"command": "\(.*\)",\{0,1\}$/\1/p' "$commands" |
        sed -E 's/\\(.)/\1/g; s/ -include [^ ]*cmake_pch.h//; s/ -Winvalid-pch//' |
        sed -nE '/-fsanitize|-DSHOAL_CUDA|-DSHOAL_EMULATED|-DFUZZING/! s/^[^ ]+ (.*) -o [^ ]+ -c ([^ ]*\/(src|io|cli)\/[^ ]*\.c)$/\1\t\2/p'
}
# A file is checked once per type; files with the same flags by one call.
calls() {
    awk -F '\t' -v both="$single" '{ type = $1 ~ /-DSHOAL_SINGLE/ }
        (both || !type) && !seen[$2, type]++ { files[$1] = files[$1] " " $2 }
        END { for (flags in files) print flags "\t" files[flags] }'
}
failed=0 checked=0
while IFS=$'\t' read -r flags files; do
    # -U: OpenMP's header may not be installed for clang
    # shellcheck disable=SC2086 # words
    "$clang" -fsyntax-only $flags -U_OPENMP -Wno-unknown-warning-option $files || failed=1
    checked=$((checked + $(wc -w <<<"$files")))
done < <(entries | calls)
echo "$checked files"
[ "$failed" = 0 ] && [ "$checked" -gt 100 ]
