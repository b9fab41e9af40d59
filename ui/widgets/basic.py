"""The pieces that all pages are made of. Their look is in assets/style/studio.qss, by the property `role`."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QLineEdit, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from ui.widgets.icons import icon, show_icon
from ui.widgets.labels import Elided, Sentence, TextLine, Tone, label
from ui.widgets.localized import localize
from ui.widgets.theme import mono_font

__all__ = [
    "Card", "Chip", "Elided", "Empty", "Figure", "SearchField", "Sentence", "SideColumn", "Title", "Tone", "button",
    "icon", "label", "line", "mono_font", "primary_button", "retone", "show_icon", "text_button",
]  # fmt: skip

MARGIN = 24
GAP = 14
AROUND_TEXT = 26  # px of a field's padding and border, and what a line edit keeps free


def retone(widget: QWidget, name: str, value: object) -> None:
    """Sets a property that the style sheet looks at, and has the widget styled again."""
    if widget.property(name) != value:
        widget.setProperty(name, value)
        widget.style().unpolish(widget)
        widget.style().polish(widget)
        widget.update()


def line() -> QFrame:
    """A thin horizontal line."""
    widget = QFrame()
    widget.setProperty("role", "line")
    widget.setFixedHeight(1)
    return widget


def _button(key: str, object_name: str, role: str) -> QPushButton:
    widget = QPushButton()
    widget.setObjectName(object_name)
    widget.setAutoDefault(False)
    if role:
        widget.setProperty("role", role)
    if key:
        localize(widget.setText, key)
    return widget


def button(key: str, object_name: str) -> QPushButton:
    return _button(key, object_name, "")


def primary_button(key: str, object_name: str) -> QPushButton:
    """The next thing to do: at most one such button on a page."""
    return _button(key, object_name, "primary")


def text_button(key: str, object_name: str) -> QPushButton:
    return _button(key, object_name, "text")


class Title(QLabel):
    """The title of a page."""

    def __init__(self, key: str) -> None:
        super().__init__()
        self.setProperty("role", "page_title")
        localize(self.setText, key)


class Chip(TextLine):
    """A state in a few words on a coloured ground, the state itself at their end."""

    def __init__(self) -> None:
        super().__init__(Qt.TextElideMode.ElideMiddle)
        self.setProperty("role", "chip")
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def show_state(self, text: str, tone: Tone = "neutral") -> None:
        self.setText(text)
        retone(self, "tone", tone)


class Card(QFrame):
    """A bordered surface. `body` takes what it holds, `header` things at the right of its title."""

    def __init__(self, title_key: str = "") -> None:
        super().__init__()
        self.setProperty("role", "card")
        self.body = QVBoxLayout(self)
        self.body.setContentsMargins(16, 14, 16, 16)
        self.body.setSpacing(12)
        self.header = QHBoxLayout()
        self.header.setSpacing(8)
        self.title = label(title_key, "title")
        if title_key:
            self.header.addWidget(self.title)
            self.header.addStretch(1)
            self.body.addLayout(self.header)
        else:
            # Not in a layout, it would be a window of its own when shown.
            self.title.setParent(self)
            self.title.hide()
            self.body.insertLayout(0, self.header)


class SideColumn(QWidget):
    """The narrow column of a page: from `width` to 120 px more, and wider where the font makes its cards wider."""

    def __init__(self, width: int = 400) -> None:
        super().__init__()
        self.setMaximumWidth(width + 120)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(GAP)
        # A minimum of the widget itself would overrule what its cards need.
        self.column.addStrut(width)


class SearchField(QLineEdit):
    """A field whose placeholder says what it is for: never narrower than that text, whatever the font."""

    def __init__(self, key: str, object_name: str, width: int) -> None:
        super().__init__()
        self.setObjectName(object_name)
        self.setMaximumWidth(width)
        localize(self._show_placeholder, key)
        localize(self.setAccessibleName, key)

    def sizeHint(self) -> QSize:
        return QSize(self.maximumWidth(), super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        text = self.fontMetrics().horizontalAdvance(self.placeholderText())
        return QSize(min(text + AROUND_TEXT, self.maximumWidth()), super().minimumSizeHint().height())

    def _show_placeholder(self, text: str) -> None:
        self.setPlaceholderText(text)
        self.updateGeometry()


class Figure(Card):
    """A big number with its name, unit and a hint below."""

    def __init__(self, title_key: str) -> None:
        super().__init__()
        self.body.setContentsMargins(16, 12, 16, 12)
        self.body.setSpacing(4)
        self._value = label(role="figure")
        self._unit = label(role="unit")
        self._hint = Elided(role="hint")
        row = QHBoxLayout()
        row.setSpacing(6)
        row.addWidget(self._value)
        row.addWidget(self._unit, 0, Qt.AlignmentFlag.AlignBottom)
        row.addStretch(1)
        self.body.addWidget(label(title_key, "dim"))
        self.body.addLayout(row)
        self.body.addWidget(self._hint)
        self.show_value("–")

    def show_value(self, value: str, unit: str = "", hint: str = "") -> None:
        self._value.setText(value)
        self._unit.setText(unit)
        self._hint.setText(hint)


class Empty(QWidget):
    """What belongs here, why it is empty, and the button that fills it."""

    clicked = Signal()

    def __init__(
        self, icon_name: str, title_key: str, sentence_key: str, button_key: str = "", object_name: str = ""
    ) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setSpacing(10)
        column.addStretch(2)
        picture = QLabel()
        picture.setFixedSize(40, 40)
        show_icon(picture, icon_name, "faint", 40)
        column.addWidget(picture, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addWidget(label(title_key, "title"), 0, Qt.AlignmentFlag.AlignHCenter)
        sentence = Sentence(sentence_key)
        sentence.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        sentence.setMaximumWidth(520)
        sentence.setMinimumWidth(280)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(sentence, 8)
        row.addStretch(1)
        column.addLayout(row)
        if button_key:
            self.button = primary_button(button_key, object_name)
            self.button.clicked.connect(self.clicked)
            column.addSpacing(6)
            column.addWidget(self.button, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(3)
