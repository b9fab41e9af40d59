"""What the command palette offers: the registered actions, and the runs of late."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from studio.texts import LANGUAGES, find, t
from ui import actions
from ui.curves.names import page_of
from ui.main_menu import section_of
from ui.palette_list import Entry

if TYPE_CHECKING:
    from PySide6.QtGui import QAction

    from studio.run import Glance, Run
    from ui.shell import Shell

RUNS = 30


def entries(shell: Shell) -> list[Entry]:
    """Tabs first, then what the pages can do, then the rest and the runs."""
    order = ("tab", "page", "project", "window")
    known = [action for action in actions.registered(shell) if action.isEnabled()]
    known.sort(key=lambda action: order.index(section_of(action)))
    shown = [_action(shell, action) for action in known if action.objectName() != "window.palette"]
    return shown + [_run(shell, run, glance) for run, glance in shell.session.listed[:RUNS]]


def _action(shell: Shell, action: QAction) -> Entry:
    key = actions.key_of(action)
    names = tuple(find(key, language) or "" for language in LANGUAGES)
    return Entry(
        title=action.text(), names=names, do=lambda: shell.trigger(action), icon=actions.icon_of(action),
        detail=actions.shortcut_text(action),
    )  # fmt: skip


def _run(shell: Shell, run: Run, glance: Glance) -> Entry:
    return Entry(
        title=_title(run), names=(run.name, _title(run)), do=lambda: _show(shell, run), icon="curves",
        detail=f"{_state(glance)} · {_when(run)}",
    )  # fmt: skip


def _title(run: Run) -> str:
    """'Run · digits': what was trained, where the spec says it."""
    cards = run.asked.values.values()
    recipe = next((card["recipe"] for card in cards if isinstance(card, dict) and "recipe" in card), run.asked.command)
    return " · ".join((t("palette.run"), recipe))


def _state(glance: Glance) -> str:
    if glance.state != "ended":
        return t(f"state.{glance.state}")
    return t("state.done") if glance.code == 0 else t("state.failed")


def _when(run: Run) -> str:
    return time.strftime("%m-%d %H:%M", time.localtime(run.asked.time / 1e9))


def _show(shell: Shell, run: Run) -> None:
    shell.show_page(page_of(run))
    if page_of(run) == "curves":
        shell.session.choose_run(run)
