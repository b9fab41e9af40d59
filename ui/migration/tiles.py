"""A rectangle cut into tiles of given sizes, none of them a sliver: squarified treemaps (Bruls and others, 2000)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, kw_only=True)
class Tile:
    """`number`: of the size it stands for."""

    number: int
    rect: QRectF


def tiles(sizes: Sequence[float], width: float, height: float) -> list[Tile]:
    """In the order of the sizes given; all sizes are above 0."""
    if not sizes or width <= 0 or height <= 0:
        return []
    scale = width * height / sum(sizes)
    waiting = sorted(((size * scale, number) for number, size in enumerate(sizes)), reverse=True)
    made: list[Tile] = []
    room = QRectF(0, 0, width, height)
    while waiting:
        side = min(room.width(), room.height())
        count = _best_row(waiting, side)
        room = _lay_row(made, waiting[:count], room)
        waiting = waiting[count:]
    return sorted(made, key=lambda tile: tile.number)


def _best_row(waiting: list[tuple[float, int]], side: float) -> int:
    """How many of them make a row along `side` whose worst tile is the least long."""
    count = 1
    while count < len(waiting) and _worst(waiting[: count + 1], side) <= _worst(waiting[:count], side):
        count += 1
    return count


def _worst(row: list[tuple[float, int]], side: float) -> float:
    total = sum(area for area, _ in row)
    thick = max(total / max(side, 1e-9), 1e-9)
    longest = [max(area / thick / thick, thick * thick / max(area, 1e-9)) for area, _ in row]
    return max(longest)


def _lay_row(made: list[Tile], row: list[tuple[float, int]], room: QRectF) -> QRectF:
    """Adds a row along the shorter side, and returns what is left."""
    total = sum(area for area, _ in row)
    upright = room.width() >= room.height()
    side = room.height() if upright else room.width()
    thick = total / max(side, 1e-9)
    at = 0.0
    for area, number in row:
        length = area / max(thick, 1e-9)
        rect = (
            QRectF(room.left(), room.top() + at, thick, length)
            if upright
            else QRectF(room.left() + at, room.top(), length, thick)
        )
        made.append(Tile(number=number, rect=rect))
        at += length
    return room.adjusted(thick, 0, 0, 0) if upright else room.adjusted(0, thick, 0, 0)
