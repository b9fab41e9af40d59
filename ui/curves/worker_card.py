"""The card of a run whose worker was killed: why nothing was done about it, what would run, and the button for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from backends import feature_of
from studio.feature import command_line_of
from studio.run import WITHOUT_WORKER, line_of
from studio.security import ledger
from ui.widgets.basic import Card, Sentence, button, label
from ui.widgets.localized import localize

if TYPE_CHECKING:
    from studio.run import Glance, Run
    from ui.services.session import Session


class WorkerCard(Card):
    """Hidden unless the run needs a worker and does not get one by itself."""

    def __init__(self, session: Session) -> None:
        super().__init__("curves.worker.card")
        self.setObjectName("curves_worker")
        self._session = session
        self._run: Run | None = None
        self.reason, self.line = Sentence(), label("", "mono")
        self.line.setWordWrap(True)
        self.line.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.take_over = button("curves.worker.take_over", "curves_worker_take_over")
        self.start = button("curves.worker.start", "curves_worker_start")
        self.take_over.clicked.connect(self._give_worker)
        self.start.clicked.connect(self._give_worker)
        self.body.addWidget(self.reason)
        self.body.addWidget(self.line)
        self.body.addWidget(self.take_over, 0, Qt.AlignmentFlag.AlignLeft)
        self.body.addWidget(self.start, 0, Qt.AlignmentFlag.AlignLeft)
        self.hide()

    def show_run(self, run: Run, glance: Glance | None) -> None:
        state = glance.state if glance else ""
        self._run = run
        is_offered = state in WITHOUT_WORKER and not self._session.revives(run, state)
        self.setVisible(is_offered)
        if not is_offered:
            return
        self.take_over.setVisible(state == "unattended")
        self.start.setVisible(state == "interrupted")
        localize(self.reason.setText, f"curves.worker.{self._reason(run, state)}")
        feature = feature_of(run.request.command)
        self.line.setText(command_line_of((feature,), run.request) if feature else line_of(run.request))

    def _reason(self, run: Run, state: str) -> str:
        """Return the key of the sentence that says why no worker was started."""
        if not ledger.is_own(run.folder):
            return f"{state}_foreign"
        return f"{state}_restricted" if self._session.is_restricted else f"{state}_gave_up"

    def _give_worker(self) -> None:
        if self._run is not None:
            self._session.give_worker(self._run)
