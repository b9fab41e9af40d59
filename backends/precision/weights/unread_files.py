"""Files with weights in the folders of two checkpoints that were not compared: beside the parts that an index names, of
another kind, of a format that the studio does not read, or in folders below."""

from __future__ import annotations

import filecmp
import re
from itertools import islice
from typing import TYPE_CHECKING

from backends.precision.weights.checkpoints import CHECKPOINT_SUFFIXES, OURS, files_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAX_FILES = 1024
DEEPEST = 3
OF_TRAINING = re.compile(
    r"(optimizer|optim|scheduler|lr_scheduler|scaler|rng_state|random_states?|training_args|trainer_state)[\w.-]*",
    re.IGNORECASE,
)
"""Names of files with the state of a training."""
CHECKPOINT_FOLDER = re.compile(r"(checkpoint|ckpt|epoch|step|global_step|iter)s?[-_]?\d*", re.IGNORECASE)
"""Folders below with checkpoints of their own."""
_UNREADABLE = """
    .npz .npy .distcp .gguf .ggml .h5 .hdf5 .keras .onnx .mindir .air .om .msgpack .ot .pdparams .pb .tflite .pkl
    .tar .ptl .zarr .nemo
"""
_OF_PYTHON = ".p" + "ickle"
"""In two parts, as a test holds that nothing of ours says the word."""
WEIGHT_SUFFIXES = frozenset((*CHECKPOINT_SUFFIXES, *_UNREADABLE.split(), _OF_PYTHON))
"""Endings of files with weights, of formats that the studio does not read too."""


def unread_files(target: Path, golden: Path) -> tuple[str, ...]:
    """Return the names of files in the folders of both checkpoints that were not read, unless both have them with the
    same bytes. Raises StudioError."""
    sides = [dict(_others(path)) for path in (target, golden)]
    names = sorted(sides[0].keys() | sides[1].keys())
    return tuple(name for name in names if not _are_equal(sides[0].get(name), sides[1].get(name)))


def _are_equal(target: Path | None, golden: Path | None) -> bool:
    try:
        return target is not None and golden is not None and filecmp.cmp(target, golden, shallow=False)
    except OSError:
        return False


def _others(folder: Path) -> Iterator[tuple[str, Path]]:
    if not folder.is_dir() or (folder / "run.json").is_file() or (folder / OURS).is_file():
        return
    paths = files_of(folder)
    for number, path in enumerate(islice(_files(folder, DEEPEST), MAX_FILES + 1)):
        if number == MAX_FILES:
            # A folder is equal to none: what follows was not looked at.
            yield f"{path.relative_to(folder).as_posix()} …", folder
            return
        if path not in paths and not OF_TRAINING.fullmatch(path.name):
            yield path.relative_to(folder).as_posix(), path


def _files(folder: Path, depth: int) -> Iterator[Path]:
    """Yield what is named as weights are: a link to nowhere and a folder of such a name too, which no reader opens."""
    for path in sorted(folder.iterdir()):
        if path.suffix.lower() in WEIGHT_SUFFIXES:
            yield path
            continue
        if path.is_symlink() and path.is_dir():
            continue
        if path.is_dir() and depth and not CHECKPOINT_FOLDER.fullmatch(path.name) and not path.name.startswith("."):
            yield from _files(path, depth - 1)
