#!/usr/bin/env bash
# Decides an instance with the verifier that was prepared for its model.
#   run_instance.sh v1 CATEGORY NETWORK.onnx PROPERTY.vnnlib RESULTS TIMEOUT
# RESULTS gets the verdict on its first line, and after sat the counterexample.
set -euo pipefail
[ "${1:-}" = v1 ] || { echo "expected v1 as first argument, got '${1:-}'" >&2; exit 1; }
[ $# -eq 6 ] || { echo "usage: run_instance.sh v1 CATEGORY NETWORK PROPERTY RESULTS TIMEOUT" >&2; exit 1; }
network=$3 property=$4 results=$5 timeout=$6
root=$(dirname "${BASH_SOURCE[0]}")/..
hash=$(gzip -cdf "$network" | sha256sum | cut -d ' ' -f 1)

# Every verdict is a success to the harness, which reads it from the file.
code=0
"$root/target/vnncomp/$hash" verify "$property" --timeout "$timeout" --results "$results" >/dev/null || code=$?
if [ "$code" -gt 3 ]; then
    echo error >"$results"
fi
