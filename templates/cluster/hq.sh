#!/usr/bin/env bash
# A suite on HyperQueue: bash hq.sh LIST OUT PARTS [option of suite]..., where all workers see the folder. A server and workers
# have to run (hq server start; hq worker start, or hq alloc add slurm). The same line again runs what is missing.
set -euo pipefail
[ $# -ge 3 ] || { echo "usage: bash hq.sh LIST OUT PARTS [option of suite]..." >&2; exit 4; }
list=$1 out=$2 parts=$3
shift 3
threads=1               # of each verifier
limit=1h                # of a part: what the limits of its rows come to; what it does not get to, the next run of this runs

suite=(pg-codegen suite "$list" -o "$out" --threads "$threads" "$@")
"${suite[@]}" --build-only
mkdir -p "$out.logs"
# A part that fails is no reason not to collect: what is missing is named below.
# shellcheck disable=SC2016 # HQ_TASK_ID is of the task.
hq submit --wait --name suite --array "1-$parts" --cpus "$threads" --time-limit "$limit" \
    --stdout "$out.logs/%{JOB_ID}-%{TASK_ID}.out" --stderr "$out.logs/%{JOB_ID}-%{TASK_ID}.err" \
    -- bash -c 'parts=$1; shift; exec "$@" --resume --part "$HQ_TASK_ID/$parts"' part "$parts" "${suite[@]}" >&2 || true
exec "${suite[@]}" --collect
