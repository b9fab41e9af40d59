"""`ascend-studio`: without a command the window, with one the same work from a shell."""

from __future__ import annotations

import sys


def main() -> int:
    words = sys.argv[1:]
    if words[:1] == ["work"] and len(words) == 2:
        from pathlib import Path

        from backends import features
        from studio.worker import work

        return work(Path(words[1]), features())
    if not words or words[0] == "window":
        from ui.app import run_window

        return run_window(words[1:])
    from backends import features
    from studio.command_line import run_command

    return run_command(words, features())


if __name__ == "__main__":
    sys.exit(main())
