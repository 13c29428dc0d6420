#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# test_abi.sh LIBRARY LIST - the functions that the shared library exports are those of the list. One that
# is gone breaks programs that were linked with it; one that is new has to be entered, so that it can
# not go again unnoticed. `make abi` writes the list anew.
library=${1:?usage: test_abi.sh LIBRARY LIST} list=${2:?usage: test_abi.sh LIBRARY LIST}
command -v nm >/dev/null || { echo "skip  no nm"; exit 77; }
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT

export LC_ALL=C # one order everywhere
nm -D --defined-only "$library" | awk '{ print $3 }' | sort >"$dir/there"
sed '/^#/d' "$list" >"$dir/listed"
[ -s "$dir/there" ] || { echo "FAIL  nm finds no function in $library"; exit 1; }
sort -c -u "$dir/listed" || { echo "FAIL  $list is not in order"; exit 1; }

comm -13 "$dir/there" "$dir/listed" | sed 's/^/FAIL  gone from libshoal.so: /' | tee "$dir/gone"
comm -23 "$dir/there" "$dir/listed" | sed "s|$|; enter it in abi/libshoal.symbols (make abi)|;s/^/FAIL  new in libshoal.so: /" |
    tee "$dir/new"
if [ -s "$dir/gone" ]; then
    echo "A function that programs may use has disappeared. If it is meant, take it out of the list, raise the"
    echo "version in include/shoal/core.h (the soname changes with it), and say so in CHANGELOG.md."
fi
[ ! -s "$dir/gone" ] && [ ! -s "$dir/new" ] || exit 1
echo "ok    libshoal.so exports the $(wc -l <"$dir/listed") functions of the list"
