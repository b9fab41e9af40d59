"""From what was asked to the command that does it: pure."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from backends.launch import ascend_env, launchers, virtual_npu
from backends.launch.engine_options import FILE, write_options
from backends.launch.launchers import ENGINE, python_of
from studio import schema
from studio.command import Command

if TYPE_CHECKING:
    from backends.launch.capture.spec import Planned
    from backends.launch.spec import LaunchSpec
    from studio.run import Run

HOOKS = "ASCEND_STUDIO_HOOKS"
CONFIG_PACK = "config_pack"


def code_of(spec: LaunchSpec, folder: Path) -> tuple[Path, ...]:
    """What a start would run of a folder: an interpreter is code, its .pth files too, and so is an own recipe."""
    spec = schema.effective(spec)
    code_files = (spec.advanced.python, spec.what.recipe_file)
    return tuple(path for path in code_files if path != Path() and is_inside(path, folder))


def is_inside(path: Path, folder: Path) -> bool:
    """Whether a path lies in a folder, by its own name or by where its links lead."""
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - the link itself, without its ".."
    return any(
        candidate.is_relative_to(inside)
        for candidate in (absolute, path.resolve())
        for inside in (folder, folder.resolve())
    )


def launch_command(spec: LaunchSpec, run: Run) -> Command:
    """The training's command. It sees the engine on its path, never the studio's own folders."""
    argv = launchers.command(spec, python_of(spec), FILE)
    hooks = ("captures", virtual_npu.HOOK) if virtual_npu.is_chosen(spec) else ("captures",)
    env = {HOOKS: hooks_of(spec.planned, *hooks)} | virtual_npu.environment(spec) | ascend_env.environment(spec)
    folders = (str(ENGINE), env.get("PYTHONPATH", ""))
    return Command(argv=argv, cwd=run.folder, env=env | {"PYTHONPATH": os.pathsep.join(filter(None, folders))})


def write_inputs(spec: LaunchSpec, folder: Path) -> None:
    """Write what the command reads in the run's folder. Raises OSError and StudioError."""
    write_options(spec, folder)
    launchers.write_rank_table(spec, folder)


def hooks_of(planned: Planned, *hooks: str) -> str:
    """What rides in the training, as `hooks.py` of the guest reads it."""
    return ",".join((*hooks, CONFIG_PACK) if planned.config_pack else hooks)
