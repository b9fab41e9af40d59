"""JSON that is not quite: what one event has wrong costs that event, and nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Literal

# Keys that begin an event in what torch, torch_npu, MindSpore and msprof write; what arguments hold begins otherwise.
FIRST_KEY = r'\s*"(?:ph|name|pid|tid|ts|cat|id|bp|dur|args|s)"\s*:'
_CUT = re.compile(r"\}\s*,\s*(?=\{" + FIRST_KEY + ")")
_BETWEEN = re.compile(r"[\s,]*")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|[{}\[\]]', re.DOTALL)
_LONGEST_NUMBER = 19
_PARTIAL = 8  # characters of a literal or an escape of which only the beginning is there
_NEAR, _FAR = 8, 50
_AFTER = 1 << 16
_ENOUGH = 1 << 20
_COSTLY = 1 << 13  # an error of the json module counts all lines before it

Decode = Callable[[str, int], tuple[Any, int]]
State = Literal["more", "closed"]
BAD = object()  # an item that cannot be read


@dataclass
class Patience:
    """How many characters may still be looked at to find the end of a broken event by its brackets: a file that is
    broken everywhere would take the square of its size."""

    left: int = 64 << 20


@dataclass(kw_only=True)
class Loose:
    """`items`: values as JSON has them, or BAD. `end`: characters that were used. `state` "closed": by a bracket."""

    items: list[Any] = field(default_factory=list)
    end: int = 0
    state: State = "more"


def _whole(digits: str) -> int | str:
    return int(digits) if len(digits) <= _LONGEST_NUMBER else digits


def decoder(number: Callable[[str], Any]) -> Decode:
    """`number` makes floats of their text. NaN and infinities come as float."""
    return json.JSONDecoder(parse_float=number, parse_int=_whole, parse_constant=number, strict=False).raw_decode


_decode = decoder(str)


def read_loosely(text: str, last: bool, patience: Patience, decode: Decode = _decode) -> Loose:
    """The items of an array, whose opening bracket is not in `text` any more. `last`: nothing will follow."""
    found = Loose()
    while True:
        at = _between(text, found.end)
        if at == len(text):
            return found
        if text[at] == "]":
            found.end, found.state = at + 1, "closed"
            return found
        item, end = _item(text, at, last, patience, decode)
        if end == 0:
            return found
        found.items.append(item)
        found.end = end
        if item is BAD and end > _COSTLY:
            return found


def every_item(text: str, decode: Decode = _decode) -> list[Any]:
    """Of a text that holds whole items only."""
    items: list[Any] = []
    patience = Patience()
    while (found := read_loosely(text, True, patience, decode)).items:
        items += found.items
        text = text[found.end :]
    return items


def _between(text: str, at: int) -> int:
    match = _BETWEEN.match(text, at)
    return match.end() if match else at


def _item(text: str, at: int, last: bool, patience: Patience, decode: Decode) -> tuple[Any, int]:
    """An item and its end; the end is 0 where the text does not hold all of it."""
    try:
        value, end = decode(text, at)
    except json.JSONDecodeError as error:
        if not _is_cut_off(error, text):
            return BAD, _end_of_bad(text, at, error.pos, last, patience)
        return BAD, _next_event(text, at, _FAR) if last else 0
    except RecursionError:
        patience.left -= _AFTER
        return BAD, _end_of_bad(text, at, at, last, patience) if patience.left > 0 else len(text)
    is_whole = last or end < len(text) or isinstance(value, dict)
    return value, end if is_whole else 0


def _is_cut_off(error: json.JSONDecodeError, text: str) -> bool:
    return error.pos >= len(text.rstrip()) - _PARTIAL or error.msg.startswith("Unterminated string")


def _end_of_bad(text: str, begin: int, broken: int, last: bool, patience: Patience) -> int:
    """Where the next event begins; by its brackets where what comes next is none, as inside its arguments."""
    if event := _next_event(text, max(broken, begin + 1), _NEAR if patience.left > 0 else 1):
        return event
    if not last and len(text) - begin < _ENOUGH and patience.left > 0:
        patience.left -= len(text) - begin
        return 0
    cut = _CUT.search(text, max(broken, begin + 1))
    bound = min(len(text), (cut.end() if cut else len(text)) + _AFTER, begin + max(0, patience.left))
    patience.left -= bound - begin
    return _closing(text, begin, bound) or (cut.end() if cut else len(text) if last else 0)


def _closing(text: str, begin: int, bound: int) -> int:
    depth = 0
    for token in _TOKEN.finditer(text, begin, bound):
        character = token.group()
        if character in "{[":
            depth += 1
        elif character in "}]":
            depth -= 1
            if depth <= 0:
                is_pair = (character == "]") == (text[begin] == "[")
                return token.end() if is_pair and _is_followed(text, token.end()) else 0
    return 0


def _is_followed(text: str, at: int) -> bool:
    follower = text[at:].lstrip()[:1] if at + 64 >= len(text) else text[at : at + 64].lstrip()[:1]
    return follower in ("", ",", "]")


def _next_event(text: str, begin: int, tries: int) -> int:
    """Where an event begins that is whole, behind one that is not; 0 where there is none among the first `tries`."""
    for cut in islice(_CUT.finditer(text, begin), tries):
        if _is_event(text, cut.end()):
            return cut.end()
    return 0


def _is_event(text: str, at: int) -> bool:
    try:
        value, _ = _decode(text, at)
    except (json.JSONDecodeError, RecursionError):
        return False
    return isinstance(value, dict) and isinstance(value.get("ph"), str)
