"""All widgets of the program."""

from __future__ import annotations

from PySide6.QtWidgets import QApplication, QWidget


def all_widgets() -> list[QWidget]:
    """Return the widgets that Python can reach. Qt may put a widget where an item of a layout was that Python still
    holds, and PySide then hands out that one instead."""
    return [widget for widget in QApplication.allWidgets() if isinstance(widget, QWidget)]
