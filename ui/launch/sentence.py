"""The sentence at the top of the Launch page: what all choices together come to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from backends.launch.recipes import readers, resolved, workers
from studio.texts import t
from studio.units import number

if TYPE_CHECKING:
    from backends.launch.spec import LaunchSpec

ABOUT = {
    "linear": "launch.about_linear",
    "digits": "launch.about_digits",
    "text": "launch.about_text",
    "dense": "launch.about_dense",
    "resnet50": "launch.about_resnet50",
    "own": "launch.about_own",
}


def sentence(spec: LaunchSpec) -> str:
    chosen = resolved(spec)
    args = {
        "about": _about(spec), "total": chosen.global_batch, "batch": chosen.batch,
        "accumulate": spec.how.accumulate, "steps": chosen.steps,
        "processes": _readers(spec),
    }  # fmt: skip
    if chosen.epochs is None:
        return t("launch.sentence_open", **args)
    return t("launch.sentence", **args, epochs=number(chosen.epochs, 3))


def _readers(spec: LaunchSpec) -> str:
    """Processes that read samples of their own: the stages of a pipeline share theirs, and so do devices that each
    read the whole batch."""
    count = readers(spec)
    if count == 1:
        return t("launch.one_process" if workers(spec) == 1 else "launch.one_reader")
    return t("launch.processes" if count == workers(spec) else "launch.readers", count=count)


def _about(spec: LaunchSpec) -> str:
    """Random pictures teach nothing, which is said before anything else."""
    if spec.what.recipe == "resnet50" and spec.what.images == Path():
        return t("launch.about_random")
    return t(ABOUT[spec.what.recipe])
