"""From what was asked to the command that does it: pure."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from backends.launch.recipes import resolved
from studio import interpreters, places, schema
from studio.command import Command

if TYPE_CHECKING:
    from backends.launch.spec import Keep, LaunchSpec
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
    spec = schema.effective(spec)
    chosen = resolved(spec)
    options = {
        "--recipe": spec.what.recipe,
        "--device": spec.how.device,
        "--mode": spec.how.mode,
        "--amp": spec.precision.amp,
        "--amp-dtype": spec.precision.amp_dtype,
        "--loss-scale": chosen.loss_scale,
        "--scale": repr(spec.precision.scale),
        "--on-nan": spec.precision.on_nan,
        "--batch": str(chosen.batch),
        "--accumulate": str(spec.how.accumulate),
        "--optimizer": chosen.optimizer,
        "--lr": repr(chosen.lr),
        "--weight-decay": repr(chosen.weight_decay),
        "--schedule": spec.learning.schedule,
        "--decay-every": str(spec.learning.decay_every),
        "--decay-rate": repr(spec.learning.decay_rate),
        "--warmup": str(spec.learning.warmup),
        "--steps": str(chosen.steps),
        "--seed": str(spec.learning.seed),
        "--assets": str(places.ASSETS),
    }
    options |= _keep_options(spec.keep)
    if spec.how.jit_level is not None:
        options["--jit-level"] = spec.how.jit_level
    if spec.precision.clip is not None:
        options["--clip"] = repr(spec.precision.clip)
    if spec.what.recipe == "text":
        options["--corpus"] = str(corpus_of(spec))
    return tuple(word for option in options.items() for word in option)


def _keep_options(keep: Keep) -> dict[str, str]:
    options = {"--keep": str(keep.keep), "--best": keep.best}
    if keep.checkpoint_every is not None:
        options["--checkpoint-every"] = str(keep.checkpoint_every)
    if keep.checkpoint_minutes is not None:
        options["--checkpoint-minutes"] = repr(keep.checkpoint_minutes)
    if keep.resume != Path():
        options["--resume"] = str(keep.resume)
    return options


def corpus_of(spec: LaunchSpec) -> Path:
    """The folder of text: by default the studio's own help pages."""
    return places.ASSETS / "help" if spec.what.corpus == Path() else spec.what.corpus
