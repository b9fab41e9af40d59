"""`ask(owner, question, answer)`: what takes longer than a frame and is not worth a run."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QThreadPool, Signal

if TYPE_CHECKING:
    from collections.abc import Callable


def ask(owner: QObject, question: Callable[[], Any], answer: Callable[[Any], object]) -> None:
    """Calls `question` in another thread, then `answer` with what it returned, in the thread of Qt. Nobody is told
    when `owner` is gone by then. A question that raises is a bug of ours: it is raised there, where bugs are shown."""
    asked = _Asked(owner, answer)
    QThreadPool.globalInstance().start(lambda: _find_out(question, asked))


class _Asked(QObject):
    found = Signal(object, object)

    def __init__(self, owner: QObject, answer: Callable[[Any], object]) -> None:
        super().__init__(owner)
        self._answer = answer
        self.found.connect(self._tell)

    def _tell(self, value: Any, error: Exception | None) -> None:
        self.deleteLater()
        if error is not None:
            raise error
        self._answer(value)


def _find_out(question: Callable[[], Any], asked: _Asked) -> None:
    value, error = None, None
    try:
        value = question()
    except Exception as raised:
        error = raised
    with suppress(RuntimeError):  # the owner is gone, and what belonged to it
        asked.found.emit(value, error)
