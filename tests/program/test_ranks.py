# SPDX-License-Identifier: Apache-2.0
"""Ranks started by hand, and ranks that die, stall, are missing or are told to stop."""

import json
import os
import signal
import socket

import pytest

from processes import end, kill_a_rank, lines_until, ranks_of, result_of, wait_until


def start_ranks(program, config, out, ranks, *arguments, world_size=None):
    """One process per rank as a launcher would start them."""
    return [program.start("run", config, "--out", out, *arguments, RANK=str(rank),
                          WORLD_SIZE=str(world_size or len(ranks)), LOCAL_RANK=str(rank)) for rank in ranks]


@pytest.mark.parametrize("kind", ["file", "tcp"])
def test_ranks_started_by_hand_meet(program, make_config, tmp_path, kind):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (tmp_path / "meet").mkdir()
    where = f"file:{tmp_path / 'meet'}" if kind == "file" else f"tcp:127.0.0.1:{port}"
    out = tmp_path / "out"
    processes = start_ranks(program, make_config(ranks=[3], strategies=["ddp"]), out, range(3),
                            "--rendezvous", where, "--interface", "lo")
    outputs = [process.communicate(timeout=120) for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0], outputs
    assert outputs[1] == ("", "")  # only rank 0 prints
    assert outputs[2] == ("", "")
    assert result_of(out)["cases"][0]["verified"] is True


def test_a_launcher_without_a_meeting_place_is_told_so(program, make_config, tmp_path):
    done = program.run("run", make_config(), "--out", tmp_path / "out", RANK="0", WORLD_SIZE="2")
    assert done.returncode == 2
    assert "--rendezvous" in done.stderr


def test_a_missing_rank_is_named(program, make_config, tmp_path):
    (tmp_path / "meet").mkdir()
    processes = start_ranks(program, make_config(ranks=[3]), tmp_path / "out", [0, 1], "--rendezvous",
                            f"file:{tmp_path / 'meet'}", "--interface", "lo", "--deadline", "3s", world_size=3)
    errors = [process.communicate(timeout=60)[1] for process in processes]
    assert [process.returncode for process in processes] == [3, 3]
    assert "rank 2" in errors[0]


def test_another_world_size_is_refused(program, make_config, tmp_path):
    (tmp_path / "meet").mkdir()
    where = ("--rendezvous", f"file:{tmp_path / 'meet'}", "--interface", "lo", "--deadline", "5s")
    config = make_config(ranks=[2])
    processes = (start_ranks(program, config, tmp_path / "out", [0], *where, world_size=2) +
                 start_ranks(program, config, tmp_path / "out", [1], *where, world_size=3))
    errors = [process.communicate(timeout=60)[1] for process in processes]
    assert all(process.returncode in (2, 3) for process in processes)
    assert any("3" in error and "2" in error and "world size" in error.lower() for error in errors), errors


def test_a_port_in_use_is_named(program, make_config, tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = program.run("run", make_config(), "--out", tmp_path / "out", "--rendezvous", f"tcp:127.0.0.1:{port}",
                           RANK="0", WORLD_SIZE="2", LOCAL_RANK="0")
    assert done.returncode == 2
    assert str(port) in done.stderr


@pytest.mark.parametrize("victim", [0, 1, 2])
def test_a_killed_rank_is_named_once_and_nothing_finished_is_lost(program, make_config, tmp_path, victim):
    out = tmp_path / "out"
    # The first workload is quick, the second takes long enough to be killed in.
    config = make_config("quick", ranks=[3], deadline="8s", strategies=["wfbp", "single"],
                         iterations={"block": 2, "max": 10, "target": 0.9})
    make_config("endless", tensors=[(4000, 200.0), (400000, 200.0)])
    document = json.loads(config.read_text())
    document["workloads"].append({"file": "endless.model.yaml"})
    config.write_text(json.dumps(document))
    process = program.start("run", config, "--out", out)
    lines_until(process, "endless / wfbp, 3 ranks: warming up")
    told = kill_a_rank(process, 3, victim)
    assert "group" in told
    assert "endless" in told
    cases = result_of(out)["cases"]
    assert [case["status"] for case in cases if case["workload"]["name"] == "quick"] == ["ok", "ok"]
    if victim != 0:  # rank 0 is the one that writes
        assert {case["status"] for case in cases if case["workload"]["name"] == "endless"} <= {"partial"}


def test_a_stopped_rank_is_named_as_stalled(program, long_config, tmp_path):
    process = program.start("run", long_config, "--out", tmp_path / "out")
    lines_until(process, "measuring")
    ranks = wait_until(lambda: len(ranks_of(process.pid)) == 2 and ranks_of(process.pid), what="two ranks")
    os.kill(ranks[1], signal.SIGSTOP)
    code, errors = end(process, 90)
    assert code == 3
    assert "rank 1" in errors
    assert "stalled" in errors


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGUSR1], ids=lambda s: s.name)
def test_a_signal_keeps_what_was_measured(program, long_config, tmp_path, sent):
    out = tmp_path / "out"
    process = program.start("run", long_config, "--out", out)
    lines_until(process, "measuring")
    process.send_signal(sent)
    code, errors = end(process, 60)
    assert code == 3
    assert "stopped by a signal" in errors
    result = result_of(out)
    assert result["complete"] is False
    assert {case["status"] for case in result["cases"]} == {"partial"}
    assert any(case["samples_ns"] for case in result["cases"])
    assert not ranks_of(process.pid)


def test_local_ranks_do_not_outlive_a_killed_parent(program, long_config, tmp_path):
    process = program.start("run", long_config, "--out", tmp_path / "out")
    lines_until(process, "measuring")
    ranks = wait_until(lambda: len(ranks_of(process.pid)) == 2 and ranks_of(process.pid), what="two ranks")
    process.kill()
    process.wait()

    def gone(pid):
        try:
            return open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] == "Z"
        except OSError:
            return True

    wait_until(lambda: all(gone(pid) for pid in ranks), what="the end of the ranks")
