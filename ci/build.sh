#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Configures and builds one preset of CMakePresets.json into build/PRESET; the program is build/PRESET/bin/mergewise.
# Usage: ci/build.sh [PRESET] [TARGET...]     (default: release, everything)
set -euo pipefail
cd "$(dirname "$0")/.."

preset=${1:-release}
if [ $# -gt 0 ]; then shift; fi
options=()
# Warnings are errors with the compilers we build with every day; a newer one may well warn of more.
case "$("${CXX:-c++}" -dumpversion 2>/dev/null)" in
  12 | 14.0.*) ;; # g++ 12, clang 14
  *) [ "$preset" = clang ] || options+=(-DMERGEWISE_WERROR=OFF) ;;
esac
targets=()
if [ $# -gt 0 ]; then targets=(--target "$@"); fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! cmake --preset "$preset" "${options[@]}" >"$log" 2>&1; then
  cat "$log" >&2
  echo "build: configuring $preset failed" >&2
  exit 1
fi
echo "build: $preset -> build/$preset"
quiet=()
if ! [ -t 1 ]; then quiet=(-- --quiet); fi
if ! cmake --build --preset "$preset" "${targets[@]}" "${quiet[@]}"; then
  echo "build: $preset failed" >&2
  exit 1
fi
