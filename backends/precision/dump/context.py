"""Where calls were made: stack.json and construct.json beside a dump. Both may be missing, or of an older form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from backends.precision.dump.decode import BROKEN, read_bytes
from backends.precision.dump.dump import STACK_DAMAGED
from studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

MAX_PARENTS = 200
NO_LINES = ("Without call stack",)

_stacks = msgspec.json.Decoder(dict[str, tuple[list[str], tuple[str, ...]]])
_parents = msgspec.json.Decoder(dict[str, Any])


def read_stacks(path: Path) -> tuple[dict[str, int], tuple[tuple[str, ...], ...]]:
    """Return the index of each call's stack, and the stacks. Raises StudioError where the file is damaged."""
    data = _read(path)
    if not data:
        return {}, ()
    try:
        groups = list(_groups(data))
    except BROKEN:
        raise StudioError(STACK_DAMAGED, place=str(path)) from None
    numbers: dict[tuple[str, ...], int] = {}
    index = {}
    for names, lines in groups:
        if lines and lines != NO_LINES:
            index.update(dict.fromkeys(names, numbers.setdefault(lines, len(numbers))))
    return index, tuple(numbers)


def _groups(data: bytes) -> Iterator[tuple[list[str], tuple[str, ...]]]:
    """Calls with the lines that they share."""
    try:
        yield from _stacks.decode(data).values()
    except msgspec.ValidationError:
        yield from _older(_parents.decode(data))


def _older(content: dict[str, Any]) -> Iterator[tuple[list[str], tuple[str, ...]]]:
    """{call: lines}, as msprobe 8 wrote it; whatever is of another form is left out."""
    for name, value in content.items():
        if isinstance(value, list) and all(isinstance(line, str) for line in value):
            yield [name], tuple(value)
        elif isinstance(value, list) and len(value) == 2 and all(isinstance(part, list) for part in value):
            yield [call for call in value[0] if isinstance(call, str)], tuple(map(str, value[1]))


def read_parents(path: Path) -> dict[str, str]:
    """Return the module that each call was made in; empty for one that was called in none."""
    data = _read(path)
    if not data:
        return {}
    try:
        content = _parents.decode(data)
    except BROKEN:
        raise StudioError("precision.dump.construct_damaged", place=str(path)) from None
    return {name: _parent(value) for name, value in content.items() if not isinstance(value, int)}


def _parent(value: Any) -> str:
    """With Megatron, a parent and the number of its micro step."""
    if isinstance(value, list) and value:
        value = value[0]
    return value if isinstance(value, str) else ""


def parent_column(calls: Sequence[str], parents: dict[str, str]) -> NDArray[Any]:
    """The index of the nearest enclosing call that was dumped, -1 without."""
    index = {call: number for number, call in enumerate(calls)}
    return np.array([_nearest(call, parents, index) for call in calls], dtype=np.int32)


def _nearest(call: str, parents: dict[str, str], index: dict[str, int]) -> int:
    for _ in range(MAX_PARENTS):
        call = parents.get(call, "")
        if not call:
            return -1
        if call in index:
            return index[call]
    return -1


def untraced_calls(calls: Sequence[str], names: Iterable[str]) -> dict[int, tuple[str, ...]]:
    """Return, by call, the names of those that ran before it and were not dumped. `names` is in the order of
    execution."""
    index = {call: number for number, call in enumerate(calls)}
    untraced: dict[int, tuple[str, ...]] = {}
    between: list[str] = []
    for name in names:
        if name not in index:
            between.append(name)
        elif between:
            untraced[index[name]] = tuple(between)
            between = []
    return untraced


def stack_column(calls: Sequence[str], stacks: dict[str, int]) -> NDArray[Any]:
    """The index of each call's stack, of a backward that of its forward; -1 without."""
    return np.array([stacks.get(call, -1) if call in stacks else _of_forward(call, stacks) for call in calls], np.int32)


def _of_forward(call: str, stacks: dict[str, int]) -> int:
    for direction in (".backward", ".parameters_grad"):
        before, separator, after = call.rpartition(direction)
        if separator:
            return stacks.get(f"{before}.forward{after}", -1)
    return -1


def _read(path: Path) -> bytes:
    return read_bytes(path) if path.is_file() else b""
