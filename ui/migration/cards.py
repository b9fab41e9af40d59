"""A bordered surface whose content reaches its edges, a title on top."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout

if TYPE_CHECKING:
    from PySide6.QtWidgets import QLabel, QWidget


def bare_card(title: QLabel, *parts: QWidget) -> QFrame:
    """The last of the parts takes the room."""
    card = QFrame()
    card.setProperty("role", "card")
    head = QHBoxLayout()
    head.setContentsMargins(14, 0, 10, 0)
    head.addWidget(title)
    column = QVBoxLayout(card)
    column.setContentsMargins(1, 10, 1, 1)
    column.setSpacing(8)
    column.addLayout(head)
    for part in parts:
        column.addWidget(part, 1 if part is parts[-1] else 0)
    return card
