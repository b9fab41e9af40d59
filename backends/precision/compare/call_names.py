"""The names of a million calls, each decoded when it is read."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.precision.compare.arrays import Array


class CallNames(Sequence[str]):
    """`text`: utf-8, one behind the other; `ends`: int64, where each of them ends."""

    def __init__(self, text: bytes, ends: Array) -> None:
        if len(ends) and ends[-1] != len(text):
            raise ValueError(f"{len(text)} bytes of names, not {ends[-1]}")
        self._text, self._ends = text, ends

    def __len__(self) -> int:
        return len(self._ends)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        if isinstance(index, slice):
            return tuple(self[n] for n in range(*index.indices(len(self))))
        n = range(len(self))[index]
        return self._text[int(self._ends[n - 1]) if n else 0 : int(self._ends[n])].decode("utf-8", "replace")

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __contains__(self, name: object) -> bool:
        return name in self._all

    def index(self, name: Any, start: int = 0, stop: int | None = None) -> int:
        return self._all.index(name, start, len(self) if stop is None else stop)

    @cached_property
    def _all(self) -> tuple[str, ...]:
        ends = self._ends.tolist()
        return tuple(
            self._text[begin:end].decode("utf-8", "replace") for begin, end in zip([0, *ends], ends, strict=False)
        )
