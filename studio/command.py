"""A command is a value: shown before it runs, tested without running."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Command:
    """`env` holds only what is added to the worker's environment; the rest is `studio.environment`'s."""

    argv: tuple[str, ...]
    cwd: Path
    env: dict[str, str] = field(default_factory=dict)

    def shell(self) -> str:
        """The line a person can paste into a POSIX shell."""
        return shlex.join(self.argv)
