#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs COMMAND once on each of N emulated hosts: network namespaces on one switch, each behind a link of RATE (as tc
# writes it: 1gbit, 100mbit) in both directions. Needs root; several clusters may run at once.
#
# Usage: ci/cluster.sh N RATE -- COMMAND...
#
# Every copy of COMMAND finds RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT in its environment and its link
# as the interface eth0; its output is prefixed by its rank. INT, TERM and USR1 are passed on. The exit status is the
# largest of all ranks'. For example:
#   ci/cluster.sh 4 1gbit -- build/release/bin/mergewise run CONFIG --interface eth0 --out out/cluster
# shellcheck disable=SC2015,SC2317  # "a && b || die" is meant; traps do reach their functions
set -uo pipefail

die() { echo "cluster: $*" >&2; exit 2; }

size=${1:-} rate=${2:-}
if [ $# -lt 4 ] || [ "$3" != -- ]; then die "usage: ci/cluster.sh N RATE -- COMMAND..."; fi
shift 3
[[ "$size" =~ ^[0-9]+$ ]] && [ "$size" -ge 1 ] && [ "$size" -le 250 ] || die "N must be 1 to 250, not '$size'"
[[ "$rate" =~ ^[0-9.]+[kmgt]?bit$ ]] || die "RATE must be like 1gbit or 100mbit, not '$rate'"
[ "$(id -u)" -eq 0 ] || die "needs root, to make network namespaces"
command -v ip >/dev/null && command -v tc >/dev/null || die "needs ip and tc (Debian: iproute2)"

# All names carry this process's id, so that clusters do not meet. The switch is a namespace too: nothing of the
# machine's own network is touched, and deleting the namespaces deletes everything.
name=mw$$
switch=$name-switch
scratch=$(mktemp -d)
ranks=()    # process ids of the commands, by rank
prefixes=() # process ids of what prefixes their output

cleanup() {
  trap '' INT TERM USR1
  local rank space
  for ((rank = 0; rank < size; ++rank)); do
    space=$name-$rank
    ip netns pids "$space" 2>/dev/null | xargs -r kill -KILL 2>/dev/null
    ip netns del "$space" 2>/dev/null
  done
  ip netns del "$switch" 2>/dev/null
  rm -rf "$scratch"
}
trap cleanup EXIT

# shape NAMESPACE INTERFACE: what leaves by it is held to the rate. 128 KiB at once keep large segments whole; a queue
# of 50 ms is what a switch port may have.
shape() { tc -n "$1" qdisc add dev "$2" root tbf rate "$rate" burst 131072 latency 50ms; }

add_host() {
  local space=$name-$1 port=port$1
  ip netns add "$space" &&
    ip -n "$switch" link add "$port" type veth peer name eth0 netns "$space" &&
    ip -n "$switch" link set "$port" master bridge0 up &&
    ip -n "$space" address add "10.77.0.$(($1 + 1))/24" dev eth0 &&
    ip -n "$space" link set lo up &&
    ip -n "$space" link set eth0 up &&
    shape "$space" eth0 &&
    shape "$switch" "$port"
}

build_network() {
  ip netns add "$switch" && ip -n "$switch" link add bridge0 type bridge && ip -n "$switch" link set bridge0 up ||
    return 1
  local rank
  for ((rank = 0; rank < size; ++rank)); do add_host "$rank" || return 1; done
}

# start RANK COMMAND...: in a process group of its own, with INT as in a foreground program (a shell's background
# programs ignore it).
start() {
  local rank=$1 stream
  shift
  for stream in out err; do mkfifo "$scratch/$stream.$rank"; done
  sed -u "s/^/[$rank] /" <"$scratch/out.$rank" &
  prefixes+=($!)
  sed -u "s/^/[$rank] /" <"$scratch/err.$rank" >&2 &
  prefixes+=($!)
  setsid env --default-signal=INT,QUIT \
    RANK="$rank" WORLD_SIZE="$size" LOCAL_RANK=0 MASTER_ADDR=10.77.0.1 MASTER_PORT=29500 \
    ip netns exec "$name-$rank" "$@" </dev/null >"$scratch/out.$rank" 2>"$scratch/err.$rank" &
  ranks+=($!)
}

interrupted=no
pass_on() {
  interrupted=yes
  local pid
  for pid in "${ranks[@]}"; do kill -s "$1" -- "-$pid" 2>/dev/null; done
}

# Gives a process's exit status; a signal ends `wait` early, then it waits again.
status_of() {
  local status
  while :; do
    interrupted=no
    wait "$1"
    status=$?
    if [ "$interrupted" = no ]; then return "$status"; fi
  done
}

build_network || die "cannot make the network (missing privileges, or no veth, bridge or tbf in this kernel)"
for signal in INT TERM USR1; do
  # shellcheck disable=SC2064  # the signal's name now
  trap "pass_on $signal" "$signal"
done
for ((rank = 0; rank < size; ++rank)); do start "$rank" "$@"; done

worst=0
for pid in "${ranks[@]}"; do
  status_of "$pid"
  status=$?
  if [ "$status" -gt "$worst" ]; then worst=$status; fi
done
# Left-over children would hold the pipes open.
for ((rank = 0; rank < size; ++rank)); do
  ip netns pids "$name-$rank" 2>/dev/null | xargs -r kill -KILL 2>/dev/null
done
wait "${prefixes[@]}"
exit "$worst"
