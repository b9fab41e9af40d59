"""The program that was trained last, with which the form of a training begins."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backends import features
from studio.feature import action_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from studio.run import Glance, Run


@dataclass(frozen=True, kw_only=True)
class LastProgram:
    """`values`: as in run.json; `is_proposed`: whether a run names them for the training that follows it, in place of
    its own."""

    values: dict[str, Any]
    is_proposed: bool

    @property
    def section(self) -> dict[str, Any]:
        """The section that holds the command line, {} where none does."""
        sections = (section for section in self.values.values() if isinstance(section, dict))
        return next((section for section in sections if isinstance(section.get("line"), list) and section["line"]), {})


def last_program(listed: Iterable[tuple[Run, Glance]], commands: Collection[str]) -> LastProgram | None:
    """Return the newest program of runs of `commands`, and of those that name the training that follows them. What ran
    in the folder of another run, as rehearsals of a certificate do in copies, or in a folder that is gone is passed
    over."""
    programs = ((run, _program_of(run, glance, commands)) for run, glance in listed)
    return next((program for run, program in programs if program and _is_there(program.section, run)), None)


def _program_of(run: Run, glance: Glance, commands: Collection[str]) -> LastProgram | None:
    action = action_of(features(), run.request.command)
    proposed = None if action is None else action.next_training(run, glance)
    if proposed is None and run.request.command not in commands:
        return None
    values = run.request.values if proposed is None else proposed
    program = LastProgram(values=values, is_proposed=proposed is not None)
    return program if program.section else None


def _is_there(program: dict[str, Any], run: Run) -> bool:
    workdir = program.get("workdir")
    if not isinstance(workdir, str) or not workdir:
        return True
    folder = Path(workdir)
    return folder.is_dir() and not folder.resolve().is_relative_to(run.folder.parent.resolve())
