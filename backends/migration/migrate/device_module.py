"""The small module that says which accelerator is there, for all files of the explicit style that can import it.

A file gets an import of it where it is plain how the file is loaded: as a script, by one import path, or as a member of
a package. Where that is open, or a single file needs the names, these lines stay in the file itself.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from backends.migration.migrate import prelude
from backends.migration.migrate.changes import FileChanges, Hunk, hunk_id
from backends.migration.migrate.import_reach import ImportReach, Origin
from backends.migration.scan.project_files import SourceFile, walk_project
from backends.migration.scan.text_files import UnreadableFile, decode_source, read_regular_file

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path

    from backends.migration.migrate.draft import PreludeName

NAME = "npu_or_cuda"
RULE = "migrate.device_module"
MAX_FILE_BYTES = 1 << 22
_AS_MODULE = re.compile(r"(?<!\S)-m[ \t]+([A-Za-z_][\w.]*)")


@dataclass(frozen=True, kw_only=True)
class DeviceImport:
    """How a file imports the module. `folder`: where the module is; `module`: its name in the import; `hunk`: the id of
    the hunk that writes it, "" where it is there."""

    folder: str
    module: str
    hunk: str = ""


def module_text(names: Collection[PreludeName]) -> str:
    """Return the text of the module."""
    lines = prelude.explicit_lines(prelude.choose_names(None, frozenset()), names, brings_torch=True)
    head = '"""Which accelerator this host has: an NPU where torch_npu is installed, else what CUDA means."""'
    return "\n".join((head, "", lines[0], "", *lines[1:5], "", *lines[5:], ""))


def choose_imports(
    folder: Path, names: Mapping[str, Collection[PreludeName]], scripts: Collection[str]
) -> tuple[dict[str, DeviceImport], list[FileChanges]]:
    """Return how each file imports the module, and the modules to write. `names`: what each file needs; `scripts`: the
    files that are run."""
    places = _places(folder, names, scripts) if len(names) > 1 or any(_is_there(folder, path) for path in names) else {}
    imports: dict[str, DeviceImport] = {}
    written = []
    for home, count in Counter(place.folder for place in places.values()).items():
        files = [path for path, place in places.items() if place.folder == home]
        wanted = {name for path in files for name in names[path]}
        path = (PurePosixPath(home) / f"{NAME}.py").as_posix()
        hunk = ""
        if (folder / path).exists():
            if not _defines(folder / path, wanted):
                continue
        elif count < 2:
            continue
        else:
            written.append(_new_file(path, module_text(wanted)))
            hunk = written[-1].hunks[0].id
        imports |= {file: DeviceImport(folder=home, module=places[file].module, hunk=hunk) for file in files}
    return imports, written


def _is_there(folder: Path, path: str) -> bool:
    return any((folder / parent / f"{NAME}.py").exists() for parent in PurePosixPath(path).parents)


def _defines(path: Path, wanted: Collection[PreludeName]) -> bool:
    usual = prelude.choose_names(None, frozenset())
    text = _read_text(path)
    return all(re.search(rf"^{usual.name_for(name)} = ", text, re.MULTILINE) for name in {*wanted, "device_type"})


def _new_file(path: str, text: str) -> FileChanges:
    id = hunk_id(path, 1, "", text)
    hunk = Hunk(id=id, path=path, first=1, last=0, before="", after=text, rules=(RULE,), state="ready")
    return FileChanges(path=path, encoding="utf-8", digest="", hunks=(hunk,))


def _places(folder: Path, paths: Collection[str], scripts: Collection[str]) -> dict[str, DeviceImport]:
    origins = _origins(folder, paths)
    for script in scripts:
        if script in origins:
            origins[script].add(Origin(path=script, base=PurePosixPath(script).parent.as_posix(), is_relative=False))
    places = {path: _place(folder, path, origins[path]) for path in paths}
    return {path: place for path, place in places.items() if place is not None}


def _place(folder: Path, path: str, origins: set[Origin]) -> DeviceImport | None:
    bases = {PurePosixPath(origin.base) for origin in origins if not origin.is_relative}
    is_relative = any(origin.is_relative for origin in origins)
    package = _package(folder, path)
    if package is not None and origins and not any(base.is_relative_to(package) for base in bases):
        depth = len(PurePosixPath(path).parent.relative_to(package).parts)
        return DeviceImport(folder=package.as_posix(), module="." * (depth + 1) + NAME)
    if is_relative or len(bases) != 1:
        return None
    return DeviceImport(folder=bases.pop().as_posix(), module=NAME)


def _package(folder: Path, path: str) -> PurePosixPath | None:
    """Return the top folder of the package that a file is in."""
    package = None
    for parent in PurePosixPath(path).parents:
        if not (folder / parent / "__init__.py").is_file():
            break
        package = parent
    return package


def _origins(folder: Path, paths: Collection[str]) -> dict[str, set[Origin]]:
    """Return how the files of the project and its scripts load each of these files."""
    origins: dict[str, set[Origin]] = {path: set() for path in paths}
    reach = ImportReach(folder)
    stems = {_module_name(path) for path in paths}
    mentions = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(stems)))})\b")
    for entry in walk_project(folder):
        if not isinstance(entry, SourceFile):
            continue
        is_python = entry.kind == "python"
        if is_python and not (entry.path in origins or mentions.search(_read_text(folder / entry.path))):
            continue
        loaded = reach.origins(entry.path) if is_python else _run_as_modules(folder, reach, entry.path)
        for origin in loaded:
            if origin.path in origins:
                origins[origin.path].add(origin)
    return origins


def _module_name(path: str) -> str:
    file = PurePosixPath(path)
    return file.parent.name if file.stem == "__init__" else file.stem


def _run_as_modules(folder: Path, reach: ImportReach, path: str) -> Iterator[Origin]:
    """Yield what a script runs by `python -m`."""
    above = (PurePosixPath(path).parent, *PurePosixPath(path).parent.parents)
    for module in _AS_MODULE.findall(_read_text(folder / path)):
        yield from reach.module_origins(above, module.split("."), is_relative=False)


def _read_text(path: Path) -> str:
    try:
        return decode_source(read_regular_file(path, MAX_FILE_BYTES)).text
    except UnreadableFile:
        return ""
