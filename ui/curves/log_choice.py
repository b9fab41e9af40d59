"""Which log of a run to read: the whole run's, or that of one of its ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QComboBox

from backends.common.logs import rank_logs, rank_of
from studio.texts import t
from ui.say import say

if TYPE_CHECKING:
    from pathlib import Path

LOOK = 2000


class LogChoice(QComboBox):
    """Hidden while there is only one, or none is read. Logs of ranks appear as their processes start."""

    chosen = Signal(object)
    """Path of the log to show."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("log.choice")
        self._whole: Path | None = None
        self._paths: list[Path] = []
        self._offered = True
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK)
        self._timer.timeout.connect(self._look)
        self.currentIndexChanged.connect(self._choose)
        say(self, "setToolTip", "log.choice_hint")
        say(self, "setAccessibleName", "log.choice")
        self.hide()

    def show_log(self, whole: Path | None) -> None:
        """A run's own log comes first and is chosen; the others lie below its folder."""
        self._whole = whole
        self._list([whole] if whole else [])
        self._timer.stop()
        if whole:
            self._timer.start()
            self._look()

    def offer(self, offered: bool) -> None:
        """Only beside a log that is open."""
        self._offered = offered
        self.setVisible(offered and len(self._paths) > 1)

    def _look(self) -> None:
        if self._whole:
            found = [self._whole, *rank_logs(self._whole.parent)]
            if found != self._paths:
                self._list(found)

    def _list(self, paths: list[Path]) -> None:
        """What was chosen stays chosen."""
        current = self._paths[self.currentIndex()] if 0 <= self.currentIndex() < len(self._paths) else None
        self.blockSignals(True)
        self.clear()
        self._paths = paths
        self.addItems([self._name(path) for path in paths])
        self.setCurrentIndex(paths.index(current) if current in paths else 0)
        self.blockSignals(False)
        self.setVisible(self._offered and len(paths) > 1)

    def _name(self, path: Path) -> str:
        if path == self._whole:
            return t("log.whole")
        rank = rank_of(path)
        return t("log.scheduler") if rank is None else t("log.rank", rank=rank)

    def _choose(self, place: int) -> None:
        if 0 <= place < len(self._paths):
            self.chosen.emit(self._paths[place])

    def retranslate(self) -> None:
        for place, path in enumerate(self._paths):
            self.setItemText(place, self._name(path))
