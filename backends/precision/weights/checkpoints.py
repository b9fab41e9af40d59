"""What a user points at as a checkpoint: a file, a folder of files, a run. Its tensors by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from backends.precision.weights.mindspore_ckpt import VALUE, read_ckpt
from backends.precision.weights.plain_values import Checkpoint
from backends.precision.weights.safetensors import is_safetensors, read_safetensors
from backends.precision.weights.torch_child import weights_through_torch
from backends.precision.weights.torch_file import NEEDS_TORCH, read_torch
from studio import files
from studio.errors import StudioError, from_os

if TYPE_CHECKING:
    from pathlib import Path

    from backends.precision.measure.measures import Tensor
    from backends.precision.weights.plain_values import PlainValue

ZIP_MAGIC = b"PK\x03\x04"
PROTOCOL = b"\x80"
"""With what files of torch.save before 1.6 begin."""
OURS = "weights.safetensors"
INDEXES = (
    "model.safetensors.index.json",
    "pytorch_model.bin.index.json",
    "diffusion_pytorch_model.safetensors.index.json",
)
CHECKPOINT_SUFFIXES = (".safetensors", ".ckpt", ".bin", ".pt", ".pth")
MAX_FILES = 4096


class _Index(msgspec.Struct):
    weight_map: dict[str, str]


def open_weights(path: Path, scratch: Path, python: Path) -> Checkpoint:
    """In the order of the file. `scratch`: a new file where a child of `python` writes what only torch can read. Raises
    StudioError where it is no checkpoint, damaged, or needs a torch that is not there; Stopped."""
    tensors: dict[str, Tensor] = {}
    values: dict[str, PlainValue] = {}
    unread: list[str] = []
    for number, file in enumerate(files_of(path)):
        part = _of_file(file, scratch.with_suffix(f".{number}"), python)
        if twice := next((name for name in part.tensors if name in tensors), None):
            raise StudioError("precision.weights.twice", place=str(file), name=twice)
        tensors |= part.tensors
        values |= part.values
        unread += part.unread
    if not tensors:
        raise StudioError("precision.weights.no_tensors", place=str(path))
    if absent := [name for name in _indexed_names(path) if name not in tensors]:
        raise StudioError("precision.weights.not_in_parts", place=str(path), name=absent[0], count=len(absent))
    return Checkpoint(tensors=tensors, values=values, unread=tuple(unread))


def _indexed_names(path: Path) -> list[str]:
    """Return the tensors that the index of a folder names; none where its files are read without one."""
    index = _index_in(path)
    return [] if index is None else list(_weight_map(index))


def refuse_same_files(target: Path, golden: Path) -> None:
    """Raise StudioError where both are the same files, as a run and its last checkpoint, or two hard links, are."""
    ours, others = files_of(target), files_of(golden)
    if len(ours) == len(others) and all(map(_is_one_file, ours, others)):
        raise StudioError("precision.rule.same_weights")


def _is_one_file(path: Path, other: Path) -> bool:
    try:
        return path.samefile(other)
    except OSError:
        return False


def _of_file(path: Path, scratch: Path, python: Path) -> Checkpoint:
    start = _start(path)
    if is_safetensors(start):
        return Checkpoint(tensors=read_safetensors(path))
    if start.startswith(VALUE):
        return read_ckpt(path)
    if start.startswith(ZIP_MAGIC):
        try:
            return read_torch(path)
        except StudioError as error:
            if error.key != NEEDS_TORCH:
                raise
    elif not start.startswith(PROTOCOL):
        raise StudioError("precision.weights.no_checkpoint", place=str(path))
    return weights_through_torch(path, scratch, python)


def _start(path: Path) -> bytes:
    if path.exists() and not path.is_file():  # a pipe would be waited for
        raise StudioError("precision.weights.no_checkpoint", place=str(path))
    try:
        with files.open_regular(path) as file:
            return file.read(9)
    except OSError as error:
        raise from_os(error, path) from error


def files_of(path: Path) -> tuple[Path, ...]:
    """The file itself; of a folder the parts that its index names, else its checkpoints; of a run its last one. Raises
    StudioError."""
    if not path.is_dir():
        return (path,)
    if (path / "run.json").is_file():
        return (_last_of_run(path) / OURS,)
    if (path / OURS).is_file():
        return (path / OURS,)
    index = _index_in(path)
    return _companion_files(path) if index is None else _indexed(index)


def _index_in(path: Path) -> Path | None:
    """Return the index by which the files of a folder are read."""
    if not path.is_dir() or (path / "run.json").is_file() or (path / OURS).is_file():
        return None
    return next((path / name for name in INDEXES if (path / name).is_file()), None)


def _last_of_run(run: Path) -> Path:
    folder = run / "artifacts" / "checkpoints"
    try:
        name = files.read_bytes(folder / "last").decode("utf-8", "replace").strip()
    except OSError:
        name = ""
    if not name or "/" in name or not (folder / name / OURS).is_file():
        raise StudioError("precision.weights.no_checkpoint_in_run", place=str(run))
    return folder / name


def _indexed(index: Path) -> tuple[Path, ...]:
    """The names are data: they must lie in the folder."""
    names = sorted(set(_weight_map(index).values()))
    if not names or len(names) > MAX_FILES or any("/" in name or name.startswith(".") for name in names):
        raise StudioError("precision.weights.damaged", place=str(index))
    return tuple(index.parent / name for name in names)


def _weight_map(index: Path) -> dict[str, str]:
    """Return the file of each tensor."""
    try:
        return msgspec.convert(files.read_json(index), _Index).weight_map
    except msgspec.ValidationError:
        raise StudioError("precision.weights.damaged", place=str(index)) from None


def _companion_files(folder: Path) -> tuple[Path, ...]:
    """All files of the first known ending that the folder has: parts of one checkpoint where there are several of
    safetensors, else one file has to be named."""
    candidates = sorted(path for path in folder.iterdir() if path.suffix in CHECKPOINT_SUFFIXES and path.is_file())[
        :MAX_FILES
    ]
    for ending in CHECKPOINT_SUFFIXES:
        matching = tuple(path for path in candidates if path.suffix == ending)
        if matching and (ending == ".safetensors" or len(matching) == 1):
            return matching
        if matching:
            raise StudioError("precision.weights.several", place=str(folder), count=len(matching))
    raise StudioError("precision.weights.no_checkpoint", place=str(folder))
