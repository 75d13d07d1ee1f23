#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every check of the sources' form; all of them run, then the verdict. ci/setup.sh --tests installs what they need.
# Usage: ci/lint.sh [CHECK...]     (default: all; --list shows them)
set -uo pipefail
cd "$(dirname "$0")/.." || exit

# The one version whose opinion on form counts: others break lines elsewhere and know other checks.
llvm=14
all=(whitespace spdx paths configs readmes layers spelling shell format headers tidy size)
python=/usr/bin/python3

# Prints the tool's name at the pinned version, if there is one.
pinned() {
  local name
  for name in "$1-$llvm" "$1"; do
    if "$name" --version 2>/dev/null | grep -q "version $llvm\."; then
      echo "$name"
      return
    fi
  done
  echo "needs $1 $llvm, found: $("$1" --version 2>/dev/null | grep -o 'version [0-9.]*' || echo none)" >&2
  return 1
}

listed() { git ls-files -z --cached --others --exclude-standard -- "$@"; }

# clang-tidy and the header check read the compile commands of this preset; nothing is built.
configure() {
  cmake --preset clang >build/configure-clang.log 2>&1 || {
    cat build/configure-clang.log
    return 1
  }
}

# Each check prints its findings as FILE:LINE: TEXT and fails if there are any; status 3: it could not be made.
check_layers() { $python ci/check_layers.py; }
check_spelling() { listed ':!tests/golden' ':!*.svg' | xargs -0 codespell --ignore-words ci/spelling.txt; }
check_shell() { listed '*.sh' .ci/run | xargs -0 shellcheck --format=gcc; }
check_headers() { configure && $python ci/check_cpp.py headers; }
check_format() {
  local tool
  tool=$(pinned clang-format) || return 3
  listed '*.hpp' '*.cpp' '*.cu' '*.cuh' | xargs -0 "$tool" --dry-run -Werror 2>&1 | grep '^[^ ]*:[0-9]*:[0-9]*: '
  [ "${PIPESTATUS[1]}" -eq 0 ]
}
check_tidy() {
  local tool
  tool=$(pinned clang-tidy) || return 3
  configure && $python ci/check_cpp.py tidy "$tool"
}

checks=("${all[@]}")
case "${1:-}" in
  --list) printf '%s\n' "${all[@]}"; exit ;;
  '') ;;
  *) checks=("$@") ;;
esac

mkdir -p build
failed=()
for check in "${checks[@]}"; do
  if [[ " ${all[*]} " != *" $check "* ]]; then
    echo "lint: no check '$check'; there are: ${all[*]}" >&2
    exit 2
  fi
  SECONDS=0
  if declare -F "check_$check" >/dev/null; then
    "check_$check"
  else
    $python ci/check_files.py "$check"
  fi
  status=$?
  verdict=ok
  # On a person's machine with another LLVM a check may stay out; where CI runs it may not.
  if [ "$status" -eq 3 ] && [ -z "${CI:-}" ]; then
    verdict="NOT CHECKED"
  elif [ "$status" -ne 0 ]; then
    verdict=FAILED
    failed+=("$check")
  fi
  printf 'lint: %-10s %s (%d s)\n' "$check" "$verdict" "$SECONDS"
done
if [ "${#failed[@]}" -gt 0 ]; then
  echo "lint: FAILED: ${failed[*]}"
  exit 1
fi
echo "lint: all fine"
