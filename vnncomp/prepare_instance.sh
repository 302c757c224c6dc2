#!/usr/bin/env bash
# Generates and builds the verifier of a network; its binary is found again by the model's hash.
#   prepare_instance.sh v1 CATEGORY NETWORK.onnx PROPERTY.vnnlib
# A failure means that the instance is skipped: the model is not supported.
set -euo pipefail
[ "${1:-}" = v1 ] || { echo "expected v1 as first argument, got '${1:-}'" >&2; exit 1; }
[ $# -ge 4 ] || { echo "usage: prepare_instance.sh v1 CATEGORY NETWORK.onnx PROPERTY.vnnlib" >&2; exit 1; }
network=$3
root=$(dirname "${BASH_SOURCE[0]}")/..
verifiers=$root/target/vnncomp
hash=$(gzip -cdf "$network" | sha256sum | cut -d ' ' -f 1)

binary=$("$root/target/release/pg-codegen" "$network" --build)
mkdir -p "$verifiers"
ln -sfn "$binary" "$verifiers/$hash"
