"""The program that was trained last, with which the form of a training begins."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from backends import features
from studio.feature import action_of
from ui.services.background import run_in_background

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


class ProgramSearch(QObject):
    """Looks for the last program in the background, since folders and certificates may lie on a slow disk: one search
    at a time, and of those that are asked for meanwhile the newest. `found` carries what it was begun with and the
    program, None where there is none."""

    found = Signal(object, object)

    def __init__(self, commands: Collection[str], parent: QObject) -> None:
        super().__init__(parent)
        self._commands = commands
        self._is_running = False
        self._next: tuple[object, tuple[tuple[Run, Glance], ...]] | None = None

    def begin(self, key: object, listed: Iterable[tuple[Run, Glance]]) -> None:
        self._next = (key, tuple(listed))
        if not self._is_running:
            self._start()

    def _start(self) -> None:
        if self._next is not None:
            (key, listed), self._next = self._next, None
            self._is_running = True
            run_in_background(self, partial(last_program, listed, self._commands), partial(self._finish, key))

    def _finish(self, key: object, program: LastProgram | None) -> None:
        self._is_running = False
        if self._next is None:
            self.found.emit(key, program)
        self._start()


def last_program(listed: Iterable[tuple[Run, Glance]], commands: Collection[str]) -> LastProgram | None:
    """Return the newest program of runs of `commands`, and of those that name the training that follows them. What ran
    in the folder of another run, as rehearsals of a certificate do in copies, or in a folder that is gone is passed
    over. Reads certificates and asks for folders: not for the UI thread."""
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
