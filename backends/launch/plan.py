"""From what was asked to the command that does it: pure."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from backends.launch import ascend_env, launchers
from backends.launch.launchers import ENGINE, python_of
from backends.launch.recipes import resolved, workers
from studio import places, schema
from studio.command import Command

if TYPE_CHECKING:
    from backends.launch.capture.spec import Planned
    from backends.launch.spec import Data, Keep, LaunchSpec
    from studio.run import Run

HOOKS = "ASCEND_STUDIO_HOOKS"
CONFIG_PACK = "config_pack"


def code_of(spec: LaunchSpec, folder: Path) -> tuple[Path, ...]:
    """What a start would run of a folder: an interpreter is code, its .pth files too, and so is an own recipe."""
    spec = schema.effective(spec)
    given = (spec.advanced.python, spec.what.recipe_file)
    return tuple(path for path in given if path != Path() and is_inside(path, folder))


def is_inside(path: Path, folder: Path) -> bool:
    """By its own name or by where its links lead."""
    asked = Path(os.path.abspath(path))  # noqa: PTH100 - the link itself, without its ".."
    return any(one.is_relative_to(inside) for one in (asked, path.resolve()) for inside in (folder, folder.resolve()))


def plan(spec: LaunchSpec, run: Run) -> Command:
    """The training's command. It sees the engine on its path, never the studio's own folders."""
    python = python_of(spec)
    if spec.parallel.parallel == "none":
        argv = (str(python), "-m", "ascend_engine", *options(spec))
    else:
        argv = launchers.command(spec, python, options(spec))
    env = {HOOKS: hooks_of(spec.planned, "captures")} | ascend_env.environment(spec)
    paths = (str(ENGINE), env.get("PYTHONPATH", ""))
    return Command(argv=argv, cwd=run.folder, env=env | {"PYTHONPATH": os.pathsep.join(filter(None, paths))})


def hooks_of(planned: Planned, *wanted: str) -> str:
    """What rides in the training, as `hooks.py` of the guest reads it."""
    return ",".join((*wanted, CONFIG_PACK) if planned.config_pack else wanted)


def options(spec: LaunchSpec) -> tuple[str, ...]:
    """What the engine is told, the same for each of its processes."""
    spec = schema.effective(spec)
    chosen = resolved(spec)
    options = {
        "--recipe": spec.what.recipe,
        "--device": spec.how.device,
        "--loop": spec.how.loop,
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
    options |= _paths(spec) | _data_options(spec.data)
    words = tuple(word for option in options.items() for word in option)
    return words + _switches(spec) + _parallel_options(spec)


def _paths(spec: LaunchSpec) -> dict[str, str]:
    chosen = {"--recipe-file": spec.what.recipe_file, "--images": spec.what.images, "--weights": spec.what.weights}
    return {flag: str(path) for flag, path in chosen.items() if path != Path()}


def _data_options(data: Data) -> dict[str, str]:
    return {"--data-workers": str(data.data_workers), "--prefetch": str(data.prefetch)}


def _switches(spec: LaunchSpec) -> tuple[str, ...]:
    chosen = {
        "--sink": spec.how.sink, "--recompute": spec.how.recompute, "--drop-remainder": spec.data.drop_remainder,
        "--synchronous": spec.debug.synchronous, "--ckpt": spec.keep.ckpt,
    }  # fmt: skip
    port = () if spec.debug.debug_port is None else ("--debug-port", str(spec.debug.debug_port))
    return (*(flag for flag, is_on in chosen.items() if is_on), *port)


def _parallel_options(spec: LaunchSpec) -> tuple[str, ...]:
    parallel = spec.parallel
    if parallel.parallel == "none":
        return ()
    options = {"--parallel": parallel.parallel, "--workers": str(workers(spec)), "--dataset": parallel.dataset}
    if parallel.parallel == "auto":
        options["--search"] = parallel.search
    if parallel.parallel == "hybrid":
        options |= {"--stages": str(parallel.stages), "--pipeline-batches": str(parallel.pipeline_batches)}
    if parallel.fusion is not None:
        options["--fusion"] = str(parallel.fusion)
    words = tuple(word for option in options.items() for word in option)
    strategies = tuple(word for name, text in parallel.strategy for word in ("--strategy", f"{name}={text}"))
    return words + strategies + (("--optimizer-parallel",) if parallel.optimizer_parallel else ())


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
