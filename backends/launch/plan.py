"""From what was asked to the command that does it: pure."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from backends.launch.recipes import resolved
from studio import interpreters, places
from studio.command import Command

if TYPE_CHECKING:
    from backends.launch.spec import LaunchSpec
    from studio.run import Run

ENGINE = Path(__file__).parent / "engine"


def python_of(spec: LaunchSpec) -> Path:
    return interpreters.embedded() if spec.advanced.python == Path() else spec.advanced.python


def runs_code_of(spec: LaunchSpec, folder: Path) -> bool:
    """Whether a start would run something of a folder: an interpreter is code, its .pth files too."""
    if spec.advanced.python == Path():
        return False
    asked = Path(os.path.abspath(spec.advanced.python))  # noqa: PTH100 - the link itself, without its ".."
    both = (asked, spec.advanced.python.resolve())
    return any(path.is_relative_to(inside) for path in both for inside in (folder, folder.resolve()))


def plan(spec: LaunchSpec, run: Run) -> Command:
    """The training's command. It sees the engine on its path, never the studio's own folders."""
    argv = (str(python_of(spec)), "-m", "ascend_engine", *_options(spec))
    env = dict(spec.advanced.env)
    paths = (str(ENGINE), env.get("PYTHONPATH", ""))
    return Command(argv=argv, cwd=run.folder, env=env | {"PYTHONPATH": os.pathsep.join(filter(None, paths))})


def _options(spec: LaunchSpec) -> tuple[str, ...]:
    chosen = resolved(spec)
    options = {
        "--recipe": spec.what.recipe,
        "--device": spec.how.device,
        "--mode": spec.how.mode,
        "--amp": spec.how.amp,
        "--batch": str(chosen.batch),
        "--accumulate": str(spec.how.accumulate),
        "--optimizer": chosen.optimizer,
        "--lr": repr(chosen.lr),
        "--steps": str(chosen.steps),
        "--seed": str(spec.learning.seed),
        "--assets": str(places.ASSETS),
    }
    if spec.what.recipe == "text":
        options["--corpus"] = str(corpus_of(spec))
    return tuple(word for option in options.items() for word in option)


def corpus_of(spec: LaunchSpec) -> Path:
    """The folder of text: by default the studio's own help pages."""
    return places.ASSETS / "help" if spec.what.corpus == Path() else spec.what.corpus
