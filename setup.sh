#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# setup.sh [run|test|docs|python] - makes sure that what Shoal is built with is there, and says what is on and what is off. For
# `run` that is a C compiler, CMake, ninja and, where CUDA is compiled, C++. For `test` (the default) also the
# readers and oracles of the tests. For `docs` what `run` needs, and Python with numpy and matplotlib. For
# `python` what `run` needs, C++, and Python 3.10 or later with venv and its headers.
#
# Missing packages are installed with apt-get, as root or through sudo. Where that cannot be done (no
# rights, no network, no apt-get, NO_INSTALL=1) an optional package is a feature that is off, and only
# a missing C compiler, CMake or build program is an error. Run it as often as you like: with nothing
# missing it only looks. Downloads end after SETUP_SECONDS (default 600) in all.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1

for_what=${1:-test}
case $for_what in run | test | docs | python) ;; *) echo "usage: setup.sh [run|test|docs|python]" >&2; exit 2 ;; esac
deadline=$((SECONDS + ${SETUP_SECONDS:-600}))
why=""       # why nothing (more) can be installed; empty while it can
installed="" # packages installed in this run
apt=()       # the command that installs, with what it needs before it

note() { echo "setup: $*" >&2; }
have() { command -v "$1" >/dev/null 2>&1; }

# The compiler that CMake will take: what the variable names, even if that is not there, or the first
# of the usual ones. May hold options.
chosen() { # chosen "$CC" cc gcc clang
    local name
    [ -z "$1" ] || { echo "$1"; return; }
    for name in "${@:2}"; do ! have "$name" || { echo "$name"; return; }; done
}
cc=$(chosen "${CC:-}" cc gcc clang)
cxx=$(chosen "${CXX:-}" c++ g++ clang++)
builds() { # builds COMPILER LANGUAGE OPTION...: does a program come out of it?
    have "${1%% *}" || return 1
    # shellcheck disable=SC2086 # the compiler may hold options
    echo '#include <math.h>
          int main(void) { return 0; }' | $1 -x "$2" - -o /dev/null "${@:3}" >/dev/null 2>&1
}
cc_works() { builds "$cc" c -std=c11 "$@"; }
cmake_version() { cmake --version 2>/dev/null | sed -n '1s/[^0-9]*\([0-9.]*\).*/\1/p'; }
cmake_works() { # 3.18 or later
    local major minor
    IFS=. read -r major minor _ <<<"$(cmake_version)"
    [ "$((${major:-0} * 1000 + ${minor:-0}))" -ge 3018 ]
}
imports() { python3 -c "import $*" 2>/dev/null || /usr/bin/python3 -c "import $*" 2>/dev/null; }
is_installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# Is the need met, by a package or by any other means?
met() {
    case $1 in
    gcc) cc_works -lm ;;
    g++) builds "$cxx" c++ -std=c++17 ;;
    cmake) cmake_works ;;
    ninja-build) have ninja || have ninja-build ;;
    libopenblas-dev) is_installed libopenblas-dev || cc_works -lopenblas ;;
    clang) have clang ;;
    lld) have ld.lld ;;
    pkg-config) have pkg-config || have pkgconf ;;
    libhdf5-dev) is_installed libhdf5-dev || have h5cc || pkg-config --exists hdf5 2>/dev/null ;;
    libopenmpi-dev) is_installed libopenmpi-dev || have mpicc ;;
    openmpi-bin) have mpirun ;;
    python3-matplotlib) imports numpy, matplotlib ;;
    librandom123-dev) builds "$cc" c -include Random123/philox.h ;;
    python3-venv) python3 -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null ;;
    python3-dev) python3 -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' 2>/dev/null ;;
    *) is_installed "$1" ;;
    esac
}

# A C compiler without its library headers is no use: gcc only recommends libc6-dev.
packages_of() { [ "$1" = gcc ] && echo gcc libc6-dev || echo "$1"; }

