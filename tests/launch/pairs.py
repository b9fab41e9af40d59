"""A pairwise cover: few combinations in which any two values of different options meet."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

Choice = dict[str, str]


def cover(options: Mapping[str, Sequence[str]], allowed: Callable[[Choice], bool]) -> list[Choice]:
    """The same list each time. A pair that no allowed combination has is left out."""
    names = list(options)
    missing_pairs = {
        (a, x, b, y): None for a, b in combinations(names, 2) for x in options[a] for y in options[b]
    }  # an ordered set
    choices: list[Choice] = []
    while missing_pairs:
        a, x, b, y = next(iter(missing_pairs))
        chosen = _filled({a: x, b: y}, options, missing_pairs, allowed)
        if chosen is None:
            del missing_pairs[(a, x, b, y)]
            continue
        for pair in pairs_of(chosen, names):
            missing_pairs.pop(pair, None)
        choices.append(chosen)
    return choices


def pairs_of(chosen: Choice, names: Sequence[str]) -> list[tuple[str, str, str, str]]:
    return [(a, chosen[a], b, chosen[b]) for a, b in combinations(names, 2) if a in chosen and b in chosen]


def _filled(
    begun: Choice,
    options: Mapping[str, Sequence[str]],
    missing_pairs: Mapping[tuple[str, str, str, str], None],
    allowed: Callable[[Choice], bool],
) -> Choice | None:
    """With a value for each option, of those that are allowed the one that meets most of what is wanted."""
    if not allowed(begun):
        return None
    chosen = dict(begun)
    for name in options:
        fitting = [value for value in options[name] if allowed({**chosen, name: value})]
        if name not in chosen and fitting:
            chosen[name] = max(fitting, key=lambda value: _met({**chosen, name: value}, options, missing_pairs))
    return {name: chosen[name] for name in options} if len(chosen) == len(options) else None


def _met(
    chosen: Choice, options: Mapping[str, Sequence[str]], missing_pairs: Mapping[tuple[str, str, str, str], None]
) -> int:
    return sum(pair in missing_pairs for pair in pairs_of(chosen, list(options)))
