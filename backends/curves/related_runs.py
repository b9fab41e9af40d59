"""Runs that are shown with another: those it was resumed from, and the last one in the other mode."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from backends.common.run_values import EAGER, mode_of, recipe_of, text_value
from studio import run as runs
from studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from studio.run import Glance, Run

MAX_RUNS = 20


def resumed_runs(run: Run) -> list[Run]:
    """The run that this one was resumed from, the one before that, and so on, as far as their folders are there.
    Paths from run.json are data: a loop ends."""
    chain: list[Run] = []
    visited = {run.folder}
    while len(chain) < MAX_RUNS:
        folder = Path(text_value(run, "keep", "resume") or run.folder)
        if folder in visited or not folder.is_absolute():
            break
        visited.add(folder)
        try:
            run = runs.open_run(folder)
        except StudioError:
            break
        chain.append(run)
    return chain


# What else a step's time depends on, by card, and its value in a run from before there was that choice.
EQUAL_FIELDS = (
    ("what", "framework", "mindspore"),
    ("what", "recipe_file", None), ("how", "batch", None), ("how", "accumulate", 1), ("precision", "amp", "O0"),
    ("parallel", "parallel", "none"),
)  # fmt: skip


def run_in_other_mode(run: Run, listed: Iterable[tuple[Run, Glance]]) -> Run | None:
    """The last finished run of the same recipe in the other mode, or None. `listed`: newest first. Two modes are held
    beside each other, PyNative and the compiled ones, and only with the same batch, precision and processes."""
    recipe, mode = recipe_of(run), mode_of(run)
    for other, glance in listed:
        is_finished = glance.state == "ended" and glance.code == 0
        differs = mode_of(other) != "" and (mode_of(other) in EAGER) != (mode in EAGER)
        is_training = other.request.command == "launch" and recipe and recipe_of(other) == recipe
        if is_training and is_finished and differs and _work(other) == _work(run):
            return other
    return None


def _work(run: Run) -> tuple[object, ...]:
    """What a step has to do, as far as it was chosen."""
    work = [_chosen(run, card, field, default) for card, field, default in EQUAL_FIELDS]
    processes = 1 if work[-1] == "none" else _chosen(run, "parallel", "workers", 2)
    return (*work, processes)


def _chosen(run: Run, card: str, field: str, default: object) -> object:
    values = run.request.values.get(card)
    return values.get(field, default) if isinstance(values, dict) else default
