"""Labels. A text from outside may be one word of a megabyte: none of them makes its page wider than the window for it,
and none shows what would hide or reorder a part of it (`studio.output.terminal`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QTextDocument, QTextOption
from PySide6.QtWidgets import QLabel, QSizePolicy

from studio.output.terminal import printable, printable_line
from ui.widgets.localized import localize
from ui.widgets.plain_tip import plain_tip

if TYPE_CHECKING:
    from PySide6.QtGui import QPaintEvent, QResizeEvent
    from PySide6.QtWidgets import QWidget

Tone = Literal["good", "warning", "bad", "accent", "neutral"]

WIDEST = 240  # px that a line which can be shortened, or a word which can be broken, may ask for
LONGEST = 4000  # characters that are laid out; of a longer text, its beginning and its end
BREAKING = QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere


def label(key: str = "", role: str = "") -> QLabel:
    """A label whose text follows the language. Roles: title, page_title, strong, dim, hint, unit, figure, good, …
    Without a key it shows one line of text from anywhere.
    """
    widget = QLabel() if key else TextLine()
    widget.setTextFormat(Qt.TextFormat.PlainText)
    if role:
        widget.setProperty("role", role)
    if key:
        localize(widget.setText, key)
    return widget


def cut(text: str) -> str:
    """Return a text, of a very long one its beginning and its end."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1000]} … {text[-1000:]}"


def button_text(widget: QWidget, text: str, width: int = 420) -> str:
    """Return a name from outside for a button or a menu of this font: on one line, at most `width` px wide, and with no
    letter that becomes a key.
    """
    plain = cut(printable_line(text))
    return widget.fontMetrics().elidedText(plain, Qt.TextElideMode.ElideMiddle, width).replace("&", "&&")


class Sentence(QLabel):
    """A dim sentence that wraps, within a word where the word is too long, and that can be copied."""

    def __init__(self, key: str = "") -> None:
        super().__init__()
        self.setProperty("role", "dim")
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(True)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        if key:
            localize(self.setText, key)

    def setText(self, text: str) -> None:
        super().setText(text if self.textFormat() == Qt.TextFormat.RichText else cut(printable(text)))

    def sizeHint(self) -> QSize:
        hint = super().sizeHint()
        return QSize(min(hint.width(), max(WIDEST, 80 * self.fontMetrics().averageCharWidth())), hint.height())

    def minimumSizeHint(self) -> QSize:
        hint = super().minimumSizeHint()
        return QSize(min(hint.width(), WIDEST), hint.height())

    def heightForWidth(self, width: int) -> int:
        """A layout asks with its own width, which is more than a label of a maximum width gets."""
        self._break_words()
        return super().heightForWidth(min(width, self.maximumWidth()))

    def paintEvent(self, event: QPaintEvent) -> None:
        self._break_words()
        super().paintEvent(event)

    def _break_words(self) -> None:
        """QLabel sets its document to break between words whenever it lays out a new text or font, as for its hints,
        which it then keeps."""
        super().minimumSizeHint()
        document = self.findChild(QTextDocument)
        if isinstance(document, QTextDocument) and document.defaultTextOption().wrapMode() != BREAKING:
            option = document.defaultTextOption()
            option.setWrapMode(BREAKING)
            document.setDefaultTextOption(option)


class TextLine(QLabel):
    """A line that asks for the room that its text needs. Where there is none and it is wider than `widest` px, it is
    shortened, and whole in its tooltip. Its `text` is the whole one. One that wraps is as any label.
    """

    def __init__(self, mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight, widest: int = WIDEST) -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self._widest = widest
        self._mode = mode
        self._whole = ""
        self._hint = QSize()
        self._is_short = False

    def text(self) -> str:
        return self._whole

    def setText(self, text: str) -> None:
        whole = cut(printable(text))
        if whole != self._whole:
            self._whole = whole
            self._show_whole()

    def sizeHint(self) -> QSize:
        return self._hint if self._is_short else super().sizeHint()

    def minimumSizeHint(self) -> QSize:
        hint = super().minimumSizeHint()
        return hint if self.wordWrap() else QSize(min(self.sizeHint().width(), self._widest), hint.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._shorten()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._show_whole()

    def _show_whole(self) -> None:
        super().setText(self._whole)
        self._hint = super().sizeHint()
        self._set_short(False)
        self._shorten()

    def _shorten(self) -> None:
        if self.wordWrap() or not self._whole:
            return
        metrics, lines = self.fontMetrics(), self._whole.split("\n")
        beside = self._hint.width() - max(map(metrics.horizontalAdvance, lines))
        is_short = self.width() < self._hint.width()
        if is_short:
            lines = [metrics.elidedText(line, self._mode, self.width() - beside) for line in lines]
        if "\n".join(lines) != super().text():
            super().setText("\n".join(lines))
        self._set_short(is_short)

    def _set_short(self, is_short: bool) -> None:
        if is_short != self._is_short:
            self._is_short = is_short
            self.setToolTip(plain_tip(self._whole) if is_short else "")


class Elided(QLabel):
    """One line that is shortened where there is no room, whole in its tooltip."""

    def __init__(self, mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight, role: str = "") -> None:
        super().__init__()
        self._whole = ""
        self._mode = mode
        if role:
            self.setProperty("role", role)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def whole_text(self) -> str:
        return self._whole

    def setText(self, text: str) -> None:
        # A path may hold a newline, which would make a second line of it.
        whole = cut(printable_line(text))
        if whole != self._whole:
            self._whole = whole
            self._shorten()
            self.updateGeometry()

    def sizeHint(self) -> QSize:
        return QSize(self.fontMetrics().horizontalAdvance(self._whole) + 2, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(min(40, self.sizeHint().width()), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._shorten()

    def paintEvent(self, event: QPaintEvent) -> None:
        self._shorten()
        super().paintEvent(event)

    def _shorten(self) -> None:
        fits = self.fontMetrics().elidedText(self._whole, self._mode, self.contentsRect().width())
        if fits != self.text():
            super().setText(fits)
            self.setToolTip(plain_tip(self._whole) if fits != self._whole else "")
