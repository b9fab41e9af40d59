"""Finds words in the names of calls, which are kept as one text: 100,000 names in some milliseconds."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_DIGITS = re.compile(r"\d+")


class CallNames:
    def __init__(self, names: Sequence[str]) -> None:
        self._names = names

    def __len__(self) -> int:
        return len(self._names)

    def prepare(self) -> None:
        """Build the text and the ranks."""
        self.ranks()
        self._ends  # noqa: B018 - it is kept

    def containing(self, words: Sequence[str]) -> NDArray[np.bool_]:
        """Return for each name whether it contains all `words`, which must be lower case."""
        is_match = np.ones(len(self._names), np.bool_)
        for word in words:
            has_word = np.zeros(len(self._names), np.bool_)
            has_word[np.searchsorted(self._ends, self._positions(word.encode("utf-8", "replace")), "right")] = True
            is_match &= has_word
        return is_match

    def ranks(self) -> NDArray[np.uint32]:
        """Return the alphabetical rank of each name, with numbers in it ordered by value."""
        return self._ranks

    @cached_property
    def _ranks(self) -> NDArray[np.uint32]:
        ranks = np.empty(len(self._names), np.uint32)
        sort_keys = [_DIGITS.sub(lambda digits: digits[0].zfill(9), name) for name in self._names]
        ranks[sorted(range(len(sort_keys)), key=sort_keys.__getitem__)] = np.arange(len(sort_keys), dtype=np.uint32)
        return ranks

    @cached_property
    def _text(self) -> NDArray[np.uint8]:
        lines = [name.lower().replace("\n", " ").encode("utf-8", "replace") for name in self._names]
        return np.frombuffer(b"\n".join(lines) + b"\n", np.uint8)

    @cached_property
    def _ends(self) -> NDArray[np.int64]:
        return np.flatnonzero(self._text == ord("\n"))

    def _positions(self, word: bytes) -> NDArray[np.int64]:
        """Return where `word` begins, narrowing down the positions of its first letter one letter at a time."""
        text = self._text
        last = len(text) - len(word)
        positions = np.flatnonzero(text[: max(0, last)] == word[0])
        for number, letter in enumerate(word[1:], 1):
            positions = positions[text[positions + number] == letter]
        return positions
