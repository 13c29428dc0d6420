#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# venv.sh FOLDER PACKAGE... - a virtual environment with these packages. Does nothing if they are there. If it cannot be
# made, or pip reaches no index, it says so in one line and exits with 1.
set -u
folder=$1
shift
fail() {
    echo "python: off ($*)" >&2
    exit 1
}
python=${PYTHON:-python3}
"$python" -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null ||
    fail "no Python 3.10 or later with venv: install python3-venv, or set PYTHON"
[ -x "$folder/bin/python" ] || "$python" -m venv "$folder" >/dev/null 2>&1 || fail "'$python -m venv $folder' fails"
"$folder/bin/python" -m pip show "$@" 2>&1 >/dev/null | grep -q 'not found' || exit 0 # pip succeeds if it knows one of them
log=$folder/pip.log
"$folder/bin/python" -m pip install -q --no-compile --disable-pip-version-check --retries 1 --timeout 20 "$@" >"$log" 2>&1 ||
    fail "pip cannot fetch $*: $(grep -m 1 -E 'ERROR|error' "$log")"
