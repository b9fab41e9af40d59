"""Third-party libraries of a project: what it imports and requires, and what is known of each on an NPU."""

from __future__ import annotations

import ast
import re
import sys
from typing import TYPE_CHECKING

import msgspec

from backends.migration.found import State  # noqa: TC001 - msgspec reads the fields

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from backends.migration.scan.facts.facts import Facts
    from backends.migration.scan.python.module import Module
    from backends.migration.scan.reading import Reading

DISTRIBUTIONS = {
    "cv2": "opencv-python", "PIL": "pillow", "yaml": "pyyaml", "sklearn": "scikit-learn", "skimage": "scikit-image",
    "bs4": "beautifulsoup4", "dateutil": "python-dateutil", "attr": "attrs", "git": "gitpython", "OpenSSL": "pyopenssl",
    "lightning": "pytorch-lightning", "pytorch_lightning": "pytorch-lightning", "tensorboardX": "tensorboardx",
}  # fmt: skip
"""What is installed where an import has another name."""
_REQUIRED = re.compile(
    r"^[ \t]*([A-Za-z0-9][A-Za-z0-9._-]*)[ \t]*(?:\[[^\]\n]*\])?[ \t]*([=<>!~][^;#\n]*)?(?=[;#\s]|$)", re.M
)
_OURS = {"torch", "torch_npu"}


class Library(msgspec.Struct, frozen=True, kw_only=True):
    """`name`: as it is imported or, where it only is required, as it is installed. `version`: in the chosen
    interpreter, empty where it has none; `asked`: what requirements say. `rule`: its texts say what to do instead,
    empty where nothing is known of it. `since`: the first version of which something is known. `path`, `line`: the
    first place that names it; `files`: how many do."""

    name: str
    state: State
    version: str = ""
    asked: str = ""
    rule: str = ""
    since: str = ""
    source: str = ""
    files: int = 0
    path: str = ""
    line: int = 0


def imported(module: Module) -> dict[str, int]:
    """Top-level names of other people's modules, with the line of the first import."""
    found: dict[str, int] = {}
    for name, line in _imports(module):
        first = name.partition(".")[0]
        is_ours = module.exports.canonical(first, module.path).startswith("/")
        if first and first not in sys.stdlib_module_names and first not in _OURS and not is_ours:
            found.setdefault(first, line)
    return found


def _imports(module: Module) -> Iterator[tuple[str, int]]:
    for node in module.nodes(ast.Import):
        yield from ((alias.name, node.lineno) for alias in node.names)
    for origin in module.nodes(ast.ImportFrom):
        if not origin.level:
            yield origin.module or "", origin.lineno


def required(text: str) -> dict[str, tuple[int, str]]:
    """Distributions that a requirements file names, with line and what it asks of the version."""
    return {
        found[1].lower(): (text.count("\n", 0, found.start()) + 1, (found[2] or "").strip())
        for found in _REQUIRED.finditer(text)
        if found[1].lower() not in _OURS
    }


def libraries(readings: Mapping[str, Reading], facts: Facts) -> tuple[Library, ...]:
    """Those of which something is known first, then by how many files name them."""
    found: dict[str, Library] = {}
    asked = {plain(name): text for reading in readings.values() for name, text in reading.pinned.items() if text}
    for path in sorted(readings):
        for name, line in readings[path].libraries.items():
            key = plain(distribution(name, facts))
            known = found.get(key) or _library(name, path, line, facts, asked)
            found[key] = msgspec.structs.replace(known, files=known.files + 1)
    return tuple(sorted(found.values(), key=lambda one: (not one.rule, -one.files, one.name.lower())))


def _library(name: str, path: str, line: int, facts: Facts, asked: Mapping[str, str]) -> Library:
    known = facts.library(name)
    installed = plain(DISTRIBUTIONS.get(name, name))
    return Library(
        name=name,
        state=known.state if known else "unverified",
        version=facts.packages.get(installed, ""),
        asked=asked.get(installed, ""),
        rule=known.rule if known else "",
        since=known.since if known else "",
        source=known.source if known else "",
        path=path,
        line=line,
    )


def distribution(name: str, facts: Facts) -> str:
    """One name for what is imported and what is installed."""
    known = facts.library(name)
    return known.name if known else DISTRIBUTIONS.get(name, name)


def plain(name: str) -> str:
    """As PEP 503 writes a distribution's name."""
    return re.sub(r"[-_.]+", "-", name).lower()
