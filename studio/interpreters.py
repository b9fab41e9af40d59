"""Python interpreters and what they hold, read from files alone: nothing of theirs runs here."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

SHOWN = ("mindspore", "torch", "torch_npu", "numpy", "mindstudio-probe", "msprof-analyze")


@dataclass(frozen=True, kw_only=True)
class Interpreter:
    """`packages`: name to version, from the dist-info folders; empty where its site-packages were not found."""

    path: Path
    version: str
    packages: dict[str, str]


def embedded() -> Path:
    """The interpreter that runs the studio: it has the embedded engine."""
    return Path(sys.executable)


def read(path: Path) -> Interpreter:
    """What the files beside an interpreter say. Never raises; what is not found is empty."""
    return Interpreter(path=path, version=_version(path), packages=packages(path))


def _site_packages(path: Path) -> list[Path]:
    """Of a virtual environment, else of the installation that the real file belongs to."""
    folders = sorted((path.parent.parent / "lib").glob("python3*/*-packages"))
    if not folders:
        folders = sorted((Path(os.path.realpath(path)).parent.parent / "lib").glob("python3*/*-packages"))
    return folders


def _version(path: Path) -> str:
    try:
        lines = (path.parent.parent / "pyvenv.cfg").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    pairs = {key.strip(): value.strip() for key, _, value in (line.partition("=") for line in lines)}
    if version := pairs.get("version", pairs.get("version_info", "")):
        return version
    return next((folder.parent.name.removeprefix("python") for folder in _site_packages(path)), "")


def packages(path: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for folder in _site_packages(path):
        for info in folder.glob("*.dist-info"):
            name, _, version = info.name.removesuffix(".dist-info").rpartition("-")
            found[name.replace("_", "-").lower()] = version
    return dict(sorted(found.items()))
