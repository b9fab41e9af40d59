"""Who starts the ranks: commands and tables are values, and the starter is tried with launchers that are scripts."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.common import explain
from backends.launch import launchers, nodes, rank_table
from backends.launch.engine_options import FILE
from backends.launch.plan import launch_command
from studio import processes, schema
from studio.environment import cleaned
from studio.events import Ended
from studio.run import Run, RunRequest
from tests.launch.engine_process import PATHS, ROOT, read_events
from tests.launch.specs import launch_spec
from tests.runs import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from backends.launch.spec import LaunchSpec

RUN = Run(folder=Path("/runs/one"), request=RunRequest(command="launch", values={}, time=0))
DEAD = processes.Process(pid=0, parent=0, start=0, state="Z")
HCCN = "address_0=192.168.1.8\nnetmask_0=255.255.0.0\naddress_1 = 192.168.1.9\naddress_x=1.1.1.1\naddress_2=here\n"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
)


def together(**values: Any) -> LaunchSpec:
    return launch_spec(**{"recipe": "linear", "parallel": "data"} | values)


def rules(spec: LaunchSpec) -> set[tuple[str, str]]:
    return {(problem.field, problem.rule) for problem in schema.problems(spec)}


def test_that_msrun_starts_the_engines_options_for_each_worker() -> None:
    spec = together(workers=4, python=Path("/venv/bin/python"))
    argv = launch_command(spec, RUN).argv
    assert argv[:6] == ("/venv/bin/python", "-m", "ascend_engine.parallel.ranks", "--workers", "4", "--logs")
    launcher = argv[argv.index("--") + 1 :]
    assert launcher[0] == "/venv/bin/msrun"
    words = {"--worker_num=4", "--local_worker_num=4", "--master_addr=127.0.0.1", "--master_port=0", "--join=True"}
    assert words < set(launcher)
    assert launcher[-2:] == (str(launchers.RANK), FILE)


def test_that_a_chosen_port_is_taken() -> None:
    assert "--master_port=29999" in launch_command(together(port=29999), RUN).argv


def test_that_what_a_launcher_does_not_take_is_not_asked_for() -> None:
    spec = together(launcher="mpirun", port=29999, master="10.0.0.1")
    assert schema.effective(spec).parallel == replace(spec.parallel, port=None, master="")


def test_that_what_is_no_list_of_cards_is_one_problem_and_no_crash() -> None:
    spec = together(launcher="rank_table", visible="²")
    assert "visible" in [problem.field for problem in schema.problems(spec)]


def test_that_a_port_that_somebody_holds_is_said_at_once(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
        words = [
            sys.executable,
            "-m",
            "ascend_engine.parallel.ranks",
            "--workers",
            "2",
            "--",
            "msrun",
            f"--master_port={port}",
        ]
        env = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, PATHS))}
        done = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, f"Address already in use: port {port}\n")
    (tmp_path / "output.log").write_text(done.stdout)
    found = explain.findings(tmp_path, Ended(code=1))
    assert [one.rule for one in found] == ["explain.port_in_use.cause", "explain.port_in_use.fix"]


def test_that_mpirun_starts_the_interpreter_itself() -> None:
    spec = together(workers=2, launcher="mpirun", python=Path("/venv/bin/python"))
    argv = launch_command(spec, RUN).argv
    start = ("mpirun", "--allow-run-as-root", "-n", "2", "/venv/bin/python", str(launchers.RANK))
    assert argv[argv.index("--") + 1 :] == (*start, FILE)


def test_that_a_rank_table_starts_one_process_for_each_card() -> None:
    spec = together(workers=2, launcher="rank_table", visible="4,5,6")
    argv = launch_command(spec, RUN).argv
    assert argv[argv.index("--rank-table") + 1] == "rank_table.json"
    assert argv[argv.index("--") + 1 :][:2] == (argv[0], str(launchers.RANK))
    assert launchers.devices_of(spec) == (4, 5)


def test_that_a_missing_launcher_marks_its_field(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = tmp_path / "python"
    python.touch()
    assert ("launcher", "launch.rule.no_msrun") in rules(together(python=python))
    (tmp_path / "msrun").touch()
    assert not rules(together(python=python))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert ("launcher", "launch.rule.no_mpirun") in rules(together(launcher="mpirun"))
    assert ("launcher", "launch.rule.rank_table_cpu") in rules(together(launcher="rank_table", device="cpu"))
    monkeypatch.setattr(rank_table, "ADDRESSES", tmp_path / "none")
    assert ("launcher", "launch.rule.no_addresses") in rules(together(launcher="rank_table"))
    (tmp_path / "hccn.conf").write_text(HCCN)
    monkeypatch.setattr(rank_table, "ADDRESSES", tmp_path / "hccn.conf")
    assert not rules(together(launcher="rank_table", workers=2))


def test_that_several_nodes_are_lines_to_run_and_no_start() -> None:
    spec = together(nodes=2, workers=8, master="10.0.0.1", recipe="digits", batch=8)
    assert rules(spec) == {("nodes", "launch.rule.many_nodes")}
    first, second = nodes.lines_for_nodes(spec, Path("/shared/a run"))
    assert first == second.replace("--node_rank=1", "--node_rank=0").replace("_log=8", "_log=0")
    assert first.startswith("cd '/shared/a run' &&" + launchers.FOLD + "PATH=")
    words = ("--worker_num=16", "--local_worker_num=8", "--master_addr=10.0.0.1", "--master_port=8118", '"workers": 16')
    assert all(word in second.replace(launchers.FOLD, " ") for word in words)
    assert not schema.problems(nodes.NodesSpec(**vars(spec)))
    unnamed = nodes.NodesSpec(**vars(replace(spec, parallel=replace(spec.parallel, master=""))))
    assert [problem.field for problem in schema.problems(unnamed)] == ["master"]


def test_that_a_nodes_line_is_one_that_a_shell_reads() -> None:
    line = nodes.lines_for_nodes(together(nodes=2, master="10.0.0.1"), None)[0]
    assert subprocess.run(["sh", "-n", "-c", line], check=False).returncode == 0
    unset = subprocess.run(["sh", "-c", line], check=False, capture_output=True, text=True, env={})
    assert "a folder that all nodes see" in unset.stderr


def test_that_the_lines_are_a_command_too(tmp_path: Path) -> None:
    words = ["nodes", "--recipe", "linear", "--parallel", "data", "--nodes", "2", "--master", "10.0.0.1"]
    line = [sys.executable, "-m", "studio", "--project", str(tmp_path), *words]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "--node_rank=0" in done.stderr
    assert "--node_rank=1" in done.stderr


def test_that_the_lines_are_not_left_unprinted(tmp_path: Path) -> None:
    words = ["nodes", "--parallel", "data", "--nodes", "2", "--master", "10.0.0.1", "--detach"]
    line = [sys.executable, "-m", "studio", "--project", str(tmp_path), *words]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, "--detach" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("master", "rule"),
    [
        ("not a host!", "master_no_address"), ("999.1.1.1", "master_no_address"), ("-a", "master_no_address"),
        ("127.0.0.1", "master_everywhere"), ("0.0.0.0", "master_everywhere"), ("::1", "master_everywhere"),
        ("localhost", "master_everywhere"), ("10.0.0.1", ""), ("node0", ""), ("node_0.cluster.example", ""),
        ("fe80::1", ""), ("7nodes.example.", ""),
    ],
)  # fmt: skip
def test_that_the_first_node_has_an_address_that_others_can_reach(master: str, rule: str) -> None:
    spec = nodes.NodesSpec(**vars(together(nodes=2, recipe="linear", master=master)))
    assert [problem.rule for problem in schema.problems(spec)] == ([f"launch.rule.{rule}"] if rule else [])


def test_that_a_single_node_may_be_its_own_loopback() -> None:
    assert not schema.problems(together(recipe="linear", master="127.0.0.1"))
    assert schema.problems(together(recipe="linear", master="not a host!"))


def test_that_addresses_are_read_as_hccn_tool_writes_them() -> None:
    assert rank_table.addresses(HCCN) == {0: "192.168.1.8", 1: "192.168.1.9"}


@given(st.text())
def test_that_any_text_has_addresses_or_none(text: str) -> None:
    assert all(map(rank_table.is_address, rank_table.addresses(text).values()))


def test_that_a_rank_table_is_as_it_is_documented() -> None:
    servers = [
        rank_table.Server(id="10.0.0.1", devices=((0, "192.168.1.8"), (1, "192.168.1.9"))),
        rank_table.Server(id="10.0.0.2", devices=((0, "192.168.2.8"),)),
    ]
    made = rank_table.make_table(servers)
    assert made["server_list"][1] == {
        "server_id": "10.0.0.2",
        "device": [{"device_id": "0", "device_ip": "192.168.2.8", "rank_id": "2"}],
        "host_nic_ip": "reserve",
    }
    assert (made["version"], made["server_count"], made["status"]) == ("1.0", "2", "completed")
    assert rank_table.wrong(json.loads(json.dumps(made))) == []


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda table: table.update(version=1.0), "version"),
        (lambda table: table.update(status="initializing"), "status"),
        (lambda table: table.update(server_count="2"), "server_count"),
        (lambda table: table["server_list"][0].update(server_id="x" * 64), "server_list[0].server_id"),
        (lambda table: table["server_list"][0]["device"][1].update(rank_id=1), "server_list[0].device[1].rank_id"),
        (
            lambda table: table["server_list"][0]["device"][0].update(device_ip="a"),
            "server_list[0].device[0].device_ip",
        ),
        (lambda table: table["server_list"][0]["device"][0].update(device_ip="192.168.1.9"), "device_ip"),
        (lambda table: table["server_list"][0]["device"][0].update(device_id="1"), "device_id"),
        (lambda table: table["server_list"][0]["device"][0].update(rank_id="2"), "rank_id"),
    ],
)
def test_that_a_wrong_rank_table_says_where(change: Callable[[dict[str, Any]], None], place: str) -> None:
    made = rank_table.table_of_host("a", (0, 1), {0: "192.168.1.8", 1: "192.168.1.9"})
    change(made)
    assert rank_table.wrong(made) == [place]


@given(JSON)
def test_that_anything_else_is_no_rank_table(value: Any) -> None:
    assert rank_table.wrong(value)


RANKS = """
import os, sys, time
from ascend_engine.parallel import ranks
what = sys.argv[1]
def train():
    rank = ranks.own_rank()
    import signal
    told = []
    signal.signal(signal.SIGTERM, lambda *_: told.append(1))
    print("rank", rank, os.environ.get("DEVICE_ID"), os.environ["OMP_NUM_THREADS"], flush=True)
    if what in ("done", "crash"):
        return 0
    if what == "fail" and rank == 1:
        return 7
    end = time.monotonic() + 300
    while time.monotonic() < end and not told:
        time.sleep(0.02)
    if rank == 0:
        open(os.environ["ASCEND_ENGINE_STOPPED"], "w").close()
    return 0
