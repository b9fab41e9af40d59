"""The view as a picture, and slices as a table, in files that the user names."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu

from backends.timeline.query.csv_export import write_slices
from studio.errors import StudioError
from studio.texts import t
from ui.asking import ask
from ui.file_dialogs import ask_new_file
from ui.timeline.picture import save_picture

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

    from backends.timeline.trace import Trace
    from ui.session import Session
    from ui.timeline.bands import Bands
    from ui.timeline.canvas import TimelineView

PICTURES = {"png": "timeline.page.export_png", "svg": "timeline.page.export_svg"}
NAME = "timeline"


class Export:
    """`anchor`: the button below which its menu opens."""

    def __init__(self, page: QWidget, session: Session, view: TimelineView, anchor: QWidget) -> None:
        self._page, self._session, self._view, self._anchor = page, session, view, anchor

    def open_menu(self) -> None:
        menu = QMenu(self._page)
        menu.setObjectName("timeline_export_menu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for suffix, key in PICTURES.items():
            menu.addAction(t(key), partial(self._ask, suffix, self.write_picture))
        has_range = self._view.state.selected_range is not None
        key = "timeline.page.export_slices" if has_range else "timeline.page.export_all"
        menu.addAction(t(key), partial(self._ask, "csv", self.write_slices))
        menu.popup(self._anchor.mapToGlobal(self._anchor.rect().bottomLeft()))

    def _ask(self, suffix: str, chosen: Callable[[Path], object]) -> None:
        ask_new_file(self._page, t("timeline.page.export_where"), Path.home() / f"{NAME}.{suffix}", suffix, chosen)

    def write_picture(self, path: Path) -> None:
        try:
            save_picture(self._view, path)
        except StudioError as error:
            self._session.trouble.emit(error)

    def write_slices(self, path: Path) -> None:
        """Of the range that is selected and its lane, else of what is in view; of rows that are shown alone. In
        another thread: it may be millions."""
        state = self._view.state
        if (trace := state.trace) is None:
            return
        begin, end, rows = self._chosen()
        ask(self._page, partial(_written, trace, path, begin, end, rows), self._told)

    def _chosen(self) -> tuple[int, int, list[int]]:
        state = self._view.state
        chosen = state.selected_range
        shown = rows_shown(state.bands)
        if chosen is None:
            return round(state.begin), round(state.end), shown
        if chosen.lane < 0 or state.trace is None:
            return chosen.begin, chosen.end, shown
        return chosen.begin, chosen.end, [row for row in shown if int(state.trace.row_lane[row]) == chosen.lane]

    def _told(self, error: StudioError | None) -> None:
        if error is not None:
            self._session.trouble.emit(error)


def rows_shown(bands: Bands) -> list[int]:
    single = bands.row[bands.row >= 0].tolist()
    return sorted({*single, *(row for rows in bands.over.values() for row in rows)})


def _written(trace: Trace, path: Path, begin: int, end: int, rows: list[int]) -> StudioError | None:
    try:
        write_slices(trace, path, begin, end, rows)
    except StudioError as error:
        return error
    return None
