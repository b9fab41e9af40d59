"""The findings that match a query as a list model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, Qt

from ui.migration.finding_texts import location_text, rule_text, state_name
from ui.migration.findings.finding_query import FindingQuery, has_words, searchable_text
from ui.widgets.plain_tip import plain_tip

if TYPE_CHECKING:
    from backends.migration.finding import ScanFinding

    Index = QModelIndex | QPersistentModelIndex

NAMED_ROLE = Qt.ItemDataRole.UserRole + 1


class FindingModel(QAbstractListModel):
    """`rows`: the matching findings in the order of the scan. Filtering 20,000 takes about 10 ms; the first search for
    a text takes some 100 ms more, as the searchable texts are built once."""

    def __init__(self) -> None:
        super().__init__()
        self.all_findings: tuple[ScanFinding, ...] = ()
        self.rows: list[ScanFinding] = []
        self.query = FindingQuery()
        self._search_texts: list[str] = []
        self._official_lines: frozenset[tuple[str, int]] = frozenset()

    def show_official_lines(self, lines: frozenset[tuple[str, int]]) -> None:
        """Mark the lines, as (path, line), that the official tool mentions."""
        self._official_lines = lines
        self.dataChanged.emit(self.index(0), self.index(max(0, self.rowCount() - 1)))

    def is_named(self, finding: ScanFinding) -> bool:
        """Tell whether the official tool mentions a finding's lines; it does not read notebooks."""
        lines = range(finding.line, finding.end + 1)
        return finding.cell is None and any((finding.path, line) in self._official_lines for line in lines)

    def show_findings(self, findings: tuple[ScanFinding, ...]) -> None:
        self.all_findings = findings
        self.forget_texts()
        self.set_query(self.query)

    def forget_texts(self) -> None:
        """Drop the searchable texts, which depend on the language."""
        self._search_texts = []

    def set_query(self, query: FindingQuery) -> None:
        self.beginResetModel()
        self.query = query
        words = query.text.lower().split()
        if words and not self._search_texts:
            self._search_texts = [searchable_text(finding) for finding in self.all_findings]
        self.rows = [
            finding
            for number, finding in enumerate(self.all_findings)
            if query.matches(finding) and (not words or has_words(self._search_texts[number], words))
        ]
        self.endResetModel()

    def row_of(self, finding: ScanFinding) -> int:
        """Return the row of the same finding, even where another scan moved its line; -1 where there is none."""
        same = (finding.path, finding.cell, finding.rule, finding.text)
        rows = [
            row for row, listed in enumerate(self.rows) if (listed.path, listed.cell, listed.rule, listed.text) == same
        ]
        return min(rows, key=lambda row: abs(self.rows[row].line - finding.line), default=-1)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's
        return 0 if parent.isValid() else len(self.rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self.rows):
            return None
        finding = self.rows[index.row()]
        if role == Qt.ItemDataRole.UserRole:
            return finding
        if role == NAMED_ROLE:
            return self.is_named(finding)
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return f"{location_text(finding)}, {state_name(finding.state)}, {rule_text(finding, 'title')}"
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(f"{rule_text(finding, 'title')}\n{location_text(finding)}")
        return None
