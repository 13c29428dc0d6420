# SPDX-License-Identifier: Apache-2.0
#
# api.awk - public headers as Markdown (api.sh). A header is a head comment, then declarations, each with the
# comment right above it; declarations without a blank line or comment between them are one entry. Field
# comments stay where they are, in the code.

function text(line) { # a line of a comment, without its marks
    sub(/ *\*\/$/, "", line)
    sub(/^(\/| )\* ?/, "", line)
    return line
}
function prose(all,    lines, count, i, out, code, now, item) { # indented lines are code or list items, the rest is escaped
    count = split(all, lines, "\n")
    for (i = 1; i <= count; i++) {
        if (item && lines[i] ~ /^[^ ]/) out = out "\n"
        item = lines[i] ~ /^ +(-|[0-9]+\.) / ? 1 : item && lines[i] ~ /^   / ? 2 : 0
        now = !item && lines[i] ~ /^    / || (code && lines[i] == "" && lines[i + 1] ~ /^    /)
        if (now != code && lines[i] != "" && lines[i - 1] != "" && i > 1) out = out "\n"
        code = now
        if (!now) {
            gsub(/[*<>|]/, "\\\\&", lines[i])
            sub(/^ +/, item == 2 ? "   " : "", lines[i])
        }
        out = out lines[i] "\n"
    }
    return out
}
function anchor(heading) { # as GitHub makes it
    heading = tolower(heading)
    gsub(/[^a-z0-9_ -]/, "", heading)
    gsub(/ /, "-", heading)
    return heading
}
function name_of(declaration,    name) {
    name = declaration
    if (name ~ /^#define/) {
        sub(/^#define +/, "", name)
        sub(/[^A-Za-z0-9_].*/, "", name)
    } else if (name ~ /^SHOAL_API/) {
        sub(/\(.*/, "", name)
        sub(/.*[ *]/, "", name)
    } else if (name ~ /^enum/) {
        sub(/^enum \{ */, "", name)
        sub(/[^A-Za-z0-9_].*/, "", name)
    } else if (name ~ /^typedef (struct|enum)/) {
        sub(/^typedef (struct|enum) /, "", name)
        sub(/[^a-z0-9_].*/, "", name)
    } else { # typedef of a function
        sub(/\(.*/, "", name)
        sub(/.*[ *]/, "", name)
    }
    return name
}
function add(declaration,    name, lines, count, i) {
    name = name_of(declaration)
    heading = heading (heading == "" ? "" : ", ") "`" name "`"
    if (declaration ~ /^SHOAL_API/) { # the word is of no use to a reader; lines below stay aligned
        functions[++function_count] = name
        count = split(declaration, lines, "\n")
        declaration = substr(lines[1], 11)
        for (i = 2; i <= count; i++) declaration = declaration "\n" (lines[i] ~ /^          / ? substr(lines[i], 11) : lines[i])
    }
    code = code declaration "\n"
}
function flush_entry(    i) { # the entry that has been collected
    if (code == "") return
    for (i = 1; i <= function_count; i++) index_line = index_line (index_line == "" ? "" : ",\n") "[`" functions[i] "`](#" anchor(heading) ")"
    body = body "\n### " heading "\n\n" (comment == "" ? "" : prose(comment) "\n") "```c\n" code "```\n"
    heading = code = comment = ""
    function_count = 0
}
function flush_header() {
    flush_entry()
    if (title == "") return
    sub(/^./, toupper(substr(head, 1, 1)), head)
    sub(/\n+$/, "", head)
    printf "\n## %s\n\n%s", title, prose(head)
    if (index_line != "") printf "\nFunctions: %s.\n", index_line
    printf "%s", body
    title = head = body = index_line = comment = ""
}
FNR == 1 {
    flush_header()
    title = FILENAME
    sub(/.*\/shoal\//, "shoal/", title)
    state = "head"
    next
}
state == "head" { # "name.h - what it is", and more of it
    if ($0 ~ /\*\/$/) state = "guard"
    line = text($0)
    sub(/^[a-z]+\.h - /, "", line)
    if (!(head == "" && line == "")) head = head (head == "" ? "" : "\n") line
    next
}
state == "guard" { # include guard, includes, extern "C"
    if ($0 ~ /^extern "C"/) state = "opened"
    else if ($0 ~ /^#define SHOAL_VERSION/) add($0)
    next
}
state == "opened" {
    if ($0 ~ /^#endif/) {
        flush_entry()
        state = "body"
    }
    next
}
/^#ifdef __cplusplus/ { state = "end" }
state == "end" { next }
/^\/\* clang-format/ || /^#undef/ { next }
state == "comment" {
    comment = comment "\n" text($0)
    if ($0 ~ /\*\/$/) state = "body"
    next
}
state == "declaration" {
    declaration = declaration "\n" $0
    if ($0 ~ done) {
        state = "body"
        add(declaration)
    }
    next
}
/^\/\* ---- / { # a part of a header
    flush_entry()
    line = text($0)
    gsub(/ *----+ */, "", line)
    sub(/^./, toupper(substr(line, 1, 1)), line)
    body = body "\n**" line "**\n"
    next
}
/^\/\*/ {
    flush_entry()
    comment = comment (comment == "" ? "" : "\n\n") text($0)
    if ($0 !~ /\*\/$/) state = "comment"
    next
}
NF == 0 {
    flush_entry()
    next
}
/^#define SHOAL_ENUM_ENTRY/ { next }
{ # a declaration begins
    if ($0 ~ /^#define/) done = "[^\\\\]$"
    else if ($0 ~ /\{/) done = "}[^{]*;( *\\/\\*.*)?$"
    else done = "\\)?;( *\\/\\*.*\\*\\/)?$"
    declaration = $0
    if ($0 ~ done) add($0)
    else state = "declaration"
}
END { flush_header() }
