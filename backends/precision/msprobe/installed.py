"""Which msprobe an interpreter has, by the names of its files: nothing of it is imported or run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from studio import interpreters

PACKAGE = "mindstudio-probe"
Family = Literal["26", "8", ""]


@dataclass(frozen=True, kw_only=True)
class Installed:
    """`family`: "26" for the command line since 26.0 (`msprobe compare -tp … -gp …`), "8" for that of 1.x and 8.x
    (`msprobe -f pytorch compare -i …`), "" where there is none or its version says nothing. `path`: its folder."""

    version: str = ""
    family: Family = ""
    path: Path | None = None
    python: Path = Path()


def version_of(python: Path) -> Installed:
    """Never raises; a msprobe that was put there without pip has no version and no family."""
    version = interpreters.packages(python).get(PACKAGE, "")
    folders = (folder / "msprobe" for folder in interpreters.site_packages(python))
    path = next((folder for folder in folders if folder.is_dir()), None)
    return Installed(version=version, family=family_of(version) if path else "", path=path, python=python)


def family_of(version: str) -> Family:
    """Versions on the package index: 1.0.1 to 1.3.0, 8.1.0 to 8.3.3, then 26.0.0."""
    number = re.match(r"\d{1,6}", version)
    if number is None:
        return ""
    return "26" if int(number[0]) >= 26 else "8"
