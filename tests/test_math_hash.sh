#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# test_math_hash.sh - do builds of core/math.h agree to the last bit?
#
#     test_math_hash.sh [-n COUNT] PROGRAM...
#
# Runs every program with `--hash [COUNT]` and fails if an output differs from the first, if a
# program fails, or if fewer than two ran. A program that exits with 77 is skipped with a message;
# where that leaves fewer than two, the script exits with 77 as well.

count=""
if [ "$1" = "-n" ]; then
    count=$2
    shift 2
fi

first="" expected="" compared=0 skipped=0 status=0
for program in "$@"; do
    hashes=$("$program" --hash ${count:+"$count"})
    code=$?
    if [ $code -eq 77 ]; then
        echo "skipped: $program"
        skipped=$((skipped + 1))
        continue
    elif [ $code -ne 0 ] || [ -z "$hashes" ]; then
        echo "FAIL: $program exited with $code"
        status=1
        continue
    fi
    compared=$((compared + 1))
    if [ -z "$first" ]; then
        first=$program expected=$hashes
        echo "$hashes"
    elif [ "$hashes" = "$expected" ]; then
        echo "equal: $program"
    else
        echo "FAIL: $program differs from $first:"
        echo "$hashes"
        status=1
    fi
done
if [ $status -eq 0 ] && [ $compared -lt 2 ]; then
    echo "nothing to compare: $compared ran, $skipped skipped"
    [ $skipped -gt 0 ] && exit 77
    exit 1
fi
exit $status
