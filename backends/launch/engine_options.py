"""The options that the engine trains with: those of a launch that concern it, resolved, as the JSON that it reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backends.launch.recipes import resolved, workers
from backends.launch.spec import LaunchSpec
from studio import files, paths, schema

if TYPE_CHECKING:
    from studio.schema import Field

FILE = "options.json"
SECTIONS = ("what", "how", "precision", "learning", "data", "keep", "parallel", "debug")
NOT_FOR_ENGINE = ("epochs", "launcher", "nodes", "master", "port")
"""Options of those sections that are resolved, or decide who starts the ranks."""
ASSETS = "assets"
WIDTH = 100


def engine_fields() -> tuple[Field, ...]:
    """The options that the engine reads, in the order of the form."""
    return tuple(
        field for field in schema.fields(LaunchSpec) if field.section in SECTIONS and field.name not in NOT_FOR_ENGINE
    )


def engine_options(spec: LaunchSpec) -> dict[str, dict[str, Any]]:
    """{"values": {name: value}, "paths": {name: text or None}}: the same for each process of a training."""
    spec = schema.effective(spec)
    chosen = {field.name: schema.value_of(spec, field.name) for field in engine_fields()} | _resolved(spec)
    values: dict[str, Any] = {}
    locations: dict[str, str | None] = {ASSETS: str(paths.ASSETS)}
    for field in engine_fields():
        value = chosen[field.name]
        if field.kind == "path":
            locations[field.name] = None if value == Path() else str(value)
        else:
            values[field.name] = _plain(field, value)
    return {"values": values, "paths": locations}


def _resolved(spec: LaunchSpec) -> dict[str, Any]:
    """What follows from the recipe, and what a training on one device has in place of what is hidden."""
    numbers = resolved(spec)
    is_pipeline = spec.parallel.parallel == "hybrid"
    return {
        "batch": numbers.batch,
        "optimizer": numbers.optimizer,
        "lr": numbers.lr,
        "weight_decay": numbers.weight_decay,
        "loss_scale": numbers.loss_scale,
        "steps": numbers.steps,
        "jit_level": spec.how.jit_level or "",
        "mode": mode_of(spec),
        "corpus": corpus_of(spec),
        "workers": workers(spec),
        "stages": spec.parallel.stages if is_pipeline else 1,
        "pipeline_batches": spec.parallel.pipeline_batches if is_pipeline else 1,
    }


def mode_of(spec: LaunchSpec) -> str:
    """How the step is run: one of MindSpore's modes, or "eager" and "compile" of PyTorch."""
    if spec.what.framework == "torch":
        return "compile" if spec.how.compile else "eager"
    return spec.how.mode


def _plain(field: Field, value: Any) -> Any:
    if field.kind == "pairs":
        return [f"{name}={text}" for name, text in value]
    return float(value) if field.kind == "number" and value is not None else value


def corpus_of(spec: LaunchSpec) -> Path:
    """The folder of text: by default the studio's own help pages."""
    return paths.ASSETS / "help" if spec.what.corpus == Path() else spec.what.corpus


def options_text(spec: LaunchSpec) -> str:
    """The JSON, in lines that a person can read and a shell can take."""
    parts = engine_options(spec)
    return "{" + ",\n".join(f'"{name}": {{\n{_rows(part)}}}' for name, part in parts.items()) + "}"


def _rows(part: dict[str, Any]) -> str:
    lines = [""]
    for name, value in part.items():
        text = f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}"
        if lines[-1] and len(lines[-1]) + len(text) > WIDTH:
            lines.append("")
        lines[-1] += (", " if lines[-1] else "") + text
    return ",\n".join(lines)


def write_options(spec: LaunchSpec, folder: Path) -> None:
    """Write what the engine reads in the run's folder. Raises OSError."""
    files.write_whole(folder / FILE, (options_text(spec) + "\n").encode())
