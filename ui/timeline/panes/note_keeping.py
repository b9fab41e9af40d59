"""Reads the notes of a profile, and writes them after each change, one write after the other."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from backends.timeline.query.notes import Mark, place_of_notes, read_notes, write_notes
from studio.errors import StudioError, from_os
from ui.asking import ask
from ui.timeline.latest import Latest

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtCore import QObject

    from backends.timeline.trace import Trace
    from ui.session import Session
    from ui.timeline.state import ViewState


class NoteKeeping:
    def __init__(self, owner: QObject, session: Session, state: ViewState) -> None:
        self._owner, self._session, self._state = owner, session, state
        self._latest = Latest(owner)
        self._place: Path | None = None
        self._kept: tuple[Mark, ...] | None = None
        self._is_writing = False
        self._waiting: tuple[Trace, tuple[Mark, ...]] | None = None
        state.trace_changed.connect(self._read)
        state.marks_changed.connect(self._keep)

    def _read(self) -> None:
        """Of a part that is shown first nothing is read: its content says not yet whose notes they are."""
        trace = self._state.trace
        self._kept = None
        self._latest.drop()
        if trace is not None and trace.meta.partial is None:
            self._latest.ask(partial(_read, trace), self._show)

    def _show(self, found: tuple[Path, tuple[Mark, ...]]) -> None:
        """Those that were made meanwhile stay, but not those of another file of the same folder."""
        place, marks = found
        is_other = self._place not in (None, place)
        new = () if is_other else tuple(mark for mark in self._state.marks if mark not in marks)
        self._place, self._kept = place, marks
        if (both := (*marks, *new)) != self._state.marks:
            self._state.set_marks(both)
        else:
            self._keep()  # without a signal, which would end the typing of a note

    def _keep(self) -> None:
        trace, marks = self._state.trace, self._state.marks
        if trace is None or self._kept is None or marks == self._kept:
            return
        self._kept = marks
        if self._is_writing:
            self._waiting = (trace, marks)
        else:
            self._write(trace, marks)

    def _write(self, trace: Trace, marks: tuple[Mark, ...]) -> None:
        self._is_writing = True
        ask(self._owner, partial(_written, trace, marks), self._written)

    def _written(self, error: StudioError | None) -> None:
        self._is_writing = False
        if error is not None:
            self._session.trouble.emit(error)
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            self._write(*waiting)


def _read(trace: Trace) -> tuple[Path, tuple[Mark, ...]]:
    place = place_of_notes(trace)
    try:
        return place, read_notes(place)
    except OSError:
        return place, ()


def _written(trace: Trace, marks: tuple[Mark, ...]) -> StudioError | None:
    try:
        write_notes(place_of_notes(trace), marks)
    except StudioError as error:
        return error
    except OSError as error:
        return from_os(error, trace.root)
    return None
