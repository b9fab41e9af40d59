"""Which earlier run to hold beside a finished one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.curves.asked import mode_of, recipe_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from studio.run import Glance, Run


def in_other_mode(run: Run, listed: Iterable[tuple[Run, Glance]]) -> Run | None:
    """The last finished run of the same recipe in the other mode, or None. `listed`: newest first. Two modes are held
    beside each other: PyNative and the compiled ones."""
    recipe, mode = recipe_of(run), mode_of(run)
    for other, glance in listed:
        is_finished = glance.state == "ended" and glance.code == 0
        differs = mode_of(other) != "" and (mode_of(other) == "pynative") != (mode == "pynative")
        if other.asked.command == "launch" and recipe and is_finished and recipe_of(other) == recipe and differs:
            return other
    return None
