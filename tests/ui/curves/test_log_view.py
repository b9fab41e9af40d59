"""The log view: a flood, a progress bar, colours, searching and filtering, and where the user was reading."""

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from ui.widgets import log_lines
from ui.widgets.log_lines import (
    ERROR,
    PLAIN,
    WARNING,
    LogLines,
    line_text,
)

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from ui.curves.log_panel import LogPanel

MINDSPORE = b"[WARNING] ME(4711:140,MainProcess):2026-01-01-00:00:00 [mindspore/context.py:1] slow\n"


def texts_of(lines: LogLines) -> list[str]:
    return [line_text(lines.line(number)) for number in range(lines.first, len(lines))]


def test_that_colours_go_and_a_progress_bar_shows_its_last_state(tmp_path: Path) -> None:
    path = tmp_path / "output.log"
    path.write_bytes(b"\x1b[31mred\x1b[0m\r\n 10%\r 20%\r 30%\nlast 1%\rlast 2%")
    lines = LogLines(path)
    lines.read()
    assert texts_of(lines) == ["red", " 30%", "last 2%"]
    with path.open("ab") as file:
        file.write(b"\rlast 3%")
    lines.read()
    assert texts_of(lines)[-1] == "last 3%"


@pytest.mark.parametrize(
    ("line", "level"),
    [
        (b"step 3  loss 0.1", PLAIN),
        (MINDSPORE[:-1], WARNING),
        (b"x.py:3: UserWarning: old", WARNING),
        (b"[ERROR] DEVICE(1): out of memory", ERROR),
        (b"\x1b[31mERROR\x1b[0m failed", ERROR),
        (b"RuntimeError: no", ERROR),
        (b"the terror of errors", PLAIN),
    ],
)
def test_that_levels_are_recognised(tmp_path: Path, line: bytes, level: int) -> None:
    (tmp_path / "log").write_bytes(b"before\n" + line + b"\nafter\n")
    lines = LogLines(tmp_path / "log")
    lines.read()
    assert [lines.level(number) for number in range(3)] == [PLAIN, level, PLAIN]


def test_that_a_whole_traceback_is_an_error(tmp_path: Path) -> None:
    text = 'one\nTraceback (most recent call last):\n  File "a.py", line 1\n    f()\nKeyError: 3\ntwo\n'
    for cut in range(len(text)):
        path = tmp_path / f"log{cut}"
        path.write_bytes(text[:cut].encode())
        lines = LogLines(path)
        lines.read()
        path.write_bytes(text.encode())
        lines.read()
        assert [lines.level(number) for number in range(6)] == [0, 2, 2, 2, 2, 0]


def test_that_only_the_last_lines_are_kept_and_that_it_says_so(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"".join(b"line %d\n" % number for number in range(1000)))
    lines = LogLines(path, max_lines=100)
    lines.read()
    assert lines.is_cut
    assert texts_of(lines)[-1] == "line 999"
    assert lines.first == 900


def test_that_of_a_huge_file_the_end_is_read(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"".join(b"line %d\n" % number for number in range(1000)))
    lines = LogLines(path, from_end=50)
    lines.read()
    assert lines.is_cut
    assert texts_of(lines) == [f"line {number}" for number in range(995, 1000)]


def test_that_a_file_that_was_emptied_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"old old old\n")
    lines = LogLines(path)
    lines.read()
    path.write_bytes(b"new\n")
    lines.read()
    assert texts_of(lines)[-1] == "new"


def test_that_the_view_follows_until_one_scrolls_up(qtbot: QtBot, panel: LogPanel, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"".join(b"line %d\n" % number for number in range(500)))
    panel.show_file(path)
    qtbot.waitUntil(lambda: "line 499" in panel.view.visible_text())
    panel.view.setFocus()
    qtbot.keyClick(panel.view, Qt.Key.Key_Home)
    with path.open("ab") as file:
        file.write(b"more\n")
    qtbot.waitUntil(lambda: panel.view.count() == 501)
    assert panel.view.visible_text()[0] == "line 0"
    assert panel._follow.isVisible()
    qtbot.mouseClick(panel._follow, Qt.MouseButton.LeftButton)
    assert "more" in panel.view.visible_text()


