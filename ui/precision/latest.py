"""What the project's runs left for this page: captures, comparisons and the newest of the other answers. Each is read
once, off the UI thread."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from backends.launch.capture import state
from studio.errors import StudioError
from studio.run import outcome_of
from ui.asking import ask
from ui.past_runs import LIVE, ended_runs, failure_of
from ui.precision.captures import captures_of
from ui.precision.compared import read_compared
from ui.precision.readers import FOLLOWED, READERS

if TYPE_CHECKING:
    from pathlib import Path

    from studio.run import Glance, Run
    from ui.precision.captures import Capture
    from ui.precision.compared import Compared
    from ui.session import Session

    Stamp = tuple[Path, str, int]

COMPARE = "compare"
TRAININGS = ("script", "launch")


class Latest(QObject):
    """`captures_read`: of all runs. `compared_read`: the comparison that was asked for last. `answer_read`: command,
    run and what it left, None where it left nothing."""

    captures_read = Signal(tuple)
    compared_read = Signal(object)
    answer_read = Signal(str, object, object)

    def __init__(self, session: Session, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        self.comparisons: list[Run] = []
        self._newest: Path | None = None
        self._wanted: Path | None = None
        self._runs: tuple[tuple[str, str], ...] | None = None
        self._seen: dict[str, Stamp] = {}
        self._begun: set[str] = set()

    def forget(self) -> None:
        """Another project."""
        self.comparisons, self._newest, self._wanted, self._runs = [], None, None, None
        self._seen.clear()

    def expect(self, run: Run) -> None:
        """Why it failed is told, once."""
        self._begun.add(run.name)

    def look(self, listed: list[tuple[Run, Glance]]) -> None:
        self._tell_failures(listed)
        self._look_at_captures(listed)
        self.comparisons = ended_runs(listed, COMPARE)
        newest = self.comparisons[0] if self.comparisons else None
        if newest is not None and newest.folder != self._newest:
            self._newest = newest.folder
            self.read_compared(newest)
        for command in READERS:
            self._look_at_answer(command, listed)

    def look_again(self) -> None:
        """A capture may have come to a run that has ended."""
        self._runs = None
        self._look_at_captures(self._session.listed)

    # Captures

    def _look_at_captures(self, listed: list[tuple[Run, Glance]]) -> None:
        runs = tuple((run.name, _told_by(run, glance)) for run, glance in listed)
        if runs != self._runs:
            self._runs = runs
            ask(self, partial(captures_of, [run for run, _ in listed]), partial(self._captures_read, runs))

    def _captures_read(self, runs: tuple[tuple[str, str], ...], found: tuple[Capture, ...]) -> None:
        if runs == self._runs:
            self.captures_read.emit(found)

    # Comparisons

    def read_compared(self, run: Run) -> None:
        self._wanted = run.folder
        ask(self, partial(read_compared, run), partial(self._compared_read, run.folder))

    def _compared_read(self, folder: Path, found: Compared | StudioError) -> None:
        if folder != self._wanted:
            return
        if isinstance(found, StudioError):
            self._session.trouble.emit(found)
        else:
            self.compared_read.emit(found)

    # The other answers

    def _look_at_answer(self, command: str, listed: list[tuple[Run, Glance]]) -> None:
        """The newest that has one; one that is written anew while its run goes on is read again as that gets on."""
        newest = next((entry for entry in listed if entry[0].asked.command == command and _has_answer(*entry)), None)
        if newest is None:
            return
        run, glance = newest
        stamp = (run.folder, glance.state, glance.progress.done if glance.progress else 0)
        if self._seen.get(command) != stamp:
            self._seen[command] = stamp
            ask(self, partial(READERS[command], run), partial(self._answer_read, command, run, stamp))

    def _answer_read(self, command: str, run: Run, stamp: Stamp, found: Any) -> None:
        if self._seen.get(command) != stamp:
            return
        if isinstance(found, StudioError):
            self._session.trouble.emit(found)
        else:
            self.answer_read.emit(command, run, found)

    def _tell_failures(self, listed: list[tuple[Run, Glance]]) -> None:
        for run, glance in listed:
            if run.name in self._begun and glance.state not in LIVE:
                self._begun.discard(run.name)
                if outcome_of(glance) in ("failed", "lost"):
                    self._session.trouble.emit(failure_of(run))
                elif run.asked.command in TRAININGS:
                    ask(self, partial(_failed_capture, run), self._told)

    def _told(self, error: StudioError | None) -> None:
        if error is not None:
            self._session.trouble.emit(error)


def _failed_capture(run: Run) -> StudioError | None:
    """Why a training that went well left no dump."""
    asked = state.asked(run.folder)
    found = state.ranks(run.folder, asked.id).values() if asked is not None else ()
    said = next((one.finding for one in found if one.finding), None)
    return None if said is None else StudioError(said.rule, **said.args)


def _told_by(run: Run, glance: Glance) -> str:
    """What changes when captures are to be looked for: the run's state and, while it goes on, that of its capture."""
    if glance.state not in LIVE or (asked := state.asked(run.folder)) is None:
        return glance.state
    return f"{glance.state} {[(rank, one.state) for rank, one in sorted(state.ranks(run.folder, asked.id).items())]}"


def _has_answer(run: Run, glance: Glance) -> bool:
    if glance.state in LIVE:
        return run.asked.command in FOLLOWED and glance.progress is not None
    return outcome_of(glance) in ("done", "no")
