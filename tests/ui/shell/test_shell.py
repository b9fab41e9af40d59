"""The window: tabs, projects, language, theme, drops, commands; clicked and typed as a person does."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QLineEdit, QPushButton, QWidget

from backends import features
from backends.launch.spec import LaunchSpec
from studio import run as runs
from studio import schema, texts
from studio.security import trust
from tests.ui.looks import faults, left_in_chinese, settle
from ui.services import actions, settings
from ui.services.settings import Settings
from ui.shell.main_menu import main_menu, project_menu, shortcuts_list
from ui.shell.rail import Rail
from ui.shell.window import FOLDS_UNDER, Shell
from ui.widgets import theme
from ui.widgets.popover import Popover

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtGui import QAction
    from pytestqt.qtbot import QtBot

    from studio.run import Run
    from ui.services.session import Session

SIZES = [(1280, 800), (1920, 1080)]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "my project"
    folder.mkdir()
    (folder / "train.py").touch()
    return folder


@pytest.fixture
def run(session: Session) -> Run:
    session.folder.mkdir(parents=True)
    return runs.create(session.folder, "launch", schema.to_json(LaunchSpec()))


def button(shell: Shell, name: str) -> QPushButton:
    found = shell.findChild(QPushButton, name)
    assert found is not None, name
    return found


def press(qtbot: QtBot, shell: Shell, key: Qt.Key, *modifiers: Qt.KeyboardModifier) -> None:
    shell.activateWindow()
    held = Qt.KeyboardModifier.NoModifier
    for modifier in modifiers:
        held |= modifier
    qtbot.keyClick(shell, key, held)


def drop(shell: Shell, path: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    buttons, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(shell, QDragEnterEvent(QPoint(300, 300), Qt.DropAction.CopyAction, data, buttons, none))
    QApplication.sendEvent(shell, QDropEvent(QPointF(300, 300), Qt.DropAction.CopyAction, data, buttons, none))


# Tabs


def test_that_tabs_are_home_and_the_features_that_have_a_page(shell: Shell) -> None:
    order = ["home", *(feature.id for feature in features()), "help"]
    assert list(shell.page_ids) == [page for page in order if page in shell.page_ids]
    assert shell.page == shell.page_ids[0]


def test_that_every_tab_has_a_word_in_both_languages(shell: Shell) -> None:
    keys = {f"feature.{page}" for page in shell.page_ids}
    assert not [language for language in texts.LANGUAGES if not keys <= texts.catalogue(language).keys()]


def test_that_a_page_is_made_at_its_first_visit(qtbot: QtBot, shell: Shell) -> None:
    assert shell.stack.count() == 1
    qtbot.mouseClick(button(shell, f"rail_{shell.page_ids[1]}"), Qt.MouseButton.LeftButton)
    assert (shell.page, shell.stack.count()) == (shell.page_ids[1], 2)
    shell.show_page(shell.page_ids[0])
    shell.show_page(shell.page_ids[1])
    assert shell.stack.count() == 2


def test_that_keys_switch_tabs(qtbot: QtBot, shell: Shell) -> None:
    press(qtbot, shell, Qt.Key.Key_2, Qt.KeyboardModifier.ControlModifier)
    assert shell.page == shell.page_ids[1]
    assert button(shell, f"rail_{shell.page}").isChecked()


def test_that_a_page_can_ask_for_another(shell: Shell) -> None:
    shell.session.page_requested.emit(shell.page_ids[1])
    shell.session.page_requested.emit("of_another_studio")
    assert shell.page == shell.page_ids[1]


def test_that_a_page_that_fails_leaves_the_others(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_name: str) -> None:
        raise RuntimeError("broken page")

    monkeypatch.setattr("ui.shell.pages.load", fail)
    shell.show_page(shell.page_ids[1])
    assert "broken page" in shell.strip.messages[-1].sentence()
    assert faults(shell) == []


def test_that_a_narrow_window_folds_the_rail(qtbot: QtBot, shell: Shell) -> None:
    shell.resize(FOLDS_UNDER - 1, 700)
    tab = button(shell, f"rail_{shell.page_ids[0]}")
    qtbot.waitUntil(lambda: shell.rail.is_folded)
    assert (tab.text(), tab.toolTip()) == ("", texts.t(f"feature.{shell.page_ids[0]}"))
    shell.resize(FOLDS_UNDER, 700)
    qtbot.waitUntil(lambda: not shell.rail.is_folded)
    assert (tab.text().strip(), tab.toolTip()) == (texts.t(f"feature.{shell.page_ids[0]}"), "")


def test_that_a_rail_folded_by_hand_stays_folded(shell: Shell) -> None:
    shell.fold_rail()
    shell.resize(1500, 900)
    assert shell.rail.is_folded
    assert shell.settings.rail_folded
    shell.fold_rail()
    assert not shell.rail.is_folded


@pytest.mark.parametrize(("cards", "said"), [((), "No NPU, running on CPU"), (("davinci0", "davinci1"), "NPUs: 2")])
def test_that_the_rail_says_what_trainings_run_on(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, cards: tuple[str, ...], said: str
) -> None:
    monkeypatch.setattr("ui.shell.rail.npu_names", lambda: cards)
    rail = Rail(("home",))
    qtbot.addWidget(rail)
    device = rail.findChild(QLabel, "rail_device")
    assert device is not None
    assert device.text() == said


# Language and theme


def test_that_a_click_switches_the_language_and_leaves_nothing_behind(qtbot: QtBot, shell: Shell) -> None:
    for page in shell.page_ids:
        shell.show_page(page)
    qtbot.mouseClick(button(shell, "rail_language"), Qt.MouseButton.LeftButton)
    assert texts.language() == "zh"
    assert "首页" in button(shell, "rail_home").text() or "home" not in shell.page_ids
    qtbot.mouseClick(button(shell, "rail_language"), Qt.MouseButton.LeftButton)
    settle()
    assert [fault for page in shell.page_ids for fault in left_in_chinese(shell.page_widget(page))] == []
    assert left_in_chinese(shell) == []


def test_that_a_click_switches_the_theme(qtbot: QtBot, shell: Shell) -> None:
    light = shell.grab().toImage().pixelColor(400, 600).lightness()
    qtbot.mouseClick(button(shell, "rail_theme"), Qt.MouseButton.LeftButton)
    assert theme.is_dark()
    assert shell.grab().toImage().pixelColor(400, 600).lightness() < light
    assert shell.settings.theme == "dark"


@pytest.mark.parametrize("language", texts.LANGUAGES)
@pytest.mark.parametrize("size", SIZES)
def test_that_nothing_is_cut_off_or_an_id_on_any_page(
    shell: Shell, project: Path, language: texts.Language, size: tuple[int, int]
) -> None:
    shell.open_project(project)
    shell.use_language(language)
    shell.resize(*size)
    shell.session.trouble.emit(KeyError("x"))
    found = []
    for page in shell.page_ids:
        shell.show_page(page)
        settle()
        found += faults(shell)
    assert found == []


@pytest.mark.parametrize("language", texts.LANGUAGES)
def test_that_the_frame_of_a_small_window_is_whole(shell: Shell, project: Path, language: texts.Language) -> None:
    shell.open_project(project)
    shell.use_language(language)
    shell.resize(shell.minimumSize())
    settle()
    assert [fault for part in (shell.rail, shell.top_bar, shell.strip) for fault in faults(part)] == []


# Projects


def test_that_a_project_is_shown_restricted_until_it_is_trusted(qtbot: QtBot, shell: Shell, project: Path) -> None:
    shell.open_project(project)
    chip = shell.top_bar.trust_button
    assert (shell.top_bar.project_button.text().strip(), chip.text()) == ("my project", "Restricted")
    qtbot.mouseClick(chip, Qt.MouseButton.LeftButton)
    qtbot.mouseClick(_popup_button("trust_sheet_answer"), Qt.MouseButton.LeftButton)
    assert (trust.is_trusted(project), chip.text()) == (True, "Trusted")
    qtbot.mouseClick(chip, Qt.MouseButton.LeftButton)
    qtbot.mouseClick(_popup_button("trust_sheet_answer"), Qt.MouseButton.LeftButton)
    assert (trust.is_trusted(project), chip.text()) == (False, "Restricted")


def _popup_button(name: str) -> QPushButton:
    popup = QApplication.activePopupWidget()
    assert popup is not None
    assert faults(popup) == []
    found = popup.findChild(QPushButton, name)
    assert found is not None
    return found


def test_that_a_chosen_folder_becomes_the_project(qtbot: QtBot, shell: Shell, project: Path) -> None:
    press(qtbot, shell, Qt.Key.Key_O, Qt.KeyboardModifier.ControlModifier)
    dialog = shell.findChild(QFileDialog, "file_dialog")
    assert dialog is not None
    assert dialog.isVisible()
    dialog.selectFile(str(project))
    dialog.accept()
    assert shell.session.project is not None
    assert shell.session.project.folder == project


def test_that_a_project_can_be_left(shell: Shell, project: Path) -> None:
    shell.open_project(project)
    assert shell.windowTitle().startswith("my project")
    shell.open_project(None)
    assert shell.top_bar.trust_button.isHidden()
    assert shell.windowTitle() == texts.t("app.name")


def test_that_a_project_that_is_gone_is_told_and_forgotten(shell: Shell, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    shell.settings.recent = [str(gone)]
    shell.open_project(gone)
    assert "no longer exists" in shell.strip.messages[-1].sentence()
    assert (shell.settings.recent, shell.session.project) == ([], None)


def test_that_the_menu_of_projects_offers_the_recent_ones(shell: Shell, project: Path) -> None:
    shell.open_project(project)
    shell.open_project(None)
    menu = project_menu(shell, shell.settings.recent, lambda folder: shell.open_project(project.__class__(folder)))
    menu.actions()[-1].trigger()
    assert shell.session.project is not None
    assert shell.session.project.folder == project


def test_that_a_name_of_any_kind_fits_the_bar(shell: Shell, tmp_path: Path) -> None:
    folder = tmp_path / ("😀 中文\n&name " * 12).strip()
    folder.mkdir()
    shell.open_project(folder)
    settle()
    bar = shell.top_bar
    assert [fault for one in bar.findChildren(QWidget) for fault in faults(one)] == []
    assert bar.search.geometry().right() < bar.menu_button.geometry().left() < shell.width()


# Drops


def test_that_a_dropped_project_becomes_the_project(shell: Shell, project: Path, qtbot: QtBot) -> None:
    drop(shell, project)
    qtbot.waitUntil(lambda: shell.session.project is not None)
    assert shell.session.project is not None
    assert shell.session.project.folder == project
    assert not trust.is_trusted(project)


def test_that_a_dropped_run_opens_its_curves(shell: Shell, run: Run, qtbot: QtBot) -> None:
    drop(shell, run.folder)
    qtbot.waitUntil(lambda: shell.session.run == run)
    assert shell.page == "curves" or "curves" not in shell.page_ids


def test_that_other_things_dropped_are_told(shell: Shell, tmp_path: Path, qtbot: QtBot) -> None:
    (tmp_path / "a.zip").touch()
    drop(shell, tmp_path / "a.zip")
    qtbot.waitUntil(lambda: bool(shell.strip.messages))
    assert "a.zip is not a run, a project, a dump or a profile" in shell.strip.messages[-1].sentence()


def test_that_a_damaged_run_is_told(shell: Shell, tmp_path: Path, qtbot: QtBot) -> None:
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / "run.json").write_text("{")
    drop(shell, tmp_path / "r")
    qtbot.waitUntil(lambda: bool(shell.strip.messages))
    assert "damaged" in shell.strip.messages[-1].sentence()


# Commands


def typed(qtbot: QtBot, shell: Shell, text: str) -> QLineEdit:
    press(qtbot, shell, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    assert shell.palette_frame is not None
    field = shell.palette_frame.findChild(QLineEdit, "palette_input")
    assert field is not None
    assert field.isVisible()
    qtbot.keyClicks(field, text)
    return field


@pytest.mark.parametrize("text", ["light dark", "深色"])
def test_that_what_is_typed_in_either_language_is_done(qtbot: QtBot, shell: Shell, text: str) -> None:
    field = typed(qtbot, shell, "")
    field.setText(text)
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert theme.is_dark()
    assert shell.palette_frame is not None
    assert shell.palette_frame.isHidden()


def test_that_escape_closes_the_palette_and_does_nothing(qtbot: QtBot, shell: Shell) -> None:
    field = typed(qtbot, shell, "dark")
    qtbot.keyClick(field, Qt.Key.Key_Escape)
    assert shell.palette_frame is not None
    assert shell.palette_frame.isHidden()
    assert not theme.is_dark()


def test_that_arrows_choose_and_wrap_around(qtbot: QtBot, shell: Shell) -> None:
    field = typed(qtbot, shell, "")
    qtbot.keyClick(field, Qt.Key.Key_Down)
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert shell.page == shell.page_ids[1]


def test_that_the_palette_says_when_nothing_fits(qtbot: QtBot, shell: Shell) -> None:
    field = typed(qtbot, shell, "qqqqqq")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert shell.palette_frame is not None
    assert shell.palette_frame.isHidden()


def test_that_a_recent_run_is_found(qtbot: QtBot, shell: Shell, run: Run) -> None:
    shell.session.refresh_runs()
    field = typed(qtbot, shell, run.name[-4:])
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert shell.session.run is not None
    assert shell.session.run.folder == run.folder


def test_that_an_action_of_another_page_is_done_there(qtbot: QtBot, shell: Shell) -> None:
    done: list[str] = []
    page = shell.page_widget(shell.page_ids[1])
    actions.register(page, "page.try", "app.name", lambda: done.append(shell.page), "Ctrl+Shift+F12")
    shell.show_page(shell.page_ids[0])
    press(qtbot, shell, Qt.Key.Key_F12, Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier)
    assert done == []
    field = typed(qtbot, shell, texts.t("app.name"))
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert done == [shell.page_ids[1]]


def test_that_the_keyboard_reaches_everything_in_reading_order(shell: Shell, project: Path) -> None:
    shell.open_project(project)
    names, at = [], shell.nextInFocusChain()
    while at is not shell:
        if at.isVisible() and at.focusPolicy() & Qt.FocusPolicy.TabFocus:
            names.append(at.objectName())
        at = at.nextInFocusChain()
    bar = ["rail_language", "rail_theme", "top_bar_project", "top_bar_trust", "top_bar_search", "top_bar_menu"]
    expected = [f"rail_{page}" for page in shell.page_ids] + bar
    assert names[: len(expected)] == expected


def test_that_the_palette_opens_within_a_blink(shell: Shell) -> None:
    shell.open_palette()
    shell.open_palette()
    begun = time.thread_time()
    shell.open_palette()
    assert time.thread_time() - begun < 0.1


def test_that_menus_palette_and_shortcuts_come_from_one_registry(qtbot: QtBot, shell: Shell) -> None:
    names = [action.objectName() for action in actions.registered(shell)]
    assert len(names) == len(set(names))
    menu = main_menu(shell)
    assert {"project.open", "window.quit", "window.theme"} <= {action.objectName() for action in menu.actions()}
    sheet = shortcuts_list(shell)
    sheet.show_below(shell.top_bar.menu_button)
    settle()
    assert faults(sheet) == []
    assert {"Ctrl+K", "Ctrl+Q"} <= {label.text() for label in sheet.findChildren(QLabel)}
    sheet.close()


def test_that_a_sheet_ends_where_its_button_does_when_there_is_no_room_to_the_right(shell: Shell) -> None:
    anchor = shell.top_bar.search
    sheet = Popover(shell, "sheet", 400)
    sheet.show_below(anchor)
    frame = 4  # of the offscreen platform
    assert abs(sheet.geometry().right() - anchor.mapToGlobal(anchor.rect().topRight()).x()) <= frame
    sheet.close()


def test_that_no_two_actions_of_what_is_shown_have_the_same_shortcut(shell: Shell) -> None:
    for page in shell.page_ids:
        shell.show_page(page)
        settle()
        shown = [action for action in actions.registered(shell) if _owner(action).isVisible()]
        keys = [actions.shortcut_text(action) for action in shown if not action.shortcut().isEmpty()]
        assert len(keys) > 5
        assert len(keys) == len(set(keys)), page


def _owner(action: QAction) -> QWidget:
    owner = action.parent()
    assert isinstance(owner, QWidget)
    return owner


# What it remembers


def test_that_size_project_and_language_are_remembered(qtbot: QtBot, session: Session, project: Path) -> None:
    first = Shell(session, Settings())
    qtbot.addWidget(first)
    first.show_first()
    first.resize(1234, 789)
    first.use_language("zh")
    first.open_project(project)
    first.close()
    kept = settings.load()
    assert (kept.project, kept.language) == (str(project), "zh")
    assert (kept.width, kept.height) == (first.width(), first.height())


def test_that_the_last_project_is_open_again(qtbot: QtBot, session: Session, project: Path) -> None:
    shell = Shell(session, Settings(project=str(project)))
    qtbot.addWidget(shell)
    shell.show_first()
    qtbot.waitUntil(lambda: session.project is not None)
    assert shell.top_bar.project_button.text().strip() == project.name


def test_that_a_window_fits_its_screen(qtbot: QtBot, session: Session) -> None:
    shell = Shell(session, Settings(width=20_000, height=20_000))
    qtbot.addWidget(shell)
    room = shell.screen().availableSize()
    assert shell.width() <= max(room.width(), shell.minimumWidth())
    assert shell.height() <= max(room.height(), shell.minimumHeight())


def test_that_settings_that_cannot_be_kept_are_told(shell: Shell, homes: Path) -> None:
    (homes / "config").mkdir(parents=True, exist_ok=True)
    (homes / "config" / "ascend-studio").write_text("a file where the folder should be")
    shell.save_settings()
    assert len(shell.strip.messages) == 1
