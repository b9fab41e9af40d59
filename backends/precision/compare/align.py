"""Which call of the target is which of the golden side."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from backends.precision.compare.arrays import Array
from backends.precision.compare.sequence import Match, ascending, matches
from backends.precision.compare.slide import Side, slid
from backends.precision.compare.tokens import BACKWARD, is_backward, signatures, tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from backends.precision.dump.dump import Dump

Tokens = tuple[Array, Array]


@dataclass(frozen=True, kw_only=True)
class Alignment:
    """Calls in the execution order of the target; what it misses stands where the golden side has it. `target` and
    `golden`: int32, the calls of each side, -1 without; `moved`, bool: it is elsewhere in the other side's order."""

    target: Array
    golden: Array
    moved: Array


def align(target: Dump, golden: Dump, corrected: Mapping[str, str] | None = None) -> Alignment:
    """`corrected`: names of the target's calls, and of those that a person said they are. Forward calls are aligned by
    name, shapes and order; a backward call belongs to that of its forward call, whatever its number became."""
    found = _corrected(target, golden, corrected or {})
    strict, loose = tokens(target, golden, found)
    found |= dict(_forward(target, golden, strict, loose))
    found |= _backward(target, golden, found)
    found |= _in_gaps(found, loose)
    found |= _elsewhere(found, strict)
    return _ordered(found, len(target.calls), len(golden.calls))


def _corrected(target: Dump, golden: Dump, corrected: Mapping[str, str]) -> dict[int, int]:
    """Those of which both sides have the call, and no two the same."""
    if not corrected:
        return {}
    mine, theirs = ({name: n for n, name in enumerate(side.calls)} for side in (target, golden))
    known = {mine[name]: theirs[other] for name, other in corrected.items() if name in mine and other in theirs}
    count = Counter(known.values())
    return {i: j for i, j in known.items() if count[j] == 1}


def _forward(target: Dump, golden: Dump, strict: Tokens, loose: Tokens) -> Iterable[Match]:
    places = [np.flatnonzero(~is_backward(side)) for side in (target, golden)]
    mine, theirs = (token[place] for token, place in zip(strict, places, strict=True))
    sure = matches(mine, theirs)
    if not len(sure) == len(mine) == len(theirs):
        values = [signatures(side)[place] for side, place in zip((target, golden), places, strict=True)]
        sure = slid(sure, Side(tokens=mine, values=values[0]), Side(tokens=theirs, values=values[1]))
    for i, j in (*sure, *_between(sure, loose[0][places[0]], loose[1][places[1]])):
        yield int(places[0][i]), int(places[1][j])


def _between(sure: list[Match], mine: Array, theirs: Array) -> Iterable[Match]:
    """What matches between neighbours that are sure."""
    for (i, j), (k, m) in pairwise([(-1, -1), *sure, (len(mine), len(theirs))]):
        if k - i > 1 and m - j > 1:
            yield from ((i + 1 + a, j + 1 + b) for a, b in matches(mine[i + 1 : k], theirs[j + 1 : m]))


def _backward(target: Dump, golden: Dump, forward: Mapping[int, int]) -> dict[int, int]:
    theirs = {name: n for n, name in enumerate(golden.calls)}
    twins = {target.calls[i]: golden.calls[j] for i, j in forward.items()}
    places = {i: theirs.get(_twin(target.calls[i], twins), -1) for i in np.flatnonzero(is_backward(target)).tolist()}
    return {i: j for i, j in places.items() if j >= 0}


def _twin(call: str, twins: Mapping[str, str]) -> str:
    """The golden side's name of a backward call, by that of the forward call it belongs to."""
    for direction in BACKWARD:
        head, sign, tail = call.rpartition(f".{direction}")
        if sign and (twin := twins.get(f"{head}.forward{tail}")):
            before, _, after = twin.rpartition(".forward")
            return f"{before}.{direction}{after}"
    return ""


def _in_gaps(found: Mapping[int, int], loose: Tokens) -> dict[int, int]:
    """What is still alone on both sides, between the same neighbours."""
    mine, theirs = (token.copy() for token in loose)
    if len(found) in (len(mine), len(theirs)):
        return {}
    mine[list(found)] = -(1 << 40) - np.arange(len(found))
    theirs[list(found.values())] = -(1 << 41) - np.arange(len(found))
    return dict(_between(ascending(sorted(found.items())), mine, theirs))


def _elsewhere(found: Mapping[int, int], strict: Tokens) -> dict[int, int]:
    """Calls that are alone on each side, of the same kind and shapes."""
    taken = set(found.values())
    waiting: dict[int, list[int]] = defaultdict(list)
    for j, token in enumerate(strict[1].tolist()):
        if j not in taken:
            waiting[token].append(j)
    alone = ((i, token) for i, token in enumerate(strict[0].tolist()) if i not in found)
    return {i: waiting[token].pop(0) for i, token in alone if waiting.get(token)}


def _ordered(found: Mapping[int, int], mine: int, theirs: int) -> Alignment:
    pairs = sorted(found.items())
    in_order = ascending(pairs)
    rows: list[tuple[int, int]] = []
    taken = set(found.values())
    j = 0
    ends = dict(in_order)
    for i in range(mine):
        if i in ends:
            rows += [(-1, n) for n in range(j, ends[i]) if n not in taken]
            j = ends[i] + 1
        rows.append((i, found.get(i, -1)))
    rows += [(-1, n) for n in range(j, theirs) if n not in taken]
    columns = np.array(rows, np.int32).reshape(-1, 2)
    moved = np.zeros(mine + 1, bool)
    moved[[i for i, _ in pairs if i not in ends]] = True
    return Alignment(target=columns[:, 0], golden=columns[:, 1], moved=moved[columns[:, 0]])