find_apt() {
    if [ "${NO_INSTALL:-0}" != 0 ]; then
        why="NO_INSTALL is set"
    elif ! have apt-get; then
        why="this system has no apt-get"
    elif [ "$(id -u)" = 0 ]; then
        apt=(env DEBIAN_FRONTEND=noninteractive apt-get)
    elif ! have sudo; then
        why="neither root nor sudo"
    elif sudo -n true 2>/dev/null; then
        apt=(sudo -n env DEBIAN_FRONTEND=noninteractive apt-get)
    elif [ "$1" = required ] && [ -t 0 ]; then
        note "sudo may ask for your password (NO_INSTALL=1 goes without)"
        apt=(sudo env DEBIAN_FRONTEND=noninteractive apt-get)
    else
        why="sudo needs a password"
    fi
    apt+=(-qq -y --no-install-recommends -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=120
        -o Acquire::Retries=0 -o Acquire::http::Timeout=10 -o Acquire::https::Timeout=10)
}

# The network is given a limit, dpkg is not: stopping it halfway would leave a broken system. Until
# something has come through, the limit is short: an archive that does not answer is soon given up.
reached=0
fetch() {
    local left=$((deadline - SECONDS))
    [ $left -gt 0 ] || return 1
    [ $reached = 1 ] || left=$((left < 60 ? left : 60))
    timeout $left "${apt[@]}" "$@" </dev/null >>"$log" 2>&1 && reached=1
}
try() {
    fetch install --download-only "$@" && "${apt[@]}" install "$@" </dev/null >>"$log" 2>&1 &&
        installed="$installed $*"
}

# Package lists are fetched at most once, and only after an install has failed without fresh ones.
updated=0
install_packages() {
    [ -z "$why" ] || return 1
    note "installing $*"
    ! try "$@" || return 0
    if [ $updated = 0 ]; then
        updated=1
        fetch update -o APT::Update::Error-Mode=any
        ! try "$@" || return 0 # one dead source among good ones is no reason to give up
        [ $reached = 1 ] || why="the package archive cannot be reached"
    fi
    [ $SECONDS -lt $deadline ] || why="downloading took longer than ${SETUP_SECONDS:-600} s"
    note "$* cannot be installed${why:+: $why}"
    [ -n "$why" ] || grep -E '^E: ' "$log" | tail -n 2 >&2
    return 1
}

nvcc=""
for candidate in "${CUDACXX:-nvcc}" /usr/local/cuda/bin/nvcc /opt/cuda/bin/nvcc; do
    [ -n "$nvcc" ] || nvcc=$(command -v "$candidate")
done
gpu=$(nvidia-smi -L 2>/dev/null | sed -n '/^GPU/{s/ (UUID.*//;p;q;}')
[ -n "$gpu" ] || for gpu in /dev/nvidia[0-9]* ''; do [ ! -e "$gpu" ] || break; done # as cmake/features.cmake looks
compiles_cuda() { [ -n "$nvcc" ] && [ "${CUDA:-}" != 0 ] && { [ -n "$gpu" ] || [ "${CUDA:-}" = 1 ] || [ "$for_what" = test ]; }; }

required=() optional=()
needs=(ninja-build g++ libopenblas-dev libhdf5-dev libopenmpi-dev openmpi-bin pkg-config clang lld librandom123-dev python3-venv python3-dev)
[ "$for_what" = test ] || needs=(ninja-build)
[ "$for_what" != python ] || needs+=(g++ python3-venv python3-dev)
[ "$for_what" = test ] || ! compiles_cuda || needs+=(g++)
[ "$for_what" != docs ] || needs+=(python3-matplotlib) # it brings numpy
for need in gcc cmake; do met $need || required+=("$need"); done
for need in "${needs[@]}"; do met "$need" || optional+=("$need"); done
if ! met ninja-build && ! have make; then required+=(ninja-build); fi

