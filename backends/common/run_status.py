"""What happened in a run, folded from its events as they come: phase, progress, what was found, how it ended."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from backends.common.marks import Marks, mark_of
from backends.common.summary import NOTE, Summary, as_number, from_note
from studio.events import Ended, Finding, Metric, Note, Progress
from studio.faults.lost_records import NOTHING, is_loss, lost_in
from studio.sentences import LENGTH_UNKNOWN, NONFINITE_RULES, with_ranks

if TYPE_CHECKING:
    from studio.events import Event

RECENT = 50
MAX_RANKS = 1024
MAX_FINDINGS = 200


class RunStatus:
    """Times in ns since the epoch, 0 where unknown. Only rank 0 tells the phase and the progress. `breaks_in_step`:
    whether a debugger reaches the code of a step. `covered`: up to which step a training came whose meant length is not
    known."""

    def __init__(self) -> None:
        self.attempt = 0
        self.phase = ""
        self.phase_since = 0
        self.done = 0
        self.total = 0
        self.step = 0
        self.compile_since = 0
        self.compile_seconds: float | None = None
        self.device = ""
        self.summary: Summary | None = None
        self.sample = ""
        self.debug_ports = range(0)
        self.breaks_in_step = True
        self.findings: list[Finding] = []
        self._tellers: list[tuple[int, Finding, list[int]]] = []  # number of a finding, as it was said, its ranks
        self._ranks: set[int] = set()
        self.covered: Note | None = None
        self.lost = NOTHING
        self.marks = Marks()
        self.ended: Ended | None = None
        self._recent: deque[tuple[int, int]] = deque(maxlen=RECENT)

    def extend(self, attempt: int, rank: int, events: list[Event]) -> None:
        if rank == 0 and attempt > self.attempt:
            self._begin(attempt)
        if rank not in self._ranks:
            self._ranks.add(rank)
            self._name_ranks()
        for event in [event for event in events if type(event) is not Metric]:
            if mark := mark_of(event):
                self.marks.add(mark)
            if is_loss(event):
                self.lost += lost_in([event])
            elif isinstance(event, Finding):
                self._find(event, rank)
            elif rank == 0 and attempt >= self.attempt:
                self._add(event)
        if rank == 0 and attempt >= self.attempt:
            self._step([event for event in events[-RECENT:] if type(event) is Metric])

    def _find(self, finding: Finding, rank: int) -> None:
        """A flood of warnings leaves room for what ended the run. What several ranks say alike of a loss is kept once,
        with its ranks."""
        if finding.rule in NONFINITE_RULES and "rank" not in finding.args:
            known = (ranks for _, each, ranks in self._tellers if _are_alike(each, finding))
            if (ranks := next(known, None)) is not None:
                ranks.append(rank)
                self._name_ranks()
                return
            self._tellers.append((len(self.findings), finding, [rank]))
        self._keep(finding)
        self._name_ranks()

    def _name_ranks(self) -> None:
        """Let findings say which ranks they are of, once there are several."""
        for number, finding, ranks in self._tellers if len(self._ranks) > 1 else ():
            if number < len(self.findings):
                self.findings[number] = with_ranks(finding, sorted(set(ranks)))

    def _keep(self, finding: Finding) -> None:
        ends = finding.severity == "error" or finding.rule.startswith("explain.")
        if len(self.findings) < MAX_FINDINGS * (2 if ends else 1):
            self.findings.append(finding)

    def _begin(self, attempt: int) -> None:
        """A later attempt compiles and finds its speed again."""
        self.attempt = attempt
        self.compile_since, self.compile_seconds, self.covered = 0, None, None
        self._recent.clear()

    def _add(self, event: Event) -> None:
        if isinstance(event, Progress):
            if event.phase != self.phase:
                self.phase, self.phase_since = event.phase, event.time
            self.done, self.total = event.done, event.total
        elif isinstance(event, Ended):
            self.ended = event
        elif isinstance(event, Note):
            self._note(event)

    def _note(self, note: Note) -> None:
        if note.key == "launch.compiling":
            self.compile_since = note.time
        elif note.key == "launch.compiled":
            self.compile_seconds = as_number(note.args.get("seconds"))
        elif note.key == "launch.device":
            self.device = str(note.args.get("device", ""))
        elif note.key == "launch.sample":
            self.sample = str(note.args.get("text", ""))
        elif note.key == "launch.debugger_waits":
            self.debug_ports = _ports(note.args)
        elif note.key == "launch.debugger_compiled":
            self.breaks_in_step = False
        elif note.key == LENGTH_UNKNOWN:
            self.covered = note
        elif note.key == NOTE:
            self.summary = from_note(note.args)

    def _step(self, metrics: list[Metric]) -> None:
        for metric in metrics:
            if metric.step > self.step or not self._recent:
                self._recent.append((metric.time, metric.step))
            self.step = metric.step

    @property
    def steps_done(self) -> int:
        """Progress is written a few times a second, metrics with every step: whichever is further."""
        return min(max(self.done, self.step), self.total) if self.total > 0 else max(self.done, self.step)

    def fraction(self) -> float:
        return min(1.0, max(0.0, self.steps_done / self.total)) if self.total > 0 else 0.0

    def seconds_left(self) -> float | None:
        """From the last steps' pace, without the first step, which compiles."""
        points = [point for point in self._recent if point[1] > 1]
        if len(points) < 2 or points[-1][1] <= points[0][1] or self.total <= 0:
            return None
        pace = (points[-1][0] - points[0][0]) / 1e9 / (points[-1][1] - points[0][1])
        return max(0.0, pace * (self.total - self.steps_done))

    def reasons(self) -> list[Finding]:
        """Why it failed, the known cause first, then what the training said itself, by time."""
        errors = [finding for finding in self.findings if finding.severity == "error"]
        return sorted(errors, key=lambda finding: (not finding.rule.startswith("explain."), finding.time))

    def last_finding(self, beginning: str, end: str = "") -> Finding | None:
        """The last finding whose rule begins and ends so."""
        errors = (
            finding
            for finding in reversed(self.findings)
            if finding.rule.startswith(beginning) and finding.rule.endswith(end)
        )
        return next(errors, None)


def _ports(args: dict[str, Any]) -> range:
    """Where a training waits for a debugger, a port for each rank; empty for anything else: the file may be damaged."""
    port, ranks = args.get("port"), args.get("ranks")
    if isinstance(port, int) and isinstance(ranks, int) and port > 0 and 0 < ranks <= MAX_RANKS:
        return range(port, port + ranks)
    return range(0)


def _are_alike(first: Finding, second: Finding) -> bool:
    return (first.rule, first.args) == (second.rule, second.args)
