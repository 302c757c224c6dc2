#!/usr/bin/env bash
# Installs what building needs, then builds the compiler, and with a first verifier everything that verifiers share.
#   install_tool.sh v1
set -euo pipefail
[ "${1:-}" = v1 ] || { echo "expected v1 as first argument, got '${1:-}'" >&2; exit 1; }
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bash .ci/setup
cargo build --release --workspace
target/release/pg-codegen tests/networks/control.onnx --build
