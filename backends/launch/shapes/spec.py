"""What shapes are asked of: a launch, of which only the network and its precision matter."""

from __future__ import annotations

from dataclasses import dataclass

from backends.launch.spec import LaunchSpec


@dataclass(frozen=True, kw_only=True)
class ShapesSpec(LaunchSpec):
    """One step in PyNative, or eager, in one process, and no training: what decides how a training goes on changes no
    shape."""

    UNUSED = (
        "weights", "initial_weights", "fused", "compile", "loop", "mode", "jit_level", "accumulate", "sink",
        "recompute", "loss_scale", "scale", "clip", "on_nan", "optimizer", "lr", "weight_decay", "schedule",
        "decay_every", "decay_rate", "warmup", "steps", "epochs", "data", "keep", "parallel", "debug",
        "planned", "connect_timeout", "exec_timeout", "buffsize", "deterministic",
    )  # fmt: skip
