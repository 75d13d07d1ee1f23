# SPDX-License-Identifier: Apache-2.0
"""The emulated cluster: ranks reach one another by their links, ends and signals come through, nothing stays behind."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

CLUSTER = Path(__file__).resolve().parents[1] / "cluster.sh"

# Rank 0 adds up what the others send to MASTER_ADDR over their links.
SUM = """
import os, socket
rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
place = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
assert os.environ["LOCAL_RANK"] == "0"
if rank == 0:
    server = socket.create_server(("0.0.0.0", place[1]))
    total, peers = 0, set()
    for _ in range(size - 1):
        peer, address = server.accept()
        total += int(peer.recv(100))
        peers.add(address[0])
    assert len(peers) == size - 1, peers
    print("sum", total, flush=True)
else:
    while True:
        try:
            peer = socket.create_connection(place, timeout=5)
            break
        except ConnectionRefusedError:
            pass
    peer.sendall(str(rank * 10).encode())
"""


def can_make_namespaces():
    """Where CI is set they must be there: the tests then run and fail, instead of being skipped."""
    if os.environ.get("CI"):
        return True
    if os.geteuid() != 0:
        return False
    name = f"mw-probe-{os.getpid()}"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True).returncode == 0
    if made:
        subprocess.run(["ip", "netns", "del", name], check=True)
    return made


needs_namespaces = pytest.mark.skipif(not can_make_namespaces(), reason="needs root and network namespaces")


def start(size, *command, rate="1gbit"):
    # A shell's background job ignores SIGINT, its children inherit that, and bash cannot trap what it entered ignored:
    # whatever started pytest, the cluster starts with the default.
    return subprocess.Popen([CLUSTER, str(size), rate, "--", *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))


def left_behind(cluster):
    spaces = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout
    return [line for line in spaces.splitlines() if line.startswith(f"mw{cluster.pid}-")]


@needs_namespaces
def test_two_clusters_at_once_do_not_meet():
    clusters = [start(size, sys.executable, "-c", SUM) for size in (3, 4)]
    for cluster, expected in zip(clusters, ("[0] sum 30", "[0] sum 60")):
        out, err = cluster.communicate(timeout=60)
        assert (cluster.returncode, out.strip()) == (0, expected), err
        assert left_behind(cluster) == []


@needs_namespaces
def test_links_are_shaped_both_ways():
    switch = '$(ip netns identify $$ | sed "s/-[0-9]*$/-switch/")'
    cluster = start(2, "bash", "-c", f"tc qdisc show dev eth0; tc -n {switch} qdisc show dev port$RANK", rate="100mbit")
    out, err = cluster.communicate(timeout=60)
    assert cluster.returncode == 0, err
    shaped = [line for line in out.splitlines() if "tbf" in line and "rate 100Mbit" in line]
    assert len(shaped) == 4, out


@needs_namespaces
def test_worst_exit_status_counts():
    cluster = start(3, "bash", "-c", 'echo "from $RANK" >&2; exit $((RANK == 1 ? 7 : 0))')
    _, err = cluster.communicate(timeout=60)
    assert cluster.returncode == 7
    assert sorted(err.splitlines()) == ["[0] from 0", "[1] from 1", "[2] from 2"]


@needs_namespaces
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGUSR1])
def test_signals_reach_every_rank_and_nothing_stays(number):
    waits = f"""
import os, signal, sys
signal.signal({int(number)}, lambda *_: sys.exit(40 + int(os.environ["RANK"])))
print("ready", flush=True)
while True:
    signal.pause()
"""
    cluster = start(2, sys.executable, "-c", waits)
    for _ in range(2):
        assert cluster.stdout.readline().endswith("ready\n")
    cluster.send_signal(number)
    _, err = cluster.communicate(timeout=60)
    assert cluster.returncode == 41, err
    assert left_behind(cluster) == []


@needs_namespaces
def test_a_rank_s_left_over_children_end_with_it():
    cluster = start(1, "bash", "-c", "sleep 1000 & exit 3")
    cluster.communicate(timeout=60)
    assert cluster.returncode == 3
    assert left_behind(cluster) == []


@pytest.mark.parametrize("arguments", [[], ["2"], ["0", "1gbit", "--", "true"], ["2", "fast", "--", "true"],
                                       ["2", "1gbit", "true"], ["2", "1gbit", "--"]])
def test_bad_usage_says_so(arguments):
    done = subprocess.run([CLUSTER, *arguments], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("cluster: ")
