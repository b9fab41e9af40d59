"""The memory of each card as torch_npu would count it: blocks of its caching allocator, their peak, and what is left.

What a card takes beside the allocator is not counted: the driver, CANN's context, workspaces of kernels, the buffers of
HCCL.
"""

from __future__ import annotations

import collections
import os
import re

from ascend_studio import recording
from ascend_studio.virtual_npu import allocator, dispatch, ledger
from ascend_studio.virtual_npu.cards import current

if False:
    from typing import Any, Callable, Dict, List, Optional, Tuple

CARD_MEMORY = "ASCEND_STUDIO_REHEARSAL_CARD_MEMORY"  # GiB
DEFAULT = 64  # GiB of a card
OUT_OF_MEMORY = (
    "NPU out of memory. Tried to allocate %s (NPU %d; %s total capacity; %s already allocated; %s current active; "
    "%s free; %s%s reserved in total by PyTorch)."
    "If reserved memory is >> allocated memory try setting max_split_size_mb to avoid fragmentation."
)
_OF_HOST = re.compile(r"DefaultCPUAllocator: .*you tried to allocate (\d+) bytes")
_cards: Dict[int, Card] = {}
_error: List[Any] = [RuntimeError]
marks: List[Callable[[], None]] = []
"""Called before the bytes at a peak are added up: they give blocks their final labels."""
labels: List[Callable[[bool], Tuple[str, str]]] = []
"""The first returns the label of a block that is taken now; its argument says whether it comes from outside."""
steps: List[Callable[[], int]] = []
"""The first returns how many steps are done."""
refusals: List[Callable[[int, Dict[str, Any]], None]] = []
"""Called where a card has too little memory, with its index and the numbers."""
is_unlimited = [False]
"""Whether what does not fit is only written down, as where nothing is computed."""


def install(torch: Any) -> None:
    _error[:] = [getattr(torch, "OutOfMemoryError", RuntimeError)]
    dispatch.failures.append(explain)


def explain(error: RuntimeError) -> None:
    """Raise what the current card would say where the host has too little memory for what is too large for both."""
    match = _OF_HOST.search(str(error))
    if match is not None:
        state = card(current())
        state.allocator.give(state.take(int(match.group(1))))


def capacity() -> int:
    """Return the bytes of a card."""
    try:
        return max(1, int(os.environ.get(CARD_MEMORY) or DEFAULT)) << 30
    except ValueError:
        return DEFAULT << 30


class Card:
    """The allocator of one card with the peaks of its numbers since the last reset. `reserved_ever`: the most bytes
    that it took from the device; `over`: the most bytes that were missing."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.allocator = allocator.Allocator()
        self.ledger = ledger.Ledger(_mark, _step)
        self.total = capacity()
        self.fraction = 1.0
        self.requested = self.refused = self.over = self.reserved_ever = 0
        self.peaks: Dict[str, int] = collections.defaultdict(int)

    def take(self, size: int) -> Any:
        """Return a piece. Raises torch.OutOfMemoryError in the words of torch_npu where the card has none."""
        limit = int(self.total * self.fraction)
        piece = self.allocator.take(size, limit)
        if piece is None:
            self._refuse(size)
            piece = self.allocator.take(size, None)
            self.over = max(self.over, self.allocator.reserved - limit)
        self.reserved_ever = max(self.reserved_ever, self.allocator.reserved)
        self._raise_peaks()
        return piece

    def _refuse(self, size: int) -> None:
        self.refused += 1
        numbers = {
            "tried": allocator.segment_size(allocator.rounded(size)), "allocated": self.allocator.allocated,
            "reserved": self.allocator.reserved,
        }  # fmt: skip
        for tell in refusals:
            tell(self.index, numbers)
        if not is_unlimited[0]:
            raise _error[0](self._words(numbers))

    def _words(self, numbers: Dict[str, int]) -> str:
        allocated, reserved = size_text(numbers["allocated"]), size_text(numbers["reserved"])
        allowed = "" if self.fraction == 1.0 else size_text(int(self.total * self.fraction)) + " allowed; "
        free = size_text(max(0, self.total - numbers["reserved"]))
        tried, total = size_text(numbers["tried"]), size_text(self.total)
        return OUT_OF_MEMORY % (tried, self.index, total, allocated, allocated, free, allowed, reserved)

    def numbers(self) -> Dict[str, int]:
        """Return what is alive, by the names of torch.npu.memory_stats."""
        own = self.allocator
        return {
            "allocated_bytes": own.allocated, "active_bytes": own.allocated, "reserved_bytes": own.reserved,
            "requested_bytes": self.requested, "allocation": own.pieces, "active": own.pieces, "segment": own.segments,
        }  # fmt: skip

    def _raise_peaks(self) -> None:
        own, peaks = self.allocator, self.peaks
        if own.allocated > peaks["allocated_bytes"]:
            peaks["allocated_bytes"] = peaks["active_bytes"] = own.allocated
        if own.pieces > peaks["allocation"]:
            peaks["allocation"] = peaks["active"] = own.pieces
        if own.reserved > peaks["reserved_bytes"]:
            peaks["reserved_bytes"], peaks["segment"] = own.reserved, max(peaks["segment"], own.segments)
        if self.requested > peaks["requested_bytes"]:
            peaks["requested_bytes"] = self.requested

    def reset_peaks(self) -> None:
        self.peaks.clear()
        self.peaks.update(self.numbers())


def _mark() -> None:
    for mark in marks:
        mark()


def _step() -> int:
    return steps[0]() if steps else 0


def card(index: int) -> Card:
    state = _cards.get(index)
    if state is None:
        state = _cards[index] = Card(index)
    return state


def cards() -> List[Card]:
    """Return the cards that this process has taken memory of."""
    return [_cards[index] for index in sorted(_cards)]


def size_text(size: int) -> str:
    """Return a size as torch_npu's messages have it."""
    if size <= 1 << 10:
        return "%d bytes" % size
    for limit, unit in ((1 << 20, "KiB"), (1 << 30, "MiB")):
        if size <= limit:
            return "%.2f %s" % (size * 1024.0 / limit, unit)
    return "%.2f GiB" % (size / float(1 << 30))


