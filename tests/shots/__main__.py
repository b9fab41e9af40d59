"""`python -m tests.shots OUT [part of a name …]`: a picture of every page in every state."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtGui import QPainter

from tests.shots.stage import Stage, build

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PySide6.QtGui import QPixmap
    from PySide6.QtWidgets import QWidget

    from tests.shots.states import State
    from ui.shell.window import Shell

SIZES = ((1280, 800), (1920, 1080))
PAUSE, PATIENCE = 0.4, 5.0


def _arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests.shots", description="A picture of every page in every state.")
    parser.add_argument("out", type=Path, help="the folder of the pictures; it is made where it is missing")
    parser.add_argument("parts", nargs="*", help="parts of the names of states; all states without any")
    return parser.parse_args(words)


def main() -> int:
    arguments = _arguments(sys.argv[1:])
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    states = _chosen(arguments.parts)
    if not states:
        print(f"No state's name has any of: {', '.join(arguments.parts)}.", file=sys.stderr)
        return 2
    out: Path = arguments.out.absolute()
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as home:
        os.environ |= {f"XDG_{name}_HOME": f"{home}/{name.lower()}" for name in ("CONFIG", "STATE", "CACHE")}
        stage = Stage(folder=Path(home) / "work", whole=any(state.needs_whole for state in states))
        print("… training what the pictures show", file=sys.stderr, flush=True)
        build(stage)
        found = _shoot(stage, out, states)
    for fault in found:
        print(fault)
    print(f"{len(list(out.glob('*.png')))} pictures in {out}, {len(found)} faults")
    return 1 if found else 0


def _chosen(parts: list[str]) -> list[State]:
    from tests.shots.states import STATES

    return [state for state in STATES if not parts or any(part in state.name for part in parts)]


def _shoot(stage: Stage, out: Path, states: list[State]) -> list[str]:
    from tests.bench.stage import window

    shell = window()
    found: list[str] = []
    for state in states:
        print(f"… {state.name}", file=sys.stderr, flush=True)
        found += _each_look(shell, stage, state, out)
    shell.close()
    return found


def _each_look(shell: Shell, stage: Stage, state: State, out: Path) -> list[str]:
    from PySide6.QtWidgets import QApplication

    from tests.bench.stage import wait
    from tests.ui.looks import faults

    found = []
    for language in ("en", "zh"):
        for theme in ("light", "dark"):
            for width, height in SIZES:
                shell.resize(width, height)
                shell.use_language(language)
                shell.use_theme(theme)
                state.show(shell, stage)
                end = time.monotonic() + PAUSE
                wait(lambda end=end: time.monotonic() > end, PAUSE + 5)
                with suppress(TimeoutError):  # a loaded machine may still be laying out
                    wait(lambda: not any(waiting(shell)), PATIENCE)
                    wait(lambda: not faults(shell), PATIENCE)
                name = f"{state.name}-{theme}-{language}-{width}x{height}"
                sheet = QApplication.activePopupWidget()
                _picture(shell, sheet).save(str(out / f"{name}.png"))
                found += [f"{name}: {fault}" for one in filter(None, (shell, sheet)) for fault in faults(one)]
                if sheet is not None:
                    sheet.close()
    return found


def waiting(window: QWidget) -> Iterator[QWidget]:
    """The widgets that Qt has yet to show: a layout that takes one in does so in an event of its own."""
    from PySide6.QtCore import Qt
    from PySide6.QtWidgets import QWidget

    for widget in window.findChildren(QWidget):
        is_to_come = widget.isHidden() and not widget.testAttribute(Qt.WidgetAttribute.WA_WState_ExplicitShowHide)
        parent = widget.parentWidget()
        if is_to_come and not widget.isWindow() and parent is not None and parent.isVisible():
            yield widget


def _picture(shell: Shell, sheet: QWidget | None) -> QPixmap:
    """The window, and the sheet that lies on it."""
    picture = shell.grab()
    if sheet is not None:
        with QPainter(picture) as painter:
            painter.drawPixmap(sheet.pos() - shell.pos(), sheet.grab())
    return picture


if __name__ == "__main__":
    sys.exit(main())
