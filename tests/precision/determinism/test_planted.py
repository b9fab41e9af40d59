"""Planted differences of two runs of one training, none of which is called equal, and healthy ones, which all are."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest

from backends.precision.determinism.spec import DeterminismSpec
from backends.precision.determinism.work import judge_runs
from studio import run as runs
from studio import schema
from studio.errors import StudioError
from studio.events import Ended, Journal, name_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

STEPS, DIGESTS = 4, 2
FAILED = "failed"
LINEAR, BACK = "Functional.linear.0.forward", "Functional.linear.0.backward"


def tensor(md5: str, needs_grad: bool = False) -> dict[str, Any]:
    figures = {"Max": 1.0, "Min": 0.0, "Mean": 0.5, "Norm": 1.0}
    return {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2], **figures, "requires_grad": needs_grad,
            "md5": md5}  # fmt: skip


def calls() -> dict[str, Any]:
    forward = {"input_args": [tensor("d"), tensor("w", needs_grad=True), {"type": "float", "value": 0.1}],
               "input_kwargs": {}, "output": [tensor("o", needs_grad=True)]}  # fmt: skip
    return {LINEAR: forward, BACK: {"input": [tensor("o")], "output": [tensor("g")]}}


def digest(step: int, *, final: bool = False) -> dict[str, Any]:
    number = STEPS if final else step
    return {"step": step, "final": final, "weights": {"w": f"w{number}", "b": f"b{number}"}, "state": f"s{number}"}


class Left:
    """What a run left behind: losses, digests of weights and dumps, by rank; to be changed, then written."""

    def __init__(self, ranks: int = 1) -> None:
        self.losses: dict[int, list[Any]] = {rank: [1.0, 0.5, 0.25, 0.125] for rank in range(ranks)}
        weights = [*(digest(step) for step in range(1, STEPS + 1)), digest(STEPS, final=True)]
        self.weights: dict[int, list[Any]] = {rank: copy.deepcopy(weights) for rank in range(ranks)}
        self.dumps = {(step, rank): calls() for step in range(1, DIGESTS + 1) for rank in range(ranks)}
        self.code: int | None = 0
        self.reason = ""

    def write(self, folder: Path) -> runs.Run:
        run = runs.create(folder, "script", {})
        for rank, losses in self.losses.items():
            lines = [
                json.dumps({"type": "metric", "time": step, "step": step, "values": {"loss": loss}})
                for step, loss in enumerate(losses, 1)
                if loss is not None
            ]
            (run.folder / name_of(1, rank, 100 + rank)).write_text("".join(f"{line}\n" for line in lines))
        for rank, weights in self.weights.items():
            lines = [line if isinstance(line, str) else json.dumps(line) for line in weights]
            path = run.folder / "artifacts" / f"weights.r{rank}.jsonl"
            path.write_text("".join(f"{line}\n" for line in lines))
        for (step, rank), data in self.dumps.items():
            place = run.folder / "artifacts" / "captures" / "a" / f"step{step}" / f"rank{rank}"
            place.mkdir(parents=True)
            head = {"task": "statistics", "level": "L1", "framework": "pytorch", "dump_data_dir": None}
            text = data if isinstance(data, str) else json.dumps({**head, "data": data})
            (place / "dump.json").write_text(text)
        if self.code is not None:
            Journal(run.folder, 1).write(Ended(code=self.code, reason=self.reason))
        return run


def set_loss(step: int, value: Any, rank: int = 0) -> Callable[[Left], object]:
    return lambda left: left.losses[rank].__setitem__(step - 1, value)


def set_weight(place: int, name: str, value: str, rank: int = 0) -> Callable[[Left], object]:
    return lambda left: left.weights[rank][place]["weights"].__setitem__(name, value)


def rename_weight(left: Left) -> None:
    for line in left.weights[0]:
        line["weights"]["w2"] = line["weights"].pop("w")


def end_later(left: Left) -> None:
    left.weights[0][-1]["step"] = STEPS + 1


def drop_rank(left: Left) -> None:
    for content in (left.losses, left.weights):
        content.pop(1)
    left.dumps = {key: data for key, data in left.dumps.items() if key[1] == 0}


def set_md5(call: str, key: str, place: int, step: int = 1, rank: int = 0) -> Callable[[Left], object]:
    return lambda left: left.dumps[step, rank][call][key][place].__setitem__("md5", "x")


def cut_dump(left: Left) -> None:
    left.dumps[2, 0] = json.dumps({"task": "statistics", "level": "L1", "data": calls()})[:300]  # type: ignore[assignment]


def clear_all(left: Left) -> None:
    left.losses, left.weights, left.dumps = {}, {}, {}


FAULTS: dict[str, Callable[[Left], object]] = {
    "a bit of a loss": set_loss(3, 0.25000000000000006),
    "the sign of a loss": set_loss(3, -0.25),
    "a loss that is NaN": set_loss(2, "NaN"),
    "the last loss": set_loss(4, 0.1),
    "a loss that is missing": lambda left: left.losses[0].pop(),
    "weights after a step": set_weight(1, "w", "x"),
    "weights after the last step": set_weight(3, "b", "x"),
    "weights at the end": set_weight(4, "w", "x"),
    "the optimizer's state": lambda left: left.weights[0][2].update(state="x"),
    "the optimizer's state at the end": lambda left: left.weights[0][4].update(state="x"),
    "no weights at the end": lambda left: left.weights[0].pop(),
    "an end after another step": end_later,
    "fewer steps of weights": lambda left: left.weights[0].__delitem__(slice(2, 4)),
    "no weights": lambda left: left.weights.clear(),
    "other names of weights": rename_weight,
    "one weight more": set_weight(3, "extra", "x"),
    "a line of weights that is cut": lambda left: left.weights[0].__setitem__(2, '{"step": 3, "fin'),
    "an output of a call": set_md5(LINEAR, "output", 0),
    "a gradient": set_md5(BACK, "output", 0, step=2),
    "a call that is missing": lambda left: left.dumps[1, 0].pop(BACK),
    "another order of calls": lambda left: left.dumps.__setitem__((1, 0), dict(reversed(calls().items()))),
    "a step without a dump": lambda left: left.dumps.pop((2, 0)),
    "no dump": lambda left: left.dumps.clear(),
    "a dump that is cut": cut_dump,
    "an argument": lambda left: left.dumps[1, 0][LINEAR]["input_args"][2].update(value=0.2),
    "a dtype": lambda left: left.dumps[1, 0][LINEAR]["output"][0].update(dtype="torch.float16"),
}  # fmt: skip
OF_TWO_RANKS: dict[str, Callable[[Left], object]] = {
    "a loss of the other rank": set_loss(3, 0.3, rank=1),
    "weights of the other rank": set_weight(3, "w", "x", rank=1),
    "weights of the other rank at the end": set_weight(4, "w", "x", rank=1),
    "a tensor of the other rank": set_md5(LINEAR, "output", 0, rank=1),
    "a rank that is missing": drop_rank,
    "losses of the other rank missing": lambda left: left.losses.pop(1),
    "weights of the other rank missing": lambda left: left.weights.pop(1),
    "weights of the other rank at the end missing": lambda left: left.weights[1].pop(),
}  # fmt: skip
OF_BOTH: dict[str, Callable[[Left], object]] = {
    "no losses": lambda left: left.losses.clear(),
    "no weights": lambda left: left.weights.clear(),
    "no dumps": lambda left: left.dumps.clear(),
    "a dump that is cut": cut_dump,
    "losses of half of the steps": lambda left: left.losses[0].__delitem__(slice(2, 4)),
    "weights of half of the steps": lambda left: left.weights[0].__delitem__(slice(2, 4)),
    "nothing": clear_all,
    "losses that are NaN in every step": lambda left: left.losses.update({0: ["NaN"] * STEPS}),
}  # fmt: skip
"""What both runs lack: nothing differs, and not all was compared."""


def verdict(folder: Path, *left: Left, without: Left | None = None, steps: int = STEPS) -> str:
    """`without`: what the run without a capture left, else the same as the first; `steps`: how many are asked for."""
    values = {"compared_steps": steps, "digest_steps": DIGESTS}
    spec = DeterminismSpec()
    for name, value in values.items():
        spec = schema.with_value(spec, name, value)
    without = without or copy.deepcopy(left[0])
    without.dumps = {}
    try:
        return judge_runs(spec, [each.write(folder) for each in (*left, without)]).verdict
    except StudioError:
        return FAILED


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("fault", [*FAULTS, *OF_TWO_RANKS])
def test_that_no_planted_difference_of_two_runs_is_called_equal(tmp_path: Path, fault: str, *, is_first: bool) -> None:
    left = [Left(1 if fault in FAULTS else 2) for _ in range(2)]
    {**FAULTS, **OF_TWO_RANKS}[fault](left[0 if is_first else 1])
    assert verdict(tmp_path, *left) != "equal"


OF_WITHOUT: dict[str, Callable[[Left], object]] = {
    "another loss": set_loss(3, 0.3),
    "another loss of the other rank": set_loss(3, 0.3, rank=1),
    "other weights": set_weight(2, "w", "x"),
    "other weights of the other rank": set_weight(2, "w", "x", rank=1),
    "no losses": lambda left: left.losses.clear(),
    "no losses of the other rank": lambda left: left.losses.pop(1),
    "no weights": lambda left: left.weights.clear(),
    "weights of half of the steps": lambda left: left.weights[0].__delitem__(slice(2, 5)),
    "no weights of the other rank": lambda left: left.weights.pop(1),
    "half of the steps": lambda left: [rows.__delitem__(slice(2, 5)) for rows in (left.losses[0], left.weights[0])],
}  # fmt: skip


@pytest.mark.parametrize("fault", OF_WITHOUT)
def test_that_a_run_without_a_capture_that_differs_or_lacks_something_is_no_success(tmp_path: Path, fault: str) -> None:
    left = [Left(2) for _ in range(3)]
    OF_WITHOUT[fault](left[2])
    assert verdict(tmp_path, *left[:2], without=left[2]) in ("capture_changes", "incomplete")


@pytest.mark.parametrize("logged", [(2, 4), (1, 3), (4,)])
def test_that_losses_that_are_logged_every_few_steps_are_whole(tmp_path: Path, logged: tuple[int, ...]) -> None:
    left = [Left() for _ in range(2)]
    for each in left:
        each.losses[0] = [loss if step in logged else None for step, loss in enumerate(each.losses[0], 1)]
    assert verdict(tmp_path, *left) == "equal"


@pytest.mark.parametrize("logged", [(1, 2), (2,), (1, 2, 4)])
def test_that_losses_that_stop_or_have_gaps_are_incomplete(tmp_path: Path, logged: tuple[int, ...]) -> None:
    left = [Left() for _ in range(2)]
    for each in left:
        each.losses[0] = [loss if step in logged else None for step, loss in enumerate(each.losses[0], 1)]
    assert verdict(tmp_path, *left) == "incomplete"


@pytest.mark.parametrize("fault", OF_BOTH)
def test_that_what_both_runs_lack_is_not_called_equal(tmp_path: Path, fault: str) -> None:
    left = [Left() for _ in range(2)]
    for each in left:
        OF_BOTH[fault](each)
    assert verdict(tmp_path, *left) in ("incomplete", FAILED)


def stop(left: Left) -> None:
    left.code, left.reason = 130, "stopped"


def stop_later(left: Left) -> None:
    """Two trainings that go on do not stop after the same step."""
    stop(left)
    left.weights[0].pop()
    left.losses[0] += [0.06]


HEALTHY: dict[str, tuple[int, Callable[[Left], object]]] = {
    "equal": (1, lambda _: None),
    "equal on two ranks": (2, lambda _: None),
    "stopped since they go on": (1, stop_later),
    "losses that are NaN": (1, set_loss(3, "NaN")),
    "trainings without a state": (1, lambda left: [line.update(state="") for line in left.weights[0]]),
    "a loss on the first rank alone": (2, lambda left: left.losses.pop(1)),
    "more steps than are asked for": (1, lambda left: left.losses[0].extend([0.06, 0.03])),
}  # fmt: skip


@pytest.mark.parametrize("pair", HEALTHY)
def test_that_healthy_runs_are_called_equal(tmp_path: Path, pair: str) -> None:
    ranks, change = HEALTHY[pair]
    left = [Left(ranks) for _ in range(2)]
    for each in left:
        change(each)
    assert verdict(tmp_path, *left) == "equal"


def test_that_trainings_that_go_on_may_be_stopped_after_different_steps(tmp_path: Path) -> None:
    left = [Left() for _ in range(2)]
    for number, each in enumerate(left):
        stop(each)
        each.losses[0] += [0.06] * (1 + number)
        each.weights[0][-1].update(step=STEPS + number, weights={"w": f"later{number}", "b": "b"})
    assert verdict(tmp_path, *left) == "equal"


@pytest.mark.parametrize(("steps", "expected"), [(STEPS, "equal"), (STEPS + 1, "incomplete"), (20, "incomplete")])
def test_that_trainings_that_end_before_the_steps_that_were_asked_for_are_incomplete(
    tmp_path: Path, steps: int, expected: str
) -> None:
    assert verdict(tmp_path, *(Left() for _ in range(2)), steps=steps) == expected
