"""The progress of a run that a page started: what it does, how far it is, and the button that cancels it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QVBoxLayout, QWidget

from studio import worker
from studio.texts import has, t
from ui.widgets.basic import label, text_button

if TYPE_CHECKING:
    from collections.abc import Callable

    from studio.run import Glance, Run
    from ui.services.session import Session

CANCEL_AFTER = 1.0


class RunProgress(QWidget):
    """Hidden while nothing works. `page`: the id of the page; `doing`: the key of what a command does, "" for one that
    the page does not show."""

    def __init__(self, session: Session, page: str, doing: Callable[[str], str]) -> None:
        super().__init__()
        self.setObjectName(f"{page}_working")
        self._session = session
        self._doing = doing
        self._run: Run | None = None
        self._glance: Glance | None = None
        self._text = label(role="dim")
        self.cancel = text_button("migration.cancel", f"{page}.cancel")
        self.cancel.clicked.connect(self.stop)
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        row = QHBoxLayout()
        row.addWidget(self._text, 1)
        row.addWidget(self.cancel)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(row)
        column.addWidget(self._bar)
        self.hide()

    def show_run(self, run: Run | None, glance: Glance | None) -> None:
        self._run, self._glance = run, glance
        self.setVisible(run is not None)
        if run is None or glance is None:
            return
        progress = glance.progress
        self._bar.setRange(0, progress.total if progress else 0)
        self._bar.setValue(progress.done if progress else 0)
        text = t(self._doing(run.request.command))
        if progress and progress.total:
            text = t("migration.doing.far", what=text, done=progress.done, total=progress.total)
        if progress and has(phase := f"phase.{progress.phase}"):
            text = f"{text} · {t(phase)}"
        self._text.setText(text)
        self.cancel.setVisible(time.time() - run.request.time / 1e9 > CANCEL_AFTER)

    def stop(self) -> None:
        if self._run is not None and not worker.stop(self._run):
            self._session.trouble.emit(worker.stop_refusal(self._run))
