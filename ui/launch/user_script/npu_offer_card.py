"""Offers the virtual NPU for a script that needs torch_npu, on a host without an NPU."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal

from backends.common.device_use import file_for_npu
from backends.common.npu_devices import npu_names
from backends.launch.own.plan import code_locations
from studio.texts import t
from ui.services.background import run_in_background
from ui.widgets.basic import Card, Sentence, primary_button

if TYPE_CHECKING:
    from pathlib import Path

    from backends.launch.own.spec import OwnSpec
    from studio.project import Project


class NpuOfferCard(Card):
    """Hidden unless the chosen script, or a file beside it, imports torch_npu and this host has no NPU.
    `rehearsal_requested`: the user takes the offer."""

    rehearsal_requested = Signal()

    def __init__(self) -> None:
        super().__init__("own_script.npu_offer.title")
        self.setObjectName("own_script_npu_offer")
        self._file: Path | None = None
        self._locations: tuple[Path | None, Path | None] | None = None
        self._sentence = Sentence()
        self.body.addWidget(self._sentence)
        self.start_button = primary_button("own_script.npu_offer.rehearse", "own_script_npu_rehearse")
        self.start_button.clicked.connect(self.rehearsal_requested)
        self.body.addWidget(self.start_button, 0, Qt.AlignmentFlag.AlignLeft)
        self.hide()

    def show_spec(self, spec: OwnSpec | None, project: Project | None) -> None:
        """Look, once for each script, whether it needs an NPU. `spec`: None where none can be started."""
        locations = None if spec is None else code_locations(spec, str(project.folder) if project else "")
        if locations == self._locations:
            return
        self._locations = locations
        self._show_file(locations, None)
        if locations is not None:
            run_in_background(self, partial(_file_without_npu, *locations), partial(self._show_file, locations))

    def _show_file(self, locations: tuple[Path | None, Path | None] | None, path: Path | None) -> None:
        if locations == self._locations:
            self._file = path
            self.retranslate()

    def retranslate(self) -> None:
        self.setVisible(self._file is not None)
        if self._file is not None:
            self._sentence.setText(t("own_script.npu_offer.about", file=self._file.name))


def _file_without_npu(script: Path | None, project: Path | None) -> Path | None:
    return None if npu_names() else file_for_npu(script, project)
