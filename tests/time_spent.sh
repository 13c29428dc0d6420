#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# time_spent.sh BUILD - where the time of `make test` went: core-seconds of the last build of every file, by what it
# is part of (ninja's log), and seconds of the tests, by label, with the longest of each (CTest's log).
set -eu
build=${1:?usage: time_spent.sh BUILD}
if [ -f "$build/.ninja_log" ]; then
    echo "Time spent compiling and linking, core-seconds:"
    awk -F '\t' '
        NR == 1 { next }
        { took[$4] = ($2 - $1) / 1000 }
        function part_of(file) {
            if (file ~ /\.(cu\.o|ptx)$/) return "nvcc"
            if (file ~ /_asan/ || file ~ /replay_/) return "emulator, asan"
            if (file ~ /_tsan/) return "emulator, tsan"
            if (file ~ /_plain|emulated|simt/) return "emulator, plain"
            if (file ~ /^tests\//) return "test programs"
            if (file ~ /^cli\/|^bench\/|^io\/|^shoal$|^man/) return "program and bench"
            return "library"
        }
        END {
            for (file in took) { part = part_of(file); sum[part] += took[file]; count[part]++; all += took[file] }
            for (part in sum) printf "%8.1f  %s, %d files\n", sum[part], part, count[part] | "sort -rn"
            close("sort -rn")
            printf "%8.1f  in all\n", all
        }' "$build/.ninja_log"
fi
log=$build/Testing/Temporary/LastTest.log
[ -f "$log" ] || exit 0
echo "Time spent in tests, seconds:"
awk '
    /^[0-9]+\/[0-9]+ Testing: / { name = $3 }
    /^Test time = / { took[name] = $4 }
    function label_of(name) {
        if (match(name, /_(plain|asan|tsan)(_|$)/)) return "emulator, " substr(name, RSTART + 1, match(name, /(plain|asan|tsan)/) ? RLENGTH : 0)
        if (name ~ /^fuzz/) return "readers (corpora)"
        if (name ~ /^(cli|docs|install)/) return "program"
        if (name ~ /^bench/) return "bench"
        return name ~ /_cuda$/ ? "gpu" : "library"
    }
    END {
        for (name in took) {
            label = label_of(name); sum[label] += took[name]; count[label]++; all += took[name]
            if (took[name] > most[label]) { most[label] = took[name]; longest[label] = name }
        }
        for (label in sum)
            printf "%8.1f  %s, %d tests, longest %s %.1f\n", sum[label], label, count[label], longest[label], most[label] | "sort -rn"
        close("sort -rn")
        printf "%8.1f  in all\n", all
    }' "$log"
