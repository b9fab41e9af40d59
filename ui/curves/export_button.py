"""Export .ckpt…, at the head of a finished run that has left a checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QHBoxLayout, QWidget

from backends.common.run_values import recipe_of
from backends.launch.export.spec import Export, ExportSpec, pointer_of, suffix_of
from studio.run import OVER
from studio.texts import t
from ui.services.file_dialogs import choose_new_file
from ui.widgets.basic import button
from ui.widgets.localized import localize

if TYPE_CHECKING:
    from studio.run import Glance, Run
    from ui.services.session import Session


class ExportButton(QWidget):
    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._run: Run | None = None
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        export = button("launch.export_button", "launch.export_button")
        localize(export.setToolTip, "launch.export_hint")
        export.clicked.connect(self._choose_file)
        row.addWidget(export)
        self.hide()

    def show_run(self, run: Run, glance: Glance | None) -> None:
        self._run = run
        is_over = glance is not None and glance.state in OVER
        self.setVisible(is_over and run.request.command == "launch" and pointer_of(run.folder, "last").is_file())

    def _choose_file(self) -> None:
        if self._run is not None:
            suffix = suffix_of(self._run.folder)
            start = Path.home() / f"{recipe_of(self._run) or 'weights'}{suffix}"
            choose_new_file(self, t("launch.export_where"), start, suffix[1:], self.export_to)

    def export_to(self, path: Path) -> None:
        """Start the export of the visible run; the run of the export reports when the file is written."""
        if self._run is not None:
            chosen = Export(source=self._run.folder, out=path.absolute())
            self._session.start("export", ExportSpec(export=chosen))
