"""Light and dark: the tokens, the palette and the style sheet made from them. Colours come from here, nowhere else."""

from __future__ import annotations

import string
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, cast

from PySide6.QtCore import QCoreApplication, QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetrics, QGuiApplication, QPalette

from studio.paths import ASSETS

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

Name = Literal["light", "dark"]

TOKENS: dict[str, dict[str, str]] = {
    "light": {
        "page": "#f6f7f9", "surface": "#ffffff", "sunken": "#eef0f3", "line": "#e3e6eb",
        "rim": "#c9cfd8", "edge": "#7d8796", "text": "#1b1f27", "dim": "#5d6675", "faint": "#98a1af",
        "accent": "#2563c9", "accent_hover": "#1d52ab", "on_accent": "#ffffff", "selected": "#e8effb",
        "good": "#18794e", "good_soft": "#e6f4ec", "warning": "#a85400", "warning_soft": "#fdf0e0",
        "bad": "#c0262d", "bad_soft": "#fdebec",
    },
    "dark": {
        "page": "#14171c", "surface": "#1b1f26", "sunken": "#14171c", "line": "#2c323c",
        "rim": "#434b58", "edge": "#6c7686", "text": "#e6e9ee", "dim": "#a3acba", "faint": "#6c7686",
        "accent": "#6ea8ff", "accent_hover": "#8bb9ff", "on_accent": "#14171c", "selected": "#23344f",
        "good": "#4cc38a", "good_soft": "#17352a", "warning": "#ffb454", "warning_soft": "#3b2c16",
        "bad": "#ff6b6b", "bad_soft": "#3d1e21",
    },
}  # fmt: skip

# Okabe and Ito's set; its yellow and sky are too pale on white, so light darkens them and dark lightens the rest.
SERIES: dict[str, tuple[str, ...]] = {
    "light": ("#0072b2", "#d55e00", "#007d5c", "#b0578d", "#a87500", "#2a8fc7", "#5d6675"),
    "dark": ("#6cb8f0", "#ff9d4d", "#2ec49a", "#e39bc4", "#f0d442", "#a9dcff", "#a3acba"),
}

FAMILIES = ("Inter", "Noto Sans", "Noto Sans CJK SC", "WenQuanYi Micro Hei", "DejaVu Sans", "Liberation Sans")
MONO_FAMILIES = ("JetBrains Mono", "Noto Sans Mono", "DejaVu Sans Mono", "WenQuanYi Micro Hei Mono")
TEXT_SIZE = 13


class Notifier(QObject):
    changed = Signal()


_current: list[Name] = ["light"]


@lru_cache(maxsize=1)
def notifier() -> Notifier:
    """Announces that the theme changed, for widgets that paint with colours of their own."""
    return Notifier()


def current() -> Name:
    return _current[0]


def is_dark() -> bool:
    return current() == "dark"


def color(token: str) -> QColor:
    """A colour of the current theme."""
    return QColor(TOKENS[current()][token])


def series_color(index: int) -> QColor:
    """The colour of the n-th curve; a legend or a line style distinguishes them as well."""
    colors = SERIES[current()]
    return QColor(colors[index % len(colors)])


def text_font() -> QFont:
    font = QFont()
    font.setFamilies(list(FAMILIES))
    font.setPixelSize(TEXT_SIZE)
    return font


def mono_font(size: int = 12) -> QFont:
    """For commands, names of operators, paths."""
    font = QFont()
    font.setFamilies(list(MONO_FAMILIES))
    font.setPixelSize(size)
    font.setStyleHint(QFont.StyleHint.Monospace)
    return font


def palette(name: Name) -> QPalette:
    """For what the style sheet does not reach. An explicit palette, as the colour scheme of Qt does nothing on xcb."""
    tokens = {token: QColor(value) for token, value in TOKENS[name].items()}
    role = QPalette.ColorRole
    chosen = QPalette(tokens["surface"])
    pairs = {
        role.Window: "page", role.WindowText: "text", role.Base: "surface", role.AlternateBase: "page",
        role.Text: "text", role.Button: "surface", role.ButtonText: "text", role.BrightText: "bad",
        role.ToolTipBase: "surface", role.ToolTipText: "text", role.PlaceholderText: "dim",
        role.Highlight: "accent", role.HighlightedText: "on_accent", role.Accent: "accent",
        role.Link: "accent", role.LinkVisited: "accent", role.Light: "surface", role.Midlight: "line",
        role.Mid: "line", role.Dark: "edge", role.Shadow: "line",
    }  # fmt: skip
    for which, token in pairs.items():
        chosen.setColor(which, tokens[token])
    for which in (role.WindowText, role.Text, role.ButtonText):
        chosen.setColor(QPalette.ColorGroup.Disabled, which, tokens["faint"])
    return chosen


def style_sheet(name: Name) -> str:
    """assets/style/studio.qss with the tokens filled in.

    A `min-height` of the style sheet is what a layout may squeeze a widget to, so it must hold a line of any font.
    """
    template = (ASSETS / "style" / "studio.qss").read_text(encoding="utf-8")
    line = QFontMetrics(text_font()).size(0, "Ag 中文").height()
    heights = {"button_height": max(17, line), "tab_height": max(20, line), "field_height": max(19, line + 2)}
    icons = (ASSETS / "icons").as_posix()
    return string.Template(template).substitute(TOKENS[name], **heights, icons=icons, theme=name)


def chosen_theme(remembered: str) -> Name:
    """The remembered theme, or else the desktop's where it has one."""
    if remembered in TOKENS:
        return "dark" if remembered == "dark" else "light"
    dark = QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark
    return "dark" if dark else "light"


def application() -> QApplication:
    """The one there is."""
    return cast("QApplication", QCoreApplication.instance())


def apply(app: QApplication, name: Name) -> None:
    """Apply the colours to everything, then emit `notifier().changed`."""
    _current[0] = name
    if not app.styleSheet():  # with one, the style goes by another name; setting it again costs 0.2 s
        app.setStyle("Fusion")
    app.setFont(text_font())
    app.setPalette(palette(name))
    app.setStyleSheet(style_sheet(name))
    from ui.widgets.icons import draw_again

    draw_again()
    notifier().changed.emit()
