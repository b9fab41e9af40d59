"""The caching allocator of one card: which blocks it would hand out, cut, join and take from the device.

No byte is taken here. The rules and numbers are those of NPUCachingAllocator.cpp of torch_npu (Ascend/pytorch at
9e73e708), which follows CUDA's: blocks of 512 bytes, segments of 2 MiB for at most 1 MiB, of 20 MiB for less than
10 MiB, else of whole 2 MiB; the smallest free block that fits, cut where the rest is worth it; before it gives up, it
returns all segments that are wholly free. One stream, no expandable segments, no graphs.
"""

from __future__ import annotations

import bisect

if False:
    from typing import Dict, List, Optional, Tuple

PADDING = 32  # bytes that are added to each request, on all cards before Ascend 950
BLOCK = 512
SMALL = 1 << 20
SMALL_SEGMENT = 2 << 20
LARGE_SEGMENT = 20 << 20
LEAST_OF_ITS_OWN = 10 << 20  # from here on a request has a segment of its own size
WHOLE = 2 << 20


def rounded(size: int) -> int:
    """Return the bytes of the block that a request of `size` bytes is given; none for no bytes."""
    return max(BLOCK, (size + PADDING + BLOCK - 1) // BLOCK * BLOCK) if size else 0


def segment_size(size: int) -> int:
    """Return the bytes that are taken from the device where no free block holds a block of `size`."""
    if size <= SMALL:
        return SMALL_SEGMENT
    if size < LEAST_OF_ITS_OWN:
        return LARGE_SEGMENT
    return (size + WHOLE - 1) // WHOLE * WHOLE


class Piece:
    """A piece of a segment, in use or free, with its neighbours in that segment."""

    __slots__ = ("after", "before", "free", "is_small", "number", "size")

    def __init__(self, size: int, is_small: bool, number: int) -> None:
        self.size, self.is_small, self.number, self.free = size, is_small, number, True
        self.before: Optional[Piece] = None
        self.after: Optional[Piece] = None


class Pool:
    """The free pieces of one kind, by size; of equal ones the oldest comes first."""

    def __init__(self) -> None:
        self._keys: List[Tuple[int, int]] = []
        self._pieces: Dict[int, Piece] = {}

    def add(self, piece: Piece) -> None:
        bisect.insort(self._keys, (piece.size, piece.number))
        self._pieces[piece.number] = piece

    def remove(self, piece: Piece) -> None:
        del self._keys[bisect.bisect_left(self._keys, (piece.size, piece.number))]
        del self._pieces[piece.number]

    def smallest(self, size: int) -> Optional[Piece]:
        """Take out and return the smallest piece of at least `size` bytes."""
        place = bisect.bisect_left(self._keys, (size, -1))
        if place == len(self._keys):
            return None
        return self._pieces.pop(self._keys.pop(place)[1])

    def whole(self) -> List[Piece]:
        """Return the pieces that are a whole segment."""
        return [piece for piece in self._pieces.values() if piece.before is None and piece.after is None]


class Allocator:
    """`reserved`: bytes of all segments; `allocated`: of the pieces in use; `segments`: how many there are."""

    def __init__(self) -> None:
        self.reserved = self.allocated = self.segments = self.pieces = self.returns = 0
        self._number = 0
        self._small, self._large = Pool(), Pool()

    def take(self, size: int, limit: Optional[int]) -> Optional[Piece]:
        """Return a piece for a request of `size` bytes; None where the segment that it needs would lead beyond `limit`
        bytes, although all free segments were returned.
        """
        block_size = rounded(size)
        pool = self._small if block_size <= SMALL else self._large
        piece = pool.smallest(block_size) or self._grow(block_size, limit)
        if piece is None:
            return None
        self._cut(piece, block_size, pool)
        piece.free = False
        self.allocated += piece.size
        self.pieces += 1
        return piece

    def _grow(self, block_size: int, limit: Optional[int]) -> Optional[Piece]:
        size = segment_size(block_size)
        if limit is not None and self.reserved + size > limit:
            self.returns += 1
            self.empty()
            if self.reserved + size > limit:
                return None
        self.reserved += size
        self.segments += 1
        return self._new(size, block_size <= SMALL)

    def _new(self, size: int, is_small: bool) -> Piece:
        self._number += 1
        return Piece(size, is_small, self._number)

    def _cut(self, piece: Piece, block_size: int, pool: Pool) -> None:
        rest = piece.size - block_size
        if rest < BLOCK if piece.is_small else rest <= SMALL:
            return
        other = self._new(rest, piece.is_small)
        other.before, other.after = piece, piece.after
        if piece.after is not None:
            piece.after.before = other
        piece.after, piece.size = other, block_size
        pool.add(other)

    def give(self, piece: Piece) -> None:
        """Take a piece back, and join it with its free neighbours."""
        self.allocated -= piece.size
        self.pieces -= 1
        piece.free = True
        pool = self._small if piece.is_small else self._large
        before, after = piece.before, piece.after
        if after is not None and after.free:
            pool.remove(after)
            self._join(piece, after)
        if before is not None and before.free:
            pool.remove(before)
            self._join(before, piece)
            piece = before
        pool.add(piece)

    def _join(self, piece: Piece, other: Piece) -> None:
        piece.size += other.size
        piece.after = other.after
        if other.after is not None:
            other.after.before = piece

    def empty(self) -> None:
        """Return all segments that are wholly free, as torch.npu.empty_cache does."""
        for pool in (self._small, self._large):
            for piece in pool.whole():
                pool.remove(piece)
                self.reserved -= piece.size
                self.segments -= 1
