"""What is asked of a resume: which run of a user's own program goes on."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from studio import files
from studio.schema import Problem, option

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, kw_only=True)
class EndedRun:
    run: Path = option(Path(), wants="run", positional=True)


def _run_exists(spec: ResumeSpec) -> Iterable[Problem]:
    if not files.is_file(spec.ended.run / "run.json"):
        yield Problem(field="run", rule="launch.rule.no_run_to_resume")


@dataclass(frozen=True, kw_only=True)
class ResumeSpec:
    ended: EndedRun = field(default_factory=EndedRun)

    RULES = (_run_exists,)
