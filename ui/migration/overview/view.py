"""The overview: where the effort is, which libraries are used, and which APIs work on which hardware."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QScrollArea, QStackedWidget, QTableView, QVBoxLayout, QWidget

from backends.migration.scan.overview import file_heat
from studio.texts import has, t
from studio.units import duration
from ui.migration.code_markup import without_code
from ui.migration.finding_texts import STATE_COLORS, single_state_name
from ui.migration.hardware_support import (
    mindspore_text,
    support_sign,
    support_text,
    support_token,
)
from ui.migration.overview.heat_map import HeatMap
from ui.migration.overview.opinion_card import OpinionCard
from ui.widgets.basic import (
    GAP,
    Card,
    Elided,
    Sentence,
    label,
)
from ui.widgets.cell_table import Cell, TableModel, table_view

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

    from backends.migration.finding import FindingState
    from backends.migration.official.opinion import Opinion
    from backends.migration.scan.overview import ApiUse, Overview
    from backends.migration.scan.project_libraries import ProjectLibrary
    from ui.migration.run_results import Scan

API_HEADERS = (
    "migration.overview.name", "migration.overview.count", "migration.hardware.a2", "migration.hardware.a3",
    "migration.hardware.a950", "migration.overview.mindspore",
)  # fmt: skip
LIBRARY_HEADERS = (
    "migration.overview.name",
    "migration.overview.version",
    "migration.overview.state",
    "migration.overview.todo",
)
MAX_NOTES = 40
MIN_WIDTH_FOR_TABLES = 760
STATE_ORDER: dict[FindingState, int] = {"none": 0, "manual": 1, "edit": 2, "unverified": 3, "auto": 4}
ANSWER_ORDER = {"no": 0, "unverified": 1, "yes": 2}


class OverviewView(QWidget):
    """`file_chosen`: the path of a file whose findings are to be shown."""

    file_chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._scan: Scan | None = None
        self._scrolls_to_opinion = False
        self.heat = HeatMap()
        self.heat.file_chosen.connect(self.file_chosen)
        self.apis = TableModel(API_HEADERS, frozenset({1}))
        self.libraries = TableModel(LIBRARY_HEADERS)
        self._api_view = table_view(self.apis, "migration_apis", "migration.overview.apis", 5)
        self._library_view = table_view(self.libraries, "migration_libraries", "migration.overview.libraries", 3)
        self._library_view.setTextElideMode(Qt.TextElideMode.ElideRight)
        self._library_view.doubleClicked.connect(self._open_library)
        self._api_stack = _with_placeholder(self._api_view, "migration.overview.apis_none")
        self._library_stack = _with_placeholder(self._library_view, "migration.overview.libraries_none")
        self._read, self._facts = Elided(role="hint"), Elided(role="hint")
        self._read.setObjectName("migration_read")
        self._facts.setObjectName("migration_facts")
        self._more, self._hint = label(role="hint"), Elided(role="hint")
        self.opinion = OpinionCard()
        self._lay_out()

    def _lay_out(self) -> None:
        """Fill the available height; scroll where that is too little."""
        inside = QWidget()
        inside.setProperty("role", "clear")
        column = QVBoxLayout(inside)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(10)
        column.addWidget(self._make_heat(), 2)
        self._tables = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._tables.setSpacing(GAP)
        self._tables.addWidget(_table_card("migration.overview.apis", self._api_stack), 3)
        self._tables.addWidget(_table_card("migration.overview.libraries", self._library_stack), 2)
        column.addLayout(self._tables, 3)
        column.addWidget(self.opinion)
        last = QHBoxLayout()
        last.setSpacing(GAP)
        last.addWidget(self._read, 2)
        last.addWidget(self._facts, 5)
        column.addLayout(last)
        self._area = area = QScrollArea()
        area.verticalScrollBar().rangeChanged.connect(self._scroll_to_opinion)
        area.setWidgetResizable(True)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(inside)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(area)

    def _make_heat(self) -> Card:
        card = Card("migration.overview.heat")
        card.header.insertWidget(1, self._more)
        card.header.insertWidget(2, self._hint, 100)
        card.body.setSpacing(8)
        card.body.addWidget(self.heat, 1)
        card.setMinimumHeight(170)
        return card

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the tables below each other where they do not fit side by side."""
        super().resizeEvent(event)
        wide = self.width() >= MIN_WIDTH_FOR_TABLES
        row, column = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
        self._tables.setDirection(row if wide else column)

    def show_scan(self, scan: Scan) -> None:
        self._scan = scan
        self.retranslate()

    def show_opinion(self, opinion: Opinion | None) -> None:
        """Show an opinion, and scroll to one that arrives while the view is visible, once the layout has room for
        it."""
        self._scrolls_to_opinion = opinion is not None and self.opinion.opinion is not opinion and self.isVisible()
        self.opinion.show_opinion(opinion)

    def _scroll_to_opinion(self) -> None:
        if self._scrolls_to_opinion:
            bar = self._area.verticalScrollBar()
            bar.setValue(bar.maximum())
            self._scrolls_to_opinion = False

    def retranslate(self) -> None:
        scan = self._scan
        self._hint.setText(t("migration.overview.heat_hint"))
        if scan is None:
            return
        overview = scan.overview
        lines = {file.path: file.lines for file in overview.heat} if overview else {}
        files = file_heat(scan.open_findings(), lines)
        self.heat.show_files(files)
        hidden = len(files) - len(self.heat.files)
        self._more.setText(t("migration.overview.more_files", n=hidden) if hidden else "")
        self._show_overview(overview)

    def _show_overview(self, overview: Overview | None) -> None:
        apis = overview.apis if overview else ()
        libraries = overview.libraries if overview else ()
        self.apis.show_rows([_api_row(api) for api in sorted(apis, key=_api_order)])
        self.libraries.show_rows([_library_row(library) for library in sorted(libraries, key=_library_order)])
        self._api_stack.setCurrentIndex(0 if apis else 1)
        self._library_stack.setCurrentIndex(0 if libraries else 1)
        if overview is None:
            self._read.setText(t("migration.overview.old"))
            self._facts.setText("")
            return
        read = t(
            "migration.overview.read",
            files=overview.files,
            lines=f"{overview.lines:,}".replace(",", "\u2009"),
            seconds=duration(overview.seconds),
        )
        if overview.notes:
            unread = t("migration.overview.notes", n=len(overview.notes) + overview.notes_more)
            read = f"{read} {unread}"
        self._read.setText(read)
        if overview.notes:
            self._read.setToolTip("\n".join(_note_lines(overview)))
        self._facts.setText(t(overview.facts.key, **overview.facts.args))

    def _open_library(self, index: QModelIndex) -> None:
        address = self.libraries.rows[index.row()][0].hint
        if address.startswith("https://"):
            QDesktopServices.openUrl(QUrl(address))


