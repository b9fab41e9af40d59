"""Where the run is: the phase in words, and the bar."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QSizePolicy, QVBoxLayout, QWidget

from studio.texts import has, t
from studio.units import duration, size
from ui.widgets.basic import label

if TYPE_CHECKING:
    from backends.common.run_status import RunStatus
    from studio.run import Glance

LOADING_AFTER = 0.3
FULL = 1000


class PhaseLine(QWidget):
    """Reading an old run takes the bar's place when it takes longer than LOADING_AFTER seconds. `row` has room at the
    right of the words."""

    def __init__(self) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        self.row = QHBoxLayout()
        self.row.setSpacing(8)
        self._phase = label(role="dim")
        self._phase.setObjectName("curves_phase")
        self._phase.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._phase.setMinimumHeight(26)
        self.row.addWidget(self._phase, 1)
        self._bar = QProgressBar()
        self._bar.setObjectName("curves_progress")
        self._bar.setRange(0, FULL)
        self._bar.setTextVisible(False)
        column.addLayout(self.row)
        column.addWidget(self._bar)
        self._reading = (0, 0)
        self._began = 0.0

    def begin(self) -> None:
        """Another run."""
        self._reading, self._began = (0, 0), time.monotonic()

    def show_loading(self, done: int, total: int) -> None:
        self._reading = (done, total)

    @property
    def is_loading(self) -> bool:
        done, total = self._reading
        return done < total and time.monotonic() - self._began > LOADING_AFTER

    def show_status(self, story: RunStatus, glance: Glance | None) -> None:
        done, total = self._reading
        if self.is_loading:
            self._show(t("curves.reading"), f"{size(done)} / {size(total)}", done / total)
        elif glance and glance.state in ("running", "unattended"):
            percent = f"{story.fraction() * 100:.0f} %" if story.done else ""
            self._show(phase_text(story), percent, story.fraction())
        else:
            self._show(t("curves.charts_hint") if story.step else "", "", story.fraction())
        # Of a run that is done, a full bar says nothing.
        self._bar.setVisible(self.is_loading or not (glance and glance.state == "ended" and glance.code == 0))

    def _show(self, phase: str, more: str, fraction: float) -> None:
        self._phase.setText(" · ".join(filter(None, (phase, more))))
        self._bar.setValue(round(fraction * FULL))


def phase_text(story: RunStatus) -> str:
    """'Compiling the graph (first step) · 3.2 s'."""
    if not story.phase:
        return t("curves.phase.train" if story.step else "curves.phase.start")
    key = f"curves.phase.{story.phase}"
    text = t(key) if has(key) else story.phase
    if story.phase == "train":
        return text
    since = story.compile_since if story.phase == "compile" and story.compile_since else story.phase_since
    lasted = max(0.0, time.time() - since / 1e9)
    running = t("unit.duration_s", s=f"{lasted:.1f}") if lasted < 60 else duration(lasted)
    return f"{text} · {running}"
