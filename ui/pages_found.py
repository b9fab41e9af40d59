"""Which pages there are, and the making of one when it is first visited."""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QVBoxLayout, QWidget

from backends import features
from ui.widgets import MARGIN, Empty

if TYPE_CHECKING:
    from ui.session import Session

HOME, HELP = "home", "help"


def found() -> tuple[str, ...]:
    """Home, then the features that have a page, in their order, and the help."""
    ids = (HOME, *(feature.id for feature in features()), HELP)
    return tuple(id for id in ids if find_spec(f"ui.pages.{id}"))


def make(id: str, session: Session) -> QWidget:
    """The page of a feature. One that fails is our own bug: it is told, and the others go on."""
    try:
        page: QWidget = importlib.import_module(f"ui.pages.{id}").make_page(session)
    except Exception as error:
        session.trouble.emit(error)
        return _failed()
    return page


def _failed() -> QWidget:
    page = QWidget()
    column = QVBoxLayout(page)
    column.setContentsMargins(MARGIN, MARGIN, MARGIN, MARGIN)
    column.addWidget(Empty("warning", "shell.page_failed", "shell.page_failed_why"))
    return page
