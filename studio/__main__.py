"""`ascend-studio`: without a command the window, with one the same work from a shell."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

if not __package__:  # run by its path: this checkout's code comes before that of another one in the same environment
    sys.path.insert(0, __file__.rpartition("/studio/")[0])


def main() -> int:
    words = sys.argv[1:]
    if words[:1] == ["work"] and len(words) > 1:
        return _work(words[1], words[2:])
    if not words:
        return _window(None)
    from backends import features
    from studio.command_line import command_in, run_command
    from studio.output.terminal import print_exception

    sys.excepthook = print_exception
    return run_command(words, features(command_in(words)), _window)


def _work(folder: str, arguments: list[str]) -> int:
    from pathlib import Path

    from backends import features
    from studio.worker import CONTINUE, work

    return work(Path(folder), features(), may_start=CONTINUE not in arguments)


def _window(opened: Path | None, language: str = "") -> int:
    from ui.app import run_window

    return run_window([str(opened)] if opened else [], language)


if __name__ == "__main__":
    sys.exit(main())
