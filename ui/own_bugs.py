"""Errors that nobody caught: they reach the message strip, stderr has them too, and the window goes on."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QApplication

if TYPE_CHECKING:
    from types import TracebackType

    from ui.session import Session


def tell_own_bugs(session: Session) -> None:
    """From now on, in this process."""

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            QApplication.closeAllWindows()
            return
        sys.__excepthook__(kind, error, trace)
        # Once the window is gone there is nobody to tell, and a second error must not hide the first.
        with suppress(Exception):
            session.trouble.emit(error.with_traceback(trace))

    sys.excepthook = hook
