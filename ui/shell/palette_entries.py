"""What the command palette offers: the registered actions, and the runs of late."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from studio.texts import LANGUAGES, find, t
from ui.services import actions
from ui.shell.main_menu import section_of
from ui.shell.palette_rows import Entry

if TYPE_CHECKING:
    from PySide6.QtGui import QAction

    from studio.run import Glance, Run
    from ui.shell.window import Shell

RUNS = 30


def entries(shell: Shell) -> list[Entry]:
    """Tabs first, then what the pages can do, then the rest and the runs."""
    order = ("tab", "page", "project", "window")
    enabled = [action for action in actions.registered(shell) if action.isEnabled()]
    enabled.sort(key=lambda action: order.index(section_of(action)))
    from_actions = [_action(shell, action) for action in enabled if action.objectName() != "window.palette"]
    return from_actions + [_run(shell, run, glance) for run, glance in shell.session.listed[:RUNS]]


def _action(shell: Shell, action: QAction) -> Entry:
    key = actions.key_of(action)
    names = tuple(find(key, language) or "" for language in LANGUAGES)
    return Entry(
        title=action.text(), names=names, do=lambda: shell.trigger(action), icon=actions.icon_of(action),
        detail=actions.shortcut_text(action),
    )  # fmt: skip


def _run(shell: Shell, run: Run, glance: Glance) -> Entry:
    return Entry(
        title=_title(run), names=(run.name, _title(run)), do=lambda: shell.session.open_run(run), icon="curves",
        detail=f"{_state(glance)} · {_when(run)}",
    )  # fmt: skip


def _title(run: Run) -> str:
    """'Run · digits': what was trained, where the spec says it."""
    cards = run.request.values.values()
    recipe = next(
        (card["recipe"] for card in cards if isinstance(card, dict) and "recipe" in card), run.request.command
    )
    return " · ".join((t("palette.run"), recipe))


def _state(glance: Glance) -> str:
    if glance.state != "ended":
        return t(f"state.{glance.state}")
    return t("state.done") if glance.code == 0 else t("state.failed")


def _when(run: Run) -> str:
    return time.strftime("%m-%d %H:%M", time.localtime(run.request.time / 1e9))
