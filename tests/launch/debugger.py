"""A debugger for tests: as much of the debug adapter protocol as attaching and one breakpoint need.

Source: https://microsoft.github.io/debug-adapter-protocol/specification
"""

from __future__ import annotations

import json
import socket
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Debugger:
    """Connected to a port of this host, as an editor would be."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=300)
        self._file = self._socket.makefile("rb")
        self._sent = 0

    def attach(self, path: Path, line: int) -> None:
        """With a breakpoint in one line of a file."""
        self._request("initialize", adapterID="test", pathFormat="path", linesStartAt1=True)
        self._request("attach", justMyCode=False)
        self._read(lambda message: message.get("event") == "initialized")
        self._request("setBreakpoints", source={"path": str(path)}, breakpoints=[{"line": line}])
        self._request("configurationDone")

    def stopped_at(self) -> tuple[str, int]:
        """Waits for the breakpoint; (name of the file, line)."""
        thread = self._read(lambda message: message.get("event") == "stopped")["body"]["threadId"]
        asked = self._request("stackTrace", threadId=thread)
        answer = self._read(lambda message: message.get("request_seq") == asked)
        top = answer["body"]["stackFrames"][0]
        return top["source"]["path"].rpartition("/")[2], top["line"]

    def leave(self) -> None:
        """The training goes on without a debugger."""
        asked = self._request("disconnect", terminateDebuggee=False)
        self._read(lambda message: message.get("request_seq") == asked)
        self._file.close()
        self._socket.close()

    def _request(self, command: str, **arguments: Any) -> int:
        self._sent += 1
        body = json.dumps({"seq": self._sent, "type": "request", "command": command, "arguments": arguments}).encode()
        self._socket.sendall(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        return self._sent

    def _read(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The next message that is wanted; the others are dropped."""
        while True:
            length = 0
            while (header := self._file.readline().strip()) != b"":
                length = int(header.partition(b":")[2])
            message: dict[str, Any] = json.loads(self._file.read(length))
            if wanted(message):
                return message


def free_port() -> int:
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        port: int = asked.getsockname()[1]
        return port
