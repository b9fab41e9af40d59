"""Losses and weights: two runs by their losses, two checkpoints by their tensors."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from studio.texts import t
from ui.asking import ask
from ui.page_scroll import PageScroll
from ui.precision.captures import run_name
from ui.precision.losses_card import LossesCard
from ui.precision.weights_card import WeightsCard

if TYPE_CHECKING:
    from collections.abc import Iterable

    from studio.project import Project
    from studio.run import Glance, Run
    from ui.session import Session


class MeasuresView(QWidget):
    """`start_wanted`: a command and its spec. Nothing of the user's code is run."""

    start_wanted = Signal(str, object)

    def __init__(self, _session: Session) -> None:
        super().__init__()
        self.setObjectName("precision_measures")
        self._runs: tuple[tuple[str, str], ...] = ()
        self.losses, self.weights = LossesCard(), WeightsCard()
        for card in (self.losses, self.weights):
            card.start_wanted.connect(self.start_wanted)
        self.area = PageScroll(self.losses, self.weights)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(self.area)

    def show_project(self, _project: Project | None) -> None:
        self.losses.forget()
        self.weights.forget()

    def show_runs(self, listed: list[tuple[Run, Glance]]) -> None:
        """Whose losses there are is known; who kept weights is looked for in another thread."""
        learned = [run for run, glance in listed if "loss" in glance.values]
        self.losses.show_known([(run_name(run), run.folder) for run in learned])
        runs = tuple((run.name, glance.state) for run, glance in listed)
        if runs != self._runs:
            self._runs = runs
            ask(self, partial(_kept, [run for run, _ in listed]), partial(self._kept_read, runs))

    def _kept_read(self, runs: tuple[tuple[str, str], ...], kept: list[Run]) -> None:
        if runs == self._runs:
            self.weights.show_known([(run_name(run), run.folder) for run in kept])

    def show_answer(self, command: str, run: Run, answer: Any) -> None:
        if command == "compare-losses":
            self.losses.show_result(run, answer)
        else:
            self.weights.show_answer(run, answer)

    def sentence(self) -> str:
        return t("precision.more.measures")


def _kept(runs: Iterable[Run]) -> list[Run]:
    return [run for run in runs if any((run.folder / "artifacts").glob("step-*"))]
