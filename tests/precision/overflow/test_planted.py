"""Planted overflows, none of which is a success, and healthy dumps with infinities, each of which is one."""

from __future__ import annotations

import json
import math
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from backends.precision.overflow.result import read_overflow
from backends.precision.overflow.spec import OverflowSources, OverflowSpec
from backends.precision.overflow.work import overflow_check, result_notes
from studio import run as runs
from studio import schema
from studio.errors import StudioError
from studio.events import Note
from studio.exit_codes import NO

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NAN, INF = math.nan, math.inf
FAILED = -1
"""Stands for a check that refused, as exit code 1 does."""
Call = dict[str, Any]
Calls = dict[str, Call]


def tensor(low: float | str | None = -1.0, high: float | str | None = 1.0, dtype: str = "float32", **more: Any) -> Call:
    figures = {"Max": high, "Min": low, "Mean": 0.0, "Norm": 1.0}
    return {"type": "torch.Tensor", "dtype": f"torch.{dtype}", "shape": [4], **figures, "requires_grad": False, **more}


def scalar(value: float) -> Call:
    return {"type": "float", "value": value}


def forward(inputs: list[Any], *outputs: Any, **parameters: Any) -> Call:
    call: Call = {"input_args": inputs, "input_kwargs": {}, "output": list(outputs) or [tensor()]}
    return {**call, "parameters": parameters} if parameters else call


def backward(inputs: list[Any], *outputs: Any) -> Call:
    return {"input": inputs, "output": list(outputs)}


FINITE: Calls = {
    "Functional.linear.0.forward": forward([tensor(), tensor(requires_grad=True)]),
    "Functional.relu.0.forward": forward([tensor()], tensor(0.0)),
    "Functional.mse_loss.0.forward": forward([tensor(0.0), tensor()], tensor(0.5, 0.5)),
    "Functional.mse_loss.0.backward": backward([tensor()], tensor()),
    "Functional.linear.0.backward": backward([tensor()], tensor(), tensor()),
}
MASKED, NANS, HIGH, LOW = tensor(-INF), tensor(NAN, NAN), tensor(high=INF), tensor(-INF)


def with_calls(**calls: Call) -> Calls:
    """The finite dump with further calls behind its forward: add_0 is Tensor.add.0.forward, add_0b its backward."""
    names = {
        f"Tensor.{name.rstrip('b').rsplit('_', 1)[0]}.{name.rstrip('b').rsplit('_', 1)[1]}."
        f"{'backward' if name.endswith('b') else 'forward'}": call
        for name, call in calls.items()
    }
    entries = list(FINITE.items())
    return dict([*entries[:2], *names.items(), *entries[2:]])


def with_change(number: int, key: str, place: int, figures: Call) -> Calls:
    calls: Calls = json.loads(json.dumps(FINITE))
    calls[list(calls)[number]][key][place].update({"Max": figures["Max"], "Min": figures["Min"]})
    return calls


def write_dump(folder: Path, calls: Calls, step: int = 0, rank: int = 0) -> Path:
    place = folder / f"step{step}" / f"rank{rank}"
    place.mkdir(parents=True)
    head = {"task": "statistics", "level": "L1", "framework": "pytorch", "dump_data_dir": None}
    (place / "dump.json").write_text(json.dumps({**head, "data": calls}))
    return place / "dump.json"


def without_rank(folder: Path) -> None:
    for step, rank in ((0, 0), (0, 1), (1, 0)):
        write_dump(folder, FINITE, step, rank)


def everywhere(folder: Path) -> None:
    for step, rank in ((0, 0), (0, 1), (1, 0), (1, 1)):
        write_dump(folder, FINITE, step, rank)


def without_dump(folder: Path) -> None:
    write_dump(folder, FINITE)
    shutil.copytree(folder / "step0" / "rank0", folder / "step0" / "rank1")
    (folder / "step0" / "rank1" / "dump.json").unlink()


def some_ranks(folder: Path) -> None:
    for rank in (0, 1, 3):
        write_dump(folder, FINITE, rank=rank)


def cut(share: float) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        path = write_dump(folder, FINITE)
        path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])

    return write


