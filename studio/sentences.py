"""Events as sentences: the rule of a finding and the key of a note are keys of the catalogue, and so may `why` be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studio.events import Finding
from studio.texts import has, t

if TYPE_CHECKING:
    from studio.events import Note


def sentence_of(event: Note | Finding | None) -> str:
    """Return the sentence in the current language; "" for nothing, and for a key that this version has no sentence
    for."""
    if event is None:
        return ""
    if isinstance(event, Finding):
        key, args = event.rule, {"path": event.path, "line": event.line, **event.args}
    else:
        key, args = event.key, event.args
    if isinstance(why := args.get("why"), str) and has(why):
        args = {**args, "why": t(why)}
    return t(key, **args) if has(key) else ""
