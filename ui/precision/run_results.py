"""What the project's runs produced for this page: captures, comparisons, and the newest answer of each other
command."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from backends.launch.capture import state
from backends.precision.config import result as config_result
from backends.precision.determinism.result import read_determinism
from backends.precision.weights import result as weights
from studio.errors import StudioError
from studio.run import ANSWERED, outcome_of
from ui.precision.captures import read_captures
from ui.precision.comparison.loaded_comparison import load_comparison
from ui.precision.losses_weights.losses_result import read_losses
from ui.services.background import run_in_background
from ui.services.past_runs import LIVE, ended_runs, failure_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from studio.run import Glance, Run
    from ui.precision.captures import Capture
    from ui.precision.comparison.loaded_comparison import LoadedComparison
    from ui.services.session import Session

    Stamp = tuple[Path, str, int]

COMPARE = "compare"
TRAININGS = ("script", "launch")


class RunResults(QObject):
    """Reads each result once, off the UI thread.

    `captures_read` carries the captures of all runs, `comparison_loaded` the comparison requested last,
    `comparison_elsewhere` the run of one that has ended and is not shown by itself, `answer_read` a command, its run
    and its answer, None where it left none. `may_open` is asked whether a new comparison may be shown in the place of
    what the user looks at."""

    captures_read = Signal(tuple)
    comparison_loaded = Signal(object)
    comparison_elsewhere = Signal(object)
    answer_read = Signal(str, object, object)

    def __init__(
        self, session: Session, parent: QObject, may_open: Callable[[Run, Callable[[bool], None]], None]
    ) -> None:
        super().__init__(parent)
        self._session, self._may_open = session, may_open
        self.comparisons: list[Run] = []
        self._newest: Path | None = None
        self._requested: Path | None = None
        self._runs: tuple[tuple[str, str], ...] | None = None
        self._stamps: dict[str, Stamp] = {}
        self._watched: set[str] = set()

    def forget(self) -> None:
        """Drop what belongs to the previous project."""
        self.comparisons, self._newest, self._requested, self._runs = [], None, None, None
        self._stamps.clear()

    def watch(self, run: Run) -> None:
        """Report the failure of a run once, when it has ended."""
        self._watched.add(run.name)

    def update(self, listed: list[tuple[Run, Glance]]) -> None:
        self._report_failures(listed)
        self._update_captures(listed)
        self.comparisons = ended_runs(listed, COMPARE)
        newest = self.comparisons[0] if self.comparisons else None
        if newest is not None and newest.folder != self._newest:
            self._newest = newest.folder
            self._may_open(newest, partial(self._place_comparison, newest))
        for command in READERS:
            self._update_answer(command, listed)

    def _place_comparison(self, run: Run, is_shown: bool) -> None:
        """Show a comparison, or say that it is in the list, unless a newer one has come meanwhile."""
        if run.folder != self._newest:
            return
        if is_shown:
            self.open_comparison(run)
        else:
            self.comparison_elsewhere.emit(run)

    def refresh_captures(self) -> None:
        """Read the captures again, since one may have been added to a run that has ended."""
        self._runs = None
        self._update_captures(self._session.listed)

    def _update_captures(self, listed: list[tuple[Run, Glance]]) -> None:
        runs = tuple((run.name, _capture_stamp(run, glance)) for run, glance in listed)
        if runs != self._runs:
            self._runs = runs
            run_in_background(
                self, partial(read_captures, [run for run, _ in listed]), partial(self._captures_read, runs)
            )

    def _captures_read(self, runs: tuple[tuple[str, str], ...], captures: tuple[Capture, ...]) -> None:
        if runs == self._runs:
            self.captures_read.emit(captures)

    def open_comparison(self, run: Run) -> None:
        self._requested = run.folder
        run_in_background(self, partial(load_comparison, run), partial(self._comparison_loaded, run.folder))

    def _comparison_loaded(self, folder: Path, loaded: LoadedComparison | StudioError) -> None:
        if folder != self._requested:
            return
        if isinstance(loaded, StudioError):
            self._session.trouble.emit(loaded)
        else:
            self.comparison_loaded.emit(loaded)

    def _update_answer(self, command: str, listed: list[tuple[Run, Glance]]) -> None:
        """Read the newest run that has an answer; a followed answer is read again as its run proceeds."""
        newest = next((entry for entry in listed if entry[0].request.command == command and _has_answer(*entry)), None)
        if newest is None:
            return
        run, glance = newest
        stamp = (run.folder, glance.state, glance.progress.done if glance.progress else 0)
        if self._stamps.get(command) != stamp:
            self._stamps[command] = stamp
            run_in_background(self, partial(READERS[command], run), partial(self._answer_read, command, run, stamp))

    def _answer_read(self, command: str, run: Run, stamp: Stamp, answer: Any) -> None:
        if self._stamps.get(command) != stamp:
            return
        if isinstance(answer, StudioError):
            self._session.trouble.emit(answer)
        else:
            self.answer_read.emit(command, run, answer)

    def _report_failures(self, listed: list[tuple[Run, Glance]]) -> None:
        for run, glance in listed:
            if run.name in self._watched and glance.state not in LIVE:
                self._watched.discard(run.name)
                if outcome_of(glance) in ("failed", "lost"):
                    self._session.trouble.emit(failure_of(run))
                elif run.request.command in TRAININGS:
                    run_in_background(self, partial(_failed_capture, run), self._report_error)

    def _report_error(self, error: StudioError | None) -> None:
        if error is not None:
            self._session.trouble.emit(error)


def _failed_capture(run: Run) -> StudioError | None:
    """Return why a training that succeeded left no dump."""
    request = state.newest_request(run.folder)
    ranks = state.ranks(run.folder, request.id).values() if request is not None else ()
    finding = next((rank.finding for rank in ranks if rank.finding), None)
    return None if finding is None else StudioError(finding.rule, **finding.args)


def _capture_stamp(run: Run, glance: Glance) -> str:
    """Return what changes when captures are to be read again: the state of the run and, while live, of its capture."""
    if glance.state not in LIVE or (request := state.newest_request(run.folder)) is None:
        return glance.state
    ranks = sorted(state.ranks(run.folder, request.id).items())
    return f"{glance.state} {[(rank, capture.state) for rank, capture in ranks]}"


def _has_answer(run: Run, glance: Glance) -> bool:
    if glance.state in LIVE:
        return run.request.command in FOLLOWED and glance.progress is not None
    return outcome_of(glance) in ANSWERED


def _read_check(run: Run) -> config_result.EnvironmentCheck | StudioError:
    try:
        return config_result.read_check(run)
    except StudioError as error:
        return error


READERS: dict[str, Callable[[Run], Any]] = {
    "config-check": _read_check,
    "determinism": read_determinism,
    "compare-losses": read_losses,
    "compare-weights": lambda run: weights.read_weights(run.folder),
}
"""How the answer of each command is read from its run folder."""
FOLLOWED = ("compare-losses",)
"""Commands that rewrite their answer while they run."""
