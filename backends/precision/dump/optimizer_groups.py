"""The groups of two records of an optimizer as calls that stand for the same parameters.

How parameters are divided into groups, and in which order, changes nothing of an update: what counts are the settings
that a parameter is updated with. So a call stands for the parameters that are in one group of the target and in one of
the golden side, with the settings that each side has for them. It is called by the golden group, "group0", and by its
number in it, "group0_1", where the target divides that group.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence


class Named(Protocol):
    @property
    def name(self) -> str: ...


class Grouped(Protocol):
    """A group of a record."""

    @property
    def parameters(self) -> Sequence[Named]: ...


@dataclass(frozen=True)
class Share:
    """A call: parameters `names` of the group at `index` of one side; `is_first` of those that this group gives."""

    label: str
    index: int
    names: frozenset[str]
    is_first: bool


def shares_of(groups: Sequence[Grouped]) -> list[Share]:
    """Return each group as a call, where there is no other side."""
    return [
        Share(f"group{index}", index, frozenset(_names(group)), is_first=True) for index, group in enumerate(groups)
    ]


def common_shares(target: Sequence[Grouped], golden: Sequence[Grouped]) -> tuple[list[Share], list[Share]]:
    """Return the calls of the target and those of the golden side, in the order of the golden groups. A parameter that
    one side alone has stays with the first others of its group; a group that has nothing in common keeps its place."""
    of_target, of_golden = _group_of(target), _group_of(golden)
    pieces: dict[tuple[int, int], set[str]] = {}
    for name in of_golden.keys() & of_target.keys():
        pieces.setdefault((of_golden[name], of_target[name]), set()).add(name)
    labels = _labels(sorted(pieces))
    calls = [(label, *piece, pieces[piece]) for piece, label in labels.items()]
    common = frozenset(of_golden.keys() & of_target.keys())
    return (
        _shares(target, [(label, index, names) for label, _, index, names in calls], common),
        _shares(golden, [(label, index, names) for label, index, _, names in calls], common),
    )


def _group_of(groups: Sequence[Grouped]) -> dict[str, int]:
    return {name: index for index, group in enumerate(groups) for name in _names(group)}


def _labels(pieces: Sequence[tuple[int, int]]) -> dict[tuple[int, int], str]:
    """Name each pair of a golden group and one of the target."""
    counts: Counter[int] = Counter()
    labels = {}
    for index, other in pieces:
        labels[index, other] = f"group{index}_{counts[index]}" if counts[index] else f"group{index}"
        counts[index] += 1
    return labels


def _shares(
    groups: Sequence[Grouped], calls: Sequence[tuple[str, int, set[str]]], common: frozenset[str]
) -> list[Share]:  # fmt: skip
    """Return the calls of one side, which gives `calls` (label, group, parameters), and behind them the groups of which
    the other has nothing."""
    shares: list[Share] = []
    begun: set[int] = set()
    for label, index, names in calls:
        lone_names = set() if index in begun else set(_names(groups[index])) - common
        shares.append(Share(label, index, frozenset(names | lone_names), index not in begun))
        begun.add(index)
    labels = {label for label, _, _ in calls}
    for index, group in enumerate(groups):
        if index not in begun:
            label = f"group{index}" if f"group{index}" not in labels else f"group{index}_alone"
            shares.append(Share(label, index, frozenset(_names(group)), is_first=True))
    return shares


def _names(group: Grouped) -> list[str]:
    return [parameter.name for parameter in group.parameters]
