"""What the bytes of a card belong to at the moment when most of them are taken.

Each block has an entry with a label, (kind, module), that may still change: a block of the backward pass is known to be
a gradient only when that pass is over. So nothing is added up at the peak; what is taken and given back after it is
written down, and the sums at the peak are those of now without what came after.
"""

from __future__ import annotations

if False:
    from typing import Callable, Dict, List, Optional, Tuple

    Label = Tuple[str, str]

OTHER = ("other", "")
MAX_CHANGES = 200000  # after a peak; then its sums are taken as they are


class Entry:
    """The bytes of one block, and what they are for."""

    __slots__ = ("label", "size")

    def __init__(self, label: Label) -> None:
        self.label, self.size = label, 0


class Ledger:
    """`peak`: the most bytes that were ever taken at once; `peak_label`, `peak_step`: what was taken last then."""

    def __init__(self, before_sums: Callable[[], None], step: Callable[[], int]) -> None:
        self.taken = self.peak = self.peak_step = 0
        self.peak_label: Label = OTHER
        self._entries: Dict[int, Entry] = {}
        self._changes: Optional[List[Tuple[Entry, int]]] = []
        self._sums: Dict[Label, int] = {}
        self._before_sums = before_sums
        self._step = step

    def change(self, entry: Entry, size: int) -> None:
        """Write down that an entry has `size` bytes now."""
        difference = size - entry.size
        if not difference:
            return
        entry.size = size
        if size:
            self._entries[id(entry)] = entry
        else:
            self._entries.pop(id(entry), None)
        self.taken += difference
        if self.taken > self.peak:
            self.peak, self.peak_label, self.peak_step = self.taken, entry.label, self._step()
            self._changes = []
        elif self._changes is not None:
            self._changes.append((entry, difference))
            if len(self._changes) > MAX_CHANGES:
                self._sums, self._changes = self.sums(), None

    def sums(self) -> Dict[Label, int]:
        """Return the bytes of each label at the peak."""
        if self._changes is None:
            return self._sums
        self._before_sums()
        sums: Dict[Label, int] = {}
        for entry in list(self._entries.values()):
            sums[entry.label] = sums.get(entry.label, 0) + entry.size
        for entry, difference in self._changes:
            sums[entry.label] = sums.get(entry.label, 0) - difference
        return {label: size for label, size in sums.items() if size}
