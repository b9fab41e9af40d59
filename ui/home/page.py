"""Home: where the project stands, what comes next, what the machine has, what ran last."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from backends import features
from backends.common.device_use import uses_gpu
from studio.feature import load
from studio.run import is_running
from studio.texts import t
from ui.home.home_cards import (
    AttentionCard,
    JourneyCard,
    MachineCard,
    RecentCard,
)
from ui.home.journey_steps import PROJECT, sentence_of
from ui.services import actions
from ui.services.background import run_in_background
from ui.services.file_dialogs import ask_folder
from ui.services.run_titles import page_of, watching_page
from ui.widgets.basic import (
    GAP,
    MARGIN,
    Card,
    Sentence,
    SideColumn,
    Title,
    button,
    primary_button,
)
from ui.widgets.localized import localize
from ui.widgets.page_scroll import PageScroll

if TYPE_CHECKING:
    from PySide6.QtGui import QShowEvent

    from studio.feature import FirstStep
    from studio.run import Run
    from ui.services.session import Session


def make_page(session: Session) -> HomePage:
    return HomePage(session)


class HomePage(QWidget):
    def __init__(self, session: Session) -> None:
        super().__init__()
        self.setObjectName("page")
        self._session = session
        self._gpu_use: dict[Path, bool] = {}
        self.welcome = self._welcome_card()
        self.journey, self.machine = JourneyCard(), MachineCard()
        self.recent, self.attention = RecentCard(), AttentionCard()
        self._build()
        self.journey.step_requested.connect(self._go)
        self.recent.run_requested.connect(session.open_run)
        self.attention.run_requested.connect(session.open_run)
        self.recent.all_runs.clicked.connect(lambda: session.page_requested.emit(watching_page()))
        session.project_changed.connect(lambda _project: self._show_if_visible(also_machine=True))
        session.runs_changed.connect(lambda _listed: self._show_if_visible())
        session.run_chosen.connect(lambda _run: self._show_if_visible())
        for step in self._first_steps():
            actions.register(self, step.key, step.key, partial(self._do_first_step, step))
        self._show()

    def _build(self) -> None:
        self.sentence = Sentence()
        self.sentence.setContentsMargins(0, 0, MARGIN, 6)
        column = QVBoxLayout(self)
        column.setContentsMargins(MARGIN, 22, 0, 0)
        column.setSpacing(8)
        column.addWidget(Title("home.title"))
        column.addWidget(self.sentence)
        column.addWidget(self._content(), 1)

    def _content(self) -> PageScroll:
        left, side = QVBoxLayout(), SideColumn(360)
        left.setSpacing(GAP)
        for column, cards in ((left, (self.journey, self.recent)), (side.column, (self.attention, self.machine))):
            for card in cards:
                column.addWidget(card)
            column.addStretch(1)
        row = QHBoxLayout()
        row.setSpacing(GAP)
        row.addLayout(left, 5)
        row.addWidget(side, 2)
        return PageScroll(self.welcome, row)

    def _welcome_card(self) -> Card:
        card = Card("home.welcome")
        card.body.addWidget(Sentence("home.welcome_text"))
        row = QHBoxLayout()
        row.setSpacing(8)
        for step in self._first_steps():
            make = button if row.count() else primary_button
            widget = make(step.key, step.key)
            widget.clicked.connect(partial(self._do_first_step, step))
            row.addWidget(widget)
        open_button = button("home.open_folder", "home.open_folder")
        open_button.clicked.connect(self.open_folder)
        row.addWidget(open_button)
        row.addStretch(1)
        card.body.addLayout(row)
        return card

    def _do_first_step(self, step: FirstStep, _checked: bool = False) -> None:
        load(step.do)(self, self._session)

    @staticmethod
    def _first_steps() -> list[FirstStep]:
        return [step for feature in features() for step in feature.first_steps]

    def open_folder(self) -> None:
        ask_folder(self, t("home.open_folder"), Path.home(), lambda path: self._session.open_project(path.absolute()))

    def _go(self, step: str) -> None:
        if step == PROJECT:
            self.open_folder()
        elif step == watching_page() and (run := self._run_to_watch()):
            self._session.open_run(run)
        else:
            self._session.page_requested.emit(step)

    def _run_to_watch(self) -> Run | None:
        """Return the newest training that runs; else the newest one, where none is looked at."""
        watchable = [(run, glance) for run, glance in self._session.listed if page_of(run) == watching_page()]
        running = [run for run, glance in watchable if is_running(glance)]
        newest = [run for run, _ in watchable] if self._session.run is None else []
        return next(iter((*running, *newest)), None)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._show()
        self.machine.show_machine(self._session.folder)

    def _show_if_visible(self, also_machine: bool = False) -> None:
        """Nothing is read for a page that is not visible; it is filled when it is shown."""
        if self.isVisible():
            self._show()
            if also_machine:
                self.machine.show_machine(self._session.folder)

    def _show(self) -> None:
        listed = self._session.listed
        is_new = self._session.project is None and not listed
        self.welcome.setVisible(is_new)
        self.journey.show_steps(self._session, prominent=not is_new, uses_gpu=self._uses_gpu())
        self.recent.show_runs(listed)
        self.attention.show_runs(listed)
        self._show_sentence(is_new)

    def _uses_gpu(self) -> bool:
        """Tell whether the project is written for CUDA: looked up in the background once for each project."""
        project = self._session.project
        if project is None:
            return False
        folder = project.folder
        if folder not in self._gpu_use:
            self._gpu_use[folder] = False
            run_in_background(self, partial(uses_gpu, folder), partial(self._take_gpu_use, folder))
        return self._gpu_use[folder]

    def _take_gpu_use(self, folder: Path, is_used: bool) -> None:
        self._gpu_use[folder] = is_used
        self._show_if_visible()

    def _show_sentence(self, is_new: bool) -> None:
        key, args = sentence_of(self.journey.steps, self._session.listed)
        is_first = is_new and key == "home.sentence_next"
        localize(self.sentence.setText, "home.sentence_new" if is_first else key, **args)

    def retranslate(self) -> None:
        self._show()
