"""Whether and how exactly a training goes on from a checkpoint of another run, whatever the framework is."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import ascend_studio
import numpy as np

from ascend_engine.batches.sequence import Batches
from ascend_engine.checkpoints import checkpoint
from ascend_engine.checkpoints.checkpoint import Damaged, Saved
from ascend_engine.checkpoints.keeper import FOLDER
from ascend_engine.failures import Failure

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ascend_engine.options import Config
    from ascend_engine.recipe import Recipe
    from ascend_engine.recipe_data.defaults import Dataset

# Options that decide nothing of what is computed in a step.
FREE = (
    "assets",
    "corpus",
    "device",
    "checkpoint_every",
    "checkpoint_minutes",
    "keep",
    "best",
    "resume",
    "recipe_file",
    "images",
    "weights",
    "synchronous",
    "debug_port",
    "data_workers",
    "prefetch",
    "ckpt",
    "framework",
    "initial_weights",
    "base_model",  # what these four decide shows in the code, the samples and the shapes of the weights
    "examples",
    "context",
    "lora_rank",
)
TORCH_ONLY = ("compile", "fused", "lora_alpha")
SAMPLED = 64  # samples that stand for the data


def decides(config: Config, device: str, plan: Recipe, versions: Mapping[str, str]) -> dict[str, Any]:
    """Everything beside the state that the following steps are a function of, in JSON's own types. `versions`: of the
    framework."""
    # More steps change nothing in the earlier ones, unless the learning rate is spread over them.
    free = FREE if config.schedule == "cosine" else (*FREE, "steps")
    free = free if config.framework == "torch" else (*free, *TORCH_ONLY)
    options = {name: _plain(value) for name, value in vars(config).items() if name not in free}
    return {
        **options,
        **versions,
        "device": device,
        "data": fingerprint(plan.train_data),
        "code": plan.code,
    }


def _plain(value: Any) -> Any:
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)


def fingerprint(data: Dataset) -> str:
    """Return the sha256 of the size and of some samples from the whole length, or what data that is only gone through
    says of itself."""
    if hasattr(data, "digest"):
        return str(data.digest)
    size = len(data)
    digest = hashlib.sha256(str(size).encode())
    for array in data[np.linspace(0, size - 1, min(size, SAMPLED)).astype(int)]:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def newest(run: Path) -> Saved:
    """The last checkpoint of a run that is as it was written; says which ones are not."""
    for path in checkpoint.candidates(run / FOLDER):
        try:
            return checkpoint.read(path)
        except Damaged as error:
            ascend_studio.finding("launch.checkpoint_damaged", "warning", name=path.name, reason=str(error))
            print(f"{path.name} is damaged: {error}")
    raise Failure("launch.no_checkpoint", run=str(run))


def check_recipe(config: Config, saved: Saved) -> None:
    """Raises Failure for what nothing can be gone on with."""
    if config.framework not in saved.facts["decides"]:  # its version
        raise Failure("launch.other_framework", framework=config.framework)
    recipe = saved.facts["decides"]["recipe"]
    if recipe != config.recipe:
        raise Failure("launch.other_recipe", recipe=config.recipe, other=recipe)
    if saved.step >= config.steps:
        raise Failure("launch.nothing_left", step=saved.step, steps=config.steps)


def differing(then: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    missing = object()
    return sorted(name for name in {*then, *now} if then.get(name, missing) != now.get(name, missing))


def place_facts(stream: Any, number: int) -> dict[str, Any]:
    """Where batches that are gone through stand before micro batch `number`; nothing for what is read by number."""
    return {"place": stream.place(number)} if isinstance(stream, Batches) else {}


def find_place(stream: Any, saved: Saved, config: Config) -> list[str]:
    """Go through batches to where they stood. Returns ["batches"] where what comes there is not what came then."""
    if not isinstance(stream, Batches):
        return []
    return [] if stream.go_to(saved.step * config.accumulate, saved.facts.get("place", {})) else ["batches"]


def report_resume(run: Path, step: int, differing: list[str]) -> None:
    if differing:
        names = ", ".join(differing)
        ascend_studio.note("launch.resumed_inexactly", run=run.name, step=step, exact=False, differing=names)
        print(f"goes on after step {step} of {run.name}, not exactly: other {names}")
    else:
        ascend_studio.note("launch.resumed", run=run.name, step=step, exact=True)
        print(f"goes on after step {step} of {run.name}, exactly")
