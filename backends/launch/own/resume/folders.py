"""Checkpoints that are folders: of the Trainer of Hugging Face, of accelerate's save_state, of
torch.distributed.checkpoint. Which files each has, and in which order they are written, is that of transformers 4.48,
accelerate 1.15 and torch 2.13.
"""

from __future__ import annotations

import json
import os
import re
import stat
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from backends.launch.own.resume.checkpoint import Checkpoint
from backends.launch.own.resume.torch_content import HalfWritten, refuse_cut_file
from studio import files

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from backends.launch.own.resume.checkpoint import Kind, Part

TRAINER_STATE = "trainer_state.json"
"""Written as the last file of a checkpoint of the Trainer."""
TRAINER_FILES = {TRAINER_STATE, "training_args.bin", "optimizer.pt", "scheduler.pt", "rng_state.pth"}
METADATA = ".metadata"
"""Written as the last file of a checkpoint of torch.distributed.checkpoint."""
RANDOM_STATES = re.compile(r"random_states_\d+\.pkl")
"""Written as the last file of each process by accelerate, apart from objects of the script."""
TRAINER_FOLDER = re.compile(r"checkpoint-(\d{1,12})")
MAX_JSON = 1 << 26
MAX_HEADER = 1 << 26
_TORCH_SUFFIXES = (".bin", ".pt", ".pth", ".pkl")
_NUMBER = re.compile(r"(\d{1,12})$")
_FILES: dict[str, Part] = {
    r"optimizer(_\d+)?\.(pt|bin)|optimizer_\d+|global_step\d+": "optimizer", r"scheduler(_\d+)?\.(pt|bin)": "schedule",
    r"rng_state(_\d+)?\.pth|random_states_\d+\.pkl": "generators", r"scaler(_\d+)?\.pt": "loss_scale",
    r"(sampler|dl_state_dict)(_\d+)?\.bin": "data_order",
    r"(model|pytorch_model|adapter_model)\b.*\.(safetensors|bin)|pytorch_model_fsdp_\d+|global_step\d+": "weights",
}  # fmt: skip
"""What the files of a checkpoint hold, by their names."""


@dataclass(frozen=True, kw_only=True)
class Entries:
    """A folder by the names in it. `time`: when the last of its own files was written, ns since the epoch."""

    path: Path
    names: frozenset[str]
    time: int

    @property
    def kind(self) -> Kind | None:
        """Return whose checkpoint it is by its name and those in it; None where it is none."""
        if any(map(RANDOM_STATES.fullmatch, self.names)) or ("optimizer.bin" in self.names and not self._is_trainers):
            return "accelerate"
        if self._is_trainers:
            return "trainer"
        return "distributed" if any(name.endswith(".distcp") for name in self.names) else None

    @property
    def _is_trainers(self) -> bool:
        """The folder above those of the steps has a trainer_state.json, too, beside weights alone."""
        files_of_trainer = self.names & TRAINER_FILES
        is_named = TRAINER_FOLDER.fullmatch(self.path.name) and files_of_trainer
        return bool(is_named) or len(files_of_trainer - {"training_args.bin"}) > 1

    def parts(self) -> frozenset[Part]:
        return frozenset(part for form, part in _FILES.items() if any(re.fullmatch(form, name) for name in self.names))


def entries_of(path: Path) -> Entries | None:
    """Return a folder that is a checkpoint; None where it is none, or cannot be read."""
    try:
        entries = Entries(path=path, names=frozenset(os.listdir(path)), time=0)
        if entries.kind is None:
            return None
        statuses = [entry.stat(follow_symlinks=False) for entry in os.scandir(path)]
    except OSError:
        return None
    times = (status.st_mtime_ns for status in statuses if stat.S_ISREG(status.st_mode))
    return replace(entries, time=max(times, default=0))


def read_folder(entries: Entries) -> Checkpoint:
    """Return the checkpoint in a folder that is one. Raises HalfWritten, and OSError."""
    kind = entries.kind
    assert kind is not None
    if kind == "distributed":
        if METADATA not in entries.names:
            raise HalfWritten
        return Checkpoint(path=entries.path, kind=kind, time=entries.time, step=_number_of(entries.path))
    _refuse_cut_files(entries)
    parts = entries.parts()
    if "weights" not in parts:
        raise HalfWritten
    if kind == "accelerate":
        if "generators" not in parts:
            raise HalfWritten
        return Checkpoint(path=entries.path, kind=kind, time=entries.time, step=_number_of(entries.path), parts=parts)
    # The Trainer goes through its seeded order again, up to the batch where it was.
    return Checkpoint(
        path=entries.path, kind=kind, time=entries.time, step=_trainer_step(entries),
        parts=parts | {"step", "data_order"},
    )  # fmt: skip


def _number_of(path: Path) -> int | None:
    """Return the step in the name of a folder, such as step_500; of an epoch nobody knows the step."""
    match = None if path.name.startswith("epoch") else _NUMBER.search(path.name)
    return int(match[1]) if match else None


def _trainer_step(entries: Entries) -> int:
    """Raises HalfWritten where the last file is missing or cut."""
    if TRAINER_STATE not in entries.names:
        raise HalfWritten
    try:
        step = json.loads(files.read_bytes(entries.path / TRAINER_STATE, MAX_JSON))["global_step"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise HalfWritten from error
    if not isinstance(step, int):
        raise HalfWritten
    return step


def _refuse_cut_files(entries: Entries) -> None:
    """Raises HalfWritten where a file of weights or state has no end, or an index names one that is not there."""
    for name in sorted(entries.names):
        path = entries.path / name
        if name.endswith(".safetensors"):
            refuse_cut_safetensors(path)
        elif name.endswith(_TORCH_SUFFIXES) and path.is_file() and name != "training_args.bin":
            refuse_cut_file(path)
        elif name.endswith(".index.json") and not set(_indexed_names(path)) <= entries.names:
            raise HalfWritten


def _indexed_names(path: Path) -> Iterator[str]:
    try:
        table = json.loads(files.read_bytes(path, MAX_JSON))["weight_map"]
        yield from map(str, set(table.values()))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise HalfWritten from error


def refuse_cut_safetensors(path: Path) -> None:
    """Raises OSError, and HalfWritten where the last tensor ends elsewhere than the file: the header says where,
    https://huggingface.co/docs/safetensors/index#format."""
    with files.open_regular(path) as file:
        size = file.seek(0, 2)
        file.seek(0)
        length = int.from_bytes(file.read(8), "little")
        if not 0 < length <= min(MAX_HEADER, size - 8):
            raise HalfWritten
        header = file.read(length)
    try:
        entries = json.loads(header)
        ends = [entry["data_offsets"][1] for name, entry in entries.items() if name != "__metadata__"]
        is_whole = size == 8 + length + max(ends, default=0)
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError) as error:
        raise HalfWritten from error
    if not is_whole:
        raise HalfWritten
