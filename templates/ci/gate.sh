#!/usr/bin/env bash
# Runs the gate of a repository, for any runner:
#   gate.sh        looks at everything, and exits with pg-codegen's code
#   gate.sh key    tells what a cache of the runner is keyed by, and what belongs into it
#
# The program is PG_CODEGEN, or else pg-codegen from PATH; if there is none it is built from the source that this script lies in,
# and kept in PG_TOOLS. What is looked at is the file PG_GATE, or PG_MODEL with PG_PROPERTIES, a path a line. All of these
# may be set:
#   PG_GATE        the gate [gate.toml]
#   PG_MODEL, PG_PROPERTIES        one network instead of a file
#   PG_OUT         folder of the results [target/gate beside the gate]
#   PG_TIMEOUT, PG_JOBS, PG_ALLOW  as pg-codegen gate's options of these names
#   PG_PROOFS      true: a certificate of each unsat
#   PG_VERSION     the version that pg-codegen has to have [any]
#   PG_TOOLS       where a program that was built is kept [~/.cache/pg-codegen/tools]
# Where GITHUB_OUTPUT and GITHUB_STEP_SUMMARY are set, outputs and summary are appended to these files.
set -euo pipefail

BAD=4
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
model=${PG_MODEL:-}
gate=${PG_GATE:-gate.toml}
[ -z "$model" ] || gate=gate.toml
out=${PG_OUT:-$(dirname "$gate")/target/gate}
out=${out#./}
tools=${PG_TOOLS:-${HOME:-/tmp}/.cache/pg-codegen/tools}

fail() {
    echo "error: $1" >&2
    exit "$BAD"
}

# An output of the step, also where nobody reads it.
output() {
    case $2 in *$'\n'*) fail "$1 has more than one line: $2" ;; esac
    [ -z "${GITHUB_OUTPUT:-}" ] || printf '%s=%s\n' "$1" "$2" >>"$GITHUB_OUTPUT"
}

# The digest of what a build depends on; of a program that comes from elsewhere there is none.
source_digest() {
    if [ ! -f "$root/codegen/Cargo.toml" ]; then
        echo none
        return
    fi
    (cd "$root" && find Cargo.toml Cargo.lock check codegen/src codegen/Cargo.toml runtime templates -type f -exec sha256sum {} + |
        LC_ALL=C sort -k 2 | sha256sum | cut -c 1-16)
}

# The version that the source beside this script has.
source_version() {
    sed -n '/^\[workspace.package\]/,/^\[/ s/^version = "\(.*\)"/\1/p' "$root/Cargo.toml"
}

rustc_version() {
    if command -v rustc >/dev/null; then rustc --version | cut -d ' ' -f 2; else echo none; fi
}

# The program if there is one already: named, on the path, or built from the same source by the same compiler.
present() {
    if [ -n "${PG_CODEGEN:-}" ]; then
        command -v "$PG_CODEGEN" || fail "PG_CODEGEN is $PG_CODEGEN, which cannot be run"
    elif ! command -v pg-codegen; then
        local kept
        kept=$tools/$(source_version)-$(rustc_version)-$(source_digest)/pg-codegen
        if [ -x "$kept" ]; then echo "$kept"; fi
    fi
}

# Builds the program and keeps it. All that is told goes to stderr.
build() {
    [ -f "$root/codegen/Cargo.toml" ] || fail "there is no pg-codegen on PATH, and no source of it at $root"
    bash "$root/.ci/setup" >&2
    (cd "$root" && cargo build --release --locked -p pg-codegen --bin pg-codegen) >&2
    local kept
    kept=$tools/$(source_version)-$(rustc_version)-$(source_digest)
    mkdir -p "$kept"
    kept=$(cd "$kept" && pwd)
    (cd "$root" && cp "${CARGO_TARGET_DIR:-target}/release/pg-codegen" "$kept/pg-codegen.$$")
    mv "$kept/pg-codegen.$$" "$kept/pg-codegen"
    echo "$kept/pg-codegen"
}

# What is looked at, by its content: whatever of the repository looks like a model, a property, an image or a gate.
content_digest() {
    local names=('*.onnx*' '*.nnet*' '*.vnnlib*' '*.csv*' '*gate.toml')
    if git rev-parse --git-dir >/dev/null 2>&1; then
        git ls-files -s -- "${names[@]}" | sha256sum | cut -c 1-16
    else
        printf '%s\n' "${GITHUB_SHA:-none}" | sha256sum | cut -c 1-16
    fi
}

key() {
    local found prefix runner
    runner=${RUNNER_OS:-$(uname -s)}-${RUNNER_ARCH:-$(uname -m)}
    found=$(present)
    if [ -n "$found" ]; then
        prefix=pg-$("$found" --version | cut -d ' ' -f 2)
    else
        prefix=pg-$(source_version)
    fi
    prefix=$prefix-$(rustc_version)-$runner-$(source_digest)
    output prefix "$prefix-"
    output key "$prefix-$(content_digest)"
    output verdicts "$out/cache"
    output tools "$tools"
    echo "$prefix-$(content_digest)"
}

# The summary for the page of the run, if this run wrote one.
summarise() {
    if [ -n "${GITHUB_STEP_SUMMARY:-}" ] && [ -f "$out/summary.md" ]; then
        cat "$out/summary.md" >>"$GITHUB_STEP_SUMMARY"
    fi
}

run() {
    local arguments=(gate -o "$out") program said line verdict code=0
    program=$(present)
    [ -n "$program" ] || program=$(build)
    if [ -n "${PG_VERSION:-}" ] && [ "$("$program" --version)" != "pg-codegen $PG_VERSION" ]; then
        fail "version $PG_VERSION was asked for, but $program is $("$program" --version)"
    fi
    if [ -n "$model" ]; then
        arguments+=("--model=$model")
        while IFS= read -r line; do
            [ -z "${line//[[:space:]]/}" ] || arguments+=("--property=$line")
        done <<<"${PG_PROPERTIES:-}"
    else
        arguments+=("$gate")
    fi
    [ -z "${PG_TIMEOUT:-}" ] || arguments+=("--timeout=$PG_TIMEOUT")
    [ -z "${PG_JOBS:-}" ] || arguments+=("--jobs=$PG_JOBS")
    [ -z "${PG_ALLOW:-}" ] || arguments+=("--allow=$PG_ALLOW")
    case ${PG_PROOFS:-false} in
        true) arguments+=(--proofs) ;;
        false) ;;
        *) fail "PG_PROOFS is $PG_PROOFS; it may be true or false" ;;
    esac
    rm -f "$out/summary.md" "$out/junit.xml"
    said=$("$program" "${arguments[@]}") || code=$?
    verdict=${said%%$'\n'*}
    output verdict "${verdict:-error}"
    output report "$out/report/index.html"
    output junit "$out/junit.xml"
    output results "$out"
    summarise
    echo "${verdict:-error}"
    return "$code"
}

case ${1:-run} in
    run) run ;;
    key) key ;;
    *) fail "there is no '$1'; give nothing, or key" ;;
esac
