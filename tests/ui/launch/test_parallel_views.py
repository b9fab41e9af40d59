"""What a training in several processes shows: a log for each rank, a line for each node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QGuiApplication

from tests.launch.specs import launch_spec
from ui.launch.page import make_page
from ui.widgets.log_lines import line_text

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from ui.curves.log_panel import LogPanel
    from ui.services.session import Session


def test_that_one_log_needs_no_choice(qtbot: QtBot, panel: LogPanel, tmp_path: Path) -> None:
    (tmp_path / "output.log").write_text("one\n")
    panel.show_file(tmp_path / "output.log")
    qtbot.waitUntil(lambda: panel.view.lines is not None and panel.view.lines.last() == "one")
    assert panel.choice.isHidden()


def test_that_each_ranks_log_can_be_read_while_it_grows(qtbot: QtBot, panel: LogPanel, tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    for name in ("output.log", "logs/worker_0.log", "logs/worker_10.log", "logs/worker_2.log", "logs/scheduler.log"):
        (tmp_path / name).write_text(f"of {name}\n")
    panel.show_file(tmp_path / "output.log")
    assert [panel.choice.itemText(place) for place in range(panel.choice.count())] == [
        "Whole run", "Rank 0", "Rank 2", "Rank 10", "Scheduler",
    ]  # fmt: skip
    panel.choice.setCurrentIndex(2)
    lines = panel.view.lines
    assert lines is not None
    qtbot.waitUntil(lambda: lines.last() == "of logs/worker_2.log")
    with (tmp_path / "logs" / "worker_2.log").open("a") as file:
        file.write("more\n")
    qtbot.waitUntil(lambda: lines.last() == "more")
    assert [line_text(lines.line(number)) for number in range(2)] == ["of logs/worker_2.log", "more"]


def test_that_a_log_that_appears_later_is_offered_and_the_chosen_one_stays(
    qtbot: QtBot, panel: LogPanel, tmp_path: Path
) -> None:
    (tmp_path / "output.log").write_text("all\n")
    panel.choice._timer.setInterval(50)
    panel.show_file(tmp_path / "output.log")
    (tmp_path / "rank_1.log").write_text("one\n")
    qtbot.waitUntil(lambda: panel.choice.count() == 2)
    assert not panel.choice.isHidden()
    panel.open(False)
    assert panel.choice.isHidden()
    panel.open(True)
    panel.choice.setCurrentIndex(1)
    (tmp_path / "rank_0.log").write_text("none\n")
    qtbot.waitUntil(lambda: panel.choice.count() == 3)
    assert panel.choice.currentText() == "Rank 1"
    panel.show_file(None)
    assert panel.choice.isHidden()


def test_that_several_nodes_show_a_line_for_each_and_disable_start(qtbot: QtBot, session: Session) -> None:
    page = make_page(session)
    qtbot.addWidget(page)
    card = page.node_lines.card
    assert card.isHidden()
    page.form.set_spec(launch_spec(recipe="linear", parallel="data", nodes=2))
    assert not card.isHidden()
    assert not card.copy_button.isEnabled()  # the first node has no address yet
    page.form.set_spec(launch_spec(recipe="linear", parallel="data", nodes=2, master="10.0.0.1"))
    assert not page.start_button.isEnabled()
    assert card.copy_button.isEnabled()
    card.copy_button.click()
    copied = QGuiApplication.clipboard().text()
    assert [f"--node_rank={node}" in copied for node in range(3)] == [True, True, False]
    assert "# node 1, not run\n" in copied
    page.form.set_spec(launch_spec(recipe="linear", parallel="data"))
    assert card.isHidden()
    assert page.start_button.isEnabled()
