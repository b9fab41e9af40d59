"""Checkpoints as files: there whole or not at all, verified, and never loaded where they are damaged.

step-000120-3f9a1c7e/      verified when it got this name, never written to again
    weights.safetensors    the parameters of the network
    rest.safetensors       the optimizer, sums of gradients, the loss scale
    state.json             step, facts, the sha256 of both files and of itself
step-000140-….tmp/         being written, or what a kill left of it
last, best                 the name of a folder, switched in one rename
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ascend_engine import safetensors

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    import numpy as np

FORMAT = 1
WEIGHTS, REST = "weights.safetensors", "rest.safetensors"
COMPLETE = re.compile(r"step-(\d+)-[0-9a-f]+")
UNFINISHED = ".tmp"
CHUNK = 1 << 20


class Damaged(Exception):
    """A checkpoint that is not what was written."""


@dataclass(frozen=True)
class Saved:
    """All that a training needs to go on after `step`: arrays by name, and facts in JSON's own types."""

    step: int
    weights: Mapping[str, np.ndarray]
    rest: Mapping[str, np.ndarray]
    facts: dict[str, Any]


class Store:
    """The checkpoints of one training, which alone writes here. Every method may raise OSError."""

    def __init__(self, folder: Path, keep: int):
        self.folder = folder
        self.keep = keep

    def add(self, saved: Saved, is_best: bool) -> Path:
        """A new checkpoint, pointed to as the last. Raises Damaged where the disk does not give back what was
        written."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._delete(self._unfinished())
        added = write(self.folder, saved)
        for name in ("last", "best") if is_best else ("last",):
            point(self.folder / name, added.name)
        return added

    def prune(self) -> None:
        """Delete what is neither among the newest nor pointed to. Only after a switch: until then an old one may be
        all there is."""
        self._delete(self._superfluous())

    def _unfinished(self) -> list[Path]:
        return [path for path in self.folder.iterdir() if path.name.endswith(UNFINISHED)]

    def _superfluous(self) -> list[Path]:
        pointed = {target(self.folder / name) for name in ("last", "best")}
        return [path for path in complete(self.folder)[self.keep :] if path.name not in pointed]

    def _delete(self, paths: list[Path]) -> None:
        """Without its name first: a kill in between must not leave half of one that looks whole."""
        for path in paths:
            doomed = path if path.name.endswith(UNFINISHED) else path.rename(path.with_name(path.name + UNFINISHED))
            shutil.rmtree(doomed) if doomed.is_dir() else doomed.unlink()


def write(folder: Path, saved: Saved) -> Path:
    """A new checkpoint in `folder`, flushed, read back and only then named. Raises OSError and Damaged; then
    nothing of it is left."""
    final = folder / f"step-{saved.step:06d}-{secrets.token_hex(4)}"
    making = final.with_name(final.name + UNFINISHED)
    try:
        making.mkdir()
        parts = {WEIGHTS: saved.weights, REST: saved.rest}
        digests = {name: safetensors.write(making / name, arrays) for name, arrays in parts.items()}
        _write_state(making / "state.json", saved, digests)
        flush_folder(making)
        _verify(making)
        making.rename(final)
        flush_folder(folder)
    except BaseException:
        shutil.rmtree(making, ignore_errors=True)
        raise
    return final


def _write_state(path: Path, saved: Saved, digests: dict[str, str]) -> None:
    state = {"format": FORMAT, "step": saved.step, "files": digests, "facts": saved.facts}
    text = json.dumps({"sha256": _digest_of(state), "state": state}, indent=1)
    _write_flushed(path, text.encode())


def _digest_of(state: Any) -> str:
    return hashlib.sha256(json.dumps(state, sort_keys=True).encode()).hexdigest()


def _write_flushed(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def flush_folder(folder: Path) -> None:
    """Names reach the disk only when their folder is flushed."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _verify(folder: Path) -> None:
    for name, digest in _read_state(folder)["files"].items():
        if _digest_on_disk(folder / name) != digest:
            raise Damaged(f"{name} does not read back as it was written")


def _digest_on_disk(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        # Else the answer would come from memory, whatever the disk holds.
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _read_state(folder: Path) -> dict[str, Any]:
    """The content of state.json. Raises OSError and Damaged."""
    content = (folder / "state.json").read_bytes()
    try:
        whole = json.loads(content)
        digest, state = whole["sha256"], whole["state"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise Damaged(f"state.json: {error}") from error
    if _digest_of(state) != digest:
        raise Damaged("state.json is not as it was written")
    return state


def read(folder: Path) -> Saved:
    """A checkpoint, each byte of it checked. Raises Damaged, also where a file is missing or cannot be read."""
    try:
        state = _read_state(folder)
        if state["format"] != FORMAT:
            raise Damaged(f"its format is {state['format']}, this program reads {FORMAT}")
        weights, rest = (_read_arrays(folder / name, state["files"][name]) for name in (WEIGHTS, REST))
    except OSError as error:
        raise Damaged(f"{error.filename}: {error.strerror}") from error
    return Saved(step=state["step"], weights=weights, rest=rest, facts=state["facts"])


def _read_arrays(path: Path, digest: str) -> dict[str, np.ndarray]:
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != digest:
        raise Damaged(f"{path.name} is not as it was written")
    return safetensors.decode(content)


def point(pointer: Path, name: str) -> None:
    """Let a pointer file name another folder; at every moment it names one of both."""
    beside = pointer.with_name(pointer.name + UNFINISHED)
    _write_flushed(beside, name.encode())
    beside.replace(pointer)
    flush_folder(pointer.parent)


def target(pointer: Path) -> str:
    """The name in a pointer file, "" where there is none."""
    try:
        return pointer.read_text("ascii")
    except (OSError, UnicodeDecodeError):
        return ""


def complete(folder: Path) -> list[Path]:
    """The checkpoints in a folder, newest step first."""
    found = [path for path in folder.iterdir() if COMPLETE.fullmatch(path.name)] if folder.is_dir() else []
    return sorted(found, key=lambda path: int(COMPLETE.fullmatch(path.name)[1]), reverse=True)


def candidates(folder: Path) -> Iterator[Path]:
    """Where to look for the newest state: what `last` names, then all others, newest first."""
    last = target(folder / "last")
    paths = complete(folder)
    yield from (path for path in paths if path.name == last)
    yield from (path for path in paths if path.name != last)
