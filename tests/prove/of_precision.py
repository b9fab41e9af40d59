"""Divergences planted in small models of torch and MindSpore, and whether `compare` names them.

Each plant on a clean pair (the same code but for the plant) and on a noisy one (every operator of the golden side
differs by rounding), and pairs in which nothing is planted. Beside it what msprobe's own compare says of the same
dumps: its first row that is no "pass". The answers stand in tests/planted/plants.py, with why they are true.

ASCEND_STUDIO_EVERY_NOISE: anything, for each plant under every noise instead of one. ASCEND_STUDIO_ONLY: a pattern of
the pairs' names. ASCEND_STUDIO_DUMPS: a folder that keeps the dumps, to be used again.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.planted.making import make
from tests.planted.plants import every_noise, pairs
from tests.planted.scoring import ask, ask_msprobe, table, tally
from tests.prove.precision_journeys import journeys

if TYPE_CHECKING:
    from tests.planted.scoring import Said

MISSES_ALLOWED = 2 / 30  # of noisy pairs; none of the clean ones, and no alarm where nothing is planted


def prove() -> dict[str, Any]:
    kept = os.environ.get("ASCEND_STUDIO_DUMPS")
    with tempfile.TemporaryDirectory() as scratch:
        walked = journeys(Path(scratch))
        print(*(f"{name:20} {said}" for name, said in walked.items()), sep="\n", file=sys.stderr, flush=True)
        figures = _examined(Path(kept or scratch, "dumps").absolute(), Path(scratch))
    passed = figures["passed"] and all(said == "right" for said in walked.values())
    return {**figures, "passed": passed, "journeys": walked}


def _examined(folder: Path, scratch: Path) -> dict[str, Any]:
    every = every_noise() if os.environ.get("ASCEND_STUDIO_EVERY_NOISE") else pairs()
    chosen = [one for one in every if re.search(os.environ.get("ASCEND_STUDIO_ONLY", ""), one.name)]
    begun = time.monotonic()
    make(chosen, folder)
    made = time.monotonic() - begun
    ours = [ask(one, folder, scratch / "home") for one in chosen]
    theirs = ask_msprobe(chosen, folder)
    print(table(ours, theirs), file=sys.stderr)
    counts, others = tally(ours), tally(theirs)
    print({"ours": counts, "msprobe": others}, file=sys.stderr)
    return {
        "passed": bool(chosen) and _passes(counts), "ours": counts, "msprobe": others, "making": round(made, 1),
        "wrong": [one.row for one in ours if not one.is_right], "kinds": _kinds(ours),
    }  # fmt: skip


def _passes(counts: dict[str, list[int]]) -> bool:
    allowed = {"noisy": MISSES_ALLOWED}
    return all(total - right <= allowed.get(group, 0) * total for group, (right, total) in counts.items())


def _kinds(said: list[Said]) -> dict[str, str]:
    """Of each kind of plant how many were named, of how many."""
    kinds: dict[str, list[bool]] = {}
    for one in said:
        if one.pair.plant is not None:
            kinds.setdefault(one.pair.plant.kind, []).append(one.is_right)
    return {kind: f"{sum(right)}/{len(right)}" for kind, right in kinds.items()}
