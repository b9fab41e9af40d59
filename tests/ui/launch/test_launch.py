"""The Launch page: choose, see what follows, start; the run that comes of it holds what the form showed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton

from backends.launch.spec import LaunchSpec
from studio import run as runs
from studio import schema
from studio.security import trust
from tests.launch.specs import launch_spec
from tests.ui import looks
from tests.ui.form.entries import choice, line, pick, type_into
from ui.launch.page import LaunchPage, make_page
from ui.services.run_titles import title_of
from ui.widgets import theme
from ui.widgets.localized import change_language

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from PySide6.QtWidgets import QApplication
    from pytestqt.qtbot import QtBot

    from studio.run import Run
    from ui.services.session import Session
    from ui.shell.window import Shell


@pytest.fixture
def page(qtbot: QtBot, session: Session) -> LaunchPage:
    made = make_page(session)
    qtbot.addWidget(made)
    made.resize(1104, 754)
    made.show()
    return made


def press(page: LaunchPage, name: str) -> None:
    button = page.findChild(QPushButton, name)
    assert button is not None
    button.click()


def test_that_the_form_and_start_make_a_run_that_really_trains(
    page: LaunchPage, session: Session, qtbot: QtBot
) -> None:
    pick(page.form, "recipe", "linear")
    type_into(page.form, "steps", "30")
    type_into(page.form, "seed", "5")
    pick(page.form, "device", "cpu")
    with qtbot.waitSignal(session.page_requested) as wanted:
        press(page, "launch.start")
    assert wanted.args == ["curves"]
    assert session.run is not None
    asked_for = json.loads((session.run.folder / "run.json").read_text(encoding="utf-8"))
    assert asked_for["command"] == "launch"
    assert asked_for["values"] == schema.to_json(launch_spec(recipe="linear", steps=30, seed=5, device="cpu"))
    assert asked_for["values"] == schema.to_json(page.form.spec())
    run = session.run
    qtbot.waitUntil(lambda: runs.glance(run).state == "ended")
    assert runs.glance(run).code == 0
    session.refresh_runs()
    assert page.forecast._table.isVisible()
    assert "pynative" in page.forecast._measured


def test_that_a_recipe_is_trained_with_pytorch_by_choosing_it(
    page: LaunchPage, session: Session, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What belongs to MindSpore alone is hidden, and the run that comes of it is PyTorch's."""
    pytest.importorskip("torch")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    pick(page.form, "framework", "torch")
    spec = page.form.spec()
    assert not any(schema.is_visible(spec, schema.field_of(LaunchSpec, name)) for name in ("mode", "loop", "jit_level"))
    assert schema.is_visible(spec, schema.field_of(LaunchSpec, "compile"))
    pick(page.form, "recipe", "linear")
    type_into(page.form, "steps", "30")
    pick(page.form, "device", "cpu")
    assert "Eager" in " ".join(sentence.text() for sentence in page.forecast._sentences)
    press(page, "launch.start")
    run = session.run
    assert run is not None
    qtbot.waitUntil(lambda: runs.glance(run).state == "ended")
    assert runs.glance(run).code == 0
    assert runs.glance(run).values["loss"] < 0.1
    session.refresh_runs()
    assert "eager" in page.forecast._measured
    assert title_of(run) == "linear · PyTorch"


def test_that_the_sentence_says_what_the_choices_come_to(page: LaunchPage) -> None:
    type_into(page.form, "accumulate", "4")
    type_into(page.form, "batch", "32")
    type_into(page.form, "steps", "600")
    assert "Global batch 128 = 32 × 4 accumulated × 1 process; 600 steps = 53.4 epochs." in page.sentence.text()
    change_language("zh")
    assert "全局 batch 128 = 32 × 累积 4 次 × 1 个进程；600 步 = 53.4 轮。" in page.sentence.text()


def test_that_a_wrong_field_keeps_from_starting_and_gets_the_focus(
    page: LaunchPage, session: Session, qtbot: QtBot
) -> None:
    type_into(page.form, "lr", "-1")
    assert not page.start_button.isEnabled()
    assert page.sentence.text() == "Fields to correct before this can start: 1."
    page.activateWindow()
    choice(page.form, "recipe").setFocus()
    with qtbot.assertNotEmitted(session.page_requested):
        press(page, "launch.to_wrong")
    assert page.focusWidget() is line(page.form, "lr")
    type_into(page.form, "lr", "0.1")
    assert page.start_button.isEnabled()


def test_that_a_wrong_field_that_is_folded_away_is_scrolled_to(page: LaunchPage, qtbot: QtBot) -> None:
    page.resize(1104, 400)
    page.form.set_spec(launch_spec(env=(("MY_TOKEN", "x"),)))
    press(page, "launch.to_wrong")
    box = page.form.box("env")
    qtbot.waitUntil(lambda: not box.visibleRegion().isEmpty() and box.visibleRegion().boundingRect() == box.rect())


