"""What a training is asked to be. Empty values follow from the recipe (`recipes.resolved`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from backends.launch import recipes
from studio.environment import is_secret
from studio.schema import Problem, option

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, kw_only=True)
class What:
    recipe: Literal["linear", "digits", "text"] = option("digits")
    corpus: Path = option(Path(), shown_when=("recipe", ("text",)))


@dataclass(frozen=True, kw_only=True)
class How:
    mode: Literal["pynative", "jit"] = option("pynative")
    amp: Literal["O0", "O2"] = option("O0")
    device: Literal["auto", "cpu", "ascend"] = option("auto")
    batch: int | None = option(None, unit="samples", low=1, high=65536)
    accumulate: int = option(1, unit="micro_batches", low=1, high=1024)


@dataclass(frozen=True, kw_only=True)
class Learning:
    optimizer: Literal["sgd", "momentum", "adam", "adamw"] | None = option(None)
    lr: float | None = option(None, above=0, high=100)
    steps: int | None = option(None, unit="steps", low=1, high=100_000_000)
    epochs: float | None = option(None, unit="epochs", above=0, high=1_000_000)
    seed: int = option(1, low=0, high=2**31 - 1)


@dataclass(frozen=True, kw_only=True)
class Advanced:
    python: Path = option(Path(), wants="file")
    grace: float = option(60.0, unit="seconds", low=0, high=86400)
    env: tuple[tuple[str, str], ...] = option(())


def _one_length(spec: LaunchSpec) -> Iterable[Problem]:
    if spec.learning.steps is not None and spec.learning.epochs is not None:
        yield Problem(field="epochs", rule="launch.rule.steps_or_epochs")


def _epochs_need_a_size(spec: LaunchSpec) -> Iterable[Problem]:
    if spec.learning.epochs is not None and recipes.RECIPES[spec.what.recipe].samples is None:
        yield Problem(field="epochs", rule="launch.rule.no_epochs")


def _batch_fits(spec: LaunchSpec) -> Iterable[Problem]:
    recipe = recipes.RECIPES[spec.what.recipe]
    batch = (spec.how.batch or recipe.batch) * spec.how.accumulate
    if recipe.samples is not None and batch > recipe.samples:
        args = {"batch": batch, "samples": recipe.samples}
        yield Problem(field="batch", rule="launch.rule.batch_over_data", args=args)


def _corpus_is_there(spec: LaunchSpec) -> Iterable[Problem]:
    corpus = spec.what.corpus
    if spec.what.recipe == "text" and corpus != Path() and not corpus.is_dir():
        yield Problem(field="corpus", rule="launch.rule.no_folder", args={"path": str(corpus)})


def _python_is_there(spec: LaunchSpec) -> Iterable[Problem]:
    python = spec.advanced.python
    if python != Path() and not python.is_file():
        yield Problem(field="python", rule="launch.rule.no_file", args={"path": str(python)})


def _no_secrets(spec: LaunchSpec) -> Iterable[Problem]:
    for name, _ in spec.advanced.env:
        if is_secret(name):
            yield Problem(field="env", rule="launch.rule.secret", args={"name": name})


@dataclass(frozen=True, kw_only=True)
class LaunchSpec:
    what: What = field(default_factory=What)
    how: How = field(default_factory=How)
    learning: Learning = field(default_factory=Learning)
    advanced: Advanced = field(default_factory=Advanced)

    RULES = (
        _one_length, _epochs_need_a_size, _batch_fits, _corpus_is_there, _python_is_there, _no_secrets,
    )  # fmt: skip
