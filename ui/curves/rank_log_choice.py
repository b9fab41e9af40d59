"""Which log of a run to read: the whole run's, or that of one of its ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QComboBox

from backends.common.logs import rank_logs, rank_of
from studio.texts import t
from ui.widgets.localized import localize

if TYPE_CHECKING:
    from pathlib import Path

INTERVAL = 2000


class RankLogChoice(QComboBox):
    """Hidden while there is only one, or none is read. Logs of ranks appear as their processes start."""

    chosen = Signal(object)
    """Path of the log to show."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("log.choice")
        self._run_log: Path | None = None
        self._paths: list[Path] = []
        self._offered = True
        self._timer = QTimer(self)
        self._timer.setInterval(INTERVAL)
        self._timer.timeout.connect(self._find_logs)
        self.currentIndexChanged.connect(self._choose)
        localize(self.setToolTip, "log.choice_hint")
        localize(self.setAccessibleName, "log.choice")
        self.hide()

    def show_log(self, whole: Path | None) -> None:
        """A run's own log comes first and is chosen; the others lie below its folder."""
        self._run_log = whole
        self._list([whole] if whole else [])
        self._timer.stop()
        if whole:
            self._timer.start()
            self._find_logs()

    def offer(self, offered: bool) -> None:
        """Only beside a log that is open."""
        self._offered = offered
        self.setVisible(offered and len(self._paths) > 1)

    def _find_logs(self) -> None:
        if self._run_log:
            paths = [self._run_log, *rank_logs(self._run_log.parent)]
            if paths != self._paths:
                self._list(paths)

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
        if path == self._run_log:
            return t("log.whole")
        rank = rank_of(path)
        return t("log.scheduler") if rank is None else t("log.rank", rank=rank)

    def _choose(self, index: int) -> None:
        if 0 <= index < len(self._paths):
            self.chosen.emit(self._paths[index])

    def retranslate(self) -> None:
        for index, path in enumerate(self._paths):
            self.setItemText(index, self._name(path))
