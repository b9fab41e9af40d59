"""Copies to rehearse in: what a script writes where it is started reaches neither project."""

from __future__ import annotations

import os
import re
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from backends.migration.certify import tree
from studio.errors import StudioError, from_os
from studio.units import size

if TYPE_CHECKING:
    from collections.abc import Iterable

FOLDER = "copies"
ROOM = 500 << 20
"""Bytes that stay free on the disk of the runs."""
_TEXT = 1 << 20
_CODE = frozenset((".py", ".sh", ".yaml", ".yml", ".json", ".toml", ".cfg", ".ini"))
# "../data", and os.path.join("..", "data").
_BESIDE = re.compile(r"""\.\./([\w][\w.-]*)|["']\.\.["']\s*,\s*["']([\w][\w.-]*)["']""")

_DEVICE = re.compile(r"(?:[\w:]+,)?(?:cuda|nccl)(?:[:,]\w+)*")


@dataclass(frozen=True, kw_only=True)
class Copy:
    """`source`: the project; `top`: its copy; `other`: the other project, which may lie in it. `linked`: folders in it,
    relative, that are only read."""

    source: Path
    top: Path
    other: Path
    linked: frozenset[str]

    @property
    def without(self) -> Path | None:
        is_inside = self.other != self.source and self.other.is_relative_to(self.source)
        return self.other if is_inside else None

    def make(self, line: tuple[str, ...]) -> None:
        """Raises StudioError: no room, a file that cannot be read."""
        found = list(tree.entries(self.source, self.linked, self.without))
        shutil.rmtree(self.top.parent, ignore_errors=True)  # what an earlier rehearsal has left
        self._room(sum(one.size for one in found if one.kind == "file"))
        self.top.mkdir(parents=True)
        for one in found:
            try:
                self._take(one)
            except FileNotFoundError:  # it vanished meanwhile
                continue
            except OSError as error:
                raise _of_copying(error, self.source / one.path) from error
        self._link_beside(line, found)

    def _room(self, needed: int) -> None:
        parent = next(one for one in self.top.parents if one.exists())
        free = shutil.disk_usage(parent).free
        if needed + ROOM > free:
            args = {"folder": str(self.source), "needed": size(needed), "free": size(free)}
            raise StudioError("migration.certify.no_room", **args)

    def _take(self, one: tree.Entry) -> None:
        source, target = self.source / one.path, self.top / one.path
        if one.kind == "folder":
            target.mkdir()
        elif one.kind == "file":
            shutil.copy2(source, target)
        elif one.kind == "shared":
            target.symlink_to(source.resolve())
        else:
            target.symlink_to(self._target(source))

    def _target(self, link: Path) -> Path:
        """Where a link of the project leads from its copy: into the copy, where it led into the project."""
        real = Path(os.path.realpath(link))
        top = Path(os.path.realpath(self.source))
        return self.top / real.relative_to(top) if real.is_relative_to(top) else real

    def _link_beside(self, line: tuple[str, ...], found: Iterable[tree.Entry]) -> None:
        """What the line and the code name with "..": data that projects of one folder share."""
        names = set(_named(" ".join(line)))
        for one in found:
            path = self.source / one.path
            if one.kind == "file" and one.size <= _TEXT and path.suffix in _CODE:
                with suppress(OSError):
                    names.update(_named(path.read_text("utf-8", "replace")))
        for name in names - {self.top.name}:
            paths = (one.parent / name for one in (self.source, self.other))
            shared = next((one for one in paths if one.exists()), None)
            if shared is not None:
                (self.top.parent / name).symlink_to(shared.resolve())

    def place_of(self, path: str) -> str:
        """A path in the copy as one in the project, with "/"; any other as it is."""
        real = Path(os.path.realpath(self.top))
        for top in (self.top, real):
            if Path(path).is_relative_to(top):
                return Path(path).relative_to(top).as_posix()
        return path


def _of_copying(error: OSError, source: Path) -> StudioError:
    if error.filename == str(source):  # which is only read
        return StudioError("error.file", path=str(source), reason=error.strerror)
    return from_os(error, error.filename or source)


def _named(text: str) -> list[str]:
    return [first or second for first, second in _BESIDE.findall(text)]


def copies(original: Path, migrated: Path, folder: Path, linked: str) -> tuple[Copy, Copy]:
    """Both under the name of the original."""
    shared = frozenset(name.strip().strip("/") for name in linked.split(",") if name.strip())
    return (
        Copy(source=original, top=folder / "original" / original.name, other=migrated, linked=shared),
        Copy(source=migrated, top=folder / "migrated" / original.name, other=original, linked=shared),
    )


def relative_place(workdir: Path, original: Path, migrated: Path) -> Path:
    """Where in either project the line starts; Path() at their tops."""
    for top in sorted((original, migrated), key=lambda one: -len(one.parts)):
        if workdir != Path() and workdir.is_relative_to(top):
            return workdir.relative_to(top)
    return Path()


def line_for_npu(line: tuple[str, ...]) -> tuple[str, ...]:
    """The line with the values of its options that name a device or its backend: --device cuda:0, backend=nccl."""
    return tuple(_for_npu(word) for word in line)


def _for_npu(word: str) -> str:
    head, equals, value = word.rpartition("=")
    if not _DEVICE.fullmatch(value):
        return word
    return head + equals + re.sub(r"\bnccl\b", "hccl", re.sub(r"\bcuda\b", "npu", value))


def line_in(line: tuple[str, ...], copy: Copy, tops: tuple[Path, ...]) -> tuple[str, ...]:
    """The line with whole paths into either project leading into a copy."""
    known = sorted({str(top) for top in tops}, key=len, reverse=True)
    pattern = re.compile("(" + "|".join(map(re.escape, known)) + r")(?=$|/)")
    return tuple(pattern.sub(lambda _: str(copy.top), word) for word in line)
