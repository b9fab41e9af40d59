"""Launch specs of tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from backends.launch.spec import LaunchSpec
from studio import schema


def launch_spec(**values: Any) -> LaunchSpec:
    spec = LaunchSpec()
    for name, value in values.items():
        spec = schema.with_value(spec, name, value)
    return spec


def rules(spec: LaunchSpec) -> list[tuple[str, str]]:
    return [(problem.field, problem.rule) for problem in schema.problems(spec)]


AWKWARD_PATH = Path('/tmp/用户 it\'s $HOME/"quoted"\nsecond line/🚀')

MANY = {
    "recipe": "linear", "mode": "jit", "amp": "O2", "device": "cpu", "batch": 8, "accumulate": 4,
    "jit_level": "O1", "amp_dtype": "fp16", "loss_scale": "static", "scale": 512.0, "clip": 0.5, "on_nan": "go_on",
    "weight_decay": 0.001, "schedule": "step", "decay_every": 4, "decay_rate": 0.5, "warmup": 2,
    "optimizer": "momentum", "lr": 1e-05, "steps": 12, "seed": 7, "grace": 0.0,
    "checkpoint_every": 5, "checkpoint_minutes": 0.5, "keep": 1, "best": "loss", "resume": AWKWARD_PATH,
    "env": (("GLOG_v", "1"), ("ODD", "a b'\"$`\\\n=x"), ("-DASH", "-1")),
}  # fmt: skip

SPECS = [
    LaunchSpec(),
    launch_spec(**MANY),
    launch_spec(recipe="text", corpus=AWKWARD_PATH),
    launch_spec(python=AWKWARD_PATH / "python", epochs=0.5),
]
