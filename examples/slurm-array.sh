#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# slurm-array.sh - a CVA as a Slurm job array: a part per task, then one task that merges them. No MPI, no shared memory;
# the tasks share a folder. A part is there as a whole or not at all, so a task that was killed runs again, and what is
# done stays. To submit it, and again after failures:
#
#   job=$(sbatch --parsable examples/slurm-array.sh)
#   sbatch --dependency=afterok:$job examples/slurm-array.sh merge
#
#SBATCH --job-name=cva
#SBATCH --array=1-64
#SBATCH --cpus-per-task=4
#SBATCH --time=02:00:00
#SBATCH --requeue
set -eu
parts=${PARTS:-64} # as in --array
command="cva book.csv --market market.csv --outer ${OUTER:-1000000}"

if [ "${1-}" = merge ]; then
    [ "${SLURM_ARRAY_TASK_ID:-1}" = 1 ] || exit 0
    exec shoal merge-parts parts/*.part -o profile.csv
fi
mkdir -p parts
part=parts/$SLURM_ARRAY_TASK_ID.part
[ ! -s "$part" ] || exit 0
# shellcheck disable=SC2086 # the command is words
exec shoal $command --threads "${SLURM_CPUS_PER_TASK:-1}" --shard "$SLURM_ARRAY_TASK_ID/$parts" -o "$part"
