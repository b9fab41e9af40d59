"""What the pages share: the project, its runs and the watched run. One object, so no page needs another."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from studio import run as runs
from studio import schema, worker
from studio.errors import StudioError
from studio.project import Project, make_runs_folder, runs_folder
from studio.security import ledger, trust
from ui.services import run_titles

if TYPE_CHECKING:
    from pathlib import Path

    from studio.run import Glance, Run

LIST_INTERVAL = 2000
LIVE_INTERVAL = 500


class Session(QObject):
    """Lives on the UI thread; its reads are a few kilobytes each and never wait for a process."""

    project_changed = Signal(object)
    runs_changed = Signal(list)
    run_chosen = Signal(object)
    page_requested = Signal(str)
    help_requested = Signal(str)
    path_requested = Signal(str, object)
    """A kind that a feature opens (see `PathOpener`), and a path of that kind."""
    trouble = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.project: Project | None = None
        self.run: Run | None = None
        self.help_topic = ""
        self.listed: list[tuple[Run, Glance]] = []
        self._entries: dict[str, tuple[Run, Glance, int]] = {}
        self._timer = QTimer(self)
        self._timer.timeout.connect(self.refresh_runs)

    def begin(self) -> None:
        """Starts looking at the runs, now and then again."""
        self.refresh_runs()
        self._timer.start(LIST_INTERVAL)

    @property
    def folder(self) -> Path:
        """Where the runs that are listed are."""
        return runs_folder(self.project)

    def open_project(self, folder: Path | None) -> None:
        """Makes a folder the project, or none. Its code is not touched."""
        self.project = Project(folder=folder) if folder else None
        self.run = None
        self._entries.clear()
        self.project_changed.emit(self.project)
        self.run_chosen.emit(None)
        self.refresh_runs()

    def choose_run(self, run: Run | None) -> None:
        self.run = run
        self.run_chosen.emit(run)

    def watch_run(self, run: Run) -> None:
        """Chooses a run and shows the page that shows any run."""
        self.choose_run(run)
        self.page_requested.emit(run_titles.watching_page())

    def open_run(self, run: Run) -> None:
        """Show a run on the page of its feature, or on the page that shows any run."""
        if (page := run_titles.page_of(run)) == run_titles.watching_page():
            self.choose_run(run)
        self.page_requested.emit(page)

    def show_help(self, topic: str) -> None:
        """Shows the help at a section: the key of its heading. A help page that is made only now finds it here."""
        self.help_topic = topic
        self.page_requested.emit("help")
        self.help_requested.emit(topic)

    def start(self, command: str, spec: Any) -> Run | None:
        """Make a run of a spec, start its worker and watch it. Trouble is reported, and None returned."""
        try:
            folder = make_runs_folder(self.project)
            project = self.project.folder if self.project else None
            run = runs.create(folder, command, schema.to_json(spec), project)
            worker.start(run)
        except StudioError as error:
            self.trouble.emit(error)
            return None
        self.refresh_runs()
        self.choose_run(run)
        return run

    def refresh_runs(self) -> None:
        """Reads the list of runs again: only folders that changed or still work are read."""
        worker.reap_started()
        entries = {name: self._glance(name) for name in runs.run_names(self.folder)}
        self._entries = {name: entry for name, entry in entries.items() if entry is not None}
        listed = [(run, glance) for run, glance, _ in self._entries.values()]
        live = any(glance.state in ("running", "queued", *runs.WITHOUT_WORKER) for _, glance in listed)
        if self._timer.isActive():
            self._timer.setInterval(LIVE_INTERVAL if live else LIST_INTERVAL)
        if listed != self.listed:
            self.listed = listed
            self.runs_changed.emit(listed)

    def _glance(self, name: str) -> tuple[Run, Glance, int] | None:
        folder = self.folder / name
        try:
            stamp = os.stat(folder).st_mtime_ns  # noqa: PTH116 - a hundred runs are looked at every two seconds
        except OSError:
            return None
        entry = self._entries.get(name)
        if entry and entry[2] == stamp and entry[1].state in ("ended", "elsewhere", "lost"):
            return entry
        try:
            run = entry[0] if entry else runs.open_run(folder)
        except StudioError:
            return None
        glance = runs.glance(run)
        self._revive(run, glance)
        return run, glance, stamp

    @property
    def is_restricted(self) -> bool:
        """Whether nothing of the project may run without being asked for."""
        return self.project is not None and not trust.is_trusted(self.project.folder)

    def is_listed(self, run: Run) -> bool:
        """Return whether a run is one of the open project, or of none where none is open."""
        return run.folder.parent == self.folder

    def revives(self, run: Run, state: str) -> bool:
        """Return whether a run without a worker gets one here without being asked: see `worker.revive`."""
        if self.is_restricted or not self.is_listed(run) or not ledger.is_own(run.folder):
            return False
        return state == "unattended" or ledger.may_restart(run.folder) or not ledger.is_last_worker_gone(run.folder)

    def give_worker(self, run: Run) -> None:
        """Take a training over, or start what never began, because the user asked for it here."""
        try:
            if runs.state_of(run.folder) == "unattended":
                worker.take_over(run)
            else:
                worker.start(run)
        except StudioError as error:
            self.trouble.emit(error)
        self.refresh_runs()

    def _revive(self, run: Run, glance: Glance) -> None:
        """Start a worker again where one was killed; several windows may try, one wins."""
        if glance.state in runs.WITHOUT_WORKER and not self.is_restricted:
            try:
                worker.revive(run)
            except StudioError as error:
                self.trouble.emit(error)
