#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# test_cli_options.sh PROGRAM - options that the other tests of the program do not run, each with something that it
# must change, or must not. cli_seen.sh says which options no test has run.
# shellcheck disable=SC2034,SC2046,SC2086,SC1091,SC2154

examples=$(cd "$(dirname "$0")/../examples" && pwd) || exit 2
# shellcheck source=tests/test_cli_base.sh
. "$(dirname "$0")/test_cli_base.sh"
on="--backend cpu"

number() { sed -n "s/^  \"$1\": \([-+.0-9e]*\),*$/\1/p" out; } # of the JSON object
holds() { awk "BEGIN { exit !($1) }"; }
near() { holds "$1 - ($2) <= $3 && $1 - ($2) >= -($3)"; }
value() { # value ARGUMENT...: runs it; leaves price and stderr in p and e
    expect 0 "$@" --json $on
    json
    p=$(number price) e=$(number stderr)
}

# --- the global ones, of every command ---
commands() { ARGP_HELP_FMT=rmargin=10000 "$shoal" "$@" --help | awk '/^ Global options/ { exit } /^  [a-z][a-z-]* / { print $1 }'; }
for command in $(commands); do
    words=$(commands $command)
    for module in ${words:-''}; do
        module=${module#\'\'}
        expect 0 $command $module --help; silent err
        check "$command $module: an example" grep -q "^  *[a-z]* *[<(]*shoal " out
        check "$command $module: the global options" grep -q -e "--threads=N" out
        ARGP_HELP_FMT=rmargin=10000 "$shoal" $command $module --help | grep -o '^ .\{5\}--[a-z][-a-z0-9]*' | sed 's/.* //' |
            grep -v -e --usage | sort >named
        "$shoal" completion bash +$command ${module:++$module} +-- | cut -f 1 | sort >offered
        check "$command $module: completion offers its options" cmp named offered
        expect 0 $command $module --usage; silent err
        check "$command $module: its usage" grep -q "^Usage: shoal $command $module" out
        expect 0 $command $module --version; silent err; check "version" grep -Eq '^shoal [0-9]+\.[0-9]+\.[0-9]+$' out
        expect 64 $command $module --threads none; said "--threads: 'none' is not a whole number"; silent out
    done
done

# --- help: its long form, for the documents, has more sentences ---
expect 0 solve small --help; check "the short form" test "$(grep -c "On a GPU not by" out)" = 0
SHOAL_HELP=long ARGP_HELP_FMT=rmargin=10000 "$shoal" solve small --help >out
check "the long form" grep -q "residual in double (0 to 100) \[0\]. On a GPU not available in hhpcr and eigdc." out

# --- help: a default in brackets is the value in force, of every option that the JSON object has ---
defaults() { # defaults COMMAND ARGUMENT...: what help says, and what runs, as "name value" lines
    command=$1
    shift
    SHOAL_HELP= ARGP_HELP_FMT=rmargin=10000 "$shoal" $command --help | awk '
        /^ Global options/ { exit }
        match($0, /--[a-z0-9-]+/) {
            name = substr($0, RSTART + 2, RLENGTH - 2)
            if (match($0, /\[[^]]*\]$/)) { value = substr($0, RSTART + 1, RLENGTH - 2); gsub(/-/, "_", name); print name, value }
        }' >promised
    for given in "$@"; do sed -i "/^$(echo "${given#--}" | tr -- - _) /d" promised; done 2>/dev/null
    expect 0 $command "$@" --json $on
    sed -n 's/^  "\([a-z0-9_]*\)": \[*"*\([^],"]*\)"*\]*,*$/\1 \2/p' out >in_force
    compared=$((compared + $(awk 'NR == FNR { found[$1] = $2; next } $1 in found && NF == 2' in_force promised | wc -l)))
    check "$command: defaults are those in force" test -z "$(awk '
        NR == FNR { found[$1] = $2; next }
        $1 in found && NF == 2 { value = $2; if (value ~ /^2\^[0-9]+$/) { sub(/2\^/, "", value); value = 2 ^ value }
            if (value == "auto" || $1 == "correlation" || found[$1] == "null") next # what it becomes; a matrix; no such choice
            if (value ~ /^[-+.0-9e]+$/ ? found[$1] + 0 != value + 0 : found[$1] != value) print $1, value, found[$1] }' in_force promised)"
}
compared=0
defaults "price heston" --method analytic
defaults "price heston" --paths 64 --steps 2
defaults "price expou" --paths 64 --steps 2
defaults "price bullet" --method quad
defaults "price american" --paths 64 --fit-paths 64
check "the strike of an American option is the price of the asset" grep -q "^strike 100$" in_force
check "and help says so" grep -q "^strike the first of --s0: 100$" promised
defaults "cva $examples/book.csv" --market "$examples/market.csv" --outer 16 --inner 16 --rule-paths 64 --dates 10
defaults "dataset expou" --samples 1 --paths 512 -o default.csv
expect 0 gen tridiag dominant --n 3 --count 2 -o t
defaults "solve tridiag" --dl t-dl.npy --d t-d.npy --du t-du.npy -b t-b.npy -x x.npy
check "there are some: $compared" test "$compared" -ge 40

# --- completion: candidates for the last word, each word behind a + ---
offers() { # offers WORD,..: stdout has these candidates and no others
    check "offers $1" test "$(cut -f 1 out | tr '\n' ,)" = "$1"
}
expect 0 completion bash +pr; offers price,predict,
expect 0 completion zsh +price +heston +--method +e; offers euler,exact,
expect 0 completion fish +--threads +2 +solve +small +--method +ld; offers ldlt,ldltp,
expect 0 completion bash +cva +--exposure += +n; offers nested,
expect 0 completion bash +cva +--type=f; offers --type=f64,--type=f32,
expect 0 completion bash +gen +symindef +tri; offers triplets,
expect 0 completion bash +verify +small; offers smallsym:,
expect 0 completion bash +sort +--descending +; offers :files,
expect 0 completion bash +merge-parts +; offers :files,
expect 0 completion bash +study +; offers smallsym,symindef,
expect 0 completion bash +solve +tridiag +--method +pcr +--variant +; offers stride,permute,
expect 0 completion bash +solve +small +--method=ldlt +--variant +h; offers hybrid,
expect 0 completion bash +solve +small +--method +auto +--variant +; silent out
expect 0 completion bash +sort +x.npy +--variant +; check "variants of every method" grep -q "of merge" out
expect 0 completion bash +gen +rng +normal +--variant +; offers boxmuller,icdf,
expect 0 completion bash +gen +recur +decay +--o; offers --output,--order,
expect 0 completion bash +gen +rng +normal +--o; offers --output,
expect 0 completion bash +gen +symindef +--c; silent out
expect 0 completion bash +gen +--la; offers --layout,--lambda,
expect 0 completion bash +nonsense +; silent out
expect 0 completion bash +help +so; offers solve,sort,
expect 0 completion bash +help +solve +; offers band,small,tridiag,
expect 0 completion bash +solve +tridiag +-x +; offers :files,
expect 0 completion bash +price +american +--solver +ld; offers ldlt,ldltp,
expect 0 completion bash +verify +tridiag:pc; offers tridiag:pcr:,
expect 0 completion bash +bench +rng:po; offers rng:poisson:,
expect 64 completion csh; said "unknown shell 'csh'; there are bash, zsh, fish. Did you mean 'zsh'?"
expect 64 completion bash $(seq 255 | sed 's/^/+/'); said "more than 255 words"

# The scripts in their shells: options, a value with choices, files.
mkdir -p bin && ln -sf "$shoal" bin/shoal && : >some.npy
in_shell() { PATH=$dir/bin:$PATH HOME=$dir timeout 60 "$@" >out 2>err </dev/null; rc=$?; } # in_shell COMMAND...
shows() { check "$1" grep -qxF -e "$2" out; }                                       # shows TEXT LINE: of out
expect 0 completion zsh; check "zsh" grep -q "^#compdef shoal" out; cp out _shoal
if command -v zsh >/dev/null; then
    in_shell zsh -n _shoal; check "zsh: the script is one" [ "$rc" -eq 0 ]; silent err
    cat >ask.zsh <<'ZSH'
compdef() { : }
source ./_shoal
_describe() { print -rl -- "${(@P)2}" }
_files() { print FILES }
words=("$@") CURRENT=$#
_shoal
ZSH
    in_shell zsh -f ask.zsh shoal solve tridiag --; shows "zsh: options" "--d:diagonal"; silent err
    shows "zsh: a colon in a text" "--layout:system: (count,n), or interleaved: (n,count)"
    in_shell zsh -f ask.zsh shoal price heston --method e; shows "zsh: choices" "euler:"; silent err
    in_shell zsh -f ask.zsh shoal verify small; shows "zsh: a colon in a word" "smallsym\\::"
    in_shell zsh -f ask.zsh shoal sort ""; shows "zsh: files" FILES; silent err
    cat >tab.zsh <<'ZSH'
zmodload zsh/zpty || exit 77
zpty z zsh -f -i
zpty -w z "fpath=($PWD \$fpath); autoload -U compinit; compinit -u -D; echo rea''dy"
zpty -r -m z out '*ready*'
zpty -w -n z $'shoal price heston --method an\t\n'
zpty -w z "echo do''ne"
zpty -r -m z out '*done*'
print -r -- $out
ZSH
    in_shell zsh -f tab.zsh # a terminal, and Tab pressed in it
    [ "$rc" -eq 77 ] || check "zsh: Tab completes a method" grep -q "^method        analytic" out
else
    skip "no zsh: its completion"
fi
expect 0 completion fish; check "fish" grep -q "^complete -c shoal" out; cp out shoal.fish
if command -v fish >/dev/null; then
    in_shell fish --no-execute shoal.fish; check "fish: the script is one" [ "$rc" -eq 0 ]; silent err
    tab="\t"
    ask() { in_shell fish -c "source shoal.fish; complete -C '$1'"; }
    ask "shoal solve tridiag --"; shows "fish: options" "$(printf -- "--d${tab}diagonal")"; silent err
    ask "shoal price heston --method e"; shows "fish: choices" euler
    ask "shoal cva --type=f"; shows "fish: choices behind =" --type=f32
    ask "shoal sort some"; shows "fish: files" some.npy
    ask "shoal sort -o so"; shows "fish: files of an option" some.npy
else
    skip "no fish: its completion"
fi
expect 0 completion bash
if command -v bash >/dev/null; then
    cp out shoal.bash
    check "a line in bash" test "$(bash -c 'compopt() { :; }; . ./shoal.bash; COMP_WORDS=(shoal eig small --va) COMP_CWORD=3
        _shoal "$1"; echo "${COMPREPLY[@]}"' _ "$shoal")" = "--values --variant"
else
    skip "no bash: its completion"
fi

# --- solve, eig, factor, recur, merge ---
expect 0 gen tridiag dominant --n 64 --count 5 -o t
expect 0 solve tridiag --dl t-dl.npy --d t-d.npy --du t-du.npy -b t-b.npy -x x.npy --method pscheme --json $on
for variant in blocked rearranged printed lookback; do
    expect 0 solve tridiag --dl t-dl.npy --d t-d.npy --du t-du.npy -b t-b.npy -x $variant.npy --method pscheme \
        --variant $variant --json $on
    json; leaf variant=$variant; leaf failed=0
done
expect 0 gen smallsym spd --n 12 --count 5 -o s
expect 64 solve small -A s-A.npy -b s-b.npy -x x.npy --method ldlt --variant hybrid --team 6 $on # a variant of GPUs
said "variant: ldlt has no variant 'hybrid' on the cpu backend"
expect 64 solve small -A s-A.npy -b s-b.npy -x x.npy --method ldltp --variant one $on; said "--variant one: method 'ldltp' has no variants"
expect 64 solve small -A s-A.npy -b s-b.npy -x x.npy --method ldlt --variant team --team 6 $on; said "--team needs --variant hybrid"

expect 0 gen rng uniform --count 24 -o u; expect 0 gen rng uniform --count 23 -o v
expect 0 sort u.npy -o d.npy
expect 0 eig tridiag --d d.npy --e v.npy -w w.npy --method eigdc --residual r.npy --rcond c.npy --rank k.npy \
    --inertia i.npy --cond 1e12 --tol 1e-10 --json $on
json; leaf method=eigdc; leaf tol=1e-10; leaf failed=0
w=$(floats w.npy)
counts=$(echo $w | awk '{ for (i = 1; i <= NF; i++) if ($i > 0) p++; else n++; print p + 0, n + 0, 0 }')
check "inertia is the signs of the values" test "$(ints i.npy)" = "$counts"
check "rank is all of them" test "$(ints k.npy)" = 24
f4() { tail -c +129 "$1" | od -An -v -t f4 | tr -d ' \n'; }
check "rcond is min|w| / max|w|" holds "$(f4 c.npy) > 0 && $(f4 c.npy) < 1"
check "residuals of a few units" holds "$(f4 r.npy) >= 0 && $(f4 r.npy) < 1e-14"
least=$(echo $w | awk '{ for (i = 1; i <= NF; i++) { x = $i < 0 ? -$i : $i; if (i == 1 || x < l) l = x; if (x > m) m = x }; print 0.9 * m / l }')
expect 0 eig tridiag --d d.npy --e v.npy -w w.npy --rank k.npy --inertia i.npy --cond "$least" $on
check "--cond discards the least value" test "$(ints k.npy)" = 23
check "and the inertia has it as a zero" test "$(ints i.npy | awk '{ print $3 }')" = 1


serial=$("$shoal" recur --s 0.5 --t 1 --n 4096 -o serial.npy --method serial $on --json | grep -c '"method": "serial"')
check "recur by serial" test "$serial" = 1
for variant in blocked rearranged; do
    expect 0 recur --s 0.5 --t 1 --n 4096 --type f64 -o $variant.npy --method pscheme --variant $variant --groups 2 --group-threads 8 --json $on
    json; leaf variant=$variant; leaf groups=2; leaf group_threads=8; leaf type=f64
    check "$variant: the limit is 2" test "$(floats $variant.npy | awk '{ print $NF }')" = 2
done
expect 0 recur --s 0.5 --t 1 --n 5 --type f32 -o short.npy $on; check "f4" grep -aq "<f4" short.npy

expect 0 sort u.npy -o a.npy --descending; expect 0 sort v.npy -o b.npy --descending
expect 0 merge a.npy b.npy -o m.npy --descending --json $on; json; leaf descending=true
check "47 keys, none above the one before" test "$(floats m.npy | awk '{ for (i = 2; i <= NF; i++) if ($i > $(i - 1)) bad++; print NF, bad + 0 }')" = "47 0"
expect 66 merge a.npy b.npy -o m.npy $on; said "is not sorted"

# --- price ---
few="--paths 4096 --steps 8 --seed 3"
value price heston $few; heston=$p
value price heston $few --variant normal; leaf variant=normal
check "another law of the same" near "$p" "$heston" "6 * $e"
expect 64 price heston --method euler --variant normal; said "variant of method 'euler'"
value price heston --method analytic --rate 0.05 --dividend 0.02; call=$p
value price heston --method analytic --rate 0.05 --dividend 0.02 --put
check "parity: C - P = S e^-q - K e^-r" near "$call - $p" "exp(-0.02) - exp(-0.05)" 1e-9
value price heston $few --rate 0.05 --dividend 0.02; check "paths agree" near "$p" "$call" "5 * $e"
value price heston --method analytic --v0 0.4 --kappa 1e4 --theta 0.1 --sigma 1e-4; check "v at once at theta" near "$p" 0.12563 3e-3
value price heston $few --method euler; euler=$e
value price heston $few --method euler --control; leaf control=true
check "a control variate halves the error" holds "$e < 0.7 * $euler"

value price expou $few; expou=$p error=$e
value price expou $few --s0 2 --strike 2; check "a scale of prices" near "$p" "2 * $expou" 1e-12
value price expou $few --beta 0 --m -2.302585092994 --y0 -2.302585092994
check "a constant volatility of 0.1: Black and Scholes" near "$p" 0.039877612 1e-6
value price expou $few --maturity 0.25; check "less time" holds "$p < $expou"
value price expou $few --rate 0.1; check "the forward grows" holds "$p > $expou"
value price expou $few --antithetic; leaf antithetic=true; check "mirrors" holds "$e < $error"
value price expou $few --rho -0.5; with=$e
value price expou $few --rho -0.5 --control; leaf control=true; check "it is the default" test "$e" = "$with"
value price expou $few --rho -0.5 --no-control; leaf control=false; check "and without it" holds "$e > 1.5 * $with"
value price expou --steps 8 --seed 3 --target-se 1e-3; check "until it is reached" holds "$e <= 1e-3"
value price expou $few --method euler --put --type f32; leaf type=f32; check "f32 paths" near "$p" "$expou" 0.02
value price expou $few --greeks --bump 0.05; wide=$(number delta)
value price expou $few --greeks; check "a bump of 5 % is not the default" holds "$wide != $(number delta)"
check "and gives nearly the same" near "$wide" "$(number delta)" 0.02
expect 0 price expou $few --plot smile.svg --strike 0.9,1,1.1 $on; check "a picture" grep -q "<svg" smile.svg

b="price bullet --paths 4096 --dates 6 --p1 1 --p2 4 --seed 3"
value $b; bullet=$p error=$e
value $b --s0 110 --strike 110 --barrier 132; check "a scale of prices" near "$p" "1.1 * $bullet" 1e-9
value $b --rate 0; check "without interest" holds "$p < $bullet"
value $b --sigma 0.3; check "more volatility" holds "$p > $bullet"
value $b --type f32; leaf type=f32; check "other numbers of the same law" near "$p" "$bullet" "6 * $e"
value $b --no-control; leaf control=false; check "the default" test "$p" = "$bullet"
value $b --control; leaf control=true; check "a smaller error" holds "$e < 0.7 * $error"
value $b --antithetic; leaf antithetic=true; check "a smaller error by mirrors" holds "$e < $error"
value $b --greeks; narrow=$(number delta_stderr)
value $b --greeks --bump 0.05; check "wider bumps, smaller errors" holds "$(number delta_stderr) < $narrow"

fitted="price american --fit-paths 2000 --dates 3 --seed 3" a="$fitted --paths 2000"
value $a; american=$p error=$e
value $a --put; check "a put is the default" test "$p" = "$american"
value $a --control; check "and so is the control" test "$p" = "$american"
value $a --no-control; leaf control=false; check "without: a larger error" holds "$e > 1.2 * $error"
value $a --dividend 0.1; check "dividends are good for a put" holds "$p > $american + 3 * $e"
value $a --method lsm; leaf method=lsm; check "the method" test "$p" = "$american"
value $a --method dual --outer 16 --inner 64; check "an upper bound" holds "$(number upper) > $american - 6 * $error"
value $fitted --target-se 0.5; check "until it is reached" holds "$e <= 0.5"
value $a --payoff call; call=$p
value $a --assets 2 --payoff max-call; leaf assets=2; check "the larger of two" holds "$p > $call"
expect 64 price heston --bump 0.1; said "--bump needs --greeks"
for foreign in --antithetic "--bump 0.1"; do expect 64 price american $foreign; said "unknown option '${foreign% *}'"; done

# --- cva ---
printf 'asset,spot,volatility\nA,100,0.2\n' >market.csv
printf 'payoff,assets,strike,maturity,quantity\ncall,A,100,1,1\ncall,A,100,1,-1\nput,A,90,1,1\n' >book.csv
printf 'payoff,assets,strike,maturity,style\nput,A,110,1,american\n' >american.csv
of() { # of BOOK OPTION...: leaves the CVA in v
    book=$1
    shift
    expect 0 cva $book.csv --market market.csv --outer 256 --json $on "$@"
    json
    v=$(number cva) e=$(number stderr)
}
of book; netted=$v
of book --no-netting; leaf netting_sets=3; check "without netting an exposure is larger" holds "$v > 2 * $netted"
of book --recovery 0; leaf recovery=0; check "recovery: a share of the loss" near "$netted" "0.6 * $v" 1e-12
of book --horizon 2; leaf horizon=2; check "nothing after the last maturity" near "$v" "$netted" "0.2 * $netted"
of book --exposure nested --inner 64; leaf exposure=nested; check "by inner paths" near "$v" "$netted" "0.5 * $netted"
early="american --estimator inner --inner 64 --rule-paths 4096 --degree 1"
decades() { tr -d '\n' <out | sed -n 's/.*"condition_decades": \[\([^]]*\)\].*/\1/p'; }
of $early; stopped=$v known=$(decades)
of $early --not-stopped; leaf stopped=false; check "never exercised: a larger exposure" holds "$v > $stopped"
of $early --raw-basis; check "other systems" [ "$(decades)" != "$known" ]; check "of the same functions" near "$v" "$stopped" "0.1 * $e"
of $early --solver eigdc; leaf solver=eigdc; check "by another solver the same" near "$v" "$stopped" "0.1 * $e"
check "all of its systems" grep -q '"ldlt": 0, "ldltp": 0, "hhpcr": 0, "eigdc": 0.9' out
of $early --type f32; leaf type=f32; check "f32" near "$v" "$stopped" "3 * $e"
of $early --solver eigdc; few=$(sed -n 's/.*"truncated": \([0-9]*\),.*/\1/p' out)
of $early --solver eigdc --cond 2; many=$(sed -n 's/.*"truncated": \([0-9]*\),.*/\1/p' out)
check "smaller eigenvalues discarded: $few $many" holds "$many > 10 * $few"

# --- train, predict, dataset ---
net=$examples/expou.net set="--alpha 1 --m -1.6 --beta 0.5 --y0 -1.6 --rho -0.5 --maturity 1 --strike 1"
expect 0 predict "$net" $set --json $on; json; single=$(number price)
expect 0 predict "$net" $set --type f64 --json $on; json
check "f64 is not f32" holds "$(number price) != $single"; check "but near" near "$(number price)" "$single" 1e-5
expect 0 predict "$net" $set --check --paths 4096 --json $on; json; few=$(number mc_stderr)
expect 0 predict "$net" $set --check --paths 65536 --json $on; json
check "paths of the check" holds "$(number mc_stderr) < $few"
expect 0 predict "$net" $set --check --target-se 1e-3 --json $on; json; few=$(number mc_stderr)
expect 0 predict "$net" $set --check --target-se 1e-6 --json $on; json
check "the error that the check aims at" holds "$(number mc_stderr) < $few"
awk 'BEGIN {
    srand(5); print "level,strike,maturity,price,stderr"
    for (i = 0; i < 400; i++) {
        k = 0.8 + 0.4 * rand(); v = 0.1 + 0.3 * rand(); t = 0.5 + rand(); d = v * sqrt(t)
        printf "%.6f,%.6f,%.6f,%.8f,%g\n", v, k, t, (1 > k ? 1 - k : 0) + 0.4 * d * exp(-8 * (1 - k) ^ 2), i % 2 ? 1e-4 : 1e-2
    }
}' >train.csv
short="train train.csv --layers 1 --width 8 --batch 32 --epochs 12 --seed 2 --json $on"
expect 0 $short -o f32.net; json; leaf type=f32
expect 0 $short --type f64 -o f64.net; json; leaf type=f64
check "another arithmetic, another network" eval '! cmp -s f32.net f64.net'
expect 0 $short --floor 1 -o floor.net
check "other weights of rows, another network" eval '! cmp -s f32.net floor.net'
expect 0 $short --epochs 400 --patience 1 --rate 0.3 -o early.net; json; leaf end=early
check "it ends before its epochs" holds "$(number epochs) < 400"
expect 0 dataset expou --samples 4 --paths 4096 -o one.csv $on; expect 0 dataset expou --samples 4 --paths 4096 --refine 2 -o two.csv $on
check "more steps, other prices" eval '! cmp -s one.csv two.csv'
check "of the same points" test "$(cut -d, -f1-5 one.csv)" = "$(cut -d, -f1-5 two.csv)"

summary test_cli_options.sh
