"""From a loss that is no number to the operator: the run's dump on Precision, or Precision where there is none yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.launch.capture import state
from studio.sentences import NONFINITE_RULES
from ui.services.background import run_in_background
from ui.widgets.basic import text_button
from ui.widgets.icons import show_icon
from ui.widgets.localized import localize

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtWidgets import QPushButton

    from backends.common.run_status import RunStatus
    from studio.run import Run
    from ui.services.session import Session

STOPPED_RULE = "launch.nan_stopped"


class OverflowWay:
    """A button that is visible once a loss of the run was NaN or infinite."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._run: Run | None = None
        self.button: QPushButton = text_button("curves.overflow_check", "curves.overflow_check")
        show_icon(self.button, "precision", "accent", 16)
        localize(self.button.setToolTip, "curves.overflow_check_hint")
        self.button.clicked.connect(self._look_for_dump)
        self.button.hide()

    def show_status(self, run: Run, status: RunStatus) -> None:
        self._run = run
        self.button.setVisible(has_nonfinite(status))

    def _look_for_dump(self) -> None:
        if self._run is not None:
            folder = self._run.folder
            run_in_background(self.button, lambda: newest_dump(folder), self._open)

    def _open(self, dump: Path | None) -> None:
        if dump is None:
            self._session.page_requested.emit("precision")
        else:
            self._session.path_requested.emit("dump", dump)


def has_nonfinite(status: RunStatus) -> bool:
    """Tell whether the training said that a loss, a gradient or a weight is no number."""
    return any(finding.rule in (*NONFINITE_RULES, STOPPED_RULE) for finding in status.findings)


def newest_dump(folder: Path) -> Path | None:
    """Return the newest dump that was captured of a run; None where there is none."""
    dumps = [folder / rank.path for rank in state.done_before(folder) if rank.kind == "dump" and rank.path]
    return dumps[-1] if dumps else None
