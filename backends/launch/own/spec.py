"""What is asked of a program of the user's own: its line, where it runs, and what is watched."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from backends.common import npu_devices, program_line
from backends.launch import ascend_env
from backends.launch.capture.spec import Planned, planned_idle, planned_problems
from studio import files
from studio.environment import is_secret
from studio.errors import StudioError
from studio.schema import Problem, option

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, kw_only=True)
class What:
    line: tuple[str, ...] = option((), wants="line")
    workdir: Path = option(Path(), wants="here")
    python: Path = option(Path(), wants="file")


@dataclass(frozen=True, kw_only=True)
class Recording:
    curves: bool = option(True)
    log_pattern: Literal[
        "auto", "off", "own", "nanogpt", "megatron", "mindformers", "transformers", "torchtitan", "mindspore", "tqdm",
        "examples", "imagenet", "language_model", "gan", "keras", "any", "cost",
    ] = option("auto")  # fmt: skip
    pattern: str = option("", visible_when=("log_pattern", ("own",)))


@dataclass(frozen=True, kw_only=True)
class Limits:
    visible: str = option("")
    share_cards: bool = option(False)
    cores: int | None = option(None, low=1, high=4096)
    memory: int | None = option(None, unit="mb", low=1, high=100_000_000)


@dataclass(frozen=True, kw_only=True)
class Ending:
    grace: float = option(60.0, unit="seconds", low=0, high=86400)
    wait_all: bool = option(True)


@dataclass(frozen=True, kw_only=True)
class Environment:
    env: tuple[tuple[str, str], ...] = option(())


def _line_is_not_empty(spec: OwnSpec) -> Iterable[Problem]:
    if not program_line.parse_program_line(spec.program.line).words:
        yield Problem(field="line", rule="launch.rule.no_line")


def _line_is_no_shells(spec: OwnSpec) -> Iterable[Problem]:
    word = next((word for word in spec.program.line if word in program_line.SHELL_WORDS), None)
    if word is not None:
        yield Problem(field="line", rule="launch.rule.shell_word", args={"word": word})


def _workdir_exists(spec: OwnSpec) -> Iterable[Problem]:
    folder = spec.program.workdir
    if folder != Path() and not folder.is_dir():
        yield Problem(field="workdir", rule="launch.rule.no_folder", args={"path": str(folder)})


def _script_exists(spec: OwnSpec) -> Iterable[Problem]:
    """Where the folder is not given, a relative one is looked for when the run starts."""
    program = program_line.parse_program_line(spec.program.line)
    path = spec.program.workdir / program.script
    if program.names_a_file and path.is_absolute() and not files.exists(path):
        yield Problem(field="line", rule="launch.rule.no_file", args={"path": str(path)})


def _python_exists(spec: OwnSpec) -> Iterable[Problem]:
    python = spec.program.python
    if python != Path() and not python.is_file():
        yield Problem(field="python", rule="launch.rule.no_file", args={"path": str(python)})
    named = Path(program_line.parse_program_line(spec.program.line).python)
    path = spec.program.workdir / named
    if python == Path() and len(named.parts) > 1 and path.is_absolute() and not files.is_file(path):
        yield Problem(field="line", rule="launch.rule.no_file", args={"path": str(path)})


def _pattern_compiles(spec: OwnSpec) -> Iterable[Problem]:
    from backends.common import log_patterns

    if spec.recording.log_pattern == "own":
        try:
            log_patterns.own(spec.recording.pattern)
        except StudioError as error:
            yield Problem(field="pattern", rule=error.key, args=error.values)


def _cards_are_a_list(spec: OwnSpec) -> Iterable[Problem]:
    yield from ascend_env.list_problems(spec.limits.visible)
    if spec.limits.visible and ascend_env.NAMES["visible"] in dict(environment_rows(spec)):
        yield Problem(field="visible", rule="launch.rule.env_twice", args={"name": ascend_env.NAMES["visible"]})


def _capture_is_consistent(spec: OwnSpec) -> Iterable[Problem]:
    yield from planned_problems(spec.planned)


def environment_rows(spec: OwnSpec) -> tuple[tuple[str, str], ...]:
    """All that the training's environment is told, by rows and by words before the program."""
    return (*spec.environment.env, *program_line.parse_program_line(spec.program.line).settings)


def _no_secrets(spec: OwnSpec) -> Iterable[Problem]:
    """A run keeps the environment that is asked for; secrets in the line are masked, see `secret_words`."""
    for name, _ in spec.environment.env:
        if is_secret(name):
            yield Problem(field="env", rule="launch.rule.secret", args={"name": name})


def _cards_are_here(spec: OwnSpec) -> Iterable[Problem]:
    if not npu_devices.npu_names():
        for name in ("visible", "share_cards"):
            yield Problem(field=name, rule="launch.rule.no_card_here")


def _capture_acts(spec: OwnSpec) -> Iterable[Problem]:
    yield from planned_idle(spec.planned)


@dataclass(frozen=True, kw_only=True)
class OwnSpec:
    program: What = field(default_factory=What)
    recording: Recording = field(default_factory=Recording)
    planned: Planned = field(default_factory=Planned)
    limits: Limits = field(default_factory=Limits)
    ending: Ending = field(default_factory=Ending)
    environment: Environment = field(default_factory=Environment)

    RULES = (
        _line_is_not_empty, _line_is_no_shells, _workdir_exists, _script_exists, _python_exists, _pattern_compiles,
        _cards_are_a_list, _capture_is_consistent, _no_secrets,
    )  # fmt: skip
    GIVEN_RULES = (_cards_are_here, _capture_acts)
