#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# cli_seen.sh PROGRAM FOLDER SOURCES - whether the tests of the program have run every option of every command, and
# provoked every message.
#
# With SHOAL_SEEN=FOLDER/NAME in the environment a test of the program keeps its runs there (test_cli_base.sh): exit
# code, arguments, and the lines of stderr after "! ". Options are those of `shoal COMMAND --help`; a run counts if
# it was not refused (exit code 0 or 1), with the option's name in full. The global options count for all commands
# if they were seen in one. Messages are the formats of cli_fail, argp_error and the like in SOURCES and its folders; one
# was seen if a line of stderr fits it. Formats without a word of their own hand on a message of the library.
# What cannot be provoked stands below, and in CONTRIBUTING.md.
set -u
program=${1:?usage: cli_seen.sh PROGRAM FOLDER SOURCES} folder=${2:?folder} sources=${3:?sources}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
for feature in hdf5 mpi; do
    [ "$("$program" --backend cpu info | awk -v name=$feature '$1 == name { print $2 }')" = on ] ||
        { echo "skipped: without $feature some messages cannot be seen"; exit 77; }
done
cat "$folder"/* >"$work/seen" 2>/dev/null
[ -s "$work/seen" ] || { echo "no runs in $folder"; exit 1; }

# ---- options -------------------------------------------------------------------------------------

help_of() { ARGP_HELP_FMT=rmargin=10000 "$program" "$@" --help; }

# options_of COMMAND...: "command<TAB>option or its short form", global ones under the command "-"; and the same
# of the commands below it
options_of() {
    help_of "$@" >"$work/help.$#"
    awk -v command="$*" '
        /^ Global options:/ { global = 1 }
        /^  +-[^ ]|^      --[a-z]/ {
            line = substr($0, 1, 1) == " " ? $0 : ""
            sub(/^ +/, "", line); sub(/  .*/, "", line)
            count = split(line, names, /, /); all = ""
            for (i = 1; i <= count; i++) { sub(/[=\[ ].*/, "", names[i]); all = all (i > 1 ? " " : "") names[i] }
            print (global ? "-" : command) "\t" all
        }
        /^Example/ { exit }' "$work/help.$#"
    awk '/^ Global options/ { exit } /^  [a-z][a-z-]* / { print $1 }' "$work/help.$#" |
        while read -r word; do (options_of "$@" "$word"); done
}
options_of | sort -u >"$work/options"

# "command<TAB>option" of the runs that were not refused (130: they were interrupted)
awk '
    $1 == "0" || $1 == "1" || $1 == "130" {
        command = ""; words = 0
        for (i = 2; i <= NF; i++) {
            if ($i ~ /^--(backend|device|threads|seed|math)$/ && words < 1) { seen["-\t" $i]; i++; continue }
            if ($i ~ /^-/) continue
            command = command (words ? " " : "") $i
            if (++words == 2 || command !~ /^(solve|eig|price|calibrate|dataset)$/) break
        }
        for (i = 2; i <= NF; i++)
            if ($i ~ /^-/) { name = $i; sub(/=.*/, "", name); seen[command "\t" name]; seen["-\t" name] }
    }
    END { for (pair in seen) print pair }' "$work/seen" >"$work/run"
# Options that a command lists and refuses without a GPU. Their messages are seen below.
cat >"$work/refused" <<'END'
solve small	--team
train	--gemm
END
cat "$work/refused" >>"$work/run"
awk -F '\t' '
    NR == FNR { run[$0]; next }
    {
        found = 0
        count = split($2, names, " ")
        for (i = 1; i <= count; i++) if (($1 "\t" names[i]) in run) found = 1
        if (!found) print "option never run: shoal " ($1 == "-" ? "" : $1 " ") $2
    }' "$work/run" "$work/options" >"$work/missing"

# ---- messages ------------------------------------------------------------------------------------

cat >"$work/formats.awk" <<'AWK'
# FILE<TAB>format, of every call of a function that says something.
function literal(text,  all, part) { # the string that begins here, with those that follow it; leaves `rest`
    all = ""
    while (match(text, /^[ \n]*"([^"\\]|\\.)*"/)) {
        part = substr(text, 1, RLENGTH)
        text = substr(text, RLENGTH + 1)
        sub(/^[ \n]*"/, "", part); sub(/"$/, "", part)
        all = all part
    }
    rest = text
    return all
}
function words(format) { gsub(/%[-+.0-9*]*[a-z]*/, " ", format); return format ~ /[a-z][a-z]/ }
function formats(text,  depth, c, i, found) { # up to the closing parenthesis; of a format, not its arguments
    depth = 1
    for (i = 1; i <= length(text) && depth > 0; i++) {
        c = substr(text, i, 1)
        if (c == "(") depth++
        else if (c == ")") depth--
        else if (c == "\"") {
            found = literal(substr(text, i))
            if (words(found)) print name "\t" found
            if (found ~ /%/) return
            i = length(text) - length(rest)
        }
    }
}
function of_file() {
    gsub(/'"'/, "", all) # a character, not the end of a string
    gsub(/ PRI[diu]64/, " \"lld\"", all)
    while (match(all, /(cli_fail|argp_error|argp_failure|cli_note|cli_array_misfit|[^a-z_](part_bad|bad|wrong|not_a_part|mismatch))\(/)) {
        all = substr(all, RSTART + RLENGTH)
        formats(all)
    }
}
FNR == 1 { of_file(); name = FILENAME; sub(/.*\/cli\//, "", name); all = "" }
/^(static |extern )?(int|void|bool) / { next } # a definition
{ all = all $0 "\n" }
END { of_file() }
AWK
awk -f "$work/formats.awk" "$sources"/*.c "$sources"/*/*.c | sort -u >"$work/formats"
sed -n 's/^! //p' "$work/seen" | sort -u >"$work/lines"
# Without memory, by a disk that fails or a file that changes while it is read, or in another build.
cat >"$work/unseen" <<'END'
not enough memory
not enough memory for %zu bytes
not enough memory: the part has %zu bytes
%s: not enough memory for another %zu bytes
--inverse %s: not enough memory for %lld bytes
--gjgt %s: not enough memory: G of %lld rows and %lld columns needs %lld bytes
%s: not enough memory: n = %lld and the copy of A for %s need %lld bytes, the machine has %lld
%s: cannot be read
%s:%lld: not a row of a data set
-o: this build has no HDF5; use .npy
the GPU is not used: %s%s
--devices: %d: %s
GPU %d takes no units: %s
GPU %d takes no units: it could not begin
END
awk -F '\t' -v unseen="$work/unseen" -v lines="$work/lines" '
    function pattern(format) { # what the program makes of it, as a regular expression
        gsub(/\\"/, "\"", format)
        gsub(/%[-+.0-9*]*(ll|z|l)?[a-z]/, "\001", format); gsub(/%%/, "%", format)
        gsub(/[][\\.^$*+?(){}|]/, "\\\\&", format)
        gsub(/\001/, ".*", format)
        return format
    }
    BEGIN {
        while ((getline line <unseen) > 0) left_out[line]
        while ((getline line <lines) > 0) said[++count] = line
    }
    $2 in left_out { next }
    {
        like = pattern($2)
        for (i = 1; i <= count && said[i] !~ like; i++);
        if (i > count) print "message never seen: cli/" $1 ": " $2
    }' "$work/formats" >>"$work/missing"

# ---- the end -------------------------------------------------------------------------------------

cat "$work/missing"
echo "$(wc -l <"$work/options") options, $(wc -l <"$work/formats") messages; not seen: $(wc -l <"$work/missing")"
[ ! -s "$work/missing" ]
