#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds, and runs every test; all parts run, then the verdict.
# Usage: ci/test.sh [PART...]     (parts: release asan tsan python; default: all)
set -uo pipefail
cd "$(dirname "$0")/.." || exit

# What the sanitizers look at: folders of tests/. Code with processes, sockets, pointers and strangers' files under
# address and undefined, code with threads and queues under thread, except on Gloo, which is compiled without that
# sanitizer.
asan=(multirank contract/communicator contract/compressors contract/device unit/collective unit/device unit/replay
      unit/app unit/kernels unit/simt unit/workloads)
tsan=(unit/device contract/device unit/collective unit/replay unit/app unit/simt)

export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_stack_use_after_return=1:strict_string_checks=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
export TSAN_OPTIONS=${TSAN_OPTIONS:-suppressions=$PWD/ci/tsan.supp:second_deadlock_stack=1}

jobs=$(nproc)
summary=()
failed=no

# report PART STATUS LINE: keeps a runner's own last words for the end.
report() {
  summary+=("$(printf '%-8s %s' "$1" "$3")")
  if [ "$2" -ne 0 ]; then failed=yes; fi
}

# run PART PATTERN COMMAND...: runs it, shows its output but for ctest's lines about tests that start and pass, reports
# its last line that matches PATTERN.
run() {
  local part=$1 pattern=$2 log line status
  shift 2
  log=$(mktemp)
  "$@" 2>&1 | tee "$log" | grep --line-buffered -vE '^ +Start +[0-9]+: |^ *[0-9]+/[0-9]+ Test .* Passed +[0-9.]+ sec$'
  status=${PIPESTATUS[0]}
  line=$(grep -E "$pattern" "$log" | tail -n 1)
  rm -f "$log"
  report "$part" "$status" "${line:-FAILED: $*}"
}

# sanitized PRESET FOLDER...: builds and tests these folders of tests/ only.
sanitized() {
  local preset=$1 folder targets=()
  shift
  for folder in "$@"; do targets+=("tests/$folder/all"); done
  if ! ci/build.sh "$preset" "${targets[@]}"; then
    report "$preset" 1 "FAILED: the build"
    return
  fi
  for folder in "$@"; do
    run "$preset" '% tests passed' ctest --test-dir "build/$preset/tests/$folder" -j "$jobs" --output-on-failure \
      --no-tests=error
  done
}

# python PART FOLDER...: pytest in these folders.
python() {
  local part=$1
  shift
  PATH="$PWD/.venv/bin:$PATH" run "$part" '(passed|failed|error).* in ' \
    .venv/bin/python -m pytest -q --import-mode=importlib "$@"
}

release_part() {
  if ci/build.sh release; then
    run release '% tests passed' ctest --preset release -j "$jobs"
  else
    report release 1 "FAILED: the build"
  fi
}
# The program's own tests once more, with the sanitized program; but for those of `recommend`, which mostly wait: unit/app
# has what it decides.
asan_part() {
  sanitized asan "${asan[@]}"
  ci/build.sh asan mergewise || report asan 1 "FAILED: the build"
  MERGEWISE_PROGRAM=$PWD/build/asan/bin/mergewise python asan tests/program \
    --ignore=tests/program/test_recommend.py
}
tsan_part() { sanitized tsan "${tsan[@]}"; }
python_part() {
  ci/build.sh release mergewise || report python 1 "FAILED: the build"
  python python reports/tests tests/browser tests/program tests/torch ci/tests
}

parts=("$@")
if [ $# -eq 0 ]; then parts=(release asan tsan python); fi
ci/setup.sh --tests || exit
for part in "${parts[@]}"; do
  declare -F "${part}_part" >/dev/null || {
    echo "test: no part '$part'; there are: release asan tsan python" >&2
    exit 2
  }
  SECONDS=0
  "${part}_part"
  echo "test: $part took $SECONDS s"
done

echo
printf '%s\n' "${summary[@]}"
if [ "$failed" = yes ]; then
  echo "test: FAILED"
  exit 1
fi
