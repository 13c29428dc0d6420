#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# api.sh [INCLUDE_DIR] - the page docs/api.md, made of the public headers, to stdout: what each header says of
# itself, every type, constant and function with the comment above it. `make docs` writes the page, the test
# `docs` compares it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
include=${1:-$here/../include}/shoal
export LC_ALL=C # one order of the headers everywhere
headers=$include/core.h
for header in "$include"/*.h; do
    case ${header##*/} in
    core.h | shoal.h) ;; # the first; the one that includes all
    *) headers="$headers $header" ;;
    esac
done
cat <<'END_OF_HEAD'
# API reference

Generated from the public headers by [api.sh](api.sh) (`make docs`); do not edit. `#include <shoal/shoal.h>` includes
all of them. Begin with [first-ten-minutes.md](first-ten-minutes.md). [design.md](design.md#api) has the rules for all
functions. Each module has a page: [tridiag](tridiag.md), [band](band.md), [smallsym](smallsym.md),
[symindef](symindef.md), [recur](recur.md), [sort](sort.md), [rng](rng.md), [pricing](pricing.md), [american and cva](cva.md),
[dataset](surrogate.md), [surrogate](surrogate-network.md), [units](design.md#units).
In a comment `[x]` at the end is the default.
END_OF_HEAD
# shellcheck disable=SC2086 # a list of files without blanks
awk -f "$here/api.awk" $headers
