"""The first tensor of two captures whose digests differ, in the order in which the calls ended."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from backends.precision.determinism.result import Difference
from backends.precision.dump.dump import GRADIENT, INPUT, KWARG, OUTPUT, PARAMETER, TENSOR
from backends.precision.dump.layout import places
from backends.precision.dump.names import name_of
from backends.precision.dump.read import read_dump
from studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from backends.precision.determinism.result import Place, Reason
    from backends.precision.dump.dump import Dump
    from backends.precision.dump.dump import Place as Folder

PLACES: dict[int, Place] = {
    INPUT: "input", KWARG: "argument", OUTPUT: "output", PARAMETER: "parameter", GRADIENT: "gradient",
}  # fmt: skip
RANDOM = ("dropout", "rand", "normal", "bernoulli", "multinomial", "uniform", "exponential", "gumbel", "rrelu")


class Compared(NamedTuple):
    """`tensors`: how many were compared until then."""

    first: Difference | None
    tensors: int
    framework: str


class _Row(NamedTuple):
    call: str
    role: int
    item: str
    value: str
    shape: int
    is_tensor: bool
    needs_grad: bool


def compared(one: Path, two: Path) -> Compared:
    """Of two runs' folders. Raises StudioError where a dump is there and cannot be read."""
    tensors, framework = 0, ""
    others = {(place.step, place.rank): place for place in _places(two)}
    for place in _places(one):
        other = others.get((place.step, place.rank))
        if other is None:
            return Compared(_difference(place, "", "call", 0, "flow"), tensors, framework)
        mine, its = read_dump(place), read_dump(other)
        framework = mine.framework
        first, count = _first(place, mine, its, has_before=tensors > 0)
        tensors += count
        if first is not None:
            return Compared(first, tensors, framework)
    return Compared(None, tensors, framework)


def _places(run: Path) -> tuple[Folder, ...]:
    """None where the training made no dump."""
    try:
        return places(run)
    except StudioError:
        return ()


def _first(place: Folder, one: Dump, two: Dump, *, has_before: bool) -> tuple[Difference | None, int]:
    """`has_before`: an earlier step was equal."""
    count = 0
    for mine, its in zip_longest(_rows(one), _rows(two)):
        if mine is None or its is None or (mine.call, mine.role, mine.item) != (its.call, its.role, its.item):
            name = mine.call if mine is not None else its.call if its is not None else ""
            return _difference(place, name, "call", 0, "flow"), count
        count += mine.is_tensor
        if mine != its:
            reason = _reason(mine, one.framework, has_before=has_before)
            return _difference(place, mine.call, PLACES[mine.role], _index(mine.item), reason), count
    return None, count


def _rows(dump: Dump) -> Iterator[_Row]:
    """In the order of the file: a module after what it called."""
    columns = zip(
        dump.call.tolist(), dump.role.tolist(), dump.item, dump.shape.tolist(), dump.kind.tolist(),
        dump.needs_grad.tolist(), strict=True,
    )  # fmt: skip
    for row, (call, role, item, shape, kind, needs_grad) in enumerate(columns):
        value = dump.digest.get(row) or dump.value.get(row, "")
        yield _Row(dump.calls[call], role, item, value, shape, kind == TENSOR, bool(needs_grad))


def _reason(row: _Row, framework: str, *, has_before: bool) -> Reason:
    """All that was dumped before it is equal: what comes from there is not its cause. An optimizer is in no dump."""
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
    return "data"


def _index(item: str) -> int:
    first = item.partition(".")[0]
    return int(first) if first.isdecimal() else 0


def _difference(place: Folder, name: str, kind: Place, index: int, reason: Reason) -> Difference:
    return Difference(step=place.step or 0, rank=place.rank or 0, name=name, place=kind, index=index, reason=reason)
