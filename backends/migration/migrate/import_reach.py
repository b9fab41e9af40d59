"""Which modules of a project each script reaches through imports, to decide where transfer_to_npu is needed."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from backends.migration.scan.text_files import UnreadableFile, decode_source, read_regular_file

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

MAX_FILE_BYTES = 1 << 22


@dataclass(frozen=True, kw_only=True)
class Origin:
    """A file that an import loads. `base`: the folder in which the first word of its module was found."""

    path: str
    base: str
    is_relative: bool


class ImportReach:
    """Follows imports inside a project by parsing only the files it reaches; nothing is imported."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._origins_by_path: dict[str, frozenset[Origin]] = {}

    def reached_files(self, script: str) -> set[str]:
        """Return the script and every file of the project that it imports, directly or through others."""
        reached, waiting = {script}, [script]
        while waiting:
            new = self._imports(waiting.pop()) - reached
            reached |= new
            waiting += new
        return reached

    def _imports(self, path: str) -> frozenset[str]:
        return frozenset(origin.path for origin in self.origins(path))

    def origins(self, path: str) -> frozenset[Origin]:
        """Return what a file imports, and how."""
        if path not in self._origins_by_path:
            self._origins_by_path[path] = frozenset(self._imported(path))
        return self._origins_by_path[path]

    def _imported(self, path: str) -> Iterator[Origin]:
        try:
            tree = ast.parse(decode_source(read_regular_file(self._folder / path, MAX_FILE_BYTES)).text)
        except (UnreadableFile, SyntaxError, ValueError, RecursionError, MemoryError):
            return
        folder = PurePosixPath(path).parent
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    words = alias.name.split(".")
                    yield from self.module_origins(self._bases(folder), words, is_relative=False)
            elif isinstance(node, ast.ImportFrom):
                words = node.module.split(".") if node.module else []
                above = (folder, *folder.parents)
                bases = above[node.level - 1 : node.level] if node.level else self._bases(folder)
                for alias in node.names:
                    yield from self.module_origins(
                        bases, [*words, alias.name], is_relative=bool(node.level), is_package=len(words) > 1
                    )

    def _bases(self, folder: PurePosixPath) -> list[PurePosixPath]:
        """Return the folders in which an absolute import may find its first word: a package comes last, as Python looks
        into it only where one of its files is run."""
        return sorted((folder, *folder.parents), key=lambda base: (self._folder / base / "__init__.py").is_file())

    def module_origins(
        self, bases: Iterable[PurePosixPath], words: list[str], *, is_relative: bool, is_package: bool = False
    ) -> Iterator[Origin]:
        """Yield the files of a.b.c from the first folder that has a; packages are included, as they run first.
        `is_package`: a has to be one."""
        for base in bases:
            if is_package and self._file(base / words[0]).endswith(f"{words[0]}.py"):
                continue
            paths = [path for end in range(1, len(words) + 1) if (path := self._file(base.joinpath(*words[:end])))]
            if paths:
                yield from (Origin(path=path, base=base.as_posix(), is_relative=is_relative) for path in paths)
                return

    def _file(self, module: PurePosixPath) -> str:
        for path in (module.with_name(module.name + ".py"), module / "__init__.py"):
            if (self._folder / path).is_file():
                return str(path)
        return ""


def split_by_transfer(
    folder: Path, scripts: Collection[str], places: set[str], native: set[str]
) -> tuple[set[str], set[str]]:
    """Return the files that get the lines of transfer_to_npu, and those that are edited without it.

    Scripts that lead to a place, and files with places that no script leads to, get the lines. `native`: files that
    know NPUs, which transfer_to_npu contradicts: what a script reaches together with them is edited without it.
    """
    reach = ImportReach(folder)
    transfer: set[str] = set()
    direct: set[str] = set()
    covered: set[str] = set()
    for entry in (*scripts, *sorted(native.difference(scripts))):
        reached = reach.reached_files(entry) if entry in scripts or entry not in covered else set()
        if reached & places:
            covered |= reached
            if reached & native:
                direct |= reached
            else:
                transfer.add(entry)
    alone = places - covered
    return transfer | (alone - native), direct | (alone & native)
