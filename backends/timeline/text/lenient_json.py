"""Lenient parsing of malformed JSON: an error in one event costs that event and nothing else."""

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
    """How many characters may still be searched for the end of a broken event by its brackets: a file that is broken
    everywhere would take quadratic time."""

    left: int = 64 << 20


@dataclass(kw_only=True)
class LenientItems:
    """`items`: JSON values, or BAD. `end`: characters used. `state` "closed": by a bracket."""

    items: list[Any] = field(default_factory=list)
    end: int = 0
    state: State = "more"


def _whole(digits: str) -> int | str:
    return int(digits) if len(digits) <= _LONGEST_NUMBER else digits


def decoder(number: Callable[[str], Any]) -> Decode:
    """Return a decoder that makes floats with `number`. NaN and infinities arrive as float."""
    return json.JSONDecoder(parse_float=number, parse_int=_whole, parse_constant=number, strict=False).raw_decode


_decode = decoder(str)


def parse_leniently(text: str, last: bool, patience: Patience, decode: Decode = _decode) -> LenientItems:
    """Parse the items of an array, whose opening bracket is not part of `text`. `last`: nothing will follow."""
    parsed = LenientItems()
    while True:
        at = _between(text, parsed.end)
        if at == len(text):
            return parsed
        if text[at] == "]":
            parsed.end, parsed.state = at + 1, "closed"
            return parsed
        item, end = _item(text, at, last, patience, decode)
        if end == 0:
            return parsed
        parsed.items.append(item)
        parsed.end = end
        if item is BAD and end > _COSTLY:
            return parsed


def every_item(text: str, decode: Decode = _decode) -> list[Any]:
    """Parse a text that contains complete items only."""
    items: list[Any] = []
    patience = Patience()
    while (parsed := parse_leniently(text, True, patience, decode)).items:
        items += parsed.items
        text = text[parsed.end :]
    return items


def _between(text: str, at: int) -> int:
    match = _BETWEEN.match(text, at)
    return match.end() if match else at


def _item(text: str, at: int, last: bool, patience: Patience, decode: Decode) -> tuple[Any, int]:
    """Return an item and its end; the end is 0 where the text does not contain all of it."""
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
    """Return where the next event begins; found by brackets where the next candidate is not an event, as inside
    arguments."""
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
    """Return where the next complete event begins after a broken one; 0 where none of the first `tries` candidates is
    one."""
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