ranks.train = train
code = ranks.rank()
if sys.argv[1] == "crash" and os.environ["OMPI_COMM_WORLD_RANK"] == "1":
    os.kill(os.getpid(), 11)
sys.exit(code)
"""
MPIRUN = """#!/bin/sh
# Stands in for Open MPI's: tells each process its rank.
shift 3
for rank in 0 1; do OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=2 "$@" & all="$all $!"; done
code=0
for one in $all; do wait $one || code=1; done
exit $code
"""


class Started:
    """The starter of ranks over a launcher that is a script, in a run's folder."""

    def __init__(self, folder: Path, *words: str) -> None:
        self.folder = folder
        (folder / "mpirun").write_text(MPIRUN)
        (folder / "mpirun").chmod(0o755)
        (folder / "ranks.py").write_text(RANKS)
        env = cleaned(os.environ) | {
            "PYTHONPATH": os.pathsep.join(map(str, PATHS)), "PATH": f"{folder}:{os.environ['PATH']}",
            "ASCEND_STUDIO_RUN": str(folder),
        }  # fmt: skip
        env.pop("OMP_NUM_THREADS", None)
        line = [sys.executable, "-m", "ascend_engine.parallel.ranks", "--workers", "2", *words]
        with (folder / "output.log").open("wb") as log:
            self.process = subprocess.Popen(line, cwd=folder, env=env, stdout=log, stderr=log)

    def ranks(self) -> list[int]:
        """Pids of the ranks, once they are all there and printed something."""
        end = time.monotonic() + 300
        while time.monotonic() < end:
            pids, logs = sorted(self.folder.glob("logs/*.pid")), list(self.folder.glob("logs/*.log"))
            if len(pids) == 2 and len(logs) == 2 and all(log.stat().st_size for log in logs):
                return [int(path.read_text()) for path in pids]
            time.sleep(0.02)
        raise AssertionError((self.folder / "output.log").read_text())

    def code(self) -> int:
        return self.process.wait(30)


