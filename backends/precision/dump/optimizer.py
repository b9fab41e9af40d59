"""What the optimizer did after a dump, as calls of it: our captures leave optimizer.json beside dump.json.

Each group of an optimizer is a call, "Optimizer.AdamW.group0.0.forward" (see optimizer_groups): its hyperparameters are
arguments by name, the gradients are inputs, and the updates and what the optimizer keeps are outputs. Their figures are
of a sample of each parameter's elements, and of sums over all of them; guest/ascend_studio/optimizer_record writes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from backends.precision.dump.decode import Item
from backends.precision.dump.dump import INPUT, KWARG, OUTPUT, RecordedUpdates
from backends.precision.dump.optimizer_groups import common_shares, shares_of
from studio import files

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from backends.precision.dump.optimizer_groups import Share
    from backends.precision.dump.rows import DumpRows

OPTIMIZER_FILE = "optimizer.json"
OPTIMIZER = "Optimizer"
"""`Name.kind` of these calls."""
GRADIENT_SUFFIX, UPDATE_SUFFIX = ".gradient", ".update"
GRADIENT_SUMS_SUFFIX, UPDATE_SUMS_SUFFIX = ".gradient_sums", ".update_sums"
DIRECTION_SUFFIX = ".direction"
IMPLEMENTATIONS = re.compile(r"^(Npu|Apex|Fused|Foreach|Distributed)+(?=[A-Z])")
"""Other kernels of the same rule."""
MAX_BYTES = 256 << 20
FIRST_FORMAT, FORMAT = 1, 2
FIRST_SAMPLE = range(2049, 4097)
"""Elements that a record of the first format has of a parameter that may have had more of them."""

Plain = float | bool | str | None
Figures = tuple[Plain, Plain, Plain, Plain] | None


class _Parameter(msgspec.Struct):
    name: str
    dtype: str = "float32"
    size: int = 1
    sampled: int | None = None
    before: Figures = None
    gradient: Figures = None
    update: Figures = None
    gradient_sums: Figures = None
    update_sums: Figures = None
    direction: Figures = None
    state: dict[str, Figures] = {}


class _Group(msgspec.Struct):
    values: dict[str, Plain | list[Plain]] = {}
    parameters: list[_Parameter] = []
    left_out: int = 0


class _Update(msgspec.Struct):
    optimizer: str
    groups: list[_Group] = []


class _Updates(msgspec.Struct):
    updates: list[_Update]
    format: int = 1


@dataclass(frozen=True, kw_only=True)
class RecordPair:
    """The folders of two dumps that are compared; the one that is read is one of them."""

    target: Path
    golden: Path


def add_updates(
    rows: DumpRows, names: list[str], folder: Path, pair: RecordPair | None = None
) -> RecordedUpdates | None:  # fmt: skip
    """Append the calls of the optimizer to a dump that is being read, and return what they cover, None where the record
    cannot be read. `pair`: calls stand for parameters that both sides have in one group; without it for groups."""
    if not (folder / OPTIMIZER_FILE).is_file():
        return RecordedUpdates()
    content = _content(folder)
    if content is None:
        return None
    target, golden = (None, None) if pair is None else (_content(pair.target), _content(pair.golden))
    is_target = pair is not None and folder == pair.target
    for number, update in enumerate(content.updates):
        rule = IMPLEMENTATIONS.sub("", update.optimizer) or update.optimizer
        for share in _shares(update, *(_update(peer, number) for peer in (target, golden)), is_target=is_target):
            call = len(names)
            names.append(f"{OPTIMIZER}.{rule}.{share.label}.{number}.forward")
            for role, item, entry in _rows(update.groups[share.index], share.names):
                rows.add(call, role, item, entry)
    return _covered(content)


def _content(folder: Path) -> _Updates | None:
    path = folder / OPTIMIZER_FILE
    if not path.is_file() or path.stat().st_size > MAX_BYTES:
        return None
    content = files.read_as(path, _Updates)
    is_readable = content is not None and content.updates and content.format in (FIRST_FORMAT, FORMAT)
    return content if is_readable else None


def _update(content: _Updates | None, number: int) -> _Update | None:
    return content.updates[number] if content is not None and number < len(content.updates) else None


def _shares(update: _Update, target: _Update | None, golden: _Update | None, *, is_target: bool) -> list[Share]:
    """Return the calls of one side's update; `target` and `golden`: both of it, None where one has none."""
    if target is None or golden is None:
        return shares_of(update.groups)
    return common_shares(target.groups, golden.groups)[0 if is_target else 1]


def _covered(content: _Updates) -> RecordedUpdates:
    groups = [group for update in content.updates for group in update.groups]
    parameters = [parameter for group in groups for parameter in group.parameters]
    left_out = sum(max(0, group.left_out) for group in groups)
    is_first = content.format == FIRST_FORMAT
    return RecordedUpdates(
        parameters=len(parameters) + left_out, left_out=left_out,
        unclear=sum(is_first and parameter.size in FIRST_SAMPLE for parameter in parameters),
        sampled=sum(parameter.sampled is not None and parameter.sampled < parameter.size for parameter in parameters),
        elements=sum(_sampled(parameter) for parameter in parameters),
        all_elements=sum(parameter.size for parameter in parameters),
    )  # fmt: skip


def _sampled(parameter: _Parameter) -> int:
    return parameter.size if parameter.sampled is None else parameter.sampled


def _rows(group: _Group, names: frozenset[str]) -> Iterator[tuple[int, str, Item]]:
    for key, value in sorted(group.values.items()):
        if isinstance(value, list):
            for index, part in enumerate(value):
                yield KWARG, f"{key}.{index}", _number(part)
        else:
            yield KWARG, key, _number(value)
    for parameter in (each for each in group.parameters if each.name in names):
        tensors = (
            (INPUT, "", parameter.before), (INPUT, GRADIENT_SUFFIX, parameter.gradient),
            (INPUT, GRADIENT_SUMS_SUFFIX, parameter.gradient_sums), (OUTPUT, UPDATE_SUFFIX, parameter.update),
            (OUTPUT, UPDATE_SUMS_SUFFIX, parameter.update_sums),
        )  # fmt: skip
        for role, suffix, figures in tensors:
            if figures is not None:
                yield role, parameter.name + suffix, _tensor(parameter, figures)
        if parameter.direction is not None and not _is_nan(parameter.direction):
            yield OUTPUT, parameter.name + DIRECTION_SUFFIX, _tensor(parameter, parameter.direction, elements=1)
        for key, figures in sorted(parameter.state.items()):
            if figures is not None:
                yield OUTPUT, f"{parameter.name}.{key}", _tensor(parameter, figures)


def _number(value: Plain) -> Item:
    return Item(type=type(value).__name__, value=value)


def _is_nan(figures: tuple[Plain, Plain, Plain, Plain]) -> bool:
    """Return whether there is no such number: the direction of an update that is nothing but zeros."""
    return figures[0] == "NaN" or figures[0] != figures[0]


def _tensor(
    parameter: _Parameter, figures: tuple[Plain, Plain, Plain, Plain], elements: int | None = None
) -> Item:  # fmt: skip
    high, low, mean, norm = figures
    count = _sampled(parameter) if elements is None else elements
    return Item(
        type="torch.Tensor", dtype=parameter.dtype, shape=(count,), requires_grad=False,
        Max=high, Min=low, Mean=mean, Norm=norm,
    )  # fmt: skip
