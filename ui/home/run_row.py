"""A run in one line: its last losses, name, time, state and duration. A click opens it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout

from backends.common.ends import last_values
from studio.run import last_events
from studio.sentences import loss_text
from studio.units import duration
from ui.services.run_titles import (
    state_name,
    title_of,
    tone_of,
    when,
)
from ui.widgets.basic import Chip, Elided, label
from ui.widgets.sparkline import Sparkline

if TYPE_CHECKING:
    from studio.run import Glance, Run

END_BYTES = 16384


class RunRow(QPushButton):
    def __init__(self) -> None:
        super().__init__()
        self.run: Run | None = None
        self._glance: Glance | None = None
        self.setProperty("role", "quiet")
        self.setAutoDefault(False)
        self._curve, self._state = Sparkline(), Chip()
        self._name, self._when = Elided(role="strong"), label(role="hint")
        self._loss, self._lasted = label(role="dim"), label(role="dim")
        words = QVBoxLayout()
        words.setSpacing(1)
        words.addWidget(self._name)
        words.addWidget(self._when)
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 4, 8, 4)
        row.setSpacing(14)
        row.addWidget(self._curve)
        row.addLayout(words, 1)
        for widget, width in ((self._loss, 128), (self._lasted, 84)):
            widget.setFixedWidth(width)
            widget.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            row.addWidget(widget)
        row.addWidget(self._state)
        self._state.setFixedWidth(92)
        for widget in (self._name, self._when, self._loss, self._lasted, self._state):
            widget.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def sizeHint(self) -> QSize:
        """A button's own hint ignores the layout in it."""
        return QSize(320, 52)

    def minimumSizeHint(self) -> QSize:
        return QSize(320, 52)

    def show_run(self, run: Run, glance: Glance) -> None:
        """Reads the end of the run's events, only where the run has changed."""
        if (run.folder, glance) != (self.run.folder if self.run else None, self._glance):
            self._curve.show_values(_last_losses(run, glance))
        self.run, self._glance = run, glance
        self.retranslate()

    def retranslate(self) -> None:
        if self.run is None or self._glance is None:
            return
        glance = self._glance
        self._name.setText(title_of(self.run))
        self._when.setText(when(self.run))
        self._loss.setText(loss_text(glance, is_short=True))
        self.setToolTip(loss_text(glance) if glance.ranks > 1 else "")
        self._lasted.setText(duration(max(0.0, (glance.ended - glance.begun) / 1e9)) if glance.ended else "")
        self._state.show_state(state_name(glance), tone_of(glance))
        self.setAccessibleName(f"{title_of(self.run)}, {when(self.run)}, {state_name(glance)}")


def _last_losses(run: Run, glance: Glance) -> list[float]:
    """Return the last losses, of several ranks their means."""
    return list(glance.mean_losses) or last_values(last_events(run.folder, END_BYTES), "loss")
