"""A run in a terminal: what happens, as lines, until it ends."""

from __future__ import annotations

import sys
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

from studio import files, worker
from studio import run as runs
from studio.errors import StudioError, from_os
from studio.events import Ended, Finding, Metric, Note, Progress, is_error
from studio.faults.held_folder import HeldFolder
from studio.faults.lost_records import NOTHING, is_loss, lost_in
from studio.output.terminal import printable_line
from studio.rank_losses import RankLosses
from studio.security import ledger
from studio.sentences import NONFINITE_RULES, sentence_of, with_ranks
from studio.tail import RunTail, last_lines
from studio.texts import t
from studio.units import number

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from studio.events import Event
    from studio.run import Glance, Run

LONGEST_START = 60 * 10**9


def follow(run: Run, print_message: Callable[[str], None], *, may_revive: bool, line: str = "") -> Glance:
    """Print what the run does until it ends. Returns how it ended. Raises as `Follower.follow` does."""
    return Follower(run, print_message).follow(may_revive=may_revive, line=line)


class Follower:
    """Prints what a run does. A second `follow` goes on where an interrupted one was."""

    def __init__(self, run: Run, print_message: Callable[[str], None]) -> None:
        self._run = run
        self._tail = RunTail(run.folder)
        self._lines = _Lines(print_message)

    def follow(self, *, may_revive: bool, line: str = "") -> Glance:
        """Print what the run does until it ends. Returns how it ended.

        `may_revive`: where its worker is killed, another goes on with it, if this user started the run. `line`: what a
        start of the run would run, for the question. Raises StudioError where a run needs a worker and must not get
        one without being asked, and where somebody moves or deletes its folder.
        """
        try:
            held = HeldFolder(self._run.folder)
        except OSError as error:
            raise from_os(error, self._run.folder) from error
        with closing(held):
            return self._follow(held, may_revive=may_revive, line=line)

    def _follow(self, held: HeldFolder, *, may_revive: bool, line: str) -> Glance:
        run, tail, lines = self._run, self._tail, self._lines
        checked_at = 0.0
        while True:
            offset = tail.offset()
            for process, events in tail.read_processes():
                lines.add(process, events)
                lines.lost += lost_in(events)
            lines.tell_nonfinite()
            if tail.offset() > offset and tail.pending():
                lines.show()
                continue
            if lines.ended:
                lines.finish()
                return runs.glance(run)
            if time.monotonic() - checked_at > 1:
                checked_at = time.monotonic()
                worker.reap_started()
                _raise_if_gone(run, held)
                lines.show_disk(run.folder)
                if _is_over(run, tail, may_revive=may_revive, line=line):
                    lines.finish()
                    return runs.glance(run)
            lines.show()
            time.sleep(0.1)


def _raise_if_gone(run: Run, held: HeldFolder) -> None:
    if held.is_deleted():
        raise StudioError("run.deleted", run=run.name)
    if not held.is_in_place():
        raise StudioError("run.moved_away", run=run.name, to=str(held.path()))


def _is_over(run: Run, tail: RunTail, *, may_revive: bool, line: str) -> bool:
    """Return whether nothing more will come. Raises StudioError where a worker is needed and none may be started."""
    if runs.ended_of(run.folder):
        return not tail.pending()  # else its last events are still to be read
    state = runs.state_of(run.folder)
    if state in runs.WITHOUT_WORKER and not (may_revive and worker.revive(run)):
        raise_without_worker(run, line)
    if state == "queued" and abs(time.time_ns() - run.request.time) > LONGEST_START:
        if last_lines(run.folder / "worker.log"):
            raise StudioError("run.no_worker", run=run.name, log=str(run.folder / "worker.log"))
        raise StudioError("run.no_worker_silent", run=run.name)
    return state == "lost"


def raise_without_worker(run: Run, line: str = "") -> None:
    """Raise StudioError with what to do where a run has no worker; nothing is raised where one was started just now."""
    state = runs.state_of(run.folder)
    entry = ledger.entry_of(run.folder)
    if state not in runs.WITHOUT_WORKER or (ledger.is_own(run.folder) and not ledger.is_last_worker_gone(run.folder)):
        return
    if state == "unattended":
        raise StudioError("run.unattended", run=run.name)
    if entry is not None and len(entry.workers) >= ledger.MOST_WORKERS:
        raise StudioError("run.gave_up", run=run.name, count=len(entry.workers))
    raise StudioError("run.interrupted", run=run.name, line=line or runs.line_of(run.request))


def is_nonfinite(event: Event) -> bool:
    """Tell whether a process says that its loss is no number any more: any rank may be the first."""
    return isinstance(event, Finding) and event.rule in NONFINITE_RULES


