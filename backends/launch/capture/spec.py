"""What is to be captured, and of which run."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from studio.schema import Problem, option

if TYPE_CHECKING:
    from collections.abc import Iterable

Kind = Literal["profile", "dump"]
Task = Literal["statistics", "tensor", "md5", "structure"]
Level = Literal["L1", "L0", "mix"]
Direction = Literal["both", "forward", "backward"]
_RANKS = re.compile(r"\d{1,6}(,\d{1,6})*|")
MODULES = ("Module.", "Cell.")
FIRST_PROFILED = 2
"""The step that a profile begins with where none is chosen: the first one compiles, or loads kernels."""
DUMPED = ("capture", ("dump",))


@dataclass(frozen=True, kw_only=True)
class Capture:
    """`run` goes on meanwhile. `at`: the first step, or the next one; `ranks`: '0,3', or all of them where it is
    empty; `targets`: parts of the names of what is dumped, separated by commas, all where it is empty; `casts`: also
    what msprobe leaves out of a dump of everything: casts, copies and views; `optimizer_state`: also statistics of the
    optimizer's state; `keep_free`: decimal megabytes of the disk."""

    run: Path = option(Path(), wants="run", positional=True)
    kind: Kind = option("profile")
    steps: int = option(2, low=1, high=1000)
    at: int | None = option(None, low=0, high=10**12)
    ranks: str = option("")
    stacks: bool = option(False, visible_when=("kind", ("profile",)))
    task: Task = option("statistics", visible_when=("kind", ("dump",)))
    level: Level = option("L1", visible_when=("kind", ("dump",)))
    targets: str = option("", visible_when=("kind", ("dump",)))
    direction: Direction = option("both", visible_when=("kind", ("dump",)))
    casts: bool = option(False, visible_when=("kind", ("dump",)))
    optimizer_state: bool = option(False, visible_when=("kind", ("dump",)))
    keep_free: int = option(500, unit="mb", low=0, high=100_000_000)


def _run_is_named(spec: CaptureSpec) -> Iterable[Problem]:
    if spec.capture.run == Path():
        yield Problem(field="run", rule="capture.rule.no_run")


def _ranks_are_a_list(spec: CaptureSpec) -> Iterable[Problem]:
    if not _RANKS.fullmatch(spec.capture.ranks):
        yield Problem(field="ranks", rule="capture.rule.ranks")


def _modules_have_a_level(spec: CaptureSpec) -> Iterable[Problem]:
    chosen = spec.capture
    if chosen.kind == "dump":
        yield from _level_problems("level", chosen.level, chosen.task, chosen.targets)


def _level_problems(name: str, level: str, task: str, targets: str) -> Iterable[Problem]:
    """At L1 msprobe sees no modules, so none of their names would be found."""
    module = next((target for target in targets_of(targets) if target.startswith(MODULES)), None)
    if level == "L1" and task != "structure" and module is not None:
        yield Problem(field=name, rule="capture.rule.module_level", args={"module": module})


def idle_choices(chosen: Capture) -> Iterable[tuple[str, str]]:
    """Yield the choices of a dump that msprobe passes over beside the others, each with the rule that says why: the
    structure is always one of modules and has no values to leave out; casts are a question of operators, and of a dump
    that is not narrowed to some names (`DataCollector.should_collect`, the same in both frameworks)."""
    if chosen.kind != "dump":
        return
    if chosen.task == "structure":
        if chosen.level == "L1":
            yield "level", "capture.rule.structure_level"
        if chosen.direction != "both":
            yield "direction", "capture.rule.structure_direction"
    if chosen.casts and chosen.targets:
        yield "casts", "capture.rule.casts_targets"
    elif chosen.casts and chosen.level == "L0":
        yield "casts", "capture.rule.casts_level"


def _choices_act(spec: CaptureSpec) -> Iterable[Problem]:
    for name, rule in idle_choices(spec.capture):
        yield Problem(field=name, rule=rule)


@dataclass(frozen=True, kw_only=True)
class CaptureSpec:
    capture: Capture = field(default_factory=Capture)

    RULES = (_run_is_named, _ranks_are_a_list, _modules_have_a_level)
    GIVEN_RULES = (_choices_act,)


@dataclass(frozen=True, kw_only=True)
class Planned:
    """A capture that the training begins by itself. `capture_at`: its first step; without one, a dump begins with the
    first step of all, and a profile with the second, which compiles nothing any more. The other fields are those of
    Capture. `config_pack`: keeps what this side was configured with, for a comparison of both sides."""

    capture: Literal["none", "profile", "dump"] = option("none")
    capture_at: int | None = option(None, low=0, high=10**12, visible_when=("capture", ("profile", "dump")))
    capture_steps: int = option(2, low=1, high=1000, visible_when=("capture", ("profile", "dump")))
    capture_ranks: str = option("", visible_when=("capture", ("profile", "dump")))
    capture_task: Task = option("statistics", visible_when=DUMPED)
    capture_level: Level = option("L1", visible_when=DUMPED)
    capture_targets: str = option("", visible_when=DUMPED)
    capture_direction: Direction = option("both", visible_when=DUMPED)
    capture_casts: bool = option(False, visible_when=DUMPED)
    capture_optimizer_state: bool = option(False, visible_when=DUMPED)
    config_pack: bool = option(False)


def planned_problems(planned: Planned) -> Iterable[Problem]:
    if planned.capture != "none" and not _RANKS.fullmatch(planned.capture_ranks):
        yield Problem(field="capture_ranks", rule="capture.rule.ranks")
    if planned.capture == "dump":
        chosen = (planned.capture_level, planned.capture_task, planned.capture_targets)
        yield from _level_problems("capture_level", *chosen)


def planned_idle(planned: Planned) -> Iterable[Problem]:
    chosen = capture_of(planned)
    for name, rule in idle_choices(chosen) if chosen is not None else ():
        yield Problem(field=f"capture_{name}", rule=rule)


def capture_of(planned: Planned) -> Capture | None:
    """What is asked of the training when it starts."""
    if planned.capture == "none":
        return None
    first = 1 if planned.capture == "dump" else None
    return Capture(
        kind=planned.capture, at=first if planned.capture_at is None else planned.capture_at,
        steps=planned.capture_steps, ranks=planned.capture_ranks, task=planned.capture_task,
        level=planned.capture_level, targets=planned.capture_targets, direction=planned.capture_direction,
        casts=planned.capture_casts, optimizer_state=planned.capture_optimizer_state,
    )  # fmt: skip


def is_rank_list(text: str) -> bool:
    """Whether a text is '' or numbers of ranks between commas."""
    return _RANKS.fullmatch(text) is not None


def ranks_of(chosen: Capture) -> tuple[int, ...]:
    return tuple(int(rank) for rank in chosen.ranks.split(",") if rank)


def targets_of(text: str) -> tuple[str, ...]:
    """Names as msprobe writes them, or parts of them; no name has a comma in it."""
    return tuple(filter(None, (name.strip() for name in text.split(","))))
