"""A verdict under test: what was planted, what must be told of it, and what is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Observation:
    """What the program told: a state in its own word ("done", "nan", "incomplete", "refused"), the exit code where
    there is one, and whether a reader would take it as success."""

    state: str
    exit_code: int | None = None
    success: bool


@dataclass(frozen=True, kw_only=True)
class VerdictCase:
    """One planted fault, or one healthy case.

    `verdict` is the sentence under test ("end of a run", "capture", "Home", "preview", "step sentence"). `expected` is
    what must be told. `observe` builds the case in an empty folder and returns what was told; it asks the product,
    never a copy of its rules. `needs_training` keeps a case that starts a process of more than a second out of the
    short test.
    """

    name: str
    verdict: str
    expected: Observation
    observe: Callable[[Path], Observation]
    needs_training: bool = False

    @property
    def is_fault(self) -> bool:
        """Tell whether something is planted: a healthy case must be told as success."""
        return not self.expected.success
