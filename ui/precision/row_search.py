"""The names of calls as one text in which words are found: 100,000 names in some milliseconds."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_DIGITS = re.compile(r"\d+")


class Names:
    def __init__(self, names: Sequence[str]) -> None:
        self._names = names

    def __len__(self) -> int:
        return len(self._names)

    def prepare(self) -> None:
        """Puts the text and the ranks together."""
        self.ranks()
        self._ends  # noqa: B018 - it is kept

    def containing(self, words: Sequence[str]) -> NDArray[np.bool_]:
        """Of each name whether it holds all words, which are in small letters."""
        found = np.ones(len(self._names), np.bool_)
        for word in words:
            hit = np.zeros(len(self._names), np.bool_)
            hit[np.searchsorted(self._ends, self._places(word.encode("utf-8", "replace")), "right")] = True
            found &= hit
        return found

    def ranks(self) -> NDArray[np.uint32]:
        """Of each name its place in the alphabet, numbers in it by their value."""
        return self._ranks

    @cached_property
    def _ranks(self) -> NDArray[np.uint32]:
        ranks = np.empty(len(self._names), np.uint32)
        spelled = [_DIGITS.sub(lambda digits: digits[0].zfill(9), name) for name in self._names]
        ranks[sorted(range(len(spelled)), key=spelled.__getitem__)] = np.arange(len(spelled), dtype=np.uint32)
        return ranks

    @cached_property
    def _text(self) -> NDArray[np.uint8]:
        lines = [name.lower().replace("\n", " ").encode("utf-8", "replace") for name in self._names]
        return np.frombuffer(b"\n".join(lines) + b"\n", np.uint8)

    @cached_property
    def _ends(self) -> NDArray[np.int64]:
        return np.flatnonzero(self._text == ord("\n"))

    def _places(self, word: bytes) -> NDArray[np.int64]:
        """Where a word begins: the places of its first letter, of those the ones with the second, and so on."""
        text = self._text
        last = len(text) - len(word)
        places = np.flatnonzero(text[: max(0, last)] == word[0])
        for number, letter in enumerate(word[1:], 1):
            places = places[text[places + number] == letter]
        return places
