"""The command of a rehearsal: that of the program, with other hooks."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from backends.launch.own.plan import plan as plan_own
from backends.launch.plan import HOOKS
from backends.launch.rehearse.spec import own_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backends.launch.rehearse.spec import RehearseSpec
    from studio.command import Command
    from studio.run import Run

# As the guest reads them: studio/guest/ascend_studio/rehearsal.
STEPS = "ASCEND_STUDIO_REHEARSAL_STEPS"
DEVICES = "ASCEND_STUDIO_REHEARSAL_DEVICES"
SEED = "ASCEND_STUDIO_REHEARSAL_SEED"


def plan(spec: RehearseSpec, run: Run, environ: Mapping[str, str] = os.environ) -> Command:
    asked = spec.rehearsal
    command = plan_own(own_of(spec), run, environ)
    env = {**command.env, HOOKS: f"curves,rehearse={asked.stance}", DEVICES: str(asked.host_cards)}
    if asked.steps is not None:
        env[STEPS] = str(asked.steps)
    if asked.seed is not None:
        env = {"PYTHONHASHSEED": "0", **env, SEED: str(asked.seed)}  # by which a set of names has its order
    return replace(command, env=env)
