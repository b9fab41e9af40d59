"""Every option of the launch page, tried with mouse and keys as a person would, in both languages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QLineEdit, QPushButton, QWidget

from backends.launch.spec import LaunchSpec
from studio import run as runs
from studio import schema
from tests.launch.specs import launch_spec
from ui.form.inputs import (
    ChoiceInput,
    LineInput,
    PathInput,
    SwitchInput,
)
from ui.form.pairs_input import PairsInput
from ui.widgets.localized import change_language

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from studio.run import Run
    from studio.schema import Field
    from ui.launch.page import LaunchPage
    from ui.shell.window import Shell

FIELDS = {field.name: field for field in schema.fields(LaunchSpec)}
CARDS = list(dict.fromkeys(field.section for field in FIELDS.values()))
SPLIT: dict[str, Any] = {"recipe": "dense", "mode": "graph", "device": "auto"}
LORA = {"framework": "torch", "recipe": "lora"}
NEEDED: dict[str, dict[str, Any]] = {
    **dict.fromkeys(("base_model", "examples", "context", "lora_rank", "lora_alpha"), LORA),
    "sink": {"loop": "model", "mode": "graph"},
    "recompute": {"recipe": "text"},
    "jit_level": {"mode": "graph"},
    "parallel": SPLIT,
    "launcher": {"parallel": "data"},
    "strategy": {**SPLIT, "parallel": "semi_auto"},
    "stages": {**SPLIT, "parallel": "hybrid", "workers": 4, "pipeline_batches": 4},
    "pipeline_batches": {**SPLIT, "parallel": "hybrid"},
    "dataset": {**SPLIT, "parallel": "semi_auto"},
    "optimizer_parallel": {**SPLIT, "parallel": "semi_auto"},
    "search": {**SPLIT, "parallel": "auto"},
    "warmup": {"steps": 200},
    "capture_ranks": {"parallel": "data", "capture": "profile"},
}
"""What else has to be chosen, so that a field is shown and may have any of its values."""
VALID = {
    "batch": "16", "accumulate": "2", "scale": "512", "clip": "1.5", "lr": "0.02", "weight_decay": "0.05",
    "decay_every": "40", "decay_rate": "0.5", "warmup": "20", "steps": "120", "epochs": "2", "seed": "7",
    "checkpoint_every": "50", "checkpoint_minutes": "2.5", "keep": "5", "data_workers": "2", "prefetch": "4",
    "workers": "4", "stages": "2", "pipeline_batches": "8", "fusion": "32", "nodes": "1", "master": "10.0.0.1",
    "port": "8200", "visible": "0,1,2,3", "connect_timeout": "600", "exec_timeout": "1800", "buffsize": "120",
    "debug_port": "5678", "grace": "30", "capture_at": "3", "capture_steps": "4", "capture_ranks": "0,1",
    "capture_targets": "linear", "context": "64", "lora_rank": "4", "lora_alpha": "8",
    "alloc_conf": "expandable_segments:True", "cpu_affinity": "1,npu0:0-3",
}  # fmt: skip
INVALID = {"clip": "0", "lr": "200", "visible": "3,1", "seed": "-1", "port": "80", "epochs": "-2", "debug_port": "99",
           "context": "1", "lora_rank": "0", "lora_alpha": "0"}  # fmt: skip
FREE_TEXT = {"master", "capture_targets"}


@pytest.fixture
def page(shell: Shell) -> Iterator[LaunchPage]:
    made = shell.page_widget("launch")
    yield made
    change_language("en")


@pytest.fixture
def paths(tmp_path: Path) -> dict[str, Path]:
    """Something of the right kind for each field that wants a path."""
    run = runs.create(tmp_path, "launch", schema.to_json(LaunchSpec())).folder
    (run / "artifacts" / "checkpoints").mkdir(parents=True)
    (run / "artifacts" / "checkpoints" / "last").write_text("step-000020-3f9a1c7e", encoding="utf-8")
    for name in ("own.py", "weights.safetensors", "python", "msrun"):
        (tmp_path / name).touch()
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("{}")
    return {
        "corpus": tmp_path, "images": tmp_path, "resume": run, "recipe_file": tmp_path / "own.py",
        "weights": tmp_path / "weights.safetensors", "base_model": tmp_path / "model",
        "examples": tmp_path / "own.py", "python": tmp_path / "python",
    }  # fmt: skip


def context(field: Field) -> dict[str, Any]:
    """What has to be chosen, so that a field is shown."""
    needed = dict(NEEDED.get(field.name, {}))
    at = field
    while at.visible_when is not None:
        name, values = at.visible_when
        needed.setdefault(name, values[0])
        at = FIELDS[name]
    return needed


def show(page: LaunchPage, field: Field, paths: dict[str, Path]) -> None:
    """All choices as `context` wants them, the card unfolded with the mouse."""
    spec = launch_spec(**context(field))
    if spec.what.recipe == "own" and field.name != "recipe_file":
        spec = schema.with_value(spec, "recipe_file", paths["recipe_file"])
    page.form.set_spec(spec)
    card = page.form.card(field.section)
    if card.is_folded:
        fold = page.findChild(QPushButton, f"launch.{field.section}.fold")
        assert fold is not None
        QTest.mouseClick(fold, Qt.MouseButton.LeftButton)
    box = page.form.box(field.name)
    page._scroll.ensureWidgetVisible(box)
    QApplication.processEvents()
    assert box.isVisible(), field.name


def write(line: QLineEdit, text: str) -> None:
    QTest.mouseClick(line, Qt.MouseButton.LeftButton)
    QTest.keyClick(line, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(line, Qt.Key.Key_Delete)
    QTest.keyClicks(line, text)


def turn(box: SwitchInput) -> None:
    inside = QPoint(12, box.height() // 2)
    QTest.mouseClick(box, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, inside)


def choose(box: QComboBox, index: int) -> None:
    box.setFocus()
    QTest.keyClick(box, Qt.Key.Key_Home)
    for _ in range(index):
        QTest.keyClick(box, Qt.Key.Key_Down)


def words(page: LaunchPage) -> str:
    return page.copies.view.toPlainText()


def line_of(widget: QWidget) -> QLineEdit:
    found = widget if isinstance(widget, QLineEdit) else widget.findChild(QLineEdit)
    assert isinstance(found, QLineEdit)
    return found


def try_choices(page: LaunchPage, field: Field, box: ChoiceInput) -> None:
    for index in range(box.count()):
        choose(box, index)
        value = box.itemData(index)
        assert schema.value_of(page.form.spec(), field.name) == value
        if value != field.default and not page.form.problems():
            assert f"{field.flag} {value}" in words(page)
        for other in FIELDS.values():
            if other.section == field.section and other.visible_when and other.visible_when[0] == field.name:
                assert page.form.box(other.name).isVisible() == (value in other.visible_when[1])


def try_text(page: LaunchPage, field: Field, line: QLineEdit, text: str) -> None:
    write(line, text)
    assert page.form.problems() == (), (field.name, page.form.problems())
    if schema.parse(field, text) != field.default:
        assert field.flag in words(page), (field.name, words(page))
    assert schema.value_of(page.form.spec(), field.name) == schema.parse(field, text)
    if field.name not in FREE_TEXT and field.kind != "path":
        write(line, INVALID.get(field.name, "x"))
        assert field.name in {problem.field for problem in page.form.problems()}
        assert line.property("wrong") == "true"
        assert not page.start_button.isEnabled()
    elif field.kind == "path":
        write(line, "/no/such/place")
        assert line.property("wrong") == "true"


def try_pairs(page: LaunchPage, field: Field, pairs: PairsInput) -> None:
    QTest.mouseClick(pairs._add, Qt.MouseButton.LeftButton)
    row = pairs._rows[-1]
    QTest.keyClicks(row.text, "1")
    assert field.name in {problem.field for problem in page.form.problems()}
    QTest.keyClicks(row.key, "GLOG_v")
    assert f"{field.flag} GLOG_v=1" in words(page)


def try_option(page: LaunchPage, field: Field, paths: dict[str, Path]) -> None:
    box = page.form.box(field.name).input
    if isinstance(box, ChoiceInput):
        try_choices(page, field, box)
    elif isinstance(box, SwitchInput):
        turn(box)
        assert schema.value_of(page.form.spec(), field.name) is True
        assert field.flag in words(page) or page.form.problems()
        QTest.keyClick(box, Qt.Key.Key_Space)
        assert schema.value_of(page.form.spec(), field.name) is False
    elif isinstance(box, PairsInput):
        try_pairs(page, field, box)
    else:
        assert isinstance(box, (LineInput, PathInput))
        try_text(page, field, line_of(box), str(paths.get(field.name, VALID.get(field.name, ""))))


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("card", CARDS)
def test_that_every_option_can_be_chosen_and_reaches_the_command_line(
    page: LaunchPage, paths: dict[str, Path], card: str, language: str
) -> None:
    change_language("zh" if language == "zh" else "en")
    for field in FIELDS.values():
        if field.section == card and field.name != "strategy":
            show(page, field, paths)
            try_option(page, field, paths)


def ended(qtbot: QtBot, run: Run) -> None:
    qtbot.waitUntil(lambda: runs.glance(run).state == "ended")


def set_all(page: LaunchPage, choices: dict[str, str]) -> None:
    for name, value in choices.items():
        card = page.form.card(FIELDS[name].section)
        if card.is_folded:
            QTest.mouseClick(card._toggle, Qt.MouseButton.LeftButton)
        box = page.form.box(name).input
        if isinstance(box, ChoiceInput):
            choose(box, box.findData(value))
        elif isinstance(box, SwitchInput):
            turn(box)
        else:
            write(line_of(box), value)


def test_that_clicked_options_end_in_a_curve_and_the_run_can_be_gone_on_from(
    page: LaunchPage, shell: Shell, qtbot: QtBot
) -> None:
    set_all(
        page,
        {
            "recipe": "linear", "mode": "jit", "device": "cpu", "batch": "8", "accumulate": "2", "amp": "O2",
            "loss_scale": "dynamic", "scale": "512", "clip": "1", "on_nan": "skip", "optimizer": "momentum",
            "lr": "0.01", "schedule": "step", "decay_every": "5", "warmup": "3", "steps": "12", "seed": "3",
            "data_workers": "1", "prefetch": "3", "drop_remainder": "on", "checkpoint_every": "5", "keep": "2",
            "best": "loss", "grace": "20",
        },
    )  # fmt: skip
    assert page.form.problems() == ()
    chosen = page.form.spec()
    QTest.mouseClick(page.start_button, Qt.MouseButton.LeftButton)
    first = shell.session.run
    assert first is not None
    ended(qtbot, first)
    assert runs.glance(first).code == 0
    values = json.loads((first.folder / "run.json").read_text(encoding="utf-8"))["values"]
    assert values == schema.to_json(chosen)
    assert values["learning"]["decay_every"] == 5
    shell.session.refresh_runs()
    shell.show_page("launch")
    page.form.set_spec(LaunchSpec())
    page.resume_choice._menu.aboutToShow.emit()
    page.resume_choice._menu.actions()[0].trigger()
    set_all(page, {"steps": "18"})
    QTest.mouseClick(page.start_button, Qt.MouseButton.LeftButton)
    second = shell.session.run
    assert second is not None
    ended(qtbot, second)
    curves = shell.page_widget("curves")
    qtbot.waitUntil(lambda: "loss" in curves.content.grid.charts and curves.watcher.is_loaded)
    qtbot.waitUntil(lambda: all(watcher.is_loaded for watcher in curves.drawn.resumed.values()))
    curves._show_run()
    curves.content.grid.draw()
    (line,) = curves.content.grid.charts["loss"]._lines
    assert list(line.series.steps) == list(range(13, 19))
    assert [part.end for part in line.before] == [12]
    assert curves.content.marks.resumed.text().endswith("exactly as if it had never ended.")
    assert {"checkpoint", "resume"} <= {mark.kind for mark in curves.watcher.status.marks.marks}
