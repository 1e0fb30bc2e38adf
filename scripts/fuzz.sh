#!/usr/bin/env bash
# Builds the fuzz targets and runs each for some seconds: fuzz.sh [SECONDS [TARGET...]], 20 seconds and all by default.
# What is learned stays in build/fuzz/corpus/TARGET, an input that fails in build/fuzz/findings.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
seconds=${1:-20}
[ $# -eq 0 ] || shift

./scripts/install_packages.sh build test check
./scripts/build.sh asan fuzzers

# Real files to start from: a parser is hard to enter with random bytes.
seed() {
  local target=$1 corpus=$2 file index=0
  case "$target" in
    config_fuzz)
      cp --backup=numbered -t "$corpus" fixtures/*/config.json models/demo/config.json
      ;;
    model_fuzz) # a byte that chooses the fixture, then its configuration
      while read -r file; do
        { printf '%b' "\\x0$index"; cat "fixtures/$file/config.json"; } >"$corpus/$file"
        index=$((index + 1))
      done < <(sed -n '/kFixtures\[\]/,/;/p' fuzz/model_fuzz.cpp | grep -oP '"\K[a-z0-9_]+(?=")')
      ;;
    template_fuzz) # a template, a zero byte, messages
      for file in tests/text/conversations/*.json; do
        {
          cat models/demo/chat_template.jinja
          printf '\0'
          python3 -c 'import json, sys; json.dump(json.load(open(sys.argv[1]))["messages"], sys.stdout)' "$file"
        } >"$corpus/$(basename "$file")"
      done
      ;;
  esac
  [ ! -d "fuzz/seeds/$target" ] || cp -t "$corpus" "fuzz/seeds/$target"/*
}

if [ $# -eq 0 ]; then
  for source in fuzz/*_fuzz.cpp; do set -- "$@" "$(basename "$source" .cpp)"; done
fi
mkdir -p build/fuzz/findings
for target in "$@"; do
  if [ ! -x "build/asan/fuzz/$target" ]; then
    echo "fuzz.sh: no target '$target'; there are $(cd fuzz && echo *_fuzz.cpp | sed 's/\.cpp//g')" >&2
    exit 2
  fi
  corpus=build/fuzz/corpus/$target
  if [ ! -d "$corpus" ]; then
    mkdir -p "$corpus"
    seed "$target" "$corpus"
  fi
  log=build/fuzz/$target.log
  if ! FT_FIXTURES=fixtures "build/asan/fuzz/$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="build/fuzz/findings/$target-" "$corpus" >"$log" 2>&1; then
    tail -n 60 "$log" >&2
    echo "fuzz.sh: $target found a fault; the input is in build/fuzz/findings, the whole log in $log" >&2
    exit 1
  fi
  echo "$target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs, no finding"
done
