"""The Migration page: what stands between a project and an NPU, the changes that remove it, and the proof."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from backends.migration import FEATURE
from backends.migration.scan.hours import estimate_hours
from backends.migration.scan.spec import Scanned, ScanSpec
from studio import schema
from studio.errors import StudioError
from studio.texts import t
from ui.migration.file_watch import FileWatch
from ui.migration.findings.suppress_sheet import SuppressSheet
from ui.migration.findings.suppressed_sheet import SuppressedSheet
from ui.migration.newest_results import NewestResults
from ui.migration.page_header import PageHeader
from ui.migration.run_results import (
    Scan,
    count_states,
    newest_run,
    rescan,
)
from ui.migration.run_starter import RunStarter
from ui.migration.verdict_card import VerdictCard, since_text, verdict_of
from ui.migration.views import CERTIFICATE, FINDINGS, OVERVIEW, Views
from ui.services import actions, editor
from ui.services.background import run_in_background
from ui.services.editor_sheet import EditorSheet
from ui.services.file_dialogs import ask_folder
from ui.services.past_runs import LIVE
from ui.services.run_progress import RunProgress
from ui.services.run_titles import when
from ui.widgets.basic import MARGIN, Empty, Sentence

if TYPE_CHECKING:
    from PySide6.QtGui import QHideEvent, QShowEvent

    from backends.migration.certify.standing import StandingCertificate
    from backends.migration.finding import FindingState, ScanFinding
    from backends.migration.official.opinion import Opinion
    from studio.project import Project
    from studio.run import Glance, Run
    from ui.migration.certificate.view import CertificateView
    from ui.migration.changes.view import ChangesView
    from ui.migration.findings.view import FindingsView
    from ui.migration.overview.view import OverviewView
    from ui.migration.run_results import AppliedMigration
    from ui.services.consent import Consent
    from ui.services.session import Session

NO_PROJECT, NO_SCAN, CONTENT = range(3)
MAX_LINES_IN_WINDOW = 150_000


def make_page(session: Session) -> MigrationPage:
    return MigrationPage(session)


class MigrationPage(QWidget):
    """`scan`: the visible scan, the newest of the project that finished."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.setObjectName("page")
        self.session = session
        self.scan: Scan | None = None
        self.spec = ScanSpec()
        self._project: Project | None = session.project
        self.starter = RunStarter(self)
        self._build()
        self._register_commands()
        self.newest = NewestResults(session, self)
        self.newest.scan_read.connect(self._scan_read)
        self.newest.results_read.connect(self._results_read)
        self.newest.sides_compared.connect(session.open_run)
        self.watch = FileWatch(self)
        self.watch.saved.connect(self._rescan_saved_files)
        session.runs_changed.connect(self._runs_changed)
        session.project_changed.connect(self._project_changed)
        self._runs_changed(session.listed)

    # Building

    def _build(self) -> None:
        no_project = Empty(
            "folder-open",
            "migration.no_project",
            "migration.no_project_text",
            "migration.open_project",
            "migration_open_project",
        )
        no_project.clicked.connect(self.choose_folder)
        no_scan = Empty(
            "migration", "migration.no_scan", "migration.no_scan_text", "migration.scan_project", "migration_scan_first"
        )
        no_scan.clicked.connect(self.start_scan)
        self.header = PageHeader(self.session)
        self.tabs, self.again, self.export = self.header.tabs, self.header.scan_again, self.header.export
        self.header.tab_chosen.connect(self._show_tab)
        self.header.scan_requested.connect(self.start_scan)
        self.header.options_requested.connect(self.starter.show_scan_sheet)
        self.working = RunProgress(self.session, "migration", FEATURE.doing)
        self.sentence = Sentence()
        self.sentence.setObjectName("migration_sentence")
        self.stack = QStackedWidget()
        for widget in (no_project, no_scan, self._build_content()):
            self.stack.addWidget(widget)
        for widget in (self.sentence, self.working):
            widget.setContentsMargins(0, 0, MARGIN, 0)
        column = QVBoxLayout(self)
        # The certificate scrolls, and its scroll bar is in the right margin.
        column.setContentsMargins(MARGIN, 18, 0, 16)
        column.setSpacing(8)
        for widget in (self.header, self.sentence, self.working):
            column.addWidget(widget)
        column.addWidget(self.stack, 1)

    def _build_content(self) -> QWidget:
        self.verdict, self.views = VerdictCard(), Views(self.session)
        self.verdict.states_chosen.connect(self._states_chosen)
        self.verdict.suppressed_requested.connect(self._show_suppressed)
        self.views.states_cleared.connect(self._states_cleared)
        self.views.location_opened.connect(self._open_in_editor)
        self.views.suppress_requested.connect(self._show_suppress_sheet)
        self.views.file_chosen.connect(self._show_file)
        self.views.opinion_requested.connect(self.starter.start_opinion)
        self.views.decisions_changed.connect(self._show_sentence)
        self.views.apply_requested.connect(self.starter.show_apply_sheet)
        self.views.undo_requested.connect(self.starter.start_undo)
        self.views.proof_of_applied_requested.connect(self._prove_applied)
        self.views.proof_requested.connect(self.starter.start_proof)
        self.views.sides_requested.connect(self.starter.start_sides)
        self.views.run_requested.connect(self._open_run)
        self.views.show_view(FINDINGS)
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(10)
        verdict_row = QHBoxLayout()
        verdict_row.setContentsMargins(0, 0, MARGIN, 0)
        verdict_row.addWidget(self.verdict)
        column.addLayout(verdict_row)
        column.addWidget(self.views, 1)
        return content

    def _register_commands(self) -> None:
        add = actions.register
        add(self, "migration.scan_project", "migration.scan_project", self.start_scan, "F5", "migration")
        add(self, "migration.options", "migration.options_title", self.starter.show_scan_sheet)
        add(self, "migration.find", "migration.find", self._find, "Ctrl+F", "search")
        add(self, "migration.next", "migration.next", partial(self.findings.step, 1), "F8")
        add(self, "migration.previous", "migration.previous", partial(self.findings.step, -1), "Shift+F8")
        add(self, "migration.open_editor", "migration.open_editor", self.findings.open_editor, "Ctrl+E")
        add(self, "migration.choose_editor", "migration.choose_editor", self._choose_editor)

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

    # Requests

    def choose_folder(self) -> None:
        ask_folder(self, t("shell.choose_folder"), Path.home(), self.session.open_project)

    def start_scan(self) -> None:
        self.starter.start_scan()

    def _find(self) -> None:
        self.tabs.setCurrentIndex(FINDINGS)
        self.findings.filter.text.setFocus()
        self.findings.filter.text.selectAll()

    def _open_in_editor(self, path: str, line: int) -> None:
        """Open a file of the project (`path` is relative to it); ask for an editor first where none is known."""
        words, project = editor.chosen(), self.session.project
        if not words:
            self._choose_editor()
        elif project is not None:
            try:
                editor.open_at(words, project.folder / path, line)
            except StudioError as error:
                self.session.trouble.emit(error)

    def _choose_editor(self) -> None:
        sheet = EditorSheet(self, self.session, self._editor_chosen)
        sheet.show_below(self.findings.rule.editor)

    def _editor_chosen(self, _words: tuple[str, ...]) -> None:
        self.findings.open_editor()

    def _show_suppress_sheet(self, finding: ScanFinding) -> None:
        if self.scan is not None and self.session.project is not None:
            sheet = SuppressSheet(self, self.session, self.scan, finding, self.newest.read_scan)
            sheet.show_below(self.findings.rule.suppress)

    def _show_suppressed(self) -> None:
        if self.scan is not None:
            SuppressedSheet(self, self.session, self.scan, self.newest.read_scan).show_below(self.verdict.suppressed)

    def _prove_applied(self) -> None:
        if self.views.applied is not None:
            self.proof.show_migrated(Path(self.views.applied.changes.target))
        self.tabs.setCurrentIndex(CERTIFICATE)

    def _open_run(self, name: str) -> None:
        run = next((run for run, _ in self.session.listed if run.name == name), None)
        if run is not None:
            self.session.watch_run(run)

    def _states_chosen(self, states: frozenset[FindingState]) -> None:
        self.tabs.setCurrentIndex(FINDINGS)
        self.findings.show_states(states)

    def _show_file(self, path: str) -> None:
        self.tabs.setCurrentIndex(FINDINGS)
        self.findings.show_file(path)

    def _states_cleared(self) -> None:
        self.verdict.choose_states(frozenset())

    # Display

    def _show_tab(self, tab: int) -> None:
        self.views.show_view(tab)
        if tab == CERTIFICATE:
            self.newest.read_results_again()
        self.verdict.setVisible(tab in (FINDINGS, OVERVIEW))
        self._show_sentence()

    def _project_changed(self, project: Project | None) -> None:
        """Start over with another project; the signal is also sent when only the trust of the same one changed."""
        if project != self._project:
            self._project = project
            self.scan, self.spec = None, ScanSpec()
            self.newest.forget()
            self.views.forget()
            self.verdict.choose_states(frozenset())
            self.watch.watch(None, ())
            self.header.show_scan(None, "")
        self._show()

    def _runs_changed(self, listed: list[tuple[Run, Glance]]) -> None:
        at_work = newest_run(listed, FEATURE.commands)
        is_live = at_work is not None and at_work[1].state in LIVE
        self.working.show_run(*(at_work if is_live and at_work else (None, None)))
        self.newest.show_runs(listed)
        self._show()

    def _scan_read(self, run: Run, scan: Scan) -> None:
        if self.session.project is None:
            return
        request = schema.from_json(ScanSpec, run.request.values)[0]
        self.spec = ScanSpec(scanned=Scanned(path=self.session.project.folder), against=request.against)
        self._show_scan(scan, when(run))

    def _show_scan(self, scan: Scan, when_text: str) -> None:
        assert self.session.project is not None
        folder, had_focus = self.session.project.folder, self.stack.isAncestorOf(self.focusWidget())
        is_first, self.scan = self.scan is None, scan
        self.header.show_scan(scan, when_text)
        self.views.show_scan(folder, scan)
        self.watch.watch(folder, tuple(dict.fromkeys(finding.path for finding in scan.findings)))
        self._show()
        if is_first and had_focus:  # The button that had the focus is gone.
            self.findings.list.setFocus(Qt.FocusReason.OtherFocusReason)

    def _results_read(
        self, applied: AppliedMigration | None, certificate: StandingCertificate | None, opinion: Opinion | None
    ) -> None:
        self.views.show_results(applied, certificate, opinion)
        self.export.show_certificate(certificate)
        self._show_sentence()

    def _rescan_saved_files(self) -> None:
        """Scan again after a watched file was saved: in the window, or as a run where the project is large."""
        scan, project = self.scan, self.session.project
        self.newest.read_results_again()
        if scan is None or project is None or not self.working.isHidden():
            return
        if scan.overview is None or scan.overview.lines > MAX_LINES_IN_WINDOW:
            self.start_scan()
        else:
            run_in_background(self, partial(rescan, project.folder, self.spec, scan), partial(self._rescanned, scan))

    def _rescanned(self, before: Scan, scan: Scan | StudioError) -> None:
        if isinstance(scan, StudioError):
            self.session.trouble.emit(scan)
        elif self.scan is before:
            self._show_scan(scan, time.strftime("%H:%M"))

    def _show(self) -> None:
        has_project, scan = self.session.project is not None, self.scan
        self.stack.setCurrentIndex(CONTENT if scan else NO_SCAN if has_project else NO_PROJECT)
        self.again.setEnabled(self.working.isHidden())
        self._show_sentence()
        if scan is not None:
            findings = scan.open_findings()
            suppressed_count = len(scan.findings) - len(findings)
            self.verdict.show_counts(
                count_states(findings), estimate_hours(findings), since_text(scan), suppressed_count
            )

    def _show_sentence(self) -> None:
        """Show the conclusion of the visible view."""
        if self.scan is None:
            self.sentence.setText(t("migration.sentence"))
        else:
            self.sentence.setText(self.views.sentence() or self._verdict(self.scan))

    def _verdict(self, scan: Scan) -> str:
        return verdict_of(scan.open_findings(), scan.overview.apis if scan.overview else ())

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.watch.run(True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.watch.run(False)

    def retranslate(self) -> None:
        self._show()
