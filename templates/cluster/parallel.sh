#!/usr/bin/env bash
# A suite on machines that are reached by ssh, with GNU parallel: bash parallel.sh LIST OUT PARTS [option of suite]..., where all
# of them see the folder. The same line again runs what is missing.
set -euo pipefail
[ $# -ge 3 ] || { echo "usage: bash parallel.sh LIST OUT PARTS [option of suite]..." >&2; exit 4; }
list=$1 out=$2 parts=$3
shift 3
threads=1               # of each verifier
where=(--jobs 100%)     # here, a part on each core; on other machines too: (--sshloginfile machines.txt --workdir .)

suite=(pg-codegen suite "$list" -o "$out" --threads "$threads" "$@")
"${suite[@]}" --build-only
# A part that fails is no reason not to collect: what is missing is named below.
seq "$parts" | parallel --quote "${where[@]}" --joblog "$out.log" "${suite[@]}" --quiet --resume --part "{}/$parts" >&2 || true
exec "${suite[@]}" --collect
