"""The recorded dumps, and copies of them that a test may change."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

from studio.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

DUMPS = ROOT / "tests" / "recorded" / "precision" / "dumps"


def folder_of(name: str) -> Path:
    """The rank's folder of a recorded dump."""
    (found,) = (DUMPS / name / "step0").iterdir()
    return found


def copy_of(name: str, target: Path) -> Path:
    shutil.copytree(folder_of(name), target)
    return target


def json_of(name: str, file: str = "dump.json") -> dict[str, Any]:
    found = json.loads((folder_of(name) / file).read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def dump_at(folder: Path, data: Any = None) -> Path:
    """A folder with a dump.json of one call, or of what is given."""
    folder.mkdir(parents=True)
    content = {"task": "statistics", "level": "L1", "framework": "pytorch", "dump_data_dir": None, "data": data or {}}
    (folder / "dump.json").write_text(json.dumps(content), encoding="utf-8")
    return folder
