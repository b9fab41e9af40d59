"""The four views of the page, each built when it is first needed, as the first visit already waits for the findings."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QStackedWidget, QWidget

from ui.migration.findings.view import FindingsView
from ui.migration.run_results import last_command_line
from ui.widgets.basic import MARGIN

if TYPE_CHECKING:
    from backends.migration.certify.standing import StandingCertificate
    from backends.migration.official.opinion import Opinion
    from ui.migration.certificate.view import CertificateView
    from ui.migration.changes.view import ChangesView
    from ui.migration.overview.view import OverviewView
    from ui.migration.run_results import AppliedMigration, Scan
    from ui.services.session import Session

FINDINGS, OVERVIEW, CHANGES, CERTIFICATE = range(4)
VIEW_NAMES = ("findings", "overview", "changes", "proof")


class Views(QStackedWidget):
    """Forwards the signals of its views, whichever are built."""

    location_opened = Signal(str, int)
    suppress_requested = Signal(object)
    states_cleared = Signal()
    file_chosen = Signal(str)
    opinion_requested = Signal()
    decisions_changed = Signal()
    apply_requested = Signal(bool)
    undo_requested = Signal(object)
    proof_of_applied_requested = Signal()
    proof_requested = Signal(object)
    sides_requested = Signal(object)
    run_requested = Signal(str)

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._folder: Path | None = None
        self._scan: Scan | None = None
        self._applied: AppliedMigration | None = None
        self._certificate: StandingCertificate | None = None
        self._opinion: Opinion | None = None
        for _ in range(4):
            self.addWidget(QWidget())

    # Building

    @cached_property
    def findings(self) -> FindingsView:
        view = FindingsView()
        view.location_opened.connect(self.location_opened)
        view.suppress_requested.connect(self.suppress_requested)
        view.states_cleared.connect(self.states_cleared)
        self._insert_view(FINDINGS, view)
        return view

    @cached_property
    def overview(self) -> OverviewView:
        from ui.migration.overview.view import OverviewView

        view = OverviewView()
        view.file_chosen.connect(self.file_chosen)
        view.opinion.requested.connect(self.opinion_requested)
        self._insert_view(OVERVIEW, view)
        if self._scan is not None:
            view.show_scan(self._scan)
        view.opinion.show_opinion(self._opinion)
        return view

    @cached_property
    def changes(self) -> ChangesView:
        from ui.migration.changes.view import ChangesView

        view = ChangesView()
        view.apply_requested.connect(self.apply_requested)
        view.applied.undo_requested.connect(self.undo_requested)
        view.applied.proof_requested.connect(self.proof_of_applied_requested)
        self._insert_view(CHANGES, view)
        if self._scan is not None and self._folder is not None:
            view.show_scan(self._folder, self._scan)
        view.applied.show_applied(self._applied)
        view.decisions_changed.connect(self.decisions_changed)
        return view

    @cached_property
    def proof(self) -> CertificateView:
        from ui.migration.certificate.view import CertificateView
        from ui.services.consent import Consent

        view = CertificateView(Consent(self._session))
        view.proof_requested.connect(self.proof_requested)
        view.sides_requested.connect(self.sides_requested)
        view.run_requested.connect(self.run_requested)
        self._insert_view(CERTIFICATE, view)
        view.show_certificate(self._certificate)
        self._show_pair(view)
        return view

    def _insert_view(self, index: int, view: QWidget) -> None:
        if index != CERTIFICATE:  # That view scrolls, and its scroll bar is in the right margin.
            view.setContentsMargins(0, 0, MARGIN, 0)
        stand_in = self.widget(index)
        assert stand_in is not None
        self.insertWidget(index, view)
        self.removeWidget(stand_in)
        stand_in.deleteLater()

    def _is_built(self, name: str) -> bool:
        return name in self.__dict__

    # Display

    def show_view(self, index: int) -> None:
        self.setCurrentWidget(getattr(self, VIEW_NAMES[index]))

    def show_scan(self, folder: Path, scan: Scan) -> None:
        self._folder, self._scan = folder, scan
        self.findings.show_findings(folder, scan.open_findings())
        if self._is_built("overview"):
            self.overview.show_scan(scan)
        if self._is_built("changes"):
            self.changes.show_scan(folder, scan)
        self._show_pairs()

    def show_results(
        self, applied: AppliedMigration | None, certificate: StandingCertificate | None, opinion: Opinion | None
    ) -> None:
        self._applied, self._certificate, self._opinion = applied, certificate, opinion
        self.findings.show_opinion(opinion)
        if self._is_built("overview"):
            self.overview.show_opinion(opinion)
        if self._is_built("changes"):
            self.changes.applied.show_applied(applied)
        if self._is_built("proof"):
            self.proof.show_certificate(certificate)
        self._show_pairs()

    def forget(self) -> None:
        """Clear the views for another project."""
        self._scan, self._folder = None, None
        self.show_results(None, None, None)
        self.findings.show_states(frozenset())
        if self._is_built("proof"):
            self.proof.consent.hide()

    def _show_pairs(self) -> None:
        if self._is_built("proof"):
            self._show_pair(self.proof)

    def _show_pair(self, proof: CertificateView) -> None:
        """Tell the certificate view what to prove: the project, and the result of its last migration."""
        project = self._session.project
        if project is not None:
            applied = self._applied
            target = Path(applied.changes.target) if applied and applied.changes.target else None
            proof.show_pair(project.folder, target, last_command_line(self._session.listed))

    @property
    def applied(self) -> AppliedMigration | None:
        return self._applied

    def sentence(self) -> str | None:
        """Return the conclusion of the visible view; None where that is the verdict."""
        if self.currentIndex() == CHANGES:
            return self.changes.sentence()
        return self.proof.sentence() if self.currentIndex() == CERTIFICATE else None
