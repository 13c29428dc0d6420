#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# words.sh [SOURCE_DIR] - finds wording to avoid in documents, headers, help and messages. Prints file:line, the words
# and a correction, then the number of findings per file. Fails if there are any.
#
# Documents are read without code, headers and Python in full, other C files only in their string literals. Pages
# that `make docs` generates are left out: their words are in tools/. A document line may have 119 columns, not
# counting the targets of its links, a line of a public header 120.
# shellcheck disable=SC2016 # Markdown's backticks, fields of awk
set -eu
cd "${1:-$(dirname "$0")/..}"
export LC_ALL=C.UTF-8
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# PATTERN (extended regular expression, any case) | an example that it must find | the correction
many='numbers|bytes|[KMG]i?B|bits|keys|systems|rows|prices|options|steps|paths|unknowns|dates|lines|samples|points'
many="$many|operations|multiplications|additions|elements|columns|values|threads|blocks|warps|words|passes|solves"
many="$many|ms|us|milliseconds|microseconds|seconds|normals|flops|million|billion|thousand"
one='asset|contract|system|number|column|row|line|step|curve|panel|object|part|file|normal|program|page|point|pair'
each='second|minute|hour|day|month|year|row|line|system|step|path|date|point|pass|node|block|thread|unknown|key|type'
each="$each|contract|command|call|column|matrix|problem|asset|kind|file|machine|platform|lane|warp|regression"
after='of|in|and|or|each|on|at|for|is|are|was|were|from|to|by|with|if|while|when'
code='`c`|library|program|solver|kernel|driver|method|function|rule|regression|search|compiler|plan|network'
cat >"$work/table" <<END
(^|[^a-z])($many) an? ($each)([].,;:)|]| ($after) |$)|5 numbers a row|5 numbers per row
(^|[^a-z])an? ($one) an? ($each|asset|option|module|count)([^-a-z]|$)|a step a path|a step per path
[0-9] an? (second|minute|hour|day|year)|1439 a second|1439 per second
(thousand|million) million|1.7 thousand million keys|1.7 billion keys
(^|[^a-z])wants([^a-z]|$)|the plan wants memory|needs, requires, takes
($code) (knows|thinks|believes|asks|tells|says)([^a-z]|$)|the rule knows the paths|uses, contains, returns, sets, prints
(^|[^a-z])(has|have|had) not([.,;:)]|$)|a name that the market has not|does not have
(is|are|was|were) made (out )?of|docs/api.md is made of the headers|consists of, is generated from
(how many|[|]) *times as fast|How many times as fast it is|speedup
in the (root )?mean( square)?([.,;:)]|$)|0.01 in the mean.|0.01 on average; rms 0.01
as (the|its|their|a) [a-z]+ (has|have) (it|them)|as the paper has it|as in the paper
(^|[^a-z])so it is (for|where|with|in)|so it is for peers|this also applies to
(^|[^a-z])aimed at|80 % was aimed at|the target was 80 %
(is|are) told([^a-z]|$)|the program is told --status|reported; set, given
(^|[^a-z])the same of |the same of B|the same for
the least and the most|the least and the most over the sizes|minimum to maximum
(^|[^a-z])but for |all but for one|except
for want of|for want of memory|without, because there is no
none of which|rows, none of which|and none
some of which are (none|not)|neighbours, some of which are none|some may be absent
(^|[.] )Whether [^.]*, (a|an|the|it|its) [^.]*(says|decides|tells|determines)|Whether it is, a rule decides|A rule decides whether
(^|[^a-z])(whoever|hitherto|broken-off)([^a-z]|$)|a broken-off run|interrupted; who; so far
at most [^.,;]* or less|at most 5 or less|up to
what (became|becomes) of|what became of each system|the status of
(is|are|was|were) (looked for|not looked (up|for))([^a-z]|$)|pointers are not looked up|checked
(^|[^a-z])there (is|are) not([.,;:)]|$)|where there is not|if there is none
biased (upwards|downwards)|biased upwards|biased up (down)
if (it|they) (is|are) not there|DIR is made if it is not there|does not exist; created if needed
that are there([^-a-z]|$)|the numbers that are there|present; added; in the struct
so many (bytes|paths|points|units|rows|numbers|systems|assets|dates)|in pieces of so many bytes|this many
(^|[^a-z])(stands?|stood) in (the|its|their) |a number stands in the column|is in; is part of
(^|[^a-z])wished|the wished error|target; given
(^|[^a-z])for ever([^-a-z]|$)|the last one for ever|without end; continues
(goes|go) with (neither|a|the) |pattern goes with neither array|can be combined with
END

# the texts, as file:line:text
find . -name '*.md' ! -path './build*' ! -path './.*' | sed 's,^\./,,' | sort | while read -r page; do
    head -n 9 "$page" | grep -qE 'generated.*`make docs`|`make docs` generates this|do not edit' || echo "$page"
done >"$work/docs"
{
    while read -r page; do
        awk -v f="$page" '
            /^ *```/ { code = !code; next }
            !code && !/^    [^ -]/ { gsub(/`[^`]*`/, "`c`"); print f ":" FNR ":" $0 }' "$page"
    done <"$work/docs"
    awk '{ print FILENAME ":" FNR ":" $0 }' include/shoal/*.h python/shoal/*.py tools/*.py
    find cli src io bench \( -name '*.c' -o -name '*.h' -o -name '*.cu' -o -name '*.cuh' \) | sort | xargs awk '
        !/^ *(#include|\*|\/[*\/])/ {
            rest = $0; text = ""
            while (match(rest, /"([^"\\]|\\.)*"/)) {
                text = text " " substr(rest, RSTART + 1, RLENGTH - 2)
                rest = substr(rest, RSTART + RLENGTH)
            }
            if (text != "") print FILENAME ":" FNR ":" text
        }'
} >"$work/texts"

cut -d : -f 1,2 "$work/texts" >"$work/places"
cut -d : -f 3- "$work/texts" >"$work/bare"
while read -r line; do
    better=${line##*|} line=${line%|*}
    example=${line##*|} pattern=${line%|*}
    printf '%s\n' "$example" | grep -qiE "$pattern" || {
        echo "words.sh: '$example' is not found by its pattern" >&2
        exit 1
    }
    grep -noiE "$pattern" "$work/bare" | awk -F : -v better="$better" '
        NR == FNR { place[FNR] = $0; next }
        { line = $1; sub(/^[0-9]*:/, ""); print place[line] ": \"" $0 "\": " better }' "$work/places" -
done <"$work/table" >"$work/found"
while read -r page; do
    sed 's/](\([^)]*\))/]/g' "$page" | grep -nE '.{120}' |
        sed "s,^\([0-9]*\):.*,$page:\1: longer than 119 columns,"
done <"$work/docs" >>"$work/found"
grep -nE '.{121}' include/shoal/*.h | sed 's,^\([^:]*:[0-9]*\):.*,\1: longer than 120 columns,' >>"$work/found" || true

[ -s "$work/found" ] || { echo "words.sh: nothing found"; exit 0; }
sort -t : -k 1,1 -k 2,2n "$work/found"
echo "Findings per file:"
cut -d : -f 1 "$work/found" | sort | uniq -c | sort -rn
exit 1
