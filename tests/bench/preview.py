"""`preview` against what MindSpore keeps: what is counted to the byte has to come to the byte."""

from __future__ import annotations

from tests.bench.figure import Figure
from tests.bench.parallel import counted

WORKERS = 2


def figures() -> list[Figure]:
    """Weights, gradients and optimizer of each recipe in data parallel, and how many of them came otherwise."""
    rows = counted(WORKERS)
    found = [
        Figure(what=f"{name}: {what} on a card", value=came, unit="B", peer=said, peer_name="preview")
        for name, what, said, came in rows
    ]
    other = sum(said != came for _, _, said, came in rows)
    what = f"{len(rows)} counts of bytes by preview: came otherwise"
    return [*found, Figure(what=what, value=100 * other / len(rows), unit="%", bar=0.0)]
