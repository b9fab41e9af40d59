"""Losses and weights: two runs compared by their losses, two checkpoints by their tensors."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from studio.texts import t
from ui.precision.captures import run_name
from ui.precision.losses_weights.losses_card import LossesCard
from ui.precision.losses_weights.weights_card import WeightsCard
from ui.services.background import run_in_background
from ui.widgets.page_scroll import PageScroll

if TYPE_CHECKING:
    from collections.abc import Iterable

    from studio.project import Project
    from studio.run import Glance, Run
    from ui.services.session import Session


class LossesWeightsView(QWidget):
    """`start_requested` carries a command and its spec; none of the user's code is run."""

    start_requested = Signal(str, object)

    def __init__(self, _session: Session) -> None:
        super().__init__()
        self.setObjectName("precision_measures")
        self._runs: tuple[tuple[str, str], ...] = ()
        self.losses, self.weights = LossesCard(), WeightsCard()
        for card in (self.losses, self.weights):
            card.start_requested.connect(self.start_requested)
        self.area = PageScroll(self.losses, self.weights)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self.area)

    def show_project(self, _project: Project | None) -> None:
        self.losses.clear()
        self.weights.clear()

    def show_runs(self, listed: list[tuple[Run, Glance]]) -> None:
        """Offer the runs that have losses, and those with checkpoints, which are searched in another thread."""
        with_losses = [run for run, glance in listed if "loss" in glance.values]
        self.losses.show_choices([(run_name(run), run.folder) for run in with_losses])
        runs = tuple((run.name, glance.state) for run, glance in listed)
        if runs != self._runs:
            self._runs = runs
            run_in_background(
                self, partial(_runs_with_checkpoints, [run for run, _ in listed]), partial(self._show_checkpoints, runs)
            )

    def _show_checkpoints(self, runs: tuple[tuple[str, str], ...], saved: list[Run]) -> None:
        if runs == self._runs:
            self.weights.show_choices([(run_name(run), run.folder) for run in saved])

    def show_answer(self, command: str, run: Run, answer: Any) -> None:
        if command == "compare-losses":
            self.losses.show_result(run, answer)
        else:
            self.weights.show_answer(run, answer)

    def sentence(self) -> str:
        return t("precision.more.measures")


def _runs_with_checkpoints(runs: Iterable[Run]) -> list[Run]:
    return [run for run in runs if any((run.folder / "artifacts").glob("step-*"))]
