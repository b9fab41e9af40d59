"""Questions whose answer may be late: only that of the last one asked is heard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ui.asking import ask

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtCore import QObject


class Latest:
    def __init__(self, owner: QObject) -> None:
        self._owner = owner
        self._turn = 0

    def ask(self, question: Callable[[], Any], answer: Callable[[Any], object]) -> None:
        """In another thread; `answer` is called in Qt's, unless something else was asked meanwhile."""
        self.drop()
        turn = self._turn

        def heard(found: Any) -> None:
            if turn == self._turn:
                answer(found)

        ask(self._owner, question, heard)

    def drop(self) -> None:
        """What was asked is not wanted any more."""
        self._turn += 1
