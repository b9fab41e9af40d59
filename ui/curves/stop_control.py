"""Stop, asked for in place: first the question, then how long it may take, then the way to end it at once."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QHBoxLayout, QWidget

from backends.common.run_values import grace_of
from studio import worker
from studio.texts import t
from studio.units import duration
from ui.widgets.basic import (
    button,
    label,
    primary_button,
    text_button,
)
from ui.widgets.localized import localize, set_unlocalized

if TYPE_CHECKING:
    from studio.run import Glance, Run
    from ui.services.session import Session


class StopControl(QWidget):
    """Shown while a run works on this host. What was asked of a run is remembered while the window is open."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._run: Run | None = None
        self._glance: Glance | None = None
        self._stop_times: dict[str, float] = {}
        self._is_sure = False
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        self._text = label(role="dim")
        self._keep = text_button("curves.keep_running", "curves.keep_running")
        self._keep.clicked.connect(lambda: self._show_confirmation(False))
        self._stop = button("curves.stop", "curves.stop")
        localize(self._stop.setToolTip, "curves.stop_hint")
        self._stop.clicked.connect(lambda: self._show_confirmation(True))
        self._sure = primary_button("curves.stop_now", "curves_stop_sure")
        self._sure.clicked.connect(self.stop)
        self._end = button("curves.end_now", "curves.end_now")
        localize(self._end.setToolTip, "curves.end_now_hint")
        self._end.clicked.connect(self.stop)
        for widget in (self._text, self._keep, self._stop, self._sure, self._end):
            row.addWidget(widget)
        self._timer = QTimer(self)
        self._timer.setInterval(500)
        self._timer.timeout.connect(self._show)

    def show_run(self, run: Run | None, glance: Glance | None) -> None:
        if run is None or self._run is None or run.name != self._run.name:
            self._is_sure = False
        self._run, self._glance = run, glance
        self._show()

    def confirm(self) -> None:
        """As the button does; for the shortcut and the palette."""
        if self._stop.isVisible():
            self._show_confirmation(True)

    def _show_confirmation(self, is_sure: bool) -> None:
        self._is_sure = is_sure
        self._show()
        (self._sure if is_sure else self._stop).setFocus()

    def stop(self) -> None:
        """The first time the step is finished, the second time it ends at once."""
        run = self._run
        if run is None:
            return
        self._is_sure = False
        if worker.stop(run):
            self._stop_times.setdefault(run.name, time.monotonic())
        else:
            self._session.trouble.emit(worker.stop_refusal(run))
        self._show()

    def _show(self) -> None:
        works = self._glance is not None and self._glance.state in ("running", "unattended")
        since = self._stop_times.get(self._run.name) if self._run else None
        stopping = works and since is not None
        asking = works and not stopping and self._is_sure
        if not works and (self._end.hasFocus() or self._stop.hasFocus() or self._sure.hasFocus()):
            self.window().setFocus()
        self._stop.setVisible(works and not stopping and not asking)
        self._sure.setVisible(asking)
        self._keep.setVisible(asking)
        self._end.setVisible(stopping)
        self._text.setVisible(asking or stopping)
        if asking:
            localize(self._text.setText, "curves.stop_question")
        elif stopping and self._run and since is not None:
            left = max(0.0, grace_of(self._run) - (time.monotonic() - since))
            set_unlocalized(self._text.setText, t("curves.stopping", left=_whole_seconds(left)))
        if stopping != self._timer.isActive():
            self._timer.start() if stopping else self._timer.stop()

    def retranslate(self) -> None:
        self._show()


def _whole_seconds(seconds: float) -> str:
    """A clock that runs down needs no decimals."""
    return t("unit.duration_s", s=round(seconds)) if seconds < 60 else duration(seconds)
