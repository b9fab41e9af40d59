"""Rehearsals from the command line and in the worker."""

from __future__ import annotations

import csv
import importlib.util
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from backends.common.rehearsal import FILE, HEAD, OPERATORS, Blocked, read_report
from backends.launch.rehearse import limits, report
from backends.launch.rehearse.limits import END, Limits
from backends.launch.rehearse.spec import Rehearsal, RehearseSpec
from backends.launch.rehearse.work import assembled, refusal, rehearsal_command, report_end
from studio import processes, schema, texts
from studio.events import Ended, Finding, Journal, Progress
from studio.sentences import early_sentence
from studio.supervisor import TooMuch
from tests.command_line import last_json, studio
from tests.launch.rehearsals import part, prepare, rehearse_spec
from tests.runs import events_of

needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="no PyTorch here")

TWO_RANKS = """
import torch, torch.distributed as dist, os
rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
assert torch.cuda.device_count() == 2
torch.manual_seed(rank)
net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 2).cuda(rank), device_ids=[rank])
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
while True:
    loss = net(torch.randn(8, 4, device=rank)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    dist.barrier(device_ids=[rank])
    if rank == 0:
        print("loss", loss.item().hex(), flush=True)
"""
WITHOUT_STEPS = "import torch\nwhile True: torch.ones(2, device='cuda').sum()"


def test_that_the_stance_is_said_with_as() -> None:
    spec = rehearse_spec(stance="npu", steps=7, line=("python", "train.py"))
    assert schema.arguments(spec) == ("--as", "npu", "--steps", "7", "--", "python", "train.py")
    assert schema.from_json(RehearseSpec, schema.to_json(spec)) == (spec, ())


def test_that_a_rehearsal_needs_a_program() -> None:
    assert [(one.field, one.rule) for one in schema.problems(RehearseSpec())] == [("line", "launch.rule.no_line")]


def test_that_a_capture_that_the_rehearsal_ends_before_is_refused() -> None:
    spec = rehearse_spec(line=("python", "train.py"), capture="profile", capture_steps=3)
    (problem,) = schema.problems(spec)
    assert (problem.field, problem.args) == ("capture_steps", {"steps": 3, "needed": 4})
    assert not schema.problems(schema.with_value(spec, "steps", 4))
    assert not schema.problems(schema.with_value(spec, "steps", None))
    assert not schema.problems(schema.with_value(spec, "capture", "dump"))


def test_that_the_program_runs_as_it_would_but_with_the_hooks_of_a_rehearsal(tmp_path: Path) -> None:
    spec = rehearse_spec(line=("A=1", "bash", "run.sh"), workdir=tmp_path, stance="npu", steps=None, host_cards=4)
    command = rehearsal_command(spec, prepare(tmp_path), {})
    assert (command.argv, command.cwd) == (("bash", "run.sh"), tmp_path)
    wanted = {"ASCEND_STUDIO_HOOKS": "curves,captures,rehearse=npu", "ASCEND_STUDIO_REHEARSAL_DEVICES": "4", "A": "1"}
    assert wanted.items() <= command.env.items()
    assert "ASCEND_STUDIO_REHEARSAL_STEPS" not in command.env


def test_that_ranks_are_added_up(tmp_path: Path) -> None:
    run = prepare(tmp_path)
    row = ["aten.mm.default", "forward", "Net", "float32 float32", "2x3 3x4", "float32", "2x4", 5]
    blocked = {"name": "autocast", "message": "no", "kind": "disabled", "path": "/a.py", "line": 3}
    for rank in (0, 1):
        part(run, rank, redirected={"Tensor.to": 2}, blocked=[blocked], operators=[row])
    (run.folder / report.PARTS / "part.r2.p9.json").write_text("{")
    parts = report.read_parts(run.folder)
    assert report.redirected_in(parts) == {"Tensor.to": 4}
    assert len(report.blocked_in(parts)) == 1
    found = assembled(rehearse_spec(stance="npu"), run, parts, Ended(code=0), "")
    report.write_report(run, found, report.rows_of(parts))
    assert read_report(run.folder) == found
    assert report.rehearsal_answer(run)["blocked"] == (blocked,)
    with (run.folder / OPERATORS).open(newline="") as file:
        assert list(csv.reader(file)) == [list(HEAD), [*row[:7], "10"]]
    assert not (run.folder / report.PARTS).exists()


