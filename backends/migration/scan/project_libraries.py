"""Third-party libraries of a project: what it imports and requires, and what is known of each on an NPU."""

from __future__ import annotations

import ast
import re
import sys
from typing import TYPE_CHECKING

import msgspec

from backends.migration.finding import FindingState  # noqa: TC001 - msgspec reads the fields

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from backends.migration.scan.facts.facts import Facts
    from backends.migration.scan.file_scan import FileScan
    from backends.migration.scan.python.module import Module

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


class ProjectLibrary(msgspec.Struct, frozen=True, kw_only=True):
    """`name`: as it is imported or, where it only is required, as it is installed. `version`: in the chosen
    interpreter, empty where it has none; `asked`: what requirements say. `rule`: its texts say what to do instead,
    empty where nothing is known of it. `since`: the first version of which something is known. `path`, `line`: the
    first line that names it; `files`: how many do."""

    name: str
    state: FindingState
    version: str = ""
    asked: str = ""
    rule: str = ""
    since: str = ""
    source: str = ""
    files: int = 0
    path: str = ""
    line: int = 0


def imported_libraries(module: Module) -> dict[str, int]:
    """Top-level names of other people's modules, with the line of the first import."""
    lines: dict[str, int] = {}
    for name, line in _imports(module):
        first = name.partition(".")[0]
        is_ours = module.exports.canonical_name(first, module.path).startswith("/")
        if first and first not in sys.stdlib_module_names and first not in _OURS and not is_ours:
            lines.setdefault(first, line)
    return lines


def _imports(module: Module) -> Iterator[tuple[str, int]]:
    for node in module.nodes(ast.Import):
        yield from ((alias.name, node.lineno) for alias in node.names)
    for origin in module.nodes(ast.ImportFrom):
        if not origin.level:
            yield origin.module or "", origin.lineno


def required_libraries(text: str) -> dict[str, tuple[int, str]]:
    """Return the distributions of a requirements file, each with its line and its version constraint."""
    return {
        match[1].lower(): (text.count("\n", 0, match.start()) + 1, (match[2] or "").strip())
        for match in _REQUIRED.finditer(text)
        if match[1].lower() not in _OURS
    }


def project_libraries(scans: Mapping[str, FileScan], facts: Facts) -> tuple[ProjectLibrary, ...]:
    """Those of which something is known first, then by how many files name them."""
    by_name: dict[str, ProjectLibrary] = {}
    versions = {normalized_name(name): text for scan in scans.values() for name, text in scan.pinned.items() if text}
    for path in sorted(scans):
        for name, line in scans[path].libraries.items():
            key = normalized_name(distribution_name(name, facts))
            library = by_name.get(key) or _new_library(name, path, line, facts, versions)
            by_name[key] = msgspec.structs.replace(library, files=library.files + 1)
    return tuple(sorted(by_name.values(), key=lambda library: (not library.rule, -library.files, library.name.lower())))


def _new_library(name: str, path: str, line: int, facts: Facts, versions: Mapping[str, str]) -> ProjectLibrary:
    facts_of_library = facts.find_library(name)
    installed = normalized_name(DISTRIBUTIONS.get(name, name))
    return ProjectLibrary(
        name=name,
        state=facts_of_library.state if facts_of_library else "unverified",
        version=facts.packages.get(installed, ""),
        asked=versions.get(installed, ""),
        rule=facts_of_library.rule if facts_of_library else "",
        since=facts_of_library.since if facts_of_library else "",
        source=facts_of_library.source if facts_of_library else "",
        path=path,
        line=line,
    )


def distribution_name(name: str, facts: Facts) -> str:
    """One name for what is imported and what is installed."""
    library = facts.find_library(name)
    return library.name if library else DISTRIBUTIONS.get(name, name)


def normalized_name(name: str) -> str:
    """As PEP 503 writes a distribution's name."""
    return re.sub(r"[-_.]+", "-", name).lower()
