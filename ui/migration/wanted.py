"""Which findings are shown: by state, kind, category, file and text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ui.migration.names import category_name, place_text, rule_text

if TYPE_CHECKING:
    from backends.migration.found import Found, Kind, State


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """No states: all of them. `path`: a file, or all. `text`: every word has to occur, upper or lower case alike."""

    states: frozenset[State] = frozenset()
    kind: Kind | None = None
    category: str = ""
    path: str = ""
    text: str = ""

    def fits(self, found: Found) -> bool:
        """All but the text, which costs more: see `texts_fit`."""
        return (
            (not self.states or found.state in self.states)
            and (self.kind is None or found.kind == self.kind)
            and (not self.path or found.path == self.path)
            and (not self.category or category_name(found.category) == self.category)
        )


def searched(found: Found) -> str:
    """What the text of a filter is looked for in."""
    parts = (place_text(found), rule_text(found, "title"), found.name, found.text, category_name(found.category))
    return "\n".join((*parts, found.rule)).lower()


def texts_fit(text: str, words: list[str]) -> bool:
    return all(word in text for word in words)
