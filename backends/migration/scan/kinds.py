"""What kind of source a file is, by its name or, where that says nothing, by its first line."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["python", "notebook", "shell", "dockerfile", "config", "requirements", "makefile", "cpp"]


def _whole(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.DOTALL)  # a name may hold a newline


_BY_NAME: tuple[tuple[re.Pattern[str], Kind], ...] = (
    (_whole(r".*\.(py|pyw|pyx|pxd|pyi)"), "python"),
    (_whole(r".*\.ipynb"), "notebook"),
    (_whole(r"(.*[-_.])?(dockerfile|containerfile)([-_.].*)?"), "dockerfile"),
    (_whole(r"(.*[-_./])?(requirements?|constraints?|reqs?)([-_.].*)?\.(txt|in|pip)"), "requirements"),
    (_whole(r".*\.mk|(gnu)?makefile([-_.].*)?"), "makefile"),
    (_whole(r".*\.(sh|bash|zsh|ksh|slurm|sbatch|pbs|lsf|env)|\.env([-_.].*)?"), "shell"),
    (_whole(r".*\.(ya?ml|jsonc|json5?|toml|ini|cfg|conf)"), "config"),
    (_whole(r".*\.(cu|cuh|c|cc|cpp|cxx|h|hh|hpp|hxx|inl)"), "cpp"),
)
_NOT_WRITTEN = re.compile(r"package-lock\.json|.*\.(lock|min)\.json|.*[-_]lock\.json")
_FIRST_LINES: tuple[tuple[re.Pattern[bytes], Kind], ...] = (
    (re.compile(rb"#!.*\bpython[\d.]*\b"), "python"),
    (re.compile(rb"#!.*\b(ba|z|k|da)?sh\b"), "shell"),
)
_MEGABYTES: dict[Kind, float] = {"python": 4, "notebook": 32, "config": 1}
LARGEST_TREE = 500_000
"""Bytes of Python that is still parsed: a tree takes up to 500 times the room of its source. What is larger was made by
a program; its strings and names are looked at without one."""
LONGEST_SCRIPT = 1 << 18
"""A file without an ending is looked into only up to this size: programs and data have none either."""


def kind_of(name: str, folder: str = "") -> Kind | None:
    """None where the name does not say it, or the file is not written by a person. `folder`: the name of its own."""
    lower = name.lower()
    if _NOT_WRITTEN.fullmatch(lower):
        return None
    if folder.lower() in ("requirements", "requirement", "reqs") and lower.endswith(".txt"):
        return "requirements"
    return next((kind for pattern, kind in _BY_NAME if pattern.fullmatch(lower)), None)


def kind_of_first_line(line: bytes) -> Kind | None:
    return next((kind for pattern, kind in _FIRST_LINES if pattern.match(line)), None)


def limit_of(kind: Kind) -> int:
    """Bytes of a file that is still read: what is larger is data, whatever its name. Pictures make notebooks large."""
    return int(_MEGABYTES.get(kind, 2) * 1e6)
