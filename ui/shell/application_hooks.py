"""What reaches the window from outside of it: signals of the terminal, and errors that nobody caught."""

from __future__ import annotations

import signal
import socket
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QSocketNotifier
from PySide6.QtWidgets import QApplication

if TYPE_CHECKING:
    from types import FrameType, TracebackType

    from ui.services.session import Session


class ClosingSignals(QObject):
    """While Qt waits, no Python runs and no handler would be called: the wake-up socket lets Qt call one."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._woken, self._waking = socket.socketpair()
        self._woken.setblocking(False)
        self._waking.setblocking(False)
        self._notifier = QSocketNotifier(self._woken.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._empty)
        signal.set_wakeup_fd(self._waking.fileno(), warn_on_full_buffer=False)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            # nohup and a shell's & set some to be ignored: that is meant.
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._close)

    def _empty(self) -> None:
        self._woken.recv(512)

    @staticmethod
    def _close(_number: int, _frame: FrameType | None) -> None:
        QApplication.closeAllWindows()


def install_exception_hook(session: Session) -> None:
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
