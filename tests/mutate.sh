#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# mutate.sh [OPTION]... [FILE]... - plant small faults in FILEs (default: all of src/ and io/), one at a time, and report
# which of them the tests notice. `mutate.sh --help` lists the options; CONTRIBUTING.md explains the report.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
for tool in python3 cmake; do
    command -v "$tool" >/dev/null || { echo "mutate.sh: $tool is needed" >&2; exit 2; }
done
exec python3 "$here/mutate/main.py" "$@"
