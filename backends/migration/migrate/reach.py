"""Which scripts lead to which modules of the project, by their imports. For files that transfer_to_npu has to reach."""

from __future__ import annotations

import ast
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal, TypeAlias

from backends.migration.scan.read import Unread, decode, read_bytes

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

Lines: TypeAlias = Literal["ready", "offered", ""]
LARGEST = 1 << 22


class Reach:
    """Reads only the files that it is led to. Nothing is imported."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._led: dict[str, frozenset[str]] = {}

    def files(self, script: str) -> set[str]:
        """The script and all that it imports of the project, also through others."""
        found, waiting = {script}, [script]
        while waiting:
            new = self._imports(waiting.pop()) - found
            found |= new
            waiting += new
        return found

    def _imports(self, path: str) -> frozenset[str]:
        if path not in self._led:
            self._led[path] = frozenset(self._imported(path))
        return self._led[path]

    def _imported(self, path: str) -> Iterator[str]:
        try:
            tree = ast.parse(decode(read_bytes(self._folder / path, LARGEST)).text)
        except (Unread, SyntaxError, ValueError, RecursionError, MemoryError):
            return
        here = PurePosixPath(path).parent
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield from self._module((here, *here.parents), alias.name.split("."))
            elif isinstance(node, ast.ImportFrom):
                words = node.module.split(".") if node.module else []
                above = (here, *here.parents)
                bases = above[node.level - 1 : node.level] if node.level else above
                for alias in node.names:
                    yield from self._module(bases, [*words, alias.name])

    def _module(self, bases: Iterable[PurePosixPath], words: list[str]) -> Iterator[str]:
        """The files of a.b.c from the first folder that has a: those of its packages too, which are run first."""
        for base in bases:
            found = [path for end in range(1, len(words) + 1) if (path := self._file(base.joinpath(*words[:end])))]
            if found:
                yield from found
                return

    def _file(self, module: PurePosixPath) -> str:
        for path in (module.with_name(module.name + ".py"), module / "__init__.py"):
            if (self._folder / path).is_file():
                return str(path)
        return ""


def need_lines(folder: Path, scripts: Collection[str], places: set[str], native: set[str]) -> dict[str, Lines]:
    """The files that need the lines of transfer_to_npu: scripts that lead to a place, and files with places that no
    script leads to. `native`: files with trainers that know NPUs; what leads to them is only offered the lines, and
    where no script does they may be scripts themselves."""
    reach = Reach(folder)
    needed: dict[str, Lines] = {}
    covered: set[str] = set()
    for entry in (*scripts, *sorted(native.difference(scripts))):
        led = reach.files(entry) if entry in scripts or entry not in covered else set()
        if led & places:
            needed[entry] = "offered" if led & native else "ready"
            covered |= led
    alone: dict[str, Lines] = {path: "offered" if path in native else "ready" for path in places - covered}
    return alone | needed
