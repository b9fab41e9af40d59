"""The fields above the findings: text, kind and category."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLineEdit, QSizePolicy, QVBoxLayout, QWidget

from studio.texts import t
from ui.migration.names import category_name
from ui.say import say
from ui.widgets import Elided, text_button

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backends.migration.found import Found, Kind

PAUSE = 120
LAST = 24
KINDS: tuple[tuple[Kind | None, str], ...] = (
    (None, "migration.kind.all"), ("place", "migration.kind.place"), ("advice", "migration.kind.advice"),
)  # fmt: skip


class FindingFilter(QWidget):
    """`changed`: after a pause in typing, at once for the choices. `cleared`: the button that shows all again."""

    changed = Signal()
    cleared = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.text = QLineEdit()
        self.text.setObjectName("migration_search")
        self.text.setClearButtonEnabled(True)
        say(self.text, "setPlaceholderText", "migration.search")
        say(self.text, "setAccessibleName", "migration.search")
        self._pause = QTimer(self, singleShot=True, interval=PAUSE)
        self._pause.timeout.connect(self.changed)
        self.text.textChanged.connect(self._typed)
        self.kinds, self.categories = _choice("migration_kind"), _choice("migration_category")
        say(self.kinds, "setAccessibleName", "migration.kind.name")
        say(self.categories, "setAccessibleName", "migration.category.name")
        self._names: list[str] = []
        self.kinds.activated.connect(self._chose)
        self.categories.activated.connect(self._chose)
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
        self.clear.setMaximumHeight(LAST)
        last.addStrut(LAST)

    @property
    def kind(self) -> Kind | None:
        return KINDS[max(0, self.kinds.currentIndex())][0]

    @property
    def category(self) -> str:
        """The name of a category, '' for all."""
        row = self.categories.currentIndex()
        return self._names[row - 1] if 0 < row <= len(self._names) else ""

    def reset(self) -> None:
        """Without telling: whoever resets looks at the other filters too."""
        self.text.blockSignals(True)
        self.text.clear()
        self.text.blockSignals(False)
        self.kinds.setCurrentIndex(0)
        self.categories.setCurrentIndex(0)

    def choose_kind(self, kind: Kind | None) -> None:
        """Without telling."""
        self.kinds.setCurrentIndex(next(row for row, (one, _) in enumerate(KINDS) if one == kind))

    def show_categories(self, findings: Iterable[Found]) -> None:
        """Those that occur, by name; the chosen one stays where it still occurs."""
        chosen = self.category
        self._names = sorted({category_name(category) for category in {found.category for found in findings}})
        self.categories.clear()
        self.categories.addItems([t("migration.category.all"), *self._names])
        self.categories.setCurrentIndex(self._names.index(chosen) + 1 if chosen in self._names else 0)

    def show_count(self, shown: int, total: int) -> None:
        self.count.setText(t("migration.count", shown=shown, total=total))
        self.clear.setVisible(shown < total)

    def retranslate(self) -> None:
        at = max(0, self.kinds.currentIndex())
        self.kinds.clear()
        self.kinds.addItems([t(key) for _, key in KINDS])
        self.kinds.setCurrentIndex(at)

    def _typed(self) -> None:
        self._pause.start()

    def _chose(self) -> None:
        self.changed.emit()


def _choice(name: str) -> QComboBox:
    made = QComboBox()
    made.setObjectName(name)
    made.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    made.setMinimumContentsLength(6)
    made.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
    return made
