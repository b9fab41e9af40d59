"""Migration: what stands between a project and an NPU, the changes that remove it, and the proof."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QTabBar, QVBoxLayout, QWidget

from backends.migration.certify.spec import CertifySpec, code_of
from backends.migration.migrate.spec import Migrated, MigrateSpec, Result
from backends.migration.scan.hours import hours
from backends.migration.scan.spec import Scanned, ScanSpec
from studio import schema
from studio.errors import StudioError, from_os
from studio.texts import t
from ui import actions
from ui.asking import ask
from ui.curves.names import when
from ui.file_dialogs import ask_folder
from ui.launch.consent import Consent
from ui.migration import editor
from ui.migration.applied import read_applied
from ui.migration.apply_sheet import ApplySheet
from ui.migration.certificate_view import CertificateView
from ui.migration.changes_view import ChangesView
from ui.migration.editor_sheet import EditorSheet
from ui.migration.export_menu import ExportMenu
from ui.migration.file_watch import FileWatch
from ui.migration.findings_view import FindingsView
from ui.migration.overview_view import OverviewView
from ui.migration.results import (
    LIVE,
    Scan,
    counts_of,
    ended_runs,
    last_line,
    newest,
    read_proof,
    read_scan,
    scan_again,
)
from ui.migration.scan_options import ScanOptions
from ui.migration.suppress_sheet import SuppressSheet
from ui.migration.targets import free_branch, free_folder, keep_decisions
from ui.migration.verdict import Verdict, verdict_sentence
from ui.migration.working import DOING, Working
from ui.say import say
from ui.widgets import MARGIN, Chip, Empty, Sentence, Title, button, text_button

if TYPE_CHECKING:
    from typing import Any

    from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent

    from backends.migration.certify.certificate import Certificate
    from backends.migration.found import Found, State
    from studio.project import Project
    from studio.run import Glance, Run
    from ui.migration.applied import Applied
    from ui.session import Session

TABS = ("migration.tab_findings", "migration.tab_overview", "migration.tab_changes", "migration.tab_certificate")
FINDINGS, OVERVIEW, CHANGES, CERTIFICATE = range(4)
NO_PROJECT, NO_SCAN, CONTENT = range(3)
LARGE = 150_000
ROOM_FOR_HEAD = 860


def make_page(session: Session) -> MigrationPage:
    return MigrationPage(session)


class MigrationPage(QWidget):
    """`scan`: what is shown, the newest scan of the project that ended."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.setObjectName("page")
        self.session = session
        self.scan: Scan | None = None
        self._scanned = ""
        self.spec = ScanSpec()
        self._project: Project | None = session.project
        self._asked: Path | None = None
        self._seen: tuple[Path, ...] = ()
        self._make()
        self._register()
        self.watch = FileWatch(self)
        self.watch.saved.connect(self._saved)
        session.runs_changed.connect(self._runs_changed)
        session.project_changed.connect(self._project_changed)
        self._runs_changed(session.listed)

    # How it is built

    def _make(self) -> None:
        self.stack = QStackedWidget()
        no_project = Empty(
            "folder-open", "migration.no_project", "migration.no_project_text", "migration.open_project",
            "migration_open_project",
        )  # fmt: skip
        no_project.clicked.connect(self.choose_folder)
        no_scan = Empty(
            "migration", "migration.no_scan", "migration.no_scan_text", "migration.scan_project", "migration_scan_first"
        )
        no_scan.clicked.connect(self.start_scan)
        self.working = Working(self.session)
        self.sentence = Sentence()
        self.sentence.setObjectName("migration_sentence")
        for widget in (no_project, no_scan, self._make_content()):
            self.stack.addWidget(widget)
        for widget in (self.sentence, self.working):
            widget.setContentsMargins(0, 0, MARGIN, 0)
        column = QVBoxLayout(self)
        # The certificate scrolls, and its bar lies in the right margin.
        column.setContentsMargins(MARGIN, 18, 0, 16)
        column.setSpacing(8)
        column.addLayout(self._make_head())
        column.addWidget(self.sentence)
        column.addWidget(self.working)
        column.addWidget(self.stack, 1)

    def _make_head(self) -> QHBoxLayout:
        self.chip = Chip()
        self.chip.setObjectName("migration_state")
        self.tabs = QTabBar()
        self.tabs.setObjectName("migration_tabs")
        self.tabs.setUsesScrollButtons(False)
        self.tabs.setDrawBase(False)
        self.tabs.setExpanding(False)
        for key in TABS:
            self.tabs.addTab(t(key))
        say(self.tabs, "setAccessibleName", "migration.tabs")
        self.tabs.currentChanged.connect(self._show_tab)
        self._options = text_button("migration.options", "migration.options")
        self._options.clicked.connect(self.ask_options)
        self.again = button("migration.scan_again", "migration.scan_again")
        self.again.clicked.connect(self.start_scan)
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, MARGIN, 0)
        row.setSpacing(8)
        row.addWidget(Title("migration.title"))
        row.addSpacing(4)
        row.addWidget(self.tabs)
        row.addWidget(self.chip)
        row.addStretch(1)
        self.export = ExportMenu(self, self.session)
        for widget in (self._options, self.export.button, self.again):
            row.addWidget(widget)
        self.export.show_scan(None)
        return row

    def _make_content(self) -> QWidget:
        self.verdict = Verdict()
        self.findings = FindingsView()
        self.verdict.states_chosen.connect(self._states_chosen)
        self.findings.states_cleared.connect(self._states_cleared)
        self.findings.opened.connect(self.open_in_editor)
        self.findings.suppress_wanted.connect(self._ask_to_suppress)
        self.views = QStackedWidget()
        self.overview = OverviewView()
        self.overview.file_chosen.connect(self._show_file)
        self.changes = ChangesView()
        self.changes.decided.connect(self._say)
        self.changes.apply_wanted.connect(self._ask_to_apply)
        self.changes.applied.undo_wanted.connect(self._undo)
        self.changes.applied.proof_wanted.connect(self._prove_applied)
        self.consent = Consent(self.session)
        self.proof = CertificateView(self.consent)
        self.proof.proof_wanted.connect(self._prove)
        self.proof.run_wanted.connect(self._look_at_run)
        for view in (self.findings, self.overview, self.changes, self.proof):
            self.views.addWidget(view)
        for view in (self.findings, self.overview, self.changes):
            view.setContentsMargins(0, 0, MARGIN, 0)
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
        add(self, "migration.options", "migration.options_title", self.ask_options)
        add(self, "migration.find", "migration.find", self._find, "Ctrl+F", "search")
        add(self, "migration.next", "migration.next", partial(self.findings.step, 1), "F8")
        add(self, "migration.previous", "migration.previous", partial(self.findings.step, -1), "Shift+F8")
        add(self, "migration.open_editor", "migration.open_editor", self.findings.open_editor, "Ctrl+E")
        add(self, "migration.choose_editor", "migration.choose_editor", self.choose_editor)

    # What is asked for

    def choose_folder(self) -> None:
        ask_folder(self, t("shell.choose_folder"), Path.home(), self.session.open_project)

    def start_scan(self) -> None:
        if self.session.project is None:
            self.choose_folder()
            return
        spec = schema.with_value(self.spec, "path", self.session.project.folder)
        self.begin("scan", spec)

    def begin(self, command: str, spec: Any) -> Run | None:
        """Starts a run of this page. The run that the Curves page shows stays the one it was."""
        before = self.session.run
        run = self.session.start(command, spec)
        if run is not None:
            self.session.choose_run(before)
        return run

    def ask_options(self) -> None:
        ScanOptions(self, self.spec, self._keep_options).show_below(self.again)

    def _keep_options(self, spec: ScanSpec) -> None:
        self.spec = spec
        self.start_scan()

    def _find(self) -> None:
        self.tabs.setCurrentIndex(FINDINGS)
        self.findings.filter.text.setFocus()
        self.findings.filter.text.selectAll()

    def open_in_editor(self, path: str, line: int) -> None:
        """With the editor that is known; the first time, where none is found, it is asked for."""
        words = editor.chosen()
        if not words:
            self.choose_editor()
        elif self.session.project is not None:
            try:
                editor.open_at(words, self.session.project.folder / path, line)
            except StudioError as error:
                self.session.trouble.emit(error)

    def choose_editor(self) -> None:
        EditorSheet(self, self.session, self._editor_kept).show_below(self.findings.rule.editor)

    def _editor_kept(self, _words: tuple[str, ...]) -> None:
        self.findings.open_editor()

    def _ask_to_suppress(self, found: Found) -> None:
        if self.scan is not None and self.session.project is not None:
            sheet = SuppressSheet(self, self.session, self.scan, found, self._load)
            sheet.show_below(self.findings.rule.suppress)

    def _ask_to_apply(self, to_branch: bool) -> None:
        """Where to, in a sheet; the plan's decisions go along in a file of the studio's own."""
        project = self.session.project
        if project is None or self.changes.plan is None:
            return
        folder = project.folder
        spec = MigrateSpec(
            migrated=Migrated(path=folder, style=self.changes.wanted_style()),
            result=Result(branch=free_branch(folder)) if to_branch else Result(into=free_folder(folder)),
            against=self.spec.against,
        )
        count, anchor = len(self.changes.deciding.inside), self.changes.branch if to_branch else self.changes.apply
        sheet = ApplySheet(self, spec, "branch" if to_branch else "into", count, self._apply)
        sheet.show_below(anchor)

    def _apply(self, spec: MigrateSpec) -> None:
        try:
            decisions = keep_decisions(spec.migrated.path, self.changes.deciding.decisions())
        except OSError as error:
            self.session.trouble.emit(from_os(error, error.filename or "decisions"))
            return
        self.begin("migrate", schema.with_value(spec, "decisions", decisions))

    def _undo(self, run: Path) -> None:
        self.begin("migrate", schema.with_value(MigrateSpec(), "undo", run))

    def _prove_applied(self) -> None:
        applied = self.changes.applied.applied
        if applied is not None:
            self.proof.show_migrated(Path(applied.changes.target))
        self.tabs.setCurrentIndex(CERTIFICATE)

    def _prove(self, spec: CertifySpec) -> None:
        """Runs code of the project: asks first where that is not trusted."""
        if self.consent.asks(partial(code_of, spec), partial(self._prove, spec)):
            self.proof.scroll.reveal(self.consent)
        else:
            self.begin("certify", spec)

    def _look_at_run(self, name: str) -> None:
        run = next((run for run, _ in self.session.listed if run.name == name), None)
        if run is not None:
            self.session.choose_run(run)
            self.session.page_wanted.emit("curves")
            self.session.page_wanted.emit("precision")

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
        self.views.setCurrentIndex(tab)
        self.verdict.setVisible(tab in (FINDINGS, OVERVIEW))
        self._say()

    def _project_changed(self, project: Project | None) -> None:
        """Told again when only its trust changed."""
        if project != self._project:
            self._project = project
            self.scan, self._asked, self.spec, self._seen = None, None, ScanSpec(), ()
            self.consent.hide()
            self.verdict.choose(frozenset())
            self.findings.show_states(frozenset())
            self.watch.watch(None, ())
            self.export.show_scan(None)
        self._show()

    def _runs_changed(self, listed: list[tuple[Run, Glance]]) -> None:
        at_work = newest(listed, DOING)
        is_live = at_work is not None and at_work[1].state in LIVE
        self.working.show_run(*(at_work if is_live and at_work else (None, None)))
        done = ended_runs(listed, "scan")
        if done and done[0].folder != self._asked:
            self._load()
        self._look_at_results(listed)
        self._show()

    def _look_at_results(self, listed: list[tuple[Run, Glance]]) -> None:
        """The migration that was applied last and the newest certificate, when there is another one."""
        migrations, proofs = ended_runs(listed, "migrate"), ended_runs(listed, "certify")
        seen = tuple(run.folder for run in (*migrations, *proofs[:1]))
        if seen == self._seen:
            return
        self._seen = seen
        ask(self, partial(read_applied, migrations), partial(self._show_applied, seen))
        ask(self, partial(read_proof, proofs[:1]), partial(self._show_proof, seen))

    def _show_applied(self, seen: tuple[Path, ...], applied: Applied | None) -> None:
        if seen == self._seen:
            self.changes.applied.show_applied(applied)
            self._show_pair()

    def _show_proof(self, seen: tuple[Path, ...], found: Certificate | None) -> None:
        if seen == self._seen:
            self.proof.show_certificate(found)
            self._say()

    def _show_pair(self) -> None:
        applied, project = self.changes.applied.applied, self.session.project
        if project is not None:
            target = Path(applied.changes.target) if applied and applied.changes.target else None
            self.proof.show_pair(project.folder, target, last_line(self.session.listed))

    def _load(self) -> None:
        """Reads the newest scan, and what the one before it had."""
        project, done = self.session.project, ended_runs(self.session.listed, "scan")
        if project is None or not done:
            return
        self._asked = done[0].folder
        before = done[1].folder if len(done) > 1 else None
        ask(self, partial(read_scan, project.folder, self._asked, before), partial(self._loaded, done[0]))

    def _loaded(self, run: Run, scan: Scan | StudioError) -> None:
        if run.folder != self._asked or self.session.project is None:
            return
        if isinstance(scan, StudioError):
            self.session.trouble.emit(scan)
            return
        asked = schema.from_json(ScanSpec, run.asked.values)[0]
        self.spec = ScanSpec(scanned=Scanned(path=self.session.project.folder), against=asked.against)
        self._show_scan(scan, when(run))

    def _show_scan(self, scan: Scan, at: str) -> None:
        assert self.session.project is not None
        folder = self.session.project.folder
        self.scan, self._scanned = scan, at
        self.export.show_scan(scan)
        self.overview.show_scan(scan)
        self.changes.show_scan(folder, scan)
        self.findings.show_findings(folder, scan.counted())
        self.watch.watch(folder, tuple(dict.fromkeys(found.path for found in scan.findings)))
        self._show_pair()
        self._show()

    def _saved(self) -> None:
        """Some file with findings was saved: it is scanned again, in a run of its own where the project is large."""
        scan, project = self.scan, self.session.project
        if scan is None or project is None or not self.working.isHidden():
            return
        if scan.overview is None or scan.overview.lines > LARGE:
            self.start_scan()
        else:
            ask(self, partial(scan_again, project.folder, self.spec, scan), partial(self._scanned_again, scan))

    def _scanned_again(self, before: Scan, scan: Scan) -> None:
        if self.scan is before:
            self._show_scan(scan, time.strftime("%H:%M"))

    def _show(self) -> None:
        has_project, scan = self.session.project is not None, self.scan
        self.stack.setCurrentIndex(CONTENT if scan else NO_SCAN if has_project else NO_PROJECT)
        for widget in (self.tabs, self.again):
            widget.setVisible(scan is not None)
        for widget in (self._options, self.chip):
            widget.setVisible(scan is not None and self.width() >= ROOM_FOR_HEAD)
        works = not self.working.isHidden()
        self.again.setEnabled(not works)
        self._say()
        if scan is None:
            return
        counts = counts_of(scan.counted())
        self.chip.show_state(t("migration.scanned_at", when=self._scanned))
        self.verdict.show_counts(counts, hours(scan.counted()), since_text(scan))

    def _say(self) -> None:
        """What the view that is shown comes to."""
        if self.scan is None:
            self.sentence.setText(t("migration.sentence"))
            return
        said = {CHANGES: self.changes.sentence, CERTIFICATE: self.proof.sentence}.get(self.tabs.currentIndex())
        self.sentence.setText(said() if said else verdict_sentence(counts_of(self.scan.counted())))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Too narrow, the least of the head goes; the options are among the commands."""
        super().resizeEvent(event)
        if (event.oldSize().width() >= ROOM_FOR_HEAD) != (self.width() >= ROOM_FOR_HEAD):
            self._show()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.watch.run(True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.watch.run(False)

    def retranslate(self) -> None:
        for tab, key in enumerate(TABS):
            self.tabs.setTabText(tab, t(key))
        self._show()


def since_text(scan: Scan) -> str:
    parts = []
    if scan.new is not None:
        parts.append(t("migration.since", done=scan.done, new=scan.new))
    if scan.reasons:
        parts.append(t("migration.suppressed", n=len(scan.findings) - len(scan.counted())))
    return " · ".join(parts)
