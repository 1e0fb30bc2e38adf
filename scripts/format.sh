#!/usr/bin/env bash
# Formats every C++ and CUDA file as .clang-format says; format.sh --check only fails on those that would change.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
mapfile -t files < <(git ls-files --cached --others --exclude-standard '*.h' '*.cpp' '*.cu' '*.cuh' '*.inl')

if [ "${1:-}" = --check ]; then
  if ! report=$(clang-format-14 --dry-run -Werror "${files[@]}" 2>&1); then
    sed -nE 's/^([^: ]+):[0-9]+:.*/\1/p' <<<"$report" | sort -u >&2
    echo "format.sh: these files are not formatted; ./scripts/format.sh does it" >&2
    exit 1
  fi
else
  clang-format-14 -i "${files[@]}"
fi
echo "format: ${#files[@]} files"
