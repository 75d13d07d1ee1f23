#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a clone to a report: installs what is missing, builds, measures the quickstart with 4 ranks on this machine.
# Leaves result.json, trace.json and report.html in out/quickstart.
set -euo pipefail
cd "$(dirname "$0")/.."

out=out/quickstart
ci/setup.sh
ci/build.sh release mergewise
build/release/bin/mergewise run configs/quickstart.yaml --ranks 4 --out "$out"
.venv/bin/mergewise-report html "$out/result.json" -o "$out/report.html"
echo
echo "Report: $PWD/$out/report.html"
