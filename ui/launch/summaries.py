"""What a folded card of the launch form says, where a list of what differs from the defaults says too little."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from backends.launch.recipes import workers
from studio import schema
from studio.texts import t
from ui import form_texts

if TYPE_CHECKING:
    from backends.launch.spec import LaunchSpec


def summaries(spec: LaunchSpec) -> dict[str, str]:
    return {"keep": _keep(spec), "parallel": _parallel(spec), "advanced": _advanced(spec)}


def _joined(parts: list[str]) -> str:
    return t("form.between").join(filter(None, parts))


def _keep(spec: LaunchSpec) -> str:
    """'every 100 steps · keeps 3 · goes on from 20261121-031437'; checkpoints at Stop and at the end go without
    saying."""
    keep, parts = spec.keep, []
    if keep.checkpoint_every is not None:
        parts.append(t("launch.set.every_steps", steps=keep.checkpoint_every))
    if keep.checkpoint_minutes is not None:
        parts.append(t("launch.set.every_minutes", minutes=f"{keep.checkpoint_minutes:g}"))
    if parts or keep.keep != 3:
        parts.append(t("launch.set.keeps", count=keep.keep))
    if keep.best != "none":
        parts.append(t("launch.set.best", metric=t(f"launch.choice.best.{keep.best}")))
    if keep.resume != Path():
        parts.append(t("launch.set.resumes", run=keep.resume.name))
    return _joined(parts)


def _parallel(spec: LaunchSpec) -> str:
    """'Data parallel · 4 processes · msrun', then what else differs."""
    parallel = spec.parallel
    if parallel.parallel == "none":
        return ""
    said = {"parallel", "workers", "launcher"}
    fields = [one for one in schema.fields(type(spec)) if one.card == "parallel" and one.name not in said]
    others = [
        form_texts.value_text(one, schema.value_of(spec, one.name), "launch")
        for one in fields if schema.is_shown(spec, one) and schema.value_of(spec, one.name) != one.default
    ]  # fmt: skip
    mode, launcher = (t(f"launch.choice.{name}.{getattr(parallel, name)}") for name in ("parallel", "launcher"))
    return _joined([mode, t("launch.processes", count=workers(spec)), launcher, *others])


def _advanced(spec: LaunchSpec) -> str:
    """The time that Stop leaves decides whether the last steps are kept, so it is always said."""
    rest = form_texts.summary(schema.with_value(spec, "grace", 60.0), "advanced", "launch")
    return _joined([t("launch.set.grace", seconds=f"{spec.advanced.grace:g}"), rest])
