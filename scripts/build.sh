#!/usr/bin/env bash
# Configures a preset of CMakePresets.json and builds it in build/PRESET: build.sh PRESET [TARGET...]
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
preset=$1
shift

cmake --preset "$preset" >/dev/null  # warnings and errors come on standard error

arguments=(--build --preset "$preset" --parallel "$(nproc)")
[ $# -eq 0 ] || arguments+=(--target "$@")
if [ -t 1 ]; then
  NINJA_STATUS="building [%f/%t, %e s] " cmake "${arguments[@]}"
else
  cmake "${arguments[@]}" -- --quiet
fi
