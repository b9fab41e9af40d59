"""Ctrl+C in the terminal, and SIGTERM, close the window as its own button does."""

from __future__ import annotations

import signal
import socket
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QSocketNotifier
from PySide6.QtWidgets import QApplication

if TYPE_CHECKING:
    from types import FrameType


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
