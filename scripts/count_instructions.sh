#!/usr/bin/env bash
# Counts the instructions of one call of each small case of ft-bench, under valgrind: a measure without noise, which
# compare_bench.py compares. count_instructions.sh [FILTER [ISA...]] > FILE.json; valgrind knows no AVX-512, so the sets are
# avx2 and scalar unless others are named.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
filter=${1:-}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- avx2 scalar
if ! command -v valgrind >/dev/null; then
  echo "count_instructions.sh: needs valgrind: apt-get install valgrind" >&2
  exit 1
fi
program=${FT_BENCH_PROGRAM:-}
if [ -z "$program" ]; then
  ./scripts/build.sh release -DFT_BENCH=ON ft-bench >&2
  program=build/release/ft-bench
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

for isa in "$@"; do
  mkdir "$folder/$isa"
  if ! valgrind --tool=callgrind --callgrind-out-file="$folder/$isa/counts" \
    --toggle-collect='ft::bench::counted_call*' --dump-before='ft::bench::end_of_counted_call*' \
    "$program" --count --isa "$isa" --filter "$filter" >"$folder/$isa/names" 2>"$folder/$isa/log"; then
    cat "$folder/$isa/log" >&2
    exit 1
  fi
done

# The n-th dump belongs to the n-th name.
python3 - "$folder" "$(git describe --always --dirty)" "$@" <<'PYTHON'
import json, pathlib, re, sys
folder, commit, *isas = sys.argv[1:]
results = []
for isa in isas:
    names = (pathlib.Path(folder) / isa / "names").read_text().split("\n")[:-1]
    for i, name in enumerate(names, 1):
        dump = (pathlib.Path(folder) / isa / f"counts.{i}").read_text()
        n = int(re.search(r"^totals: (\d+)$", dump, re.M)[1])
        if n == 0:
            sys.exit(f"count_instructions.sh: nothing was counted for {name}")
        results.append({"name": name, "threads": 1, "isa": isa, "unit": "instructions", "more_is_better": False,
                        "value": {"median": n, "min": n, "max": n}, "share": None})
print(json.dumps({"commit": commit, "results": results}, indent=1))
PYTHON
