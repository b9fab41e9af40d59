"""Environment: the configurations of two trainings compared, and the proof that a training is deterministic."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from backends.precision.config.pack_discovery import PACK_FOLDER
from backends.precision.config.spec import ConfigCheckSpec
from studio import schema
from studio.texts import t
from ui.precision.captures import run_name
from ui.precision.environment.check_card import CheckCard
from ui.precision.environment.check_tables import CheckTables
from ui.precision.environment.determinism_card import DeterminismCard
from ui.precision.path_choice import PathChoice
from ui.services.background import run_in_background
from ui.services.consent import Consent
from ui.widgets.basic import Card, Sentence, primary_button
from ui.widgets.localized import localize
from ui.widgets.page_scroll import PageScroll

if TYPE_CHECKING:
    from collections.abc import Iterable

    from studio.project import Project
    from studio.run import Glance, Run
    from ui.services.session import Session

GUTTER = 28


class EnvironmentView(QWidget):
    """`start_requested` carries a command and its spec."""

    start_requested = Signal(str, object)

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.setObjectName("precision_environment")
        self._runs: tuple[tuple[str, str], ...] = ()
        self.consent = Consent(session)
        self.result, self.tables = CheckCard(), CheckTables()
        self.result.part_requested.connect(self._show_part)
        self.determinism = DeterminismCard(session, self.consent)
        self.determinism.start_requested.connect(self.start_requested)
        self.area = PageScroll(self.consent, self.result, self.tables, self._make_packs_card(), self.determinism)
        self.determinism.area = self.area
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self.area)
        self._show_result(None)

    def _make_packs_card(self) -> Card:
        card = Card("precision.environment.check")
        self.golden = PathChoice("precision_pack_golden", "precision.environment.golden")
        self.target = PathChoice("precision_pack_target", "precision.environment.target")
        sides = QHBoxLayout()
        sides.setSpacing(GUTTER)
        for side in (self.target, self.golden):
            side.chosen.connect(self._update_check)
            sides.addWidget(side, 1)
        self.check = primary_button("precision.environment.start", "precision_check")
        self.check.clicked.connect(self._request_check)
        self._check_hint = Sentence()
        last = QHBoxLayout()
        last.addWidget(self._check_hint, 1)
        last.addWidget(self.check, 0, Qt.AlignmentFlag.AlignBottom)
        card.body.addWidget(Sentence("precision.environment.check_text"))
        card.body.addLayout(sides)
        card.body.addLayout(last)
        self._update_check()
        return card

    def show_project(self, project: Project | None) -> None:
        self.consent.hide()
        self.determinism.show_project(project)
        for side in (self.golden, self.target):
            side.show_path(None)
        self._show_result(None)
        self._update_check()

    def show_runs(self, listed: list[tuple[Run, Glance]]) -> None:
        """Offer the runs that kept a configuration pack; they are searched in another thread."""
        self.determinism.prefill()
        runs = tuple((run.name, glance.state) for run, glance in listed)
        if runs != self._runs:
            self._runs = runs
            run_in_background(
                self, partial(_runs_with_pack, [run for run, _ in listed]), partial(self._show_packed, runs)
            )

    def _show_packed(self, runs: tuple[tuple[str, str], ...], packed: list[Run]) -> None:
        if runs == self._runs:
            choices = [(run_name(run), run.folder) for run in packed]
            for side in (self.golden, self.target):
                side.show_choices(choices)

    def _update_check(self) -> None:
        ready = self.golden.path is not None and self.target.path is not None
        self.check.setEnabled(ready and self.golden.path != self.target.path)
        ready = self.check.isEnabled()
        localize(self._check_hint.setText, "precision.environment.will" if ready else "precision.environment.wants")

    def _request_check(self) -> None:
        """Request the check, which runs none of the user's code."""
        spec: Any = ConfigCheckSpec()
        for name, path in (("side_a", self.golden.path), ("side_b", self.target.path)):
            spec = schema.with_value(spec, name, path or Path())
        self.start_requested.emit("config-check", spec)

    def show_answer(self, command: str, run: Run, answer: Any) -> None:
        if command == "config-check":
            packs = schema.from_json(ConfigCheckSpec, run.request.values)[0].packs
            for side, path in ((self.golden, packs.side_a), (self.target, packs.side_b)):
                side.show_path(side.path or path)
            self._update_check()
            self._show_result(answer)
        else:
            self.determinism.show_result(answer)

    def _show_result(self, check: Any) -> None:
        self.result.setVisible(check is not None)
        self.tables.setVisible(check is not None and bool(check.parts))
        if check is not None:
            self.result.show_check(check)
            self.tables.show_check(check)

    def _show_part(self, name: str) -> None:
        self.tables.show_part(name)
        self.area.reveal(self.tables)

    def sentence(self) -> str:
        return self.result.sentence() or t("precision.environment.sentence")


def _runs_with_pack(runs: Iterable[Run]) -> list[Run]:
    return [run for run in runs if any((run.folder / PACK_FOLDER).glob("*.zip"))]
