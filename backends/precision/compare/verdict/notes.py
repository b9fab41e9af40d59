"""What a person is to know of a comparison beside its verdicts, and the verdict for those who read the command's
output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from backends.precision.compare.comparison import Coverage, suspect_of
from backends.precision.compare.judgement.operators import family_of
from backends.precision.compare.judgement.products import is_of_ten_bits
from backends.precision.compare.verdict.first_divergence import detached_row, name_at
from backends.precision.dump.dump import MAX, NORM
from studio.events import Finding, Note

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.precision.compare.alignment.unmatched import UnmatchedCalls
    from backends.precision.compare.comparison import AllowedNoise, Comparison, First, Suspect
    from backends.precision.compare.judgement.state import Judgement
    from backends.precision.compare.values.joined import JoinedDumps

SUSPECT_KEYS: dict[Suspect, str] = {
    "operator": "precision.suspect.operator", "untraced": "precision.suspect.untraced",
    "argument": "precision.suspect.argument", "parameter": "precision.suspect.parameter",
    "data": "precision.suspect.data", "program": "precision.suspect.program", "graph": "precision.suspect.graph",
    "optimizer": "precision.suspect.optimizer", "noise": "precision.suspect.noise",
}  # fmt: skip
ROUNDED_KEYS = {
    "convolution": "precision.compare.rounded_convolution", "matrix": "precision.compare.rounded_matrix"
}  # fmt: skip
MAX_PAIRS = 4
"""So many pairs of dtypes are named."""


def pass_notes(
    joined: JoinedDumps, judgement: Judgement, unmatched: UnmatchedCalls
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the keys of the notes of one pass, and their arguments."""
    for family in sorted(judgement.rounded_families):
        yield ROUNDED_KEYS[family], {}
    if _is_like_ten_bits(joined, judgement):
        yield "precision.compare.like_ten_bits", {}
    if pairs := sorted(joined.other_dtypes):
        yield "precision.compare.other_dtypes", {"pairs": ", ".join("/".join(pair) for pair in pairs[:MAX_PAIRS])}
    if _has_no_norms(joined):
        yield "precision.compare.no_norms", {}
    yield from unmatched.notes
    if (row := detached_row(joined)) is not None:
        yield "precision.compare.requires_grad", {"name": name_at(joined, int(joined.rows.call[row]))}


def _is_like_ten_bits(joined: JoinedDumps, judgement: Judgement) -> bool:
    """Return whether the first divergence is a product with an error that rounding to ten bits may have made too: where
    too few products have such an error, nothing tells the machine from the operator."""
    event = next(iter(judgement.events), None)
    if event is None or event.row < 0 or event.reason not in ("output", "gradient"):
        return False
    name = joined.names[event.call]
    return bool(family_of(name.type or name.api)) and is_of_ten_bits(joined, event.row)


def _has_no_norms(joined: JoinedDumps) -> bool:
    """Whether float64 tensors have a largest element and no norm."""
    for side, stats, rows in (
        (joined.target, joined.stats, joined.rows.target),
        (joined.golden, joined.golden_stats, joined.rows.golden),
    ):
        if "float64" in side.dtypes:
            is_double = np.append(side.dtype, -1)[rows] == side.dtypes.index("float64")
            if (is_double & ~np.isnan(stats[:, MAX]) & np.isnan(stats[:, NORM])).any():
                return True
    return False


def covered_args(coverage: Coverage) -> dict[str, Any]:
    """Return the arguments of the sentences that say what was compared."""
    by_statistics = coverage.values - coverage.by_element - coverage.by_digest
    return {
        "calls": coverage.calls, "all_calls": coverage.all_calls, "values": coverage.values,
        "all_values": coverage.all_values, "by_element": coverage.by_element, "by_digest": coverage.by_digest,
        "by_statistics": by_statistics, "steps": len(coverage.steps), "all_steps": len(coverage.all_steps),
        "ranks": len(coverage.ranks), "all_ranks": len(coverage.all_ranks),
    }  # fmt: skip


def suspect_key(first: First) -> str:
    """Return the key of the sentence that says whether the operator is the suspect or what feeds it untraced."""
    suspect = suspect_of(first)
    is_after = suspect == "untraced" and bool(first.args.get("producer"))
    return "precision.suspect.untraced_after" if is_after else SUSPECT_KEYS[suspect]


def _noise_args(noise: AllowedNoise) -> dict[str, Any]:
    """Return the arguments of the sentence that says what noise was allowed."""
    return {
        "values": noise.values, "largest": f"{noise.largest:.2g}", "name": noise.name or "-", "count": noise.by_noise
    }  # fmt: skip


def noise_sentences(noise: AllowedNoise) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield keys and arguments of the sentences that say what noise was allowed."""
    yield "precision.compare.noise", _noise_args(noise)
    if noise.updates:
        largest = f"{noise.largest_update:.2g}"
        yield "precision.compare.noise_updates", {
            "largest": largest, "name": noise.update_name or "-", "count": noise.updates
        }  # fmt: skip


def verdict_notes(comparison: Comparison) -> Iterator[Note | Finding]:
    """Yield the verdict of a whole comparison, with what it covers."""
    first = comparison.first
    if comparison.noise is not None:
        yield from (Note(key=key, args=args) for key, args in noise_sentences(comparison.noise))
    covered = covered_args(comparison.coverage or Coverage())
    if first is None and comparison.gaps:
        yield Finding(rule="precision.compare.incomplete", severity="warning", args=covered)
        return
    if first is None:
        yield Note(key="precision.compare.none", args=covered)
        return
    named = ("name", "place", "index", "step", "rank", "source")
    yield Note(key="precision.compare.found", args={name: getattr(first, name) for name in named})
    yield Note(key=f"precision.first.{first.reason}", args=first.args)
    yield Note(key=suspect_key(first), args={"name": first.name, "producer": first.args.get("producer", "")})
    yield Note(key="precision.compare.covered", args=covered)
