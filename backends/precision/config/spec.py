"""Which two trainings are held against each other."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from studio.schema import Problem, option

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, kw_only=True)
class Packs:
    """Each a run, a folder with packs, or one pack. `python`: the interpreter whose msprobe compares; empty for the
    studio's own."""

    side_a: Path = option(Path(), positional=True, names_runs=True)
    side_b: Path = option(Path(), positional=True, names_runs=True)
    check_python: Path = option(Path(), wants="file")


def _sides_exist(spec: ConfigCheckSpec) -> Iterable[Problem]:
    for name, path in (("side_a", spec.packs.side_a), ("side_b", spec.packs.side_b)):
        if path == Path():
            yield Problem(field=name, rule="precision.config.no_side")
        elif not path.exists():
            yield Problem(field=name, rule="precision.config.no_such_place", args={"path": str(path)})


@dataclass(frozen=True, kw_only=True)
class ConfigCheckSpec:
    packs: Packs = field(default_factory=Packs)

    RULES = (_sides_exist,)
