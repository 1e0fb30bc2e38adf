#!/usr/bin/env bash
# Builds ft-bench as it is released and runs it: bench.sh [options of ft-bench...]; bench.sh --help lists them.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
./scripts/build.sh release -DFT_BENCH=ON ft-bench >&2
exec build/release/ft-bench --commit "$(git describe --always --dirty)" "$@"