def on_rank(calls: Calls) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        write_dump(folder, FINITE)
        write_dump(folder, calls, rank=1)

    return write


def later(calls: Calls) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        write_dump(folder, FINITE)
        write_dump(folder, calls, step=1)

    return write


def with_update(lr: Any = 0.1, values: Any = None, **figures: Any) -> Callable[[Path], None]:
    """A finite dump with the record of an optimizer of one parameter, with such figures and hyperparameters."""

    def write(folder: Path) -> None:
        parameter = {"name": "w", "before": [1.0, -1.0, 0.0, 2.0], "gradient": [1.0, -1.0, 0.0, 2.0]}
        parameter |= {"update": [0.1, -0.1, 0.0, 0.2], **figures}
        groups = [{"values": {"lr": lr, **(values or {})}, "parameters": [parameter]}]
        content = {"format": 2, "updates": [{"optimizer": "AdamW", "groups": groups}]}
        place = write_dump(folder, FINITE)
        (place.parent / "optimizer.json").write_text(json.dumps(content))

    return write


def without_data(folder: Path) -> None:
    with_update()(folder)
    place = folder / "step0" / "rank0" / "dump.json"
    place.write_text(json.dumps({**json.loads(place.read_text()), "data": {}}))
    (place.parent / "construct.json").write_text(json.dumps(dict.fromkeys(FINITE)))


def without_record(folder: Path) -> None:
    with_update()(folder)
    write_dump(folder, FINITE, step=1)


def recorded(steps: int) -> Callable[[Path], None]:
    """A capture of one rank that says how many steps it has written."""

    def write(folder: Path) -> None:
        for step in (1, 2):
            write_dump(folder, FINITE, step=step)
        (folder / "rank0.json").write_text(json.dumps({"kind": "dump", "start": 1, "steps": steps, "done": steps}))

    return write


