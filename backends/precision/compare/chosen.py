"""Which steps and ranks are compared."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from backends.precision.compare.spec import numbers_of, pairs_of
from backends.precision.dump.layout import one_root, places
from backends.precision.dump.pairs import pairs
from studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Callable

    from backends.precision.compare.spec import CompareSpec, Sides
    from backends.precision.dump.dump import Place
    from backends.precision.dump.pairs import Pair


def chosen(spec: CompareSpec, note: Callable[..., None]) -> list[Pair]:
    """Those that were asked for and that both sides have. `note` takes the key and the arguments of how they were
    paired. Raises StudioError where there are none, or where a side holds several captures."""
    asked = spec.compared
    steps, ranks = numbers_of(asked.step_numbers), numbers_of(asked.rank_numbers)
    sides = (places(spec.sides.target), places(spec.sides.golden))
    for side in sides:
        one_root(side)
    found = [
        pair for pair in pairs(*sides, pairs_of(asked.pairs))
        if (not steps or pair.step in steps) and (not ranks or pair.rank in ranks)
    ]  # fmt: skip
    both = [pair for pair in found if pair.target and pair.golden]
    if not both:
        raise StudioError("precision.compare.nothing_common")
    for key in dict.fromkeys(pair.note for pair in found if pair.note):
        passes = [f"{pair.step}.{pair.rank}" for pair in found if pair.note == key]
        note(key, count=len(passes), passes=", ".join(passes[:8]))
    return both


def golden_again(sides: Sides) -> dict[Path, Place]:
    """For each folder of the golden side, where the second golden run has the same step and rank."""
    if sides.golden_again == Path():
        return {}
    both = pairs(places(sides.golden), places(sides.golden_again))
    return {pair.target.folder: pair.golden for pair in both if pair.target and pair.golden}
