#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# figures.sh PROGRAM FOLDER - makes the pictures of docs/img that the program draws from seeds (tools/pages.py draws
# those of kept results). `make docs` writes them; the test docs_figures compares.
set -euo pipefail
program=$(realpath "${1:?usage: figures.sh PROGRAM FOLDER}")
mkdir -p "${2:?}"
to=$(cd "$2" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
shoal() { "$program" --backend cpu --quiet "$@" >/dev/null; }

# framed FILE WIDTH HEIGHT TITLE, then lines "X Y SIZE LABEL PNG" on stdin: pixels with their labels, as one SVG
framed() {
    local x y size label png
    {
        echo "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"$2\" height=\"$3\" viewBox=\"0 0 $2 $3\" role=\"img\" aria-label=\"$4\">"
        echo "<rect width=\"$2\" height=\"$3\" fill=\"#ffffff\"/>"
        echo "<g font-family=\"system-ui,sans-serif\" font-size=\"12\" fill=\"#2a3138\">"
        echo "<text x=\"8\" y=\"20\" font-size=\"16\" font-weight=\"600\">$4</text>"
        while read -r x y size label png; do
            echo "<text x=\"$x\" y=\"$((y - 6))\">${label//_/ }</text>"
            echo "<image x=\"$x\" y=\"$y\" width=\"$size\" height=\"$size\" href=\"data:image/png;base64,$(base64 -w 0 "$png")\"/>"
        done
        echo "</g></svg>"
    } >"$1"
}

# prices
shoal price heston --steps 16 --paths 4194304 --plot "$to/price-heston-convergence.svg"
shoal price heston --method analytic --plot "$to/price-heston-density.svg"
shoal price heston --strike 0.6,0.7,0.8,0.9,1,1.1,1.2,1.3,1.4 --maturity 0.25,0.5,1,2 --steps 16 --paths 262144 \
    --plot "$to/price-heston-smile.svg"
shoal price bullet --method pde --dates 10 --p1 3 --p2 8 --plot surface.png
framed "$to/price-bullet-surface.svg" 512 560 "F(T_k, x, j), 10 dates, counts from 3 to 8 pay" <<<"8 52 496 j_=_0,_1,_2;_3,_4,_5;_6,_7,_8._Dates_to_the_right,_log_S_upwards surface.png"

# factorizations
shoal gen symindef equidistant --n 300 -o equidistant
shoal factor equidistant.npy --growth "$to/symindef-growth-equidistant-300.svg"
shoal gen symindef hadamard --n 512 -o h
shoal factor h.npy --snapshots pictures --stages 1,101,205,322,421,512
x=8 y=56
for stage in 1 101 205 322 421 512; do
    printf '%d %d 256 stage_%d pictures/stage-%05d.png\n' $x $y $stage $stage
    x=$((x + 272))
    if [ $x -gt 800 ]; then x=8 y=$((y + 288)); fi
done | framed "$to/symindef-hadamard-512.svg" 824 612 "Hadamard matrix of order 512: M, D and what is left"
