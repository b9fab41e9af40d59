"""An event of the Trace Event Format, as far as a timeline needs it; arguments stay text until they are needed."""

from __future__ import annotations

import json
import re
from typing import Any, Literal, get_args

from msgspec import Raw, Struct
from msgspec.json import Decoder

Phase = Literal["X", "C", "M", "s", "t", "f", "i", "I", "R", "n", "B", "E", "b", "e", "S", "F", ""]
PHASES = frozenset(get_args(Phase)) - {""}
NONE = Raw(b"")

NOT_AN_EVENT = "timeline.aside.not_an_event"
UNREADABLE = "timeline.aside.unreadable"
UNKNOWN_PHASE = "timeline.aside.unknown_phase"


class Event(Struct, gc=False):
    """`ph` "" marks an event to be set aside, and `cat` is then the reason. `ts` is the literal: a number or a
    string."""

    ph: Phase
    name: str | None = ""
    pid: int | float | str | None = None
    tid: int | float | str | None = None
    ts: Raw = NONE
    dur: float | str | None = None
    cat: str | None = None
    id: int | str | None = None
    id2: Raw = NONE
    args: Raw = NONE


events_of = Decoder(list[Event]).decode

_SURROGATE = re.compile("[\ud800-\udfff]")


def clean(text: str) -> str:
    """Replace lone surrogates, which no encoding accepts."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def aside(reason: str) -> Event:
    return Event(ph="", cat=reason)


def loose_event(value: Any) -> Event:
    """Make an event of JSON of any shape, whose floats are still text."""
    if not isinstance(value, dict):
        return aside(NOT_AN_EVENT)
    if not isinstance(value.get("ph"), str) or value["ph"] not in PHASES:
        return aside(UNKNOWN_PHASE)
    return Event(
        ph=value["ph"],
        name=_text(value.get("name")) or "",
        pid=_number_or_text(value.get("pid")),
        tid=_number_or_text(value.get("tid")),
        ts=_literal(value.get("ts")),
        dur=_duration(value.get("dur")),
        cat=_text(value.get("cat")),
        id=_number_or_text(value.get("id")),
        id2=_json(value.get("id2")),
        args=_json(value.get("args")),
    )


def _text(value: Any) -> str | None:
    if value is None:
        return None
    return clean(value if isinstance(value, str) else json.dumps(value))


def _number_or_text(value: Any) -> int | str | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else _text(value)


def _literal(value: Any) -> Raw:
    return _json(value) if isinstance(value, (int, str)) and not isinstance(value, bool) else NONE


def _duration(value: Any) -> str | None:
    if value is None:
        return None
    return str(value) if isinstance(value, (int, str)) and not isinstance(value, bool) else "?"


def _json(value: Any) -> Raw:
    return NONE if value is None else Raw(json.dumps(value).encode())
