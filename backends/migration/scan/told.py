"""What the other modules of a project told the reader of one: as long as they would say the same, its reading holds."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from backends.migration.scan.python.exports import Exports

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backends.migration.scan.python.exports import Exported

SAME = ""
"""Stands for an answer that is the question itself, as nearly all are; no name is empty."""


class Asked(Exports):
    """Exports that note what they are asked, file by file."""

    def __init__(self, modules: Mapping[str, Exported] | None = None) -> None:
        super().__init__(modules)
        self.questions: dict[str, str] = {}
        self.texts: dict[str, str | None] = {}

    def begin(self) -> None:
        """Of the next file."""
        self.questions = {}
        self.texts = {}

    def canonical(self, name: str, path: str) -> str:
        answer = super().canonical(name, path)
        self.questions[name] = SAME if answer == name else answer
        return answer

    def constant(self, name: str, path: str) -> str | None:
        answer = self.texts[name] = super().constant(name, path)
        return answer

    @cached_property
    def everywhere(self) -> str:
        """What every reader is told."""
        return repr((sorted(self.extensions), sorted(self.own_cuda)))

    def would_say(self, path: str, questions: Mapping[str, str], texts: Mapping[str, str | None]) -> bool:
        """Whether the answers are still the same."""
        return all(
            super(Asked, self).canonical(name, path) == (answer or name) for name, answer in questions.items()
        ) and all(super(Asked, self).constant(name, path) == answer for name, answer in texts.items())
