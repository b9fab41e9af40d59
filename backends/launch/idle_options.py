"""Options of a training that would do nothing beside the others: refused where somebody asks for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.common import npu_devices
from backends.launch import recipes, virtual_npu
from backends.launch.capture.spec import planned_idle
from studio import schema
from studio.schema import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backends.launch.spec import LaunchSpec
    from studio.schema import Field


def _several_checkpoints_are_written(spec: LaunchSpec) -> Iterable[Problem]:
    """Without an interval only the end leaves a checkpoint, so there is nothing to keep a number of."""
    keep = spec.keep
    if keep.checkpoint_every is None and keep.checkpoint_minutes is None and keep.best == "none":
        yield Problem(field="keep", rule="launch.rule.one_checkpoint")


def _ascend_options_have_a_card(spec: LaunchSpec) -> Iterable[Problem]:
    """Only what MindSpore itself reads acts on a CPU: with MS_DEV_LAUNCH_BLOCKING, PyNative waits for each operator
    there, too; a graph is waited for anyway, and torch does not wait for a CPU."""
    on_cpu = virtual_npu.has_no_card(spec)
    if not on_cpu and (spec.how.device != "auto" or not spec.RUNS_HERE or npu_devices.npu_names()):
        return
    for field in ascend_fields(spec):
        if field.name != "launch_blocking" or spec.how.mode == "graph" or spec.what.framework == "torch":
            yield Problem(field=field.name, rule="launch.rule.no_card" if on_cpu else "launch.rule.no_card_here")


def ascend_fields(spec: LaunchSpec) -> tuple[Field, ...]:
    return tuple(field for field in schema.fields(type(spec)) if field.section == "ascend")


def idle_ascend_options(spec: LaunchSpec) -> tuple[str, ...]:
    """Return the flags of the options for NPUs that a training here is given and does nothing with."""
    idle = {problem.field for problem in _ascend_options_have_a_card(schema.effective(spec))}
    changed = (field for field in ascend_fields(spec) if schema.value_of(spec, field.name) != field.default)
    return tuple(field.flag for field in changed if field.name in idle)


def _checkpoints_come_before_the_end(spec: LaunchSpec) -> Iterable[Problem]:
    steps, every = recipes.resolved(spec).steps, spec.keep.checkpoint_every
    if every is not None and every > steps:
        yield Problem(field="checkpoint_every", rule="launch.rule.after_the_end", args={"steps": steps})


def _rate_falls_before_the_end(spec: LaunchSpec) -> Iterable[Problem]:
    """The first fall comes `decay_every` steps after the warm-up."""
    learning, steps = spec.learning, recipes.resolved(spec).steps
    if learning.schedule == "step" and learning.warmup + learning.decay_every >= steps:
        for name in ("decay_every", "decay_rate"):
            yield Problem(field=name, rule="launch.rule.after_the_end", args={"steps": steps})


def _dump_is_mindspores(spec: LaunchSpec) -> Iterable[Problem]:
    """MindSpore's dumps have every cast, and of its optimizers the record has no state."""
    yield from planned_idle(spec.planned)
    if spec.what.framework == "torch":
        return
    for name in ("capture_casts", "capture_optimizer_state"):
        if spec.planned.capture == "dump" and schema.value_of(spec, name):
            yield Problem(field=name, rule="capture.rule.torch_only")


RULES = (
    _several_checkpoints_are_written, _ascend_options_have_a_card, _checkpoints_come_before_the_end,
    _rate_falls_before_the_end, _dump_is_mindspores,
)  # fmt: skip
