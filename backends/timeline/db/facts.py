"""What a database says of itself: ranks of cards and steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.timeline.db.cells import ABSENT
from backends.timeline.db.rows import blocks
from backends.timeline.db.slices import timed

if TYPE_CHECKING:
    from backends.timeline.db.base import Base
    from backends.timeline.db.place import Places

RANKS = 1 << 24  # more than there are cards anywhere


def read_ranks(base: Base, places: Places) -> None:
    """Which rank each card is; the rank of the source too, where its name does not say it."""
    for rows in blocks(base, "RANK_DEVICE_MAP", ("rankId", "deviceId")):
        for rank, card in zip(rows["rankId"].tolist(), rows["deviceId"].tolist(), strict=True):
            if 0 <= rank < RANKS and card != ABSENT:
                places.ranks[card] = rank
    source = places.gather.sources[places.source]
    if source.rank is None and len(set(places.ranks.values())) == 1:
        source.rank = next(iter(places.ranks.values()))


def read_steps(base: Base, places: Places) -> None:
    gather = places.gather
    for rows in blocks(base, "STEP_TIME", ("id", "startNs", "endNs")):
        sound = timed(gather, rows)
        gather.metadata += len(sound)
        for number, start, end in zip(*(sound[name].tolist() for name in ("id", "startNs", "endNs")), strict=True):
            if number != ABSENT:
                gather.steps.append((number, start, end, places.source))
