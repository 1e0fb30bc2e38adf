#!/usr/bin/env bash
# From a fresh Debian 12 to an answer: installs what is missing, builds the program and runs it.
#   ./scripts/quickstart.sh "What is an expert?"      arguments are those of `ft run`
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."

./scripts/install_packages.sh build
[ -x build/release/ft ] || echo "building build/release/ft with $(nproc) cores; this takes a few minutes" >&2
./scripts/build.sh release ft >&2
exec build/release/ft run "$@"
