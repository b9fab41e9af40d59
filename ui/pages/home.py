"""Home: where the project stands, what comes next, what the machine has, what ran last."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from backends.launch.sample import make_sample
from backends.launch.spec import LaunchSpec
from studio.errors import StudioError
from studio.texts import t
from ui import actions
from ui.curves.names import page_of
from ui.file_dialogs import ask_folder
from ui.home_cards import AttentionCard, JourneyCard, MachineCard, RecentCard
from ui.journey import PROJECT
from ui.page_scroll import PageScroll
from ui.say import say
from ui.widgets import GAP, MARGIN, Card, Sentence, Title, button, primary_button

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtGui import QShowEvent

    from studio.run import Run
    from ui.session import Session

SIDE = 400
AT_WORK = ("running", "unattended")


def make_page(session: Session) -> HomePage:
    return HomePage(session)


class HomePage(QWidget):
    def __init__(self, session: Session) -> None:
        super().__init__()
        self.setObjectName("page")
        self._session = session
        self.welcome = self._welcome_card()
        self.journey, self.machine = JourneyCard(), MachineCard()
        self.recent, self.attention = RecentCard(), AttentionCard()
        self._build()
        self.journey.wanted.connect(self._go)
        self.recent.run_wanted.connect(self._look_at)
        self.attention.run_wanted.connect(self._look_at)
        self.recent.all_runs.clicked.connect(lambda: session.page_wanted.emit("curves"))
        session.project_changed.connect(lambda _project: self._show_if_seen(also_machine=True))
        session.runs_changed.connect(lambda _listed: self._show_if_seen())
        session.run_chosen.connect(lambda _run: self._show_if_seen())
        actions.register(self, "home.make_sample", "home.make_sample", self.make_sample)
        actions.register(self, "home.train_digits", "home.train_digits", self.train_digits)
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
        left, right = QVBoxLayout(), QVBoxLayout()
        for column, cards in ((left, (self.journey, self.recent)), (right, (self.attention, self.machine))):
            column.setSpacing(GAP)
            for card in cards:
                column.addWidget(card)
            column.addStretch(1)
        side = QWidget()
        side.setMinimumWidth(SIDE)
        side.setMaximumWidth(SIDE + 120)
        right.setContentsMargins(0, 0, 0, 0)
        side.setLayout(right)
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
        for made, do in (
            (primary_button("home.train_digits", "home.train_digits"), self.train_digits),
            (button("home.make_sample", "home.make_sample"), self.make_sample),
            (button("home.open_folder", "home.open_folder"), self.open_folder),
        ):
            made.clicked.connect(lambda _checked=False, do=do: do())
            row.addWidget(made)
        row.addStretch(1)
        card.body.addLayout(row)
        return card

    def train_digits(self) -> None:
        """Starts the digits recipe with its own values and watches it."""
        if self._session.start("launch", LaunchSpec()):
            self._session.page_wanted.emit("curves")

    def make_sample(self) -> None:
        self._ask_folder("home.sample_where", self.make_sample_in)

    def make_sample_in(self, parent: Path) -> None:
        """Makes the sample project under a folder and opens it. Trouble is told."""
        try:
            folder = make_sample(parent)
        except StudioError as error:
            self._session.trouble.emit(error)
            return
        self._session.open_project(folder)

    def open_folder(self) -> None:
        self._ask_folder("home.open_folder", lambda folder: self._session.open_project(folder.absolute()))

    def _ask_folder(self, key: str, chosen: Callable[[Path], None]) -> None:
        ask_folder(self, t(key), Path.home(), chosen)

    def _go(self, step: str) -> None:
        newest = next((run for run, _ in self._session.listed if page_of(run) == "curves"), None)
        if step == PROJECT:
            self.open_folder()
        elif step == "curves" and self._session.run is None and newest:
            self._look_at(newest)
        else:
            self._session.page_wanted.emit(step)

    def _look_at(self, run: Run) -> None:
        if (page := page_of(run)) == "curves":
            self._session.choose_run(run)
        self._session.page_wanted.emit(page)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._show()
        self.machine.show_machine(self._session.folder)

    def _show_if_seen(self, also_machine: bool = False) -> None:
        """Nothing is read for a page that is not looked at; it is filled again when it is shown."""
        if self.isVisible():
            self._show()
            if also_machine:
                self.machine.show_machine(self._session.folder)

    def _show(self) -> None:
        listed = self._session.listed
        is_new = self._session.project is None and not listed
        self.welcome.setVisible(is_new)
        step = self.journey.show_steps(self._session, prominent=not is_new)
        self.recent.show_runs(listed)
        self.attention.show_runs(listed)
        self._say_sentence(is_new, step)

    def _say_sentence(self, is_new: bool, step: str) -> None:
        live = sum(glance.state in AT_WORK for _, glance in self._session.listed)
        if live:
            say(self.sentence, "setText", "home.sentence_live", count=live)
        elif is_new:
            say(self.sentence, "setText", "home.sentence_new")
        elif step.endswith("_again"):
            say(self.sentence, "setText", "home.sentence_done")
        else:
            say(self.sentence, "setText", "home.sentence_next", step=t(step))

    def retranslate(self) -> None:
        self._show()
