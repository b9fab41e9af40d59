"""Divergences planted in small models of torch and MindSpore, and whether `compare` names them.

Each plant on a clean pair (the same code but for the plant) and on a noisy one (every operator of the golden side
differs by rounding), and pairs in which nothing is planted. Next to it what msprobe's own compare says of the same
dumps: its first row that is no "pass". The right answers are in tests/planted/plants.py, with why they are true. Last,
what moves when each tolerance of the comparison is halved or doubled.

ASCEND_STUDIO_EVERY_NOISE: anything, for each plant under every noise instead of one. ASCEND_STUDIO_ONLY: a pattern of
the pairs' names. ASCEND_STUDIO_DUMPS: a folder that keeps the dumps, to be used again. ASCEND_STUDIO_TOLERANCES: a
pattern of the tolerances that are moved; "^$" for none.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backends.precision.compare.tolerances import TOLERANCES
from tests.planted.making import make
from tests.planted.plants import every_noise, pairs
from tests.planted.scoring import compare_pair, compare_with_msprobe, table, tally
from tests.prove.support import precision_sensitivity
from tests.prove.support.precision_journeys import journeys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.planted.plant import Pair
    from tests.planted.scoring import PairVerdict

MISSES_ALLOWED = 2 / 30  # of noisy pairs; none of the clean ones, and no alarm where nothing is planted


def prove() -> dict[str, Any]:
    dumps = os.environ.get("ASCEND_STUDIO_DUMPS")
    with tempfile.TemporaryDirectory() as scratch:
        walked = journeys(Path(scratch))
        print(*(f"{name:20} {verdict}" for name, verdict in walked.items()), sep="\n", file=sys.stderr, flush=True)
        figures = _examined(Path(dumps or scratch, "dumps").absolute(), Path(scratch))
    passed = figures["passed"] and all(verdict == "right" for verdict in walked.values())
    return {**figures, "passed": passed, "journeys": walked}


def _examined(folder: Path, scratch: Path) -> dict[str, Any]:
    every = every_noise() if os.environ.get("ASCEND_STUDIO_EVERY_NOISE") else pairs()
    chosen = [pair for pair in every if re.search(os.environ.get("ASCEND_STUDIO_ONLY", ""), pair.name)]
    begun = time.monotonic()
    make(chosen, folder)
    making = time.monotonic() - begun
    ours = [compare_pair(pair, folder, scratch / "home") for pair in chosen]
    msprobe = compare_with_msprobe(chosen, folder)
    print(table(ours, msprobe), file=sys.stderr)
    counts, others = tally(ours), tally(msprobe)
    print({"ours": counts, "msprobe": others}, file=sys.stderr)
    return {
        "passed": bool(chosen) and _passes(counts), "ours": counts, "msprobe": others, "making": round(making, 1),
        "wrong": [verdict.row for verdict in ours if not verdict.is_right], "kinds": _kinds(ours),
        "sensitivity": _sensitivity(chosen, folder, scratch),
    }  # fmt: skip


def _sensitivity(chosen: Sequence[Pair], folder: Path, scratch: Path) -> list[str]:
    pattern = os.environ.get("ASCEND_STUDIO_TOLERANCES", "")
    dumps = precision_sensitivity.read(chosen, folder)
    baseline = precision_sensitivity.score(dumps, TOLERANCES, scratch / "tensors")
    names = [name for name in precision_sensitivity.names() if re.search(pattern, name)]
    scores = precision_sensitivity.sensitivity(dumps, scratch / "tensors", names)
    text = precision_sensitivity.table(baseline, scores)
    print(text, file=sys.stderr)
    return text.splitlines()


def _passes(counts: dict[str, list[int]]) -> bool:
    allowed = {"noisy": MISSES_ALLOWED}
    return all(total - right <= allowed.get(group, 0) * total for group, (right, total) in counts.items())


def _kinds(verdicts: list[PairVerdict]) -> dict[str, str]:
    """Return, for each kind of plant, how many were named, of how many."""
    kinds: dict[str, list[bool]] = {}
    for verdict in verdicts:
        if verdict.pair.plant is not None:
            kinds.setdefault(verdict.pair.plant.kind, []).append(verdict.is_right)
    return {kind: f"{sum(right)}/{len(right)}" for kind, right in kinds.items()}
