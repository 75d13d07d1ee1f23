#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing on Debian or Ubuntu, and the report's Python environment in .venv.
# Usage: ci/setup.sh [--tests]     (--tests: also what the tests and checks need, a browser among them)
set -euo pipefail
cd "$(dirname "$0")/.."

say() { echo "setup: $*"; }
die() { echo "setup: $*" >&2; exit 1; }

tests=no
case "${1:-}" in
  --tests) tests=yes ;;
  '') ;;
  *) die "unknown argument '$1'; usage: ci/setup.sh [--tests]" ;;
esac

# "a|b": the first that the distribution has. "a?": left out where the distribution has none.
packages=(
  build-essential ca-certificates cmake git ninja-build pkg-config python3-venv
  libgloo-dev? libyaml-cpp-dev nlohmann-json3-dev libcli11-dev libfmt-dev libopenblas-dev
  libhwloc-dev libgtest-dev libgmock-dev libbenchmark-dev
)
if [ "$tests" = yes ]; then
  packages+=(clang 'clang-format-14|clang-format' 'clang-tidy-14|clang-tidy' codespell iproute2
             python3-torch? python3-torchvision? python3-yaml shellcheck)
fi
distribution=$(sed -n 's/^ID=//p' /etc/os-release 2>/dev/null) || distribution=
# Ubuntu's chromium package is a snap, which containers and headless machines cannot run.
if [ "$tests" = yes ] && [ "$distribution" != ubuntu ]; then packages+=(chromium); fi

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    env DEBIAN_FRONTEND=noninteractive "$@"
  elif command -v sudo >/dev/null; then
    sudo env DEBIAN_FRONTEND=noninteractive "$@"
  else
    die "root or sudo is needed to install: ${missing[*]}"
  fi
}

# Prints those of `packages` of which no alternative is installed.
list_missing() {
  local installed entry name
  installed=$(dpkg-query -W -f='${Package}:${db:Status-Status}\n' | grep ':installed$')
  for entry in "${packages[@]}"; do
    local found=no
    for name in $(tr '|' ' ' <<<"${entry%\?}"); do
      if grep -qx "$name:installed" <<<"$installed"; then found=yes; fi
    done
    if [ "$found" = no ]; then echo "$entry"; fi
  done
}

candidate_of() { apt-cache policy "$1" | awk '$1 == "Candidate:" && $2 != "(none)" {print $2}'; }

# Prints the package to install for each argument; those marked "?" may have none.
choose() {
  local entry name chosen
  for entry in "$@"; do
    chosen=
    for name in $(tr '|' ' ' <<<"${entry%\?}"); do
      if [ -z "$chosen" ] && [ -n "$(candidate_of "$name")" ]; then chosen=$name; fi
    done
    if [ -n "$chosen" ]; then
      echo "$chosen"
    elif [ "${entry%\?}" = "$entry" ]; then
      die "this distribution has no package $entry"
    fi
  done
}

# True when all that is missing may be missing and the package lists, which are there, do not have it.
only_unavailable() {
  local entry
  compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null || return 1
  for entry in "$@"; do
    if [ "${entry%\?}" = "$entry" ] || [ -n "$(candidate_of "${entry%\?}")" ]; then return 1; fi
  done
}

install_packages() {
  mapfile -t missing < <(list_missing)
  if [ "${#missing[@]}" -eq 0 ] || only_unavailable "${missing[@]}"; then return; fi
  say "installing: ${missing[*]}"
  local apt=(apt-get -qq -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3) chosen
  as_root "${apt[@]}" update
  chosen=$(choose "${missing[@]}")
  if [ -z "$chosen" ]; then return; fi
  # shellcheck disable=SC2086  # one word a package
  as_root "${apt[@]}" install -y --no-install-recommends $chosen >/dev/null
}

# The system's own Python, whatever python3 is first on PATH: it is the one that python3-venv serves.
install_reports() {
  local extra=$1 python=/usr/bin/python3 stamp hash copy
  [ -f reports/pyproject.toml ] || die "reports/pyproject.toml is missing: is this a whole clone?"
  stamp=.venv/reports$extra.stamp
  # Of the place too: a moved environment does not work.
  hash=$( { pwd; "$python" --version
            find reports -type f -not -path '*/__pycache__/*' -not -path 'reports/tests/*' -print0 |
              LC_ALL=C sort -z | xargs -0 sha256sum; } | sha256sum)
  if [ -x .venv/bin/python ] && [ "$(cat "$stamp" 2>/dev/null)" = "$hash" ]; then return; fi
  say "installing reports/ into .venv"
  if ! [ -x .venv/bin/python ] || ! [ "$(.venv/bin/python -c 'import sys; print(sys.prefix)')" = "$PWD/.venv" ]; then
    "$python" -m venv --clear .venv
  fi
  # From a copy: setuptools leaves its build folder beside the sources, and would install what was deleted since.
  copy=$(mktemp -d)
  cp -r reports "$copy"
  .venv/bin/python -m pip --quiet --disable-pip-version-check install "$copy/reports$extra"
  rm -rf "$copy"
  echo "$hash" >"$stamp"
}

has_browser() {
  local name
  for name in .venv/bin/chromium chromium google-chrome; do
    if "$name" --version >/dev/null 2>&1; then return; fi
  done
  return 1
}

# Where the distribution has no browser as a package: the one that Playwright brings, for this user only.
install_browser() {
  if has_browser; then return; fi
  say "installing Playwright's Chromium for the browser tests"
  .venv/bin/python -m pip --quiet --disable-pip-version-check install playwright
  if ! .venv/bin/python -m playwright install --with-deps chromium; then
    say "Playwright could not install its Chromium: install chromium or google-chrome by hand for tests/browser" >&2
    return
  fi
  ln -sf "$(.venv/bin/python -c 'from playwright.sync_api import sync_playwright as p
with p() as play: print(play.chromium.executable_path)')" .venv/bin/chromium
  has_browser || say "Playwright's Chromium does not start: install chromium or google-chrome by hand for tests/browser" >&2
}

if command -v apt-get >/dev/null; then
  install_packages
else
  say "no apt-get here; expected to be installed by hand, under their Debian names: ${packages[*]}"
fi
if [ "$tests" = yes ]; then
  install_reports '[test]'
  install_browser
elif ! [ -e '.venv/reports[test].stamp' ]; then
  install_reports ''
else
  install_reports '[test]'
fi
