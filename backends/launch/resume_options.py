"""Going on from another run: which of its options are the same here, and which are taken over."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from backends.launch.checkpoints import step_of
from backends.launch.recipes import resolved
from backends.launch.spec import LaunchSpec
from studio import run as runs
from studio import schema
from studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from studio.run import Run

DECIDING = ("what", "how", "precision", "learning", "data", "parallel")
"""Cards whose options decide what a step computes."""
FREE = ("weights", "initial_weights", "launcher", "nodes", "master", "port", "data_workers", "prefetch")
"""Fields of those sections that decide nothing of it; initial weights do not count where a run is resumed."""
RESOLVED = ("batch", "optimizer", "lr", "weight_decay", "loss_scale")
"""What a recipe brings along is the same whether it was written down or left empty."""


def options_of(folder: Path) -> LaunchSpec | None:
    """What a training was asked to be; None where the folder is no run of a training."""
    try:
        run = runs.open_run(folder)
    except StudioError:
        return None
    return schema.from_json(LaunchSpec, run.request.values)[0] if run.request.command == "launch" else None


def differing(spec: LaunchSpec, then: LaunchSpec) -> tuple[str, ...]:
    """Names of the options that decide and differ. More steps than then are no difference, unless the learning rate
    is spread over them."""
    alike = [name for name in RESOLVED if getattr(resolved(spec), name) == getattr(resolved(then), name)]
    is_same_recipe = spec.what.recipe == then.what.recipe
    return tuple(name for name in _unlike(spec, then) if not (is_same_recipe and name in alike))


def _unlike(spec: LaunchSpec, then: LaunchSpec) -> tuple[str, ...]:
    spec, then = schema.effective(spec), schema.effective(then)
    return tuple(
        field.name for field in schema.fields(LaunchSpec)
        if field.section in DECIDING and field.name not in FREE
        and not (field.name in ("steps", "epochs") and spec.learning.schedule != "cosine")
        and schema.value_of(spec, field.name) != schema.value_of(then, field.name)
    )  # fmt: skip


def with_options_of(spec: LaunchSpec, then: LaunchSpec) -> LaunchSpec:
    """The same with the deciding options of an earlier run, and without weights to start from."""
    for name in _unlike(spec, then):
        spec = schema.with_value(spec, name, schema.value_of(then, name))
    return schema.with_value(spec, "weights", Path())


def with_checkpoint(listed: Iterable[Run]) -> Iterator[tuple[Run, int]]:
    """The trainings that can be gone on from, each with the step of its last checkpoint; a file is read for each that
    is asked for, and no more."""
    for run in listed:
        if run.request.command == "launch" and (step := step_of(run.folder)) is not None:
            yield run, step
