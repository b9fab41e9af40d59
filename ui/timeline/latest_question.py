"""Questions answered in the background, of which only the latest answer counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ui.services.background import run_in_background

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtCore import QObject


class LatestQuestion:
    def __init__(self, owner: QObject) -> None:
        self._owner = owner
        self._turn = 0

    def run(self, question: Callable[[], Any], answer: Callable[[Any], object]) -> None:
        """Run `question` in another thread; `answer` is called in Qt's thread, unless another question was asked in the
        meantime."""
        self.drop()
        turn = self._turn

        def heard(result: Any) -> None:
            if turn == self._turn:
                answer(result)

        run_in_background(self._owner, question, heard)

    def drop(self) -> None:
        """Ignore the answer to the current question."""
        self._turn += 1