@pytest.mark.parametrize(
    ("stance", "kind", "code", "redirected", "expected"),
    [
        ("npu", "raised", 1, {"Module.to": 1}, False),
        ("npu", "raised", 0, {"Module.to": 1}, True),  # the script caught it
        ("npu", "disabled", 0, {"Module.to": 1}, False),
        ("npu", "ignored", 0, {"Module.to": 1}, True),
        ("npu", "asked", 0, {"torch.npu.is_available": 1, "DataLoader(pin_memory)": 2}, False),
        ("npu", "unknown", 1, {"Module.to": 1}, True),  # that is the rehearsal's own gap
        ("cuda", "raised", 1, {}, True),
    ],
)
def test_that_the_answer_is_no_where_an_npu_host_would_not_train(
    tmp_path: Path, stance: str, kind: Any, code: int, redirected: dict[str, int], expected: bool
) -> None:
    run = prepare(tmp_path)
    blocked = {"name": "torch.cuda", "message": "no CUDA", "kind": kind, "path": "/a.py", "line": 3}
    part(run, redirected=redirected, blocked=[blocked])
    found = assembled(rehearse_spec(stance=stance), run, report.read_parts(run.folder), Ended(code=code), "")
    assert found.answer is expected
    if not found.answer:
        assert (refusal(found, Ended(code=code)).path, refusal(found, Ended(code=code)).line) == ("/a.py", 3)


def test_that_operators_on_the_virtual_npu_are_a_use_of_the_device_and_calls_of_its_names_are_not(
    tmp_path: Path,
) -> None:
    run = prepare(tmp_path)
    for rank, operators in ((0, 5), (1, 7)):
        part(run, rank, device="virtual_npu", device_operators=operators, redirected={"torch.npu.set_device": 1})
    found = assembled(rehearse_spec(stance="npu"), run, report.read_parts(run.folder), Ended(code=0), "")
    assert (found.is_virtual, found.device_operators, found.answer) == (True, 12, True)
    part(run, 0, device="virtual_npu", redirected={"torch.npu.set_device": 1})
    part(run, 1, device="virtual_npu")
    assert not assembled(rehearse_spec(stance="npu"), run, report.read_parts(run.folder), Ended(code=0), "").answer


def test_that_a_script_that_never_asks_for_a_device_is_refused_without_a_place(tmp_path: Path) -> None:
    run = prepare(tmp_path)
    part(run)
    found = assembled(rehearse_spec(stance="npu"), run, report.read_parts(run.folder), Ended(code=0), "")
    assert refusal(found, Ended(code=0)).rule == "launch.rehearse.no_device"
    assert replace(found, blocked=(Blocked(name="a", message="b", kind="asked", path="p", line=1),)).answer is False


def test_that_a_report_that_cannot_be_kept_is_a_failure_with_a_reason(tmp_path: Path) -> None:
    run = prepare(tmp_path)
    part(run)
    (run.folder / FILE / "in the way").mkdir(parents=True)
    assert report_end(rehearse_spec(), run, Journal(run.folder, 1), Ended(code=0), "").code == 1
    (found,) = [event for event in events_of(run) if isinstance(event, Finding)]
    assert texts.has(found.rule)


def test_that_a_limit_asks_first_and_ends_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = prepare(tmp_path)
    watch = Limits(Rehearsal(minutes=1), run, Journal(run.folder, 1))
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now)
    watch.tick()
    assert not watch.reached
    now += 61
    watch.tick()
    watch.tick()
    assert (run.folder / END).read_text() == watch.reached == "time"
    assert [event.key for event in events_of(run)] == ["launch.rehearse.time_over"]  # type: ignore[union-attr]
    now += limits.GRACE + 1
    with pytest.raises(TooMuch):
        watch.tick()


