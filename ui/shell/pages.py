"""Which pages there are, and the making of one when it is first visited."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QVBoxLayout, QWidget

from backends import features
from studio.feature import load
from ui.widgets.basic import MARGIN, Empty

if TYPE_CHECKING:
    from ui.services.session import Session

HOME, HELP = "home", "help"


def page_ids() -> tuple[str, ...]:
    """Home, then the features that have a page, in their order, and the help."""
    return (HOME, *(feature.id for feature in features() if _exists(feature.page_function)), HELP)


def make_page(id: str, session: Session) -> QWidget:
    """Make the page of a feature. One that fails is our own bug: it is reported, and the others stay usable."""
    functions = {feature.id: feature.page_function for feature in features()}
    try:
        page: QWidget = load(functions.get(id, f"ui.{id}.page:make_page"))(session)
    except Exception as error:
        session.trouble.emit(error)
        return _failed_page()
    return page


def _exists(function: str) -> bool:
    """Whether the module of 'module:function' can be found; it is not imported."""
    try:
        return find_spec(function.partition(":")[0]) is not None
    except ModuleNotFoundError:
        return False


def _failed_page() -> QWidget:
    page = QWidget()
    column = QVBoxLayout(page)
    column.setContentsMargins(MARGIN, MARGIN, MARGIN, MARGIN)
    column.addWidget(Empty("warning", "shell.page_failed", "shell.page_failed_why"))
    return page
