#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# coverage.sh BUILD [PREFIX] - which statements of PREFIX (default src/) the tests run in BUILD have executed: the share of
# each directory, and the files below 95 % with the lines that were never reached. BUILD was compiled with
# --coverage (`make coverage`). A source that is compiled for several types and levels counts once: a line is
# covered if it was executed in one of them.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$(cd "${1:?usage: coverage.sh BUILD [PREFIX]}" && pwd)
prefix=${2:-src/}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
find "$build" -name '*.gcda' >"$work/list"
[ -s "$work/list" ] || { echo "no .gcda file in $build: not compiled with --coverage, or no test has run"; exit 1; }

# FILE LINE REACHED of each statement of PREFIX in one object, into a file of its own.
cat >"$work/lines" <<'END'
gcov -t "$3" 2>/dev/null | awk -v root="$1/" -v prefix="$2" '
    { split($0, part, ":"); count = part[1]; line = part[2] + 0; gsub(/[ *]/, "", count) }
    line == 0 && part[3] == "Source" { file = $0; sub(/.*Source:/, "", file); sub(root, "", file); next }
    line > 0 && count != "-" && index(file, prefix) == 1 { print file, line, count ~ /^[#=]/ ? 0 : 1 }' |
    sort -u >"$(mktemp "$4/objectXXXXXX")"
END
tr '\n' '\0' <"$work/list" | xargs -0 -P "$(nproc)" -I '{}' sh "$work/lines" "$root" "$prefix" '{}' "$work"

# Reached in one object is reached.
sort -u "$work"/object* | awk '
    { key = $1 " " $2; there[key] = 1 }
    $3 { reached[key] = 1 }
    END { for (key in there) print key, key in reached ? 1 : 0 }' | sort -k1,1 -k2,2n |
    awk '
        { dir = $1; sub("/[^/]*$", "", dir); lines[$1]++; all[dir]++; total++ }
        $3 { hit[$1]++; done[dir]++; covered++ }
        !$3 { missed[$1] = missed[$1] " " $2 }
        END {
            for (dir in all) printf "%6.2f %%  %6d  %s\n", 100 * done[dir] / all[dir], all[dir], dir | "sort -k4"
            close("sort -k4")
            if (total) printf "%6.2f %%  %6d  all\n", 100 * covered / total, total
            for (file in lines)
                if (hit[file] < 0.95 * lines[file])
                    printf "below 95 %%: %s %.1f %%, never reached:%s\n", file, 100 * hit[file] / lines[file], missed[file] | "sort"
        }'
