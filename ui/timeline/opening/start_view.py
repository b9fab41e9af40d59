"""The page without a profile: what can be opened, how to get one, recent ones; and why one could not be opened."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from ui.timeline.opening.recent_profiles import CapturedProfile, short_path
from ui.widgets.basic import (
    Card,
    Elided,
    Empty,
    Sentence,
    button,
    primary_button,
    text_button,
)
from ui.widgets.page_scroll import PageScroll, empty

if TYPE_CHECKING:
    from collections.abc import Iterable

    from studio.errors import StudioError

MAX_ROWS = 6


@dataclass(frozen=True, kw_only=True)
class OfferedProfiles:
    """Profiles that one click opens."""

    recent: tuple[Path, ...] = ()
    captured: tuple[CapturedProfile, ...] = ()


class ProfileRow(QPushButton):
    def __init__(self, name: str, path: Path) -> None:
        super().__init__()
        self.path = path
        self.setObjectName("timeline_offer")
        self.setProperty("role", "quiet")
        self.setAutoDefault(False)
        self.setAccessibleName(name)
        first, second = Elided(role="strong"), Elided(Qt.TextElideMode.ElideMiddle, "hint")
        first.setText(name)
        second.setText(str(path))
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 4, 8, 4)
        column.setSpacing(1)
        for widget in (first, second):
            widget.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            column.addWidget(widget)

    def sizeHint(self) -> QSize:
        """Return a fixed size: the default size hint of a button ignores the layout inside it."""
        return QSize(240, 46)

    def minimumSizeHint(self) -> QSize:
        return QSize(120, 46)


class OfferCard(Card):
    """A list of profiles; hidden while it is empty."""

    chosen = Signal(object)

    def __init__(self, title_key: str) -> None:
        super().__init__(title_key)
        self._rows = QVBoxLayout()
        self._rows.setSpacing(2)
        self.body.addLayout(self._rows)
        self.body.addStretch(1)
        self.hide()

    def show_profiles(self, profiles: Iterable[tuple[str, Path]]) -> None:
        empty(self._rows)
        for name, path in list(profiles)[:MAX_ROWS]:
            row = ProfileRow(name, path)
            row.clicked.connect(partial(self.chosen.emit, path))
            self._rows.addWidget(row)
        self.setVisible(self._rows.count() > 0)


class StartView(QWidget):
    """`chosen`: an offered profile was clicked."""

    chosen = Signal(object)
    file_requested = Signal()
    folder_requested = Signal()
    curves_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("timeline_start")
        self.offers = OfferedProfiles()
        self.recent, self.captured = OfferCard("timeline.start.recent"), OfferCard("timeline.start.captured")
        self.recent.setObjectName("timeline_recent")
        self.captured.setObjectName("timeline_captured")
        cards = QHBoxLayout()
        cards.setSpacing(14)
        for card in (self.recent, self.captured):
            card.chosen.connect(self.chosen)
            cards.addWidget(card, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(PageScroll(self._head(), cards, self._how()))

    def _head(self) -> QWidget:
        head = Empty("timeline", "timeline.start.title", "timeline.start.text")
        head.setMinimumHeight(290)
        column = head.layout()
        assert isinstance(column, QVBoxLayout)
        self.folder = primary_button("timeline.page.open_folder", "timeline_open_folder")
        self.file = button("timeline.page.open_file", "timeline_open_file")
        self.folder.clicked.connect(self.folder_requested)
        self.file.clicked.connect(self.file_requested)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(self.folder)
        row.addWidget(self.file)
        row.addStretch(1)
        column.insertSpacing(column.count() - 1, 6)
        column.insertLayout(column.count() - 1, row)
        return head

    def _how(self) -> QWidget:
        card = Card("timeline.start.how")
        card.body.addWidget(Sentence("timeline.start.how_text"))
        go = text_button("timeline.start.curves", "timeline_go_to_curves")
        go.clicked.connect(self.curves_requested)
        card.body.addWidget(go, 0, Qt.AlignmentFlag.AlignLeft)
        return card

    def show_offers(self, offers: OfferedProfiles) -> None:
        self.offers = offers
        self.retranslate()

    def retranslate(self) -> None:
        self.recent.show_profiles((short_path(path), path) for path in self.offers.recent)
        self.captured.show_profiles((profile.name, profile.path) for profile in self.offers.captured)


class FailureView(QWidget):
    """What was to be opened, why that failed, and what can be done."""

    again_requested = Signal()
    other_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("timeline_failed")
        self._path = Path()
        self._error: StudioError | None = None
        self.name, self.reason = Elided(Qt.TextElideMode.ElideMiddle, "hint"), Sentence()
        self.reason.setObjectName("timeline_reason")
        self.again = primary_button("timeline.start.again", "timeline_again")
        self.other = button("timeline.start.other", "timeline_other")
        self.again.clicked.connect(self.again_requested)
        self.other.clicked.connect(self.other_requested)
        card = Card("timeline.start.failed")
        card.body.addWidget(self.reason)
        card.body.addWidget(self.name)
        row = QHBoxLayout()
        row.addWidget(self.again)
        row.addWidget(self.other)
        row.addStretch(1)
        card.body.addLayout(row)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 24, 0)
        column.addWidget(card)
        column.addStretch(1)

    def show_error(self, path: Path, error: StudioError) -> None:
        self._path, self._error = path, error
        self.retranslate()

    def retranslate(self) -> None:
        if self._error is not None:
            self.reason.setText(str(self._error))
            self.name.setText(str(self._path))
            self.name.setVisible(str(self._path) not in str(self._error))
