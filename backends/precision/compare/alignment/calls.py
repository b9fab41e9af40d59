"""Which call of the target is which of the golden side."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from backends.precision.compare.alignment.gaps import CallSequence, place_gaps
from backends.precision.compare.alignment.sequences import Match, longest_ascending, match_sequences
from backends.precision.compare.alignment.tokens import (
    BACKWARD,
    call_tokens,
    is_backward,
    signatures,
)
from backends.precision.compare.arrays import Array
from backends.precision.compare.tolerances import TOLERANCES, Tolerances

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from backends.precision.dump.dump import Dump

Tokens = tuple[Array, Array]


@dataclass(frozen=True, kw_only=True)
class Alignment:
    """Columns of calls in the execution order of the target; what it misses stands where the golden side has it.
    `target` and `golden`: int32, the calls of each side, -1 without; `moved`, bool: the call is elsewhere in the other
    side's order."""

    target: Array
    golden: Array
    moved: Array


def align_calls(
    target: Dump, golden: Dump, corrected: Mapping[str, str] | None = None, tolerances: Tolerances = TOLERANCES
) -> Alignment:
    """Align the calls of two dumps. Forward calls are aligned by name, shapes and order; a backward call belongs to
    that of its forward call, whatever its number became. `corrected`: names of the target's calls, and of the golden
    side's that a person said they are."""
    matched = _corrected(target, golden, corrected or {})
    strict, loose = call_tokens(target, golden, matched)
    matched |= dict(_match_forward(target, golden, strict, loose, tolerances.same_parameter))
    matched |= _match_backward(target, golden, matched)
    matched |= _match_in_gaps(matched, loose)
    matched |= _match_elsewhere(matched, strict)
    return _in_order(matched, len(target.calls), len(golden.calls))


def _corrected(target: Dump, golden: Dump, corrected: Mapping[str, str]) -> dict[int, int]:
    """Return the corrections of which both sides have the call, and no two the same."""
    if not corrected:
        return {}
    targets, goldens = ({name: n for n, name in enumerate(side.calls)} for side in (target, golden))
    matched = {
        targets[name]: goldens[other] for name, other in corrected.items() if name in targets and other in goldens
    }
    count = Counter(matched.values())
    return {i: j for i, j in matched.items() if count[j] == 1}


def _match_forward(target: Dump, golden: Dump, strict: Tokens, loose: Tokens, same_parameter: float) -> Iterable[Match]:
    forward = [np.flatnonzero(~is_backward(side)) for side in (target, golden)]
    tokens, golden_tokens = (token[calls] for token, calls in zip(strict, forward, strict=True))
    sure = match_sequences(tokens, golden_tokens)
    if not len(sure) == len(tokens) == len(golden_tokens):
        values = [signatures(side)[calls] for side, calls in zip((target, golden), forward, strict=True)]
        sequences = (
            CallSequence(tokens=tokens, signatures=values[0]), CallSequence(tokens=golden_tokens, signatures=values[1])
        )  # fmt: skip
        sure = place_gaps(sure, *sequences, same_parameter)
    for i, j in (*sure, *_match_between(sure, loose[0][forward[0]], loose[1][forward[1]])):
        yield int(forward[0][i]), int(forward[1][j])


def _match_between(sure: list[Match], tokens: Array, golden_tokens: Array) -> Iterable[Match]:
    """Yield what matches between neighbours that are sure."""
    for (i, j), (k, m) in pairwise([(-1, -1), *sure, (len(tokens), len(golden_tokens))]):
        if k - i > 1 and m - j > 1:
            matches = match_sequences(tokens[i + 1 : k], golden_tokens[j + 1 : m])
            yield from ((i + 1 + a, j + 1 + b) for a, b in matches)


def _match_backward(target: Dump, golden: Dump, forward: Mapping[int, int]) -> dict[int, int]:
    goldens = {name: n for n, name in enumerate(golden.calls)}
    partners = {target.calls[i]: golden.calls[j] for i, j in forward.items()}
    backward = np.flatnonzero(is_backward(target)).tolist()
    matched = {i: goldens.get(_backward_of_partner(target.calls[i], partners), -1) for i in backward}
    return {i: j for i, j in matched.items() if j >= 0}


def _backward_of_partner(call: str, partners: Mapping[str, str]) -> str:
    """Return the golden side's name of a backward call, by that of the forward call it belongs to, "" without."""
    for direction in BACKWARD:
        head, sign, tail = call.rpartition(f".{direction}")
        if sign and (partner := partners.get(f"{head}.forward{tail}")):
            before, _, after = partner.rpartition(".forward")
            return f"{before}.{direction}{after}"
    return ""


def _match_in_gaps(matched: Mapping[int, int], loose: Tokens) -> dict[int, int]:
    """Match what is still alone on both sides, between the same neighbours."""
    tokens, golden_tokens = (token.copy() for token in loose)
    if len(matched) in (len(tokens), len(golden_tokens)):
        return {}
    tokens[list(matched)] = -(1 << 40) - np.arange(len(matched))
    golden_tokens[list(matched.values())] = -(1 << 41) - np.arange(len(matched))
    return dict(_match_between(longest_ascending(sorted(matched.items())), tokens, golden_tokens))


def _match_elsewhere(matched: Mapping[int, int], strict: Tokens) -> dict[int, int]:
    """Match calls that are alone on each side, of the same kind and shapes."""
    used = set(matched.values())
    waiting: dict[int, list[int]] = defaultdict(list)
    for j, token in enumerate(strict[1].tolist()):
        if j not in used:
            waiting[token].append(j)
    alone = ((i, token) for i, token in enumerate(strict[0].tolist()) if i not in matched)
    return {i: waiting[token].pop(0) for i, token in alone if waiting.get(token)}


def _in_order(matched: Mapping[int, int], target_calls: int, golden_calls: int) -> Alignment:
    pairs = sorted(matched.items())
    in_order = dict(longest_ascending(pairs))
    used = set(matched.values())
    rows: list[tuple[int, int]] = []
    j = 0
    for i in range(target_calls):
        if i in in_order:
            rows += [(-1, n) for n in range(j, in_order[i]) if n not in used]
            j = in_order[i] + 1
        rows.append((i, matched.get(i, -1)))
    rows += [(-1, n) for n in range(j, golden_calls) if n not in used]
    columns = np.array(rows, np.int32).reshape(-1, 2)
    moved = np.zeros(target_calls + 1, bool)
    moved[[i for i, _ in pairs if i not in in_order]] = True
    return Alignment(target=columns[:, 0], golden=columns[:, 1], moved=moved[columns[:, 0]])
