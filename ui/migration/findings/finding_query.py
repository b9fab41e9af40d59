"""The query that selects findings: by state, kind, category, file and text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ui.migration.finding_texts import category_name, location_text, rule_text

if TYPE_CHECKING:
    from backends.migration.finding import FindingKind, FindingState, ScanFinding


@dataclass(frozen=True, kw_only=True)
class FindingQuery:
    """Empty `states`, `category` and `path` match everything. `text`: every word has to occur, in any case."""

    states: frozenset[FindingState] = frozenset()
    kind: FindingKind | None = None
    category: str = ""
    path: str = ""
    text: str = ""

    def matches(self, finding: ScanFinding) -> bool:
        """Match everything but the text, which costs more: see `has_words`."""
        return (
            (not self.states or finding.state in self.states)
            and (self.kind is None or finding.is_counted == (self.kind == "place"))
            and (not self.path or finding.path == self.path)
            and (not self.category or category_name(finding.category) == self.category)
        )


def searchable_text(finding: ScanFinding) -> str:
    """Return the text that a query is searched in."""
    parts = (
        location_text(finding),
        rule_text(finding, "title"),
        finding.name,
        finding.text,
        category_name(finding.category),
    )
    return "\n".join((*parts, finding.rule)).lower()


def has_words(text: str, words: list[str]) -> bool:
    """Tell whether every word occurs in a text."""
    return all(word in text for word in words)
