"""Check first, on the Launch page: the button beside Start, and the last check of exactly these choices in short."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.launch.check.beside import COMMAND, last_check
from backends.launch.check.spec import check_of
from studio import schema
from ui import actions
from ui.curves.check_card import rows
from ui.curves.facts_table import FactsTable
from ui.curves.names import when
from ui.form_card import HEADER
from ui.say import say
from ui.widgets import Card, button, label

if TYPE_CHECKING:
    from backends.launch.check.answer import Answer
    from studio.run import Run
    from ui.pages.launch import LaunchPage
    from ui.session import Session


class CheckFirst(Card):
    """Adds its button to the page, and itself at the side; shown while there is a check of what is chosen."""

    def __init__(self, page: LaunchPage, session: Session) -> None:
        super().__init__("launch.check.last")
        self.setObjectName("launch.check.last")
        self._page, self._session = page, session
        self._asked: object = None
        self._found: tuple[Run, Answer] | None = None
        self.header.addStrut(HEADER)
        self._when = label(role="hint")
        self.header.addWidget(self._when)
        self.table = FactsTable()
        self.body.addWidget(self.table)
        self.hide()
        self._add_button()
        page.add_side(self)
        page.form.spec_changed.connect(self.refresh)
        session.runs_changed.connect(self.refresh)

    def _add_button(self) -> None:
        made = button("launch.check.button", "launch.check.button")
        made.clicked.connect(self.start)
        say(made, "setToolTip", "launch.check.button_hint")
        self._page.add_action(made)
        actions.register(self._page, "launch.check.button", "launch.check.button", self.start)

    def start(self) -> None:
        self._page.begin(COMMAND, check_of)

    def refresh(self, _change: object = None) -> None:
        """Answers are read only when other choices are made or other checks have ended."""
        checks = [
            run for run, glance in self._session.listed if run.asked.command == COMMAND and glance.state == "ended"
        ]
        values = schema.to_json(self._page.form.spec())
        if (values, checks) != self._asked:
            self._asked = values, checks
            self._found = last_check(checks, values)
            self.retranslate()

    def retranslate(self) -> None:
        self.setVisible(self._found is not None)
        if self._found is not None:
            run, found = self._found
            self._when.setText(when(run))
            self.table.show_rows((), rows(found))
