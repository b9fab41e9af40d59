"""The rail at the left: the tabs, and below them the device, the language and the theme."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from backends.common.npu_devices import npu_names
from studio.texts import t
from ui.widgets import icons, theme
from ui.widgets.basic import label
from ui.widgets.icons import show_icon
from ui.widgets.localized import localize

WIDE, NARROW = 176, 57


class RailButton(QPushButton):
    """An icon and a word; folded, the word is its tooltip."""

    def __init__(self, object_name: str, role: str, key: str, icon: str) -> None:
        super().__init__()
        self.setObjectName(object_name)
        self.setProperty("role", role)
        self.setIconSize(QSize(20, 20))
        # A click leaves the focus where it was; the ring is for the keyboard.
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._folded = False
        self._hint = ""
        self.show_what(key, icon)

    def show_what(self, key: str, icon: str, hint: str = "") -> None:
        """`hint` is the key of a tooltip that says more than the word."""
        self._key, self._hint = key, hint
        show_icon(self, icon, "dim")
        self.retranslate()

    def fold(self, folded: bool) -> None:
        self._folded = folded
        self.retranslate()

    def retranslate(self) -> None:
        word = t(self._key)
        self.setText("" if self._folded else f" {word}")
        self.setToolTip(t(self._hint) if self._hint else word if self._folded else "")
        self.setAccessibleName(word)


class Device(QWidget):
    """What trainings run on. It is read once: NPUs do not come and go while a window is open."""

    def __init__(self) -> None:
        super().__init__()
        self._cards = npu_names()
        self._icon = QLabel()
        self._icon.setFixedSize(20, 20)
        show_icon(self._icon, "device" if self._cards else "cpu", "dim")
        self._text = label()
        self._text.setObjectName("rail_device")
        self._text.setWordWrap(True)
        row = QHBoxLayout(self)
        row.setContentsMargins(10, 4, 4, 4)
        row.setSpacing(7)
        row.addWidget(self._icon)
        row.addWidget(self._text, 1)
        self.retranslate()

    def fold(self, folded: bool) -> None:
        self._text.setVisible(not folded)

    def retranslate(self) -> None:
        count, names = len(self._cards), ", ".join(self._cards)
        self._text.setText(t("device.cards", count=count) if count else t("device.none"))
        hint = t("device.cards_hint", names=names) if count else t("device.none_hint")
        self.setToolTip(f"{self._text.text()}\n{hint}")


class Rail(QFrame):
    page_chosen = Signal(str)
    language_switched = Signal()
    theme_switched = Signal()

    def __init__(self, pages: tuple[str, ...]) -> None:
        super().__init__()
        self.setObjectName("rail")
        self._folded = False
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 14, 8, 12)
        column.setSpacing(3)
        self._brand = label("app.name")
        self._brand.setObjectName("rail_brand")
        self._brand.setMinimumHeight(28)
        self._brand.setContentsMargins(10, 0, 0, 0)
        self._mark = _mark()
        column.addWidget(self._brand)
        column.addWidget(self._mark)
        column.addSpacing(8)
        self._group = QButtonGroup(self)
        self._tabs = {page: self._tab(page) for page in pages}
        for tab in self._tabs.values():
            column.addWidget(tab)
        column.addStretch(1)
        self._device = Device()
        self._language = RailButton("rail_language", "quiet", "shell.other_language", "language")
        self._theme = RailButton("rail_theme", "quiet", "theme.to_dark", "moon")
        for widget in (self._device, self._language, self._theme):
            column.addWidget(widget)
        self._language.clicked.connect(self.language_switched)
        self._theme.clicked.connect(self.theme_switched)
        theme.notifier().changed.connect(self._follow_theme)
        self._follow_theme()
        self.fold(False)

    @staticmethod
    def icon_of(page: str) -> str:
        """A feature's icon has its id as name; a feature without an icon gets dots."""
        return page if icons.exists(page) else "more"

    def show_page(self, page: str) -> None:
        self._tabs[page].setChecked(True)

    def fold(self, folded: bool) -> None:
        """Icons alone, or with their words."""
        self._folded = folded
        self.setFixedWidth(NARROW if folded else WIDE)
        self._brand.setVisible(not folded)
        self._mark.setVisible(folded)
        self._device.fold(folded)
        for button in (*self._tabs.values(), self._language, self._theme):
            button.fold(folded)

    @property
    def is_folded(self) -> bool:
        return self._folded

    def _tab(self, page: str) -> RailButton:
        tab = RailButton(f"rail_{page}", "tab", f"feature.{page}", self.icon_of(page))
        tab.setCheckable(True)
        tab.clicked.connect(lambda: self.page_chosen.emit(page))
        self._group.addButton(tab)
        return tab

    def _follow_theme(self) -> None:
        self._theme.show_what(*(("theme.to_light", "sun") if theme.is_dark() else ("theme.to_dark", "moon")))


def _mark() -> QLabel:
    """The brand where there is room for a picture only."""
    mark = QLabel()
    mark.setFixedSize(40, 28)
    mark.setContentsMargins(10, 0, 0, 0)
    show_icon(mark, "mark", "accent")
    localize(mark.setToolTip, "app.name")
    return mark
