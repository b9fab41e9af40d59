"""Text from outside as data: what a terminal would take for a command does not reach it.

Names, sentences and logs come from trainings, projects and run folders of others. Printed as they are, they could set
the title, fill the clipboard, move the cursor over what stands there, or show a path in another order.
"""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import TracebackType

_STRINGS = "\x90\x98\x9d-\x9f"  # device control, start of string, operating system command, privacy, application
_BIDI = "\u202a-\u202e\u2066-\u2069"
_COMMANDS = re.compile(
    # Control sequences, as of colours and of the cursor (ECMA-48, 5.4).
    "(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]"
    # Control strings up to their end (5.6). One without an end on its line is text: it must hide nothing.
    f"|(?:\x1b[P\\]X^_]|[{_STRINGS}])[^\x07\x1b\n\x9c{_STRINGS}]*(?:\x07|\x1b\\\\|\x9c)"
    "|\x1b[ -/]*[0-~]"
    # Whatever is left of them, and every other control character but tab and newline.
    f"|[\0-\x08\x0b-\x1f\x7f-\x9f{_BIDI}]"
)
_SURROGATES = re.compile("[\ud800-\udfff]")
_UNPRINTABLE = re.compile(f"[\x7f-\x9f{_BIDI}\ud800-\udfff]")
_LINE_ENDS = str.maketrans("\n\r\t\u2028\u2029\x85", "      ")


def printable(text: str) -> str:
    """Return a text without escape sequences, control characters and marks that reorder it; tabs and newlines stay. A
    carriage return is a newline here, and a byte of a file's name that is not UTF-8 a replacement character.
    """
    text = _COMMANDS.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    return _SURROGATES.sub("\ufffd", text)


def printable_line(text: str) -> str:
    """Return a name or any other text that has to stay on one line, printable."""
    return printable(text.translate(_LINE_ENDS))


def json_text(value: Any) -> str:
    """Return JSON that is the same for a program and harmless on a terminal, also where a name is not UTF-8."""
    text = json.dumps(value, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def print_exception(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print the traceback of an error of ours: its message may hold text from outside, too. For `sys.excepthook`."""
    import traceback

    print(printable("".join(traceback.format_exception(kind, error, trace))), end="", file=sys.stderr)
