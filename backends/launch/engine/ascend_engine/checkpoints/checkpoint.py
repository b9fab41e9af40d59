"""Checkpoints as files: there whole or not at all, verified, and never loaded where they are damaged.

step-000120-3f9a1c7e/      verified when it got this name, never written to again
    weights.safetensors    the parameters of the network
    rest.safetensors       the optimizer, sums of gradients, the loss scale
    state.json             step, facts, the sha256 of both files and of itself
step-000140-….tmp/         being written, or what a kill left of it
last, best                 the name of a folder, switched in one rename
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import mmap
import os
import re
import secrets
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ascend_engine.checkpoints import safetensors

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    import numpy as np

FORMAT = 1
FILES = WEIGHTS, REST, STATE = "weights.safetensors", "rest.safetensors", "state.json"
COMPLETE = re.compile(r"step-(\d+)-[0-9a-f]+")
UNFINISHED = ".tmp"
CHUNK = 1 << 20
AT_ONCE = 1024  # parts that the system writes in one call
READABLE = 0o666  # less the umask


class Damaged(Exception):
    """A checkpoint that is not what was written."""


@dataclass(frozen=True)
class Saved:
    """All that a training needs to go on after `step`: arrays by name, and facts in JSON's own types. `ranks`: those
    that write it together, None where this process has all of it."""

    step: int
    weights: Mapping[str, np.ndarray]
    rest: Mapping[str, np.ndarray]
    facts: dict[str, Any]
    ranks: Any = None

    @property
    def files(self) -> dict[str, Mapping[str, np.ndarray]]:
        return {WEIGHTS: self.weights, REST: self.rest}


class Store:
    """The checkpoints of one training, which alone writes here. Every method may raise OSError.

    Beside steps of a millisecond every call into the system shows in their times, so what is there is looked up once.
    """

    def __init__(self, folder: Path, keep: int):
        self.folder = folder
        self.keep = keep
        self.clean = False
        self.existing: list[Path] = []  # newest first
        self.pointed: dict[str, str] = {}

    def add(self, saved: Saved, is_best: bool) -> Path:
        """A new checkpoint, pointed to as the last. Raises Damaged where the disk does not give back what was
        written."""
        if not self.clean:
            self._read_folder()
        self.clean = False
        pointers = ("last", "best") if is_best else ("last",)
        added = write(self.folder, saved, pointers)
        self.pointed.update(dict.fromkeys(pointers, added.name))
        self.existing.insert(0, added)
        self.clean = True
        return added

    def prune(self) -> None:
        """Delete what is neither among the newest nor pointed to. Only after a switch: until then an old one may be
        all there is."""
        for path in self.existing[self.keep :]:
            if path.name not in self.pointed.values():
                self.clean = False
                with contextlib.suppress(FileNotFoundError):  # someone else deleted it
                    _delete(path)
                self.existing.remove(path)
                self.clean = True

    def _read_folder(self) -> None:
        """What there is, without what a kill or a failure left unfinished."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for path in self.folder.iterdir():
            if path.name.endswith(UNFINISHED):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        self.existing = complete(self.folder)
        self.pointed = {name: target(self.folder / name) for name in ("last", "best")}


def _delete(path: Path) -> None:
    """Without its name first: a kill in between must not leave half of one that looks whole."""
    doomed = path.rename(f"{path}{UNFINISHED}")
    for name in FILES:
        (doomed / name).unlink()
    doomed.rmdir()


def write(folder: Path, saved: Saved, pointers: Sequence[str] = ()) -> Path:
    """A new checkpoint in `folder`, flushed, read back, only then named, and then pointed to. Raises OSError and
    Damaged; then nothing of it is left."""
    final = folder / f"step-{saved.step:06d}-{secrets.token_hex(4)}"
    making = final.with_name(final.name + UNFINISHED)
    switches = {folder / name: folder / f"{final.name}.{name}{UNFINISHED}" for name in pointers}
    try:
        making.mkdir()
        with Flushed() as files:
            digests = _write_arrays(making, saved, files)
            files.write(f"{making}/{STATE}", [_state_of(saved, digests)])
            for switch in switches.values():
                files.write(str(switch), [final.name.encode()])
        making.rename(final)
        flush_folder(final)
    except BaseException:
        shutil.rmtree(making, ignore_errors=True)
        for switch in switches.values():
            switch.unlink(missing_ok=True)
        raise
    for pointer, switch in switches.items():
        switch.rename(pointer)
    flush_folder(folder)
    return final


