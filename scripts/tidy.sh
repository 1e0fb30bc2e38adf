#!/usr/bin/env bash
# clang-tidy with the list in .clang-tidy: tidy.sh [FILE...], every source of src/ by default. Needs a configured preset asan.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
[ $# -gt 0 ] || mapfile -t files < <(git ls-files --cached --others --exclude-standard 'src/*.cpp')
[ $# -eq 0 ] || files=("$@")
printf '%s\0' "${files[@]}" |
  xargs -0 -n 1 -P "$(nproc)" clang-tidy-14 --quiet -p build/asan 2> >(grep -v 'warnings\? generated' >&2)
echo "clang-tidy: ${#files[@]} files, no finding"
