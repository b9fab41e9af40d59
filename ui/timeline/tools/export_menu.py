"""Export of the view as a picture, and of slices as a table, into files that the user names."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu

from backends.timeline.query.csv_export import write_slices
from studio.errors import StudioError
from studio.texts import t
from ui.services.background import run_in_background
from ui.services.file_dialogs import choose_new_file
from ui.timeline.view.picture_export import save_picture

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

    from backends.timeline.trace import Trace
    from ui.services.session import Session
    from ui.timeline.state.bands import Bands
    from ui.timeline.view.timeline_view import TimelineView

PICTURE_FORMATS = {"png": "timeline.page.export_png", "svg": "timeline.page.export_svg"}
FILE_STEM = "timeline"


class ExportMenu:
    """`anchor`: the button below which the menu opens."""

    def __init__(self, page: QWidget, session: Session, view: TimelineView, anchor: QWidget) -> None:
        self._page, self._session, self._view, self._anchor = page, session, view, anchor

    def open_menu(self) -> None:
        menu = QMenu(self._page)
        menu.setObjectName("timeline_export_menu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for suffix, key in PICTURE_FORMATS.items():
            menu.addAction(t(key), partial(self._choose_file, suffix, self.write_picture))
        has_range = self._view.state.selection.range is not None
        key = "timeline.page.export_slices" if has_range else "timeline.page.export_all"
        menu.addAction(t(key), partial(self._choose_file, "csv", self.write_slices))
        menu.popup(self._anchor.mapToGlobal(self._anchor.rect().bottomLeft()))

    def _choose_file(self, suffix: str, chosen: Callable[[Path], object]) -> None:
        choose_new_file(
            self._page, t("timeline.page.export_where"), Path.home() / f"{FILE_STEM}.{suffix}", suffix, chosen
        )

    def write_picture(self, path: Path) -> None:
        try:
            save_picture(self._view, path)
        except StudioError as error:
            self._session.trouble.emit(error)

    def write_slices(self, path: Path) -> None:
        """Write the slices of the selected range and its lane, else of the visible range; hidden rows are left out.
        Runs in another thread, since it may be millions of slices."""
        state = self._view.state
        if (trace := state.trace) is None:
            return
        begin, end, rows = self._chosen()
        run_in_background(self._page, partial(_written, trace, path, begin, end, rows), self._show_error)

    def _chosen(self) -> tuple[int, int, list[int]]:
        state = self._view.state
        chosen = state.selection.range
        rows = visible_rows(state.lanes.bands)
        if chosen is None:
            return round(state.viewport.begin), round(state.viewport.end), rows
        if chosen.lane < 0 or state.trace is None:
            return chosen.begin, chosen.end, rows
        return chosen.begin, chosen.end, [row for row in rows if int(state.trace.row_lane[row]) == chosen.lane]

    def _show_error(self, error: StudioError | None) -> None:
        if error is not None:
            self._session.trouble.emit(error)


def visible_rows(bands: Bands) -> list[int]:
    single = bands.row[bands.row >= 0].tolist()
    return sorted({*single, *(row for rows in bands.over.values() for row in rows)})


def _written(trace: Trace, path: Path, begin: int, end: int, rows: list[int]) -> StudioError | None:
    try:
        write_slices(trace, path, begin, end, rows)
    except StudioError as error:
        return error
    return None
