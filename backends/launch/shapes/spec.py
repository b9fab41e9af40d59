"""What shapes are asked of: a launch, of which only the network and its precision matter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backends.launch.spec import LaunchSpec
from studio.schema import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable


def _is_mindspores(spec: LaunchSpec) -> Iterable[Problem]:
    if spec.what.framework != "mindspore":
        yield Problem(field="framework", rule="launch.rule.shapes_of_mindspore")


@dataclass(frozen=True, kw_only=True)
class ShapesSpec(LaunchSpec):
    """One step in PyNative, in one process, and no training: what decides how a training goes on changes no shape."""

    UNUSED = (
        "weights", "initial_weights", "fused", "compile", "loop", "mode", "jit_level", "accumulate", "sink",
        "recompute", "loss_scale", "scale", "clip", "on_nan", "optimizer", "lr", "weight_decay", "schedule",
        "decay_every", "decay_rate", "warmup", "steps", "epochs", "data", "keep", "parallel", "debug",
        "planned", "connect_timeout", "exec_timeout", "buffsize", "deterministic",
    )  # fmt: skip
    RULES = (*LaunchSpec.RULES, _is_mindspores)  # type: ignore[assignment]
