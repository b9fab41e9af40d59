"""Against which facts the project is scanned: the interpreter it will run in, or a version of torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from studio import schema
from ui.field_box import FieldBox, spec_in
from ui.popover import Popover
from ui.widgets import Sentence, label, primary_button

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

    from backends.migration.scan.spec import ScanSpec

FIELDS = ("interpreter", "torch_version")


class ScanOptions(Popover):
    """`then` is called with the spec when the button is clicked."""

    def __init__(self, owner: QWidget, spec: ScanSpec, then: Callable[[ScanSpec], object]) -> None:
        super().__init__(owner, "migration_options_sheet", 420)
        self._spec, self._then = spec, then
        self.column.addWidget(label("migration.options_title", "title"))
        self.column.addWidget(Sentence("migration.options_text"))
        self.boxes = {name: FieldBox(schema.field_of(type(spec), name), "migration") for name in FIELDS}
        for name, box in self.boxes.items():
            box.input.show_value(schema.value_of(spec, name))
            box.input.show_implied("")
            box.input.edited.connect(self._edited)
            self.column.addWidget(box)
        self.scan = primary_button("migration.options_scan", "migration.options_scan")
        self.scan.clicked.connect(self._go)
        self.column.addWidget(self.scan, 0, Qt.AlignmentFlag.AlignRight)

    def _edited(self) -> None:
        self._spec, is_right = spec_in(self.boxes, self._spec)
        self.scan.setEnabled(is_right)

    def _go(self) -> None:
        self.close()
        self._then(self._spec)