def _table_card(key: str, stack: QStackedWidget) -> Card:
    card = Card(key)
    card.body.setContentsMargins(1, 12, 1, 1)
    card.header.setContentsMargins(14, 0, 10, 0)
    card.body.setSpacing(6)
    card.body.addWidget(stack, 1)
    card.setMinimumHeight(190)
    return card


def _with_placeholder(view: QTableView, key: str) -> QStackedWidget:
    stack = QStackedWidget()
    stack.addWidget(view)
    nothing = Sentence(key)
    nothing.setContentsMargins(14, 4, 14, 8)
    nothing.setAlignment(Qt.AlignmentFlag.AlignTop)
    stack.addWidget(nothing)
    return stack


def _note_lines(overview: Overview) -> list[str]:
    lines = [
        t("migration.overview.note", path=note.path, why=t(note.key, **note.args))
        for note in overview.notes[:MAX_NOTES]
    ]
    hidden = len(overview.notes) + overview.notes_more - len(lines)
    return [*lines, t("migration.overview.notes_more", n=hidden)] if hidden else lines


def _api_order(api: ApiUse) -> tuple[int, int, int, str]:
    """Sort missing APIs first, then by number of calls."""
    return ANSWER_ORDER.get(api.a2, 1), ANSWER_ORDER.get(api.a3, 1), -api.count, api.name


def _api_row(api: ApiUse) -> tuple[Cell, ...]:
    answers = [
        Cell(
            text=support_sign(answer),
            order=ANSWER_ORDER.get(answer, 1),
            token=support_token(answer),
            hint=support_text(answer),
        )
        for answer in (api.a2, api.a3, api.a950)
    ]
    name = api.mindspore if api.consistent or not api.mindspore else f"~{api.mindspore.removeprefix('~')}"
    return (
        Cell(text=api.name, is_mono=True),
        Cell(text=str(api.count), order=api.count),
        *answers,
        Cell(
            text=_short_name(name),
            token="text" if name else "dim",
            hint=mindspore_text(name),
        ),
    )


def _short_name(name: str) -> str:
    """Drop the prefix that the column's title already gives."""
    plain = name.removeprefix("~").removeprefix("mindspore.")
    return f"≈ {plain}" if name.startswith("~") else plain or "–"


def _library_order(library: ProjectLibrary) -> tuple[bool, int, str]:
    return not library.rule, STATE_ORDER[library.state], library.name.lower()


def _library_row(library: ProjectLibrary) -> tuple[Cell, ...]:
    todo = f"rule.{library.rule}.todo"
    has_rule = bool(library.rule)
    text = t(todo, name=library.name, text=library.name) if has_rule and has(todo) else ""
    return (
        Cell(text=library.name, is_mono=True, hint=library.source),
        Cell(text=library.version or library.asked or "–", token="text" if library.version else "dim"),
        Cell(
            text=single_state_name(library.state),
            order=STATE_ORDER[library.state],
            token=STATE_COLORS[library.state] if has_rule else "dim",
        ),
        Cell(
            text=rest_after_first_sentence(without_code(text)) if library.state == "auto" else without_code(text),
            token="dim",
            hint=without_code(text),
        ),
    )


def rest_after_first_sentence(text: str) -> str:
    """Return what follows the first sentence: that one says that the library needs nothing."""
    end = t("migration.overview.sentence_end")
    return text.partition(end)[2].strip() or "–"
