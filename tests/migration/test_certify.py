"""Certificates from the command line: real rehearsals of a small project."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from backends.launch.own.spec import OwnSpec
from backends.launch.rehearse.spec import RehearseSpec
from backends.migration.certify import certificate, npu_check, rehearsals
from backends.migration.certify.certificate import CHECK_TITLES
from backends.migration.certify.spec import CertifySpec, code_of
from studio import run as runs
from studio import schema, texts, worker
from tests.command_line import last_json, studio
from tests.migration.certified_projects import MIGRATED, TRAIN, project
from tests.runs import ended, wait_for

if TYPE_CHECKING:
    import subprocess

RECORDED = Path(__file__).parent.parent / "recorded" / "npu_smi"
needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="no PyTorch here")


def certify(original: Path, migrated: Path, *words: str) -> subprocess.CompletedProcess[str]:
    line = ("--", sys.executable, "train.py")
    return studio("--no-project", "certify", str(original), str(migrated), *words, "--json", *line, cwd=original)


PASSED = dict.fromkeys((name for name in CHECK_TITLES if name not in ("on_gpu", "on_cpu")), "pass")


def states(answer: dict[str, Any]) -> dict[str, str]:
    return {check["name"]: check["state"] for check in answer["checks"]}


@needs_torch
def test_that_a_migrated_project_is_certified_and_neither_folder_is_written_to(tmp_path: Path) -> None:
    original = project(tmp_path, "original", TRAIN)
    migrated = project(tmp_path / "elsewhere", "migrated", MIGRATED)
    (tmp_path / "elsewhere" / "data" / "scale.json").unlink()
    (tmp_path / "elsewhere" / "data").rmdir()
    done = certify(original, migrated)
    answer = last_json(done)
    assert done.returncode == 0, (done.stderr, answer["checks"])
    assert answer["granted"]
    others = {"scaler": "not_run", "seeds": "not_run", "groups": "not_run", "collectives": "not_run", "npu": "no_card"}
    assert states(answer) == PASSED | others | {"memory": "pass"}
    assert answer["rehearsals"][1]["device"] == "virtual_npu"
    assert not answer["stale"]
    assert [(row["step"], row["equal"]) for row in answer["losses"]] == [(1, True), (2, True), (3, True)]
    assert all(row["equal"] and row["original"] > 0 for row in answer["gradients"])
    assert {operator["kind"] for operator in answer["operators"]} <= {"kernel", "composite"}
    assert [(one["path"], one["how"]) for one in answer["edits"]] == [("train.py", "changed")]
    assert answer["before"]["auto"] + answer["before"]["edit"] > 0
    for folder in (original, migrated):
        assert [path.name for path in folder.iterdir()] == ["train.py"]
    written = certificate.read_certificate(Path(answer["run"]))
    assert written is not None
    assert written.granted
    assert not (Path(answer["run"]) / "copies").exists()
    # Autocast of an NPU keeps other operators in float32 than the CPU's: the numbers are compared on the CPU too.
    assert [rehearsal.device for rehearsal in written.rehearsals] == ["cpu", "virtual_npu", "cpu"]
    logs = [Path(answer["run"]).parent / rehearsal.run / "output.log" for rehearsal in written.rehearsals]
    assert all(log.exists() for log in logs)


@needs_torch
def test_that_an_original_that_names_cuda_is_refused_as_its_own_migration_with_the_place(tmp_path: Path) -> None:
    original = project(tmp_path, "original", TRAIN)
    done = certify(original, original)
    assert done.returncode == 3, done.stderr
    answer = last_json(done)
    assert not answer["granted"]
    failed = {name for name, state in states(answer).items() if state == "fail"}
    assert {"migrated", "device", "cuda", "losses"} <= failed
    (check,) = (listed for listed in answer["checks"] if listed["name"] == "migrated")
    line = next(at for at, text in enumerate(TRAIN.splitlines(), 1) if text.endswith(".cuda()"))
    assert (check["path"], check["line"]) == ("train.py", line)
    assert "Torch not compiled with CUDA enabled" in done.stderr


# Asks for nothing by its name: the same text trains anywhere.
ANYWHERE = """
import torch
kind = next((one for one in ("npu", "cuda") if hasattr(torch, one) and getattr(torch, one).is_available()), "cpu")
net = torch.nn.Linear(4, 2).to(kind)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(1000):
    loss = net(torch.randn(3, 4, device=kind)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@needs_torch
def test_that_a_host_with_an_npu_runs_the_same_steps_for_real(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No NPU is present: npu-smi prints recorded output, and the script then finds only the CPU."""
    original = project(tmp_path, "original", ANYWHERE)
    smi = project(tmp_path, "bin", "") / "npu-smi"
    smi.write_text(f"#!/bin/sh\ncat '{next(RECORDED.glob('*910*.txt'))}'\n")
    smi.chmod(0o755)
    monkeypatch.setenv("PATH", f"{smi.parent}:{os.environ['PATH']}")
    done = certify(original, original)
    answer = last_json(done)
    assert done.returncode == 0, (done.stderr, answer["checks"])
    assert states(answer) == PASSED | dict.fromkeys(("scaler", "seeds", "groups", "collectives", "saved"), "not_run")
    assert [(row["original"], row["migrated"]) for row in answer["on_npu"]] == [
        (row["migrated"], row["migrated"]) for row in answer["losses"]
    ]
    assert len(answer["rehearsals"]) == 3


# Waits for ever the first time that it is started.
WAITS = """
import pathlib, time
seen = pathlib.Path("{seen}")
if not seen.exists():
    seen.touch()
    time.sleep(600)
"""


def test_that_a_certificate_whose_worker_is_killed_begins_again_and_leaves_nothing_at_work(tmp_path: Path) -> None:
    original = project(tmp_path, "original", WAITS.format(seen=tmp_path / "seen"))
    spec = schema.with_value(CertifySpec(), "line", (sys.executable, "train.py"))
    for name in ("original", "migrated", "workdir"):
        spec = schema.with_value(spec, name, original)
    (tmp_path / "runs").mkdir()
    run = runs.create(tmp_path / "runs", "certify", schema.to_json(spec), None)
    pid = worker.start(run)
    wait_for((tmp_path / "seen").exists)
    os.kill(pid, signal.SIGKILL)
    worker.reap_started()
    wait_for(lambda: runs.glance(run).state == "interrupted")
    worker.start(run)
    assert ended(run).code == 3  # nothing trains
    others = [runs.glance(other) for other in runs.runs_in(tmp_path / "runs") if other.name != run.name]
    assert sorted((one.state, one.reason) for one in others) == [
        ("ended", "incomplete"), ("ended", "incomplete"), ("ended", "stopped")
    ]  # fmt: skip
    assert certificate.read_certificate(run.folder) is not None
    assert not (run.folder / "copies").exists()
    assert [path.name for path in original.iterdir()] == ["train.py"]


def test_that_a_line_that_cannot_be_started_is_a_failure_and_no_refusal(tmp_path: Path) -> None:
    original = project(tmp_path, "original", "")
    words = ("--no-project", "certify", str(original), str(original), "--json", "--", sys.executable, "missing.py")
    done = studio(*words, cwd=original)
    assert done.returncode == 1, done.stderr
    assert f"{original}/missing.py is not a file." in done.stderr


def test_that_two_folders_and_a_line_have_to_be_given(tmp_path: Path) -> None:
    done = studio("--no-project", "certify", str(tmp_path), cwd=tmp_path)
    assert done.returncode == 2
    fields = {problem.field for problem in schema.problems(CertifySpec())}
    assert fields == {"original", "migrated", "line"}


def test_that_a_rehearsal_reads_all_that_a_certificate_asks_of_it(tmp_path: Path) -> None:
    spec = CertifySpec()
    for name, value in {"steps": 5, "seed": 7, "minutes": 2.5, "memory": 900, "host_cards": 4}.items():
        spec = schema.with_value(spec, name, value)
    spec = schema.with_value(spec, "env", (("A", "1"),))
    values = json.loads(json.dumps(rehearsals.rehearsal_values(spec, "npu", ("python", "a.py"), tmp_path)))
    read, wrong = schema.from_json(RehearseSpec, values)
    assert not wrong
    defaults = schema.to_json(RehearseSpec())  # a certificate plans no capture, and asks for no card of its own
    rehearsal = {"rehearsal": defaults["rehearsal"] | values["rehearsal"]}
    assert schema.to_json(read) == values | {"planned": defaults["planned"]} | rehearsal
    assert (read.rehearsal.seed, read.rehearsal.host_cards, read.environment.env) == (7, 4, (("A", "1"),))


def test_that_a_launch_reads_all_that_a_real_run_asks_of_it(tmp_path: Path) -> None:
    spec = schema.with_value(CertifySpec(), "env", (("A", "1"),))
    values = json.loads(json.dumps(npu_check.launch_values(spec, ("python", "a.py"), tmp_path)))
    read, wrong = schema.from_json(OwnSpec, values)
    assert not wrong
    assert (read.program.line, read.program.workdir) == (("python", "a.py"), tmp_path)
    assert read.recording.log_pattern == "off"
    assert not schema.problems(schema.with_value(read, "line", ("env",)))
    env = dict(read.environment.env)
    assert (env["A"], env[npu_check.STEPS], env["ASCEND_STUDIO_HOOKS"]) == ("1", "3", "curves,rehearse=here")


def test_that_every_check_has_a_title() -> None:
    assert not [key for key in CHECK_TITLES.values() if not texts.has(key)]


def test_that_only_code_in_the_project_is_asked_about(tmp_path: Path) -> None:
    spec = schema.with_value(CertifySpec(), "original", tmp_path / "inside")
    spec = schema.with_value(spec, "migrated", Path("/elsewhere"))
    assert code_of(spec, tmp_path) == (tmp_path / "inside",)
