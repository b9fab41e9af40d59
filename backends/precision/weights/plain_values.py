"""What a checkpoint holds besides tensors: numbers and texts, by name.

A number in the dictionary that holds tensors too, such as a temperature that a training keeps as a float, is part of
the model as its weights are, and so are bytes, as a module's extra state is, and None in the place of a number; one
elsewhere is of a configuration, of an optimizer's groups, or counts something.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from backends.precision.measure.measures import Tensor

MAX_TEXT = 200
NONE = "None"
EXTRA_STATE = "_extra_state"
"""The name of the state that a module of torch puts beside its weights."""
MAX_VALUES = 1 << 16
"""A dictionary of words is no model; what comes behind so many is not read, and named as that."""


@dataclass(frozen=True, kw_only=True)
class PlainValue:
    """`text`: a number or a text as JSON has it, of bytes their digest; `is_number`: what is beside tensors and is no
    text."""

    text: str
    is_number: bool = False


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """Tensors in the order of the file, plain values by name, and names of what is there and was not read."""

    tensors: Mapping[str, Tensor]
    values: Mapping[str, PlainValue] = field(default_factory=dict)
    unread: tuple[str, ...] = ()


def checkpoint_of(tensors: Mapping[str, Tensor], values: Iterable[tuple[str, PlainValue]]) -> Checkpoint:
    """Return a checkpoint with at most MAX_VALUES values; the first one behind them is among what was not read."""
    limited = list(islice(values, MAX_VALUES + 1))
    unread = tuple(f"{name} …" for name, _ in limited[MAX_VALUES:])
    return Checkpoint(tensors=tensors, values=dict(limited[:MAX_VALUES]), unread=unread)


def plain_values(value: Any, is_tensor: Callable[[Any], bool]) -> Iterator[tuple[str, PlainValue]]:
    """Yield the numbers and texts of dictionaries and lists in each other, with names as tensors have them."""
    yield from _values(value, "", is_tensor, is_in_model=False)


def _values(
    value: Any, name: str, is_tensor: Callable[[Any], bool], *, is_in_model: bool
) -> Iterator[tuple[str, PlainValue]]:  # fmt: skip
    if isinstance(value, dict):
        is_in_model = any(is_tensor(entry) for entry in value.values()) or (is_in_model and EXTRA_STATE in name)
        for key, entry in value.items():
            yield from _values(entry, f"{name}.{key}" if name else str(key), is_tensor, is_in_model=is_in_model)
    elif isinstance(value, list | tuple):
        for key, entry in enumerate(value):
            yield from _values(entry, f"{name}.{key}" if name else str(key), is_tensor, is_in_model=is_in_model)
    elif value is None or isinstance(value, bool | int | float):
        yield name, PlainValue(text=repr(value), is_number=is_in_model)
    elif isinstance(value, bytes):
        yield name, PlainValue(text=text_of_bytes(value), is_number=is_in_model)
    elif isinstance(value, str):
        yield name, PlainValue(text=value[:MAX_TEXT])


def text_of_bytes(content: bytes) -> str:
    """Return how many they are and their digest; as in child/save_weights.py."""
    return f"{len(content)} bytes, sha256 {hashlib.sha256(content).hexdigest()[:16]}"
