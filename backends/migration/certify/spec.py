"""The choices for a certificate: two folders, and the command that trains in each of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from studio.schema import Problem, option

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, kw_only=True)
class Pair:
    original: Path = option(Path(), positional=True)
    migrated: Path = option(Path(), positional=True)


@dataclass(frozen=True, kw_only=True)
class Training:
    """The training command. `workdir`: its location inside either project is where the command starts; outside both,
    it starts at their tops. `linked`: folders of data too large to copy, separated by commas; the command must not
    write there."""

    line: tuple[str, ...] = option((), wants="line")
    workdir: Path = option(Path(), wants="here")
    python: Path = option(Path(), wants="file")
    linked: str = option("")


@dataclass(frozen=True, kw_only=True)
class Proof:
    """Bounds of the rehearsals. `minutes`, `memory`: for each of them; `host_cards`: how many devices the host
    pretends to have; `promise`: the hosts that the result is to run on, auto: an NPU's alone, but for a copy of the
    explicit style those with CUDA and without either, too."""

    steps: int = option(3, low=1, high=10_000)
    seed: int = option(1, low=0, high=2**32 - 1)
    minutes: float = option(10.0, unit="minutes", above=0, high=10_000)
    memory: int | None = option(None, unit="mb", low=1, high=100_000_000)
    host_cards: int = option(1, low=1, high=64, flag_name="cards")
    promise: Literal["auto", "npu", "any"] = option("auto")


@dataclass(frozen=True, kw_only=True)
class Environment:
    env: tuple[tuple[str, str], ...] = option(())


class PairSpec(Protocol):
    """What a certificate and a comparison of both sides have in common."""

    @property
    def pair(self) -> Pair: ...

    @property
    def training(self) -> Training: ...

    @property
    def environment(self) -> Environment: ...


def folders_exist(spec: PairSpec) -> Iterable[Problem]:
    for name, path in (("original", spec.pair.original), ("migrated", spec.pair.migrated)):
        if path == Path():
            yield Problem(field=name, rule="migration.certify.no_path")
        elif not path.is_dir():
            yield Problem(field=name, rule="migration.certify.no_folder", args={"path": str(path)})


def line_is_set(spec: PairSpec) -> Iterable[Problem]:
    if not spec.training.line:
        yield Problem(field="line", rule="migration.certify.no_line")


@dataclass(frozen=True, kw_only=True)
class CertifySpec:
    pair: Pair = field(default_factory=Pair)
    training: Training = field(default_factory=Training)
    proof: Proof = field(default_factory=Proof)
    environment: Environment = field(default_factory=Environment)

    RULES = (folders_exist, line_is_set)


def code_of(spec: PairSpec, folder: Path) -> tuple[Path, ...]:
    """Return the paths below `folder` whose code a certificate or a comparison would run, for the question of trust."""
    paths = (spec.pair.original, spec.pair.migrated, spec.training.python)
    return tuple(path for path in paths if path != Path() and path.resolve().is_relative_to(folder.resolve()))
