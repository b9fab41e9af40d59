"""Line icons from assets/icons, drawn in a colour of the theme and drawn again when the theme changes."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, Qt
from PySide6.QtGui import QGuiApplication, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QLabel

from studio.paths import ASSETS
from ui.widgets import theme
from ui.widgets.all_widgets import all_widgets

if TYPE_CHECKING:
    from PySide6.QtCore import QObject

SIZE = 20
_ICON_PROPERTY = "_shown_icon"


@lru_cache(maxsize=256)
def _pixmap(name: str, color: str, size: int, ratio: int) -> QPixmap:
    svg = (ASSETS / "icons" / f"{name}.svg").read_bytes().replace(b"currentColor", color.encode())
    pixmap = QPixmap(size * ratio, size * ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    QSvgRenderer(QByteArray(svg)).render(painter)
    painter.end()
    pixmap.setDevicePixelRatio(ratio)
    return pixmap


def _ratio() -> int:
    """Pixels per point of the sharpest screen, rounded up."""
    return max((math.ceil(screen.devicePixelRatio()) for screen in QGuiApplication.screens()), default=1)


def exists(name: str) -> bool:
    return (ASSETS / "icons" / f"{name}.svg").is_file()


def pixmap(name: str, token: str = "text", size: int = SIZE) -> QPixmap:
    """One picture, as sharp as the screen."""
    return _pixmap(name, theme.color(token).name(), size, _ratio())


def icon(name: str, token: str = "text", size: int = SIZE) -> QIcon:
    """An icon in the current theme's colour, which it keeps; `show_icon` shows one that follows the theme."""
    drawn = QIcon()
    for mode, which in ((QIcon.Mode.Normal, token), (QIcon.Mode.Disabled, "faint")):
        drawn.addPixmap(pixmap(name, which, size), mode)
    return drawn


def show_icon(target: QObject, name: str, token: str = "text", size: int = SIZE) -> None:
    """Puts an icon on a button, an action or a label, now and again after each change of theme."""
    setattr(target, _ICON_PROPERTY, (name, token, size))
    _draw(target)


def draw_again() -> None:
    """After a change of theme."""
    for widget in all_widgets():
        for target in (widget, *widget.actions()):
            if hasattr(target, _ICON_PROPERTY):
                _draw(target)


def _draw(target: QObject) -> None:
    name, token, size = getattr(target, _ICON_PROPERTY)
    if isinstance(target, QLabel):
        target.setPixmap(pixmap(name, token, size))
    else:
        target.setIcon(icon(name, token, size))  # type: ignore[attr-defined]
