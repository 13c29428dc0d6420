#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# test_cli_gpu.sh PROGRAM BACKEND - a GPU that the build has no code for, of the emulator: the program names its
# architecture and what to do, `auto` takes the CPU and never without a word, `cuda` fails.
# shellcheck disable=SC2034,SC1091,SC2154

# shellcheck source=tests/test_cli_base.sh
. "$(dirname "$0")/test_cli_base.sh"

expect 0 info --backend "$2"; check "a GPU that it has code for" grep -q "capability 9.0" out
export SIMT_DEVICES=nocode SIMT_CAPABILITY=12.1
for quiet in "" --quiet; do
    # shellcheck disable=SC2086
    expect 0 $quiet gen rng words --count 5 -o w.npy
    said "the GPU is not used: SIMT emulator has compute capability 12.1"
    said "-DSHOAL_CUDA_ARCHITECTURES=121 && cmake --build build"
done
check "one line of it" test "$(wc -l <err)" -eq 1
expect 0 gen rng words --count 5 -o w.npy --backend cpu; silent err
expect 0 info --json; json; leaf gpu_architecture=121; leaf backend=cpu; leaf backends.cuda.available=false
expect 69 info --backend cuda; said "has code for"
expect 69 gen rng words --count 5 -o w.npy --backend cuda; said "backend cuda is not available"
export SIMT_CAPABILITY=7.5
expect 0 info; said "the kernels need 8.0 or later"

summary test_cli_gpu.sh
