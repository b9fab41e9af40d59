"""A row of tabs whose names follow the language."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QTabBar

from studio.texts import t
from ui.widgets.localized import localize

if TYPE_CHECKING:
    from collections.abc import Sequence


class Tabs(QTabBar):
    """`name`: of the object; `title_key`: what the row is for, for screen readers; `keys`: of the names of the tabs."""

    def __init__(self, name: str, title_key: str, keys: Sequence[str]) -> None:
        super().__init__()
        self._keys = keys
        self.setObjectName(name)
        self.setUsesScrollButtons(False)
        self.setDrawBase(False)
        self.setExpanding(False)
        for key in keys:
            self.addTab(t(key))
        localize(self.setAccessibleName, title_key)

    def retranslate(self) -> None:
        for tab, key in enumerate(self._keys):
            self.setTabText(tab, t(key))
