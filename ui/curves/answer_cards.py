"""The answers of commands that train nothing: each is shown by the card that its manifest names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QVBoxLayout, QWidget

from backends import features
from studio.feature import action_of, load
from ui.widgets.basic import GAP

if TYPE_CHECKING:
    from studio.run import Run
    from ui.widgets.answer_card import AnswerCard


class AnswerCards(QWidget):
    """Hidden while no card is visible. A card is made when the first run of its command is watched."""

    def __init__(self) -> None:
        super().__init__()
        self._cards: dict[str, AnswerCard] = {}
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(GAP)
        self.hide()

    def card(self, command: str) -> AnswerCard | None:
        """Return the card of a command; None for one that leaves no answer."""
        action = action_of(features(), command)
        if action is None or not action.card:
            return None
        if command not in self._cards:
            card = self._cards[command] = load(action.card)()
            card.hide()
            self._column.addWidget(card)
        return self._cards[command]

    @property
    def has_answer(self) -> bool:
        return any(not card.isHidden() for card in self._cards.values())

    def show_only(self, card: AnswerCard | None) -> None:
        """Hide all cards but one."""
        for other in self._cards.values():
            if other is not card:
                other.hide()
        self.setVisible(self.has_answer)

    def show_answer(self, card: AnswerCard, run: Run) -> None:
        card.show_run(run)
        self.setVisible(self.has_answer)
