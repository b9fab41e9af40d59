"""The same training twice: what differs first, what makes it differ, and whether looking at it changes it."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from backends.launch.own.spec import OwnSpec
from backends.precision.determinism import digests, losses
from backends.precision.determinism.result import DeterminismResult, LossRow
from backends.precision.determinism.spec import DeterminismSpec
from backends.precision.determinism.work import advice, judge_runs, result_notes, script_values
from studio import run as runs
from studio import schema
from studio.errors import StudioError
from studio.events import Ended, Journal, Metric
from studio.sentences import sentence_of
from tests.command_line import last_json, studio
from tests.precision.determinism.seeded_training import TORCH

if TYPE_CHECKING:
    from pathlib import Path

    from studio.run import Run

MINDSPORE = """
import numpy as np, mindspore as ms
from mindspore import nn, ops
ms.set_seed(3)
net = nn.SequentialCell(nn.Dense(8, 16), nn.ReLU(), nn.Dense(16, 1))
optimizer = nn.Momentum(net.trainable_params(), 0.01, 0.9)
grad = ms.value_and_grad(lambda x: ops.mean(ops.square(net(x))), None, optimizer.parameters)
random = np.random.default_rng(3)
for step in range(5):
    loss, gradients = grad(ms.Tensor(random.standard_normal((4, 8), dtype=np.float32)))
    optimizer(gradients)
"""


def prove(folder: Path, script: str, *words: str, steps: int = 3) -> tuple[int, dict[str, Any], str]:
    """The exit code, the JSON and what was said."""
    (folder / "train.py").write_text(script)
    line = ("--steps", str(steps), "--json", "--", sys.executable, "train.py", *words)
    done = studio("--no-project", "determinism", *line, cwd=folder)
    return done.returncode, last_json(done), done.stderr


def test_that_a_training_with_seeds_is_the_same_to_the_last_bit_and_is_not_run_to_its_end(
    tmp_path: Path, homes: Path
) -> None:
    code, found, said = prove(tmp_path, TORCH, "--seed")
    assert code == 0, said
    assert (found["deterministic"], found["first"], found["capture_changes"]) == (True, None, False)
    assert [row["step"] for row in found["losses"]] == [1, 2, 3]
    assert found["tensors"] > 40
    assert (found["verdict"], found["complete"], found["steps"]) == ("equal", True, 3)
    assert (found["tensor_steps"], found["weight_steps"], found["is_over"]) == ([1, 2], [1, 2, 3], False)
    assert len(set(found["runs"])) == 3
    assert (
        "losses of 3 of 3 steps, weights, what torch modules hold besides and optimizer state after 3 of 3 steps"
        in said
    )
    assert "in 2 of 2 steps" in said
    assert "The training goes on after step 3" in said


def test_that_weights_without_a_seed_are_named(tmp_path: Path, homes: Path) -> None:
    code, found, said = prove(tmp_path, TORCH, steps=2)
    assert code == 3
    assert found["first"] == {
        "step": 1, "name": "Functional.linear.0.forward", "place": "input", "index": 1, "rank": 0, "reason": "seed",
    }  # fmt: skip
    assert (found["deterministic"], found["capture_changes"]) == (False, None)
    assert "Set the seeds before the model is created" in said


def test_that_a_mindspore_training_is_proved_too(tmp_path: Path, homes: Path) -> None:
    code, found, said = prove(tmp_path, MINDSPORE)
    assert code == 0, said
    assert (found["deterministic"], found["capture_changes"], found["framework"]) == (True, False, "mindspore")
    assert found["tensors"] > 20
    assert (found["verdict"], found["weight_steps"]) == ("equal", [1, 2, 3])


def test_that_a_mindspore_parameter_outside_the_optimizer_is_compared(tmp_path: Path, homes: Path) -> None:
    begin = "for step in range(5):"
    drifting = """
import time
from mindspore import Parameter, Tensor
class Teacher(nn.Cell):
    def __init__(self):
        super().__init__()
        self.average = Parameter(Tensor([0.0], ms.float32), name="average", requires_grad=False)
