"""The real window on a real profile of an Ascend training, by clicking, from opening to the exported picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest

from tests.timeline.profile_data import DBS, RANK, SETS, TEXTS, profile
from tests.ui.looks import faults, settle
from tests.ui.timeline.clicks import (
    choose,
    click_slice,
    drag,
    open_profile,
    press_key,
    trace_of,
)
from ui.services import editor

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from ui.shell.window import Shell
    from ui.timeline.page import TimelinePage

KERNEL = "aclnnAddmm_MatMulCommon_MatMulV2"


@pytest.fixture(params=SETS)
def page(qtbot: QtBot, shell: Shell, request: pytest.FixtureRequest) -> TimelinePage:
    return open_profile(qtbot, shell, profile(f"{request.param}/{RANK}/text/rank0_ascend_pt"))


def search(page: TimelinePage, qtbot: QtBot, text: str) -> None:
    press_key(page.view.canvas, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClicks(page.tools.search.field, text)
    qtbot.waitUntil(lambda: len(page.state.hits.slices) > 0)


def zoom_to_kernel(page: TimelinePage, qtbot: QtBot) -> int:
    """Find a kernel by the search, Enter, and F on the lanes."""
    search(page, qtbot, KERNEL)
    press_key(page.tools.search.field, Qt.Key.Key_Return)
    page.view.canvas.setFocus()
    press_key(page.view.canvas, Qt.Key.Key_F)
    index = page.state.selection.slice
    begin, end = page.state.times_of(index)
    assert (end - begin) / page.state.viewport.span == pytest.approx(1 / 1.2, rel=0.01)
    return index


def test_from_the_kernel_to_the_line_of_the_source(
    page: TimelinePage, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = trace_of(page)
    kernel = zoom_to_kernel(page, qtbot)
    assert trace.name_text(int(trace.name[kernel])) == KERNEL
    assert trace.meta.lanes[trace.lane_of(kernel)].kind == "device"
    slice_pane = page.panes.slice
    qtbot.waitUntil(slice_pane.host_call.isVisible)
    assert not faults(page.window())
    slice_pane.host_call.click()
    host = page.state.selection.slice
    assert trace.meta.lanes[trace.lane_of(host)].kind == "host"
    assert trace.start[host] <= trace.start[kernel]
    qtbot.waitUntil(lambda: slice_pane.lookup is not None and slice_pane.lookup.details.index == host)
    frames = slice_pane.lookup.details.stack if slice_pane.lookup else ()
    assert frames
    source = tmp_path / "linear.py"
    source.write_text("import torch\n")
    opened: list[tuple[object, ...]] = []
    monkeypatch.setattr(editor, "chosen", lambda: ("code", "{path}:{line}"))
    monkeypatch.setattr(editor, "open_at", lambda *args: opened.append(args))
    slice_pane.open_source(source, 114)
    assert opened == [(("code", "{path}:{line}"), source, 114)]


def test_that_a_flow_is_followed_both_ways_by_keys(page: TimelinePage, qtbot: QtBot) -> None:
    kernel = zoom_to_kernel(page, qtbot)
    press_key(page.view.canvas, Qt.Key.Key_G)
    assert page.state.selection.slice != kernel
    press_key(page.view.canvas, Qt.Key.Key_G, Qt.KeyboardModifier.ShiftModifier)
    assert page.state.selection.slice == kernel
    press_key(page.view.canvas, Qt.Key.Key_0, Qt.KeyboardModifier.ControlModifier)
    assert page.state.viewport.is_whole


def test_that_a_range_counts_overlapping_time_once(page: TimelinePage, qtbot: QtBot) -> None:
    canvas = page.view.canvas
    drag(canvas, QPoint(canvas.width() // 3, 60), QPoint(2 * canvas.width() // 3, 60))
    chosen = page.state.selection.range
    assert chosen is not None
    range_pane = page.panes.range
    range_pane.kind.setCurrentIndex(0)  # all lanes
    range_pane.kind.activated.emit(0)

    def is_current() -> bool:
        question = range_pane.reckoned.question if range_pane.reckoned is not None else None
        return question is not None and (question.begin, question.kind) == (chosen.begin, None)

    qtbot.waitUntil(is_current)
    assert range_pane.reckoned is not None
    statistics = range_pane.reckoned.statistics
    assert (statistics.wall <= statistics.total).all()
    assert (statistics.wall <= chosen.end - chosen.begin).all()
    assert (statistics.wall < statistics.total).any()


def test_that_a_lane_is_pinned_and_a_picture_exported(page: TimelinePage, qtbot: QtBot, tmp_path: Path) -> None:
    kernel = zoom_to_kernel(page, qtbot)
    lane = trace_of(page).lane_of(kernel)
    page.view.lane_menu_requested.emit(lane, page.view.mapToGlobal(QPoint(50, 200)))
    choose("Pin to the top")
    assert page.state.lanes.bands[0].track == lane
    click_slice(page, kernel)
    assert page.state.selection.slice == kernel
    path = tmp_path / "view.png"
    page.head.export.click()
    choose("Picture of the view (PNG)…")
    dialog = page.window().findChild(object, "file_dialog")
    assert dialog is not None
    dialog.fileSelected.emit(str(path))
    dialog.close()
    assert not QImage(str(path)).isNull()


@pytest.mark.parametrize("name", [*TEXTS, *DBS, *(f"{kind}/{RANK}/{form}" for kind in SETS for form in ("text", "db"))])
def test_that_every_profile_at_hand_opens_whole(qtbot: QtBot, shell: Shell, name: str) -> None:
    page = open_profile(qtbot, shell, profile(name))
    trace = trace_of(page)
    assert trace.meta.slices + trace.meta.instants == len(trace.start) > 0
    qtbot.waitUntil(page.sentence.isVisible)
    settle()
    assert not faults(page.window())
    image = page.view.canvas.picture()
    assert image is not None
    pixels = np.frombuffer(image.constBits(), np.uint32)
    assert len(np.unique(pixels)) > 8