def test_that_far_too_much_memory_is_ended_at_once(tmp_path: Path) -> None:
    run = prepare(tmp_path)
    watch = Limits(Rehearsal(memory=1), run, Journal(run.folder, 1))
    watch.tick()
    env = os.environ | {processes.RUN_VARIABLE: os.path.realpath(run.folder)}
    child = subprocess.Popen([sys.executable, "-c", "held = bytes(10**7); print(); input()"], env=env,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # fmt: skip
    with child:
        assert child.stdout is not None
        child.stdout.readline()
        with pytest.raises(TooMuch):
            watch.tick()
    assert watch.reached == "memory"
    assert [event.key for event in events_of(run)] == ["launch.rehearse.memory_over"]  # type: ignore[union-attr]


@needs_torch
def test_that_two_ranks_of_torchrun_end_together_and_the_command_line_tells_what_came_of_it(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TWO_RANKS)
    line = ("--", sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2", "train.py")
    done = studio("--no-project", "rehearse", "--steps", "3", "--json", *line, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = last_json(done)
    assert (found["steps"], found["ended"], found["processes"], found["answer"]) == (3, "steps", 2, True)
    printed = [
        line.split()[1] for line in (Path(found["run"]) / "output.log").read_text().splitlines() if "loss" in line
    ]
    assert [loss.hex() for loss in found["losses"]][: len(printed)] == printed
    assert found["redirected"]["init_process_group"] == 2
    assert found["redirected"]["DistributedDataParallel(device_ids)"] == 2
    assert (found["blocked"], found["device"]) == ([], "cpu")
    with (Path(found["run"]) / OPERATORS).open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len({row["operator"] for row in rows}) == found["operators"]
    assert {"forward", "backward"} <= {row["phase"] for row in rows}
    assert {"kind": "operators", "path": OPERATORS} in found["artifacts"]
    assert "rehearsal on the CPU" in done.stderr


@needs_torch
def test_that_time_ends_a_script_that_has_no_steps_and_that_is_no_failure_and_no_answer(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(WITHOUT_STEPS)
    words = ("rehearse", "--minutes", "0.1", "--json", "--", sys.executable, "train.py")
    done = studio("--no-project", *words, cwd=tmp_path)
    assert done.returncode == 3, done.stderr
    found = last_json(done)
    assert (found["code"], found["ended"], found["steps"], found["losses"]) == (0, "time", 0, [])
    assert (found["reason"], found["answer"]) == ("incomplete", None)
    assert found["redirected"]["torch.ones"] > 0


KILLS_ITS_GROUP = """
import os, signal, torch
net = torch.nn.Linear(2, 2).npu()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
net(torch.ones(1, 2).npu()).sum().backward()
optimizer.step()
os.killpg(0, signal.SIGKILL)
"""


@needs_torch
def test_that_a_script_which_kills_its_process_group_leaves_a_report_and_a_reason(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(KILLS_ITS_GROUP)
    line = ("--json", "--", sys.executable, "train.py")
    done = studio("--no-project", "rehearse", "--as", "npu", *line, cwd=tmp_path)
    assert done.returncode == 1
    answer = last_json(done)
    assert (answer["code"], answer["steps"]) == (None, 1)
    assert answer["reason"] == "lost"
    assert "kill -9" in answer["message"]


ON_CARD = """
import torch, torch_npu
net = torch.nn.Linear(4, 2).npu()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(9):
    data = torch.ones(8, 4, device="npu")
    assert data.device.type == net.weight.device.type == DEVICE
    loss = net(data).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@needs_torch
@pytest.mark.parametrize(
    ("words", "device", "report", "sentence"),
    [
        ((), "npu", "virtual_npu", "Rehearsal on a virtual NPU, computed by the CPU: 2 steps"),
        (("--npu-device", "cpu"), "cpu", "cpu", "Rehearsal on the CPU, posing as a host with an NPU: 2 steps"),
    ],
)
def test_that_as_npu_a_script_runs_on_a_virtual_npu_unless_the_cpu_is_asked_for_and_the_answer_says_which(
    tmp_path: Path, words: tuple[str, ...], device: str, report: str, sentence: str
) -> None:
    (tmp_path / "train.py").write_text(ON_CARD.replace("DEVICE", repr(device)))
    line = ("--steps", "2", "--json", *words, "--", sys.executable, "train.py")
    done = studio("--no-project", "rehearse", "--as", "npu", *line, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = last_json(done)
    assert (found["device"], found["steps"], found["answer"], found["blocked"]) == (report, 2, True, [])
    assert (found["device_operators"] > 0) is (device == "npu")
    assert sentence in done.stderr


@needs_torch
def test_that_on_the_virtual_npu_a_batch_left_on_the_cpu_is_refused_with_its_line(tmp_path: Path) -> None:
    lines = ("import torch, torch_npu", "net = torch.nn.Linear(4, 2).npu()", "net(torch.ones(8, 4))")
    (tmp_path / "train.py").write_text("\n".join(lines))
    done = studio("--no-project", "rehearse", "--as", "npu", "--json", "--", sys.executable, "train.py", cwd=tmp_path)
    assert done.returncode == 3, done.stderr
    found = last_json(done)
    ((message, line),) = [(one["message"], one["line"]) for one in found["blocked"]]
    assert message.startswith("Expected all tensors to be on the same device, but found at least two devices, npu:0")
    assert line == 3


# weight_norm and huber_loss have no kernel in torch_npu; addmm and mean have one.
FALLS_BACK = """
import torch, torch_npu
net = torch.nn.Linear(4, 4).npu()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(2):
    output = net(torch.ones(8, 4, device="npu"))
    loss = torch.nn.functional.huber_loss(output, torch.zeros(8, 4, device="npu"))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
torch.mode(torch.ones(16, device="npu"))
torch.lgamma(torch.ones(2, device="npu"))
torch.mode(torch.ones(16))
"""


@needs_torch
def test_that_operators_without_a_kernel_are_counted_with_their_line_and_the_bytes_they_move(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(FALLS_BACK)
    line = ("--steps", "9", "--json", "--", sys.executable, "train.py")
    done = studio("--no-project", "rehearse", "--as", "npu", *line, cwd=tmp_path)
    assert (done.returncode, last_json(done)["reason"]) == (3, "incomplete"), done.stderr  # 2 steps of 9
    rows = [
        (row["operator"], row["kind"], row["line"], row["calls"], row["bytes_moved"])
        for row in last_json(done)["fallbacks"]
    ]
    assert rows == [
        ("huber_loss", "fallback", 7, 2, 2 * (2 * 8 * 4 * 4 + 4)),  # two tensors of 8x4 there, a scalar back
        ("mode", "fallback", 11, 1, 16 * 4 + 4 + 8),  # values of float32 and indices of int64 back
        ("lgamma", "maybe", 12, 1, 2 * 4 + 2 * 4),
    ]
    assert "huber_loss: torch_npu 2.13 has no kernel for it" in done.stderr


def test_that_fallbacks_of_all_ranks_are_added_up_by_their_line(tmp_path: Path) -> None:
    run = prepare(tmp_path)
    for rank in (0, 1):
        rows = [["mode", "fallback", "/a.py", 3, 1, 10], ["mode", "fallback", "/a.py", 4, 1, 100]]
        part(run, rank, fallbacks=rows)
    found = report.fallbacks_in(report.read_parts(run.folder))
    assert [(row.line, row.calls, row.bytes_moved) for row in found] == [(4, 2, 200), (3, 2, 20)]


@needs_torch
def test_that_an_unmigrated_script_is_refused_as_npu_with_the_place_in_its_code(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import torch\n\ntorch.nn.Linear(2, 2).cuda()\n")
    done = studio("--no-project", "rehearse", "--as", "npu", "--json", "--", sys.executable, "train.py", cwd=tmp_path)
    assert done.returncode == 3, done.stderr
    found = last_json(done)
    assert found["answer"] is False
    assert [(one["message"], one["kind"], one["path"], one["line"]) for one in found["blocked"]] == [
        ("Torch not compiled with CUDA enabled", "raised", str(tmp_path / "train.py"), 3)
    ]
    assert "a host with an NPU would not run this" in done.stderr


@pytest.mark.parametrize(
    ("steps", "chosen", "answer"),
    [(0, 3, None), (2, 3, None), (3, 3, True), (4, 3, True), (0, None, None), (1, None, True)],
)
def test_that_fewer_steps_than_were_asked_for_are_no_answer(
    tmp_path: Path, steps: int, chosen: int | None, answer: bool | None
) -> None:
    run = prepare(tmp_path)
    part(run, steps=steps, redirected={"Module.to": 1})
    spec = rehearse_spec(stance="npu", steps=chosen)
    ended = report_end(spec, run, Journal(run.folder, 1), Ended(code=0), "")
    assert report.rehearsal_answer(run)["answer"] is answer
    assert (ended.code, ended.reason) == (0, "" if answer else "incomplete")
    sentence = early_sentence(events_of(run))
    assert ("No training step" in sentence, "Only 2 of 3 steps" in sentence) == (not steps, (steps, chosen) == (2, 3))


def test_that_a_training_that_told_its_own_end_has_no_more_steps(tmp_path: Path) -> None:
    run = prepare(tmp_path)
    part(run, steps=2, redirected={"Module.to": 1})
    Journal(run.folder, 1).write(Progress(done=2, total=2, phase="train"))
    assert report_end(rehearse_spec(stance="npu"), run, Journal(run.folder, 1), Ended(code=0), "") == Ended(code=0)


def test_that_a_short_rehearsal_that_failed_says_so_first(tmp_path: Path) -> None:
    run = prepare(tmp_path)
    part(run, steps=2, redirected={"Module.to": 1})
    assert report_end(rehearse_spec(), run, Journal(run.folder, 1), Ended(code=7), "").code == 7
    assert not early_sentence(events_of(run))


def test_that_a_script_without_a_framework_is_no_answer(tmp_path: Path, homes: Path) -> None:
    (tmp_path / "train.py").write_text("print('hello')")
    line = ("--json", "--", sys.executable, "train.py")
    done = studio("--no-project", "rehearse", "--as", "npu", *line, cwd=tmp_path)
    found = last_json(done)
    assert (done.returncode, found["answer"], found["reason"]) == (3, None, "incomplete")
    assert found["message"].startswith("No training step was recorded")