teacher = Teacher()
"""
    line = "\n    teacher.average.set_data(Tensor([time.time() % 1e3], ms.float32))"
    code, found, said = prove(tmp_path, MINDSPORE.replace(begin, drifting + begin + line))
    assert (code, found["first"]["place"], found["first"]["name"]) == (3, "buffer", "average"), said


SHORT = """
import sys, threading, torch
torch.manual_seed(1)
torch.set_num_threads(1)
net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
noise = torch.Generator()
noise.seed()
net[0].register_buffer("noise", torch.zeros(1))
net[0].frozen = torch.nn.Parameter(torch.zeros(1), requires_grad=False)
average = torch.optim.swa_utils.AveragedModel(net)
net[0].register_buffer("unsaved", torch.zeros(1), persistent=False)
teacher = torch.nn.Sequential(torch.nn.Linear(8, 3))
critics = [torch.nn.Linear(2, 5), torch.nn.Linear(2, 5)]
for step in range(1, 7):
    if sys.argv[1] == "buffer" and step == 4:
        net[0].noise.add_(torch.randn(1, generator=noise))
    if sys.argv[1] == "unsaved" and step == 4:
        net[0].unsaved.add_(torch.randn(1, generator=noise))
    loss = net(torch.randn(4, 8)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if sys.argv[1] == "state" and step == 5:
        optimizer.state[net[0].bias]["exp_avg"].add_(torch.randn(16, generator=noise))
    with torch.no_grad():
        if sys.argv[1] == "frozen" and step == 3:
            net[0].frozen.add_(torch.randn(1, generator=noise))
        if sys.argv[1] == "average" and step == 3:
            average.module[0].weight[0, 0] += torch.randn(1, generator=noise)[0]
        if sys.argv[1] == "teacher" and step == 3:
            teacher[0].weight[0, 0] += torch.randn(1, generator=noise)[0]
        if sys.argv[1] == "critic" and step == 3:
            critics[1].bias[0] += torch.randn(1, generator=noise)[0]
if sys.argv[1] == "end":
    with torch.no_grad():
        net[2].bias.add_(torch.randn(1, generator=noise))
"""


@pytest.mark.parametrize(
    ("kind", "code", "step", "place", "words"),
    [
        ("none", 0, None, None, "The weights at the end of the training are identical too."),
        (
            "buffer",
            3,
            4,
            "buffer",
            "first in a tensor that no optimizer updates, after step 4: 0.noise. Weights and optimizer",
        ),
        ("frozen", 3, 6, "buffer", "after step 6: 0.frozen"),
        ("average", 3, 6, "buffer", "after step 6: module.0.weight"),
        ("unsaved", 3, 4, "buffer", "after step 4: 0.unsaved"),
        ("teacher", 3, 6, "buffer", "after step 6: 0.weight"),
        ("critic", 3, 6, "buffer", "after step 6: bias"),
        ("end", 3, 6, "final", "look behind the last update"),
        ("end", 3, 6, "final", "differ only in the weights at the end of the training, after step 6: 0.0.3"),
        ("state", 3, 6, "weights", "differ, first in the weights after the update of step 6"),
    ],
)
def test_that_the_weights_behind_the_last_update_are_compared_too(
    tmp_path: Path, homes: Path, kind: str, code: int, step: int | None, place: str | None, words: str
) -> None:
    ended, found, said = prove(tmp_path, SHORT, kind, steps=6)
    first = found["first"] or {}
    assert (ended, first.get("step"), first.get("place")) == (code, step, place), said
    assert words in said
    assert found["is_over"]


def test_that_a_training_that_ended_before_the_steps_that_were_asked_for_says_so(tmp_path: Path) -> None:
    spec = schema.with_value(DeterminismSpec(), "compared_steps", 6)
    ended = [with_losses(tmp_path, [1.0, 0.5, 0.25, 0.2, 0.1]) for _ in range(3)]
    for run in ended:
        Journal(run.folder, 1).write(Ended(code=0))
    result = judge_runs(spec, ended)
    assert (result.verdict, result.steps, result.trained_steps, result.is_over) == ("incomplete", 6, 5, True)
    said = " ".join(sentence_of(note) for note in result_notes(result))
    assert "losses of 5 of 6 steps" in said
    assert "ended by itself after 5 steps, and 6 were asked for" in said


def test_that_a_training_without_losses_or_with_fewer_is_no_success(tmp_path: Path) -> None:
    spec = schema.with_value(DeterminismSpec(), "compared_steps", 5)
    ended = [with_losses(tmp_path, [1.0, 0.5, 0.25]) for _ in range(3)]
    result = judge_runs(spec, ended)
    assert (result.deterministic, result.verdict, result.steps) == (True, "incomplete", 5)
    (finding,) = [note for note in result_notes(result) if getattr(note, "rule", "").endswith("incomplete")]
    assert "losses of 3 of 5 steps, weights after 0 of 5 steps" in sentence_of(finding)


def test_that_the_weights_of_a_step_come_behind_its_tensors_and_its_loss(tmp_path: Path) -> None:
    spec = schema.with_value(DeterminismSpec(), "compared_steps", 2)
    made = [with_losses(tmp_path, [1.0, 0.5]) for _ in range(3)]
    for run, weight in zip(made, ("aa", "bb", "aa"), strict=True):
        lines = [{"step": step, "final": False, "weights": {"w": weight if step == 2 else "cc"}} for step in (1, 2)]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (run.folder / "artifacts" / "weights.r0.jsonl").write_text(text + "{damaged")
        write(run.folder, EQUAL, EQUAL)
    result = judge_runs(spec, made)
    assert result.first is not None
    assert (result.first.step, result.first.place, result.first.name, result.first.reason) == (
        2, "weights", "w", "update"
    )  # fmt: skip
    (made[1].folder / "artifacts" / "weights.r0.jsonl").write_text(
        (made[0].folder / "artifacts" / "weights.r0.jsonl").read_text()
    )
    equal = judge_runs(spec, made)
    assert (equal.verdict, equal.weight_steps, equal.tensor_steps) == ("equal", (1, 2), (1, 2))
    (made[2].folder / "artifacts" / "weights.r0.jsonl").write_text(text.replace("aa", "dd"))
    assert judge_runs(spec, made).verdict == "capture_changes"


def test_that_a_line_that_fails_says_why(tmp_path: Path, homes: Path) -> None:
    code, _, said = prove(tmp_path, "raise SystemExit(7)")
    assert code == 1
    assert "failed with exit code 7" in said
    assert studio("--no-project", "determinism", cwd=tmp_path).returncode == 2


def test_that_what_is_asked_of_a_run_is_what_a_script_understands(tmp_path: Path) -> None:
    (tmp_path / "a.py").touch()
    spec = DeterminismSpec()
    for name, value in {"line": ("python", "a.py"), "workdir": tmp_path, "digest_steps": 3}.items():
        spec = schema.with_value(spec, name, value)
    assert not schema.problems(spec)
    for captured in (True, False):
        asked = json.loads(json.dumps(script_values(spec, captured=captured)))
        own, unread = schema.from_json(OwnSpec, asked)
        assert not unread
        assert not schema.problems(own)
        assert (own.program.line, own.program.workdir, own.ending.grace) == (("python", "a.py"), tmp_path, 0.0)
        assert own.environment.env == (("ASCEND_STUDIO_HOOKS", "weight_digests=20,curves,captures"),)
        wanted = ("dump", 1, 3, "md5") if captured else ("none", None, 2, "statistics")
        planned = own.planned
        assert (planned.capture, planned.capture_at, planned.capture_steps, planned.capture_task) == wanted
    many = schema.with_value(spec, "digest_steps", 21)
    assert [one.field for one in schema.problems(many)] == ["digest_steps"]


def tensor(md5: str, needs_grad: bool = False) -> dict[str, Any]:
    numbers = {"Max": 1.0, "Min": 0.0, "Mean": 0.5, "Norm": 1.0}
    return {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2], **numbers, "requires_grad": needs_grad,
            "md5": md5}  # fmt: skip


def call(data: str = "d", weight: str = "w", output: str = "o", scalar: float = 0.1) -> dict[str, Any]:
    plain = {"type": "float", "value": scalar}
    return {"input_args": [tensor(data), tensor(weight, needs_grad=True), plain], "input_kwargs": {},
            "output": [tensor(output, needs_grad=True)]}  # fmt: skip


def back(output: str = "g") -> dict[str, Any]:
    return {"input": [tensor("o")], "output": [tensor(output)]}


LINEAR, DROPOUT, BACK = "Functional.linear.0.forward", "Functional.dropout.0.forward", "Functional.linear.0.backward"
EQUAL = {LINEAR: call(), DROPOUT: call(), BACK: back()}


def write(run: Path, *steps: dict[str, Any], framework: str = "pytorch") -> Path:
    for number, data in enumerate(steps, 1):
        folder = run / "artifacts" / "captures" / "a" / f"step{number}" / "proc7"
        folder.mkdir(parents=True)
        head = {"task": "statistics", "level": "L1", "framework": framework, "dump_data_dir": None}
        (folder / "dump.json").write_text(json.dumps({**head, "data": data}))
    return run


@pytest.mark.parametrize(
    ("other", "step", "name", "place", "index", "reason"),
    [
        ([{**EQUAL, LINEAR: call(data="x")}], 1, LINEAR, "input", 0, "data"),
        ([{**EQUAL, LINEAR: call(weight="x")}], 1, LINEAR, "input", 1, "seed"),
        ([EQUAL, {**EQUAL, LINEAR: call(weight="x")}], 2, LINEAR, "input", 1, "update"),
        ([EQUAL, {**EQUAL, LINEAR: call(data="x")}], 2, LINEAR, "input", 0, "data"),
        ([{**EQUAL, DROPOUT: call(data="x")}], 1, DROPOUT, "input", 0, "untraced"),
        ([{**EQUAL, LINEAR: call(output="x")}], 1, LINEAR, "output", 0, "kernel"),
        ([{**EQUAL, DROPOUT: call(output="x")}], 1, DROPOUT, "output", 0, "random"),
        ([{**EQUAL, BACK: back("x")}], 1, BACK, "output", 0, "kernel"),
        ([{**EQUAL, DROPOUT: call(scalar=0.2)}], 1, DROPOUT, "input", 2, "flow"),
        ([{LINEAR: call(), BACK: back()}], 1, DROPOUT, "call", 0, "flow"),
        ([{**EQUAL, "Tensor.add.0.forward": call()}], 1, "Tensor.add.0.forward", "call", 0, "flow"),
    ],
)
def test_that_the_first_difference_is_found_where_it_is_and_its_cause_is_told(
    tmp_path: Path, other: list[Any], step: int, name: str, place: str, index: int, reason: str
) -> None:
    one, two = write(tmp_path / "one", EQUAL, EQUAL), write(tmp_path / "two", *other, *[EQUAL] * (2 - len(other)))
    first = digests.compare_digests(one, two).first
    assert first is not None
    assert (first.step, first.name, first.place, first.index, first.reason) == (step, name, place, index, reason)
    assert digests.compare_digests(one, one).first is None


def test_that_a_step_that_only_one_run_has_reached_is_a_difference(tmp_path: Path) -> None:
    one, two = write(tmp_path / "one", EQUAL, EQUAL), write(tmp_path / "two", EQUAL)
    found = digests.compare_digests(one, two)
    assert found.first is not None
    assert (found.first.step, found.first.place, found.tensors) == (2, "call", 8)
    reverse = digests.compare_digests(two, one)
    assert reverse.first is not None, "the second may be the one that has gone further"
    assert (reverse.first.step, reverse.first.place) == (2, "call")


def with_losses(folder: Path, numbers: list[Any]) -> Run:
    run = runs.create(folder, "script", {})
    Journal(run.folder, 1).write(*(Metric(step=at, values={"loss": one}) for at, one in enumerate(numbers, 1)))
    return run


def test_that_losses_are_compared_by_their_bits_and_a_capture_that_changes_them_is_told(tmp_path: Path) -> None:
    spec = schema.with_value(DeterminismSpec(), "compared_steps", 3)
    same, other = [1.0, 0.5, "NaN", 9.0], [1.0, 0.5, "NaN", 8.0]
    made = [with_losses(tmp_path, one) for one in (same, other, same)]
    result = judge_runs(spec, made)
    assert (result.deterministic, result.capture_changes, len(result.losses)) == (True, False, 3)

    changed = judge_runs(spec, [*made[:2], with_losses(tmp_path, [1.0, 0.5000000000000001])])
    assert (changed.deterministic, changed.capture_changes) == (True, True)
    assert "precision.determinism.capture_changes" in {getattr(one, "rule", "") for one in result_notes(changed)}

    late = judge_runs(schema.with_value(spec, "compared_steps", 4), made)
    assert late.first is not None
    assert (late.deterministic, late.first.step, late.first.place, late.first.reason) == (False, 4, "loss", "later")
    assert late.capture_changes is None

    nothing = with_losses(tmp_path, [])
    with pytest.raises(StudioError) as raised:
        judge_runs(spec, [nothing] * 3)
    assert raised.value.key == "precision.determinism.nothing_seen"


def test_that_a_run_that_ended_earlier_differs_where_it_ended() -> None:
    rows = [LossRow(step=1, first=1.0, second=1.0, without=1.0), LossRow(step=2, first=0.5, second=None, without=0.5)]
    assert losses.first_difference(rows) == 2
    assert losses.is_changed(rows) is None
    assert losses.is_changed([]) is None


def test_that_each_framework_has_its_own_switch_for_kernels(tmp_path: Path) -> None:
    one, two = write(tmp_path / "one", EQUAL), write(tmp_path / "two", {**EQUAL, BACK: back("x")})
    compared = digests.compare_digests(one, two)
    result = DeterminismResult(
        deterministic=False, first=compared.first, capture_changes=None, runs=(), losses=(), tensors=9,
        framework="mindspore",
    )  # fmt: skip
    assert advice(result) == "precision.determinism.advice_kernel_mindspore"
    of_torch = msgspec.structs.replace(result, framework="torch")
    assert advice(of_torch) == "precision.determinism.advice_kernel_torch"
