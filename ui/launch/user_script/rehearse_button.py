"""Rehearse on the CPU, next to Start: a sheet first asks as which host and for how many steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QHBoxLayout

from backends.launch.rehearse.spec import RehearseSpec
from studio import schema
from ui.form.field_box import FieldBox, spec_in
from ui.services import actions
from ui.widgets.basic import (
    Sentence,
    button,
    label,
    primary_button,
)
from ui.widgets.localized import localize
from ui.widgets.popover import Popover

if TYPE_CHECKING:
    from backends.launch.own.spec import OwnSpec
    from ui.launch.user_script.side import OwnScript

COMMAND = "rehearse"
WIDTH = 400
FIELDS = ("stance", "steps", "minutes")


class RehearseButton:
    """The last choices stay as long as the window is open."""

    def __init__(self, page: OwnScript) -> None:
        self._page = page
        self.spec = RehearseSpec()
        self.button = button("own_script.rehearse", "own_script.rehearse")
        localize(self.button.setToolTip, "own_script.rehearse_hint")
        self.button.clicked.connect(self.open)
        actions.register(page, "own_script.rehearse", "own_script.rehearse", self.open)

    def open(self) -> None:
        if self.button.isEnabled():
            RehearsalSheet(self, self._page).show_below(self.button)

    def start_as_npu(self) -> None:
        """Rehearse with the last choices, as a host with an NPU."""
        self.spec = schema.with_value(self.spec, "stance", "npu")
        self.start()

    def start(self) -> None:
        self._page.begin(COMMAND, self._spec_of)

    def _spec_of(self, own: OwnSpec) -> RehearseSpec:
        chosen = self.spec.rehearsal
        return RehearseSpec(program=own.program, rehearsal=chosen, planned=own.planned, environment=own.environment)


class RehearsalSheet(Popover):
    def __init__(self, asking: RehearseButton, page: OwnScript) -> None:
        super().__init__(page, "rehearsal_sheet", WIDTH)
        self._asking = asking
        self.column.addWidget(label("own_script.rehearse_title", "title"))
        self.column.addWidget(Sentence("own_script.rehearse_about"))
        self.boxes = {name: FieldBox(schema.field_of(RehearseSpec, name), "launch") for name in FIELDS}
        row = QHBoxLayout()
        row.setSpacing(16)
        self.column.addWidget(self.boxes["stance"])
        for name, box in self.boxes.items():
            box.input.show_value(schema.value_of(asking.spec, name))
            box.show_choice(schema.value_of(asking.spec, name))
            box.input.edited.connect(self._edited)
            if name != "stance":
                box.input.show_implied("")
                row.addWidget(box)
        self.column.addLayout(row)
        self.start_button = primary_button("own_script.rehearse_start", "own_script.rehearse_start")
        self.start_button.clicked.connect(self._start)
        last = QHBoxLayout()
        last.addStretch(1)
        last.addWidget(self.start_button)
        self.column.addLayout(last)

    def _edited(self) -> None:
        spec, is_right = spec_in(self.boxes, self._asking.spec)
        for name, box in self.boxes.items():
            box.show_choice(schema.value_of(spec, name))
        self.start_button.setEnabled(is_right)
        self.setFixedHeight(self._height())
        if is_right:
            self._asking.spec = spec

    def _start(self) -> None:
        self.close()
        self._asking.start()