def test_that_reset_brings_back_the_recipes_values_and_keeps_the_rest(page: LaunchPage) -> None:
    page.form.set_spec(launch_spec(recipe="linear", mode="jit", batch=8, accumulate=2, lr=0.5, steps=9, grace=5.0))
    page.reset()
    assert page.form.spec() == launch_spec(recipe="linear", mode="jit", grace=5.0)


def test_that_the_forms_to_copy_follow_every_change(page: LaunchPage) -> None:
    pick(page.form, "mode", "jit")
    assert "--mode jit" in page.copies.view.toPlainText()
    page.copies.tabs.setCurrentIndex(1)
    assert "subprocess.run(" in page.copies.view.toPlainText()
    page.copies.tabs.setCurrentIndex(2)
    assert json.loads(page.copies.view.toPlainText()) == schema.to_json(page.form.spec())


def test_that_copying_is_confirmed_and_the_clipboard_holds_what_is_seen(page: LaunchPage, qtbot: QtBot) -> None:
    press(page, "launch.same.copy")
    assert QGuiApplication.clipboard().text() == page.copies.view.toPlainText()
    assert page.copies.copy_button.text() == "Copied"
    qtbot.waitUntil(lambda: page.copies.copy_button.text() == "Copy")


def test_that_nothing_wrong_can_be_copied(page: LaunchPage) -> None:
    type_into(page.form, "batch", "x")
    assert not page.copies.copy_button.isEnabled()


def test_that_each_project_keeps_its_own_choices(page: LaunchPage, session: Session, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    session.open_project(tmp_path / "one")
    type_into(page.form, "steps", "11")
    session.open_project(tmp_path / "two")
    assert page.form.spec() == LaunchSpec()
    assert f"--project {tmp_path / 'two'}" in page.copies._texts[0].replace(" \\\n  ", " ")
    session.open_project(tmp_path / "one")
    assert page.form.spec() == launch_spec(steps=11)


@pytest.fixture
def with_own_python(page: LaunchPage, session: Session, tmp_path: Path) -> Path:
    """A project that brings an interpreter, which writes a file when it runs."""
    project = tmp_path / "project"
    project.mkdir()
    python = project / "python"
    python.write_text('#!/bin/sh\ntouch "$(dirname "$0")/ran"\n', encoding="utf-8")
    python.chmod(0o755)
    session.open_project(project)
    page.form.set_spec(launch_spec(python=python))
    return project


def test_that_code_of_a_project_is_not_run_unasked(
    page: LaunchPage, session: Session, with_own_python: Path, qtbot: QtBot
) -> None:
    with qtbot.assertNotEmitted(session.page_requested):
        press(page, "launch.start")
    assert page.consent.isVisible()
    assert str(with_own_python / "python") in page.consent.text.text()
    assert not (with_own_python / ".ascend-studio").exists()
    press(page, "launch.not_now")
    assert not page.consent.isVisible()
    assert not trust.is_trusted(with_own_python)
    assert not (with_own_python / "ran").exists()


def test_that_the_question_outlives_a_change_of_language_and_is_answered_with_enter(
    page: LaunchPage, with_own_python: Path, qtbot: QtBot
) -> None:
    press(page, "launch.start")
    page.retranslate()
    assert page.consent.isVisible()
    leave = page.findChild(QPushButton, "launch.not_now")
    assert leave is not None
    leave.setFocus()
    qtbot.keyClick(leave, Qt.Key.Key_Return)
    assert not page.consent.isVisible()
    assert not trust.is_trusted(with_own_python)
    press(page, "launch.start")
    type_into(page.form, "steps", "12")
    assert not page.consent.isVisible()


def test_that_a_trusted_project_runs_its_code(
    page: LaunchPage, session: Session, with_own_python: Path, qtbot: QtBot
) -> None:
    press(page, "launch.start")
    with qtbot.waitSignal(session.page_requested):
        press(page, "launch.trust")
    assert trust.is_trusted(with_own_python)
    assert session.run is not None
    run = session.run
    qtbot.waitUntil(lambda: runs.glance(run).state == "ended")
    assert (with_own_python / "ran").exists()


def test_that_an_unwritable_place_is_told(page: LaunchPage, session: Session, tmp_path: Path, qtbot: QtBot) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / ".ascend-studio").touch()
    session.open_project(project)
    with qtbot.waitSignal(session.trouble), qtbot.assertNotEmitted(session.page_requested):
        press(page, "launch.start")


