#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# test_cli_base.sh - what the tests of the program share; read by them, not run. Takes the program from $1,
# goes to a temporary directory and has words for running it and looking at what it did. Needs a POSIX
# shell, awk and od.
# shellcheck disable=SC2034

case ${1:?usage: a test of the program, PROGRAM} in
/*) shoal=$1 ;;
*) shoal=$PWD/$1 ;;
esac
[ -x "$shoal" ] || { echo "$1 is not a program"; exit 2; }
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
unset SHOAL_ISA
checks=0 failures=0 skipped=0
[ -z "${SHOAL_SEEN-}" ] || : >"$SHOAL_SEEN" || exit 2

fail() {
    failures=$((failures + 1))
    echo "FAIL: $*"
    echo "  exit $rc; stdout: $(head -c 300 out); stderr: $(head -c 300 err)"
}
skip() { skipped=$((skipped + 1)); echo "skipped: $*"; }

# expect CODE ARGUMENT...: runs the program; leaves its exit code in rc, its outputs in out and err.
expect() {
    want=$1
    shift
    "$shoal" "$@" >out 2>err </dev/null
    rc=$?
    checks=$((checks + 1))
    [ "$rc" -eq "$want" ] || fail "exit code $want expected: shoal $*"
    note_seen "$@"
}
# note_seen ARGUMENT...: keeps a run and its stderr for cli_seen.sh; for runs that are not by expect.
note_seen() {
    [ -z "${SHOAL_SEEN-}" ] || { echo "$rc $*" | tr '\n\t' '  '; echo; head -n 40 err | sed 's/^/! /'; } >>"$SHOAL_SEEN"
}
said() { # said TEXT: stderr holds it
    checks=$((checks + 1))
    grep -qF -e "$1" err || fail "stderr does not say: $1"
}
silent() { # silent FILE: it is empty
    checks=$((checks + 1))
    [ ! -s "$1" ] || fail "$1 is not empty"
}
check() { # check TEXT COMMAND...: the command succeeds
    text=$1
    shift
    checks=$((checks + 1))
    "$@" || fail "$text"
}

# busy PID: returns once the program answers signals and has worked for a tenth of a second, whatever else the machine
# does; where there is no /proc, after a second.
busy() {
    [ -r "/proc/$1/stat" ] || { sleep 1; return; }
    for _ in $(seq 600); do
        caught=$(sed -n 's/^SigCgt:.*\(....\)$/\1/p' "/proc/$1/status" 2>/dev/null)
        ticks=$(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | awk '$1 != "Z" { print $12 + $13 }')
        [ -n "$ticks" ] || return # it has ended
        [ $((0x${caught:-0} & 0x4000)) -ne 0 ] && [ "$ticks" -ge 10 ] && return
        sleep 0.05
    done
}

# A JSON reader of its own: checks the grammar of RFC 8259 and prints every leaf as path=value.
cat >json.awk <<'AWK'
function die(why) { print "not JSON: " why " at: " substr(s, 1, 30); bad = 1; exit 1 }
function blank() { sub(/^[ \t\r\n]+/, "", s) }
function take(pattern,  t) {
    if (!match(s, pattern) || RSTART != 1) return ""
    t = substr(s, 1, RLENGTH); s = substr(s, RLENGTH + 1); return t
}
function string(  t) {
    t = take("^\"([^\"\\\\\001-\037]|\\\\[\"\\\\/bfnrt]|\\\\u[0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F])*\"")
    if (t == "") die("string expected")
    return substr(t, 2, length(t) - 2)
}
function members(path, last,  i, key, first, name) {
    i = 0; first = 1
    for (;;) {
        blank()
        if (substr(s, 1, 1) == last) { if (!first) die("comma before the end"); break }
        if (last == "}") {
            key = string(); blank()
            if (take("^:") == "") die("colon expected")
        } else key = i++
        name = path == "" ? key : path "." key
        if (name in seen) die("key twice: " name)
        seen[name] = 1
        value(name); blank(); first = 0
        if (take("^,") == "") { if (substr(s, 1, 1) != last) die("comma expected"); break }
    }
    s = substr(s, 2)
}
function value(path,  c, t) {
    blank(); c = substr(s, 1, 1)
    if (c == "{" || c == "[") { s = substr(s, 2); members(path, c == "{" ? "}" : "]"); return }
    if (c == "\"") t = string()
    else {
        t = take("^(true|false|null|-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][-+]?[0-9]+)?)")
        if (t == "") die("value expected")
    }
    print path "=" t
}
{ s = s $0 "\n" }
END {
    if (bad) exit 1
    blank(); if (substr(s, 1, 1) != "{") die("an object expected")
    value(""); blank(); if (s != "") die("more than one value")
}
AWK
json() { # stdout is one JSON object; its leaves are in leaves
    checks=$((checks + 1))
    awk -f json.awk out >leaves 2>&1 || fail "stdout is not one JSON object: $(tail -n 1 leaves)"
}
leaf() { # leaf PATH=VALUE
    checks=$((checks + 1))
    grep -qxF -e "$1" leaves || fail "JSON does not hold $1"
}
has() { # has KEY...
    for key in "$@"; do
        checks=$((checks + 1))
        grep -q "^$key=" leaves || fail "JSON lacks the key $key"
    done
}

floats() { tail -c +129 "$1" | od -An -v -t f8 | tr -s ' \n' ' ' | sed 's/^ //; s/ $//'; }
ints() { tail -c +129 "$1" | od -An -v -t d4 | tr -s ' \n' ' ' | sed 's/^ //; s/ $//'; }
contents() { tail -c +129 "$1"; }
seal() { # seal PART...: gives parts that were changed the checksum of what they say now; gzip ends with CRC-32 and size
    for sealed in "$@"; do
        head -c -4 "$sealed" >seal.tmp
        { cat seal.tmp; gzip -c seal.tmp | tail -c 8 | head -c 4; } >"$sealed"
    done
}
spoil() { # spoil PART OFFSET: another value for the byte there
    byte=$(($(od -An -tu1 -j "$2" -N 1 "$1") ^ 1))
    { head -c "$2" "$1"; printf "\\$(printf %03o $byte)"; tail -c "+$(($2 + 2))" "$1"; } >spoil.tmp
    mv spoil.tmp "$1"
}

# summary NAME: the last line, and the exit code
summary() {
    echo "$1: $checks checks, $failures failed, $skipped skipped"
    [ "$failures" -eq 0 ]
}
