"""Storage of a profile's notes: they are read once, and each change is merged into the file, one write after the other:
another window may have the same profile open."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from backends.timeline.query.notes import Mark, merge_notes, notes_file, read_notes
from studio.errors import StudioError, from_os
from ui.services.background import run_in_background
from ui.timeline.latest_question import LatestQuestion

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from PySide6.QtCore import QObject

    from backends.timeline.trace import Trace
    from ui.services.session import Session
    from ui.timeline.state.view_state import ViewState


@dataclass(frozen=True, kw_only=True, eq=False)
class _Change:
    """`base`: the notes before the change, as this window last read or wrote them."""

    trace: Trace
    base: tuple[Mark, ...]
    marks: tuple[Mark, ...]


class NoteStorage:
    """`is_typing`: whether a note is being written, which new marks would end."""

    def __init__(self, owner: QObject, session: Session, state: ViewState, is_typing: Callable[[], bool]) -> None:
        self._owner, self._session, self._state, self._is_typing = owner, session, state, is_typing
        self._latest = LatestQuestion(owner)
        self._file: Path | None = None
        self._stored: tuple[Mark, ...] | None = None
        self._is_writing = False
        self._waiting: _Change | None = None
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
        waiting = self._waiting if self._waiting is not None and self._waiting.trace is trace else None
        change = _Change(trace=trace, base=waiting.base if waiting else self._stored, marks=marks)
        self._stored = marks
        if self._is_writing:
            self._waiting = change
        else:
            self._write(change)

    def _write(self, change: _Change) -> None:
        self._is_writing = True
        run_in_background(self._owner, partial(_merged, change), partial(self._written, change))

    def _written(self, change: _Change, merged: tuple[Mark, ...] | StudioError) -> None:
        self._is_writing = False
        if isinstance(merged, StudioError):
            self._session.trouble.emit(merged)
        elif self._waiting is None and self._state.trace is change.trace and not self._is_typing():
            self._show_merged(merged)
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            self._write(waiting)

    def _show_merged(self, merged: tuple[Mark, ...]) -> None:
        """Show what another window wrote meanwhile."""
        if Counter(merged) != Counter(self._state.marks):
            self._stored = merged
            self._state.set_marks(merged)


def _read(trace: Trace) -> tuple[Path, tuple[Mark, ...]]:
    file = notes_file(trace)
    try:
        return file, read_notes(file)
    except OSError:
        return file, ()


def _merged(change: _Change) -> tuple[Mark, ...] | StudioError:
    try:
        return merge_notes(notes_file(change.trace), change.base, change.marks)
    except StudioError as error:
        return error
    except OSError as error:
        return from_os(error, change.trace.root)
