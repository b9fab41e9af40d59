"""Sheets that ask before a run starts: which facts to scan against, and where a migration writes its result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from studio import schema
from studio.texts import t
from ui.form.field_box import FieldBox, spec_in
from ui.migration.finding_texts import counted_text
from ui.widgets.basic import Sentence, label, primary_button
from ui.widgets.popover import Popover

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

    from backends.migration.migrate.spec import MigrateSpec
    from backends.migration.scan.spec import ScanSpec

SCAN_FIELDS = ("interpreter", "torch_version")


class ScanSheet(Popover):
    """Asks for the interpreter or the torch version to scan against; `then` is called with the spec on a click."""

    def __init__(self, owner: QWidget, spec: ScanSpec, then: Callable[[ScanSpec], object]) -> None:
        super().__init__(owner, "migration_options_sheet", 420)
        self._spec, self._then = spec, then
        self.column.addWidget(label("migration.options_title", "title"))
        self.column.addWidget(Sentence("migration.options_text"))
        self.boxes = {name: FieldBox(schema.field_of(type(spec), name), "migration") for name in SCAN_FIELDS}
        for name, box in self.boxes.items():
            box.input.show_value(schema.value_of(spec, name))
            box.input.show_implied("")
            box.input.edited.connect(self._edited)
            self.column.addWidget(box)
        self.scan = primary_button("migration.options_scan", "migration.options_scan")
        self.scan.clicked.connect(self._accept)
        self.column.addWidget(self.scan, 0, Qt.AlignmentFlag.AlignRight)

    def _edited(self) -> None:
        self._spec, is_right = spec_in(self.boxes, self._spec)
        self.scan.setEnabled(is_right)

    def _accept(self) -> None:
        self.close()
        self._then(self._spec)


class ApplySheet(Popover):
    """Asks for a folder or branch (`field`: into or branch); `then` is called with the spec on a click."""

    def __init__(
        self, owner: QWidget, spec: MigrateSpec, field: str, hunks: int, then: Callable[[MigrateSpec], object]
    ) -> None:
        super().__init__(owner, "migration_apply_sheet", 440)
        self._spec, self._field, self._then = spec, field, then
        is_branch = field == "branch"
        self.column.addWidget(
            label("migration.changes.branch_title" if is_branch else "migration.changes.copy_title", "title")
        )
        about = Sentence()
        key = "migration.changes.branch_text" if is_branch else "migration.changes.copy_text"
        hunks_text = counted_text("migration.changes.one_hunk", "migration.changes.hunks", hunks)
        about.setText(t(key, hunks=hunks_text, folder=spec.migrated.path))
        self.column.addWidget(about)
        self.box = FieldBox(schema.field_of(type(spec), field), "migration")
        self.box.show_hint("migration.changes.branch_hint" if is_branch else "migration.changes.copy_hint")
        self.box.input.show_value(schema.value_of(spec, field))
        self.box.input.edited.connect(self._edited)
        self.column.addWidget(self.box)
        self.apply = primary_button("migration.changes.apply_now", "migration.changes.apply_now")
        self.apply.clicked.connect(self._go)
        self.column.addWidget(self.apply, 0, Qt.AlignmentFlag.AlignRight)
        self._judge()

    def _edited(self) -> None:
        try:
            self._spec = schema.with_value(self._spec, self._field, self.box.input.value())
        except schema.Unreadable as error:
            self.box.show_problem(error.problem)
            self.apply.setEnabled(False)
            return
        self._judge()

    def _judge(self) -> None:
        wrong = {problem.field: problem for problem in schema.problems(self._spec)}
        self.box.show_problem(wrong.get(self._field))
        has_destination = bool(self._spec.result.branch) or bool(self._spec.result.into.parts)
        self.apply.setEnabled(has_destination and not wrong)

    def _go(self) -> None:
        self.close()
        self._then(self._spec)
