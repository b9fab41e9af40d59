"""The runs that are drawn in the charts, each with a watcher that reads on in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QObject, Signal

from backends.curves.related_runs import resumed_runs
from ui.curves.chart_grid import DrawnRun
from ui.services.run_titles import short_names
from ui.services.watcher import RunWatcher

if TYPE_CHECKING:
    from pathlib import Path

    from studio.run import Run

Key = TypeVar("Key")


class DrawnRuns(QObject):
    """`watchers`: one for each drawn run, by the run's name; `resumed`: one for each run that a drawn one was resumed
    from, by its folder. The signals pass on those of the watchers, with the watcher first."""

    events_arrived = Signal(object)
    loading = Signal(object, object, object)
    state_changed = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.watchers: dict[str, RunWatcher] = {}
        self.resumed: dict[Path, RunWatcher] = {}

    def draw(self, runs_and_colors: list[tuple[Run, int]]) -> list[DrawnRun]:
        """Watch these runs and no others. `runs_and_colors`: each with the index of its colour."""
        runs = [run for run, _ in runs_and_colors]
        _watch(self, self.watchers, {run.name: run for run in runs})
        chains = {run.name: resumed_runs(run) for run in runs}
        _watch(self, self.resumed, {run.folder: run for chain in chains.values() for run in chain})
        return [
            DrawnRun(name, color, self.watchers[run.name], [self.resumed[other.folder] for other in chains[run.name]])
            for (run, color), name in zip(runs_and_colors, short_names(runs), strict=True)
        ]

    def new_watcher(self, run: Run) -> RunWatcher:
        watcher = RunWatcher(self)
        watcher.watch(run)
        watcher.events_arrived.connect(lambda _: self.events_arrived.emit(watcher))
        watcher.loading.connect(lambda done, total: self.loading.emit(watcher, done, total))
        watcher.state_changed.connect(lambda _: self.state_changed.emit())
        return watcher


def _watch(drawn: DrawnRuns, watchers: dict[Key, RunWatcher], runs: dict[Key, Run]) -> None:
    for key in watchers.keys() - runs.keys():
        watcher = watchers.pop(key)
        watcher.close()
        watcher.deleteLater()
    for key, run in runs.items():
        if key not in watchers:
            watchers[key] = drawn.new_watcher(run)
