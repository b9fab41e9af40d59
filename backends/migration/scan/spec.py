"""What is scanned, against which facts, and what the answer is used for."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from backends.migration.scan.project_files import SourceFile, walk_project
from studio.schema import Problem, option

if TYPE_CHECKING:
    from collections.abc import Iterable

FORMATS = ("json", "csv", "sarif", "html")
_VERSION = re.compile(r"\d{1,3}(\.\d{1,4}){1,3}([.+-]?[a-z0-9.+-]{1,40})?")


@dataclass(frozen=True, kw_only=True)
class Scanned:
    """`path`: a project's folder, or one file, of which nothing around it is read."""

    path: Path = option(Path(), positional=True)


@dataclass(frozen=True, kw_only=True)
class Against:
    """`torch_version` empty: that of the interpreter, else the newest that the tables have."""

    interpreter: Path = option(Path(), wants="file")
    torch_version: str = option("")


@dataclass(frozen=True, kw_only=True)
class Output:
    """`format`: by the ending of `out` where it is auto. `baseline`: the findings.json of an earlier scan."""

    out: Path = option(Path(), wants="file")
    format: Literal["auto", "json", "csv", "sarif", "html"] = option("auto")
    report_language: Literal["system", "en", "zh"] = option("system")
    baseline: Path = option(Path(), wants="file")
    fail_on: Literal["never", "edit", "unverified", "manual", "none"] = option("never")


@dataclass(frozen=True, kw_only=True)
class Speed:
    jobs: int | None = option(None, low=1, high=64)


def format_of(output: Output) -> str:
    """One of FORMATS."""
    if output.format != "auto":
        return output.format
    ending = output.out.suffix.lower().removeprefix(".")
    return {"htm": "html"}.get(ending, ending if ending in FORMATS else "json")


def folder_of(path: Path) -> Path:
    """The folder that findings name paths in: that of a project, or of a single file."""
    return path.absolute().parent if path.is_file() else path


def _path_can_be_scanned(spec: ScanSpec) -> Iterable[Problem]:
    path = spec.scanned.path
    if path == Path():
        yield Problem(field="path", rule="migration.rule.no_path")
    elif path.is_file():
        if not any(isinstance(entry, SourceFile) for entry in walk_project(path)):
            yield Problem(field="path", rule="migration.rule.no_source", args={"path": str(path)})
    elif not path.is_dir():
        yield Problem(field="path", rule="migration.rule.no_folder", args={"path": str(path)})


def _files_exist(spec: ScanSpec) -> Iterable[Problem]:
    for name, path in (("interpreter", spec.against.interpreter), ("baseline", spec.output.baseline)):
        if path != Path() and not path.is_file():
            yield Problem(field=name, rule="migration.rule.no_file", args={"path": str(path)})


def _version_is_valid(spec: ScanSpec) -> Iterable[Problem]:
    version = spec.against.torch_version
    if version and not _VERSION.fullmatch(version):
        yield Problem(field="torch_version", rule="migration.rule.no_version", args={"text": version[:40]})


def _out_can_be_written(spec: ScanSpec) -> Iterable[Problem]:
    out = spec.output.out
    if out == Path():
        return
    if out.is_dir():
        yield Problem(field="out", rule="migration.rule.is_folder", args={"path": str(out)})
    elif not out.parent.is_dir():
        yield Problem(field="out", rule="migration.rule.no_folder", args={"path": str(out.parent)})


def _only_a_file_has_a_format(spec: ScanSpec) -> Iterable[Problem]:
    if spec.output.out == Path():
        for name in ("format", "report_language"):
            yield Problem(field=name, rule="form.does_not_apply", args={"needs": "--out"})


@dataclass(frozen=True, kw_only=True)
class ScanSpec:
    scanned: Scanned = field(default_factory=Scanned)
    against: Against = field(default_factory=Against)
    output: Output = field(default_factory=Output)
    speed: Speed = field(default_factory=Speed)

    RULES = (_path_can_be_scanned, _files_exist, _version_is_valid, _out_can_be_written)
    GIVEN_RULES = (_only_a_file_has_a_format,)
