"""Exports that record what the scan of a file asked: while the answers stay the same, its cached scan holds."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from backends.migration.scan.python.exports import ProjectExports

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backends.migration.scan.python.exports import ModuleExports

UNCHANGED = ""
"""An answer that is the question itself, as nearly all are; no name is empty."""


class RecordingExports(ProjectExports):
    """Project exports that record their questions and answers, file by file."""

    def __init__(self, modules: Mapping[str, ModuleExports] | None = None) -> None:
        super().__init__(modules)
        self.questions: dict[str, str] = {}
        self.texts: dict[str, str | None] = {}

    def start_file(self) -> None:
        """Forget the questions of the previous file."""
        self.questions = {}
        self.texts = {}

    def canonical_name(self, name: str, path: str) -> str:
        answer = super().canonical_name(name, path)
        self.questions[name] = UNCHANGED if answer == name else answer
        return answer

    def constant_text(self, name: str, path: str) -> str | None:
        answer = self.texts[name] = super().constant_text(name, path)
        return answer

    @cached_property
    def shared_answers(self) -> str:
        """What the scan of every module depends on without asking."""
        return repr((sorted(self.extensions), sorted(self.own_cuda)))

    def has_same_answers(self, path: str, questions: Mapping[str, str], texts: Mapping[str, str | None]) -> bool:
        """Whether the module at `path` would get the same answers now."""
        return all(
            super(RecordingExports, self).canonical_name(name, path) == (answer or name)
            for name, answer in questions.items()
        ) and all(super(RecordingExports, self).constant_text(name, path) == answer for name, answer in texts.items())