class _Lines:
    """Prints progress: on one line where stderr is a terminal, now and then a line where it is a file."""

    def __init__(self, print_message: Callable[[str], None]) -> None:
        self._print = print_message
        self._live = sys.stderr.isatty()
        self._printed_at = 0.0
        self._values: dict[str, Any] = {}
        self._step = 0
        self._progress: Progress | None = None
        self._news = False
        self._losses = RankLosses()
        self._ranks: set[int] = set()
        self._errors: set[str] = set()
        self._nonfinite: dict[str, tuple[Finding, list[int]]] = {}
        self._is_disk_full = False
        self.lost = NOTHING
        self.ended = False

    def add(self, process: tuple[int, int, int], events: list[Event]) -> None:
        """Add the events of a process (attempt, rank, pid): of other ranks than the first, what is wrong with them and
        their part of the mean loss."""
        rank = process[1]
        self._ranks.add(rank)
        self._news = self._news or any(isinstance(event, Metric) for event in events)  # the mean is another one
        self._losses.add(process, events)
        self._gather([event for event in events if is_nonfinite(event)], rank)
        rest = [event for event in events if not is_nonfinite(event)]
        self._add(rest if rank == 0 else [event for event in rest if is_error(event)])

    def _gather(self, events: list[Event], rank: int) -> None:
        """Keep what several ranks say alike for one line."""
        for event in events:
            if isinstance(event, Finding):
                self._nonfinite.setdefault(sentence_of(event), (event, []))[1].append(rank)

    def tell_nonfinite(self) -> None:
        """Print what the ranks said of losses that are no numbers since the last time, each sentence once."""
        gathered, self._nonfinite = self._nonfinite, {}
        for sentence, (finding, ranks) in gathered.items():
            if sentence and sentence not in self._errors:
                self._errors.add(sentence)
                is_named = len(self._ranks) > 1 and "rank" not in finding.args
                self._say(sentence_of(with_ranks(finding, ranks)) if is_named else sentence)

    def _add(self, events: list[Event]) -> None:
        for event in events:
            if isinstance(event, Metric):
                self._values |= event.values
                self._step = event.step
            elif isinstance(event, Progress):
                self._progress = event
                self._news = True
            elif isinstance(event, Note | Finding):
                if not is_loss(event):  # the end tells all of them together
                    self._print_event(event)
            elif isinstance(event, Ended):
                self.ended = True

    def _print_event(self, event: Note | Finding) -> None:
        sentence = sentence_of(event)
        if is_error(event) and sentence in self._errors:
            return
        if sentence:
            self._errors.add(sentence)
            self._say(sentence)

    def _say(self, sentence: str) -> None:
        self._clear()
        self._print(sentence)

    def _clear(self) -> None:
        if self._live:
            sys.stderr.write("\r\033[K")

    def show(self) -> None:
        is_known = bool(self._values or self._progress)  # of the first rank
        if self._news and is_known and time.monotonic() - self._printed_at > (0.2 if self._live else 5):
            self._printed_at = time.monotonic()
            self._news = False
            self._clear()
            sys.stderr.write(self._line() + ("" if self._live else "\n"))
            sys.stderr.flush()

    def show_disk(self, folder: Path) -> None:
        """Say once that the disk is full: nothing else tells why a run stands still, or does not end."""
        was_full, self._is_disk_full = self._is_disk_full, files.is_disk_full(folder)
        if self._is_disk_full and not was_full:
            self._clear()
            self._print(t("run.disk_full_now", path=str(folder)))

    def finish(self) -> None:
        self._clear()
        if self._values and (self._live or self._news):  # a file has the last line already where nothing came since
            self._print(self._line())
        for sentence in self.lost.sentences():
            self._print(sentence)

    def _line(self) -> str:
        values = "  ".join(f"{name} {self._figure(name)}" for name in self._values)
        progress = self._progress
        if progress is None:
            return printable_line(values)
        done = f"{progress.done}/{progress.total}" if progress.total else str(progress.done)
        return printable_line(f"{t('phase.' + progress.phase)} {done}  {values}")

    def _figure(self, name: str) -> str:
        """Return the last value of a metric: of a loss the mean over the ranks, which is said."""
        ranks, means = self._losses.ranks(name), self._losses.means(name)
        if ranks < 2:
            return number(float(self._values[name]))
        if not means:
            return t("run.figure_of_first", figure=number(float(self._values[name])))
        step, mean = means[-1]
        if step < self._step:  # the other figures of the line are of a later one
            return t("run.figure_of_ranks_at", figure=number(mean), ranks=ranks, step=step)
        return t("run.figure_of_ranks", figure=number(mean), ranks=ranks)
