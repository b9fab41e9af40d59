"""The kind of a source file, by its name or, where that does not decide, by its first line."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

SourceKind: TypeAlias = Literal[
    "python", "notebook", "shell", "dockerfile", "config", "requirements", "makefile", "cpp", "cmake"
]


def _full_pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.DOTALL)  # a name may hold a newline


_BY_NAME: tuple[tuple[re.Pattern[str], SourceKind], ...] = (
    (_full_pattern(r".*\.(py|pyw|pyx|pxd|pyi)"), "python"),
    (_full_pattern(r".*\.ipynb"), "notebook"),
    (_full_pattern(r"(.*[-_.])?(dockerfile|containerfile)([-_.].*)?"), "dockerfile"),
    (_full_pattern(r"cmakelists\.txt|.*\.cmake"), "cmake"),
    (_full_pattern(r"(.*[-_./])?(requirements?|constraints?|reqs?)([-_.].*)?\.(txt|in|pip)"), "requirements"),
    (_full_pattern(r".*\.mk|(gnu)?makefile([-_.].*)?"), "makefile"),
    (_full_pattern(r".*\.(sh|bash|zsh|ksh|slurm|sbatch|pbs|lsf|env)|\.env([-_.].*)?"), "shell"),
    (_full_pattern(r".*\.(ya?ml|jsonc|json5?|toml|ini|cfg|conf)"), "config"),
    (_full_pattern(r".*\.(cu|cuh|c|cc|cpp|cxx|h|hh|hpp|hxx|inl)"), "cpp"),
)
_NOT_WRITTEN = re.compile(r"package-lock\.json|.*\.(lock|min)\.json|.*[-_]lock\.json")
_FIRST_LINES: tuple[tuple[re.Pattern[bytes], SourceKind], ...] = (
    (re.compile(rb"#!.*\bpython[\d.]*\b"), "python"),
    (re.compile(rb"#!.*\b(ba|z|k|da)?sh\b"), "shell"),
)
_MAX_MEGABYTES: dict[SourceKind, float] = {"python": 4, "notebook": 32, "config": 1}
LARGEST_TREE = 500_000
"""Bytes of Python that is still parsed: a tree takes up to 500 times the room of its source. What is larger was made by
a program; its strings and names are looked at without one."""
LONGEST_SCRIPT = 1 << 18
"""A file without an ending is looked into only up to this size: programs and data have none either."""


def kind_of(name: str, folder: str = "") -> SourceKind | None:
    """Return the kind by name; None where that does not decide, or no person writes such a file."""
    lower = name.lower()
    if _NOT_WRITTEN.fullmatch(lower):
        return None
    if folder.lower() in ("requirements", "requirement", "reqs") and lower.endswith(".txt"):
        return "requirements"
    return next((kind for pattern, kind in _BY_NAME if pattern.fullmatch(lower)), None)


def kind_of_first_line(line: bytes) -> SourceKind | None:
    return next((kind for pattern, kind in _FIRST_LINES if pattern.match(line)), None)


def max_bytes(kind: SourceKind) -> int:
    """Bytes of a file that is still read: what is larger is data, whatever its name. Pictures make notebooks large."""
    return int(_MAX_MEGABYTES.get(kind, 2) * 1e6)
