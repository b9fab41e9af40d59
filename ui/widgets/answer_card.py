"""Commands that answer a question instead of training: their run is shown as a card with the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ui.widgets.basic import Card

if TYPE_CHECKING:
    from studio.run import Run


class AnswerCard(Card):
    """`verdict`: the sentence at the top of the page."""

    def __init__(self, title_key: str) -> None:
        super().__init__(title_key)
        self.verdict = ""

    def show_run(self, run: Run) -> None:
        """Reads the answer that a finished run left, and shows itself; stays hidden where there is none."""
        raise NotImplementedError