if [ ${#required[@]} -gt 0 ] || [ ${#optional[@]} -gt 0 ]; then
    log=$(mktemp) || exit 1
    trap 'rm -f "$log"' EXIT
    find_apt "$([ ${#required[@]} -gt 0 ] && echo required)"
    [ -z "$why" ] || note "nothing is installed: $why"
    for need in "${required[@]}" "${optional[@]}"; do
        met "$need" && continue # it came with another one
        # shellcheck disable=SC2046 # one need may be two packages
        install_packages $(packages_of "$need")
        cc=$(chosen "${CC:-}" cc gcc clang)
        cxx=$(chosen "${CXX:-}" c++ g++ clang++)
    done
    # What CMake did not find last time may be there now.
    [ -z "$installed" ] || rm -f build*/CMakeCache.txt
fi

first_line() { "$@" 2>/dev/null | head -n 1; }
on() { printf '  %-10s on   (%s)\n' "$1" "$2"; }
off() { printf '  %-10s off  (%s%s)\n' "$1" "$2" "${why:+; not installed: $why}"; }

no_cc="no C11 compiler${CC:+: CC is $CC}"
no_cxx="no C++17 compiler${CXX:+: CXX is $CXX}"
no_cmake="no CMake"
! have cmake || no_cmake="CMake $(cmake_version) is older than 3.18"

echo "setup:"
# shellcheck disable=SC2086 # the compiler may hold options
if met gcc; then on compiler "$(first_line $cc --version)"; else off compiler "$no_cc"; fi
if met cmake; then on cmake "$(first_line cmake --version)"; else off cmake "$no_cmake"; fi
if cc_works -fopenmp; then on threads OpenMP; else off threads "no compiler with OpenMP"; fi
if [ -z "$nvcc" ]; then
    echo "  cuda       off  (no nvcc: the CPU backend does all)"
elif ! compiles_cuda; then
    echo "  cuda       off  (no GPU answers; CUDA=1 builds it all the same)"
elif met g++; then
    on cuda "$nvcc"
else
    off cuda "nvcc needs a C++ compiler"
fi
if [ -n "$gpu" ]; then on gpu "$gpu"; else echo "  gpu        off  (none answers)"; fi
if [ "$for_what" = test ]; then # need, name, what is on, what is missing
    while IFS='|' read -r need name with without; do
        if met "$need"; then on "$name" "$with"; else off "$name" "$without"; fi
    done <<END
g++|emulator|C++: kernels are tested on the CPU|$no_cxx
libopenblas-dev|lapack|OpenBLAS: a peer in the benches, an oracle in the tests|no OpenBLAS: no LAPACK peer, no LAPACK oracle
libhdf5-dev|hdf5|matrices in .h5 files|no HDF5: .npy and .mtx files only
libopenmpi-dev|mpi|several processes under mpirun|no MPI: one process
clang|clang|second compiler: checks all C files, arithmetic test|no clang
lld|linker|LLVM's: test programs are linked in a third of the time|the linker of the compiler
librandom123-dev|random123|an oracle in the tests|no Random123: known answers only
pkg-config|pkg-config|used by the install test|no pkg-config
python3-venv|python|the package's tests, if pip reaches an index|no Python 3.10 with venv (python3-venv)
END
fi

if [ "$for_what" = docs ]; then
    if met python3-matplotlib; then on python "numpy and matplotlib"; else off python "no Python with numpy and matplotlib"; fi
fi

missing=""
met gcc || missing="$missing a C11 compiler (${CC:+CC is $CC; }package gcc, with libc6-dev);"
met cmake || missing="$missing CMake 3.18 or later (package cmake);"
met ninja-build || have make || missing="$missing ninja or make (package ninja-build);"
if [ -n "$missing" ]; then
    note "error: needed and not found:${missing%;}${why:+ - could not install: $why}"
    exit 1
fi