def mpirun(folder: Path, what: str) -> Started:
    return Started(folder, "--", "mpirun", "--allow-run-as-root", "-n", "2", sys.executable, "ranks.py", what)


def test_that_each_rank_of_mpirun_has_a_log_and_threads_of_its_own(tmp_path: Path) -> None:
    assert mpirun(tmp_path, "done").code() == 0
    threads = str(max(1, len(os.sched_getaffinity(0)) // 2))
    texts = [(tmp_path / "logs" / f"rank_{rank}.log").read_text() for rank in (0, 1)]
    assert texts == [f"rank 0 None {threads}\n", f"rank 1 None {threads}\n"]


def test_that_a_stop_reaches_every_rank_and_is_told_in_the_code(tmp_path: Path) -> None:
    started = mpirun(tmp_path, "wait")
    started.ranks()
    started.process.send_signal(signal.SIGTERM)
    assert started.code() == 143


def test_that_the_first_rank_to_fail_ends_the_others_and_gives_its_code(tmp_path: Path) -> None:
    started = mpirun(tmp_path, "fail")
    pids = started.ranks()
    assert started.code() == 7
    wait_for(lambda: all((processes.process(pid) or DEAD).state == "Z" for pid in pids), "the other rank is gone")
    assert "rank 1 was the first to end, with code 7" in (tmp_path / "output.log").read_text()


def test_that_a_crash_while_closing_is_told_as_that(tmp_path: Path) -> None:
    """The launcher's log says that a worker timed out, whichever it was; all of them had done their work."""
    started = mpirun(tmp_path, "crash")
    assert started.code() in (139, 1)  # 1 where its parent was faster than we in asking how it ended
    (finding,) = [event for event in read_events(tmp_path) if event["type"] == "finding"]
    assert finding["rule"] in ("launch.closing_crashed", "launch.closing_failed")
    assert finding["args"]["workers"] == 2
    assert explain.findings(tmp_path, Ended(code=139)) == []


def test_that_a_rank_that_is_killed_is_a_finding_in_its_name(tmp_path: Path) -> None:
    started = Started(tmp_path, "--rank-table", "table.json", "--", sys.executable, "ranks.py", "w")
    pids = started.ranks()
    assert "rank 1 1 " in (tmp_path / "logs" / "rank_1.log").read_text()
    os.kill(pids[1], signal.SIGKILL)
    assert started.code() in (137, 255)  # 255 where its parent was faster than we in asking how it ended
    (found,) = [event for event in read_events(tmp_path) if event["type"] == "finding"]
    assert found["rule"] in ("launch.rank_killed", "launch.rank_gone")
    assert (found["path"], found["args"]["rank"]) == ("logs/rank_1.log", 1)
    assert [path.name.split(".")[2] for path in tmp_path.glob("events*")] == ["r1"]
