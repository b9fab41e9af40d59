"""The lines of a log that grows."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from studio.faults.held_folder import current_folder

if TYPE_CHECKING:
    from pathlib import Path

CHUNK = 1 << 16
LONGEST = 1 << 16


class LogLines:
    """New lines of a log that grows; the states of a progress bar, which end in a carriage return, are lines too."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0
        self._rest = b""
        self.more = False

    def read(self) -> list[bytes]:
        """Whole new lines, about CHUNK bytes of them; `more` says whether there are others. Never raises."""
        data = self._data()
        self._offset += len(data)
        self.more = len(data) == CHUNK
        *whole, self._rest = (self._rest + data).replace(b"\r", b"\n").split(b"\n")
        self._rest = self._rest[:LONGEST]
        return whole

    def _data(self) -> bytes:
        try:
            path = current_folder(self._path.parent) / self._path.name
            file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError:
            return b""
        try:
            return os.pread(file, CHUNK, self._offset)
        except OSError:
            return b""
        finally:
            os.close(file)

    def last(self) -> list[bytes]:
        """The line that nobody ended."""
        rest, self._rest = self._rest, b""
        return [rest] if rest else []
