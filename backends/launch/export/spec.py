"""Which checkpoint to export, and where to."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from backends.launch.resume_options import options_of
from studio.schema import Problem, option

if TYPE_CHECKING:
    from collections.abc import Iterable


SUFFIXES = {"mindspore": ".ckpt", "torch": ".pth"}


@dataclass(frozen=True, kw_only=True)
class Export:
    source: Path = option(Path(), wants="run")
    which: Literal["last", "best"] = option("last")
    out: Path = option(Path(), wants="file")


def pointer_of(run: Path, which: str) -> Path:
    """The file that names a run's last or best checkpoint."""
    return run / "artifacts" / "checkpoints" / which


def suffix_of(run: Path) -> str:
    """How the file's name ends, as the framework that trained the run has it."""
    options = options_of(run)
    return SUFFIXES[options.what.framework if options else "mindspore"]


def _source_has_it(spec: ExportSpec) -> Iterable[Problem]:
    chosen = spec.export
    if chosen.source == Path():
        yield Problem(field="source", rule="launch.rule.no_source")
    elif not pointer_of(chosen.source, chosen.which).is_file():
        yield Problem(field="source", rule="launch.rule.no_such_checkpoint", args={"run": str(chosen.source)})


def _out_can_be_written(spec: ExportSpec) -> Iterable[Problem]:
    out = spec.export.out
    if out == Path():
        return
    if out.suffix != (suffix := suffix_of(spec.export.source)):
        yield Problem(field="out", rule="launch.rule.no_ckpt", args={"path": str(out), "suffix": suffix})
    elif not out.parent.is_dir():
        yield Problem(field="out", rule="launch.rule.no_folder", args={"path": str(out.parent)})
    elif out.is_dir():
        yield Problem(field="out", rule="launch.rule.is_folder", args={"path": str(out)})


@dataclass(frozen=True, kw_only=True)
class ExportSpec:
    """`out` empty: into the export's own run."""

    export: Export = field(default_factory=Export)

    RULES = (_source_has_it, _out_can_be_written)
