"""A rectangle cut into tiles of given sizes, avoiding slivers: squarified treemaps (Bruls and others, 2000)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, kw_only=True)
class Tile:
    """`number`: the index of the size it stands for."""

    number: int
    rect: QRectF


def lay_tiles(sizes: Sequence[float], width: float, height: float) -> list[Tile]:
    """Return a tile for each size, in their order. All sizes must be positive."""
    if not sizes or width <= 0 or height <= 0:
        return []
    scale = width * height / sum(sizes)
    waiting = sorted(((size * scale, number) for number, size in enumerate(sizes)), reverse=True)
    placed: list[Tile] = []
    room = QRectF(0, 0, width, height)
    while waiting:
        side = min(room.width(), room.height())
        count = _best_row_length(waiting, side)
        room = _lay_row(placed, waiting[:count], room)
        waiting = waiting[count:]
    return sorted(placed, key=lambda tile: tile.number)


def _best_row_length(waiting: list[tuple[float, int]], side: float) -> int:
    """Return how many sizes make a row along `side` whose worst tile has the best aspect ratio."""
    count = 1
    while count < len(waiting) and _worst_ratio(waiting[: count + 1], side) <= _worst_ratio(waiting[:count], side):
        count += 1
    return count


def _worst_ratio(row: list[tuple[float, int]], side: float) -> float:
    total = sum(area for area, _ in row)
    thick = max(total / max(side, 1e-9), 1e-9)
    longest = [max(area / thick / thick, thick * thick / max(area, 1e-9)) for area, _ in row]
    return max(longest)


def _lay_row(placed: list[Tile], row: list[tuple[float, int]], room: QRectF) -> QRectF:
    """Add a row of tiles along the shorter side and return the remaining rectangle."""
    total = sum(area for area, _ in row)
    upright = room.width() >= room.height()
    side = room.height() if upright else room.width()
    thick = total / max(side, 1e-9)
    offset = 0.0
    for area, number in row:
        length = area / max(thick, 1e-9)
        rect = (
            QRectF(room.left(), room.top() + offset, thick, length)
            if upright
            else QRectF(room.left() + offset, room.top(), length, thick)
        )
        placed.append(Tile(number=number, rect=rect))
        offset += length
    return room.adjusted(thick, 0, 0, 0) if upright else room.adjusted(0, thick, 0, 0)
