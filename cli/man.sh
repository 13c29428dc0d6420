#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# man.sh PROGRAM FOLDER - manual pages of the program and of each command, made of what --help says:
# FOLDER/shoal.1, shoal-info.1, shoal-solve-tridiag.1 and so on. The list of commands is the program's own.
set -eu
program=${1:?usage: man.sh PROGRAM FOLDER} folder=${2:?usage: man.sh PROGRAM FOLDER}
here=$(cd "$(dirname "$0")" && pwd)
version=$("$program" --version | awk '{ print $2 }')
mkdir -p "$folder"

help_of() { # help_of COMMAND...: one line a paragraph, whatever the terminal's width
    ARGP_HELP_FMT=rmargin=10000 SHOAL_HELP=long "$program" "$@" --help
}

# page SUMMARY RELATED COMMAND...: its page, and those of the commands below it
page() {
    summary=$1 related=$2
    shift 2
    name=$(echo "shoal $*" | sed 's/ *$//')
    file=$(echo "$name" | tr ' ' -)
    text=$(help_of "$@")
    below=$(echo "$text" | awk '/^ Global options/ { exit } /^  [a-z][a-z-]* / { print $1 }')
    pages=$related
    for word in $below; do pages="$pages $file-$word"; done
    echo "$text" | awk -v name="$name" -v summary="$summary" -v version="$version" -v related="$pages" \
        -f "$here/man.awk" >"$folder/$file.1"
    for word in $below; do
        line=$(echo "$text" | awk -v word="$word" '$1 == word { sub(/^ *[^ ]+ +/, ""); print; exit }')
        (page "$line" "$file" "$@" "$word") # a shell of its own keeps these variables
    done
}

page "many small numerical problems together, on the CPU or on a CUDA GPU" ""
