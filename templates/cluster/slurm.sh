#!/usr/bin/env bash
# A suite on Slurm: bash slurm.sh LIST OUT PARTS [option of suite]..., where all nodes see the folder. The same line again runs
# what is missing. Partition and account are sbatch's own, as in SBATCH_PARTITION=short bash slurm.sh list.csv out 100 --timeout 60
set -euo pipefail
[ $# -ge 3 ] || { echo "usage: bash slurm.sh LIST OUT PARTS [option of suite]..." >&2; exit 4; }
list=$1 out=$2 parts=$3 # PARTS is less than MaxArraySize of the site, 1001 unless set (scontrol show config)
shift 3
threads=1               # of each verifier
at_once=100             # parts that run at the same time, at most
memory=2G               # of a part
limit=01:00:00          # of a part: what the limits of its rows come to; what it does not get to, the next submission runs
building=01:00:00       # of the job that builds the verifiers: minutes for the first, seconds for each more

# exec, so that the signal before the limit reaches pg-codegen instead of a shell around it.
suite=$(printf '%q ' exec pg-codegen suite "$list" -o "$out" --threads "$threads" "$@")
mkdir -p "$out.logs"
submit() { sbatch --parsable --output="$out.logs/%x-%A-%a.txt" --open-mode=append "$@"; }
build=$(submit --job-name=build --time="$building" --wrap="$suite --build-only")
run=$(submit --job-name=run --dependency="afterok:$build" --kill-on-invalid-dep=yes --array="1-$parts%$at_once" \
    --cpus-per-task="$threads" --mem="$memory" --time="$limit" --requeue --signal=B:TERM@30 \
    --wrap="$suite --resume --part \$SLURM_ARRAY_TASK_ID/$parts")
collect=$(submit --job-name=collect --dependency="afterany:$run" --wrap="$suite --collect")
echo "jobs $build (build), $run (run) and $collect (collect), which makes $out/results.csv; what they say is in $out.logs"
