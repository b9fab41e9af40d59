"""Curves: one run at the front, live or old, and others drawn with it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QApplication, QHBoxLayout, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from ui.curves.capture_card import CaptureCard
from ui.curves.drawn_runs import DrawnRuns
from ui.curves.export_button import ExportButton
from ui.curves.log_panel import LogPanel
from ui.curves.other_python import OtherPythonWay
from ui.curves.overflow_button import OverflowWay
from ui.curves.resume_button import ResumeButton
from ui.curves.run_content import SCROLL_BAR, RunContent, WatchedRun
from ui.curves.run_list import RunList
from ui.curves.stop_control import StopControl
from ui.curves.worker_card import WorkerCard
from ui.services import actions
from ui.services.run_titles import page_of, state_name, title_of, tone_of, watching_page
from ui.widgets.basic import GAP, MARGIN, Chip, Empty, Sentence, Title, button, text_button
from ui.widgets.icons import show_icon
from ui.widgets.localized import localize

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent

    from studio.run import Glance, Run
    from ui.services.session import Session
    from ui.services.watcher import RunWatcher

QWIDGETSIZE_MAX = (1 << 24) - 1
TICK = 500
LOADING_FRAME = 0.5
WIDE = 1300
"""The width of the page, in pixels, from which the list of runs has room next to the charts."""


def make_page(session: Session) -> CurvesPage:
    return CurvesPage(session)


def open_path(path: Path) -> None:
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))


class CurvesPage(QWidget):
    def __init__(self, session: Session) -> None:
        super().__init__()
        self.setObjectName("page")
        self.session = session
        self.run: Run | None = None
        self.drawn = DrawnRuns(self)
        self.drawn.events_arrived.connect(self._draw_arrived)
        self.drawn.loading.connect(self._show_loading)
        self.drawn.state_changed.connect(self._show_state)
        self._drew = 0.0
        self._is_wide: bool | None = None
        self._make()
        self._register()
        self._timer = QTimer(self)
        self._timer.setInterval(TICK)
        self._timer.timeout.connect(self._tick)
        session.runs_changed.connect(self._runs_changed)
        session.run_chosen.connect(lambda _: self._choose())
        session.project_changed.connect(self._project_changed)
        self._runs_changed(session.listed)

    @property
    def watcher(self) -> RunWatcher | None:
        """The watcher of the run at the front."""
        return self.drawn.watchers.get(self.run.name) if self.run else None

    # How it is built

    def _make(self) -> None:
        self.stack = QStackedWidget()
        empty = Empty("curves", "curves.empty_title", "curves.empty", "curves.empty_button", "curves_go_to_launch")
        empty.clicked.connect(lambda: self.session.page_requested.emit("launch"))
        self.stack.addWidget(empty)
        self.stack.addWidget(self._make_full())
        column = QVBoxLayout(self)
        # The scroll bar lies in the right margin, so that cards end where the buttons above them do.
        column.setContentsMargins(MARGIN, MARGIN - 6, MARGIN - SCROLL_BAR, 14)
        column.addWidget(self.stack, 1)
        column.addWidget(self.run_list.undo_line)

    def _make_full(self) -> QWidget:
        full = QWidget()
        column = QVBoxLayout(full)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(10)
        head = self._make_head()
        head.setContentsMargins(0, 0, SCROLL_BAR, 0)
        column.addLayout(head)
        self.sentence = Sentence()
        self.sentence.setObjectName("curves_sentence")
        self.sentence.setContentsMargins(0, 0, SCROLL_BAR, 0)
        column.addWidget(self.sentence)
        self.run_list = RunList(self.session)
        self.run_list.ticked.connect(self._draw_ticked)
        self.run_list.folder_requested.connect(self.open_folder)
        row = QHBoxLayout()
        row.setSpacing(GAP)
        row.addWidget(self.run_list)
        row.addWidget(self._make_splitter(), 1)
        column.addLayout(row, 1)
        return full

    def _make_head(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(12)
        self.chip = Chip()
        self.chip.setObjectName("curves_state")
        self._runs_button = text_button("curves.runs", "curves_toggle_runs")
        self._runs_button.setCheckable(True)
        show_icon(self._runs_button, "menu", "accent", 16)
        localize(self._runs_button.setToolTip, "curves.toggle_runs_hint")
        self._runs_button.clicked.connect(self._show_runs_drawer)
        self.stop, self.export = StopControl(self.session), ExportButton(self.session)
        self.capture = CaptureCard(self.session)
        self.capture.folder_requested.connect(open_path)
        self._copy = text_button("curves.copy_path", "curves.copy_path")
        self._copy.clicked.connect(self.copy_path)
        localize(self._copy.setToolTip, "curves.copy_path_hint")
        self._open = button("curves.open_folder", "curves.open_folder")
        self._open.clicked.connect(lambda: self.open_folder(self.run))
        row.addWidget(Title("curves.title"))
        row.addWidget(self.chip)
        row.addWidget(self._runs_button)
        row.addStretch(1)
        self.overflow = OverflowWay(self.session)
        self.resume = ResumeButton(self.session)
        ways = (self.overflow.button, self.resume.button)
        for widget in (*ways, self.stop, self.capture.button, self.export, self._copy, self._open):
            row.addWidget(widget)
        return row

    def _make_splitter(self) -> QSplitter:
        self.content, self.log = RunContent(self.capture, WorkerCard(self.session)), LogPanel()
        self.other_python = OtherPythonWay(self.session)
        self.content.reason.add_action(self.other_python.button)
        self.content.rehearsal.report_read.connect(self._show_run)
        self.content.reason.log_requested.connect(lambda: self.log.open(True))
        self.content.times.launch_requested.connect(lambda: self.session.page_requested.emit("launch"))
        self.log.opened.connect(self._log_opened)
        self.splitter = QSplitter(Qt.Orientation.Vertical)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.addWidget(self.content)
        self._drawer = QWidget()
        row = QHBoxLayout(self._drawer)
        row.setContentsMargins(0, 0, SCROLL_BAR, 0)
        row.addWidget(self.log)
        self.splitter.addWidget(self._drawer)
        self.splitter.setStretchFactor(0, 1)
        self._log_opened(False)
        return self.splitter

    def _register(self) -> None:
        show_all = self.content.grid.steps.show_all
        actions.register(self, "curves.stop_run", "curves.stop_run", self.stop.confirm, icon="stop")
        actions.register(self, "curves.find_in_log", "curves.find_in_log", self.log.find_text, "Ctrl+F", "search")
        actions.register(self, "curves.toggle_log", "curves.toggle_log", self._toggle_log, "Ctrl+L", "log")
        folder = self.open_folder
        actions.register(self, "curves.open_folder", "curves.open_folder", lambda: folder(self.run), "", "folder-open")
        actions.register(self, "curves.show_all", "curves.show_all", lambda: show_all(), "Ctrl+0")

    def _toggle_log(self) -> None:
        self.log.open(not self.log.is_open)

    def _log_opened(self, is_open: bool) -> None:
        height = max(400, self.splitter.height())
        closed = self.log.sizeHint().height()
        self._drawer.setMinimumHeight(140 if is_open else closed)
        self._drawer.setMaximumHeight(QWIDGETSIZE_MAX if is_open else closed)
        self.splitter.setSizes([height * 6 // 10, height * 4 // 10] if is_open else [height, closed])

    # Which run is at the front, and which are drawn

    def _project_changed(self) -> None:
        self.run_list.open_project()
        self._choose()

    def _runs_changed(self, _listed: list[tuple[Run, Glance]]) -> None:
        listed = self._watchable()
        self.run_list.show_runs(listed)
        self.stack.setCurrentIndex(1 if listed or self.session.run else 0)
        self._choose()
        self._show_run()
        if self._timer.isActive():
            self._timer.start()  # the next tick is that long after this one

    def _watchable(self) -> list[tuple[Run, Glance]]:
        """The runs without those that another page shows."""
        return [(run, glance) for run, glance in self.session.listed if page_of(run) == watching_page()]

    def _choose(self) -> None:
        """Watch the chosen run, or the newest where none was chosen."""
        newest = next((run for run, _ in self._watchable()), None)
        run = self.session.run or newest
        if run is None or self.run is None or run.folder != self.run.folder:
            self._watch(run)

    def _watch(self, run: Run | None) -> None:
        self.run = run
        self.stack.setCurrentIndex(1 if run else 0)
        self.content.begin()
        self.log.show_file(run.log if run else None)
        self.run_list.model.choose(run.name if run else "")
        self.run_list.show_chosen()
        self._draw_ticked()
        self._show_run()
        self.content.verticalScrollBar().setValue(0)

    def _draw_ticked(self) -> None:
        """The run at the front is drawn also where it is not in the list."""
        ticked = self.run_list.drawn()
        if self.run and self.run.name not in [run.name for run, _ in ticked]:
            ticked.insert(0, (self.run, self.run_list.model.colors.get(self.run.name, 0)))
        self.content.grid.show_runs(self.drawn.draw(ticked))

    def _draw_arrived(self, watcher: RunWatcher) -> None:
        """While an old run is read in, the picture may lag: drawing it takes time from the reading."""
        now = time.monotonic()
        if watcher.is_loaded or now - self._drew > LOADING_FRAME:
            self._drew = now
            self.content.grid.draw_growth()
        if watcher is self.watcher and watcher.status.ended and watcher.is_loaded:
            self._show_run()

    def _show_loading(self, watcher: RunWatcher, done: int, total: int) -> None:
        if watcher is self.watcher:
            self.content.phase.show_loading(done, total)
        if done >= total:
            self.content.grid.draw_soon()
            self._show_run()

    def _show_state(self) -> None:
        """The charts of a run that is over end where it ends."""
        self.content.grid.draw_soon()
        self._show_run()

    # What is shown of it

    def _tick(self) -> None:
        """Figures and running times, a few times a second while there is something to see."""
        if self.isVisible() and self.watcher and not self.content.is_end_visible:
            self._show_run()

    def _show_run(self) -> None:
        run, watcher = self.run, self.watcher
        if run is None or watcher is None:
            return
        glance = watcher.glance or self._listed_glance()
        self.content.show_progress(run, watcher, glance)
        self.stop.show_run(run, glance)
        self.export.show_run(run, glance)
        self.capture.show_run(run, glance)
        self.overflow.show_status(run, watcher.status)
        self.other_python.show_status(run, watcher.status, glance)
        self.resume.show_run(run, glance)
        if glance is None:
            return
        has_points = any(watcher.curves.series for watcher in self.drawn.watchers.values())
        watched = WatchedRun(run=run, watcher=watcher, glance=glance, listed=self.session.listed, has_points=has_points)
        self.chip.show_state(f"{title_of(run)} · {state_name(glance)}", tone_of(glance))
        self.content.show_run(watched)
        self.sentence.setText(self.content.sentence(watched))

    def _listed_glance(self) -> Glance | None:
        return next((glance for run, glance in self.session.listed if self.run and run.name == self.run.name), None)

    def _show_runs_drawer(self, is_visible: bool) -> None:
        self._runs_button.setChecked(is_visible)
        self.run_list.setVisible(is_visible)

    def open_folder(self, run: Run | None) -> None:
        if run:
            open_path(run.folder)

    def copy_path(self) -> None:
        if self.run:
            QApplication.clipboard().setText(str(self.run.folder))

    def retranslate(self) -> None:
        self.content.forget_end()
        self._show_run()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Too narrow, the runs go behind their button; the user's choice holds until the width crosses the line."""
        super().resizeEvent(event)
        is_wide = self.width() >= WIDE
        if is_wide != self._is_wide:
            self._is_wide = is_wide
            self._show_runs_drawer(is_wide)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._timer.start()
        self._show_run()
        self.content.grid.draw_soon()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._timer.stop()
