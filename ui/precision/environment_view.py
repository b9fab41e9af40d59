"""Environment: what both trainings began with, compared; and whether a training gives the same twice."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from backends.precision.config.found import FOLDER
from backends.precision.config.spec import ConfigCheckSpec
from studio import schema
from studio.texts import t
from ui.asking import ask
from ui.launch.consent import Consent
from ui.page_scroll import PageScroll
from ui.precision.captures import run_name
from ui.precision.check_tables import CheckTables
from ui.precision.checked_cards import CheckedCard
from ui.precision.determinism_card import DeterminismCard
from ui.precision.path_choice import PathChoice
from ui.say import say
from ui.widgets import Card, Sentence, primary_button

if TYPE_CHECKING:
    from collections.abc import Iterable

    from studio.project import Project
    from studio.run import Glance, Run
    from ui.session import Session

GUTTER = 28


class EnvironmentView(QWidget):
    """`start_wanted`: a command and its spec."""

    start_wanted = Signal(str, object)

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.setObjectName("precision_environment")
        self._runs: tuple[tuple[str, str], ...] = ()
        self.consent = Consent(session)
        self.result, self.tables = CheckedCard(), CheckTables()
        self.result.part_wanted.connect(self._show_part)
        self.determinism = DeterminismCard(session, self.consent)
        self.determinism.start_wanted.connect(self.start_wanted)
        self.area = PageScroll(self.consent, self.result, self.tables, self._make_pick(), self.determinism)
        self.determinism.area = self.area
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(self.area)
        self._show_result(None)

    def _make_pick(self) -> Card:
        card = Card("precision.environment.check")
        self.golden = PathChoice("precision_pack_golden", "precision.environment.golden")
        self.target = PathChoice("precision_pack_target", "precision.environment.target")
        sides = QHBoxLayout()
        sides.setSpacing(GUTTER)
        for side in (self.target, self.golden):
            side.chosen.connect(self._judge)
            sides.addWidget(side, 1)
        self.check = primary_button("precision.environment.start", "precision_check")
        self.check.clicked.connect(self._ask)
        self._wants = Sentence()
        last = QHBoxLayout()
        last.addWidget(self._wants, 1)
        last.addWidget(self.check, 0, Qt.AlignmentFlag.AlignBottom)
        card.body.addWidget(Sentence("precision.environment.check_text"))
        card.body.addLayout(sides)
        card.body.addLayout(last)
        self._judge()
        return card

    # What is asked

    def show_project(self, project: Project | None) -> None:
        self.consent.hide()
        self.determinism.show_project(project)
        for side in (self.golden, self.target):
            side.show_path(None)
        self._show_result(None)
        self._judge()

    def show_runs(self, listed: list[tuple[Run, Glance]]) -> None:
        """Those that kept their configuration, looked for in another thread."""
        self.determinism.take_last_line()
        runs = tuple((run.name, glance.state) for run, glance in listed)
        if runs != self._runs:
            self._runs = runs
            ask(self, partial(_packed, [run for run, _ in listed]), partial(self._packed_read, runs))

    def _packed_read(self, runs: tuple[tuple[str, str], ...], packed: list[Run]) -> None:
        if runs == self._runs:
            known = [(run_name(run), run.folder) for run in packed]
            for side in (self.golden, self.target):
                side.show_known(known)

    def _judge(self) -> None:
        ready = self.golden.path is not None and self.target.path is not None
        self.check.setEnabled(ready and self.golden.path != self.target.path)
        ready = self.check.isEnabled()
        say(self._wants, "setText", "precision.environment.will" if ready else "precision.environment.wants")

    def _ask(self) -> None:
        """Nothing of the user's code is run."""
        spec: Any = ConfigCheckSpec()
        for name, path in (("side_a", self.golden.path), ("side_b", self.target.path)):
            spec = schema.with_value(spec, name, path or Path())
        self.start_wanted.emit("config-check", spec)

    # What came of it

    def show_answer(self, command: str, run: Run, answer: Any) -> None:
        if command == "config-check":
            packs = schema.from_json(ConfigCheckSpec, run.asked.values)[0].packs
            for side, path in ((self.golden, packs.side_a), (self.target, packs.side_b)):
                side.show_path(side.path or path)
            self._judge()
            self._show_result(answer)
        else:
            self.determinism.show_result(answer)

    def _show_result(self, found: Any) -> None:
        self.result.setVisible(found is not None)
        self.tables.setVisible(found is not None and bool(found.parts))
        if found is not None:
            self.result.show_checked(found)
            self.tables.show_checked(found)

    def _show_part(self, name: str) -> None:
        self.tables.show_part(name)
        self.area.reveal(self.tables)

    def sentence(self) -> str:
        return self.result.sentence() or t("precision.environment.sentence")


def _packed(runs: Iterable[Run]) -> list[Run]:
    return [run for run in runs if any((run.folder / FOLDER).glob("*.zip"))]