def test_that_an_npu_that_is_not_there_is_said_before_the_start(page: LaunchPage) -> None:
    pick(page.form, "device", "ascend")
    assert page.forecast._device.text().startswith("No NPU found on this host. The training would end at once")


def test_that_an_interpreter_without_mindspore_is_said_before_the_start(
    page: LaunchPage, tmp_path: Path, qtbot: QtBot
) -> None:
    for name, package in (("without", "numpy-1.26.4"), ("with", "mindspore-2.10.0")):
        (tmp_path / name / "lib" / "python3.10" / "site-packages" / f"{package}.dist-info").mkdir(parents=True)
        (tmp_path / name / "bin").mkdir()
        (tmp_path / name / "bin" / "python").touch()
    page.form.set_spec(launch_spec(python=tmp_path / "without" / "bin" / "python"))
    sentence = page.forecast._python
    qtbot.waitUntil(lambda: sentence.text().startswith("The chosen interpreter (Python 3.10) has no MindSpore"))
    page.form.set_spec(launch_spec(python=tmp_path / "with" / "bin" / "python"))
    qtbot.waitUntil(lambda: sentence.text() == "Chosen interpreter: Python 3.10 with MindSpore 2.10.0.")
    page.form.set_spec(launch_spec(framework="torch", python=tmp_path / "with" / "bin" / "python"))
    qtbot.waitUntil(lambda: sentence.text().startswith("The chosen interpreter (Python 3.10) has no PyTorch"))


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("size", [(1104, 754), (1744, 1034)])
@pytest.mark.parametrize("spec", [LaunchSpec(), launch_spec(recipe="text", mode="jit", amp="O2", env=(("A", "1"),))])
def test_that_nothing_is_cut_off(
    page: LaunchPage,
    session: Session,
    recorded_summary: Callable[[str, float], None],
    language: str,
    size: tuple[int, int],
    spec: LaunchSpec,
) -> None:
    for mode in ("pynative", "jit"):
        recorded_summary(mode, 0.1234)
    session.refresh_runs()
    page.resize(*size)
    page.form.set_spec(spec)
    page.form.focus_field("python")
    change_language("zh" if language == "zh" else "en")
    looks.settle()
    assert looks.faults(page) == []
    change_language("en")
    assert looks.left_in_chinese(page) == []


def test_that_a_change_of_theme_reaches_the_page(page: LaunchPage, qapp: QApplication) -> None:
    before = page.grab().toImage().pixelColor(5, 5)
    theme.apply(qapp, "dark")
    assert page.grab().toImage().pixelColor(5, 5) != before


def test_that_old_figures_are_shown_beside_the_choice(
    page: LaunchPage, session: Session, recorded_summary: Callable[[str, float], None]
) -> None:
    recorded_summary("pynative", 0.2)
    recorded_summary("jit", 0.05)
    session.refresh_runs()
    assert {mode: one.step_seconds for mode, (_, one) in page.forecast._measured.items()} == {
        "pynative": 0.2,
        "jit": 0.05,
    }
    pick(page.form, "recipe", "linear")
    assert not page.forecast._table.isVisible()


@pytest.fixture
def recorded_summary(session: Session) -> Callable[[str, float], None]:
    from studio.events import Ended, Journal, Note

    def put(mode: str, seconds: float) -> None:
        run = runs.create(session.folder, "launch", schema.to_json(launch_spec(mode=mode)))
        figures = {"step_seconds": seconds, "samples_per_second": 32 / seconds, "compile_seconds": 0.0}
        note = Note(key="launch.summary", args={**figures, "train_seconds": 1.0})
        Journal(run.folder, 1).write(note, Ended(code=0))

    return put


@pytest.fixture
def stopped_run(session: Session) -> Run:
    """A training of 200 steps that ended at step 120 and left a checkpoint."""
    from studio.events import Ended, Journal

    run = runs.create(
        session.folder, "launch", schema.to_json(launch_spec(recipe="linear", mode="jit", batch=16, steps=200))
    )
    checkpoints = run.folder / "artifacts" / "checkpoints"
    checkpoints.mkdir(parents=True)
    (checkpoints / "last").write_text("step-000120-3f9a1c7e\n", encoding="utf-8")
    Journal(run.folder, 1).write(Ended(code=0))
    session.refresh_runs()
    return run


