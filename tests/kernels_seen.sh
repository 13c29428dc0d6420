#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# kernels_seen.sh FOLDER SOURCES - whether AddressSanitizer has watched every kernel that SOURCES launch.
#
# The emulator's tests leave the kernels that they ran in FOLDER (SIMT_SEEN): the file and the name of each.
# A kernel counts by file and name, whatever its template arguments are.
set -u
folder=${1:?usage: kernels_seen.sh FOLDER SOURCES} sources=${2:?sources}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

cat "$folder"/* 2>/dev/null | sed -E 's|^.*/src/([^ ]*) \(?([A-Za-z_0-9:]+).*|\1 \2|' | sort -u >"$work/seen"
[ -s "$work/seen" ] || { echo "no kernels in $folder"; exit 1; }
cd "$sources" || exit 2
grep -rnoE --include='*.cu' --include='*.cuh' 'SHOAL_LAUNCH[A-Z_]*\(\(?[A-Za-z_0-9:]+' . | grep -v '^./core/launch.cuh' |
    sed -E 's|^\./([^:]*):[0-9]*:SHOAL_LAUNCH[A-Z_]*\(\(?|\1 |' | sort -u >"$work/launched"
comm -23 "$work/launched" "$work/seen" >"$work/missing"
if [ -s "$work/missing" ]; then
    echo "kernels that no test under AddressSanitizer has run:"
    cat "$work/missing"
    exit 1
fi
echo "$(wc -l <"$work/launched") kernels seen"
