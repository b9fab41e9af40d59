"""What lies around a call, in the names of either side: a missing call shifts the counters behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backends.precision.dump.dump import Place
from backends.precision.dump.read import read_dump
from backends.precision.sides import pass_of

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from backends.precision.compare.comparison import Comparison


@dataclass(frozen=True, kw_only=True)
class Around:
    """`target` and `golden`: names of calls, for msprobe's `list`; `level`: of the dump, as it was captured."""

    step: int
    level: str
    target: tuple[str, ...]
    golden: tuple[str, ...]


def around(comparison: Comparison, call: int, count: int) -> Around:
    """Calls of the same pass from `count` before to `count` behind. Raises StudioError where a dump is gone."""
    of = pass_of(comparison, call)
    last = min((one.first_call for one in comparison.passes if one.first_call > call), default=len(comparison.names))
    begin, end = max(of.first_call, call - count), min(last, call + count + 1)
    target, level = _names(of.target, comparison.target_call[begin:end])
    golden, other = _names(of.golden, comparison.golden_call[begin:end])
    return Around(step=of.step, level=level or other, target=target, golden=golden)


def _names(folder: Path | None, indices: NDArray[np.int32]) -> tuple[tuple[str, ...], str]:
    if folder is None:
        return (), ""
    dump = read_dump(Place(folder=folder))
    return tuple(dump.calls[int(index)] for index in indices if index >= 0), dump.level
