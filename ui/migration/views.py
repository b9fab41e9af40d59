"""The four views of a migration. Each is made when it is first asked for: the first visit waits for the findings."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QStackedWidget, QWidget

from ui.migration.findings_view import FindingsView
from ui.migration.results import last_line
from ui.widgets import MARGIN

if TYPE_CHECKING:
    from backends.migration.certify.certificate import Certificate
    from backends.migration.official.rows import Opinion
    from ui.migration.applied import Applied
    from ui.migration.certificate_view import CertificateView
    from ui.migration.changes_view import ChangesView
    from ui.migration.overview_view import OverviewView
    from ui.migration.results import Scan
    from ui.session import Session

FINDINGS, OVERVIEW, CHANGES, CERTIFICATE = range(4)
NAMES = ("findings", "overview", "changes", "proof")


class Views(QStackedWidget):
    """The signals are those of the views, whichever are made."""

    opened = Signal(str, int)
    suppress_wanted = Signal(object)
    states_cleared = Signal()
    file_chosen = Signal(str)
    opinion_wanted = Signal()
    decided = Signal()
    apply_wanted = Signal(bool)
    undo_wanted = Signal(object)
    proof_of_applied_wanted = Signal()
    proof_wanted = Signal(object)
    run_wanted = Signal(str)

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._folder: Path | None = None
        self._scan: Scan | None = None
        self._applied: Applied | None = None
        self._certificate: Certificate | None = None
        self._opinion: Opinion | None = None
        for _ in range(4):
            self.addWidget(QWidget())

    # The views

    @cached_property
    def findings(self) -> FindingsView:
        made = FindingsView()
        made.opened.connect(self.opened)
        made.suppress_wanted.connect(self.suppress_wanted)
        made.states_cleared.connect(self.states_cleared)
        self._place(FINDINGS, made)
        return made

    @cached_property
    def overview(self) -> OverviewView:
        from ui.migration.overview_view import OverviewView

        made = OverviewView()
        made.file_chosen.connect(self.file_chosen)
        made.opinion.wanted.connect(self.opinion_wanted)
        self._place(OVERVIEW, made)
        if self._scan is not None:
            made.show_scan(self._scan)
        made.opinion.show_opinion(self._opinion)
        return made

    @cached_property
    def changes(self) -> ChangesView:
        from ui.migration.changes_view import ChangesView

        made = ChangesView()
        made.apply_wanted.connect(self.apply_wanted)
        made.applied.undo_wanted.connect(self.undo_wanted)
        made.applied.proof_wanted.connect(self.proof_of_applied_wanted)
        self._place(CHANGES, made)
        if self._scan is not None and self._folder is not None:
            made.show_scan(self._folder, self._scan)
        made.applied.show_applied(self._applied)
        made.decided.connect(self.decided)
        return made

    @cached_property
    def proof(self) -> CertificateView:
        from ui.launch.consent import Consent
        from ui.migration.certificate_view import CertificateView

        made = CertificateView(Consent(self._session))
        made.proof_wanted.connect(self.proof_wanted)
        made.run_wanted.connect(self.run_wanted)
        self._place(CERTIFICATE, made)
        made.show_certificate(self._certificate)
        self._show_pair(made)
        return made

    def _place(self, at: int, view: QWidget) -> None:
        if at != CERTIFICATE:  # it scrolls, and its bar lies in the right margin
            view.setContentsMargins(0, 0, MARGIN, 0)
        stand_in = self.widget(at)
        assert stand_in is not None
        self.insertWidget(at, view)
        self.removeWidget(stand_in)
        stand_in.deleteLater()

    def _is_made(self, name: str) -> bool:
        return name in self.__dict__

    # What they show

    def show_view(self, at: int) -> None:
        self.setCurrentWidget(getattr(self, NAMES[at]))

    def show_scan(self, folder: Path, scan: Scan) -> None:
        self._folder, self._scan = folder, scan
        self.findings.show_findings(folder, scan.counted())
        if self._is_made("overview"):
            self.overview.show_scan(scan)
        if self._is_made("changes"):
            self.changes.show_scan(folder, scan)
        self._show_pairs()

    def show_results(self, applied: Applied | None, certificate: Certificate | None, opinion: Opinion | None) -> None:
        self._applied, self._certificate, self._opinion = applied, certificate, opinion
        self.findings.show_opinion(opinion)
        if self._is_made("overview"):
            self.overview.show_opinion(opinion)
        if self._is_made("changes"):
            self.changes.applied.show_applied(applied)
        if self._is_made("proof"):
            self.proof.show_certificate(certificate)
        self._show_pairs()

    def forget(self) -> None:
        """Another project."""
        self._scan, self._folder = None, None
        self.show_results(None, None, None)
        self.findings.show_states(frozenset())
        if self._is_made("proof"):
            self.proof.consent.hide()

    def _show_pairs(self) -> None:
        if self._is_made("proof"):
            self._show_pair(self.proof)

    def _show_pair(self, proof: CertificateView) -> None:
        """What a proof is to be about: the project, and where its last migration went."""
        project = self._session.project
        if project is not None:
            found = self._applied
            target = Path(found.changes.target) if found and found.changes.target else None
            proof.show_pair(project.folder, target, last_line(self._session.listed))

    @property
    def applied(self) -> Applied | None:
        return self._applied

    def sentence(self) -> str | None:
        """What the view that is shown comes to; None where that is the verdict."""
        if self.currentIndex() == CHANGES:
            return self.changes.sentence()
        return self.proof.sentence() if self.currentIndex() == CERTIFICATE else None
