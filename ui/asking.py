"""`ask(owner, question, answer)`: what takes longer than a frame and is not worth a run."""

from __future__ import annotations

import functools
import gc
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication, QObject, QThreadPool, Signal

if TYPE_CHECKING:
    from collections.abc import Callable


def ask(owner: QObject, question: Callable[[], Any], answer: Callable[[Any], object]) -> None:
    """Calls `question` in another thread, then `answer` with what it returned, in the thread of Qt. Nobody is told
    when `owner` is gone by then. A question that raises is a bug of ours: it is raised there, where bugs are shown."""
    asked = _Asked(owner, answer)
    under_way = _under_way()
    under_way.begin(asked)
    QThreadPool.globalInstance().start(lambda: _find_out(question, asked, under_way))


class _UnderWay(QObject):
    """What a thread of Qt's pool may not do: free the wrapper of something that Qt is destroying just then. So no
    garbage is collected while a question is under way, and what belongs to it is let go in the thread of Qt."""

    ended = Signal(object)

    def __init__(self) -> None:
        super().__init__(QCoreApplication.instance())
        self._asked: list[_Asked] = []
        self.ended.connect(self._end)

    def begin(self, asked: _Asked) -> None:
        self._asked.append(asked)
        gc.disable()

    def _end(self, asked: _Asked) -> None:
        self._asked.remove(asked)
        if not self._asked:
            gc.enable()


@functools.cache
def _under_way() -> _UnderWay:
    return _UnderWay()


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


def _find_out(question: Callable[[], Any], asked: _Asked, under_way: _UnderWay) -> None:
    value, error = None, None
    try:
        value = question()
    except Exception as raised:
        error = raised
    with suppress(RuntimeError):  # the owner is gone, and what belonged to it
        asked.found.emit(value, error)
    with suppress(RuntimeError):  # the window is closed
        under_way.ended.emit(asked)
