"""A checkpoint of a user's program, as far as its names tell: what it holds, and after which step it was written."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from backends.launch.own.resume.torch_content import TENSOR, Unread

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

Kind = Literal["torch", "trainer", "lightning", "accelerate", "distributed"]
Part = Literal["weights", "optimizer", "schedule", "step", "generators", "data_order", "loss_scale"]

PARTS: tuple[Part, ...] = ("weights", "optimizer", "schedule", "step", "generators", "data_order", "loss_scale")
"""All that a training is made of; `loss_scale`: of mixed precision, where the training has one."""
STEP_NAMES = (
    "global_step", "step", "steps", "iteration", "iterations", "iter", "iters", "iter_num", "it", "n_iter", "num_steps",
    "completed_steps", "train_step", "global_steps", "optimizer_step",
)  # fmt: skip
EPOCH_NAMES = ("epoch", "epochs", "start_epoch", "epochs_run", "epoch_num", "current_epoch", "last_epoch")
LIGHTNING = "pytorch-lightning_version"
_GENERATORS = re.compile(r"(^|_)rng|random_?(state|seed)|manual_seed|(^|_)generator_state|random$")
_DATA_ORDER = re.compile(r"sampler|loader|data_?set?_state|data_position|(samples|batches)_seen|consumed_|batch_idx")
_LOSS_SCALE = re.compile(r"scaler|loss_?scale|^amp|mixedprecision|grad_scale")
_MODEL = re.compile(r"model|net|module|weights|params|state_dict|(^|_)ema|encoder|decoder|generator|discriminator")


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """`time`: when it was last written, ns since the epoch. `step`, `epoch`: as it says itself, None where it does not.
    `parts`: what it holds by the names in it, None where those cannot be read."""

    path: Path
    kind: Kind
    time: int
    step: int | None = None
    epoch: int | None = None
    parts: frozenset[Part] | None = None

    @property
    def has_state(self) -> bool:
        """Whether it holds more than weights, as far as one can tell: a training goes on from it."""
        return self.parts is None or bool(self.parts & {"optimizer", "step"})

    def missing(self, *, has_loss_scale: bool) -> tuple[Part, ...]:
        """Return what it does not hold, nothing where that is not known. A step stands for the schedule, which most
        scripts compute from it. `has_loss_scale`: whether the training had one."""
        if self.parts is None:
            return ()
        present = self.parts | ({"schedule"} if "step" in self.parts else set())
        return tuple(
            part for part in PARTS if part not in present and (part != "loss_scale" or has_loss_scale)
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Content:
    """What the dictionary of a checkpoint says. `is_lightning`: whether a Trainer of Lightning wrote it."""

    step: int | None = None
    epoch: int | None = None
    parts: frozenset[Part] = field(default_factory=frozenset)
    is_lightning: bool = False


def content_in(value: Any) -> Content | None:
    """Judge what a file of torch.save holds by the names in it; None where it is no dictionary of a training: neither
    weights nor the state of an optimizer are in it."""
    if isinstance(value, Unread) and not _is_tensor(value):
        return Content(parts=frozenset({"weights"}))  # a whole module
    if not isinstance(value, dict):
        return None
    parts: set[Part] = {part for name, entry in value.items() for part in _parts_of(str(name).lower(), entry)}
    if any(_is_tensor(entry) and not _is_generator(str(name).lower(), entry) for name, entry in value.items()):
        parts.add("weights")
    if not parts & {"weights", "optimizer"}:
        return None
    step, epoch = _number_in(value, STEP_NAMES), _number_in(value, EPOCH_NAMES)
    parts |= {"step"} if step is not None or epoch is not None else set()
    return Content(step=step, epoch=epoch, parts=frozenset(parts), is_lightning=LIGHTNING in value)


def _parts_of(name: str, value: Any) -> tuple[Part, ...]:
    """Return what an entry of a checkpoint is, by its form first and by its name where that tells nothing."""
    entries = value if isinstance(value, list | tuple) else (value,)
    dicts = [entry for entry in entries if isinstance(entry, dict)]
    if any("param_groups" in entry for entry in dicts) or ("optim" in name and dicts):
        return ("optimizer",)
    if _LOSS_SCALE.search(name) or any({"scale", "growth_factor"} <= entry.keys() for entry in dicts):
        return ("loss_scale",)
    if "sched" in name or any("last_epoch" in entry for entry in dicts):
        return ("schedule",) if dicts or isinstance(value, Unread) else ()
    if _is_generator(name, value):
        return ("generators",)
    if _DATA_ORDER.search(name):
        return ("data_order",)
    if any(_holds_tensors(entry) for entry in dicts):
        return ("weights",)
    return ("weights",) if _MODEL.search(name) and isinstance(value, Unread) and not _is_tensor(value) else ()


def _is_generator(name: str, value: Any) -> bool:
    """Whether an entry is the state of a generator of random numbers. A seed is none, nor is the network of a GAN."""
    if isinstance(value, int | float | str | type(None)):
        return False
    return bool(_GENERATORS.search(name)) or ("generator" in name and _is_tensor(value))


def _holds_tensors(value: Mapping[Any, Any]) -> bool:
    """Whether tensors are among the values, or the values of a dictionary among these."""
    nested = [entry for entry in value.values() if isinstance(entry, dict)]
    return _is_table(value) or any(map(_is_table, nested[:8]))


def _is_table(value: Mapping[Any, Any]) -> bool:
    return any(map(_is_tensor, value.values()))


def _is_tensor(value: Any) -> bool:
    return isinstance(value, Unread) and value.name == TENSOR


def _number_in(value: Mapping[Any, Any], names: tuple[str, ...]) -> int | None:
    by_name = {str(name).lower(): entry for name, entry in value.items()}
    numbers = (by_name.get(name) for name in names)
    return next((number for number in numbers if isinstance(number, int) and not isinstance(number, bool)), None)
