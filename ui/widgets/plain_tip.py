"""Text from outside for a tooltip: Qt takes what looks like HTML for HTML, also in the name of an operator."""

from __future__ import annotations

from PySide6.QtGui import Qt


def plain_tip(text: str) -> str:
    """What Qt shows as the same text, sign for sign."""
    return Qt.convertFromPlainText(text) if Qt.mightBeRichText(text) else text
