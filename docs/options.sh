#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# options.sh PROGRAM PAGE - the page with its lists of options generated from the long form of --help: those between
# "<!-- options: COMMAND -->", where no COMMAND stands for the global options, and "<!-- end -->".
set -eu
program=${1:?usage: options.sh PROGRAM PAGE} page=${2:?usage: options.sh PROGRAM PAGE}

options_of() { # options_of [COMMAND...]: a list in Markdown
    ARGP_HELP_FMT=rmargin=10000,opt-doc-col=100 SHOAL_HELP=long "$program" "$@" --help | awk -v global="$(($# == 0))" '
        function wrapped(text,  line, count, words, i) { # columns up to 118, "- " before the first line
            count = split(text, words, " "); line = "-"
            for (i = 1; i <= count; i++) {
                if (length(line) + 1 + length(words[i]) > 118) { print line; line = " " }
                line = line " " words[i]
            }
            print line
        }
        /^ Global options:/ { if (!global) exit; inside = 1; next }
        global && !inside { next }
        /^  -h, --help|^Example/ { exit }
        # a heading without options is a sentence
        /^ [A-Za-z]/ { if (heading != "") print "\n" heading "."; sub(/^ /, ""); sub(/[.:]$/, ""); heading = $0; next }
        /^ +-/ {
            if (heading != "") print (listed ? "\n" : "") heading ":\n"
            heading = ""; sub(/^ +/, ""); match($0, /  +|$/)
            names = substr($0, 1, RSTART - 1); text = substr($0, RSTART + RLENGTH)
            gsub(/=/, " ", names); gsub(/, /, "`, `", names)
            while (match(text, /`[^`\047]*\047/)) # `shoal info\047: as Markdown has it
                text = substr(text, 1, RSTART + RLENGTH - 2) "`" substr(text, RSTART + RLENGTH)
            wrapped("`" names "`: " text); listed = 1
        }'
}

skip=
while IFS= read -r line; do
    case $line in
    '<!-- options:'*)
        command=${line#<!-- options:} command=${command%-->} skip=yes
        printf '%s\n\n' "$line"
        # shellcheck disable=SC2086 # its words
        options_of $command
        echo
        ;;
    '<!-- end -->') skip= ;;
    esac
    [ -n "$skip" ] || printf '%s\n' "$line"
done <"$page"
