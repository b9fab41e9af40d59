"""Which files the command of a project loads."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from backends.migration.scan.source_kinds import kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_FILLED_IN = re.compile(r"%\(?\w*\)?s|\{[^{}]*\}|\*")


@dataclass(frozen=True, kw_only=True)
class Loading:
    """`python`: sources that ran or that these import; `text`: of the command and of all of them; `parts`: what paths
    may be put together from."""

    python: frozenset[str]
    text: str
    parts: frozenset[str]

    def may_load(self, path: str) -> bool:
        """Tell whether the command may load a file that is no Python: by its name, or a configuration by a path that is
        put together. Of such a path a part names a folder above it, or one with its suffix ends its name."""
        file = PurePosixPath(path)
        if file.name in self.text:
            return True
        if kind_of(file.name) != "config":
            return False
        endings = (part for part in self.parts if part == file.suffix[1:] or part.endswith(file.suffix))
        return bool(self.parts.intersection(file.parent.parts)) or any(map(file.name.endswith, endings))


def path_parts(trees: Iterable[ast.Module | None], line: Sequence[str]) -> frozenset[str]:
    """Return what paths may be put together from: each text of the sources and each word of the command, cut at the
    slashes and where something is filled in."""
    texts = [
        node.value
        for tree in trees
        for node in (ast.walk(tree) if tree is not None else ())
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    words = [word for text in line for word in text.split("=")]
    pieces = (piece for text in (*texts, *words) if "\n" not in text for piece in re.split(r"[/\\]", text))
    return frozenset(part for piece in pieces for part in _FILLED_IN.split(piece) if part)
