"""Copies of both projects to rehearse in, so that whatever a script writes reaches neither project."""

from __future__ import annotations

import os
import re
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from backends.migration.certify import project_files
from studio.errors import StudioError, from_os
from studio.units import size

if TYPE_CHECKING:
    from collections.abc import Iterable

COPIES_FOLDER = "copies"
RESERVED_BYTES = 500 << 20
"""Bytes to keep free on the disk of the runs."""
_MAX_CODE_BYTES = 1 << 20
_CODE_SUFFIXES = frozenset((".py", ".sh", ".yaml", ".yml", ".json", ".toml", ".cfg", ".ini"))
# Matches "../data" and os.path.join("..", "data").
_PARENT_PATH = re.compile(r"""\.\./([\w][\w.-]*)|["']\.\.["']\s*,\s*["']([\w][\w.-]*)["']""")

_DEVICE = re.compile(r"(?:[\w:]+,)?(?:cuda|nccl)(?:[:,]\w+)*")


@dataclass(frozen=True, kw_only=True)
class ProjectCopy:
    """A copy of one project. `source`: the project; `top`: its copy; `other`: the other project, which may lie inside
    this one; `linked`: relative paths of folders that are linked rather than copied and must only be read."""

    source: Path
    top: Path
    other: Path
    linked: frozenset[str]

    @property
    def excluded(self) -> Path | None:
        """The folder to leave out of the copy: the other project, where it lies inside this one."""
        is_inside = self.other != self.source and self.other.is_relative_to(self.source)
        return self.other if is_inside else None

    def make(self, line: tuple[str, ...]) -> None:
        """Copy the project. Raises StudioError where there is no room or a file cannot be read."""
        entries = list(project_files.list_entries(self.source, self.linked, self.excluded))
        shutil.rmtree(self.top.parent, ignore_errors=True)  # An earlier rehearsal may have left it.
        self._check_room(sum(entry.size for entry in entries if entry.kind == "file"))
        self.top.mkdir(parents=True)
        for entry in entries:
            try:
                self._copy_entry(entry)
            except FileNotFoundError:  # The file vanished meanwhile.
                continue
            except OSError as error:
                raise _copy_error(error, self.source / entry.path) from error
        self._link_parent_data(line, entries)

    def _check_room(self, needed: int) -> None:
        parent = next(folder for folder in self.top.parents if folder.exists())
        free = shutil.disk_usage(parent).free
        if needed + RESERVED_BYTES > free:
            args = {"folder": str(self.source), "needed": size(needed), "free": size(free)}
            raise StudioError("migration.certify.no_room", **args)

    def _copy_entry(self, entry: project_files.ProjectEntry) -> None:
        source, target = self.source / entry.path, self.top / entry.path
        if entry.kind == "folder":
            target.mkdir()
        elif entry.kind == "file":
            shutil.copy2(source, target)
        elif entry.kind == "shared":
            target.symlink_to(source.resolve())
        else:
            target.symlink_to(self._link_target(source))

    def _link_target(self, link: Path) -> Path:
        """Return where a link of the project leads from its copy: into the copy, if it led into the project."""
        real = Path(os.path.realpath(link))
        top = Path(os.path.realpath(self.source))
        return self.top / real.relative_to(top) if real.is_relative_to(top) else real

    def _link_parent_data(self, line: tuple[str, ...], entries: Iterable[project_files.ProjectEntry]) -> None:
        """Link what the command and the code name with "..": data that projects of one folder share."""
        names = set(_parent_names(" ".join(line)))
        for entry in entries:
            path = self.source / entry.path
            if entry.kind == "file" and entry.size <= _MAX_CODE_BYTES and path.suffix in _CODE_SUFFIXES:
                with suppress(OSError):
                    names.update(_parent_names(path.read_text("utf-8", "replace")))
        for name in names - {self.top.name}:
            paths = (project.parent / name for project in (self.source, self.other))
            shared = next((path for path in paths if path.exists()), None)
            if shared is not None:
                (self.top.parent / name).symlink_to(shared.resolve())

    def project_path(self, path: str) -> str:
        """Translate a path inside the copy to the same path of the project, with "/"; return any other path
        unchanged."""
        real = Path(os.path.realpath(self.top))
        for top in (self.top, real):
            if Path(path).is_relative_to(top):
                return Path(path).relative_to(top).as_posix()
        return path


def _copy_error(error: OSError, source: Path) -> StudioError:
    if error.filename == str(source):  # The project is only read.
        return StudioError("error.file", path=str(source), reason=error.strerror)
    return from_os(error, error.filename or source)


def _parent_names(text: str) -> list[str]:
    return [first or second for first, second in _PARENT_PATH.findall(text)]


def make_copies(original: Path, migrated: Path, folder: Path, linked: str) -> tuple[ProjectCopy, ProjectCopy]:
    """Describe the copies of both projects; both carry the name of the original."""
    shared = frozenset(name.strip().strip("/") for name in linked.split(",") if name.strip())
    return (
        ProjectCopy(source=original, top=folder / "original" / original.name, other=migrated, linked=shared),
        ProjectCopy(source=migrated, top=folder / "migrated" / original.name, other=original, linked=shared),
    )


def relative_workdir(workdir: Path, original: Path, migrated: Path) -> Path:
    """Return the folder inside either project where the command starts; Path() for their tops."""
    for top in sorted((original, migrated), key=lambda folder: -len(folder.parts)):
        if workdir != Path() and workdir.is_relative_to(top):
            return workdir.relative_to(top)
    return Path()


def line_for_npu(line: tuple[str, ...]) -> tuple[str, ...]:
    """Replace cuda by npu and nccl by hccl in option values that name a device or backend: --device cuda:0,
    backend=nccl."""
    return tuple(_with_names(word, "npu", "hccl") for word in line)


def line_for_cpu(line: tuple[str, ...]) -> tuple[str, ...]:
    """Replace cuda:0 by cpu and nccl by gloo in such values."""
    return tuple(re.sub(r"\bcpu:\d+", "cpu", _with_names(word, "cpu", "gloo")) for word in line)


def _with_names(word: str, device: str, backend: str) -> str:
    head, equals, value = word.rpartition("=")
    if not _DEVICE.fullmatch(value):
        return word
    return head + equals + re.sub(r"\bnccl\b", backend, re.sub(r"\bcuda\b", device, value))


def line_at(line: tuple[str, ...], top: Path, tops: tuple[Path, ...]) -> tuple[str, ...]:
    """Point absolute paths of the command that lead into either of `tops` at `top` instead."""
    originals = sorted({str(path) for path in tops}, key=len, reverse=True)
    pattern = re.compile("(" + "|".join(map(re.escape, originals)) + r")(?=$|/)")
    return tuple(pattern.sub(lambda _: str(top), word) for word in line)
