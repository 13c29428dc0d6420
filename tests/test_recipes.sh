#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# test_recipes.sh SOURCE_DIR PROGRAM - the commands of docs/scale.md, examples/slurm-array.sh and examples/Containerfile,
# without a cluster and without a container runtime: small numbers of paths, sbatch runs the tasks one after the other,
# and the steps of the Containerfile run here, over the build that is there. Results of all engines are compared.
set -uo pipefail
root=$(cd "${1:?usage: test_recipes.sh SOURCE_DIR PROGRAM}" && pwd)
program=$(realpath "${2:?}")
build=$(dirname "$program")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
checks=0 failed=0 skipped=0
check() { # check WHAT COMMAND...
    local what=$1
    shift
    checks=$((checks + 1))
    "$@" >"$work/said" 2>&1 </dev/null || { failed=$((failed + 1)) && echo "FAIL  $what" && tail -n 5 "$work/said"; }
}
skip() { skipped=$((skipped + 1)) && echo "skip  $*"; }

# ---- programs that stand for those of a cluster ----

mkdir "$work/bin" "$work/run"
cat >"$work/bin/shoal" <<END
#!/usr/bin/env bash
exec "$program" "\$@"
END
cat >"$work/bin/mpirun" <<END
#!/usr/bin/env bash
exec "$(command -v mpirun)" --allow-run-as-root --oversubscribe "\$@"
END
cat >"$work/bin/sbatch" <<'END'
#!/usr/bin/env bash
# Slurm's: a task per number of #SBATCH --array; here two of them
script=$1
shift
tasks=$(sed -n 's/^#SBATCH --array=1-//p' "$script")
[ "$tasks" -gt 1 ] || exit 1
if [ "${1-}" = merge ]; then exec sh "$script" merge; fi
for task in 1 2; do SLURM_ARRAY_TASK_ID=$task SLURM_CPUS_PER_TASK=1 sh "$script" "$@" || exit; done
END
chmod +x "$work"/bin/*
small="300 --inner 16 --rule-paths 2048 --dates 4"
export PATH=$work/bin:$PATH PARTS=2 OUTER="$small"

small() { # the command with small numbers
    sed -E "s/--outer 1e6/--outer $small/; s/(market.csv) --devices/\1 --outer $small --devices/
            s/--paths 1e9/--steps 4 --paths 2e5/; s/american /american --paths 2e5 --fit-paths 4096 /
            s/--samples 200000/--samples 60 --paths 512/; s/--times 1000/--times 1000 --workers 8,64/" <<<"$1"
}

# ---- the page ----

cd "$work/run" || exit 1
cp "$root/examples/market.csv" .
{ head -n 2 "$root/examples/book.csv" && tail -n 3 "$root/examples/book.csv"; } >book.csv # of one asset each
ln -s "$root/examples" "$root/tools" .
mpi=$("$program" --backend cpu info | awk '$1 == "mpi" { print $2 }')
[ -x "$(command -v mpirun)" ] || mpi=off
grep -E '^    [a-z]' "$root/docs/scale.md" | sed 's/^    //' >"$work/commands"
check "the page has commands" test "$(wc -l <"$work/commands")" -gt 10
grep '^|' "$root/docs/scale.md" | grep -oE '`(shoal|mpirun|sbatch) [^`]+`' | tr -d '`' >"$work/table"
check "the table has commands" test "$(wc -l <"$work/table")" -ge 5
while read -r command; do
    check "a command of the table is one of those below it: $command" grep -Fxq -- "$command" "$work/commands"
done <"$work/table"
while read -r command; do
    case $command in
    podman*) continue ;; # below, step by step
    mpirun*) [ "$mpi" = on ] || { skip "no MPI: $command" && continue; } ;;
    tools/*) [ -e scale.json ] || { skip "no MPI: $command" && continue; } ;;
    esac
    check "$command" bash -c "$(small "$command")"
    case $command in *merge*) mv profile.csv "profile-$checks.csv" ;; esac
done <"$work/commands"

# ---- all engines agree ----

check "one process" bash -c "shoal cva book.csv --market market.csv --outer $small -o one.csv"
for profile in profile-*.csv; do check "$profile has the bits of one process" cmp one.csv "$profile"; done
check "two merges" test "$(echo profile-*.csv | wc -w)" -eq 2

# ---- the Containerfile, step by step ----

cat >"$work/bin/apt-get" <<'END'
#!/usr/bin/env bash
# on Debian 12, where there are lists of packages: they are known
words=()
for word in "$@"; do case $word in -* | install | update) ;; *) words+=("$word") ;; esac done
[ ${#words[@]} -gt 0 ] && grep -q bookworm /etc/os-release && ls /var/lib/apt/lists/*_Packages* >/dev/null 2>&1 || exit 0
[ "$(apt-cache policy "${words[@]}" | grep -c 'Candidate: [0-9]')" -eq ${#words[@]} ]
END
cat >"$work/bin/cmake" <<END
#!/usr/bin/env bash
# the options are those of a real configuration; what is installed comes from the build that is there
case "\$*" in
*"--build /build"*) exit 0 ;;
*"--install /build"*) exec "$(command -v cmake)" --install "$build" --prefix "$work/opt" ;;
*) words=("\$@") && words=("\${words[@]//\/src/$root}") && exec "$(command -v cmake)" "\${words[@]//\/build/$work/build}" ;;
esac
END
printf '#!/bin/sh\nexit 0\n' >"$work/bin/ldconfig"
chmod +x "$work"/bin/*
rm "$work/bin/shoal"
while read -r word command; do
    case $word in
    RUN)
        command=${command//rm -rf \/var*/true}
        case $command in *-DSHOAL_MPI=ON*) [ "$mpi" = on ] || command=${command/-DSHOAL_MPI=ON/-DSHOAL_MPI=OFF} ;; esac
        check "Containerfile: $command" env PATH="$work/opt/bin:$PATH" bash -c "$command"
        ;;
    COPY | FROM | ARG | WORKDIR | ENTRYPOINT | "" | "#"*) ;;
    *) check "Containerfile: a word that is known: $word" false ;;
    esac
done <"$root/examples/Containerfile"
check "what is installed runs" "$work/opt/bin/shoal" info

echo "test_recipes.sh: $checks checks, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
