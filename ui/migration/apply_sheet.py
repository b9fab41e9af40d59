"""Where the result of a migration goes: a new folder, or a branch of the project's git."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from studio import schema
from studio.texts import t
from ui.field_box import FieldBox
from ui.migration.names import counted
from ui.popover import Popover
from ui.widgets import Sentence, label, primary_button

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

    from backends.migration.migrate.spec import MigrateSpec


class ApplySheet(Popover):
    """`field`: into or branch. `then` is called with the spec when the button is clicked."""

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
        said = counted("migration.changes.one_hunk", "migration.changes.hunks", hunks)
        about.setText(t(key, hunks=said, folder=spec.migrated.path))
        self.column.addWidget(about)
        self.box = FieldBox(schema.field_of(type(spec), field), "migration")
        self.box.say_hint("migration.changes.branch_hint" if is_branch else "migration.changes.copy_hint")
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
        wrong = {one.field: one for one in schema.problems(self._spec)}
        self.box.show_problem(wrong.get(self._field))
        is_given = bool(self._spec.result.branch) or bool(self._spec.result.into.parts)
        self.apply.setEnabled(is_given and not wrong)

    def _go(self) -> None:
        self.close()
        self._then(self._spec)
