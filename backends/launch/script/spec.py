"""What a script is asked to be: a launch, and where the file goes."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from backends.launch import virtual_npu
from backends.launch.spec import LaunchSpec
from studio.schema import Problem, option

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, kw_only=True)
class Output:
    """`out` empty: train.py in the run's own artifacts."""

    out: Path = option(Path())


def _folder_exists(spec: ScriptSpec) -> Iterable[Problem]:
    out = spec.output.out
    if out != Path() and not out.parent.is_dir():
        yield Problem(field="out", rule="launch.rule.no_folder", args={"path": str(out.parent)})


def _goes_on_from_nothing(spec: ScriptSpec) -> Iterable[Problem]:
    if spec.keep.resume != Path():
        yield Problem(field="resume", rule="launch.rule.script_resume")


def _waits_for_nobody(spec: ScriptSpec) -> Iterable[Problem]:
    if spec.debug.debug_port is not None:
        yield Problem(field="debug_port", rule="launch.rule.script_debug")


def _has_a_device(spec: ScriptSpec) -> Iterable[Problem]:
    """The virtual NPU comes with the studio, and a script does without it."""
    if virtual_npu.is_chosen(spec):
        yield Problem(field="device", rule="launch.rule.script_virtual_npu")


@dataclass(frozen=True, kw_only=True)
class ScriptSpec(LaunchSpec):
    """A script is run by hand: by any interpreter, by msrun on one host, and without the studio's captures."""

    output: Output = field(default_factory=Output)

    UNUSED = ("planned", "grace", "python", "launcher", "master")
    RUNS_HERE = False
    RULES = (  # type: ignore[assignment]
        *LaunchSpec.RULES, _folder_exists, _goes_on_from_nothing, _waits_for_nobody, _has_a_device,
    )  # fmt: skip
