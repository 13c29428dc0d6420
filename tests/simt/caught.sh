#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# caught.sh - a planted bug must be caught: the program fails, says what is expected, and points at
# the planted line.
#
#   caught.sh SOURCE BUG PATTERN COMMAND...
#
# PATTERN is an extended regular expression that must occur in the output. If SOURCE marks a line
# with BUG(name), that file and line must occur as well, unless PATTERN speaks of wrong results.
set -u
source=$1 bug=$2 pattern=$3
shift 3
output=$("$@" "$bug" 2>&1)
status=$?
printf '%s\n' "$output" | head -n 40
if [ $status -eq 0 ]; then
    echo "caught.sh: $bug went unnoticed"
    exit 1
fi
if [ $status -eq 2 ]; then
    echo "caught.sh: $bug did not run"
    exit 1
fi
if ! printf '%s\n' "$output" | grep -Eq "$pattern"; then
    echo "caught.sh: $bug ended with $status, but without \"$pattern\""
    exit 1
fi
line=$(grep -n "BUG($bug)" "$source" | cut -d: -f1)
case $pattern in *wrong*) line= ;; esac
if [ -n "$line" ] && ! printf '%s\n' "$output" | grep -q "$(basename "$source"):$line"; then
    echo "caught.sh: $bug was found, but not at line $line"
    exit 1
fi
echo "caught.sh: $bug caught"
