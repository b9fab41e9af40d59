"""Python's tracebacks in a log: location, error, and which led to which."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

# The numbered lines of a log: number from 1, text.
Lines: TypeAlias = tuple[tuple[int, str], ...]

_HEAD = re.compile(r"Traceback \(most recent call last\):")
# A file that Python cannot read is printed without that line, as it is no call.
_UNREADABLE = re.compile(r'^  File "[^"]+", line \d{1,9}$')
_SYNTAX_ERROR = re.compile(r"^(?:SyntaxError|IndentationError|TabError): ")
_SYNTAX_LINES = 4
# What stands between tracebacks of one failure: Python's two sentences, MindSpore's data sets, torch's DataLoader.
_LINK = re.compile(
    r"During handling of the above exception|The above exception was the direct cause"
    r"|- Python Call Stack:|^Original Traceback"
)
_FRAME = re.compile(r'^ {2,8}File "([^"]+)", line (\d{1,9})')
_ERROR = re.compile(r"^([A-Za-z_][\w.]*)(?:: (.*))?$")
# MindSpore's frames of what it compiles, outermost first, printed under the exception.
_COMPILED = re.compile(r"^# \d{1,4} In file ([^:]+):(\d{1,9})")
# Ours: the guest in the user's own training, and the engine of recipes. Nobody is sent there to look for their mistake.
_STUDIO = re.compile(r"[/\\]guest[/\\]ascend_studio[/\\]|[/\\]engine[/\\](?:ascend_engine[/\\]|rank\.py$)")
_LIBRARY = re.compile(r"[/\\](?:site|dist)-packages[/\\]|[/\\]lib(?:64)?[/\\]python\d[\d.]*[/\\]|^<")


@dataclass(frozen=True, kw_only=True)
class Raised:
    """An exception that nobody caught. `location`: the innermost frame of the user's own code, as path:line, where
    there is none that of a library, "" where there are only frames of the studio. `lines`: the numbers of that frame,
    of its source, and of the exception itself, which is line `at`."""

    type: str
    message: str
    location: str
    lines: tuple[int, ...]
    at: int
    is_own: bool = True

    @property
    def is_unreadable_file(self) -> bool:
        """Whether no line was running: Python could not read the file."""
        return bool(_SYNTAX_ERROR.match(f"{self.type}: "))


def last_chain(lines: Lines) -> Lines:
    """Return the lines from the last traceback, with those that led to it, to the end; () without one."""
    heads = [index for index, (_, text) in enumerate(lines) if _HEAD.search(text) or _begins_unreadable(lines, index)]
    if not heads:
        return ()
    begin = heads.pop()
    while heads and any(_LINK.search(text) for _, text in lines[heads[-1] + 1 : begin + 1]):
        begin = heads.pop()
    return lines[begin:]


def _begins_unreadable(lines: Lines, index: int) -> bool:
    """Tell whether a file that cannot be read is named here, with its error below."""
    below = lines[index + 1 : index + 1 + _SYNTAX_LINES]
    return bool(_UNREADABLE.match(lines[index][1])) and any(_SYNTAX_ERROR.match(text) for _, text in below)


def raised(chain: Lines) -> Raised | None:
    """Return the exception at the end of a chain; None where the log was cut before it."""
    error = _last_error(chain)
    if error is None:
        return None
    number, name, message = error
    frames = [(n, match) for n, text in chain if n < number and (match := _FRAME.match(text))]
    frames += [(n, match) for n, text in chain if n > number and (match := _COMPILED.match(text))]
    others = [frame for frame in frames if not _STUDIO.search(frame[1][1])]
    own = [frame for frame in others if not _LIBRARY.search(frame[1][1])]
    if not others:
        return Raised(type=name, message=message, location="", lines=(number,), at=number, is_own=False)
    at, frame = (own or others)[-1]
    visible = tuple(sorted({at, at + 1, number}))
    location = f"{frame[1]}:{frame[2]}"
    return Raised(type=name, message=message, location=location, lines=visible, at=number, is_own=bool(own))


def _last_error(chain: Lines) -> tuple[int, str, str] | None:
    """Return number, type and message of the first line that ends the last traceback with a frame in it."""
    last_frame, in_frames = None, False
    for number, text in chain:
        if _FRAME.match(text):
            in_frames = True
        elif in_frames and text and not text[0].isspace() and (match := _ERROR.match(text)):
            last_frame, in_frames = (number, match[1], (match[2] or "").strip()), False
    return last_frame