FAULTS: dict[str, Calls | Callable[[Path], None]] = {
    "NaN in the data": with_change(0, "input_args", 0, NANS),
    "NaN in the data and in all that follows": with_calls(add_0=forward([NANS], NANS), add_1=forward([NANS], NANS)),
    "Inf in the data": with_calls(add_0=forward([HIGH], HIGH), add_1=forward([HIGH], HIGH)),
    "NaN in a weight": with_change(0, "input_args", 1, NANS),
    "Inf in a weight": with_calls(linear_1=forward([tensor(), tensor(-INF, INF, requires_grad=True)], HIGH)),
    "-Inf in a weight": with_calls(linear_1=forward([tensor(), tensor(-INF, 1.0, requires_grad=True)], MASKED)),
    "a wholly masked softmax row": with_calls(softmax_0=forward([MASKED], NANS)),
    "a wholly masked softmax row behind a fill": with_calls(
        masked_fill_0=forward([tensor(), tensor(), scalar(-INF)], MASKED), softmax_0=forward([MASKED], NANS)
    ),
    "exp overflow": with_calls(exp_0=forward([tensor(0.0, 100.0)], HIGH)),
    "log of 0": with_calls(log_0=forward([tensor(0.0)], LOW)),
    "square root of a negative": with_calls(sqrt_0=forward([tensor()], NANS)),
    "half overflow": with_calls(
        matmul_0=forward([tensor(-300.0, 300.0, "float16")] * 2, tensor(-1.0, INF, "float16"))
    ),
    "division by 0": with_calls(div_0=forward([tensor(), tensor(0.0)], tensor(-INF, INF))),
    "0 / 0": with_calls(div_0=forward([tensor(0.0, 0.0)] * 2, NANS)),
    "Inf - Inf": with_calls(sub_0=forward([LOW, LOW], NANS)),
    "a NaN in a backward alone": with_change(3, "output", 0, NANS),
    "an Inf in a backward alone": with_change(4, "output", 1, HIGH),
    "a NaN that comes to a backward": with_change(3, "input", 0, NANS),
    "a NaN written as a text": with_calls(add_0=forward([tensor("nan", "nan")], tensor("nan", "nan"))),
    "an Inf written as a text": with_calls(exp_0=forward([tensor()], tensor(0.0, "inf"))),
    "an Inf in one of several outputs": with_calls(split_0=forward([tensor()], tensor(), tensor(), HIGH)),
    "a NaN of a call that is asked for an Inf": with_calls(norm_0=forward([tensor(), scalar(INF)], NANS)),
    "an Inf of the other sign than the mask's": with_calls(attention_0=forward([tensor(), MASKED], HIGH)),
    "a loss that takes a masked logit": with_calls(cross_entropy_0=forward([MASKED, tensor()], HIGH)),
    "-Inf in the data that sigmoid hides": with_calls(sigmoid_0=forward([LOW], tensor(0.0))),
    "+Inf in the data that sigmoid hides": with_calls(sigmoid_0=forward([HIGH], tensor(0.0))),
    "an Inf in a weight that nothing comes of": with_calls(
        linear_1=forward([tensor(), tensor(-INF, 1.0, requires_grad=True)])
    ),
    "an untraced Inf that a module hides": {
        **FINITE, "Module.gate.Sigmoid.forward.0": forward([LOW], tensor(0.0)),
    },
    "+Inf of a fill with -Inf": with_calls(masked_fill_0=forward([tensor(), tensor(), scalar(-INF)], HIGH)),
    "a call that is null": {**FINITE, "Tensor.add.0.forward": None},  # type: ignore[dict-item]
    "figures that are missing": with_calls(add_0=forward([tensor(None, None)], tensor(None, None))),
    "on one rank alone": on_rank(with_change(1, "output", 0, HIGH)),
    "in the second step alone": later(with_change(1, "output", 0, NANS)),
    "a rank that is missing in a step": without_rank,
    "a rank without a dump": without_dump,
    "a dump cut in half": cut(0.5),
    "a dump cut before its last brackets": cut(0.99),
    "an empty dump": {},
    "an Inf in the gradient that an optimizer was given": with_update(gradient=["Infinity", -1.0, "NaN", "Infinity"]),
    "an Inf in a parameter that an optimizer was given": with_update(before=[1.0, "-Infinity", "NaN", "Infinity"]),
    "a NaN in the sums of an update": with_update(update_sums=["NaN", "NaN", "NaN", "NaN"]),
    "a learning rate that is NaN": with_update(lr="NaN"),
    "a learning rate that is infinite": with_update(lr="Infinity"),
    "a weight decay that is NaN": with_update(values={"weight_decay": "NaN"}),
    "a beta that is NaN": with_update(values={"betas": [0.9, "NaN"]}),
    "a NaN that is multiplied with and does not show": with_calls(mul_0=forward([tensor(), scalar(NAN)], tensor())),
    "a NaN that is multiplied with": with_calls(mul_0=forward([tensor(), scalar(NAN)], NANS)),
    "a bound that is NaN": with_calls(clamp_0=forward([tensor(), scalar(NAN)], tensor())),
    "a dropout of NaN": with_calls(dropout_0=forward([tensor(), scalar(NAN)], tensor())),
    "a dump of names alone beside a record of the optimizer": without_data,
    "a step without the record of the optimizer": without_record,
    "a step that its capture has written and that is gone": recorded(3),
    "no figures at all": {
        "Functional.relu.0.forward": forward([tensor(None, None)], tensor(None, None)),
    },
}  # fmt: skip
HEALTHY: dict[str, Calls | Callable[[Path], None]] = {
    "finite": FINITE,
    "finite on two ranks in two steps": everywhere,
    "ranks that were chosen": some_ranks,
    "an optimizer": with_update(),
    "all steps that a capture has written": recorded(2),
    "a mask that is filled in": with_calls(
        masked_fill_0=forward([tensor(), tensor(0, 1, "bool"), scalar(-INF)], MASKED),
        softmax_0=forward([MASKED], tensor(0.0, 1.0)), softmax_0b=backward([tensor()], tensor()),
    ),
    "a mask that was made before": with_calls(
        add_0=forward([tensor(), MASKED], MASKED), softmax_0=forward([MASKED], tensor(0.0, 1.0)),
    ),
    "attention with a mask": with_calls(
        scaled_dot_product_attention_0=forward([tensor(), tensor(), tensor(), MASKED], tensor()),
    ),
    "a module with a mask": {
        **FINITE, "Module.block.EncoderLayer.forward.0": forward([tensor(), MASKED]),
    },
    "a mask that is turned": with_calls(
        full_0=forward([scalar(-INF)], tensor(-INF, -INF)), neg_0=forward([tensor(-INF, -INF)], tensor(INF, INF)),
        clamp_0=forward([tensor(INF, INF)], tensor()),
    ),
    "an Inf that is asked for": with_calls(
        full_0=forward([scalar(INF)], tensor(INF, INF)), minimum_0=forward([tensor(), tensor(INF, INF)], tensor()),
    ),
    "Inf as a start that is only compared with": with_calls(minimum_0=forward([tensor(), HIGH], tensor())),
    "a norm of infinite order": with_calls(norm_0=forward([tensor(), scalar(INF)], tensor(1.0, 1.0))),
    "a NaN that is written where a mask says so": with_calls(
        masked_fill_0=forward([tensor(), tensor(0, 0, "bool"), scalar(NAN)], tensor()),
        where_0=forward([tensor(1, 1, "bool"), tensor(), scalar(NAN)], tensor()),
    ),
    "a NaN that is looked for": with_calls(
        eq_0=forward([tensor(), scalar(NAN)], tensor(0, 0, "bool")), nan_to_num_0=forward([tensor(), scalar(NAN)]),
    ),
    "a bound that is infinite": with_calls(clamp_0=forward([tensor(), scalar(INF)], tensor())),
    "an optimizer without a bound": with_update(values={"max_grad_norm": "Infinity", "maximize": False}),
    "the largest half": with_calls(mul_0=forward([tensor()], tensor(-65504.0, 65504.0, "float16"))),
    "memory that nobody wrote": {"Torch.empty.0.forward": forward([], NANS), **FINITE},
    "indices and empty tensors": with_calls(
        argmax_0=forward([tensor()], tensor(0, 3, "int64")),
        index_0=forward([tensor()], tensor(None, None, shape=[0], Mean=None, Norm=None)),
    ),
}  # fmt: skip