def test_that_a_run_to_go_on_from_brings_its_options_along(page: LaunchPage, stopped_run: Run) -> None:
    page.form.card("keep").fold(False)
    page.resume_choice._menu.aboutToShow.emit()
    (entry,) = page.resume_choice._menu.actions()
    assert entry.text().endswith("· step 120")
    entry.trigger()
    kept = launch_spec(recipe="linear", mode="jit", batch=16, resume=stopped_run.folder)
    assert page.form.spec() == kept
    said = "Resumes after step 120. Adopted from that run: Recipe, Mode, Micro batch."
    assert page.resume_choice.sentence.text().startswith(said)
    type_into(page.form, "batch", "8")
    assert page.resume_choice.sentence.text().endswith("Different: Micro batch.")
    press(page, "launch.keep_own")
    assert page.form.spec() == launch_spec(resume=stopped_run.folder)
    assert page.resume_choice.sentence.text().endswith("Different: Recipe, Mode, Micro batch.")
    assert not page.resume_choice.keep_own.isVisible()


def test_that_a_run_that_was_taken_out_brings_its_options_along_again(page: LaunchPage, stopped_run: Run) -> None:
    page.form.set_value("resume", stopped_run.folder)
    page.form.set_spec(launch_spec())
    page.form.set_value("resume", stopped_run.folder)
    assert page.form.spec() == launch_spec(recipe="linear", mode="jit", batch=16, resume=stopped_run.folder)


def test_that_a_run_with_nothing_left_to_do_is_said_at_the_steps(page: LaunchPage, stopped_run: Run) -> None:
    page.form.set_spec(launch_spec(recipe="linear", steps=120, resume=stopped_run.folder))
    assert [problem.rule for problem in page.form.problems()] == ["launch.nothing_left"]
    type_into(page.form, "steps", "121")
    assert page.form.problems() == ()


def test_that_the_framework_decides_which_choices_are_offered(page: LaunchPage) -> None:
    page.form.card("parallel").fold(False)
    pick(page.form, "parallel", "auto")
    pick(page.form, "framework", "torch")
    assert page.form.spec() == launch_spec(framework="torch")  # what PyTorch has not is no longer chosen
    assert offered(page, "parallel") == ["none", "data", "fsdp", "tensor"]
    assert offered(page, "amp") == ["O0", "O1"]
    pick(page.form, "parallel", "fsdp")
    assert offered(page, "launcher") == [None, "torchrun"]
    assert page.form.box("launcher").input.currentText() == "torchrun"
    page.form.set_spec(launch_spec(framework="torch", parallel="auto"))
    assert [problem.rule for problem in page.form.problems()] == ["form.not_a_choice"]
    pick(page.form, "framework", "mindspore")
    assert offered(page, "parallel") == ["none", "data", "semi_auto", "auto", "hybrid"]


def offered(page: LaunchPage, name: str) -> list[str | None]:
    box = page.form.box(name).input
    return [box.itemData(index) for index in range(box.count())]


def test_that_folded_cards_say_what_is_set_in_them(page: LaunchPage) -> None:
    page.form.set_spec(launch_spec(parallel="data", workers=4, checkpoint_every=100, best="accuracy"))
    said = {name: page.form.card(name).summary.whole_text() for name in ("data", "keep", "parallel", "debug")}
    assert said == {
        "data": "Nothing set",
        "keep": "every 100 steps · keeps 3 · best by Accuracy",
        "parallel": "Data parallel · 4 processes · msrun",
        "debug": "Nothing set",
    }
    page.form.set_spec(launch_spec(recipe="linear", best="accuracy"))
    assert page.form.card("keep").summary.whole_text() == "Needs correction: Keep the best by"
    change_language("zh")
    assert page.form.card("keep").is_folded
    assert page.form.card("keep").summary.whole_text() == "需要改正：最佳的依据"


def test_that_an_option_is_found_by_a_part_of_its_name_in_either_language(page: LaunchPage) -> None:
    for text in ("fuse", "融合", "--fusion"):
        page.form.set_spec(launch_spec(parallel="data"))
        page.seek_box.setText(text)
        assert [name for name, box in page.form._boxes.items() if box.isVisible()] == ["fusion"]
        assert page.form.card("parallel").isVisible()
        assert not page.form.card("what").isVisible()
    page.seek_box.setText("no such option")
    assert page.form._nothing.isVisible()
    page.seek_box.clear()
    assert page.form.card("what").isVisible()
    assert page.form.card("parallel").is_folded


def test_that_the_question_mark_of_a_card_shows_its_section_of_the_help(shell: Shell) -> None:
    page = shell.page_widget("launch")
    for card in ("how", "parallel"):
        shell.show_page("launch")
        page.findChild(QPushButton, f"launch.{card}.help").click()
        assert shell.page == "help"
        text = shell.page_widget("help").text
        looks.settle()
        first = text.cursorForPosition(text.viewport().rect().topLeft()).block().text()
        assert first in (schema_title(card), "")


def schema_title(card: str) -> str:
    from studio.texts import t

    return t(f"launch.section.{card}")
