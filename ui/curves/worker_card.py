"""The card of a run whose worker was killed: why nothing was done about it, what would run, and the button for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QTextOption
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit

from backends import feature_of
from studio.feature import command_line_of
from studio.output.terminal import printable_line
from studio.run import WITHOUT_WORKER, line_of
from studio.security import ledger
from ui.widgets.basic import Card, Sentence, button, mono_font, text_button
from ui.widgets.localized import localize

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

    from studio.run import Glance, Run
    from ui.services.session import Session


MAX_LINES = 12
AROUND_LINES = 24  # px of the padding, the border and the margin of the document


class CommandText(QPlainTextEdit):
    """A command line of a run, whole: broken anywhere, as a word of it may be longer than the page, and without signs
    that show it in another order."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("curves_worker_line")
        self.setReadOnly(True)
        self.setFont(mono_font())
        self.setTabChangesFocus(True)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        localize(self.setAccessibleName, "curves.worker.line")

    def show_line(self, line: str) -> None:
        text = printable_line(line)
        if text != self.toPlainText():
            self.setPlainText(text)
            self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Take the height of the text; more than MAX_LINES scroll."""
        text = self.document().firstBlock()
        self.document().documentLayout().blockBoundingRect(text)  # breaks it into lines, which Qt puts off
        lines = min(MAX_LINES, max(1, text.layout().lineCount()))
        self.setFixedHeight(lines * self.fontMetrics().lineSpacing() + AROUND_LINES)


class WorkerCard(Card):
    """Hidden unless the run needs a worker and does not get one by itself."""

    def __init__(self, session: Session) -> None:
        super().__init__("curves.worker.card")
        self.setObjectName("curves_worker")
        self._session = session
        self._run: Run | None = None
        self.reason, self.line = Sentence(), CommandText()
        self.take_over = button("curves.worker.take_over", "curves_worker_take_over")
        self.start = button("curves.worker.start", "curves_worker_start")
        self.take_over.clicked.connect(self._give_worker)
        self.start.clicked.connect(self._give_worker)
        self.body.addWidget(self.reason)
        self.body.addWidget(self.line)
        more = text_button("help.what_is_run", "curves_worker_help")
        more.clicked.connect(lambda: session.show_help("help.what_is_run"))
        row = QHBoxLayout()
        row.addWidget(self.take_over)
        row.addWidget(self.start)
        row.addStretch(1)
        row.addWidget(more)
        self.body.addLayout(row)
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
        line = command_line_of((feature,), run.request) if feature else ""
        self.line.show_line(line or line_of(run.request))

    def _reason(self, run: Run, state: str) -> str:
        """Return the key of the sentence that says why no worker was started."""
        if not ledger.is_own(run.folder):
            return f"{state}_foreign"
        if not self._session.is_listed(run):
            return f"{state}_unlisted"
        return f"{state}_restricted" if self._session.is_restricted else f"{state}_gave_up"

    def _give_worker(self) -> None:
        if self._run is not None:
            self._session.give_worker(self._run)
