"""Migration: what stands between a project and an NPU, the changes that remove it, and the proof."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from backends.migration.scan.hours import hours
from backends.migration.scan.spec import Scanned, ScanSpec
from studio import schema
from studio.errors import StudioError
from studio.texts import t
from ui import actions
from ui.asking import ask
from ui.curves.names import when
from ui.file_dialogs import ask_folder
from ui.migration.file_watch import FileWatch
from ui.migration.head import Head
from ui.migration.latest import Latest
from ui.migration.left_sheet import LeftSheet
from ui.migration.opening import Opening
from ui.migration.results import Scan, counts_of, newest, scan_again
from ui.migration.starts import Starts
from ui.migration.suppress_sheet import SuppressSheet
from ui.migration.verdict import Verdict, since_text, verdict_sentence
from ui.migration.views import CERTIFICATE, FINDINGS, OVERVIEW, Views
from ui.past_runs import LIVE
from ui.widgets import MARGIN, Empty, Sentence
from ui.working import Working

if TYPE_CHECKING:
    from PySide6.QtGui import QHideEvent, QShowEvent

    from backends.migration.certify.certificate import Certificate
    from backends.migration.found import Found, State
    from backends.migration.official.rows import Opinion
    from studio.project import Project
    from studio.run import Glance, Run
    from ui.launch.consent import Consent
    from ui.migration.applied import Applied
    from ui.migration.certificate_view import CertificateView
    from ui.migration.changes_view import ChangesView
    from ui.migration.findings_view import FindingsView
    from ui.migration.overview_view import OverviewView
    from ui.session import Session

NO_PROJECT, NO_SCAN, CONTENT = range(3)
LARGE = 150_000
DOING = {
    "scan": "migration.doing.scan", "migrate": "migration.doing.migrate", "certify": "migration.doing.certify",
    "second-opinion": "migration.doing.official",
}  # fmt: skip


def make_page(session: Session) -> MigrationPage:
    return MigrationPage(session)


class MigrationPage(QWidget):
    """`scan`: what is shown, the newest scan of the project that ended."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.setObjectName("page")
        self.session = session
        self.scan: Scan | None = None
        self.spec = ScanSpec()
        self._project: Project | None = session.project
        self.starts, self.opening = Starts(self), Opening(self)
        self._make()
        self._register()
        self.latest = Latest(session, self)
        self.latest.scan_read.connect(self._scan_read)
        self.latest.results_read.connect(self._results_read)
        self.watch = FileWatch(self)
        self.watch.saved.connect(self._saved)
        session.runs_changed.connect(self._runs_changed)
        session.project_changed.connect(self._project_changed)
        self._runs_changed(session.listed)

    # How it is built

    def _make(self) -> None:
        no_project = Empty(
            "folder-open", "migration.no_project", "migration.no_project_text", "migration.open_project",
            "migration_open_project",
        )  # fmt: skip
        no_project.clicked.connect(self.choose_folder)
        no_scan = Empty(
            "migration", "migration.no_scan", "migration.no_scan_text", "migration.scan_project", "migration_scan_first"
        )
        no_scan.clicked.connect(self.start_scan)
        self.head = Head(self.session)
        self.tabs, self.again, self.export = self.head.tabs, self.head.again, self.head.export
        self.head.tab_chosen.connect(self._show_tab)
        self.head.scan_wanted.connect(self.start_scan)
        self.head.options_wanted.connect(self.starts.ask_options)
        self.working = Working(self.session, DOING, "migration")
        self.sentence = Sentence()
        self.sentence.setObjectName("migration_sentence")
        self.stack = QStackedWidget()
        for widget in (no_project, no_scan, self._make_content()):
            self.stack.addWidget(widget)
        for widget in (self.sentence, self.working):
            widget.setContentsMargins(0, 0, MARGIN, 0)
        column = QVBoxLayout(self)
        # The certificate scrolls, and its bar lies in the right margin.
        column.setContentsMargins(MARGIN, 18, 0, 16)
        column.setSpacing(8)
        for widget in (self.head, self.sentence, self.working):
            column.addWidget(widget)
        column.addWidget(self.stack, 1)

    def _make_content(self) -> QWidget:
        self.verdict, self.views = Verdict(), Views(self.session)
        self.verdict.states_chosen.connect(self._states_chosen)
        self.verdict.left_wanted.connect(self._show_left)
        self.views.states_cleared.connect(self._states_cleared)
        self.views.opened.connect(self.opening.open_at)
        self.views.suppress_wanted.connect(self._ask_to_suppress)
        self.views.file_chosen.connect(self._show_file)
        self.views.opinion_wanted.connect(self.starts.ask_official)
        self.views.decided.connect(self._say)
        self.views.apply_wanted.connect(self.starts.ask_to_apply)
        self.views.undo_wanted.connect(self.starts.undo)
        self.views.proof_of_applied_wanted.connect(self._prove_applied)
        self.views.proof_wanted.connect(self.starts.prove)
        self.views.run_wanted.connect(self._look_at_run)
        self.views.show_view(FINDINGS)
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(10)
        beside = QHBoxLayout()
        beside.setContentsMargins(0, 0, MARGIN, 0)
        beside.addWidget(self.verdict)
        column.addLayout(beside)
        column.addWidget(self.views, 1)
        return content

    def _register(self) -> None:
        add = actions.register
        add(self, "migration.scan_project", "migration.scan_project", self.start_scan, "F5", "migration")
        add(self, "migration.options", "migration.options_title", self.starts.ask_options)
        add(self, "migration.find", "migration.find", self._find, "Ctrl+F", "search")
        add(self, "migration.next", "migration.next", partial(self.findings.step, 1), "F8")
        add(self, "migration.previous", "migration.previous", partial(self.findings.step, -1), "Shift+F8")
        add(self, "migration.open_editor", "migration.open_editor", self.findings.open_editor, "Ctrl+E")
        add(self, "migration.choose_editor", "migration.choose_editor", self.opening.choose_editor)

    @property
    def findings(self) -> FindingsView:
        return self.views.findings

    @property
    def overview(self) -> OverviewView:
        return self.views.overview

    @property
    def changes(self) -> ChangesView:
        return self.views.changes

    @property
    def proof(self) -> CertificateView:
        return self.views.proof

    @property
    def consent(self) -> Consent:
        return self.views.proof.consent

    # What is asked for

    def choose_folder(self) -> None:
        ask_folder(self, t("shell.choose_folder"), Path.home(), self.session.open_project)

    def start_scan(self) -> None:
        self.starts.scan()

    def _find(self) -> None:
        self.tabs.setCurrentIndex(FINDINGS)
        self.findings.filter.text.setFocus()
        self.findings.filter.text.selectAll()

    def _ask_to_suppress(self, found: Found) -> None:
        if self.scan is not None and self.session.project is not None:
            sheet = SuppressSheet(self, self.session, self.scan, found, self.latest.read_scan)
            sheet.show_below(self.findings.rule.suppress)

    def _show_left(self) -> None:
        if self.scan is not None:
            LeftSheet(self, self.session, self.scan, self.latest.read_scan).show_below(self.verdict.left)

    def _prove_applied(self) -> None:
        if self.views.applied is not None:
            self.proof.show_migrated(Path(self.views.applied.changes.target))
        self.tabs.setCurrentIndex(CERTIFICATE)

    def _look_at_run(self, name: str) -> None:
        run = next((run for run, _ in self.session.listed if run.name == name), None)
        if run is not None:
            self.session.choose_run(run)
            self.session.page_wanted.emit("curves")

    def _states_chosen(self, states: frozenset[State]) -> None:
        self.tabs.setCurrentIndex(FINDINGS)
        self.findings.show_states(states)

    def _show_file(self, path: str) -> None:
        self.tabs.setCurrentIndex(FINDINGS)
        self.findings.show_file(path)

    def _states_cleared(self) -> None:
        self.verdict.choose(frozenset())

    # What is shown

    def _show_tab(self, tab: int) -> None:
        self.views.show_view(tab)
        self.verdict.setVisible(tab in (FINDINGS, OVERVIEW))
        self._say()

    def _project_changed(self, project: Project | None) -> None:
        """Told again when only its trust changed."""
        if project != self._project:
            self._project = project
            self.scan, self.spec = None, ScanSpec()
            self.latest.forget()
            self.views.forget()
            self.verdict.choose(frozenset())
            self.watch.watch(None, ())
            self.head.show_scan(None, "")
        self._show()

    def _runs_changed(self, listed: list[tuple[Run, Glance]]) -> None:
        at_work = newest(listed, DOING)
        is_live = at_work is not None and at_work[1].state in LIVE
        self.working.show_run(*(at_work if is_live and at_work else (None, None)))
        self.latest.look(listed)
        self._show()

    def _scan_read(self, run: Run, scan: Scan) -> None:
        if self.session.project is None:
            return
        asked = schema.from_json(ScanSpec, run.asked.values)[0]
        self.spec = ScanSpec(scanned=Scanned(path=self.session.project.folder), against=asked.against)
        self._show_scan(scan, when(run))

    def _show_scan(self, scan: Scan, at: str) -> None:
        assert self.session.project is not None
        folder, had_focus = self.session.project.folder, self.stack.isAncestorOf(self.focusWidget())
        is_first, self.scan = self.scan is None, scan
        self.head.show_scan(scan, at)
        self.views.show_scan(folder, scan)
        self.watch.watch(folder, tuple(dict.fromkeys(found.path for found in scan.findings)))
        self._show()
        if is_first and had_focus:  # the button that had it is gone
            self.findings.list.setFocus(Qt.FocusReason.OtherFocusReason)

    def _results_read(self, applied: Applied | None, certificate: Certificate | None, opinion: Opinion | None) -> None:
        self.views.show_results(applied, certificate, opinion)
        self._say()

    def _saved(self) -> None:
        """Some file with findings was saved: it is scanned again, in a run of its own where the project is large."""
        scan, project = self.scan, self.session.project
        if scan is None or project is None or not self.working.isHidden():
            return
        if scan.overview is None or scan.overview.lines > LARGE:
            self.start_scan()
        else:
            ask(self, partial(scan_again, project.folder, self.spec, scan), partial(self._scanned_again, scan))

    def _scanned_again(self, before: Scan, scan: Scan | StudioError) -> None:
        if isinstance(scan, StudioError):
            self.session.trouble.emit(scan)
        elif self.scan is before:
            self._show_scan(scan, time.strftime("%H:%M"))

    def _show(self) -> None:
        has_project, scan = self.session.project is not None, self.scan
        self.stack.setCurrentIndex(CONTENT if scan else NO_SCAN if has_project else NO_PROJECT)
        self.again.setEnabled(self.working.isHidden())
        self._say()
        if scan is not None:
            found = scan.counted()
            left = len(scan.findings) - len(found)
            self.verdict.show_counts(counts_of(found), hours(found), since_text(scan), left)

    def _say(self) -> None:
        """What the view that is shown comes to."""
        if self.scan is None:
            self.sentence.setText(t("migration.sentence"))
        else:
            self.sentence.setText(self.views.sentence() or verdict_sentence(counts_of(self.scan.counted())))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.watch.run(True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.watch.run(False)

    def retranslate(self) -> None:
        self._show()
