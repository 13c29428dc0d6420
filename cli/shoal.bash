# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Completion of the shoal program for bash. Installed as bash-completion/completions/shoal; or:
#     . cli/shoal.bash
# Words that depend on the build (methods, kinds of test problem) are asked of the program itself.

_shoal_kinds() { "$1" gen "$2" --list 2>/dev/null | awk '{ print $2 }'; }

_shoal_modules() { "$1" gen --list 2>/dev/null | awk '!seen[$1]++ { print $1 }'; }

# The methods of a module; the word of `shoal solve` is the beginning of its name.
_shoal_methods() {
    echo auto
    "$1" info --backend cpu 2>/dev/null | awk -v module="$2" '
        /^$/ { inside = 0 }
        /^[a-z]/ { inside = index($1, module) == 1; name = $1 }
        inside { print $1 == name ? $2 : $1 }'
}

_shoal() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    local global='--backend --device --threads --seed --json --quiet --math --help --version'
    local command='' module='' kind='' i choices=''

    # The command, and the words after it. An option with a separate value hides that value.
    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
        --backend | --device | --threads | --seed | --math) ((i++)) ;;
        --n | --count | --nrhs | --type | --layout | -o | --output) ((i++)) ;;
        --triangle | --parameter | --method | --tol | --delta | --cond | --team | --refine | -A | -b | -x | --psi | --y) ((i++)) ;;
        -w | --values | -v | --vectors | --d | --e) ((i++)) ;;
        --variant | --lambda | --alpha | --df | --first | --step | --purpose | --draw) ((i++)) ;;
        --repeat | --save | --name | --part | --matrix) ((i++)) ;;
        --s | --t | --w0 | --order | --groups | --group-threads) ((i++)) ;;
        --pivot | --gjgt | --inverse | --modify | --growth | --snapshots | --stages) ((i++)) ;;
        --index | --sorted-values | --offsets | --a-values | --b-values) ((i++)) ;;
        --s0 | --strike | --rate | --dividend | --maturity | --v0 | --kappa | --theta | --sigma | --rho | --g) ((i++)) ;;
        --paths | --steps | --target-se | --plot | --shard | --barrier | --dates | --p1 | --p2) ((i++)) ;;
        --m | --beta | --nu2 | --nu2-form | --y0) ((i++)) ;;
        --at | --lattice | --outer | --nx | --steps-per-date | --solver | --options | --last | --bump) ((i++)) ;;
        --book | --ranges | --market | --report | --hazard | --recovery | --threshold | --horizon | --exposure | --degree) ((i++)) ;;
        --assets | --correlation | --weights | --payoff | --basis | --fit-paths | --inner) ((i++)) ;;
        --samples | --design | --parametrisation) ((i++)) ;;
        --validation | --target | --layers | --width | --epochs | --batch | --patience | --floor | --export) ((i++)) ;;
        -*) ;;
        *)
            if [[ -z $command ]]; then
                command=${COMP_WORDS[i]}
            elif [[ -z $module ]]; then
                module=${COMP_WORDS[i]}
            elif [[ -z $kind ]]; then
                kind=${COMP_WORDS[i]}
            fi
            ;;
        esac
    done

    case $before in
    --backend) choices='auto cpu cuda' ;;
    --math) choices='exact fast' ;;
    --type) choices='f32 f64' ;;
    --layout) choices='system interleaved' ;;
    --triangle) choices='lower upper' ;;
    --method)
        choices='auto eigdc'
        [[ $command == recur ]] && module=recur
        [[ $command == merge || $command == sort ]] && module='sort'
        if [[ $command == price ]]; then
            choices='auto euler exact conditional analytic'
            [[ $module == expou ]] && choices='auto euler conditional'
            [[ $module == bullet ]] && choices='auto mc grid nested quad pde'
            [[ $module == american ]] && choices='auto lsm dual'
        elif [[ $command != eig ]]; then
            choices=$(_shoal_methods "$1" "${module:-tridiag}")
        fi
        ;;
    --g) choices='full plus abs' ;;
    --solver)
        choices='pcr thomas'
        [[ $module == american || $command == cva ]] && choices=$(_shoal_methods "$1" smallsym)
        ;;
    --payoff) choices='put call max-call basket-put basket-call' ;;
    --basis) choices='linear poly:2 poly:3 poly:4 poly:5' ;;
    --exposure) choices='closed nested' ;;
    --target) choices='volatility price' ;;
    --nu2-form) choices='usual paper' ;;
    --design) choices='sobol latin' ;;
    --parametrisation) choices='beta nu2' ;;
    --pivot) choices=$(_shoal_methods "$1" symindef) ;;
    --modify) choices=auto ;;
    --part) choices='alpha sizes read' ;;
    --variant)
        choices='middle gragg'
        [[ $command == price ]] && choices='poisson normal'
        [[ $command != eig && $command != price ]] && return
        ;;
    --part) choices='alpha sizes read' ;;
    --device | --threads | --seed | --n | --count | --nrhs | --tol | --repeat | --name | --stages) return ;;
    --s0 | --strike | --rate | --dividend | --maturity | --v0 | --kappa | --theta | --sigma | --rho | --paths | --steps | --target-se | --shard | --barrier | --dates | --p1 | --p2 | --lattice | --outer | --nx | --steps-per-date | --last | --bump | --m | --beta | --nu2 | --y0 | --assets | --correlation | --weights | --fit-paths | --inner | --samples) return ;;
    --lambda | --alpha | --df | --first | --step | --purpose | --draw | --delta | --cond | --team | --refine | --parameter) return ;;
    --hazard | --recovery | --threshold | --horizon | --degree) return ;;
    --layers | --width | --epochs | --batch | --patience | --floor) return ;;
    --validation | --export | --book | --ranges | --market | --report | --at | --options | --plot | --index | --sorted-values | --a-values | --b-values | --offsets | --rcond | --rank | --inertia | --method-out | --psi | --y | -o | --output | -A | -b | -x | --dl | --d | --du | --e | -w | --values | -v | --vectors | --status | --residual | --save | --gjgt | --growth | --snapshots | --matrix)
        compopt -o default 2>/dev/null
        return
        ;;
    esac
    if [[ -z $choices ]]; then
        case $command in
        '') choices="info gen solve eig factor recur merge sort price cva dataset train predict merge-parts verify bench study report $global" ;;
        gen)
            choices="--n --count --type --output --list $global"
            [[ $module == symindef ]] && choices="--n --type --output --list $global"
            [[ $module != rng && $module != symindef ]] && choices+=' --nrhs'
            [[ $module != rng && $module != sm* && $module != sy* ]] && choices+=' --layout'
            [[ $module != rng && $module != tridiag && $module != symindef ]] &&
                choices+=' --packed --triangle --parameter'
            [[ $module != tridiag && $module != smallsym && $module != symindef ]] &&
                choices+=' --variant --lambda --alpha --df --first --step --purpose --draw'
            [[ $kind == triplets ]] && compopt -o default 2>/dev/null
            if [[ -z $module ]]; then
                choices+=" $(_shoal_modules "$1")"
            elif [[ -z $kind ]]; then
                choices+=" $(_shoal_kinds "$1" "$module")"
            fi
            ;;
        solve)
            if [[ -z $module ]]; then
                choices="small tridiag $global"
            elif [[ $module == small ]]; then
                choices="-A -b --psi --y -x --method --variant --team --packed --triangle --refine --estimate --cond --tol"
                choices+=" --status --residual --rcond --rank --inertia --method-out $global"
            else
                choices="--dl --d --du -A -b -x --method --variant --tol --layout --offsets --transposed --periodic"
                choices+=" --factored --delta --cond --no-split --status --residual --rcond --groups --group-threads $global"
            fi
            ;;
        eig)
            choices="small tridiag $global"
            [[ $module == small ]] && choices="-A --packed --triangle"
            [[ $module == tridiag ]] && choices="--d --e --layout"
            [[ -n $module ]] &&
                choices+=" -w --values -v --vectors --method --variant --cond --tol --status --residual --rcond --rank --inertia $global"
            ;;
        factor)
            choices="--pivot --variant --alpha --tol -b -x --refine --output --inverse --gjgt --partitioned --modify --no-check"
            choices+=" --packed --full --triangle --type --growth --snapshots --stages $global"
            [[ -z $module ]] && compopt -o default 2>/dev/null
            ;;
        recur)
            choices="--s --t --w0 --output --order --moebius --reverse --n --count --type --layout --method"
            choices+=" --variant --groups --group-threads --status $global"
            ;;
        merge)
            choices="--output --a-values --b-values --values --descending --method --variant $global"
            compopt -o default 2>/dev/null
            ;;
        sort)
            choices="--output --index --values --sorted-values --offsets --descending --method --variant $global"
            compopt -o default 2>/dev/null
            ;;
        price)
            choices="heston expou bullet american $global"
            [[ -n $module ]] &&
                choices="--s0 --strike --rate --dividend --maturity --v0 --kappa --theta --sigma --rho --put --method --g --variant"
            [[ $module == expou ]] &&
                choices="--s0 --strike --rate --maturity --alpha --m --beta --nu2 --nu2-form --y0 --rho --put --method"
            [[ $module == bullet ]] &&
                choices="--s0 --strike --rate --maturity --sigma --barrier --dates --p1 --p2 --count --method --at --lattice --outer --nx --steps-per-date --solver --as-printed --last --options --probability"
            [[ $module == american ]] &&
                choices="--s0 --strike --rate --dividend --maturity --sigma --assets --correlation --weights --payoff --dates --basis --raw-basis --solver --fit-paths --upper --inner --outer --method"
            [[ -n $module ]] &&
                choices+=" --paths --steps --type --target-se --antithetic --control --no-control --greeks --bump --plot --shard --output --compare $global"
            ;;
        cva)
            choices="--book --market --rate --hazard --recovery --threshold --no-netting --dates --horizon --outer --inner --exposure"
            choices+=" --stopping --rule-paths --not-stopped --degree --raw-basis --no-control --solver --cond --type --compare --shard --output --plot --report $global"
            compopt -o default 2>/dev/null
            ;;
        dataset)
            choices="expou $global"
            [[ -n $module ]] &&
                choices="--samples --output --ranges --design --parametrisation --target-se --paths --refine --shard --restart $global"
            ;;
        train)
            choices="--validation --output --target --layers --width --epochs --batch --patience --rate --floor --type --gemm --plot --export $global"
            compopt -o default 2>/dev/null
            ;;
        predict)
            choices="--alpha --m --beta --nu2 --y0 --rho --maturity --strike --output --no-derivatives --type --check --target-se --paths --export $global"
            compopt -o default 2>/dev/null
            ;;
        merge-parts)
            choices="--plot --output $global"
            compopt -o default 2>/dev/null
            ;;
        verify) choices="tridiag: smallsym: recur: symindef: sort: heston: expou: bullet: rng: $global" ;;
        bench) choices="tridiag: smallsym: recur: symindef: sort: heston: expou: bullet: rng: --peers --repeat --save --name $global" ;;
        study) choices="smallsym symindef --output --count --part --n --matrix $global" ;;
        report) choices="--output $global" ;;
        *) choices=$global ;;
        esac
    fi
    mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$word")
    [[ ${COMPREPLY[0]} == *: ]] && compopt -o nospace 2>/dev/null
    return 0
}
complete -F _shoal shoal
