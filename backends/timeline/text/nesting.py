"""How deep a place in a JSON text lies, without decoding what comes before it."""

from __future__ import annotations

import re

_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+("?)', re.DOTALL)


class Nesting:
    """`depth`: brackets and braces that are open behind all that was taken. A piece may end within a string."""

    def __init__(self) -> None:
        self.depth = 0
        self._opened = b""

    def take(self, data: bytes) -> None:
        rest, strings = _STRING.subn(rb"\1", self._opened + data)
        self.depth += rest.count(b"{") + rest.count(b"[") - rest.count(b"}") - rest.count(b"]")
        is_cut = strings > rest.count(b'"')
        self._opened = b'"\\' if is_cut and rest.endswith(b"\\") else b'"' * is_cut

    def take_key(self, data: bytes) -> None:
        """As `take`, of what ends before a key: a string that is open there was never closed, and ends there."""
        self.take(data)
        self._opened = b""
