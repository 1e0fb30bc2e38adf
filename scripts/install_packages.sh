#!/usr/bin/env bash
# Installs those of the project's Debian 12 packages that are missing: install_packages.sh GROUP...
#   build  to compile the program          test   to build and run the tests, besides
#   check  what .ci/run needs, besides
#   compare  what compare_llama.sh needs, besides build, and a Node.js
set -euo pipefail

packages_of() {
  case "$1" in
    build)
      echo g++ cmake ninja-build pkg-config libfmt-dev nlohmann-json3-dev libcli11-dev \
        libonig-dev libutf8proc-dev libedit-dev
      ;;
    test)
      echo libgtest-dev libgmock-dev git binutils universal-ctags python3 python3-jinja2
      # Debian's npm brings some 300 packages: a Node.js that is there already is as good.
      command -v node >/dev/null && command -v npm >/dev/null || echo nodejs npm
      ;;
    check)
      echo ccache shellcheck clang-14 clang-format-14 clang-tidy-14 \
        libclang-rt-14-dev
      ;;
    compare)
      echo python3 python3-numpy
      ;;
    *)
      echo "install_packages.sh: no group '$1'; there are build, test, check and compare" >&2
      return 2
      ;;
  esac
}

is_installed() {
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

wanted=
for group in "$@"; do
  wanted+=" $(packages_of "$group")"
done
missing=()
for package in $wanted; do
  if ! command -v dpkg-query >/dev/null || ! is_installed "$package"; then missing+=("$package"); fi
done
[ ${#missing[@]} -gt 0 ] || exit 0

if ! command -v apt-get >/dev/null; then
  echo "install_packages.sh: this system has no apt-get; install by hand what Debian 12 calls: ${missing[*]}" >&2
  exit 1
fi
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "install_packages.sh: neither root nor sudo; let an administrator run: apt-get install --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

echo "installing ${#missing[@]} packages: ${missing[*]}" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Dpkg::Use-Pty=0 "$@" >>"$log" 2>&1
}
if ! { apt update && apt install --no-install-recommends "${missing[@]}"; }; then
  cat "$log" >&2
  echo "install_packages.sh: apt-get failed, see above" >&2
  exit 1
fi