def _write_arrays(making: Path, saved: Saved, files: Flushed) -> dict[str, str]:
    """The sha256 of each file."""
    if saved.ranks is not None:
        return saved.ranks.write(making, saved.files)
    return {
        name: files.write(f"{making}/{name}", safetensors.encode(arrays)) for name, arrays in saved.files.items()
    }  # fmt: skip


class Flushed:
    """New files that reach the disk when the block ends, together: a disk takes little longer for it than for one.
    They are read back. Raises OSError and Damaged."""

    def __init__(self) -> None:
        self.files: list[tuple[int, str, str]] = []  # the descriptor, the path, the sha256 of the content

    def __enter__(self) -> Flushed:
        return self

    def write(self, path: str, parts: Sequence[bytes | np.ndarray]) -> str:
        """Parts are bytes. Returns the sha256 of the content."""
        digest = hashlib.sha256()
        for part in parts:
            digest.update(part)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, READABLE)
        self.files.append((descriptor, path, digest.hexdigest()))
        _write_all(descriptor, [memoryview(part) for part in parts])
        return digest.hexdigest()

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        try:
            if kind is None:
                self._flush()
        finally:
            for descriptor, *_ in self.files:
                os.close(descriptor)

    def _flush(self) -> None:
        for descriptor, *_ in self.files:
            forget_pages(descriptor)
        for descriptor, *_ in self.files:
            os.fsync(descriptor)
        for descriptor, path, digest in self.files:
            if digest_on_disk(descriptor) != digest:
                raise Damaged(f"{path} does not read back as it was written")


def _write_all(descriptor: int, left: list[memoryview]) -> None:
    begin = 0
    while begin < len(left):
        done = os.writev(descriptor, left[begin : begin + AT_ONCE])
        while begin < len(left) and done >= len(left[begin]):
            done -= len(left[begin])
            begin += 1
        if done:
            left[begin] = left[begin][done:]


def forget_pages(descriptor: int) -> None:
    """And forget what is flushed: else reading it back would show what memory holds, whatever the disk does."""
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)


def digest_on_disk(descriptor: int) -> str:
    forget_pages(descriptor)
    digest = hashlib.sha256()
    begin = 0
    while chunk := os.pread(descriptor, CHUNK, begin):
        digest.update(chunk)
        begin += len(chunk)
    return digest.hexdigest()


def _state_of(saved: Saved, digests: dict[str, str]) -> bytes:
    text = _in_order({"format": FORMAT, "step": saved.step, "files": digests, "facts": saved.facts})
    return f'{{"sha256": "{_digest_of(text)}", "state": {text}}}'.encode()


def _in_order(state: Any) -> str:
    return json.dumps(state, sort_keys=True)


def _digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def flush_folder(folder: Path) -> None:
    """Names reach the disk only when their folder is flushed."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _read_state(folder: Path) -> dict[str, Any]:
    """The content of state.json. Raises OSError and Damaged."""
    content = (folder / STATE).read_bytes()
    try:
        whole = json.loads(content)
        digest, state = whole["sha256"], whole["state"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise Damaged(f"state.json: {error}") from error
    if _digest_of(_in_order(state)) != digest:
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
    """Views of the file, so that a process which takes rows of each array reads it into memory one by one."""
    with path.open("rb") as file:
        if not os.fstat(file.fileno()).st_size:
            raise Damaged(f"{path.name} is empty")
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    if hashlib.sha256(content).hexdigest() != digest:
        raise Damaged(f"{path.name} is not as it was written")
    return safetensors.decode(content)


def point(pointer: Path, name: str) -> None:
    """Let a pointer file name another folder; at every moment it names one of both. The folder is to be flushed yet."""
    temporary = pointer.with_name(pointer.name + UNFINISHED)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, READABLE)
    try:
        os.write(descriptor, name.encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    temporary.rename(pointer)


def target(pointer: Path) -> str:
    """The name in a pointer file, "" where there is none."""
    try:
        return pointer.read_text("ascii")
    except (OSError, UnicodeDecodeError):
        return ""


def complete(folder: Path) -> list[Path]:
    """The checkpoints in a folder, newest step first."""
    folders = [path for path in folder.iterdir() if COMPLETE.fullmatch(path.name)] if folder.is_dir() else []
    return sorted(folders, key=lambda path: int(COMPLETE.fullmatch(path.name)[1]), reverse=True)


def candidates(folder: Path) -> Iterator[Path]:
    """Where to look for the newest state: what `last` names, then all others, newest first."""
    last = target(folder / "last")
    paths = complete(folder)
    yield from (path for path in paths if path.name == last)
    yield from (path for path in paths if path.name != last)
