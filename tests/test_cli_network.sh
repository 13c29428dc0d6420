#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# test_cli_network.sh PROGRAM BACKEND - `shoal train` and `shoal predict` on a backend against the CPU: the network
# that ships, a network trained on its prices by every way to make products, the same bits again.
# shellcheck disable=SC2016,SC2034,SC2086,SC1091,SC2154

examples=$(cd "$(dirname "$0")/../examples" && pwd) || exit 2
# shellcheck source=tests/test_cli_base.sh
. "$(dirname "$0")/test_cli_base.sh"
on="--backend $2"

number() { sed -n "s/^ *\"$1\": \([-+.0-9e]*\),*$/\1/p" out; } # of the JSON object
near() { # near A B E: both are there, and no more than E apart
    [ -n "$1" ] && [ -n "$2" ] && awk -v a="$1" -v b="$2" -v e="$3" 'BEGIN { d = a - b; exit !(d <= e && d >= -e) }'
}
net=$examples/expou.net

"$shoal" info $on >/dev/null 2>&1 || { echo "skipped: no backend $2 here"; exit 77; }
awk 'BEGIN {
    srand(3); print "alpha,m,beta,y0,rho,maturity,strike"
    for (i = 0; i < 600; i++)
        printf "%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f\n", 1 + rand(), -2 + 0.5 * rand(), 0.3 + 0.2 * rand(), -2 + 0.5 * rand(),
            -0.8 + 0.5 * rand(), 0.4 + rand(), 0.8 + 0.4 * rand()
}' >params.csv
expect 0 predict "$net" params.csv -o there.csv -q $on
expect 0 predict "$net" params.csv -o here.csv -q --backend cpu
check "prices and derivatives as on the CPU" eval 'paste -d, here.csv there.csv | awk -F, "
    NR > 1 { for (k = 8; k <= 10; k++) { d = \$k - \$(k + 11); if (d > 4e-6 || d < -4e-6) exit 1 } }
    END { exit NR != 601 }"'
awk -F, 'NR == 1 { print "alpha,m,beta,y0,rho,maturity,strike,price,stderr"; next }
    { print $1 "," $2 "," $3 "," $4 "," $5 "," $6 "," $7 "," $8 ",0.00005" }' here.csv >train.csv
how="train.csv --layers 2 --width 32 --batch 200 --epochs 5 --seed 5 --json" # several blocks a batch, the last one not full
expect 0 train $how -o cpu.net --backend cpu; error=$(number validation)
for gemm in fused own; do
    expect 0 train $how -o $gemm.net --gemm $gemm $on
    json; leaf gemm=$gemm; has training_seconds rows_per_second
    check "the error of $gemm is the CPU's" near "$(number validation)" "$error" 1e-5
    expect 0 train $how -o again.net --gemm $gemm $on
    check "the same bits again from $gemm" cmp -s $gemm.net again.net
done
expect 0 train $how -o default.net $on
check "fused is the default" cmp -s fused.net default.net
expect 64 train $how -o none --gemm blas $on; said "gemm is 'blas'"
expect 64 train $how -o none --width 512 --gemm fused $on; said "gemm is 'fused'; 2 layers of 512"
"$shoal" train $how -o cublas.net --gemm cublas $on >out 2>err; rc=$?
if [ $rc -eq 69 ]; then # said, and not passed over
    said "gemm is 'cublas'; libcublas.so was not found"
    skip "no cuBLAS here: $(head -n 1 err)"
else
    check "the error of cublas is the CPU's" near "$(number validation)" "$error" 1e-5
fi
SHOAL_NO_CUBLAS=1; export SHOAL_NO_CUBLAS
expect 69 train $how -o none --gemm cublas $on; said "SHOAL_NO_CUBLAS"
check "no model of those" [ ! -e none ]

summary test_cli_network.sh
