"""The first tensor of two captures whose digests differ, in the order in which the calls ended."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from backends.precision.determinism.result import Difference
from backends.precision.dump.dump import GRADIENT, INPUT, KWARG, OUTPUT, PARAMETER, TENSOR
from backends.precision.dump.layout import find_dumps
from backends.precision.dump.names import name_of
from backends.precision.dump.read import read_dump
from studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from backends.precision.determinism.result import Reason, ValuePlace
    from backends.precision.dump.dump import Dump
    from backends.precision.dump.dump import DumpLocation as Folder

PLACES: dict[int, ValuePlace] = {
    INPUT: "input", KWARG: "argument", OUTPUT: "output", PARAMETER: "parameter", GRADIENT: "gradient",
}  # fmt: skip
RANDOM = ("dropout", "rand", "normal", "bernoulli", "multinomial", "uniform", "exponential", "gumbel", "rrelu")


class DigestComparison(NamedTuple):
    """`tensors`: how many were compared until then; `steps`: those that all ranks of both have a capture of."""

    first: Difference | None
    tensors: int
    framework: str
    steps: tuple[int, ...] = ()


class _Row(NamedTuple):
    call: str
    role: int
    item: str
    value: str
    shape: tuple[int, ...]
    dtype: str
    is_tensor: bool
    needs_grad: bool


def compare_digests(first_run: Path, second_run: Path) -> DigestComparison:
    """Compare the digests in two runs' folders. Raises StudioError where a dump is there and cannot be read."""
    tensors, framework = 0, ""
    places, others = _places(first_run), {(place.step, place.rank): place for place in _places(second_run)}
    damaged: set[int] = set()
    for location in places:
        other = others.pop((location.step, location.rank), None)
        if other is None:
            return DigestComparison(_difference(location, "", "call", 0, "flow"), tensors, framework)
        dump, other_dump = read_dump(location), read_dump(other)
        framework = dump.framework
        damaged |= {location.step or 0} if dump.damage or other_dump.damage else set()
        first, count = _first(location, dump, other_dump, has_before=tensors > 0)
        tensors += count
        if first is not None:
            return DigestComparison(first, tensors, framework)
    if others:
        location = next(iter(others.values()))
        return DigestComparison(_difference(location, "", "call", 0, "flow"), tensors, framework)
    steps = {location.step or 0 for location in places} - damaged
    return DigestComparison(None, tensors, framework, tuple(sorted(steps)))


def _places(run: Path) -> tuple[Folder, ...]:
    """None where the training made no dump."""
    try:
        return find_dumps(run)
    except StudioError:
        return ()


def _first(location: Folder, dump: Dump, other: Dump, *, has_before: bool) -> tuple[Difference | None, int]:
    """`has_before`: an earlier step was equal."""
    count, has_output = 0, False
    for row, other_row in zip_longest(_rows(dump), _rows(other)):
        if (
            row is None
            or other_row is None
            or (row.call, row.role, row.item) != (other_row.call, other_row.role, other_row.item)
        ):
            name = row.call if row is not None else other_row.call if other_row is not None else ""
            return _difference(location, name, "call", 0, "flow"), count
        count += row.is_tensor
        if row != other_row:
            reason = _reason(row, dump.framework, has_before=has_before, has_output=has_output)
            return _difference(location, row.call, PLACES[row.role], _index(row.item), reason), count
        has_output |= row.role == OUTPUT
    return None, count


def _rows(dump: Dump) -> Iterator[_Row]:
    """In the order of the file: a module after what it called."""
    columns = zip(
        dump.call.tolist(), dump.role.tolist(), dump.item, dump.shape.tolist(), dump.dtype.tolist(),
        dump.kind.tolist(), dump.needs_grad.tolist(), strict=True,
    )  # fmt: skip
    for row, (call, role, item, shape, dtype, kind, needs_grad) in enumerate(columns):
        value = dump.digest.get(row) or dump.value.get(row, "")
        is_tensor = kind == TENSOR
        yield _Row(
            dump.calls[call], role, item, value, dump.shapes[shape] if is_tensor else (),
            dump.dtypes[dtype] if is_tensor else "", is_tensor, bool(needs_grad),
        )  # fmt: skip


def _reason(row: _Row, framework: str, *, has_before: bool, has_output: bool) -> Reason:
    """All that was dumped before it is equal: what comes from there is not its cause. An optimizer is in no dump. Where
    nothing was computed before in the step (`has_output`), an input is the data; behind that, what comes in from where
    nothing is traced is most often made by something that is not."""
    direction, api = name_of(row.call).direction, name_of(row.call).api
    if not row.is_tensor:
        return "flow"
    if row.role == OUTPUT:
        return "random" if direction == "forward" and any(word in api for word in RANDOM) else "kernel"
    if row.role == GRADIENT or direction != "forward":
        return "kernel"
    # MindSpore's dumps do not say what is trained: its operators take the weights behind the data.
    is_weight = row.needs_grad if framework == "torch" else _index(row.item) > 0
    if row.role == PARAMETER or is_weight:
        return "update" if has_before else "seed"
    return "untraced" if has_output else "data"


def _index(item: str) -> int:
    first = item.partition(".")[0]
    return int(first) if first.isdecimal() else 0


def _difference(location: Folder, name: str, kind: ValuePlace, index: int, reason: Reason) -> Difference:
    return Difference(
        step=location.step or 0, rank=location.rank or 0, name=name, place=kind, index=index, reason=reason
    )
