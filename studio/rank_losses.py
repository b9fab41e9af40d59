"""The loss of a run with several ranks in one figure: the mean over the ranks, at the last step that all of them have.

It is what `studio.series.Curves.mean` draws, from the ends of the files alone: for lists and for the line of a
terminal.
"""

from __future__ import annotations

import os
from collections import defaultdict
from typing import TYPE_CHECKING

from studio.events import Metric, decode, process_of
from studio.tail import last_lines

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from studio.events import Event

MOST_RANKS = 64  # of whose ends a mean is made: more would take too long for a list
KEPT = 256  # steps of a loss of one process
END_BYTES = 16384


class RankLosses:
    """The last losses of each process of the newest attempt, by name and step."""

    def __init__(self) -> None:
        self.unread = 0  # ranks of a run that has too many for a mean
        self._attempt = 0
        self._losses: defaultdict[str, dict[tuple[int, int], dict[int, float]]] = defaultdict(dict)

    def add(self, process: tuple[int, int, int], events: Iterable[Event]) -> None:
        """Add the losses among events of a process (attempt, rank, pid)."""
        attempt, *writer = process
        if attempt > self._attempt:
            self._attempt = attempt
            self._losses.clear()
        for event in events if attempt == self._attempt else ():
            if isinstance(event, Metric):
                self._add(event, (writer[0], writer[1]))

    def _add(self, metric: Metric, writer: tuple[int, int]) -> None:
        for name, value in metric.values.items():
            if "loss" in name and not name.startswith("loss_scale"):
                steps = self._losses[name].setdefault(writer, {})
                steps.pop(metric.step, None)
                steps[metric.step] = float(value)
                if len(steps) > KEPT:
                    del steps[next(iter(steps))]

    def means(self, name: str = "loss") -> list[tuple[int, float]]:
        """Return the last steps that all ranks have, and the means there; nothing where one rank alone has that loss,
        and where two processes claim one rank."""
        writers = self._losses.get(name, {})
        if not writers or self.ranks(name) < 2 or self.ranks(name) < len(writers):
            return []
        common = sorted(set.intersection(*map(set, writers.values())))
        return [(step, sum(steps[step] for steps in writers.values()) / len(writers)) for step in common]

    def ranks(self, name: str = "loss") -> int:
        """Return how many ranks have a loss."""
        return self.unread or len({rank for rank, _ in self._losses.get(name, {})})


def losses_of(folder: Path) -> RankLosses:
    """Return the losses at the ends of the files of all ranks, END_BYTES of each; nothing of a run with one rank, or
    with more than MOST_RANKS."""
    losses, processes = RankLosses(), _processes(folder)
    count = len({rank for _, rank, _ in processes.values()})
    if count > MOST_RANKS:
        losses.unread = count
    for name, process in processes.items() if 1 < count <= MOST_RANKS else ():
        losses.add(process, decode(b"\n".join(last_lines(folder / name, END_BYTES)))[0])
    return losses


def _processes(folder: Path) -> dict[str, tuple[int, int, int]]:
    """Return the event files of a run and their processes, the newest attempt alone."""
    try:
        names = [(name, process_of(name)) for name in os.listdir(folder)]
    except OSError:
        return {}
    processes = {name: process for name, process in names if process}
    newest = max((attempt for attempt, _, _ in processes.values()), default=0)
    return {name: process for name, process in processes.items() if process[0] == newest}
