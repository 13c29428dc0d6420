#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# test_words.sh PROGRAM WORD - the arguments of a test program (test.h): a word chooses tests, one that
# chooses none and an option that does not exist are errors, so that nothing is passed by running
# nothing.

failed=0
expect() { # expect CODE TEXT ARGUMENTS...: the exit code, and what is said
    code=$1 text=$2
    shift 2
    said=$("$program" "$@" 2>&1)
    got=$?
    if [ $got -ne "$code" ] || ! echo "$said" | grep -q -- "$text"; then
        echo "FAIL: $program $*: exit code $got, $code expected: $said"
        failed=1
    fi
}

program=$1
expect 0 "^[1-9][0-9]* passed, 0 failed" "$2"
expect 2 "no test has 'no_such_test' in its name" no_such_test
expect 2 "no test has 'no_such_test' in its name" "$2" no_such_test
expect 2 "there is no option '--backend=cuda'" --backend=cuda
expect 2 "there is no option '--no-such-option'" "$2" --no-such-option
exit $failed
