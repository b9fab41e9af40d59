"""Export .ckpt…, at the head of a finished run that has left a checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QHBoxLayout, QWidget

from backends.curves.asked import recipe_of
from backends.launch.export.spec import Export, ExportSpec, pointer_of
from studio.texts import t
from ui.file_dialogs import ask_new_file
from ui.launch.written_card import EXPORT
from ui.say import say
from ui.widgets import button

if TYPE_CHECKING:
    from studio.run import Glance, Run
    from ui.session import Session


class ExportButton(QWidget):
    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._run: Run | None = None
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        made = button("launch.export_button", "launch.export_button")
        say(made, "setToolTip", "launch.export_hint")
        made.clicked.connect(self._ask)
        row.addWidget(made)
        self.hide()

    def show_run(self, run: Run, glance: Glance | None) -> None:
        self._run = run
        is_over = glance is not None and glance.state in ("ended", "lost")
        self.setVisible(is_over and run.asked.command == "launch" and pointer_of(run.folder, "last").is_file())

    def _ask(self) -> None:
        if self._run is not None:
            start = Path.home() / f"{recipe_of(self._run) or 'weights'}.ckpt"
            ask_new_file(self, t("launch.export_where"), start, "ckpt", self.export_to)

    def export_to(self, path: Path) -> None:
        """Starts the export of the run that is shown; its run tells when the file is there."""
        if self._run is not None:
            chosen = Export(source=self._run.folder, out=path.absolute())
            self._session.start(EXPORT, ExportSpec(export=chosen))
