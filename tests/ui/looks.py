"""What a picky eye finds in a shown widget: cut off text, things that lie on each other, ids instead of words."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractScrollArea,
    QApplication,
    QComboBox,
    QGroupBox,
    QHeaderView,
    QLabel,
    QLayout,
    QLineEdit,
    QScrollArea,
    QStyle,
    QStyleOptionComboBox,
    QWidget,
)  # fmt: skip

from studio.texts import all_texts, t
from ui.widgets.labels import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterator

ID = re.compile(r"([a-z_]+)(\.[a-zA-Z_0-9-]+)+( \{.*\})?")
FILE = re.compile(r".*\.(py|json|jsonl|md|toml|txt|log|sh|csv|bin|ckpt|local)")
CHINESE = re.compile(r"[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]")
# Patterns of logs are written with {step} and {loss}.
HOLE = re.compile(r"\{(?!step\}|loss\})[a-z_]+\}")
SPARE = 1


def faults(widget: QWidget) -> list[str]:
    """Everything wrong with a widget and what is in it, a sentence each; empty where all is well."""
    found: list[str] = []
    for one in shown(widget):
        found += [f"{_name(one)}: {fault}" for fault in (*_clipped(one), *_ids(one), *_outside(one))]
        found += [f"{_name(one)}: {fault}" for fault in _overlaps(one)]
    for one in widget.findChildren(QWidget):
        if one.isVisible() and one.size().isEmpty() and texts_of(one):
            found.append(f"{_name(one)}: no room for '{texts_of(one)[0]}'")
    return found


def left_in_chinese(widget: QWidget) -> list[str]:
    """Texts that stayed Chinese after a switch to English. For projects and runs with plain names."""
    own = {t("shell.other_language"), f" {t('shell.other_language')}"}
    return [
        f"{_name(one)}: '{text}' is Chinese"
        for one in shown(widget) for text in texts_of(one) if CHINESE.search(text) and text not in own
    ]  # fmt: skip


def shown(widget: QWidget) -> Iterator[QWidget]:
    for one in (widget, *widget.findChildren(QWidget)):
        if one.isVisible() and one.width() > 0 and one.height() > 0:
            yield one


def texts_of(widget: QWidget) -> list[str]:
    """What a person can read of it, its tooltip included."""
    texts = [widget.toolTip(), widget.accessibleName()]
    if isinstance(widget, (QLabel, QAbstractButton)):
        texts.append(getattr(widget, "whole_text", widget.text)())
    if isinstance(widget, QGroupBox):
        texts.append(widget.title())
    if isinstance(widget, QLineEdit):
        texts += [widget.placeholderText(), widget.text()]
    if isinstance(widget, QComboBox):
        texts += [widget.itemText(index) for index in range(widget.count())]
    if isinstance(widget, QHeaderView) and widget.model() is not None:
        texts += [_heading(widget, section) for section in range(widget.count())]
    return [text for text in texts if text]


def _name(widget: QWidget) -> str:
    chain = []
    at: QWidget | None = widget
    while at is not None and len(chain) < 3:
        chain.append(at.objectName() or type(at).__name__)
        at = at.parentWidget()
    return " < ".join(chain)


def _clipped(widget: QWidget) -> Iterator[str]:
    if isinstance(widget, QLabel):
        yield from _clipped_label(widget)
    elif isinstance(widget, QAbstractButton):
        if widget.text() and _too_small(widget):
            yield f"'{widget.text()}' needs {_size(widget.sizeHint())}, has {_size(widget.size())}"
    elif isinstance(widget, QComboBox):
        yield from _clipped_choice(widget)
    elif isinstance(widget, QLineEdit):
        yield from _clipped_placeholder(widget)
    elif isinstance(widget, QHeaderView):
        yield from _clipped_headings(widget)


def _clipped_label(label: QLabel) -> Iterator[str]:
    if not label.text() or hasattr(label, "whole_text"):
        return
    if not label.wordWrap():
        if _too_small(label):
            yield f"'{label.text()}' needs {_size(label.sizeHint())}, has {_size(label.size())}"
        return
    needed = label.heightForWidth(label.width())
    if needed > label.height() + SPARE:
        yield f"'{label.text()}' needs {needed} px of height, has {label.height()}"
    if isinstance(label, Sentence):  # it breaks a word that is too long
        return
    words = [word for word in re.split(r"[\s/\-]+", label.text()) if not CHINESE.search(word)]
    widest = max((label.fontMetrics().horizontalAdvance(word) for word in words), default=0)
    if label.textFormat() != Qt.TextFormat.RichText and widest > label.contentsRect().width() + SPARE:
        yield f"a word of '{label.text()}' needs {widest} px, has {label.contentsRect().width()}"


def _too_small(widget: QWidget) -> bool:
    needed = widget.sizeHint()
    return needed.width() > widget.width() + SPARE or needed.height() > widget.height() + SPARE


def _size(size: object) -> str:
    return f"{size.width()}x{size.height()}"  # type: ignore[attr-defined]


def _clipped_choice(box: QComboBox) -> Iterator[str]:
    if hasattr(box, "whole_text"):  # it shortens what it shows
        return
    option = QStyleOptionComboBox()
    box.initStyleOption(option)
    style = box.style()
    room = style.subControlRect(
        QStyle.ComplexControl.CC_ComboBox, option, QStyle.SubControl.SC_ComboBoxEditField, box
    ).width()
    needed = box.fontMetrics().horizontalAdvance(box.currentText())
    if needed > room + SPARE:
        yield f"'{box.currentText()}' needs {needed} px, has {room}"


def _clipped_placeholder(field: QLineEdit) -> Iterator[str]:
    if field.text() or not field.placeholderText():
        return
    margins = field.textMargins()
    room = field.contentsRect().width() - margins.left() - margins.right() - 16
    needed = field.fontMetrics().horizontalAdvance(field.placeholderText())
    if needed > room + SPARE:
        yield f"the placeholder '{field.placeholderText()}' needs {needed} px, has {room}"


def _heading(header: QHeaderView, section: int) -> str:
    return str(header.model().headerData(section, header.orientation()) or "")


def _clipped_headings(header: QHeaderView) -> Iterator[str]:
    if header.model() is None or header.orientation() != Qt.Orientation.Horizontal:
        return
    for section in range(header.count()):
        text = _heading(header, section)
        room = header.sectionSize(section) - 16
        needed = header.fontMetrics().horizontalAdvance(text)
        if text and not header.isSectionHidden(section) and needed > room + SPARE:
            yield f"the heading '{text}' needs {needed} px, has {room}"


@lru_cache(maxsize=1)
def _prefixes() -> set[str]:
    return {key.partition(".")[0] for key in all_texts("en") if not key.startswith("rule")}


def _ids(widget: QWidget) -> Iterator[str]:
    prefixes = _prefixes()
    for text in texts_of(widget):
        match = ID.fullmatch(text.strip())
        if match and match[1] in prefixes and not FILE.fullmatch(text.strip()):
            yield f"'{text.strip()}' is an id"
        if HOLE.search(text):
            yield f"'{text}' has a placeholder that nobody filled"


def _outside(widget: QWidget) -> Iterator[str]:
    """Parts of a layout that its widget has no room for."""
    parent = widget.parentWidget()
    if parent is None or widget.isWindow() or not _is_laid_out(widget):
        return
    if not parent.rect().adjusted(-SPARE, -SPARE, SPARE, SPARE).contains(widget.geometry()):
        yield f"{widget.geometry().getRect()} is not inside {parent.rect().getRect()}"


def out_of_view(window: QWidget) -> list[str]:
    """What a person cannot get to: it reaches out of the window at a side, or out of a part that only scrolls up and
    down. A sentence each.
    """
    return [
        f"{_name(widget)[:200]}: {widget.width()} px wide, {why}"
        for widget in shown(window)
        if widget.window() is window and (why := _why_out_of_view(widget, window))
    ]


def _why_out_of_view(widget: QWidget, window: QWidget) -> str:
    child, parent = widget, widget.parentWidget()
    while parent is not None and child is not window:
        area = parent.parentWidget()
        if isinstance(area, QAbstractScrollArea) and parent is area.viewport():
            if isinstance(area, QAbstractItemView) or area.horizontalScrollBar().isVisible():
                return "" if not isinstance(area, QScrollArea) else f"in {_name(area)}, which scrolls sideways"
            return "" if _is_within(widget, parent) else f"out of {_name(area)}"
        child, parent = parent, area
    return "" if _is_within(widget, window) else "out of the window"


def _is_within(widget: QWidget, part: QWidget) -> bool:
    left = widget.mapTo(part, QPoint(0, 0)).x()
    return left >= -SPARE and left + widget.width() <= part.width() + SPARE


def _overlaps(parent: QWidget) -> Iterator[str]:
    if isinstance(parent, QAbstractScrollArea) or parent.layout() is None:
        return
    laid_out = [one for one in _in_layout(parent.layout()) if one.isVisible() and not _only_holds_room(one)]
    for index, one in enumerate(laid_out):
        for other in laid_out[index + 1 :]:
            common: QRect = one.geometry().intersected(other.geometry())
            if common.width() > SPARE and common.height() > SPARE:
                yield f"{_name(one)} and {_name(other)} overlap by {common.width()}x{common.height()}"


def _only_holds_room(widget: QWidget) -> bool:
    """A bare widget draws nothing: it may share a cell, to hold a column's width."""
    return type(widget) is QWidget and not widget.findChildren(QWidget)


def _is_laid_out(widget: QWidget) -> bool:
    parent = widget.parentWidget()
    return parent.layout() is not None and _holds(parent.layout(), widget)


def _holds(layout: QLayout, widget: QWidget) -> bool:
    """Asks Qt, layout by layout: to go through all items for each widget was a third of the time of `faults`."""
    if layout.indexOf(widget) >= 0:
        return True
    return any(_holds(inner, widget) for inner in layout.children() if isinstance(inner, QLayout))


def _in_layout(layout: QLayout) -> Iterator[QWidget]:
    for index in range(layout.count()):
        item = layout.itemAt(index)
        if item.widget() is not None:
            yield item.widget()
        elif item.layout() is not None:
            yield from _in_layout(item.layout())


def settle() -> None:
    """Layouts and style sheets take effect with the next events; tests and the shots wait for that."""
    for _ in range(3):
        QApplication.sendPostedEvents()
        QApplication.processEvents()
