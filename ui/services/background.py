"""`ask(owner, question, answer)`: what takes longer than a frame and is not worth a run."""

from __future__ import annotations

import functools
import itertools
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication, QObject, QThreadPool, Signal
from shiboken6 import isValid

if TYPE_CHECKING:
    from collections.abc import Callable


def run_in_background(owner: QObject, question: Callable[[], Any], answer: Callable[[Any], object]) -> None:
    """Calls `question` in another thread, then `answer` with what it returned, in the thread of Qt. Nobody is told
    when `owner` is gone by then. A question that raises is a bug of ours: it is raised there, where bugs are shown."""
    pending = _pending_questions()
    number = pending.begin(owner, answer)
    QThreadPool.globalInstance().start(lambda: _evaluate(question, number, pending))


class _Pending(QObject):
    """Who waits for which answer. The other thread knows only a number: it may not be the last to hold a widget."""

    answered = Signal(int, object, object)

    def __init__(self) -> None:
        super().__init__(QCoreApplication.instance())
        self._numbers = itertools.count()
        self._waiting: dict[int, tuple[QObject, Callable[[Any], object]]] = {}
        self.answered.connect(self._deliver)

    def begin(self, owner: QObject, answer: Callable[[Any], object]) -> int:
        number = next(self._numbers)
        self._waiting[number] = (owner, answer)
        return number

    def _deliver(self, number: int, value: Any, error: Exception | None) -> None:
        owner, answer = self._waiting.pop(number)
        if not isValid(owner):
            return
        if error is not None:
            raise error
        answer(value)


@functools.cache
def _pending_questions() -> _Pending:
    return _Pending()


def _evaluate(question: Callable[[], Any], number: int, pending: _Pending) -> None:
    value, error = None, None
    try:
        value = question()
    except Exception as raised:
        error = raised
    with suppress(RuntimeError):  # the window is closed
        pending.answered.emit(number, value, error)
