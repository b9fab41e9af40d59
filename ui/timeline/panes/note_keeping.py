"""Storage of a profile's notes: they are read once, and written after each change, one write after the other."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from backends.timeline.query.notes import Mark, notes_file, read_notes, write_notes
from studio.errors import StudioError, from_os
from ui.services.background import run_in_background
from ui.timeline.latest_question import LatestQuestion

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtCore import QObject

    from backends.timeline.trace import Trace
    from ui.services.session import Session
    from ui.timeline.state.view_state import ViewState


class NoteStorage:
    def __init__(self, owner: QObject, session: Session, state: ViewState) -> None:
        self._owner, self._session, self._state = owner, session, state
        self._latest = LatestQuestion(owner)
        self._file: Path | None = None
        self._stored: tuple[Mark, ...] | None = None
        self._is_writing = False
        self._waiting: tuple[Trace, tuple[Mark, ...]] | None = None
        state.trace_changed.connect(self._read)
        state.marks_changed.connect(self._keep)

    def _read(self) -> None:
        """Read the notes, but not those of a partial trace: its content does not tell yet whose notes they are."""
        trace = self._state.trace
        self._stored = None
        self._latest.drop()
        if trace is not None and trace.meta.partial is None:
            self._latest.run(partial(_read, trace), self._show)

    def _show(self, notes: tuple[Path, tuple[Mark, ...]]) -> None:
        """Show the stored notes. Marks made in the meantime are kept, unless they belong to another file of the same
        folder."""
        file, marks = notes
        is_other = self._file not in (None, file)
        new = () if is_other else tuple(mark for mark in self._state.marks if mark not in marks)
        self._file, self._stored = file, marks
        if (both := (*marks, *new)) != self._state.marks:
            self._state.set_marks(both)
        else:
            self._keep()  # without a signal, which would end the typing of a note

    def _keep(self) -> None:
        trace, marks = self._state.trace, self._state.marks
        if trace is None or self._stored is None or marks == self._stored:
            return
        self._stored = marks
        if self._is_writing:
            self._waiting = (trace, marks)
        else:
            self._write(trace, marks)

    def _write(self, trace: Trace, marks: tuple[Mark, ...]) -> None:
        self._is_writing = True
        run_in_background(self._owner, partial(_written, trace, marks), self._written)

    def _written(self, error: StudioError | None) -> None:
        self._is_writing = False
        if error is not None:
            self._session.trouble.emit(error)
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            self._write(*waiting)


def _read(trace: Trace) -> tuple[Path, tuple[Mark, ...]]:
    file = notes_file(trace)
    try:
        return file, read_notes(file)
    except OSError:
        return file, ()


def _written(trace: Trace, marks: tuple[Mark, ...]) -> StudioError | None:
    try:
        write_notes(notes_file(trace), marks)
    except StudioError as error:
        return error
    except OSError as error:
        return from_os(error, trace.root)
    return None
