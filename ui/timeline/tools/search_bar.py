"""The search field: matches stay bright in the view, the others fade."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QToolButton, QWidget

from backends.timeline.query.search import Hits, in_time, search
from studio.texts import t
from ui.timeline.latest_question import LatestQuestion
from ui.widgets.basic import Elided, retone, show_icon
from ui.widgets.localized import localize

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from PySide6.QtGui import QKeyEvent

    from backends.timeline.trace import Trace
    from ui.timeline.state.view_state import ViewState

PAUSE_MS = 150
MIN_FIELD_PX = 160
SMALL = "QToolButton { padding: 4px 8px; } QToolButton:focus { padding: 3px 7px; }"


class SearchBar(QWidget):
    """`answered`: a search is done; its hits are in the state."""

    answered = Signal()

    def __init__(self, state: ViewState) -> None:
        super().__init__()
        self._state = state
        self._problem = ""
        self._is_searching = self._jumps_to_first = False
        self._named = ""
        self._before: tuple[bool, bool] | None = None
        self._latest = LatestQuestion(self)
        self.field = QLineEdit()
        self.field.setObjectName("timeline_search")
        self.field.setClearButtonEnabled(True)
        self.field.setMinimumWidth(MIN_FIELD_PX)
        for setter in (self.field.setPlaceholderText, self.field.setAccessibleName):
            localize(setter, "timeline.find.field")
        localize(self.field.setToolTip, "timeline.find.hint")
        self.case = _toggle("timeline_case", "Aa", "timeline.find.case")
        self.regex = _toggle("timeline_regex", ".*", "timeline.find.regex")
        self.previous = _step("timeline_previous", "chevron-up", "timeline.find.previous")
        self.next = _step("timeline_next", "chevron-down", "timeline.find.next")
        self.count = Elided(role="hint")
        self.count.setObjectName("timeline_count")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        row.addWidget(self.field, 1)
        for widget in (self.case, self.regex, self.previous, self.next, self.count):
            row.addWidget(widget)
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._connect()
        self.retranslate()

    def _connect(self) -> None:
        self._pause.timeout.connect(self._search)
        self.field.textChanged.connect(self._typed)
        self.field.returnPressed.connect(self._entered)
        for toggle in (self.case, self.regex):
            toggle.toggled.connect(lambda _on: self._ticked())
        self.next.clicked.connect(lambda: self._state.go_to_hit(self._state.hits.current + 1))
        self.previous.clicked.connect(lambda: self._state.go_to_hit(max(self._state.hits.current, 0) - 1))
        self._state.hits.changed.connect(self.retranslate)
        self._state.hits.cleared.connect(self._clear)
        self._state.trace_changed.connect(self._search)

    def focus(self) -> None:
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()

    def find_name(self, text: str) -> None:
        """Search for exactly this name, whatever is typed and ticked; the ticks are restored when something else is
        typed."""
        before = self._before or (self.case.isChecked(), self.regex.isChecked())
        self._named, self._before = text, None
        self.field.setText(text)
        self._tick(case=True, regex=False)
        self._before = before
        self._search()

    def _clear(self) -> None:
        self.field.clear()
        self._search()

    def _tick(self, *, case: bool, regex: bool) -> None:
        for toggle, on in ((self.case, case), (self.regex, regex)):
            was = toggle.blockSignals(True)
            toggle.setChecked(on)
            toggle.blockSignals(was)

    def _typed(self, text: str) -> None:
        self._jumps_to_first = False
        if self._before is not None and text != self._named:
            case, regex = self._before
            self._before = None
            self._tick(case=case, regex=regex)
        self._pause.start(PAUSE_MS)

    def _ticked(self) -> None:
        """Search again after a tick by hand, which stays."""
        self._before = None
        self._search()

    def _entered(self) -> None:
        """Go to the next match, or to the first one once it is known."""
        if self._pause.isActive():
            self._search()
        if self._is_searching:
            self._jumps_to_first = True
        else:
            self._state.go_to_hit(self._state.hits.current + 1)

    def _search(self) -> None:
        self._pause.stop()
        self._is_searching = False
        trace, text = self._state.trace, self.field.text()
        if trace is None or not text:
            self._latest.drop()
            self._problem = ""
            if len(self._state.hits.slices) or self._state.hits.names is not None:
                self._state.set_hits(np.empty(0, np.int64))
            self.retranslate()
            self.answered.emit()
            return
        question = partial(_search_names, trace, text, regex=self.regex.isChecked(), case=self.case.isChecked())
        self._is_searching = True
        self._latest.run(question, partial(self._show_hits, trace))

    def _show_hits(self, trace: Trace, answer: tuple[Hits, NDArray[np.int64]]) -> None:
        hits, ordered = answer
        self._is_searching = False
        if trace is not self._state.trace:
            return
        self._problem = str(hits.problem) if hits.problem else ""
        current = np.flatnonzero(ordered == self._state.selection.slice)
        self._state.set_hits(ordered, hits.names, int(current[0]) if len(current) else -1)
        if self._jumps_to_first:
            self._jumps_to_first = False
            self._state.go_to_hit(0)
        self.answered.emit()

    def retranslate(self) -> None:
        count, hit = len(self._state.hits.slices), self._state.hits.current
        has_text = bool(self.field.text())
        if self._problem:
            text = self._problem
        elif not has_text:
            text = ""
        else:
            text = _counted(count, hit)
        self.count.setText(text)
        self.count.setVisible(bool(text))
        retone(self.count, "role", "bad" if self._problem else "hint")
        retone(self.field, "wrong", bool(self._problem))
        for step in (self.previous, self.next):
            step.setEnabled(count > 0)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.field.text():
            self.field.clear()
        else:
            super().keyPressEvent(event)


def _counted(count: int, hit: int) -> str:
    if not count:
        return t("timeline.find.none")
    if hit >= 0:
        return t("timeline.find.count", at=f"{hit + 1:,}", count=f"{count:,}")
    return t("timeline.find.match") if count == 1 else t("timeline.find.matches", count=f"{count:,}")


def _search_names(trace: Trace, text: str, *, regex: bool, case: bool) -> tuple[Hits, NDArray[np.int64]]:
    hits = search(trace, text, regex=regex, case=case)
    return hits, in_time(trace, hits)


def _toggle(name: str, text: str, key: str) -> QToolButton:
    button = QToolButton()
    button.setObjectName(name)
    button.setStyleSheet(SMALL)
    button.setText(text)
    button.setCheckable(True)
    for setter in (button.setToolTip, button.setAccessibleName):
        localize(setter, key)
    return button


def _step(name: str, icon: str, key: str) -> QToolButton:
    button = QToolButton()
    button.setObjectName(name)
    button.setStyleSheet(SMALL)
    show_icon(button, icon, "dim", 16)
    for setter in (button.setToolTip, button.setAccessibleName):
        localize(setter, key)
    return button
