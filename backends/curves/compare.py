"""Which earlier run to hold beside a finished one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.curves.asked import mode_of, recipe_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from studio.run import Glance, Run

# What else a step's time depends on, by card, and its value in a run from before there was that choice.
ALIKE = (
    ("what", "recipe_file", None), ("how", "batch", None), ("how", "accumulate", 1), ("precision", "amp", "O0"),
    ("parallel", "parallel", "none"),
)  # fmt: skip


def in_other_mode(run: Run, listed: Iterable[tuple[Run, Glance]]) -> Run | None:
    """The last finished run of the same recipe in the other mode, or None. `listed`: newest first. Two modes are held
    beside each other, PyNative and the compiled ones, and only with the same batch, precision and processes."""
    recipe, mode = recipe_of(run), mode_of(run)
    for other, glance in listed:
        is_finished = glance.state == "ended" and glance.code == 0
        differs = mode_of(other) != "" and (mode_of(other) == "pynative") != (mode == "pynative")
        is_training = other.asked.command == "launch" and recipe and recipe_of(other) == recipe
        if is_training and is_finished and differs and _work(other) == _work(run):
            return other
    return None


def _work(run: Run) -> tuple[object, ...]:
    """What a step has to do, as far as it was chosen."""
    found = [_chosen(run, card, field, default) for card, field, default in ALIKE]
    processes = 1 if found[-1] == "none" else _chosen(run, "parallel", "workers", 2)
    return (*found, processes)


def _chosen(run: Run, card: str, field: str, default: object) -> object:
    values = run.asked.values.get(card)
    return values.get(field, default) if isinstance(values, dict) else default