class Block:
    """The bytes of one storage, counted while it lives, but for those of the studio's own work. Raises
    torch.OutOfMemoryError where the card has none left.
    """

    __slots__ = ("_piece", "_size", "card", "entry")

    def __init__(self, index: int, size: int, is_input: bool = False) -> None:
        self.card = _cards.get(index) or card(index)
        self.entry = ledger.Entry(labels[0](is_input) if labels else ledger.OTHER)
        self._piece: Any = None
        self._size = 0
        if size:
            self.resize(size)

    @property
    def size(self) -> int:
        return int(self.entry.size)

    def resize(self, size: int) -> None:
        if self._piece is not None:
            self._free()
        owner = self.card
        size = 0 if recording.is_own_work() else size
        if size:
            owner.requested += size
            self._size = size
            try:
                self._piece = owner.take(size)
            except BaseException:
                owner.requested, self._size = owner.requested - size, 0
                raise
        owner.ledger.change(self.entry, self._piece.size if size else 0)

    def _free(self) -> None:
        self.card.allocator.give(self._piece)
        self.card.requested -= self._size
        self._piece, self._size = None, 0

    def __del__(self) -> None:
        if self._piece is not None:
            self._free()
            self.card.ledger.change(self.entry, 0)


def allocated(index: int) -> int:
    return int(card(index).allocator.allocated)


def max_allocated(index: int) -> int:
    return card(index).peaks["allocated_bytes"]


def reserved(index: int) -> int:
    return int(card(index).allocator.reserved)


def max_reserved(index: int) -> int:
    return card(index).peaks["reserved_bytes"]


def reset_peak(index: int) -> None:
    card(index).reset_peaks()


def empty_cache() -> None:
    for state in _cards.values():
        state.allocator.empty()


def free_and_total(index: int) -> Tuple[int, int]:
    total = card(index).total
    return max(0, total - reserved(index)), total


def limit(index: int, fraction: Optional[float]) -> None:
    """Let PyTorch have only a part of a card, as set_per_process_memory_fraction does. Raises TypeError, ValueError."""
    if not isinstance(fraction, float):
        raise TypeError("Invalid type for fraction argument, must be `float`")
    if not 0 <= fraction <= 1:
        raise ValueError("Invalid fraction value: %s. Allowed range: 0~1" % fraction)
    card(index).fraction = fraction


def statistics(index: int) -> Dict[str, int]:
    """Return the numbers of torch.npu.memory_stats of both pools together; any other is 0."""
    state = card(index)
    numbers: Dict[str, int] = collections.defaultdict(int)
    for kind, value in state.numbers().items():
        numbers[kind + ".all.current"], numbers[kind + ".all.peak"] = value, max(value, state.peaks[kind])
    numbers["num_alloc_retries"], numbers["num_ooms"] = state.allocator.returns, state.refused
    return numbers


def nested_statistics(index: int) -> Dict[str, Any]:
    """Return the numbers of `statistics`, a dictionary in another for each dot of their names."""
    nested: Dict[str, Any] = collections.defaultdict(dict)
    for name, value in statistics(index).items():
        *path, last = name.split(".")
        place: Any = nested
        for word in path:
            place = place.setdefault(word, {})
        place[last] = value
    return nested