def code_of(folder: Path, planted: Calls | Callable[[Path], None], python: Path) -> int:
    if callable(planted):
        planted(folder / "dump")
    else:
        write_dump(folder / "dump", planted)
    spec = OverflowSpec(looked=OverflowSources(dump=folder / "dump", check_python=python))
    try:
        return overflow_check(spec, runs.create(folder / "runs", "overflow-check", schema.to_json(spec))).code
    except StudioError:
        return FAILED


@pytest.fixture
def no_msprobe(interpreter: Callable[[str], Path]) -> Path:
    return interpreter("exit 0")


@pytest.mark.parametrize("fault", FAULTS)
def test_that_no_planted_overflow_is_a_success(tmp_path: Path, no_msprobe: Path, fault: str) -> None:
    assert code_of(tmp_path, FAULTS[fault], no_msprobe) in (NO, FAILED)


@pytest.mark.parametrize("dump", HEALTHY)
def test_that_no_healthy_dump_is_an_overflow(tmp_path: Path, no_msprobe: Path, dump: str) -> None:
    assert code_of(tmp_path, HEALTHY[dump], no_msprobe) == 0


def test_that_nothing_is_called_finite_beside_a_mask_that_comes_from_outside(tmp_path: Path, no_msprobe: Path) -> None:
    write_dump(tmp_path / "dump", with_calls(softmax_0=forward([MASKED], tensor(0.0))))
    spec = OverflowSpec(looked=OverflowSources(dump=tmp_path / "dump", check_python=no_msprobe))
    run = runs.create(tmp_path / "runs", "overflow-check", schema.to_json(spec))
    assert overflow_check(spec, run).code == 0
    result = read_overflow(run)
    assert result is not None
    (note, *_) = result_notes(result)
    assert isinstance(note, Note)
    assert (note.key, result.inputs) == ("precision.overflow.masked", 1)
