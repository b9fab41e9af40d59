"""Bytes alive on each card, and their peak, in the blocks of 512 bytes that the caching allocator hands out."""

from __future__ import annotations

import collections

if False:
    from typing import Dict, Tuple

BLOCK = 512  # bytes
alive: Dict[int, int] = {}
peak: Dict[int, int] = {}
TOTAL = 64 << 30  # bytes of a card


def rounded(size: int) -> int:
    """Return the bytes that the allocator takes for `size` bytes."""
    return (size + BLOCK - 1) // BLOCK * BLOCK


class Block:
    """The bytes of one storage, counted while it lives."""

    __slots__ = ("index", "size")

    def __init__(self, index: int, size: int) -> None:
        self.index, self.size = index, 0
        self.resize(size)

    def resize(self, size: int) -> None:
        taken = rounded(size)
        total = alive.get(self.index, 0) + taken - self.size
        alive[self.index], self.size = total, taken
        if total > peak.get(self.index, 0):
            peak[self.index] = total

    def __del__(self) -> None:
        alive[self.index] = alive.get(self.index, 0) - self.size


def allocated(index: int) -> int:
    return alive.get(index, 0)


def max_allocated(index: int) -> int:
    return peak.get(index, 0)


def reset_peak(index: int) -> None:
    peak[index] = allocated(index)


def free_and_total(index: int) -> Tuple[int, int]:
    return max(0, TOTAL - allocated(index)), TOTAL


def statistics(index: int) -> Dict[str, int]:
    """Return the numbers of torch.npu.memory_stats that are known; any other is 0."""
    numbers: Dict[str, int] = collections.defaultdict(int)
    for kind in ("allocated_bytes", "active_bytes", "reserved_bytes"):
        numbers[kind + ".all.current"], numbers[kind + ".all.peak"] = allocated(index), max_allocated(index)
    return numbers
