"""The choices of a migration: what is migrated, how, and where the result goes."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from backends.migration.migrate import git_branch
from backends.migration.scan.spec import Against, Speed
from studio import schema
from studio.errors import StudioError
from studio.schema import Problem, option

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, kw_only=True)
class Migrated:
    """What is migrated. `path` may be empty with `undo`. `accept`: ready applies what nobody rejects; all also applies
    what is only offered; listed applies only what the decisions accept by name. `decisions`: a file of
    `changes.Decisions`."""

    path: Path = option(Path(), positional=True)
    style: Literal["minimal", "explicit"] = option("minimal")
    accept: Literal["ready", "all", "listed"] = option("ready")
    decisions: Path = option(Path(), wants="file")


@dataclass(frozen=True, kw_only=True)
class Result:
    """Where the result goes. With neither `into` nor `branch` the changes are planned and nothing is written. `undo`:
    the run to take back."""

    into: Path = option(Path(), flag_name="out")
    branch: str = option("")
    undo: Path = option(Path(), wants="run")


def _path_is_a_folder(spec: MigrateSpec) -> Iterable[Problem]:
    path = spec.migrated.path
    if spec.result.undo != Path():
        if not (spec.result.undo / "artifacts" / "undo.json").is_file():
            yield Problem(field="undo", rule="migration.rule.no_undo", args={"run": spec.result.undo.name})
    elif path == Path():
        yield Problem(field="path", rule="migration.rule.no_path")
    elif not path.is_dir():
        yield Problem(field="path", rule="migration.rule.no_folder", args={"path": str(path)})


def _decisions_exist(spec: MigrateSpec) -> Iterable[Problem]:
    decisions = spec.migrated.decisions
    if decisions != Path() and not decisions.is_file():
        yield Problem(field="decisions", rule="migration.rule.no_file", args={"path": str(decisions)})


def _result_can_be_written(spec: MigrateSpec) -> Iterable[Problem]:
    into, path = spec.result.into, spec.migrated.path
    if Path() in (into, path):
        return
    if spec.result.branch:
        yield Problem(field="into", rule="migration.rule.copy_or_branch")
    elif into.resolve() == path.resolve() or path.resolve() in into.resolve().parents:
        yield Problem(field="into", rule="migration.rule.out_inside", args={"path": str(into)})
    elif into.is_symlink() or into.is_file() or (into.is_dir() and any(into.iterdir())):
        yield Problem(field="into", rule="migration.rule.out_exists", args={"path": str(into)})


def _branch_can_be_created(spec: MigrateSpec) -> Iterable[Problem]:
    path, branch = spec.migrated.path, spec.result.branch
    if not branch or not path.is_dir():
        return
    try:
        git_branch.check_new_branch(path, branch)
    except StudioError as error:
        yield Problem(field="branch", rule=error.key, args=error.values)


def _nothing_but_a_run_is_taken_back(spec: MigrateSpec) -> Iterable[Problem]:
    """What is taken back was decided when it was made."""
    if spec.result.undo != Path():
        others = (other.name for other in schema.fields(MigrateSpec) if other.name != "undo")
        yield from (Problem(field=name, rule="migration.rule.only_undo") for name in others)


@dataclass(frozen=True, kw_only=True)
class MigrateSpec:
    migrated: Migrated = field(default_factory=Migrated)
    result: Result = field(default_factory=Result)
    against: Against = field(default_factory=Against)
    speed: Speed = field(default_factory=Speed)

    RULES = (_path_is_a_folder, _decisions_exist, _result_can_be_written, _branch_can_be_created)
    GIVEN_RULES = (_nothing_but_a_run_is_taken_back,)
