"""Help: its pages, in the language of the window."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize
from PySide6.QtGui import QColor, QDesktopServices, QPalette, QTextBlockFormat, QTextCursor, QTextDocument
from PySide6.QtWidgets import QHBoxLayout, QListWidget, QTextBrowser, QVBoxLayout, QWidget

from backends import features, folder_of
from studio import texts
from studio.paths import ASSETS
from studio.texts import t
from ui.widgets import theme
from ui.widgets.basic import (
    GAP,
    MARGIN,
    Sentence,
    Title,
)
from ui.widgets.localized import localize

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtCore import QUrl

    from ui.services.session import Session

LIST_WIDTH = 200
TEXT_WIDTH = 860
LINE_HEIGHT = 135
ROW = 30
_CHINESE_LINE_END = re.compile(r"(?<=[\u3000-\u9fff\uff00-\uffef])\n(?=[^\s#*|>\d-])")


def make_page(session: Session) -> QWidget:
    return HelpPage(session)


class HelpPage(QWidget):
    def __init__(self, session: Session) -> None:
        super().__init__()
        self.setObjectName("page")
        self.list = QListWidget()
        self.list.setObjectName("help_pages")
        self.list.setFixedWidth(LIST_WIDTH)
        self.text = QTextBrowser()
        self.text.setObjectName("help_text")
        self.text.setOpenLinks(False)
        self.text.setMaximumWidth(TEXT_WIDTH)
        self.text.setSearchPaths([str(ASSETS / "help" / "en")])
        self.text.anchorClicked.connect(self._follow)
        for widget in (self.list, self.text):
            localize(widget.setAccessibleName, "help.title")
        self.list.currentRowChanged.connect(self._show)
        self._lay_out()
        theme.notifier().changed.connect(self._recolour)
        self.retranslate()
        session.help_requested.connect(self.show_topic)
        self.show_topic(session.help_topic)

    def show_topic(self, topic: str) -> None:
        """The section whose heading is the text of a key, on whichever page it is."""
        heading = t(topic) if topic else ""
        for row, path in enumerate(_pages()):
            if heading and heading in _headings(path):
                self.list.setCurrentRow(row)
                self._scroll_to(heading)
                return

    def _scroll_to(self, heading: str) -> None:
        block = self.text.document().begin()
        while block.isValid() and not (block.blockFormat().headingLevel() and block.text() == heading):
            block = block.next()
        if block.isValid():
            top = self.text.document().documentLayout().blockBoundingRect(block).top()
            self.text.verticalScrollBar().setValue(int(top))

    def _lay_out(self) -> None:
        sentence = Sentence()
        localize(sentence.setText, "help.sentence")
        row = QHBoxLayout()
        row.setSpacing(GAP)
        row.addWidget(self.list)
        row.addWidget(self.text, 1)
        row.addStretch(0)
        column = QVBoxLayout(self)
        column.setContentsMargins(MARGIN, MARGIN - 6, MARGIN, MARGIN)
        column.setSpacing(10)
        column.addWidget(Title("help.title"))
        column.addWidget(sentence)
        column.addLayout(row, 1)

    def retranslate(self) -> None:
        """The same page in the other language."""
        row = max(0, self.list.currentRow())
        self.list.blockSignals(True)
        for index, path in enumerate(_pages()):
            # Made once: clear() of PySide 6.11 sometimes frees an item twice, and the program is gone.
            if index == self.list.count():
                self.list.addItem("")
            self.list.item(index).setText(_title(path))
            # A list that is not shown yet would take the height of its text, without the style sheet's.
            self.list.item(index).setSizeHint(QSize(0, ROW))
        self.list.setCurrentRow(row)
        self.list.blockSignals(False)
        self._show(row)

    def _show(self, row: int) -> None:
        pages = _pages()
        if not 0 <= row < len(pages):
            return
        self.text.document().setDefaultFont(self.font())
        self.text.document().setMarkdown(_markdown(pages[row]), QTextDocument.MarkdownFeature.MarkdownDialectGitHub)
        _colour_links(self.text)
        _space_lines(self.text)

    def _recolour(self) -> None:
        self._show(self.list.currentRow())

    def _follow(self, url: QUrl) -> None:
        """A link to another page of the help stays here; others go to the browser."""
        names = [path.name for path in _pages()]
        if url.fileName() in names and not url.scheme():
            self.list.setCurrentRow(names.index(url.fileName()))
        else:
            QDesktopServices.openUrl(url)


def _pages() -> list[Path]:
    """Those of `assets/help`, and those that features bring in their own folders."""
    folders = [ASSETS / "help", *(folder_of(feature) / "help" for feature in features())]
    pages = (page for folder in folders for page in (folder / texts.language()).glob("*.md"))
    return sorted(pages, key=_position)


def _position(page: Path) -> tuple[int, str]:
    """Names begin with a number: 10 is behind 9."""
    number = page.name.partition("-")[0]
    return int(re.sub(r"\D", "", number) or 0), page.name


def _title(path: Path) -> str:
    with path.open(encoding="utf-8") as file:
        return file.readline().lstrip("# ").strip()


def _headings(path: Path) -> list[str]:
    """The texts of a page's headings, of all levels."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line.lstrip("#").strip() for line in lines if line.startswith("#")]


def _markdown(path: Path) -> str:
    """Markdown turns the end of a line into a space, which Chinese does not have between words."""
    return _CHINESE_LINE_END.sub("", path.read_text(encoding="utf-8"))


def _space_lines(text: QTextBrowser) -> None:
    """Room between the lines: Markdown has no say in it."""
    cursor = QTextCursor(text.document())
    cursor.select(QTextCursor.SelectionType.Document)
    block = QTextBlockFormat()
    block.setLineHeight(LINE_HEIGHT, 1)
    block.setBottomMargin(6)
    cursor.mergeBlockFormat(block)


def _colour_links(text: QTextBrowser) -> None:
    palette = text.palette()
    palette.setColor(QPalette.ColorRole.Link, QColor(theme.color("accent")))
    text.setPalette(palette)
