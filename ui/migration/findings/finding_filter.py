"""The filter fields above the findings: text, kind and category."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLineEdit, QSizePolicy, QVBoxLayout, QWidget

from studio.texts import t
from ui.migration.finding_texts import category_name
from ui.widgets.basic import Elided, text_button
from ui.widgets.localized import localize

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backends.migration.finding import FindingKind, ScanFinding

PAUSE_MS = 120
LAST_ROW_HEIGHT = 24
KINDS: tuple[tuple[FindingKind | None, str], ...] = (
    (None, "migration.kind.all"), ("place", "migration.kind.place"), ("advice", "migration.kind.advice"),
)  # fmt: skip


class FindingFilter(QWidget):
    """`changed`: after a pause in typing, or at once for a choice; `cleared`: the button that shows all findings."""

    changed = Signal()
    cleared = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.text = QLineEdit()
        self.text.setObjectName("migration_search")
        self.text.setClearButtonEnabled(True)
        localize(self.text.setPlaceholderText, "migration.search")
        localize(self.text.setAccessibleName, "migration.search")
        self._pause = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._pause.timeout.connect(self.changed)
        self.text.textChanged.connect(self._restart_pause)
        self.kinds, self.categories = _combo_box("migration_kind", 6), _combo_box("migration_category", 10)
        localize(self.kinds.setAccessibleName, "migration.kind.name")
        localize(self.categories.setAccessibleName, "migration.category.name")
        self._names: list[str] = []
        self.kinds.activated.connect(self._emit_changed)
        self.categories.activated.connect(self._emit_changed)
        self.count = Elided(role="hint")
        self.count.setObjectName("migration_count")
        self.clear = text_button("migration.show_all", "migration.show_all")
        self.clear.clicked.connect(self.cleared)
        self._lay_out()
        self.retranslate()

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(10, 0, 10, 4)
        column.setSpacing(6)
        column.addWidget(self.text)
        row = QHBoxLayout()
        row.setSpacing(6)
        row.addWidget(self.kinds, 2)
        row.addWidget(self.categories, 3)
        column.addLayout(row)
        last = QHBoxLayout()
        last.addWidget(self.count, 1)
        last.addWidget(self.clear)
        column.addLayout(last)
        self.clear.setMaximumHeight(LAST_ROW_HEIGHT)
        last.addStrut(LAST_ROW_HEIGHT)

    @property
    def kind(self) -> FindingKind | None:
        return KINDS[max(0, self.kinds.currentIndex())][0]

    @property
    def category(self) -> str:
        """The name of the chosen category, '' for all."""
        row = self.categories.currentIndex()
        return self._names[row - 1] if 0 < row <= len(self._names) else ""

    def reset(self) -> None:
        """Clear the fields without a signal, as the caller applies the other filters too."""
        self.text.blockSignals(True)
        self.text.clear()
        self.text.blockSignals(False)
        self.kinds.setCurrentIndex(0)
        self.categories.setCurrentIndex(0)

    def choose_kind(self, kind: FindingKind | None) -> None:
        """Choose a kind without a signal."""
        self.kinds.setCurrentIndex(next(row for row, (row_kind, _) in enumerate(KINDS) if row_kind == kind))

    def show_categories(self, findings: Iterable[ScanFinding]) -> None:
        """List the categories that occur, by name; the chosen one stays where it still occurs."""
        chosen = self.category
        self._names = sorted({category_name(category) for category in {finding.category for finding in findings}})
        self.categories.clear()
        self.categories.addItems([t("migration.category.all"), *self._names])
        self.categories.setCurrentIndex(self._names.index(chosen) + 1 if chosen in self._names else 0)

    def show_count(self, visible: int, total: int) -> None:
        self.count.setText(t("migration.count", shown=visible, total=total))
        self.clear.setVisible(visible < total)

    def retranslate(self) -> None:
        chosen = max(0, self.kinds.currentIndex())
        self.kinds.clear()
        self.kinds.addItems([t(key) for _, key in KINDS])
        self.kinds.setCurrentIndex(chosen)

    def _restart_pause(self) -> None:
        self._pause.start()

    def _emit_changed(self) -> None:
        self.changed.emit()


def _combo_box(name: str, characters: int) -> QComboBox:
    """`characters`: what it shows of its text at least."""
    box = QComboBox()
    box.setObjectName(name)
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    box.setMinimumContentsLength(characters)
    box.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
    return box
