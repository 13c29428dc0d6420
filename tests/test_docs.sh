#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# test_docs.sh SOURCE_DIR PROGRAM LIBRARY CC [figures] - the documents are true to the tree: docs/api.md is what docs/api.sh
# makes of the headers, with every exported function; docs/cli.md has the options of --help; a complete C program of a page is one of examples/, and every example builds with
# warnings as errors and ends with 0; links lead somewhere; every picture is shown, and is an SVG. With figures:
# that alone which takes a minute, the pictures of docs/figures.sh.
set -uo pipefail
root=$(cd "${1:?usage: test_docs.sh SOURCE_DIR PROGRAM LIBRARY CC}" && pwd)
program=$(realpath "${2:?}") library=$(realpath "${3:?}") cc=${4:?}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
checks=0 failed=0
check() { # check WHAT COMMAND...
    local what=$1
    shift
    checks=$((checks + 1))
    if "$@" >"$work/said" 2>&1; then echo "ok    $what"; else
        failed=$((failed + 1))
        echo "FAIL  $what"
        head -n 12 "$work/said"
    fi
}
cd "$root" || exit 1
pages=(README.md CONTRIBUTING.md bench/results/README.md docs/*.md)

drawn() {
    local picture
    docs/figures.sh "$program" "$work/img" || return 1
    for picture in "$work"/img/*; do cmp "docs/img/${picture##*/}" "$picture" || return 1; done
}
if [ $# -ge 5 ]; then
    check "the pictures of docs/figures.sh (make docs)" drawn
    [ $failed -eq 0 ]
    exit
fi

# ---- the reference ----

sh docs/api.sh >"$work/api.md"
check "docs/api.md is made of the headers (make docs)" diff docs/api.md "$work/api.md"
missing() { # functions of the list that the page does not have
    sed '/^#/d' abi/libshoal.symbols | while read -r name; do
        grep -qF "[\`$name\`](#" docs/api.md || echo "$name"
    done | tee "$work/missing"
    [ ! -s "$work/missing" ]
}
check "every exported function is in docs/api.md" missing

listed() { docs/options.sh "$program" docs/cli.md | diff docs/cli.md -; }
check "docs/cli.md lists the options of --help (make docs)" listed
silent_options() { ! grep -nE '^- `-[^`]*`(, `-[^`]*`)*: *$' docs/cli.md; }
check "docs/cli.md describes every option" silent_options

# ---- programs ----

for example in examples/*.c; do
    name=$(basename "$example" .c)
    sed -n '/^#include/,$p' "$example" >"$work/$name.code"
    check "$example builds" "$cc" -std=c11 -Wall -Wextra -Wpedantic -Werror -I include "$example" -o "$work/$name" "$library" \
        -Wl,-rpath,"$(dirname "$library")"
    [ ! -x "$work/$name" ] || check "$example runs" "$work/$name"
done
# shellcheck disable=SC2016 # these are Markdown's backticks
awk -v work="$work" '
    /^```c$/ { inside = 1; file = work "/block-" ++count ".c"; complete = 0; next }
    /^```$/ && inside { inside = 0; close(file); print FILENAME, FNR, file, complete }
    inside { print >file; if (/int main/) complete = 1 }' "${pages[@]}" >"$work/blocks"
is_example() { # is_example BLOCK: its text is that of an example
    local code
    for code in "$work"/*.code; do ! cmp -s "$1" "$code" || return 0; done
    return 1
}
is_part() { # is_part BLOCK: its lines stand together in an example, maybe indented
    local code
    for code in "$work"/*.code; do [[ $(sed 's/^    //' "$code") != *"$(sed 's/^    //' "$1")"* ]] || return 0; done
    return 1
}
while read -r page line block complete; do
    [ "$complete" = 0 ] || check "$page:$line: the program is one of examples/" is_example "$block"
    [ "$page$complete" != README.md0 ] || check "$page:$line: the lines are those of an example" is_part "$block"
done <"$work/blocks"
short() { [ "$(wc -l <README.md)" -le 150 ]; }
check "README.md has at most 150 lines" short
check "README.md has lines of C" grep -q "^README.md " "$work/blocks"
for module in tridiag smallsym symindef recur sort rng pricing cva surrogate first-ten-minutes; do
    check "docs/$module.md has a program" grep -q "^docs/$module.md .* 1\$" "$work/blocks"
done

# ---- links and pictures ----

# anchors PAGE: the file with those of its headings, as GitHub makes them: the second of the same ends with -1
anchors() {
    local file
    file=$work/$(basename "$1").anchors
    [ -e "$file" ] || awk '/^```/ { code = !code } /^#+ / && !code { sub(/^#+ /, ""); print tolower($0) }' "$1" |
        sed 's/\[\([^]]*\)\]([^)]*)/\1/g; s/[^a-z0-9_ -]//g; s/ /-/g' |
        awk '{ print seen[$0] ? $0 "-" seen[$0] : $0; seen[$0]++ }' >"$file"
    echo "$file"
}
links() { # links that lead nowhere
    local page link target anchor
    for page in "${pages[@]}"; do
        # shellcheck disable=SC2016
        awk '/^```/ { code = !code } !code' "$page" | sed -E 's/`[^`]*`//g; s/^\[[^]]*\]: (.*)/](\1)/' | grep -o '](\([^ )]*\))' | sed 's/^](//; s/)$//' | sort -u |
            while read -r link; do
                case $link in http*) continue ;; esac
                target=${link%%#*} anchor=
                case $link in *#*) anchor=${link#*#} ;; esac
                if [ -z "$target" ]; then target=$page; else target=$(dirname "$page")/$target; fi
                if [ ! -e "$target" ]; then
                    echo "$page: $link is not there"
                elif [ -n "$anchor" ] && ! grep -qxF -e "$anchor" "$(anchors "$target")"; then
                    echo "$page: $link: no such heading"
                fi
            done
    done | tee "$work/dead"
    [ ! -s "$work/dead" ]
}
check "links lead somewhere" links
rooms() { # folders that docs/design.md names and do not exist, and those that it does not name
    awk -F '|' '/^## / { inside = /^## Source tree/ } inside { print $3 }' docs/design.md | grep -o '`[^`]*`' | tr -d '`' |
        sort >"$work/named"
    while read -r room; do
        [ -e "$room" ] || echo "docs/design.md: $room is not there"
    done <"$work/named"
    for room in */ src/*/; do
        case $room in build* | include/ | src/) continue ;; esac
        git check-ignore -q "$room" 2>/dev/null || grep -qxF "$room" "$work/named" || echo "docs/design.md: $room is not named"
    done
}
no_lines() { # no_lines COMMAND: it prints nothing
    "$1" | tee "$work/lines"
    [ ! -s "$work/lines" ]
}
check "docs/design.md names the rooms" no_lines rooms
pictures() {
    local picture
    for picture in docs/img/*; do
        case $picture in *.svg) ;; *) echo "$picture is no SVG" ;; esac
        grep -qF "img/${picture##*/}" "${pages[@]}" || echo "$picture is not shown by any page"
    done | tee "$work/alone"
    [ ! -s "$work/alone" ]
}
check "pictures are shown, and are SVG" pictures
echo "$((checks - failed)) passed, $failed failed"
[ $failed -eq 0 ]