def test_searching_with_the_keyboard(qtbot: QtBot, panel: LogPanel, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("".join(f"line {number} {'损失 Needle' if number % 100 == 0 else ''}\n" for number in range(1000)))
    panel.show_file(path)
    qtbot.waitUntil(lambda: panel.view.count() == 1000)
    panel.find_text()
    qtbot.keyClicks(panel._search, "needle")
    qtbot.waitUntil(lambda: panel._count.text() == "10 found")
    qtbot.keyClick(panel._search, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert panel._count.text() == "10 / 10"
    assert any(text.startswith("line 900 ") for text in panel.view.visible_text())
    qtbot.keyClick(panel._search, Qt.Key.Key_Return)
    assert panel._count.text() == "1 / 10"
    assert panel.view.visible_text()[0].startswith("line 0")
    panel._search.setText("损失")
    qtbot.waitUntil(lambda: panel._count.text() == "10 found")
    panel._search.setText("nothing like it")
    qtbot.waitUntil(lambda: panel._count.text() == "no matches")


def test_filtering_and_copying(qtbot: QtBot, panel: LogPanel, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"fine\n" * 50 + MINDSPORE + b"fine\n" * 50 + b"ERROR bad\n" + b"fine\n")
    panel.show_file(path)
    panel._levels.setCurrentIndex(1)
    qtbot.waitUntil(lambda: panel.view.count() == 2)
    panel._levels.setCurrentIndex(2)
    qtbot.waitUntil(lambda: panel.view.visible_text() == ["ERROR bad"])
    panel._levels.setCurrentIndex(1)
    qtbot.waitUntil(lambda: panel.view.count() == 2)
    panel.view.setFocus()
    qtbot.keyClick(panel.view, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClick(panel.view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QApplication.clipboard().text() == (MINDSPORE + b"ERROR bad").decode()


def test_that_a_closed_drawer_shows_the_last_line(qtbot: QtBot, panel: LogPanel, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"one\ntwo\n\n")
    panel.open(False)
    panel.show_file(path)
    qtbot.waitUntil(lambda: panel._last.whole_text() == "two")


def test_that_the_last_line_is_the_trainings_own_where_the_framework_talks_after_it(tmp_path: Path) -> None:
    path = tmp_path / "output.log"
    path.write_bytes(b"[INFO] begins\n")
    lines = LogLines(path)
    while lines.read():
        pass
    assert lines.last() == "[INFO] begins"
    with path.open("ab") as file:
        file.write(b"step 4/4\n[INFO] DISTRIBUTED(1,2,python): tcp_client.cc:367] Start\n")
    while lines.read():
        pass
    assert lines.last() == "step 4/4"


def test_that_a_flood_is_read_to_its_end(
    qtbot: QtBot, panel: LogPanel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_lines, "AT_ONCE", 1 << 16)
    path = tmp_path / "log"
    path.write_bytes(b"")
    panel.show_file(path)
    with path.open("ab") as file:
        for number in range(100_000):
            file.write(b"a line of a flood, number %d\n" % number)
    qtbot.waitUntil(lambda: panel.view.count() == 100_000)
    assert panel.view.visible_text()[-1].endswith("number 99999")


def test_that_what_was_read_is_shown_wherever_the_file_went(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"one\ntwo\n")
    lines = LogLines(path)
    lines.read()
    path.rename(tmp_path / "moved")
    lines.read()
    assert texts_of(lines) == ["one", "two"]
    (tmp_path / "moved").unlink()
    lines.read()
    assert texts_of(lines) == ["one", "two"]


def test_that_another_file_in_its_place_is_read_from_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"one\ntwo\nhalf of a")
    lines = LogLines(path)
    lines.read()
    (tmp_path / "other").write_bytes(b"another log, which is longer\nthan the one before\n")
    (tmp_path / "other").rename(path)
    lines.read()
    assert texts_of(lines) == ["another log, which is longer", "than the one before"]


def test_that_the_texts_are_right_however_they_were_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_lines, "BLOCK", 100)
    path = tmp_path / "log"
    texts = [f"{number} " + "x" * (number * 37 % 300) for number in range(300)]
    data = "".join(f"{text}\n" for text in texts).encode()
    path.write_bytes(b"")
    lines = LogLines(path, max_lines=250)
    for begin in range(0, len(data), 777):
        with path.open("ab") as file:
            file.write(data[begin : begin + 777])
        lines.read()
    assert texts_of(lines) == texts[lines.first :]
    numbers = [*range(lines.first, 300, 7), *range(299, lines.first, -11)]
    assert [line_text(lines.line(number)) for number in numbers] == [texts[number] for number in numbers]


def test_that_memory_does_not_grow_with_the_texts(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"")
    lines = LogLines(path)
    sizes = []
    tracemalloc.start()
    for _ in range(20):
        with path.open("ab") as file:
            file.write(b"".join(b"%06d %s\n" % (number, b"x" * 120) for number in range(5000)))
        while lines.read():
            pass
        sizes.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert len(lines) == 100_000
    assert sizes[-1] - sizes[0] < 2_500_000, "95,000 lines have 12 MB"
