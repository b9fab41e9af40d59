"""What is run twice, and how much of it is looked at."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from studio.schema import Problem, option

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, kw_only=True)
class Training:
    """As the Launch page has them."""

    line: tuple[str, ...] = option((), wants="line")
    workdir: Path = option(Path(), wants="here")
    python: Path = option(Path(), wants="file")


@dataclass(frozen=True, kw_only=True)
class Proof:
    """`compared_steps`: whose losses are compared, a run that goes on longer is stopped then; `digest_steps`: the first
    ones, of which each tensor is compared too."""

    compared_steps: int = option(20, low=1, high=100_000, flag_name="steps")
    digest_steps: int = option(2, low=1, high=1000, flag_name="digests")


def _has_line(spec: DeterminismSpec) -> Iterable[Problem]:
    if not spec.training.line:
        yield Problem(field="line", rule="precision.determinism.no_line")


def _digests_are_few(spec: DeterminismSpec) -> Iterable[Problem]:
    if spec.proof.digest_steps > spec.proof.compared_steps:
        yield Problem(field="digest_steps", rule="precision.determinism.too_many")


@dataclass(frozen=True, kw_only=True)
class DeterminismSpec:
    training: Training = field(default_factory=Training)
    proof: Proof = field(default_factory=Proof)

    RULES = (_has_line, _digests_are_few)


def code_of(spec: DeterminismSpec, folder: Path) -> tuple[Path, ...]:
    """What would run of a folder, the project, whose trust is asked for; a line that names none starts in it."""
    python, workdir = spec.training.python, spec.training.workdir
    paths = [path for path in (python, workdir) if path != Path()]
    return tuple(path for path in paths or [folder] if path.resolve().is_relative_to(folder.resolve()))
