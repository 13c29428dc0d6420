# SPDX-License-Identifier: Apache-2.0
#
# man.awk - the help text of one command, read without line breaks of its own (man.sh), as a manual page.
#
#   awk -v name="shoal cva" -v summary="..." -v version=0.1.0 -v related="shoal ..." -f man.awk
#
# A help text has parts, told apart by how a line begins: usage, description, maybe a list of commands,
# options under headings, notes, examples, exit codes. `part` is the one that the line belongs to.

function escaped(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    gsub(/'/, "\\(aq", text)
    gsub(/"/, "\\(dq", text)
    return text ~ /^[.]/ ? "\\&" text : text
}
function section(title) {
    if (part != title) print ".SH " title
    part = title
}
# The words before the first two blanks, and what comes after them.
function entry(line) {
    sub(/^ +/, "", line)
    match(line, /  +/)
    print ".TP\n.B " escaped(RSTART ? substr(line, 1, RSTART - 1) : line)
    print RSTART ? escaped(substr(line, RSTART + RLENGTH)) : "\\&"
}

BEGIN {
    page = name
    gsub(/ /, "-", page)
    printf ".TH %s 1 \"\" \"shoal %s\" \"Shoal\"\n", toupper(page), version
    print ".SH NAME\n" escaped(page) " \\- " escaped(summary)
}
/^Usage: / || /^  or:  / {
    section("SYNOPSIS")
    sub(/^(Usage: |  or:  )/, "")
    print ".B " escaped($0) "\n.br"
    next
}
/^[A-Z][a-z ]+:$/ && !/^Example:$/ { # a task
    section("COMMANDS")
    print ".SS " escaped(substr($0, 1, length($0) - 1))
    next
}
part == "COMMANDS" && /^    / { # an example
    sub(/^ +/, "")
    print ".br\n.I " escaped($0)
    next
}
part == "COMMANDS" && /^  [a-z]/ {
    word = $1
    line = $0
    sub(/^  [^ ]+ +/, "", line)
    print ".TP\n.B " escaped(word) "\n" escaped(line) "; see"
    print ".BR " escaped(page "-" word) " (1)."
    next
}
/^ [^ ]/ { # a heading of options, or a remark in the place of one
    section("OPTIONS")
    sub(/^ /, "")
    if (sub(/:$/, "")) print ".SS " escaped($0)
    else print ".PP\n" escaped($0)
    next
}
/^(  -|      --)/ && part != "EXAMPLES" {
    section("OPTIONS")
    entry($0)
    next
}
/^Example:$/ {
    section("EXAMPLES")
    print ".nf"
    next
}
/^Exit: / {
    if (part == "EXAMPLES") print ".fi"
    section("EXIT STATUS")
    print escaped(substr($0, 7))
    next
}
/^$/ {
    blank = 1
    next
}
{
    if (part == "SYNOPSIS") section("DESCRIPTION")
    else if (part == "OPTIONS" || part == "COMMANDS") section("NOTES")
    else if (blank && part != "EXAMPLES") print ".PP"
    blank = 0
    print escaped($0)
}
END {
    if (part == "EXAMPLES") print ".fi"
    print ".SH SEE ALSO"
    count = split(related, pages, " ")
    for (i = 1; i <= count; i++) print ".BR " escaped(pages[i]) " (1)" (i < count ? "," : "")
}
