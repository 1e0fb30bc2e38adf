#!/usr/bin/env bash
# Configures a preset of CMakePresets.json and builds it in build/PRESET: build.sh PRESET [-DOPTION=VALUE...] [TARGET...]
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
preset=$1
shift
options=()
while [[ "${1:-}" == -D* ]]; do
  options+=("$1")
  shift
done

# ccache, where it is installed, finds an object again in whatever folder the clone lies.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1

cmake --preset "$preset" "${options[@]}" >/dev/null  # warnings and errors come on standard error

arguments=(--build --preset "$preset" --parallel "$(nproc)")
[ $# -eq 0 ] || arguments+=(--target "$@")
if [ -t 1 ]; then
  NINJA_STATUS="building [%f/%t, %e s] " cmake "${arguments[@]}"
else
  cmake "${arguments[@]}" -- --quiet
fi
