"""The networks that the comparison was not built on: plants on clean and noisy pairs, and healthy pairs, beside what
msprobe's own comparison says of the same dumps."""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

from studio.gc_pause import gc_paused
from tests.planted import network_plants, optimizer_plants
from tests.planted.making import make
from tests.planted.scoring import PairVerdict, compare_in_process, compare_with_msprobe, silent, table, tally

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tests.planted.plant import Pair

SHARE_ALLOWED = 0.02
"""Of plants that are passed over as success, and of healthy pairs that are named."""


def prove_networks(folder: Path, scratch: Path, is_chosen: Callable[[Pair], bool]) -> dict[str, Any]:
    """Return the figures of operators and of optimizers, and whether both together pass. `folder` keeps the dumps."""
    every = bool(os.environ.get("ASCEND_STUDIO_EVERY_NOISE"))
    parts = {
        "operators": network_plants.every_noise() if every else network_plants.pairs(),
        "optimizers": optimizer_plants.pairs(),
    }
    figures: dict[str, Any] = {}
    verdicts: list[PairVerdict] = []
    for name, pairs in parts.items():
        ours, figures[name] = _examined(name, list(filter(is_chosen, pairs)), folder, scratch)
        verdicts += ours
    return {**figures, "passed": _passes(verdicts)}


def _examined(
    name: str, pairs: Sequence[Pair], folder: Path, scratch: Path
) -> tuple[list[PairVerdict], dict[str, Any]]:
    begun = time.process_time() + _cpu_of_children()
    make(pairs, folder)
    dumped = time.process_time() + _cpu_of_children()
    with gc_paused():
        ours = [compare_in_process(pair, folder, scratch / "runs") for pair in pairs]
    compared = time.process_time() + _cpu_of_children()
    msprobe = compare_with_msprobe(pairs, folder) if "ASCEND_STUDIO_WITHOUT_MSPROBE" not in os.environ else []
    print(table(ours, msprobe or [PairVerdict(pair=pair) for pair in pairs]), file=sys.stderr)
    figures = {
        "ours": _counts(ours), "msprobe": _counts(msprobe), "wrong_of_noise": _wrong_of_noise(ours),
        "wrong": [verdict.row for verdict in ours if not verdict.is_right],
        "cpu_seconds": {"making": round(dumped - begun, 1), "comparing": round(compared - dumped, 1)},
    }  # fmt: skip
    print({name: {key: value for key, value in figures.items() if key != "wrong"}}, file=sys.stderr, flush=True)
    return ours, figures


def _cpu_of_children() -> float:
    times = os.times()
    return times.children_user + times.children_system


def _counts(verdicts: Sequence[PairVerdict]) -> dict[str, dict[str, int]]:
    """Of each group: pairs, named rightly (or not at all, where nothing is planted), and plants passed over."""
    passed_over = silent(verdicts)
    return {
        group: {"pairs": total, "right": right, "silent": passed_over[group]}
        for group, (right, total) in tally(verdicts).items()
    }


def _passes(verdicts: Sequence[PairVerdict]) -> bool:
    planted = [verdict for verdict in verdicts if verdict.pair.plant]
    healthy = [verdict for verdict in verdicts if not verdict.pair.plant]
    quiet, loud = sum(verdict.is_silent for verdict in planted), sum(not verdict.is_right for verdict in healthy)
    return quiet <= SHARE_ALLOWED * len(planted) and loud <= SHARE_ALLOWED * len(healthy)


def _wrong_of_noise(verdicts: Sequence[PairVerdict]) -> dict[str, str]:
    """Of each noise, how many verdicts are wrong, of how many."""
    totals, wrong = Counter(map(_noise, verdicts)), Counter(_noise(each) for each in verdicts if not each.is_right)
    return {noise: f"{wrong[noise]}/{total}" for noise, total in totals.items()}


def _noise(verdict: PairVerdict) -> str:
    planted = "planted" if verdict.pair.plant else "healthy"
    return f"{planted}, {verdict.pair.golden.noise or verdict.pair.target.noise or 'clean'}"
