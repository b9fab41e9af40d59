"""Divergences planted in small models of torch and MindSpore, and whether `compare` names them.

Each plant on a clean pair (the same code but for the plant) and on a noisy one (every operator of the golden side
differs by rounding), and pairs in which nothing is planted. Next to it what msprobe's own compare says of the same
dumps: its first row that is no "pass". The right answers are in tests/planted/plants.py, with why they are true. Last,
what moves when each tolerance of the comparison is halved or doubled.

Then the same of thirteen networks that the comparison was not built on, with plants in operators and in optimizers
(tests/planted/network_plants.py, optimizer_plants.py), and the curve of false alarms and false silences against the
tolerance, with ten seeds of noise.

ASCEND_STUDIO_PARTS: which of "journeys models networks curve" are done; all without it. ASCEND_STUDIO_EVERY_NOISE:
anything, for each plant under every noise instead of one (of the networks, under every one in float32, TF32 among them,
which buries some). ASCEND_STUDIO_ONLY: a pattern of the pairs' names. ASCEND_STUDIO_DUMPS: a folder that keeps the
dumps, to be used again. ASCEND_STUDIO_TOLERANCES: a pattern of the tolerances that are moved; "^$" for none.
ASCEND_STUDIO_WITHOUT_MSPROBE: anything, to leave msprobe's own comparison of the networks out.
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
from tests.prove.support.precision_curve import curve
from tests.prove.support.precision_journeys import journeys
from tests.prove.support.precision_networks import prove_networks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.planted.plant import Pair
    from tests.planted.scoring import PairVerdict

MISSES_ALLOWED = 2 / 30  # of noisy pairs; none of the clean ones, and no alarm where nothing is planted


PARTS = ("journeys", "models", "networks", "curve")


def prove() -> dict[str, Any]:
    chosen = os.environ.get("ASCEND_STUDIO_PARTS", " ".join(PARTS)).split()
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        dumps = Path(os.environ.get("ASCEND_STUDIO_DUMPS") or scratch / "dumps").absolute()
        if "journeys" in chosen:
            figures["journeys"] = journeys(scratch)
            lines = (f"{walk:20} {verdict}" for walk, verdict in figures["journeys"].items())
            print(*lines, sep="\n", file=sys.stderr, flush=True)
        if "models" in chosen:
            figures |= _examined(dumps, scratch)
        if "networks" in chosen:
            figures["networks"] = prove_networks(dumps, scratch, _is_chosen)
        if "curve" in chosen:
            figures["curve"] = curve(dumps, scratch, _is_chosen)
    return {**figures, "passed": bool(chosen) and _all_passed(figures)}


def _all_passed(figures: dict[str, Any]) -> bool:
    walked = all(verdict == "right" for verdict in figures.get("journeys", {}).values())
    networks = figures.get("networks", {}).get("passed", True)
    return walked and networks and figures.get("passed", True)


def _is_chosen(pair: Pair) -> bool:
    return re.search(os.environ.get("ASCEND_STUDIO_ONLY", ""), pair.name) is not None


def _examined(folder: Path, scratch: Path) -> dict[str, Any]:
    every = every_noise() if os.environ.get("ASCEND_STUDIO_EVERY_NOISE") else pairs()
    chosen = [pair for pair in every if _is_chosen(pair)]
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
